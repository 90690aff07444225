//! Who sits in a simulated debate, and what moves them. All of it is pure: a seed in, views out.

use agon_core::Invalid;
use agon_core::seed::Draw;
use serde::{Deserialize, Serialize};

/// Everybody at a simulated table, by what is planted in them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Population {
    /// How many hold positions.
    pub seats: usize,
    /// `p`: how often a seat is right before it has read anybody.
    pub accuracy: f64,
    /// How far the first errors go together: 0 is independence, 1 one voice.
    pub rho: f64,
    /// `s`: how often a seat changes its view for no reason at all.
    pub flips: f64,
    /// `c`: how often a seat takes over the view that most of the others hold, just because they do.
    pub conformity: f64,
    /// `q`: how often a seat takes over the other view after reading the evidence for it. Evidence is believed on the right side and on
    /// the wrong one alike: a population that is moved by it is no wiser for it.
    pub persuadable: f64,
    /// `b`: how often a judge prefers what it is shown first, whatever it says.
    pub position_bias: f64,
    /// How much more a right answer weighs than a wrong one for those who update by counting: 0.3 is 30% more.
    pub drift: f64,
    /// Whether seats update by counting the answers that they hear, and by nothing else, which by itself leads nowhere.
    pub neutral: bool,
    /// One seat that is always wrong, and that shows made-up evidence.
    pub adversary: Option<Adversary>,
}

/// A seat that is wrong on purpose, sure of itself, and brings evidence that it made up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Adversary {
    /// How often somebody who is right takes over its view in a round.
    pub persuasion: f64,
}

impl Default for Adversary {
    fn default() -> Self {
        Self { persuasion: 0.3 }
    }
}

impl Default for Population {
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
pub struct Heard {
    /// How many of the others are right now.
    pub right: usize,
    /// How many of the others are wrong now.
    pub wrong: usize,
    /// Whether what the adversary made up was among it.
    pub fabricated: bool,
    /// All right answers so far, its own included, of those that it was shown.
    pub right_said: usize,
    /// All wrong answers so far, likewise.
    pub wrong_said: usize,
}

/// What made a seat hold what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Nothing moved it.
    Stayed,
    /// The other side's evidence.
    Evidence,
    /// Nothing that was said.
    Spontaneous,
    /// Most of the others.
    Conformity,
    /// The count of all answers.
    Counted,
}

/// A seat after it has read the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Update {
    /// Whether it is right now.
    pub right: bool,
    /// What made it so.
    pub cause: Cause,
}

impl Population {
    /// Refuses what cannot be planted.
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

    /// The seat of the adversary, if there is one.
    pub fn adversary_at(&self, seed: u64) -> Option<usize> {
        self.adversary.map(|_| Draw::new(seed, "adversary").below(self.seats))
    }

    /// Who is right before anybody has read anybody. Errors go together as in an urn: every answer makes the next one likelier
    /// to be the same, so that the number of right ones is beta-binomial with mean `accuracy` and correlation `rho`.
    pub fn first(&self, seed: u64) -> Vec<bool> {
        let mut draw = Draw::new(seed, "first");
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
        if let Some(view) = self.adversary_at(seed).and_then(|place| views.get_mut(place)) {
            *view = false;
        }
        views
    }

    /// How sure a seat is of the truth that counts what it heard. Its own first belief weighs as much as one round of the table;
    /// what is heard is added to it, so that without drift the expected belief is the belief: a martingale.
    pub fn belief(&self, right_said: usize, wrong_said: usize) -> f64 {
        let prior = self.seats.max(1) as f64;
        let right = self.accuracy * prior + (1.0 + self.drift) * right_said as f64;
        let wrong = (1.0 - self.accuracy) * prior + wrong_said as f64;
        right / (right + wrong)
    }

    /// What a seat holds after it has read the others. Evidence comes first, then chance, then the majority, so that each can be
    /// told from the log by what the ones before it leave.
    pub fn update(&self, right: bool, heard: &Heard, draw: &mut Draw) -> Update {
        if self.neutral {
            let now = draw.unit() < self.belief(heard.right_said, heard.wrong_said);
            return Update { right: now, cause: if now == right { Cause::Stayed } else { Cause::Counted } };
        }
        // Three draws whatever happens: one planted figure can be changed without changing what the others do.
        let [evidence, chance, majority] = [draw.unit(), draw.unit(), draw.unit()];
        let (with, against) = if right { (heard.right, heard.wrong) } else { (heard.wrong, heard.right) };
        let fabricated = self.adversary.filter(|_| heard.fabricated && right);
        let persuasion =
            fabricated.map_or(self.persuadable, |made_up| made_up.persuasion.max(self.persuadable));
        if against > 0 && evidence < persuasion {
            return Update { right: !right, cause: Cause::Evidence };
        }
        if chance < self.flips {
            return Update { right: !right, cause: Cause::Spontaneous };
        }
        if against > with && majority < self.conformity {
            return Update { right: !right, cause: Cause::Conformity };
        }
        Update { right, cause: Cause::Stayed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(hits: usize, of: usize) -> f64 {
        hits as f64 / of as f64
    }

    #[test]
    fn the_first_views_have_the_planted_accuracy_and_correlation() {
        for (accuracy, rho) in [(0.6, 0.0), (0.8, 0.44), (0.7, 1.0)] {
            let population = Population { seats: 2, accuracy, rho, ..Population::default() };
            let trials: Vec<Vec<bool>> = (0..20_000).map(|seed| population.first(seed)).collect();
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

    /// "Beta-binomial N=9, p=0.8: 0.980 independent, 0.834 at rho 0.44."
    #[test]
    fn a_majority_of_correlated_errors_is_what_the_closed_form_says() {
        for (rho, closed) in [(0.0, 0.980), (0.44, 0.834)] {
            let population = Population { seats: 9, accuracy: 0.8, rho, ..Population::default() };
            let right = |seed: &u64| population.first(*seed).iter().filter(|view| **view).count() > 4;
            let found = share((0..20_000_u64).filter(right).count(), 20_000);
            assert!((found - closed).abs() < 0.008, "{found} for {closed}");
        }
    }

    #[test]
    fn nobody_is_moved_by_what_is_not_planted() {
        let still = Population { flips: 0.0, conformity: 0.0, persuadable: 0.0, ..Population::default() };
        let outnumbered = Heard { wrong: 4, ..Heard::default() };
        for seed in 0..500 {
            let now = still.update(true, &outnumbered, &mut Draw::new(seed, "test"));
            assert_eq!(now, Update { right: true, cause: Cause::Stayed });
        }
    }

    #[test]
    fn each_cause_moves_as_often_as_planted_and_only_where_it_can() {
        let population =
            Population { flips: 0.1, conformity: 0.3, persuadable: 0.4, ..Population::default() };
        let causes = |heard: Heard, cause: Cause| {
            let moved =
                |seed: &u64| population.update(true, &heard, &mut Draw::new(*seed, "test")).cause == cause;
            share((0..20_000_u64).filter(moved).count(), 20_000)
        };
        let alone = Heard { right: 4, ..Heard::default() };
        let divided = Heard { right: 2, wrong: 2, ..Heard::default() };
        let outnumbered = Heard { right: 1, wrong: 3, ..Heard::default() };
        let is = |found: f64, planted: f64| assert!((found - planted).abs() < 0.011, "{found} for {planted}");
        is(causes(alone, Cause::Spontaneous), 0.1);
        is(causes(alone, Cause::Evidence) + causes(alone, Cause::Conformity), 0.0);
        is(causes(divided, Cause::Evidence), 0.4);
        is(causes(divided, Cause::Conformity), 0.0);
        is(causes(outnumbered, Cause::Spontaneous), 0.6 * 0.1);
        is(causes(outnumbered, Cause::Conformity), 0.6 * 0.9 * 0.3);
    }

    #[test]
    fn what_cannot_be_planted_is_refused() {
        let wrong = Population { conformity: 1.2, ..Population::default() };
        assert!(wrong.check().unwrap_err().0.contains("conformity is 1.2"));
        let wrong = Population { rho: f64::NAN, ..Population::default() };
        assert!(wrong.check().is_err());
        assert!(Population::default().check().is_ok());
    }
}
