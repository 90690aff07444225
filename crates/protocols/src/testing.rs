//! A debate without models, for the protocols' own tests.

use std::collections::BTreeMap;

use agon_core::play::play;
use agon_core::{
    AbsenceReason, Ask, Brief, BriefFile, CallUsage, Debate, DebateLimits, Invalid, LOG_VERSION, LogRecord,
    Protocol, Reply, Request, ShortenedPrompt, TableTools, ToolOffer, options, protocol,
};
use serde_json::{Value, json};

/// What the table answers: by ask, phase and round; a string is plain text, `None` is an absence.
pub(crate) type Answer<'a> = &'a dyn Fn(&Ask, &str, u32) -> Option<Value>;

/// A request with these options set.
pub(crate) fn request(
    protocol: &dyn Protocol,
    question: &str,
    files: &[(&str, &str)],
    models: &[&str],
    set: &[(&str, &str)],
) -> Result<Request, Invalid> {
    let given = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let file = |(path, text): &(&str, &str)| BriefFile {
        // A path that begins with an option's key and a colon is that option's file.
        part: path.split_once(':').map(|(part, _)| part.to_owned()),
        path: path.split_once(':').map_or(*path, |(_, path)| path).to_owned(),
        text: (*text).to_owned(),
    };
    Ok(Request {
        question: question.to_owned(),
        files: files.iter().map(file).collect(),
        models: models.iter().map(|model| (*model).to_owned()).collect(),
        roles: BTreeMap::new(),
        options: options::resolve(protocol.info().options, given)?,
        seed: 7,
    })
}

/// A table at which files can be read.
pub(crate) fn files_tool() -> TableTools {
    let (name, about, arguments) = ("files".into(), "Reads files.".into(), json!({"type": "object"}));
    let offers = vec![ToolOffer { name, about, arguments }];
    TableTools { offers, calls: 8, tokens: 24_000, folder: None }
}

/// A brief without a protocol, for tests of what the protocols share.
pub(crate) fn plain_brief() -> Brief {
    let protocol = &crate::poll::Poll;
    let request = request(protocol, "Which database?", &[], &["one/a", "two/b"], &[]).unwrap();
    brief(protocol, request).unwrap()
}

/// The brief of a request.
pub(crate) fn brief(protocol: &dyn Protocol, request: Request) -> Result<Brief, Invalid> {
    let seats = protocol.seats(&request)?;
    let question = match request.question.is_empty() {
        true => (protocol.info().title)(&request),
        false => request.question,
    };
    Ok(Brief {
        version: LOG_VERSION,
        id: "test".into(),
        protocol: protocol.info().name.into(),
        seats,
        question,
        files: request.files,
        options: request.options,
        seed: 11,
        nonce: "nonce".into(),
        limits: DebateLimits::default(),
        templates: protocol::template_hashes(protocol),
        written_by: String::new(),
        created_at: "2026-01-31T23:59:58Z".into(),
        parent: None,
    })
}

/// Plays a debate to its end. Every answer must keep its schema and the protocol's rules.
pub(crate) fn run(protocol: &dyn Protocol, brief: Brief, answer: Answer<'_>) -> (Vec<LogRecord>, Debate) {
    let records = vec![Debate::open(brief).unwrap().1];
    let mut reply = |debate: &Debate, ask: &Ask| {
        let phase = debate.last_phase().unwrap();
        let Some(value) = answer(ask, &phase.name, phase.round) else {
            return Reply::Absent { why: AbsenceReason::TimedOut, detail: "test".into() };
        };
        let (text, value) = match value {
            Value::String(text) => (text, None),
            value => {
                jsonschema::validate(&ask.schema.as_ref().unwrap().json, &value).unwrap();
                protocol.check(debate, ask, &value).unwrap();
                (value.to_string(), Some(value))
            }
        };
        Reply::Said {
            text,
            value,
            model: ask.model.clone(),
            usage: CallUsage { usd: Some(0.01), ..CallUsage::default() },
            // A seat of this name always runs into the limit on output tokens.
            cut_off: ask.seat == "wordy",
            shortened: is_shortened(&ask.seat, phase.round),
        }
    };
    let records = play(protocol, records, &mut reply, &mut |_| {}).unwrap();
    let debate = Debate::from_records(&records).unwrap();
    (records, debate)
}

/// A seat of this name reads no more than this of a round.
fn is_shortened(seat: &str, round: u32) -> Option<ShortenedPrompt> {
    let short = ShortenedPrompt { left_out: 3, entries: 9, context_tokens: 2048 };
    (seat == "forgetful" && round > 0).then_some(short)
}
