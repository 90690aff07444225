//! Who answered what.

use std::collections::{BTreeMap, BTreeSet};

use super::{GOLD, NO_MODELS, VoteOptions};
use crate::audit::table::listed;
use crate::audit::{Table, Trouble};

const NOT_ASKED: &str = "-";

/// The answers to those questions that all models were asked. An answer is its place among all answers in alphabetical
/// order, so that comparing numbers is comparing words.
pub(super) struct Ballots {
    pub(super) models: Vec<String>,
    /// A list for each model: what it answered to each question.
    pub(super) answers: Vec<Vec<Option<u32>>>,
    pub(super) gold: Option<(String, Vec<u32>)>,
    pub(super) questions: usize,
    pub(super) rows: usize,
    pub(super) notes: Vec<String>,
}

impl Ballots {
    pub(super) fn read(table: &Table, options: &VoteOptions) -> Result<Self, Trouble> {
        let gold_name = options.gold.as_deref().or_else(|| table.columns().find(|name| *name == GOLD));
        let models = models(table, options, gold_name)?;
        let columns = models.iter().map(|name| table.column(name)).collect::<Result<Vec<_>, _>>()?;
        let gold = gold_name.map(|name| table.column(name)).transpose()?;
        let without_gold = |row: &usize| {
            gold.as_ref()
                .and_then(|gold| gold.get(*row))
                .is_some_and(|cell| cell.is_empty() || *cell == NOT_ASKED)
        };
        let asked = |row: &usize| {
            columns.iter().all(|column| column.get(*row).is_some_and(|cell| *cell != NOT_ASKED))
        };
        let (unknown, known): (Vec<usize>, Vec<usize>) = (0..table.len()).partition(without_gold);
        let kept: Vec<usize> = known.into_iter().filter(asked).collect();
        if kept.is_empty() {
            let asked = |column: &Vec<&str>| column.iter().filter(|cell| **cell != NOT_ASKED).count();
            let fewest = columns.iter().zip(&models).min_by_key(|(column, _)| asked(column));
            return Err(Trouble::NothingInCommon(fewest.map_or_else(String::new, |(_, name)| name.clone())));
        }
        let words = Words::of(columns.iter().chain(&gold).flatten().copied());
        let answers = columns.iter().map(|column| words.places(column, &kept).collect()).collect();
        let gold = gold_name.zip(gold).map(|(name, column)| {
            (name.to_owned(), words.places(&column, &kept).flatten().collect::<Vec<_>>())
        });
        let mut notes = Vec::new();
        if gold.is_none() {
            notes.push(no_gold(table));
        }
        if !unknown.is_empty() {
            notes.push(format!(
                "Left out for want of a right answer: {} of {} rows.",
                unknown.len(),
                table.len()
            ));
        }
        Ok(Self { models, answers, gold, questions: kept.len(), rows: table.len(), notes })
    }
}

fn no_gold(table: &Table) -> String {
    const USUAL: [&str; 4] = ["answer", "label", "target", "truth"];
    let usual = table.columns().find(|name| USUAL.contains(&name.to_lowercase().as_str()));
    let hint = usual.map_or_else(String::new, |name| format!(" (perhaps --gold \"{name}\")"));
    format!(
        "No column says what is right, so only agreement is measured: name one with --gold{hint} to learn how often they \
         are right and whether they err together."
    )
}

fn models(table: &Table, options: &VoteOptions, gold: Option<&str>) -> Result<Vec<String>, Trouble> {
    let named = &options.models;
    let mut seen = BTreeSet::new();
    if let Some(twice) = named.iter().find(|name| !seen.insert(*name)) {
        return Err(Trouble::NamedTwice(twice.clone()));
    }
    if let Some(gold) = named.iter().find(|name| gold == Some(name.as_str())) {
        return Err(Trouble::GoldVotes(gold.clone()));
    }
    let is_model = |name: &str| gold != Some(name) && !says_which(name);
    let models: Vec<String> = match named.is_empty() {
        true => table.columns().filter(|name| is_model(name)).map(str::to_owned).collect(),
        false => named.clone(),
    };
    // A name that is not there is the greater trouble.
    models.iter().try_for_each(|name| table.column(name).map(drop))?;
    if models.len() < 2 {
        let found = models.first().map_or_else(|| "no model".to_owned(), |name| format!("only \"{name}\""));
        let columns = listed(table.columns().filter(|name| !models.iter().any(|model| model == name)));
        return Err(Trouble::FewModels { found, columns });
    }
    Ok(models)
}

/// Whether a column says which question it is, and not what somebody answered.
fn says_which(name: &str) -> bool {
    let name = name.to_lowercase();
    name.is_empty() || name.ends_with("_id") || NO_MODELS.contains(&name.as_str())
}

struct Words<'a>(BTreeMap<&'a str, u32>);

impl<'a> Words<'a> {
    fn of(cells: impl Iterator<Item = &'a str>) -> Self {
        let all: BTreeSet<&str> = cells.filter(|cell| !cell.is_empty()).collect();
        Self(all.into_iter().zip(0..).collect())
    }

    fn places(&self, column: &[&str], rows: &[usize]) -> impl Iterator<Item = Option<u32>> {
        rows.iter().map(|row| column.get(*row).and_then(|cell| self.0.get(cell).copied()))
    }
}
