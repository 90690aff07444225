//! The limits on a debate, as a user writes them on the command line and under `[limits]`.

use std::fmt::Display;
use std::str::FromStr;

use agon_core::DebateLimits;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::Error as _;

/// Longer than any debate, and far from where milliseconds overflow.
const SECONDS_MAX: f64 = 1e9;
const USD_MAX: f64 = 1e9;
const REPAIRS_MAX: u32 = 10;
const RETRIES_MAX: u32 = 20;
const OUTPUT_TOKENS_MAX: u32 = 1_000_000;

/// The limits that one source sets. A limit that is not set comes from the next source.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitOverrides {
    /// How many seconds one call may take: `--timeout`.
    #[serde(rename = "timeout_s", deserialize_with = "seconds_in_file")]
    #[schemars(with = "Option<f64>")]
    pub timeout_ms: Option<u64>,
    /// How many seconds the debate may take: `--deadline`.
    #[serde(rename = "deadline_s", deserialize_with = "seconds_in_file")]
    #[schemars(with = "Option<f64>")]
    pub deadline_ms: Option<u64>,
    /// The most US dollars that the debate may cost: `--budget-usd`. Every model then needs a known price.
    #[serde(deserialize_with = "usd_in_file")]
    pub budget_usd: Option<f64>,
    /// The most calls, counting every attempt: `--max-calls`.
    #[serde(deserialize_with = "calls_in_file")]
    pub max_calls: Option<u32>,
    /// The most tokens, input and output together: `--max-tokens`.
    #[serde(deserialize_with = "tokens_in_file")]
    pub max_tokens: Option<u64>,
    /// How often a seat is asked again after a malformed answer.
    #[serde(deserialize_with = "repairs_in_file")]
    pub repairs: Option<u32>,
    /// How often a call is made again after a fault of the network or the provider.
    #[serde(deserialize_with = "retries_in_file")]
    pub retries: Option<u32>,
    /// The most tokens of one answer.
    #[serde(deserialize_with = "output_tokens_in_file")]
    pub output_tokens: Option<u32>,
}

impl LimitOverrides {
    /// Only a limit on the time of each call.
    pub fn timeout(timeout_ms: Option<u64>) -> Self {
        Self { timeout_ms, ..Self::default() }
    }

    /// `base` with these limits in place of its own.
    pub fn apply_to(&self, base: &DebateLimits) -> DebateLimits {
        DebateLimits {
            call_timeout_ms: self.timeout_ms.unwrap_or(base.call_timeout_ms),
            deadline_ms: self.deadline_ms.or(base.deadline_ms),
            usd: self.budget_usd.or(base.usd),
            calls: self.max_calls.or(base.calls),
            tokens: self.max_tokens.or(base.tokens),
            repairs: self.repairs.unwrap_or(base.repairs),
            retries: self.retries.unwrap_or(base.retries),
            output_tokens: self.output_tokens.unwrap_or(base.output_tokens),
        }
    }
}

/// Parses seconds into milliseconds.
pub fn parse_seconds(raw: &str) -> Result<u64, String> {
    seconds_to_ms(parse_number(raw)?)
}

/// Parses US dollars.
pub fn parse_usd(raw: &str) -> Result<f64, String> {
    check_usd(parse_number(raw)?)
}

/// A parser of whole numbers from `low` to `high` with plainer errors than clap's own.
pub fn whole_number<T>(
    low: T,
    high: Option<T>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + Display + Copy + Send + Sync + 'static,
{
    move |raw| {
        let is_in_range = |n: &T| *n >= low && high.is_none_or(|high| *n <= high);
        raw.trim().parse().ok().filter(is_in_range).ok_or_else(|| match high {
            Some(high) => format!("it must be a whole number from {low} to {high}"),
            None => format!("it must be a whole number, {low} or more"),
        })
    }
}

fn parse_number(raw: &str) -> Result<f64, String> {
    raw.trim().parse().map_err(|_| "it must be a number".to_owned())
}

fn seconds_to_ms(seconds: f64) -> Result<u64, String> {
    let ms = (seconds * 1000.0).round();
    if ms >= 1.0 && seconds <= SECONDS_MAX {
        return Ok(ms as u64);
    }
    Err(format!("it must be a number of seconds from 0.001 to {SECONDS_MAX:.0}"))
}

fn check_usd(usd: f64) -> Result<f64, String> {
    if usd > 0.0 && usd <= USD_MAX {
        return Ok(usd);
    }
    Err(format!("it must be a number of US dollars over 0 and up to {USD_MAX:.0}"))
}

fn in_range<T: PartialOrd + Display>(low: T, high: T) -> impl Fn(T) -> Result<T, String> {
    move |n| if n >= low && n <= high { Ok(n) } else { Err(format!("it must be from {low} to {high}")) }
}

macro_rules! deserializers {
    ($($name:ident: $from:ty => $to:ty, $check:expr;)*) => {$(
        fn $name<'de, D: serde::Deserializer<'de>>(file: D) -> Result<Option<$to>, D::Error> {
            let raw = <$from>::deserialize(file)?;
            $check(raw).map(Some).map_err(D::Error::custom)
        }
    )*};
}

deserializers! {
    seconds_in_file: f64 => u64, seconds_to_ms;
    usd_in_file: f64 => f64, check_usd;
    calls_in_file: u32 => u32, in_range(1, u32::MAX);
    tokens_in_file: u64 => u64, in_range(1, u64::MAX);
    repairs_in_file: u32 => u32, in_range(0, REPAIRS_MAX);
    retries_in_file: u32 => u32, in_range(0, RETRIES_MAX);
    output_tokens_in_file: u32 => u32, in_range(1, OUTPUT_TOKENS_MAX);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_may_be_fractional_but_must_be_a_positive_number() {
        assert_eq!(parse_seconds("90"), Ok(90_000));
        assert_eq!(parse_seconds("0.25"), Ok(250));
        for raw in ["0", "-1", "NaN", "inf", "-inf", "", "soon", "1e300", "0.0001", "1,5"] {
            assert!(parse_seconds(raw).unwrap_err().contains("must be a number"), "{raw}");
        }
    }

    #[test]
    fn a_whole_number_out_of_range_is_explained_in_plain_words() {
        assert_eq!(whole_number(0, Some(9_u64))("9"), Ok(9));
        for raw in ["10", "-1", "x", "", "1.5", "99999999999999999999999"] {
            let error = whole_number(0, Some(9_u64))(raw).unwrap_err();
            assert_eq!(error, "it must be a whole number from 0 to 9", "{raw}");
        }
        assert_eq!(whole_number(1_u32, None)("0"), Err("it must be a whole number, 1 or more".into()));
    }

    #[test]
    fn a_budget_must_be_more_than_nothing() {
        assert_eq!(parse_usd("0.5"), Ok(0.5));
        for raw in ["0", "-0.1", "NaN", "inf", "free"] {
            assert!(parse_usd(raw).is_err(), "{raw}");
        }
    }

    #[test]
    fn limits_that_are_not_set_keep_their_value() {
        let base = DebateLimits { usd: Some(2.0), ..DebateLimits::default() };
        let overrides =
            LimitOverrides { timeout_ms: Some(5), max_calls: Some(9), ..LimitOverrides::default() };
        let limits = overrides.apply_to(&base);
        assert_eq!((limits.call_timeout_ms, limits.calls, limits.usd), (5, Some(9), Some(2.0)));
        assert_eq!(limits.retries, base.retries);
    }
}
