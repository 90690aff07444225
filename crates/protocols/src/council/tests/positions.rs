//! Who held what after each round.

use agon_core::{PositionGrouping, PositionHistory};

use super::*;

/// A councillor who declares another position in a round.
fn changed(said: &mut Value, position: &str, because: &str) {
    said["changed"] = json!(true);
    said["position"] = json!(position);
    said["because"] = json!(because);
}

/// A council of two rounds: the critic and the innovator vote against, the innovator after a change in round 1.
fn held(because: &str, change: &dyn Fn(&mut Value, &str, u32, &str)) -> PositionHistory {
    let debate = run(&[("rounds", "2")], &|ask, phase, round| {
        with(ask, phase, round, &|said| {
            match (phase, round, ask.seat.as_str()) {
                ("challenge", 1, "innovator") => changed(said, "No queue for now.", because),
                ("verdict", _, "critic") => said["vote"] = json!("RECONSIDER"),
                ("verdict", _, "innovator") => said["vote"] = json!("DO NOT PROCEED"),
                _ => {}
            }
            change(said, phase, round, &ask.seat);
        })
    });
    view(&debate).positions
}

fn positions(stands: &PositionHistory, at: usize) -> Vec<&str> {
    stands.rounds[at].stands.iter().map(|stand| stand.position.as_str()).collect()
}

fn numbers(stands: &PositionHistory) -> Vec<u32> {
    stands.rounds.iter().map(|held| held.round).collect()
}

const OPENING: &str = "The innovator says that the queue is worth a trial.";

/// Where nobody changes, "carry the final `vote` back over the rounds".
#[test]
fn a_councillor_who_never_changed_held_its_vote_from_the_start() {
    let debate = run(&[("rounds", "2")], &|ask, phase, round| {
        with(ask, phase, round, &|said| {
            if (phase, ask.seat.as_str()) == ("verdict", "critic") {
                said["vote"] = json!("RECONSIDER");
            }
        })
    });
    let stands = view(&debate).positions;
    assert_eq!((stands.grouping, numbers(&stands)), (PositionGrouping::Declared, vec![0, 1, 2]));
    for at in [0, 1, 2] {
        assert_eq!(positions(&stands, at), ["PROCEED", "RECONSIDER", "PROCEED", "PROCEED"]);
        assert_eq!(stands.rounds[at].ruling, stands.decided);
        assert!(!stands.rounds[at].ballots);
    }
    assert!(stands.flips().is_empty());
    assert!(stands.rounds[0].stands.iter().all(|stand| stand.confidence.is_none()), "HIGH is no figure");
}

/// The innovator's first vote is not known, so the rounds have texts and the votes are a round of their own.
#[test]
fn a_round_has_votes_or_texts_but_not_both() {
    let stands = held("The Critic counted.", &|_, _, _, _| {});
    assert_eq!(numbers(&stands), [0, 1, 2, 3]);
    let opening = |seat: &str| OPENING.replace("innovator", seat);
    let openings = ["visionary", "critic", "pragmatist", "innovator"].map(opening);
    assert_eq!(positions(&stands, 0), openings);
    for at in [1, 2] {
        assert_eq!(positions(&stands, at)[..3], openings[..3]);
        assert_eq!(positions(&stands, at)[3], "No queue for now.");
    }
    assert_eq!(positions(&stands, 3), ["PROCEED", "RECONSIDER", "PROCEED", "DO NOT PROCEED"]);
    let ballots: Vec<bool> = stands.rounds.iter().map(|held| held.ballots).collect();
    assert_eq!(ballots, [false, false, false, true]);
    assert!(stands.rounds[3].stands.iter().all(|stand| stand.change.is_none()), "a vote is no change");
    assert_eq!(stands.at_last("innovator").unwrap().position, "No queue for now.");
    let flips = stands.flips();
    let seen = flips
        .iter()
        .map(|f| (f.round, f.seat.as_str(), f.from.as_str(), f.to.as_str(), f.evidenced, f.toward_majority));
    assert_eq!(seen.collect::<Vec<_>>(), [(1, "innovator", OPENING, "No queue for now.", true, false)]);
    assert_eq!(flips[0].cited, ["Critic"]);
}

/// "`evidenced`: the change names another seat's point or a piece of evidence".
#[test]
fn a_change_cites_what_it_names() {
    let cited = |because: &str, change: &dyn Fn(&mut Value, &str, u32, &str)| {
        let flips = held(because, change).flips();
        flips[0].cited.clone()
    };
    let nothing = |_: &mut Value, _: &str, _: u32, _: &str| {};
    for (because, want) in [
        ("I was persuaded.", &[][..]),
        ("The innovator in me won.", &[]),
        ("C1 and C99 ask for it.", &["[C1]"]),
        ("plan.md:3 forbids it.", &["plan.md:3"]),
        ("the Pragmatist and the critic are right", &[]),
        ("the Pragmatist and the critic are right about the outage", &["Critic", "Pragmatist"]),
    ] {
        assert_eq!(cited(because, &nothing), want, "{because}");
    }
    // The pragmatist's question of the opening is put to the innovator; agreeing with it names it.
    let agrees = |said: &mut Value, phase: &str, round: u32, seat: &str| {
        if (phase, round, seat) == ("challenge", 1, "innovator") {
            said["responses"][0]["stance"] = json!("agree");
        }
    };
    assert_eq!(cited("I was persuaded.", &agrees), ["[C3]"]);
}

/// "council's own rule over the seats whose position is a vote, when they alone decide it whatever the others hold".
#[test]
fn a_round_has_a_ruling_when_its_known_votes_decide_it() {
    let stands = held("I was persuaded.", &|_, _, _, _| {});
    // Two for and one against: with the fourth it may be a majority or a split.
    assert_eq!(stands.rounds[0].ruling, None);
    for at in [1, 2, 3] {
        assert_eq!(stands.rounds[at].ruling.as_deref(), Some("RECONSIDER"), "two against two are a split");
    }
    assert_eq!(stands.decided, stands.rounds[3].ruling);
    // Three for, and one whose opening says nothing of its vote: a majority, whatever it holds.
    let stands = held("I was persuaded.", &|said, phase, _, seat| {
        if (phase, seat) == ("verdict", "critic") {
            said["vote"] = json!("PROCEED WITH CONDITIONS");
        }
    });
    assert_eq!(stands.rounds[0].ruling.as_deref(), Some("PROCEED WITH CONDITIONS"));
    assert_eq!(stands.decided.name(), Some("PROCEED WITH CONDITIONS"));
}

#[test]
fn a_flip_to_what_most_others_held_is_toward_the_majority() {
    let stands = held("I was persuaded.", &|said, phase, _, seat| {
        if phase == "opening" && seat != "innovator" {
            said["position"] = json!("No queue for now.");
        }
    });
    let flips = stands.flips();
    assert_eq!(
        (flips[0].to.as_str(), flips[0].toward_majority, flips[0].evidenced),
        ("No queue for now.", true, false)
    );
}

#[test]
fn the_same_opening_words_mean_the_same_vote() {
    let stands = held("I was persuaded.", &|said, phase, _, seat| {
        if phase == "opening" && ["critic", "innovator"].contains(&seat) {
            said["position"] = json!("Let us wait.");
        }
    });
    assert_eq!(positions(&stands, 0), ["PROCEED", "RECONSIDER", "PROCEED", "RECONSIDER"]);
}

#[test]
fn an_absent_councillor_keeps_its_position_and_one_without_an_opening_has_none() {
    let debate = run(&[("rounds", "2")], &|ask, phase, round| match (phase, round, ask.seat.as_str()) {
        ("opening", _, "critic") | ("challenge", 2, "innovator") | ("verdict", _, "innovator") => None,
        ("challenge", 1, "innovator") => with(ask, phase, round, &|said| {
            changed(said, "No queue for now.", "I was persuaded.");
            for (at, challenge) in said["challenges"].as_array_mut().unwrap().iter_mut().enumerate() {
                challenge["to"] = json!(["visionary", "pragmatist"][at]);
            }
        }),
        _ => with(ask, phase, round, &|said| {
            let others: Vec<&str> =
                SEATS.into_iter().filter(|seat| *seat != "critic" && *seat != ask.seat).collect();
            let lists = ["challenges", "questions"];
            for list in lists {
                for (at, one) in said[list].as_array_mut().into_iter().flatten().enumerate() {
                    one["to"] = json!(others[at % others.len()]);
                }
            }
        }),
    });
    let stands = view(&debate).positions;
    for held in &stands.rounds {
        let seats: Vec<&str> = held.stands.iter().map(|stand| stand.seat.as_str()).collect();
        assert_eq!(seats, ["visionary", "pragmatist", "innovator"]);
    }
    assert_eq!(positions(&stands, 1)[2], "No queue for now.");
    assert_eq!(positions(&stands, 2), positions(&stands, 1));
    assert_eq!(
        positions(&stands, 3),
        ["PROCEED", "PROCEED", "No queue for now."],
        "without a vote, its words"
    );
    assert_eq!(stands.rounds[2].stands[2].change, None);
    assert_eq!(stands.decided.name(), Some("PROCEED"));
}

#[test]
fn a_running_debate_has_texts_and_no_decision() {
    let (records, debate) = testing::run(&Council, brief(&[("rounds", "2")]), &|ask, phase, round| {
        Some(plain(ask, phase, round))
    });
    assert_eq!(view(&debate).positions.decided.name(), Some("PROCEED"));
    let end = records.iter().rposition(|record| {
        serde_json::to_value(&record.entry.event).unwrap().to_string().contains("\"moderate\"")
    });
    let begun = Debate::from_records(&records[..end.unwrap()]).unwrap();
    let stands = view(&begun).positions;
    assert_eq!((stands.rounds.len(), &stands.decided), (3, &None));
    assert_eq!(positions(&stands, 2)[3], OPENING);
    assert_eq!(stands.rounds[2].ruling, None, "four positions, one each");
    assert!(stands.flips().is_empty());
}
