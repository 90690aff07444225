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

/// Puts those together who are all the same as each other and as nobody else. Where one is the same as two who are not the same as each
/// other, it could be counted with either, and its place would decide with which: there everybody stands alone.
pub(super) fn grouped(places: &[usize], same: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut linked: Vec<Vec<usize>> = Vec::new();
    for place in places.iter().copied() {
        let is_linked = |group: &Vec<usize>| group.iter().any(|other| same(*other, place));
        let (joined, apart): (Vec<_>, Vec<_>) = linked.into_iter().partition(is_linked);
        linked = apart;
        linked.push([joined.concat(), vec![place]].concat());
    }
    let is_one = |group: &[usize]| {
        group.iter().all(|one| group.iter().all(|other| one == other || same(*one, *other)))
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for mut group in linked {
        group.sort_unstable();
        match is_one(&group) {
            true => groups.push(group),
            false => groups.extend(group.into_iter().map(|alone| vec![alone])),
        }
    }
    groups.sort_unstable();
    groups
}
