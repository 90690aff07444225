# shellcheck shell=bash disable=SC2034
# What the scripts of this folder share. They source it first.
set -euo pipefail

packaging=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$packaging")
target_folder=${CARGO_TARGET_DIR:-$root/target}
# Where the packages go, and where everything else is made.
packages=$target_folder/packages
work=$target_folder/packaging
# What a part ends with if this machine lacks what it needs.
skipped=77

note() {
    printf '\n== %s\n' "$*"
}

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# Ends a part because of something that cannot be installed.
skip() {
    printf 'skipped: %s\n' "$*"
    exit $skipped
}

# Makes an empty folder.
empty_folder() {
    rm -rf "$1"
    mkdir -p "$1"
}

python() {
    if command -v python3 >/dev/null; then python3 "$@"; else command python "$@"; fi
}

# The folder with the programs of a virtual environment.
venv_programs() {
    if [ -d "$1/Scripts" ]; then echo "$1/Scripts"; else echo "$1/bin"; fi
}

# Tools from PyPI, in an environment of their own: `python_tools maturin==1.16.0` prints the folder with the programs.
python_tools() {
    local tools=$work/python-tools
    if [ ! -f "$tools/installed" ] || [ "$(cat "$tools/installed")" != "$*" ]; then
        rm -rf "$tools"
        python -m venv "$tools" >&2 || return 1
        "$(venv_programs "$tools")/python" -m pip install --quiet --disable-pip-version-check "$@" >&2 || return 1
        echo "$*" >"$tools/installed"
    fi
    venv_programs "$tools"
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n -E "$@"; fi
}

# Installs Debian packages unless the commands are there: `debian_tools "mmdebstrap buildah" mmdebstrap buildah`.
debian_tools() {
    local names=$1 command missing=""
    shift
    for command in "$@"; do
        command -v "$command" >/dev/null || missing=$command
    done
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null || return 1
    # shellcheck disable=SC2086 # Several names.
    as_root apt-get update -qq >&2 && as_root apt-get install -y -qq --no-install-recommends $names >&2
}

# The program that is packed, its version, and the platform it is for. `packaging/build` sets them.
require_program() {
    : "${AGON_BINARY:?packaging/build sets it}" "${AGON_VERSION:?}" "${AGON_TARGET:?}"
}

# Whether an installed command works: its version, a debate, its exit status, its input, Ctrl-C.
check_program() {
    python "$packaging/check_program.py" --version "$AGON_VERSION" "$@"
}

# The Debian that clean machines and the image are made of.
debian_suite=trixie
# A folder with a Debian that has Python and nothing else of what packages need, above all no Rust.
machine=$work/clean-machine

clean_machine() {
    [ ! -f "$machine/etc/clean-machine" ] || return 0
    debian_tools "mmdebstrap debian-archive-keyring" mmdebstrap || return 1
    empty_folder "$machine"
    mmdebstrap --quiet --variant=apt --include=python3-venv,ca-certificates "$debian_suite" "$machine" || return 1
    touch "$machine/etc/clean-machine"
}
