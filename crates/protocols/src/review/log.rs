//! What `review` reads from the log: who judges, and the verdicts of each judge.

use agon_core::{AbsenceReason, Brief, Corrupt, Debate, PhaseTurn, Reply, Seat};
use serde::Deserialize;
use serde_json::Value;

use super::replies::{FirstVerdict, JudgeConfidence, JudgeFinding, JudgeVerdict, SecondVerdict};
use super::seats::{self, JudgePerspective, vendor};
use super::verdict::{CountedRound, ReviewBranch};
use super::{ReviewOptions, ReviewPhase, anchoring};
use crate::limits::LimitCheck;

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
    pub(super) second: Option<(SecondVerdict, &'a Value)>,
    /// Whether it changed its verdict without specific evidence.
    pub(super) is_weak_flip: bool,
    /// Whether its verdict went back to round 1 for that.
    pub(super) is_reverted: bool,
}

/// The verdict of a judge that counts, of either round.
#[derive(Debug, Clone, Copy)]
pub(super) struct CountedVerdict<'a> {
    pub(super) round: CountedRound,
    pub(super) verdict: JudgeVerdict,
    pub(super) confidence: JudgeConfidence,
    pub(super) key_insight: &'a str,
    pub(super) findings: &'a [JudgeFinding],
    pub(super) recommendation: &'a str,
}

impl<'a> ReviewJudge<'a> {
    fn read(
        debate: &'a Debate,
        options: &ReviewOptions,
        seat: &'a Seat,
        perspective: Option<JudgePerspective>,
    ) -> Result<Self, Corrupt> {
        let value = |phase: ReviewPhase| reply_in(debate, phase, &seat.id).and_then(Reply::value);
        let answer = value(ReviewPhase::FirstVerdict);
        let first = answer.filter(|_| options.is_validation()).map(FirstVerdict::deserialize).transpose()?;
        let second = value(ReviewPhase::SecondVerdict);
        let second =
            second.map(|value| SecondVerdict::deserialize(value).map(|read| (read, value))).transpose()?;
        let seats = debate.brief.seats.iter().map(|seat| seat.id.as_str());
        let is_weak_flip = match (&first, &second) {
            (Some(first), Some((second, _))) => anchoring::is_weak_flip(first.verdict, second, seats),
            _ => false,
        };
        Ok(Self {
            seat,
            mixed: seat.role == "mixed_judge",
            perspective,
            vendor: vendor_that_spoke(debate, seat),
            answer,
            first,
            restated: value(ReviewPhase::Restate).is_some(),
            second,
            is_weak_flip,
            is_reverted: is_weak_flip && options.strict_anchoring,
        })
    }

    /// The verdict that counts: that of round 2, unless there is none or it was reverted.
    pub(super) fn counted(&self) -> Option<CountedVerdict<'_>> {
        let first = self.first.as_ref()?;
        Some(match self.second.as_ref().filter(|_| !self.is_reverted) {
            Some((second, _)) => CountedVerdict {
                round: CountedRound::R2,
                verdict: second.verdict,
                confidence: second.confidence,
                key_insight: second.key_insight.trim(),
                findings: &second.findings,
                recommendation: second.recommendation.trim(),
            },
            None => CountedVerdict {
                round: CountedRound::R1,
                verdict: first.verdict,
                confidence: first.confidence,
                key_insight: first.key_insight.trim(),
                findings: &first.findings,
                recommendation: first.recommendation.trim(),
            },
        })
    }
}

/// The log as `review` sees it.
#[derive(Debug)]
pub(super) struct ReviewLog<'a> {
    pub(super) debate: &'a Debate,
    pub(super) options: ReviewOptions,
    /// In seat order, those of the second vendor last.
    pub(super) judges: Vec<ReviewJudge<'a>>,
}

impl<'a> ReviewLog<'a> {
    pub(super) fn read(debate: &'a Debate) -> Result<Self, Corrupt> {
        let brief = &debate.brief;
        let options = ReviewOptions::read(&brief.options);
        // They were found when the debate was opened.
        let perspectives = seats::perspectives(&options, &brief.files).unwrap_or_default();
        let mut judges = Vec::new();
        for role in ["judge", "mixed_judge"] {
            for (place, seat) in brief.seats_of(role).enumerate() {
                judges.push(ReviewJudge::read(debate, &options, seat, perspectives.get(place).cloned())?);
            }
        }
        Ok(Self { debate, options, judges })
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
        let mut verdicts = self.judges.iter().filter_map(|judge| Some(judge.first.as_ref()?.verdict));
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
