//! What the judges declare about findings and about their changes of mind, verified: ids, quotes and locations. Here findings that
//! are the same problem become one, and a changed verdict meets the evidence bar or is a weak flip.

use agon_core::wording::excerpt;
use agon_core::{PositionChange, ReplyFault};
use serde::Serialize;
use serde_json::{Value, json};

use super::ReviewPhase;
use super::log::{RaisedFinding, ReviewJudge, ReviewLog};
use super::replies::{
    ChangeReason, EvidenceKind, FirstVerdict, JudgeFinding, JudgeVerdict, OtherFindingStatus, OtherStatus,
    OwnStatus, SecondVerdict,
};
use crate::packet_lines::PacketLocation;
use crate::quotes::{QuotedTexts, is_quote_of, is_same_text};
use crate::tools::{SourceCitation, cited_item, named_items};

/// A finding with everybody who reported it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReviewFinding {
    /// `F1`, `F2`... The first of its ids.
    pub id: String,
    /// The ids of all reports of it.
    pub ids: Vec<String>,
    /// In the words of its most severe report that stands.
    #[serde(flatten)]
    pub finding: JudgeFinding,
    /// Whether its location is not in the packet.
    pub unverified: bool,
    /// The file, where the location names one.
    pub file: Option<String>,
    /// Its first line.
    pub line: Option<u64>,
    /// Its last line.
    pub end_line: Option<u64>,
    /// Everybody who raised or accepted it.
    pub judges: Vec<String>,
    /// Who raised it.
    pub raised_by: Vec<String>,
    /// Who else accepted it in round 2.
    pub accepted_by: Vec<String>,
    /// Who disputed it in round 2, and why.
    pub disputed_by: Vec<Value>,
    /// The rounds in which it was reported.
    pub rounds: Vec<u32>,
    /// The other reports of it, as their judges gave them.
    pub also: Vec<Value>,
    /// Whether everybody who raised or accepted it dropped it in round 2.
    pub dropped: bool,
    /// Who dropped it in round 2, by its id.
    pub dropped_by: Vec<String>,
}

/// Whether a seat means this id, with or without the brackets in which it was shown.
pub(super) fn is_id(said: &str, id: &str) -> bool {
    said.trim().trim_start_matches('[').trim_end_matches(']').trim().eq_ignore_ascii_case(id)
}

/// The rules of a first verdict that its schema cannot express.
pub(super) fn check_first_verdict(first: &FirstVerdict) -> Result<(), ReplyFault> {
    check_descriptions(&first.findings)?;
    if first.verdict == JudgeVerdict::Pass || !first.findings.is_empty() {
        return Ok(());
    }
    Err(ReplyFault::Unverified(no_finding(first.verdict)))
}

/// The rules of a second verdict that its schema cannot express.
pub(super) fn check_second_verdict(
    log: &ReviewLog<'_>,
    judge: &ReviewJudge<'_>,
    second: &SecondVerdict,
) -> Result<(), ReplyFault> {
    check_restatement(&second.restatement)?;
    check_descriptions(&second.now.findings)?;
    let mut faults = unknown_ids(log, judge, second);
    let is_changed = judge.first_verdict().is_some_and(|first| first != second.now.verdict);
    let reason = second.changed_because.as_ref().filter(|_| is_changed);
    if let Some(reason) = reason.filter(|reason| verified_evidence(log, judge, reason).is_none()) {
        let ChangeReason { citation, quote, kind } = reason;
        faults.push(format!(
            "`changed_because` does not verify: {:?} with the citation {:?} is not found. {}. Without such evidence, keep your verdict of \
             round 1: a change without it is reported as a weak flip.",
            excerpt(quote, ECHO_CHARS_MAX),
            excerpt(citation, ECHO_CHARS_MAX),
            bar(*kind)
        ));
    }
    if second.now.verdict != JudgeVerdict::Pass && !holds_finding(log, judge, Some(second)) {
        faults.push(no_finding(second.now.verdict));
    }
    if faults.is_empty() { Ok(()) } else { Err(ReplyFault::Unverified(faults.join(" "))) }
}

pub(super) fn check_restatement(text: &str) -> Result<(), ReplyFault> {
    let why = "`restatement` must summarize your verdict of round 1 in 2 to 3 sentences";
    if text.trim().is_empty() { Err(why.to_owned().into()) } else { Ok(()) }
}

fn check_descriptions(findings: &[JudgeFinding]) -> Result<(), ReplyFault> {
    let is_empty = findings.iter().any(|finding| finding.description.trim().is_empty());
    if is_empty { Err("every one of `findings` needs a `description`".to_owned().into()) } else { Ok(()) }
}

/// Whether a judge holds a finding: a new one of round 2, one of its own that it does not drop, or another judge's that it accepts.
pub(super) fn holds_finding(
    log: &ReviewLog<'_>,
    judge: &ReviewJudge<'_>,
    second: Option<&SecondVerdict>,
) -> bool {
    let is_dropped = |raised: &RaisedFinding| {
        let answer = second.and_then(|second| second.own_status(&raised.id));
        answer.is_some_and(|answer| answer.status == OwnStatus::Drop)
    };
    let accepts =
        |second: &SecondVerdict| second.others.iter().any(|other| other.status == OtherStatus::Accept);
    second.is_some_and(|second| !second.now.findings.is_empty() || accepts(second))
        || log.shown_findings(judge, true).any(|raised| !is_dropped(raised))
}

fn no_finding(verdict: JudgeVerdict) -> String {
    format!(
        "{} needs at least one finding that says what is wrong; otherwise the verdict is PASS.",
        verdict.as_str()
    )
}

/// How much of a quote that does not verify its judge reads again.
const ECHO_CHARS_MAX: usize = 200;

/// What the judge must give for evidence of this kind.
fn bar(kind: EvidenceKind) -> &'static str {
    match kind {
        EvidenceKind::CodeLocation => {
            "For code_location `citation` must be a path:line of the target, and `quote` that line, copied exactly"
        }
        EvidenceKind::MissedDetail => {
            "For missed_detail `quote` must be copied exactly from the target, or `citation` must be the id of another judge's finding \
             and `quote` copied exactly from that finding"
        }
        EvidenceKind::FactualError => {
            "For factual_error `quote` must be copied exactly from your own words of round 1, and `citation` must be the path:line \
             or the exact words of the target that contradict them"
        }
    }
}

/// A sentence for every id that the judge was not shown in that place.
fn unknown_ids(log: &ReviewLog<'_>, judge: &ReviewJudge<'_>, second: &SecondVerdict) -> Vec<String> {
    let own = second.own.iter().map(|own| &own.id).chain(second.same_as.iter().map(|same| &same.own));
    let other =
        second.others.iter().map(|other| &other.id).chain(second.same_as.iter().map(|same| &same.other));
    let said = own.map(|id| (id, true, "one of your findings"));
    let said = said.chain(other.map(|id| (id, false, "a finding of another judge")));
    let unknown = said.filter(|(id, is_own, _)| shown_finding(log, judge, *is_own, id).is_none());
    unknown.map(|(id, _, what)| format!("{id:?} is not {what}.")).collect()
}

/// The finding that a judge was shown under an id: its own, or another judge's.
fn shown_finding<'l>(
    log: &'l ReviewLog<'_>,
    judge: &ReviewJudge<'_>,
    is_own: bool,
    id: &str,
) -> Option<&'l RaisedFinding> {
    log.shown_findings(judge, is_own).find(|raised| is_id(id, &raised.id))
}

/// The evidence for a change as far as it verifies, in the judge's words: if it is in the packet, in the findings that the judge was
/// shown, or in its own words of round 1.
///
/// "You may only change your verdict if you can cite a SPECIFIC technical detail, code location, or factual error."
pub(super) fn verified_evidence(
    log: &ReviewLog<'_>,
    judge: &ReviewJudge<'_>,
    reason: &ChangeReason,
) -> Option<PositionChange> {
    let ChangeReason { kind, citation, quote } = reason;
    if let Some(source) = looked_up(log, reason) {
        let (cited, sources) = (vec![source.cited], vec![source.id]);
        return Some(PositionChange { cited, sources, ..PositionChange::default() });
    }
    let withdrawn = |claim, against| withdrawn_claim(log, judge, claim, against);
    let cited = match kind {
        EvidenceKind::CodeLocation => log.packet().quotes_line(citation, quote).then(|| reason.words()),
        EvidenceKind::MissedDetail => missed_detail(log, judge, reason),
        EvidenceKind::FactualError => withdrawn(quote, citation).or_else(|| withdrawn(citation, quote)),
    };
    cited.map(|cited| PositionChange { cited: vec![cited], ..PositionChange::default() })
}

/// What was looked up that a judge cites by its id, with words of it. It is evidence of every kind.
fn looked_up(log: &ReviewLog<'_>, reason: &ChangeReason) -> Option<SourceCitation> {
    let shown = || log.debate.items_shown(ReviewPhase::SecondVerdict.as_str(), 2);
    let named = named_items(log.brief(), &reason.citation);
    let named = named.iter().find_map(|id| cited_item(shown(), id));
    let item = cited_item(shown(), &reason.citation).or(named)?;
    SourceCitation::verified(&QuotedTexts::new(log.brief()), item, &reason.quote)
}

/// What a judge missed, if it is in the packet or another judge's finding. Only what verifies is named.
fn missed_detail(log: &ReviewLog<'_>, judge: &ReviewJudge<'_>, reason: &ChangeReason) -> Option<String> {
    let ChangeReason { citation, quote, .. } = reason;
    let (packet, words) = (log.packet(), quote.trim());
    let names = |id: &str| is_id(citation, id) || citation.contains(&format!("[{id}]")) || is_id(quote, id);
    let cited = log.shown_findings(judge, false).find(|raised| names(&raised.id));
    let Some(RaisedFinding { id, finding, .. }) = cited else {
        let is_there = packet.quotes_line(citation, quote);
        let cited = if is_there { reason.words() } else { format!("\u{201c}{words}\u{201d}") };
        return packet.contains(quote).then_some(cited);
    };
    if words.is_empty() || is_id(quote, id) {
        return Some(id.clone());
    }
    // A quote beside an id must be true, too.
    let quoted = QuotedTexts::new(log.brief());
    let is_of_finding = finding_texts(finding).iter().any(|text| quoted.is_quoted(quote, text));
    let comma = if is_of_finding { "" } else { "," };
    (is_of_finding || packet.contains(quote)).then(|| format!("{id}{comma} \u{201c}{words}\u{201d}"))
}

/// A claim of round 1 that a judge takes back for a line or for words of the packet, if both are there.
fn withdrawn_claim(
    log: &ReviewLog<'_>,
    judge: &ReviewJudge<'_>,
    claim: &str,
    against: &str,
) -> Option<String> {
    claims(judge).iter().find(|own| is_quote_of(claim, own))?;
    let (packet, claim, against) = (log.packet(), claim.trim(), against.trim());
    let is_line = || packet.locate(against).is_some_and(|place| place.is_verified && place.line.is_some());
    let cited = match packet.contains(against) {
        true => format!("\u{201c}{against}\u{201d}"),
        false => is_line().then(|| against.to_owned())?,
    };
    Some(format!("{cited} against its own words of round 1, \u{201c}{claim}\u{201d}"))
}

/// What a judge said in round 1.
fn claims<'j>(judge: &'j ReviewJudge<'_>) -> Vec<&'j str> {
    let Some(first) = &judge.first else { return Vec::new() };
    let own = [&first.analysis, &first.key_insight, &first.recommendation].map(String::as_str);
    own.into_iter().chain(first.findings.iter().flat_map(finding_texts)).collect()
}

fn finding_texts(finding: &JudgeFinding) -> Vec<&str> {
    let JudgeFinding { description, category, location, recommendation, .. } = finding;
    let others = [category, location, recommendation].into_iter().flatten();
    std::iter::once(description).chain(others).map(String::as_str).collect()
}

/// Everything that was found in both rounds, each problem once, the most severe first.
pub(super) fn merged_findings(log: &ReviewLog<'_>) -> Vec<ReviewFinding> {
    let declared: Vec<[&str; 2]> = log.judges.iter().flat_map(|judge| declared_same(log, judge)).collect();
    let is_same = |one: &RaisedFinding, other: &RaisedFinding| {
        let ids = [one.id.as_str(), other.id.as_str()];
        is_same_problem(log, &one.finding, &other.finding)
            || declared.iter().any(|pair| pair.iter().all(|id| ids.contains(id)))
    };
    // The places of the reports of each problem.
    let mut problems: Vec<Vec<usize>> = Vec::new();
    for (place, raised) in log.findings.iter().enumerate() {
        let is_of = |other: &usize| log.findings.get(*other).is_some_and(|other| is_same(raised, other));
        let (mut same, others): (Vec<_>, Vec<_>) =
            problems.into_iter().partition(|problem| problem.iter().any(is_of));
        same.push(vec![place]);
        problems = others;
        problems.push(same.concat());
    }
    problems.iter_mut().for_each(|problem| problem.sort_unstable());
    problems.sort_unstable();
    let reports = |problem: &Vec<usize>| -> Vec<&RaisedFinding> {
        problem.iter().filter_map(|place| log.findings.get(*place)).collect()
    };
    let mut merged: Vec<ReviewFinding> =
        problems.iter().filter_map(|problem| merged_finding(log, &reports(problem))).collect();
    merged.sort_by_key(|found| (found.finding.severity, found.dropped));
    merged
}

/// The pairs of findings that a judge declares to be the same problem.
fn declared_same<'l>(log: &'l ReviewLog<'_>, judge: &ReviewJudge<'_>) -> Vec<[&'l str; 2]> {
    let shown = |is_own: bool, id: &str| Some(shown_finding(log, judge, is_own, id)?.id.as_str());
    let declared = judge.second.iter().flat_map(|second| &second.same_as);
    declared.filter_map(|same| Some([shown(true, &same.own)?, shown(false, &same.other)?])).collect()
}

/// Two findings are one when location and category are present and equal, or when they are the same text about the same place.
fn is_same_problem(log: &ReviewLog<'_>, one: &JudgeFinding, other: &JudgeFinding) -> bool {
    let is_same = |one: &Option<String>, other: &Option<String>| {
        let pair = one.as_deref().zip(other.as_deref());
        pair.is_some_and(|(one, other)| !one.trim().is_empty() && is_same_text(one, other))
    };
    let place = place(log, one).filter(|place| place.is_verified);
    let is_same_place =
        is_same(&one.location, &other.location) || place.is_some() && place == self::place(log, other);
    let is_nowhere = one.location.is_none() && other.location.is_none();
    is_same_place && is_same(&one.category, &other.category)
        || (is_same_place || is_nowhere) && is_same_text(&one.description, &other.description)
}

fn place(log: &ReviewLog<'_>, finding: &JudgeFinding) -> Option<PacketLocation> {
    log.packet().locate(finding.location.as_deref()?)
}

/// Whether the packet has the place that a finding names. A text has no lines: there the place is quoted.
fn is_found(log: &ReviewLog<'_>, finding: &JudgeFinding) -> bool {
    let is_quoted = |location: &String| log.packet().contains(location);
    place(log, finding).is_some_and(|place| place.is_verified)
        || finding.location.as_ref().is_some_and(is_quoted)
}

/// Whether a finding names a place that the packet does not have.
pub(super) fn is_misplaced(log: &ReviewLog<'_>, finding: &JudgeFinding) -> bool {
    finding.location.is_some() && !is_found(log, finding)
}

/// The reports of one problem as one finding, in the words of the most severe one that stands.
fn merged_finding(log: &ReviewLog<'_>, reports: &[&RaisedFinding]) -> Option<ReviewFinding> {
    let spoken = *reports.iter().min_by_key(|raised| (raised.is_dropped(), raised.finding.severity))?;
    let all = || std::iter::once(spoken).chain(reports.iter().copied()).map(|raised| &raised.finding);
    let named = all()
        .find(|finding| is_found(log, finding))
        .or_else(|| all().find(|finding| finding.location.is_some()));
    let at = named.and_then(|finding| place(log, finding));
    let in_seat_order = |is_one: &dyn Fn(&String) -> bool| -> Vec<String> {
        log.judges.iter().map(|judge| &judge.seat.id).filter(|seat| is_one(seat)).cloned().collect()
    };
    let has_raised = |seat: &String| reports.iter().any(|raised| raised.seat == *seat);
    let stands = |seat: &String| reports.iter().any(|raised| raised.seat == *seat && !raised.is_dropped());
    let said = others_answers(log, |id| reports.iter().any(|raised| raised.id == id));
    let accepts =
        |seat: &String| said.iter().any(|(other, said)| *other == seat && said.status == OtherStatus::Accept);
    let accepted_by = in_seat_order(&|seat| !has_raised(seat) && accepts(seat));
    let disputes =
        said.iter().filter(|(seat, said)| said.status == OtherStatus::Dispute && !has_raised(seat));
    let disputes = disputes.map(|(seat, said)| json!({"judge": seat, "reason": said.reason.trim()}));
    let mut rounds: Vec<u32> = reports.iter().map(|raised| raised.round).collect();
    rounds.dedup();
    Some(ReviewFinding {
        id: reports.first()?.id.clone(),
        ids: reports.iter().map(|raised| raised.id.clone()).collect(),
        finding: JudgeFinding {
            category: all().find_map(|finding| finding.category.clone()),
            location: named.and_then(|finding| finding.location.clone()),
            recommendation: all().find_map(|finding| finding.recommendation.clone()),
            ..spoken.finding.clone()
        },
        unverified: named.is_some_and(|finding| !is_found(log, finding)),
        line: at.as_ref().and_then(|place| place.line),
        end_line: at.as_ref().and_then(|place| place.end_line),
        file: at.map(|place| place.file),
        judges: in_seat_order(&|seat| has_raised(seat) || accepted_by.contains(seat)),
        raised_by: in_seat_order(&has_raised),
        dropped: accepted_by.is_empty() && reports.iter().all(|raised| raised.is_dropped()),
        dropped_by: in_seat_order(&|seat| has_raised(seat) && !stands(seat)),
        accepted_by,
        disputed_by: disputes.collect(),
        rounds,
        also: reports.iter().filter(|raised| raised.id != spoken.id).map(other_wording).collect(),
    })
}

/// What judges say in round 2 to these findings of other judges, in seat order.
pub(super) fn others_answers<'l>(
    log: &'l ReviewLog<'_>,
    is_meant: impl Fn(&str) -> bool,
) -> Vec<(&'l String, &'l OtherFindingStatus)> {
    let shown = || log.findings.iter().filter(|raised| raised.round == 1);
    let is_one =
        |said: &OtherFindingStatus| shown().any(|raised| is_meant(&raised.id) && is_id(&said.id, &raised.id));
    let said = log.judges.iter().flat_map(|judge| {
        let others = judge.second.iter().flat_map(|second| &second.others);
        others.map(|other| (&judge.seat.id, other))
    });
    said.filter(|(_, said)| is_one(said)).collect()
}

fn other_wording(RaisedFinding { id, seat, finding, .. }: &&RaisedFinding) -> Value {
    let JudgeFinding { severity, description, location, .. } = finding;
    json!({"id": id, "judge": seat, "severity": severity, "description": description, "location": location})
}
