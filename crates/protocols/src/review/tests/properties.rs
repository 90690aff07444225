//! What holds whatever comes: properties over invented verdicts, diffs and locations.

use proptest::prelude::*;

use super::*;

const ALL: [&str; 3] = ["PASS", "WARN", "FAIL"];
const VENDORS: [&str; 3] = ["a/x", "b/y", "c/z"];

/// Whatever the judges, vendors, rounds and absences: the ruling is the gravest verdict that counts, or DISAGREE between vendors.
#[test]
fn the_ruling_is_never_milder_than_the_gravest_verdict() {
    let judge = (0_usize..3, 0_usize..4, 0_usize..4, any::<bool>());
    let table = (prop::collection::vec(judge, 2..6), any::<bool>(), any::<bool>());
    proptest!(ProptestConfig::with_cases(200), |((judges, debate, strict) in table)| {
        let models: Vec<&str> = judges.iter().map(|(vendor, ..)| VENDORS[*vendor]).collect();
        let count = judges.len().to_string();
        let (debate, strict) = (debate.to_string(), strict.to_string());
        let set = [("count", count.as_str()), ("debate", debate.as_str()), ("strict_anchoring", strict.as_str())];
        let played = play(brief(&models, &set), &|ask, phase, _| {
            let place: usize = ask.seat.trim_start_matches("judge-").parse().unwrap();
            let (_, r1, r2, specific) = judges[place - 1];
            let mut value = match phase {
                "r1" => first(ALL.get(r1)?),
                "restate" => json!({"restatement": "I said it."}),
                _ => second(ask, ALL.get(r2)?),
            };
            if phase == "r2" && !specific {
                value["changed_because"] = Value::Null;
            }
            Some(value)
        });
        let outcome = played.outcome.unwrap();
        let of = |verdict: &Value| ALL.iter().position(|name| verdict == name);
        let shown = outcome.verdict["judges"].as_array().unwrap();
        let gravest = shown.iter().filter_map(|judge| of(&judge["verdict"])).max();
        match outcome.verdict["verdict"].as_str() {
            Some("DISAGREE") => {
                let vendors = outcome.verdict["vendors"].as_array().unwrap();
                let says = |name: &str| vendors.iter().any(|vendor| vendor["verdict"] == name);
                prop_assert!(says("PASS") && says("FAIL"));
            }
            verdict => prop_assert_eq!(verdict, gravest.map(|place| ALL[place])),
        }
        prop_assert_eq!(outcome.passed, gravest.map(|place| place < 2 && outcome.verdict["verdict"] != "DISAGREE"));
        let survivors = judges.iter().filter(|(_, r1, ..)| *r1 < 3).count();
        prop_assert_eq!(outcome.positions.len(), survivors, "every first verdict is accounted for");
        for judge in shown.iter().filter(|judge| judge["weak_flip"] == true) {
            prop_assert_eq!(judge["used"] == "r1", strict == "true", "a weak flip counts only where nobody is strict");
        }
    });
}

/// Whatever is said to be a diff: it is read or refused with a sentence.
#[test]
fn any_text_is_a_diff_or_is_refused() {
    let line = prop_oneof![
        Just("diff --git a/x b/x".to_owned()),
        Just("--- a/x".to_owned()),
        Just("+++ b/x".to_owned()),
        Just("+++ /dev/null".to_owned()),
        any::<(u64, u8, u64, u8)>().prop_map(|(old, a, new, b)| format!(
            "@@ -{old},{} +{new},{} @@",
            a % 3,
            b % 3
        )),
        "[-+ \\\\]?[a-z\u{e4}\u{1f600}\t ]{0,4}",
        "\\PC{0,12}",
    ];
    proptest!(|(lines in prop::collection::vec(line, 0..12))| {
        match diff::read(&lines.join("\n")) {
            Ok(files) => {
                prop_assert!(!files.is_empty());
                prop_assert!(files.iter().flat_map(|file| &file.hunks).all(|(from, to)| from <= to));
            }
            Err(why) => prop_assert!(!why.is_empty()),
        }
    });
}

/// Whatever a judge calls a location: the file is of the packet or below it, and the line is one that the file has.
#[test]
fn any_location_is_read_or_left_alone() {
    let location = prop_oneof![
        "\\PC{0,24}",
        (
            "(\\./|a/|/repo/|tests/|)(src/auth\\.py|auth\\.py|\u{e4}\\.py)",
            "[:#L (]{0,3}",
            any::<u64>(),
            "(-| to |\\.\\.|)",
            any::<u64>()
        )
            .prop_map(|(path, sign, line, to, end)| format!(
                "{path}{sign}{}{to}{}",
                line % 90,
                end % 90
            )),
        ("(line|lines|L|)", any::<u64>()).prop_map(|(word, line)| format!("{word} {line}")),
    ];
    let brief = brief(&["a/x"], &[]);
    let paths = super::super::packet::Paths::of(&brief);
    proptest!(|(location in location)| {
        if let Some(place) = paths.place(&location) {
            prop_assert!(!place.file.starts_with('/') && !place.file.contains(".."), "{location}: {place:?}");
            let known = place.file == "src/auth.py";
            prop_assert!(place.line.is_none_or(|line| line > 0 && (!known || line <= 50)), "{location}: {place:?}");
            prop_assert!(place.end_line.is_none_or(|end| place.line.is_some_and(|line| end >= line)), "{location}: {place:?}");
        }
    });
}
