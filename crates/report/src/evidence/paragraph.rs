//! What the debate did, in a few sentences.
//!
//! A sentence says only what the log records. What no verified declaration says is unknown, which is said once.

use agon_core::wording::{excerpt, joined, score, spoken};
use agon_core::{DecidedPosition, PositionFlip, PositionHistory, RoundPositions};
use agon_measure::Evidence;
use agon_measure::evidence::FirstRound;

use super::{SeatMoves, are_changes_in_paragraph, change_words, flip_citation, seat_moves};
use crate::report_source::ReportSource;

/// Who changed, what the first positions give and what the verdict is, which rounds were idle, and which seats share a model.
pub(super) fn paragraph(source: &ReportSource<'_>) -> Option<String> {
    let (evidence, history) = (source.evidence, &source.view.positions);
    history.rounds.iter().flat_map(|round| &round.stands).next()?;
    let own_rounds: Vec<&RoundPositions> = history.rounds.iter().filter(|round| !round.ballots).collect();
    let first = own_rounds.first().copied().filter(|first| first.stands.len() > 1);
    let facts = EvidenceFacts {
        source,
        evidence,
        history,
        own_rounds,
        first: first.zip(evidence.first_round.as_ref()),
    };
    let sentences = [
        facts.changes(),
        facts.kept_positions(),
        facts.vote(),
        facts.ruling(),
        facts.undeclared(),
        facts.idle_rounds(),
        facts.independence(),
    ];
    let sentences: Vec<String> = sentences.into_iter().flatten().collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// A longer value is cut in a sentence.
const VALUE_CHARS_MAX: usize = 60;

struct EvidenceFacts<'a> {
    source: &'a ReportSource<'a>,
    evidence: &'a Evidence,
    history: &'a PositionHistory,
    /// The rounds in which the seats stated positions of their own.
    own_rounds: Vec<&'a RoundPositions>,
    /// The first of them and its figures, if more than one seat took a position in it.
    first: Option<(&'a RoundPositions, &'a FirstRound)>,
}

impl EvidenceFacts<'_> {
    /// Who changed, and when. A few changes of values are told in full.
    fn changes(&self) -> Option<String> {
        let (source, flips) = (self.source, &self.evidence.flips);
        let change = |flip: &PositionFlip| {
            let change = change_words(source, flip);
            format!("{} {change}, {}", source.name(&flip.seat), flip_citation(flip))
        };
        let told: Vec<String> = match are_changes_in_paragraph(source) {
            true => flips.iter().map(change).collect(),
            false => self.clauses(true),
        };
        let (role, what) = (self.role(), if source.is_scored() { "score" } else { "position" });
        match (self.own_rounds.len(), source.outcome()) {
            _ if !told.is_empty() => Some(format!("{}.", told.join("; "))),
            (0, _) => None,
            (_, None) => Some(format!("No {role} has changed its {what} so far.")),
            (1, Some(_)) => Some(format!("There was one round of {what}s.")),
            (_, Some(_)) => Some(format!("No {role} changed its {what}.")),
        }
    }

    /// Who revised a text or was counted with another position without a change of its own, and when.
    fn kept_positions(&self) -> Option<String> {
        let kept = self.clauses(false);
        (!kept.is_empty()).then(|| format!("{}.", kept.join("; ")))
    }

    /// One clause for all seats that did the same in the same rounds: took another position, or did something else with their own.
    fn clauses(&self, are_changes: bool) -> Vec<String> {
        let mut alike: Vec<(SeatMoves<'_>, Vec<String>)> = Vec::new();
        for moves in seat_moves(self.source).into_iter().filter(|moves| moves.is_change == are_changes) {
            let name = self.source.name(moves.seat);
            match alike.iter_mut().find(|(one, _)| one.did == moves.did && one.rounds == moves.rounds) {
                Some((_, names)) => names.push(name),
                None => alike.push((moves, vec![name])),
            }
        }
        let clause = |(moves, names): &(SeatMoves<'_>, Vec<String>)| {
            format!("{} {} in {}", joined(names), moves.did, self.source.rounds_name(&moves.rounds))
        };
        alike.iter().map(clause).collect()
    }

    /// What one of the seats that took a position is called: "debater".
    fn role(&self) -> String {
        let brief = &self.source.debate.brief;
        let mut roles = self.evidence.trajectory.iter().map(|seat| Some(&brief.seat(&seat.seat)?.role));
        let first = roles.next().flatten();
        first
            .filter(|_| roles.all(|role| role == first))
            .map_or_else(|| "seat".to_owned(), |role| spoken(role))
    }

    /// `verdict`, or `answer` if the protocol gives one.
    fn noun(&self) -> &'static str {
        let headline = &self.source.view.headline;
        if headline.verdict.is_none() && headline.answer.is_some() { "answer" } else { "verdict" }
    }

    /// What a plain vote on the first positions gives, and what the verdict is.
    fn vote(&self) -> Option<String> {
        let (_, figures) = self.first.filter(|(first, _)| first.is_sorted() && !self.source.is_scored())?;
        let tied: Vec<String> = figures.tied.iter().map(|value| self.shown(value)).collect();
        let gives = match &figures.vote {
            Some(vote) => format!("gives {}", self.shown(vote)),
            None if self.history.are_texts => "is tied".to_owned(),
            None => format!("is tied between {}", joined(&tied)),
        };
        Some(format!("A plain vote on the first positions {gives}{}.", self.decided(figures)))
    }

    /// What the protocol's own rule makes of the first positions, if that is not what a plain vote gives.
    fn ruling(&self) -> Option<String> {
        let (_, figures) = self.first.filter(|(first, _)| first.is_sorted())?;
        let ruling = figures.ruling.as_ref();
        let given = ruling.map_or_else(|| format!("no {}", self.noun()), |ruling| self.shown(ruling));
        match self.source.is_scored() {
            true => (self.history.rounds.len() > 1).then(|| {
                format!("By the protocol's own rule the first scores give {given}{}.", self.decided(figures))
            }),
            false => (ruling != figures.vote.as_ref())
                .then(|| format!("By the protocol's own rule the first positions give {given}.")),
        }
    }

    /// A first position: a value as it is, a text by the seats that held it.
    fn shown(&self, position: &str) -> String {
        let first = self.evidence.first_round.iter().flat_map(|first| &first.positions);
        let holders = first.filter(|first| self.history.are_texts && first.position == position);
        let holders: Vec<String> = holders.flat_map(|first| self.source.names(&first.seats)).collect();
        match holders.as_slice() {
            [] => excerpt(&agon_host::clean_line(position), VALUE_CHARS_MAX),
            holders => format!("that of {}", joined(holders)),
        }
    }

    /// A clause about the verdict; empty if it is not known which position it states.
    fn decided(&self, figures: &FirstRound) -> String {
        let noun = self.noun();
        match &self.history.decided {
            _ if self.source.outcome().is_none() => format!("; there is no {noun} yet"),
            DecidedPosition::Nothing => format!("; there is no {noun}"),
            DecidedPosition::Unknown => String::new(),
            DecidedPosition::Held(value) | DecidedPosition::New(value) if !self.history.are_texts => {
                format!("; the {noun} is {}", self.shown(value))
            }
            DecidedPosition::New(_) => format!("; the {noun} states a position that nobody held"),
            DecidedPosition::Held(name) if figures.vote.as_ref() == Some(name) => {
                format!("; the {noun} states the same position")
            }
            DecidedPosition::Held(name) if figures.tied.contains(name) => {
                format!("; the {noun} states one of the tied positions")
            }
            DecidedPosition::Held(_) => format!("; the {noun} states another position"),
        }
    }

    /// What nobody declared in a way that verifies, and what is unknown because of that.
    fn undeclared(&self) -> Option<String> {
        let (noun, rounds) = (self.noun(), &self.history.rounds);
        let unsorted: Vec<u32> =
            rounds.iter().filter(|round| !round.is_sorted()).map(|round| round.round).collect();
        let is_decided = self.source.outcome().is_some() && self.history.decided != DecidedPosition::Nothing;
        let (mut undeclared, mut unknown) = (Vec::new(), Vec::new());
        if !unsorted.is_empty() {
            let (place, there) = match unsorted.len() < rounds.len() {
                true => (format!(" in {}", self.source.rounds_name(&unsorted)), " there"),
                false => (String::new(), ""),
            };
            undeclared.push(format!("which positions are the same{place}"));
            unknown.push(format!("agreement{there}"));
        }
        let is_vote_unknown = self.first.is_some_and(|(first, _)| !first.is_sorted());
        unknown.extend(is_vote_unknown.then(|| "a plain vote on the first positions".to_owned()));
        if is_decided && self.history.decided == DecidedPosition::Unknown {
            undeclared.push(format!("which position the {noun} states"));
        }
        let is_change_unknown =
            self.evidence.first_round.as_ref().is_some_and(|first| first.changed_by_debate.is_none());
        unknown.extend(
            (is_decided && is_change_unknown).then(|| format!("whether the debate changed the {noun}")),
        );
        let so = match unknown.as_slice() {
            [] => String::new(),
            [only] => format!(", so {only} is unknown"),
            several => format!(", so {} are unknown", joined(several)),
        };
        (!undeclared.is_empty())
            .then(|| format!("No verified declaration says {}{so}.", undeclared.join(" or ")))
    }

    /// The rounds in which nobody revised anything, if somebody did in others.
    fn idle_rounds(&self) -> Option<String> {
        let idle = &self.evidence.counterfactual.idle_rounds;
        let is_told = !idle.is_empty() && idle.len() + 1 < self.own_rounds.len();
        is_told.then(|| format!("Nobody changed position in {}.", self.source.rounds_name(idle)))
    }

    /// How independent the seats are, or which of them share a model or a provider.
    fn independence(&self) -> Option<String> {
        let independence = &self.evidence.independence;
        let role = self.role();
        if self.evidence.trajectory.len() < 2 {
            return None;
        }
        if let Some(rho) = independence.rho {
            // Seats whose errors oppose each other would be more voices than they are.
            let voices = independence.n_eff.filter(|voices| *voices <= self.evidence.trajectory.len() as f64);
            let voices = voices.map(|voices| format!(" They count as {voices:.1} independent voices."));
            return Some(format!(
                "In earlier debates, the errors of these {role}s correlate by {} on average.{}",
                score(rho),
                voices.unwrap_or_default()
            ));
        }
        let names = |seats: &[String]| joined(&self.source.names(seats));
        let models = independence.shared_models.iter();
        let is_one_model = |seats: &[String]| models.clone().any(|shared| shared.seats == seats);
        let families = independence.families.iter().filter(|shared| !is_one_model(&shared.seats));
        let mut shared: Vec<String> = models
            .clone()
            .map(|shared| format!("{} share the model {}", names(&shared.seats), shared.model))
            .collect();
        shared.extend(
            families.map(|shared| format!("{} share the provider {}", names(&shared.seats), shared.family)),
        );
        if shared.is_empty() {
            shared.push("no two share a model".to_owned());
        }
        Some(format!("How independent the {role}s are is not known; {}.", shared.join("; ")))
    }
}
