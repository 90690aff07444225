//! What readers see: the headline, the sections and their order.

use agon_core::{Outline, ReportBlock, ReportLength, ReportSection, SectionFold, SectionKind, VerdictTone};

use super::*;

fn view(scores: [&[f64]; 3], with: &dyn Fn(&Ask, u32, &mut Value)) -> DebateView {
    let debate = run_brief(brief(MODELS, &[]), &|ask, _, round| {
        let mut said = plain(scores[place(ask)], round);
        with(ask, round, &mut said);
        Some(said)
    });
    Panel.view(&debate).unwrap()
}

fn titles(sections: &[ReportSection]) -> Vec<&str> {
    sections.iter().map(|section| section.title.as_str()).collect()
}

fn find<'a>(outline: &'a Outline, title: &str) -> &'a ReportSection {
    let mut sections = outline.answer.iter().chain(&outline.body).chain(&outline.details);
    sections
        .find(|section| section.title == title)
        .unwrap_or_else(|| panic!("no section {title}: {outline:?}"))
}

/// The texts of a list, each with its owner and its note.
fn items(section: &ReportSection) -> Vec<String> {
    let lists = section.blocks.iter().filter_map(|block| match block {
        ReportBlock::Items(items) => Some(items),
        _ => None,
    });
    let told = |item: &agon_core::ReportItem| {
        let (who, note) = (item.who.as_deref().unwrap_or("-"), item.note.as_deref().unwrap_or("-"));
        format!("{who} | {} | {note}", item.text)
    };
    lists.flatten().map(told).collect()
}

fn lines(section: &ReportSection) -> Vec<&str> {
    let blocks = section.blocks.iter();
    blocks
        .filter_map(|block| match block {
            ReportBlock::Line(line) | ReportBlock::Headline(_, line) => Some(line.as_str()),
            _ => None,
        })
        .collect()
}

/// "the verdict with the minority's opinion as visible as the majority's".
#[test]
fn a_majority_reads_from_the_verdict_to_the_figures() {
    let view = view([&[3.5, 3.8, 4.0], &[4.5, 4.5, 4.3], &[2.0, 2.2]], &|ask, round, said| {
        if (round, place(ask)) == (1, 2) {
            said["critical_findings"] =
                json!([{"finding": "no rollback", "severity": "CRITICAL", "evidence": "line 3"}]);
        }
        if (round, place(ask)) == (2, 2) {
            said["unresolved_disputes"] = json!([{"topic": "who pays", "my_view": "nobody"}]);
        }
    });
    let outline = &view.outline;
    assert_eq!(titles(&outline.answer), ["Verdict"]);
    assert_eq!(
        titles(&outline.body),
        [
            "Critical findings",
            "Scores",
            "The majority's opinion",
            "The minority's opinion",
            "What needs your attention",
            "Recommendations"
        ]
    );
    assert_eq!(
        titles(&outline.details),
        ["By dimension", "Where the judges differ", "Whose score changed", "The debate in figures"]
    );
    assert_eq!(
        lines(&outline.answer[0]),
        [
            "YELLOW",
            "A majority of 2 of 3 judges gives 4.15 of 5, the minority 2.2: 1.95 apart. Confidence MEDIUM. Weighted score 3.5."
        ]
    );
    assert_eq!(
        items(find(outline, "Critical findings")),
        ["[F1] | no rollback | Open: held by judge-3, not by all; raised by judge-3. Evidence: line 3"]
    );
    assert_eq!(
        items(find(outline, "The minority's opinion")),
        ["judge-3 (against, 2.2) | In the end 2.2. | -"]
    );
    for title in ["The majority's opinion", "The minority's opinion"] {
        assert_eq!(find(outline, title).fold, SectionFold::Never, "{title}");
    }
    assert_eq!(find(outline, "By dimension").fold, SectionFold::Closed);
    let ranges = lines(find(outline, "Scores"));
    assert_eq!(ranges, ["The range of the scores by round: it shrank. Consensus needs 0.5 or less."]);
    assert_eq!(
        lines(find(outline, "The debate in figures"))[0],
        "0 agreements formed, 0 disputes resolved, 0 remaining; 9 judge calls, $0.0900."
    );
    assert_eq!(
        items(find(outline, "Whose score changed"))[0],
        "judge-1 | +0.3 in round 2: judge-2 is right about line 3 | -"
    );
    let ReportBlock::Group { title, badges, .. } = &find(outline, "What needs your attention").blocks[1]
    else {
        panic!()
    };
    assert_eq!((title.as_str(), badges[0].as_str()), ("who pays", "(as of round 2, not taken up again)"));

    let headline = &view.headline;
    assert_eq!((headline.verdict.as_deref(), headline.score), (Some("YELLOW"), Some(4.15)));
    assert_eq!(headline.tone, VerdictTone::Warn);
    assert_eq!(headline.ending, "A majority after 3 rounds, not a consensus.");
    assert_eq!(view.dissent.len(), 1);
    assert_eq!(view.dissent[0].text, "In the end 2.2.");
    let ballots: Vec<&str> = view.ballots.iter().map(|ballot| ballot.answer.as_str()).collect();
    assert_eq!(ballots, ["3.5", "4.5", "2"]);
}

/// The full report lists every difference; the short one leaves out what stands above.
#[test]
fn the_short_report_does_not_repeat_itself() {
    let open = |ask: &Ask, round: u32, said: &mut Value| {
        if (round, place(ask)) == (2, 0) {
            said["disagreements"] = json!([{"with_judge": "judge-3", "on_point": "nine weeks are enough"}]);
        }
    };
    let view = view([&[4.0], &[4.5], &[2.0]], &open);
    let [full, short] = [ReportLength::Full, ReportLength::Short].map(|length| {
        let mut details = view.outline.details.iter();
        let section = details.find(|s| s.title == "Where the judges differ" && s.shown == length).unwrap();
        items(section)
    });
    assert_eq!(full.len(), 6, "five dimensions and an issue: {full:?}");
    assert_eq!(
        full[0],
        "- | Problem understanding: the judges are between 2 and 4.5 | Medium, action required; all judges"
    );
    assert_eq!(
        short,
        ["- | nine weeks are enough | Medium; judge-1, judge-3; as of round 2, not taken up again"]
    );
}

/// "One that all hold ... the finding leads the report", and no GREEN is good news under it.
#[test]
fn a_finding_that_all_hold_leads_the_report_at_any_score() {
    let view = view([&[4.5], &[4.6], &[4.4]], &|_, _, said| {
        said["critical_findings"] =
            json!([{"finding": "no rollback", "severity": "CRITICAL", "evidence": "line 3"}]);
    });
    assert_eq!(titles(&view.outline.answer), ["Critical findings", "Verdict"]);
    assert_eq!(
        lines(&view.outline.answer[0]),
        ["CRITICAL", "All 3 judges hold this critical finding, whatever the scores say. Action is required."]
    );
    assert_eq!(
        items(&view.outline.answer[0]),
        ["[F1] | no rollback | Raised by judge-1, judge-2, judge-3. Evidence: line 3"]
    );
    assert_eq!(
        lines(&view.outline.answer[1]),
        [
            "GREEN",
            "Consensus of 3 judges: 4.5 of 5, all between 4.4 and 4.6. Confidence HIGH. Weighted score 4.5. What is critical must be resolved first."
        ]
    );
    assert_eq!(view.headline.tone, VerdictTone::Warn);
    assert!(titles(&view.outline.body).contains(&"What the judges say"));
}

/// A tie has no band, and a debate without a verdict says why.
#[test]
fn the_report_never_guesses_a_verdict() {
    let tie = view([&[3.0], &[4.0], &[5.0]], &|_, _, _| {});
    assert_eq!(tie.headline.verdict.as_deref(), Some("NO MAJORITY"));
    assert_eq!(
        lines(&tie.outline.answer[0])[1],
        "No majority: of the scores 3, 4, 5 no group is nearer together than another. Confidence LOW. Weighted score 4, which would be GREEN."
    );
    let lost =
        run_brief(brief(MODELS, &[]), &|ask, _, round| (place(ask) == 0).then(|| plain(&[4.0], round)));
    let lost = Panel.view(&lost).unwrap();
    assert_eq!(
        lines(&lost.outline.answer[0]),
        ["No verdict", "There is no verdict, because fewer than two judges were left."]
    );
    assert_eq!((lost.headline.verdict, lost.outline.answer[0].kind), (None, SectionKind::NoAnswer));
}

/// A debate that is not over has the scores so far and no verdict.
#[test]
fn a_debate_that_is_not_over_has_an_outline() {
    let (records, _) = testing::run(&Panel, brief(MODELS, &[]), &|ask, _, round| {
        Some(plain([&[2.0][..], &[3.0], &[5.0]][place(ask)], round))
    });
    for length in 1..records.len() {
        let debate = Debate::from_records(&records[..length]).unwrap();
        let view = Panel.view(&debate).unwrap();
        assert_eq!(
            (view.headline.verdict, view.headline.why, view.headline.ending.as_str()),
            (None, None, "")
        );
        assert_eq!(lines(&view.outline.answer[0])[1], "There is no verdict yet.");
        let judges = debate.turns.first().map_or(0, |turn| turn.settled().count());
        assert_eq!(titles(&view.outline.body).contains(&"Scores"), judges > 0);
    }
}
