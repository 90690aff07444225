//! What a reader sees while a debate runs and afterwards.

use agon_core::{Headline, ReportBlock, ReportLength, ReportSection, RoundSummary, VerdictTone};

use super::*;

fn summary_titles(summaries: &[RoundSummary]) -> Vec<&str> {
    summaries.iter().map(|summary| summary.title.as_str()).collect()
}

#[test]
fn every_check_vote_and_judgement_has_a_summary() {
    let debate = ScriptedArena { votes: &|_| vec![1, 1, 0], ..ScriptedArena::default() }.run();
    let shown = Arena.view(&debate).unwrap().round_summaries;
    let titles = summary_titles(&shown);
    let first = label(&debate.brief, 1);
    assert_eq!(titles.len(), 6, "{titles:?}");
    assert_eq!(titles[0], "Round 3, sorting: score 0.20");
    assert_eq!(titles[4], format!("Round 7, vote: 2 votes for Agent {first} and 1 abstention"));
    let second = label(&debate.brief, 2);
    assert_eq!(titles[5], format!("Round 8, judge: Agent {first} first, 2.00 ahead of Agent {second}"));
    for summary in &shown {
        assert_eq!(summary.rows.len(), 4);
        assert!(summary.rows.iter().all(|row| row.len() == summary.rows[0].len()));
        let phase = &debate.turns[summary.after_phases - 1].phase;
        assert!(["compare", "vote", "judge"].contains(&phase.name.as_str()));
        assert!(summary.title.starts_with(&format!("Round {},", phase.round)));
    }
    assert!(shown[4].rows[1][1].ends_with("(its own)") && shown[4].rows[3][1] == "abstains");
}

#[test]
fn a_phase_that_is_not_complete_has_no_summary() {
    let table = ScriptedArena::default();
    let brief = table.brief();
    let answer = |ask: &Ask, phase: &str, round: u32| Some(table.said(&brief, ask, phase, round));
    let records = testing::run(&Arena, table.brief(), &answer).0;
    let mut seen = 0;
    for end in 1..=records.len() {
        let debate = Debate::from_records(&records[..end]).unwrap();
        let summaries = Arena.view(&debate).unwrap().round_summaries.len();
        assert!(summaries >= seen, "summaries stay");
        if debate.outstanding().next().is_some() {
            assert_eq!(summaries, seen);
        }
        seen = summaries;
    }
    assert_eq!(seen, 6);
}

#[test]
fn summaries_show_no_figure_for_what_is_not_known() {
    let absent = |_: &Ask, phase: &str, _: u32| ["compare", "judge"].contains(&phase);
    let summaries = |table: ScriptedArena<'_>| Arena.view(&table.run()).unwrap().round_summaries;
    let shown = summaries(ScriptedArena { absent: &absent, ..ScriptedArena::default() });
    assert_eq!(summary_titles(&shown)[0], "Round 3, sorting: score not known");
    assert_eq!(summary_titles(&shown)[5], "Round 8, judge: not heard");
}

fn unmet(debate: &Debate) -> Vec<String> {
    quality_checks(debate)
        .into_iter()
        .filter(|check| check.met == Some(false))
        .map(|check| check.sentence)
        .collect()
}

#[test]
fn a_complete_debate_meets_every_mechanism_of_the_seed() {
    let debate = ScriptedArena { set: &[], ..ScriptedArena::default() }.run();
    let checks = quality_checks(&debate);
    assert_eq!(checks.len(), 11);
    assert_eq!(unmet(&debate), Vec::<String>::new());
    let asks = debate.asks();
    for check in &checks {
        assert!(!check.sentence.is_empty() && !check.note.is_empty());
        assert!(check.shown_by.iter().all(|ask| (1..=asks).contains(ask)));
        assert!(check.met.is_none() || !check.shown_by.is_empty(), "{}", check.sentence);
    }
    let early = ScriptedArena { alike: &|_| 0.9, ..ScriptedArena::default() }.run();
    assert!(unmet(&early).is_empty());
    let met: Vec<Option<bool>> = quality_checks(&early).into_iter().map(|check| check.met).collect();
    assert_eq!(
        (met[0], met[4], met[5]),
        (None, Some(true), None),
        "no context, short-circuit, no refinement"
    );
}

#[test]
fn the_checks_say_what_a_debate_missed() {
    for (absent, words) in [
        ("context", "Round 0"),
        ("critique", "Round 2"),
        ("compare", "Rounds 3 to 5"),
        ("refine", "Round 6"),
        ("vote", "Round 7"),
        ("judge", "Round 8"),
    ] {
        let table =
            ScriptedArena { set: &[], absent: &|_, phase, _| phase == absent, ..ScriptedArena::default() };
        let missed = unmet(&table.run());
        assert!(missed.iter().any(|sentence| sentence.starts_with(words)), "{absent}: {missed:?}");
    }
    let limits = agon_core::DebateLimits { calls: Some(12), ..Default::default() };
    let table = ScriptedArena::default();
    let cut = table.run_brief(Brief { limits, ..table.brief() });
    assert_eq!(unmet(&cut).len(), 3, "no critique, no revision, no refinement: {:?}", unmet(&cut));
}

#[test]
fn the_verdict_has_every_field_however_it_ends() {
    let nobody = |_: &Ask, _: &str, _: u32| true;
    let no_judge = |_: &Ask, phase: &str, _: u32| phase == "judge";
    for outcome in [
        ScriptedArena::default().outcome(),
        ScriptedArena { absent: &nobody, ..ScriptedArena::default() }.outcome(),
        ScriptedArena { absent: &no_judge, ..ScriptedArena::default() }.outcome(),
        ScriptedArena { votes: &|_| vec![0; 3], ..ScriptedArena::default() }.outcome(),
    ] {
        let verdict = outcome.verdict.as_object().unwrap();
        for field in [
            "winner",
            "winner_seat",
            "answer",
            "position",
            "decided_by",
            "consensus",
            "votes",
            "tally",
            "judge",
            "convergence",
            "extended_rounds",
            "early_consensus",
            "ratings",
            "trickster",
            "rhetoric",
            "context",
            "team",
            "proposals",
            "critiques",
            "rounds",
        ] {
            assert!(verdict.contains_key(field), "{field}");
        }
        for field in ["kind", "reached", "share", "cast", "agents", "hollow"] {
            assert!(verdict["consensus"].get(field).is_some(), "{field}");
        }
    }
}

/// The lines of a report's sections that reports of this length show.
fn report_lines(sections: &[ReportSection], length: ReportLength) -> Vec<String> {
    fn add(lines: &mut Vec<String>, blocks: &[ReportBlock], length: ReportLength) {
        for block in blocks {
            match block {
                ReportBlock::In(wanted, inner) if *wanted == length => add(lines, inner, length),
                ReportBlock::In(..) => {}
                ReportBlock::Prose(text) | ReportBlock::Line(text) | ReportBlock::Headline(_, text) => {
                    lines.push(text.clone());
                }
                ReportBlock::Items(items) => {
                    for item in items {
                        let who = item.who.as_ref().map_or(String::new(), |who| format!("{who}: "));
                        lines.push(format!("- {who}{}", item.text));
                        lines.extend(item.note.as_ref().map(|note| format!("  {note}")));
                    }
                }
                ReportBlock::Table(rows) => lines.extend(rows.iter().map(|row| row.join(" | "))),
                ReportBlock::Group { title, badges, blocks } => {
                    lines.push(format!("{title} {}", badges.join(", ")));
                    add(lines, blocks, length);
                }
                block => lines.push(format!("{block:?}")),
            }
        }
    }
    let mut lines = Vec::new();
    for section in sections.iter().filter(|section| [ReportLength::Any, length].contains(&section.shown)) {
        lines.push(format!("# {}", section.title));
        add(&mut lines, &section.blocks, length);
    }
    lines
}

/// The whole report of a debate in lines.
fn report(debate: &Debate, length: ReportLength) -> Vec<String> {
    let outline = Arena.view(debate).unwrap().outline;
    [&outline.answer, &outline.body, &outline.details].map(|part| report_lines(part, length)).concat()
}

fn headings(lines: &[String]) -> Vec<&str> {
    lines.iter().filter_map(|line| line.strip_prefix("# ")).collect()
}

#[test]
fn the_report_has_the_decision_first_and_the_full_one_has_everything() {
    let set = [("trickster", "true"), ("observer", "true"), ("no_memory", "true")];
    let with = |_: &Ask, phase: &str, _: u32, said: &mut Value| {
        if phase == "context" {
            *said = json!({"items": [{"title": "Queues", "text": "They help.", "source": "debate x1"}]});
        }
    };
    let debate = ScriptedArena { set: &set, with: &with, ..ScriptedArena::default() }.run();
    let (short, full) = (report(&debate, ReportLength::Short), report(&debate, ReportLength::Full));
    assert_eq!(
        headings(&short),
        [
            "Decision",
            "What it rests on",
            "What is still open",
            "Votes",
            "The judge",
            "How the proposals came together",
            "Hollow consensus",
            "Rhetoric",
            "The team and its ratings",
        ]
    );
    assert_eq!(
        headings(&full),
        [
            "Decision",
            "What is still open",
            "Votes",
            "The judge",
            "Round by round",
            "How the proposals came together",
            "Hollow consensus",
            "Rhetoric",
            "What they were given to read",
            "Final proposals",
            "Critiques and what became of them",
            "The team and its ratings",
        ]
    );
    let first = label(&debate.brief, 1);
    assert_eq!(short[1], format!("Agent {first} wins"));
    assert_eq!(
        short[2],
        format!(
            "3 votes for Agent {first}: a majority (100%). The judge puts Agent {first} first, 2.00 points ahead of Agent {}. Vote and \
             judge agree.",
            label(&debate.brief, 2)
        )
    );
    assert!(full.iter().any(|line| line.contains("Queues: They help.")), "{full:?}");
}

#[test]
fn the_headline_has_the_answer_its_reason_and_the_ending() {
    let view = Arena.view(&ScriptedArena { alike: &|_| 0.9, ..ScriptedArena::default() }.run()).unwrap();
    assert!(view.headline.answer.unwrap().starts_with(POSITIONS[0]));
    assert!(
        view.headline.why.unwrap().ends_with("Vote and judge agree. The proposals converged in round 3.")
    );
    assert_eq!((view.headline.tone, view.headline.verdict), (VerdictTone::Good, None));
    assert_eq!(view.headline.ending, "The agents converged in round 3.");
    let ballots: Vec<&str> = view.ballots.iter().map(|ballot| ballot.answer.as_str()).collect();
    assert_eq!(ballots, POSITIONS[..3], "in seat order");
}

#[test]
fn every_ending_without_a_decision_says_why() {
    let nobody = |_: &Ask, _: &str, _: u32| true;
    let no_judge = |_: &Ask, phase: &str, _: u32| phase == "judge";
    let near = |_: u32, _: usize| NEAR.to_vec();
    let torn = |_: u32, order: usize| if order == 0 { vec![7.0, 6.5, 6.0] } else { vec![6.5, 7.0, 6.0] };
    let judge_decides = [BARE, &[("judge_orders", "2"), ("max_extended_rounds", "0")]].concat();
    let split = |_: u32| SPLIT.to_vec();
    let plain = ScriptedArena::default;
    for (arena, why) in [
        (ScriptedArena { absent: &nobody, ..plain() }, "Fewer than two agents made a proposal"),
        (
            ScriptedArena { votes: &|_| vec![1, 0, 0], ..plain() },
            " and 2 abstentions: half of 3 agents must vote for a proposal.",
        ),
        (ScriptedArena { votes: &split, absent: &no_judge, ..plain() }, ": no majority. No judge was heard."),
        (
            ScriptedArena { votes: &split, scores: &near, ..plain() },
            "The vote decides. It took 2 extended rounds.",
        ),
        (
            ScriptedArena { votes: &split, scores: &torn, set: &judge_decides, ..plain() },
            "The judge's first place depends on the order in which it read the proposals, which is a tie between Agent ",
        ),
    ] {
        let debate = arena.run();
        let lines = report(&debate, ReportLength::Short);
        assert_eq!(lines[1], "No decision");
        assert!(lines[2].contains(why), "{lines:?}");
        let headline = Arena.view(&debate).unwrap().headline;
        assert_eq!((headline.tone, headline.answer), (VerdictTone::Warn, None));
    }
}

/// The termination says that the vote met its rule; the report says what that was.
#[test]
fn a_majority_is_not_called_a_consensus() {
    for (votes, ending) in [
        (vec![1, 1, 1], "Consensus after 8 rounds."),
        (vec![1, 1, 2], "After 8 rounds two of three agents vote for the same."),
        (vec![1, 1, 0], "After 8 rounds two of three agents vote for the same."),
    ] {
        let votes = |_: u32| votes.clone();
        let debate = ScriptedArena { votes: &votes, ..ScriptedArena::default() }.run();
        assert_eq!(debate.outcome.as_ref().unwrap().termination, Termination::Consensus);
        assert_eq!(Arena.view(&debate).unwrap().headline.ending, ending);
    }
}

/// The part about how the proposals came together.
fn coming_together(debate: &Debate) -> Vec<String> {
    let lines = report(debate, ReportLength::Short);
    let lines = lines.into_iter().skip_while(|line| !line.ends_with("came together")).skip(1);
    lines.take_while(|line| !line.starts_with("# ")).collect()
}

/// The third is in conflict with the others; the first two come together in round 4.
fn two_that_come_together(declares: &dyn Fn(&Ask) -> Vec<String>) -> Debate {
    ScriptedArena {
        with: &move |ask, phase, round, said| match phase {
            "compare" => {
                let is_third = |text: &str| text == POSITIONS[2];
                *said = sorted(ask, &|one, other| match is_third(one) || is_third(other) {
                    true => ("conflict", 0.1),
                    false if round == 3 => ("compatible", 0.65),
                    false => ("same", 0.9),
                });
            }
            "revise" | "refine" => {
                said["conflicts_with"] = json!(declares(ask));
                if round > 4 {
                    // From round 5 on nobody changes anything.
                    let kept = revision(ask, 4);
                    said["proposal"] = kept["proposal"].clone();
                }
            }
            _ => {}
        },
        ..ScriptedArena::default()
    }
    .run()
}

/// A row for each sorting with the declared conflicts that count, and a row for every two proposals.
#[test]
fn the_report_shows_every_sorting_and_every_pair() {
    let only_third = |ask: &Ask| if ask.seat == "agent-3" { others(ask) } else { Vec::new() };
    let debate = two_that_come_together(&only_third);
    let lines = coming_together(&debate);
    let third = label(&debate.brief, 3);
    let conflicts: Vec<String> = ["A", "B", "C"]
        .iter()
        .filter(|other| **other != third)
        .map(|other| format!("{third} with {other}"))
        .collect();
    // Declared with versions that change in the same round, and with those of round 5, in which nobody changes anything.
    assert_eq!(
        lines[1..5],
        [
            "Round | Score | Converged | Conflicts that count | Stability | Sorted by".to_owned(),
            "3 | 0.00 | no |  | unknown | d/w".to_owned(),
            "4 | 0.00 | no |  | unknown | d/w".to_owned(),
            format!("5 | 0.00 | no | {} | 1.00 | d/w", conflicts.join(", ")),
        ]
    );
    assert_eq!(lines[5], "Pair | Round 3 | Round 4 | Round 5");
    let is_third = |line: &String| line.contains(&format!("Agent {third}"));
    for line in &lines[6..] {
        let told = if is_third(line) {
            "conflict | conflict | conflict"
        } else {
            "compatible 0.65 | same 0.90 | same 0.90"
        };
        assert!(line.ends_with(&format!(" | {told}")), "{line}");
    }
    assert_eq!(lines.len(), 9);
}

/// Agent-1 and agent-2 say the same. After both extended rounds two of three vote for agent-3. The judge ranks agent-3 first, but gives
/// another proposal the best score.
fn torn_to_the_end() -> Debate {
    ScriptedArena {
        votes: &|round| if round == 7 { vec![1, 0, 3] } else { vec![1, 3, 3] },
        scores: &|_, _| NEAR.to_vec(),
        with: &|ask, phase, round, said| match phase {
            "compare" => {
                let is_third = |text: &str| text == POSITIONS[2];
                *said = sorted(ask, &|one, other| match is_third(one) || is_third(other) {
                    true => ("conflict", 0.1),
                    false => ("same", 0.9),
                });
            }
            "revise" | "refine" if ask.seat == "agent-2" => {
                let article = if round < 12 { "a" } else { "one" };
                said["position"] = json!(format!("All jobs go into {article} single queue."));
                let cause = json!([{"id": own(ask)[0], "quote": "leaves the costs open"}]);
                said["changed_because"] = if round == 3 { cause } else { json!([]) };
            }
            "judge" => said["ranking"].as_array_mut().unwrap().reverse(),
            _ => {}
        },
        ..ScriptedArena::default()
    }
    .run()
}

#[test]
fn a_debate_that_vote_and_judge_leave_torn_is_told_as_it_was() {
    let debate = torn_to_the_end();
    let [first, second, third] = [1, 2, 3].map(|n| name(&debate.brief, n));
    let view = Arena.view(&debate).unwrap();
    assert_eq!(view.headline.ending, "After 14 rounds two of three agents vote for the same.");
    let judge = format!(
        "The judge's scores put {first} first, 0.50 points ahead of {second}, and the scores count; its own ranking puts {third} first."
    );
    let why = view.headline.why.unwrap();
    assert!(why.contains(&format!("{judge} Vote and judge differ; the vote decides.")), "{why}");
    let lines = report(&debate, ReportLength::Full).join("\n");
    let votes = format!("1 vote for {first} ({second} is counted as the same)");
    assert!(lines.contains(&votes), "{votes}: {lines}");
    let outcome = debate.outcome.as_ref().unwrap();
    assert!(warned(outcome, "the vote and the judge disagree"), "{:?}", outcome.warnings);
    let fate = outcome.positions.iter().find(|position| position.seat == "agent-2").unwrap();
    let (changed, voted) =
        ("citing [Q", format!("; its author voted for {third}: agent-2 finds it the best"));
    assert!(fate.reason.contains(changed) && fate.reason.ends_with(&voted), "{}", fate.reason);
    // After a vote no count of those who hold a position decides.
    let name = |history: &agon_core::PositionHistory, round: u32| {
        history.rounds.iter().find(|held| held.round == round).unwrap().ruling.clone()
    };
    let rulings = [3, 6, 7, 9, 10, 12, 13].map(|round| name(&view.positions, round).is_some());
    assert_eq!(rulings, [true, true, false, false, true, true, true]);
    assert_ne!(name(&view.positions, 6), name(&view.positions, 10));
    assert_eq!(name(&view.positions, 12), name(&view.positions, 10));
    // Its proposal changed in every round, and its position in two.
    assert_eq!(view.positions.revisions("agent-2"), [3, 12]);
    assert_eq!(view.positions.revisions("agent-1"), [] as [u32; 0]);
}

/// Of two orders the report has both leads, and says whose words it shows.
#[test]
fn the_report_has_the_leads_of_both_orders() {
    let set = [BARE, &[("judge_orders", "2")]].concat();
    let debate = ScriptedArena {
        set: &set,
        // Not the same proposal is second in both.
        scores: &|_, order| if order == 0 { vec![7.5, 6.8, 6.7] } else { vec![7.5, 6.1, 6.9] },
        with: &|ask, phase, _, said| {
            if phase == "judge" {
                said["scores"][0]["reasons"] = json!([format!("seen in {}", ask.about.as_deref().unwrap())]);
            }
        },
        ..ScriptedArena::default()
    }
    .run();
    let text = report(&debate, ReportLength::Short).join("\n");
    let first = name(&debate.brief, 1);
    let leads = format!(
        "The judge puts {first} first in both orders, 0.70 and 0.60 points ahead of the next, and by the mean scores 0.70 points ahead of {}.",
        name(&debate.brief, 3)
    );
    assert!(text.contains(&leads), "{text}");
    let row = format!("{first} (agent-1) | 7.50 | 7.50 | 7.50 | seen in order 1; seen in order 2");
    assert!(text.contains("Agent | Score | Order 1 | Order 2 | Reasons") && text.contains(&row), "{text}");
}

#[test]
fn the_decision_says_whether_vote_and_judge_agree() {
    let scores = |_: u32, _: usize| vec![9.0, 6.0, 3.0];
    let by_judge = [BARE, &[("decide", "judge")]].concat();
    for (set, votes, sentence) in [
        (
            BARE,
            vec![2, 2, 1],
            "The judge puts Agent {1} first, 3.00 points ahead of Agent {2}. Vote and judge differ; the vote decides.",
        ),
        (
            &by_judge[..],
            vec![2, 2, 1],
            "2 votes for Agent {2} and 1 vote for Agent {1}: a majority (67%). The judge puts Agent {1} first, 3.00 points ahead of Agent {2}. Vote and judge differ; the judge decides.",
        ),
        (
            &by_judge[..],
            vec![1, 1, 2],
            "The judge puts Agent {1} first, 3.00 points ahead of Agent {2}. Vote and judge agree.",
        ),
        (
            &by_judge[..],
            vec![1, 2, 3],
            ": no majority. The judge puts Agent {1} first, 3.00 points ahead of Agent {2}. The judge decides.",
        ),
    ] {
        let votes = |_: u32| votes.clone();
        let debate = ScriptedArena { set, votes: &votes, scores: &scores, ..ScriptedArena::default() }.run();
        let named =
            |text: &str, number: usize| text.replace(&format!("{{{number}}}"), &label(&debate.brief, number));
        let sentence = named(&named(sentence, 1), 2);
        let lines = report(&debate, ReportLength::Short);
        assert!(lines[2].contains(&sentence), "{sentence}: {lines:?}");
    }
}

#[test]
fn a_failed_judge_is_reported_without_figures() {
    let absent = |_: &Ask, phase: &str, _: u32| phase == "judge";
    let lines =
        report(&ScriptedArena { absent: &absent, ..ScriptedArena::default() }.run(), ReportLength::Short);
    assert!(lines[2].ends_with("No judge was heard. The debate is incomplete."), "{}", lines[2]);
    assert!(
        !headings(&lines).contains(&"The judge") && !headings(&lines).contains(&"The team and its ratings")
    );
}

/// The seat behind a label is known only when the debate is over.
#[test]
fn a_running_debate_never_shows_the_seat_behind_a_label() {
    let set = [("trickster", "true"), ("observer", "true")];
    let arena = ScriptedArena { set: &set, ..ScriptedArena::default() };
    let brief = arena.brief();
    let answer = |ask: &Ask, phase: &str, round: u32| {
        let mut said = arena.said(&brief, ask, phase, round);
        if phase == "vote" {
            said["reason"] = json!("It is the best.");
        }
        Some(said)
    };
    let records = testing::run(&Arena, arena.brief(), &answer).0;
    for end in 1..records.len() {
        let view = Arena.view(&Debate::from_records(&records[..end]).unwrap()).unwrap();
        let shown = format!("{:?}{:?}", view.outline, view.round_summaries);
        assert!(!shown.contains("agent-") && MODELS.iter().all(|model| !shown.contains(model)), "{shown}");
        assert_eq!(view.headline, Headline::default());
    }
}

/// The report reads the recorded verdict, so the struct must read every verdict that it writes.
#[test]
fn a_recorded_verdict_is_read_back_without_loss() {
    let set = [("trickster", "true"), ("observer", "true"), ("judge_orders", "2")];
    let absent = |ask: &Ask, phase: &str, _: u32| ask.seat == "agent-2" && phase == "vote";
    for arena in [
        ScriptedArena {
            set: &set,
            votes: &|_| SPLIT.to_vec(),
            scores: &|_, _| NEAR.to_vec(),
            ..ScriptedArena::default()
        },
        ScriptedArena { absent: &absent, ..ScriptedArena::default() },
        ScriptedArena { absent: &|_, _, _| true, ..ScriptedArena::default() },
    ] {
        let recorded = arena.outcome().verdict;
        let read: verdict::ArenaVerdict = serde_json::from_value(recorded.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap().to_string(), recorded.to_string());
    }
}

/// A whole report, as a person reads it. Two agents say the same in other words; the third dissents.
#[test]
fn the_short_report_of_a_real_debate() {
    let lines = report(&super::real::debate(Some("same"), "1"), ReportLength::Short);
    assert_eq!(lines.join("\n"), include_str!("library_report.txt").trim_end());
}
