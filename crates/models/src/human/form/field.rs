//! One value of an answer: a choice, a yes or no, a number, a text.

use serde_json::Value;

use super::shape::{Kind, Shape};
use super::{Form, Line, Need, Stop};
use agon_host::clean_line as one_line;

/// A text that may be longer than this is typed over several lines.
const ONE_LINE_CHARS: u64 = 4_000;

impl Form<'_> {
    /// A value that is no object and no list.
    pub(super) fn scalar(&mut self, shape: &Shape<'_>, need: Need) -> Result<Option<Value>, Stop> {
        let schema = shape.schema;
        let in_a_list = matches!(need, Need::Item { .. });
        let number = self.path.last().filter(|_| in_a_list).cloned();
        if number.is_none() {
            self.place();
            if let Some(about) = shape.about {
                self.shown.push_str(&format!("    {}\n", one_line(about)));
            }
        }
        let prompt = |what: &str| match (&number, need) {
            (Some(number), _) => format!("  {number}> "),
            (None, Need::CanSkip) => format!("  {what}, or an empty line for none> "),
            (None, _) => format!("  {what}> "),
        };
        match &shape.kind {
            Kind::Choice(values, told) => {
                self.shown.push_str(&listed(values, told));
                self.until(&prompt("number or word"), need, |line| {
                    choice(values, line).map(|at| values.get(at).cloned().unwrap_or_default())
                })
            }
            Kind::YesNo => self.until(&prompt("y or n"), need, |line| yes_or_no(line).map(Value::Bool)),
            Kind::Number { integer } => {
                let what = told_range(schema, *integer);
                self.until(&prompt(&what), need, |line| figure(schema, *integer, line))
            }
            Kind::Text => {
                let (least, most) = (bound(schema, "minLength"), bound(schema, "maxLength"));
                if !in_a_list && most.is_some_and(|most| most > ONE_LINE_CHARS) {
                    let text = self.text(least, most, need)?;
                    return Ok(Some(text).filter(|text| !text.is_null()));
                }
                self.until(&prompt("one line"), need, |line| fitting(line, least, most).map(Value::from))
            }
            _ => self.until(&prompt("JSON, in one line"), need, |line| {
                serde_json::from_str(line).map_err(|why| format!("that is no JSON ({why})"))
            }),
        }
    }

    /// A text over several lines; null where it may be left out and was.
    pub(super) fn text(&mut self, least: Option<u64>, most: Option<u64>, need: Need) -> Result<Value, Stop> {
        let can_skip = need.can_skip();
        if !self.path.is_empty() {
            let skip = if can_skip { "; an empty line leaves it out" } else { "" };
            self.shown.push_str(&format!("    (several lines; a line with a single . ends it{skip})\n"));
        }
        let (mut lines, mut ended) = (Vec::new(), false);
        loop {
            let line = self.line("> ")?;
            let over = match line {
                Line::Text(line) if line.trim() == "." => true,
                Line::Text(line) => {
                    lines.push(line);
                    false
                }
                Line::Empty if lines.is_empty() => can_skip,
                Line::Empty => {
                    lines.push(String::new());
                    false
                }
                Line::End if lines.is_empty() && ended => return Err(Stop::Pass),
                Line::End => {
                    ended = true;
                    true
                }
            };
            if !over {
                continue;
            }
            let text = lines.join("\n").trim_end().to_owned();
            let why = match text.is_empty() {
                true if can_skip => return Ok(Value::Null),
                true => "nothing was typed; /skip if you want to pass".to_owned(),
                false => match fitting(&text, least, most) {
                    Ok(text) => return Ok(Value::from(text)),
                    Err(why) => why,
                },
            };
            self.shown.push_str(&format!("    Please type it again: {why}.\n"));
            lines.clear();
        }
    }
}

/// The values, numbered, each with what it means where that is known.
pub(super) fn listed(values: &[Value], told: &[Option<&str>]) -> String {
    let told = told.iter().copied().chain(std::iter::repeat(None));
    let lines = values.iter().zip(told).enumerate().map(|(at, (value, told))| {
        let told = told.map_or_else(String::new, |told| format!(" - {}", one_line(told)));
        format!("    {}. {}{told}\n", at + 1, one_line(&word(value)))
    });
    lines.collect()
}

/// The place of the value that a line names, by its word or else by its number.
pub(super) fn choice(values: &[Value], line: &str) -> Result<usize, String> {
    let plain = |text: &str| text.to_lowercase().replace(['_', '-'], " ");
    let exact = values.iter().position(|value| word(value) == line);
    let alike = || values.iter().position(|value| plain(&word(value)) == plain(line));
    let numbered = || line.parse::<usize>().ok()?.checked_sub(1).filter(|at| *at < values.len());
    let found = exact.or_else(alike).or_else(numbered);
    found.ok_or_else(|| format!("it is a number from 1 to {}, or one of the words", values.len()))
}

pub(super) fn yes_or_no(line: &str) -> Result<bool, String> {
    match line.to_lowercase().as_str() {
        "y" | "yes" | "true" => Ok(true),
        "n" | "no" | "false" => Ok(false),
        _ => Err("it is y for yes or n for no".into()),
    }
}

fn figure(schema: &Value, integer: bool, line: &str) -> Result<Value, String> {
    let wrong = || format!("it is {}", told_range(schema, integer));
    // `1,000` is one to some and a thousand to others.
    if line.contains(',') {
        return Err(format!("it is {}, written with a point and no comma", told_range(schema, integer)));
    }
    let whole = line.parse::<i64>().ok();
    let real = line.parse::<f64>().ok().filter(|real| real.is_finite() && (whole.is_some() || !integer));
    let real = real.ok_or_else(wrong)?;
    let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
    let keeps = limit("minimum").is_none_or(|least| real >= least)
        && limit("maximum").is_none_or(|most| real <= most)
        && limit("exclusiveMinimum").is_none_or(|least| real > least)
        && limit("exclusiveMaximum").is_none_or(|most| real < most);
    if !keeps {
        return Err(wrong());
    }
    match limit("multipleOf") {
        Some(step) if real % step != 0.0 => Err(format!("it is a multiple of {step}")),
        _ => Ok(whole.map_or_else(|| Value::from(real), Value::from)),
    }
}

fn told_range(schema: &Value, integer: bool) -> String {
    let limit =
        |key: &str, other: &str| schema.get(key).or_else(|| schema.get(other)).filter(|n| n.is_number());
    let what = if integer { "a whole number" } else { "a number" };
    match (limit("minimum", "exclusiveMinimum"), limit("maximum", "exclusiveMaximum")) {
        (Some(least), Some(most)) => format!("{what} from {} to {}", short(least), short(most)),
        (Some(least), None) => format!("{what}, at least {}", short(least)),
        (None, Some(most)) => format!("{what}, at most {}", short(most)),
        (None, None) => what.to_owned(),
    }
}

/// `1.0` is 1 to a person.
fn short(number: &Value) -> String {
    number.as_f64().map_or_else(|| number.to_string(), |real| real.to_string())
}

fn fitting(text: &str, least: Option<u64>, most: Option<u64>) -> Result<String, String> {
    let chars = text.chars().count() as u64;
    match (least, most) {
        (Some(least), _) if chars < least => {
            Err(format!("it has {chars} characters, and at least {least} are needed"))
        }
        (_, Some(most)) if chars > most => Err(format!("it has {chars} characters, and at most {most} fit")),
        _ => Ok(text.to_owned()),
    }
}

fn bound(schema: &Value, key: &str) -> Option<u64> {
    schema.get(key).and_then(Value::as_u64)
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
