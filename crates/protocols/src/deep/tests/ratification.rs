//! "`--ratify` (off by default; N more calls): after the synthesis every debater reads the answer and replies ... Its own word outranks
//! the chair's fates."

use agon_core::Fate;

use super::*;

/// A debate in which the chair rules on three positions: A adopted, B partly, C rejected.
fn ratified(limits: DebateLimits, assent: &dyn Fn(&str) -> Option<&'static str>) -> Debate {
    let mut brief = brief(MODELS, &[("ratify", "true"), ("max_rounds", "2")]);
    brief.limits = limits;
    play_unverified(brief, &|ask, phase, round| match phase {
        "answer" => Some(json!(format!("Position of {}", ask.seat))),
        "synthesis" => Some(with_listed_ids(
            ask,
            json!({"answer": "Tabs.", "why": "Width.", "fates": [
            {"position": "P1", "fate": "adopted", "reason": "it holds"}, {"position": "P2", "fate": "partly", "reason": "the date"},
            {"position": "P3", "fate": "rejected", "reason": "it is wrong"}]}),
        )),
        "ratify" => Some(json!({"assent": assent(ask.label.as_deref().unwrap())?, "statement": "My word."})),
        _ => plain(phase, round, &["no_change"], &[(0.1, 0.9)]),
    })
}

fn fates(debate: &Debate) -> Vec<Fate> {
    debate.outcome.as_ref().unwrap().positions.iter().map(|held| held.fate).collect()
}

#[test]
fn a_debaters_own_word_outranks_the_chairs_fates() {
    use Fate::{Adopted, Minority, Refuted};
    let (accept, reserve, dissent) = (Some("accept"), Some("accept_with_reservations"), Some("dissent"));
    for (words, expected, signed) in [
        ([None, None, None], [Adopted, Minority, Minority], "in round 2."),
        (
            [accept, accept, accept],
            [Adopted, Adopted, Refuted],
            "Signatures: 3 accept, 0 accept with reservations, 0 dissent.",
        ),
        (
            [dissent, reserve, accept],
            [Minority, Adopted, Refuted],
            "Signatures: 1 accept, 1 accept with reservations, 1 dissent.",
        ),
        (
            [accept, dissent, None],
            [Adopted, Minority, Minority],
            "Signatures: 1 accept, 0 accept with reservations, 1 dissent.",
        ),
        (
            [reserve, reserve, dissent],
            [Adopted, Adopted, Minority],
            "Signatures: 0 accept, 2 accept with reservations, 1 dissent.",
        ),
        (
            [dissent, dissent, dissent],
            [Minority, Minority, Minority],
            "Signatures: 0 accept, 0 accept with reservations, 3 dissent.",
        ),
    ] {
        let debate =
            ratified(DebateLimits::default(), &|label| words[usize::from(label.as_bytes()[8] - b'A')]);
        assert_eq!(fates(&debate), expected, "{words:?}");
        let outcome = debate.outcome.as_ref().unwrap();
        let words_said = outcome.verdict["signed"].as_array().unwrap();
        assert_eq!(words_said.len(), words.iter().flatten().count(), "{words:?}");
        for word in words_said {
            assert_eq!(word["statement"], "My word.");
            let label = word["debater"].as_str().unwrap();
            assert_eq!(word["assent"].as_str(), words[usize::from(label.as_bytes()[0] - b'A')]);
        }
        let dissents = expected.iter().filter(|fate| **fate == Minority).count();
        assert_eq!(outcome.dissent.len(), dissents);
        let is_whole = words.iter().all(Option::is_some);
        assert_eq!(outcome.fidelity == Fidelity::Full, is_whole, "{words:?}");
        let view = Deep.view(&debate).unwrap();
        assert!(view.positions.decided.name().is_some());
        assert!(view.headline.ending.ends_with(signed), "{}", view.headline.ending);
        let is_signed = |section: &agon_core::ReportSection| section.title == "Who signed the answer";
        assert_eq!(view.outline.body.iter().any(is_signed), words.iter().any(Option::is_some));
    }
}

/// The report reads well whatever the debater says, and the debater reads what the chair ruled on.
#[test]
fn what_a_debater_says_to_the_answer_stands_in_whole_sentences() {
    for (statement, signed, reason) in [
        ("", "accepts the answer", "\u{6210}\u{7acb}; accepts the answer"),
        (" Gern. ", "accepts the answer: Gern.", "\u{6210}\u{7acb}; accepts the answer: Gern."),
    ] {
        let seen = std::cell::RefCell::new(String::new());
        let set = [("ratify", "true"), ("mode", "quick")];
        let debate = play_unverified(brief(MODELS, &set), &|ask, phase, _| match phase {
            "answer" => Some(json!(format!("Position of {}", ask.seat))),
            "synthesis" => Some(json!({"answer": "Tabs.", "why": "Width.",
                "positions": [{"statement": "Width decides.", "members": [{"debater": "A", "quote": "Position"},
                    {"debater": "B", "quote": "Position"}, {"debater": "C", "quote": "Position"}]}],
                "fates": [{"position": "P1", "fate": "adopted", "reason": "\u{6210}\u{7acb}\u{3002}"}]})),
            _ => {
                *seen.borrow_mut() = ask.prompt.user();
                let assent = if ask.label.as_deref() == Some("Debater C") { "dissent" } else { "accept" };
                Some(json!({"assent": assent, "statement": statement}))
            }
        });
        let outcome = debate.outcome.as_ref().unwrap();
        let reason = format!("the chair adopts its holder's final position: {reason}");
        assert_eq!(outcome.positions[0].reason, reason);
        let view = Deep.view(&debate).unwrap();
        let section = view.outline.body.iter().find(|section| section.title == "Who signed the answer");
        let [agon_core::ReportBlock::Items(items)] = section.unwrap().blocks.as_slice() else { panic!() };
        assert_eq!(items[0].text, signed);
        let note = view.dissent[0].note.as_deref().unwrap();
        assert_eq!(note.contains("Its holder's reason: Gern."), !statement.is_empty(), "{note}");
        let read = seen.into_inner();
        assert!(read.contains("under this statement:\n<<BEGIN") && read.contains("Width decides."), "{read}");
    }
}

/// "Off by default; N more calls."
#[test]
fn the_debaters_sign_only_if_asked_to() {
    let calls = |set: &[(&str, &str)]| {
        let (_, debate) = run_brief(brief(MODELS, set), &|_, phase, round| {
            plain(phase, round, &["no_change"], &[(0.9, 0.1)])
        });
        let is_signed = debate.outcome.as_ref().unwrap().verdict.get("signed").is_some();
        (debate.asks(), is_signed)
    };
    assert_eq!(calls(&[]), (12, false));
    assert_eq!(calls(&[("ratify", "true")]), (15, true));
    assert_eq!(calls(&[("ratify", "true"), ("mode", "quick")]), (7, true));
}

/// A limit keeps enough for the signatures. If it does not suffice after all, the report says so.
#[test]
fn signatures_that_do_not_fit_the_limit_are_told() {
    for (calls, asked, rounds) in
        [(15, true, 2), (14, true, 2), (11, true, 1), (10, true, 1), (7, true, 0), (5, false, 0)]
    {
        let debate =
            ratified(DebateLimits { calls: Some(calls), ..DebateLimits::default() }, &|_| Some("accept"));
        let outcome = debate.outcome.as_ref().unwrap();
        assert_eq!(
            (debate.turn("ratify", rounds).is_some(), outcome.rounds_completed),
            (asked, rounds),
            "{calls}"
        );
        let is_told = outcome.warnings.iter().any(|warning| warning.contains("not asked to sign"));
        assert_eq!(is_told, !asked, "{calls}: {:?}", outcome.warnings);
        assert!(asked || outcome.fidelity == Fidelity::Degraded);
    }
}
