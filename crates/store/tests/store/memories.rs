//! What agents remember, how it fades, and when a memory is observed again.

use agon_measure::calibration::{DebateResolution, OutcomeTruth};
use agon_measure::memory::MemoryTier;
use agon_store::{DebateStore, MemoryHit};

use crate::fixtures::{
    OPENED_AT, OPENED_S, TestHome, block_on, close_debate, close_debate_at, count_rows, lesson,
};
use crate::vectors::index_all;

const HOUR: i64 = 3_600;

fn agents(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn recall(store: &DebateStore, agent: &str, query: &str, now_s: i64) -> Vec<MemoryHit> {
    store.recall_memories(&agents(&[agent]), query, None, now_s, 10).unwrap()
}

#[test]
fn an_agent_recalls_its_own_proposals_on_the_question() {
    let home = TestHome::new();
    let store = home.open();
    close_debate(&store, "d1", "Which database for the archive?", lesson());
    let mut other = lesson();
    other.parts.iter_mut().for_each(|part| part.position = Some("Tabs.".into()));
    close_debate(&store, "d2", "Tabs or spaces?", other);
    let hits = recall(&store, "openai/a", "A database for our archive", OPENED_S);
    let [hit] = hits.as_slice() else { panic!("{hits:?}") };
    assert_eq!((hit.agent.as_str(), hit.debate.as_str()), ("openai/a", "d1"));
    assert_eq!(
        hit.text,
        "Question: Which database for the archive?\nProposal: Proposal A is to be taken.\nThe debate adopted it."
    );
    assert_eq!((hit.tier, hit.seen, hit.turned_out), (MemoryTier::Fast, 1, None));
    // Both significant words match, nothing has faded, and the agent was sure to 0.9.
    assert!((hit.score - 0.95).abs() < 1e-9, "{}", hit.score);
    let lost = recall(&store, "anthropic/b", "database", OPENED_S);
    assert!(lost[0].text.ends_with("The debate decided otherwise: Use one SQLite file."), "{}", lost[0].text);
    assert_eq!(lost[0].tier, MemoryTier::Medium, "it was sure to 0.9 and lost");
    assert_eq!(recall(&store, "nobody", "database", OPENED_S), []);
    let both = store
        .recall_memories(&agents(&["openai/a", "gemini/c", "openai/a"]), "database", None, OPENED_S, 10)
        .unwrap();
    assert_eq!(both.iter().map(|hit| hit.agent.as_str()).collect::<Vec<_>>(), ["openai/a", "gemini/c"]);
}

#[test]
fn the_limit_is_per_agent() {
    let home = TestHome::new();
    let store = home.open();
    for n in 0..3 {
        let mut lesson = lesson();
        for part in &mut lesson.parts {
            part.position = Some(format!("Proposal {n} of {} on the database.", part.label));
        }
        close_debate(&store, &format!("d{n}"), &format!("Which database for {n}?"), lesson);
    }
    let recalled = |limit| {
        let all = agents(&["openai/a", "gemini/c", "nobody"]);
        let hits = store.recall_memories(&all, "database", None, OPENED_S, limit).unwrap();
        assert!(hits.is_sorted_by(|a, b| a.score >= b.score), "{hits:?}");
        hits.into_iter().map(|hit| (hit.agent, hit.debate)).collect::<Vec<_>>()
    };
    let is = |agent: &str, debate: &str| (agent.to_owned(), debate.to_owned());
    assert_eq!(recalled(1), [is("openai/a", "d2"), is("gemini/c", "d2")]);
    assert_eq!(
        recalled(2),
        [is("openai/a", "d2"), is("openai/a", "d1"), is("gemini/c", "d2"), is("gemini/c", "d1")]
    );
    assert_eq!(recalled(0), []);
}

#[test]
fn memories_fade_by_the_time_that_the_caller_gives() {
    let home = TestHome::new();
    let store = home.open();
    close_debate(&store, "d1", "Which database?", lesson());
    let score =
        |agent: &str, now_s: i64| recall(&store, agent, "database", now_s).first().map(|hit| hit.score);
    let near = |score: Option<f64>, expected: f64| score.is_some_and(|score| (score - expected).abs() < 1e-9);
    assert!(near(score("openai/a", OPENED_S + HOUR), 0.95 / 2.0));
    assert!(near(score("openai/a", OPENED_S + 4 * HOUR), 0.95 / 16.0));
    assert_eq!(score("openai/a", OPENED_S + 4 * HOUR + 1), None, "forgotten");
    assert!(near(score("anthropic/b", OPENED_S + 24 * HOUR), 0.95 / 2.0), "a surprise lasts longer");
    let sunk = recall(&store, "anthropic/b", "database", OPENED_S + 97 * HOUR);
    assert_eq!(sunk[0].tier, MemoryTier::Fast, "it moves down a tier after four days");
    assert_eq!(score("anthropic/b", OPENED_S + 100 * HOUR + 1), None);
}

#[test]
fn the_same_question_again_updates_the_memory() {
    let home = TestHome::new();
    let store = home.open();
    close_debate(&store, "d1", "Which database?", lesson());
    let mut other = lesson();
    other.parts[1].position = Some("Take a server after all.".into());
    close_debate_at(&store, "d2", "which  DATABASE", "2026-05-01T11:00:00Z", other);
    assert_eq!((count_rows(&home, "memories"), count_rows(&home, "memory_observations")), (3, 6));
    let hit = &recall(&store, "anthropic/b", "database", OPENED_S + HOUR)[0];
    assert_eq!((hit.seen, hit.tier, hit.debate.as_str()), (2, MemoryTier::Slow, "d2"), "it surprised again");
    assert!(hit.text.contains("Take a server after all."), "{}", hit.text);
    assert_eq!(hit.at, OPENED_AT, "the first time stays");
}

#[test]
fn a_long_position_on_another_question_updates_the_memory_and_a_short_one_does_not() {
    let home = TestHome::new();
    let store = home.open();
    close_debate(&store, "d1", "Which database?", lesson());
    close_debate(&store, "d2", "Which store?", lesson());
    assert_eq!(count_rows(&home, "memories"), 3);
    let mut short = lesson();
    short.parts.iter_mut().for_each(|part| part.position = Some("Yes.".into()));
    close_debate(&store, "d3", "Is it late?", short.clone());
    close_debate(&store, "d4", "Is it cold?", short);
    assert_eq!(count_rows(&home, "memories"), 9, "yes to one question is not yes to another");
}

#[test]
fn an_agent_in_two_seats_has_a_memory_of_each_different_proposal() {
    let home = TestHome::new();
    let store = home.open();
    let mut twice = lesson();
    twice.parts.iter_mut().for_each(|part| part.agent = Some("openai/a".into()));
    twice.parts[2].position = twice.parts[1].position.clone();
    close_debate(&store, "d1", "Which database?", twice);
    assert_eq!((count_rows(&home, "memories"), count_rows(&home, "memory_observations")), (2, 3));
}

#[test]
fn a_resolution_updates_the_memories_of_its_debate() {
    let home = TestHome::new();
    let store = home.open();
    close_debate(&store, "d1", "Which database?", lesson());
    let an_hour_later = "2026-05-01T11:00:00Z";
    block_on(store.resolve_debate("d1", DebateResolution::Winner("B".into()), None, an_hour_later, None))
        .unwrap();
    let hit = |agent: &str| recall(&store, agent, "database", OPENED_S + HOUR).remove(0);
    // a: first off by 0.1, now by 0.9: a mean of 0.5. b: first off by 0.9, now by 0.1. c: off by 0.3 both times.
    let (a, b, c) = (hit("openai/a"), hit("anthropic/b"), hit("gemini/c"));
    assert_eq!((a.tier, a.seen, a.turned_out), (MemoryTier::Medium, 2, Some(OutcomeTruth::Wrong)));
    assert_eq!((b.tier, b.seen, b.turned_out), (MemoryTier::Slow, 2, Some(OutcomeTruth::Right)));
    assert_eq!((c.tier, c.seen, c.turned_out), (MemoryTier::Fast, 2, Some(OutcomeTruth::Wrong)));
    let surprise =
        |agent: &str| -> f64 { home.real(&format!("SELECT surprise FROM memories WHERE agent = '{agent}'")) };
    assert!((surprise("openai/a") - 0.5).abs() < 1e-9 && (surprise("gemini/c") - 0.3).abs() < 1e-9);
}

#[test]
fn without_a_stated_confidence_nothing_is_surprising() {
    let home = TestHome::new();
    let store = home.open();
    let mut silent = lesson();
    silent.parts.iter_mut().for_each(|part| part.confidence = None);
    close_debate(&store, "d1", "Which database?", silent.clone());
    block_on(store.resolve_debate("d1", DebateResolution::Winner("B".into()), None, OPENED_AT, None))
        .unwrap();
    let hit = &recall(&store, "anthropic/b", "database", OPENED_S)[0];
    assert_eq!((hit.tier, hit.seen, hit.score), (MemoryTier::Fast, 0, 0.5));
    let a_day_later_s = OPENED_S + 24 * HOUR;
    assert_eq!(recall(&store, "anthropic/b", "database", a_day_later_s), []);
    close_debate_at(&store, "d2", "Which database?", "2026-05-02T10:00:00Z", silent);
    assert_eq!(recall(&store, "anthropic/b", "database", a_day_later_s)[0].debate, "d2", "observed again");
}

/// The query shares no word with the memory.
#[test]
fn a_memory_is_recalled_by_meaning() {
    let home = TestHome::new();
    let store = home.open();
    close_debate(&store, "d1", "Which database?", lesson());
    let unindexed = store.texts_without_vectors("embeddings/x", 10).unwrap();
    assert_eq!(unindexed.iter().filter(|(id, _)| id.starts_with("m-")).count(), 3);
    index_all(&store, "embeddings/x", &[0.6, 0.8]);
    assert_eq!(store.texts_without_vectors("embeddings/x", 10).unwrap(), []);
    let meant = |vector: &[f32]| {
        store
            .recall_memories(&agents(&["openai/a"]), "unheard", Some(("embeddings/x", vector)), OPENED_S, 5)
            .unwrap()
    };
    assert!((meant(&[0.6, 0.8])[0].score - 0.95).abs() < 0.01);
    assert!((meant(&[1.0, 0.0])[0].score - 0.57).abs() < 0.01);
    assert_eq!(meant(&[-0.6, -0.8]), []);
    let mut other = lesson();
    other.parts[0].position = Some("Something else entirely, this time.".into());
    close_debate(&store, "d2", "Which database?", other);
    let again: Vec<String> =
        store.texts_without_vectors("embeddings/x", 10).unwrap().into_iter().map(|(_, text)| text).collect();
    assert!(
        again.iter().any(|text| text.contains("Something else entirely")),
        "a changed text needs a new vector"
    );
    assert_eq!(again.len(), 2, "that memory, and the second debate's decision: {again:?}");
}

#[test]
fn memories_are_listed_shown_and_forgotten_for_good() {
    let home = TestHome::new();
    let store = home.open();
    close_debate(&store, "d1", "Which database?", lesson());
    let mut other = lesson();
    other.parts.iter_mut().for_each(|part| part.position = Some("Tabs, and nothing else.".into()));
    close_debate(&store, "d2", "Tabs or spaces?", other);
    let ids = |agent| -> Vec<String> {
        let listed = store.list_memories(agent, OPENED_S, 10).unwrap();
        listed.into_iter().map(|memory| memory.id).collect()
    };
    assert_eq!((ids(None).len(), ids(Some("openai/a")).len(), ids(Some("nobody")).len()), (6, 2, 0));
    assert_eq!(store.list_memories(None, OPENED_S, 4).unwrap().len(), 4);
    assert_eq!(store.list_memories(None, i64::MAX, 10).unwrap(), [], "they have faded away");
    let shown = store.show_memory("m-1", OPENED_S).unwrap();
    assert_eq!((shown.agent.as_str(), shown.debate.as_str()), ("openai/a", "d1"));
    assert!(
        !shown.has_faded && shown.text.contains(&format!("Proposal: {}\n", shown.proposal())),
        "{shown:?}"
    );
    let faded = store.show_memory("m-2", i64::MAX).unwrap();
    assert!(faded.has_faded && faded.score == 0.0 && !faded.text.is_empty(), "{faded:?}");
    // Its text is in the store, so it can still be deleted.
    assert_eq!(block_on(store.forget_memory("m-2", i64::MAX)).unwrap(), faded);
    assert!(store.show_memory("m-2", OPENED_S).is_err());

    assert_eq!(block_on(store.forget_memory("m-1", OPENED_S)).unwrap(), shown);
    for id in ["m-1", "m-99", "k-1", "m-"] {
        let why = store.show_memory(id, OPENED_S).unwrap_err().to_string();
        assert!(why.contains("`agon memory list`"), "{why}");
    }
    assert!(block_on(store.forget_memory("m-1", OPENED_S)).is_err());
    assert_eq!(recall(&store, "openai/a", "database", OPENED_S), []);
    assert_eq!((ids(None).len(), store.health().unwrap().memories), (4, 4));

    // A rebuild neither brings it back nor gives another memory its number, and the same question makes a new one.
    close_debate(&store, "d3", "Which database?", lesson());
    let before = store.list_memories(None, OPENED_S, 10).unwrap();
    assert_eq!(block_on(store.rebuild()).unwrap().memories, 0);
    assert_eq!(store.list_memories(None, OPENED_S, 10).unwrap(), before);
    let again = recall(&store, "openai/a", "database", OPENED_S);
    assert_eq!((again.len(), again[0].debate.as_str(), again[0].seen), (1, "d3", 1));
}
