//! What the debate did, in two to four sentences.

use serde_json::Value;

use super::ways::after;
use crate::outline::facts::in_a_round;
use crate::outline::wording::{capital, joined, number, rounds};
use crate::outline::{at, list, shortened, whole, words};

/// Who changed and on what; what a plain vote would have said; which rounds were for nothing; how many voices it was.
pub(super) fn paragraph(document: &Value) -> Option<String> {
    let told = Told::read(document);
    let sentences = [told.changes(), told.vote(), told.idle(), told.voices()];
    let told: Vec<String> = sentences.into_iter().flatten().collect();
    (!told.is_empty()).then(|| told.join(" "))
}

/// A longer position is cut where it is quoted in a sentence.
const QUOTED_CHARS_MAX: usize = 60;

struct Told<'a> {
    document: &'a Value,
    evidence: &'a Value,
    /// How many took a position.
    voices: usize,
    /// The rounds in which positions were taken.
    rounds: Vec<u64>,
    scored: bool,
}

impl<'a> Told<'a> {
    fn read(document: &'a Value) -> Self {
        let evidence = at(document, "/evidence");
        let ways = super::Ways::read(document);
        let counted =
            list(evidence, "/first_round/positions").iter().map(|position| whole(position, "/count"));
        let counted = counted.fold(0, u64::saturating_add);
        let voices =
            if ways.ways.is_empty() { usize::try_from(counted).unwrap_or_default() } else { ways.ways.len() };
        let mut rounds = ways.rounds;
        if rounds.is_empty() {
            let listed = list(evidence, "/agreement").iter().chain(list(evidence, "/counterfactual/rounds"));
            rounds = listed.filter_map(|row| at(row, "/round").as_u64()).collect();
            rounds.extend(at(evidence, "/first_round/round").as_u64());
            rounds.sort_unstable();
            rounds.dedup();
        }
        Self { document, evidence, voices, rounds, scored: ways.scored }
    }

    fn list(&self, pointer: &str) -> &'a [Value] {
        list(self.evidence, pointer)
    }

    /// Who changed, when, and whether anything was cited for it.
    fn changes(&self) -> Option<String> {
        let flips = self.list("/flips");
        if (self.voices == 0 || self.rounds.is_empty()) && flips.is_empty() {
            return None;
        }
        if self.rounds.len() < 2 && flips.is_empty() {
            return Some("Positions were taken once, so that nobody could change.".to_owned());
        }
        let mut seats: Vec<&str> = flips.iter().filter_map(|flip| words(flip, "/seat")).collect();
        seats.sort_unstable();
        seats.dedup();
        if flips.is_empty() {
            return Some(self.nobody());
        }
        let changed = seats.len();
        let what = match (changed == 1, self.scored) {
            (true, false) => "changed its mind",
            (false, false) => "changed their mind",
            (true, true) => "changed its score",
            (false, true) => "changed their score",
        };
        let mut when: Vec<u64> = flips.iter().filter_map(|flip| at(flip, "/round").as_u64()).collect();
        when.sort_unstable();
        when.dedup();
        let when = if when.is_empty() { String::new() } else { format!(" in {}", rounds(&when)) };
        let times = match flips.len() == changed {
            true => ", ".to_owned(),
            false => format!(", {} times in all: ", number(flips.len())),
        };
        Some(format!("{} {what}{when}{times}{}.", capital(&self.subject(changed)), grounds(flips)))
    }

    fn nobody(&self) -> String {
        let what = if self.scored { "score" } else { "position" };
        match self.voices {
            0 => format!("Nobody changed {what}."),
            1 => format!("The only voice kept its {what}."),
            2 => format!("Neither of the two changed its {what}."),
            n => format!("None of the {} changed its {what}.", number(n)),
        }
    }

    fn subject(&self, changed: usize) -> String {
        match (changed, self.voices) {
            (1, 1) => "the only voice".to_owned(),
            (2, 2) => "both".to_owned(),
            (some, all) if some == all => format!("all {}", number(all)),
            (some, all) if some > all => number(some),
            (some, all) => format!("{} of {}", number(some), number(all)),
        }
    }

    /// What a plain vote on the first positions would have said, beside the verdict.
    fn vote(&self) -> Option<String> {
        let first = at(self.evidence, "/first_round");
        let (vote, decided) = (words(first, "/vote"), words(first, "/decided"));
        let (tied, positions) = (list(first, "/tied"), list(first, "/positions"));
        let changed = at(first, "/changed_by_debate").as_bool() == Some(true);
        if self.voices < 2 || !first.is_object() {
            return None;
        }
        if positions.len() == 1 {
            return Some(match (decided, changed) {
                (Some(_), false) => "They agreed before the debate began, and that is the verdict.".into(),
                (Some(_), true) => "They agreed before the debate began, but the verdict is another.".into(),
                (None, _) => "They agreed before the debate began, but there is no verdict.".into(),
            });
        }
        let plain = "A plain vote before the debate would have";
        // The rule that the verdict is taken by may make something else of the first positions than a count of heads.
        let ruling = words(first, "/ruling").filter(|ruling| Some(*ruling) != vote);
        if let (Some(ruling), Some(decided)) = (ruling, decided) {
            let by_rule = match ruling == decided {
                true => "By its own rule the first positions would have given the same verdict".to_owned(),
                false => {
                    format!(
                        "By its own rule the first positions would have given another verdict: {}",
                        self.quoted(ruling)
                    )
                }
            };
            return Some(match vote.filter(|vote| *vote != decided && !self.scored) {
                Some(vote) => format!("{by_rule}; a plain vote would have said {}.", self.quoted(vote)),
                None => format!("{by_rule}."),
            });
        }
        match (vote, decided) {
            (Some(vote), Some(decided)) if vote == decided => Some(format!("{plain} said the same.")),
            (Some(_), Some(_)) if !changed && self.rounds.len() > 1 => {
                Some(format!("{plain} said the same."))
            }
            (Some(vote), Some(_)) => Some(format!("{plain} said something else: {}.", self.quoted(vote))),
            (Some(vote), None) => {
                Some(format!("{plain} said {}, but there is no verdict.", self.quoted(vote)))
            }
            (None, _) if tied.len() < 2 => None,
            (None, decided) => {
                let end = match (decided.is_some(), self.rounds.len() < 2) {
                    (true, true) => "the verdict settled it",
                    (true, false) if self.settled() => "the debate settled it",
                    (true, false) => "the debate left it so, and the verdict was made of what was said",
                    (false, _) => "nothing settled it",
                };
                Some(format!("{}; {end}.", self.tie(tied, positions)))
            }
        }
    }

    /// Whether the last positions by themselves give the verdict.
    fn settled(&self) -> bool {
        let last = self.list("/counterfactual/rounds").last();
        last.is_none_or(|row| at(row, "/as_decided").as_bool() != Some(false))
    }

    fn tie(&self, tied: &[Value], positions: &[Value]) -> String {
        let alone = positions.iter().all(|position| whole(position, "/count") <= 1);
        match (alone, self.scored) {
            (true, true) => {
                return "Before the debate no two scores were the same, so that a plain vote was tied"
                    .to_owned();
            }
            (true, false) => {
                return match words(self.evidence, "/grouping") {
                    // Likeness of words in doubt keeps positions apart: more than that is not known.
                    Some("similarity") => {
                        "No two of the first answers are known to say the same, so that a plain vote was tied"
                            .into()
                    }
                    _ => "Before the debate no two held the same, so that a plain vote was tied".into(),
                };
            }
            (false, _) => {}
        }
        let between = match words(self.evidence, "/grouping") {
            Some("discrete") => {
                let names: Vec<String> =
                    tied.iter().filter_map(Value::as_str).map(|name| self.quoted(name)).collect();
                joined(&names)
            }
            _ => format!("{} positions", number(tied.len())),
        };
        format!("A plain vote before the debate would have been tied between {between}")
    }

    /// A position in a sentence: a value as it is, words between quotes.
    fn quoted(&self, position: &str) -> String {
        let line = crate::clean::one_line(position);
        let short = shortened(&line, Some(QUOTED_CHARS_MAX)).replace(" [...]", "...");
        match words(self.evidence, "/grouping") {
            Some("discrete") => short,
            _ => format!("\"{}\"", short.trim_end_matches('.').replace('"', "'")),
        }
    }

    /// Rounds after which the verdict was as it was before them.
    fn idle(&self) -> Option<String> {
        let idle: Vec<u64> =
            self.list("/counterfactual/idle_rounds").iter().filter_map(Value::as_u64).collect();
        let tail = self.rounds.iter().rev().take_while(|round| idle.contains(round)).count();
        let (before, tail) = self.rounds.split_at(self.rounds.len() - tail);
        let told = match tail {
            [] => before.iter().copied().filter(|round| idle.contains(round)).collect(),
            tail => tail.to_vec(),
        };
        if told.is_empty() {
            return None;
        }
        let moved = self.list("/flips").iter().filter_map(|flip| at(flip, "/round").as_u64());
        let moved = moved.into_iter().any(|round| told.contains(&round));
        let what = if moved { "did not change the verdict" } else { "changed nothing" };
        let what = format!("{} {what}", capital(&rounds(&told)));
        // A verdict that is not what the last positions gave was not there before either.
        let verdict = self.list("/counterfactual/rounds").last().is_some_and(|row| {
            words(row, "/verdict").is_some() && at(row, "/as_decided").as_bool() != Some(false)
        });
        let saved = self.calls_of(tail);
        Some(match (before.last(), saved) {
            (Some(before), 1..) if !tail.is_empty() && verdict => {
                let calls = if saved == 1 { "call" } else { "calls" };
                format!("{what}: the same verdict after {} for {saved} fewer {calls}.", after(*before))
            }
            _ => format!("{what}."),
        })
    }

    fn calls_of(&self, told: &[u64]) -> u64 {
        let phases = self.list("/cost/rounds").iter();
        let mine = phases.filter(|row| {
            let round = at(row, "/round").as_u64();
            round.is_some_and(|round| told.contains(&round)) && words(row, "/phase").is_some_and(in_a_round)
        });
        mine.map(|row| whole(row, "/calls")).fold(0, u64::saturating_add)
    }

    /// How many independent voices it was, or why that is not known.
    fn voices(&self) -> Option<String> {
        let independence = at(self.evidence, "/independence");
        if self.voices < 2 || !independence.is_object() {
            return None;
        }
        let known = at(independence, "/known").as_bool() == Some(true);
        if let Some(n_eff) = at(independence, "/n_eff").as_f64().filter(|n_eff| known && n_eff.is_finite()) {
            let who = match words(self.document, "/protocol") {
                Some("panel") => "The panel counts".to_owned(),
                Some("council") => "The council counts".to_owned(),
                _ => format!("The {} count", number(self.voices)),
            };
            return Some(match n_eff > self.voices as f64 {
                true => format!("{who} in full: they do not err together."),
                false => format!("{who} for about {n_eff:.1} independent voices."),
            });
        }
        if known {
            return Some("They do not err together: where one is wrong, another is right.".into());
        }
        Some(format!("How independent these voices are is not known yet; {}.", self.shared(independence)))
    }

    fn shared(&self, independence: &Value) -> String {
        let sizes = |pointer: &str| -> Vec<usize> {
            let groups = list(independence, pointer).iter().map(|group| list(group, "/seats").len());
            groups.filter(|seats| *seats > 1).collect()
        };
        let models = sizes("/shared_models");
        match (models.as_slice(), sizes("/families").as_slice()) {
            ([all], _) if *all == self.voices && *all == 2 => "both share one model".to_owned(),
            ([all], _) if *all == self.voices => format!("all {} share one model", number(*all)),
            ([some], _) => format!("{} seats share a model", number(*some)),
            ([_, ..], _) => {
                let sharing = models.iter().fold(0, |sum: usize, seats| sum.saturating_add(*seats));
                format!("{} seats share a model with another", number(sharing))
            }
            ([], [some]) => format!("{} seats are models of one family", number(*some)),
            ([], [_, ..]) => "some seats are models of one family".to_owned(),
            ([], []) => "no two seats share a model".to_owned(),
        }
    }
}

/// On what the changes rest.
fn grounds(flips: &[Value]) -> String {
    let cited = flips.iter().filter(|flip| at(flip, "/evidenced").as_bool() == Some(true)).count();
    let (with, without) = ("after a cited point", "with nothing cited");
    match (cited, flips.len()) {
        (1, 1) => with.to_owned(),
        (0, 1) => without.to_owned(),
        (2, 2) => format!("both {with}"),
        (0, 2) => format!("both {without}"),
        (all, n) if all == n => format!("all {with}"),
        (0, _) => format!("all {without}"),
        (some, n) => format!("{} {with}, {} {without}", number(some), number(n - some)),
    }
}
