//! What readers see of a review: headline, outline, the table after each round, and who held which verdict.

use agon_core::view::ending_sentence;
use agon_core::wording::{excerpt, heading, sentence};
use agon_core::{
    Ballot, CitableText, DebateView, DecidedPosition, GateReport, GateRuling, Headline, Outline,
    PositionChange, PositionHistory, ReportBlock, ReportItem, ReportSection, RoundPositions, RoundSummary,
    SeatPosition, SeatVote, SectionKind, VerdictTone,
};
use serde_json::Value;

use super::findings::{AcceptedFinding, OtherWording, ReviewFinding};
use super::log::{RaisedFinding, ReviewJudge, ReviewLog, shown_citation};
use super::replies::{FindingSeverity, JudgeVerdict};
use super::verdict::{self, JudgeRecord, JudgedResult, ReviewBranch, ReviewDissent, ReviewRuling};
use super::{ReviewPhase, records, seats};
use crate::quotes::is_same_text;

/// One reading of the log for every face.
pub(super) fn view(log: &ReviewLog<'_>) -> DebateView {
    let verdict = verdict::verdict(log);
    let judged = verdict.judged.as_ref();
    let gate = judged.map(|judged| records::gate_report(log, &verdict, judged));
    let outline = match (judged, &gate) {
        (Some(judged), Some(gate)) => judged_outline(log, judged, gate),
        _ => Outline { answer: answers(log), ..Outline::default() },
    };
    let dissent = verdict::final_dissent(log).into_iter();
    let dissent = dissent.map(|dissent| dissent_item(judged, dissent)).collect();
    let is_over = log.debate.outcome.is_some();
    let footer = || part("Who was heard", vec![ReportBlock::Line(verdict::footer_line(log, &verdict))]);
    DebateView {
        headline: headline(log, gate.as_ref()),
        outline: Outline { footer: is_over.then(footer), facts: count_note(log), ..outline },
        positions: positions(log),
        ballots: log.judges.iter().filter_map(ballot).collect(),
        votes: log.judges.iter().filter_map(vote).collect(),
        dissent,
        round_summaries: [1, 2].into_iter().filter_map(|round| round_summary(log, round)).collect(),
        records: records::records(log),
        checks: Vec::new(),
        gate,
        items: Vec::new(),
        citable: log.findings.iter().map(citable).collect(),
    }
}

fn citable(raised: &RaisedFinding) -> CitableText {
    let (id, seat, text) = (raised.id.clone(), raised.seat.clone(), raised.finding.description.clone());
    CitableText { id, seat, round: raised.round, text, remark: None }
}

/// A dissent, with what its judge says to the findings that decided against it and that it accepts.
fn dissent_item(judged: Option<&JudgedResult>, dissent: ReviewDissent) -> ReportItem {
    let mut note = dissent.reason;
    for found in judged.into_iter().flat_map(|judged| deciding_findings(judged, &dissent.judge)) {
        let own = found.acceptances.iter().find(|said| said.judge == dissent.judge);
        if let Some(said) = own.filter(|said| !said.reason.is_empty()) {
            let (ids, severity, reason) = (said.ids.join(", "), said.as_severity(), shortened(&said.reason));
            note = format!("{} On {ids}, which it accepts{severity}: {reason}", sentence(&note));
        }
    }
    ReportItem { who: Some(dissent.judge), text: dissent.position, note: Some(note) }
}

/// The most severe findings of the judges with the worst verdict, if this judge has a milder one.
fn deciding_findings<'j>(judged: &'j JudgedResult, judge: &str) -> Vec<&'j ReviewFinding> {
    let verdict = |judge: &str| judged.judges.iter().find(|record| record.judge == judge)?.verdict;
    let worst = judged.judges.iter().filter_map(|record| record.verdict).max();
    let is_behind =
        |found: &ReviewFinding, judge: &String| verdict(judge) == worst && !found.dropped_by.contains(judge);
    let findings = judged.findings.iter().filter(|found| !found.dropped && verdict(judge) < worst);
    let findings = findings.filter(|found| found.judges.iter().any(|judge| is_behind(found, judge)));
    let findings: Vec<&ReviewFinding> = findings.collect();
    let severity = findings.iter().map(|found| found.finding.severity).min();
    findings.into_iter().filter(|found| Some(found.finding.severity) == severity).collect()
}

fn count_note(log: &ReviewLog<'_>) -> Vec<String> {
    let judges = log.judges.iter().filter(|judge| !judge.mixed).count();
    let is_named =
        |judge: &&ReviewJudge<'_>| judge.perspective.as_ref().is_some_and(|own| own.name == judge.seat.id);
    let named = log.judges.iter().filter(|judge| !judge.mixed).filter(is_named).count();
    seats::count_note(&log.options, judges, named).into_iter().collect()
}

fn ballot(judge: &ReviewJudge<'_>) -> Option<Ballot> {
    let answer = judge.first.as_ref()?.verdict.as_str().to_owned();
    Some(Ballot { seat: judge.seat.id.clone(), answer, stands_alone: true })
}

fn vote(judge: &ReviewJudge<'_>) -> Option<SeatVote> {
    let (_, counted) = judge.counted()?;
    let confidence = Some(counted.confidence.as_str().to_owned());
    let (seat, vote) = (judge.seat.id.clone(), counted.verdict.as_str().to_owned());
    Some(SeatVote { seat, label: None, vote, confidence })
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

/// The verdict, what was found and what to do; then the judges.
fn judged_outline(log: &ReviewLog<'_>, judged: &JudgedResult, gate: &GateReport) -> Outline {
    let kind = if gate.ruling == GateRuling::Passed { SectionKind::Answer } else { SectionKind::NoAnswer };
    let word = gate.verdict.clone().unwrap_or_else(|| "No verdict".into());
    let blocks =
        vec![ReportBlock::Headline(tone(gate.ruling), word), ReportBlock::Line(gate.meaning.clone())];
    let mut answer = vec![ReportSection::new(kind, "Verdict", blocks)];
    answer.extend(finding_list(judged));
    answer.extend(recommendation_list(judged));
    Outline { answer, body: vec![judge_table(log, judged)], ..Outline::default() }
}

fn finding_list(judged: &JudgedResult) -> Option<ReportSection> {
    let findings = |severity: FindingSeverity| {
        let found = judged.findings.iter().filter(|found| found.finding.severity == severity);
        let items: Vec<ReportItem> = found.map(|found| finding_item(found, judged.judges.len())).collect();
        (!items.is_empty()).then(|| group(&heading(severity.as_str()), vec![ReportBlock::Items(items)]))
    };
    let severities = [FindingSeverity::Critical, FindingSeverity::Significant, FindingSeverity::Minor];
    let groups: Vec<ReportBlock> = severities.into_iter().filter_map(findings).collect();
    (!groups.is_empty()).then(|| part("Findings", groups))
}

fn finding_item(found: &ReviewFinding, judges: usize) -> ReportItem {
    let finding = &found.finding;
    let unverified = if found.unverified { " (unverified: not in the target)" } else { "" };
    let place = finding.location.as_ref().map(|place| format!("{}{unverified}", place.trim()));
    let place: Vec<String> = place.into_iter().chain(finding.category.clone()).collect();
    let mut note: Vec<String> = Vec::new();
    note.extend((!place.is_empty()).then(|| format!("{}.", place.join(", "))));
    let advice = finding.recommendation.as_deref().and_then(non_empty).filter(|_| !found.dropped);
    note.extend(advice.iter().map(|advice| format!("Advice: {}", sentence(advice))));
    note.push(found_by(found, judges));
    let mut advised: Vec<String> = advice.into_iter().collect();
    for OtherWording { id, judge, severity, raised_as, description, recommendation, .. } in &found.also {
        let severity = match severity == raised_as {
            true => severity.as_str().to_owned(),
            false => format!("{}, since round 2 {}", raised_as.as_str(), severity.as_str()),
        };
        note.push(format!("{judge} reports it as {id}, {severity}: {}", sentence(description)));
        let other = recommendation.as_deref().and_then(non_empty).filter(|_| !found.dropped);
        let other = other.filter(|other| !advised.iter().any(|advice| is_same_text(advice, other)));
        note.extend(other.iter().map(|other| format!("Its advice: {}", sentence(other))));
        advised.extend(other);
    }
    note.extend(acceptances(found));
    // All of this is said in one round, so an answer after a dispute would look like one to it.
    note.extend(found.answers.iter().cloned());
    note.extend(disputes(found));
    let dropped = if found.dropped { " (dropped)" } else { "" };
    ReportItem {
        who: Some(format!("{}{dropped}", found.ids.join(", "))),
        text: finding.description.trim().to_owned(),
        note: Some(note.join(" ")),
    }
}

/// Who raised a finding. One that was first raised in round 2 was shown to nobody.
fn found_by(found: &ReviewFinding, judges: usize) -> String {
    let who = found.raised_by.join(", ");
    if found.rounds != [2] {
        return format!("Found by {who}.");
    }
    let apart = if found.raised_by.len() > 1 { ", each on its own" } else { "" };
    let unread = if found.raised_by.len() < judges { "; no other judge has read it" } else { "" };
    format!("Found by {who} in round 2{apart}{unread}.")
}

/// Who disputes a finding, and why.
pub(super) fn disputes(found: &ReviewFinding) -> impl Iterator<Item = String> {
    found.disputed_by.iter().map(|disputed| match disputed.reason.as_str() {
        "" => format!("Disputed by {}.", disputed.judge),
        reason => format!("Disputed by {}: {}", disputed.judge, sentence(reason)),
    })
}

/// Who accepts a finding, with the reasons given. That those who raised it accept the others' reports of it is news only where they
/// find it more or less severe.
fn acceptances(found: &ReviewFinding) -> Vec<String> {
    let (accepted, own): (Vec<&AcceptedFinding>, Vec<_>) =
        found.acceptances.iter().partition(|said| found.accepted_by.contains(&said.judge));
    let (silent, spoken): (Vec<&AcceptedFinding>, Vec<_>) =
        accepted.into_iter().partition(|said| said.reason.is_empty());
    let named = |said: &AcceptedFinding| {
        let is_some = said.ids.len() < found.ids.len();
        let ids = if is_some { format!(" ({})", said.ids.join(", ")) } else { String::new() };
        format!("{}{ids}{}", said.judge, said.as_severity())
    };
    let silent: Vec<String> = silent.into_iter().map(named).collect();
    let silent = (!silent.is_empty()).then(|| format!("Accepted by {}.", silent.join(", ")));
    let spoken =
        spoken.into_iter().map(|said| format!("Accepted by {}: {}", named(said), shortened(&said.reason)));
    let weighed = own.into_iter().filter(|said| said.weighs_otherwise && !said.reason.is_empty());
    let weighed = weighed.map(|said| {
        let (judge, ids, reason) = (&said.judge, said.ids.join(", "), shortened(&said.reason));
        format!("{judge} accepts {ids}{}: {reason}", said.as_severity())
    });
    silent.into_iter().chain(spoken).chain(weighed).collect()
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

/// The verdicts of both rounds as a table. A whole sentence does not fit a cell, so what each judge saw, and why it changed, stands
/// below.
fn judge_table(log: &ReviewLog<'_>, judged: &JudgedResult) -> ReportSection {
    // A judge may be called by its perspective; the column is only shown where it says something else.
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
            (_, Some((second, _))) => second.now.verdict.as_str(),
            (_, None) if judge.mixed => "not asked",
            (Some(_), None) => "none",
            (None, None) => "",
        };
        let confidence = [judge.first.as_ref(), judge.second.as_ref().map(|(second, _)| &second.now)];
        let mut confidence: Vec<&str> =
            confidence.into_iter().flatten().map(|said| said.confidence.as_str()).collect();
        confidence.dedup();
        let confidence = confidence.join(" -> ");
        let counts =
            counted.map(|(round, counted)| format!("{} (R{})", counted.verdict.as_str(), round as u8));
        rows.push(columns([
            &record.judge,
            record.perspective.as_deref().unwrap_or_default(),
            &record.vendor,
            judge.first.as_ref().map_or("absent", |first| first.verdict.as_str()),
            second,
            &confidence,
            counts.as_deref().unwrap_or("nothing"),
        ]));
        let note = record.note.clone().or_else(|| shift_reason(judge));
        let insight = counted.and_then(|(_, counted)| non_empty(&counted.key_insight));
        let (text, note) = if insight.is_some() { (insight, note) } else { (note, None) };
        items.extend(text.map(|text| ReportItem { who: Some(record.judge.clone()), text, note }));
    }
    let branch = judged.branch.map(|branch| match (branch, is_split(judged)) {
        (ReviewBranch::Agreed, false) => "The verdicts were the same in round 1, and they are the same now.",
        (ReviewBranch::Agreed, true) => "The verdicts were the same in round 1. They differ now.",
        (ReviewBranch::Disagreed, false) => "The verdicts differed in round 1. They are the same now.",
        (ReviewBranch::Disagreed, true) => "The verdicts differed in round 1, and they differ now.",
    });
    let mut blocks = vec![ReportBlock::Table(rows)];
    blocks.extend(branch.map(|line| ReportBlock::Line(line.into())));
    blocks.extend((!items.is_empty()).then_some(ReportBlock::Items(items)));
    part("The judges", blocks)
}

/// Whether the verdicts that count differ.
fn is_split(judged: &JudgedResult) -> bool {
    let mut verdicts = judged.judges.iter().filter_map(|record| record.verdict);
    let first = verdicts.next();
    verdicts.any(|verdict| Some(verdict) != first)
}

/// Why a judge changed its verdict, where the evidence verifies.
fn shift_reason(judge: &ReviewJudge<'_>) -> Option<String> {
    let (first, (second, _)) = (judge.first.as_ref()?, judge.second.as_ref()?);
    let (r1, r2) = (first.verdict.as_str(), second.now.verdict.as_str());
    Some(format!("{r1} to {r2}. {}", judge.evidence.as_ref()?.sentence))
}

/// The first sentences of a text, as many as fit. What is missing is marked.
fn shortened(text: &str) -> String {
    const CHARS_MAX: usize = 300;
    let Some((end, _)) = text.char_indices().nth(CHARS_MAX) else { return text.to_owned() };
    let kept = text.get(..end).unwrap_or_default();
    let ends = [". ", "! ", "? ", ".\n", "\u{3002}", "\u{ff01}", "\u{ff1f}"].into_iter();
    let whole = ends.filter_map(|mark| kept.rfind(mark).map(|at| at + mark.trim_end().len())).max();
    match whole.and_then(|end| kept.get(..end)) {
        Some(whole) => format!("{whole} [...]"),
        None => excerpt(text, CHARS_MAX),
    }
}

pub(super) fn non_empty(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// In the modes without verdicts: what each judge answered, field by field.
fn answers(log: &ReviewLog<'_>) -> Vec<ReportSection> {
    let field = |(field, value): (&String, &Value)| {
        let block = match value {
            Value::String(text) => ReportBlock::Prose(non_empty(text)?),
            Value::Array(items) if !items.is_empty() => {
                ReportBlock::Items(items.iter().map(answer_item).collect())
            }
            _ => return None,
        };
        Some(group(&heading(field), vec![block]))
    };
    let answers = log.judges.iter().filter_map(|judge| Some((judge, judge.answer?.as_object()?)));
    let groups: Vec<ReportBlock> = answers
        .map(|(judge, answer)| group(&judge.seat.id, answer.iter().filter_map(field).collect()))
        .collect();
    let section =
        || ReportSection::new(SectionKind::Answer, heading(log.options.mode.as_str()), groups.clone());
    if groups.is_empty() { Vec::new() } else { vec![section()] }
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
    let mut rows = vec![["Judge", "Verdict", "Confidence", "Key insight"].map(String::from).to_vec()];
    for judge in &log.judges {
        let cells = if round == 1 { first_cells(judge) } else { second_cells(log, judge) };
        rows.push(std::iter::once(judge.seat.id.clone()).chain(cells).collect());
    }
    let decided = if round == 1 { verdict::first_decided(log) } else { verdict::decided(log) };
    let decided = decided.map_or("no verdict", ReviewRuling::as_str);
    let so_far = if round == 1 && log.has_second_round() { " so far" } else { "" };
    let title = format!("Round {round}: {decided}{so_far}");
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
    let after = second.now.verdict.as_str();
    let shift = if before == after { after.to_owned() } else { format!("{before} -> {after}") };
    let weak = if judge.is_weak_flip { "(weak flip) " } else { "" };
    [shift, second.now.confidence.as_str().to_owned(), format!("{weak}{}", second.now.key_insight)]
}

/// The verdicts as the judges gave them. A change that strict anchoring reverted is still a change; only the rulings go by
/// the verdicts that count. A review without verdicts has no rounds.
fn positions(log: &ReviewLog<'_>) -> PositionHistory {
    let name = |ruling: ReviewRuling| ruling.as_str().to_owned();
    let firsts = || log.judges.iter().filter_map(|judge| Some((judge, judge.first.as_ref()?.verdict)));
    let mut rounds = Vec::new();
    if firsts().next().is_some() {
        let stands = firsts().map(|(judge, verdict)| position(judge, verdict, None)).collect();
        let ruling = verdict::first_decided(log).map(name);
        rounds.push(RoundPositions { round: 1, stands, ruling, ..RoundPositions::default() });
    }
    if log.revised().next().is_some() {
        let stands = firsts().map(|(judge, first)| second_position(judge, first)).collect();
        let ruling = verdict::decided(log).map(name);
        rounds.push(RoundPositions { round: 2, stands, ruling, ..RoundPositions::default() });
    }
    let decided = log.debate.outcome.as_ref().and_then(|_| verdict::decided(log)).map(name);
    let decided = decided.map_or(DecidedPosition::Nothing, DecidedPosition::Held);
    PositionHistory { rounds, decided, ..PositionHistory::default() }
}

/// The verdict of a judge after round 2. A judge without a second verdict keeps its first.
fn second_position(judge: &ReviewJudge<'_>, first: JudgeVerdict) -> SeatPosition {
    let Some((second, _)) = judge.second.as_ref().filter(|(second, _)| second.now.verdict != first) else {
        return position(judge, first, None);
    };
    let evidence = judge.evidence.as_ref();
    let unverified = judge.unverified_cause().map(|cited| format!("{cited}, which does not verify"));
    let change = PositionChange {
        cited: evidence.map(|evidence| shown_citation(&evidence.cited)).into_iter().collect(),
        sources: evidence.and_then(|evidence| evidence.source.clone()).into_iter().collect(),
        unverified: unverified.into_iter().collect(),
        reason: None,
    };
    position(judge, second.now.verdict, Some(change))
}

fn position(judge: &ReviewJudge<'_>, verdict: JudgeVerdict, change: Option<PositionChange>) -> SeatPosition {
    let position = verdict.as_str().to_owned();
    SeatPosition { seat: judge.seat.id.clone(), position, change, ..SeatPosition::default() }
}
