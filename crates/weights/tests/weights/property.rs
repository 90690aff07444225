//! Any cut of a download resumes to the same bytes.

use agon_weights::Source;
use proptest::prelude::*;

use crate::server::{Manner, Server};
use crate::things::{Home, noise, ways};

/// How one request is answered: after how many bytes it is cut, and whether the server knows ranges, has another
/// version tag, tells the length.
fn manner() -> impl Strategy<Value = Manner> {
    let etag = prop_oneof![3 => Just(Some("\"one\"")), 1 => Just(Some("\"two\"")), 1 => Just(None)];
    let cut = prop_oneof![1 => 0..2_usize, 3 => 0..20_000_usize];
    (cut, prop::bool::weighted(0.8), etag, any::<bool>()).prop_map(|(cut, ranges, etag, length)| Manner {
        cut_bytes: Some(cut),
        ranges,
        etag,
        length,
        ..Manner::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_cut_of_the_download_resumes_to_the_same_bytes(
        bytes in 1..20_000_usize,
        manners in prop::collection::vec(manner(), 0..6),
    ) {
        let bad = manners.len();
        let home = Home::of(vec![("model.bin", noise(bytes, 5))]);
        let server = Server::start(&home.files, move |nth| manners.get(nth).cloned().unwrap_or_default());
        // A pull that never got a byte gives up; each bad answer can end only one.
        let mut ended = 0;
        while let Err(error) = home.pull(&Source::Hub, &ways(&server.url())) {
            ended += 1;
            prop_assert!(ended <= bad, "{}", error);
        }
        home.assert_present();
        prop_assert!(server.requests().len() <= bad + 1);
    }
}
