//! Who held what in each round. Every measure of a debate is computed from this.
//!
//! A protocol reads the positions from its own log ([`DebateView::positions`](crate::DebateView)). What follows from them, such
//! as a plain vote on the first positions or who changed, is the same arithmetic for every protocol.

use serde::{Deserialize, Serialize};

/// How it is known which seats hold the same position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PositionGrouping {
    /// Positions are values of a list, or scores.
    #[default]
    Discrete,
    /// Positions are texts, and a seat or a clerk declared which are the same, with quotes that verify.
    Declared,
    /// Positions are texts, and all that were compared are equal after normalization.
    Exact,
    /// Positions are texts, and nobody declared which are the same.
    Unknown,
}

impl PositionGrouping {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Discrete => "discrete",
            Self::Declared => "declared",
            Self::Exact => "exact",
            Self::Unknown => "unknown",
        }
    }
}

/// The positions of a debate, from the first round to the last.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PositionHistory {
    /// Whether positions are texts. Otherwise they are values of a list, or scores.
    pub are_texts: bool,
    /// The rounds in which positions were taken, in order; the first is the one before anybody read anybody.
    pub rounds: Vec<RoundPositions>,
    /// What the verdict came to.
    pub decided: DecidedPosition,
    /// The scores that judges gave, where there are judges.
    pub marks: Vec<JudgeMarks>,
    /// Scores no further apart than this count as agreement.
    pub near: Option<f64>,
}

/// The position that a verdict states.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum DecidedPosition {
    /// There is no verdict.
    #[default]
    Nothing,
    /// The verdict is this position of the rounds, by its name.
    Held(String),
    /// The verdict is a position that nobody held, for instance one that combines several.
    New(String),
    /// There is a verdict, and nobody declared which position it states.
    Unknown,
}

impl DecidedPosition {
    /// The name of the position, where it is known.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Held(name) | Self::New(name) => Some(name),
            Self::Nothing | Self::Unknown => None,
        }
    }
}

/// Distances between scores are compared with this tolerance.
const NEAR_TOLERANCE: f64 = 1e-9;

/// Who held what after one round.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RoundPositions {
    /// The round, as the protocol counts it.
    pub round: u32,
    /// Every seat that has a position, in seat order. An absent seat keeps its last one.
    pub stands: Vec<SeatPosition>,
    /// The verdict that the protocol's own rule would give on these positions alone; `None` where it gives none.
    pub ruling: Option<String>,
    /// Whether these are votes on proposals, which need not be the voter's own.
    pub ballots: bool,
}

/// One seat's position after a round.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SeatPosition {
    /// The seat that holds it.
    pub seat: String,
    /// The anonymous label, where there is one.
    pub label: Option<String>,
    /// The position's name. Equal names mean the same position. Where `is_unsorted` is set, different names mean nothing.
    pub position: String,
    /// The seat's own words for it, where the name may be those of another seat that holds the same.
    pub words: Option<String>,
    /// How the position is put since this round, in which its holder revised it without giving it up.
    pub reworded: Option<String>,
    /// Whether nobody declared how this text relates to the others of the round.
    pub is_unsorted: bool,
    /// The score, where the position is one.
    pub value: Option<f64>,
    /// The seat's confidence, from 0 to 1.
    pub confidence: Option<f64>,
    /// Set where the seat revised its position in this round. It is a change of mind where the name differs, too.
    pub change: Option<PositionChange>,
}

/// What a seat cites for a change of position.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PositionChange {
    /// What the seat cites, as far as it verifies: points of other seats, evidence, places in files. Empty if nothing does.
    pub cited: Vec<String>,
    /// The ids of the sources among them, each with a quote that verifies: what was looked up or attached.
    pub sources: Vec<String>,
    /// What the seat names as the cause although it does not verify, as it stands after "citing": `[B3] with words that do not occur
    /// there`.
    pub unverified: Vec<String>,
    /// Why it changed, in its own words.
    pub reason: Option<String>,
}

/// One judge's scores, for one order of what it judged.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JudgeMarks {
    /// The seat of the judge.
    pub judge: String,
    /// The round in which it judged.
    pub round: u32,
    /// The number of the order, from 0.
    pub order: u32,
    /// Each label and its score.
    pub scores: Vec<(String, f64)>,
    /// The labels from best to worst; empty if it gave no ranking.
    pub ranking: Vec<String>,
}

/// A change of position.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PositionFlip {
    /// The round of the change.
    pub round: u32,
    /// The seat that holds it.
    pub seat: String,
    /// Its label, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The position that it gave up.
    pub from: String,
    /// The position that it took.
    pub to: String,
    /// Whether the change names another seat's point or a piece of evidence.
    pub evidenced: bool,
    /// Whether it names a point of the debate.
    pub by_argument: bool,
    /// Whether it quotes a source: something that was looked up or attached.
    pub by_source: bool,
    /// Whether the new position was held by most of the others and the old one by fewer; for scores, whether the new one is
    /// nearer to the others' mean. Null where nobody declared which positions are the same.
    pub toward_majority: Option<bool>,
    /// What it cites and verifies.
    pub cited: Vec<String>,
    /// What it names as the cause although it does not verify.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unverified: Vec<String>,
    /// Why it changed, in its own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl PositionHistory {
    /// A seat's last own position, before any vote.
    pub fn at_last(&self, seat: &str) -> Option<&SeatPosition> {
        self.rounds.iter().rev().filter(|held| !held.ballots).find_map(|held| held.of(seat))
    }

    /// The rounds in which a seat revised its own position, whether or not it gave it up. Where its words are known, they changed.
    pub fn revisions(&self, seat: &str) -> Vec<u32> {
        let own = self.rounds.iter().filter(|held| !held.ballots);
        let own = own.filter_map(|held| Some((held.round, held.of(seat)?)));
        let mut before: Option<&str> = None;
        let revised = own.filter(|(_, held)| {
            let is_repeated = held.words.is_some() && held.words.as_deref() == before;
            before = held.words.as_deref();
            held.change.is_some() && !is_repeated
        });
        revised.map(|(round, _)| round).collect()
    }

    /// How a seat puts its position after a round: in its own words, or as it was put when the seat last revised it. `None` if only the
    /// position's name is recorded.
    pub fn wording(&self, seat: &str, round: u32) -> Option<&str> {
        let until = self.rounds.iter().take_while(|held| held.round <= round);
        let (mut position, mut wording) = (None, None);
        for held in until.filter_map(|held| held.of(seat)) {
            if held.words.is_some() || held.change.is_some() || position != Some(&held.position) {
                wording = held.words.as_deref().or(held.reworded.as_deref());
            }
            position = Some(&held.position);
        }
        wording
    }

    /// A position in full. Its name may be the beginning of the words of a seat that holds it, cut with three dots.
    pub fn in_full(&self, name: &str) -> String {
        let words = self.rounds.iter().flat_map(|round| &round.stands).filter(|held| held.position == name);
        let mut words = words.filter_map(|held| Some(one_line(held.words.as_deref()?)));
        let beginning = name.strip_suffix("...").map(str::trim_end);
        let whole = beginning.and_then(|beginning| words.find(|words| words.starts_with(beginning)));
        whole.unwrap_or_else(|| name.to_owned())
    }

    /// How it is known which seats hold the same position.
    pub fn grouping(&self) -> PositionGrouping {
        if !self.are_texts {
            return PositionGrouping::Discrete;
        }
        let known: Vec<&RoundPositions> = self.rounds.iter().filter(|round| round.is_sorted()).collect();
        match known.as_slice() {
            [] => PositionGrouping::Unknown,
            known if known.iter().all(|round| round.stands.iter().all(|held| held.is_unsorted)) => {
                PositionGrouping::Exact
            }
            _ => PositionGrouping::Declared,
        }
    }

    /// Every change, by round and seat.
    pub fn flips(&self) -> Vec<PositionFlip> {
        let rounds = self.rounds.iter().enumerate();
        let flips = rounds.flat_map(|(at, after)| {
            after.stands.iter().filter_map(move |now| after.flip(self.before(at, &now.seat)?, now))
        });
        flips.collect()
    }

    /// The round that a seat's position in the round at this place is compared with: what it proposes with what it proposed last, and
    /// its vote with its last vote, or else with its proposal.
    pub fn before(&self, at: usize, seat: &str) -> Option<&RoundPositions> {
        let is_ballots = self.rounds.get(at)?.ballots;
        let earlier = || self.rounds.iter().take(at).rev().filter(|before| before.of(seat).is_some());
        earlier().find(|before| before.ballots == is_ballots).or_else(|| earlier().next())
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl RoundPositions {
    /// The change of a seat since an earlier round.
    fn flip(&self, before: &Self, now: &SeatPosition) -> Option<PositionFlip> {
        let change = now.change.as_ref()?;
        // The same position in other words is no change.
        let then = before.of(&now.seat).filter(|then| then.position != now.position)?;
        Some(PositionFlip {
            round: self.round,
            seat: now.seat.clone(),
            label: now.label.clone(),
            from: then.position.clone(),
            to: now.position.clone(),
            evidenced: !change.cited.is_empty(),
            by_argument: change.cited.len() > change.sources.len(),
            by_source: !change.sources.is_empty(),
            toward_majority: (before.is_sorted() && !now.is_unsorted).then(|| before.draws(then, now)),
            cited: change.cited.clone(),
            unverified: change.unverified.clone(),
            reason: change.reason.clone(),
        })
    }

    /// Whether it is known of every two seats if they hold the same position. Texts that are all equal need no declaration.
    pub fn is_sorted(&self) -> bool {
        let mut names = self.stands.iter().map(|held| held.position.as_str());
        let first = names.next();
        self.stands.iter().all(|held| !held.is_unsorted) || names.all(|name| Some(name) == first)
    }

    /// The position of this seat.
    pub fn of(&self, seat: &str) -> Option<&SeatPosition> {
        self.stands.iter().find(|stand| stand.seat == seat)
    }

    /// The positions with their holders, the most held first. Ties keep the order of their first holders.
    pub fn distinct(&self) -> Vec<(&str, Vec<&SeatPosition>)> {
        let mut distinct: Vec<(&str, Vec<&SeatPosition>)> = Vec::new();
        for stand in &self.stands {
            match distinct.iter_mut().find(|(position, _)| *position == stand.position) {
                Some((_, holders)) => holders.push(stand),
                None => distinct.push((&stand.position, vec![stand])),
            }
        }
        distinct.sort_by_key(|(_, holders)| std::cmp::Reverse(holders.len()));
        distinct
    }

    /// The most held positions: one, or several that are tied.
    pub fn foremost(&self) -> Vec<&str> {
        let distinct = self.distinct();
        let most = distinct.first().map_or(0, |(_, holders)| holders.len());
        let foremost = distinct.iter().take_while(|(_, holders)| holders.len() == most);
        foremost.map(|(position, _)| *position).collect()
    }

    /// A group number for each seat: a position, or as many scores as lie within `near` of each other. The groups are as few as
    /// possible. Scores are never chained: two that are further apart are in two groups, whatever lies between them.
    pub fn grouped(&self, near: Option<f64>) -> Vec<usize> {
        let names: Vec<&str> = self.distinct().into_iter().map(|(position, _)| position).collect();
        let by_name =
            |stand: &SeatPosition| names.iter().position(|name| *name == stand.position).unwrap_or_default();
        let figures: Option<Vec<f64>> = self.stands.iter().map(|stand| stand.value).collect();
        let (Some(near), Some(mut figures)) = (near, figures) else {
            return self.stands.iter().map(by_name).collect();
        };
        figures.sort_by(f64::total_cmp);
        let mut starts: Vec<f64> = Vec::new();
        for figure in figures {
            if starts.last().is_none_or(|start| figure - start > near + NEAR_TOLERANCE) {
                starts.push(figure);
            }
        }
        let group =
            |stand: &SeatPosition| starts.iter().skip(1).filter(|start| stand.value >= Some(**start)).count();
        self.stands.iter().map(group).collect()
    }

    /// The share of pairs of seats that agree: on the same position, or with scores no further apart than `near`. `None` without a pair.
    pub fn pairs_agreeing(&self, near: Option<f64>) -> Option<f64> {
        let agree = |one: &SeatPosition, other: &SeatPosition| {
            let apart = one.value.zip(other.value).map(|(one, other)| (one - other).abs());
            let is_near = apart.zip(near).is_some_and(|(apart, near)| apart <= near + NEAR_TOLERANCE);
            one.position == other.position || is_near
        };
        let pairs = self.stands.iter().enumerate();
        let pairs =
            pairs.flat_map(|(at, one)| self.stands.iter().skip(at + 1).map(move |other| (one, other)));
        let (mut all, mut agreeing) = (0_usize, 0_usize);
        for (one, other) in pairs {
            all += 1;
            agreeing += usize::from(agree(one, other));
        }
        (all > 0).then(|| agreeing as f64 / all as f64)
    }

    /// The position that a plain vote gives; `None` for a tie, and where it is not known which positions are the same.
    pub fn plurality(&self) -> Option<&str> {
        match self.foremost().as_slice() {
            [only] if self.is_sorted() => Some(only),
            _ => None,
        }
    }

    /// Whether a seat that changes moves to what more than half of the others hold, or nearer to their mean score.
    fn draws(&self, from: &SeatPosition, to: &SeatPosition) -> bool {
        let others = || self.stands.iter().filter(|stand| stand.seat != from.seat);
        if let (Some(from), Some(to)) = (from.value, to.value) {
            let figures: Vec<f64> = others().filter_map(|stand| stand.value).collect();
            let mean = figures.iter().sum::<f64>() / figures.len() as f64;
            return !figures.is_empty() && (to - mean).abs() < (from - mean).abs();
        }
        2 * others().filter(|stand| stand.position == to.position).count() > others().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(round: u32, positions: &[(&str, Option<&[&str]>)]) -> RoundPositions {
        let stand = |(place, (position, cited)): (usize, &(&str, Option<&[&str]>))| SeatPosition {
            seat: format!("seat-{}", place + 1),
            position: (*position).to_owned(),
            change: cited.map(|cited| PositionChange {
                cited: cited.iter().map(|c| (*c).to_owned()).collect(),
                ..PositionChange::default()
            }),
            ..SeatPosition::default()
        };
        RoundPositions {
            round,
            stands: positions.iter().enumerate().map(stand).collect(),
            ..RoundPositions::default()
        }
    }

    /// "A flip is `{round, seat, from, to, evidenced, toward_majority}`."
    #[test]
    fn a_flip_says_who_went_where_on_what_and_with_whom() {
        let first = held(1, &[("PASS", None), ("PASS", None), ("FAIL", None)]);
        let second = held(2, &[("FAIL", Some(&[])), ("PASS", None), ("PASS", Some(&["src/a.rs:3"]))]);
        let stands = PositionHistory { rounds: vec![first, second], ..PositionHistory::default() };
        let flips = stands.flips();
        let seen = flips.iter().map(|f| (f.round, f.seat.as_str(), f.evidenced, f.toward_majority));
        // Of the others of seat 1, one held each: it went to no majority.
        assert_eq!(
            seen.collect::<Vec<_>>(),
            [(2, "seat-1", false, Some(false)), (2, "seat-3", true, Some(true))]
        );
        let wire = serde_json::to_value(flips.last()).unwrap();
        assert_eq!(wire["from"], "FAIL");
        assert_eq!(wire["to"], "PASS");
    }

    /// Own words count in their own round; how a position was put holds until its holder revises it or leaves it.
    #[test]
    fn a_wording_is_that_of_the_last_revision() {
        let mut rounds: Vec<RoundPositions> =
            (1..=5).map(|round| held(round, &[("a", None), ("a", None)])).collect();
        rounds[1] = held(2, &[("a", Some(&[])), ("a", None)]);
        rounds[1].stands[0].reworded = Some("a, later".to_owned());
        rounds[3] = held(4, &[("a", Some(&[])), ("b", None)]);
        for round in &mut rounds[..2] {
            round.stands[1].words = Some(format!("mine {}", round.round));
        }
        let history = PositionHistory { rounds, ..PositionHistory::default() };
        let wordings = |seat: &str| (1..=5).map(|round| history.wording(seat, round)).collect::<Vec<_>>();
        assert_eq!(wordings("seat-1"), [None, Some("a, later"), Some("a, later"), None, None]);
        assert_eq!(wordings("seat-2"), [Some("mine 1"), Some("mine 2"), Some("mine 2"), None, None]);
    }

    #[test]
    fn a_score_goes_toward_the_others_when_it_comes_nearer_to_their_mean() {
        let scored = |round, scores: [f64; 3], changed: bool| {
            let mut held = held(round, &[("a", changed.then_some(&[])), ("b", None), ("c", None)]);
            for (stand, score) in held.stands.iter_mut().zip(scores) {
                (stand.value, stand.position) = (Some(score), score.to_string());
            }
            held
        };
        for (to, toward) in [(3.0, true), (1.0, false), (6.0, false)] {
            let rounds = vec![scored(1, [2.0, 4.0, 4.0], false), scored(2, [to, 4.0, 4.0], true)];
            let stands = PositionHistory { rounds, ..PositionHistory::default() };
            assert_eq!(stands.flips()[0].toward_majority, Some(toward), "{to}");
        }
    }

    #[test]
    fn a_smaller_group_is_no_majority() {
        let before = held(1, &[("FAIL", None), ("PASS", None), ("WARN", None), ("WARN", None)]);
        let after = |to| held(2, &[(to, Some(&[])), ("PASS", None), ("WARN", None), ("WARN", None)]);
        for (to, toward) in [("PASS", false), ("WARN", true), ("NEW", false)] {
            let flips =
                PositionHistory { rounds: vec![before.clone(), after(to)], ..PositionHistory::default() }
                    .flips();
            assert_eq!(flips[0].toward_majority, Some(toward), "{to}");
        }
        let others = [("WARN", None), ("WARN", None), ("PASS", None), ("FAIL", None)];
        let rounds = vec![
            held(1, &[&[("FAIL", None)], &others[..]].concat()),
            held(2, &[&[("WARN", Some(&[][..]))], &others[..]].concat()),
        ];
        let history = PositionHistory { rounds, ..PositionHistory::default() };
        assert_eq!(
            history.flips()[0].toward_majority,
            Some(false),
            "two of four others are the most and no majority"
        );
        let rounds = vec![
            held(1, &[("FAIL", None), ("PASS", None), ("WARN", None)]),
            held(2, &[("PASS", Some(&[])), ("PASS", None), ("WARN", None)]),
        ];
        let history = PositionHistory { rounds, ..PositionHistory::default() };
        assert_eq!(history.flips()[0].toward_majority, Some(false), "one holder each is no majority");
    }

    /// A proposal is compared with the last proposal and a vote with the last vote, also of a seat that abstained in between.
    #[test]
    fn votes_and_proposals_are_compared_with_their_like() {
        let vote = |round, positions: &[(&str, Option<&[&str]>)]| RoundPositions {
            ballots: true,
            ..held(round, positions)
        };
        let mut first_vote = vote(7, &[("A", None), ("A", Some(&[])), ("C", None)]);
        first_vote.stands.pop();
        let rounds = vec![
            held(6, &[("A", None), ("B", None), ("C", None)]),
            first_vote,
            held(9, &[("A", None), ("B", Some(&[])), ("D", Some(&[]))]),
            vote(10, &[("A", None), ("A", None), ("A", Some(&[]))]),
        ];
        let flips = PositionHistory { rounds, ..PositionHistory::default() }.flips();
        let seen: Vec<_> =
            flips.iter().map(|flip| (flip.round, flip.from.as_str(), flip.to.as_str())).collect();
        assert_eq!(seen, [(7, "B", "A"), (9, "C", "D"), (10, "D", "A")]);
    }

    #[test]
    fn the_same_in_other_words_is_no_flip() {
        let rounds =
            vec![held(1, &[("A", None), ("B", None)]), held(2, &[("A", Some(&[])), ("A", Some(&[]))])];
        let flips = PositionHistory { rounds, ..PositionHistory::default() }.flips();
        assert_eq!(flips.iter().map(|flip| flip.seat.as_str()).collect::<Vec<_>>(), ["seat-2"]);
    }

    /// Scores that only a third one connects do not agree: 3.0, 3.2 and 3.7 are no single position within 0.5.
    #[test]
    fn scores_agree_by_pairs_and_are_never_chained() {
        let scored = |scores: &[f64]| {
            let mut held = held(1, &vec![("x", None); scores.len()]);
            for (stand, score) in held.stands.iter_mut().zip(scores) {
                (stand.value, stand.position) = (Some(*score), score.to_string());
            }
            held
        };
        let near = Some(0.5);
        for (scores, near, groups, agreeing) in [
            (&[3.0, 3.7, 3.2][..], near, &[0, 1, 0][..], Some(2.0 / 3.0)),
            (&[4.0, 3.6, 2.0, 3.1], near, &[2, 1, 0, 1], Some(2.0 / 6.0)),
            (&[4.0, 4.5, 4.2], near, &[0, 0, 0], Some(1.0)),
            (&[4.0, 4.0, 2.0], None, &[0, 0, 1], Some(1.0 / 3.0)),
            (&[4.0], near, &[0], None),
        ] {
            let held = scored(scores);
            assert_eq!(
                (held.grouped(near), held.pairs_agreeing(near)),
                (groups.to_vec(), agreeing),
                "{scores:?}"
            );
        }
        let named = held(1, &[("B", None), ("A", None), ("B", None)]);
        assert_eq!((named.grouped(near), named.pairs_agreeing(near)), (vec![0, 1, 0], Some(1.0 / 3.0)));
    }

    #[test]
    fn a_name_that_was_cut_is_found_in_full() {
        let mut round = held(1, &[("Close the ...", None), ("Close the ...", None), ("Stay", None)]);
        round.stands[0].words = Some("Shut it down.".into());
        round.stands[1].words = Some("Close  the ward\nnext year.".into());
        let history = PositionHistory { rounds: vec![round], ..PositionHistory::default() };
        for (name, full) in
            [("Close the ...", "Close the ward next year."), ("Stay", "Stay"), ("No ...", "No ...")]
        {
            assert_eq!(history.in_full(name), full);
        }
    }

    #[test]
    fn a_plain_vote_takes_the_most_held_position_and_no_tie() {
        assert_eq!(held(1, &[("B", None), ("A", None), ("B", None)]).plurality(), Some("B"));
        let tied = held(1, &[("B", None), ("A", None)]);
        assert_eq!((tied.plurality(), tied.foremost()), (None, vec!["B", "A"]));
        assert_eq!(held(1, &[]).plurality(), None);
    }

    /// "Inequality decides nothing": without a declaration there is no vote and no majority, unless all texts are equal.
    #[test]
    fn texts_that_nobody_sorted_have_no_vote_and_no_majority() {
        let unsorted = |round, positions: &[(&str, Option<&[&str]>)]| {
            let mut held = held(round, positions);
            held.stands.iter_mut().for_each(|stand| stand.is_unsorted = true);
            held
        };
        let different = unsorted(1, &[("B", None), ("A", None), ("B", None)]);
        assert_eq!((different.is_sorted(), different.plurality()), (false, None));
        let equal = unsorted(1, &[("A", None), ("A", None)]);
        assert_eq!((equal.is_sorted(), equal.plurality()), (true, Some("A")));
        let history = |rounds: &[&RoundPositions]| PositionHistory {
            are_texts: true,
            rounds: rounds.iter().map(|round| (*round).clone()).collect(),
            ..PositionHistory::default()
        };
        let sorted = held(2, &[("A", None), ("A", Some(&[])), ("B", None)]);
        for (rounds, grouping) in [
            (vec![&different], PositionGrouping::Unknown),
            (vec![&equal], PositionGrouping::Exact),
            (vec![&different, &sorted], PositionGrouping::Declared),
        ] {
            assert_eq!(history(&rounds).grouping(), grouping, "{rounds:?}");
        }
        assert_eq!(history(&[&different, &sorted]).flips(), []);
        let moved = unsorted(2, &[("B", None), ("C", Some(&[])), ("B", None)]);
        assert_eq!(history(&[&different, &moved]).flips()[0].toward_majority, None);
    }
}
