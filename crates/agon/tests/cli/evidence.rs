//! The `evidence` section: "shown in the report as a short paragraph and a small chart that a person understands, and in
//! full in `--json`".

use serde_json::json;

use crate::support::{Home, refused};

fn reviewed(home: &Home, more: &[&str]) -> serde_json::Value {
    home.write("review.yaml", include_str!("review.yaml"));
    home.write("auth.py", crate::reviews::AUTH);
    let args =
        ["review", "auth.py", "--debate", "--models", "script/review.yaml", "--no-files", "--seed", "7"];
    let said = home.agon(&[&args[..], more].concat());
    assert_eq!(said.status, Some(1), "{said:?}");
    said.json()
}

/// One of two judges changed its verdict, on a line of code; by the rule of a review the first verdicts said FAIL already.
#[test]
fn a_review_says_who_changed_on_what_and_that_the_first_verdicts_had_said_the_same() {
    let home = Home::new();
    let evidence = reviewed(&home, &["--json"])["evidence"].clone();
    assert_eq!(evidence["grouping"], "discrete");
    let first = &evidence["first_round"];
    // One FAIL, one WARN: heads say nothing, the rule of a review says FAIL.
    assert_eq!((&first["vote"], &first["ruling"]), (&json!(null), &json!("FAIL")), "{first:#}");
    assert_eq!(first["changed_by_debate"], false);
    assert_eq!(first["positions"].as_array().unwrap().len(), 2);
    let flips = evidence["flips"].as_array().unwrap();
    assert_eq!(flips.len(), 1, "{evidence:#}");
    let flip = &flips[0];
    assert_eq!((&flip["round"], &flip["from"], &flip["to"]), (&json!(2), &json!("WARN"), &json!("FAIL")));
    assert_eq!((&flip["evidenced"], &flip["toward_majority"]), (&json!(true), &json!(true)));
    assert_eq!(evidence["independence"]["known"], false);
    assert_eq!(evidence["independence"]["shared_models"][0]["seats"].as_array().unwrap().len(), 2);
}

/// "`agon show ID` gets `--round N`, `--seat S`, `--flips`, `--dissent`, `--timeline`"
#[test]
fn a_debate_can_be_read_by_round_by_seat_and_by_what_changed() {
    let home = Home::new();
    reviewed(&home, &["--json"]);
    let flips = home.agon(&["show", "last", "--flips"]).ok().out;
    assert!(flips.contains("WARN") && flips.contains("auth.py:5"), "{flips}");
    let round = home.agon(&["show", "last", "--round", "1"]).ok().out;
    assert!(
        round.contains("SQL is built from what the user types") && !round.contains("Still an injection"),
        "{round}"
    );
    let seat = home.agon(&["show", "last", "--seat", "judge-2"]).ok().out;
    assert!(seat.contains("The secret is in the code") && !seat.contains("Still an injection"), "{seat}");
    let both = home.agon(&["show", "last", "--seat", "judge-1", "--round", "2"]).ok().out;
    assert!(both.contains("Still an injection") && !both.contains("SQL is built from what"), "{both}");
    home.agon(&["show", "last", "--dissent"]).ok();
    home.agon(&["show", "last", "--timeline"]).ok();
    assert!(home.agon(&["show", "last", "--flips", "--json"]).ok().json()["flips"].is_array());
    refused(&home, &["judge-1", "judge-2"], || home.agon(&["show", "last", "--seat", "nobody"]));
    refused(&home, &["round"], || home.agon(&["show", "last", "--round", "9"]));
}

/// "for panels with history": what was resolved is known to the next debate, and is in its log.
#[test]
fn debates_that_were_resolved_are_the_history_of_the_next() {
    let home = Home::new();
    for n in 0..6 {
        reviewed(&home, &["--json"]);
        home.agon(&["resolve", "last", "--truth", if n % 2 == 0 { "right" } else { "wrong" }]).ok();
    }
    let outcome = reviewed(&home, &["--json"]);
    let voices = &outcome["evidence"]["independence"];
    assert_eq!(voices["debates"], 6, "{voices:#}");
    // The one who held FAIL was right in three of six; of the other nothing is known where FAIL was wrong.
    home.agon(&["verify", "last"]).ok();
    refused(&home, &["held \"MAYBE\""], || home.agon(&["resolve", "last", "--winner", "MAYBE"]));
    let told = home.agon(&["resolve", "last", "--winner", "WARN", "--json"]).ok().json();
    assert_eq!(told["turned_out"], "wrong", "{told:#}");
}
