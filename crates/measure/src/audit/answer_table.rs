//! Reads the answers of models from a table.

use std::collections::{BTreeMap, BTreeSet};

use super::audit_table::quoted_list;
use super::votes::{NON_MODEL_COLUMNS, VoteOptions};
use super::{AuditError, AuditTable, GOLD_COLUMN, NOT_ASKED};

/// The answers to the questions that all models were asked.
///
/// An answer is its place among all answers in alphabetical order, so comparing numbers is comparing words.
pub(super) struct AnswerTable {
    pub(super) models: Vec<String>,
    /// For each model, its answer to each question.
    pub(super) answers: Vec<Vec<Option<u32>>>,
    /// The column of right answers and the right answer to each question.
    pub(super) gold: Option<(String, Vec<u32>)>,
    pub(super) questions: usize,
    /// The number of rows in the table, including those that do not count.
    pub(super) rows: usize,
    pub(super) notes: Vec<String>,
}

impl AnswerTable {
    pub(super) fn read(table: &AuditTable, options: &VoteOptions) -> Result<Self, AuditError> {
        let gold_name = options.gold.as_deref().or_else(|| table.columns().find(|name| *name == GOLD_COLUMN));
        let models = model_columns(table, options, gold_name)?;
        let columns = models.iter().map(|name| table.column(name)).collect::<Result<Vec<_>, _>>()?;
        let gold = gold_name.map(|name| table.column(name)).transpose()?;
        let lacks_gold = |row: &usize| {
            let cell = gold.as_ref().and_then(|gold| gold.get(*row));
            cell.is_some_and(|cell| cell.is_empty() || *cell == NOT_ASKED)
        };
        let was_asked = |row: &usize| {
            columns.iter().all(|column| column.get(*row).is_some_and(|cell| *cell != NOT_ASKED))
        };
        let (unknown, known): (Vec<usize>, Vec<usize>) = (0..table.row_count()).partition(lacks_gold);
        let rows: Vec<usize> = known.into_iter().filter(was_asked).collect();
        if rows.is_empty() {
            let asked = |column: &Vec<&str>| column.iter().filter(|cell| **cell != NOT_ASKED).count();
            let fewest = columns.iter().zip(&models).min_by_key(|(column, _)| asked(column));
            return Err(AuditError::NothingInCommon(
                fewest.map_or_else(String::new, |(_, name)| name.clone()),
            ));
        }
        let words: BTreeSet<&str> =
            columns.iter().chain(&gold).flatten().copied().filter(|cell| !cell.is_empty()).collect();
        let numbers: BTreeMap<&str, u32> = words.into_iter().zip(0..).collect();
        let number_in =
            |column: &[&str], row: &usize| column.get(*row).and_then(|cell| numbers.get(cell).copied());
        let answers =
            columns.iter().map(|column| rows.iter().map(|row| number_in(column, row)).collect()).collect();
        let gold = gold_name.zip(gold).map(|(name, column)| {
            (name.to_owned(), rows.iter().filter_map(|row| number_in(&column, row)).collect::<Vec<_>>())
        });
        let mut notes = Vec::new();
        if gold.is_none() {
            notes.push(no_gold_note(table));
        }
        if !unknown.is_empty() {
            let (skipped, all) = (unknown.len(), table.row_count());
            notes.push(format!("Skipped {skipped} of {all} rows, which have no right answer."));
        }
        Ok(Self { models, answers, gold, questions: rows.len(), rows: table.row_count(), notes })
    }
}

fn no_gold_note(table: &AuditTable) -> String {
    const USUAL_NAMES: [&str; 4] = ["answer", "label", "target", "truth"];
    let usual = table.columns().find(|name| USUAL_NAMES.contains(&name.to_lowercase().as_str()));
    let hint = usual.map_or_else(String::new, |name| format!(" (perhaps --gold \"{name}\")"));
    format!(
        "No column says what is right, so only agreement is measured: name one with --gold{hint} to learn how often they \
         are right and whether they err together."
    )
}

fn model_columns(
    table: &AuditTable,
    options: &VoteOptions,
    gold: Option<&str>,
) -> Result<Vec<String>, AuditError> {
    let named = &options.models;
    let mut seen = BTreeSet::new();
    if let Some(twice) = named.iter().find(|name| !seen.insert(*name)) {
        return Err(AuditError::DuplicateModel(twice.clone()));
    }
    if let Some(gold) = named.iter().find(|name| gold == Some(name.as_str())) {
        return Err(AuditError::GoldAsModel(gold.clone()));
    }
    let is_model = |name: &str| gold != Some(name) && !describes_question(name);
    let models: Vec<String> = match named.is_empty() {
        true => table.columns().filter(|name| is_model(name)).map(str::to_owned).collect(),
        false => named.clone(),
    };
    // A misspelt name is reported before a number of models that is too small.
    models.iter().try_for_each(|name| table.column(name).map(drop))?;
    if models.len() < 2 {
        let found = models.first().map_or_else(|| "no model".to_owned(), |name| format!("only \"{name}\""));
        let columns = quoted_list(table.columns().filter(|name| !models.iter().any(|model| model == name)));
        return Err(AuditError::FewModels { found, columns });
    }
    Ok(models)
}

/// Whether a column describes the question and does not hold a model's answers.
fn describes_question(name: &str) -> bool {
    let name = name.to_lowercase();
    name.is_empty() || name.ends_with("_id") || NON_MODEL_COLUMNS.contains(&name.as_str())
}
