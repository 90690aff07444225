//! The verdict of `arena`.

mod convergence;
mod decision;
mod judgement;
mod material;
mod quality;
mod standing;

use serde_json::Value;

use super::wording::joined;
use super::{Verdict, at, list, string, words};

/// What was decided and how, with the answer; then, after the dissent, the votes and the judge, how the proposals came together, what
/// the trickster and the observer found, what was read and cited, and who was picked and how the ratings change. The full report adds
/// every final proposal and every critique.
pub(super) fn verdict(document: &Value, verdict: &Value, full: bool) -> Verdict {
    let told = Told { document, verdict, full };
    let detail = [
        told.vote(),
        told.judge(),
        told.rounds(),
        told.convergence(),
        told.trickster(),
        told.rhetoric(),
        told.context(),
        told.proposals(),
        told.critiques(),
        told.team(),
        told.ratings(),
    ];
    Verdict { lead: vec![told.decision()], detail: detail.into_iter().flatten().collect() }
}

/// A list in the short report ends here; the full report has all of it.
const ITEMS_MAX: usize = 6;

struct Told<'a> {
    document: &'a Value,
    verdict: &'a Value,
    full: bool,
}

impl Told<'_> {
    fn list(&self, pointer: &str) -> &[Value] {
        list(self.verdict, pointer)
    }

    fn flag(&self, pointer: &str) -> Option<bool> {
        at(self.verdict, pointer).as_bool()
    }

    /// An agent with its seat, by its label.
    fn seated(&self, label: &str) -> String {
        match self.document.get("labels").and_then(|labels| words(labels.get(label)?, "")) {
            Some(seat) => format!("{} ({seat})", agent(label)),
            None => agent(label),
        }
    }

    /// A seat with its label, by its id.
    fn labelled(&self, seat: &str) -> String {
        match super::facts::label_of(self.document, seat) {
            Some(label) => format!("{} ({seat})", agent(label)),
            None => seat.to_owned(),
        }
    }
}

/// An agent by its label. Whoever has none, such as the judge, is called by its name.
fn agent(label: &str) -> String {
    if label.chars().count() > 2 { super::heading_id(label) } else { format!("Agent {label}") }
}

/// Agents by their labels: "Agent A, Agent B and Agent C".
fn agents(labels: &[Value]) -> String {
    let named: Vec<String> = labels.iter().filter_map(Value::as_str).map(agent).collect();
    joined(&named)
}

/// A number at a pointer, with so many digits after the point.
fn figure(value: &Value, pointer: &str, digits: usize) -> Option<String> {
    at(value, pointer).as_f64().map(|number| format!("{number:.digits$}"))
}

/// A share in whole percent.
fn share(value: &Value, pointer: &str) -> Option<String> {
    at(value, pointer).as_f64().map(|share| format!("{:.0}%", 100.0 * share))
}

/// Texts at a pointer, whether they were given as one or as several.
fn texts(value: &Value, pointer: &str) -> Vec<String> {
    let given = at(value, pointer);
    let several = given.as_array().into_iter().flatten().filter_map(Value::as_str);
    several.chain(given.as_str()).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

/// Somebody's own name, for what has a label or a seat.
fn who(told: &Told<'_>, value: &Value) -> String {
    match words(value, "/label") {
        Some(label) => told.seated(label),
        None => told.labelled(&string(value, "/seat")),
    }
}
