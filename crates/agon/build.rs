//! Says where the files of the repository are that are compiled into the program.

use std::path::Path;

fn main() {
    // A published crate has copies of them, because `cargo package` follows the links in `bundled`. A checkout may have none of the
    // links, on Windows for instance; then the files themselves are taken.
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = if own.join("bundled/examples").is_dir() { own.join("bundled") } else { own.join("../..") };
    println!("cargo::rustc-env=AGON_BUNDLED={}", folder.display());
    println!("cargo::rerun-if-changed=bundled");
}
