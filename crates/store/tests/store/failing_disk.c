/* Preloaded into a process, it makes the disk fail. FSYNC_FAILS is the number of the first fsync that fails, counted from 1; all later
   ones fail, too. WRITE_TORN is the number of the page of which only a part is written before the process dies. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, TORN_BYTES = 1000 };

static long number_of(const char *variable) {
    const char *value = getenv(variable);
    return value ? atol(value) : 0;
}

static int fsync_fails(void) {
    static long count;
    long first = number_of("FSYNC_FAILS");
    return first > 0 && __sync_add_and_fetch(&count, 1) >= first;
}

static int is_torn(size_t length) {
    static long count;
    return length == PAGE_BYTES && __sync_add_and_fetch(&count, 1) == number_of("WRITE_TORN");
}

int fsync(int file) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
    if (fsync_fails()) return errno = EIO, -1;
    return real(file);
}

int fdatasync(int file) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
    if (fsync_fails()) return errno = EIO, -1;
    return real(file);
}

ssize_t write(int file, const void *bytes, size_t length) {
    ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    if (is_torn(length)) real(file, bytes, TORN_BYTES), _exit(9);
    return real(file, bytes, length);
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t place) {
    ssize_t (*real)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
    if (is_torn(length)) real(file, bytes, TORN_BYTES, place), _exit(9);
    return real(file, bytes, length, place);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t place) {
    ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
    if (is_torn(length)) real(file, bytes, TORN_BYTES, place), _exit(9);
    return real(file, bytes, length, place);
}
