//! What readers see of a review: headline, outline, the table after each round, and who held which verdict.

use agon_core::view::ending_sentence;
use agon_core::wording::{heading, sentence};
use agon_core::{
    Ballot, CitableText, DebateView, DecidedPosition, GateReport, GateRuling, Headline, Outline,
    PositionChange, PositionHistory, ReportBlock, ReportItem, ReportSection, RoundPositions, RoundSummary,
    SeatPosition, SeatVote, SectionKind, VerdictTone,
};
use serde_json::Value;

use super::findings::{ReviewFinding, is_misplaced, merged_findings, others_answers};
use super::log::{RaisedFinding, ReviewJudge, ReviewLog};
use super::replies::{
    FindingSeverity, JudgeVerdict, OtherFindingStatus, OtherStatus, OwnStatus, SecondVerdict,
};
use super::verdict::{self, ReviewRuling};
use super::{ReviewPhase, records, seats};
use crate::report_sections::{list_section, table_rows};

/// One reading of the log for every face.
pub(super) fn view(log: &ReviewLog<'_>) -> DebateView {
    let found = log.options.is_validation().then(|| merged_findings(log));
    let gate = found.as_ref().map(|found| records::gate_report(log, found));
    let answer = match (&found, &gate) {
        (Some(found), Some(gate)) => judged_sections(log, found, gate),
        _ => answers(log).into_iter().collect(),
    };
    let outcome = log.debate.outcome.as_ref();
    let footer = || part("Who was heard", vec![ReportBlock::Line(verdict::footer_line(log))]);
    let judges = log.judges.iter().filter(|judge| !judge.mixed).count();
    let facts = seats::count_note(&log.options, judges).into_iter().collect();
    DebateView {
        headline: headline(log, gate.as_ref()),
        outline: Outline { answer, footer: outcome.map(|_| footer()), facts, ..Outline::default() },
        positions: positions(log),
        ballots: log.judges.iter().filter_map(ballot).collect(),
        votes: log.judges.iter().filter_map(vote).collect(),
        dissent: outcome.iter().flat_map(|outcome| &outcome.dissent).map(dissent_item).collect(),
        round_summaries: [1, 2].into_iter().filter_map(|round| round_summary(log, round)).collect(),
        records: records::records(log),
        checks: Vec::new(),
        gate,
        items: Vec::new(),
        citable: log.findings.iter().map(citable).collect(),
    }
}

fn dissent_item(dissent: &Value) -> ReportItem {
    let words = |key: &str| dissent.get(key).and_then(Value::as_str).map(str::to_owned);
    ReportItem { who: words("judge"), text: words("position").unwrap_or_default(), note: words("reason") }
}

fn citable(raised: &RaisedFinding) -> CitableText {
    let (id, seat, text) = (raised.id.clone(), raised.seat.clone(), raised.finding.description.clone());
    CitableText { id, seat, round: raised.round, text, remark: None }
}

fn ballot(judge: &ReviewJudge<'_>) -> Option<Ballot> {
    let (seat, answer) = (judge.seat.id.clone(), judge.first_verdict()?.as_str().to_owned());
    Some(Ballot { seat, answer, stands_alone: true })
}

fn vote(judge: &ReviewJudge<'_>) -> Option<SeatVote> {
    let (_, counted) = judge.counted()?;
    let (vote, confidence) = (counted.verdict.as_str().to_owned(), counted.confidence.as_str().to_owned());
    Some(SeatVote { seat: judge.seat.id.clone(), label: None, vote, confidence: Some(confidence) })
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

fn part(title: &str, blocks: Vec<ReportBlock>) -> ReportSection {
    ReportSection::new(SectionKind::Part, title, blocks)
}

fn group(title: &str, blocks: Vec<ReportBlock>) -> ReportBlock {
    ReportBlock::Group { title: title.to_owned(), badges: Vec::new(), blocks }
}

/// The verdict, what was found, who said what, and what to do.
fn judged_sections(log: &ReviewLog<'_>, found: &[ReviewFinding], gate: &GateReport) -> Vec<ReportSection> {
    let kind = if gate.ruling == GateRuling::Passed { SectionKind::Answer } else { SectionKind::NoAnswer };
    let word = gate.verdict.clone().unwrap_or_else(|| "No verdict".into());
    let blocks =
        vec![ReportBlock::Headline(tone(gate.ruling), word), ReportBlock::Line(gate.meaning.clone())];
    let mut sections = vec![ReportSection::new(kind, "Verdict", blocks)];
    sections.extend(finding_list(log, found));
    sections.push(judge_table(log));
    let advice = verdict::recommendations(log)
        .map(|(judge, words)| ReportItem { who: Some(judge.to_owned()), ..ReportItem::text(words) });
    sections.extend(list_section("Recommendations", advice));
    sections
}

fn finding_list(log: &ReviewLog<'_>, found: &[ReviewFinding]) -> Option<ReportSection> {
    let findings = |severity: FindingSeverity| {
        let found = found.iter().filter(|found| found.finding.severity == severity);
        let items: Vec<ReportItem> = found.flat_map(|found| finding_items(log, found)).collect();
        (!items.is_empty()).then(|| group(&heading(severity.as_str()), vec![ReportBlock::Items(items)]))
    };
    let severities = [FindingSeverity::Critical, FindingSeverity::Significant, FindingSeverity::Minor];
    let groups: Vec<ReportBlock> = severities.into_iter().filter_map(findings).collect();
    (!groups.is_empty()).then(|| part("Findings", groups))
}

/// A finding as each judge reported it, in the words of its most severe report that stands first.
fn finding_items(log: &ReviewLog<'_>, found: &ReviewFinding) -> Vec<ReportItem> {
    let others: Vec<&str> = found.also.iter().filter_map(|other| other.get("id")?.as_str()).collect();
    let reports = log.findings.iter().filter(|raised| found.ids.contains(&raised.id));
    let (own, others): (Vec<_>, Vec<_>) = reports.partition(|raised| !others.contains(&raised.id.as_str()));
    let same = own.first().map_or(String::new(), |first| format!(", the same as {}", first.id));
    let own = own.into_iter().map(|raised| finding_item(log, found, raised, ""));
    own.chain(others.into_iter().map(|raised| finding_item(log, found, raised, &same))).collect()
}

/// A report of a finding: where it is, what to do, who found it, and what the judges said to it in round 2.
fn finding_item(
    log: &ReviewLog<'_>,
    found: &ReviewFinding,
    raised: &RaisedFinding,
    same: &str,
) -> ReportItem {
    let RaisedFinding { id, seat, round, finding, raised_as, .. } = raised;
    let unverified = if is_misplaced(log, finding) { " (unverified: not in the target)" } else { "" };
    let place = finding.location.as_ref().map(|place| format!("{}{unverified}", place.trim()));
    let place: Vec<String> = place.into_iter().chain(finding.category.clone()).collect();
    let advice = finding.recommendation.as_deref().and_then(non_empty).filter(|_| !found.dropped);
    let severity =
        if *raised_as == found.finding.severity { "" } else { &format!(" as {}", raised_as.as_str()) };
    let round = if *round == 1 { "" } else { " in round 2" };
    let mut note: Vec<String> = Vec::new();
    note.extend((!place.is_empty()).then(|| format!("{}.", place.join(", "))));
    note.extend(advice.map(|advice| format!("Advice: {}", sentence(&advice))));
    note.push(format!("Found by {seat}{round}{severity}."));
    let said = others_answers(log, |other| other == id);
    note.extend(said.into_iter().map(|(judge, said)| answer_words(judge, said)));
    note.extend(own_answer(raised, !found.disputed_by.is_empty()));
    let dropped = if found.dropped { " (dropped)" } else { "" };
    ReportItem {
        who: Some(format!("{id}{same}{dropped}")),
        text: finding.description.trim().to_owned(),
        note: Some(note.join(" ")),
    }
}

/// What a judge says in round 2 to a finding of another.
pub(super) fn answer_words(judge: &str, said: &OtherFindingStatus) -> String {
    let verb = match said.status {
        OtherStatus::Accept => "Accepted",
        OtherStatus::Dispute => "Disputed",
    };
    let severity = said.severity.map_or(String::new(), |severity| format!(" as {}", severity.as_str()));
    with_reason(format!("{verb} by {judge}{severity}"), &said.reason)
}

/// What a judge says to its own finding in round 2: a drop, another severity, or why it stands although somebody disputes it.
fn own_answer(raised: &RaisedFinding, is_disputed: bool) -> Option<String> {
    let answer = raised.answer.as_ref()?;
    let (before, after) = (raised.raised_as.as_str(), raised.finding.severity.as_str());
    let what = match answer.status {
        OwnStatus::Drop => "dropped it".to_owned(),
        OwnStatus::Change if before != after => format!("changed it from {before} to {after}"),
        _ if is_disputed => "kept it".to_owned(),
        _ => return None,
    };
    Some(with_reason(format!("{} {what} in round 2", raised.seat), &answer.reason))
}

fn with_reason(what: String, reason: &str) -> String {
    non_empty(reason).map_or(format!("{what}."), |reason| format!("{what}: {}", sentence(&reason)))
}

/// The verdicts of both rounds as a table. A whole sentence does not fit a cell, so what each judge saw, and why it changed, stands
/// below.
fn judge_table(log: &ReviewLog<'_>) -> ReportSection {
    let columns = |cells: [&str; 6]| {
        let cells = cells.into_iter().enumerate().filter(|(column, _)| *column != 3 || log.options.debate);
        cells.map(|(_, cell)| cell.to_owned()).collect::<Vec<_>>()
    };
    let mut rows = vec![columns(["Judge", "Provider", "R1", "R2", "Confidence", "Counts"])];
    let mut items = Vec::new();
    for judge in &log.judges {
        let (name, note) = (&judge.seat.id, verdict::note(log, judge));
        // A judge may be called by its perspective.
        let perspective = judge.perspective.as_ref().map(|own| &own.name).filter(|own| *own != name);
        let (counted, second) = (judge.counted(), judge.second.as_ref().map(|second| &second.now));
        let said = judge.first.iter().chain(second);
        let mut confidence: Vec<&str> = said.map(|said| said.confidence.as_str()).collect();
        confidence.dedup();
        let counts =
            counted.map(|(round, counted)| format!("{} (R{})", counted.verdict.as_str(), round as u8));
        let no_second = if judge.mixed { "not asked" } else { "none" };
        rows.push(columns([
            &perspective.map_or(name.clone(), |own| format!("{name} ({own})")),
            &judge.vendor,
            judge.first_verdict().map_or("absent", JudgeVerdict::as_str),
            second.map_or(no_second, |second| second.verdict.as_str()),
            &confidence.join(" -> "),
            counts.as_deref().unwrap_or("nothing"),
        ]));
        let insight = counted.and_then(|(_, counted)| non_empty(&counted.key_insight));
        let (text, note) = if insight.is_some() { (insight, note) } else { (note, None) };
        items.extend(text.map(|text| ReportItem { who: Some(name.clone()), text, note }));
    }
    let mut blocks = vec![ReportBlock::Table(rows)];
    blocks.extend((!items.is_empty()).then_some(ReportBlock::Items(items)));
    part("The judges", blocks)
}

pub(super) fn non_empty(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// In the modes without verdicts: what each judge answered, field by field.
fn answers(log: &ReviewLog<'_>) -> Option<ReportSection> {
    let field = |(field, value): (&String, &Value)| {
        let prose = |text: &str| Some(ReportBlock::Prose(non_empty(text)?));
        let items = value.as_array().filter(|items| !items.is_empty());
        let items = items.map(|items| ReportBlock::Items(items.iter().map(answer_item).collect()));
        Some(group(&heading(field), vec![items.or_else(|| prose(value.as_str()?))?]))
    };
    let answers = log.judges.iter().filter_map(|judge| Some((judge, judge.answer?.as_object()?)));
    let groups: Vec<ReportBlock> = answers
        .map(|(judge, answer)| group(&judge.seat.id, answer.iter().filter_map(field).collect()))
        .collect();
    let title = heading(log.options.mode.as_str());
    (!groups.is_empty()).then(|| ReportSection::new(SectionKind::Answer, title, groups))
}

/// An idea, a fact or a question: its first field, and the others as remarks.
fn answer_item(item: &Value) -> ReportItem {
    let Some(fields) = item.as_object() else { return ReportItem::text(records::words(item)) };
    let mut fields = fields.iter().map(|(key, value)| (heading(key), records::words(value)));
    let text = fields.next().map(|(_, text)| text).unwrap_or_default();
    let notes = fields.filter(|(_, text)| !text.is_empty()).map(|(key, text)| format!("{key}: {text}"));
    ReportItem { who: None, text, note: non_empty(&notes.collect::<Vec<_>>().join(" ")) }
}

/// The table that is printed when round 1 or round 2 is over.
fn round_summary(log: &ReviewLog<'_>, round: u32) -> Option<RoundSummary> {
    let phase = if round == 1 { ReviewPhase::FirstVerdict } else { ReviewPhase::SecondVerdict };
    let place = log.debate.turns.iter().position(|turn| turn.phase.name == phase.as_str())?;
    let is_open = log.debate.turns.get(place)?.outstanding().next().is_some();
    if is_open || !log.options.is_validation() {
        return None;
    }
    let rows = log.judges.iter().map(|judge| summary_row(log, judge, round));
    let rows = table_rows(["Judge", "Verdict", "Confidence", "Key insight"], rows);
    let decided = if round == 1 { verdict::first_decided(log) } else { verdict::decided(log) };
    let decided = decided.map_or("no verdict", ReviewRuling::as_str);
    let so_far = if round == 1 && log.has_second_round() { " so far" } else { "" };
    let title = format!("Round {round}: {decided}{so_far}");
    Some(RoundSummary { after_phases: place + 1, title, rows, notes: Vec::new() })
}

fn summary_row(log: &ReviewLog<'_>, judge: &ReviewJudge<'_>, round: u32) -> [String; 4] {
    let change = judge.change().map(|verdicts| verdicts.map(JudgeVerdict::as_str).join(" -> "));
    let weak = if judge.is_weak_flip() { "(weak flip) " } else { "" };
    let [verdict, confidence, insight] = match (&judge.first, &judge.second) {
        (None, _) => ["absent".to_owned(), "-".to_owned(), String::new()],
        (Some(_), Some(SecondVerdict { now, .. })) if round == 2 => [
            change.unwrap_or_else(|| now.verdict.as_str().to_owned()),
            now.confidence.as_str().to_owned(),
            format!("{weak}{}", now.key_insight),
        ],
        (Some(first), _) if round == 2 => {
            let note = verdict::note(log, judge).unwrap_or_default();
            [format!("{} (R1)", first.verdict.as_str()), "-".to_owned(), note]
        }
        (Some(first), _) => {
            [first.verdict.as_str(), first.confidence.as_str(), &first.key_insight].map(str::to_owned)
        }
    };
    [judge.seat.id.clone(), verdict, confidence, insight]
}

/// The verdicts as the judges gave them. A change that strict anchoring reverted is still a change; only the rulings go by
/// the verdicts that count. A review without verdicts has no rounds.
fn positions(log: &ReviewLog<'_>) -> PositionHistory {
    let round = |round: u32, ruling: Option<ReviewRuling>| RoundPositions {
        round,
        stands: log.judges.iter().filter_map(|judge| position(judge, round)).collect(),
        ruling: ruling.map(|ruling| ruling.as_str().to_owned()),
        ballots: false,
    };
    let mut rounds = vec![round(1, verdict::first_decided(log))];
    let decided = verdict::decided(log);
    rounds.extend(log.revised().next().map(|_| round(2, decided)));
    rounds.retain(|round| !round.stands.is_empty());
    let decided = decided.filter(|_| log.debate.outcome.is_some());
    let decided = decided.map(|ruling| DecidedPosition::Held(ruling.as_str().to_owned()));
    PositionHistory { rounds, decided: decided.unwrap_or_default(), ..PositionHistory::default() }
}

/// The verdict of a judge after a round. A judge without a second verdict keeps its first.
fn position(judge: &ReviewJudge<'_>, round: u32) -> Option<SeatPosition> {
    let first = judge.first_verdict()?;
    let change = judge.change().filter(|_| round == 2);
    let unverified = judge.unverified_cause().map(|cited| format!("{cited}, which does not verify"));
    Some(SeatPosition {
        seat: judge.seat.id.clone(),
        position: change.map_or(first, |[_, second]| second).as_str().to_owned(),
        change: change.map(|_| PositionChange {
            unverified: unverified.into_iter().collect(),
            ..judge.evidence.clone().unwrap_or_default()
        }),
        ..SeatPosition::default()
    })
}
