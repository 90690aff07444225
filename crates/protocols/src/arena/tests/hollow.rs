//! How a debate treats a hollow agreement: challenges before the vote, and winning groups after it.

use super::*;

pub(super) const ON: &[(&str, &str)] =
    &[("no_knowledge", "true"), ("no_memory", "true"), ("trickster", "true")];

/// A scripted arena that agrees on little from a round on.
fn hollow<'a>(
    set: &'a [(&'a str, &'a str)],
    from: u32,
    with: &'a dyn Fn(&Ask, &str, u32, &mut Value),
) -> ScriptedArena<'a> {
    let alike: &'a dyn Fn(u32) -> f64 = match from {
        3 => &|round| if round >= 3 { 0.95 } else { 0.2 },
        6 => &|round| if round >= 6 { 0.95 } else { 0.2 },
        _ => &|round| if round >= 9 { 0.95 } else { 0.2 },
    };
    ScriptedArena { set, alike, with, ..ScriptedArena::default() }
}

/// Proposals without claims and reasons, the same for all.
pub(super) fn empty(ask: &Ask, phase: &str, said: &mut Value) {
    if ["propose", "revise", "refine", "challenge"].contains(&phase) {
        said["claims"] = json!([]);
        said["proposal"] = json!(format!("It is best practice. So says number {}.", number(&ask.seat)));
        if phase != "propose" {
            said["addressed"] = json!([]);
        }
    }
}

/// "it puts a challenge that must be met before consensus counts": met.
#[test]
fn a_challenge_that_is_met_lets_the_consensus_count() {
    let debate = hollow(ON, 3, &|ask, phase, _, said| {
        if phase != "challenge" {
            empty(ask, phase, said);
        }
    })
    .run();
    let names: Vec<String> = phases(&debate).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["propose", "critique", "revise", "compare", "challenge", "compare", "vote", "judge"]);
    assert_eq!(calls(&debate).0, 16 + 3);
    let outcome = debate.outcome.unwrap();
    assert_eq!((outcome.termination, outcome.rounds_completed), (Termination::Converged, 5));
    assert_eq!(
        (&outcome.verdict["early_consensus"], &outcome.verdict["consensus"]["hollow"]),
        (&json!(3), &json!(false))
    );
    let checks = outcome.verdict["trickster"]["checks"].as_array().unwrap();
    assert_eq!(checks.len(), 1);
    let check = &checks[0];
    assert_eq!(
        (&check["round"], &check["hollow"], &check["challenged"], &check["met"]),
        (&json!(3), &json!(true), &json!(true), &json!(true))
    );
    assert_eq!(check["came_to"], "met");
    let fired: Vec<&str> = check["signals"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|s| s["fired"] == true)
        .map(|s| s["signal"].as_str().unwrap())
        .collect();
    assert!(fired.len() >= 2 && fired.contains(&"uncited"), "{fired:?}");
    assert!(check["after"].as_array().unwrap().iter().filter(|s| s["fired"] == true).count() < 2);
    // The verdict tells two checks of one round apart.
    let measured: Vec<(&Value, &Value)> = outcome.verdict["convergence"]
        .as_array()
        .unwrap()
        .iter()
        .map(|check| (&check["round"], &check["after_challenge"]))
        .collect();
    assert_eq!(measured, [(&json!(3), &json!(false)), (&json!(3), &json!(true))]);
}

/// "Still hollow: no early consensus (the next round goes on); before the vote: the vote is held, but hollow consensus does not count".
#[test]
fn a_consensus_that_stays_hollow_never_counts() {
    let set = [ON, &[("max_extended_rounds", "1"), ("judge_gap", "10")]].concat();
    let debate = hollow(&set, 3, &|ask, phase, _, said| empty(ask, phase, said)).run();
    let challenges: Vec<u32> = debate
        .turns
        .iter()
        .filter(|turn| turn.phase.name == "challenge")
        .map(|turn| turn.phase.round)
        .collect();
    assert_eq!(challenges, [3, 4, 5, 6, 9], "one in each round");
    assert_eq!(calls(&debate).0, 25 + 7 + 5 * 3);
    assert_eq!(calls(&debate).0, Arena.plan(&debate.brief).most_calls as usize);
    assert_eq!(debate.turns.len() as u32 + 1, Arena.plan(&debate.brief).most_phases, "all but the context");
    let outcome = debate.outcome.unwrap();
    assert_eq!((outcome.termination, outcome.status), (Termination::NoMajority, Status::Complete));
    let consensus = &outcome.verdict["consensus"];
    assert_eq!(
        (&consensus["reached"], &consensus["hollow"], &consensus["share"]),
        (&json!(false), &json!(true), &json!(1.0))
    );
    assert_eq!(
        (&outcome.verdict["winner"], &outcome.verdict["early_consensus"]),
        (&Value::Null, &Value::Null)
    );
    assert!(warned(&outcome, "the agreement is hollow"));
    let checks = outcome.verdict["trickster"]["checks"].as_array().unwrap();
    assert!(
        checks.len() == 5
            && checks.iter().all(|check| check["met"] == false && check["came_to"] == "not_met")
    );
}

/// A debate that agrees on little in round 6, in which nothing is measured after the challenge.
fn unmeasured(with: &dyn Fn(&Ask, &str, u32, &mut Value)) -> Outcome {
    let set = [ON, &[("max_extended_rounds", "0")]].concat();
    let challenged = std::cell::Cell::new(false);
    let absent = |_: &Ask, phase: &str, _: u32| {
        challenged.set(challenged.get() || phase == "challenge");
        phase == "compare" && challenged.get()
    };
    ScriptedArena { absent: &absent, ..hollow(&set, 6, with) }.outcome()
}

/// "`met` is true only when a check after the challenge was measured and is not hollow; `null` when nothing was measured after it": an
/// unmeasured challenge keeps the consensus hollow.
#[test]
fn a_challenge_is_not_met_if_nothing_is_measured_after_it() {
    let outcome = unmeasured(&|ask, phase, _, said| {
        if phase != "challenge" {
            empty(ask, phase, said);
        }
    });
    let check = &outcome.verdict["trickster"]["checks"][0];
    assert_eq!(
        (&check["challenged"], &check["met"], &check["came_to"]),
        (&json!(true), &Value::Null, &json!("unmeasured"))
    );
    let consensus = &outcome.verdict["consensus"];
    assert_eq!((&consensus["hollow"], &consensus["reached"]), (&json!(true), &json!(false)));
    assert_eq!((outcome.termination, &outcome.verdict["winner"]), (Termination::NoMajority, &Value::Null));
    assert!(warned(&outcome, "nothing could be measured after its challenge"), "{:?}", outcome.warnings);
    // An agent that declares a conflict has left the agreement, measured or not.
    let left = unmeasured(&|ask, phase, _, said| {
        if phase != "challenge" {
            empty(ask, phase, said);
        } else if ask.seat == "agent-2" {
            said["conflicts_with"] = json!([allowed(ask, "/properties/conflicts_with/items")[0]]);
        }
    });
    let check = &left.verdict["trickster"]["checks"][0];
    assert_eq!((&check["met"], &check["came_to"]), (&Value::Null, &json!("left")));
    assert_eq!(
        (&left.verdict["consensus"]["hollow"], left.termination),
        (&json!(false), Termination::Consensus)
    );
}

/// "identical words need no measure to be found alike".
#[test]
fn identical_words_are_alike_without_any_measure() {
    let same = |sound: bool| {
        unmeasured(&move |ask, phase, _, said| {
            empty(ask, phase, said);
            if phase == "challenge" {
                said["position"] = json!("Use one queue.");
                said["proposal"] = json!("One queue for all jobs.");
                if sound {
                    said["claims"] = json!([{"claim": "It halves the delays", "evidence": "figures of 2025: 40 s to 20 s"}]);
                }
            }
        })
    };
    let hollow = same(false);
    let check = &hollow.verdict["trickster"]["checks"][0];
    assert_eq!((&check["met"], &check["came_to"]), (&json!(false), &json!("not_met")));
    assert_eq!(hollow.verdict["consensus"]["hollow"], true);
    let sound = same(true);
    assert_eq!(sound.verdict["trickster"]["checks"][0]["met"], true);
    assert_eq!(sound.verdict["consensus"]["reached"], true);
    assert_eq!(sound.verdict["convergence"][4]["converged"], false, "no figure, no convergence");
}

/// Before the vote the trickster looks at proposals that are alike enough, even if a conflict is declared.
#[test]
fn an_agreement_before_the_vote_is_challenged_once() {
    let debate = hollow(ON, 6, &|ask, phase, _, said| {
        if phase != "challenge" {
            empty(ask, phase, said);
        }
        if phase == "refine" && ask.seat == "agent-1" {
            said["conflicts_with"] = json!([allowed(ask, "/properties/conflicts_with/items")[0]]);
        }
    })
    .run();
    let challenged: Vec<(String, u32)> =
        phases(&debate).into_iter().filter(|(name, _)| name == "challenge").collect();
    assert_eq!(challenged, [("challenge".to_owned(), 6)]);
    assert_eq!(debate.outcome.unwrap().verdict["consensus"]["reached"], true);
}

/// If a challenge breaks up the agreement, nothing hollow is left, and the rounds continue.
#[test]
fn a_challenge_can_break_up_the_agreement() {
    let outcome = hollow(ON, 3, &|ask, phase, round, said| {
        empty(ask, phase, said);
        if phase == "challenge" && ask.seat == "agent-2" {
            said["conflicts_with"] = json!(allowed(ask, "/properties/conflicts_with/items")[..2].to_vec());
        }
        if phase == "compare" && round > 3 {
            *said = compared(ask, 0.1);
        }
    })
    .outcome();
    let check = &outcome.verdict["trickster"]["checks"][0];
    assert_eq!(
        (&check["challenged"], &check["met"], &check["after"]),
        (&json!(true), &Value::Null, &Value::Null)
    );
    assert_eq!(check["came_to"], "left");
    assert_eq!((&outcome.verdict["early_consensus"], outcome.rounds_completed), (&Value::Null, 8));
    assert_eq!(outcome.verdict["consensus"]["hollow"], false);
}

/// The trickster is off by default. It does not object to evidence, or without an agreement.
#[test]
fn the_trickster_is_off_by_default_and_accepts_evidence() {
    let off = hollow(BARE, 3, &|ask, phase, _, said| empty(ask, phase, said)).outcome();
    assert_eq!((&off.verdict["trickster"], off.termination), (&Value::Null, Termination::Converged));
    let sound = ScriptedArena { set: ON, alike: &|_| 0.9, ..ScriptedArena::default() }.run();
    assert_eq!(calls(&sound).0, 16);
    let outcome = sound.outcome.unwrap();
    let check = &outcome.verdict["trickster"]["checks"][0];
    assert_eq!(
        (&check["hollow"], &check["challenged"], &check["met"]),
        (&json!(false), &json!(false), &Value::Null)
    );
    let apart = ScriptedArena { set: ON, ..ScriptedArena::default() }.outcome();
    assert_eq!(apart.verdict["trickster"], json!({"checks": []}), "no agreement, nothing to look at");
}

/// "the prompt names the fired signals with the quoted words", by label, fenced.
#[test]
fn the_challenge_names_what_fired_with_the_words() {
    let seen = std::cell::RefCell::new(String::new());
    hollow(ON, 3, &|ask, phase, _, said| {
        empty(ask, phase, said);
        if phase == "challenge" {
            *seen.borrow_mut() = ask.prompt.shared.to_string();
            assert!(!own(ask).is_empty(), "the critiques may still be answered");
        }
    })
    .run();
    let text = seen.into_inner();
    assert!(text.contains("Claims without evidence") && text.contains("A Challenge"));
    let (found, _) = text.split_once("Meet it:").unwrap();
    let quoted = agon_core::quotations(found);
    let words: Vec<&str> =
        quoted.iter().filter(|one| one.what.starts_with("Agent ")).map(|one| one.text).collect();
    assert!(words.len() >= 3 && words.iter().all(|words| !words.is_empty()), "{words:?}");
}

/// If a limit leaves no room for a challenge, the agreement stays hollow.
#[test]
fn a_hollow_agreement_that_cannot_be_challenged_does_not_count() {
    let table = hollow(ON, 3, &|ask, phase, _, said| empty(ask, phase, said));
    // After round 3 and its check there is only room for the vote and the judge.
    let limits = agon_core::DebateLimits { calls: Some(19), ..agon_core::DebateLimits::default() };
    let brief = Brief { limits, ..table.brief() };
    let outcome = table.run_brief(brief).outcome.unwrap();
    assert_eq!((outcome.termination, outcome.status), (Termination::Budget, Status::Incomplete));
    assert_eq!(
        (&outcome.verdict["consensus"]["hollow"], &outcome.verdict["winner"]),
        (&json!(true), &Value::Null)
    );
    assert_eq!(outcome.verdict["early_consensus"], Value::Null);
}

/// "Observer (off by default): computed at close over every argument", with the quoted span.
#[test]
fn the_observer_reports_every_argument_with_its_words() {
    let fallacy = "Everybody knows that this is the only way.";
    let table = |set: &'static [(&'static str, &'static str)]| {
        ScriptedArena {
            set,
            with: &|ask, phase, _, said| match phase {
                "propose" if ask.seat == "agent-1" => said["proposal"] = json!(fallacy),
                "critique" if ask.seat == "agent-2" => said["issues"] = json!([fallacy]),
                "vote" if ask.seat == "agent-3" => said["reason"] = json!(fallacy),
                _ => {}
            },
            ..ScriptedArena::default()
        }
        .outcome()
    };
    assert_eq!(table(BARE).verdict["rhetoric"], Value::Null);
    let on = table(&[
        ("no_knowledge", "true"),
        ("no_memory", "true"),
        ("observer", "true"),
        ("observer_threshold", "0.3"),
    ]);
    let found = on.verdict["rhetoric"].as_array().unwrap();
    let brief = ScriptedArena::default().brief();
    for (phase, round, seat, times) in [("propose", 1, 1, 1), ("critique", 2, 2, 2), ("vote", 7, 3, 1)] {
        let of: Vec<&Value> = found
            .iter()
            .filter(|one| one["phase"] == phase && one["quote"].as_str().unwrap().contains("Everybody knows"))
            .collect();
        assert!(
            !of.is_empty()
                && of.iter().all(|one| one["label"] == label(&brief, seat) && one["round"] == round),
            "{found:?}"
        );
        let name = &of[0]["name"];
        assert_eq!(of.iter().filter(|one| one["name"] == *name).count(), times, "each argument once");
        for key in ["kind", "name", "start", "score"] {
            assert!(!of[0][key].is_null(), "{key}");
        }
    }
}

/// A scripted arena in which agents 1 and 2 are near copies without evidence and win two of three votes.
fn pair<'a>(
    set: &'a [(&'a str, &'a str)],
    with: &'a dyn Fn(&Ask, &str, u32, &mut Value),
) -> ScriptedArena<'a> {
    ScriptedArena {
        set,
        votes: &|_| SPLIT.to_vec(),
        scores: &|_, _| NEAR.to_vec(),
        with,
        ..ScriptedArena::default()
    }
}

/// Gives agents 1 and 2 the same proposal; a stubborn pair keeps it unchanged after a challenge.
fn copied(ask: &Ask, phase: &str, said: &mut Value, stubborn: bool) {
    if phase == "compare" {
        let texts: Vec<String> = serde_json::from_str(&ask.prompt.tail).unwrap();
        let like = |one: &String, other: &String| {
            let shared = |text: &String| text.contains("one queue");
            if one == other {
                1.0
            } else if shared(one) && shared(other) {
                0.95
            } else {
                0.2
            }
        };
        let row = |one: &String| texts.iter().map(|other| like(one, other)).collect::<Vec<f64>>();
        said["similarity"] = json!(texts.iter().map(row).collect::<Vec<_>>());
    }
    if ["agent-1", "agent-2"].contains(&ask.seat.as_str())
        && ["propose", "revise", "refine", "challenge"].contains(&phase)
    {
        let claims = said["claims"].clone();
        empty(ask, phase, said);
        said["position"] = json!("Put them into one queue.");
        if phase == "challenge" && !stubborn {
            said["claims"] = claims;
        }
    }
}

/// "The trickster also looks at the winning group of a vote (two empty near-copies that win 2 of 3)": the finding is made at the vote, the
/// challenge comes in the extended round, to those who agree.
#[test]
fn a_hollow_winning_group_is_no_consensus() {
    let set = [ON, &[("max_extended_rounds", "1"), ("judge_gap", "10")]].concat();
    let debate = pair(&set, &|ask, phase, _, said| copied(ask, phase, said, true)).run();
    let challenge = debate.turn("challenge", 9).unwrap();
    let mut asked: Vec<&str> = challenge.asks.iter().map(|asked| asked.seat.as_str()).collect();
    asked.sort_unstable();
    assert_eq!(asked, ["agent-1", "agent-2"]);
    assert_eq!(debate.turns.iter().filter(|turn| turn.phase.name == "challenge").count(), 1);
    assert_eq!(calls(&debate).0, 25 + 7 + 2);
    let outcome = debate.outcome.unwrap();
    let consensus = &outcome.verdict["consensus"];
    assert_eq!((&consensus["hollow"], &consensus["reached"]), (&json!(true), &json!(false)));
    assert_eq!((outcome.termination, &outcome.verdict["winner"]), (Termination::NoMajority, &Value::Null));
    assert!(warned(&outcome, "its challenge was not met"), "{:?}", outcome.warnings);
    assert!(!warned(&outcome, "absent"), "who was not asked is not absent: {:?}", outcome.warnings);
    let checks = outcome.verdict["trickster"]["checks"].as_array().unwrap();
    let told: Vec<(&Value, &Value, &Value)> =
        checks.iter().map(|check| (&check["round"], &check["challenged"], &check["came_to"])).collect();
    assert_eq!(
        told,
        [(&json!(7), &json!(false), &Value::Null), (&json!(9), &json!(true), &json!("not_met"))]
    );
    for check in checks {
        let mut seats: Vec<&str> =
            strings(&check["agents"]).into_iter().map(|label| outcome.labels[label].as_str()).collect();
        seats.sort_unstable();
        assert_eq!((seats, &check["hollow"]), (vec!["agent-1", "agent-2"], &json!(true)));
    }

    let met = pair(&set, &|ask, phase, _, said| copied(ask, phase, said, false)).outcome();
    assert_eq!(
        (met.termination, &met.verdict["consensus"]["hollow"]),
        (Termination::Consensus, &json!(false))
    );
    assert_eq!(met.verdict["trickster"]["checks"][1]["met"], true);
    let off = pair(BARE, &|ask, phase, _, said| copied(ask, phase, said, true)).outcome();
    assert_eq!(
        (off.termination, &off.verdict["consensus"]["reached"]),
        (Termination::Consensus, &json!(true))
    );
}

/// Without an extended round there is no challenge, and the vote does not count either.
#[test]
fn a_hollow_winning_group_without_a_round_left_does_not_count() {
    let set = [ON, &[("max_extended_rounds", "0")]].concat();
    let outcome = pair(&set, &|ask, phase, _, said| copied(ask, phase, said, true)).outcome();
    assert_eq!(
        (&outcome.verdict["consensus"]["hollow"], outcome.termination),
        (&json!(true), Termination::NoMajority)
    );
    assert!(warned(&outcome, "no round was left for a challenge"), "{:?}", outcome.warnings);
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect()
}
