//! "`core` as designed: no async, clock, environment or file; a test fails if its dependency tree gains tokio, reqwest
//! or a database."
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;
use std::process::Command;

#[test]
fn the_dependency_tree_of_core_has_no_runtime_client_or_database() {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--package",
            "agon-core",
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{p}",
            "--offline",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    let names: Vec<&str> = tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"serde_json"), "the tree was not read: {tree}");
    for barred in [
        "tokio",
        "async-std",
        "smol",
        "futures",
        "futures-util",
        "mio",
        "reqwest",
        "hyper",
        "ureq",
        "rusqlite",
        "libsqlite3-sys",
        "sqlx",
        "postgres",
        "rand",
        "getrandom",
        "chrono",
        "time",
        "jiff",
    ] {
        assert!(!names.contains(&barred), "agon-core depends on {barred}");
    }
}

#[test]
fn no_source_of_core_or_of_a_protocol_reads_a_clock_the_environment_or_a_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut read = 0;
    for folder in ["core/src", "protocols/src", "measure/src/evidence"] {
        read += check_folder(&root.join(folder));
    }
    assert!(read > 15, "only {read} files were read");
}

fn check_folder(folder: &Path) -> usize {
    let mut read = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read += check_folder(&path);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            for barred in [
                "std::time",
                "std::env",
                "std::fs",
                "std::net",
                "std::process",
                "SystemTime",
                "Instant::",
                "async fn",
            ] {
                assert!(!text.contains(barred), "{} uses {barred}", path.display());
            }
            read += 1;
        }
    }
    read
}
