//! Asks for an answer line by line, and field by field if the answer has a JSON Schema.
//!
//! [`next_step`] is a pure function from the lines typed so far to what is shown next, or to the answer. It goes through the
//! form from the start each time, so nothing has to be remembered between lines, and `/again` just ignores earlier lines.
//! The assembled answer conforms to the schema, whatever is typed.

mod schema;

use agon_host::{clean_line, clean_text};
use serde_json::{Map, Value};

use super::terminal_prompt::TerminalInput;
use schema::{FieldSchema, FormFieldKind};

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormStep {
    /// Show this text and read a line.
    Ask(String),
    /// The answer: plain text, or JSON that conforms to the schema.
    Done(String),
    /// The person does not want to answer.
    Pass,
}

/// From the lines typed so far to what is shown next, or to the answer.
pub fn next_step(schema: Option<&Value>, typed: &[TerminalInput]) -> FormStep {
    let is_again = |typed: &TerminalInput| matches!(typed, TerminalInput::Line(line) if line.trim() == AGAIN);
    let start = typed.iter().rposition(is_again).map_or(0, |at| at + 1);
    let typed = typed.iter().skip(start);
    let mut form = AnswerForm { typed, shown: String::new(), has_read: false, path: Vec::new() };
    let filled = match schema {
        Some(schema) => {
            form.shown.push_str(FIELDS_INTRODUCTION);
            let value = form.ask_value(schema, EmptyLine::Rejected);
            value.map(|value| value.unwrap_or_default().to_string())
        }
        None => {
            form.shown.push_str(TEXT_INTRODUCTION);
            form.ask_long_text(None, None, EmptyLine::Rejected).map(Option::unwrap_or_default)
        }
    };
    match filled {
        Ok(answer) => FormStep::Done(answer),
        Err(FormStop::NeedsLine) => FormStep::Ask(form.shown),
        Err(FormStop::Passed) => FormStep::Pass,
    }
}

const SKIP: &str = "/skip";
const AGAIN: &str = "/again";
const TEXT_INTRODUCTION: &str = "\nYour answer may have several lines. A line with a single . ends it.\n\
                                 (On a line of its own, /skip passes and /again starts over.)\n";
const FIELDS_INTRODUCTION: &str = "\nYou are asked for each part of the answer. You do not need to write JSON.\n\
                                   (/skip passes, /again starts over.)\n";
/// A longer text may be typed over several lines.
const ONE_LINE_CHARS: u64 = 4_000;

/// Why the form is not filled in.
#[derive(Debug)]
enum FormStop {
    NeedsLine,
    Passed,
}

/// What an empty line means where a value is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EmptyLine {
    /// The value is required.
    Rejected,
    /// The value is left out.
    Omits,
    /// The list ends, unless it needs more items.
    EndsList { missing: u64 },
}

impl EmptyLine {
    fn is_allowed(self) -> bool {
        matches!(self, Self::Omits | Self::EndsList { missing: 0 })
    }
}

struct AnswerForm<'a> {
    typed: std::iter::Skip<std::slice::Iter<'a, TerminalInput>>,
    /// What is shown after the last line.
    shown: String,
    /// Whether any line was read.
    has_read: bool,
    /// The field that is being asked for.
    path: Vec<String>,
}

enum FormLine {
    Text(String),
    Empty,
    /// Ctrl-D.
    End,
}

impl AnswerForm<'_> {
    fn read_line(&mut self, prompt: &str) -> Result<FormLine, FormStop> {
        self.shown.push_str(prompt);
        let Some(typed) = self.typed.next() else { return Err(FormStop::NeedsLine) };
        self.shown.clear();
        let line = match typed {
            TerminalInput::End => {
                // Ctrl-D leaves the cursor after the prompt.
                self.shown.push('\n');
                return if self.has_read { Ok(FormLine::End) } else { Err(FormStop::Passed) };
            }
            TerminalInput::Line(line) => clean_text(line).trim_end().to_owned(),
        };
        self.has_read = true;
        match line.trim() {
            SKIP => Err(FormStop::Passed),
            "" => Ok(FormLine::Empty),
            _ => Ok(FormLine::Text(line)),
        }
    }

    /// Asks until `read` accepts a line. `None` for an empty line, if it is allowed.
    fn ask_until<T>(
        &mut self,
        prompt: &str,
        empty: EmptyLine,
        mut read: impl FnMut(&str) -> Result<T, String>,
    ) -> Result<Option<T>, FormStop> {
        let mut has_ended = false;
        loop {
            let line = self.read_line(prompt)?;
            let why = match (&line, empty) {
                (FormLine::Text(text), _) => match read(text.trim()) {
                    Ok(value) => return Ok(Some(value)),
                    Err(why) => why,
                },
                (_, empty) if empty.is_allowed() => return Ok(None),
                // A second Ctrl-D: the input may be closed.
                (FormLine::End, _) if has_ended => return Err(FormStop::Passed),
                (_, EmptyLine::EndsList { missing }) => format!("at least {missing} more must be here"),
                (_, EmptyLine::Rejected | EmptyLine::Omits) => {
                    "it cannot be left empty; type /skip to pass".to_owned()
                }
            };
            has_ended = matches!(line, FormLine::End);
            self.shown.push_str(&format!("    Please try again: {why}.\n"));
        }
    }

    /// A value that conforms to `schema`. `None` only if an empty line is allowed.
    fn ask_value(&mut self, schema: &Value, empty: EmptyLine) -> Result<Option<Value>, FormStop> {
        let field = FieldSchema::read(schema);
        // A required value that may be null is null if it is left empty.
        let empty_is_null = field.is_nullable && empty == EmptyLine::Rejected;
        let inner = if empty_is_null { EmptyLine::Omits } else { empty };
        let value = match &field.kind {
            // Nothing has to be asked, so a list gets as few of these items as it needs.
            FormFieldKind::Fixed(value) => {
                Some(value.clone()).filter(|_| empty != EmptyLine::EndsList { missing: 0 })
            }
            FormFieldKind::Object => self.ask_object(field.schema, inner)?,
            FormFieldKind::List => self.ask_list(field.schema, inner)?,
            FormFieldKind::OneOf(kinds) => self.ask_one_of(kinds, inner)?,
            _ => self.ask_scalar(&field, inner)?,
        };
        Ok(value.or(empty_is_null.then_some(Value::Null)))
    }

    fn ask_object(&mut self, schema: &Value, empty: EmptyLine) -> Result<Option<Value>, FormStop> {
        if !self.path.is_empty() {
            self.show_heading(schema.get("description").and_then(Value::as_str));
            if empty.is_allowed() {
                let wanted = self.ask_until("  add it? y, or an empty line for no> ", empty, parse_yes_no)?;
                if wanted != Some(true) {
                    return Ok(None);
                }
            }
        }
        let mut object = Map::new();
        for (name, field, empty) in schema::fields(schema) {
            self.path.push(name.replace('_', " "));
            let value = self.ask_value(field, empty)?;
            self.path.pop();
            object.extend(value.map(|value| (name.to_owned(), value)));
        }
        Ok(Some(Value::Object(object)))
    }

    fn ask_list(&mut self, schema: &Value, empty: EmptyLine) -> Result<Option<Value>, FormStop> {
        let (least, most) = (limit(schema, "minItems").unwrap_or(0), limit(schema, "maxItems"));
        let most = most.unwrap_or(u64::MAX);
        let is_unique = schema.get("uniqueItems").and_then(Value::as_bool).unwrap_or(false);
        let item_schema = schema.get("items").unwrap_or(&schema::ANY_VALUE);
        let can_omit = empty.is_allowed();
        let mut items: Vec<Value> = Vec::new();
        self.show_heading(schema.get("description").and_then(Value::as_str));
        self.shown.push_str(&format!("    {}\n", list_bounds(least, most)));
        while (items.len() as u64) < most {
            let missing = least.saturating_sub(items.len() as u64);
            let missing = if can_omit && items.is_empty() { 0 } else { missing };
            let lines_left = self.typed.len();
            self.path.push((items.len() + 1).to_string());
            let item = self.ask_value(item_schema, EmptyLine::EndsList { missing })?;
            self.path.pop();
            match item {
                None => break,
                // Nothing was asked, so the same item would come again without end.
                Some(item) if is_unique && items.contains(&item) && self.typed.len() == lines_left => break,
                Some(item) if is_unique && items.contains(&item) => {
                    self.shown.push_str("    That is in the list already.\n");
                }
                Some(item) => items.push(item),
            }
        }
        Ok((!(can_omit && items.is_empty())).then_some(Value::Array(items)))
    }

    fn ask_one_of(&mut self, kinds: &[&Value], empty: EmptyLine) -> Result<Option<Value>, FormStop> {
        let titles: Vec<Value> =
            kinds.iter().enumerate().map(|(at, kind)| schema::title(kind, at).into()).collect();
        self.show_heading(None);
        self.shown.push_str(&numbered_list(&titles, &[]));
        let chosen = self.ask_until("  which> ", empty, |line| parse_choice(&titles, line))?;
        match chosen.and_then(|at| kinds.get(at)) {
            Some(kind) => self.ask_value(kind, EmptyLine::Rejected),
            None => Ok(None),
        }
    }

    /// A value that is neither an object nor a list.
    fn ask_scalar(&mut self, field: &FieldSchema<'_>, empty: EmptyLine) -> Result<Option<Value>, FormStop> {
        let schema = field.schema;
        let is_item = matches!(empty, EmptyLine::EndsList { .. });
        let number = self.path.last().filter(|_| is_item).cloned();
        if number.is_none() {
            self.show_heading(field.description);
        }
        let prompt = |what: &str| match (&number, empty) {
            (Some(number), _) => format!("  {number}> "),
            (None, EmptyLine::Omits) => format!("  {what}, or an empty line for none> "),
            (None, _) => format!("  {what}> "),
        };
        match &field.kind {
            FormFieldKind::Choice(values, descriptions) => {
                self.shown.push_str(&numbered_list(values, descriptions));
                self.ask_until(&prompt("number or word"), empty, |line| {
                    parse_choice(values, line).map(|at| values.get(at).cloned().unwrap_or_default())
                })
            }
            FormFieldKind::YesNo => {
                self.ask_until(&prompt("y or n"), empty, |line| parse_yes_no(line).map(Value::Bool))
            }
            FormFieldKind::Number { is_integer } => {
                let what = number_range(schema, *is_integer);
                self.ask_until(&prompt(&what), empty, |line| parse_number(schema, *is_integer, line))
            }
            FormFieldKind::Text => {
                let (least, most) = (limit(schema, "minLength"), limit(schema, "maxLength"));
                if !is_item && most.is_some_and(|most| most > ONE_LINE_CHARS) {
                    return Ok(self.ask_long_text(least, most, empty)?.map(Value::from));
                }
                self.ask_until(&prompt("one line"), empty, |line| {
                    check_length(line, least, most).map(|()| Value::from(line))
                })
            }
            _ => self.ask_until(&prompt("JSON, on one line"), empty, |line| {
                serde_json::from_str(line).map_err(|why| format!("that is not JSON ({why})"))
            }),
        }
    }

    /// A text over several lines. `None` if it was left out.
    fn ask_long_text(
        &mut self,
        least: Option<u64>,
        most: Option<u64>,
        empty: EmptyLine,
    ) -> Result<Option<String>, FormStop> {
        let can_omit = empty.is_allowed();
        if !self.path.is_empty() {
            let hint = if can_omit { "; an empty line leaves it out" } else { "" };
            self.shown.push_str(&format!("    (several lines; a line with a single . ends it{hint})\n"));
        }
        let (mut lines, mut has_ended) = (Vec::new(), false);
        loop {
            let is_complete = match self.read_line("> ")? {
                FormLine::Text(line) if line.trim() == "." => true,
                FormLine::Text(line) => {
                    lines.push(line);
                    false
                }
                FormLine::Empty if lines.is_empty() => can_omit,
                FormLine::Empty => {
                    lines.push(String::new());
                    false
                }
                // A second Ctrl-D: the input may be closed.
                FormLine::End if lines.is_empty() && has_ended => return Err(FormStop::Passed),
                FormLine::End => {
                    has_ended = true;
                    true
                }
            };
            if !is_complete {
                continue;
            }
            let text = lines.join("\n").trim_end().to_owned();
            let why = match text.is_empty() {
                true if can_omit => return Ok(None),
                true => "nothing was typed; type /skip to pass".to_owned(),
                false => match check_length(&text, least, most) {
                    Ok(()) => return Ok(Some(text)),
                    Err(why) => why,
                },
            };
            self.shown.push_str(&format!("    Please type it again: {why}.\n"));
            lines.clear();
        }
    }

    /// Which field is asked for, and its description.
    fn show_heading(&mut self, description: Option<&str>) {
        if !self.path.is_empty() {
            self.shown.push_str(&format!("\n* {}\n", self.path.join(" / ")));
        }
        if let Some(description) = description {
            self.shown.push_str(&format!("    {}\n", clean_line(description)));
        }
    }
}

fn list_bounds(least: u64, most: u64) -> String {
    let bounds = match (least, most) {
        (0, u64::MAX) => "as many as you like".to_owned(),
        (0, most) => format!("at most {most}"),
        (least, u64::MAX) => format!("at least {least}"),
        (least, most) if least == most => format!("exactly {least}"),
        (least, most) => format!("{least} to {most}"),
    };
    format!("(a list, {bounds}; an empty line ends it)")
}

/// The values, numbered, with the descriptions of those that have one.
fn numbered_list(values: &[Value], descriptions: &[Option<&str>]) -> String {
    let descriptions = descriptions.iter().copied().chain(std::iter::repeat(None));
    let lines = values.iter().zip(descriptions).enumerate().map(|(at, (value, description))| {
        let description = description.map_or_else(String::new, |text| format!(" - {}", clean_line(text)));
        format!("    {}. {}{description}\n", at + 1, clean_line(&word(value)))
    });
    lines.collect()
}

/// The index of the value that a line names, by its word or else by its number.
fn parse_choice(values: &[Value], line: &str) -> Result<usize, String> {
    let plain = |text: &str| text.to_lowercase().replace(['_', '-'], " ");
    let exact = values.iter().position(|value| word(value) == line);
    let similar = || values.iter().position(|value| plain(&word(value)) == plain(line));
    let numbered = || line.parse::<usize>().ok()?.checked_sub(1).filter(|at| *at < values.len());
    let found = exact.or_else(similar).or_else(numbered);
    found.ok_or_else(|| format!("type a number from 1 to {}, or one of the words", values.len()))
}

fn parse_yes_no(line: &str) -> Result<bool, String> {
    match line.to_lowercase().as_str() {
        "y" | "yes" | "true" => Ok(true),
        "n" | "no" | "false" => Ok(false),
        _ => Err("type y for yes or n for no".into()),
    }
}

fn parse_number(schema: &Value, is_integer: bool, line: &str) -> Result<Value, String> {
    let wrong = || format!("type {}", number_range(schema, is_integer));
    // `1,000` is one to some readers and a thousand to others.
    if line.contains(',') {
        return Err(format!("type {}, with a point and no comma", number_range(schema, is_integer)));
    }
    let whole = line.parse::<i64>().ok();
    let real = line.parse::<f64>().ok().filter(|real| real.is_finite() && (whole.is_some() || !is_integer));
    let real = real.ok_or_else(wrong)?;
    let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
    let is_in_range = limit("minimum").is_none_or(|least| real >= least)
        && limit("maximum").is_none_or(|most| real <= most)
        && limit("exclusiveMinimum").is_none_or(|least| real > least)
        && limit("exclusiveMaximum").is_none_or(|most| real < most);
    if !is_in_range {
        return Err(wrong());
    }
    match limit("multipleOf") {
        Some(step) if real % step != 0.0 => Err(format!("type a multiple of {step}")),
        _ => Ok(whole.map_or_else(|| Value::from(real), Value::from)),
    }
}

fn number_range(schema: &Value, is_integer: bool) -> String {
    // Prints `1.0` as 1.
    let short = |number: f64| number.to_string();
    let limit = |key: &str, other: &str| {
        schema.get(key).or_else(|| schema.get(other)).and_then(Value::as_f64).map(short)
    };
    let what = if is_integer { "a whole number" } else { "a number" };
    match (limit("minimum", "exclusiveMinimum"), limit("maximum", "exclusiveMaximum")) {
        (Some(least), Some(most)) => format!("{what} from {least} to {most}"),
        (Some(least), None) => format!("{what}, at least {least}"),
        (None, Some(most)) => format!("{what}, at most {most}"),
        (None, None) => what.to_owned(),
    }
}

fn check_length(text: &str, least: Option<u64>, most: Option<u64>) -> Result<(), String> {
    let chars = text.chars().count() as u64;
    match (least, most) {
        (Some(least), _) if chars < least => {
            Err(format!("it has {chars} characters, and at least {least} are needed"))
        }
        (_, Some(most)) if chars > most => {
            Err(format!("it has {chars} characters, and at most {most} are allowed"))
        }
        _ => Ok(()),
    }
}

fn limit(schema: &Value, key: &str) -> Option<u64> {
    schema.get(key).and_then(Value::as_u64)
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests;
