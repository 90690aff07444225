//! "every challenge and opening question has an id, an owner and a fate".

use super::*;

fn fates(outcome: &Outcome) -> Vec<(String, String)> {
    let all = outcome.verdict["challenges"].as_array().unwrap().iter();
    all.map(|c| (c["id"].as_str().unwrap().to_owned(), c["fate"].as_str().unwrap().to_owned())).collect()
}

/// "numbered in seat order over the whole debate", the openings' questions first.
#[test]
fn ids_run_in_seat_order_over_the_whole_debate() {
    let outcome = outcome(&[], &|ask, phase, round| Some(plain(ask, phase, round)));
    let all = outcome.verdict["challenges"].as_array().unwrap();
    let owned: Vec<(&str, u64, &str, &str)> = all
        .iter()
        .map(|c| {
            (
                c["id"].as_str().unwrap(),
                c["round"].as_u64().unwrap(),
                c["from"].as_str().unwrap(),
                c["to"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(owned.len(), 4 + 8 + 8);
    assert_eq!(owned[0], ("C1", 0, "visionary", "critic"));
    assert_eq!(owned[3], ("C4", 0, "innovator", "visionary"));
    assert_eq!(owned[4], ("C5", 1, "visionary", "critic"));
    assert_eq!(owned[5], ("C6", 1, "visionary", "pragmatist"));
    assert_eq!(owned[19], ("C20", 2, "innovator", "critic"));
}

/// "The questions count as challenges to be answered in round 1"; what the last round asks stays open and is listed.
#[test]
fn answered_ones_say_how_and_those_of_the_last_round_stay_open() {
    let outcome = outcome(&[], &|ask, phase, round| Some(plain(ask, phase, round)));
    let fates = fates(&outcome);
    assert!(fates[..12].iter().all(|(_, fate)| fate == "answered"), "{fates:?}");
    assert!(fates[12..].iter().all(|(_, fate)| fate == "open"), "{fates:?}");
    let first = &outcome.verdict["challenges"][0];
    assert_eq!((&first["stance"], &first["answered_in"]), (&json!("disagree"), &json!(1)));
    assert_eq!(first["response"], "On C1 the critic has measured it twice.");
    assert_eq!(outcome.verdict["challenges"][4]["answered_in"], 2);
    let open = outcome.verdict["open_questions"].as_array().unwrap();
    assert_eq!(open.len(), 8);
    assert!(open[0]["why"].as_str().unwrap().contains("round 2, the last"), "{}", open[0]);
}

/// "A claim should quote": whether it does is recorded and not enforced.
#[test]
fn whether_a_claim_really_stands_there_is_recorded() {
    let outcome = outcome(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| {
            if phase == "challenge" && ask.seat == "critic" {
                said["challenges"][0]["claim"] = json!("the queue cures all ills");
            }
        })
    });
    assert_eq!(entry(&outcome, "challenges", "id", "C5")["quoted"], true);
    assert_eq!(entry(&outcome, "challenges", "id", "C7")["quoted"], false);
    assert_eq!(entry(&outcome, "challenges", "id", "C1")["quoted"], Value::Null, "a question quotes nothing");
}

/// "waiting (its target was absent; it is put again in the next round)": an absence is no evasion.
#[test]
fn a_challenge_to_somebody_absent_is_put_again_in_the_next_round() {
    let debate = run(&[], &|ask, phase, round| {
        if (phase, round, ask.seat.as_str()) == ("challenge", 2, "critic") {
            assert!(due(ask).contains(&"C1".to_owned()), "{:?}", due(ask));
        }
        let absent = (phase, round, ask.seat.as_str()) == ("challenge", 1, "critic");
        (!absent).then(|| plain(ask, phase, round))
    });
    let outcome = debate.outcome.unwrap();
    let first = &outcome.verdict["challenges"][0];
    assert_eq!((&first["fate"], &first["answered_in"]), (&json!("answered"), &json!(2)));
    assert_eq!(first["absent_in"], json!([1]));
    assert_eq!(outcome.verdict["violations"], json!([]));
    assert_eq!(outcome.verdict["interventions"], json!([]));
}

/// A question to somebody who gave no opening can never be answered: it stays, and the reader is told why.
#[test]
fn a_question_to_somebody_who_takes_no_part_stays_open() {
    let outcome = outcome(&[], &|ask, phase, round| {
        if ask.seat == "critic" {
            return None;
        }
        with(ask, phase, round, &|said| {
            if phase == "challenge" {
                let others: Vec<&str> =
                    SEATS.into_iter().filter(|seat| *seat != "critic" && *seat != ask.seat).collect();
                said["challenges"][0]["to"] = json!(others[0]);
                said["challenges"][1]["to"] = json!(others[1]);
            }
        })
    });
    let first = &outcome.verdict["challenges"][0];
    assert_eq!((&first["to"], &first["fate"]), (&json!("critic"), &json!("open")));
    let open = entry(&outcome, "open_questions", "challenge_id", "C1");
    assert!(open["why"].as_str().unwrap().contains("took no part"), "{open}");
}
