//! One trial: what the truth is, who was right at first, and how what a seat reads moves it.

use agon_core::seed::Draw;
use agon_engine::Call;

use crate::population::{Cause, Heard, Population};
use crate::reading::Shown;
use crate::words::Side;

/// One trial of a population.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) protocol: &'static str,
    pub(crate) population: Population,
    pub(crate) seed: u64,
    /// The right answer, each of the two in half of the worlds: a protocol that leans to one of them must not look good for it.
    pub(crate) truth: Side,
    first: Vec<bool>,
    adversary: Option<usize>,
}

/// What a seat holds after it has read the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) side: Side,
    pub(crate) cause: Cause,
    /// Of those who hold what the seat holds now, the first that it was shown.
    pub(crate) with: Option<String>,
    /// Of those who hold the other view, likewise.
    pub(crate) against: Option<String>,
}

impl Moved {
    /// Whether the seat holds another view than before.
    pub(crate) fn is_changed(&self) -> bool {
        self.cause != Cause::Stayed
    }

    /// Whose evidence it names, where that moved it.
    pub(crate) fn convinced_by(&self) -> Option<&str> {
        self.with.as_deref().filter(|_| self.cause == Cause::Evidence)
    }
}

impl World {
    pub(crate) fn new(protocol: &'static str, population: &Population, seed: u64) -> Self {
        let truth = if Draw::new(seed, "truth").below(2) == 0 { Side::Yes } else { Side::No };
        Self {
            protocol,
            truth,
            first: population.first(seed),
            adversary: population.adversary_at(seed),
            population: population.clone(),
            seed,
        }
    }

    /// What a seat holds before it has read anybody.
    pub(crate) fn first(&self, place: usize) -> Side {
        self.side(self.first.get(place).copied().unwrap_or_default())
    }

    pub(crate) fn is_adversary(&self, place: usize) -> bool {
        self.adversary == Some(place)
    }

    /// What a seat holds after it has read what this call shows.
    pub(crate) fn moved(&self, place: usize, call: &Call) -> Moved {
        let shown = Shown::read(call);
        let others = shown.others();
        let own = shown.own.unwrap_or_else(|| self.first(place));
        let holding = |side: Side| others.iter().filter(|other| other.side == side).count();
        let heard = Heard {
            right: holding(self.truth),
            wrong: holding(self.truth.other()),
            fabricated: shown.is_fabricated(),
            right_said: shown.count(self.truth),
            wrong_said: shown.count(self.truth.other()),
        };
        let (side, cause) = if self.is_adversary(place) {
            (own, Cause::Stayed)
        } else {
            let mut draw = self.draw(&format!("{place} {} {}", call.phase.name, call.phase.round));
            let update = self.population.update(own == self.truth, &heard, &mut draw);
            (self.side(update.right), update.cause)
        };
        let who = |side: Side| others.iter().find(|other| other.side == side).map(|other| other.who.clone());
        Moved { side, cause, with: who(side), against: who(side.other()) }
    }

    /// What somebody without a seat of its own thinks, a judge or a chair: it is right as often as the seats are.
    pub(crate) fn onlooker(&self, who: &str) -> Side {
        self.side(self.draw(who).unit() < self.population.accuracy)
    }

    pub(crate) fn draw(&self, purpose: &str) -> Draw {
        Draw::new(self.seed, purpose)
    }

    fn side(&self, right: bool) -> Side {
        if right { self.truth } else { self.truth.other() }
    }
}
