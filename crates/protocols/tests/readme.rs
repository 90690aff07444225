//! The README of a protocol names the test for every rule. This test fails if a named test does not exist.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use agon_protocols::all;

#[test]
fn every_test_that_a_readme_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut named = 0;
    for protocol in all() {
        let folder = root.join("src").join(protocol.info().name);
        let readme = fs::read_to_string(folder.join("README.md")).unwrap();
        let mut tests = fs::read_to_string(folder.join("tests.rs")).unwrap();
        for part in fs::read_dir(folder.join("tests")).into_iter().flatten() {
            tests.push_str(&fs::read_to_string(part.unwrap().path()).unwrap());
        }
        for shared in ["tests/laws.rs", "src/short_answers.rs"] {
            tests.push_str(&fs::read_to_string(root.join(shared)).unwrap());
        }
        let cells = readme
            .lines()
            .filter_map(|line| line.strip_suffix(" |")?.rsplit_once(" | "))
            .map(|(_, cell)| cell);
        for word in cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)) {
            let name = word.rsplit("::").next().unwrap();
            if name.matches('_').count() >= 3 {
                assert!(
                    tests.contains(&format!("fn {name}(")),
                    "{}: there is no test {name}",
                    protocol.info().name
                );
                named += 1;
            }
        }
    }
    assert!(named > 20, "only {named} test names were found");
}
