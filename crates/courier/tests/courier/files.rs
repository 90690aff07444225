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
