//! RatingTable, and calibration by resolved debates.

use agon_core::lesson::AgentStanding;
use agon_measure::calibration::{DebateResolution, OutcomeTruth};
use agon_measure::ratings::{RatedGame, RatingTable};
use agon_store::AgentRating;

use crate::fixtures::{OPENED_AT, TestHome, block_on, close_debate, lesson};

fn of<'a>(all: &'a [AgentRating], agent: &str) -> &'a AgentRating {
    all.iter().find(|rated| rated.agent == agent).unwrap()
}

#[test]
fn ratings_follow_the_games_in_the_order_in_which_they_closed() {
    let home = TestHome::new();
    let store = home.open();
    let mut second = lesson();
    second.parts.reverse();
    for part in &mut second.parts {
        let rated = part.rated.as_mut().unwrap();
        rated.change = -rated.change * 0.731;
        rated.against.iter_mut().for_each(|(_, score)| *score = 1.0 - *score);
    }
    let lessons = [lesson(), second, lesson()];
    let mut games = Vec::new();
    for (n, lesson) in lessons.into_iter().enumerate() {
        let id = format!("d{n}");
        games.push(RatedGame::from_lesson(&id, OPENED_AT, &lesson).unwrap());
        close_debate(&store, &id, "Why?", lesson);
    }
    let expected = RatingTable::from_games(games.iter());
    let stored = store.ratings().unwrap();
    assert_eq!(stored.len(), 3);
    for rated in &stored {
        assert_eq!(rated.rating, expected.agents[&rated.agent], "{}", rated.agent);
    }
    let elo: Vec<f64> = stored.iter().map(|rated| rated.rating.elo).collect();
    assert!(elo.is_sorted_by(|a, b| a >= b), "best first: {elo:?}");
    let standings = store.standings(&["gemini/c".into(), "nobody".into()]).unwrap();
    let c = of(&stored, "gemini/c");
    let (rating, deviation) = (c.rating.elo, c.rating.glicko.deviation);
    assert_eq!(
        standings[0],
        AgentStanding { agent: "gemini/c".into(), rating, deviation, games: 3, brier: None }
    );
    let (agent, brier) = ("nobody".to_owned(), None);
    assert_eq!(standings[1], AgentStanding { agent, rating: 1500.0, deviation: 350.0, games: 0, brier });
}

/// a voted for A with 0.8, b for A with 0.6, c for C with 0.7. The debate decided for A.
#[test]
fn calibration_follows_the_last_resolution_and_conformity_the_decision() {
    let home = TestHome::new();
    let store = home.open();
    close_debate(&store, "d1", "Why?", lesson());
    let before = store.ratings().unwrap();
    assert!(before.iter().all(|rated| rated.brier.is_none() && rated.resolved == 0 && rated.ballots == 1));
    let conformity =
        |all: &[AgentRating]| ["openai/a", "anthropic/b", "gemini/c"].map(|agent| of(all, agent).conformity);
    assert_eq!(conformity(&before), [Some(1.0), Some(1.0), Some(0.0)]);
    let brier = |resolution| {
        block_on(store.resolve_debate("d1", resolution, None, OPENED_AT, None)).unwrap();
        let all = store.ratings().unwrap();
        assert_eq!(conformity(&all), conformity(&before), "a resolution does not change conformity");
        ["openai/a", "anthropic/b", "gemini/c"].map(|agent| {
            let rated = of(&all, agent);
            assert_eq!(rated.resolved > 0, rated.calibration_error.is_some());
            rated.brier.map(|brier| (brier * 1e6).round() / 1e6)
        })
    };
    assert_eq!(brier(DebateResolution::Truth(OutcomeTruth::Right)), [Some(0.04), Some(0.16), Some(0.49)]);
    assert_eq!(brier(DebateResolution::Truth(OutcomeTruth::Wrong)), [Some(0.64), Some(0.36), None]);
    assert_eq!(brier(DebateResolution::Winner("C".into())), [Some(0.64), Some(0.36), Some(0.09)]);
    assert_eq!(brier(DebateResolution::Winner("A".into())), [Some(0.04), Some(0.16), Some(0.49)]);
    assert_eq!(store.resolutions("d1").unwrap().len(), 4, "all are kept");
    let standing = &store.standings(&["anthropic/b".into()]).unwrap()[0];
    assert!((standing.brier.unwrap() - 0.16).abs() < 1e-12);
}

#[test]
fn an_agent_that_only_voted_is_listed_with_the_initial_rating() {
    let home = TestHome::new();
    let store = home.open();
    let mut unrated = lesson();
    unrated.parts.iter_mut().for_each(|part| part.rated = None);
    close_debate(&store, "d1", "Why?", unrated);
    let all = store.ratings().unwrap();
    assert_eq!(
        all.iter().map(|rated| rated.agent.as_str()).collect::<Vec<_>>(),
        ["anthropic/b", "gemini/c", "openai/a"]
    );
    assert!(all.iter().all(|rated| rated.rating.elo == 1500.0 && rated.rating.games == 0));
}
