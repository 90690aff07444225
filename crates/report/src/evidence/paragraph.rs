//! What the debate did, in two to four sentences.

use agon_core::wording::{capitalized, excerpt, joined, number_word, rounds as rounds_words};
use agon_core::{PositionFlip, PositionGrouping};
use agon_measure::Evidence;
use agon_measure::evidence::FirstRound;

use super::paths::after_round;
use crate::source::ReportSource;

/// Who changed and on what; what a plain vote would have said; which rounds changed nothing; how independent the voices are.
pub(super) fn paragraph(source: &ReportSource<'_>) -> Option<String> {
    let facts = EvidenceFacts::new(source);
    let sentences = [facts.changes(), facts.vote(), facts.idle_rounds(), facts.independence()];
    let sentences: Vec<String> = sentences.into_iter().flatten().collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// A longer position is cut where a sentence quotes it.
const QUOTED_CHARS_MAX: usize = 60;

struct EvidenceFacts<'a> {
    source: &'a ReportSource<'a>,
    evidence: &'a Evidence,
    /// How many took a position.
    voices: usize,
    /// The rounds in which positions were taken.
    rounds: Vec<u32>,
    /// Whether every position is a score.
    scored: bool,
}

impl<'a> EvidenceFacts<'a> {
    fn new(source: &'a ReportSource<'a>) -> Self {
        let paths = super::paths::position_paths(source);
        let (voices, rounds, scored) = (paths.seats.len(), paths.rounds, paths.scored);
        Self { source, evidence: source.evidence, voices, rounds, scored }
    }

    /// Who changed, when, and whether anything was cited for it.
    fn changes(&self) -> Option<String> {
        let flips = &self.evidence.flips;
        if self.voices == 0 || self.rounds.is_empty() {
            return None;
        }
        if self.rounds.len() < 2 {
            return Some("Positions were taken only once, so nobody could change.".to_owned());
        }
        if flips.is_empty() {
            return Some(self.nobody_changed());
        }
        let mut seats: Vec<&str> = flips.iter().map(|flip| flip.seat.as_str()).collect();
        seats.sort_unstable();
        seats.dedup();
        let changed = seats.len();
        let what = match (changed == 1, self.scored) {
            (true, false) => "changed its mind",
            (false, false) => "changed their minds",
            (true, true) => "changed its score",
            (false, true) => "changed their scores",
        };
        let mut when: Vec<u32> = flips.iter().map(|flip| flip.round).collect();
        when.sort_unstable();
        when.dedup();
        let times = match flips.len() == changed {
            true => ", ".to_owned(),
            false => format!(", {} times in all: ", number_word(flips.len())),
        };
        let (who, when) = (capitalized(&self.subject(changed)), rounds_words(&when));
        Some(format!("{who} {what} in {when}{times}{}.", citation_words(flips)))
    }

    fn nobody_changed(&self) -> String {
        let what = if self.scored { "score" } else { "position" };
        match self.voices {
            0 => format!("Nobody changed {what}."),
            1 => format!("The only voice kept its {what}."),
            2 => format!("Neither of the two changed its {what}."),
            n => format!("None of the {} changed its {what}.", number_word(n)),
        }
    }

    fn subject(&self, changed: usize) -> String {
        match (changed, self.voices) {
            (1, 1) => "the only voice".to_owned(),
            (2, 2) => "both".to_owned(),
            (some, all) if some == all => format!("all {}", number_word(all)),
            (some, all) if some > all => number_word(some),
            (some, all) => format!("{} of {}", number_word(some), number_word(all)),
        }
    }

    /// What a plain vote on the first positions would have said, beside the verdict.
    fn vote(&self) -> Option<String> {
        let first = self.evidence.first_round.as_ref().filter(|_| self.voices >= 2)?;
        let decided = first.decided.as_deref();
        if first.positions.len() == 1 {
            return Some(match (decided, first.changed_by_debate.unwrap_or(false)) {
                (Some(_), false) => "They agreed before the debate began, and that is the verdict.".into(),
                (Some(_), true) => "They agreed before the debate began, but the verdict is another.".into(),
                (None, _) => "They agreed before the debate began, but there is no verdict.".into(),
            });
        }
        let vote = first.vote.as_deref();
        // The protocol's own rule can give another result than a plain vote.
        let ruling = first.ruling.as_deref().filter(|ruling| Some(*ruling) != vote);
        if let (Some(ruling), Some(decided)) = (ruling, decided) {
            let by_rule = match ruling == decided {
                true => "By its own rule the first positions would have given the same verdict".to_owned(),
                false => format!(
                    "By its own rule the first positions would have given another verdict: {}",
                    self.quoted(ruling)
                ),
            };
            return Some(match vote.filter(|vote| *vote != decided && !self.scored) {
                Some(vote) => format!("{by_rule}; a plain vote would have said {}.", self.quoted(vote)),
                None => format!("{by_rule}."),
            });
        }
        self.plain_vote(first, vote, decided)
    }

    fn plain_vote(&self, first: &FirstRound, vote: Option<&str>, decided: Option<&str>) -> Option<String> {
        let plain = "A plain vote before the debate would have";
        match (vote, decided) {
            (Some(vote), Some(decided)) if vote == decided => Some(format!("{plain} said the same.")),
            (Some(_), Some(_)) if first.changed_by_debate == Some(false) && self.rounds.len() > 1 => {
                Some(format!("{plain} said the same."))
            }
            (Some(vote), Some(_)) => Some(format!("{plain} said something else: {}.", self.quoted(vote))),
            (Some(vote), None) => {
                Some(format!("{plain} said {}, but there is no verdict.", self.quoted(vote)))
            }
            (None, _) if first.tied.len() < 2 => None,
            (None, decided) => {
                let end = match (decided.is_some(), self.rounds.len() < 2) {
                    (true, true) => "The verdict settled it.",
                    (true, false) if self.is_settled() => "The debate settled it.",
                    (true, false) => "The debate did not break the tie; the verdict combines what was said.",
                    (false, _) => "Nothing settled it.",
                };
                Some(format!("{}. {end}", self.tie(first)))
            }
        }
    }

    /// Whether the last positions by themselves give the verdict.
    fn is_settled(&self) -> bool {
        self.evidence.counterfactual.rounds.last().is_none_or(|round| round.as_decided == Some(true))
    }

    fn tie(&self, first: &FirstRound) -> String {
        let all_alone = first.positions.iter().all(|position| position.count <= 1);
        match (all_alone, self.scored, self.evidence.grouping) {
            (true, true, _) => {
                "Before the debate no two scores were the same, so a plain vote was tied".into()
            }
            // Positions are kept apart when in doubt: more than that is not known.
            (true, false, Some(PositionGrouping::Declared)) => {
                "No two of the first answers are known to say the same, so a plain vote was tied".into()
            }
            (true, false, _) => "Before the debate no two held the same, so a plain vote was tied".into(),
            (false, _, grouping) => {
                let between = match grouping {
                    Some(PositionGrouping::Discrete) => {
                        joined(&first.tied.iter().map(|name| self.quoted(name)).collect::<Vec<_>>())
                    }
                    _ => format!("{} positions", number_word(first.tied.len())),
                };
                format!("A plain vote before the debate would have been tied between {between}")
            }
        }
    }

    /// A position in a sentence: a value as it is, words between quotes.
    fn quoted(&self, position: &str) -> String {
        let line = agon_host::clean_line(position);
        let short = excerpt(&line, QUOTED_CHARS_MAX).replace(" [...]", "...");
        match self.evidence.grouping {
            Some(PositionGrouping::Discrete) => short,
            _ => format!("\"{}\"", short.trim_end_matches('.').replace('"', "'")),
        }
    }

    /// Rounds after which the verdict was what it was before them.
    fn idle_rounds(&self) -> Option<String> {
        let idle = &self.evidence.counterfactual.idle_rounds;
        let tail = self.rounds.iter().rev().take_while(|round| idle.contains(round)).count();
        let (before, tail) = self.rounds.split_at(self.rounds.len() - tail);
        let named: Vec<u32> = match tail {
            [] => before.iter().copied().filter(|round| idle.contains(round)).collect(),
            tail => tail.to_vec(),
        };
        if named.is_empty() {
            return None;
        }
        let moved = self.evidence.flips.iter().any(|flip| named.contains(&flip.round));
        let what = if moved { "did not change the verdict" } else { "changed nothing" };
        let what = format!("{} {what}", capitalized(&rounds_words(&named)));
        // Calls are saved only if the last positions give the verdict.
        let last = self.evidence.counterfactual.rounds.last();
        let gives_verdict =
            last.is_some_and(|round| round.verdict.is_some() && round.as_decided == Some(true));
        let saved = self.calls_in(tail);
        Some(match (before.last(), saved) {
            (Some(before), 1..) if !tail.is_empty() && gives_verdict => {
                let calls = if saved == 1 { "call" } else { "calls" };
                format!("{what}: the same verdict after {} for {saved} fewer {calls}.", after_round(*before))
            }
            _ => format!("{what}."),
        })
    }

    fn calls_in(&self, rounds: &[u32]) -> u32 {
        let phases = self.evidence.cost.rounds.iter();
        let counted = phases.filter(|phase| {
            rounds.contains(&phase.round) && self.source.is_in_round(&phase.phase, phase.round)
        });
        counted.map(|phase| phase.calls).fold(0, u32::saturating_add)
    }

    /// How many independent voices it was, or why that is not known.
    fn independence(&self) -> Option<String> {
        let independence = &self.evidence.independence;
        if self.voices < 2 {
            return None;
        }
        if let Some(n_eff) = independence.n_eff.filter(|n_eff| independence.known && n_eff.is_finite()) {
            let who = format!("The {} voices count", number_word(self.voices));
            return Some(match n_eff > self.voices as f64 {
                true => format!("{who} in full: they do not err together."),
                false => format!("{who} for about {n_eff:.1} independent ones."),
            });
        }
        if independence.known {
            return Some("They do not err together: where one is wrong, another is right.".into());
        }
        Some(format!("How independent these voices are is not known yet; {}.", self.shared_models()))
    }

    fn shared_models(&self) -> String {
        let independence = &self.evidence.independence;
        let models: Vec<usize> = independence.shared_models.iter().map(|shared| shared.seats.len()).collect();
        let families: Vec<usize> = independence.families.iter().map(|shared| shared.seats.len()).collect();
        match (models.as_slice(), families.as_slice()) {
            ([all], _) if *all == self.voices && *all == 2 => "both share one model".to_owned(),
            ([all], _) if *all == self.voices => format!("all {} share one model", number_word(*all)),
            ([some], _) => format!("{} seats share a model", number_word(*some)),
            ([_, ..], _) => {
                format!("{} seats share a model with another", number_word(models.iter().sum()))
            }
            ([], [some]) => format!("{} seats are models of one family", number_word(*some)),
            ([], [_, ..]) => "some seats are models of one family".to_owned(),
            ([], []) => "no two seats share a model".to_owned(),
        }
    }
}

/// What the changes cite.
fn citation_words(flips: &[PositionFlip]) -> String {
    let cited = flips.iter().filter(|flip| flip.evidenced).count();
    let (with, without) = ("after a cited point", "with nothing cited");
    match (cited, flips.len()) {
        (1, 1) => with.to_owned(),
        (0, 1) => without.to_owned(),
        (2, 2) => format!("both {with}"),
        (0, 2) => format!("both {without}"),
        (all, n) if all == n => format!("all {with}"),
        (0, _) => format!("all {without}"),
        (some, n) => format!("{} {with}, {} {without}", number_word(some), number_word(n - some)),
    }
}
