//! Words behind a number that are a part of it: "5 million" is another number than 5, and "5%" as well.

/// The number words, and how many times the number they make.
const SCALES: &[(&str, i128)] = &[
    ("dozen", 12),
    ("hundred", 100),
    ("thousand", 1_000),
    ("lakh", 100_000),
    ("mn", 1_000_000),
    ("mio", 1_000_000),
    ("million", 1_000_000),
    ("crore", 10_000_000),
    ("bn", 1_000_000_000),
    ("billion", 1_000_000_000),
    ("tn", 1_000_000_000_000),
    ("trillion", 1_000_000_000_000),
];
/// Of money also these.
const OF_MONEY: &[(&str, i128)] = &[("m", 1_000_000), ("b", 1_000_000_000)];
/// Units that make another number of the same figure.
const SHARES: &[&str] = &["percent", "percentage", "permille", "\u{2030}", "bps", "basis"];

/// How many times the number the first words of its unit make, and what is left of the unit.
pub(super) fn scaled(unit: &str, is_money: bool) -> Option<(i128, &str)> {
    let (mut times, mut rest) = (1_i128, unit);
    loop {
        let (word, behind) = rest.split_once(' ').unwrap_or((rest, ""));
        // "Millions" is a word, and "ms" are milliseconds.
        let plural = |name: &str| name.len() > 2 && word.strip_suffix('s') == Some(name);
        let is = |name: &str| word == name || plural(name);
        let of_money = OF_MONEY.iter().filter(|_| is_money);
        let Some((_, scale)) = SCALES.iter().chain(of_money).find(|(name, _)| is(name)) else { break };
        times = times.checked_mul(*scale)?;
        rest = behind;
    }
    Some((times, rest))
}

/// Whether a unit says of what the figure is a part, so that the figure alone is another number.
pub(super) fn is_share(unit: &str) -> bool {
    unit.split(' ').next().is_some_and(|first| SHARES.contains(&first))
}

/// A unit with one word for percent.
pub(super) fn one_percent(unit: &str) -> String {
    match unit.strip_prefix("per cent").or_else(|| unit.strip_prefix("pct")) {
        Some(rest) if rest.is_empty() || rest.starts_with(' ') => format!("percent{rest}"),
        _ => unit.to_owned(),
    }
}
