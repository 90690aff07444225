//! However appends of many debates and of two stores mix, each debate loads back as it was written.

use agon_engine::Store;
use proptest::prelude::*;

use crate::debates::{Home, Talk, load, wait};

/// Which of the debates speaks, and how many times in one append.
fn turns() -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::vec((0..6_usize, 1..4_usize), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_debate_loads_back_as_it_was_written(turns in turns(), word in "\\PC{0,300}") {
        let home = Home::new();
        let stores = [home.open(), home.open()];
        let mut talks: Vec<Talk> = (0..6).map(|n| Talk::new(&format!("d{n}"), &word)).collect();
        let opened: Vec<_> =
            talks.iter().enumerate().map(|(n, talk)| stores[n % 2].append(talk.id(), talk.records.clone())).collect();
        wait(async { for answer in opened { answer.await.unwrap(); } });
        let ids: Vec<String> = talks.iter().map(|talk| talk.id().to_owned()).collect();
        let answers: Vec<_> = turns.iter().map(|(who, times)| {
            let records = (0..*times).flat_map(|time| talks[*who].say(&format!("{word} {time}"))).collect();
            stores[who % 2].append(&ids[*who], records)
        }).collect();
        wait(async { for answer in answers { answer.await.unwrap(); } });
        for (n, talk) in talks.iter().enumerate() {
            prop_assert_eq!(&load(&stores[n % 2], talk.id()).unwrap(), &talk.records);
            prop_assert_eq!(&load(&stores[(n + 1) % 2], talk.id()).unwrap(), &talk.records);
        }
    }
}
