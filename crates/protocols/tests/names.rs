//! "Outside `protocols`, no source file names a protocol". Other crates reach what differs between protocols through the trait.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use agon_protocols::all;

#[test]
fn no_source_file_outside_this_crate_names_a_protocol() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = 0;
    let mut named = Vec::new();
    for entry in fs::read_dir(crates).unwrap() {
        let folder = entry.unwrap().path();
        if folder.ends_with("protocols") || !folder.join("src").is_dir() {
            continue;
        }
        files += for_each_code_line(&folder.join("src"), &mut |file, line, text| {
            for protocol in all() {
                let name = protocol.info().name;
                // "ask" is also the glossary word for a question to a seat, which the wire format uses.
                let is_quoted = name != "ask" && text.contains(&format!("\"{name}\""));
                let is_path = text.contains(&format!("agon_protocols::{name}::"));
                if is_quoted || is_path {
                    named.push(format!("{}:{line}: {}", file.display(), text.trim()));
                }
            }
        });
    }
    assert!(files > 100, "only {files} files were read");
    assert!(named.is_empty(), "these lines name a protocol:\n{}", named.join("\n"));
}

/// Calls `look` for every line of code in a folder, except tests and comments. Returns the number of files.
fn for_each_code_line(folder: &Path, look: &mut dyn FnMut(&Path, usize, &str)) -> usize {
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_test = path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests"));
        if path.is_dir() && !is_test {
            files += for_each_code_line(&path, look);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test {
            files += 1;
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            for (line, text) in (1..).zip(code.lines()) {
                if !text.trim_start().starts_with("//") {
                    look(&path, line, text);
                }
            }
        }
    }
    files
}
