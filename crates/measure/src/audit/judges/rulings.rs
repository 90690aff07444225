//! Who preferred what.

use std::collections::BTreeMap;

use super::JudgeOptions;
use crate::audit::table::listed;
use crate::audit::votes::GOLD;
use crate::audit::{Table, Trouble};

const SUBSET: &str = "subset";
const NOT_ASKED: &str = "-";
const NEITHER: [&str; 5] = ["none", "tie", "neither", "draw", "equal"];

/// What a judge said when it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ruling {
    /// For the first answer of the pair, wherever it was shown.
    First,
    Second,
    Neither,
    Missing,
}

/// The table as rulings. A row is an item.
pub(super) struct Read {
    /// Each judge with its rulings in both orders; `None` where it was not asked both.
    pub(super) judges: Vec<(String, Vec<Option<[Ruling; 2]>>)>,
    pub(super) gold: Option<(String, Vec<Option<Ruling>>)>,
    /// The rows that count.
    pub(super) items: Vec<usize>,
    pub(super) subsets: Vec<(String, Vec<usize>)>,
    pub(super) notes: Vec<String>,
}

impl Read {
    pub(super) fn of(table: &Table, options: &JudgeOptions) -> Result<Self, Trouble> {
        let pairs = pairs(table, options)?;
        let gold_name = options.gold.as_deref().or_else(|| table.columns().find(|name| *name == GOLD));
        let gold = gold_name.map(|name| table.column(name)).transpose()?;
        let cells = pairs.iter().flat_map(|(_, columns)| columns).chain(&gold).flatten().copied();
        let answers = Answers::named(cells)?;
        let both = |[first, second]: &[Vec<&str>; 2]| -> Vec<Option<[Ruling; 2]>> {
            let both = first.iter().zip(second);
            both.map(|(first, second)| Some([answers.ruling(first)?, answers.ruling(second)?])).collect()
        };
        let judges = pairs.iter().map(|(name, columns)| (name.clone(), both(columns))).collect();
        let known = |cell: &&str| answers.ruling(cell).filter(|ruling| *ruling != Ruling::Missing);
        let gold: Option<(String, Vec<Option<Ruling>>)> =
            gold_name.zip(gold).map(|(name, column)| (name.to_owned(), column.iter().map(known).collect()));
        let counts = |row: &usize| {
            gold.as_ref().is_none_or(|(_, gold)| gold.get(*row).is_some_and(|better| better.is_some()))
        };
        let items: Vec<usize> = (0..table.len()).filter(counts).collect();
        let mut notes = Vec::new();
        if gold.is_none() {
            notes.push("No column says which answer is better, so whether they are right is not measured: name one with --gold.".into());
        }
        if items.len() < table.len() {
            let out = table.len() - items.len();
            notes.push(format!("Left out for want of a better answer: {out} of {} rows.", table.len()));
        }
        let subsets = subsets(table, options.subset.as_deref(), &items)?;
        Ok(Self { judges, gold, items, subsets, notes })
    }
}

type Pair<'a> = (String, [Vec<&'a str>; 2]);

/// The columns of each judge, in the order of the table.
fn pairs<'a>(table: &'a Table, options: &JudgeOptions) -> Result<Vec<Pair<'a>>, Trouble> {
    let (first, second) = (options.first_suffix.as_str(), options.second_suffix.as_str());
    if first.is_empty() || second.is_empty() || first.ends_with(second) || second.ends_with(first) {
        return Err(Trouble::Suffixes(first.into(), second.into()));
    }
    let mut pairs = Vec::new();
    for there in table.columns() {
        let (name, missing) = match (there.strip_suffix(first), there.strip_suffix(second)) {
            (Some(name), _) => (name, format!("{name}{second}")),
            (_, Some(name)) => (name, format!("{name}{first}")),
            _ => continue,
        };
        let half = || Trouble::HalfAJudge { there: there.into(), missing: missing.clone() };
        let other = table.find(&missing).ok_or_else(half)?;
        if there.ends_with(first) {
            pairs.push((name.to_owned(), [table.column(there)?, other]));
        }
    }
    if pairs.is_empty() {
        let columns = listed(table.columns());
        return Err(Trouble::NoJudges { first: first.into(), second: second.into(), columns });
    }
    Ok(pairs)
}

fn subsets(
    table: &Table,
    asked: Option<&str>,
    items: &[usize],
) -> Result<Vec<(String, Vec<usize>)>, Trouble> {
    let column = match asked {
        Some(name) => Some(table.column(name)?),
        None => table.find(SUBSET),
    };
    let mut subsets: Vec<(String, Vec<usize>)> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (row, cell) in items.iter().filter_map(|row| Some((*row, *column.as_ref()?.get(*row)?))) {
        let place = *places.entry(cell).or_insert(subsets.len());
        match subsets.get_mut(place) {
            Some((_, rows)) => rows.push(row),
            None => subsets.push((cell.to_owned(), vec![row])),
        }
    }
    Ok(subsets)
}

/// How the two answers of a pair are named.
struct Answers {
    first: Option<String>,
    second: Option<String>,
}

impl Answers {
    fn named<'a>(cells: impl Iterator<Item = &'a str>) -> Result<Self, Trouble> {
        let mut names: BTreeMap<String, &str> = BTreeMap::new();
        for cell in cells {
            let name = cell.to_lowercase();
            if !cell.is_empty() && cell != NOT_ASKED && !NEITHER.contains(&name.as_str()) {
                names.entry(name).or_insert(cell);
            }
        }
        let mut sorted = names.keys().cloned();
        match (sorted.next(), sorted.next(), sorted.next()) {
            (Some(first), second @ Some(_), None) => Ok(Self { first: Some(first), second }),
            // Whoever always prefers the same answer is rare, but the two usual pairs of names leave no doubt.
            (Some(only), None, _) if ["1", "a"].contains(&only.as_str()) => {
                Ok(Self { first: Some(only), second: None })
            }
            (Some(only), None, _) if ["2", "b"].contains(&only.as_str()) => {
                Ok(Self { first: None, second: Some(only) })
            }
            (_, None, _) => Err(Trouble::OneAnswer(listed(names.values().copied()))),
            _ => Err(Trouble::ManyAnswers(listed(names.values().copied()))),
        }
    }

    /// `None` where it was not asked.
    fn ruling(&self, cell: &str) -> Option<Ruling> {
        let name = cell.to_lowercase();
        let is = |answer: &Option<String>| answer.as_deref() == Some(name.as_str());
        match cell {
            NOT_ASKED => None,
            "" => Some(Ruling::Missing),
            _ if is(&self.first) => Some(Ruling::First),
            _ if is(&self.second) => Some(Ruling::Second),
            _ => Some(Ruling::Neither),
        }
    }
}
