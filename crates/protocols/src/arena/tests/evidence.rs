//! "hollow consensus = high agreement with weak evidence": what counts as evidence and as a reason, and what only looks like it.

use crate::arena::trickster::{AgentArgument, SignalThresholds, find_weaknesses};
use super::*;

const BARE_ON: &[(&str, &str)] = &[("no_knowledge", "true"), ("no_memory", "true"), ("trickster", "true")];

/// The values of the trickster's first look at proposals that are changed in this way.
fn signals(set: &[(&str, &str)], change: &dyn Fn(&Ask, &mut Value)) -> Value {
    let outcome = ScriptedArena {
        set,
        alike: &|_| 0.95,
        with: &|ask, phase, _, said| match phase {
            "context" if ask.seat == "knowledge" => {
                *said = json!({"items": [{"title": "Queues", "text": "They halve the delays."}]});
            }
            "revise" | "challenge" => change(ask, said),
            _ => {}
        },
        ..ScriptedArena::default()
    }
    .outcome();
    let signals = outcome.verdict["trickster"]["checks"][0]["signals"].clone();
    signals
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (s["signal"].as_str().unwrap().to_owned(), s["value"].clone()))
        .collect()
}

/// A citation can be checked only where there is something behind it: an id that its author was shown.
#[test]
fn an_id_that_nobody_was_shown_is_no_evidence_that_can_be_checked() {
    let set: &[(&str, &str)] = &[("no_memory", "true"), ("trickster", "true")];
    let cites = |evidence: &dyn Fn(&Ask) -> String| {
        signals(set, &|ask, said| said["claims"] = json!([{"claim": "It pays", "evidence": evidence(ask)}]))
    };
    assert_eq!(cites(&|_| "[K77]".to_owned())["unspecific"], 1.0);
    assert_eq!(cites(&|_| "as [K2] says".to_owned())["unspecific"], 1.0);
    assert_eq!(cites(&|_| "[K1]".to_owned())["unspecific"], 0.0);
    assert_eq!(cites(&|_| "[Q99] has it".to_owned())["unspecific"], 1.0);
    assert_eq!(cites(&|ask| format!("[{}]", own(ask)[0]))["unspecific"], 0.0);
    let others = |ask: &Ask| (1..=6).map(|n| format!("Q{n}")).find(|id| !own(ask).contains(id)).unwrap();
    assert_eq!(cites(&|ask| format!("[{}]", others(ask)))["unspecific"], 1.0, "a critique that others read");
}

/// To say that a critique was taken in is no reason; to say why is one.
#[test]
fn an_answered_critique_is_a_reason_only_where_it_gives_one() {
    let answered = |how: &str| {
        signals(BARE_ON, &|ask, said| {
            said["claims"] = json!([]);
            (said["position"], said["proposal"]) = (json!("Sharing is best."), json!("Sharing is best."));
            said["addressed"] = own(ask).iter().map(|id| json!({"critique_id": id, "how": how})).collect();
        })["no_reasons"]
            .clone()
    };
    assert_eq!(answered("taken in"), 1.0);
    assert_eq!(answered("kept, because the costs are shared"), 0.0);
}

/// How much is uncited and how much unspecific of one claim, whose author was shown `K1` and `Q5`.
fn weak(evidence: &str) -> (f64, f64) {
    let made = AgentArgument {
        label: "A",
        text: "Do it.",
        claims: vec![("It pays", evidence)],
        addressed: vec![],
        shown: vec!["K1", "Q5"],
    };
    let half = SignalThresholds { uncited: 0.5, unspecific: 0.5, near_copies: 0.5, no_reasons: 0.5, signals: 1 };
    let found = find_weaknesses(&[made], &|_, _| None, &half);
    (found.signals[0].value, found.signals[1].value)
}

/// An id is as good as what it stands for; what else the evidence says still counts.
#[test]
fn a_citation_is_specific_where_it_was_shown() {
    for evidence in [
        "[K1]",
        "K1",
        "see [k1]",
        "[K1, K77]",
        "Q5",
        "best practice, see [K1]",
        "[K77], and 12% in March",
        "sales rose in Q3",
        "[K77] in src/main.rs",
        "K8s runs it",
    ] {
        assert_eq!(weak(evidence), (0.0, 0.0), "{evidence}");
    }
    for evidence in [
        "[K77]",
        "K77",
        "see [K77]",
        "[Q9]",
        "as [Q3] says",
        "[K77] 7",
        "[K77], [K78]",
        "[K77] https://example.org/a",
        "Q3",
        "[k77]",
        "K1 of that debate",
        "(K1 of that source)",
        "\"[K77]\"",
        "`K77`",
    ] {
        assert_eq!(weak(evidence), (0.0, 1.0), "{evidence}");
    }
}

/// A number or a link alone says nothing of what it has to do with the claim.
#[test]
fn a_bare_number_or_link_is_no_evidence() {
    for evidence in [
        "7",
        "12%",
        "12 percent",
        "seven",
        "2024-03-01",
        "1, 2, 3",
        "\"7\"",
        "https://example.org/a",
        "<https://example.org/a>.",
        "www.example.org",
        "example.org/docs",
        "https://example.org 7",
    ] {
        assert_eq!(weak(evidence), (1.0, 0.0), "{evidence}");
    }
    for evidence in [
        "7 outages",
        "40 ms",
        "40ms",
        "it fell by 12%",
        "the minutes at https://example.org/a",
        "src/main.rs",
        "[K1] 7",
        "seven outages",
    ] {
        assert_eq!(weak(evidence), (0.0, 0.0), "{evidence}");
    }
}
