//! What `panel` reads from the log: the judges' statements, and where each of them stands after each round.

use std::cell::OnceCell;

use agon_core::{Artifact, Brief, Corrupt, Debate, Phase, Termination, Turn};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::consensus::{self, Check};
use super::disputes::Issue;
use super::ledger::{self, Finding};
use super::reply::{CriticalPosition, Final, Rebuttal, Statement};
use super::rubric::Rubric;
use super::{Stance, bands};
use crate::limits::Limits;

/// The phases, in the order of their rounds.
pub(super) const PHASES: [&str; 3] = ["position", "rebuttal", "final"];
/// The fewest judges that a round can do with.
const QUORUM: usize = 2;

/// A judge who gave a position statement.
#[derive(Debug)]
pub(super) struct Judge<'a> {
    pub(super) id: &'a str,
    pub(super) model: &'a str,
    pub(super) stance: Stance,
    pub(super) statement: Statement,
    pub(super) rebuttal: Option<Rebuttal>,
    pub(super) last: Option<Final>,
}

impl Judge<'_> {
    /// The judge's words when it last spoke.
    pub(super) fn position(&self) -> &str {
        untitled(match (&self.last, &self.rebuttal) {
            (Some(last), _) => &last.final_position,
            (None, Some(rebuttal)) => &rebuttal.position_revision,
            (None, None) => &self.statement.position_statement,
        })
    }

    /// The judge's words when it first spoke.
    pub(super) fn first_position(&self) -> &str {
        untitled(&self.statement.position_statement)
    }

    /// Where it stood on the critical findings in a later round.
    pub(super) fn critical_positions(&self, round: u32) -> &[CriticalPosition] {
        match round {
            2 => self.rebuttal.as_ref().map_or(&[], |rebuttal| &rebuttal.critical_positions),
            3 => self.last.as_ref().map_or(&[], |last| &last.critical_positions),
            _ => &[],
        }
    }

    /// The dimension scores that it gave in a round, by name.
    pub(super) fn dimension(&self, round: u32, key: &str) -> Option<f64> {
        let given = match round {
            1 => return self.statement.dimension_scores.get(key).copied(),
            2 => self.rebuttal.as_ref()?.dimension_scores.as_ref(),
            _ => self.last.as_ref()?.dimension_scores.as_ref(),
        };
        given.and_then(|scores| scores.get(key).copied())
    }

    fn score(&self, round: u32) -> Option<f64> {
        match round {
            1 => Some(self.statement.overall_score),
            2 => self.rebuttal.as_ref().map(|rebuttal| rebuttal.new_score),
            _ => self.last.as_ref().map(|last| last.final_score),
        }
    }

    fn is_present(&self, round: u32) -> bool {
        self.score(round).is_some()
    }
}

/// Where one judge stands after a round, whether it spoke in it or not.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standing {
    pub(super) score: f64,
    /// In the rubric's order.
    pub(super) dimensions: Vec<f64>,
    /// For each critical finding whether the judge holds it.
    pub(super) holds: Vec<bool>,
    /// `false` where everything is carried forward.
    pub(super) present: bool,
}

/// One round that has been asked.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) number: u32,
    /// In the order of the judges.
    pub(super) standings: Vec<Standing>,
    pub(super) check: Check,
    pub(super) ended_at_ms: u64,
}

impl Round {
    pub(super) fn present(&self) -> usize {
        self.standings.iter().filter(|standing| standing.present).count()
    }

    /// Whether enough judges spoke for it to count.
    pub(super) fn is_quorate(&self) -> bool {
        self.present() >= QUORUM
    }

    pub(super) fn scores(&self) -> Vec<f64> {
        self.standings.iter().map(|standing| standing.score).collect()
    }
}

/// The log as `panel` sees it.
#[derive(Debug)]
pub(super) struct Log<'a> {
    pub(super) debate: &'a Debate,
    pub(super) rubric: Rubric,
    /// Those who gave a position statement, in seat order: the others are out.
    pub(super) judges: Vec<Judge<'a>>,
    pub(super) findings: Vec<Finding>,
    pub(super) rounds: Vec<Round>,
    /// What the judges leave open, once it is asked for: to compare every point with every other takes a while.
    pub(super) issues: OnceCell<Vec<Issue>>,
}

impl<'a> Log<'a> {
    pub(super) fn read(debate: &'a Debate) -> Result<Self, Corrupt> {
        let brief = &debate.brief;
        let rubric = Rubric::of(&brief.files).map_err(|why| Corrupt::Departed { seq: 0, why: why.0 })?;
        let mut judges = Vec::new();
        for (place, seat) in brief.seats_of("judge").enumerate() {
            let Some(statement) = said::<Statement>(debate, 1, &seat.id)? else { continue };
            let (id, model, stance) = (seat.id.as_str(), seat.model.as_str(), Stance::at(place));
            let (rebuttal, last) = (said(debate, 2, id)?, said(debate, 3, id)?);
            judges.push(Judge { id, model, stance, statement, rebuttal, last });
        }
        let findings = ledger::findings(&judges);
        let mut log = Self { debate, rubric, judges, findings, rounds: Vec::new(), issues: OnceCell::new() };
        for turn in &debate.turns {
            let round = log.round_of(turn);
            log.rounds.push(round);
        }
        Ok(log)
    }

    fn round_of(&self, turn: &Turn) -> Round {
        let number = turn.phase.round;
        let before = self.rounds.last();
        let judges = self.judges.iter().enumerate();
        let standings: Vec<Standing> = judges
            .map(|(place, judge)| {
                let last = before.and_then(|round| round.standings.get(place));
                self.standing(judge, place, number, last)
            })
            .collect();
        let brief = &self.debate.brief;
        let check =
            consensus::check(&standings, brief.float("consensus_range"), brief.float("dimension_range"));
        Round { number, standings, check, ended_at_ms: turn.ended_at_ms }
    }

    fn standing(&self, judge: &Judge<'_>, place: usize, round: u32, last: Option<&Standing>) -> Standing {
        let score = judge.score(round).or(last.map(|last| last.score)).unwrap_or_default();
        let dimensions = self.rubric.dimensions.iter().enumerate().map(|(at, dimension)| {
            let before = last.and_then(|last| last.dimensions.get(at).copied());
            // The schema asks for every dimension; the overall score would be the nearest to one that is not there.
            judge.dimension(round, &dimension.key).or(before).unwrap_or(score)
        });
        let holds = self.findings.iter().enumerate().map(|(at, finding)| {
            let before = last.map_or(finding.raised_by.contains(&place), |last| {
                last.holds.get(at).copied().unwrap_or_default()
            });
            ledger::holds(before, &finding.id, judge.critical_positions(round))
        });
        Standing {
            score,
            dimensions: dimensions.collect(),
            holds: holds.collect(),
            present: judge.is_present(round),
        }
    }

    pub(super) fn limits(&self) -> Limits<'a> {
        Limits { debate: self.debate, kept: 0.0, closing_calls: 0 }
    }

    /// The last round in which anybody spoke: where the judges stand in the end.
    pub(super) fn last(&self) -> Option<&Round> {
        self.rounds.iter().rev().find(|round| round.present() > 0)
    }

    /// The rounds that count: those with enough judges.
    pub(super) fn completed(&self) -> impl Iterator<Item = &Round> {
        self.rounds.iter().filter(|round| round.is_quorate())
    }

    /// A judge's score after a round.
    pub(super) fn score(&self, place: usize, round: u32) -> Option<f64> {
        let round = self.rounds.iter().find(|other| other.number == round)?;
        round.standings.get(place).map(|standing| standing.score)
    }

    /// What a judge said in a round, its dimensions in the rubric's order.
    pub(super) fn statement(&self, judge: &Judge<'_>, round: u32) -> Option<Map<String, Value>> {
        let said = match round {
            1 => serde_json::to_value(&judge.statement),
            2 => serde_json::to_value(judge.rebuttal.as_ref()?),
            _ => serde_json::to_value(judge.last.as_ref()?),
        };
        let Ok(Value::Object(mut said)) = said else { return None };
        if let Some(Value::Object(scores)) = said.get_mut("dimension_scores") {
            let keys = self.rubric.dimensions.iter().map(|dimension| &dimension.key);
            *scores = keys.filter_map(|key| Some((key.clone(), scores.get(key)?.clone()))).collect();
        }
        Some(said)
    }

    /// The ids of some judges, by place.
    pub(super) fn ids(&self, places: &[usize]) -> Vec<&'a str> {
        places.iter().filter_map(|place| self.judges.get(*place)).map(|judge| judge.id).collect()
    }

    /// The places of all judges.
    pub(super) fn places(&self) -> Vec<usize> {
        (0..self.judges.len()).collect()
    }

    /// How many judges sit, whether they spoke or not.
    pub(super) fn seated(&self) -> usize {
        self.debate.brief.seats_of("judge").count()
    }

    /// Whether enough judges gave a position statement for there to be a verdict.
    pub(super) fn has_quorum(&self) -> bool {
        self.judges.len() >= QUORUM
    }

    /// Whether a limit left somebody out of the last phase.
    pub(super) fn was_cut(&self) -> bool {
        self.debate.turns.last().is_some_and(|turn| self.limits().was_cut(turn))
    }

    /// Whether and how the debate is over after its last round.
    pub(super) fn ending(&self) -> Option<Termination> {
        let last = self.rounds.last()?;
        let enough = last.is_quorate();
        if !enough && !self.was_cut() {
            return Some(Termination::QuorumLost);
        }
        if !self.has_quorum() {
            return Some(Termination::Budget);
        }
        if enough && last.check.reached {
            return Some(Termination::Consensus);
        }
        if enough && last.number >= self.debate.brief.int("max_rounds") {
            let found = consensus::majority(&last.scores()).is_some();
            return Some(if found { Termination::Majority } else { Termination::NoMajority });
        }
        self.limits().spent(self.judges.len()).then_some(Termination::Budget)
    }

    /// The status band of a weighted score.
    pub(super) fn band(&self, weighted: f64) -> &'static str {
        let (green, yellow) = bands(self.debate.brief.text("bands")).unwrap_or_default();
        match weighted + consensus::TOLERANCE {
            w if w >= green => "GREEN",
            w if w >= yellow => "YELLOW",
            _ => "RED",
        }
    }

    /// The mean weighted score of some judges, by place.
    pub(super) fn weighted(&self, places: &[usize]) -> Option<f64> {
        let standings = &self.last()?.standings;
        let values = places.iter().filter_map(|place| standings.get(*place));
        let values: Vec<f64> = values.map(|standing| self.rubric.weighted(&standing.dimensions)).collect();
        (!values.is_empty()).then(|| consensus::mean(&values))
    }
}

/// What a judge said in a round, if it did.
fn said<T: DeserializeOwned>(debate: &Debate, round: u32, seat: &str) -> Result<Option<T>, Corrupt> {
    Ok(value(debate, round, seat).map(|value| T::deserialize(value)).transpose()?)
}

fn value<'a>(debate: &'a Debate, round: u32, seat: &str) -> Option<&'a Value> {
    let turn = debate.turns.iter().find(|turn| turn.phase.round == round)?;
    turn.settled().find(|(ask, _)| ask.seat == seat)?.1.value()
}

/// A judge's score in round 1.
pub(super) fn first_score(debate: &Debate, seat: &str) -> Option<f64> {
    value(debate, 1, seat)?.get("overall_score")?.as_f64()
}

/// A statement without the title that its template gave it: where it is shown, other words say what it is.
fn untitled(text: &str) -> &str {
    const TITLES: [&str; 3] = ["## My Assessment", "## Updated Position", "## Final Assessment"];
    let text = text.trim();
    let rest = TITLES.iter().find_map(|title| text.strip_prefix(title)).map(str::trim_start);
    rest.filter(|rest| !rest.is_empty()).unwrap_or(text)
}

/// The phase of a round.
pub(super) fn phase(round: u32) -> Phase {
    let name = usize::try_from(round.saturating_sub(1)).ok().and_then(|place| PHASES.get(place));
    Phase::new(name.unwrap_or(&"final"), round)
}

/// The files that are judged.
pub(super) fn judged(files: &[Artifact]) -> impl Iterator<Item = &Artifact> {
    files.iter().filter(|file| file.part.is_none())
}

/// What is judged, by the name that the user gave it or that its first file has.
pub(super) fn feature(named: &str, files: &[Artifact]) -> String {
    if !named.trim().is_empty() {
        return named.trim().to_owned();
    }
    let path = judged(files).next().map_or("", |file| file.path.as_str());
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    if stem.is_empty() { name.to_owned() } else { stem.to_owned() }
}

/// The feature of a debate.
pub(super) fn feature_of(brief: &Brief) -> String {
    feature(brief.text("feature"), &brief.files)
}
