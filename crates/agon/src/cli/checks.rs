//! `agon show ID --check`: what makes a good debate of its kind, met or not met, with the line of the log that shows it.

use agon_core::{Check, Debate, Event, Protocol, Record};
use serde_json::{Value, json};

use super::failure::Failure;
use super::output;

/// More lines than this say no more than these.
const LINES_MAX: usize = 8;

/// Prints the checks and gives 1 if one is not met.
pub fn print(
    protocol: &dyn Protocol,
    debate: &Debate,
    records: &[Record],
    as_json: bool,
) -> Result<u8, Failure> {
    let checks = protocol.checks(debate);
    if checks.is_empty() {
        return Err(Failure::input(format!("{} has nothing to check: leave --check away", protocol.name())));
    }
    let failed = checks.iter().any(|check| check.met == Some(false));
    match as_json {
        true => output::print_json(&checks.iter().map(|check| document(check, records)).collect())?,
        false => output::print(&text(&checks, records))?,
    }
    Ok(u8::from(failed))
}

fn document(check: &Check, records: &[Record]) -> Value {
    json!({
        "check": check.sentence,
        "met": check.met,
        "note": check.note,
        "log_lines": lines(check, records),
    })
}

fn text(checks: &[Check], records: &[Record]) -> String {
    const INDENT: usize = 10;
    let style = output::stdout_style();
    let mut text = String::new();
    for check in checks {
        let met = match check.met {
            Some(true) => style.good("met     "),
            Some(false) => style.bad("not met "),
            None => style.dim("-       "),
        };
        let lines = lines(check, records);
        let mut shown: Vec<String> = lines.iter().take(LINES_MAX).map(u64::to_string).collect();
        shown.extend((lines.len() > LINES_MAX).then(|| "...".to_owned()));
        let by = match shown.as_slice() {
            [] => String::new(),
            [line] if lines.len() == 1 => format!(" (line {line} of the log)"),
            _ => format!(" (lines {} of the log)", shown.join(", ")),
        };
        let note = if check.note.is_empty() { String::new() } else { format!(": {}", check.note) };
        let told = agon_report::clean(&format!("{}{note}{by}", check.sentence));
        text.push_str(&format!("{met}  {}\n", output::hang(&told, INDENT)));
    }
    text
}

/// The lines of the log, counted from 1 as in an export, where the asks that show it were answered.
fn lines(check: &Check, records: &[Record]) -> Vec<u64> {
    let shows = |record: &&Record| match &record.entry.event {
        Event::Replied { ask, .. } => check.shown_by.contains(ask),
        _ => false,
    };
    records.iter().filter(shows).map(|record| record.entry.seq + 1).collect()
}
