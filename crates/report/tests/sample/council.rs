//! Debates of `council`, played by the protocol itself with words made by hand.

use agon_core::document::document;
use agon_core::play::play;
use agon_core::{
    Absence, Ask, Brief, Debate, LOG_VERSION, Limits, Protocol, Record, Reply, Request, Usage, options,
    protocol,
};
use agon_protocols::council::Council;
use serde_json::{Value, json};

/// What a seat says: by the ask, its phase and round; `None` is an absence.
pub(crate) type Says<'a> = &'a dyn Fn(&Ask, &str, u32) -> Option<Value>;

pub(crate) fn brief(set: &[(&str, &str)]) -> Brief {
    let given = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let request = Request {
        question: "Should billing move to the queue this year?".into(),
        models: ["openai/alpha", "anthropic/beta"].map(String::from).to_vec(),
        options: options::resolve(Council.options(), given).unwrap(),
        ..Request::default()
    };
    Brief {
        version: LOG_VERSION,
        id: "c0unc1l".into(),
        protocol: "council".into(),
        seats: Council.seats(&request).unwrap(),
        question: request.question,
        files: request.files,
        options: request.options,
        seed: 7,
        limits: Limits::default(),
        templates: protocol::template_hashes(&Council),
        written_by: String::new(),
        created_at: "2025-11-15T08:00:00Z".into(),
        parent: None,
    }
}

/// The log of a debate.
pub(crate) fn records(set: &[(&str, &str)], says: Says<'_>) -> Vec<Record> {
    let mut answer = |debate: &Debate, ask: &Ask| reply(debate, ask, says);
    play(&Council, vec![Debate::open(brief(set)).unwrap().1], &mut answer, &mut |_| {}).unwrap()
}

/// A debate with its outcome document.
pub(crate) fn played(set: &[(&str, &str)], says: Says<'_>) -> (Debate, Value) {
    let debate = Debate::from_records(&records(set, says)).unwrap();
    let document = document(&debate, json!({}));
    (debate, document)
}

fn reply(debate: &Debate, ask: &Ask, says: Says<'_>) -> Reply {
    let phase = debate.last_phase().unwrap();
    let Some(value) = says(ask, &phase.name, phase.round) else {
        return Reply::Absent { why: Absence::TimedOut, detail: "no answer within 120 s".into() };
    };
    Council.check(debate, ask, &value).unwrap();
    let usage = Usage {
        input_tokens: 901,
        output_tokens: 210,
        usd: Some(0.002),
        latency_ms: 1_900,
        ..Usage::default()
    };
    let (text, model) = (value.to_string(), ask.model.clone());
    Reply::Said { text, value: Some(value), model, usage, cut_off: false, shortened: None }
}

const SEATS: [&str; 4] = ["visionary", "critic", "pragmatist", "innovator"];

const POSITIONS: [&str; 4] = [
    "Move billing to the queue: the nightly peak is what stops us from growing, and a pilot this spring shows the way.",
    "Do not move billing yet: an invoice that is lost costs more than a slow night, and nobody has shown a pilot that loses none.",
    "Start with a pilot on one customer group this spring, with the old path kept beside it for a month.",
    "Do not move billing, split it: write invoices to a ledger first and let the queue only send them, after a pilot.",
];

const CONFIDENCE: [&str; 4] = ["HIGH", "HIGH", "MEDIUM", "LOW"];
const QUESTIONS: [&str; 4] = [
    "What would a pilot have to show you?",
    "Who answers for a lost invoice?",
    "What does the old path cost for a month?",
    "Why not a ledger first?",
];
const ARGUMENTS: [&str; 2] =
    ["A month with both paths costs less than one lost invoice run.", "Nobody is on call at night."];
const FINAL_POSITIONS: [&str; 4] = [
    "Go, with the pilot.",
    "Go once a pilot has lost nothing.",
    "Go with one group.",
    "Not like this: a ledger first.",
];
const KEY_ARGUMENTS: [&str; 4] = [
    "The peak stops us from growing.",
    "Both paths make a loss visible.",
    "A month is cheap.",
    "The queue must not own the invoice.",
];
const CONCERNS: [&str; 4] = [
    "The team is small.",
    "Nobody is on call at night.",
    "One group may be too easy.",
    "It will be moved twice.",
];
const VOTES: [&str; 4] = ["PROCEED", "PROCEED WITH CONDITIONS", "PROCEED WITH CONDITIONS", "RECONSIDER"];
const CONDITIONS: [&[&str]; 4] = [
    &[],
    &["No invoice is lost in the pilot"],
    &["no invoice is lost in the pilot.", "The old path stays for a month"],
    &[],
];

fn place(ask: &Ask) -> usize {
    SEATS.iter().position(|seat| *seat == ask.seat).unwrap_or_default()
}

fn due(ask: &Ask) -> Vec<String> {
    let schema = &ask.schema.as_ref().unwrap().json;
    let ids =
        schema.pointer("/properties/responses/items/properties/challenge_id/enum").and_then(Value::as_array);
    ids.into_iter().flatten().map(|id| id.as_str().unwrap().to_owned()).collect()
}

fn opening(place: usize) -> Value {
    json!({
        "position": POSITIONS[place],
        "arguments": ["The nightly peak grows by a fifth a year.", "The database is at its end.", "The team knows queues."],
        "confidence": CONFIDENCE[place],
        "questions": [{"to": SEATS[(place + 1) % 4], "question": QUESTIONS[place]}],
    })
}

fn examination(ask: &Ask, round: u32) -> Value {
    let at = place(ask);
    let (first, second) = (SEATS[(at + 1) % 4], SEATS[(at + 2) % 4]);
    let stance = if at == 3 { "modified" } else { "disagree" };
    let responses: Vec<Value> = due(ask)
        .iter()
        .filter(|id| (at, id.as_str()) != (1, "C1"))
        .map(|id| json!({"challenge_id": id, "stance": stance, "response": format!("The figures of spring answer {id}: two nights in ninety.")}))
        .collect();
    let changed = (at, round) == (1, 2);
    json!({
        "challenges": [
            {"to": first, "claim": "The nightly peak grows by a fifth a year.", "reason": "That was one year.", "question": format!("Which years did you count in round {round}?")},
            {"to": second, "claim": "The team knows queues.", "reason": "Two of nine do.", "question": "Who runs it at night?"},
        ],
        "responses": responses,
        "messages": if (at, round) == (0, 1) {
            json!([{"to": "critic", "topic": "a pilot that loses none", "text": "Would a month with both paths convince you?"}])
        } else {
            json!([])
        },
        "position": if changed { "Move billing after a pilot in which no invoice is lost." } else { POSITIONS[at] },
        "changed": changed,
        "because": if changed { "both paths for a month make a loss visible" } else { "No change - my arguments hold" },
        "new_arguments": [ARGUMENTS[(round as usize + at) % 2]],
        "confidence": if changed { "MEDIUM" } else { CONFIDENCE[at] },
    })
}

/// What everybody says in a debate with a message, an evasion, a steelman and a change of mind.
pub(crate) fn says(ask: &Ask, phase: &str, round: u32) -> Value {
    let at = place(ask);
    match (phase, ask.schema.as_ref().unwrap().name.as_str()) {
        ("opening", _) => opening(at),
        ("challenge", _) => examination(ask, round),
        ("exchange", _) => {
            json!({"replies": [{"message_id": "M1", "text": "It would go a long way, if somebody counts."}]})
        }
        ("moderate", _) => json!({
            "shared_points": [{"point": "A pilot in spring comes first.", "councillors": SEATS, "challenged": round > 1}],
            "new_arguments": [{"councillor": "visionary", "argument": "Nobody is on call at night."},
                {"councillor": "critic", "argument": "A month with both paths costs less."}],
            "reframing_question": "",
        }),
        ("intervene", "second_response") => {
            json!({"challenge_id": "C1", "stance": null, "response": "That depends on many things."})
        }
        ("intervene", _) => {
            json!({"counter_argument": "A pilot on the easy customers proves nothing about the hard ones.",
            "must_be_true": "That the hard customers fail in another way.", "would_change_my_mind": "A pilot on the hardest.",
            "blind_spots": "We all wish for spring."})
        }
        _ => last(at),
    }
}

fn last(at: usize) -> Value {
    let risk = |risk: &str, severity: &str, probability: &str, mitigation: &str| json!({"risk": risk, "severity": severity, "probability": probability, "mitigation": mitigation});
    let risks = [
        vec![risk("The team cannot run it at night", "medium", "high", "an on-call rota")],
        vec![risk("An invoice is lost", "critical", "low", "both paths for a month")],
        vec![
            risk("An invoice is lost", "high", "medium", "a daily count"),
            risk("The pilot drags on", "low", "medium", ""),
        ],
        Vec::new(),
    ];
    json!({
        "final_position": FINAL_POSITIONS[at],
        "key_argument": KEY_ARGUMENTS[at],
        "strongest_opposing_point": "A lost invoice is a lost customer.",
        "remaining_concern": CONCERNS[at],
        "vote": VOTES[at],
        "conditions": CONDITIONS[at],
        "risks": risks[at],
    })
}

/// A debate in which everything happens.
pub(crate) fn eventful() -> (Debate, Value) {
    played(&[], &|ask, phase, round| Some(says(ask, phase, round)))
}

/// Two against two.
pub(crate) fn divided() -> (Debate, Value) {
    played(&[], &|ask, phase, round| {
        let mut said = says(ask, phase, round);
        if phase == "verdict" {
            said["vote"] = json!(["PROCEED", "RECONSIDER", "PROCEED", "DO NOT PROCEED"][place(ask)]);
        }
        Some(said)
    })
}

/// Only the Visionary is left in round 1.
pub(crate) fn lost() -> (Debate, Value) {
    played(&[], &|ask, phase, round| (phase == "opening" || place(ask) == 0).then(|| says(ask, phase, round)))
}

/// Only the Visionary votes.
pub(crate) fn one_vote() -> (Debate, Value) {
    played(&[], &|ask, phase, round| (phase != "verdict" || place(ask) == 0).then(|| says(ask, phase, round)))
}
