//! What `panel` reads from the log: the judges' statements, and where each judge stands after each round.

use std::cell::OnceCell;

use agon_core::{BriefFile, Corrupt, Debate, PhaseTurn, Termination};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::consensus::{self, ConsensusCheck, TOLERANCE};
use super::findings::{self, CriticalFinding, OpenIssue};
use super::replies::{FinalStatement, FindingPosition, PositionStatement, RebuttalStatement};
use super::rubric::Rubric;
use super::{PanelOptions, PanelPhase, PanelStatus, ScoreBands};
use crate::limits::LimitCheck;

/// A round needs this many judges.
const QUORUM: usize = 2;

/// "The perspective a judge takes: neutral (objective), for (advocate), against (challenger)".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JudgeStance {
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

    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Neutral => "neutral",
            Self::For => "for",
            Self::Against => "against",
        }
    }

    /// What others may call a judge of this stance instead of its id.
    pub(super) fn nickname(self) -> &'static str {
        match self {
            Self::Neutral => "the neutral judge",
            Self::For => "the advocate",
            Self::Against => "the challenger",
        }
    }

    /// What a judge of this stance is told to do.
    pub(super) fn charter(self) -> &'static str {
        match self {
            Self::Neutral => {
                "You are objective. Weigh strengths and risks alike, with no wish for either to win, and let the evidence set the score."
            }
            Self::For => {
                "You are the advocate. Look for what is strong, for what works and for what could be built on, so that no merit is \
                 overlooked. A strength that the files do not show is none."
            }
            Self::Against => {
                "You are the challenger. Look for risks, gaps and what breaks first, so that no danger is overlooked. A risk that the \
                 files already meet is none."
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

/// What a judge said in a round.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(super) enum JudgeStatement {
    Position(PositionStatement),
    Rebuttal(RebuttalStatement),
    Final(FinalStatement),
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

    pub(super) fn first_position(&self) -> &str {
        without_title(&self.statement.position_statement)
    }

    pub(super) fn said(&self, phase: PanelPhase) -> Option<JudgeStatement> {
        match phase {
            PanelPhase::Position => Some(JudgeStatement::Position(self.statement.clone())),
            PanelPhase::Rebuttal => self.rebuttal.clone().map(JudgeStatement::Rebuttal),
            PanelPhase::Final => self.last.clone().map(JudgeStatement::Final),
        }
    }

    /// What the judge said of the critical findings in a phase.
    pub(super) fn finding_positions(&self, phase: PanelPhase) -> &[FindingPosition] {
        match phase {
            PanelPhase::Position => &[],
            PanelPhase::Rebuttal => {
                self.rebuttal.as_ref().map_or(&[], |rebuttal| &rebuttal.critical_positions)
            }
            PanelPhase::Final => self.last.as_ref().map_or(&[], |last| &last.critical_positions),
        }
    }

    /// What the judge last said of a critical finding.
    pub(super) fn last_position_on(&self, finding: &str) -> Option<&FindingPosition> {
        let phases = [PanelPhase::Final, PanelPhase::Rebuttal].into_iter();
        let mut positions = phases.flat_map(|phase| self.finding_positions(phase));
        positions.find(|position| position.finding_id == finding)
    }

    /// The score that the judge gave a dimension in a phase.
    pub(super) fn dimension(&self, phase: PanelPhase, key: &str) -> Option<f64> {
        let given = match phase {
            PanelPhase::Position => Some(&self.statement.dimension_scores),
            PanelPhase::Rebuttal => self.rebuttal.as_ref()?.dimension_scores.as_ref(),
            PanelPhase::Final => self.last.as_ref()?.dimension_scores.as_ref(),
        };
        given.and_then(|scores| scores.get(key).copied())
    }

    fn score(&self, phase: PanelPhase) -> Option<f64> {
        match phase {
            PanelPhase::Position => Some(self.statement.overall_score),
            PanelPhase::Rebuttal => self.rebuttal.as_ref().map(|rebuttal| rebuttal.new_score),
            PanelPhase::Final => self.last.as_ref().map(|last| last.final_score),
        }
    }
}

/// Where one judge stands after a round, whether it spoke in it or not.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JudgeStanding {
    pub(super) score: f64,
    /// In the rubric's order.
    pub(super) dimensions: Vec<f64>,
    /// For each critical finding, whether the judge holds it.
    pub(super) holds: Vec<bool>,
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
    pub(super) check: ConsensusCheck,
    pub(super) ended_at_ms: u64,
}

impl PanelRound {
    pub(super) fn present(&self) -> usize {
        self.standings.iter().filter(|standing| standing.present).count()
    }

    /// Whether enough judges spoke for the round to count.
    pub(super) fn has_quorum(&self) -> bool {
        self.present() >= QUORUM
    }

    pub(super) fn scores(&self) -> Vec<f64> {
        self.standings.iter().map(|standing| standing.score).collect()
    }
}

/// The log as `panel` sees it.
#[derive(Debug)]
pub(super) struct PanelLog<'a> {
    pub(super) debate: &'a Debate,
    pub(super) options: PanelOptions,
    pub(super) bands: ScoreBands,
    pub(super) rubric: Rubric,
    /// Those who gave a position statement, in seat order. The others are out.
    pub(super) judges: Vec<PanelJudge<'a>>,
    pub(super) findings: Vec<CriticalFinding>,
    pub(super) rounds: Vec<PanelRound>,
    /// Made on demand: comparing every point with every other takes a while.
    pub(super) issues: OnceCell<Vec<OpenIssue>>,
}

impl<'a> PanelLog<'a> {
    pub(super) fn read(debate: &'a Debate) -> Result<Self, Corrupt> {
        let brief = &debate.brief;
        let options = PanelOptions::read(&brief.options);
        let refused = |why: String| Corrupt::Departed { seq: 0, why };
        let bands =
            ScoreBands::parse(&options.bands).ok_or_else(|| refused("its bands cannot be read".into()))?;
        let rubric = Rubric::of(&brief.files).map_err(|why| refused(why.0))?;
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
        let findings = findings::critical_findings(&judges);
        let (rounds, issues) = (Vec::new(), OnceCell::new());
        let mut log = Self { debate, options, bands, rubric, judges, findings, rounds, issues };
        for turn in &debate.turns {
            let round = log.read_round(turn)?;
            log.rounds.push(round);
        }
        Ok(log)
    }

    fn read_round(&self, turn: &PhaseTurn) -> Result<PanelRound, Corrupt> {
        let phase = PanelPhase::of(&turn.phase)?;
        let before = self.rounds.last();
        let judges = self.judges.iter().enumerate();
        let standings: Vec<JudgeStanding> = judges
            .map(|(place, judge)| {
                let last = before.and_then(|round| round.standings.get(place));
                self.standing(judge, place, phase, last)
            })
            .collect();
        let check =
            ConsensusCheck::new(&standings, self.options.consensus_range, self.options.dimension_range);
        Ok(PanelRound { number: turn.phase.round, phase, standings, check, ended_at_ms: turn.ended_at_ms })
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
        let holds = self.findings.iter().enumerate().map(|(at, finding)| {
            let before = last.map_or(finding.raised_by.contains(&place), |last| {
                last.holds.get(at).copied().unwrap_or_default()
            });
            findings::holds(before, &finding.id, positions)
        });
        JudgeStanding {
            score,
            dimensions: dimensions.collect(),
            holds: holds.collect(),
            present: given.is_some(),
        }
    }

    pub(super) fn limits(&self) -> LimitCheck<'a> {
        LimitCheck { debate: self.debate, closing_share: 0.0, closing_calls: 0 }
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

    /// The fields of a statement, with the dimensions in the rubric's order.
    pub(super) fn fields(&self, said: &JudgeStatement) -> Result<Map<String, Value>, Corrupt> {
        let Value::Object(mut fields) = serde_json::to_value(said)? else { return Ok(Map::new()) };
        if let Some(Value::Object(scores)) = fields.get_mut("dimension_scores") {
            let keys = self.rubric.keys();
            *scores = keys.filter_map(|key| Some((key.to_owned(), scores.get(key)?.clone()))).collect();
        }
        Ok(fields)
    }

    /// The ids of some judges, by place.
    pub(super) fn ids(&self, places: &[usize]) -> Vec<String> {
        places.iter().filter_map(|place| self.judges.get(*place)).map(|judge| judge.id.to_owned()).collect()
    }

    /// The places of all judges.
    pub(super) fn places(&self) -> Vec<usize> {
        (0..self.judges.len()).collect()
    }

    /// Whether enough judges gave a position statement for a verdict.
    pub(super) fn has_quorum(&self) -> bool {
        self.judges.len() >= QUORUM
    }

    /// Whether a limit kept a judge from answering in the last phase.
    pub(super) fn was_cut_short(&self) -> bool {
        self.debate.turns.last().is_some_and(|turn| self.limits().cut_short(turn))
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

    /// What is judged.
    pub(super) fn feature(&self) -> String {
        feature(&self.options, &self.debate.brief.files)
    }
}

fn read_reply<T: DeserializeOwned>(
    debate: &Debate,
    phase: PanelPhase,
    seat: &str,
) -> Result<Option<T>, Corrupt> {
    Ok(reply_value(debate, phase, seat).map(|value| T::deserialize(value)).transpose()?)
}

fn reply_value<'a>(debate: &'a Debate, phase: PanelPhase, seat: &str) -> Option<&'a Value> {
    let turn = debate.turns.iter().find(|turn| turn.phase.name == phase.as_str())?;
    turn.settled().find(|(ask, _)| ask.seat == seat)?.1.value()
}

/// A judge's score in round 1.
pub(super) fn first_score(debate: &Debate, seat: &str) -> Option<f64> {
    reply_value(debate, PanelPhase::Position, seat)?.get("overall_score")?.as_f64()
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

/// What is judged: the user's name for it, else the first file's name without its ending.
pub(super) fn feature(options: &PanelOptions, files: &[BriefFile]) -> String {
    let named = options.feature.trim();
    if !named.is_empty() {
        return named.to_owned();
    }
    let path = judged(files).next().map_or("", |file| file.path.as_str());
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    if stem.is_empty() { name.to_owned() } else { stem.to_owned() }
}
