//! The dated table of what well-known models cost.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use agon_engine::ModelPrice;
use serde::Deserialize;

use crate::config::PriceConfig;

/// The price of a seller's model, if the table has it.
pub(crate) fn price_of(seller: &str, model: &str) -> Option<ModelPrice> {
    let models = TABLE.sellers.get(seller)?;
    let price = models.get(model).or_else(|| models.get(without_date(model)?))?;
    Some(ModelPrice::from(*price))
}

/// The seller's models in the table.
pub(crate) fn models_of(seller: &str) -> impl Iterator<Item = &'static str> {
    TABLE.sellers.get(seller).into_iter().flat_map(|models| models.keys().map(String::as_str))
}

/// The date of the table.
pub(crate) fn as_of() -> &'static str {
    &TABLE.as_of
}

#[derive(Debug, Default, Deserialize)]
struct PriceTable {
    as_of: String,
    #[serde(flatten)]
    sellers: BTreeMap<String, BTreeMap<String, PriceConfig>>,
}

// A malformed table would only lose prices here; a test makes sure that it parses.
static TABLE: LazyLock<PriceTable> = LazyLock::new(|| toml::from_str(PRICES_TOML).unwrap_or_default());
const PRICES_TOML: &str = include_str!("../prices.toml");

/// A model's name without the date at its end, `-2024-08-06` or `-20240806`.
fn without_date(model: &str) -> Option<&str> {
    [10, 8].into_iter().find_map(|length| {
        let (rest, tail) = model.split_at_checked(model.len().checked_sub(length)?)?;
        let parts: Vec<usize> = tail.split('-').map(str::len).collect();
        let is_date = matches!(parts.as_slice(), [4, 2, 2] | [8])
            && tail.starts_with("20")
            && tail.chars().all(|c| c.is_ascii_digit() || c == '-');
        rest.strip_suffix('-').filter(|_| is_date)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::KNOWN_PROVIDERS;

    #[test]
    fn the_table_parses_and_names_only_known_providers() {
        let table: PriceTable = toml::from_str(PRICES_TOML).unwrap();
        let day: Vec<usize> = table.as_of.split('-').map(str::len).collect();
        assert_eq!(day, [4, 2, 2], "{}", table.as_of);
        for (seller, models) in &table.sellers {
            assert!(KNOWN_PROVIDERS.iter().any(|known| known.name == seller), "{seller}");
            for (model, price) in models {
                let PriceConfig { input, cached_input, cache_write, output } = *price;
                assert!(input > 0.0 && output >= 0.0, "{model}");
                assert!(
                    cached_input.is_none_or(|usd| usd <= input),
                    "{model}: a cached token costs more than a fresh one"
                );
                assert!(
                    cache_write.is_none_or(|usd| usd >= input),
                    "{model}: a cache write costs less than a read"
                );
            }
        }
    }

    #[test]
    fn a_dated_name_has_the_price_of_the_undated_one_unless_it_is_listed() {
        assert_eq!(price_of("openai", "gpt-4o-2024-08-06"), price_of("openai", "gpt-4o"));
        assert_eq!(
            price_of("anthropic", "claude-sonnet-4-20250514"),
            price_of("anthropic", "claude-sonnet-4")
        );
        assert_ne!(
            price_of("openai", "gpt-4o-2024-05-13"),
            price_of("openai", "gpt-4o"),
            "it has its own line"
        );
        assert!(price_of("openai", "gpt-4o").is_some());
        for model in
            ["gpt-4o-2024-08", "gpt-4o-preview", "gpt-4o-0806", "gpt-4o-12345678", "gpt-4o-", "2024-08-06"]
        {
            assert_eq!(price_of("openai", model), None, "{model}");
        }
        assert_eq!(price_of("nobody", "gpt-4o"), None);
    }
}
