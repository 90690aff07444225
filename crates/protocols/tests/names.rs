//! "Outside `protocols`, no source file names a protocol": whatever differs between protocols is reached through the trait.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use agon_protocols::all;

#[test]
fn no_source_outside_protocols_names_a_protocol() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut read = 0;
    let mut named = Vec::new();
    for entry in fs::read_dir(crates).unwrap() {
        let folder = entry.unwrap().path();
        if folder.ends_with("protocols") || !folder.join("src").is_dir() {
            continue;
        }
        visit(&folder.join("src"), &mut |file, line, text| {
            read += usize::from(line == 1);
            for protocol in all() {
                let name = protocol.info().name;
                let quoted = text.contains(&format!("\"{name}\""));
                let path = text.contains(&format!("agon_protocols::{name}::"));
                if quoted || path {
                    named.push(format!("{}:{line}: {}", file.display(), text.trim()));
                }
            }
        });
    }
    assert!(read > 100, "only {read} files were read");
    assert!(named.is_empty(), "these lines name a protocol:\n{}", named.join("\n"));
}

/// Calls `look` for every line of code in a folder, without tests and comments.
fn visit(folder: &Path, look: &mut dyn FnMut(&Path, usize, &str)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_test = path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests"));
        if path.is_dir() && !is_test {
            visit(&path, look);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            for (line, text) in (1..).zip(code.lines()) {
                if !text.trim_start().starts_with("//") {
                    look(&path, line, text);
                }
            }
        }
    }
}
