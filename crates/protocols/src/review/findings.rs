//! What the judges declare about findings and about their changes of mind, verified: ids, quotes and locations. Here findings that
//! are the same problem become one, and a changed verdict meets the evidence bar or is a weak flip.

use agon_core::ReplyFault;
use agon_core::wording::{excerpt, sentence, spoken};
use serde::Serialize;

use super::ReviewPhase;
use super::log::{RaisedFinding, ReviewJudge, ReviewLog};
use super::packet::line_text;
use super::replies::{
    ChangeReason, EvidenceKind, FindingSeverity, FirstVerdict, JudgeFinding, JudgeVerdict,
    OtherFindingStatus, OtherStatus, OwnStatus, SecondVerdict,
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
    /// What everybody says who accepts one of its reports.
    #[serde(skip)]
    pub acceptances: Vec<AcceptedFinding>,
    /// Who disputed it in round 2.
    pub disputed_by: Vec<DisputedFinding>,
    /// The rounds in which it was reported.
    pub rounds: Vec<u32>,
    /// The other reports of it.
    pub also: Vec<OtherWording>,
    /// What those who raised it said to it in round 2, as the report puts it.
    #[serde(skip)]
    pub answers: Vec<String>,
    /// Whether everybody who raised or accepted it dropped it in round 2.
    pub dropped: bool,
    /// Who dropped it in round 2, by its id.
    pub dropped_by: Vec<String>,
}

/// A judge's acceptance of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedFinding {
    pub judge: String,
    /// The ids of the reports that it accepts.
    pub ids: Vec<String>,
    /// How severe it is to the judge, where it says so.
    pub severity: Option<FindingSeverity>,
    /// Whether one of these reports is of another severity.
    pub weighs_otherwise: bool,
    /// In whole sentences; empty if it gives no reason.
    pub reason: String,
}

impl AcceptedFinding {
    /// How severe the finding is to the judge, after "accepts" or "accepted": " as minor".
    pub(super) fn as_severity(&self) -> String {
        self.severity.map_or(String::new(), |severity| format!(" as {}", severity.as_str()))
    }
}

/// A judge's objection to a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DisputedFinding {
    pub judge: String,
    pub reason: String,
}

/// The same finding in other words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OtherWording {
    pub id: String,
    pub judge: String,
    /// How severe its judge thinks it is.
    pub severity: FindingSeverity,
    /// How severe it was when it was reported.
    #[serde(skip)]
    pub raised_as: FindingSeverity,
    pub description: String,
    pub location: Option<String>,
    /// What its judge advises.
    #[serde(skip)]
    pub recommendation: Option<String>,
}

/// Whether a seat means this id, with or without the brackets in which it was shown.
pub(super) fn is_id(said: &str, id: &str) -> bool {
    said.trim().trim_start_matches('[').trim_end_matches(']').trim().eq_ignore_ascii_case(id)
}

/// The rules of a first verdict that its schema cannot express.
pub(super) fn check_first_verdict(first: &FirstVerdict) -> Result<(), ReplyFault> {
    check_descriptions(&first.findings)?;
    match first.verdict != JudgeVerdict::Pass && first.findings.is_empty() {
        true => Err(ReplyFault::Unverified(no_finding(first.verdict))),
        false => Ok(()),
    }
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
    let is_changed = judge.first.as_ref().is_some_and(|first| first.verdict != second.now.verdict);
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
    let is_dropped = |raised: &RaisedFinding| {
        second.own.iter().any(|own| own.status == OwnStatus::Drop && is_id(&own.id, &raised.id))
    };
    let has_finding = !second.now.findings.is_empty()
        || second.others.iter().any(|other| other.status == OtherStatus::Accept)
        || log.shown_findings(judge, true).any(|raised| !is_dropped(raised));
    if second.now.verdict != JudgeVerdict::Pass && !has_finding {
        faults.push(no_finding(second.now.verdict));
    }
    if faults.is_empty() { Ok(()) } else { Err(ReplyFault::Unverified(faults.join(" "))) }
}

pub(super) fn check_restatement(text: &str) -> Result<(), ReplyFault> {
    match text.trim().is_empty() {
        true => {
            Err("`restatement` must summarize your verdict of round 1 in 2 to 3 sentences".to_owned().into())
        }
        false => Ok(()),
    }
}

fn check_descriptions(findings: &[JudgeFinding]) -> Result<(), ReplyFault> {
    match findings.iter().any(|finding| finding.description.trim().is_empty()) {
        true => Err("every one of `findings` needs a `description`".to_owned().into()),
        false => Ok(()),
    }
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
    let said = own.map(|id| (id, true)).chain(other.map(|id| (id, false)));
    let unknown = said.filter(|(id, is_own)| shown_finding(log, judge, *is_own, id).is_none());
    let what = |is_own| if is_own { "one of your findings" } else { "a finding of another judge" };
    unknown.map(|(id, is_own)| format!("{id:?} is not {}.", what(is_own))).collect()
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

/// Evidence for a change of verdict that verifies, as reports put it.
#[derive(Debug)]
pub(super) struct ChangeEvidence {
    /// What is cited.
    pub(super) cited: String,
    /// The same as a sentence of its own.
    pub(super) sentence: String,
    /// The id of what is cited, if it was looked up.
    pub(super) source: Option<String>,
}

/// The evidence of a judge that changed its verdict, if it verifies.
///
/// "You may only change your verdict if you can cite a SPECIFIC technical detail, code location, or factual error."
pub(super) fn change_evidence(log: &ReviewLog<'_>, judge: &ReviewJudge<'_>) -> Option<ChangeEvidence> {
    let (second, _) = judge.second.as_ref().filter(|_| judge.is_changed())?;
    verified_evidence(log, judge, second.changed_because.as_ref()?)
}

/// The evidence for a change, if it is in the packet, in the findings that the judge was shown, or in its own words of round 1.
fn verified_evidence(
    log: &ReviewLog<'_>,
    judge: &ReviewJudge<'_>,
    reason: &ChangeReason,
) -> Option<ChangeEvidence> {
    let ChangeReason { kind, citation, quote } = reason;
    if let Some(source) = looked_up(log, reason) {
        let sentence = format!("Its evidence ({}): {}", spoken(kind.as_str()), source.cited);
        return Some(ChangeEvidence { cited: source.cited, sentence, source: Some(source.id) });
    }
    let cited = match kind {
        EvidenceKind::CodeLocation => log.packet().quotes_line(citation, quote).then(|| reason.sentence())?,
        EvidenceKind::MissedDetail => missed_detail(log, judge, reason)?,
        EvidenceKind::FactualError => {
            let withdrawn = |claim, against| withdrawn_claim(log, judge, claim, against);
            return withdrawn(quote, citation).or_else(|| withdrawn(citation, quote));
        }
    };
    let sentence = format!("Its evidence ({}): {cited}", spoken(kind.as_str()));
    Some(ChangeEvidence { cited, sentence, source: None })
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
        let is_elsewhere = packet.locate(citation).is_some() && !packet.quotes_line(citation, quote);
        let cited = if is_elsewhere { format!("\u{201c}{words}\u{201d}") } else { reason.sentence() };
        return packet.contains(quote).then_some(cited);
    };
    // A quote beside an id must be true, too.
    let quoted = QuotedTexts::new(log.brief());
    let is_of_finding = |text: &&str| quoted.is_quoted(quote, text);
    match () {
        () if words.is_empty() || is_id(quote, id) => Some(id.clone()),
        () if finding_texts(finding).iter().any(is_of_finding) => {
            Some(format!("{id} \u{201c}{words}\u{201d}"))
        }
        () => packet.contains(quote).then(|| format!("{id}, \u{201c}{words}\u{201d}")),
    }
}

/// A claim of round 1 that a judge takes back for something in the packet, if both are there.
fn withdrawn_claim(
    log: &ReviewLog<'_>,
    judge: &ReviewJudge<'_>,
    claim: &str,
    against: &str,
) -> Option<ChangeEvidence> {
    const LINE_CHARS_MAX: usize = 200;
    let packet = log.packet();
    claims(judge).iter().find(|own| is_quote_of(claim, own))?;
    let place = packet.locate(against).filter(|place| place.is_verified);
    // Words of the target may name a place, too.
    let is_words = packet.contains(against) && against.trim().contains(char::is_whitespace);
    let (source, text) = match place.as_ref().and_then(|place| Some((place, place.line?))) {
        Some((place, line)) if !is_words => {
            let end = place.end_line.map_or(String::new(), |end| format!("-{end}"));
            let text = line_text(log.brief(), place).map(|text| excerpt(&text, LINE_CHARS_MAX));
            let text = text.map_or(String::new(), |text| format!(" (\u{201c}{text}\u{201d})"));
            (format!("{}:{line}{end}", place.file), text)
        }
        _ => packet
            .contains(against)
            .then(|| (format!("\u{201c}{}\u{201d}", against.trim()), String::new()))?,
    };
    let own = format!("its own words of round 1, \u{201c}{}\u{201d}", claim.trim());
    Some(ChangeEvidence {
        cited: format!("{source} against {own}"),
        sentence: format!("It withdraws {own}: {source} contradicts them{text}."),
        source: None,
    })
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
    let labels = problem_labels(log);
    let reports = |label: usize| {
        let reports = log.findings.iter().zip(&labels).filter(|(_, other)| **other == label);
        reports.map(|(raised, _)| raised).collect::<Vec<_>>()
    };
    let mut merged: Vec<ReviewFinding> =
        (0..labels.len()).filter_map(|label| merged_finding(log, &reports(label))).collect();
    merged.sort_by_key(|found| (found.finding.severity, found.dropped));
    merged
}

/// For every finding a number, which is the same for reports of one problem.
fn problem_labels(log: &ReviewLog<'_>) -> Vec<usize> {
    let mut labels: Vec<usize> = (0..log.findings.len()).collect();
    let mut join = |one: &RaisedFinding, other: &RaisedFinding| {
        let label = |raised: &RaisedFinding| {
            let place = log.findings.iter().position(|other| other.id == raised.id)?;
            labels.get(place).copied()
        };
        if let Some((one, other)) = label(one).zip(label(other)) {
            labels
                .iter_mut()
                .filter(|label| **label == one.max(other))
                .for_each(|label| *label = one.min(other));
        }
    };
    for (place, raised) in log.findings.iter().enumerate() {
        let earlier = log.findings.iter().take(place);
        earlier
            .filter(|other| is_same_problem(log, &raised.finding, &other.finding))
            .for_each(|other| join(raised, other));
    }
    for judge in &log.judges {
        for same in judge.second.iter().flat_map(|(second, _)| &second.same_as) {
            let own = shown_finding(log, judge, true, &same.own);
            let pair = own.zip(shown_finding(log, judge, false, &same.other));
            pair.into_iter().for_each(|(own, other)| join(own, other));
        }
    }
    labels
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
    let judges = |is_one: &dyn Fn(&ReviewJudge<'_>) -> bool| {
        let judges = log.judges.iter().filter(|judge| is_one(judge));
        judges.map(|judge| judge.seat.id.clone()).collect::<Vec<_>>()
    };
    let has_raised = |judge: &ReviewJudge<'_>| reports.iter().any(|raised| raised.seat == judge.seat.id);
    let stands = |judge: &ReviewJudge<'_>| {
        reports.iter().any(|raised| raised.seat == judge.seat.id && !raised.is_dropped())
    };
    let acceptances = acceptances(log, reports);
    let accepts = |judge: &ReviewJudge<'_>| acceptances.iter().any(|said| said.judge == judge.seat.id);
    let accepted_by = judges(&|judge| !has_raised(judge) && accepts(judge));
    let disputes = log.judges.iter().filter(|judge| !has_raised(judge));
    let disputes = disputes.flat_map(|judge| {
        let said = answers(judge, OtherStatus::Dispute, reports).map(|said| said.reason.trim());
        said.map(|reason| DisputedFinding { judge: judge.seat.id.clone(), reason: reason.to_owned() })
    });
    let disputed_by: Vec<DisputedFinding> = disputes.collect();
    let unverified = named.is_some_and(|finding| !is_found(log, finding));
    let is_doubted = unverified || !disputed_by.is_empty();
    let answers = reports.iter().filter_map(|raised| own_answer(log, raised, is_doubted)).collect();
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
        unverified,
        line: at.as_ref().and_then(|place| place.line),
        end_line: at.as_ref().and_then(|place| place.end_line),
        file: at.map(|place| place.file),
        judges: judges(&|judge| has_raised(judge) || accepted_by.contains(&judge.seat.id)),
        raised_by: judges(&has_raised),
        dropped: accepted_by.is_empty() && reports.iter().all(|raised| raised.is_dropped()),
        dropped_by: judges(&|judge| has_raised(judge) && !stands(judge)),
        accepted_by,
        acceptances,
        disputed_by,
        answers,
        rounds,
        also: reports
            .iter()
            .filter(|raised| raised.id != spoken.id)
            .map(|raised| other_wording(raised))
            .collect(),
    })
}

/// Everybody who accepts one of these reports, with all the reasons given.
fn acceptances(log: &ReviewLog<'_>, reports: &[&RaisedFinding]) -> Vec<AcceptedFinding> {
    let acceptance = |judge: &ReviewJudge<'_>| {
        let said: Vec<&OtherFindingStatus> = answers(judge, OtherStatus::Accept, reports).collect();
        let severity = said.iter().find_map(|said| said.severity);
        let accepted = reports.iter().filter(|raised| said.iter().any(|said| is_id(&said.id, &raised.id)));
        let own = reports.iter().filter(|raised| raised.seat == judge.seat.id);
        let worst_own = own.map(|raised| raised.finding.severity).min();
        let weighs_otherwise = accepted.clone().any(|raised| {
            let theirs = raised.finding.severity;
            severity.is_some_and(|said| said != theirs)
                || worst_own.is_some_and(|own| severity.unwrap_or(theirs) != own)
        });
        let ids = accepted.map(|raised| raised.id.clone()).collect();
        let reasons = said.iter().map(|said| said.reason.trim()).filter(|reason| !reason.is_empty());
        let mut reasons: Vec<String> = reasons.map(sentence).collect();
        reasons.dedup();
        let (judge, reason) = (judge.seat.id.clone(), reasons.join(" "));
        (!said.is_empty()).then_some(AcceptedFinding { judge, ids, severity, weighs_otherwise, reason })
    };
    log.judges.iter().filter_map(acceptance).collect()
}

/// What a judge says that accepts or disputes one of these reports.
fn answers<'j>(
    judge: &'j ReviewJudge<'_>,
    status: OtherStatus,
    reports: &[&RaisedFinding],
) -> impl Iterator<Item = &'j OtherFindingStatus> {
    let is_meant = |id: &str| reports.iter().any(|raised| raised.round == 1 && is_id(id, &raised.id));
    let others = judge.second.iter().flat_map(|(second, _)| &second.others);
    others.filter(move |other| other.status == status && is_meant(&other.id))
}

fn other_wording(raised: &RaisedFinding) -> OtherWording {
    let JudgeFinding { severity, description, location, recommendation, .. } = raised.finding.clone();
    let (id, judge, raised_as) = (raised.id.clone(), raised.seat.clone(), raised.raised_as);
    OtherWording { id, judge, severity, raised_as, description, location, recommendation }
}

/// What a judge said to its own finding in round 2, where that is news: another severity, a drop, nothing at all, or why it stands
/// although it is disputed or names a place that is not in the target. A dispute comes in the same round, so its answer is none to it.
fn own_answer(log: &ReviewLog<'_>, raised: &RaisedFinding, is_doubted: bool) -> Option<String> {
    let (id, judge) = (&raised.id, &raised.seat);
    let Some(answer) = &raised.answer else {
        let was_asked = raised.round == 1 && log.revised().any(|revised| revised.seat.id == *judge);
        return was_asked.then(|| format!("{judge} did not list {id} among its own findings in round 2."));
    };
    let reason = answer.reason.trim();
    let (was, now) = (raised.raised_as.as_str(), raised.finding.severity.as_str());
    let what = match answer.status {
        OwnStatus::Drop => format!("{judge} dropped {id} in round 2"),
        OwnStatus::Change if was != now => format!("{judge} changed {id} from {was} to {now} in round 2"),
        _ if is_doubted => format!("{judge} kept {id} in round 2"),
        _ => return None,
    };
    Some(if reason.is_empty() { format!("{what}.") } else { format!("{what}: {}", sentence(reason)) })
}
