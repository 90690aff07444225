//! What the judge's scores come to, in one order of the proposals or in two.

use std::cmp::Ordering;

use super::reply::Judgement;

/// Scores this near are the same.
pub(super) const TOLERANCE: f64 = 1e-9;

/// What the judge said of the proposals in one order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sheet {
    /// The order in which it read them.
    pub(super) order: Vec<usize>,
    /// Each proposal with its score and the reasons.
    pub(super) scores: Vec<(usize, f64, Vec<String>)>,
    /// As the judge ranks them.
    pub(super) ranking: Vec<usize>,
    pub(super) margin_comment: Option<String>,
    /// Who spoke for the judge.
    pub(super) model: String,
}

/// What all sheets come to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judged {
    /// Those that came back.
    pub(super) sheets: Vec<Sheet>,
    /// Each proposal's score: the mean over the sheets.
    pub(super) scores: Vec<(usize, f64)>,
    /// The best first.
    pub(super) ranking: Vec<usize>,
    /// The best; `None` where the orders disagree about it.
    pub(super) top: Option<usize>,
    /// How far it is ahead.
    pub(super) margin: f64,
    /// Whether both orders have the same best; `None` where there were not two.
    pub(super) consistent: Option<bool>,
}

impl Sheet {
    /// From the judge's words, `place` telling whose label one is.
    pub(super) fn read(
        said: Judgement,
        order: Vec<usize>,
        model: String,
        place: impl Fn(&str) -> Option<usize>,
    ) -> Self {
        let scored = said.scores.iter();
        let scores =
            scored.filter_map(|scored| Some((place(&scored.label)?, scored.score, scored.reasons.said())));
        let ranking = said.ranking.iter().filter_map(|label| place(label)).collect();
        let comment = said.margin_comment.filter(|comment| !comment.trim().is_empty());
        Self { order, scores: scores.collect(), ranking, margin_comment: comment, model }
    }

    fn score(&self, place: usize) -> Option<f64> {
        self.scores.iter().find(|(scored, ..)| *scored == place).map(|(_, score, _)| *score)
    }

    fn rank(&self, place: usize) -> usize {
        self.ranking.iter().position(|ranked| *ranked == place).unwrap_or(self.ranking.len())
    }

    /// The best by score, of equals the first by its ranking.
    fn top(&self) -> Option<usize> {
        let places = self.scores.iter().map(|(place, ..)| *place);
        places.min_by(|a, b| better(self.score(*a), self.score(*b)).then(self.rank(*a).cmp(&self.rank(*b))))
    }

    /// Whether somebody is ranked above another who has the better score.
    pub(super) fn is_contradictory(&self) -> bool {
        let pairs = self.ranking.windows(2).filter_map(|pair| match pair {
            [above, below] => Some((self.score(*above)?, self.score(*below)?)),
            _ => None,
        });
        pairs.into_iter().any(|(above, below)| above < below - TOLERANCE)
    }
}

/// A figure without the noise of binary fractions.
pub(super) fn rounded(figure: f64) -> f64 {
    const STEPS: f64 = 1e9;
    (figure * STEPS).round() / STEPS
}

/// The greater score first; scores that are nearly the same are equal.
fn better(a: Option<f64>, b: Option<f64>) -> Ordering {
    let (a, b) = (a.unwrap_or_default(), b.unwrap_or_default());
    if (a - b).abs() <= TOLERANCE { Ordering::Equal } else { b.total_cmp(&a) }
}

impl Judged {
    /// What these sheets come to; `None` without any.
    pub(super) fn of(sheets: Vec<Sheet>) -> Option<Self> {
        let first = sheets.first()?;
        let mean = |place: usize| {
            let given: Vec<f64> = sheets.iter().filter_map(|sheet| sheet.score(place)).collect();
            rounded(given.iter().sum::<f64>() / given.len().max(1) as f64)
        };
        let mut scores: Vec<(usize, f64)> =
            first.scores.iter().map(|(place, ..)| (*place, mean(*place))).collect();
        scores.sort_by_key(|(place, _)| *place);
        let tops: Vec<Option<usize>> = sheets.iter().map(Sheet::top).collect();
        let consistent = (sheets.len() > 1).then(|| tops.windows(2).all(|pair| pair.first() == pair.last()));
        let ranks = |place: usize| -> usize { sheets.iter().map(|sheet| sheet.rank(place)).sum() };
        let mut ranked = scores.clone();
        ranked.sort_by(|(a, one), (b, other)| {
            better(Some(*one), Some(*other)).then(ranks(*a).cmp(&ranks(*b))).then(a.cmp(b))
        });
        let top = tops.first().copied().flatten().filter(|_| consistent != Some(false));
        let margin = match (consistent, ranked.as_slice()) {
            (Some(false), _) | (_, []) => 0.0,
            (_, [(_, only)]) => *only,
            (_, [(_, best), (_, second), ..]) => rounded(best - second).max(0.0),
        };
        let ranking = ranked.iter().map(|(place, _)| *place).collect();
        Some(Self { scores, ranking, top, margin, consistent, sheets })
    }

    /// Whether the best of every order is one of these: proposals that say the same may change places.
    pub(super) fn is_for(&self, group: &[usize]) -> bool {
        self.sheets.iter().all(|sheet| sheet.top().is_some_and(|top| group.contains(&top)))
    }

    /// A proposal's score.
    pub(super) fn score(&self, place: usize) -> Option<f64> {
        self.scores.iter().find(|(scored, _)| *scored == place).map(|(_, score)| *score)
    }

    /// How one proposal did against another: 1, 0.5 or 0. Where the orders say the opposite of each other, it is a tie.
    pub(super) fn result(&self, one: usize, other: usize) -> f64 {
        let ahead = |sheet: &Sheet| better(sheet.score(other), sheet.score(one));
        let says = |wanted: Ordering| self.sheets.iter().any(|sheet| ahead(sheet) == wanted);
        if says(Ordering::Less) && says(Ordering::Greater) {
            return 0.5;
        }
        match better(self.score(other), self.score(one)) {
            Ordering::Greater => 1.0,
            Ordering::Equal => 0.5,
            Ordering::Less => 0.0,
        }
    }

    /// The reasons that were given for a proposal's score, in all orders, each once.
    pub(super) fn reasons(&self, place: usize) -> Vec<String> {
        let mut reasons: Vec<String> = Vec::new();
        let given = self.sheets.iter().flat_map(|sheet| &sheet.scores);
        for reason in given.filter(|(scored, ..)| *scored == place).flat_map(|(.., reasons)| reasons) {
            if !reasons.contains(reason) {
                reasons.push(reason.clone());
            }
        }
        reasons
    }
}
