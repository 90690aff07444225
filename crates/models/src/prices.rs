//! The dated table of what well-known models cost. It is read when it is first asked for, which a debate without one of their
//! models never does.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use agon_engine::Price;
use serde::Deserialize;

use crate::config::PriceConfig;

/// What this seller's model costs, as far as the table knows.
pub(crate) fn of(seller: &str, model: &str) -> Option<Price> {
    let models = TABLE.sellers.get(seller)?;
    let price = models.get(model).or_else(|| models.get(undated(model)?))?;
    Some(Price::from(*price))
}

/// The models of this seller that the table has.
pub(crate) fn models(seller: &str) -> impl Iterator<Item = &'static str> {
    TABLE.sellers.get(seller).into_iter().flat_map(|models| models.keys().map(String::as_str))
}

/// The day of the table.
pub(crate) fn as_of() -> &'static str {
    &TABLE.as_of
}

#[derive(Debug, Default, Deserialize)]
struct Table {
    as_of: String,
    #[serde(flatten)]
    sellers: BTreeMap<String, BTreeMap<String, PriceConfig>>,
}

// A test reads the file as strictly as this is lenient.
static TABLE: LazyLock<Table> = LazyLock::new(|| toml::from_str(FILE).unwrap_or_default());
const FILE: &str = include_str!("../prices.toml");

/// A snapshot's name without its date: `-2024-08-06` or `-20240806` at the end, and nothing looser.
fn undated(model: &str) -> Option<&str> {
    let with_dashes = |tail: &str| tail.split('-').map(str::len).eq([4, 2, 2]);
    let without = |tail: &str| tail.len() == 8 && !tail.contains('-');
    [10, 8].into_iter().find_map(|length| {
        let (rest, tail) = model.split_at_checked(model.len().checked_sub(length)?)?;
        let is_date = tail.chars().all(|c| c.is_ascii_digit() || c == '-')
            && (with_dashes(tail) || without(tail))
            && tail.starts_with("20");
        rest.strip_suffix('-').filter(|_| is_date)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::KNOWN;

    #[test]
    fn the_table_can_be_read_and_names_sellers_that_there_are() {
        let table: Table = toml::from_str(FILE).unwrap();
        let day: Vec<usize> = table.as_of.split('-').map(str::len).collect();
        assert_eq!(day, [4, 2, 2], "{}", table.as_of);
        for (seller, models) in &table.sellers {
            assert!(KNOWN.iter().any(|known| known.name == seller), "{seller}");
            for (model, price) in models {
                let PriceConfig { input, cached_input, cache_write, output } = *price;
                assert!(input > 0.0 && output >= 0.0, "{model}");
                assert!(cached_input.is_none_or(|usd| usd <= input), "{model}: a cache that costs more");
                assert!(cache_write.is_none_or(|usd| usd >= input), "{model}: a write that costs less");
            }
        }
    }

    #[test]
    fn a_snapshot_has_the_price_of_its_family_unless_it_has_its_own() {
        assert_eq!(of("openai", "gpt-4o-2024-08-06"), of("openai", "gpt-4o"));
        assert_eq!(of("anthropic", "claude-sonnet-4-20250514"), of("anthropic", "claude-sonnet-4"));
        assert_ne!(of("openai", "gpt-4o-2024-05-13"), of("openai", "gpt-4o"), "a line of its own");
        assert!(of("openai", "gpt-4o").is_some());
        for model in
            ["gpt-4o-2024-08", "gpt-4o-preview", "gpt-4o-0806", "gpt-4o-12345678", "gpt-4o-", "2024-08-06"]
        {
            assert_eq!(of("openai", model), None, "{model}");
        }
        assert_eq!(of("nobody", "gpt-4o"), None);
    }
}
