//! What the judges declare about findings and about their changes of mind, verified: ids, quotes and locations. Here findings that
//! are the same problem become one, and a changed verdict meets the evidence bar or is a weak flip.

use agon_core::ReplyFault;

use super::log::{RaisedFinding, ReviewJudge, ReviewLog};
use super::replies::{
    ChangeReason, EvidenceKind, FindingSeverity, FirstVerdict, JudgeFinding, JudgeVerdict, OtherStatus,
    OwnStatus, SecondVerdict,
};
use super::verdict::{DisputedFinding, OtherWording, ReviewFinding};
use crate::packet_lines::PacketLocation;
use crate::quotes::{QuotedTexts, is_quote_of, is_same_text};

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
    check_descriptions(&second.findings)?;
    let mut faults = unknown_ids(log, judge, second);
    let is_changed = judge.first.as_ref().is_some_and(|first| first.verdict != second.verdict);
    let reason = second.changed_because.as_ref().filter(|_| is_changed);
    if let Some(reason) = reason.filter(|reason| !is_evidence(log, judge, reason)) {
        faults.push(format!("`changed_because` does not verify: {}.", bar(reason.kind)));
    }
    let is_dropped = |raised: &RaisedFinding| {
        second.own.iter().any(|own| own.status == OwnStatus::Drop && is_id(&own.id, &raised.id))
    };
    let has_finding = !second.findings.is_empty()
        || second.others.iter().any(|other| other.status == OtherStatus::Accept)
        || log.findings_of(judge, 1).any(|raised| !is_dropped(raised));
    if second.verdict != JudgeVerdict::Pass && !has_finding {
        faults.push(no_finding(second.verdict));
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

/// What the judge must give for evidence of this kind.
fn bar(kind: EvidenceKind) -> &'static str {
    match kind {
        EvidenceKind::CodeLocation => {
            "for code_location `citation` must be a path:line of the target, and `quote` that line, copied exactly"
        }
        EvidenceKind::MissedDetail => {
            "for missed_detail `quote` must be copied exactly from the target, or `citation` must be the id of another judge's finding"
        }
        EvidenceKind::FactualError => {
            "for factual_error `quote` must be copied exactly from your own verdict of round 1, and `citation` must be the path:line \
             or the exact words of the target that contradict it"
        }
    }
}

/// A sentence for every id that the judge was not shown in that place.
fn unknown_ids(log: &ReviewLog<'_>, judge: &ReviewJudge<'_>, second: &SecondVerdict) -> Vec<String> {
    let is_own = |id: &str| log.findings_of(judge, 1).any(|raised| is_id(id, &raised.id));
    let is_other = |id: &str| others_findings(log, judge).any(|raised| is_id(id, &raised.id));
    let own = second.own.iter().map(|own| &own.id).chain(second.same_as.iter().map(|same| &same.own));
    let other =
        second.others.iter().map(|other| &other.id).chain(second.same_as.iter().map(|same| &same.other));
    let own = own.filter(|id| !is_own(id)).map(|id| format!("{id:?} is not one of your findings."));
    let other =
        other.filter(|id| !is_other(id)).map(|id| format!("{id:?} is not a finding of another judge."));
    own.chain(other).collect()
}

/// The findings of other judges that a judge reads in round 2.
pub(super) fn others_findings<'l>(
    log: &'l ReviewLog<'_>,
    judge: &ReviewJudge<'_>,
) -> impl Iterator<Item = &'l RaisedFinding> {
    let place = log.judges.iter().position(|other| other.seat.id == judge.seat.id);
    log.findings.iter().filter(move |raised| raised.round == 1 && Some(raised.judge) != place)
}

/// Whether a verdict was changed without evidence that verifies.
///
/// "You may only change your verdict if you can cite a SPECIFIC technical detail, code location, or factual error."
pub(super) fn is_weak_flip(log: &ReviewLog<'_>, judge: &ReviewJudge<'_>) -> bool {
    let (Some(first), Some((second, _))) = (&judge.first, &judge.second) else { return false };
    let reason = second.changed_because.as_ref();
    first.verdict != second.verdict && !reason.is_some_and(|reason| is_evidence(log, judge, reason))
}

/// Whether the evidence for a change is in the packet, or in the findings that the judge was shown.
fn is_evidence(log: &ReviewLog<'_>, judge: &ReviewJudge<'_>, reason: &ChangeReason) -> bool {
    let ChangeReason { kind, citation, quote } = reason;
    let packet = log.packet();
    match kind {
        EvidenceKind::CodeLocation => packet.quotes_line(citation, quote),
        EvidenceKind::MissedDetail => {
            let cited = others_findings(log, judge).find(|raised| names_finding(citation, quote, &raised.id));
            let Some(raised) = cited else { return packet.contains(quote) };
            // A quote beside an id must be true, too.
            let is_bare = quote.trim().is_empty() || is_id(quote, &raised.id);
            is_bare || packet.contains(quote) || is_quoted(log, quote, &finding_texts(&raised.finding))
        }
        EvidenceKind::FactualError => {
            let contradicts = |text: &str| {
                let is_line = |place: &PacketLocation| place.is_verified && place.line.is_some();
                packet.locate(text).as_ref().is_some_and(is_line) || packet.contains(text)
            };
            let is_claim = |text: &str| claims(judge).iter().any(|claim| is_quote_of(text, claim));
            is_claim(quote) && contradicts(citation) || is_claim(citation) && contradicts(quote)
        }
    }
}

/// Whether the evidence names a finding: by its id alone, or by its id in brackets.
fn names_finding(citation: &str, quote: &str, id: &str) -> bool {
    is_id(citation, id) || citation.contains(&format!("[{id}]")) || is_id(quote, id)
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

fn is_quoted(log: &ReviewLog<'_>, quote: &str, texts: &[&str]) -> bool {
    let quoted = QuotedTexts::new(log.brief());
    texts.iter().any(|text| quoted.is_quoted(quote, text))
}

/// Everything that was found in both rounds, each problem once, the most severe first.
pub(super) fn merged_findings(log: &ReviewLog<'_>) -> Vec<ReviewFinding> {
    let locate = |raised: &RaisedFinding| log.packet().locate(raised.finding.location.as_deref()?);
    let places: Vec<Option<PacketLocation>> = log.findings.iter().map(locate).collect();
    let mut merged: Vec<ReviewFinding> = Vec::new();
    for group in groups(log, &places) {
        merged.extend(FindingGroup { log, places: &places, members: group }.merged());
    }
    merged.sort_by_key(|found| (found.finding.severity, found.dropped));
    merged
}

/// The places of the findings, those of one problem together.
fn groups(log: &ReviewLog<'_>, places: &[Option<PacketLocation>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = (0..log.findings.len()).map(|place| vec![place]).collect();
    let mut join = |one: usize, other: usize| {
        let of = |place: usize, groups: &[Vec<usize>]| groups.iter().position(|group| group.contains(&place));
        if let (Some(one), Some(other)) = (of(one, &groups), of(other, &groups))
            && one != other
        {
            let joined = groups.swap_remove(one.max(other));
            groups.iter_mut().skip(one.min(other)).take(1).for_each(|group| group.extend(&joined));
        }
    };
    for (one, raised) in log.findings.iter().enumerate() {
        for (other, earlier) in log.findings.iter().enumerate().take(one) {
            let place = |place: usize| places.get(place).and_then(Option::as_ref);
            if is_same_problem((&raised.finding, place(one)), (&earlier.finding, place(other))) {
                join(one, other);
            }
        }
    }
    for judge in &log.judges {
        for same in judge.second.iter().flat_map(|(second, _)| &second.same_as) {
            let own = log.findings_of(judge, 1).find(|raised| is_id(&same.own, &raised.id));
            let other = others_findings(log, judge).find(|raised| is_id(&same.other, &raised.id));
            let place = |raised: &RaisedFinding| log.findings.iter().position(|other| other.id == raised.id);
            if let Some((own, other)) = own.and_then(place).zip(other.and_then(place)) {
                join(own, other);
            }
        }
    }
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups.sort_unstable();
    groups
}

/// Two findings are one when location and category are present and equal, or when they are the same text about the same place.
fn is_same_problem(
    (one, one_at): (&JudgeFinding, Option<&PacketLocation>),
    (other, other_at): (&JudgeFinding, Option<&PacketLocation>),
) -> bool {
    let is_same = |one: &Option<String>, other: &Option<String>| {
        let pair = one.as_deref().zip(other.as_deref());
        pair.is_some_and(|(one, other)| !one.trim().is_empty() && is_same_text(one, other))
    };
    let is_verified = one_at.is_some_and(|place| place.is_verified);
    let is_same_place = is_verified && one_at == other_at || is_same(&one.location, &other.location);
    let is_nowhere = one.location.is_none() && other.location.is_none();
    is_same_place && is_same(&one.category, &other.category)
        || (is_same_place || is_nowhere) && is_same_text(&one.description, &other.description)
}

/// Reports of one problem.
struct FindingGroup<'l, 'a> {
    log: &'l ReviewLog<'a>,
    places: &'l [Option<PacketLocation>],
    members: Vec<usize>,
}

impl<'l, 'a> FindingGroup<'l, 'a> {
    /// The finding in the words of its most severe report that stands.
    fn merged(&self) -> Option<ReviewFinding> {
        let spoken = self.reports().min_by_key(|raised| (self.is_dropped(raised), self.severity(raised)))?;
        let (raised_by, accepted_by) = (self.raised_by(), self.accepted_by());
        let seats = self.log.judges.iter().map(|judge| &judge.seat.id);
        let judges: Vec<String> =
            seats.filter(|seat| raised_by.contains(seat) || accepted_by.contains(seat)).cloned().collect();
        let dropped_by = self.dropped_by();
        let place = self.place();
        let first = |field: fn(&JudgeFinding) -> &Option<String>| {
            let all = std::iter::once(spoken).chain(self.reports());
            all.filter_map(|raised| field(&raised.finding).clone()).find(|text| !text.trim().is_empty())
        };
        let own_location = self.located(spoken).is_some() || place.is_none();
        let located = self.reports().find(|raised| self.located(raised).is_some());
        let located = located.filter(|_| !own_location).and_then(|raised| raised.finding.location.clone());
        let mut rounds: Vec<u32> = self.reports().map(|raised| raised.round).collect();
        rounds.dedup();
        Some(ReviewFinding {
            id: self.reports().next()?.id.clone(),
            ids: self.reports().map(|raised| raised.id.clone()).collect(),
            finding: JudgeFinding {
                severity: self.severity(spoken),
                description: spoken.finding.description.clone(),
                category: first(|finding| &finding.category),
                location: located.or_else(|| first(|finding| &finding.location)),
                recommendation: first(|finding| &finding.recommendation),
            },
            unverified: self.is_unverified(),
            file: place.map(|place| place.file.clone()),
            line: place.and_then(|place| place.line),
            end_line: place.and_then(|place| place.end_line),
            dropped: judges.iter().all(|judge| dropped_by.contains(judge)),
            judges,
            raised_by,
            accepted_by,
            disputed_by: self.disputed_by(),
            rounds,
            also: self.other_wordings(spoken),
            dropped_by,
        })
    }

    fn reports(&self) -> impl Iterator<Item = &'l RaisedFinding> {
        self.members.iter().filter_map(|place| self.log.findings.get(*place))
    }

    fn judge(&self, raised: &RaisedFinding) -> Option<&'l ReviewJudge<'a>> {
        self.log.judges.get(raised.judge)
    }

    /// Whether its judge dropped it, by its id, in a round 2 that counts.
    fn is_dropped(&self, raised: &RaisedFinding) -> bool {
        let status = self.judge(raised).and_then(|judge| judge.own_status(&raised.id));
        status.is_some_and(|(status, _)| status == OwnStatus::Drop)
    }

    /// How severe its judge thinks it is in the end.
    fn severity(&self, raised: &RaisedFinding) -> FindingSeverity {
        let status = self.judge(raised).and_then(|judge| judge.own_status(&raised.id));
        let changed =
            status.filter(|(status, _)| *status == OwnStatus::Change).and_then(|(_, severity)| severity);
        changed.unwrap_or(raised.finding.severity)
    }

    fn seats_of<'r>(&self, reports: impl Iterator<Item = &'r RaisedFinding>) -> Vec<String> {
        let mut seats: Vec<String> = Vec::new();
        let mut places: Vec<usize> = reports.map(|raised| raised.judge).collect();
        places.sort_unstable();
        places.dedup();
        seats.extend(
            places.iter().filter_map(|place| self.log.judges.get(*place)).map(|judge| judge.seat.id.clone()),
        );
        seats
    }

    fn raised_by(&self) -> Vec<String> {
        self.seats_of(self.reports())
    }

    /// The judges who dropped every report of it that they made.
    fn dropped_by(&self) -> Vec<String> {
        let standing = self.seats_of(self.reports().filter(|raised| !self.is_dropped(raised)));
        self.raised_by().into_iter().filter(|judge| !standing.contains(judge)).collect()
    }

    /// What judges who did not raise it say to it: judge, status, reason.
    fn answers(&self, wanted: OtherStatus) -> impl Iterator<Item = (&'l ReviewJudge<'a>, &'l str)> {
        let said = self.log.judges.iter().flat_map(|judge| {
            let others = judge.second.iter().flat_map(|(second, _)| &second.others);
            others.map(move |other| (judge, other))
        });
        let raised_by = self.raised_by();
        said.filter(move |(judge, other)| {
            other.status == wanted
                && !raised_by.contains(&judge.seat.id)
                && self.reports().any(|raised| raised.round == 1 && is_id(&other.id, &raised.id))
        })
        .map(|(judge, other)| (judge, other.reason.trim()))
    }

    fn accepted_by(&self) -> Vec<String> {
        let mut seats: Vec<String> =
            self.answers(OtherStatus::Accept).map(|(judge, _)| judge.seat.id.clone()).collect();
        seats.dedup();
        seats
    }

    fn disputed_by(&self) -> Vec<DisputedFinding> {
        let disputed = self.answers(OtherStatus::Dispute);
        disputed
            .map(|(judge, reason)| DisputedFinding {
                judge: judge.seat.id.clone(),
                reason: reason.to_owned(),
            })
            .collect()
    }

    /// The place that a report names, if the packet has it.
    fn located(&self, raised: &RaisedFinding) -> Option<&'l PacketLocation> {
        let place = self.log.findings.iter().position(|other| other.id == raised.id)?;
        self.places.get(place)?.as_ref().filter(|place| place.is_verified)
    }

    /// The first place that the packet has, else the first that is named.
    fn place(&self) -> Option<&'l PacketLocation> {
        let named = self.members.iter().filter_map(|member| self.places.get(*member)?.as_ref());
        self.reports().find_map(|raised| self.located(raised)).or_else(|| named.into_iter().next())
    }

    /// Whether a place is named and none that is named is in the packet. A text has no lines: there the place is quoted.
    fn is_unverified(&self) -> bool {
        let mut named = self.reports().filter(|raised| raised.finding.location.is_some()).peekable();
        let is_quoted = |raised: &RaisedFinding| {
            raised.finding.location.as_ref().is_some_and(|at| self.log.packet().contains(at))
        };
        named.peek().is_some() && !named.any(|raised| self.located(raised).is_some() || is_quoted(raised))
    }

    /// What others called it, and where they saw it.
    fn other_wordings(&self, spoken: &RaisedFinding) -> Vec<OtherWording> {
        let others = self.reports().filter(|raised| {
            let (own, other) = (&spoken.finding, &raised.finding);
            !is_same_text(&own.description, &other.description) || own.location != other.location
        });
        let wording = |raised: &RaisedFinding| OtherWording {
            id: raised.id.clone(),
            judge: self.judge(raised).map(|judge| judge.seat.id.clone()).unwrap_or_default(),
            description: raised.finding.description.clone(),
            location: raised.finding.location.clone(),
        };
        others.map(wording).collect()
    }
}
