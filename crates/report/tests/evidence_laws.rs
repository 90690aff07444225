//! Whatever was measured, the report tells it truly.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod sample;

use agon_report::{Style, markdown, text};
use proptest::prelude::*;
use sample::panel::section;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

const DID: &str = "What the debate did";

/// The paragraph alone, as one line.
fn paragraph(document: &Value) -> String {
    let shown = section(document, DID, &Style { color: false, width: 100, unicode: true });
    let lines = shown.lines().skip(1).take_while(|line| !line.trim().is_empty());
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Anything that the contract of the section allows, and much that it does not.
fn evidence() -> impl Strategy<Value = Value> {
    let round = 0_u64..9;
    let position =
        prop_oneof!["PASS|FAIL|WARN", "[0-9]\\.[0-9]", "[a-zA-Z ,*_~|<>\u{e9}\u{4e2d}-]{0,90}", "x{120}"];
    let seat = "s[0-5]";
    let flip = (round.clone(), seat, position.clone(), position.clone(), any::<[bool; 2]>()).prop_map(|(round, seat, from, to, [e, m])| {
        json!({"round": round, "seat": seat, "from": from, "to": to, "evidenced": e, "toward_majority": m, "cited": [seat]})
    });
    let held = (round.clone(), position.clone(), any::<bool>(), prop::option::of(0.0..5.0_f64))
        .prop_map(|(round, position, changed, value)| json!({"round": round, "position": position, "changed": changed, "value": value}));
    let way = (seat, prop::collection::vec(held, 0..9))
        .prop_map(|(seat, held)| json!({"seat": seat, "positions": held}));
    let first = (prop::collection::vec((position.clone(), 0_u64..4), 0..5), prop::option::of(position.clone()), prop::option::of(position.clone()),
        prop::collection::vec(position, 0..4), any::<bool>())
        .prop_map(|(positions, vote, decided, tied, changed)| {
            let positions: Vec<Value> = positions.iter().map(|(position, count)| json!({"position": position, "count": count, "share": 0.5, "seats": []})).collect();
            json!({"round": 0, "positions": positions, "vote": vote, "decided": decided, "tied": tied, "changed_by_debate": changed})
        });
    let independence = (
        any::<bool>(),
        prop::option::of(0.5..9.0_f64),
        prop::collection::vec(prop::collection::vec(seat, 0..4), 0..3),
    )
        .prop_map(|(known, n_eff, shared)| {
            let shared: Vec<Value> =
                shared.iter().map(|seats| json!({"model": "m", "seats": seats})).collect();
            json!({"known": known, "n_eff": n_eff, "shared_models": shared, "families": shared})
        });
    let cost = prop::collection::vec((round.clone(), 0_u64..30), 0..9).prop_map(|rows| {
        let rows: Vec<Value> = rows
            .iter()
            .map(|(round, calls)| json!({"phase": "debate", "round": round, "calls": calls}))
            .collect();
        json!({"rounds": rows})
    });
    let idle = prop::collection::vec(round.clone(), 0..5);
    let verdicts = prop::collection::vec((round, prop::option::of("PASS|FAIL")), 0..5).prop_map(|rows| {
        rows.iter()
            .map(|(round, verdict)| json!({"round": round, "verdict": verdict, "changed": true}))
            .collect::<Vec<_>>()
    });
    (prop::option::of("discrete|declared|similarity"), prop::option::of(first), prop::collection::vec(flip, 0..6), prop::collection::vec(way, 0..6),
        prop::option::of(independence), (idle, verdicts), cost)
        .prop_map(|(grouping, first, flips, trajectory, independence, (idle, verdicts), cost)| {
            json!({"grouping": grouping, "first_round": first, "flips": flips, "trajectory": trajectory, "independence": independence,
                "counterfactual": {"rounds": verdicts, "idle_rounds": idle}, "cost": cost, "agreement": []})
        })
}

/// Every whole number and figure in a text, written in digits or in words.
fn numbers(text: &str) -> Vec<String> {
    let words =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    let parts = text
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '.'))
        .map(|part| part.trim_matches('.').to_lowercase());
    parts
        .filter_map(|part| match words.iter().position(|word| *word == part) {
            Some(place) => Some((place + 1).to_string()),
            None => part.chars().next().is_some_and(|c| c.is_ascii_digit()).then_some(part),
        })
        .collect()
}

/// What may be said: every number of the document, how many there are of something, and sums of calls.
fn allowed(document: &Value) -> Vec<String> {
    let evidence = &document["evidence"];
    let flips = evidence["flips"].as_array().unwrap();
    let cited = flips.iter().filter(|flip| flip["evidenced"] == json!(true)).count();
    let mut seats: Vec<&str> = flips.iter().map(|flip| flip["seat"].as_str().unwrap()).collect();
    seats.sort_unstable();
    seats.dedup();
    let voices = match evidence["trajectory"].as_array().unwrap().len() {
        0 => evidence["first_round"]["positions"].as_array().map_or(0, |all| {
            usize::try_from(all.iter().map(|position| position["count"].as_u64().unwrap()).sum::<u64>())
                .unwrap()
        }),
        voices => voices,
    };
    let tied = evidence["first_round"]["tied"].as_array().map_or(0, Vec::len);
    let mut allowed: Vec<String> = [flips.len(), cited, flips.len() - cited, seats.len(), voices, tied]
        .map(|count| count.to_string())
        .to_vec();
    // "one model", "one family", "The only voice": not a count.
    allowed.push("1".to_owned());
    allowed.extend(evidence["independence"]["n_eff"].as_f64().map(|n_eff| format!("{n_eff:.1}")));
    let groups: Vec<usize> = evidence["independence"]["shared_models"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|group| group["seats"].as_array().unwrap().len())
        .filter(|seats| *seats > 1)
        .collect();
    allowed.push(groups.iter().sum::<usize>().to_string());
    let idle = evidence["counterfactual"]["idle_rounds"].as_array().unwrap();
    let rows = evidence["cost"]["rounds"].as_array().unwrap();
    let of = |rows: &Value| {
        rows.as_array().into_iter().flatten().filter_map(|row| row["round"].as_u64()).collect::<Vec<_>>()
    };
    let trajectory = evidence["trajectory"].as_array().unwrap();
    let mut rounds: Vec<u64> = trajectory.iter().flat_map(|seat| of(&seat["positions"])).collect();
    if rounds.is_empty() {
        rounds = of(&evidence["counterfactual"]["rounds"]);
        rounds.extend(evidence["first_round"]["round"].as_u64());
    }
    // A run of rounds at the end, from any of them on.
    for from in &rounds {
        let told = |row: &&Value| {
            let round = row["round"].as_u64().unwrap();
            round >= *from && rounds.contains(&round) && idle.contains(&json!(round))
        };
        allowed.push(
            rows.iter().filter(told).map(|row| row["calls"].as_u64().unwrap()).sum::<u64>().to_string(),
        );
    }
    allowed.extend(numbers(&evidence.to_string()));
    allowed
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, failure_persistence: None, ..ProptestConfig::default() })]

    /// Never panics, every number in the paragraph is in the JSON, no line over the width.
    #[test]
    fn whatever_was_measured_is_told_truly_and_fits(evidence in evidence(), width in 24_usize..110, unicode in any::<bool>()) {
        let mut document = sample::converged().document();
        document["evidence"] = evidence;
        let style = Style { color: false, width, unicode };
        let shown = text(&document, &style);
        if shown.lines().any(|line| line == DID) {
            let part = section(&document, DID, &style);
            for line in part.lines() {
                prop_assert!(line.width() <= width.min(100), "{} columns of {width}: {line:?}", line.width());
            }
            let allowed = allowed(&document);
            let told = paragraph(&document);
            // "No two" counts nothing.
            for number in numbers(&told.replace("no two", "none")) {
                prop_assert!(allowed.contains(&number), "{number} is in {told:?}, but not in {}", document["evidence"]);
            }
            prop_assert!(told.replace("...", "").matches(". ").count() <= 3 || told.contains('"'), "too many sentences: {told}");
        }
        let debate = sample::converged().debate;
        prop_assert!(markdown(&document, &debate).contains("Technical details"));
        prop_assert!(agon_report::html(&document, &debate).ends_with("</html>\n"));
    }
}
