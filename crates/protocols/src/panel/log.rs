//! What `panel` reads from the log: the judges' statements, and where each judge stands after each round.

use agon_core::{BriefFile, Corrupt, Debate, PhaseTurn, Reply, Seat, Termination};
use indexmap::IndexSet;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::consensus::{self, ConsensusCheck, PanelDecision, TOLERANCE};
use super::disputes::{self, DisputeTopic, PanelDispute};
use super::findings::{self, CriticalFindingRecord, FindingStand, NumberedFinding};
use super::replies::{
    FinalStatement, FindingPosition, JudgeRecommendation, PositionStatement, RaisedFinding,
    RapporteurSummary, RebuttalStatement,
};
use super::rubric::Rubric;
use super::{PanelOptions, PanelPhase, PanelStatus, RAPPORTEUR, ScoreBands};
use crate::limits::LimitCheck;
use crate::packet_lines::PacketLines;

/// A round needs this many judges.
const QUORUM: usize = 2;

/// "The perspective a judge takes: neutral (objective), for (advocate), against (challenger)".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum JudgeStance {
    Neutral,
    For,
    Against,
}

impl JudgeStance {
    /// The stance of the judge at a place. The stances cycle.
    pub(super) fn at(place: usize) -> Self {
        match place % 3 {
            0 => Self::Neutral,
            1 => Self::For,
            _ => Self::Against,
        }
    }

    /// What a judge of this stance looks for and argues first. It never decides the score.
    pub(super) fn charter(self) -> &'static str {
        match self {
            Self::Neutral => {
                "Look equally hard for strengths and for risks, and argue first what weighs most."
            }
            Self::For => {
                "Look hardest for what is strong, what works and what could be built on, and argue that first, so that no merit is \
                 overlooked. A strength that the files do not show does not count."
            }
            Self::Against => {
                "Look hardest for risks, gaps and what breaks first, and argue that first, so that no danger is overlooked. A risk \
                 that the files already meet does not count."
            }
        }
    }
}

/// A judge who gave a position statement.
#[derive(Debug)]
pub(super) struct PanelJudge<'a> {
    pub(super) id: &'a str,
    pub(super) model: &'a str,
    pub(super) stance: JudgeStance,
    pub(super) statement: PositionStatement,
    pub(super) rebuttal: Option<RebuttalStatement>,
    pub(super) last: Option<FinalStatement>,
}

impl PanelJudge<'_> {
    /// The judge's assessment when it last spoke.
    pub(super) fn position(&self) -> &str {
        without_title(match (&self.last, &self.rebuttal) {
            (Some(last), _) => &last.final_position,
            (None, Some(rebuttal)) => &rebuttal.position_revision,
            (None, None) => &self.statement.position_statement,
        })
    }

    /// What the judge last answered to the person's question.
    pub(super) fn answer(&self) -> Option<&str> {
        let last = self.last.iter().map(|said| &said.answer_to_question);
        let second = self.rebuttal.iter().map(|said| &said.answer_to_question);
        let answers = last.chain(second).chain([&self.statement.answer_to_question]);
        answers.map(|answer| answer.trim()).find(|answer| !answer.is_empty())
    }

    pub(super) fn first_position(&self) -> &str {
        without_title(&self.statement.position_statement)
    }

    /// Something of what the judge said in round 2 or 3.
    pub(super) fn later<'s, T>(
        &'s self,
        phase: PanelPhase,
        second: fn(&'s RebuttalStatement) -> T,
        third: fn(&'s FinalStatement) -> T,
    ) -> Option<T> {
        match phase {
            PanelPhase::Rebuttal => self.rebuttal.as_ref().map(second),
            PanelPhase::Final => self.last.as_ref().map(third),
            PanelPhase::Position | PanelPhase::Summary => None,
        }
    }

    /// What the judge said of the critical findings in a phase.
    pub(super) fn finding_positions(&self, phase: PanelPhase) -> &[FindingPosition] {
        self.later(phase, |said| &said.critical_positions[..], |said| &said.critical_positions)
            .unwrap_or_default()
    }

    /// The ids that the judge declared the same in a phase.
    pub(super) fn same_as(&self, phase: PanelPhase) -> &[Vec<String>] {
        self.later(phase, |said| &said.same_as[..], |said| &said.same_as).unwrap_or_default()
    }

    /// The findings that the judge raised, with the round.
    pub(super) fn raised(&self) -> impl Iterator<Item = (u32, &RaisedFinding)> {
        let second = self.rebuttal.iter().flat_map(|said| &said.critical_findings);
        let first = self.statement.critical_findings.iter().map(|raised| (1, raised));
        first.chain(second.map(|raised| (2, raised)))
    }

    /// The findings that the judge raised in a phase.
    pub(super) fn raised_mut(&mut self, phase: PanelPhase) -> &mut [RaisedFinding] {
        match (phase, &mut self.rebuttal) {
            (PanelPhase::Position, _) => &mut self.statement.critical_findings,
            (PanelPhase::Rebuttal, Some(said)) => &mut said.critical_findings,
            _ => &mut [],
        }
    }

    /// The ids of the points that the judge accepts in a phase, or of its own that it gives up, and its words for it.
    pub(super) fn conceded(&self, phase: PanelPhase) -> Vec<(&str, &str)> {
        let points = self.later(
            phase,
            |said| said.agreements.iter().map(|point| (&point.about, &point.on_point)).collect::<Vec<_>>(),
            |said| said.concessions_made.iter().map(|point| (&point.about, &point.point)).collect(),
        );
        let points = points.unwrap_or_default().into_iter();
        points.filter_map(|(about, words)| Some((about.as_deref()?, words.trim()))).collect()
    }

    /// The ids of the points that the judge contests in a phase, and whose point each is, where it says so.
    fn contested(&self, phase: PanelPhase) -> Vec<(&str, Option<&str>)> {
        let second = || self.rebuttal.iter().filter(|_| phase == PanelPhase::Rebuttal);
        let third = self.last.iter().filter(|_| phase == PanelPhase::Final);
        let rejected = second().flat_map(|said| &said.disagreements);
        let rejected = rejected.map(|point| (&point.about, Some(point.with_judge.as_str())));
        let open = second().flat_map(|said| &said.unresolved_disputes);
        let open = open.map(|left| &left.dispute);
        let last = third.flat_map(|said| &said.unresolved_disagreements);
        let open = open.chain(last.map(|left| &left.dispute));
        let points = rejected.chain(open.map(|open| (&open.about, open.with_judge.as_deref())));
        points.filter_map(|(about, with)| Some((about.as_deref()?, with))).collect()
    }

    /// What the judge recommends when it last recommended anything.
    pub(super) fn recommendations(&self) -> &[JudgeRecommendation] {
        let last = self.last.as_ref().map(|said| &said.recommendations);
        last.filter(|list| !list.is_empty()).unwrap_or(&self.statement.recommendations)
    }

    /// What the judge asks the person in a phase, if it does.
    pub(super) fn attention(&self, phase: PanelPhase) -> Option<&str> {
        let first = Some(&self.statement.request).filter(|_| phase == PanelPhase::Position);
        let request = first.or_else(|| self.later(phase, |said| &said.request, |said| &said.request));
        request.filter(|request| request.user_attention_needed).map(|request| request.attention_reason.trim())
    }

    /// Whether the judge asked the person to decide something before the last round.
    pub(super) fn has_asked(&self) -> bool {
        [PanelPhase::Position, PanelPhase::Rebuttal].iter().any(|phase| self.attention(*phase).is_some())
    }

    /// Why the judge says that its score changed in a phase.
    pub(super) fn change_reason(&self, phase: PanelPhase) -> &str {
        self.later(phase, |said| said.change_reason.trim(), |said| said.change_reason.trim())
            .unwrap_or_default()
    }

    /// The score that the judge gave a dimension in a phase.
    pub(super) fn dimension(&self, phase: PanelPhase, key: &str) -> Option<f64> {
        let first = Some(&self.statement.dimension_scores).filter(|_| phase == PanelPhase::Position);
        let later = || {
            self.later(phase, |said| said.dimension_scores.as_ref(), |said| said.dimension_scores.as_ref())
        };
        first.or_else(|| later().flatten())?.get(key).copied()
    }

    pub(super) fn score(&self, phase: PanelPhase) -> Option<f64> {
        let first = (phase == PanelPhase::Position).then_some(self.statement.overall_score);
        first.or_else(|| self.later(phase, |said| said.new_score, |said| said.final_score))
    }
}

/// Where one judge stands after a round, whether it spoke in it or not.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JudgeStanding {
    pub(super) score: f64,
    /// In the rubric's order.
    pub(super) dimensions: Vec<f64>,
    /// For each critical finding, what the judge says of it.
    pub(super) stands: Vec<FindingStand>,
    /// `false` where the judge was absent and everything is carried forward.
    pub(super) present: bool,
}

/// One round that has been asked.
#[derive(Debug)]
pub(super) struct PanelRound {
    pub(super) number: u32,
    pub(super) phase: PanelPhase,
    /// In the order of the judges.
    pub(super) standings: Vec<JudgeStanding>,
    /// For each critical finding, the first one that is the same.
    pub(super) groups: Vec<usize>,
    pub(super) check: ConsensusCheck,
    pub(super) ended_at_ms: u64,
}

impl PanelRound {
    pub(super) fn present(&self) -> usize {
        self.standings.iter().filter(|standing| standing.present).count()
    }

    /// The judges who were absent, so that what they said last counts.
    pub(super) fn absent<'l>(&self, log: &'l PanelLog<'_>) -> Vec<&'l str> {
        let judges = log.judges.iter().zip(&self.standings);
        judges.filter(|(_, standing)| !standing.present).map(|(judge, _)| judge.id).collect()
    }

    /// Whether enough judges spoke for the round to count.
    pub(super) fn has_quorum(&self) -> bool {
        self.present() >= QUORUM
    }

    pub(super) fn scores(&self) -> Vec<f64> {
        self.standings.iter().map(|standing| standing.score).collect()
    }
}

/// A claim, lesser finding or recommendation.
#[derive(Debug)]
pub(super) struct PanelPoint {
    pub(super) id: String,
    pub(super) raisers: Vec<usize>,
    round: u32,
}

/// The log as `panel` sees it.
#[derive(Debug)]
pub(super) struct PanelLog<'a> {
    pub(super) debate: &'a Debate,
    pub(super) options: PanelOptions,
    pub(super) bands: ScoreBands,
    pub(super) rubric: Rubric,
    /// The files that are judged.
    pub(super) packet: PacketLines,
    /// Those who gave a position statement, in seat order. The others are out.
    pub(super) judges: Vec<PanelJudge<'a>>,
    pub(super) findings: Vec<NumberedFinding>,
    /// The findings below CRITICAL.
    pub(super) lesser: Vec<NumberedFinding>,
    /// For each of all findings, the critical ones first, the first one that is the same, in the end. A lesser finding can be the same
    /// as a critical one.
    same_findings: Vec<usize>,
    /// The critical findings after the last round. Those that are the same are one.
    pub(super) critical: Vec<CriticalFindingRecord>,
    points: Vec<PanelPoint>,
    pub(super) rounds: Vec<PanelRound>,
    pub(super) disputes: Vec<PanelDispute>,
    /// What the rapporteur wrote, before it is verified.
    pub(super) summary: Option<RapporteurSummary>,
}

impl<'a> PanelLog<'a> {
    pub(super) fn read(debate: &'a Debate) -> Result<Self, Corrupt> {
        let brief = &debate.brief;
        let options = PanelOptions::read(&brief.options);
        let refused = |why: String| Corrupt::Departed { seq: 0, why };
        let bands =
            ScoreBands::parse(&options.bands).ok_or_else(|| refused("its bands cannot be read".into()))?;
        let rubric = Rubric::of(&brief.files).map_err(|why| refused(why.0))?;
        let packet = judged(&brief.files)
            .fold(PacketLines::default(), |packet, file| packet.with_file(&file.path, &file.text));
        let mut judges = Vec::new();
        for (place, seat) in brief.seats_of("judge").enumerate() {
            let Some(statement) = read_reply(debate, PanelPhase::Position, &seat.id)? else { continue };
            judges.push(PanelJudge {
                id: &seat.id,
                model: &seat.model,
                stance: JudgeStance::at(place),
                statement,
                rebuttal: read_reply(debate, PanelPhase::Rebuttal, &seat.id)?,
                last: read_reply(debate, PanelPhase::Final, &seat.id)?,
            });
        }
        number_claims(&mut judges);
        let [findings, lesser] = findings::number_findings(&mut judges, &packet);
        let mut log = Self {
            debate,
            options,
            bands,
            rubric,
            packet,
            points: points(&judges, &lesser),
            judges,
            findings,
            lesser,
            same_findings: Vec::new(),
            critical: Vec::new(),
            rounds: Vec::new(),
            disputes: Vec::new(),
            summary: read_reply(debate, PanelPhase::Summary, RAPPORTEUR)?,
        };
        for turn in &debate.turns {
            let phase = PanelPhase::of(&turn.phase)?;
            if phase != PanelPhase::Summary {
                let round = log.read_round(turn, phase);
                log.rounds.push(round);
            }
        }
        let last_round = log.rounds.last().map_or(0, |round| round.number);
        let all =
            log.findings.iter().chain(&log.lesser).map(|finding| (finding.id.as_str(), finding.raisers()));
        log.same_findings = findings::declared_groups(&log.judges, all, last_round);
        log.critical = findings::finding_records(&log);
        log.disputes = disputes::find_disputes(&log);
        log.number_disputes();
        Ok(log)
    }

    fn read_round(&self, turn: &PhaseTurn, phase: PanelPhase) -> PanelRound {
        let before = self.rounds.last();
        let standing = |(place, judge): (usize, &PanelJudge<'_>)| {
            self.standing(judge, place, phase, before.and_then(|round| round.standings.get(place)))
        };
        let standings: Vec<JudgeStanding> = self.judges.iter().enumerate().map(standing).collect();
        let findings = self.findings.iter().map(|finding| (finding.id.as_str(), finding.raisers()));
        let groups = findings::declared_groups(&self.judges, findings, phase.round());
        let check = ConsensusCheck::new(&standings, &groups, &self.options);
        let (number, ended_at_ms) = (turn.phase.round, turn.ended_at_ms);
        PanelRound { number, phase, standings, groups, check, ended_at_ms }
    }

    fn standing(
        &self,
        judge: &PanelJudge<'_>,
        place: usize,
        phase: PanelPhase,
        last: Option<&JudgeStanding>,
    ) -> JudgeStanding {
        let given = judge.score(phase);
        let score = given.or(last.map(|last| last.score)).unwrap_or_default();
        let dimensions = self.rubric.keys().enumerate().map(|(at, key)| {
            let before = last.and_then(|last| last.dimensions.get(at).copied());
            // The schema asks for every dimension. The overall score is the best guess for one that is missing.
            judge.dimension(phase, key).or(before).unwrap_or(score)
        });
        let positions = judge.finding_positions(phase);
        // A judge who is asked about findings that became one answers for all of them.
        let groups = self.rounds.last().map_or(&[][..], |round| &round.groups);
        let stands = self.findings.iter().enumerate().map(|(at, finding)| {
            let same = self.findings.iter().zip(groups).filter(|(_, of)| groups.get(at) == Some(*of));
            let ids: Vec<&str> =
                std::iter::once(finding).chain(same.map(|(same, _)| same)).map(|f| f.id.as_str()).collect();
            let before = last.and_then(|last| last.stands.get(at).copied());
            match finding.raised.contains(&(place, phase.round())) {
                true => FindingStand::Holds,
                false => before.unwrap_or(FindingStand::Unknown).after(&ids, positions),
            }
        });
        let (dimensions, stands) = (dimensions.collect(), stands.collect());
        JudgeStanding { score, dimensions, stands, present: given.is_some() }
    }

    /// Writes the ids of the disputes into the statements that leave them open.
    fn number_disputes(&mut self) {
        let disputes = std::mem::take(&mut self.disputes);
        for (place, judge) in self.judges.iter_mut().enumerate() {
            let id = |phase: PanelPhase, topic: &str| {
                let is_this = |dispute: &&PanelDispute| dispute.is_left_open_by(place, phase.round(), topic);
                disputes.iter().find(is_this).map(|dispute| dispute.id.clone())
            };
            for left in judge.rebuttal.iter_mut().flat_map(|said| &mut said.unresolved_disputes) {
                left.id = id(PanelPhase::Rebuttal, &left.topic);
            }
            for left in judge.last.iter_mut().flat_map(|said| &mut said.unresolved_disagreements) {
                left.id = id(PanelPhase::Final, &left.issue);
            }
        }
        self.disputes = disputes;
    }

    pub(super) fn limits(&self) -> LimitCheck<'a> {
        LimitCheck { debate: self.debate, closing_share: 0.0, closing_calls: 0 }
    }

    /// For each critical finding, the first one that is the same, in the end.
    pub(super) fn groups(&self) -> &[usize] {
        self.rounds.last().map_or(&[], |round| &round.groups)
    }

    /// All findings, the critical ones first, each with the place of the first one that is the same, in the end.
    pub(super) fn all_findings(&self) -> impl Iterator<Item = (&NumberedFinding, usize)> {
        self.findings.iter().chain(&self.lesser).zip(self.same_findings.iter().copied())
    }

    /// The record of the critical finding with this id.
    pub(super) fn critical_of(&self, id: &str) -> Option<&CriticalFindingRecord> {
        self.critical.iter().find(|record| record.ids().any(|other| other == id))
    }

    /// The record of the critical finding that a dispute is about.
    pub(super) fn critical_about(&self, dispute: &PanelDispute) -> Option<&CriticalFindingRecord> {
        let is_finding = matches!(dispute.topic, DisputeTopic::Finding(_));
        self.critical_of(dispute.about(self).filter(|_| is_finding)?)
    }

    /// A finding by its id.
    pub(super) fn finding(&self, id: &str) -> Option<&NumberedFinding> {
        self.findings.iter().chain(&self.lesser).find(|finding| finding.id == id)
    }

    /// What may be declared the same: findings, and disputes that scores do not settle. What is already one has one id, and one alone
    /// has nothing to be the same as.
    pub(super) fn same_as_candidates(&self) -> Vec<&str> {
        let critical = self.groups();
        let findings = self.all_findings().enumerate();
        let findings = findings.filter(|(at, (_, first))| critical.get(*at).unwrap_or(first) == at);
        let findings = findings.map(|(_, (finding, _))| finding.id.as_str()).collect();
        let open = self.disputes.iter().filter(|dispute| dispute.is_open() && !dispute.is_dimension());
        let open = open.map(|dispute| dispute.id.as_str()).collect();
        [findings, open].into_iter().filter(|ids: &Vec<&str>| ids.len() > 1).flatten().collect()
    }

    /// Where the rapporteur sits, if it sits.
    pub(super) fn rapporteur(&self) -> Option<&'a Seat> {
        self.debate.brief.seats_of(RAPPORTEUR).next()
    }

    /// The rapporteur, where it must still be asked. It is not asked without a verdict or when a limit is reached.
    pub(super) fn rapporteur_to_ask(&self, decision: &PanelDecision) -> Option<&'a Seat> {
        let is_due = *decision != PanelDecision::None && !self.has_summary_turn();
        self.rapporteur().filter(|_| is_due && !self.limits().is_exhausted(1))
    }

    /// Whether the rapporteur was asked.
    pub(super) fn has_summary_turn(&self) -> bool {
        self.debate.turns.iter().any(|turn| turn.phase.name == PanelPhase::Summary.as_str())
    }

    /// The rounds up to the last one in which anybody spoke.
    pub(super) fn counted_rounds(&self) -> impl Iterator<Item = &PanelRound> {
        let last = self.last().map_or(0, |round| round.number);
        self.rounds.iter().filter(move |round| round.number <= last)
    }

    /// The last round in which anybody spoke: where the judges stand in the end.
    pub(super) fn last(&self) -> Option<&PanelRound> {
        self.rounds.iter().rev().find(|round| round.present() > 0)
    }

    /// Where the judges stand in the end; empty before anybody spoke.
    pub(super) fn last_standings(&self) -> &[JudgeStanding] {
        self.last().map_or(&[], |round| &round.standings)
    }

    /// The number of the last round that counts.
    pub(super) fn rounds_completed(&self) -> u32 {
        self.rounds.iter().rfind(|round| round.has_quorum()).map_or(0, |round| round.number)
    }

    /// A judge's score in round 1.
    pub(super) fn first_score(&self, seat: &str) -> Option<f64> {
        self.judges.iter().find(|judge| judge.id == seat).map(|judge| judge.statement.overall_score)
    }

    /// A judge's score after a round.
    pub(super) fn score(&self, place: usize, round: u32) -> Option<f64> {
        let round = self.rounds.iter().find(|other| other.number == round)?;
        round.standings.get(place).map(|standing| standing.score)
    }

    /// The scores of some judges in the end.
    pub(super) fn last_scores(&self, places: &[usize]) -> Vec<f64> {
        let standings = self.last_standings();
        places.iter().filter_map(|place| standings.get(*place)).map(|standing| standing.score).collect()
    }

    /// By how much a judge's score differs from the round before, if it does.
    pub(super) fn score_change(&self, place: usize, round: u32) -> Option<f64> {
        let change = self.score(place, round)? - self.score(place, round.checked_sub(1)?)?;
        (change.abs() > TOLERANCE).then(|| super::rounded(change))
    }

    /// What a judge said in a phase, with the dimensions in the rubric's order.
    pub(super) fn statement(
        &self,
        judge: &PanelJudge<'_>,
        phase: PanelPhase,
    ) -> Result<Option<Map<String, Value>>, Corrupt> {
        let said = match phase {
            PanelPhase::Position => serde_json::to_value(&judge.statement)?,
            PanelPhase::Rebuttal => serde_json::to_value(&judge.rebuttal)?,
            PanelPhase::Final => serde_json::to_value(&judge.last)?,
            PanelPhase::Summary => Value::Null,
        };
        let Value::Object(mut fields) = said else { return Ok(None) };
        if let Some(Value::Object(scores)) = fields.get_mut("dimension_scores") {
            let keys = self.rubric.keys();
            *scores = keys.filter_map(|key| Some((key.to_owned(), scores.get(key)?.clone()))).collect();
        }
        Ok(Some(fields))
    }

    /// The ids of some judges, by place.
    pub(super) fn ids(&self, places: &[usize]) -> Vec<String> {
        places.iter().filter_map(|place| self.judges.get(*place)).map(|judge| judge.id.to_owned()).collect()
    }

    /// The places of all judges.
    pub(super) fn places(&self) -> Vec<usize> {
        (0..self.judges.len()).collect()
    }

    /// The judges whose a claim, lesser finding or recommendation is.
    pub(super) fn raisers_of(&self, id: &str) -> &[usize] {
        self.points.iter().find(|point| point.id == id).map_or(&[], |point| &point.raisers)
    }

    /// The ids of claims, lesser findings and recommendations.
    pub(super) fn point_ids(&self) -> impl Iterator<Item = &str> {
        self.points.iter().map(|point| point.id.as_str())
    }

    /// Whether a judge accepts a claim or a lesser finding with these ids, by its last word on it. A judge who raised it accepts it until
    /// it concedes it.
    pub(super) fn accepts(&self, place: usize, ids: &[&str]) -> Option<bool> {
        let judge = self.judges.get(place)?;
        // A dispute about it stands for it to those who have a side in it.
        let disputes = self.disputes.iter().filter_map(|dispute| {
            let DisputeTopic::Point(Some(id)) = &dispute.topic else { return None };
            let has_side = || dispute.raisers().contains(&place) || self.raisers_of(id).contains(&place);
            (ids.contains(&id.as_str()) && has_side()).then_some((dispute, id.as_str()))
        });
        let disputes: Vec<(&PanelDispute, &str)> = disputes.collect();
        let raisers = |about: &str| {
            let dispute = || disputes.iter().find(|(dispute, _)| dispute.ids().any(|id| id == about));
            let id = ids.iter().copied().find(|id| *id == about);
            id.or_else(|| dispute().map(|(_, id)| *id)).map(|id| self.raisers_of(id))
        };
        let contests = |(about, with): (&str, Option<&str>)| {
            let raisers = raisers(about)?;
            let (is_own, other) =
                (raisers.contains(&place), self.judges.iter().position(|j| Some(j.id) == with));
            other.is_none_or(|other| raisers.contains(&other) != is_own).then_some(is_own)
        };
        let last = [PanelPhase::Final, PanelPhase::Rebuttal].into_iter().find_map(|phase| {
            let contested = judge.contested(phase).into_iter().find_map(contests);
            let conceded = || judge.conceded(phase).into_iter().find_map(|(about, _)| raisers(about));
            contested.or_else(|| conceded().map(|raisers| !raisers.contains(&place)))
        });
        last.or_else(|| ids.iter().any(|id| self.raisers_of(id).contains(&place)).then_some(true))
    }

    /// The ids in a text that exist and that its author was shown before this round, except those that are only its own. Nobody owns
    /// a dispute that the scores or positions show.
    pub(super) fn cited_ids(&self, text: &str, round: u32, own: Option<usize>) -> Vec<String> {
        let is_other = |raisers: &[usize]| own.is_none_or(|own| raisers.iter().any(|place| *place != own));
        let points = self.points.iter().filter(|point| point.round < round && is_other(&point.raisers));
        let findings = self.findings.iter().filter(|f| f.round() < round && is_other(&f.raisers()));
        let disputes = self.disputes.iter().filter(|dispute| {
            let before = dispute.entries.iter().filter(|entry| entry.round < round);
            let raisers: Vec<usize> = before.map(|entry| entry.place).collect();
            dispute.round < round && (raisers.is_empty() || is_other(&raisers))
        });
        let disputes = disputes.flat_map(PanelDispute::ids).map(String::as_str);
        let findings = findings.map(|finding| finding.id.as_str());
        let known: Vec<&str> =
            points.map(|point| point.id.as_str()).chain(findings).chain(disputes).collect();
        // Only ASCII letters and digits belong to an id, so that it is found in a text without spaces, too.
        let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| known.contains(word));
        words.map(str::to_owned).collect::<IndexSet<_>>().into_iter().collect()
    }

    /// Whether enough judges gave a position statement for a verdict.
    pub(super) fn has_quorum(&self) -> bool {
        self.judges.len() >= QUORUM
    }

    /// Whether a limit kept a judge from answering in the last phase.
    pub(super) fn was_cut_short(&self) -> bool {
        let is_round = |turn: &&PhaseTurn| turn.phase.name != PanelPhase::Summary.as_str();
        self.debate.turns.iter().rev().find(is_round).is_some_and(|turn| self.limits().cut_short(turn))
    }

    /// Whether and how the debate is over after its last round.
    pub(super) fn ending(&self) -> Option<Termination> {
        let last = self.rounds.last()?;
        let enough = last.has_quorum();
        if !enough && !self.was_cut_short() {
            return Some(Termination::QuorumLost);
        }
        if !self.has_quorum() {
            return Some(Termination::Budget);
        }
        if enough && last.check.reached {
            return Some(Termination::Consensus);
        }
        if enough && last.number >= self.options.max_rounds {
            let found = consensus::majority(&last.scores()).is_some();
            return Some(if found { Termination::Majority } else { Termination::NoMajority });
        }
        self.limits().is_exhausted(self.judges.len()).then_some(Termination::Budget)
    }

    /// The status after a round: GO or not, and the band. A critical finding that anybody holds forbids GO and GREEN.
    pub(super) fn go_after(&self, round: &PanelRound) -> (&'static str, PanelStatus) {
        let weighted: Vec<f64> =
            round.standings.iter().map(|standing| self.rubric.weighted(&standing.dimensions)).collect();
        let is_held = round.standings.iter().any(|standing| standing.stands.contains(&FindingStand::Holds));
        match self.band(consensus::mean(&weighted)) {
            PanelStatus::Green if is_held => ("NO GO", PanelStatus::Yellow),
            band if is_held => ("NO GO", band),
            PanelStatus::Green => ("GO", PanelStatus::Green),
            PanelStatus::Yellow => ("GO WITH CHANGES", PanelStatus::Yellow),
            PanelStatus::Red => ("NO GO", PanelStatus::Red),
        }
    }

    /// The band of a weighted score.
    pub(super) fn band(&self, weighted: f64) -> PanelStatus {
        match weighted + TOLERANCE {
            score if score >= self.bands.green => PanelStatus::Green,
            score if score >= self.bands.yellow => PanelStatus::Yellow,
            _ => PanelStatus::Red,
        }
    }

    /// The mean weighted score of some judges, by place.
    pub(super) fn weighted(&self, places: &[usize]) -> Option<f64> {
        let standings = places.iter().filter_map(|place| self.last_standings().get(*place));
        let values: Vec<f64> = standings.map(|standing| self.rubric.weighted(&standing.dimensions)).collect();
        (!values.is_empty()).then(|| consensus::mean(&values))
    }

    /// What records call what is judged: the user's name for it, else the first file's name without its ending.
    pub(super) fn feature(&self) -> String {
        let named = self.options.feature.trim();
        let path = judged(&self.debate.brief.files).next().map_or("", |file| file.path.as_str());
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        [named, stem, name].into_iter().find(|name| !name.is_empty()).unwrap_or_default().to_owned()
    }

    /// The title that people read.
    pub(super) fn title(&self) -> String {
        title(&self.options, &self.debate.brief.files)
    }

    /// What the person wants to know: `--ask`, or the question of the debate that this panel is a part of.
    pub(super) fn question(&self) -> Option<&str> {
        let asked = Some(self.options.ask.trim()).filter(|asked| !asked.is_empty());
        let question = Some(self.debate.brief.question.as_str());
        asked.or(question.filter(|question| !question.is_empty() && *question != self.title()))
    }
}

fn read_reply<T: DeserializeOwned>(
    debate: &Debate,
    phase: PanelPhase,
    seat: &str,
) -> Result<Option<T>, Corrupt> {
    Ok(reply_value(debate, phase, seat).map(|value| T::deserialize(value)).transpose()?)
}

pub(super) fn reply_value<'a>(debate: &'a Debate, phase: PanelPhase, seat: &str) -> Option<&'a Value> {
    let turn = debate.turns.iter().find(|turn| turn.phase.name == phase.as_str())?;
    turn.settled().find(|(ask, _)| ask.seat == seat).and_then(|(_, reply): (_, &Reply)| reply.value())
}

/// Numbers the claims of round 1, and the recommendations of rounds 1 and 3, in seat order.
fn number_claims(judges: &mut [PanelJudge<'_>]) {
    let claims = judges.iter_mut().flat_map(|judge| &mut judge.statement.key_claims);
    claims.zip(1..).for_each(|(claim, n)| claim.id = Some(format!("A{n}")));
    let first = judges.iter().map(|judge| judge.statement.recommendations.len()).sum::<usize>();
    let advice = judges.iter_mut().flat_map(|judge| &mut judge.statement.recommendations);
    advice.zip(1..).for_each(|(advice, n)| advice.id = Some(format!("R{n}")));
    let advice =
        judges.iter_mut().flat_map(|judge| &mut judge.last).flat_map(|said| &mut said.recommendations);
    advice.zip(first + 1..).for_each(|(advice, n)| advice.id = Some(format!("R{n}")));
}

/// The claims and recommendations of round 1, and the lesser findings.
fn points(judges: &[PanelJudge<'_>], lesser: &[NumberedFinding]) -> Vec<PanelPoint> {
    let said = judges.iter().enumerate().flat_map(|(place, judge)| {
        let claims = judge.statement.key_claims.iter().map(|claim| &claim.id);
        let ids = claims.chain(judge.statement.recommendations.iter().map(|advice| &advice.id)).flatten();
        ids.map(move |id| PanelPoint { id: id.clone(), raisers: vec![place], round: 1 })
    });
    let lesser = lesser.iter().map(|lesser| PanelPoint {
        id: lesser.id.clone(),
        raisers: lesser.raisers(),
        round: lesser.round(),
    });
    said.chain(lesser).collect()
}

/// A statement without the title of its template: reports have titles of their own.
fn without_title(text: &str) -> &str {
    const TITLES: [&str; 3] = ["## My Assessment", "## Updated Position", "## Final Assessment"];
    let text = text.trim();
    let rest = TITLES.iter().find_map(|title| text.strip_prefix(title)).map(str::trim_start);
    rest.filter(|rest| !rest.is_empty()).unwrap_or(text)
}

/// The files that are judged.
pub(super) fn judged(files: &[BriefFile]) -> impl Iterator<Item = &BriefFile> {
    files.iter().filter(|file| file.part.is_none())
}

/// The title that people read: the user's name for it, else the first heading of the first file, else all file names.
pub(super) fn title(options: &PanelOptions, files: &[BriefFile]) -> String {
    let named = options.feature.trim();
    if !named.is_empty() {
        return named.to_owned();
    }
    let is_prose = |file: &&BriefFile| {
        let name = file.path.rsplit(['/', '\\']).next().unwrap_or(&file.path);
        name.rsplit_once('.').is_none_or(|(_, ending)| matches!(ending, "md" | "markdown" | "mdx" | "txt"))
    };
    let heading = judged(files).next().filter(is_prose).and_then(|file| first_heading(&file.text));
    let names = judged(files).map(|file| file.path.as_str());
    heading.unwrap_or_else(|| names.collect::<Vec<_>>().join(", "))
}

/// The first Markdown heading of a text. What looks like one in a block of code is a comment.
fn first_heading(text: &str) -> Option<String> {
    let mut is_code = false;
    for line in text.lines().map(str::trim) {
        is_code ^= line.starts_with("```");
        let heading = line.trim_start_matches('#');
        let is_heading = heading.len() < line.len() && heading.starts_with(' ');
        let heading = heading.trim().trim_end_matches('#').trim_end();
        if !is_code && is_heading && !heading.is_empty() {
            return Some(heading.to_owned());
        }
    }
    None
}
