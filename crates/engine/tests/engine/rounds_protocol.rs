//! The protocol of the tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_core::protocol::{Fidelity, Status};
use agon_core::*;
use serde_json::{Value, json};

/// A number of rounds. In each, every seat reads all earlier answers and answers.
pub(crate) struct RoundsProtocol {
    pub(crate) info: &'static ProtocolInfo,
}

pub(crate) static ROUNDS: RoundsProtocol = RoundsProtocol { info: &ROUNDS_INFO };
/// The same, but the last round is a closing phase, for which a fifth of every limit is reserved.
pub(crate) static CLOSING_ROUNDS: RoundsProtocol = RoundsProtocol { info: &CLOSING_ROUNDS_INFO };

static ROUNDS_INFO: ProtocolInfo = info("rounds", &[], 0.0);
static CLOSING_ROUNDS_INFO: ProtocolInfo =
    info("closing_rounds", &[PhaseInfo::new("last", "Last round", "answers", "answer").closing()], 0.2);

const fn info(name: &'static str, phases: &'static [PhaseInfo], closing_share: f64) -> ProtocolInfo {
    ProtocolInfo {
        name,
        about: "every seat answers in every round",
        subject: "QUESTION",
        options: &[],
        roles: &[],
        templates: &[],
        phases,
        closing_share,
        title: agon_core::protocol::file_names,
        gate: None,
        is_rated: false,
        record_folder: None,
        isolation: &[],
        simulation: None,
        example: None,
        demo: None,
    }
}

/// The options of the tests' briefs. They have no table.
pub(crate) fn option_flag(brief: &Brief, key: &str) -> bool {
    brief.options.get(key).and_then(Value::as_bool).unwrap_or_default()
}

fn rounds(brief: &Brief) -> u32 {
    brief.options.get("rounds").and_then(Value::as_u64).unwrap_or_default() as u32
}

pub(crate) fn find_protocol(name: &str) -> Option<&'static dyn Protocol> {
    match name {
        "rounds" => Some(&ROUNDS),
        "closing_rounds" => Some(&CLOSING_ROUNDS),
        _ => None,
    }
}

impl Protocol for RoundsProtocol {
    fn info(&self) -> &'static ProtocolInfo {
        self.info
    }

    fn seats(&self, _: &Request) -> Result<Vec<Seat>, Invalid> {
        Ok(Vec::new())
    }

    fn plan(&self, brief: &Brief) -> CallPlan {
        let calls = rounds(brief) * brief.seats.len() as u32;
        let most_phases = rounds(brief);
        CallPlan { fewest_calls: calls, most_calls: calls, most_phases, most_rounds: Some(most_phases) }
    }

    fn next(&self, debate: &Debate) -> Result<Step, Corrupt> {
        let brief = &debate.brief;
        let round = debate.turns.len() as u32 + 1;
        let is_late = brief.limits.deadline_ms.is_some_and(|deadline| debate.at_ms >= deadline);
        if round > rounds(brief) || (is_late && option_flag(brief, "closes_at_deadline")) {
            return Ok(Step::Close(Box::new(outcome(debate))));
        }
        let earlier = replies(debate);
        let prompt = |seat: &Seat| Prompt {
            system: "Be brief.".into(),
            shared: earlier.join("\n").into(),
            tail: format!("You are {}. {}", seat.id, brief.question),
        };
        let schema = option_flag(brief, "structured").then(|| Arc::new(answer_schema()));
        let later_model = brief.options.get("later_model").and_then(Value::as_str);
        let asks = brief.seats.iter().map(|seat| Ask {
            id: 0,
            seat: seat.id.clone(),
            model: later_model.filter(|_| round > 1).unwrap_or(&seat.model).to_owned(),
            label: None,
            about: None,
            thread: match earlier.first() {
                Some(reply) if option_flag(brief, "continues_thread") => {
                    SeatThread::Continue(vec![PriorExchange {
                        prompt: "before".into(),
                        reply: reply.clone(),
                    }])
                }
                _ => SeatThread::Fresh,
            },
            prompt: prompt(seat),
            schema: schema.clone(),
            within_ms: brief.options.get("within_ms").and_then(Value::as_u64),
            firm: option_flag(brief, "firm"),
            at_once: brief.options.get("at_once").and_then(Value::as_u64).map(|n| n as u32),
        });
        let is_closing = self.info.closing_share > 0.0 && round == rounds(brief);
        Ok(Step::Ask(Phase::new(if is_closing { "last" } else { "speak" }, round), asks.collect()))
    }

    fn check(&self, _: &Debate, _: &Ask, value: &Value) -> Result<(), ReplyFault> {
        match value["answer"].as_str() {
            Some("forbidden") => Err(ReplyFault::Invalid("that word is forbidden".into())),
            Some("unverified") => Err(ReplyFault::Unverified("that quote does not occur".into())),
            _ => Ok(()),
        }
    }

    fn view(&self, _: &Debate) -> Result<DebateView, Corrupt> {
        Ok(DebateView::default())
    }
}

fn answer_schema() -> ReplySchema {
    let properties = json!({"answer": {"type": "string"}});
    ReplySchema {
        name: "answer".into(),
        json: json!({"type": "object", "properties": properties, "required": ["answer"]}),
    }
}

fn outcome(debate: &Debate) -> Outcome {
    Outcome {
        status: Status::Complete,
        termination: Termination::AllRoundsComplete,
        rounds_completed: debate.turns.len() as u32,
        verdict: json!(replies(debate)),
        dissent: Vec::new(),
        fidelity: Fidelity::Full,
        warnings: Vec::new(),
        labels: BTreeMap::new(),
        positions: Vec::new(),
        passed: None,
        lesson: None,
    }
}

/// The answers in ask order. An absence is its reason in parentheses.
pub(crate) fn replies(debate: &Debate) -> Vec<String> {
    let text = |reply: &Reply| match reply {
        Reply::Said { text, .. } => text.clone(),
        Reply::Absent { why, .. } => format!("({})", why.as_str()),
    };
    debate.turns.iter().flat_map(PhaseTurn::settled).map(|(_, reply)| text(reply)).collect()
}

/// The brief of a debate with one seat for each model.
pub(crate) fn brief(models: &[&str], rounds: u32) -> Brief {
    let seats = models.iter().enumerate().map(|(index, model)| Seat {
        id: format!("seat-{}", index + 1),
        role: "speaker".into(),
        model: (*model).to_owned(),
    });
    Brief {
        version: LOG_VERSION,
        id: "d1".into(),
        protocol: ROUNDS_INFO.name.into(),
        question: "Why?".into(),
        files: Vec::new(),
        options: [("rounds".to_owned(), json!(rounds))].into_iter().collect(),
        seats: seats.collect(),
        seed: 7,
        nonce: "nonce".into(),
        limits: DebateLimits::default(),
        templates: BTreeMap::new(),
        written_by: String::new(),
        created_at: "2026-01-01T00:00:00Z".into(),
        parent: None,
    }
}
