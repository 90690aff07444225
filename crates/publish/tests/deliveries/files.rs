//! Files: the format follows from the extension, and nobody ever sees a part of a file.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::memory_outbox::{DeliveryBench, StoredState};

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_file_has_the_format_of_its_extension_and_replaces_an_older_one() {
    let folder = tempfile::tempdir().unwrap();
    let bench = DeliveryBench::new("", folder.path(), &[]);
    let absolute = folder.path().join("f.MD").display().to_string();
    fs::write(folder.path().join("a.md"), "older and longer than the new text").unwrap();
    for (destination, name, text) in [
        ("a.md", "a.md", "d-1 as Markdown"),
        ("file:b.html", "b.html", "d-1 as Html"),
        ("c.yaml", "c.yaml", "d-1 as Yaml"),
        ("d.txt", "d.txt", "d-1 as Text"),
        (absolute.as_str(), "f.MD", "d-1 as Markdown"),
    ] {
        assert_eq!(bench.try_once(destination).await.state, StoredState::Done, "{destination}");
        assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), text, "{destination}");
    }
    for (destination, name) in [("e.json", "e.json"), ("file:g", "g")] {
        assert_eq!(bench.try_once(destination).await.state, StoredState::Done, "{destination}");
        let json: Value = serde_json::from_slice(&fs::read(folder.path().join(name)).unwrap()).unwrap();
        assert_eq!(json["id"], "d-1");
    }
    assert_eq!(
        names(folder.path()),
        ["a.md", "b.html", "c.yaml", "d.txt", "e.json", "f.MD", "g"],
        "no temporary file is left"
    );
}

#[tokio::test]
async fn a_file_that_cannot_be_written_is_dead_and_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    fs::create_dir(folder.path().join("folder.md")).unwrap();
    let bench = DeliveryBench::new("", folder.path(), &[]);
    let long = format!("{}.md", "n".repeat(300));
    for (destination, sentence) in [
        ("missing/a.md", "missing: create it"),
        ("folder.md", "is a folder: name a file in it"),
        ("file/a.md", "a file where a folder is needed"),
        (long.as_str(), "cannot be the name of a file here"),
    ] {
        let stored = bench.try_once(destination).await;
        assert_eq!(stored.state, StoredState::Dead, "{destination}: {}", stored.error);
        assert!(stored.error.contains(sentence), "{destination}: {}", stored.error);
    }
    assert_eq!(names(folder.path()), ["file", "folder.md"]);
    // No error and no report contains control characters.
    for destination in ["file:a\u{1b}[2J/b.md", "file:fold\u{7}er.md/a\r.md"] {
        let id = bench.add("d-1", destination);
        let report = bench.run().await.unwrap();
        let shown = format!("{}{}", report.dead[0].destination, bench.stored(id).error);
        assert!(shown.contains(": create it") && !shown.contains(char::is_control), "{shown:?}");
    }
}

#[tokio::test]
async fn a_configured_folder_is_created_and_gets_a_file_for_each_debate() {
    let folder = tempfile::tempdir().unwrap();
    let bench =
        DeliveryBench::new("[destinations.kept]\ndir = \"a/b\"\nformat = \"yaml\"", folder.path(), &[]);
    bench.add("d-1", "kept");
    bench.add("d-2", "kept");
    let bad = bench.add("../d-3", "kept");
    bench.run().await;
    assert_eq!(names(&folder.path().join("a/b")), ["d-1.yaml", "d-2.yaml"]);
    assert_eq!(bench.stored(bad).state, StoredState::Dead);
}

/// Devices, pipes and open files stay what they are, and links lead nowhere.
#[cfg(unix)]
mod existing_paths {
    use std::io::Read;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    use agon_publish::deliveries::write_to_path;
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    fn pipe(path: &Path) {
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }

    fn is_link(path: &Path) -> bool {
        fs::symlink_metadata(path).unwrap().is_symlink()
    }

    /// A link may have come with somebody else's repository.
    #[tokio::test]
    async fn a_link_is_replaced_and_what_it_leads_to_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path().join("there");
        fs::create_dir(&there).unwrap();
        fs::write(there.join("old"), "old").unwrap();
        symlink("there/old", folder.path().join("one.md")).unwrap();
        symlink("one.md", folder.path().join("two.md")).unwrap();
        symlink(there.join("new"), folder.path().join("dangling.md")).unwrap();
        symlink("loop.md", folder.path().join("loop.md")).unwrap();
        let bench = DeliveryBench::new("", folder.path(), &[]);
        for link in ["two.md", "one.md", "dangling.md", "loop.md"] {
            let stored = bench.try_once(link).await;
            assert_eq!(stored.state, StoredState::Done, "{link}: {}", stored.error);
            let path = folder.path().join(link);
            assert!(!is_link(&path), "{link}");
            assert_eq!(fs::read_to_string(&path).unwrap(), "d-1 as Markdown", "{link}");
        }
        assert_eq!(fs::read_to_string(there.join("old")).unwrap(), "old");
        assert_eq!(names(&there), ["old"]);
    }

    #[tokio::test]
    async fn a_replaced_file_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let bench = DeliveryBench::new("", folder.path(), &[]);
        let path = folder.path().join("a.md");
        for mode in [0o600, 0o640, 0o666, 0o400] {
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(bench.try_once("a.md").await.state, StoredState::Done);
            let found = fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
            assert_eq!((found, fs::read_to_string(&path).unwrap().as_str()), (mode, "d-1 as Markdown"));
            fs::remove_file(&path).unwrap();
        }
    }

    #[tokio::test]
    async fn a_pipe_without_a_reader_and_a_socket_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        pipe(&folder.path().join("pipe.md"));
        let _listens = UnixListener::bind(folder.path().join("socket.md")).unwrap();
        let bench = DeliveryBench::new("", folder.path(), &[]);
        for (name, sentence) in
            [("pipe.md", "is a pipe that nobody reads: name a file"), ("socket.md", "is a socket")]
        {
            let stored = bench.try_once(name).await;
            assert_eq!(stored.state, StoredState::Dead, "{name}");
            assert!(stored.error.contains(sentence), "{name}: {}", stored.error);
        }
        let kind = |name| fs::metadata(folder.path().join(name)).unwrap().file_type();
        assert!(kind("pipe.md").is_fifo() && kind("socket.md").is_socket());
    }

    /// More bytes than a pipe can hold.
    #[test]
    fn a_pipe_with_a_reader_gets_everything() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        pipe(&path);
        let from = path.clone();
        let reader = std::thread::spawn(move || {
            let mut read = Vec::new();
            fs::File::open(from).unwrap().read_to_end(&mut read).unwrap();
            read
        });
        let bytes: Vec<u8> = (0..1_000_000_u32).map(|n| (n % 251) as u8).collect();
        // The reader may not be there yet.
        while write_to_path(&path, &bytes).is_err() {
            std::thread::yield_now();
        }
        assert!(reader.join().unwrap() == bytes);
        assert!(fs::metadata(&path).unwrap().file_type().is_fifo());
    }

    #[test]
    fn a_device_is_written_to_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("null.svg");
        symlink("/dev/null", &link).unwrap();
        write_to_path(&link, b"<svg/>").unwrap();
        assert!(is_link(&link) && fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }

    /// `/dev/stdout` of `agon ... > out` is an open file, and new text comes after its contents.
    #[test]
    fn an_open_file_of_a_process_is_appended_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        fs::write(&path, "before ").unwrap();
        let open = fs::File::options().append(true).open(&path).unwrap();
        write_to_path(Path::new(&format!("/dev/fd/{}", open.as_raw_fd())), b"after").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "before after");
        assert_eq!(fs::metadata(&path).unwrap().ino(), open.metadata().unwrap().ino());
    }

    #[test]
    fn a_failure_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.svg");
        write_to_path(&path, b"one").unwrap();
        write_to_path(&path, b"two").unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (b"two".to_vec(), vec!["a.svg".into()]));
        let refused = write_to_path(&folder.path().join("missing/a.svg"), b"").unwrap_err();
        assert!(
            refused.is_permanent && refused.to_string().contains("missing: create it, and try again"),
            "{refused}"
        );
        assert!(write_to_path(folder.path(), b"").unwrap_err().why.contains("is a folder"));
    }
}
