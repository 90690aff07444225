//! What `arena` reads from the log: who sits behind which label, what each proposes after each stage, the votes, the judge.

use agon_core::lesson::Standing;
use agon_core::seed::Draw;
use agon_core::{Asked, Brief, Corrupt, Debate, Reply, Seat, Turn};
use serde::Deserialize;
use serde_json::Value;

use super::context::{self, Item};
use super::convergence::{Check, Measured};
use super::critiques::{self, Critique};
use super::judgement::{Judged, Sheet};
use super::poll::Poll;
use super::reply::{Judgement, Likeness, Proposal, Revision};
use super::team;
use crate::limits::Limits;

/// The share of the time and money limits that is kept for the vote and the judge.
pub(super) const KEPT: f64 = 0.2;
/// The fewest proposals that a debate can be held about.
pub(super) const PROPOSALS_MIN: usize = 2;
/// The rounds as the seed counts them.
pub(super) const FIRST_REVISION: u32 = 3;
pub(super) const LAST_REVISION: u32 = 5;
pub(super) const REFINEMENT: u32 = 6;
pub(super) const VOTING: u32 = 7;
pub(super) const JUDGING: u32 = 8;

/// An agent under its label.
#[derive(Debug)]
pub(super) struct Agent<'a> {
    /// `A`, `B`...
    pub(super) label: String,
    pub(super) seat: &'a Seat,
}

/// What an agent proposes after a stage.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Held {
    pub(super) said: Revision,
    /// The round in which it was said.
    pub(super) round: u32,
    /// Whether its author was absent in this stage, so that its last words count.
    pub(super) carried: bool,
    /// Whether it was said in this stage: who was absent, or not asked, has said nothing new.
    pub(super) is_new: bool,
    /// With whom it conflicts by its author's last declaration; `None` before the first.
    pub(super) conflicts: Option<Vec<usize>>,
}

/// A phase in which proposals are made or changed.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) name: String,
    pub(super) round: u32,
    /// By place; `None` for whoever made no proposal in round 1.
    pub(super) held: Vec<Option<Held>>,
}

/// A phase in which the judge was asked.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) round: u32,
    /// In how many orders.
    pub(super) orders: usize,
    /// `None` where the judge was absent in all of them.
    pub(super) judged: Option<Judged>,
}

/// The log as `arena` sees it. Agents go by their place in label order.
#[derive(Debug)]
pub(super) struct Log<'a> {
    pub(super) debate: &'a Debate,
    pub(super) agents: Vec<Agent<'a>>,
    pub(super) standings: Vec<Standing>,
    pub(super) context: Vec<Item>,
    pub(super) stages: Vec<Stage>,
    pub(super) critiques: Vec<Critique>,
    pub(super) checks: Vec<Check>,
    pub(super) polls: Vec<Poll>,
    pub(super) trials: Vec<Trial>,
}

impl<'a> Log<'a> {
    pub(super) fn read(debate: &'a Debate) -> Result<Self, Corrupt> {
        let agents = agents(&debate.brief);
        let standings = team::standings(&debate.brief);
        let mut log = Self {
            debate,
            agents,
            standings,
            context: Vec::new(),
            stages: Vec::new(),
            critiques: Vec::new(),
            checks: Vec::new(),
            polls: Vec::new(),
            trials: Vec::new(),
        };
        for turn in &debate.turns {
            log.fold(turn)?;
        }
        Ok(log)
    }

    fn fold(&mut self, turn: &Turn) -> Result<(), Corrupt> {
        match turn.phase.name.as_str() {
            "context" => self.context = context::items(&self.debate.brief, turn)?,
            "propose" | "revise" | "refine" | "challenge" => {
                if turn.phase.name == "revise" && turn.phase.round > JUDGING {
                    self.put_reasons();
                }
                let stage = self.stage(turn)?;
                self.stages.push(stage);
            }
            "critique" => self.critiques = critiques::of_peers(self, turn)?,
            "compare" => self.checks.extend(self.check(turn)?),
            "vote" => {
                let poll = Poll::read(self, turn)?;
                self.polls.push(poll);
            }
            "judge" => {
                let trial = self.trial(turn)?;
                self.trials.push(trial);
            }
            _ => {}
        }
        Ok(())
    }

    /// Makes critiques of the reasons of the last vote and judge, as an extended round begins.
    pub(super) fn put_reasons(&mut self) {
        let reasons = critiques::of_verdict(self);
        self.critiques.extend(reasons);
    }

    fn stage(&self, turn: &Turn) -> Result<Stage, Corrupt> {
        let round = turn.phase.round;
        let before = self.stages.last();
        let mut held = Vec::new();
        for (place, agent) in self.agents.iter().enumerate() {
            let last = before.and_then(|stage| stage.held.get(place)?.as_ref());
            let said = value(turn, &agent.seat.id);
            held.push(match (said, before) {
                (Some(said), None) => {
                    let said = Revision::from(Proposal::deserialize(said)?);
                    Some(Held { said, round, carried: false, is_new: true, conflicts: None })
                }
                (Some(said), Some(_)) => {
                    let mut said = Revision::deserialize(said)?;
                    said.addressed.retain(|answer| self.is_of(&answer.critique_id, place));
                    let mut conflicts = self.places(&said.conflicts_with);
                    conflicts.retain(|other| *other != place);
                    let conflicts = Some(conflicts);
                    Some(Held { said, round, carried: false, is_new: true, conflicts })
                }
                (None, _) => last.map(|last| {
                    let asked = turn.asks.iter().any(|asked| asked.seat == agent.seat.id);
                    Held { carried: asked || last.carried, is_new: false, ..last.clone() }
                }),
            });
        }
        Ok(Stage { name: turn.phase.name.clone(), round, held })
    }

    /// Whether a critique is one of an agent's proposal.
    pub(super) fn is_of(&self, id: &str, place: usize) -> bool {
        self.critiques.iter().any(|critique| critique.id == id && critique.to == place)
    }

    /// The ids that an agent had been shown when it spoke in a round: the context that is for it, the critiques of its proposal.
    pub(super) fn shown(&self, place: usize, round: u32) -> Vec<&str> {
        let Some(agent) = self.agents.get(place) else { return Vec::new() };
        let items = self.context.iter().filter(|item| item.is_for(agent)).map(|item| item.id.as_str());
        let critiques = self.critiques.iter().filter(|one| one.to == place && one.round < round);
        items.chain(critiques.map(|one| one.id.as_str())).collect()
    }

    fn check(&self, turn: &Turn) -> Result<Option<Check>, Corrupt> {
        let Some((place, stage)) = self.stages.iter().enumerate().next_back() else { return Ok(None) };
        let said = turn.settled().next();
        let measured = match said.and_then(|(asked, reply)| Some((asked, reply.value()?))) {
            Some((asked, value)) => {
                let by = speaker(turn, asked).unwrap_or_default();
                Some(Measured { matrix: Likeness::deserialize(value)?.similarity, by })
            }
            None => None,
        };
        Ok(Some(Check::of(turn.phase.round, place, &stage.held, measured, self.threshold())))
    }

    fn trial(&self, turn: &Turn) -> Result<Trial, Corrupt> {
        let (round, orders) = (turn.phase.round, turn.asks.len());
        let mut sheets = Vec::new();
        for ((asked, reply), order) in turn.settled().zip(self.judged_in(round)) {
            if let Some(said) = reply.value() {
                let said = Judgement::deserialize(said)?;
                let model = speaker(turn, asked).unwrap_or_default();
                sheets.push(Sheet::read(said, order, model, |label| self.place(label)));
            }
        }
        Ok(Trial { round, orders, judged: Judged::of(sheets) })
    }

    /// The stage at which the debate is.
    pub(super) fn stage_now(&self) -> Option<&Stage> {
        self.stages.last()
    }

    /// What everybody proposes now, by place.
    pub(super) fn held(&self) -> &[Option<Held>] {
        self.stage_now().map_or(&[], |stage| &stage.held)
    }

    /// What an agent proposes now.
    pub(super) fn proposal(&self, place: usize) -> Option<&Held> {
        self.held().get(place)?.as_ref()
    }

    /// The places of those who have a proposal.
    pub(super) fn proposers(&self) -> Vec<usize> {
        let held = self.held().iter().enumerate();
        held.filter(|(_, held)| held.is_some()).map(|(place, _)| place).collect()
    }

    /// What the last stage's proposals came to: measured, or without figures where nothing was.
    pub(super) fn check_now(&self) -> Check {
        self.check_at(self.stages.len().saturating_sub(1))
    }

    /// What a stage's proposals came to.
    pub(super) fn check_at(&self, place: usize) -> Check {
        let measured = self.checks.iter().find(|check| check.stage == place).cloned();
        let stage = self.stages.get(place);
        let (round, held) = stage.map_or((0, &[][..]), |stage| (stage.round, &stage.held));
        measured.unwrap_or_else(|| Check::of(round, place, held, None, self.threshold()))
    }

    /// The proposals in the one order of a round's vote.
    pub(super) fn voted_in(&self, round: u32) -> Vec<usize> {
        self.shuffled(&format!("vote {round}"))
    }

    /// The proposals in the orders of a round's judge: one, and its reverse.
    pub(super) fn judged_in(&self, round: u32) -> Vec<Vec<usize>> {
        let order = self.shuffled(&format!("judge {round}"));
        let back = order.iter().rev().copied().collect();
        let orders = usize::try_from(self.debate.brief.int("judge_orders")).unwrap_or(1);
        [order, back].into_iter().take(orders).collect()
    }

    fn shuffled(&self, purpose: &str) -> Vec<usize> {
        let mut order = self.proposers();
        Draw::new(self.debate.brief.seed, purpose).shuffle(&mut order);
        order
    }

    /// The place of a label, which may have `Agent` in front.
    pub(super) fn place(&self, label: &str) -> Option<usize> {
        let label = plain(label);
        self.agents.iter().position(|agent| agent.label == label)
    }

    fn places(&self, labels: &[String]) -> Vec<usize> {
        let mut places: Vec<usize> = Vec::new();
        for place in labels.iter().filter_map(|label| self.place(label)) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places.sort_unstable();
        places
    }

    /// An agent's label.
    pub(super) fn label(&self, place: usize) -> &str {
        self.agents.get(place).map_or("", |agent| agent.label.as_str())
    }

    /// The labels of some agents.
    pub(super) fn labels(&self, places: &[usize]) -> Vec<&str> {
        places.iter().map(|place| self.label(*place)).collect()
    }

    /// Some agents as prompts and warnings name them.
    pub(super) fn names(&self, places: &[usize]) -> String {
        places.iter().map(|place| format!("Agent {}", self.label(*place))).collect::<Vec<_>>().join(", ")
    }

    /// The places of the agents in seat order.
    pub(super) fn in_seat_order(&self) -> Vec<usize> {
        let seats = self.debate.brief.seats_of("agent");
        seats.filter_map(|seat| self.agents.iter().position(|agent| agent.seat.id == seat.id)).collect()
    }

    pub(super) fn threshold(&self) -> f64 {
        self.debate.brief.float("convergence_threshold")
    }

    /// The limits of the debate, of which a part is kept for the vote and the judge.
    pub(super) fn limits(&self) -> Limits<'a> {
        let orders = usize::try_from(self.debate.brief.int("judge_orders")).unwrap_or(1);
        Limits { debate: self.debate, kept: KEPT, closing_calls: self.agents.len() + orders }
    }

    /// Who spoke for a seat when it made its proposals, or, where it made none, at all; `None` where several did.
    pub(super) fn speaker(&self, seat: &str) -> Option<String> {
        let mut speakers = self.proposed_by(seat);
        if speakers.is_empty() {
            speakers = self.spoken_by(seat, |_| true);
        }
        let only = speakers.pop();
        only.filter(|_| speakers.is_empty())
    }

    /// All who spoke for a seat when it made its proposals.
    pub(super) fn proposed_by(&self, seat: &str) -> Vec<String> {
        self.spoken_by(seat, |phase| matches!(phase, "propose" | "revise" | "refine" | "challenge"))
    }

    fn spoken_by(&self, seat: &str, is_meant: impl Fn(&str) -> bool) -> Vec<String> {
        let mut speakers: Vec<String> = Vec::new();
        for turn in self.debate.turns.iter().filter(|turn| is_meant(&turn.phase.name)) {
            let said = turn.settled().filter(|(asked, reply)| asked.seat == seat && reply.text().is_some());
            speakers.extend(said.filter_map(|(asked, _)| speaker(turn, asked)));
        }
        speakers.sort_unstable();
        speakers.dedup();
        speakers
    }

    /// Whether another debate's rounds were taken over, to see what if.
    pub(super) fn is_branch(&self) -> bool {
        self.debate.brief.parent.is_some()
    }

    /// The early consensus, by its round.
    pub(super) fn early_consensus(&self) -> Option<u32> {
        let poll = self.polls.first()?;
        let check = self.checks.iter().rev().find(|check| check.stage == poll.stage)?;
        let early = check.converged && check.round <= LAST_REVISION && !poll.hollow;
        early.then_some(check.round)
    }

    /// How many extended rounds were begun.
    pub(super) fn extended(&self) -> u32 {
        let begun = self.stages.iter().filter(|stage| stage.name == "revise" && stage.round > JUDGING);
        u32::try_from(begun.count()).unwrap_or(u32::MAX)
    }
}

/// The agents, shuffled by the debate's seed and labelled A, B, C...
pub(super) fn agents(brief: &Brief) -> Vec<Agent<'_>> {
    let mut seats: Vec<&Seat> = brief.seats_of("agent").collect();
    Draw::new(brief.seed, "labels").shuffle(&mut seats);
    ('A'..='Z').zip(seats).map(|(label, seat)| Agent { label: label.into(), seat }).collect()
}

/// A label without `Agent` in front.
pub(super) fn plain(label: &str) -> &str {
    let label = label.trim();
    label.strip_prefix("Agent ").unwrap_or(label).trim()
}

/// What a seat said in a phase.
pub(super) fn value<'t>(turn: &'t Turn, seat: &str) -> Option<&'t Value> {
    turn.settled().find(|(asked, _)| asked.seat == seat)?.1.value()
}

/// Who spoke in an answer: the model as it was called. What a branch took over was called in another debate, so that only the name that
/// came with the answer is known.
pub(super) fn speaker(turn: &Turn, asked: &Asked) -> Option<String> {
    let place = turn.asks.iter().position(|other| other.id == asked.id)?;
    let called =
        turn.attempts.get(place).and_then(|attempts| attempts.last()).map(|last| last.model.as_str());
    let said = match turn.replies.get(place)?.as_ref()? {
        Reply::Said { model, .. } => Some(model.as_str()),
        Reply::Absent { .. } => None,
    };
    Some(team::agent(called.or(said)?))
}
