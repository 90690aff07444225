//! How numbers are written.

/// A count with thousands separators: `8,412`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let lead = digits.len() % 3;
    let mut written = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && place % 3 == lead {
            written.push(',');
        }
        written.push(digit);
    }
    written
}

/// A count with its noun: `1 call`, `12 calls`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// US dollars with as many digits as say something: `$12.30`, `$0.0123`, `$0.00042`.
pub fn dollars(usd: f64) -> String {
    match usd {
        _ if !usd.is_finite() || usd < 0.0 => "price unknown".into(),
        _ if usd == 0.0 => "$0.00".into(),
        _ if usd < 1e-6 => "under $0.000001".into(),
        _ if usd < 0.01 => {
            // Two digits that are not zero.
            let places = (1.0 - usd.log10().floor()) as usize;
            let written = format!("{usd:.places$}");
            format!("${}", written.trim_end_matches('0'))
        }
        _ if usd < 1.0 => format!("${usd:.4}"),
        _ => {
            let cents = (usd * 100.0).round() as u64;
            format!("${}.{:02}", count(cents / 100), cents % 100)
        }
    }
}

/// A share in whole percent.
pub fn percent(part: u64, whole: u64) -> String {
    format!("{:.0}%", 100.0 * part as f64 / whole.max(1) as f64)
}

/// A score between 0 and 1, or any other measure: two digits.
pub fn score(value: f64) -> String {
    format!("{value:.2}")
}

/// A time: `0.8 s`, `14 s`, `2 min 05 s`.
pub fn seconds(ms: u64) -> String {
    match ms {
        0..10_000 => format!("{:.1} s", (ms as f64 / 100.0).round() / 10.0),
        10_000..60_000 => format!("{} s", ms / 1000),
        _ => format!("{} min {:02} s", ms / 60_000, ms / 1000 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_separators() {
        for (number, written) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (8_412, "8,412"), (1_234_567, "1,234,567")]
        {
            assert_eq!(count(number), written);
        }
        assert_eq!((counted(1, "call"), counted(2, "call")), ("1 call".into(), "2 calls".into()));
    }

    #[test]
    fn dollars_have_sensible_digits() {
        for (usd, written) in [
            (0.0, "$0.00"),
            (1e-9, "under $0.000001"),
            (0.000_42, "$0.00042"),
            (0.005, "$0.005"),
            (0.0123, "$0.0123"),
            (0.5, "$0.5000"),
            (12.3, "$12.30"),
            (1_234.567, "$1,234.57"),
            (f64::NAN, "price unknown"),
        ] {
            assert_eq!(dollars(usd), written);
        }
    }

    #[test]
    fn times_are_short() {
        for (ms, written) in
            [(0, "0.0 s"), (840, "0.8 s"), (9_999, "10.0 s"), (14_200, "14 s"), (125_000, "2 min 05 s")]
        {
            assert_eq!(seconds(ms), written);
        }
    }
}
