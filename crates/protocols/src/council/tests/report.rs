//! The headline, the report, the ballots and the dissent.

use agon_core::{
    ReportBlock, ReportItem, ReportLength, ReportSection, SectionFold, SectionKind, VerdictTone,
};

use super::*;

/// A debate with an evasion, groupthink, a message, a changed position, conditions, a risk, and a vote against.
fn eventful() -> Debate {
    run(&[], &|ask, phase, round| {
        with(ask, phase, round, &|said| match (phase, round, ask.seat.as_str()) {
            ("challenge", 1, "visionary") => {
                said["messages"] = json!([{"to": "critic", "topic": "the load", "text": "Which load?"}]);
            }
            ("challenge", 1, "critic") => said["responses"] = json!([]),
            ("challenge", 1, "innovator") => {
                said["changed"] = json!(true);
                said["because"] = json!("the Critic counted");
                said["position"] = json!("No queue for now.");
            }
            ("moderate", 1, _) => {
                said["shared_points"] = json!([{"point": "the queue is worth a trial", "councillors": SEATS[..3], "challenged": false}]);
            }
            ("intervene", 1, "critic") if said.get("stance").is_some() => said["stance"] = Value::Null,
            ("verdict", _, "critic") => said["vote"] = json!("RECONSIDER"),
            ("verdict", _, "pragmatist") => {
                said["vote"] = json!("PROCEED WITH CONDITIONS");
                said["conditions"] = json!(["A way back"]);
                said["risks"] = json!([{"risk": "Data is lost", "severity": "critical", "probability": "low", "mitigation": "a backup"}]);
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
    assert_eq!((headline.tone, headline.ending.as_str()), (VerdictTone::Warn, "All 2 rounds are complete."));
    let why = "4 votes: 2 PROCEED, 1 PROCEED WITH CONDITIONS, 1 RECONSIDER. Confidence MEDIUM.";
    assert_eq!(headline.why.as_deref(), Some(why));
}

#[test]
fn the_report_goes_from_the_verdict_to_every_challenge() {
    let outline = view(&eventful()).outline;
    assert_eq!(titles(&outline.answer), ["Verdict"]);
    assert_eq!(outline.answer[0].kind, SectionKind::Answer);
    assert_eq!(
        titles(&outline.body),
        [
            "Votes",
            "Conditions",
            "The minority's opinion",
            "How positions moved",
            "What they agree on",
            "Where they still disagree",
            "Who evaded a challenge",
            "What the moderator did",
            "Risks",
            "Open questions",
        ]
    );
    assert_eq!(titles(&outline.details), ["Every challenge and its fate", "Messages between councillors"]);
    for section in &outline.details {
        assert_eq!(
            (section.fold, section.shown),
            (SectionFold::Closed, ReportLength::Full),
            "{}",
            section.title
        );
    }
    let ReportBlock::Table(moved) = &section(&outline.body, "How positions moved").blocks[0] else {
        panic!()
    };
    assert_eq!(moved[0], ["Councillor", "Opening", "Round 1", "Round 2", "Vote"]);
    assert_eq!(moved[4], ["Innovator", "MEDIUM", "MEDIUM, changed", "MEDIUM", "PROCEED"]);
    let evaded = items(&section(&outline.body, "Who evaded a challenge").blocks);
    assert_eq!(evaded[0].who.as_deref(), Some("Critic on [C1], round 1"));
    assert_eq!(evaded[0].note.as_deref(), Some("Put again, its answer takes no stance"));
    let agreed = items(&section(&outline.body, "What they agree on").blocks);
    assert_eq!(agreed[0].note.as_deref(), Some("Visionary, Critic, Pragmatist (75%); challenged and held"));
    let risks = items(&section(&outline.body, "Risks").blocks);
    assert_eq!(risks[0].who.as_deref(), Some("Critical, unlikely"));
    assert_eq!(risks[0].note.as_deref(), Some("Pragmatist. Against it: a backup"));
}

#[test]
fn the_short_report_cuts_a_long_list_and_says_how_many_are_left() {
    let outline = view(&eventful()).outline;
    let open = section(&outline.body, "Open questions");
    let shared = ReportBlock::Line("Asked in round 2, the last one that was held.".into());
    assert_eq!((&open.blocks[0], open.fold), (&shared, SectionFold::Closed));
    let (ReportBlock::In(ReportLength::Short, short), ReportBlock::In(ReportLength::Full, full)) =
        (&open.blocks[1], &open.blocks[2])
    else {
        panic!("{open:?}")
    };
    assert_eq!((items(short).len(), items(full).len()), (6, 8));
    assert_eq!(short[1], ReportBlock::Line("And 2 more: the full report has them.".into()));
}

#[test]
fn the_minority_and_the_dissent_have_the_final_positions() {
    let debate = eventful();
    let view = view(&debate);
    let minority = items(&section(&view.outline.body, "The minority's opinion").blocks);
    assert_eq!(minority[0].who.as_deref(), Some("Critic (RECONSIDER)"));
    let opened = "The load halves. Opened with: The critic says that the queue is worth a trial.";
    assert_eq!(minority[0].note.as_deref(), Some(opened));
    assert_eq!(view.dissent.len(), 1);
    assert_eq!(view.dissent[0].who.as_deref(), Some("critic"));
    assert_eq!(view.dissent[0].text, "A trial, then we see.");
}

#[test]
fn a_debate_without_a_quorum_has_no_verdict() {
    let lost = run(&[], &|ask, phase, round| (ask.seat == "critic").then(|| plain(ask, phase, round)));
    let view = view(&lost);
    assert_eq!((view.headline.verdict, view.headline.tone), (None, VerdictTone::Warn));
    assert_eq!(view.outline.answer[0].kind, SectionKind::NoAnswer);
    let why = "Fewer than two councillors were left, so there was no vote.";
    assert_eq!(view.headline.why.as_deref(), Some(why));
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
    assert_eq!(outline.answer[0].blocks[0], word);
    assert!(titles(&outline.body).contains(&"The other half's opinion"));
}

#[test]
fn a_running_debate_has_a_report_without_a_verdict() {
    let mut debate = eventful();
    debate.turns.truncate(5);
    debate.outcome = None;
    let view = view(&debate);
    assert_eq!((view.headline.ending.as_str(), view.headline.decision()), ("", None));
    assert_eq!(view.outline.answer, []);
    let shown = titles(&view.outline.body);
    assert!(shown.contains(&"How positions moved") && !shown.contains(&"Open questions"), "{shown:?}");
    let ballots: Vec<(&str, bool)> = view.ballots.iter().map(|b| (b.seat.as_str(), b.stands_alone)).collect();
    assert_eq!(ballots, SEATS.map(|seat| (seat, false)), "the openings' texts");
}
