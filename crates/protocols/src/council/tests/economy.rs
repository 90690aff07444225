//! "Economy mode (sequential)": one councillor at a time, no peer exchange.

use super::*;

const ECONOMY: &[(&str, &str)] = &[("economy", "true")];

/// "economy mode makes one call at a time", in seat order, with the same phases.
#[test]
fn economy_mode_makes_one_call_at_a_time_in_seat_order() {
    let debate = run(ECONOMY, &|ask, phase, round| Some(plain(ask, phase, round)));
    assert!(debate.turns.iter().all(|turn| turn.asks.len() == 1));
    let seats = |name: &str, round: u32| -> Vec<&str> {
        let turns = debate.turns.iter().filter(|turn| turn.phase == agon_core::Phase::new(name, round));
        turns.map(|turn| turn.asks[0].seat.as_str()).collect()
    };
    for (name, round) in [("opening", 0), ("challenge", 1), ("challenge", 2), ("verdict", 2)] {
        assert_eq!(seats(name, round), SEATS, "{name} {round}");
    }
    let outcome = debate.outcome.unwrap();
    assert_eq!((outcome.status, &outcome.verdict["economy"]), (Status::Complete, &json!(true)));
    assert!(warned(&outcome, "economy mode: one call at a time"), "it says so");
}

/// "Economy mode has none": no messages, and no phase for them.
#[test]
fn economy_mode_has_no_messages() {
    let debate = run(ECONOMY, &|ask, phase, round| {
        if phase == "challenge" {
            assert!(ask.schema.as_ref().unwrap().json["properties"].get("messages").is_none());
            assert!(!ask.prompt.shared.contains("DIRECTLY") && !ask.prompt.shared.contains("\"messages\""));
        }
        Some(plain(ask, phase, round))
    });
    assert!(debate.turns_of("exchange").next().is_none());
    assert_eq!(debate.outcome.unwrap().verdict["exchanges"], json!([]));
}

/// "nobody sees words of the phase that is under way": the prompts of both modes are the same.
#[test]
fn economy_mode_has_the_prompts_of_standard_mode() {
    let read = |set: &[(&str, &str)]| {
        let seen = std::cell::RefCell::new(Vec::new());
        run(set, &|ask, phase, round| {
            let told = ask.prompt.user().replace("\n3. Message other councillors DIRECTLY", "");
            seen.borrow_mut().push((phase.to_owned(), round, ask.seat.clone(), told));
            with(ask, phase, round, &|said| {
                if (phase, round) == ("moderate", 1) {
                    said["new_arguments"] = json!([]);
                }
            })
        });
        seen.into_inner()
    };
    let (standard, economy) = (read(&[]), read(ECONOMY));
    assert_eq!(standard.len(), economy.len());
    for (one, other) in standard.iter().zip(&economy) {
        assert_eq!(one.0, other.0);
        assert_eq!((one.1, &one.2), (other.1, &other.2));
        if one.0 != "challenge" {
            assert_eq!(one.3, other.3, "{} {} {}", one.0, one.1, one.2);
        }
    }
}

/// Without messages, both modes have the same outcome.
#[test]
fn economy_mode_has_the_rules_of_standard_mode() {
    let answer: Answer<'_> = &|ask, phase, round| Some(plain(ask, phase, round));
    let (standard, economy) = (outcome(&[], answer), outcome(ECONOMY, answer));
    for field in ["decision", "confidence", "challenges", "position_evolution", "interventions"] {
        assert_eq!(standard.verdict[field], economy.verdict[field], "{field}");
    }
}

/// Rule 8: a limit "says which limit", also where it comes between two councillors.
#[test]
fn a_warning_names_the_limit_and_who_was_not_asked() {
    let limited = |calls: u32| {
        let mut brief = brief(ECONOMY);
        brief.limits.calls = Some(calls);
        let debate = testing::run(&Council, brief, &|ask, phase, round| Some(plain(ask, phase, round))).1;
        debate.outcome.unwrap()
    };
    let early = limited(2);
    assert_eq!((early.termination, early.status), (Termination::Budget, Status::Incomplete));
    assert!(
        warned(&early, "the limit of 2 calls")
            && warned(&early, "not asked for an opening, because a limit was reached")
    );
    let later = limited(14);
    assert!(warned(&later, ": not asked, because a limit was reached"), "{:?}", later.warnings);
    assert!(!warned(&later, "absent, so the last position counts"), "{:?}", later.warnings);
}
