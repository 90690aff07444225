//! Full-text search over questions, replies, verdicts and dissent.

use agon_core::{Event, Status};
use agon_store::{DebateStore, HIT_END, HIT_START};
use serde_json::json;

use crate::fixtures::{TestHome, TestLog, append, store_with_debate};

fn found(store: &DebateStore, words: &str) -> Vec<String> {
    store.search_debates(words, 10).unwrap().into_iter().map(|hit| hit.id).collect()
}

/// `cats` is about cats, `dogs` mentions cats in a reply, `fish` does not mention them.
fn store_with_three_debates(home: &TestHome) -> DebateStore {
    let store = home.open();
    let mut cats = TestLog::new("cats", "Do cats need a café?");
    cats.say("They nap.");
    let mut dogs = TestLog::new("dogs", "Do dogs need walks?");
    dogs.say_value("{\"stance\": \"Unlike cats.\"}", Some(json!({"stance": ["Unlike cats."], "score": 3})));
    let mut fish = TestLog::new("fish", "Do fish sleep?");
    fish.push(Event::Interjected { by: "me".into(), text: "Mind the gills".into() });
    fish.close(Status::Complete, "They rest.", "They never do.");
    for log in [cats, dogs, fish] {
        append(&store, log.id(), log.records.clone()).unwrap();
    }
    store
}

#[test]
fn a_search_of_an_empty_store_finds_nothing() {
    let home = TestHome::new();
    assert_eq!(home.open().search_debates("anything", 10).unwrap(), []);
}

#[test]
fn a_search_of_too_many_words_is_refused() {
    let refused = TestHome::new().open().search_debates(&"why ".repeat(400), 10).unwrap_err();
    assert!(refused.to_string().contains("search for fewer words"), "{refused}");
}

#[test]
fn words_are_found_in_questions_replies_verdicts_and_dissent() {
    let home = TestHome::new();
    let store = store_with_three_debates(&home);
    assert_eq!(found(&store, "cats"), ["cats", "dogs"], "a question weighs more than a reply");
    assert_eq!(found(&store, "CAFE"), ["cats"], "case and accents do not matter");
    assert_eq!(found(&store, "need walk"), ["dogs"], "all words must match; the last may be a prefix");
    assert_eq!(found(&store, "ca"), ["dogs", "cats"], "the newest comes first");
    assert_eq!(found(&store, "unlike"), ["dogs"]);
    assert_eq!(found(&store, "nee walks"), [""; 0]);
    assert_eq!(found(&store, "rest"), ["fish"], "the verdict");
    assert_eq!(found(&store, "never"), ["fish"], "the dissent");
    assert_eq!(found(&store, "gills"), ["fish"], "what a person said");
    assert_eq!(found(&store, "stance"), [""; 0], "field names are not indexed");
    assert_eq!(found(&store, "deeper"), [""; 0]);
    assert_eq!(store.search_debates("do", 2).unwrap().len(), 2);
}

#[test]
fn a_hit_shows_the_text_around_the_match() {
    let home = TestHome::new();
    let store = store_with_three_debates(&home);
    let hit = store.search_debates("rest", 1).unwrap().remove(0);
    assert_eq!((hit.id.as_str(), hit.protocol.as_str(), hit.status.as_str()), ("fish", "deep", "complete"));
    assert_eq!((hit.question.as_str(), hit.created_at.as_str()), ("Do fish sleep?", "2026-05-01T10:00:00Z"));
    assert!(hit.snippet.contains(&format!("They {HIT_START}rest{HIT_END}.")), "{:?}", hit.snippet);
    let mut sly = TestLog::new("sly", "Why?");
    sly.say(&format!("A {HIT_START}sham{HIT_END} mark, a real zebra."));
    append(&store, "sly", sly.records).unwrap();
    let snippet = store.search_debates("zebra", 1).unwrap().remove(0).snippet;
    assert_eq!(snippet.matches(HIT_START).count(), 1, "{snippet:?}");
}

#[test]
fn the_index_catches_up_with_new_events() {
    let home = TestHome::new();
    let (store, mut log) = store_with_debate(&home, "d1");
    assert_eq!(found(&store, "tea"), ["d1"]);
    assert_eq!(found(&store, "cocoa"), [""; 0]);
    let more = log.say("Cocoa!");
    append(&store, "d1", more).unwrap();
    append(&store, "d2", TestLog::new("d2", "Is cocoa tea?").records).unwrap();
    assert_eq!(found(&store, "cocoa"), ["d2", "d1"]);
    assert_eq!(found(&store, "tea coffee cocoa"), ["d1"], "a debate's words are one document");
    assert_eq!(found(&home.open(), "cocoa"), ["d2", "d1"], "the index is stored");
    let rows = home.number("SELECT count(*) FROM search");
    assert_eq!(rows, 2, "each debate is indexed once");
}

#[test]
fn a_debate_that_is_over_is_indexed_without_a_search() {
    let home = TestHome::new();
    let (store, mut log) = store_with_debate(&home, "d1");
    let more = log.say("Cocoa!");
    let closed = log.close(Status::Complete, "Tea.", "Coffee.");
    append(&store, "d1", [more, vec![closed]].concat()).unwrap();
    assert_eq!(home.number("SELECT count(*) FROM search"), 1);
    assert_eq!(home.number("SELECT count(*) FROM search_backlog"), 0);
    assert_eq!(found(&store, "tea coffee cocoa"), ["d1"]);
}

#[test]
fn of_a_word_that_very_many_debates_have_the_newest_are_found() {
    let home = TestHome::new();
    let store = home.open();
    for n in 0..700 {
        let id = format!("d{n}");
        append(&store, &id, TestLog::new(&id, "A common word").records).unwrap();
    }
    assert_eq!(found(&store, "common").first().map(String::as_str), Some("d699"));
    assert_eq!(store.search_debates("common", usize::MAX).unwrap().len(), 700);
}

#[test]
fn more_debates_than_one_batch_are_indexed() {
    let home = TestHome::new();
    let store = home.open();
    for n in 0..150 {
        let id = format!("d{n}");
        append(&store, &id, TestLog::new(&id, "A common word").records).unwrap();
    }
    assert_eq!(store.search_debates("common", usize::MAX).unwrap().len(), 150);
}

#[test]
fn no_query_is_read_as_syntax() {
    let home = TestHome::new();
    let store = store_with_three_debates(&home);
    for words in ["", "  ", "\"", "*", "()", "- +", "\0", "?!", "\u{2}"] {
        assert_eq!(found(&store, words), [""; 0], "{words:?}");
    }
    for words in ["cats\"", "cats*", "cats ^ -", "(cats", "\0cats\0", "cats?"] {
        assert_eq!(found(&store, words), ["cats", "dogs"], "{words:?}");
    }
    for words in
        ["cats OR fish", "cats NOT dogs", "NEAR(cats dogs)", "question:cats", "cats AND fish", "a\"b\"c"]
    {
        assert_eq!(found(&store, words), [""; 0], "{words:?}");
    }
}

#[test]
fn a_broken_event_does_not_hide_the_rest_of_its_debate() {
    let home = TestHome::new();
    let (store, _) = store_with_debate(&home, "d1");
    home.change("UPDATE events SET body = '{' WHERE seq = 3");
    assert_eq!(found(&store, "coffee"), ["d1"]);
}
