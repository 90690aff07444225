//! What can be cited by an id in `panel`: findings, claims and recommendations. Quotes and evidence that do not verify have a remark.

use agon_core::CitableText;

use super::consensus::PanelDecision;
use super::log::PanelLog;
use super::{PanelPhase, RAPPORTEUR, follow_up};

impl PanelLog<'_> {
    /// Every finding, claim and recommendation, as its judge's reply has it, and points without an id whose evidence does not verify.
    pub(super) fn citable(&self) -> Vec<CitableText> {
        let citable = |id: &str, seat: &str, phase: PanelPhase, text: &str, remark| CitableText {
            id: id.to_owned(),
            seat: seat.to_owned(),
            round: phase.round(),
            text: text.to_owned(),
            remark,
        };
        let evidence = |unverified: Option<bool>| (unverified == Some(true)).then_some("evidence unverified");
        let [first, second, last] = [PanelPhase::Position, PanelPhase::Rebuttal, PanelPhase::Final];
        let mut texts = Vec::new();
        for judge in &self.judges {
            let raised = judge.statement.critical_findings.iter().map(|raised| (first, raised));
            let later = judge.rebuttal.iter().flat_map(|said| &said.critical_findings);
            texts.extend(raised.chain(later.map(|raised| (second, raised))).filter_map(|(phase, raised)| {
                Some(citable(
                    raised.id.as_ref()?,
                    judge.id,
                    phase,
                    &raised.finding,
                    evidence(raised.unverified),
                ))
            }));
            texts.extend(judge.statement.key_claims.iter().filter_map(|claim| {
                Some(citable(claim.id.as_ref()?, judge.id, first, &claim.claim, evidence(claim.unverified)))
            }));
            let later = judge.last.iter().flat_map(|said| &said.recommendations).map(|advice| (last, advice));
            let advice = judge.statement.recommendations.iter().map(|advice| (first, advice)).chain(later);
            texts.extend(advice.filter_map(|(phase, advice)| {
                Some(citable(advice.id.as_ref()?, judge.id, phase, &advice.action, None))
            }));
            let rejected = judge.rebuttal.iter().flat_map(|said| &said.disagreements);
            let rejected = rejected.map(|point| (second, &point.on_point, point.unverified));
            let maintained = judge.last.iter().flat_map(|said| &said.key_points_maintained);
            let maintained = maintained.map(|point| (last, &point.point, point.unverified));
            let unverified = rejected.chain(maintained).filter(|(.., unverified)| unverified.is_some());
            texts.extend(
                unverified.map(|(phase, text, mark)| citable("", judge.id, phase, text, evidence(mark))),
            );
        }
        texts
    }

    /// The rapporteur's quotes that are not in what their judges say.
    pub(super) fn failed_quotes(&self, decision: &PanelDecision) -> Vec<CitableText> {
        let summary = follow_up::verified_summary(self, decision).unwrap_or_default();
        let quotes = summary.failed_quotes.into_iter().map(|quote| CitableText {
            id: String::new(),
            seat: RAPPORTEUR.to_owned(),
            round: self.rounds.last().map_or(0, |round| round.number),
            text: quote.quote,
            remark: Some("does not verify"),
        });
        quotes.collect()
    }
}
