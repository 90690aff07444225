//! `agon search WORDS`: over questions, replies, verdicts and dissent.

use agon_core::{Event, Status};
use agon_store::{HIT_END, HIT_START, Sqlite};
use serde_json::json;

use crate::debates::{Home, Talk, append, one};

fn found(store: &Sqlite, words: &str) -> Vec<String> {
    store.search(words, 10).unwrap().into_iter().map(|hit| hit.id).collect()
}

/// `cats` is about cats, `dogs` mentions them in a reply, `fish` not at all.
fn three(home: &Home) -> Sqlite {
    let store = home.open();
    let mut cats = Talk::new("cats", "Do cats need a café?");
    cats.say("They nap.");
    let mut dogs = Talk::new("dogs", "Do dogs need walks?");
    dogs.say_value("{\"stance\": \"Unlike cats.\"}", Some(json!({"stance": ["Unlike cats."], "score": 3})));
    let mut fish = Talk::new("fish", "Do fish sleep?");
    fish.push(Event::Interjected { by: "me".into(), text: "Mind the gills".into() });
    fish.close(Status::Complete, "They rest.", "They never do.");
    for talk in [cats, dogs, fish] {
        append(&store, talk.id(), talk.records.clone()).unwrap();
    }
    store
}

#[test]
fn an_empty_store_has_nothing_to_find() {
    let home = Home::new();
    assert_eq!(home.open().search("anything", 10).unwrap(), []);
}

#[test]
fn words_are_found_wherever_they_were_said() {
    let home = Home::new();
    let store = three(&home);
    assert_eq!(found(&store, "cats"), ["cats", "dogs"], "a question weighs more than a reply");
    assert_eq!(found(&store, "CAFE"), ["cats"], "case and accents do not matter");
    assert_eq!(found(&store, "need walk"), ["dogs"], "all words; the last may be a beginning");
    assert_eq!(found(&store, "nee walks"), [""; 0]);
    assert_eq!(found(&store, "rest"), ["fish"], "the verdict");
    assert_eq!(found(&store, "never"), ["fish"], "the dissent");
    assert_eq!(found(&store, "gills"), ["fish"], "what a person said");
    assert_eq!(found(&store, "stance"), [""; 0], "the words of an answer, not its form");
    assert_eq!(found(&store, "deeper"), [""; 0]);
    assert_eq!(store.search("do", 2).unwrap().len(), 2);
}

#[test]
fn a_hit_shows_the_words_around_it() {
    let home = Home::new();
    let store = three(&home);
    let hit = store.search("rest", 1).unwrap().remove(0);
    assert_eq!((hit.id.as_str(), hit.protocol.as_str(), hit.status.as_str()), ("fish", "deep", "complete"));
    assert_eq!((hit.question.as_str(), hit.created_at.as_str()), ("Do fish sleep?", "2026-05-01T10:00:00Z"));
    assert!(hit.snippet.contains(&format!("They {HIT_START}rest{HIT_END}.")), "{:?}", hit.snippet);
    let mut sly = Talk::new("sly", "Why?");
    sly.say(&format!("A {HIT_START}sham{HIT_END} mark, a real zebra."));
    append(&store, "sly", sly.records).unwrap();
    let snippet = store.search("zebra", 1).unwrap().remove(0).snippet;
    assert_eq!(snippet.matches(HIT_START).count(), 1, "{snippet:?}");
}

#[test]
fn the_index_catches_up_with_what_was_said_since() {
    let home = Home::new();
    let (store, mut talk) = one(&home, "d1");
    assert_eq!(found(&store, "tea"), ["d1"]);
    assert_eq!(found(&store, "cocoa"), [""; 0]);
    let more = talk.say("Cocoa!");
    append(&store, "d1", more).unwrap();
    append(&store, "d2", Talk::new("d2", "Is cocoa tea?").records).unwrap();
    assert_eq!(found(&store, "cocoa"), ["d2", "d1"]);
    assert_eq!(found(&store, "tea coffee cocoa"), ["d1"], "a debate's words are one document");
    assert_eq!(found(&home.open(), "cocoa"), ["d2", "d1"], "and stay indexed");
    let rows: i64 = home.plain().query_row("SELECT count(*) FROM search", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 2, "each debate is there once");
}

#[test]
fn more_debates_than_one_batch_are_indexed() {
    let home = Home::new();
    let store = home.open();
    for n in 0..150 {
        let id = format!("d{n}");
        append(&store, &id, Talk::new(&id, "A common word").records).unwrap();
    }
    assert_eq!(store.search("common", usize::MAX).unwrap().len(), 150);
}

#[test]
fn no_words_are_taken_for_syntax() {
    let home = Home::new();
    let store = three(&home);
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
fn a_broken_event_does_not_hide_the_rest() {
    let home = Home::new();
    let (store, _) = one(&home, "d1");
    home.plain().execute("UPDATE events SET body = CAST(x'ff' AS TEXT) WHERE seq = 3", []).unwrap();
    assert_eq!(found(&store, "coffee"), ["d1"]);
}
