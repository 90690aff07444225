//! What is open between the judges: dimensions that they score too differently, critical findings that some hold and others reject,
//! and points that judges themselves leave unresolved. Each has an id, and the log says after which rounds it was open.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Value, json};

use super::PanelPhase;
use super::consensus::TOLERANCE;
use super::findings::{FindingStand, declared_groups, group_stand};
use super::log::{PanelJudge, PanelLog, PanelRound};
use super::replies::{OpenDispute, set};
use crate::quotes::is_same_text;

/// What a dispute is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DisputeTopic {
    /// A dimension, by its place. It is open while the scores are too far apart.
    Dimension(usize),
    /// A critical finding, by its place. It is open while some judge holds it and another rejects it.
    Finding(usize),
    /// A point that a judge leaves unresolved, with the id of the claim, lesser finding or recommendation that it is about. It is open while its raiser or an ally
    /// maintains it against somebody.
    Point(Option<String>),
}

/// Where a judge stands in a dispute about a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DisputeSide {
    /// Nothing is declared.
    Unknown,
    /// It maintains the raiser's view.
    Raiser,
    /// It maintains the other view.
    Other,
    /// It gave its side up, or accepts a view that is not its own. Whoever maintains that view may still give it up.
    Left,
}

impl DisputeSide {
    /// The side against this one, where it is one.
    fn opposite(self) -> Option<Self> {
        match self {
            Self::Raiser => Some(Self::Other),
            Self::Other => Some(Self::Raiser),
            Self::Unknown | Self::Left => None,
        }
    }
}

/// Something that is or was open.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PanelDispute {
    /// `D1`, `D2`... by round; in a round dimensions first, then findings, then points in seat order.
    pub(super) id: String,
    /// Other ids that judges declared the same.
    pub(super) same_as: Vec<String>,
    pub(super) topic: DisputeTopic,
    pub(super) text: String,
    /// The round in which it came up.
    pub(super) round: u32,
    /// What judges say of it, in the order of the log.
    pub(super) entries: Vec<DisputeEntry>,
    /// For each judge its side of a point.
    sides: Vec<DisputeSide>,
    /// Whether a raiser names no opponent.
    has_unnamed_opponent: bool,
    /// For each judge the last round in which it said anything of it: a view, a concession, or a position on the finding.
    last_words: Vec<u32>,
    /// Who gave up its side of a point, in which round and in which words.
    pub(super) given_up: Vec<(usize, u32, String)>,
    /// For each round of the log, whether it was open after it.
    pub(super) open_after: Vec<bool>,
}

/// What a judge says of a dispute.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DisputeEntry {
    pub(super) round: u32,
    pub(super) place: usize,
    pub(super) topic: String,
    pub(super) view: String,
    pub(super) open: OpenDispute,
}

impl PanelDispute {
    fn new(log: &PanelLog<'_>, round: &PanelRound, number: usize, topic: DisputeTopic, text: &str) -> Self {
        Self {
            id: format!("D{number}"),
            same_as: Vec::new(),
            topic,
            text: text.to_owned(),
            round: round.number,
            entries: Vec::new(),
            sides: vec![DisputeSide::Unknown; log.judges.len()],
            has_unnamed_opponent: false,
            last_words: vec![0; log.judges.len()],
            given_up: Vec::new(),
            open_after: Vec::new(),
        }
    }

    /// The dimension, or the id of the finding or point, that it is about.
    pub(super) fn about<'s>(&'s self, log: &'s PanelLog<'_>) -> Option<&'s str> {
        match &self.topic {
            DisputeTopic::Dimension(place) => log.rubric.keys().nth(*place),
            DisputeTopic::Finding(place) => log.findings.get(*place).map(|finding| finding.id.as_str()),
            DisputeTopic::Point(id) => id.as_deref(),
        }
    }

    /// Whether it is open in the end.
    pub(super) fn is_open(&self) -> bool {
        self.open_after.last().copied().unwrap_or_default()
    }

    /// Whether it was open after an earlier round and is not in the end.
    pub(super) fn is_resolved(&self) -> bool {
        !self.is_open() && self.open_after.contains(&true)
    }

    /// Whether a judge leaves it open in a round, in these words.
    pub(super) fn is_left_open_by(&self, place: usize, round: u32, topic: &str) -> bool {
        let mut entries = self.entries.iter();
        entries.any(|entry| (entry.place, entry.round, entry.topic.as_str()) == (place, round, topic.trim()))
    }

    pub(super) fn raisers(&self) -> Vec<usize> {
        self.entries.iter().map(|entry| entry.place).collect()
    }

    /// Who listed it first, in seat order. Who takes a side in a later round has not raised it.
    pub(super) fn first_raisers(&self) -> Vec<usize> {
        let first = self.entries.iter().map(|entry| entry.round).min();
        let raisers = self.entries.iter().filter(|entry| Some(entry.round) == first);
        raisers.map(|entry| entry.place).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// All its ids.
    pub(super) fn ids(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.id).chain(&self.same_as)
    }

    /// The views that judges hold of it in the end, in seat order. A later word of the same judge supersedes a view.
    pub(super) fn last_entries(&self) -> Vec<&DisputeEntry> {
        let is_last = |entry: &&DisputeEntry| self.last_words.get(entry.place) == Some(&entry.round);
        let mut last: Vec<&DisputeEntry> = self.entries.iter().filter(is_last).collect();
        last.sort_by_key(|entry| entry.place);
        last
    }

    /// Whether it is a difference in scores, which only scores settle.
    pub(super) fn is_dimension(&self) -> bool {
        matches!(self.topic, DisputeTopic::Dimension(_))
    }

    fn side(&self, place: usize) -> DisputeSide {
        self.sides.get(place).copied().unwrap_or(DisputeSide::Unknown)
    }

    fn set_side(&mut self, place: usize, side: DisputeSide) {
        self.sides.get_mut(place).into_iter().for_each(|own| *own = side);
    }

    /// Adds what a judge says of it. The raiser's view is one side. Who contradicts somebody is on the other side from them.
    fn add(&mut self, log: &PanelLog<'_>, entry: DisputeEntry) {
        let place = entry.place;
        let opponent = log.judges.iter().position(|judge| Some(judge.id) == entry.open.with_judge.as_deref());
        let opponent = opponent.filter(|opponent| *opponent != place);
        let against = opponent.and_then(|opponent| self.side(opponent).opposite());
        let side = match (self.entries.first(), against) {
            (None, _) => Some(DisputeSide::Raiser),
            (Some(_), Some(side)) => Some(side),
            (Some(raised), None) => match &entry.view {
                view if raised.place == place || is_same_text(view, &raised.view) => {
                    Some(DisputeSide::Raiser)
                }
                view if is_same_text(view, &raised.open.opposing_view) => Some(DisputeSide::Other),
                _ => None,
            },
        };
        if let (Some(side), DisputeSide::Unknown | DisputeSide::Left) = (side, self.side(place)) {
            self.set_side(place, side);
        }
        match opponent {
            // What a judge says of its own position outranks what others say of it.
            Some(opponent) if self.side(opponent) == DisputeSide::Unknown => {
                let other = side.and_then(DisputeSide::opposite);
                other.into_iter().for_each(|other| self.set_side(opponent, other));
            }
            Some(_) => {}
            None => self.has_unnamed_opponent |= self.entries.is_empty(),
        }
        self.heard(place, entry.round);
        self.entries.push(entry);
    }

    fn heard(&mut self, place: usize, round: u32) {
        self.last_words.get_mut(place).into_iter().for_each(|last| *last = round);
    }

    /// A judge concedes it, by its id or by that of what it is about. Who concedes the dispute gives up its side. Who concedes a claim
    /// accepts it, or gives it up if it is one of those whose claim it is. Who leaves the dispute open in the same reply concedes only a
    /// part, and keeps its side.
    fn concede(&mut self, place: usize, round: u32, words: &str, claimants: Option<&[usize]>) {
        if self.entries.iter().any(|entry| (entry.place, entry.round) == (place, round)) {
            return;
        }
        let side = self.side(place);
        let is_for_raiser = match (claimants, self.entries.first()) {
            (Some(claimants), Some(raised)) => {
                claimants.contains(&raised.place) != claimants.contains(&place)
            }
            _ => side != DisputeSide::Raiser,
        };
        let accepted = if is_for_raiser { DisputeSide::Raiser } else { DisputeSide::Other };
        self.heard(place, round);
        if side == accepted {
            return;
        }
        if side.opposite().is_some() {
            self.given_up.push((place, round, words.to_owned()));
        }
        self.set_side(place, DisputeSide::Left);
    }

    /// Whether it is open after a round.
    fn is_open_after(&self, round: &PanelRound, dimension_range: f64) -> bool {
        match self.topic {
            DisputeTopic::Dimension(place) => {
                round.check.dimensions.get(place).is_some_and(|range| *range > dimension_range + TOLERANCE)
            }
            DisputeTopic::Finding(finding) => is_finding_disputed(round, finding),
            DisputeTopic::Point(_) => {
                let has = |side: DisputeSide| self.sides.contains(&side);
                let is_opposed =
                    has(DisputeSide::Other) || self.has_unnamed_opponent && has(DisputeSide::Unknown);
                has(DisputeSide::Raiser) && is_opposed
            }
        }
    }
}

fn is_finding_disputed(round: &PanelRound, finding: usize) -> bool {
    let stands = round.standings.iter().map(|standing| group_stand(standing, &round.groups, finding));
    let stands: Vec<FindingStand> = stands.collect();
    stands.contains(&FindingStand::Holds) && stands.contains(&FindingStand::Rejects)
}

/// The disputes of a debate. Their ids do not change when the debate goes on.
pub(super) fn find_disputes(log: &PanelLog<'_>) -> Vec<PanelDispute> {
    let mut disputes: Vec<PanelDispute> = Vec::new();
    for (past, round) in log.rounds.iter().enumerate() {
        open_by_scores(log, round, &mut disputes);
        for (place, judge) in log.judges.iter().enumerate() {
            for entry in entries(judge, place, round.phase) {
                let at = find_or_open(log, round, &entry, &mut disputes);
                disputes.get_mut(at).into_iter().for_each(|dispute| dispute.add(log, entry.clone()));
            }
        }
        for (place, judge) in log.judges.iter().enumerate() {
            for (id, words) in judge.conceded(round.phase) {
                for dispute in &mut disputes {
                    let is_about = dispute.topic == DisputeTopic::Point(Some(id.to_owned()));
                    if is_about || dispute.id == id {
                        let claimants = is_about.then(|| log.raisers_of(id));
                        dispute.concede(place, round.number, words, claimants);
                    }
                }
            }
            let positions = judge.finding_positions(round.phase).iter().map(|said| said.finding_id.as_str());
            for id in positions.chain(judge.conceded(round.phase).into_iter().map(|(id, _)| id)) {
                let at = log.findings.iter().position(|finding| finding.id == id);
                let at = at.and_then(|at| find(round, &disputes, &DisputeTopic::Finding(at)));
                let dispute = at.and_then(|at| disputes.get_mut(at));
                dispute.into_iter().for_each(|dispute| dispute.heard(place, round.number));
            }
        }
        for dispute in &mut disputes {
            let is_open = dispute.is_open_after(round, log.options.dimension_range);
            dispute.open_after.resize(past, false);
            dispute.open_after.push(is_open);
        }
    }
    merged(log, disputes)
}

/// Opens what the scores and the positions on findings show after a round.
fn open_by_scores(log: &PanelLog<'_>, round: &PanelRound, disputes: &mut Vec<PanelDispute>) {
    let mut open = |topic: DisputeTopic, text: &str| {
        if find(round, disputes, &topic).is_none() {
            disputes.push(PanelDispute::new(log, round, disputes.len() + 1, topic, text));
        }
    };
    for (place, (key, range)) in log.rubric.keys().zip(&round.check.dimensions).enumerate() {
        if *range > log.options.dimension_range + TOLERANCE {
            open(DisputeTopic::Dimension(place), key);
        }
    }
    for (place, finding) in log.findings.iter().enumerate() {
        if round.groups.get(place) == Some(&place) && is_finding_disputed(round, place) {
            open(DisputeTopic::Finding(place), &finding.finding);
        }
    }
}

/// The place of the dispute about a topic. A finding is the same topic as those that are the same finding.
fn find(round: &PanelRound, disputes: &[PanelDispute], topic: &DisputeTopic) -> Option<usize> {
    let group = |place: &usize| round.groups.get(*place);
    disputes.iter().position(|dispute| match (&dispute.topic, topic) {
        (DisputeTopic::Finding(one), DisputeTopic::Finding(other)) => group(one) == group(other),
        (DisputeTopic::Point(None), DisputeTopic::Point(None)) => false,
        (one, other) => one == other,
    })
}

/// The place of the dispute that an entry is about: by its id, by the finding or claim that it names, or by the same words. Scores
/// settle a dimension and not what a judge says about it, so a point about one is a dispute of its own.
fn find_or_open(
    log: &PanelLog<'_>,
    round: &PanelRound,
    entry: &DisputeEntry,
    disputes: &mut Vec<PanelDispute>,
) -> usize {
    let about = entry.open.about.as_deref();
    let by_id =
        disputes.iter().position(|dispute| Some(dispute.id.as_str()) == about && !dispute.is_dimension());
    let finding = log.findings.iter().position(|finding| Some(finding.id.as_str()) == about);
    let claim = log.point_ids().find(|id| Some(*id) == about);
    let (topic, text) = match finding {
        Some(place) => {
            let text = log.findings.get(place).map_or(&entry.topic, |finding| &finding.finding);
            (DisputeTopic::Finding(place), text)
        }
        None => (DisputeTopic::Point(claim.map(str::to_owned)), &entry.topic),
    };
    let by_words = || {
        disputes.iter().position(|dispute| {
            matches!(dispute.topic, DisputeTopic::Point(_)) && is_same_text(&dispute.text, &entry.topic)
        })
    };
    let found = by_id.or_else(|| find(round, disputes, &topic));
    found.or_else(|| finding.is_none().then(by_words).flatten()).unwrap_or_else(|| {
        disputes.push(PanelDispute::new(log, round, disputes.len() + 1, topic, text));
        disputes.len() - 1
    })
}

/// What a judge leaves unresolved in a phase, whatever the seed calls it there.
fn entries(judge: &PanelJudge<'_>, place: usize, phase: PanelPhase) -> Vec<DisputeEntry> {
    let entry = |topic: &str, view: &str, open: &OpenDispute| DisputeEntry {
        round: phase.round(),
        place,
        topic: topic.trim().to_owned(),
        view: view.trim().to_owned(),
        open: OpenDispute {
            opposing_view: open.opposing_view.trim().to_owned(),
            stakes: open.stakes.trim().to_owned(),
            ..open.clone()
        },
    };
    let second = judge.rebuttal.iter().flat_map(|said| &said.unresolved_disputes);
    let third = judge.last.iter().flat_map(|said| &said.unresolved_disagreements);
    match phase {
        PanelPhase::Rebuttal => second.map(|left| entry(&left.topic, &left.my_view, &left.dispute)).collect(),
        PanelPhase::Final => {
            third.map(|left| entry(&left.issue, &left.my_final_view, &left.dispute)).collect()
        }
        PanelPhase::Position | PanelPhase::Summary => Vec::new(),
    }
}

/// The disputes with those that turned out to be the same as one: by declaration, or because their findings are the same.
fn merged(log: &PanelLog<'_>, disputes: Vec<PanelDispute>) -> Vec<PanelDispute> {
    let last_round = log.rounds.last().map_or(0, |round| round.number);
    // Nothing can be declared the same as a difference in scores: that would settle it with them.
    let ids = disputes.iter().map(|dispute| if dispute.is_dimension() { "" } else { dispute.id.as_str() });
    let things = ids.zip(disputes.iter().map(PanelDispute::raisers));
    let groups = declared_groups(&log.judges, things, last_round);
    let mut kept: Vec<PanelDispute> = Vec::new();
    for (dispute, group) in disputes.iter().zip(groups) {
        let declared = disputes.get(group).map(|first| first.id.as_str());
        let same_topic = log.rounds.last().and_then(|round| find(round, &kept, &dispute.topic));
        let by_id = kept.iter().position(|first| Some(first.id.as_str()) == declared);
        let Some(first) = by_id.or(same_topic).and_then(|at| kept.get_mut(at)) else {
            kept.push(dispute.clone());
            continue;
        };
        first.same_as.push(dispute.id.clone());
        first.entries.extend(dispute.entries.iter().cloned());
        first.given_up.extend(dispute.given_up.iter().cloned());
        let words = first.last_words.iter_mut().zip(&dispute.last_words);
        words.for_each(|(last, other)| *last = (*last).max(*other));
        // Scores and positions on findings decide by themselves.
        if matches!(first.topic, DisputeTopic::Point(_)) {
            let pairs = first.open_after.iter_mut().zip(&dispute.open_after);
            pairs.for_each(|(open, other)| *open |= other);
        }
    }
    kept
}

/// "Points where judges converged", "initially disagreed, now agree", "still in disagreement", after a round.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct PositionEvolution {
    pub agreements_formed: usize,
    pub disputes_resolved: usize,
    pub disputes_remaining: usize,
}

/// The figures after a round, by its place in the log. Only `agreements_formed` is of that round alone.
pub(super) fn evolution_after(log: &PanelLog<'_>, place: usize) -> PositionEvolution {
    let adopted = |place: usize| log.rounds.get(place).map_or(&[][..], |round| &round.check.adopted);
    let before = place.checked_sub(1).map_or(&[][..], adopted);
    let newly_adopted = adopted(place).iter().filter(|finding| !before.contains(finding)).count();
    let mut evolution =
        PositionEvolution { agreements_formed: newly_adopted, ..PositionEvolution::default() };
    for dispute in &log.disputes {
        let open = |at: usize| dispute.open_after.get(at).copied().unwrap_or_default();
        let was_open = (0..place).any(open);
        evolution.disputes_remaining += usize::from(open(place));
        evolution.disputes_resolved += usize::from(was_open && !open(place));
        let just_before = place.checked_sub(1).is_some_and(open);
        evolution.agreements_formed += usize::from(just_before && !open(place));
    }
    evolution
}

/// What was open after any round: each dispute once, the open ones first.
pub(super) fn listed<'a>(log: &'a PanelLog<'_>) -> Vec<&'a PanelDispute> {
    let mut disputes: Vec<&PanelDispute> =
        log.disputes.iter().filter(|dispute| dispute.open_after.contains(&true)).collect();
    disputes.sort_by_key(|dispute| dispute.is_resolved());
    disputes
}

/// A dispute as the verdict shows it.
pub(super) fn record(log: &PanelLog<'_>, dispute: &PanelDispute) -> Value {
    let rounds = log.rounds.iter().zip(&dispute.open_after).filter(|(_, open)| **open);
    let stakes = dispute.last_entries().into_iter().map(|entry| &entry.open.stakes);
    let mut record = json!({
        "dispute_id": dispute.id,
        "topic": dispute.text,
        "about": dispute.about(log),
        "state": if dispute.is_open() { "open" } else { "resolved" },
        "open_after_rounds": rounds.map(|(round, _)| round.number).collect::<Vec<_>>(),
        "raised_by": log.ids(&dispute.first_raisers()),
        "stakes": stakes.filter(|stakes| !stakes.is_empty()).collect::<Vec<_>>(),
    });
    if !dispute.same_as.is_empty() {
        set(&mut record, "same_as", dispute.same_as.as_slice());
    }
    record
}
