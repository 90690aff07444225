//! Glicko-2, as Mark Glickman describes it in "Example of the Glicko-2 system". The numbers of the steps are his.

use std::f64::consts::PI;

use agon_core::lesson::RATING_INITIAL;
use serde::Serialize;

/// How much volatility may change: the system's constant.
const TAU: f64 = 0.5;

/// From points to the scale of the computation.
const SCALE: f64 = 173.7178;

/// How near the new volatility has to be.
const TOLERANCE: f64 = 1e-6;

/// A bound on the search for it, which needs about ten steps.
const STEPS: usize = 100;

/// A rating that knows how uncertain it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Glicko {
    /// In points.
    pub rating: f64,
    /// The rating's standard deviation, in points.
    pub deviation: f64,
    /// How much the rating is expected to vary.
    pub volatility: f64,
}

/// A meeting: with whom, as the opponent was before the period, and how it went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Met {
    /// The opponent before the period.
    pub opponent: Glicko,
    /// 1 for a win, 0.5 for a tie, 0 for a loss.
    pub score: f64,
}

impl Default for Glicko {
    fn default() -> Self {
        Self { rating: RATING_INITIAL, deviation: 350.0, volatility: 0.06 }
    }
}

impl Glicko {
    /// The rating after a period with these meetings.
    #[must_use]
    pub fn after(self, met: &[Met]) -> Self {
        let (mu, phi) = (self.mu(), self.phi());
        // Steps 3 and 4: the variance that the meetings alone would give, and the sum of what was better than expected.
        let (mut information, mut better) = (0.0, 0.0);
        for Met { opponent, score } in met {
            let g = g(opponent.phi());
            let expected = 1.0 / (1.0 + (-g * (mu - opponent.mu())).exp());
            information += g * g * expected * (1.0 - expected);
            better += g * (score - expected);
        }
        if information <= 0.0 {
            return self;
        }
        let variance = 1.0 / information;
        let volatility = volatility(self.volatility, phi, variance, variance * better);
        // Steps 6 to 8.
        let wider = phi * phi + volatility * volatility;
        let phi = 1.0 / (1.0 / wider + information).sqrt();
        let mu = mu + phi * phi * better;
        Self { rating: mu * SCALE + RATING_INITIAL, deviation: phi * SCALE, volatility }
    }

    fn mu(self) -> f64 {
        (self.rating - RATING_INITIAL) / SCALE
    }

    fn phi(self) -> f64 {
        self.deviation / SCALE
    }
}

/// How much a meeting counts with an opponent of this deviation.
fn g(phi: f64) -> f64 {
    1.0 / (1.0 + 3.0 * phi * phi / (PI * PI)).sqrt()
}

/// Step 5: the new volatility, by the Illinois variant of regula falsi.
fn volatility(sigma: f64, phi: f64, variance: f64, delta: f64) -> f64 {
    let a = (sigma * sigma).ln();
    let f = |x: f64| {
        let e = x.exp();
        let spread = phi * phi + variance + e;
        e * (delta * delta - phi * phi - variance - e) / (2.0 * spread * spread) - (x - a) / (TAU * TAU)
    };
    let excess = delta * delta - phi * phi - variance;
    let mut low = a;
    let mut high = if excess > 0.0 {
        excess.ln()
    } else {
        let step = (1..STEPS).map(|k| a - k as f64 * TAU).find(|x| f(*x) >= 0.0);
        step.unwrap_or(a - STEPS as f64 * TAU)
    };
    let (mut f_low, mut f_high) = (f(low), f(high));
    for _ in 0..STEPS {
        if (high - low).abs() <= TOLERANCE {
            break;
        }
        let middle = low + (low - high) * f_low / (f_high - f_low);
        let f_middle = f(middle);
        if f_middle * f_high <= 0.0 {
            (low, f_low) = (high, f_high);
        } else {
            f_low /= 2.0;
        }
        (high, f_high) = (middle, f_middle);
    }
    (low / 2.0).exp()
}
