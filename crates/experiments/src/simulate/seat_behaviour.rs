//! Who sits in a simulated debate, and what changes their minds. Everything here is a pure function of a seed.

use agon_core::{Invalid, SeededDraw};
use serde::{Deserialize, Serialize};

/// What is planted in the seats of a simulated debate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SimulatedPopulation {
    /// How many seats hold positions.
    pub seats: usize,
    /// `p`: how often a seat is right before it reads the others.
    pub accuracy: f64,
    /// The correlation of the first errors: 0 is independence, 1 is one voice.
    pub rho: f64,
    /// `s`: how often a seat changes its mind for no reason.
    pub flips: f64,
    /// `c`: how often a seat adopts the view of the majority because it is the majority's.
    pub conformity: f64,
    /// `q`: how often a seat adopts the other view after it reads the evidence for it. Right and wrong views have equally
    /// persuasive evidence, so a population that follows evidence is no wiser for it.
    pub persuadable: f64,
    /// `b`: how often a judge prefers what it is shown first, whatever it says.
    pub position_bias: f64,
    /// How much more a right answer weighs than a wrong one for seats that update by counting: 0.3 is 30% more.
    pub drift: f64,
    /// Whether seats update by counting the answers they hear, and by nothing else.
    pub neutral: bool,
    /// One seat that is always wrong and shows made-up evidence.
    pub adversary: Option<SimulatedAdversary>,
}

/// A seat that is wrong on purpose, sure of itself, and shows evidence that it made up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SimulatedAdversary {
    /// How often its evidence convinces a seat that is right, in one round.
    pub persuasion: f64,
}

impl Default for SimulatedAdversary {
    fn default() -> Self {
        Self { persuasion: 0.3 }
    }
}

impl Default for SimulatedPopulation {
    fn default() -> Self {
        Self {
            seats: 5,
            accuracy: 0.6,
            rho: 0.0,
            flips: 0.05,
            conformity: 0.2,
            persuadable: 0.3,
            position_bias: 0.2,
            drift: 0.0,
            neutral: false,
            adversary: None,
        }
    }
}

/// What a seat has read when it is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HeardViews {
    /// How many of the others are right now.
    pub right: usize,
    /// How many of the others are wrong now.
    pub wrong: usize,
    /// Whether it read the adversary's evidence.
    pub fabricated: bool,
    /// All right answers that it was shown so far, its own included.
    pub right_said: usize,
    /// All wrong answers that it was shown so far, its own included.
    pub wrong_said: usize,
}

/// Why a seat holds what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveCause {
    /// It did not change its mind.
    Stayed,
    /// The evidence of the other side.
    Evidence,
    /// No reason.
    Spontaneous,
    /// The majority of the others.
    Conformity,
    /// The count of all answers.
    Counted,
}

/// A seat's view after it has read the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewUpdate {
    /// Whether it is right now.
    pub right: bool,
    /// Why.
    pub cause: MoveCause,
}

impl SimulatedPopulation {
    /// Refuses values that cannot be planted.
    pub fn check(&self) -> Result<(), Invalid> {
        let shares = [
            ("accuracy", self.accuracy),
            ("rho", self.rho),
            ("flips", self.flips),
            ("conformity", self.conformity),
            ("persuadable", self.persuadable),
            ("position bias", self.position_bias),
            ("the adversary's persuasion", self.adversary.map_or(0.0, |adversary| adversary.persuasion)),
        ];
        if let Some((name, value)) = shares.iter().find(|(_, value)| !(0.0..=1.0).contains(value)) {
            return Err(Invalid(format!("{name} is {value}, but it must be a share from 0 to 1")));
        }
        if !(0.0..=10.0).contains(&self.drift) {
            return Err(Invalid(format!("drift is {}, but it must be from 0 to 10", self.drift)));
        }
        Ok(())
    }

    /// The place of the adversary, if there is one.
    pub fn adversary_place(&self, seed: u64) -> Option<usize> {
        self.adversary.map(|_| SeededDraw::new(seed, "adversary").below(self.seats))
    }

    /// Which seats are right before they read each other.
    ///
    /// The answers are drawn like balls from Polya's urn: each makes the next more likely to be the same. The number of right answers
    /// is then beta-binomial with mean `accuracy` and correlation `rho`.
    pub fn first_views(&self, seed: u64) -> Vec<bool> {
        let mut draw = SeededDraw::new(seed, "first");
        let urn = if self.rho > 0.0 { 1.0 / self.rho - 1.0 } else { f64::INFINITY };
        let (mut views, mut right) = (Vec::with_capacity(self.seats), 0_usize);
        for before in 0..self.seats {
            let chance = match before {
                0 => self.accuracy,
                _ if urn.is_infinite() => self.accuracy,
                _ => (self.accuracy * urn + right as f64) / (urn + before as f64),
            };
            let view = draw.unit() < chance;
            right += usize::from(view);
            views.push(view);
        }
        if let Some(view) = self.adversary_place(seed).and_then(|place| views.get_mut(place)) {
            *view = false;
        }
        views
    }

    /// How sure a seat that counts answers is of the truth. Its first belief weighs as much as one round of answers, and every
    /// answer it hears is added. Without drift the expected belief does not change: it is a martingale.
    pub fn belief(&self, right_said: usize, wrong_said: usize) -> f64 {
        let prior = self.seats.max(1) as f64;
        let right = self.accuracy * prior + (1.0 + self.drift) * right_said as f64;
        let wrong = (1.0 - self.accuracy) * prior + wrong_said as f64;
        right / (right + wrong)
    }

    /// A seat's view after it has read the others. Evidence comes first, then chance, then the majority, so that each can be
    /// estimated from what the earlier ones leave.
    pub fn update(&self, right: bool, heard: &HeardViews, draw: &mut SeededDraw) -> ViewUpdate {
        if self.neutral {
            let now = draw.unit() < self.belief(heard.right_said, heard.wrong_said);
            let cause = if now == right { MoveCause::Stayed } else { MoveCause::Counted };
            return ViewUpdate { right: now, cause };
        }
        // Always three draws, so that changing one planted value does not change the effect of the others.
        let [evidence, chance, majority] = [draw.unit(), draw.unit(), draw.unit()];
        let (with, against) = if right { (heard.right, heard.wrong) } else { (heard.wrong, heard.right) };
        let adversary = self.adversary.filter(|_| heard.fabricated && right);
        let persuasion =
            adversary.map_or(self.persuadable, |adversary| adversary.persuasion.max(self.persuadable));
        if against > 0 && evidence < persuasion {
            return ViewUpdate { right: !right, cause: MoveCause::Evidence };
        }
        if chance < self.flips {
            return ViewUpdate { right: !right, cause: MoveCause::Spontaneous };
        }
        if against > with && majority < self.conformity {
            return ViewUpdate { right: !right, cause: MoveCause::Conformity };
        }
        ViewUpdate { right, cause: MoveCause::Stayed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(hits: usize, of: usize) -> f64 {
        hits as f64 / of as f64
    }

    #[test]
    fn first_views_have_the_planted_accuracy_and_correlation() {
        for (accuracy, rho) in [(0.6, 0.0), (0.8, 0.44), (0.7, 1.0)] {
            let population =
                SimulatedPopulation { seats: 2, accuracy, rho, ..SimulatedPopulation::default() };
            let trials: Vec<Vec<bool>> = (0..20_000).map(|seed| population.first_views(seed)).collect();
            let of = |which: fn(&[bool]) -> bool| {
                share(trials.iter().filter(|views| which(views)).count(), trials.len())
            };
            let (one, other) = (of(|views| views[0]), of(|views| views[1]));
            let both = of(|views| views[0] && views[1]);
            let spread = |share: f64| (share * (1.0 - share)).sqrt();
            let found = (both - one * other) / (spread(one) * spread(other));
            assert!((one - accuracy).abs() < 0.011 && (other - accuracy).abs() < 0.011, "{one}, {other}");
            assert!((found - rho).abs() < 0.03, "{found} for {rho}");
        }
    }

    /// Beta-binomial, N=9, p=0.8: 0.980 independent, 0.834 at rho 0.44.
    #[test]
    fn the_accuracy_of_a_majority_agrees_with_the_closed_form() {
        for (rho, closed) in [(0.0, 0.980), (0.44, 0.834)] {
            let population =
                SimulatedPopulation { seats: 9, accuracy: 0.8, rho, ..SimulatedPopulation::default() };
            let right = |seed: &u64| population.first_views(*seed).iter().filter(|view| **view).count() > 4;
            let found = share((0..20_000_u64).filter(right).count(), 20_000);
            assert!((found - closed).abs() < 0.008, "{found} for {closed}");
        }
    }

    #[test]
    fn nothing_moves_a_seat_in_which_nothing_is_planted() {
        let still = SimulatedPopulation {
            flips: 0.0,
            conformity: 0.0,
            persuadable: 0.0,
            ..SimulatedPopulation::default()
        };
        let outnumbered = HeardViews { wrong: 4, ..HeardViews::default() };
        for seed in 0..500 {
            let now = still.update(true, &outnumbered, &mut SeededDraw::new(seed, "test"));
            assert_eq!(now, ViewUpdate { right: true, cause: MoveCause::Stayed });
        }
    }

    #[test]
    fn each_cause_moves_as_often_as_planted_and_only_where_it_applies() {
        let population = SimulatedPopulation {
            flips: 0.1,
            conformity: 0.3,
            persuadable: 0.4,
            ..SimulatedPopulation::default()
        };
        let causes = |heard: HeardViews, cause: MoveCause| {
            let moved = |seed: &u64| {
                population.update(true, &heard, &mut SeededDraw::new(*seed, "test")).cause == cause
            };
            share((0..20_000_u64).filter(moved).count(), 20_000)
        };
        let alone = HeardViews { right: 4, ..HeardViews::default() };
        let divided = HeardViews { right: 2, wrong: 2, ..HeardViews::default() };
        let outnumbered = HeardViews { right: 1, wrong: 3, ..HeardViews::default() };
        let is = |found: f64, planted: f64| assert!((found - planted).abs() < 0.011, "{found} for {planted}");
        is(causes(alone, MoveCause::Spontaneous), 0.1);
        is(causes(alone, MoveCause::Evidence) + causes(alone, MoveCause::Conformity), 0.0);
        is(causes(divided, MoveCause::Evidence), 0.4);
        is(causes(divided, MoveCause::Conformity), 0.0);
        is(causes(outnumbered, MoveCause::Spontaneous), 0.6 * 0.1);
        is(causes(outnumbered, MoveCause::Conformity), 0.6 * 0.9 * 0.3);
    }

    #[test]
    fn values_that_cannot_be_planted_are_refused() {
        let wrong = SimulatedPopulation { conformity: 1.2, ..SimulatedPopulation::default() };
        assert!(wrong.check().unwrap_err().0.contains("conformity is 1.2"));
        let wrong = SimulatedPopulation { rho: f64::NAN, ..SimulatedPopulation::default() };
        assert!(wrong.check().is_err());
        assert!(SimulatedPopulation::default().check().is_ok());
    }
}
