//! Compiles the chapters of the book and the files of the demos into the program.
//!
//! Both are at the top of the repository. `docs` and `examples` in this folder are links to them, so that `cargo package` packs the files
//! themselves. A checkout without links has a small text file in place of each; then the folder of the repository is used.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let package = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let tables: [(&str, &[&str], &str); 2] =
        [("docs", &["md"], "chapter_files.rs"), ("examples", &["md", "py"], "example_files.rs")];
    for (name, endings, table) in tables {
        let folder = find_folder(&package, name)?;
        println!("cargo::rerun-if-changed={}", folder.display());
        fs::write(out.join(table), file_table(&folder, endings)?)?;
    }
    println!("cargo::rerun-if-changed=build.rs");
    Ok(())
}

fn find_folder(package: &Path, name: &str) -> Result<PathBuf, Box<dyn Error>> {
    let places = [package.join(name), package.join("../..").join(name)];
    let found = places.into_iter().find(|folder| folder.is_dir());
    let folder = found.ok_or_else(|| format!("there is no folder {name}, neither here nor at the top"))?;
    Ok(folder.canonicalize()?)
}

/// The files with these endings as a Rust expression: names and texts, ordered by name.
fn file_table(folder: &Path, endings: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_wanted = path.extension().is_some_and(|end| endings.iter().any(|wanted| end == *wanted));
        if let Some(name) = path.file_name().and_then(|name| name.to_str()).filter(|_| is_wanted) {
            files.push((name.to_owned(), path));
        }
    }
    files.sort();
    let row = |(name, path): &(String, PathBuf)| format!("    ({name:?}, include_str!({path:?})),\n");
    Ok(format!("&[\n{}]\n", files.iter().map(row).collect::<String>()))
}
