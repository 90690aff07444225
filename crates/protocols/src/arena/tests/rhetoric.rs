//! "Rhetorical Observer (optional) -- Monitors argument quality": patterns and fallacies per argument with the quoted span.

use std::collections::BTreeSet;

use agon_core::options;
use proptest::prelude::*;

use crate::arena::ArenaOptions;
use crate::arena::rhetoric::{
    PhrasePattern, RHETORIC_CUES, RhetoricCues, RhetoricFinding, observe, sentences, words,
};

const DEFAULT: f64 = 0.5;

fn names(text: &str, threshold: f64) -> Vec<String> {
    observe(text, threshold).into_iter().map(|observed| observed.name).collect()
}

/// What the file says, as it is written: kind, name, phrase, weight.
fn written() -> Vec<(String, String, String, f64)> {
    let data: serde_json::Value = toml::from_str(RHETORIC_CUES).unwrap();
    let mut all = Vec::new();
    for (kind, names) in data.as_object().unwrap() {
        for (name, weights) in names.as_object().unwrap() {
            for (weight, phrases) in weights.as_object().unwrap() {
                for phrase in phrases.as_array().unwrap() {
                    let phrase = phrase.as_str().unwrap().to_owned();
                    all.push((kind.clone(), name.clone(), phrase, weight.parse().unwrap()));
                }
            }
        }
    }
    all
}

/// Every pattern and fallacy with a sentence that shows it and one that nearly does.
const EXAMPLES: &[(&str, &str, &str)] = &[
    ("concession", "Admittedly, the pilot was short.", "Of course the pilot was short."),
    ("rebuttal", "That conclusion does not follow from the figures.", "However, the figures are new."),
    ("appeal_to_evidence", "The logs show two stalls a night.", "The results come in tomorrow."),
    ("hedging", "As far as I know it was never tried.", "It is likely to rain."),
    ("overclaiming", "This will, without a doubt, work.", "There is a doubt without an answer."),
    ("rhetorical_question", "Do we really want another outage?", "We really want to know; do we?"),
    ("analogy", "A queue is like a valve.", "A queue is similar to a stack."),
    ("quantification", "It takes 40 ms at night.", "It takes half of the night."),
    ("call_to_action", "We must begin in spring.", "We should begin in spring."),
    ("illustration", "Take billing, for instance.", "Take services such as billing."),
    ("weighing", "The gain outweighs the price.", "There is a balance between the teams."),
    ("qualification", "Adopt it, provided that the pilot loses nothing.", "Adopt it, except in billing."),
    (
        "ad_hominem",
        "Coming from someone who never ran a server, that is rich.",
        "The ignorant reader will ask why.",
    ),
    ("appeal_to_authority", "Experts agree on this.", "A professor wrote the paper."),
    ("bandwagon", "Everyone uses it by now.", "It is a popular choice."),
    ("false_dilemma", "Either we move now or we fail.", "Either queue will do."),
    (
        "slippery_slope",
        "Allow this, and before you know it nobody tests.",
        "Sooner or later somebody must test.",
    ),
    ("straw_man", "So you are saying that tests are useless.", "Agent B basically says that tests are slow."),
    (
        "hasty_generalization",
        "I know a team that lost data, so queues lose data.",
        "In my experience queues are fine.",
    ),
    ("circular_reasoning", "It works because it works.", "A queue is, by definition, ordered."),
    ("appeal_to_emotion", "Think of the children who wait.", "A lost invoice is a disaster."),
    ("appeal_to_tradition", "We have always written it by hand.", "Traditionally it is written by hand."),
    ("appeal_to_novelty", "Take the latest and greatest.", "Take what is state of the art."),
    ("whataboutism", "Look at your own outages first.", "What about the outages?"),
    ("sunk_cost", "We have already invested a year.", "A year went by for nothing."),
    ("appeal_to_ignorance", "Nobody has proven that it loses data.", "There is no proof yet, so measure."),
    ("false_cause", "The release must have caused it.", "It broke right after the release."),
    (
        "moving_goalposts",
        "Even if you show a year of figures, I doubt it.",
        "That is not enough: measure a week.",
    ),
    ("no_true_scotsman", "No true engineer would do that.", "Any real load will show it."),
];

#[test]
fn every_pattern_and_fallacy_has_an_example_and_a_near_miss() {
    for (name, shows, near_miss) in EXAMPLES {
        let found = observe(shows, DEFAULT);
        let own = found.iter().find(|observed| observed.name == *name);
        let own = own.unwrap_or_else(|| panic!("{name} is not seen in {shows:?}: {found:?}"));
        assert_eq!(own.quote, *shows);
        assert!(!names(near_miss, DEFAULT).contains(&(*name).to_owned()), "{name} is seen in {near_miss:?}");
    }
    let known: BTreeSet<String> = written().into_iter().map(|(_, name, ..)| name).collect();
    let shown: BTreeSet<String> = EXAMPLES.iter().map(|(name, ..)| (*name).to_owned()).collect();
    assert_eq!(known, shown, "a name in the file without its sentences, or the other way round");
}

/// Most near misses have a weak cue, so a lower threshold shows them.
#[test]
fn a_weak_cue_alone_is_below_the_default_and_above_a_lower_threshold() {
    let weak = |(name, _, near): &&(&str, &str, &str)| names(near, 0.0).contains(&(*name).to_owned());
    assert!(EXAMPLES.iter().filter(weak).count() * 4 > EXAMPLES.len() * 3);
}

#[test]
fn every_cue_in_the_file_is_found_and_has_a_weight_above_0_and_at_most_1() {
    let cues = RhetoricCues::parse(RHETORIC_CUES);
    assert_eq!(cues.lists.iter().map(|list| list.cues.len()).sum::<usize>(), written().len());
    for (kind, name, phrase, weight) in written() {
        assert!(weight > 0.0 && weight <= 1.0, "{name}: {phrase}");
        let sentence = phrase.replace('*', "of the").replace('#', "12").replace(" ?", "?");
        let found = observe(&format!("Well, {sentence}"), weight - 1e-9);
        let own = found.iter().find(|observed| observed.name == name);
        let own = own.unwrap_or_else(|| panic!("{name}: {phrase:?} is not found in {sentence:?}"));
        assert_eq!(serde_json::to_value(own.kind).unwrap(), kind.as_str());
    }
}

#[test]
fn no_cue_contains_another_of_its_name() {
    let all = written();
    for (_, name, phrase, _) in &all {
        for (_, _, other, _) in all.iter().filter(|(_, same, other, _)| same == name && other != phrase) {
            assert!(
                !format!(" {other} ").contains(&format!(" {phrase} ")),
                "{name}: {phrase:?} in {other:?}"
            );
        }
    }
}

/// "the score = 1 - prod(1 - weight of each distinct cue found)".
#[test]
fn two_weak_cues_make_a_finding_and_the_same_one_twice_does_not() {
    let score = |text: &str| observe(text, 0.0).into_iter().find(|o| o.name == "hedging").unwrap().score;
    assert!((score("Perhaps it works.") - 0.4).abs() < 1e-12);
    assert!((score("Perhaps it works, perhaps it fails. Perhaps.") - 0.4).abs() < 1e-12);
    let both = "Perhaps it works. It seems so.";
    assert!((score(both) - (1.0 - 0.6 * 0.6)).abs() < 1e-12);
    let found = observe(both, DEFAULT);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].quote.as_str(), found[0].start), ("Perhaps it works.", 0));
}

/// "reported when score >= `observer_threshold` (Float 0..1, default 0.5; at 0 only what has a cue)".
#[test]
fn a_threshold_of_0_reports_only_what_has_a_cue() {
    let set = |given: &[(&str, &str)]| {
        let given = given.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        options::resolve(ArenaOptions::SPECS, given)
            .map(|options| ArenaOptions::read(&options).observer_threshold)
    };
    assert_eq!(set(&[]).unwrap(), DEFAULT);
    assert_eq!(set(&[("observer_threshold", "0")]).unwrap(), 0.0);
    assert!(set(&[("observer_threshold", "1.1")]).is_err());
    assert_eq!(observe("The cat sat on the mat.", 0.0), []);
    assert_eq!(observe("", 0.0), []);
    assert_eq!(names("Perhaps.", 0.4), ["hedging"]);
    assert_eq!(names("Perhaps.", 0.41), [""; 0]);
}

/// "phrases; `*` for one to three words; word boundaries; case-insensitive".
#[test]
fn a_cue_matches_within_one_sentence_whatever_the_case_and_punctuation() {
    let cues =
        RhetoricCues::parse("[pattern.p]\n\"0.9\" = [\"old, dear * won't do\", \"# of #\", \"so what ?\"]");
    for (text, found) in [
        ("OLD-DEAR friend WON\u{2019}T do", true),
        ("old dear a b c won't do", true),
        ("old dear a b c d won't do", false),
        ("old dear won't do", false),
        ("old. Dear friend won't do", false),
        ("old dear friend\nwon't do", false),
        ("bold dear friend won't do", false),
        ("old dear friend won't doze", false),
        ("'old dear friend won't do'", true),
        ("3 of 4 do", true),
        ("3 of all do", false),
        ("So what?", true),
        ("(So what?)", true),
        ("So what?!", true),
        ("So what.", false),
        ("So what. Really?", false),
    ] {
        assert_eq!(!cues.observe(text, DEFAULT).is_empty(), found, "{text:?}");
    }
    for nothing in ["", "*", "* word", "?", "-"] {
        assert_eq!(PhrasePattern::parse(nothing), None, "{nothing:?} could never be found, or everywhere");
    }
}

#[test]
fn sentences_end_at_stops_but_not_at_abbreviations() {
    let text = "First, v1.2 is out. \"Is it?\" Yes!! e.g. Dr. X says so, i.e. all.\n\n- A list (see p. 3.)\n\u{597d}\u{3002}\u{4e0d}\u{597d}";
    let all: Vec<&str> = sentences(text).into_iter().map(|place| &text[place]).collect();
    assert_eq!(
        all,
        [
            "First, v1.2 is out.",
            "\"Is it?\"",
            "Yes!!",
            "e.g. Dr. X says so, i.e. all.",
            "- A list (see p.",
            "3.)",
            "\u{597d}\u{3002}",
            "\u{4e0d}\u{597d}",
        ]
    );
}

#[test]
fn words_keep_apostrophes_and_unspaced_scripts_split_by_character() {
    let folded = |text: &str| words(text).into_iter().map(|word| word.folded).collect::<Vec<_>>();
    assert_eq!(folded("'Don\u{2019}t', the dogs' 50% x_y"), ["don't", "the", "dogs", "50", "%", "x", "y"]);
    assert_eq!(folded("\u{4e2d}\u{6587}abc"), ["\u{4e2d}", "\u{6587}", "abc"]);
}

/// Only the text around the cue is quoted from a very long sentence.
#[test]
fn a_very_long_sentence_is_quoted_around_its_cue() {
    let long = "\u{e9}t\u{e9} ".repeat(300);
    let text = format!("{long}without a doubt {long}");
    let found = observe(&text, DEFAULT);
    let [RhetoricFinding { quote, start, .. }] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(&text[*start..start + quote.len()], quote);
    assert!(quote.contains("without a doubt") && quote.chars().count() < 400, "{quote}");
}

/// Two megabytes of unfinished cues: a search with quadratic cost would not end.
#[test]
fn a_very_long_text_is_read_once() {
    let text = format!("{} without a doubt.", "either we according to a real old. ".repeat(60_000));
    let found = observe(&text, DEFAULT);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].quote.ends_with("without a doubt."), "{found:?}");
    let text = format!("{} without a doubt", "either we according to a real \u{201d}) ".repeat(60_000));
    assert_eq!(names(&text, DEFAULT), ["overclaiming"]);
}

/// Any text, with cues in it.
fn text() -> impl Strategy<Value = String> {
    let phrases: Vec<String> = written()
        .into_iter()
        .map(|(_, _, phrase, _)| phrase.replace('*', "\u{4e2d} x").replace('#', "7"))
        .collect();
    let piece = prop_oneof![".{0,12}", prop::sample::select(phrases), "[ .?!\\n\"\u{2019}\u{3002}]{1,3}"];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

#[test]
fn quotes_are_exact_for_any_text_and_scores_reach_the_threshold() {
    proptest!(|(text in text(), threshold in 0.0..=1.0)| {
        for observed in observe(&text, threshold) {
            let span = text.get(observed.start..observed.start + observed.quote.len());
            prop_assert_eq!(span, Some(observed.quote.as_str()));
            prop_assert!(!observed.quote.trim().is_empty() && observed.quote.trim() == observed.quote);
            prop_assert!(observed.score >= threshold && observed.score > 0.0 && observed.score <= 1.0);
        }
    });
}

#[test]
fn a_higher_threshold_only_removes_findings() {
    proptest!(|(text in text(), one in 0.0..=1.0, other in 0.0..=1.0)| {
        let (low, high) = (f64::min(one, other), f64::max(one, other));
        let kept: Vec<RhetoricFinding> = observe(&text, low).into_iter().filter(|observed| observed.score >= high).collect();
        prop_assert_eq!(kept, observe(&text, high));
    });
}

#[test]
fn every_pattern_and_fallacy_can_fire_and_stay_silent_at_any_threshold() {
    let all = written();
    let known: Vec<String> = EXAMPLES.iter().map(|(name, ..)| (*name).to_owned()).collect();
    proptest!(|(name in prop::sample::select(known), threshold in 0.0..0.9)| {
        let own = all.iter().filter(|(_, other, ..)| *other == name);
        let whole: Vec<String> =
            own.map(|(_, _, phrase, _)| phrase.replace('*', "of the").replace('#', "12").replace(" ?", "?")).collect();
        prop_assert!(names(&whole.join("\n"), threshold).contains(&name), "{}", name);
        prop_assert!(!names("The queue holds what the store has not taken.", threshold).contains(&name));
    });
}

#[test]
fn a_weight_of_0_changes_no_score_and_a_weight_of_1_makes_it_certain() {
    proptest!(|(weights in prop::collection::vec(0.0..=1.0, 1..6))| {
        let file = |weights: &[f64]| {
            let lines = weights.iter().enumerate().map(|(place, weight)| format!("\"{weight:.17}\" = [\"cue{place}\"]\n"));
            format!("[fallacy.f]\n{}", lines.collect::<String>())
        };
        let unique: BTreeSet<String> = weights.iter().map(|weight| format!("{weight:.17}")).collect();
        prop_assume!(unique.len() == weights.len());
        let text: String = (0..=weights.len()).map(|place| format!("cue{place} ")).collect();
        let score = |weights: &[f64]| RhetoricCues::parse(&file(weights)).observe(&text, 0.0)[0].score;
        let product: f64 = weights.iter().map(|weight| 1.0 - weight).product();
        prop_assert!((score(&weights) - (1.0 - product)).abs() < 1e-9);
        let with = |more: f64| score(&weights.iter().copied().chain([more]).collect::<Vec<_>>());
        if weights.iter().all(|weight| *weight > 0.0 && *weight < 1.0) {
            prop_assert!((with(0.0) - score(&weights)).abs() < 1e-12);
            prop_assert_eq!(with(1.0), 1.0);
        }
    });
}
