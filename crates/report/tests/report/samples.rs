//! Debates of `deep` in which the test decides what everybody answers.

use std::collections::BTreeMap;

use agon_core::{
    AbsenceReason, Ask, Brief, CallUsage, Debate, DebateLimits, DebateView, Event, LOG_VERSION, LogRecord,
    NextEvent, Phase, Protocol, Reply, Seat, ShortenedPrompt, advance, options,
};
use agon_measure::Evidence;
use agon_report::{ReportSource, StoredDebate, TerminalStyle, markdown_report, page_report, terminal_report};
use serde_json::{Value, json};

pub(crate) const PLAIN: TerminalStyle = TerminalStyle { color: false, width: 80, unicode: true };
pub(crate) const QUESTION: &str = "Should a team of four rewrite its billing service in Rust this year?";

pub(crate) fn deep() -> &'static dyn Protocol {
    agon_protocols::find("deep").unwrap()
}

/// A debate with everything that a report is made of.
pub(crate) struct ReadDebate {
    protocol: &'static dyn Protocol,
    pub(crate) debate: Debate,
    pub(crate) view: DebateView,
    pub(crate) evidence: Evidence,
}

impl ReadDebate {
    pub(crate) fn new(protocol: &'static dyn Protocol, debate: Debate) -> Self {
        let view = protocol.view(&debate).unwrap();
        Self::with_view(protocol, debate, view)
    }

    pub(crate) fn with_view(protocol: &'static dyn Protocol, debate: Debate, view: DebateView) -> Self {
        let evidence = agon_measure::evidence(&debate, &view.positions);
        Self { protocol, debate, view, evidence }
    }

    pub(crate) fn source(&self) -> ReportSource<'_> {
        ReportSource {
            info: self.protocol.info(),
            debate: &self.debate,
            view: &self.view,
            evidence: &self.evidence,
        }
    }

    pub(crate) fn stored<'a>(&'a self, records: &'a [LogRecord]) -> StoredDebate<'a> {
        StoredDebate { source: self.source(), records }
    }

    pub(crate) fn terminal(&self, style: &TerminalStyle) -> String {
        terminal_report(&self.source(), style, "")
    }

    /// One section of the report in a terminal, with its heading.
    pub(crate) fn section(&self, title: &str, style: &TerminalStyle) -> String {
        let shown = self.terminal(style);
        let mut sections = shown.split("\n\n").skip_while(|part| part.lines().next() != Some(title));
        let first = sections.next().unwrap_or_default().to_owned();
        // Blank lines within a section are followed by indented lines.
        sections.take_while(|part| part.starts_with(' ')).fold(first, |all, part| format!("{all}\n\n{part}"))
    }

    pub(crate) fn markdown(&self) -> String {
        markdown_report(&self.source())
    }

    pub(crate) fn page(&self) -> String {
        page_report(&self.source())
    }
}

/// What comes back for an ask.
pub(crate) enum ScriptedReply {
    /// A string is plain text, everything else a structured answer.
    Said(Value),
    Absent(AbsenceReason, &'static str),
}

/// A log that is being written. The protocol decides what is asked, the test what comes back.
pub(crate) struct DebateLog {
    pub(crate) debate: Debate,
    pub(crate) records: Vec<LogRecord>,
    /// What every reply uses.
    pub(crate) usage: CallUsage,
    at_ms: u64,
}

/// The brief of a debate with three debaters, and with these options set.
pub(crate) fn brief(set: &[(&str, &str)]) -> Brief {
    let seat =
        |id: &str, role: &str, model: &str| Seat { id: id.into(), role: role.into(), model: model.into() };
    let given = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    Brief {
        version: LOG_VERSION,
        id: "k3v9q2".into(),
        protocol: "deep".into(),
        question: QUESTION.into(),
        files: Vec::new(),
        options: options::resolve(deep().info().options, given).unwrap(),
        seats: vec![
            seat("debater-1", "debater", "openai/alpha"),
            seat("debater-2", "debater", "anthropic/beta"),
            seat("debater-3", "debater", "gemini/gamma"),
            seat("moderator", "moderator", "openai/alpha"),
            seat("chair", "chair", "openai/alpha"),
        ],
        seed: 7,
        nonce: "nonce".into(),
        limits: DebateLimits::default(),
        templates: BTreeMap::new(),
        written_by: String::new(),
        created_at: "2025-11-15T08:00:00Z".into(),
        parent: None,
    }
}

impl DebateLog {
    pub(crate) fn open(brief: Brief) -> Self {
        let (debate, record) = Debate::open(brief).unwrap();
        let usage = CallUsage {
            input_tokens: 701,
            cached_input_tokens: 220,
            cache_write_tokens: 0,
            output_tokens: 168,
            usd: Some(0.001_025),
            latency_ms: 1_240,
            unreported: false,
        };
        Self { debate, records: vec![record], usage, at_ms: 0 }
    }

    pub(crate) fn push(&mut self, event: Event, wait_ms: u64) {
        self.at_ms += wait_ms;
        self.records.push(self.debate.push(event, self.at_ms).unwrap());
    }

    /// Begins the next phase and returns its asks, or closes the debate.
    pub(crate) fn next_phase(&mut self) -> Vec<Ask> {
        match advance(deep(), &self.debate).unwrap() {
            NextEvent::Ask(event, asks) => {
                self.push(event, 10);
                asks
            }
            NextEvent::Close(event) => {
                self.push(event, 5);
                Vec::new()
            }
        }
    }

    pub(crate) fn sent(&mut self, ask: &Ask, attempt: u32) {
        let (ask, model) = (ask.id, ask.model.clone());
        self.push(
            Event::Sent { ask, attempt, model, worst_usd: Some(0.01), worst_tokens: 0, errand: false },
            1,
        );
    }

    pub(crate) fn fault(&mut self, ask: &Ask, attempt: u32, why: AbsenceReason, detail: &str) {
        let usage = CallUsage { usd: Some(0.0), ..CallUsage::default() };
        let (ask, detail, text, unverified) = (ask.id, detail.to_owned(), None, false);
        let event = Event::Attempted { ask, attempt, why, detail, text, unverified, usage };
        self.push(event, 400);
    }

    pub(crate) fn said(&mut self, ask: &Ask, value: Value) {
        self.said_by(&ask.model, ask, value, None);
    }

    /// An answer of this model, which may not be the one that the seat is named after.
    pub(crate) fn said_by(
        &mut self,
        model: &str,
        ask: &Ask,
        value: Value,
        shortened: Option<ShortenedPrompt>,
    ) {
        let (text, value) = match value {
            Value::String(text) => (text, None),
            value => (value.to_string(), Some(value)),
        };
        let reply =
            Reply::Said { text, value, model: model.into(), usage: self.usage, cut_off: false, shortened };
        self.push(Event::Replied { ask: ask.id, reply }, 1_240);
    }

    pub(crate) fn absent(&mut self, ask: &Ask, why: AbsenceReason, detail: &str) {
        self.fault(ask, 1, why, detail);
        let reply = Reply::Absent { why, detail: detail.into() };
        self.push(Event::Replied { ask: ask.id, reply }, 900);
    }

    /// Plays the debate to its end.
    pub(crate) fn play(mut self, script: &dyn Fn(&Phase, &Ask) -> ScriptedReply) -> Self {
        loop {
            let asks = self.next_phase();
            let Some(phase) = self.debate.last_phase().cloned().filter(|_| !asks.is_empty()) else {
                return self;
            };
            asks.iter().for_each(|ask| self.sent(ask, 1));
            for ask in &asks {
                match script(&phase, ask) {
                    ScriptedReply::Said(value) => self.said(ask, value),
                    ScriptedReply::Absent(why, detail) => self.absent(ask, why, detail),
                }
            }
        }
    }

    pub(crate) fn read(&self) -> ReadDebate {
        ReadDebate::new(deep(), self.debate.clone())
    }
}

const ANSWERS: [(&str, &str); 3] = [
    (
        "debater-1",
        "**Yes**, rewrite it. The two worst outages of last year were data races.\n\n## Plan\n\n1. Port the ledger.\n\
         2. Port the rest.\n\n```rust\nfn main() {}\n```",
    ),
    ("debater-2", "No. A rewrite stops features for two quarters; put types around the hot paths instead."),
    ("debater-3", "Only the ledger: it is 4,000 lines and *all* the incidents are there."),
];

/// What a debater answers on its own.
pub(crate) fn answer(ask: &Ask) -> Value {
    ANSWERS.iter().find(|(seat, _)| *seat == ask.seat).map(|(_, answer)| json!(answer)).unwrap()
}

pub(crate) fn argument(stance: &str, revised: Option<&str>, confidence: f64, points: &[&str]) -> Value {
    json!({"key_points": points,
        "counterpoints": [{"target": "Debater B", "point": "Two quarters is a guess",
            "evidence": "the ledger was ported to Go in five weeks in 2022"}],
        "stance": stance, "revision": if revised.is_some() { "major_revision" } else { "no_change" },
        "revised_position": revised, "confidence": confidence})
}

/// Who holds what, by label. In the end Debater B has joined Debater A.
fn positions(is_last: bool) -> Value {
    let group = |statement: &str, members: &[(&str, &str)]| {
        let members = members.iter().map(|(label, quote)| json!({"debater": label, "quote": quote}));
        json!({"statement": statement, "members": Value::from_iter(members)})
    };
    let ledger = ("A", "Only the ledger: it is 4,000 lines");
    let rewrite = group("Rewrite all of it.", &[("C", "The two worst outages of last year were data races")]);
    if is_last {
        return json!([group("Rewrite the ledger only.", &[ledger, ("B", ledger.1)]), rewrite]);
    }
    let types =
        group("Put types around the hot paths.", &[("B", "A rewrite stops features for two quarters")]);
    json!([group("Rewrite the ledger only.", &[ledger]), types, rewrite])
}

pub(crate) fn assessment(agreement: f64, new_points: f64) -> Value {
    let consensus = "Rewrite the ledger first, and decide on the rest from what that shows.";
    json!({"first_positions": positions(false), "positions": positions(agreement > 0.8),
        "remaining_disagreements": ["Who maintains the Rust code when its two authors are away"],
        "agreement_score": agreement, "new_points_ratio": new_points,
        "consensus_answer": (agreement > 0.6).then_some(consensus),
        "should_stop": agreement > 0.8, "next_round_focus": "Maintenance"})
}

pub(crate) fn synthesis() -> Value {
    json!({"answer": "**Rewrite the ledger only.** Keep the rest as it is:\n\n- port the 4,000 lines behind the present \
            interface, with the old code running beside it until a month of invoices agrees;\n- decide about the rest in a year.",
        "why": "The incidents come from one place, and a small port can be undone.",
        "contested": ["Whether two people who know Rust are enough", "Whether types in the present language would do"],
        "fates": [{"position": "P1", "fate": "adopted", "reason": "All incidents are there."},
            {"position": "P2", "fate": "rejected", "reason": "Nothing shows that the rest needs it."}]})
}

fn converging(phase: &Phase, ask: &Ask) -> ScriptedReply {
    let points = ["All nine incidents were in the ledger", "Two people know Rust; both want to do this"];
    let changes = (phase.round == 2 && ask.seat == "debater-2")
        .then_some("Only the ledger: it is 4,000 lines and all the incidents are there.");
    ScriptedReply::Said(match phase.name.as_str() {
        "answer" => answer(ask),
        "debate" if changes.is_some() => argument("concede", changes, 0.8, &points),
        "debate" => argument("maintain", None, 0.9, &points),
        "moderate" if phase.round == 1 => assessment(0.55, 0.8),
        "moderate" => assessment(0.86, 0.1),
        _ => synthesis(),
    })
}

/// Two rounds, three debaters, everybody heard; one debater changes its mind.
pub(crate) fn converged() -> DebateLog {
    DebateLog::open(brief(&[])).play(&converging)
}

/// A debater is lost in the only round, then the moderator, then the chair; one call may be billed twice.
pub(crate) fn degraded() -> DebateLog {
    let mut log = DebateLog::open(brief(&[("min_rounds", "1"), ("max_rounds", "1")]));
    let asks = log.next_phase();
    // The first call was never heard of again: the process was killed while it ran.
    log.sent(&asks[0], 1);
    log.sent(&asks[0], 2);
    asks[1..].iter().for_each(|ask| log.sent(ask, 1));
    asks.iter().for_each(|ask| log.said(ask, answer(ask)));
    log.play(&|phase, ask| match (phase.name.as_str(), ask.seat.as_str(), ask.model.as_str()) {
        ("debate", "debater-3", _) => {
            ScriptedReply::Absent(AbsenceReason::TimedOut, "no answer within 120 s")
        }
        ("debate", ..) => ScriptedReply::Said(argument("maintain", None, 0.8, &["It works"])),
        ("moderate", ..) => {
            ScriptedReply::Absent(AbsenceReason::Malformed, "agreement_score is 3, more than 1")
        }
        (_, _, "openai/alpha") => ScriptedReply::Absent(AbsenceReason::Refused, ""),
        _ => ScriptedReply::Said(
            json!({"answer": "No.", "why": "The two who were heard agree.", "contested": []}),
        ),
    })
}

/// Nobody can write the verdict.
pub(crate) fn failed() -> DebateLog {
    DebateLog::open(brief(&[("mode", "quick")])).play(&|phase, ask| match phase.name.as_str() {
        "answer" if ask.seat == "debater-3" => ScriptedReply::Said(json!("Only the ledger. ".repeat(40))),
        "answer" => ScriptedReply::Said(answer(ask)),
        _ => ScriptedReply::Absent(AbsenceReason::Unreachable, "connection refused"),
    })
}
