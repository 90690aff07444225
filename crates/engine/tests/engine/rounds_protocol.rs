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
        options: RoundsOptions::SPECS,
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

protocol_options! {
    /// What the tests set in a brief.
    struct RoundsOptions {
        rounds: u32 = Int(0, 100), "1", "how many rounds there are";
        structured: bool = Flag, "false", "answers are JSON objects";
        continues_thread: bool = Flag, "false", "a seat continues its conversation";
        closes_at_deadline: bool = Flag, "false", "close at the deadline";
        later_model: Option<String> = Text, "", "the model of all seats after the first round";
        within_ms: Option<u32> = Int(0, 1_000_000), "", "the time limit of an ask";
        firm: bool = Flag, "false", "the time limit of an ask also binds models with their own";
        at_once: Option<u32> = Int(0, 100), "", "how many calls of a phase may run at once";
    }
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
        let most_phases = RoundsOptions::read(&brief.options).rounds;
        let calls = most_phases * brief.seats.len() as u32;
        CallPlan { fewest_calls: calls, most_calls: calls, most_phases, most_rounds: Some(most_phases) }
    }

    fn next(&self, debate: &Debate) -> Result<Step, Corrupt> {
        let brief = &debate.brief;
        let options = RoundsOptions::read(&brief.options);
        let round = debate.turns.len() as u32 + 1;
        let is_late = brief.limits.deadline_ms.is_some_and(|deadline| debate.at_ms >= deadline);
        if round > options.rounds || (is_late && options.closes_at_deadline) {
            return Ok(Step::Close(Box::new(outcome(debate))));
        }
        let earlier = replies(debate);
        let prompt = |seat: &Seat| Prompt {
            system: "Be brief.".into(),
            shared: earlier.join("\n").into(),
            tail: format!("You are {}. {}", seat.id, brief.question),
        };
        let schema = options.structured.then(|| Arc::new(answer_schema()));
        let later_model = options.later_model.as_deref();
        let asks = brief.seats.iter().map(|seat| Ask {
            id: 0,
            seat: seat.id.clone(),
            model: later_model.filter(|_| round > 1).unwrap_or(&seat.model).to_owned(),
            label: None,
            about: None,
            thread: match earlier.first() {
                Some(reply) if options.continues_thread => SeatThread::Continue(vec![PriorExchange {
                    prompt: "before".into(),
                    reply: reply.clone(),
                }]),
                _ => SeatThread::Fresh,
            },
            prompt: prompt(seat),
            schema: schema.clone(),
            within_ms: options.within_ms.map(u64::from),
            firm: options.firm,
            at_once: options.at_once,
            repeats: None,
        });
        let is_closing = self.info.closing_share > 0.0 && round == options.rounds;
        Ok(Step::Ask(Phase::new(if is_closing { "last" } else { "speak" }, round), asks.collect()))
    }

    fn check(&self, _: &Debate, _: &Ask, value: &Value) -> Result<(), ReplyFault> {
        match value["answer"].as_str() {
            Some("forbidden") => Err(ReplyFault::Invalid("that word is forbidden".into())),
            Some("unverified") => Err(ReplyFault::Unverified("Nobody said \"yes\".".into())),
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
