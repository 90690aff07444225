//! Asks for an answer line by line, and field by field where it has a JSON Schema.
//!
//! [`step`] is a pure function from the lines typed so far to what is shown next, or to the answer. It goes through the form
//! from its beginning each time, so that nothing has to be remembered between two lines, and `/again` only means to forget
//! the lines before it. What it assembles keeps the schema whatever is typed.

mod field;
mod shape;

use serde_json::{Map, Value};

use super::terminal::Typed;
use agon_host::clean_text as clean;
use shape::{Kind, Shape};

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Show this and read a line.
    Ask(String),
    /// The answer: plain text, or JSON that keeps the schema.
    Done(String),
    /// The person does not want to answer.
    Pass,
}

/// From the lines typed so far to what is shown next, or to the answer.
pub fn step(schema: Option<&Value>, typed: &[Typed]) -> Step {
    let is_again = |typed: &Typed| matches!(typed, Typed::Line(line) if line.trim() == AGAIN);
    let fresh = typed.iter().rposition(is_again).map_or(0, |at| at + 1);
    let mut form =
        Form { typed: typed.iter().skip(fresh), shown: String::new(), heard: false, path: Vec::new() };
    let filled = match schema {
        Some(schema) => {
            form.shown.push_str(FIELDS);
            form.value(schema, Need::Must).map(|value| value.unwrap_or_default().to_string())
        }
        None => {
            form.shown.push_str(FREELY);
            form.text(None, None, Need::Must).map(|value| value.as_str().unwrap_or_default().to_owned())
        }
    };
    match filled {
        Ok(answer) => Step::Done(answer),
        Err(Stop::Wait) => Step::Ask(form.shown),
        Err(Stop::Pass) => Step::Pass,
    }
}

const SKIP: &str = "/skip";
const AGAIN: &str = "/again";
const FREELY: &str = "\nYour answer, over as many lines as you like. A line with a single . ends it.\n\
                      (/skip on a line of its own: you pass. /again: from the start.)\n";
const FIELDS: &str = "\nYou are asked for each part of the answer; you need not write JSON.\n\
                      (/skip: you pass. /again: from the start.)\n";

/// Why the form is not filled in.
#[derive(Debug)]
enum Stop {
    /// It waits for a line.
    Wait,
    Pass,
}

/// What an empty line means for a part of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    /// It must be there.
    Must,
    /// It can be left out.
    CanSkip,
    /// It ends a list, unless so many items are still missing.
    Item { missing: u64 },
}

impl Need {
    fn can_skip(self) -> bool {
        matches!(self, Self::CanSkip | Self::Item { missing: 0 })
    }
}

/// A form on its way through the lines.
struct Form<'a> {
    typed: std::iter::Skip<std::slice::Iter<'a, Typed>>,
    /// What was shown since the last line.
    shown: String,
    /// Whether anything was typed.
    heard: bool,
    /// Where in the answer the form is.
    path: Vec<String>,
}

/// One line as the form takes it.
enum Line {
    Text(String),
    Empty,
    /// Ctrl-D.
    End,
}

impl Form<'_> {
    /// The next line, after everything that is to be shown before it.
    fn line(&mut self, prompt: &str) -> Result<Line, Stop> {
        self.shown.push_str(prompt);
        let Some(typed) = self.typed.next() else { return Err(Stop::Wait) };
        self.shown.clear();
        let line = match typed {
            Typed::End => {
                // The cursor stands behind the question.
                self.shown.push('\n');
                return if self.heard { Ok(Line::End) } else { Err(Stop::Pass) };
            }
            Typed::Line(line) => clean(line).trim_end().to_owned(),
        };
        self.heard = true;
        match line.trim() {
            SKIP => Err(Stop::Pass),
            "" => Ok(Line::Empty),
            _ => Ok(Line::Text(line)),
        }
    }

    /// Asks until `read` takes a line. `None`: an empty line, where one may be typed.
    fn until<T>(
        &mut self,
        prompt: &str,
        need: Need,
        mut read: impl FnMut(&str) -> Result<T, String>,
    ) -> Result<Option<T>, Stop> {
        let mut ended = false;
        loop {
            let line = self.line(prompt)?;
            let why = match (&line, need) {
                (Line::Text(text), _) => match read(text.trim()) {
                    Ok(value) => return Ok(Some(value)),
                    Err(why) => why,
                },
                (_, need) if need.can_skip() => return Ok(None),
                // The input may have ended for good.
                (Line::End, _) if ended => return Err(Stop::Pass),
                (_, Need::Item { missing }) => format!("at least {missing} more must be here"),
                (_, Need::Must | Need::CanSkip) => {
                    "it cannot be left empty; /skip if you want to pass".to_owned()
                }
            };
            ended = matches!(line, Line::End);
            self.shown.push_str(&format!("    Please try again: {why}.\n"));
        }
    }

    /// A value that keeps `schema`; `None` only where it need not be there.
    fn value(&mut self, schema: &Value, need: Need) -> Result<Option<Value>, Stop> {
        let shape = Shape::of(schema);
        // What is empty can be said with null where it must be there.
        let as_null = shape.nullable && need == Need::Must;
        let inner = if as_null { Need::CanSkip } else { need };
        let value = match &shape.kind {
            // A list of what needs no asking has no more of it than it must.
            Kind::Fixed(value) => Some(value.clone()).filter(|_| need != Need::Item { missing: 0 }),
            Kind::Fields => self.fields(shape.schema, inner)?,
            Kind::List => self.list(shape.schema, inner)?,
            Kind::Either(kinds) => self.either(kinds, inner)?,
            _ => self.scalar(&shape, inner)?,
        };
        Ok(value.or(as_null.then_some(Value::Null)))
    }

    fn fields(&mut self, schema: &Value, need: Need) -> Result<Option<Value>, Stop> {
        if !self.path.is_empty() && !self.wants_one(schema, need)? {
            return Ok(None);
        }
        let mut object = Map::new();
        for (name, field, need) in shape::fields(schema) {
            self.path.push(name.replace('_', " "));
            let value = self.value(field, need)?;
            self.path.pop();
            object.extend(value.map(|value| (name.to_owned(), value)));
        }
        Ok(Some(Value::Object(object)))
    }

    fn list(&mut self, schema: &Value, need: Need) -> Result<Option<Value>, Stop> {
        let bound = |key: &str| schema.get(key).and_then(Value::as_u64);
        let (least, most) = (bound("minItems").unwrap_or(0), bound("maxItems").unwrap_or(u64::MAX));
        let unique = schema.get("uniqueItems").and_then(Value::as_bool).unwrap_or(false);
        let item = schema.get("items").unwrap_or(&shape::ANYTHING);
        let can_skip = need.can_skip();
        let mut items: Vec<Value> = Vec::new();
        self.head(schema);
        self.shown.push_str(&format!("    {}\n", told_bounds(least, most)));
        while (items.len() as u64) < most {
            let missing = least.saturating_sub(items.len() as u64);
            let missing = if can_skip && items.is_empty() { 0 } else { missing };
            let lines_left = self.typed.len();
            self.path.push((items.len() + 1).to_string());
            let next = self.value(item, Need::Item { missing })?;
            self.path.pop();
            match next {
                None => break,
                // It needed no asking and would be the same for ever.
                Some(again) if unique && items.contains(&again) && self.typed.len() == lines_left => break,
                Some(again) if unique && items.contains(&again) => {
                    self.shown.push_str("    That is in the list already.\n");
                }
                Some(next) => items.push(next),
            }
        }
        Ok((!(can_skip && items.is_empty())).then_some(Value::Array(items)))
    }

    /// One of several kinds of values.
    fn either(&mut self, kinds: &[&Value], need: Need) -> Result<Option<Value>, Stop> {
        let names: Vec<String> = kinds.iter().enumerate().map(|(at, kind)| shape::title(kind, at)).collect();
        let choices: Vec<Value> = names.iter().map(|name| Value::from(name.as_str())).collect();
        self.place();
        self.shown.push_str(&field::listed(&choices, &[]));
        let chosen = self.until("  which> ", need, |line| field::choice(&choices, line))?;
        match chosen.and_then(|at| kinds.get(at)) {
            Some(kind) => self.value(kind, Need::Must),
            None => Ok(None),
        }
    }

    /// Whether an object that need not be there is wanted.
    fn wants_one(&mut self, schema: &Value, need: Need) -> Result<bool, Stop> {
        self.head(schema);
        if !need.can_skip() {
            return Ok(true);
        }
        let wanted = self.until("  add it? y, or an empty line for no> ", need, field::yes_or_no)?;
        Ok(wanted.unwrap_or(false))
    }

    /// Where the form is, and what is to be said there.
    fn head(&mut self, schema: &Value) {
        self.place();
        if let Some(about) = schema.get("description").and_then(Value::as_str) {
            self.shown.push_str(&format!("    {}\n", agon_host::clean_line(about)));
        }
    }

    fn place(&mut self) {
        if !self.path.is_empty() {
            self.shown.push_str(&format!("\n* {}\n", self.path.join(" / ")));
        }
    }
}

fn told_bounds(least: u64, most: u64) -> String {
    let bounds = match (least, most) {
        (0, u64::MAX) => "as many as you like".to_owned(),
        (0, most) => format!("at most {most}"),
        (least, u64::MAX) => format!("at least {least}"),
        (least, most) if least == most => format!("exactly {least}"),
        (least, most) => format!("{least} to {most}"),
    };
    format!("(a list, {bounds}; an empty line ends it)")
}

#[cfg(test)]
mod tests;
