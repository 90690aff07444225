//! Debates of `panel`, played by the protocol itself with words made by hand.

use std::collections::BTreeMap;

use agon_core::document::document;
use agon_core::play::play;
use agon_core::{
    Absence, Artifact, Ask, Brief, Debate, LOG_VERSION, Limits, Protocol, Reply, Request, Usage, options,
    protocol,
};
use agon_protocols::panel::Panel;
use agon_report::{Style, text};
use serde_json::{Value, json};

/// What a judge says: by its place and round; `None` is an absence.
pub(crate) type Says<'a> = &'a dyn Fn(usize, u32) -> Option<Value>;

/// A debate with its outcome document.
pub(crate) fn played(says: Says<'_>) -> (Debate, Value) {
    replied(&mut |debate, ask| reply(debate, ask, says))
}

fn replied(answer: &mut dyn FnMut(&Debate, &Ask) -> Reply) -> (Debate, Value) {
    let request = Request {
        files: vec![Artifact {
            path: "docs/billing-queue.md".into(),
            text: "Move invoices to the queue.".into(),
            part: None,
        }],
        models: ["openai/alpha", "anthropic/beta", "gemini/gamma"].map(String::from).to_vec(),
        options: options::resolve(Panel.options(), []).unwrap(),
        ..Request::default()
    };
    let brief = Brief {
        version: LOG_VERSION,
        id: "p4n3l7".into(),
        protocol: "panel".into(),
        seats: Panel.seats(&request).unwrap(),
        question: Panel.title(&request),
        files: request.files,
        options: request.options,
        seed: 7,
        limits: Limits::default(),
        templates: protocol::template_hashes(&Panel),
        written_by: String::new(),
        created_at: "2025-11-15T08:00:00Z".into(),
        parent: None,
    };
    let records = play(&Panel, vec![Debate::open(brief).unwrap().1], answer, &mut |_| {}).unwrap();
    let debate = Debate::from_records(&records).unwrap();
    let document = document(&debate, json!({}));
    (debate, document)
}

fn reply(debate: &Debate, ask: &Ask, says: Says<'_>) -> Reply {
    let place = ask.seat.trim_start_matches("judge-").parse::<usize>().unwrap() - 1;
    let Some(value) = says(place, debate.last_phase().unwrap().round) else {
        return Reply::Absent { why: Absence::TimedOut, detail: "no answer within 120 s".into() };
    };
    Panel.check(debate, ask, &value).unwrap();
    let usage = Usage {
        input_tokens: 701,
        output_tokens: 168,
        usd: Some(0.001_025),
        latency_ms: 1_240,
        ..Usage::default()
    };
    let (text, model) = (value.to_string(), ask.model.clone());
    Reply::Said { text, value: Some(value), model, usage, cut_off: false, shortened: None }
}

const POSITIONS: [&str; 3] = [
    "The plan names the right problem and cuts it where it is smallest. What it leaves open is how a half-moved month of invoices \
     is brought back; until that is written down I would not start.",
    "This is the smallest step that takes the nightly peak off the database. Everything behind the interface stays, so that it can \
     be undone in a day.",
    "Nothing in the plan says what happens to an invoice that was taken from the queue and not written. That is not a detail: it \
     is the customers' money.",
];

/// The dimensions around a score.
pub(crate) fn dimensions(score: f64, shift: f64) -> Value {
    let keys = [
        "problem_understanding",
        "architecture_quality",
        "risk_mitigation",
        "implementation_clarity",
        "feasibility",
    ];
    let scores = [score, score, score - shift, score, score + shift];
    keys.into_iter()
        .zip(scores)
        .map(|(key, score)| (key.to_owned(), json!(score.clamp(1.0, 5.0))))
        .collect::<BTreeMap<_, _>>()
        .into_iter()
        .collect()
}

pub(crate) fn statement(place: usize, score: f64) -> Value {
    json!({"overall_score": score, "dimension_scores": dimensions(score, 0.5),
        "position_statement": format!("## My Assessment\n\n{}", POSITIONS[place]),
        "key_claims": [{"claim": "The interface does not change", "evidence": "docs/billing-queue.md, Interface", "confidence": "HIGH"}],
        "critical_findings": []})
}

pub(crate) fn rebuttal(place: usize, before: f64, score: f64) -> Value {
    json!({"previous_score": before, "new_score": score, "score_changed": before != score,
        "change_reason": "persuaded by judge-1: the way back is not written down",
        "agreements": [{"with_judge": format!("judge-{}", (place + 1) % 3 + 1), "on_point": "The interface stays as it is."}],
        "disagreements": [], "position_revision": format!("## Updated Position\n\n{}", POSITIONS[place]),
        "unresolved_disputes": [{"topic": "Is one retry enough?"}], "dimension_scores": dimensions(score, 0.5)})
}

pub(crate) fn last(place: usize, score: f64) -> Value {
    json!({"final_score": score, "final_position": format!("## Final Assessment\n\n{}", POSITIONS[place]),
        "dimension_scores": dimensions(score, 0.5),
        "concessions_made": [], "unresolved_disagreements": []})
}

pub(crate) fn rollback() -> Value {
    json!([{"finding": "An invoice that was taken and not written is lost", "severity": "CRITICAL",
        "evidence": "docs/billing-queue.md, step 3", "blocks_consensus": true}])
}

/// Two against one to the end, with an open critical finding.
pub(crate) fn divided() -> (Debate, Value) {
    played(&|place, round| {
        let scores = [[3.5, 3.8, 4.0], [4.5, 4.5, 4.3], [2.0, 2.2, 2.2]][place];
        Some(match round {
            1 => {
                let mut said = statement(place, scores[0]);
                if place == 2 {
                    said["critical_findings"] = rollback();
                }
                said
            }
            2 => rebuttal(place, scores[0], scores[1]),
            _ => {
                let mut said = last(place, scores[2]);
                if place == 2 {
                    said["unresolved_disagreements"] = json!([{"issue": "Is one retry enough?",
                        "my_final_view": "an invoice needs an outbox, not a retry", "opposing_view": "one retry and an alarm will do",
                        "why_unresolved": "nobody knows how often the write fails", "user_attention_needed": true}]);
                    said["critical_positions"] =
                        json!([{"finding_id": "F1", "position": "adopt", "reason": "still unanswered"}]);
                }
                said
            }
        })
    })
}

/// All come to hold the critical finding: consensus that the plan is bad.
pub(crate) fn agreed() -> (Debate, Value) {
    held_by_all(&[[3.0, 2.5], [4.0, 2.8], [2.0, 2.4]])
}

/// The same at any scores of the two rounds.
pub(crate) fn held_by_all(scores: &[[f64; 2]; 3]) -> (Debate, Value) {
    played(&|place, round| {
        let scores = scores[place];
        Some(if round == 1 {
            let mut said = statement(place, scores[0]);
            if place == 2 {
                said["critical_findings"] = rollback();
            }
            said
        } else {
            let mut said = rebuttal(place, scores[0], scores[1]);
            said["critical_positions"] =
                json!([{"finding_id": "F1", "position": "adopt", "reason": "step 3 does say so"}]);
            said
        })
    })
}

/// 3, 4 and 5: no group is nearer together than another.
pub(crate) fn split() -> (Debate, Value) {
    played(&|place, round| {
        let score = [3.0, 4.0, 5.0][place];
        Some(match round {
            1 => statement(place, score),
            2 => rebuttal(place, score, score),
            _ => last(place, score),
        })
    })
}

/// One comes nearer and is still in the minority.
pub(crate) fn moved() -> (Debate, Value) {
    played(&|place, round| {
        let scores = [[4.0; 3], [4.2; 3], [1.0, 1.8, 2.5]][place];
        Some(match round {
            1 => statement(place, scores[0]),
            2 => rebuttal(place, scores[0], scores[1]),
            _ => last(place, scores[2]),
        })
    })
}

/// The budget is spent after the first judge.
pub(crate) fn over_budget() -> (Debate, Value) {
    replied(&mut |debate, ask| match ask.seat.as_str() {
        "judge-1" => reply(debate, ask, &|place, _| Some(statement(place, 3.0))),
        _ => Reply::Absent { why: Absence::OverBudget, detail: "the budget of $0.01 is spent".into() },
    })
}

/// The script that comes with the program.
pub(crate) fn demo() -> (Debate, Value) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/scripts/demo-panel.yaml");
    let script: Value = serde_norway::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let phases = ["position", "rebuttal", "final"];
    played(&|place, round| {
        Some(script["seats"][format!("judge-{}", place + 1)][phases[round as usize - 1]].clone())
    })
}

/// Only one judge is left in round 2.
pub(crate) fn lost() -> (Debate, Value) {
    played(&|place, round| match round {
        1 => Some(statement(place, [3.0, 4.0, 5.0][place])),
        _ => (place == 0).then(|| rebuttal(0, 3.0, 3.0)),
    })
}

/// A section of the terminal's report.
pub(crate) fn section(document: &Value, title: &str, style: &Style) -> String {
    let shown = text(document, style);
    assert!(shown.lines().any(|line| line == title), "{title:?} is missing in\n{shown}");
    let from = shown.lines().skip_while(|line| *line != title);
    let below = from.skip(1).take_while(|line| line.is_empty() || line.starts_with(' '));
    [title].into_iter().chain(below).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}
