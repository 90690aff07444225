//! Rule 13: no comparison of texts decides anything but equality and quotes. If every word that the seats say is renamed by a
//! bijection, into words of another script, every decision stays the same, for every protocol.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod play;

use std::collections::BTreeMap;

use agon_core::play::play as play_debate;
use agon_core::{Ask, Brief, Debate, DebateLimits, LogRecord, Protocol, Reply, RoundPositions};
use serde_json::Value;

use play::{cases, opened, played};

/// Words of made-up answers, and what they are renamed to.
const RENAMED: [(&str, &str); 20] = [
    ("cost", "成本"),
    ("risk", "风险"),
    ("time", "时间"),
    ("users", "Nutzer"),
    ("never", "总是"),
    ("always", "从不"),
    ("first", "zuletzt"),
    ("measure", "量度"),
    ("because", "obwohl"),
    ("sample", "样本"),
    ("plan", "behalte"),
    ("team", "团队"),
    ("change", "plane"),
    ("keep", "改变"),
    ("twice", "halb"),
    ("half", "两次"),
    ("later", "heute"),
    ("today", "später"),
    ("price", "价格"),
    ("load", "Last"),
];

fn renamed(text: &str) -> String {
    let (mut out, mut word) = (String::new(), String::new());
    for c in text.chars().chain(std::iter::once('\0')) {
        if c.is_ascii_alphabetic() {
            word.push(c);
            continue;
        }
        let new = RENAMED.iter().find(|(old, _)| *old == word).map_or(word.as_str(), |(_, new)| new);
        out.push_str(new);
        word.clear();
        if c != '\0' {
            out.push(c);
        }
    }
    out
}

/// A reply with its words renamed. What its schema lists, such as labels, ids and verdicts, is no word of the seat's own.
fn renamed_value(schema: &Value, value: &Value) -> Value {
    match value {
        Value::String(text) if !is_listed(schema) => renamed(text).into(),
        Value::Array(items) => {
            let entry = find(schema, "items").cloned().unwrap_or_default();
            items.iter().map(|item| renamed_value(&entry, item)).collect()
        }
        Value::Object(fields) => {
            let properties = find(schema, "properties").cloned().unwrap_or_default();
            let field = |(key, field): (&String, &Value)| {
                (key.clone(), renamed_value(properties.get(key).unwrap_or(&Value::Null), field))
            };
            fields.iter().map(field).collect::<serde_json::Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

fn is_listed(schema: &Value) -> bool {
    find(schema, "enum").is_some() || find(schema, "const").is_some()
}

/// What a schema says under a key, itself or in one of its alternatives.
fn find<'s>(schema: &'s Value, key: &str) -> Option<&'s Value> {
    let alternatives = ["anyOf", "oneOf"].into_iter().filter_map(|of| schema.get(of)?.as_array()).flatten();
    schema.get(key).or_else(|| alternatives.filter_map(|one| one.get(key)).next())
}

/// Plays the same debate again with every reply renamed.
fn played_renamed(protocol: &dyn Protocol, brief: &Brief, whole: &Debate) -> Vec<LogRecord> {
    let replies: BTreeMap<u32, &Reply> =
        whole.turns.iter().flat_map(|turn| turn.settled()).map(|(ask, reply)| (ask.id, reply)).collect();
    let mut answer = |_: &Debate, ask: &Ask| {
        let said = replies
            .get(&ask.id)
            .unwrap_or_else(|| panic!("ask {} is new: the debate took another way", ask.id));
        match (*said).clone() {
            Reply::Said { text, value, model, usage, cut_off, shortened } => {
                let schema = ask.schema.as_ref().map_or(&Value::Null, |schema| &schema.json);
                let value = value.map(|value| renamed_value(schema, &value));
                let text = value.as_ref().map_or_else(|| renamed(&text), Value::to_string);
                Reply::Said { text, value, model, usage, cut_off, shortened }
            }
            absent => absent,
        }
    };
    play_debate(protocol, opened(brief), &mut answer, &mut |_| {}).unwrap()
}

/// Everything that is decided, without the words.
fn decisions(protocol: &dyn Protocol, debate: &Debate) -> Vec<String> {
    let outcome = debate.outcome.as_ref().unwrap();
    let view = protocol.view(debate).unwrap();
    let mut all = vec![format!(
        "{:?} {:?} {} {:?} {:?} {} dissenters, {} warnings",
        outcome.status,
        outcome.termination,
        outcome.rounds_completed,
        outcome.fidelity,
        outcome.passed,
        outcome.dissent.len(),
        outcome.warnings.len(),
    )];
    all.extend(outcome.positions.iter().map(|held| format!("{} {:?}", held.seat, held.fate)));
    all.extend(view.votes.iter().map(|vote| format!("{} votes", vote.seat)));
    all.push(format!("{:?} {:?}", view.headline.score, view.positions.grouping()));
    let groups = |round: &RoundPositions| {
        let place = |name: &str| round.stands.iter().position(|other| other.position == name);
        let seat = |held: &agon_core::SeatPosition| {
            (held.seat.clone(), place(&held.position), held.is_unsorted, held.change.is_some())
        };
        let ruling = round.ruling.as_ref().map(|ruling| place(ruling));
        format!("round {} {:?} {ruling:?}", round.round, round.stands.iter().map(seat).collect::<Vec<_>>())
    };
    all.extend(view.positions.rounds.iter().map(groups));
    let flips = view.positions.flips();
    all.extend(flips.iter().map(|flip| {
        format!(
            "{} {} {} {:?} {}",
            flip.round,
            flip.seat,
            flip.evidenced,
            flip.toward_majority,
            flip.cited.len()
        )
    }));
    all
}

#[test]
fn renaming_every_word_by_a_bijection_changes_no_decision() {
    for (protocol, brief) in cases().into_iter().filter(|(_, brief)| brief.limits == DebateLimits::default())
    {
        for seed in 0..3 {
            let whole = Debate::from_records(&played(protocol, opened(&brief), seed)).unwrap();
            let name = protocol.info().name;
            let other = Debate::from_records(&played_renamed(protocol, &brief, &whole)).unwrap();
            assert_eq!(
                decisions(protocol, &other),
                decisions(protocol, &whole),
                "{name} seed {seed} {:?}",
                brief.options
            );
        }
    }
}

/// The test above shows something only if the words change and the quotes go with them.
#[test]
fn the_renaming_is_a_bijection() {
    let new: std::collections::BTreeSet<&str> = RENAMED.iter().map(|(_, new)| *new).collect();
    assert_eq!(new.len(), RENAMED.len());
    assert_eq!(renamed("never cost."), "总是 成本.");
}
