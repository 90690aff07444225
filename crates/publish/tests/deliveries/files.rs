//! "`file:PATH` (or PATH with .json/.md/.html/.yaml/.txt ending: format by ending; written to a temporary name and renamed)"

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::things::{Office, State};

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_file_has_the_format_of_its_ending_and_replaces_an_older_one() {
    let folder = tempfile::tempdir().unwrap();
    let office = Office::new("", folder.path(), &[]);
    let absolute = folder.path().join("f.MD").display().to_string();
    fs::write(folder.path().join("a.md"), "older and longer than what comes now").unwrap();
    for (destination, name, text) in [
        ("a.md", "a.md", "d-1 as Markdown"),
        ("file:b.html", "b.html", "d-1 as Html"),
        ("c.yaml", "c.yaml", "d-1 as Yaml"),
        ("d.txt", "d.txt", "d-1 as Text"),
        (absolute.as_str(), "f.MD", "d-1 as Markdown"),
    ] {
        assert_eq!(office.once(destination).await.state, State::Done, "{destination}");
        assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), text, "{destination}");
    }
    for (destination, name) in [("e.json", "e.json"), ("file:g", "g")] {
        assert_eq!(office.once(destination).await.state, State::Done, "{destination}");
        let json: Value = serde_json::from_slice(&fs::read(folder.path().join(name)).unwrap()).unwrap();
        assert_eq!(json["id"], "d-1");
    }
    assert_eq!(
        names(folder.path()),
        ["a.md", "b.html", "c.yaml", "d.txt", "e.json", "f.MD", "g"],
        "no part is left"
    );
}

#[tokio::test]
async fn a_file_that_cannot_be_written_is_dead_with_what_to_do_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    fs::create_dir(folder.path().join("folder.md")).unwrap();
    let office = Office::new("", folder.path(), &[]);
    let long = format!("{}.md", "n".repeat(300));
    for (destination, sentence) in [
        ("missing/a.md", "missing: make it"),
        ("folder.md", "is a folder: name a file in it"),
        ("file/a.md", "a file where a folder must be"),
        (long.as_str(), "no name that a file can have here"),
    ] {
        let kept = office.once(destination).await;
        assert_eq!(kept.state, State::Dead, "{destination}: {}", kept.error);
        assert!(kept.error.contains(sentence), "{destination}: {}", kept.error);
    }
    assert_eq!(names(folder.path()), ["file", "folder.md"]);
    // What a terminal would obey is in no error and in no report.
    for destination in ["file:a\u{1b}[2J/b.md", "file:fold\u{7}er.md/a\r.md"] {
        let id = office.post("d-1", destination);
        let report = office.run().await.unwrap();
        let told = format!("{}{}", report.dead[0].destination, office.kept(id).error);
        assert!(told.contains(": make it") && !told.contains(char::is_control), "{told:?}");
    }
}

#[tokio::test]
async fn a_folder_of_the_configuration_is_made_and_gets_a_file_for_each_debate() {
    let folder = tempfile::tempdir().unwrap();
    let office = Office::new("[destinations.kept]\ndir = \"a/b\"\nformat = \"yaml\"", folder.path(), &[]);
    office.post("d-1", "kept");
    office.post("d-2", "kept");
    let bad = office.post("../d-3", "kept");
    office.run().await;
    assert_eq!(names(&folder.path().join("a/b")), ["d-1.yaml", "d-2.yaml"]);
    assert_eq!(office.kept(bad).state, State::Dead);
}

/// What has the name stays what it is, and is never replaced by a file.
#[cfg(unix)]
mod what_is_there {
    use std::io::Read;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    use agon_publish::deliveries::file::put;
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    fn pipe(path: &Path) {
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }

    fn is_link(path: &Path) -> bool {
        fs::symlink_metadata(path).unwrap().is_symlink()
    }

    #[tokio::test]
    async fn a_link_is_followed_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path().join("there");
        fs::create_dir(&there).unwrap();
        fs::write(there.join("old"), "old").unwrap();
        symlink("there/old", folder.path().join("one.md")).unwrap();
        symlink("one.md", folder.path().join("two.md")).unwrap();
        symlink(there.join("new"), folder.path().join("dangling.md")).unwrap();
        symlink("loop.md", folder.path().join("loop.md")).unwrap();
        symlink("nowhere/new", folder.path().join("astray.md")).unwrap();
        let office = Office::new("", folder.path(), &[]);
        for (link, leads_to) in [("one.md", "old"), ("two.md", "old"), ("dangling.md", "new")] {
            let kept = office.once(link).await;
            assert_eq!(kept.state, State::Done, "{link}: {}", kept.error);
            assert!(is_link(&folder.path().join(link)), "{link}");
            assert_eq!(fs::read_to_string(there.join(leads_to)).unwrap(), "d-1 as Markdown", "{link}");
        }
        assert_eq!(names(&there), ["new", "old"], "no part is left");
        for (link, sentence) in [("loop.md", "leads to no file"), ("astray.md", "nowhere: make it")] {
            let kept = office.once(link).await;
            assert_eq!(kept.state, State::Dead, "{link}");
            assert!(kept.error.contains(sentence), "{}", kept.error);
        }
    }

    #[tokio::test]
    async fn a_file_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let office = Office::new("", folder.path(), &[]);
        let path = folder.path().join("a.md");
        for mode in [0o600, 0o640, 0o666, 0o400] {
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(office.once("a.md").await.state, State::Done);
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
        let office = Office::new("", folder.path(), &[]);
        for (name, sentence) in
            [("pipe.md", "is a pipe that nobody reads: name a file"), ("socket.md", "is a socket")]
        {
            let kept = office.once(name).await;
            assert_eq!(kept.state, State::Dead, "{name}");
            assert!(kept.error.contains(sentence), "{name}: {}", kept.error);
        }
        let kind = |name| fs::metadata(folder.path().join(name)).unwrap().file_type();
        assert!(kind("pipe.md").is_fifo() && kind("socket.md").is_socket());
    }

    /// More than a pipe holds at once, to a reader that takes its time.
    #[test]
    fn a_pipe_with_a_reader_gets_it_all() {
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
        while put(&path, &bytes).is_err() {
            std::thread::yield_now();
        }
        assert!(reader.join().unwrap() == bytes);
        assert!(fs::metadata(&path).unwrap().file_type().is_fifo());
    }

    #[test]
    fn a_device_is_written_to_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("null.svg");
        symlink("/dev/null", &link).unwrap();
        put(&link, b"<svg/>").unwrap();
        assert!(is_link(&link) && fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }

    /// `/dev/stdout` of `agon ... > out` is a file that somebody has open: what is put there comes after what is in it.
    #[test]
    fn what_a_process_has_open_is_written_to_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        fs::write(&path, "before ").unwrap();
        let open = fs::File::options().append(true).open(&path).unwrap();
        let link = folder.path().join("link.svg");
        symlink(format!("/dev/fd/{}", open.as_raw_fd()), &link).unwrap();
        put(&link, b"after").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "before after");
        assert_eq!(fs::metadata(&path).unwrap().ino(), open.metadata().unwrap().ino());
    }

    #[test]
    fn put_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.svg");
        put(&path, b"one").unwrap();
        put(&path, b"two").unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (b"two".to_vec(), vec!["a.svg".into()]));
        let refused = put(&folder.path().join("missing/a.svg"), b"").unwrap_err();
        assert!(
            refused.hopeless && refused.to_string().contains("missing: make it, and try again"),
            "{refused}"
        );
        assert!(put(folder.path(), b"").unwrap_err().why.contains("is a folder"));
    }
}
