//! What readers see of a review: headline, outline, round tables, and the gate for a pipeline.

use agon_core::view::ending_sentence;
use agon_core::wording::{heading, spoken};
use agon_core::{
    Ballot, Corrupt, DebateView, GateFinding, GateJudge, GateReport, GateRuling, GateSeverity, Headline,
    Outline, ReportBlock, ReportItem, ReportLength, ReportSection, RoundSummary, SectionKind, Status,
    VerdictTone,
};
use serde::Deserialize;

use super::log::{ReviewJudge, ReviewLog};
use super::replies::{
    BrainstormAnswer, FindingSeverity, JudgeFinding, JudgeVerdict, ResearchAnswer, SecondVerdict,
};
use super::verdict::{
    self, JudgeRecord, JudgedResult, ReviewBranch, ReviewFinding, ReviewResult, ReviewRuling, ReviewVerdict,
    VerdictShift,
};
use super::{ReviewFailOn, ReviewMode, ReviewPhase, positions, records};

/// One reading of the log for every face.
pub(super) fn view(log: &ReviewLog<'_>) -> Result<DebateView, Corrupt> {
    let verdict = verdict::verdict(log);
    let judged = match &verdict.result {
        ReviewResult::Judged(judged) => Some(judged),
        ReviewResult::Answered { .. } => None,
    };
    let ballot = |judge: &ReviewJudge<'_>| {
        let answer = judge.first.as_ref()?.verdict.as_str().to_owned();
        Some(Ballot { seat: judge.seat.id.clone(), answer, stands_alone: true })
    };
    let dissent = verdict::final_dissent(log).into_iter().map(|dissent| ReportItem {
        who: Some(dissent.seat),
        text: dissent.position,
        note: Some(dissent.reason),
    });
    let gate = judged.map(|judged| gate_report(log, &verdict, judged));
    let outline = match (judged, &gate) {
        (Some(judged), Some(gate)) => judged_outline(log, judged, gate),
        _ => Outline { answer: answers(log)?, ..Outline::default() },
    };
    let is_over = log.debate.outcome.is_some();
    Ok(DebateView {
        votes: Vec::new(),
        headline: headline(log, gate.as_ref()),
        outline: Outline { footer: is_over.then(|| footer(&verdict)), ..outline },
        positions: positions::positions(log),
        ballots: log.judges.iter().filter_map(ballot).collect(),
        dissent: dissent.collect(),
        round_summaries: [1, 2].into_iter().filter_map(|round| round_summary(log, round)).collect(),
        records: records::records(log),
        checks: Vec::new(),
        gate,
    })
}

fn headline(log: &ReviewLog<'_>, gate: Option<&GateReport>) -> Headline {
    let outcome = log.debate.outcome.as_ref();
    Headline {
        verdict: gate.and_then(|gate| gate.verdict.clone()),
        why: gate.map(|gate| gate.meaning.clone()),
        tone: gate.map_or(VerdictTone::Good, |gate| tone(gate.ruling)),
        ending: outcome.map(|outcome| ending_sentence(outcome, "judges")).unwrap_or_default(),
        ..Headline::default()
    }
}

fn tone(ruling: GateRuling) -> VerdictTone {
    match ruling {
        GateRuling::Passed => VerdictTone::Good,
        GateRuling::Warned | GateRuling::Missing => VerdictTone::Warn,
        GateRuling::Blocked => VerdictTone::Bad,
    }
}

fn footer(verdict: &ReviewVerdict) -> ReportSection {
    part("Who was heard", vec![ReportBlock::Line(verdict.footer.clone())])
}

fn part(title: &str, blocks: Vec<ReportBlock>) -> ReportSection {
    ReportSection::new(SectionKind::Part, title, blocks)
}

fn group(title: &str, blocks: Vec<ReportBlock>) -> ReportBlock {
    ReportBlock::Group { title: title.to_owned(), badges: Vec::new(), blocks }
}

fn judged_outline(log: &ReviewLog<'_>, judged: &JudgedResult, gate: &GateReport) -> Outline {
    let kind = if gate.ruling == GateRuling::Passed { SectionKind::Answer } else { SectionKind::NoAnswer };
    let word = gate.verdict.clone().unwrap_or_else(|| "No verdict".into());
    let blocks =
        vec![ReportBlock::Headline(tone(gate.ruling), word), ReportBlock::Line(gate.meaning.clone())];
    let mut body = Vec::new();
    if gate.verdict.as_deref() == Some(ReviewRuling::Disagree.as_str()) {
        body.push(vendor_table(log, judged));
    }
    body.push(judge_table(log, judged));
    body.extend(shift_table(judged));
    let details = [finding_list(judged), recommendation_list(judged), exchange_list(log)];
    Outline {
        answer: vec![ReportSection::new(kind, "Verdict", blocks)],
        body,
        details: details.into_iter().flatten().collect(),
        ..Outline::default()
    }
}

/// Where the vendors disagree: the result of each, its judges, and what they say, side by side.
fn vendor_table(log: &ReviewLog<'_>, judged: &JudgedResult) -> ReportSection {
    let row = |title: &str, told: &dyn Fn(&ReviewJudge<'_>) -> Option<String>| {
        let cell = |vendor: &str| {
            let judges = log.judges.iter().filter(|judge| judge.vendor == vendor);
            let cells = judges.filter_map(|judge| {
                let (text, verdict) = (told(judge)?, judge.counted()?.verdict.as_str());
                Some(format!("{} ({verdict}): {text}", judge.seat.id))
            });
            cells.collect::<Vec<_>>().join(" ")
        };
        let cells = judged.vendors.iter().map(|side| cell(&side.vendor));
        std::iter::once(title.to_owned()).chain(cells).collect::<Vec<_>>()
    };
    let side = |title: &str, cells: Vec<&str>| {
        std::iter::once(title).chain(cells).map(str::to_owned).collect::<Vec<_>>()
    };
    let rows = vec![
        side("", judged.vendors.iter().map(|side| side.vendor.as_str()).collect()),
        side("Verdict", judged.vendors.iter().map(|side| side.verdict.as_str()).collect()),
        row("Because", &|judge| non_empty(judge.counted()?.key_insight)),
        row("Advice", &|judge| non_empty(judge.counted()?.recommendation)),
    ];
    ReportSection::new(SectionKind::Dissent, "You decide", vec![ReportBlock::Table(rows)])
}

/// The verdicts as a table. A whole sentence does not fit a cell, so what each judge saw stands below it.
fn judge_table(log: &ReviewLog<'_>, judged: &JudgedResult) -> ReportSection {
    // A judge is usually called by its perspective; the column is only shown where it says something else.
    let is_other = |record: &JudgeRecord| record.perspective.as_ref().is_some_and(|own| *own != record.judge);
    let has_perspectives = judged.judges.iter().any(is_other);
    let columns = |cells: [&str; 7]| {
        let shown = [true, has_perspectives, true, true, judged.debate, true, true];
        let cells = cells.into_iter().zip(shown).filter(|(_, shown)| *shown);
        cells.map(|(cell, _)| cell.to_owned()).collect::<Vec<_>>()
    };
    let mut rows = vec![columns(["Judge", "Perspective", "Vendor", "R1", "R2", "Confidence", "Counts"])];
    let mut items = Vec::new();
    for (judge, record) in log.judges.iter().zip(&judged.judges) {
        let counted = judge.counted();
        let second = match (&judge.first, &judge.second) {
            (_, Some((second, _))) => second.verdict.as_str(),
            (_, None) if judge.mixed => "not asked",
            (Some(_), None) => "none",
            (None, None) => "",
        };
        let counts =
            counted.map(|counted| format!("{} (R{})", counted.verdict.as_str(), counted.round as u8));
        rows.push(columns([
            &record.judge,
            record.perspective.as_deref().unwrap_or_default(),
            &record.vendor,
            judge.first.as_ref().map_or("absent", |first| first.verdict.as_str()),
            second,
            counted.map_or("", |counted| counted.confidence.as_str()),
            counts.as_deref().unwrap_or("nothing"),
        ]));
        let insight = counted.and_then(|counted| non_empty(counted.key_insight));
        let (text, note) = match insight {
            Some(insight) => (Some(insight), record.note.clone()),
            None => (record.note.clone(), None),
        };
        items.extend(text.map(|text| ReportItem { who: Some(record.judge.clone()), text, note }));
    }
    let mut blocks = vec![ReportBlock::Table(rows)];
    if !items.is_empty() {
        blocks.push(ReportBlock::Items(items));
    }
    part("The judges", blocks)
}

/// Who changed, and on what evidence.
fn shift_table(judged: &JudgedResult) -> Option<ReportSection> {
    let mut rows = vec![["Judge", "R1", "R2", "Because"].map(str::to_owned).to_vec()];
    for shift in &judged.shifts {
        let cells = [&shift.judge, shift.r1.as_str(), shift.r2.as_str(), &shift_reason(shift)];
        rows.push(cells.map(str::to_owned).to_vec());
    }
    let mut blocks = vec![ReportBlock::Table(rows)];
    blocks.extend(judged.branch.map(|branch| {
        ReportBlock::Line(match branch {
            ReviewBranch::Agreed => "Round 1 was unanimous.".into(),
            ReviewBranch::Disagreed => "Round 1 was split.".into(),
        })
    }));
    (!judged.shifts.is_empty()).then(|| part("Verdict shifts", blocks))
}

fn shift_reason(shift: &VerdictShift) -> String {
    match &shift.because {
        _ if shift.reverted => "WEAK FLIP: no evidence for the change; reverted, R1 counts".into(),
        _ if shift.weak_flip => "WEAK FLIP: no evidence for the change".into(),
        _ if !shift.changed => "kept".into(),
        Some(reason) => format!("{}: {}", spoken(reason.kind.as_str()), reason.citation.trim()),
        None => "changed".into(),
    }
}

fn finding_list(judged: &JudgedResult) -> Option<ReportSection> {
    let severities = [FindingSeverity::Critical, FindingSeverity::Significant, FindingSeverity::Minor];
    let findings = |severity: FindingSeverity| {
        let mut found: Vec<&ReviewFinding> =
            judged.findings.iter().filter(|found| found.finding.severity == severity).collect();
        found.sort_by_key(|found| found.dropped);
        let items = ReportBlock::Items(found.iter().map(|finding| finding_item(finding)).collect());
        (!found.is_empty()).then(|| group(&heading(severity.as_str()), vec![items]))
    };
    let groups: Vec<ReportBlock> = severities.into_iter().filter_map(findings).collect();
    (!groups.is_empty()).then(|| part("Findings", groups))
}

fn finding_item(found: &ReviewFinding) -> ReportItem {
    let finding = &found.finding;
    let place = finding.location.as_ref().or(found.file.as_ref());
    let place: Vec<&str> = place.into_iter().chain(&finding.category).map(|text| text.trim()).collect();
    let rounds: Vec<String> = found.rounds.iter().map(|round| format!("R{round}")).collect();
    let mut note: Vec<String> = Vec::new();
    if !place.is_empty() {
        note.push(format!("{}.", place.join(", ")));
    }
    note.push(format!("Found by {} ({}).", found.judges.join(", "), rounds.join(", ")));
    if found.dropped {
        note.push(format!("Dropped in round 2 by {}.", found.dropped_by.join(", ")));
    }
    note.extend(
        finding.recommendation.as_deref().and_then(non_empty).map(|advice| format!("Advice: {advice}")),
    );
    let dropped = if found.dropped { " (dropped)" } else { "" };
    ReportItem {
        who: Some(format!("{}{dropped}", found.id)),
        text: finding.description.trim().to_owned(),
        note: Some(note.join(" ")),
    }
}

fn recommendation_list(judged: &JudgedResult) -> Option<ReportSection> {
    let items = judged.recommendations.iter().map(|advice| ReportItem {
        who: Some(advice.judge.clone()),
        text: advice.recommendation.clone(),
        note: None,
    });
    let items = ReportBlock::Items(items.collect());
    (!judged.recommendations.is_empty()).then(|| part("Recommendations", vec![items]))
}

/// What the judges said to each other in round 2.
fn exchange_list(log: &ReviewLog<'_>) -> Option<ReportSection> {
    let exchanges = log.judges.iter().filter_map(|judge| Some((judge, &judge.second.as_ref()?.0)));
    let groups: Vec<ReportBlock> =
        exchanges.map(|(judge, second)| group(&judge.seat.id, exchange(second))).collect();
    let section =
        |groups| part("How the judges answered each other", groups).folded().only(ReportLength::Full);
    (!groups.is_empty()).then(|| section(groups))
}

fn exchange(second: &SecondVerdict) -> Vec<ReportBlock> {
    let challenges = second.challenges.iter().map(|said| ReportItem {
        who: Some(said.judge.clone()),
        text: said.claim.clone(),
        note: non_empty(&said.response),
    });
    let accepted = second.acknowledgments.iter().map(|said| ReportItem {
        who: Some(said.judge.clone()),
        text: said.point.clone(),
        note: None,
    });
    let blocks = [
        titled_words("Where it stood", &second.restatement),
        titled_words("The other side at its best", &second.steel_man),
        titled_items("Challenges", challenges.collect()),
        titled_items("Acknowledgments", accepted.collect()),
    ];
    blocks.into_iter().flatten().collect()
}

fn titled_words(title: &str, text: &str) -> Option<ReportBlock> {
    non_empty(text).map(|text| group(title, vec![ReportBlock::Prose(text)]))
}

fn titled_items(title: &str, items: Vec<ReportItem>) -> Option<ReportBlock> {
    (!items.is_empty()).then(|| group(title, vec![ReportBlock::Items(items)]))
}

fn non_empty(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// In the modes without verdicts: what each judge answered.
fn answers(log: &ReviewLog<'_>) -> Result<Vec<ReportSection>, Corrupt> {
    let mut groups = Vec::new();
    for judge in &log.judges {
        let Some(answer) = judge.answer else { continue };
        let blocks = match log.options.mode {
            ReviewMode::Validate => continue,
            ReviewMode::Brainstorm => brainstorm_blocks(BrainstormAnswer::deserialize(answer)?),
            ReviewMode::Research => research_blocks(ResearchAnswer::deserialize(answer)?),
        };
        groups.push(group(&judge.seat.id, blocks.into_iter().flatten().collect()));
    }
    let title = heading(log.options.mode.as_str());
    let section = |groups| ReportSection::new(SectionKind::Answer, title, groups);
    Ok(if groups.is_empty() { Vec::new() } else { vec![section(groups)] })
}

fn brainstorm_blocks(answer: BrainstormAnswer) -> Vec<Option<ReportBlock>> {
    let ideas = answer.ideas.into_iter().map(|idea| {
        let upside = non_empty(&idea.upside).map(|upside| format!("Upside: {upside}"));
        let risk = non_empty(&idea.risk).map(|risk| format!("Risk: {risk}"));
        let notes: Vec<String> = upside.into_iter().chain(risk).collect();
        ReportItem { who: None, text: idea.idea, note: non_empty(&notes.join(" ")) }
    });
    vec![
        titled_words("Key insight", &answer.key_insight),
        titled_items("Ideas", ideas.collect()),
        titled_words("Recommendation", &answer.recommendation),
    ]
}

fn research_blocks(answer: ResearchAnswer) -> Vec<Option<ReportBlock>> {
    let facts = answer.facts.into_iter().map(|fact| {
        let evidence = non_empty(&fact.evidence).map(|evidence| format!("Evidence: {evidence} "));
        let note = format!("{}Confidence: {}", evidence.unwrap_or_default(), fact.confidence.as_str());
        ReportItem { who: None, text: fact.claim, note: Some(note) }
    });
    vec![
        titled_words("Key insight", &answer.key_insight),
        titled_items("Facts", facts.collect()),
        titled_items("Open questions", answer.open_questions.into_iter().map(ReportItem::text).collect()),
        titled_words("Recommendation", &answer.recommendation),
    ]
}

/// The table that is printed when round 1 or round 2 is over.
fn round_summary(log: &ReviewLog<'_>, round: u32) -> Option<RoundSummary> {
    let phase = if round == 1 { ReviewPhase::FirstVerdict } else { ReviewPhase::SecondVerdict };
    let place = log.debate.turns.iter().position(|turn| turn.phase.name == phase.as_str())?;
    let is_open = log.debate.turns.get(place)?.outstanding().next().is_some();
    if is_open || !log.options.is_validation() {
        return None;
    }
    let mut rows = vec![["Judge", "Verdict", "Confidence", "Key insight"].map(String::from).to_vec()];
    for judge in &log.judges {
        let cells = if round == 1 { first_cells(judge) } else { second_cells(log, judge) };
        rows.push(std::iter::once(judge.seat.id.clone()).chain(cells).collect());
    }
    let ruling = if round == 1 { verdict::first_ruling(log) } else { verdict::ruling(log) };
    let ruling = ruling.map_or("no verdict", ReviewRuling::as_str);
    let so_far = if round == 1 && log.has_second_round() { " so far" } else { "" };
    let title = format!("Round {round}: {ruling}{so_far}");
    Some(RoundSummary { after_phases: place + 1, title, rows, notes: Vec::new() })
}

fn first_cells(judge: &ReviewJudge<'_>) -> [String; 3] {
    match &judge.first {
        Some(first) => {
            [first.verdict.as_str(), first.confidence.as_str(), &first.key_insight].map(str::to_owned)
        }
        None => ["absent", "-", ""].map(str::to_owned),
    }
}

fn second_cells(log: &ReviewLog<'_>, judge: &ReviewJudge<'_>) -> [String; 3] {
    let Some(first) = &judge.first else { return first_cells(judge) };
    let before = first.verdict.as_str();
    let Some((second, _)) = &judge.second else {
        return [format!("{before} (R1)"), "-".into(), verdict::note(log, judge).unwrap_or_default()];
    };
    let after = second.verdict.as_str();
    let shift = if before == after { after.to_owned() } else { format!("{before} -> {after}") };
    let weak = if judge.is_weak_flip { "(weak flip) " } else { "" };
    [shift, second.confidence.as_str().to_owned(), format!("{weak}{}", second.key_insight)]
}

/// The verdict for a pipeline.
fn gate_report(log: &ReviewLog<'_>, verdict: &ReviewVerdict, judged: &JudgedResult) -> GateReport {
    let ruling = gate_ruling(log, verdict.verdict);
    let mut findings: Vec<GateFinding> = judged.findings.iter().map(gate_finding).collect();
    findings.sort_by_key(|finding| (finding.dropped, finding.severity));
    let word = verdict.verdict.filter(|_| ruling != GateRuling::Missing);
    GateReport {
        ruling,
        verdict: word.map(|ruling| ruling.as_str().to_owned()),
        meaning: meaning(log, judged, ruling, word),
        target: verdict.target.clone(),
        path: verdict.paths.first().cloned(),
        fails_on_warn: log.options.fail_on == ReviewFailOn::Warn,
        footer: log.debate.outcome.as_ref().map(|_| verdict.footer.clone()),
        judges: log
            .judges
            .iter()
            .zip(&judged.judges)
            .map(|(judge, record)| gate_judge(judge, record))
            .collect(),
        findings,
    }
}

fn gate_ruling(log: &ReviewLog<'_>, ruling: Option<ReviewRuling>) -> GateRuling {
    let is_complete = log.debate.outcome.as_ref().is_some_and(|outcome| outcome.status == Status::Complete);
    match ruling.filter(|_| is_complete) {
        None => GateRuling::Missing,
        Some(ruling) if !ruling.passes(log.options.fail_on) => GateRuling::Blocked,
        Some(ReviewRuling::Pass) => GateRuling::Passed,
        Some(_) => GateRuling::Warned,
    }
}

/// What the ruling means, in a sentence or two.
fn meaning(
    log: &ReviewLog<'_>,
    judged: &JudgedResult,
    gate: GateRuling,
    ruling: Option<ReviewRuling>,
) -> String {
    let verdicts: Vec<JudgeVerdict> = judged.judges.iter().filter_map(|judge| judge.verdict).collect();
    let heard = verdicts.len();
    let is_short = heard < judged.judges.len();
    let (who, whose) = if is_short { (" that was heard", " that were heard") } else { ("", "") };
    let share = |verdict: JudgeVerdict, one: &str, more: &str| {
        let with = verdicts.iter().filter(|other| **other == verdict).count();
        match (with, heard) {
            (1, 1) => format!("The judge{who} {one}"),
            (2, 2) => format!("Both judges{whose} {more}"),
            (with, heard) if with == heard => format!("All {heard} judges{whose} {more}"),
            (with, heard) => {
                format!("{with} of {heard} judges{whose} {}", if with == 1 { one } else { more })
            }
        }
    };
    match ruling {
        None => {
            let ended = match log.debate.outcome.as_ref().map(|outcome| outcome.status) {
                None => "The review has not ended",
                Some(Status::Incomplete) => "The review was cut short",
                Some(Status::Complete | Status::Failed) => "The review failed",
            };
            format!("{ended}: there is no verdict.")
        }
        Some(ReviewRuling::Pass) => format!("{}.", share(JudgeVerdict::Pass, "passes it", "pass it")),
        Some(ReviewRuling::Warn) => {
            let fails = if gate == GateRuling::Blocked { " WARN counts as failing here." } else { "" };
            let share = share(JudgeVerdict::Warn, "has reservations", "have reservations");
            format!("{share}, nobody fails it.{fails}")
        }
        Some(ReviewRuling::Fail) => format!("{}.", share(JudgeVerdict::Fail, "fails it", "fail it")),
        Some(ReviewRuling::Disagree) => {
            let sides = judged.vendors.iter();
            let sides = sides.map(|side| format!("{} says {}", side.vendor, side.verdict.as_str()));
            format!("The vendors split: {}. You decide.", sides.collect::<Vec<_>>().join(", "))
        }
    }
}

fn gate_judge(judge: &ReviewJudge<'_>, record: &JudgeRecord) -> GateJudge {
    let counted = judge.counted();
    let mut notes: Vec<String> = record.note.clone().into_iter().collect();
    if judge.is_weak_flip {
        let reverted = if judge.is_reverted { ", so round 1 counts" } else { "" };
        notes.push(format!("WEAK FLIP: changed its verdict without evidence{reverted}"));
    }
    let no_verdict = || record.note.clone().unwrap_or_else(|| "gave no verdict".into());
    GateJudge {
        name: record.judge.clone(),
        seat: record.seat.clone(),
        vendor: Some(record.vendor.clone()),
        verdict: counted.map(|counted| counted.verdict.as_str().to_owned()),
        confidence: counted.map(|counted| counted.confidence.as_str().to_owned()),
        key_insight: counted.and_then(|counted| non_empty(counted.key_insight)),
        recommendation: counted.and_then(|counted| non_empty(counted.recommendation)),
        round: counted.map(|counted| counted.round as u8),
        findings: counted
            .map(|counted| counted.findings)
            .unwrap_or_default()
            .iter()
            .map(own_finding)
            .collect(),
        notes,
        absence: counted.is_none().then(no_verdict),
    }
}

fn gate_finding(found: &ReviewFinding) -> GateFinding {
    GateFinding {
        file: found.file.clone(),
        line: found.line,
        end_line: found.end_line,
        judges: found.judges.clone(),
        dropped_by: found.dropped_by.clone(),
        dropped: found.dropped,
        ..own_finding(&found.finding)
    }
}

/// A finding as one judge reported it.
fn own_finding(finding: &JudgeFinding) -> GateFinding {
    let words = |text: &Option<String>| text.as_deref().and_then(non_empty);
    GateFinding {
        severity: match finding.severity {
            FindingSeverity::Critical => GateSeverity::Critical,
            FindingSeverity::Significant => GateSeverity::Significant,
            FindingSeverity::Minor => GateSeverity::Minor,
        },
        description: finding.description.trim().to_owned(),
        category: words(&finding.category),
        recommendation: words(&finding.recommendation),
        location: words(&finding.location),
        file: None,
        line: None,
        end_line: None,
        judges: Vec::new(),
        dropped_by: Vec::new(),
        dropped: false,
    }
}
