//! "Trickster (optional) -- Detects hollow consensus when enabled": high agreement with weak evidence.

use agon_core::options;
use proptest::prelude::*;

use super::*;
use crate::arena::options::ArenaOptions;
use crate::arena::trickster::{
    AgentArgument, AgentQuote, SignalKind, SignalThresholds, TricksterFinding, WeaknessSignal,
    find_weaknesses,
};

const NAMES: [SignalKind; 4] =
    [SignalKind::Uncited, SignalKind::Unspecific, SignalKind::NearCopies, SignalKind::NoReasons];

const DEFAULT: SignalThresholds =
    SignalThresholds { uncited: 0.5, unspecific: 0.6, near_copies: 0.5, no_reasons: 0.5, signals: 2 };

fn at(threshold: f64) -> SignalThresholds {
    let all = threshold;
    SignalThresholds { uncited: all, unspecific: all, near_copies: all, no_reasons: all, signals: 1 }
}

fn with(mut thresholds: SignalThresholds, name: SignalKind, threshold: f64) -> SignalThresholds {
    match name {
        SignalKind::Uncited => thresholds.uncited = threshold,
        SignalKind::Unspecific => thresholds.unspecific = threshold,
        SignalKind::NearCopies => thresholds.near_copies = threshold,
        SignalKind::NoReasons => thresholds.no_reasons = threshold,
    }
    thresholds
}

fn argument<'a>(label: &'a str, text: &'a str, claims: &[(&'a str, &'a str)]) -> AgentArgument<'a> {
    AgentArgument { label, text, claims: claims.to_vec(), addressed: vec![], shown: vec![] }
}

/// Without a measured similarity.
fn seen(arguments: &[AgentArgument<'_>], thresholds: &SignalThresholds) -> TricksterFinding {
    find_weaknesses(arguments, &|_, _| None, thresholds)
}

fn signal(finding: &TricksterFinding, name: SignalKind) -> &WeaknessSignal {
    finding.signals.iter().find(|signal| signal.signal == name).unwrap()
}

fn value(arguments: &[AgentArgument<'_>], name: SignalKind) -> f64 {
    signal(&seen(arguments, &DEFAULT), name).value
}

fn quote(label: &str, quote: &str) -> AgentQuote {
    AgentQuote { label: label.into(), quote: quote.into() }
}

const SOUND: [(&str, &str, &str); 3] = [
    ("A", "Adopt the queue because the nightly peak stops growth.", "p99 rose from 40 ms to 900 ms in March"),
    ("B", "Take the queue after a pilot; therefore start in spring.", "see docs/adr/0007.md"),
    ("C", "The queue pays off, since the database is at its end.", "Grafana says \"disk 97% full\""),
];

fn sound() -> Vec<AgentArgument<'static>> {
    SOUND
        .iter()
        .map(|(label, text, evidence)| argument(label, text, &[("The peak grows", evidence)]))
        .collect()
}

/// All agents say the same, and none says why.
fn empty_words() -> Vec<AgentArgument<'static>> {
    ["A", "B", "C"]
        .into_iter()
        .map(|label| argument(label, "We adopt the queue and all will be well.", &[]))
        .collect()
}

#[test]
fn a_consensus_is_hollow_without_evidence_and_not_hollow_with_it() {
    let finding = seen(&sound(), &DEFAULT);
    assert_eq!(finding.signals.iter().map(|signal| signal.signal).collect::<Vec<_>>(), NAMES);
    assert!(
        !finding.hollow && finding.signals.iter().all(|signal| !signal.fired && signal.quotes.is_empty())
    );
    let finding = seen(&empty_words(), &DEFAULT);
    let fired = [SignalKind::Uncited, SignalKind::NearCopies, SignalKind::NoReasons];
    assert!(finding.hollow);
    for name in NAMES {
        assert_eq!(signal(&finding, name).fired, fired.contains(&name), "{name:?}");
    }
}

/// "empty input is silent": nobody, and somebody who says nothing.
#[test]
fn empty_arguments_give_no_signals() {
    for arguments in [vec![], vec![argument("A", " \n", &[]), argument("B", "...", &[("", " ")])]] {
        let finding = seen(&arguments, &at(0.0));
        assert!(!finding.hollow);
        for signal in finding.signals {
            assert!(signal.value == 0.0 && !signal.fired && signal.quotes.is_empty(), "{signal:?}");
        }
    }
}

/// "share of claims without evidence; no claims at all counts 1".
#[test]
fn claims_without_evidence_and_texts_without_claims_are_uncited() {
    let claims = [("x", "in 2024"), ("y", ""), ("z", "n/a"), ("w", "None.")];
    assert_eq!(value(&[argument("A", "text", &claims)], SignalKind::Uncited), 0.75);
    assert_eq!(value(&[argument("A", "text", &[])], SignalKind::Uncited), 1.0);
    let both = [argument("A", "text", &claims[..1]), argument("B", "We just should. Really.", &[])];
    let finding = seen(&both, &DEFAULT);
    assert_eq!(
        signal(&finding, SignalKind::Uncited).value,
        0.5,
        "who claims nothing cannot hide behind who does"
    );
    assert_eq!(signal(&finding, SignalKind::Uncited).quotes, [quote("B", "We just should.")]);
}

/// "no figure, date, quotation, path, link, code, proper name in mid-sentence"; for ids see `evidence`.
#[test]
fn evidence_is_specific_if_it_can_be_checked() {
    for evidence in [
        "it fell by 12%",
        "since last March",
        "the minutes say \"stop at once\"",
        "\u{201c}stop at once\u{201d} in the minutes",
        "\u{ab}arr\u{ea}t imm\u{e9}diat\u{bb}",
        "call `flush` first",
        "src/main.rs",
        "find_weaknesses into /var/log",
        "written in plan.md.",
        "see https://example.org/a",
        "www.example.org says so",
        "two nights in ninety",
        "the team of Postgres wrote it",
        "HTTP demands it",
        "as SQLite does",
        "serde::from_str fails",
        "flush() blocks",
        "max_rounds limits it",
        "pass --strict",
        "maxRounds limits it",
        "It is well known that Oracle charges by core",
        "best practice, see RFC 9110",
        "\u{6839}\u{636e}\u{89c4}\u{8303}",
    ] {
        assert_eq!(
            value(&[argument("A", "t", &[("c", evidence)])], SignalKind::Unspecific),
            0.0,
            "{evidence}"
        );
    }
}

/// "boilerplate such as "best practice", "it is well known", "experience shows" is never specific".
#[test]
fn boilerplate_is_not_specific() {
    for evidence in [
        "this is best practice",
        "It is well known.",
        "Experience shows it",
        "as per Best Practices",
        "\"best practice\"",
        "Industry Standards and Common Sense",
        "experts agree and/or everyone knows",
        "the team says so",
        "Obviously. The users want it. They said so",
        "I think I know",
        "as an AI I know",
        "EVERYBODY KNOWS IT WORKS HERE",
        "Evidence: The users want it",
        "e.g. the users",
        "(See The Literature)",
        "\u{43e}\u{43f}\u{44b}\u{442} \u{43f}\u{43e}\u{43a}\u{430}\u{437}\u{44b}\u{432}\u{430}\u{435}\u{442}",
    ] {
        let finding = seen(&[argument("A", "t", &[("c", evidence)])], &DEFAULT);
        let signal = signal(&finding, SignalKind::Unspecific);
        assert_eq!(signal.value, 1.0, "{evidence}");
        assert_eq!(signal.quotes, [quote("A", evidence)]);
    }
}

/// "no claim and no because/since/therefore-type sentence".
#[test]
fn a_claim_or_a_because_is_a_reason_also_in_an_answer_to_a_critique() {
    for (text, reasoned) in [
        ("Do it because it pays.", true),
        ("It pays; hence do it.", true),
        ("Do it, so that nobody waits.", true),
        ("Do it since it pays.", true),
        ("We do it since 2019.", false),
        ("We did it ever since", false),
        ("Do it. It is good.", false),
        ("Becausewise nothing follows.", false),
        ("Wir tun es, weil es sich lohnt.", true),
        ("\u{56e0}\u{4e3a}\u{5b83}\u{6709}\u{7528}", true),
        ("\u{5b83}\u{6709}\u{7528}", false),
    ] {
        assert_eq!(
            value(&[argument("A", text, &[])], SignalKind::NoReasons),
            f64::from(u8::from(!reasoned)),
            "{text}"
        );
    }
    let bare = argument("A", "Do it.", &[]);
    assert_eq!(
        value(&[AgentArgument { claims: vec![("It pays", "")], ..bare.clone() }], SignalKind::NoReasons),
        0.0
    );
    assert_eq!(
        value(&[AgentArgument { addressed: vec!["taken in"], ..bare.clone() }], SignalKind::NoReasons),
        1.0
    );
    let why = vec!["taken in", "kept, because it pays"];
    assert_eq!(value(&[AgentArgument { addressed: why, ..bare }], SignalKind::NoReasons), 0.0);
}

/// "word 5-gram Jaccard >= 0.8 or the given similarity >= 0.98".
#[test]
fn near_copies_share_four_fifths_of_their_word_sequences_or_are_measured_alike() {
    let words: Vec<String> = (0..13).map(|n| format!("w{n}")).collect();
    // If the last of n words differs, n - 5 of n - 3 sequences are in both.
    for (count, copies) in [(13, 1.0), (12, 0.0)] {
        let (one, other) =
            (words[..count].join(" "), format!("{} other", words[..count - 1].join(", ").to_uppercase()));
        assert_eq!(
            value(&[argument("A", &one, &[]), argument("B", &other, &[])], SignalKind::NearCopies),
            copies,
            "{count}"
        );
    }
    let three =
        [argument("A", "One thing.", &[]), argument("B", "Another.", &[]), argument("C", "A third.", &[])];
    for (alike, share) in [(0.98, 1.0 / 3.0), (0.979, 0.0)] {
        let measured = |one: usize, other: usize| Some(if (one, other) == (0, 2) { alike } else { 0.1 });
        let finding = find_weaknesses(&three, &measured, &DEFAULT);
        assert_eq!(signal(&finding, SignalKind::NearCopies).value, share);
        let quoted: Vec<&str> = signal(&finding, SignalKind::NearCopies)
            .quotes
            .iter()
            .map(|quote| quote.label.as_str())
            .collect();
        assert_eq!(quoted, if share > 0.0 { vec!["A", "C"] } else { vec![] });
    }
    let short =
        [argument("A", "Adopt it!", &[]), argument("B", "adopt it", &[]), argument("C", "drop it", &[])];
    assert_eq!(value(&short, SignalKind::NearCopies), 1.0 / 3.0, "less than five words are one row");
}

/// Empty arguments are skipped, but the places stay those of the caller.
#[test]
fn similarities_are_looked_up_by_the_place_among_all_arguments() {
    let arguments =
        [argument("A", "", &[]), argument("B", "One thing.", &[]), argument("C", "Another one.", &[])];
    let measured = |one: usize, other: usize| ((one, other) == (1, 2)).then_some(1.0);
    assert_eq!(signal(&find_weaknesses(&arguments, &measured, &DEFAULT), SignalKind::NearCopies).value, 1.0);
}

#[test]
fn quotations_are_few_and_short() {
    let long = "word ".repeat(200);
    let claims: Vec<(&str, &str)> = vec![(long.as_str(), ""), ("b", ""), ("b", ""), ("c", ""), ("d", "")];
    let finding = seen(&[argument("A", "t", &claims)], &DEFAULT);
    let quotes = &signal(&finding, SignalKind::Uncited).quotes;
    assert_eq!(quotes.len(), 3);
    assert!(quotes.iter().all(|quoted| quoted.quote.chars().count() <= 240), "{quotes:?}");
    assert_eq!((quotes[1].quote.as_str(), quotes[2].quote.as_str()), ("b", "c"));
}

#[test]
fn the_thresholds_are_options_with_these_defaults() {
    let read = |given: &[(&str, &str)]| {
        let given = given.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        ArenaOptions::read(&options::resolve(ArenaOptions::SPECS, given).unwrap()).signal_thresholds()
    };
    assert_eq!(read(&[]), DEFAULT);
    let keys = ["trickster_uncited", "trickster_unspecific", "trickster_near_copies", "trickster_no_reasons"];
    for (key, name) in keys.into_iter().zip(NAMES) {
        assert_eq!(read(&[(key, "0.125")]), with(DEFAULT, name, 0.125));
    }
    assert_eq!(read(&[("trickster_signals", "4")]), SignalThresholds { signals: 4, ..DEFAULT });
}

/// One argument by indices: its text, and the evidence of each claim.
type Made = (usize, Vec<(usize, usize)>, usize);

const TEXTS: [&str; 6] = [
    "Adopt the queue because it pays.",
    "Adopt the queue.",
    "Wait for spring. Then see.",
    "\u{91c7}\u{7528}\u{961f}\u{5217}\u{3002}",
    "Adopt the queue, please, and adopt it at once.",
    "",
];
const CLAIMS: [&str; 3] = ["It pays off.", "", "\u{5b83}\u{6709}\u{7528}"];
const EVIDENCE: [&str; 7] = [
    "",
    "n/a",
    "best practice",
    "the team says so",
    "12% in March",
    "src/main.rs",
    "\u{43a}\u{43e}\u{440}\u{43e}\u{442}\u{43a}\u{43e}",
];

fn made() -> impl Strategy<Value = Vec<Made>> {
    let claims = prop::collection::vec((0..CLAIMS.len(), 0..EVIDENCE.len()), 0..4);
    prop::collection::vec((0..TEXTS.len(), claims, 0_usize..2), 0..7)
}

fn arguments(made: &[Made]) -> Vec<AgentArgument<'static>> {
    const LABELS: [&str; 7] = ["A", "B", "C", "D", "E", "F", "G"];
    let argument = |(place, (text, claims, addressed)): (usize, &Made)| AgentArgument {
        label: LABELS[place],
        text: TEXTS[*text],
        claims: claims.iter().map(|(claim, evidence)| (CLAIMS[*claim], EVIDENCE[*evidence])).collect(),
        addressed: vec!["taken in, since it pays"; *addressed],
        shown: vec![],
    };
    made.iter().enumerate().map(argument).collect()
}

#[test]
fn every_signal_can_fire_and_can_stay_silent_at_any_threshold() {
    let vague: Vec<AgentArgument<'_>> = vec![argument("A", "t", &[("c", "the team says so")])];
    proptest!(|(threshold in prop_oneof![Just(1.0), f64::MIN_POSITIVE..=1.0])| {
        for name in NAMES {
            let weak = if name == SignalKind::Unspecific { vague.clone() } else { empty_words() };
            prop_assert!(signal(&seen(&weak, &at(threshold)), name).fired, "{:?}", name);
            prop_assert!(!signal(&seen(&sound(), &at(threshold)), name).fired, "{:?}", name);
        }
    });
}

/// "moving a threshold across the value flips exactly that signal".
#[test]
fn moving_one_threshold_across_its_value_flips_only_that_signal() {
    proptest!(|(made in made(), thresholds in prop::array::uniform4(0.0..=1.0), place in 0_usize..4)| {
        let arguments = arguments(&made);
        let [uncited, unspecific, near_copies, no_reasons] = thresholds;
        let thresholds = SignalThresholds { uncited, unspecific, near_copies, no_reasons, signals: 2 };
        let name = NAMES[place];
        let value = value(&arguments, name);
        prop_assert!((0.0..=1.0).contains(&value));
        let at = seen(&arguments, &with(thresholds.clone(), name, value));
        let above = seen(&arguments, &with(thresholds, name, value.next_up()));
        prop_assert_eq!(signal(&at, name).fired, value > 0.0, "it fires at its threshold, and never at 0");
        prop_assert!(!signal(&above, name).fired);
        for (one, other) in at.signals.iter().zip(&above.signals).filter(|(one, _)| one.signal != name) {
            prop_assert_eq!(one, other);
        }
    });
}

#[test]
fn requiring_more_signals_makes_fewer_agreements_hollow() {
    proptest!(|(made in made(), threshold in 0.0..=1.0)| {
        let arguments = arguments(&made);
        let hollow: Vec<bool> =
            (1..=4).map(|signals| seen(&arguments, &SignalThresholds { signals, ..at(threshold) }).hollow).collect();
        let fired = seen(&arguments, &at(threshold)).signals.iter().filter(|signal| signal.fired).count();
        prop_assert_eq!(hollow, (1..=4).map(|signals| fired >= signals).collect::<Vec<_>>());
    });
}

#[test]
fn adding_evidence_never_raises_uncited() {
    proptest!(|(made in made(), which in any::<prop::sample::Index>(), added in "[a-z0-9\\p{Han}]{1,12}")| {
        let before = arguments(&made);
        let mut after = before.clone();
        let mut claims: Vec<&mut (&str, &str)> = after.iter_mut().flat_map(|argument| &mut argument.claims).collect();
        if !claims.is_empty() {
            let which = which.index(claims.len());
            let more = format!("{} {added} 7", claims[which].1);
            claims[which].1 = &more;
            prop_assert!(value(&after, SignalKind::Uncited) <= value(&before, SignalKind::Uncited));
        }
    });
}

/// "quotes really stand in the text", "multi-language text must not crash it": for any words at all.
#[test]
fn quotations_are_in_their_agents_words_in_any_language() {
    let words = prop_oneof![".*", "[\\p{L}\\p{N}\\p{P}\\p{S} \\n]{0,40}", "([A-Z][a-z]{1,5}[.?!] ?){0,4}"];
    let claims = prop::collection::vec((words.clone(), words.clone()), 0..4);
    let all = prop::collection::vec((words, claims), 0..5);
    proptest!(|(all in all, alike in prop::option::of(0.9..=1.0))| {
        let labels = ["A", "B", "C", "D", "E"];
        let borrow = |claims: &'_ [(String, String)]| -> Vec<(String, String)> { claims.to_vec() };
        let kept: Vec<Vec<(String, String)>> = all.iter().map(|(_, claims)| borrow(claims)).collect();
        let arguments: Vec<AgentArgument<'_>> = all.iter().zip(&kept).zip(labels).map(|(((text, _), claims), label)| AgentArgument {
            label, text, addressed: vec![], shown: vec!["K1"],
            claims: claims.iter().map(|(claim, evidence)| (claim.as_str(), evidence.as_str())).collect(),
        }).collect();
        for signal in find_weaknesses(&arguments, &|_, _| alike, &DEFAULT).signals {
            prop_assert!(signal.value > 0.0 || signal.quotes.is_empty());
            for AgentQuote { label, quote } in &signal.quotes {
                let own = arguments.iter().find(|argument| argument.label == label).unwrap();
                let mut said = own.claims.iter().flat_map(|(claim, evidence)| [*claim, *evidence]).chain([own.text]);
                prop_assert!(!quote.is_empty() && said.any(|text| text.contains(quote)), "{:?}", quote);
            }
        }
    });
}

const BARE_ON: &[(&str, &str)] = &[("no_knowledge", "true"), ("no_memory", "true"), ("trickster", "true")];

/// The values of the trickster's first signals for proposals with this change.
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

/// A citation can be checked only if its author was shown the id.
#[test]
fn an_id_that_was_not_shown_is_not_checkable_evidence() {
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

/// "Done" is no reason; "because" is one.
#[test]
fn an_answer_to_a_critique_is_a_reason_only_if_it_gives_one() {
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

/// The uncited and unspecific shares of one claim whose author was shown `K1` and `Q5`.
fn weak(evidence: &str) -> (f64, f64) {
    let made = AgentArgument {
        label: "A",
        text: "Do it.",
        claims: vec![("It pays", evidence)],
        addressed: vec![],
        shown: vec!["K1", "Q5"],
    };
    let half =
        SignalThresholds { uncited: 0.5, unspecific: 0.5, near_copies: 0.5, no_reasons: 0.5, signals: 1 };
    let found = find_weaknesses(&[made], &|_, _| None, &half);
    (found.signals[0].value, found.signals[1].value)
}

/// The rest of the evidence still counts.
#[test]
fn a_citation_is_specific_if_its_author_was_shown_it() {
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

/// A number or a link alone does not say what it has to do with the claim.
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
