//! "The memory tiers": what agents remember, how it fades, and what is observed again.

use agon_store::{MemoryHit, Resolution, Sqlite, Tier, Truth};

use crate::debates::{Home, wait};
use crate::lessons::{OPENED_AT, OPENED_S, count, debate, debate_at, lesson};
use crate::meaning::index_all;

const HOUR: i64 = 3_600;

fn agents(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn recall(store: &Sqlite, agent: &str, query: &str, now_s: i64) -> Vec<MemoryHit> {
    store.recall(&agents(&[agent]), query, None, now_s, 10).unwrap()
}

#[test]
fn an_agent_recalls_its_own_part_in_debates_on_the_question() {
    let home = Home::new();
    let store = home.open();
    debate(&store, "d1", "Which database for the archive?", lesson());
    let mut other = lesson();
    other.parts.iter_mut().for_each(|part| part.position = Some("Tabs.".into()));
    debate(&store, "d2", "Tabs or spaces?", other);
    let hits = recall(&store, "openai/a", "A database for our archive", OPENED_S);
    let [hit] = hits.as_slice() else { panic!("{hits:?}") };
    assert_eq!((hit.agent.as_str(), hit.debate.as_str()), ("openai/a", "d1"));
    assert_eq!(
        hit.text,
        "Question: Which database for the archive?\nProposal: Proposal A is to be taken.\nIt was decided so."
    );
    assert_eq!((hit.tier, hit.seen, hit.turned_out), (Tier::Fast, 1, None));
    // Both words that tell something are there, nothing has faded, and it was sure by 0.9.
    assert!((hit.score - 0.95).abs() < 1e-9, "{}", hit.score);
    let lost = recall(&store, "anthropic/b", "database", OPENED_S);
    assert!(lost[0].text.ends_with("It was decided otherwise: Use one SQLite file."), "{}", lost[0].text);
    assert_eq!(lost[0].tier, Tier::Medium, "it was sure by 0.9 and lost");
    assert_eq!(recall(&store, "nobody", "database", OPENED_S), []);
    let both =
        store.recall(&agents(&["openai/a", "gemini/c", "openai/a"]), "database", None, OPENED_S, 10).unwrap();
    assert_eq!(both.iter().map(|hit| hit.agent.as_str()).collect::<Vec<_>>(), ["openai/a", "gemini/c"]);
}

/// "Each agent its best": one that is sure of all that it remembers does not starve the others.
#[test]
fn the_limit_is_each_agents_own() {
    let home = Home::new();
    let store = home.open();
    for n in 0..3 {
        let mut lesson = lesson();
        for part in &mut lesson.parts {
            part.position = Some(format!("Proposal {n} of {} on the database.", part.label));
        }
        debate(&store, &format!("d{n}"), &format!("Which database for {n}?"), lesson);
    }
    let recalled = |limit| {
        let all = agents(&["openai/a", "gemini/c", "nobody"]);
        let hits = store.recall(&all, "database", None, OPENED_S, limit).unwrap();
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

/// "Search scores by similarity, tier decay and confidence"; what has faded away is not returned.
#[test]
fn memories_fade_by_the_callers_clock() {
    let home = Home::new();
    let store = home.open();
    debate(&store, "d1", "Which database?", lesson());
    let score =
        |agent: &str, now_s: i64| recall(&store, agent, "database", now_s).first().map(|hit| hit.score);
    let near = |score: Option<f64>, expected: f64| score.is_some_and(|score| (score - expected).abs() < 1e-9);
    assert!(near(score("openai/a", OPENED_S + HOUR), 0.95 / 2.0));
    assert!(near(score("openai/a", OPENED_S + 4 * HOUR), 0.95 / 16.0));
    assert_eq!(score("openai/a", OPENED_S + 4 * HOUR + 1), None, "forgotten");
    assert!(near(score("anthropic/b", OPENED_S + 24 * HOUR), 0.95 / 2.0), "what surprised lasts longer");
    let sunk = recall(&store, "anthropic/b", "database", OPENED_S + 97 * HOUR);
    assert_eq!(sunk[0].tier, Tier::Fast, "after four days it sinks");
    assert_eq!(score("anthropic/b", OPENED_S + 100 * HOUR + 1), None);
}

/// "A memory of the same agent about the same question is observed again instead of added."
#[test]
fn the_same_question_again_is_no_second_memory() {
    let home = Home::new();
    let store = home.open();
    debate(&store, "d1", "Which database?", lesson());
    let mut other = lesson();
    other.parts[1].position = Some("Take a server after all.".into());
    debate_at(&store, "d2", "which  DATABASE", "2026-05-01T11:00:00Z", other);
    assert_eq!((count(&home, "memory"), count(&home, "sightings")), (3, 6));
    let hit = &recall(&store, "anthropic/b", "database", OPENED_S + HOUR)[0];
    assert_eq!((hit.seen, hit.tier, hit.debate.as_str()), (2, Tier::Slow, "d2"), "it surprised again");
    assert!(hit.text.contains("Take a server after all."), "{}", hit.text);
    assert_eq!(hit.at, OPENED_AT, "first seen then");
}

#[test]
fn the_same_position_on_another_question_is_the_same_memory_if_it_says_something() {
    let home = Home::new();
    let store = home.open();
    debate(&store, "d1", "Which database?", lesson());
    debate(&store, "d2", "Which store?", lesson());
    assert_eq!(count(&home, "memory"), 3);
    let mut short = lesson();
    short.parts.iter_mut().for_each(|part| part.position = Some("Yes.".into()));
    debate(&store, "d3", "Is it late?", short.clone());
    debate(&store, "d4", "Is it cold?", short);
    assert_eq!(count(&home, "memory"), 9, "yes to one thing is not yes to another");
}

/// An agent in two seats has two memories of one debate, unless both proposed the same.
#[test]
fn two_seats_of_an_agent_remember_what_each_proposed() {
    let home = Home::new();
    let store = home.open();
    let mut twice = lesson();
    twice.parts.iter_mut().for_each(|part| part.agent = Some("openai/a".into()));
    twice.parts[2].position = twice.parts[1].position.clone();
    debate(&store, "d1", "Which database?", twice);
    assert_eq!((count(&home, "memory"), count(&home, "sightings")), (2, 3));
}

/// "Resolving also observes the memories of that debate again (prediction = confidence, outcome = truth)."
#[test]
fn what_turns_out_is_observed() {
    let home = Home::new();
    let store = home.open();
    debate(&store, "d1", "Which database?", lesson());
    let an_hour_later = "2026-05-01T11:00:00Z";
    wait(store.resolve("d1", Resolution::Winner("B".into()), None, an_hour_later)).unwrap();
    let hit = |agent: &str| recall(&store, agent, "database", OPENED_S + HOUR).remove(0);
    // a: first off by 0.1, now by 0.9: a mean of 0.5. b: first off by 0.9, now by 0.1. c: off by 0.3 both times.
    let (a, b, c) = (hit("openai/a"), hit("anthropic/b"), hit("gemini/c"));
    assert_eq!((a.tier, a.seen, a.turned_out), (Tier::Medium, 2, Some(Truth::Wrong)));
    assert_eq!((b.tier, b.seen, b.turned_out), (Tier::Slow, 2, Some(Truth::Right)));
    assert_eq!((c.tier, c.seen, c.turned_out), (Tier::Fast, 2, Some(Truth::Wrong)));
    let surprise = |agent: &str| -> f64 {
        let query = "SELECT surprise FROM memory WHERE agent = ?1";
        home.plain().query_row(query, [agent], |row| row.get(0)).unwrap()
    };
    assert!((surprise("openai/a") - 0.5).abs() < 1e-9 && (surprise("gemini/c") - 0.3).abs() < 1e-9);
}

/// Who did not say how sure it was predicted nothing, so nothing surprised it.
#[test]
fn a_part_without_confidence_is_remembered_without_surprise() {
    let home = Home::new();
    let store = home.open();
    let mut silent = lesson();
    silent.parts.iter_mut().for_each(|part| part.confidence = None);
    debate(&store, "d1", "Which database?", silent.clone());
    wait(store.resolve("d1", Resolution::Winner("B".into()), None, OPENED_AT)).unwrap();
    let hit = &recall(&store, "anthropic/b", "database", OPENED_S)[0];
    assert_eq!((hit.tier, hit.seen, hit.score), (Tier::Fast, 0, 0.5));
    let a_day_later_s = OPENED_S + 24 * HOUR;
    assert_eq!(recall(&store, "anthropic/b", "database", a_day_later_s), []);
    debate_at(&store, "d2", "Which database?", "2026-05-02T10:00:00Z", silent);
    assert_eq!(recall(&store, "anthropic/b", "database", a_day_later_s)[0].debate, "d2", "it came up again");
}

/// By meaning, too: the vector of a question that shares no word with the memory.
#[test]
fn a_memory_is_recalled_by_its_meaning() {
    let home = Home::new();
    let store = home.open();
    debate(&store, "d1", "Which database?", lesson());
    let unindexed = store.unindexed("embeddings/x", 10).unwrap();
    assert_eq!(unindexed.iter().filter(|(id, _)| id.starts_with("m-")).count(), 3);
    index_all(&store, "embeddings/x", &[0.6, 0.8]);
    assert_eq!(store.unindexed("embeddings/x", 10).unwrap(), []);
    let meant = |vector: &[f32]| {
        store.recall(&agents(&["openai/a"]), "unheard", Some(("embeddings/x", vector)), OPENED_S, 5).unwrap()
    };
    assert!((meant(&[0.6, 0.8])[0].score - 0.95).abs() < 0.01);
    assert!((meant(&[1.0, 0.0])[0].score - 0.57).abs() < 0.01);
    assert_eq!(meant(&[-0.6, -0.8]), []);
    let mut other = lesson();
    other.parts[0].position = Some("Something else entirely, this time.".into());
    debate(&store, "d2", "Which database?", other);
    let again: Vec<String> =
        store.unindexed("embeddings/x", 10).unwrap().into_iter().map(|(_, text)| text).collect();
    assert!(
        again.iter().any(|text| text.contains("Something else entirely")),
        "other words mean something else"
    );
    assert_eq!(again.len(), 2, "that memory, and what the second debate decided: {again:?}");
}
