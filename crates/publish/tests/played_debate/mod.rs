//! Whole debates, played with invented replies by the real protocols.

use std::collections::BTreeMap;

use agon_core::play::{invent, play};
use agon_core::{
    Ask, Brief, BriefFile, Debate, DebateLimits, LOG_VERSION, LogRecord, Protocol, Reply, Request, options,
    protocol,
};

pub(crate) fn brief(protocol: &dyn Protocol, question: &str, given: &[(&str, &str)]) -> Brief {
    let given = given.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let request = Request {
        question: question.into(),
        files: vec![BriefFile { path: "plan.md".into(), text: "Adopt the queue.\n".into(), part: None }],
        models: ["one/a", "two/b", "three/c"].map(String::from).to_vec(),
        roles: BTreeMap::new(),
        options: options::resolve(protocol.info().options, given).unwrap(),
        seed: 7,
    };
    Brief {
        version: LOG_VERSION,
        id: "calm-otter-7".into(),
        protocol: protocol.info().name.into(),
        seats: protocol.seats(&request).unwrap(),
        question: request.question,
        files: request.files,
        options: request.options,
        // Larger than the whole numbers that a double can represent.
        seed: u64::MAX,
        nonce: "nonce".into(),
        limits: DebateLimits::default(),
        templates: protocol::template_hashes(protocol),
        written_by: "0.1.0".into(),
        created_at: "2026-01-31T23:59:58Z".into(),
        parent: None,
    }
}

/// Plays a whole debate. A reply that breaks a rule is invented again, up to 20 times.
pub(crate) fn play_debate(protocol: &dyn Protocol, brief: Brief, seed: u64) -> Vec<LogRecord> {
    let records = vec![Debate::open(brief).unwrap().1];
    let mut answer = |debate: &Debate, ask: &Ask| {
        let mut tries = (0..20).map(|more| invent(protocol, debate, ask, seed + 1000 * more));
        let said = tries.find(|reply| matches!(reply, Reply::Said { .. }));
        said.unwrap_or_else(|| invent(protocol, debate, ask, seed))
    };
    play(protocol, records, &mut answer, &mut |_| {}).unwrap()
}
