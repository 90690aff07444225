//! A download that is interrupted anywhere resumes to the same bytes.

use agon_embedded::model_files::PullSource;
use proptest::prelude::*;

use crate::fixtures::{TestStore, noise, settings};
use crate::server::{FileServer, ServerBehaviour};

/// How one request is answered: after how many bytes it is interrupted, and whether the server supports ranges, has another
/// version tag, and sends the length.
fn behaviour() -> impl Strategy<Value = ServerBehaviour> {
    let etag = prop_oneof![3 => Just(Some("\"one\"")), 1 => Just(Some("\"two\"")), 1 => Just(None)];
    let cut = prop_oneof![1 => 0..2_usize, 3 => 0..20_000_usize];
    (cut, prop::bool::weighted(0.8), etag, any::<bool>()).prop_map(|(cut, ranges, etag, length)| {
        ServerBehaviour { cut_bytes: Some(cut), ranges, etag, length, ..ServerBehaviour::default() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_download_that_is_interrupted_anywhere_resumes_to_the_same_bytes(
        bytes in 1..20_000_usize,
        behaviours in prop::collection::vec(behaviour(), 0..6),
    ) {
        let bad = behaviours.len();
        let test = TestStore::of(vec![("model.bin", noise(bytes, 5))]);
        let server = FileServer::start(&test.files, move |nth| behaviours.get(nth).cloned().unwrap_or_default());
        // A pull that received no byte gives up; each bad answer can end only one pull.
        let mut ended = 0;
        while let Err(error) = test.pull(&PullSource::Hub, &settings(&server.url())) {
            ended += 1;
            prop_assert!(ended <= bad, "{}", error);
        }
        test.assert_present();
        prop_assert!(server.requests().len() <= bad + 1);
    }
}
