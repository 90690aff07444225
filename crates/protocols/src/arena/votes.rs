//! When votes make a consensus.

/// How many of the votes cast make a consensus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// More than half.
    Majority,
    /// Two thirds and more.
    Supermajority,
    /// All.
    Unanimous,
}

impl Rule {
    pub(super) fn named(name: &str) -> Self {
        match name {
            "supermajority" => Self::Supermajority,
            "unanimous" => Self::Unanimous,
            _ => Self::Majority,
        }
    }

    /// Whether `votes` of `cast` are enough.
    pub(super) fn is_met(self, votes: usize, cast: usize) -> bool {
        let enough = match self {
            Self::Majority => 2 * votes > cast,
            Self::Supermajority => 3 * votes >= 2 * cast,
            Self::Unanimous => votes == cast,
        };
        cast > 0 && enough
    }
}

/// Whether enough of the agents chose somebody: half of those who sit.
pub(super) fn is_quorum(cast: usize, seated: usize) -> bool {
    2 * cast >= seated
}

/// The one with the most votes; `None` where nobody has any or two have the most.
pub(super) fn leading(votes: &[usize]) -> Option<usize> {
    let most = votes.iter().copied().max().filter(|most| *most > 0)?;
    let mut leading = votes.iter().enumerate().filter(|(_, votes)| **votes == most);
    let (first, _) = leading.next()?;
    leading.next().is_none().then_some(first)
}

/// Puts those together who are the same, in order: each joins the first group with all of which it is the same.
pub(super) fn grouped(places: &[usize], same: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for place in places.iter().copied() {
        match groups.iter_mut().find(|group| group.iter().all(|other| same(*other, place))) {
            Some(group) => group.push(place),
            None => groups.push(vec![place]),
        }
    }
    groups
}
