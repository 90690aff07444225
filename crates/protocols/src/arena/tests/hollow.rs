//! "Trickster (optional)": what makes a consensus hollow, and that a challenge must be met before consensus counts. The observer, too.

use super::*;

const ON: &[(&str, &str)] = &[("no_memory", "true"), ("trickster", "true"), ("max_extended_rounds", "1")];

/// An arena that converges from a round on, with changes to its answers. The knowledge store has one item.
fn agreeing<'a>(
    set: &'a [(&'a str, &'a str)],
    from: u32,
    with: &'a dyn Fn(&Ask, &str, u32, &mut Value),
) -> ScriptedArena<'a> {
    let alike: &'a dyn Fn(u32) -> f64 = match from {
        3 => &|_| 0.95,
        _ => &|_| 0.2,
    };
    ScriptedArena { set, alike, with, ..ScriptedArena::default() }
}

fn changes_proposals(phase: &str) -> bool {
    ["propose", "revise", "refine", "challenge"].contains(&phase)
}

/// What makes a debate hollow in each of the four ways, in three languages where words are used.
fn weaken(signal: &str, ask: &Ask, phase: &str, said: &mut Value) {
    let n = number_or_0(&ask.seat);
    if phase == "context" {
        *said = json!({"items": [{"title": "t", "text": "Queues halve delays. Warteschlangen helfen. 队列有用。", "source": "s"}]});
    }
    if changes_proposals(phase) {
        said["claims"] = json!([{"claim": format!("claim {n}"), "evidence": format!("figures of 202{n}")}]);
        match signal {
            "uncited" => {
                said["claims"] = json!([{"claim": format!("claim {n}")}, {"claim": format!("other {n}"), "evidence": " - "}])
            }
            "no_claims" => said["claims"] = json!([]),
            "unknown_id" => said["claims"][0]["evidence"] = json!("[K7] says so"),
            "unverified" => {
                said["claims"][0]["evidence"] = json!("[K1]: \u{201c}queues double delays\u{201d}")
            }
            "german" => said["claims"][0]["evidence"] = json!("[K1]: \u{201e}Warteschlangen schaden\u{201c}"),
            "chinese" => said["claims"][0]["evidence"] = json!("[K1]\u{300c}队列没用\u{300d}"),
            "quoted" => {
                said["claims"][0]["evidence"] = json!(
                    "[K1]: \"queues halve delays\", \u{201e}Warteschlangen helfen\u{201c}, \u{300c}队列有用\u{300d}"
                )
            }
            "copies" => said["claims"][0]["claim"] = json!("  It Halves the delays"),
            _ => {}
        }
    }
    if phase == "vote" && signal == "no_reasons" {
        said["reason"] = json!(" ");
    }
}

fn number_or_0(seat: &str) -> usize {
    if seat.starts_with("agent-") { number(seat) } else { 0 }
}

fn signals(check: &Value) -> Vec<&str> {
    let all = check["signals"].as_array().unwrap().iter().filter(|signal| signal["fired"] == true);
    all.map(|signal| signal["signal"].as_str().unwrap()).collect()
}

/// "Hollow = the winning group's claims have no evidence field, ids that do not exist, quotes that do not verify, verbatim copies of each
/// other, or votes without a reason": each alone blocks, before the vote or at it, and what verifies does not.
#[test]
fn every_signal_can_fire_and_block_in_every_language() {
    for (weakness, fired, challenged) in [
        ("uncited", "uncited", true),
        ("no_claims", "uncited", true),
        ("unknown_id", "unverified", true),
        ("unverified", "unverified", true),
        ("german", "unverified", true),
        ("chinese", "unverified", true),
        ("copies", "copies", true),
        ("no_reasons", "no_reasons", false),
        ("quoted", "", false),
        ("sound", "", false),
    ] {
        let debate = agreeing(ON, 3, &|ask, phase, _, said| weaken(weakness, ask, phase, said)).run();
        let outcome = debate.outcome.as_ref().unwrap();
        let checks = outcome.verdict["trickster"]["checks"].as_array().unwrap();
        assert_eq!(phases(&debate).iter().any(|(name, _)| name == "challenge"), challenged, "{weakness}");
        let last = checks.last().unwrap();
        assert_eq!(
            signals(last),
            if fired.is_empty() { vec![] } else { vec![fired] },
            "{weakness}: {checks:?}"
        );
        assert_eq!(outcome.verdict["consensus"]["hollow"], !fired.is_empty(), "{weakness}");
        assert_eq!(outcome.verdict["winner"].is_null(), !fired.is_empty(), "{weakness}");
        if challenged {
            assert_eq!(
                (&checks[0]["challenged"], &checks[0]["met"]),
                (&json!(true), &json!(false)),
                "{weakness}"
            );
            assert!(warned(outcome, "hollow"), "{:?}", outcome.warnings);
        }
    }
}

/// What was looked up is evidence like everything else: it must exist, and words in quotation marks must be in it.
#[test]
fn a_claim_that_quotes_what_was_looked_up_is_not_hollow() {
    for (evidence, fired) in [
        ("[E1]: \"queues halve delays\"", &[][..]),
        ("[E1]: \"queues double delays\"", &["unverified"]),
        ("[E7]: \"queues halve delays\"", &["unverified"]),
    ] {
        let with = |ask: &Ask, phase: &str, _: u32, said: &mut Value| {
            weaken("sound", ask, phase, said);
            match phase {
                "propose" => {
                    said["requests"] = json!([{"tool": "files", "arguments": {"path": "queues.md"}}])
                }
                "revise" | "refine" | "challenge" => said["claims"][0]["evidence"] = json!(evidence),
                _ => {}
            }
        };
        let arena = agreeing(ON, 3, &with);
        let mut brief = arena.brief();
        brief.files.push(testing::files_tool().file().unwrap());
        let outcome = arena.run_brief(brief).outcome.unwrap();
        let checks = outcome.verdict["trickster"]["checks"].as_array().unwrap();
        assert_eq!(signals(checks.last().unwrap()), fired, "{evidence}: {checks:?}");
    }
}

/// Of what evidence cites each id counts once, also the id of an attached text, and what is beside other words in brackets is none.
#[test]
fn each_id_of_an_evidence_counts_once() {
    for (evidence, value, fired) in [
        ("[K1] and [Q99]", json!(0.5), &["unverified"][..]),
        ("[K1], [K1] and [Q99]", json!(0.5), &["unverified"]),
        ("[K1] and [Q99 2025 report]", json!(0.0), &[]),
        ("[K1, page 3]", json!(0.0), &[]),
        ("[Q99 2025 report]", Value::Null, &[]),
    ] {
        let with = |ask: &Ask, phase: &str, _: u32, said: &mut Value| {
            weaken("sound", ask, phase, said);
            if changes_proposals(phase) {
                said["claims"][0]["evidence"] = json!(evidence);
            }
        };
        let files = [("context:queues.md", "Queues halve delays.")];
        let outcome = ScriptedArena { files: &files, ..agreeing(ON, 3, &with) }.outcome();
        let last = outcome.verdict["trickster"]["checks"].as_array().unwrap().last().unwrap().clone();
        assert_eq!((&last["signals"][1]["value"], signals(&last)), (&value, fired.to_vec()), "{evidence}");
    }
}

/// Every threshold decides: at it a signal fires, above it not; and so does the number of signals that it takes.
#[test]
fn every_threshold_decides() {
    // Two of four claims are weak in each way.
    let half = |signal: &'static str| {
        move |ask: &Ask, phase: &str, _: u32, said: &mut Value| {
            weaken("sound", ask, phase, said);
            let n = number_or_0(&ask.seat);
            if changes_proposals(phase) {
                let weak = match signal {
                    "uncited" => json!({"claim": format!("weak {n}")}),
                    "unverified" => json!({"claim": format!("weak {n}"), "evidence": "[K1] and [K8]"}),
                    _ => json!({"claim": "the same", "evidence": "a figure"}),
                };
                said["claims"].as_array_mut().unwrap().push(weak);
            }
            if phase == "vote" && signal == "no_reasons" && n == 1 {
                said["reason"] = json!("");
            }
        }
    };
    for (key, signal, share) in [
        ("trickster_uncited", "uncited", "0.5"),
        ("trickster_unverified", "unverified", "0.5"),
        ("trickster_copies", "copies", "0.5"),
        ("trickster_no_reasons", "no_reasons", "0.33"),
    ] {
        for (threshold, needed, hollow) in [(share, "1", true), ("0.9", "1", false), (share, "2", false)] {
            let off =
                ["trickster_uncited", "trickster_unverified", "trickster_copies", "trickster_no_reasons"];
            let mut set: Vec<(&str, &str)> =
                off.iter().map(|one| (*one, if *one == key { threshold } else { "1" })).collect();
            set.push(("trickster_signals", needed));
            let set = [ON, &set].concat();
            let with = half(if signal == "no_reasons" { "no_reasons" } else { signal });
            // A copy needs somebody to copy from.
            let outcome = agreeing(&set, if signal == "copies" { 3 } else { 9 }, &with).outcome();
            assert_eq!(
                outcome.verdict["consensus"]["hollow"], hollow,
                "{key} {threshold} {needed}: {}",
                outcome.verdict["trickster"]
            );
        }
    }
}

/// "it puts a challenge that must be met before consensus counts": met, left, and not known.
#[test]
fn a_challenge_is_met_by_evidence_and_by_nothing_else() {
    let came_to = |answer: &dyn Fn(&Ask, &mut Value), clerk: bool| {
        let challenged = std::cell::Cell::new(false);
        let with = |ask: &Ask, phase: &str, _: u32, said: &mut Value| {
            let is_answer = phase == "challenge";
            challenged.set(challenged.get() || is_answer);
            weaken(if is_answer { "sound" } else { "uncited" }, ask, phase, said);
            if is_answer {
                answer(ask, said);
            }
        };
        let absent = |ask: &Ask, _: &str, _: u32| !clerk && challenged.get() && ask.seat == "clerk";
        let debate = ScriptedArena { absent: &absent, ..agreeing(ON, 3, &with) }.run();
        (debate.outcome.clone().unwrap(), debate)
    };
    let (met, debate) = came_to(&|_, _| {}, true);
    let names: Vec<String> = phases(&debate).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names[3..], ["revise", "compare", "challenge", "compare", "vote", "judge"]);
    assert_eq!((met.termination, &met.verdict["early_consensus"]), (Termination::Converged, &json!(3)));
    assert_eq!(met.verdict["trickster"]["checks"][0]["came_to"], "met");
    let measured: Vec<&Value> =
        met.verdict["convergence"].as_array().unwrap().iter().map(|one| &one["after_challenge"]).collect();
    assert_eq!(measured, [&json!(false), &json!(true)]);
    let (left, _) = came_to(
        &|ask, said| {
            if ask.seat == "agent-2" {
                said["conflicts_with"] = json!(others(ask));
                said["claims"] = json!([]);
            } else {
                // The others stay as they are, so the declaration counts.
                *said = revision(ask, 3);
                weaken("uncited", ask, "revise", said);
            }
        },
        true,
    );
    assert_eq!(left.verdict["trickster"]["checks"][0]["came_to"], "left", "{}", left.verdict["convergence"]);
    let (unknown, _) = came_to(&|_, _| {}, false);
    let check = &unknown.verdict["trickster"]["checks"][0];
    assert_eq!((&check["came_to"], &check["met"]), (&json!("unknown"), &Value::Null));
    assert_eq!(unknown.verdict["early_consensus"], Value::Null);
}

/// The challenge of a hollow winner comes in the extended round, and goes to its group alone.
#[test]
fn a_hollow_winner_is_challenged_in_the_extended_round() {
    let seen = std::cell::RefCell::new(Vec::new());
    let debate = agreeing(ON, 9, &|ask, phase, round, said| {
        let is_winner = ask.seat == "agent-1" && phase != "challenge" && round < 10;
        weaken(if is_winner { "uncited" } else { "sound" }, ask, phase, said);
        if phase == "challenge" {
            seen.borrow_mut().push((round, ask.seat.clone(), ask.prompt.shared.to_string()));
        }
    })
    .run();
    let seen = seen.into_inner();
    assert_eq!(
        seen.iter().map(|(round, seat, _)| (*round, seat.as_str())).collect::<Vec<_>>(),
        [(9, "agent-1")]
    );
    assert!(seen[0].2.contains("Claims without evidence") && seen[0].2.contains("A Challenge"));
    let outcome = debate.outcome.unwrap();
    assert_eq!(
        (outcome.termination, &outcome.verdict["winner_seat"]),
        (Termination::Consensus, &json!("agent-1"))
    );
    let checks = outcome.verdict["trickster"]["checks"].as_array().unwrap();
    let hollow: Vec<(&Value, &Value)> =
        checks.iter().map(|check| (&check["round"], &check["hollow"])).collect();
    assert_eq!(hollow, [(&json!(7), &json!(true)), (&json!(9), &json!(true)), (&json!(10), &json!(false))]);
}

/// The most calls of a trickster's arena: one challenge in each round.
#[test]
fn a_consensus_that_stays_hollow_never_counts() {
    let debate = agreeing(ON, 3, &|ask, phase, _, said| weaken("uncited", ask, phase, said)).run();
    let challenges: Vec<u32> = debate
        .turns
        .iter()
        .filter(|turn| turn.phase.name == "challenge")
        .map(|turn| turn.phase.round)
        .collect();
    assert_eq!(challenges, [3, 4, 5, 6, 9], "one in each round");
    assert_eq!(calls(&debate).0, Arena.plan(&debate.brief).most_calls as usize);
    assert_eq!(debate.turns.len() as u32, Arena.plan(&debate.brief).most_phases);
    let outcome = debate.outcome.unwrap();
    assert_eq!((outcome.termination, outcome.status), (Termination::NoMajority, Status::Complete));
    assert_eq!(
        (&outcome.verdict["winner"], &outcome.verdict["consensus"]["share"]),
        (&Value::Null, &json!(1.0))
    );
}

#[test]
fn the_trickster_is_off_by_default() {
    let off = agreeing(BARE, 3, &|ask, phase, _, said| weaken("uncited", ask, phase, said)).outcome();
    assert_eq!((&off.verdict["trickster"], off.termination), (&Value::Null, Termination::Converged));
    let apart = ScriptedArena { set: ON, votes: &|_| SPLIT.to_vec(), ..ScriptedArena::default() }.outcome();
    assert_eq!(apart.verdict["trickster"], json!({"checks": []}), "no agreement, nothing to look at");
}

/// "Rhetorical observer (optional): patterns and fallacies per argument with the quoted span". It does not repeat itself over rounds.
#[test]
fn the_observer_reports_every_argument_once() {
    let fallacy = "Everybody knows that this is the only way.";
    let set = [BARE, &[("observer", "true"), ("observer_threshold", "0.3")]].concat();
    let table = |set| {
        ScriptedArena {
            set,
            with: &|ask, phase, _, said| match phase {
                "propose" | "revise" | "refine" if ask.seat == "agent-1" => said["proposal"] = json!(fallacy),
                "vote" if ask.seat == "agent-3" => said["reason"] = json!(fallacy),
                _ => {}
            },
            ..ScriptedArena::default()
        }
        .run()
    };
    assert_eq!(table(BARE).outcome.unwrap().verdict["rhetoric"], Value::Null);
    let debate = table(&set);
    let outcome = debate.outcome.as_ref().unwrap();
    let found = outcome.verdict["rhetoric"].as_array().unwrap();
    let of: Vec<&Value> =
        found.iter().filter(|one| one["quote"].as_str().unwrap().contains("Everybody knows")).collect();
    let name = &of[0]["name"];
    let rounds: Vec<u64> =
        of.iter().filter(|one| one["name"] == *name).map(|one| one["round"].as_u64().unwrap()).collect();
    assert_eq!(rounds, [1, 7], "once for each agent, although agent-1 says it in every round");
    let shown = format!("{:?}", Arena.view(&debate).unwrap().outline);
    assert!(shown.contains("English phrases"), "it says which language it knows");
}

/// Agent-2 is not challenged in the extended round, so that its proposal stands in two stages of that round.
#[test]
fn the_observer_reports_who_is_not_challenged_once() {
    let fallacy = "Everybody knows that this is the only way.";
    let set = [ON, &[("observer", "true"), ("observer_threshold", "0.3")]].concat();
    let debate = agreeing(&set, 9, &|ask, phase, round, said| {
        let is_winner = ask.seat == "agent-1" && phase != "challenge" && round < 10;
        weaken(if is_winner { "uncited" } else { "sound" }, ask, phase, said);
        if ask.seat == "agent-2" && phase == "revise" && round == 9 {
            said["proposal"] = json!(fallacy);
        }
    })
    .run();
    assert_eq!(debate.turn("challenge", 9).unwrap().asks.len(), 1, "only the winner is challenged");
    let verdict = &debate.outcome.as_ref().unwrap().verdict;
    let found = verdict["rhetoric"].as_array().unwrap().iter();
    let mut names: Vec<&str> =
        found.filter(|one| one["quote"] == fallacy).map(|one| one["name"].as_str().unwrap()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert!(count > 0 && names.len() == count, "{}", verdict["rhetoric"]);
}
