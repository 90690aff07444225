//! Who held what after each round, one way for each seat.

use serde_json::Value;

use crate::outline::facts::{heading_id, named, place_of};
use crate::outline::{at, list, string, words};

/// How the seats went through the rounds.
#[derive(Debug, Default)]
pub(crate) struct Ways {
    /// The rounds in which positions were taken.
    pub(crate) rounds: Vec<u64>,
    /// What was held, in the order in which it was first said.
    pub(crate) positions: Vec<String>,
    pub(crate) ways: Vec<Way>,
    /// Whether every position is a figure.
    pub(crate) scored: bool,
}

/// How one seat went.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) who: String,
    /// The seat's place at the table.
    pub(crate) place: usize,
    /// For each round what was held after it; `None` where the seat had no position yet.
    pub(crate) steps: Vec<Option<Step>>,
}

/// What a seat held after a round.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// Which of the positions.
    pub(crate) position: usize,
    pub(crate) value: Option<f64>,
    /// Set where it is another one than before.
    pub(crate) change: Option<Change>,
}

/// What a change rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// What it names.
    Evidenced(Vec<String>),
    Bare,
}

impl Ways {
    /// Reads the trajectory, and what the flips say of each change.
    pub(crate) fn read(document: &Value) -> Self {
        let seats = list(document, "/evidence/trajectory");
        let held = || seats.iter().flat_map(|seat| list(seat, "/positions"));
        let mut rounds: Vec<u64> = held().filter_map(|held| at(held, "/round").as_u64()).collect();
        rounds.sort_unstable();
        rounds.dedup();
        let mut ways = Self { rounds, ..Self::default() };
        for round in ways.rounds.clone() {
            for position in seats.iter().filter_map(|seat| words(held_in(seat, round)?, "/position")) {
                if !ways.positions.iter().any(|known| known == position) {
                    ways.positions.push(position.to_owned());
                }
            }
        }
        ways.scored = held().next().is_some() && held().all(|held| at(held, "/value").is_number());
        for seat in seats {
            let way = ways.way(document, seat);
            ways.ways.push(way);
        }
        ways
    }

    fn way(&self, document: &Value, seat: &Value) -> Way {
        let id = string(seat, "/seat");
        let mut before = None;
        let step = |round: &u64| {
            let held = held_in(seat, *round)?;
            let said = words(held, "/position")?;
            let position = self.positions.iter().position(|known| known == said)?;
            let flip = flip_of(document, &id, *round);
            // The first position of a seat is no change, whatever is written.
            let changed =
                before.is_some() && (at(held, "/changed").as_bool() == Some(true) || flip.is_some());
            before = Some(position);
            let change = changed.then(|| change(flip));
            Some(Step { position, value: at(held, "/value").as_f64(), change })
        };
        let steps = self.rounds.iter().map(step).collect();
        Way { who: who(document, seat), place: place_of(document, &id), steps }
    }

    /// What the positions are called where there is little room: by their own names if none is longer than this, else
    /// P1, P2 and so on.
    pub(crate) fn keys(&self, width_max: usize) -> (Vec<String>, bool) {
        let own = self.positions.iter().all(|position| position.chars().count() <= width_max);
        match own {
            true => (self.positions.clone(), true),
            false => ((1..=self.positions.len()).map(|place| format!("P{place}")).collect(), false),
        }
    }

    /// Whether there is anything to draw: nobody goes anywhere in one round.
    pub(crate) fn drawn(&self) -> bool {
        self.rounds.len() > 1 && !self.ways.is_empty() && !self.positions.is_empty()
    }

    /// The way of these seats alone.
    pub(crate) fn of(mut self, places: &[usize]) -> Self {
        self.ways.retain(|way| places.contains(&way.place));
        self
    }

    /// The positions that anybody here holds, with their keys.
    pub(crate) fn legend<'a>(&'a self, keys: &'a [String]) -> impl Iterator<Item = (&'a String, &'a String)> {
        let held = |place: usize| {
            self.ways.iter().flat_map(|way| &way.steps).flatten().any(|step| step.position == place)
        };
        let all = keys.iter().zip(&self.positions).enumerate();
        all.filter(move |(place, _)| held(*place)).map(|(_, pair)| pair)
    }

    /// Whether anybody changed with something named, and whether anybody with nothing.
    pub(crate) fn marks(&self) -> (bool, bool) {
        let changes =
            || self.ways.iter().flat_map(|way| &way.steps).flatten().filter_map(|step| step.change.as_ref());
        (changes().any(|change| *change != Change::Bare), changes().any(|change| *change == Change::Bare))
    }

    /// Texts from models become one line each.
    pub(crate) fn each_text(&mut self, tidy: impl Fn(&mut String)) {
        self.positions.iter_mut().for_each(&tidy);
        for way in &mut self.ways {
            tidy(&mut way.who);
            for step in way.steps.iter_mut().flatten() {
                if let Some(Change::Evidenced(cited)) = &mut step.change {
                    cited.iter_mut().for_each(&tidy);
                }
            }
        }
    }
}

/// A round as the head of a column.
pub(crate) fn column(round: u64) -> String {
    if round == 0 { "start".to_owned() } else { format!("R{round}") }
}

/// The same in a sentence.
pub(crate) fn after(round: u64) -> String {
    if round == 0 { "the first answers".to_owned() } else { format!("round {round}") }
}

/// Who it is: by the label, else by the seat.
pub(crate) fn who(document: &Value, value: &Value) -> String {
    match words(value, "/label") {
        Some(label) => named(document, label),
        None => heading_id(&string(value, "/seat")),
    }
}

fn held_in(seat: &Value, round: u64) -> Option<&Value> {
    list(seat, "/positions").iter().find(|held| at(held, "/round").as_u64() == Some(round))
}

fn flip_of<'a>(document: &'a Value, seat: &str, round: u64) -> Option<&'a Value> {
    list(document, "/evidence/flips")
        .iter()
        .find(|flip| words(flip, "/seat") == Some(seat) && at(flip, "/round").as_u64() == Some(round))
}

fn change(flip: Option<&Value>) -> Change {
    match flip.filter(|flip| at(flip, "/evidenced").as_bool() == Some(true)) {
        Some(flip) => {
            let cited = list(flip, "/cited").iter().filter_map(Value::as_str);
            Change::Evidenced(cited.map(str::to_owned).collect())
        }
        None => Change::Bare,
    }
}
