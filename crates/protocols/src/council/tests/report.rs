//! The headline, the report, the ballots and the dissent.

use agon_core::{ReportBlock, ReportItem, ReportLength, ReportSection, SectionKind, VerdictTone};

use super::*;

/// A debate with an evasion, groupthink, a message, a changed position, conditions, a risk, and a vote against.
fn eventful() -> Debate {
    run(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| match (phase, round, ask.seat.as_str()) {
            ("opening", _, "critic") => said["vote"] = json!("RECONSIDER"),
            ("respond", 1, "critic") => {
                said["responses"].as_array_mut().unwrap().remove(0);
                said["vote"] = json!("RECONSIDER");
            }
            ("respond", 2, "critic") => said["vote"] = json!("RECONSIDER"),
            ("respond", 1, "innovator") => change(said, "A short trial.", "the Critic counted"),
            ("moderate", _, _) => said["shared_points"] = super::moderation::shared(&SEATS[..3], false),
            ("intervene", 1, "critic") if said.get("stance").is_some() => said["stance"] = Value::Null,
            ("verdict", _, "critic") => {
                (said["vote"], said["key_argument"]) = (json!("RECONSIDER"), json!("We lack the staff"));
            }
            ("verdict", _, "pragmatist") => {
                said["vote"] = json!("PROCEED WITH CONDITIONS");
                said["conditions"] = json!(["A way back"]);
                said["risks"] = json!([{"risk": "Data is lost", "severity": "critical", "probability": "low", "mitigation": "a backup"}]);
            }
            ("conclude", _, _) => {
                let quote = |seat: &str| json!({"councillor": seat, "quote": "A trial, then we see."});
                (said["agreed"], said["quotes"]) = (json!("Try it first."), json!(SEATS.map(quote)));
                said["facts_needed"] = json!(["How many users are there?"]);
            }
            _ => {}
        })
    })
}

fn titles(sections: &[ReportSection]) -> Vec<&str> {
    sections.iter().map(|section| section.title.as_str()).collect()
}

fn section<'a>(sections: &'a [ReportSection], title: &str) -> &'a ReportSection {
    sections.iter().find(|section| section.title == title).unwrap_or_else(|| panic!("no {title}"))
}

fn items(blocks: &[ReportBlock]) -> Vec<ReportItem> {
    blocks
        .iter()
        .find_map(|block| match block {
            ReportBlock::Items(items) => Some(items.clone()),
            _ => None,
        })
        .unwrap()
}

#[test]
fn the_headline_has_the_decision_and_how_the_votes_fell() {
    let debate = eventful();
    let headline = view(&debate).headline;
    assert_eq!(headline.decision(), Some("PROCEED WITH CONDITIONS"));
    assert_eq!((headline.tone, headline.ending.as_str()), (VerdictTone::Warn, "Both rounds are complete."));
    let why = "4 votes: 2 PROCEED, 1 PROCEED WITH CONDITIONS, 1 RECONSIDER. Confidence MEDIUM: a challenge got no direct answer; not \
               more than 75% of the councillors are on one side; a vote changed in the last round or after it.";
    assert_eq!((headline.why.as_deref(), headline.answer.as_deref()), (Some(why), Some("Try it first.")));
}

/// A report as plain lines: what a person reads, without its typography.
fn lines(blocks: &[ReportBlock]) -> Vec<String> {
    let lines = blocks.iter().flat_map(|block| match block {
        ReportBlock::Line(line) | ReportBlock::Prose(line) | ReportBlock::Headline(_, line) => {
            vec![line.clone()]
        }
        ReportBlock::Items(items) => items.iter().map(item_line).collect(),
        ReportBlock::Pairs(pairs) => pairs.iter().map(|(name, text)| format!("  {name}: {text}")).collect(),
        ReportBlock::Table(rows) => rows.iter().map(|row| format!("| {} |", row.join(" | "))).collect(),
        ReportBlock::Group { title, blocks, .. } => [vec![format!("{title}:")], lines(blocks)].concat(),
        ReportBlock::In(ReportLength::Short, blocks) => lines(blocks),
        ReportBlock::In(..) => Vec::new(),
        other => panic!("{other:?}"),
    });
    lines.collect()
}

fn item_line(item: &ReportItem) -> String {
    let who = item.who.iter().map(|who| format!("{who}: ")).collect::<String>();
    let note = item.note.iter().map(|note| format!(" [{note}]")).collect::<String>();
    format!("- {who}{}{note}", item.text)
}

/// The short report of a debate.
fn report(debate: &Debate) -> String {
    let outline = view(debate).outline;
    let sections = outline.answer.iter().chain(&outline.body).chain(&outline.details);
    let text =
        sections.map(|section| format!("# {}\n{}\n", section.title, lines(&section.blocks).join("\n")));
    text.collect::<Vec<_>>().join("\n")
}

/// First what a busy person wants, then how it came about, then details.
#[test]
#[allow(clippy::too_many_lines, reason = "a report is as long as it is")]
fn the_report_goes_from_the_verdict_to_every_challenge() {
    let debate = eventful();
    let whole = report(&debate);
    let (start, rest) = whole.split_once("# Challenges answered with disagreement").unwrap();
    let want = r#"# Verdict
PROCEED WITH CONDITIONS
Try it first.
Written by the moderator, who quotes Visionary, Critic, Pragmatist and Innovator for it.
4 votes: 2 PROCEED, 1 PROCEED WITH CONDITIONS, 1 RECONSIDER. Confidence MEDIUM: a challenge got no direct answer; not more than 75% of the councillors are on one side; a vote changed in the last round or after it.

# The votes, and why
- Visionary, PROCEED: A trial, then we see. [Its reason: The load halves. Strongest point of the other side: It costs a month. Remaining concern: Nobody knows the queue.]
- Pragmatist, PROCEED WITH CONDITIONS: A trial, then we see. [Its reason: The load halves. Strongest point of the other side: It costs a month. Remaining concern: Nobody knows the queue.]
- Innovator, PROCEED: A trial, then we see. [Its reason: The load halves. Strongest point of the other side: It costs a month. Remaining concern: Nobody knows the queue.]
- Critic, RECONSIDER: A trial, then we see. [Its reason: We lack the staff. Strongest point of the other side: It costs a month. Remaining concern: Nobody knows the queue.]

# Conditions
With the decision:
- A way back [Pragmatist]

# What only you can tell
- How many users are there?

# How votes and positions moved
| Councillor | Opening | Round 1 | Round 2 | Vote |
| Visionary | PROCEED, MEDIUM | PROCEED, MEDIUM | PROCEED, MEDIUM | PROCEED |
| Critic | RECONSIDER, MEDIUM | RECONSIDER, MEDIUM | RECONSIDER, MEDIUM | RECONSIDER |
| Pragmatist | PROCEED, MEDIUM | PROCEED, MEDIUM | PROCEED, MEDIUM | CONDITIONS |
| Innovator | PROCEED, MEDIUM | PROCEED, MEDIUM, new position | PROCEED, MEDIUM | PROCEED |
- Pragmatist in the vote: The vote is now PROCEED WITH CONDITIONS.
- Innovator in round 1: A short trial. [Its reason: the Critic counted]

# Shared points after round 2
- a trial comes first [Visionary, Critic, Pragmatist (75%)]

"#;
    assert_eq!(start, want);
    let (_, rest) = rest.split_once("# Risks").unwrap();
    let (rest, every) = rest.split_once("\n# Every challenge and its fate\n").unwrap();
    let want = r#"
| Severity | Probability low | Medium | High |
| Critical | 1 | 0 | 0 |
| High | 0 | 0 | 0 |
| Medium | 0 | 0 | 0 |
| Low | 0 | 0 | 0 |
- Severity critical, probability low: Data is lost [Pragmatist. Against it: a backup]

# Challenges evaded, put again or open
| Challenge | Who | Question | Answers | Put again | Outcome |
| [C1] | Visionary to Critic | What does the visionary overlook? | round 1, put again: no stance, evasive | in round 1 | violation: the second answer takes no stance |

# What the moderator did
Round 1, Groupthink: the case against, by Critic:
  Point: a trial comes first
  Shown by: Visionary: "visionary says that the queue is worth a trial"; Critic: "critic says that the queue is worth a trial"; Pragmatist: "pragmatist says that the queue is worth a trial"
  Answer: Critic: Against "a trial comes first": The trial itself could be the trap.
What would need to be true: That a trial cannot be undone.
What would change my mind: A trial that was undone.
Blind spots: We all like new things.
"#;
    assert_eq!(rest, want);
    assert_eq!(every.lines().count(), 21, "the head and 20 challenges");
    assert!(every.contains(
        "| [C2] | Critic to Pragmatist | What does the critic overlook? | round 1: disagree | no | answered |"
    ));
    let view = view(&debate);
    assert_eq!(view.outline.details[0].shown, ReportLength::Full);
    let note = "Its reason: We lack the staff. Voted RECONSIDER; the decision is PROCEED WITH CONDITIONS.";
    let [dissent] = view.dissent.as_slice() else { panic!("{:?}", view.dissent) };
    assert_eq!((dissent.who.as_deref(), dissent.note.as_deref()), (Some("Critic"), Some(note)));
}

#[test]
fn the_short_report_cuts_a_long_list_and_says_how_many_are_left() {
    let debate = eventful();
    let outline = view(&debate).outline;
    let disputed = section(&outline.body, "Challenges answered with disagreement");
    let (ReportBlock::In(ReportLength::Short, short), ReportBlock::In(ReportLength::Full, full)) =
        (&disputed.blocks[0], &disputed.blocks[1])
    else {
        panic!("{disputed:?}")
    };
    assert_eq!(items(short).len(), 6);
    let more = items(full).len() - 6;
    let id = &debate.brief.id;
    assert_eq!(short[1], ReportBlock::Line(format!("And {more} more: `agon export {id}` has them.")));
}

#[test]
fn a_debate_without_a_quorum_has_no_verdict() {
    let lost = run(&[], &|ask, phase, round| (ask.seat == "critic").then(|| plain(ask, phase, round)));
    let view = view(&lost);
    assert_eq!((view.headline.verdict, view.headline.tone), (None, VerdictTone::Warn));
    assert_eq!(view.outline.answer[0].kind, SectionKind::NoAnswer);
    assert_eq!(view.headline.why.as_deref(), Some("Nobody voted."));
    let one = run(&[], &|ask, phase, round| {
        (phase != "verdict" || ask.seat == "critic").then(|| plain(ask, phase, round))
    });
    let why = "1 vote of 4 councillors: 1 PROCEED. That is too few to decide anything.";
    assert_eq!(super::view(&one).headline.why.as_deref(), Some(why));
}

#[test]
fn an_even_split_is_shown_as_divided() {
    let split = run(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| {
            if phase == "verdict" && ["critic", "innovator"].contains(&ask.seat.as_str()) {
                said["vote"] = json!("DO NOT PROCEED");
            }
        })
    });
    let outline = view(&split).outline;
    let word = ReportBlock::Headline(VerdictTone::Warn, "RECONSIDER (divided)".into());
    let meaning = "Not now. Something has to be changed or found out first; then it is decided again.";
    let votes = "4 votes: 2 PROCEED, 2 DO NOT PROCEED. Confidence LOW: an even split is RECONSIDER; not more than 75% of the councillors \
                 are on one side; a vote changed in the last round or after it.";
    let lines = [meaning, votes].map(|line| ReportBlock::Line(line.into()));
    assert_eq!(outline.answer[0].blocks, [&[word], &lines[..]].concat());
}

/// A council about photographs: what three shared after the last round, two of them took apart in the vote. One of the moderator's
/// quotes was made up.
#[test]
fn what_was_shared_is_told_of_its_round() {
    let debate = run(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| match (phase, round, ask.seat.as_str()) {
            ("moderate", 2, _) => {
                said["shared_points"] = super::moderation::shared(&SEATS, false);
                said["shared_points"][0]["members"][3]["quote"] = json!("We keep them back.");
            }
            ("verdict", _, seat @ ("critic" | "visionary")) => {
                said["vote"] = json!("RECONSIDER");
                said["conditions"] = json!([format!("The {seat} counts")]);
                said["risks"] = json!([{"risk": "Data is lost", "severity": "low", "probability": "low"}]);
            }
            ("conclude", _, _) => {
                said["conflicts"] = json!([{"ids": ["D1", "D2"], "why": "Only one can count."}]);
                said["quotes"] = json!([{"councillor": "critic", "quote": "Dragons"}]);
            }
            _ => {}
        })
    });
    let view = view(&debate);
    let shared = section(&view.outline.body, "Shared points after round 2");
    assert_eq!(lines(&shared.blocks), ["- a trial comes first [Visionary, Critic, Pragmatist (75%)]"]);
    let conditions = section(&view.outline.answer, "Conditions");
    let want = [
        "With the decision:",
        "- The visionary counts [Visionary]",
        "- The critic counts [Critic]",
        "Conditions that exclude each other, as the moderator finds:",
        "- Visionary: \"The visionary counts\" / Critic: \"The critic counts\" [Only one can count.]",
    ];
    assert_eq!(lines(&conditions.blocks), want, "an even split is RECONSIDER");
    let uncertain = "Whether it shares \"a trial comes first\" is not known.";
    assert!(warned(debate.outcome.as_ref().unwrap(), uncertain));
    let is_term = |id: &str| id.is_empty() || id.starts_with(['D', 'R']);
    let marked = view.citable.iter().filter(|text| is_term(&text.id));
    let marked: Vec<_> =
        marked.map(|it| (it.id.as_str(), it.seat.as_str(), it.text.as_str(), it.remark)).collect();
    let failed = Some("not counted");
    let want = [
        ("D1", "visionary", "The visionary counts", None),
        ("D2", "critic", "The critic counts", None),
        ("R1", "visionary", "Data is lost", None),
        ("R2", "critic", "Data is lost", None),
        ("", "moderator", "We keep them back.", failed),
        ("", "moderator", "Dragons", failed),
    ];
    assert_eq!(marked, want);
}

#[test]
fn a_running_debate_has_a_report_without_a_verdict() {
    let view = view(&until(&eventful(), 6));
    assert_eq!((view.headline.ending.as_str(), view.headline.decision()), ("", None));
    assert_eq!(view.outline.answer, []);
    assert!(titles(&view.outline.body).contains(&"How votes and positions moved"));
    let unsettled = lines(&section(&view.outline.body, "Challenges evaded, put again or open").blocks);
    assert_eq!(unsettled.len(), 2, "what was asked in round 2 may still be answered: {unsettled:?}");
}

/// Every line says what the log says, of the words of a councillor and of the moderator.
#[test]
fn the_report_says_what_was_said_and_by_whom() {
    let debate = run(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| match (phase, round, ask.seat.as_str()) {
            ("respond", 2, "visionary") => {
                (said["vote"], said["because"]) =
                    (json!("PROCEED WITH CONDITIONS"), json!("It feels wiser."));
            }
            ("moderate", 1, _) => {
                said["shared_points"] = super::moderation::shared(&SEATS[..3], false);
                said["evasions"] =
                    json!([{"challenge_id": "C1", "why": "no deadline", "quote": "measured it twice"}]);
            }
            ("verdict", _, seat) => {
                let vote = if seat == "visionary" { "PROCEED WITH CONDITIONS" } else { "PROCEED" };
                said["vote"] = json!(vote);
                said["conditions"] = json!([format!("A backup for the {seat}")]);
            }
            ("conclude", _, _) => {
                said["merged"] = json!([{"ids": ["D1", "D2"], "text": "A backup"}]);
                let quote = |seat: &str| json!({"councillor": seat, "quote": "A trial, then we see."});
                (said["agreed"], said["quotes"]) = (
                    json!("Try it first."),
                    json!(SEATS[..3].iter().map(|seat| quote(seat)).collect::<Vec<_>>()),
                );
            }
            _ => {}
        })
    });
    let view = view(&debate);
    let outline = &view.outline;
    let line = "Written by the moderator, who quotes Visionary, Critic and Pragmatist for it.";
    assert_eq!(outline.answer[0].blocks[2], ReportBlock::Line(line.into()));
    let conditions = lines(&section(&outline.answer, "Conditions").blocks);
    let merged = "- A backup [Merged by the moderator. Visionary: \"A backup for the visionary\" / Critic: \"A backup for the critic\"]";
    assert_eq!(conditions[..3], ["With the decision:", merged, "- A backup for the pragmatist [Pragmatist]"]);
    let moved = section(&outline.body, "How votes and positions moved");
    let moved = items(&moved.blocks).remove(0);
    assert_eq!(moved.text, "The vote is now PROCEED WITH CONDITIONS.");
    assert!(
        !view.positions.flips()[0].evidenced,
        "the reason names nothing, though the answers conceded something"
    );
    let dispute = section(&outline.body, "Challenges answered with disagreement");
    let ReportBlock::In(_, short) = &dispute.blocks[0] else { panic!("{dispute:?}") };
    let dispute =
        items(short).into_iter().find(|item| item.who.as_deref().unwrap().starts_with("[C5]")).unwrap();
    assert_eq!(dispute.who.as_deref(), Some("[C5] Visionary asks Critic, answered in round 1"));
    let asked = "On \"critic argues from load\": Which figures, asks the visionary?";
    assert_eq!(dispute.text, asked, "the claim may be undisputed, so the question is there");
    let again = lines(&section(&outline.body, "Challenges evaded, put again or open").blocks);
    let row = "| [C1] | Visionary to Critic | What does the visionary overlook? | round 1: disagree, evasive; round 1, put again: modified | in \
               round 1 | answered |";
    assert_eq!(again[1..], [row]);
    let fates: Vec<&str> =
        debate.outcome.as_ref().unwrap().positions.iter().map(|it| it.reason.as_str()).collect();
    assert_eq!(fates[0], "PROCEED became PROCEED WITH CONDITIONS in round 2: It feels wiser.");
    assert_eq!(fates[1], "voted PROCEED; the decision is PROCEED WITH CONDITIONS");
}

/// The conditions of the decision's side come first, the others stand apart.
#[test]
fn conditions_stand_with_the_side_that_makes_them() {
    let (yes, but, not_now, no) = ("PROCEED", "PROCEED WITH CONDITIONS", "RECONSIDER", "DO NOT PROCEED");
    let own = ["a", "b", "c", "d"];
    let (first, others) = ("With the decision:", "Against the decision:");
    for (votes, conditions, want) in [
        (
            [but, not_now, but, but],
            own,
            &[first, "- a [Visionary]", "- c [Pragmatist]", "- d [Innovator]", others, "- b [Critic]"][..],
        ),
        // The same words are a condition for going ahead of one, and for a new vote of the other.
        ([but, not_now, yes, yes], ["a", "A", "", ""], &[first, "- a [Visionary]", others, "- A [Critic]"]),
        (
            [but, not_now, not_now, no],
            ["a", "b", "b", ""],
            &[first, "- b [Critic, Pragmatist]", others, "- a [Visionary]"],
        ),
        // Three are absent from the vote, so that nothing is decided.
        ([but, "", "", ""], own, &["Without a decision:", "- a [Visionary]"]),
    ] {
        let debate = run(&[], &|ask, phase, round| {
            let place = SEATS.iter().position(|seat| *seat == ask.seat);
            let said = with(ask, phase, round, &|said| {
                if let Some(place) = place.filter(|place| phase == "verdict" && !votes[*place].is_empty()) {
                    said["vote"] = json!(votes[place]);
                    said["conditions"] = json!([conditions[place]]);
                }
            });
            said.filter(|_| phase != "verdict" || place.is_some_and(|place| !votes[place].is_empty()))
        });
        let outline = view(&debate).outline;
        assert_eq!(lines(&section(&outline.answer, "Conditions").blocks), want, "{votes:?} {conditions:?}");
    }
}

/// Nobody declares that a dispute stayed: the log shows who answered a challenge with a no, and when, and which points only some share.
#[test]
fn what_was_refused_has_its_round_and_what_few_share_stands_apart() {
    let debate = run(&[], &|ask, phase, round| {
        let said = with(ask, phase, round, &|said| {
            if phase == "moderate" {
                said["shared_points"] = super::moderation::shared(&SEATS[..2], true);
            }
        });
        said.filter(|_| (phase, round, ask.seat.as_str()) != ("respond", 1, "critic"))
    });
    let body = view(&debate).outline.body;
    let refused = section(&body, "Challenges answered with disagreement");
    let ReportBlock::In(ReportLength::Full, full) = &refused.blocks[1] else { panic!("{refused:?}") };
    let who: Vec<String> = items(full).into_iter().filter_map(|item| item.who).collect();
    assert_eq!(who[0], "[C1] Visionary asks Critic, answered in round 2", "absent in round 1");
    assert_eq!(who[1], "[C2] Critic asks Pragmatist, answered in round 1");
    let few = items(&section(&body, "Shared points after round 2").blocks);
    let note = "Visionary, Critic: visionary says that the queue is worth a trial / critic says that the queue is worth a trial / Innovator: What does the innovator overlook?";
    assert_eq!(
        (few.len(), few[0].text.as_str(), few[0].note.as_deref()),
        (1, "a trial comes first", Some(note))
    );
}

/// The conditions of a real council about a maternity ward, with one councillor against. Who asked for what stays visible, and what
/// somebody wants before a new vote stays there, whatever the moderator merges.
#[test]
fn a_merge_puts_no_words_into_a_mouth_and_moves_nothing_to_the_other_side() {
    let conditions = |seat: &str| match seat {
        "visionary" => json!(["The emergency department is trained for births"]),
        "critic" => {
            json!(["The duty rota of the last twelve months is published", "The results are compared"])
        }
        "pragmatist" => json!(["The emergency department has completed training and rehearses every month"]),
        _ => json!(["Der Dienstplan der letzten zw\u{f6}lf Monate ist offengelegt"]),
    };
    let debate = run(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| match (phase, ask.seat.as_str()) {
            ("opening" | "respond", "critic") => said["vote"] = json!("DO NOT PROCEED"),
            ("verdict", seat) => {
                said["conditions"] = conditions(seat);
                said["vote"] = json!(if seat == "critic" { "RECONSIDER" } else { "PROCEED WITH CONDITIONS" });
                if seat == "critic" {
                    said["because"] = json!("[C12] and [M1]: a bad rota would end my argument.");
                }
            }
            ("conclude", _) => {
                said["merged"] = json!([
                    {"ids": ["D1", "D4"], "text": "The emergency department has completed training and rehearses every month"},
                    {"ids": ["D2", "D5"], "text": "The duty rota of the last twelve months is published"},
                ]);
            }
            _ => {}
        })
    });
    let view = view(&debate);
    let trained = "- The emergency department has completed training and rehearses every month [Merged by the moderator. \
                   Visionary: \"The emergency department is trained for births\" / Pragmatist: \"The emergency department has \
                   completed training and rehearses every month\"]";
    let want = [
        "With the decision:",
        trained,
        "- Der Dienstplan der letzten zw\u{f6}lf Monate ist offengelegt [Innovator]",
        "Against the decision:",
        "- The duty rota of the last twelve months is published [Critic]",
        "- The results are compared [Critic]",
    ];
    assert_eq!(lines(&section(&view.outline.answer, "Conditions").blocks), want);
    assert!(warned(debate.outcome.as_ref().unwrap(), "`merged` cannot join D2, D5"));
    let moved = items(&section(&view.outline.body, "How votes and positions moved").blocks);
    let late = moved.iter().find(|item| item.who.as_deref() == Some("Critic in the vote")).unwrap();
    let note = "Its reason: [C12] and [M1]: a bad rota would end my argument.";
    assert_eq!((late.text.as_str(), late.note.as_deref()), ("The vote is now RECONSIDER.", Some(note)));
    let flips = view.positions.flips();
    let last = flips.iter().find(|flip| flip.seat == "critic").unwrap();
    assert_eq!(last.cited, ["[C12]", "[M1]"], "what the reason in the vote names");
    let why = view.headline.why.unwrap();
    let caps = "Confidence MEDIUM: not more than 75% of the councillors are on one side; a vote changed in the last round or after it.";
    assert!(why.ends_with(caps), "{why}");
}
