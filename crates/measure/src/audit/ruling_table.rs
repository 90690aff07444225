//! Reads the rulings of judges from a table.

use std::collections::BTreeMap;

use super::audit_table::quoted_list;
use super::judges::JudgeOptions;
use super::{AuditError, AuditTable, GOLD_COLUMN, NOT_ASKED};

const SUBSET_COLUMN: &str = "subset";
const NEITHER: [&str; 5] = ["none", "tie", "neither", "draw", "equal"];

/// What a judge that was asked said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JudgeRuling {
    /// The first answer of the pair, wherever it was shown.
    First,
    /// The second answer of the pair.
    Second,
    Neither,
    Missing,
}

/// The rulings of all judges. A row of the table is an item.
pub(super) struct RulingTable {
    /// Each judge with its rulings on each item in both orders; `None` if it was not asked in both.
    pub(super) judges: Vec<(String, Vec<Option<[JudgeRuling; 2]>>)>,
    /// The column of the better answers and the better answer of each item.
    pub(super) gold: Option<(String, Vec<Option<JudgeRuling>>)>,
    /// The items that count.
    pub(super) items: Vec<usize>,
    /// Each subset and its items that count.
    pub(super) subsets: Vec<(String, Vec<usize>)>,
    pub(super) notes: Vec<String>,
}

impl RulingTable {
    pub(super) fn read(table: &AuditTable, options: &JudgeOptions) -> Result<Self, AuditError> {
        let pairs = judge_columns(table, options)?;
        let gold_name = options.gold.as_deref().or_else(|| table.columns().find(|name| *name == GOLD_COLUMN));
        let gold = gold_name.map(|name| table.column(name)).transpose()?;
        let cells = pairs.iter().flat_map(|(_, columns)| columns).chain(&gold).flatten().copied();
        let names = AnswerNames::find(cells)?;
        let in_both_orders = |[first, second]: &[Vec<&str>; 2]| {
            let cells = first.iter().zip(second);
            cells.map(|(first, second)| Some([names.ruling(first)?, names.ruling(second)?])).collect()
        };
        let judges = pairs.iter().map(|(name, columns)| (name.clone(), in_both_orders(columns))).collect();
        let better = |cell: &&str| names.ruling(cell).filter(|ruling| *ruling != JudgeRuling::Missing);
        let gold: Option<(String, Vec<Option<JudgeRuling>>)> =
            gold_name.zip(gold).map(|(name, column)| (name.to_owned(), column.iter().map(better).collect()));
        let counts = |row: &usize| {
            gold.as_ref().is_none_or(|(_, gold)| gold.get(*row).is_some_and(|better| better.is_some()))
        };
        let rows = table.row_count();
        let items: Vec<usize> = (0..rows).filter(counts).collect();
        let mut notes = Vec::new();
        if gold.is_none() {
            let note = "No column says which answer is better, so whether they are right is not measured: name one with \
                        --gold.";
            notes.push(note.into());
        }
        if items.len() < rows {
            let skipped = rows - items.len();
            notes.push(format!("Skipped {skipped} of {rows} rows, which do not say which answer is better."));
        }
        let subsets = subsets(table, options.subset.as_deref(), &items)?;
        Ok(Self { judges, gold, items, subsets, notes })
    }
}

/// A judge's name and its columns for both orders.
type JudgeColumns<'a> = (String, [Vec<&'a str>; 2]);

/// In the order of the table.
fn judge_columns<'a>(
    table: &'a AuditTable,
    options: &JudgeOptions,
) -> Result<Vec<JudgeColumns<'a>>, AuditError> {
    let (first, second) = (options.first_suffix.as_str(), options.second_suffix.as_str());
    if first.is_empty() || second.is_empty() || first.ends_with(second) || second.ends_with(first) {
        return Err(AuditError::InvalidSuffixes(first.into(), second.into()));
    }
    let mut judges = Vec::new();
    for there in table.columns() {
        let (name, missing) = match (there.strip_suffix(first), there.strip_suffix(second)) {
            (Some(name), _) => (name, format!("{name}{second}")),
            (_, Some(name)) => (name, format!("{name}{first}")),
            _ => continue,
        };
        let Some(other) = table.find(&missing) else {
            return Err(AuditError::MissingOrder { there: there.into(), missing });
        };
        if there.ends_with(first) {
            judges.push((name.to_owned(), [table.column(there)?, other]));
        }
    }
    if judges.is_empty() {
        let columns = quoted_list(table.columns());
        return Err(AuditError::NoJudges { first: first.into(), second: second.into(), columns });
    }
    Ok(judges)
}

/// In the order of their first items.
fn subsets(
    table: &AuditTable,
    column: Option<&str>,
    items: &[usize],
) -> Result<Vec<(String, Vec<usize>)>, AuditError> {
    let column = match column {
        Some(name) => Some(table.column(name)?),
        None => table.find(SUBSET_COLUMN),
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

/// The names of a pair's two answers, in lower case. One may be unknown if no ruling names it.
struct AnswerNames {
    first: Option<String>,
    second: Option<String>,
}

impl AnswerNames {
    fn find<'a>(cells: impl Iterator<Item = &'a str>) -> Result<Self, AuditError> {
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
            // One name alone is clear if it belongs to a usual pair of names.
            (Some(only), None, _) if ["1", "a"].contains(&only.as_str()) => {
                Ok(Self { first: Some(only), second: None })
            }
            (Some(only), None, _) if ["2", "b"].contains(&only.as_str()) => {
                Ok(Self { first: None, second: Some(only) })
            }
            (_, None, _) => Err(AuditError::OneAnswer(quoted_list(names.values().copied()))),
            _ => Err(AuditError::TooManyAnswers(quoted_list(names.values().copied()))),
        }
    }

    /// `None` if the judge was not asked.
    fn ruling(&self, cell: &str) -> Option<JudgeRuling> {
        let name = cell.to_lowercase();
        let is = |answer: &Option<String>| answer.as_deref() == Some(name.as_str());
        match cell {
            NOT_ASKED => None,
            "" => Some(JudgeRuling::Missing),
            _ if is(&self.first) => Some(JudgeRuling::First),
            _ if is(&self.second) => Some(JudgeRuling::Second),
            _ => Some(JudgeRuling::Neither),
        }
    }
}
