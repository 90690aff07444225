//! Every word that was said, from the log.

use agon_core::{Asked, Debate, Interjection, Reply, Turn};
use serde_json::Value;

use super::facts::{heading_id, in_a_round, label_for, own_name, place_of, why_absent};
use super::{Block, Fold, Item, Section, facts, generic, heading};
use crate::figures::seconds;

/// One section for each phase, with what people said in between.
pub(super) fn sections(document: &Value, debate: &Debate) -> Vec<Section> {
    let mut sections = Vec::new();
    for (place, turn) in debate.turns.iter().enumerate() {
        sections.extend(interjected(debate.interjections.iter().filter(|said| said.after == place)));
        sections.push(turn_section(document, debate, turn));
    }
    sections.extend(interjected(debate.interjections.iter().filter(|said| said.after >= debate.turns.len())));
    sections
}

/// The same of the asks that are wanted alone, without the phases that have none.
pub(crate) fn sections_of(
    document: &Value,
    debate: &Debate,
    wanted: &dyn Fn(&Turn, &Asked) -> bool,
) -> Vec<Section> {
    let kept = |turn: &Turn| {
        let mut kept = turn.clone();
        let asked = turn.asks.iter().zip(&turn.replies).filter(|(ask, _)| wanted(turn, ask));
        (kept.asks, kept.replies) = asked.map(|(ask, reply)| (ask.clone(), reply.clone())).unzip();
        (!kept.asks.is_empty()).then(|| turn_section(document, debate, &kept))
    };
    debate.turns.iter().filter_map(kept).collect()
}

fn interjected<'a>(said: impl Iterator<Item = &'a Interjection>) -> Option<Section> {
    let items: Vec<Item> =
        said.map(|said| Item { who: Some(said.by.clone()), text: said.text.clone(), note: None }).collect();
    (!items.is_empty()).then(|| Section::new("turn", "From the floor", vec![Block::Items(items)]))
}

fn turn_section(document: &Value, debate: &Debate, turn: &Turn) -> Section {
    let name = named(&debate.brief.protocol, &turn.phase.name);
    let round = turn.phase.round;
    let in_round = round > 0 && in_a_round(&turn.phase.name);
    let title = if in_round { format!("Round {round}: {}", lower_first(&name)) } else { name };
    let blocks = turn
        .asks
        .iter()
        .zip(&turn.replies)
        .map(|(ask, reply)| speech(document, debate, ask, reply.as_ref()))
        .collect();
    let mut section = Section::new("turn", title, blocks);
    section.fold = if in_round { Fold::Open } else { Fold::Closed };
    section
}

/// What a phase is called.
pub(crate) fn named(protocol: &str, phase: &str) -> String {
    title(protocol, phase).map_or_else(|| heading(phase), str::to_owned)
}

/// Phases whose names say more with another word.
fn title(protocol: &str, phase: &str) -> Option<&'static str> {
    if protocol == "arena" {
        return in_arena(phase);
    }
    match own_name(phase) {
        "answer" if phase != "answer" => Some("First answers of those who join"),
        "answer" => Some("First answers"),
        "compare" => Some("Whether the two answers are the same"),
        "position" | "rebuttal" | "final" if phase.contains('/') => of_judges(phase),
        "debate" => Some("Arguments"),
        "moderate" => Some("The moderator's assessment"),
        "evaluate" => Some("Cross-evaluation"),
        "position" => Some("Positions"),
        "rebuttal" => Some("Rebuttals"),
        "final" => Some("Final statements"),
        "explore" => Some("What the explorers found"),
        "r1" => Some("Verdicts, each on its own"),
        "restate" => Some("Restatements"),
        "r2" => Some("Verdicts after reading the others"),
        "opening" => Some("Opening statements"),
        "challenge" => Some("Cross-examination"),
        "exchange" => Some("Peer exchange"),
        "intervene" => Some("Answers to the moderator"),
        "verdict" => Some("Votes"),
        _ => None,
    }
}

/// The statements of judges who follow debaters.
fn of_judges(phase: &str) -> Option<&'static str> {
    match own_name(phase) {
        "position" => Some("The judges' positions"),
        "rebuttal" => Some("The judges' rebuttals"),
        _ => Some("The judges' final statements"),
    }
}

fn in_arena(phase: &str) -> Option<&'static str> {
    match phase {
        "context" => Some("What was looked up"),
        "propose" => Some("Proposals"),
        "critique" => Some("Critiques"),
        "revise" => Some("Revisions"),
        "compare" => Some("How alike the proposals are"),
        "challenge" => Some("Answers to the trickster"),
        "refine" => Some("Final refinement"),
        "vote" => Some("Votes"),
        "judge" => Some("The judge's scores"),
        _ => None,
    }
}

pub(super) fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// Who was asked, in a few words: by the label, else by the seat.
pub(crate) fn asked_of(document: &Value, ask: &Asked) -> String {
    let about = ask.about.as_ref().map_or(String::new(), |about| format!(" on {about}"));
    let label = ask.label.clone().or_else(|| label_for(document, &ask.seat));
    format!("{}{about}", label.map_or_else(|| heading_id(&ask.seat), |label| facts::named(document, &label)))
}

/// Who spoke: the model that really did, where somebody did. The seat behind a label is named only once the debate is over.
fn who(document: &Value, debate: &Debate, ask: &Asked, reply: Option<&Reply>) -> String {
    let model = match reply {
        Some(Reply::Said { model, .. }) => model,
        _ => &ask.model,
    };
    let about = ask.about.as_ref().map_or(String::new(), |about| format!(" on {about}"));
    let revealed = debate.outcome.is_some();
    let shown = match &ask.label {
        Some(label) if revealed => format!("{label} ({}, {model})", ask.seat),
        Some(label) => label.clone(),
        None => match label_for(document, &ask.seat) {
            Some(label) if revealed => format!("{label} ({}, {model})", ask.seat),
            _ if revealed => format!("{} ({model})", heading_id(&ask.seat)),
            _ => heading_id(&ask.seat),
        },
    };
    format!("{shown}{about}")
}

fn speech(document: &Value, debate: &Debate, ask: &Asked, reply: Option<&Reply>) -> Block {
    let title = who(document, debate, ask, reply);
    // The order of the seats says no more than their labels do while those are kept.
    let place = match &ask.label {
        Some(label) if debate.outcome.is_none() => label.bytes().map(usize::from).sum(),
        _ => place_of(document, &ask.seat),
    };
    let (badges, blocks) = match reply {
        None => (vec!["no answer yet".into()], Vec::new()),
        Some(Reply::Absent { why, detail }) => {
            let blocks = if detail.is_empty() { Vec::new() } else { vec![Block::Line(detail.clone())] };
            (vec![format!("absent: {}", why_absent(why.as_str()))], blocks)
        }
        Some(Reply::Said { text, value, usage, shortened, .. }) => {
            let (mut badges, blocks) = said(text, value.as_ref());
            badges.extend(shortened.as_ref().map(|left| format!("did not read {}", left.left_out_of())));
            badges.extend((usage.latency_ms > 0).then(|| seconds(usage.latency_ms)));
            (badges, blocks)
        }
    };
    Block::Speech { place, title, badges, blocks }
}

fn said(text: &str, value: Option<&Value>) -> (Vec<String>, Vec<Block>) {
    match value {
        None => (Vec::new(), vec![Block::Prose(text.to_owned())]),
        Some(Value::Object(fields)) => {
            let mut fields = fields.clone();
            let badges = generic::badges(&mut fields);
            (badges, generic::blocks(&Value::Object(fields)))
        }
        Some(value) => (Vec::new(), generic::blocks(value)),
    }
}
