//! Debates made by hand, event by event, for the reports' tests.

#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod arena;
pub(crate) mod council;
pub(crate) mod evidence;
pub(crate) mod formats;
pub(crate) mod panel;
pub(crate) mod review;

use std::collections::BTreeMap;

use agon_core::document::document;
use agon_core::{
    Absence, Asked, Brief, Debate, Event, Fate, Fidelity, LOG_VERSION, Limits, Outcome, Position, Record,
    Reply, Seat, Shortened, Status, Termination, Turn, Usage,
};
use serde_json::{Value, json};

/// A log that is being written.
pub(crate) struct Log {
    pub(crate) debate: Debate,
    pub(crate) records: Vec<Record>,
    at_ms: u64,
    asks: u32,
}

pub(crate) const QUESTION: &str = "Should a team of four rewrite its billing service in Rust this year?";

pub(crate) fn seat(id: &str, role: &str, model: &str) -> Seat {
    Seat { id: id.into(), role: role.into(), model: model.into() }
}

impl Log {
    pub(crate) fn open(protocol: &str) -> Self {
        let seats = vec![
            seat("debater-1", "debater", "openai/alpha"),
            seat("debater-2", "debater", "anthropic/beta"),
            seat("debater-3", "debater", "gemini/gamma"),
            seat("moderator", "moderator", "openai/alpha"),
            seat("chair", "chair", "openai/alpha"),
        ];
        Self::seated(protocol, QUESTION, seats, json!({"mode": "deep", "min_rounds": 2, "max_rounds": 3}))
    }

    pub(crate) fn seated(protocol: &str, question: &str, seats: Vec<Seat>, options: Value) -> Self {
        let brief = Brief {
            version: LOG_VERSION,
            id: "k3v9q2".into(),
            protocol: protocol.into(),
            question: question.into(),
            files: Vec::new(),
            options: options.as_object().unwrap().clone(),
            seats,
            seed: 7,
            limits: Limits::default(),
            templates: BTreeMap::new(),
            written_by: String::new(),
            created_at: "2025-11-15T08:00:00Z".into(),
            parent: None,
        };
        let (debate, record) = Debate::open(brief).unwrap();
        Self { debate, records: vec![record], at_ms: 0, asks: 0 }
    }

    pub(crate) fn push(&mut self, event: Event, wait_ms: u64) {
        self.at_ms += wait_ms;
        self.records.push(self.debate.push(event, self.at_ms).unwrap());
    }

    /// Begins a phase; gives back the number of its first ask.
    pub(crate) fn ask(&mut self, phase: &str, round: u32, seats: &[(&str, Option<&str>)]) -> u32 {
        let first = self.asks + 1;
        let mut asks = Vec::new();
        for (seat, label) in seats {
            self.asks += 1;
            asks.push(Asked {
                id: self.asks,
                seat: (*seat).into(),
                // No seat is behind what is looked up or computed.
                model: self
                    .debate
                    .brief
                    .seat(seat)
                    .map_or("embeddings/lexical".into(), |seat| seat.model.clone()),
                label: label.map(str::to_owned),
                about: None,
                schema: None,
                prompt: "0".into(),
            });
        }
        self.push(Event::Asked { phase: phase.into(), round, asks }, 10);
        first
    }

    pub(crate) fn sent(&mut self, ask: u32, attempt: u32) {
        let model = self.model_of(ask);
        self.push(Event::Sent { ask, attempt, model, worst_usd: Some(0.01), errand: false }, 1);
    }

    pub(crate) fn fault(&mut self, ask: u32, attempt: u32, why: Absence, detail: &str) {
        let usage = Usage { usd: Some(0.0), ..Usage::default() };
        let event = Event::Attempted { ask, attempt, why, detail: detail.into(), text: None, usage };
        self.push(event, 400);
    }

    /// The model of the seat that this ask went to.
    fn model_of(&self, ask: u32) -> String {
        let asked = self.debate.turns.iter().flat_map(|turn| &turn.asks).find(|asked| asked.id == ask);
        asked.unwrap().model.clone()
    }

    pub(crate) fn said(&mut self, ask: u32, text: &str, value: Option<Value>) {
        let model = self.model_of(ask);
        self.said_by(&model, ask, text, value, None);
    }

    /// An answer of this model, which may not be the one that the seat is named after.
    pub(crate) fn said_by(
        &mut self,
        model: &str,
        ask: u32,
        text: &str,
        value: Option<Value>,
        shortened: Option<Shortened>,
    ) {
        let usage = Usage {
            input_tokens: 701,
            cached_input_tokens: 220,
            cache_write_tokens: 0,
            output_tokens: 168,
            usd: Some(0.001_025),
            latency_ms: 1_240,
        };
        let text = value.as_ref().map_or(text.to_owned(), Value::to_string);
        self.push(
            Event::Replied {
                ask,
                reply: Reply::Said { text, value, model: model.into(), usage, cut_off: false, shortened },
            },
            1_240,
        );
    }

    pub(crate) fn absent(&mut self, ask: u32, why: Absence, detail: &str) {
        self.fault(ask, 1, why, detail);
        self.push(Event::Replied { ask, reply: Reply::Absent { why, detail: detail.into() } }, 900);
    }

    pub(crate) fn close(&mut self, outcome: Outcome) {
        self.push(Event::Closed { outcome: Box::new(outcome) }, 5);
    }

    /// The outcome document, with the evidence that the outcome's positions and the turns give.
    pub(crate) fn document(&self) -> Value {
        document(&self.debate, spent(&self.debate))
    }
}

/// The evidence that every debate has had from the first.
pub(crate) fn spent(debate: &Debate) -> Value {
    let positions = debate.outcome.as_ref().map_or(Vec::new(), |outcome| outcome.positions.clone());
    let phase = |turn: &Turn| {
        let spent = debate.spent_where(|other| other.since == turn.since);
        json!({"phase": turn.phase.name, "round": turn.phase.round, "calls": spent.calls,
            "input_tokens": spent.input_tokens, "cached_input_tokens": spent.cached_input_tokens,
            "output_tokens": spent.output_tokens, "usd": spent.usd})
    };
    let rounds: Vec<Value> = debate.turns.iter().map(phase).collect();
    json!({"dissent": positions, "cost": {"rounds": rounds}})
}

pub(crate) fn outcome(status: Status, termination: Termination, rounds: u32, verdict: Value) -> Outcome {
    Outcome {
        status,
        termination,
        rounds_completed: rounds,
        verdict,
        dissent: Vec::new(),
        fidelity: Fidelity::Full,
        warnings: Vec::new(),
        labels: [("A", "debater-2"), ("B", "debater-1"), ("C", "debater-3")]
            .map(|(label, seat)| (label.to_owned(), seat.to_owned()))
            .into(),
        positions: Vec::new(),
        passed: None,
        lesson: None,
    }
}

pub(crate) fn position(seat: &str, label: &str, text: &str, fate: Fate, reason: &str) -> Position {
    Position {
        seat: seat.into(),
        label: Some(label.into()),
        position: text.into(),
        fate,
        reason: reason.into(),
    }
}

pub(crate) const ANSWERS: [&str; 3] = [
    "**Yes**, rewrite it. The two worst outages of last year were data races.\n\n## Plan\n\n1. Port the ledger.\n2. Port \
     the rest.\n\n```rust\nfn main() {}\n```",
    "No. A rewrite stops features for two quarters; put types around the hot paths instead.",
    "Only the ledger: it is 4,000 lines and *all* the incidents are there.",
];

pub(crate) const LABELLED: [(&str, Option<&str>); 3] =
    [("debater-2", Some("Debater A")), ("debater-1", Some("Debater B")), ("debater-3", Some("Debater C"))];

pub(crate) fn argument(stance: &str, revision: &str, confidence: f64, points: &[&str]) -> Value {
    let revised =
        (revision != "no_change").then_some("Rewrite the ledger only, behind the present interface.");
    json!({"stance": stance, "key_points": points, "counterpoints": [{"target": "Debater B", "point": "Two quarters is a guess",
        "evidence": "the ledger was ported to Go in five weeks in 2022"}],
        "revision": revision, "revised_position": revised, "confidence": confidence})
}

pub(crate) fn assessment(agreement: f64, new_points: f64) -> Value {
    json!({"should_stop": agreement > 0.8, "agreement_score": agreement, "new_points_ratio": new_points,
        "consensus_answer": (agreement > 0.6).then_some("Rewrite the ledger first, and decide on the rest from what that shows."),
        "remaining_disagreements": ["Who maintains the Rust code when its two authors are away"],
        "next_round_focus": "Maintenance"})
}

fn stance(debater: &str, argument: &Value) -> Value {
    let mut stance = argument.clone();
    stance["debater"] = json!(debater);
    stance["carried"] = json!(false);
    stance
}

pub(crate) fn round(number: u32, measured: Option<(f64, f64)>, stances: [Option<Value>; 3]) -> Value {
    let stances: Vec<Value> = ["A", "B", "C"]
        .into_iter()
        .zip(stances)
        .map(|(label, argument)| match argument {
            Some(argument) => stance(label, &argument),
            None => json!({"debater": label, "stance": null, "revision": null, "confidence": null, "carried": true,
                "key_points": [], "counterpoints": [], "revised_position": null}),
        })
        .collect();
    json!({"round": number, "assessed": measured.is_some(), "agreement_score": measured.map(|m| m.0),
        "new_points_ratio": measured.map(|m| m.1), "should_stop": measured.map(|m| m.0 > 0.8), "consensus_answer": null,
        "remaining_disagreements": [], "next_round_focus": null, "stances": stances})
}

/// Two rounds, three debaters, everybody heard, one dissenter.
pub(crate) fn converged() -> Log {
    let mut log = Log::open("deep");
    let first = log.ask("answer", 0, &[("debater-1", None), ("debater-2", None), ("debater-3", None)]);
    (0..3).for_each(|n| log.sent(first + n, 1));
    (0..3).for_each(|n| log.said(first + n, ANSWERS[n as usize], None));
    let rounds = [
        (
            [
                ("partial_concede", "minor_update", 0.7),
                ("maintain", "no_change", 0.85),
                ("maintain", "no_change", 0.9),
            ],
            (0.55, 0.8),
        ),
        (
            [
                ("concede", "major_revision", 0.8),
                ("maintain", "no_change", 0.8),
                ("maintain", "no_change", 0.95),
            ],
            (0.86, 0.1),
        ),
    ];
    let mut told = Vec::new();
    for (number, (stances, (agreement, new_points))) in (1..).zip(rounds) {
        let points = ["All nine incidents were in the ledger", "Two people know Rust; both want to do this"];
        let arguments = stances.map(|(stance, revision, sure)| argument(stance, revision, sure, &points));
        let first = log.ask("debate", number, &LABELLED);
        (0..3).for_each(|n| log.sent(first + n, 1));
        (0..3).for_each(|n| log.said(first + n, "", Some(arguments[n as usize].clone())));
        let ask = log.ask("moderate", number, &[("moderator", None)]);
        log.sent(ask, 1);
        log.said(ask, "", Some(assessment(agreement, new_points)));
        told.push(round(number, Some((agreement, new_points)), arguments.map(Some)));
    }
    let ask = log.ask("synthesis", 2, &[("chair", None)]);
    log.sent(ask, 1);
    let answer = "**Rewrite the ledger only.** Keep the rest as it is:\n\n- port the 4,000 lines behind the present interface, with \
        the old code running beside it until a month of invoices agrees;\n- decide about the rest in a year.";
    let why = "Everybody agreed in the end that the incidents come from one place, and that a small port can be undone.";
    let contested =
        ["Whether two people who know Rust are enough", "Whether types in the present language would do"];
    log.said(ask, "", Some(json!({"answer": answer, "why": why, "contested": contested})));
    let verdict = json!({"answer": answer, "why": why, "contested": contested, "rounds": told,
        "synthesis_input": {"mode": "deep", "rounds_completed": 2, "final_stances": [], "convergence_status": null, "debate_log": []},
        "chair": {"seat": "chair", "model": "openai/alpha", "stand_in": false}});
    let mut outcome = outcome(Status::Complete, Termination::Converged, 2, verdict);
    outcome.dissent = vec![
        json!({"debater": "B", "seat": "debater-1", "position": "Rewrite all of it: two languages in one service cost more than one rewrite.",
        "reason": "Held to the end with confidence 0.80; nobody answered the point about two build systems."}),
    ];
    outcome.positions = vec![
        position("debater-2", "A", ANSWERS[1], Fate::Refuted, "major revision in round 2"),
        position("debater-1", "B", ANSWERS[0], Fate::Minority, "held to the end"),
        position("debater-3", "C", ANSWERS[2], Fate::Adopted, "it is the verdict"),
    ];
    log.close(outcome);
    log
}

/// A debater lost in round 1, the moderator in round 2, the chair at the end; a call that may be billed twice.
pub(crate) fn degraded() -> Log {
    let mut log = Log::open("deep");
    let first = log.ask("answer", 0, &[("debater-1", None), ("debater-2", None), ("debater-3", None)]);
    log.sent(first, 1);
    // Never heard of again: the process was killed here.
    log.sent(first, 2);
    (1..3).for_each(|n| log.sent(first + n, 1));
    (0..3).for_each(|n| log.said(first + n, ANSWERS[n as usize], None));
    let argument = argument("maintain", "no_change", 0.8, &["It works"]);
    let ask = log.ask("debate", 1, &LABELLED);
    (0..3).for_each(|n| log.sent(ask + n, 1));
    (0..2).for_each(|n| log.said(ask + n, "", Some(argument.clone())));
    log.absent(ask + 2, Absence::TimedOut, "no answer within 120 s");
    let ask = log.ask("moderate", 1, &[("moderator", None)]);
    log.sent(ask, 1);
    log.absent(ask, Absence::Malformed, "agreement_score is 3, more than 1");
    let ask = log.ask("synthesis", 1, &[("chair", None)]);
    log.sent(ask, 1);
    log.absent(ask, Absence::Refused, "");
    let verdict = json!({"answer": "No.", "why": "The two who were heard agree.", "contested": [],
        "rounds": [round(1, None, [Some(argument.clone()), Some(argument), None])],
        "synthesis_input": {"mode": "deep"}, "chair": {"seat": "chair", "model": "anthropic/beta", "stand_in": true}});
    let mut outcome = outcome(Status::Complete, Termination::Stable, 1, verdict);
    outcome.fidelity = Fidelity::Degraded;
    outcome.warnings = vec!["The moderator wanted to stop in round 1, the arithmetic did not.".into()];
    outcome.positions = vec![
        position("debater-1", "B", ANSWERS[0], Fate::Refuted, "no argument was left"),
        position("debater-2", "A", ANSWERS[1], Fate::Adopted, "it is the verdict"),
    ];
    log.close(outcome);
    log
}

/// Nobody could write the verdict.
pub(crate) fn failed() -> Log {
    let mut log = Log::open("deep");
    let first = log.ask("answer", 0, &[("debater-1", None), ("debater-2", None), ("debater-3", None)]);
    (0..3).for_each(|n| log.sent(first + n, 1));
    (0..3).for_each(|n| log.said(first + n, ANSWERS[n as usize], None));
    let ask = log.ask("synthesis", 0, &[("chair", None)]);
    log.sent(ask, 1);
    log.absent(ask, Absence::Unreachable, "connection refused");
    let stances = json!([
        {"debater": "A", "stance": "maintain", "confidence": 0.9, "revised_position": ANSWERS[1]},
        {"debater": "B", "stance": "maintain", "confidence": 0.8, "revised_position": format!("{} {}", ANSWERS[2], "word ".repeat(150))},
    ]);
    let verdict = json!({"answer": null, "why": null, "contested": [], "rounds": [],
        "synthesis_input": {"mode": "deep", "final_stances": stances}});
    let mut outcome = outcome(Status::Failed, Termination::Failed, 0, verdict);
    outcome.fidelity = Fidelity::Degraded;
    log.close(outcome);
    log
}
