//! The round summaries, `session.md`, and the checks.

use agon_core::QualityCheck;

use super::*;

/// A debate in which everything happens.
fn eventful(set: &[(&str, &str)]) -> Debate {
    run(set, &|ask, phase, round| {
        with(ask, phase, round, &|said| match (phase, round, ask.seat.as_str()) {
            ("respond", 1, "critic") => {
                said["responses"].as_array_mut().unwrap().remove(0);
            }
            ("respond", 1, "innovator") => {
                change(said, "No queue | for now.", "the Critic counted");
                said["confidence"] = json!("LOW");
            }
            ("moderate", 1, _) => {
                said["shared_points"] = super::moderation::shared(&SEATS[..3], false);
                said["key_exchanges"] = match set.contains(&("economy", "true")) {
                    true => json!(["C2"]),
                    false => json!(["C2", "M1"]),
                };
            }
            ("verdict", _, "pragmatist") => {
                said["conditions"] = json!(["A way back"]);
                said["risks"] =
                    json!([{"risk": "Loss", "severity": "high", "probability": "low", "mitigation": ""}]);
            }
            ("verdict", _, "innovator") => {
                (said["vote"], said["because"]) = (json!("RECONSIDER"), json!("No figures."));
                said["conditions"] = json!(["Figures"]);
            }
            ("conclude", _, _) => said["facts_needed"] = json!(["How many users?"]),
            _ => {}
        })
    })
}

/// "After each round, display to the user": once, when the round's last phase ends, with the seed's table and headings.
#[test]
fn every_round_that_is_over_has_a_summary() {
    let debate = eventful(&[]);
    let summaries = view(&debate).round_summaries;
    let shown: Vec<(&str, &str)> = summaries
        .iter()
        .map(|summary| (debate.turns[summary.after_phases - 1].phase.name.as_str(), summary.title.as_str()))
        .collect();
    assert_eq!(shown, [("intervene", "Round 1 of 2 Complete"), ("moderate", "Round 2 of 2 Complete")]);
    let summary = &summaries[0];
    for (turns, count) in [(summary.after_phases - 1, 0), (summary.after_phases, 1)] {
        let so_far = view(&until(&debate, turns)).round_summaries;
        assert_eq!(so_far, summaries[..count], "the same when the round ends and later");
    }
    assert_eq!(summary.rows[0], ["Councillor", "Before", "After", "Changed?", "Confidence"]);
    assert_eq!(summary.rows.len(), 5);
    assert_eq!(summary.rows[4][0], "Innovator");
    assert_eq!(
        summary.rows[4][2..],
        ["No queue | for now.", "Yes: the Critic counted", "MEDIUM \u{2192} LOW"]
    );
    assert_eq!(summary.rows[1][2..], ["unchanged", "No", "MEDIUM"]);
    let note = |heading: &str| {
        let found = summary.notes.iter().find(|(name, _)| name == heading);
        found.unwrap_or_else(|| panic!("no {heading}")).1.join("\n")
    };
    for (heading, words) in [
        (
            "Key Exchanges",
            "Visionary \u{2192} Critic [M1]: Which load in round 1? \u{2014} critic answers M1.",
        ),
        ("Key Exchanges", "Critic \u{2192} Pragmatist [C2]"),
        ("New Arguments", "Visionary: In round 1 the visionary brings the figures of spring"),
        ("Emerging Consensus", "a trial comes first (Visionary, Critic, Pragmatist; not challenged)"),
        ("Persistent Disagreements", "Critic \u{2192} Pragmatist [C2]"),
        ("Moderator Notes", "Evasion: [C1] put again to Critic (no answer to this id): answered"),
        (
            "Moderator Notes",
            "Groupthink: Critic was asked to argue against \"a trial comes first\": answered",
        ),
    ] {
        assert!(note(heading).contains(words), "{heading}: {}", note(heading));
    }
    assert_eq!(note("Key Exchanges").lines().count(), 2, "the moderator's choice");
    let last = &summaries[1].notes;
    assert!(last.iter().any(|(heading, _)| heading == "Persistent Disagreements"), "{last:?}");
    let complete = last
        .iter()
        .position(|(heading, _)| heading == "Debate complete. 2 rounds of cross-examination finished.");
    let rest: Vec<&str> = last[complete.unwrap() + 1..].iter().map(|(heading, _)| heading.as_str()).collect();
    assert_eq!(rest, ["Position Evolution", "Key Results", "NEXT: Phase 4 - Verdict"], "on the terminal too");
}

/// In economy mode the round ends with its last call.
#[test]
fn economy_mode_has_one_summary_for_each_round() {
    let debate = eventful(&[("economy", "true")]);
    let ends: Vec<usize> = view(&debate).round_summaries.iter().map(|summary| summary.after_phases).collect();
    assert_eq!(ends.len(), 2);
    for end in ends {
        let phase = |turn: usize| &debate.turns[turn].phase;
        assert_ne!(phase(end - 1), phase(end), "a round ends with its last call");
    }
}

/// "Append to `{output_dir}/session.md`", under the seed's headings.
#[test]
fn the_session_grows_under_the_seeds_headings() {
    for set in [&[][..], &[("economy", "true")]] {
        let debate = eventful(set);
        let (mut before, mut steps) = (String::new(), 0);
        for turns in 0..=debate.turns.len() {
            let now = session(&until(&debate, turns));
            assert!(
                now.starts_with(&before),
                "{set:?}, {turns} phases: it only grows\n{before}\n=====\n{now}"
            );
            steps += usize::from(now.len() > before.len());
            before = now;
        }
        assert!(session(&debate).starts_with(&before) && steps >= 3, "{set:?}: {steps} steps");
    }
    let debate = eventful(&[]);
    let whole = session(&debate);
    let mut rest = whole.as_str();
    for heading in [
        "# Council: Should we adopt the queue?",
        "### Round 1",
        "#### Challenges",
        "#### Position Updates",
        "| Councillor | Before | After | Changed? | Confidence |",
        "#### Key Exchanges",
        "#### New Arguments",
        "#### Emerging Consensus",
        "#### Persistent Disagreements",
        "#### Moderator Interventions",
        "---",
        "### Round 2",
        "#### Challenges",
        "**Debate complete. 2 rounds of cross-examination finished.**",
        "**Position Evolution**",
        "- Innovator changed in round 1: the Critic counted",
        "**Key Results**",
        "- Consensus areas: 0",
        "- Persistent disagreements: ",
        "- Position changes: 1\n",
        "**NEXT: Phase 4 - Verdict**",
    ] {
        let (_, after) =
            rest.split_once(heading).unwrap_or_else(|| panic!("{heading:?} is missing in\n{rest}"));
        rest = after;
    }
    assert!(whole.contains("No queue \\| for now."), "a cell stays a cell");
    assert!(whole.contains("- [C1] to Critic: What does the visionary overlook?"), "the openings' questions");
    assert!(
        whole.contains("- Answer to [C2] (disagree): On C2 the pragmatist has measured it twice."),
        "in full"
    );
}

/// A round's disagreements are what was answered with a no in it, as it was when the round ended.
#[test]
fn a_round_has_its_own_disagreements() {
    let debate = run(&[], &|ask, phase, round| {
        let said = with(ask, phase, round, &|said| {
            if (phase, round) == ("moderate", 1) {
                said["shared_points"] = super::moderation::shared(&SEATS[..2], true);
                said["evasions"] =
                    json!([{"challenge_id": "C2", "why": "no figure", "quote": "measured it twice"}]);
            }
        });
        said.filter(|_| phase != "intervene")
    });
    let summaries = view(&debate).round_summaries;
    let by_round = [0, 1].map(|round: usize| {
        let mut notes = summaries[round].notes.iter();
        notes.find(|(name, _)| name == "Persistent Disagreements").unwrap().1.clone()
    });
    let is_in = |id: &str| {
        [0, 1].map(|round: usize| by_round[round].iter().any(|point| point.contains(&format!("[{id}]"))))
    };
    assert_eq!(is_in("C1"), [true, false]);
    assert_eq!(is_in("C2"), [false, true], "found evasive, and answered in round 2");
    assert_eq!(is_in("C13"), [false, true], "asked and answered in round 2");
    let contested = by_round[0].last().unwrap();
    assert_eq!(contested, "a trial comes first (Visionary, Critic; challenged in [C4])");
}

/// A round that a limit cut is written when the debate is over, and is not called complete.
#[test]
fn a_round_that_was_cut_is_marked_incomplete() {
    let limits = agon_core::DebateLimits { calls: Some(4 + 9 + 4 + 5), ..agon_core::DebateLimits::default() };
    let brief = Brief { limits, ..brief(&[]) };
    let debate = run_brief(brief, &|ask, phase, round| Some(plain(ask, phase, round)));
    let before = session(&until(&debate, debate.turns.len()));
    assert!(before.contains("### Round 1\n") && !before.contains("### Round 2"), "{before}");
    let whole = session(&debate);
    assert!(whole.starts_with(&before));
    assert!(whole.contains("### Round 2 (incomplete)\n") && !whole.contains("Debate complete"), "{whole}");
    assert_eq!(checked(&debate, "New insights").met, Some(true), "what was said in it counts");
}

fn checked(debate: &Debate, words: &str) -> QualityCheck {
    let checks = view(debate).checks;
    checks
        .into_iter()
        .find(|check| check.sentence.contains(words))
        .unwrap_or_else(|| panic!("no check of {words:?}"))
}

const METRICS: [&str; 14] = [
    "All rounds completed (no rounds skipped)",
    "Each councillor challenged 2+ specific points per round",
    "Peer exchange occurred between councillors (standard mode)",
    "Position evolution tracked across all rounds",
    "Moderator intervened when groupthink, evasion, or stalemate detected",
    "New insights emerged in each round (not just repetition)",
    "Debate log accumulated across all rounds",
    "Avoided: Cutting rounds short before all councillors respond",
    "Avoided: Not enforcing the 2-challenge minimum per councillor per round",
    "Avoided: Skipping moderator intervention when groupthink is detected",
    "Avoided: Not tracking position changes across rounds",
    "Avoided: Letting councillors repeat arguments without new substance",
    "Avoided: Over-intervening and dominating the debate (moderator should facilitate, not lead)",
    "Avoided: In standard mode: not encouraging/allowing peer exchange",
];

/// "the seed's success metrics and failure modes as checks over a log": every one, met, with the asks that show it.
#[test]
fn a_good_debate_meets_every_metric_of_the_seed() {
    let debate = eventful(&[]);
    let checks = view(&debate).checks;
    assert_eq!(checks.iter().map(|check| check.sentence.as_str()).collect::<Vec<_>>(), METRICS);
    for check in &checks {
        assert_ne!(check.met, Some(false), "{check:?}");
        assert!(check.shown_by.iter().all(|id| *id >= 1 && *id <= debate.asks()), "{check:?}");
    }
    assert_eq!(checked(&debate, "repeat arguments").met, None, "no round stalled");
    let intervene: Vec<u32> = debate.turn("intervene", 1).unwrap().asks.iter().map(|ask| ask.id).collect();
    let steelman = checked(&debate, "Skipping moderator");
    assert_eq!(
        (steelman.shown_by, steelman.note.as_str()),
        (intervene, "1 of 1 widely shared and unchallenged point argued against")
    );
    let all: Vec<u32> = debate.turns_of("respond").flat_map(|turn| &turn.asks).map(|ask| ask.id).collect();
    assert_eq!(all.len(), 8);
    assert_eq!(checked(&debate, "Cutting rounds").shown_by, all);
    assert_eq!(checked(&debate, "Moderator intervened").note, "2 of 2 findings with an intervention");
}

#[test]
fn a_bad_debate_fails_the_metrics_that_it_misses() {
    let quiet = run(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| {
            said.as_object_mut().unwrap().remove("messages");
        })
    });
    assert_eq!(checked(&quiet, "Peer exchange occurred").met, Some(false));
    assert_eq!(checked(&quiet, "Moderator intervened").met, None);
    assert_eq!(checked(&quiet, "tracking position changes").met, None);
    let economy = run(&[("economy", "true")], &|ask, phase, round| Some(plain(ask, phase, round)));
    assert_eq!(checked(&economy, "Peer exchange occurred").met, None);
    assert_eq!(checked(&economy, "allowing peer exchange").met, None);

    let missing = run(&[], &|ask, phase, round| {
        ((phase, round, ask.seat.as_str()) != ("challenge", 1, "critic")).then(|| plain(ask, phase, round))
    });
    let cut = checked(&missing, "Cutting rounds short");
    assert_eq!(
        (cut.met, cut.note.as_str()),
        (Some(false), "1 of 2 rounds over, with answers from everybody")
    );
    assert_eq!(checked(&missing, "Each councillor challenged").met, Some(false));
    assert_eq!(
        checked(&missing, "2-challenge minimum").met,
        Some(true),
        "an absence does not break the rule"
    );
    let note = "7 of 7 given cross-examinations with at least 2 quoted claims";
    assert_eq!(checked(&missing, "2-challenge minimum").note, note);

    let stale = run(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| {
            if phase == "moderate" {
                said["new_arguments"] = json!([]);
            }
        })
    });
    assert_eq!(checked(&stale, "New insights").met, Some(false));
    assert_eq!(checked(&stale, "repeat arguments").met, Some(true), "the moderator asked");
    let limits = agon_core::DebateLimits { calls: Some(8), ..agon_core::DebateLimits::default() };
    let brief = Brief { limits, ..brief(&[]) };
    let cut = run_brief(brief, &|ask, phase, round| Some(plain(ask, phase, round)));
    for check in view(&cut).checks {
        let of_the_whole = ["All rounds completed", "Cutting rounds"];
        let met = of_the_whole.iter().any(|words| check.sentence.contains(words)).then_some(false);
        assert_eq!(check.met, met, "no round was held: {check:?}");
    }
}

#[test]
fn checks_find_violations_in_an_edited_log() {
    let mut debate = eventful(&[]);
    let turn = debate.turns.iter_mut().find(|turn| turn.phase.name == "challenge").unwrap();
    if let Some(agon_core::Reply::Said { value: Some(value), .. }) = &mut turn.replies[3] {
        value["challenges"].as_array_mut().unwrap().truncate(1);
    }
    if let Some(agon_core::Reply::Said { value: Some(value), .. }) = &mut turn.replies[1] {
        value["challenges"][0]["claim"] = json!("Dragons");
    }
    let turn = debate.turns.iter_mut().find(|turn| turn.phase.name == "respond").unwrap();
    if let Some(agon_core::Reply::Said { value: Some(value), .. }) = &mut turn.replies[3] {
        value["because"] = json!("");
    }
    let few = checked(&debate, "2-challenge minimum");
    let note = "6 of 8 given cross-examinations with at least 2 quoted claims";
    assert_eq!((few.met, few.note.as_str()), (Some(false), note));
    assert_eq!(checked(&debate, "tracking position changes").met, Some(false));
    let again = debate.turns.iter().find(|turn| turn.phase.name == "intervene").unwrap().clone();
    debate.turns.push(again);
    assert_eq!(checked(&debate, "Over-intervening").met, Some(false), "four in one round");
    debate.turns.retain(|turn| turn.phase.name != "intervene");
    assert_eq!(checked(&debate, "Skipping moderator").met, Some(false));
    assert_eq!(checked(&debate, "Moderator intervened").met, Some(false));
    debate.turns.retain(|turn| turn.phase.name != "respond");
    assert_eq!(checked(&debate, "allowing peer exchange").met, Some(false));
}
