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
    for (name, round) in [("opening", 0), ("challenge", 1), ("respond", 2), ("verdict", 2)] {
        assert_eq!(seats(name, round), SEATS, "{name} {round}");
    }
    let outcome = debate.outcome.unwrap();
    assert!(warned(&outcome, "economy mode: one call at a time"), "it says so");
    assert_eq!((outcome.status, &outcome.verdict["economy"]), (Status::Complete, &json!(true)));
}

/// "Economy mode has none": no messages, and no phase for them.
#[test]
fn economy_mode_has_no_messages() {
    let debate = run(ECONOMY, &|ask, phase, round| {
        if phase == "challenge" {
            assert!(ask.schema.as_ref().unwrap().json["properties"].get("messages").is_none());
            assert!(!ask.prompt.shared.contains("DIRECTLY") && !ask.prompt.shared.contains("\"messages\""));
        }
        if phase == "respond" {
            let asked = ask.prompt.user();
            assert!(asked.contains("3. Only then decide") && !asked.contains("message"), "{asked}");
        }
        Some(plain(ask, phase, round))
    });
    assert_eq!(debate.outcome.unwrap().verdict["exchanges"], json!([]));
}

/// "nobody sees words of the phase that is under way": without messages, both modes have the same prompts and the same outcome.
#[test]
fn economy_mode_has_the_prompts_and_rules_of_standard_mode() {
    let read = |set: &[(&str, &str)]| {
        let seen = std::cell::RefCell::new(Vec::new());
        let debate = run(set, &|ask, phase, round| {
            if phase != "challenge" {
                seen.borrow_mut().push((phase.to_owned(), round, ask.seat.clone(), ask.prompt.user()));
            }
            with(ask, phase, round, &|said| {
                said.as_object_mut().unwrap().remove("messages");
                if (phase, round) == ("moderate", 1) {
                    said["new_arguments"] = json!([]);
                }
            })
        });
        (seen.into_inner(), debate.outcome.unwrap())
    };
    let ((standard, plain), (economy, cheap)) = (read(&[]), read(ECONOMY));
    assert_eq!(standard, economy);
    for field in ["decision", "challenges", "position_evolution", "interventions"] {
        assert_eq!(plain.verdict[field], cheap.verdict[field], "{field}");
    }
    assert_eq!(
        (&plain.verdict["confidence"], &cheap.verdict["confidence"]),
        (&json!("MEDIUM"), &json!("HIGH"))
    );
    assert_eq!(plain.verdict["confidence_caps"], json!(["no_messages"]), "economy mode has none to miss");
}

/// Rule 8: a limit "says which limit", also where it comes between two councillors.
#[test]
fn a_warning_names_the_limit_and_who_was_not_asked() {
    let limited = |calls: u32| {
        let mut brief = brief(ECONOMY);
        brief.limits.calls = Some(calls);
        let debate = run_brief(brief, &|ask, phase, round| Some(plain(ask, phase, round)));
        debate.outcome.unwrap()
    };
    let early = limited(2);
    assert_eq!((early.termination, early.status), (Termination::Budget, Status::Incomplete));
    assert!(
        warned(&early, "the limit of 2 calls")
            && warned(&early, "not asked for an opening, because a limit was reached")
    );
    let later = limited(16);
    assert!(
        warned(&later, "round 1, respond: not asked, because a limit was reached"),
        "{:?}",
        later.warnings
    );
    assert!(!warned(&later, ": absent"), "{:?}", later.warnings);
}
