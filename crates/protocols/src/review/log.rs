//! What `review` reads from the log: who judges, the verdicts of each judge, and their findings with ids.

use std::cell::OnceCell;

use agon_core::wording::spoken;
use agon_core::{AbsenceReason, Brief, Corrupt, Debate, PhaseTurn, PositionChange, Reply, Seat};
use serde::Deserialize;
use serde_json::Value;

use super::replies::{
    ChangeReason, FindingSeverity, FirstVerdict, JudgeFinding, JudgeVerdict, OwnFindingStatus, OwnStatus,
    SecondVerdict,
};
use super::seats::{self, JudgePerspective, vendor};
use super::verdict::{CountedRound, ReviewBranch};
use super::{ReviewOptions, ReviewPhase, findings, packet};
use crate::limits::LimitCheck;
use crate::packet_lines::PacketLines;

/// How long a judge has for its second round unless the user sets a time.
const R2_TIMEOUT_S: f64 = 90.0;

/// A judge and what it said.
#[derive(Debug)]
pub(super) struct ReviewJudge<'a> {
    pub(super) seat: &'a Seat,
    /// Whether it is of the second vendor and so has no second round.
    pub(super) mixed: bool,
    pub(super) perspective: Option<JudgePerspective>,
    /// The provider of the model that spoke, else of the one that was asked.
    pub(super) vendor: String,
    /// What it answered in round 1, in every mode.
    pub(super) answer: Option<&'a Value>,
    /// The same as a verdict, in validate mode.
    pub(super) first: Option<FirstVerdict>,
    /// Whether it restated its verdict in a call of its own.
    pub(super) restated: bool,
    pub(super) second: Option<SecondVerdict>,
    /// The evidence for its change of verdict, where it verifies.
    pub(super) evidence: Option<PositionChange>,
    /// Whether its verdict went back to round 1 because nothing verifies.
    pub(super) is_reverted: bool,
}

/// A finding as one judge reported it.
#[derive(Debug)]
pub(super) struct RaisedFinding {
    /// `F1`, `F2`... in seat order over both rounds.
    pub(super) id: String,
    pub(super) seat: String,
    pub(super) round: u32,
    /// With the severity that its judge gives it in the end.
    pub(super) finding: JudgeFinding,
    /// The severity with which it was raised.
    pub(super) raised_as: FindingSeverity,
    /// What its judge says to it in round 2, by its id.
    pub(super) answer: Option<OwnFindingStatus>,
}

impl RaisedFinding {
    /// Whether its judge dropped it.
    pub(super) fn is_dropped(&self) -> bool {
        self.answer.as_ref().is_some_and(|answer| answer.status == OwnStatus::Drop)
    }
}

impl ReviewJudge<'_> {
    pub(super) fn first_verdict(&self) -> Option<JudgeVerdict> {
        Some(self.first.as_ref()?.verdict)
    }

    /// Its verdicts of the two rounds, if they differ.
    pub(super) fn change(&self) -> Option<[JudgeVerdict; 2]> {
        let (first, second) = (self.first_verdict()?, self.second.as_ref()?.now.verdict);
        (first != second).then_some([first, second])
    }

    /// Whether it changed its verdict without evidence that could be verified.
    pub(super) fn is_weak_flip(&self) -> bool {
        self.change().is_some() && self.evidence.is_none()
    }

    /// What it cites for a change of verdict.
    pub(super) fn changed_because(&self) -> Option<&ChangeReason> {
        self.change()?;
        self.second.as_ref()?.changed_because.as_ref()
    }

    /// The verdict that counts, and its round: that of round 2, unless there is none or it was reverted.
    pub(super) fn counted(&self) -> Option<(CountedRound, &FirstVerdict)> {
        match &self.second {
            Some(second) if !self.is_reverted => Some((CountedRound::R2, &second.now)),
            _ => Some((CountedRound::R1, self.first.as_ref()?)),
        }
    }

    /// The same without its round.
    pub(super) fn counted_verdict(&self) -> Option<JudgeVerdict> {
        self.counted().map(|(_, counted)| counted.verdict)
    }

    /// The verdict that the judge holds at the end, even where it was reverted.
    pub(super) fn last(&self) -> Option<&FirstVerdict> {
        self.second.as_ref().map(|second| &second.now).or(self.first.as_ref())
    }

    /// What it cites for a change of verdict although that does not verify.
    pub(super) fn unverified_cause(&self) -> Option<String> {
        let cited = self.changed_because().filter(|_| self.is_weak_flip())?;
        Some(cited.words()).filter(|words| words.contains(char::is_alphanumeric))
    }

    /// A change of verdict and what is cited for it, for readers.
    pub(super) fn change_words(&self) -> Option<String> {
        let [first, second] = self.change()?.map(JudgeVerdict::as_str);
        let cited = match (&self.evidence, self.changed_because(), self.unverified_cause()) {
            (Some(evidence), Some(because), _) => {
                format!("{}: {}", spoken(because.kind.as_str()), evidence.cited.join("; "))
            }
            (.., Some(cited)) => format!("weak flip: it cites {cited}, which does not verify"),
            _ => "weak flip: it cites nothing".to_owned(),
        };
        let reverted = if self.is_reverted { "; reverted to R1" } else { "" };
        Some(format!("{first} to {second}, {cited}{reverted}"))
    }
}

/// The log as `review` sees it.
#[derive(Debug)]
pub(super) struct ReviewLog<'a> {
    pub(super) debate: &'a Debate,
    pub(super) options: ReviewOptions,
    /// In seat order, those of the second vendor last.
    pub(super) judges: Vec<ReviewJudge<'a>>,
    /// Those of round 1 first, each round in seat order.
    pub(super) findings: Vec<RaisedFinding>,
    packet: OnceCell<PacketLines>,
}

impl<'a> ReviewLog<'a> {
    pub(super) fn read(debate: &'a Debate) -> Result<Self, Corrupt> {
        let brief = &debate.brief;
        let options = ReviewOptions::read(&brief.options);
        // They were found when the debate was opened.
        let perspectives = seats::perspectives(&options, &brief.files).unwrap_or_default();
        let seated = brief.seats_of("judge").count();
        let mut judges = Vec::new();
        for role in ["judge", "mixed_judge"] {
            for (place, seat) in brief.seats_of(role).enumerate() {
                let value = |phase: ReviewPhase| reply_in(debate, phase, &seat.id).and_then(Reply::value);
                let answer = value(ReviewPhase::FirstVerdict);
                let verdict = answer.filter(|_| options.is_validation());
                let second = value(ReviewPhase::SecondVerdict);
                judges.push(ReviewJudge {
                    seat,
                    mixed: role == "mixed_judge",
                    perspective: seats::perspective_at(&options, &perspectives, place, seated),
                    vendor: vendor_that_spoke(debate, seat),
                    answer,
                    first: verdict.map(FirstVerdict::deserialize).transpose()?,
                    restated: value(ReviewPhase::Restate).is_some(),
                    second: second.map(SecondVerdict::deserialize).transpose()?,
                    evidence: None,
                    is_reverted: false,
                });
            }
        }
        let findings = raised_findings(&judges);
        let mut log = Self { debate, options, judges, findings, packet: OnceCell::new() };
        let evidence =
            |judge: &ReviewJudge<'_>| findings::verified_evidence(&log, judge, judge.changed_because()?);
        let evidence: Vec<Option<PositionChange>> = log.judges.iter().map(evidence).collect();
        for (judge, evidence) in log.judges.iter_mut().zip(evidence) {
            judge.evidence = evidence;
            judge.is_reverted = log.options.strict_anchoring && judge.is_weak_flip();
        }
        Ok(log)
    }

    /// The files and texts that are judged, by line.
    pub(super) fn packet(&self) -> &PacketLines {
        self.packet.get_or_init(|| packet::packet_lines(self.brief()))
    }

    /// The judge of this seat.
    pub(super) fn judge(&self, seat: &str) -> Option<&ReviewJudge<'a>> {
        self.judges.iter().find(|judge| judge.seat.id == seat)
    }

    /// The findings of a judge in round 1, or those of the others. These are the ones that it is shown with their ids.
    pub(super) fn shown_findings(
        &self,
        judge: &ReviewJudge<'_>,
        is_own: bool,
    ) -> impl Iterator<Item = &RaisedFinding> {
        let seat = judge.seat.id.clone();
        self.findings.iter().filter(move |raised| raised.round == 1 && (raised.seat == seat) == is_own)
    }

    /// The findings of a judge that stand in the end.
    pub(super) fn standing(&self, judge: &ReviewJudge<'_>) -> impl Iterator<Item = &JudgeFinding> {
        let own = self.findings.iter().filter(|raised| raised.seat == judge.seat.id && !raised.is_dropped());
        own.map(|raised| &raised.finding)
    }

    pub(super) fn brief(&self) -> &'a Brief {
        &self.debate.brief
    }

    pub(super) fn limits(&self) -> LimitCheck<'a> {
        LimitCheck { debate: self.debate, closing_share: 0.0, closing_calls: 0 }
    }

    /// The judges who answered in round 1.
    pub(super) fn survivors(&self) -> impl Iterator<Item = &ReviewJudge<'a>> {
        self.judges.iter().filter(|judge| judge.answer.is_some())
    }

    /// The judges who may revise their verdict in round 2.
    pub(super) fn revisers(&self) -> impl Iterator<Item = &ReviewJudge<'a>> {
        self.judges.iter().filter(|judge| !judge.mixed && judge.first.is_some())
    }

    /// The judges who restated their verdict in a call of its own.
    pub(super) fn restated(&self) -> impl Iterator<Item = &ReviewJudge<'a>> {
        self.revisers().filter(|judge| judge.restated)
    }

    /// The judges who gave a second verdict.
    pub(super) fn revised(&self) -> impl Iterator<Item = &ReviewJudge<'a>> {
        self.judges.iter().filter(|judge| judge.second.is_some())
    }

    /// Whether there is a second round: the user asked for one, and somebody can revise and has somebody else to read.
    pub(super) fn has_second_round(&self) -> bool {
        self.options.has_debate() && self.survivors().count() > 1 && self.revisers().next().is_some()
    }

    /// The calls of the second round. A restatement is only worth its call if the second verdict can follow.
    pub(super) fn second_calls(&self) -> usize {
        let each = if self.options.strict_anchoring { 2 } else { 1 };
        each * self.revisers().count()
    }

    /// Whether the verdicts of round 1 are all the same; `None` while there are none.
    pub(super) fn branch(&self) -> Option<ReviewBranch> {
        let mut verdicts = self.judges.iter().filter_map(ReviewJudge::first_verdict);
        let first = verdicts.next()?;
        let agreed = verdicts.all(|verdict| verdict == first);
        Some(if agreed { ReviewBranch::Agreed } else { ReviewBranch::Disagreed })
    }

    /// How long a judge's second round may take.
    pub(super) fn r2_within_ms(&self) -> u64 {
        let call_s = self.brief().limits.call_timeout_ms as f64 / 1000.0;
        let seconds = self.options.r2_timeout.unwrap_or(R2_TIMEOUT_S.min(call_s));
        (seconds * 1000.0).round() as u64
    }

    /// What a seat replied in a phase.
    pub(super) fn reply(&self, phase: ReviewPhase, seat: &str) -> Option<&'a Reply> {
        reply_in(self.debate, phase, seat)
    }

    /// A judge's answer of round 2, as it gave it.
    pub(super) fn second_answer(&self, judge: &ReviewJudge<'_>) -> Option<&'a Value> {
        self.reply(ReviewPhase::SecondVerdict, &judge.seat.id).and_then(Reply::value)
    }

    /// Why a seat is missing in a phase.
    pub(super) fn absence(&self, phase: ReviewPhase, seat: &str) -> Option<AbsenceReason> {
        match self.reply(phase, seat)? {
            Reply::Absent { why, .. } => Some(*why),
            Reply::Said { .. } => None,
        }
    }

    /// What the explorers of a judge reported, with their seats.
    pub(super) fn explorations(&self, judge: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let of = format!("{judge}-explorer-");
        let turns = self.debate.turns_of(ReviewPhase::Explore.as_str());
        let said = turns.flat_map(PhaseTurn::settled);
        said.filter_map(|(ask, reply)| Some((ask.seat.as_str(), reply.value()?)))
            .filter(move |(seat, _)| seat.starts_with(&of))
    }
}

/// The findings of all judges, numbered.
fn raised_findings(judges: &[ReviewJudge<'_>]) -> Vec<RaisedFinding> {
    let first = judges.iter().map(|judge| (judge, 1, judge.first.as_ref()));
    let second = judges.iter().map(|judge| (judge, 2, judge.second.as_ref().map(|second| &second.now)));
    let mut raised = Vec::new();
    for (judge, round, said) in first.chain(second) {
        for finding in said.into_iter().flat_map(|said| &said.findings) {
            let (id, seat, raised_as) =
                (format!("F{}", raised.len() + 1), judge.seat.id.clone(), finding.severity);
            let answer = judge.second.as_ref().and_then(|second| second.own_status(&id)).cloned();
            let changed = answer.as_ref().filter(|answer| answer.status == OwnStatus::Change);
            let severity = changed.and_then(|answer| answer.severity).unwrap_or(raised_as);
            let location = finding.location.clone().filter(|location| !location.trim().is_empty());
            let finding = JudgeFinding { severity, location, ..finding.clone() };
            raised.push(RaisedFinding { id, seat, round, finding, raised_as, answer });
        }
    }
    raised
}

fn reply_in<'a>(debate: &'a Debate, phase: ReviewPhase, seat: &str) -> Option<&'a Reply> {
    let mut replies = debate.turns_of(phase.as_str()).flat_map(PhaseTurn::settled);
    replies.find(|(ask, _)| ask.seat == seat).map(|(_, reply)| reply)
}

/// The vendor of a seat's model; of a chain of models, that of the one that spoke.
fn vendor_that_spoke(debate: &Debate, seat: &Seat) -> String {
    let spoke = match reply_in(debate, ReviewPhase::FirstVerdict, &seat.id) {
        Some(Reply::Said { model, .. }) => model.as_str(),
        _ => "",
    };
    let mut links = seat.model.split('|').map(str::trim);
    vendor(links.find(|link| *link == spoke).unwrap_or(&seat.model)).to_owned()
}
