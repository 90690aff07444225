//! Debates of every protocol, played with made-up answers.

use std::collections::BTreeMap;

use agon_core::play::{REPLY_MS, REPLY_USD, invent, play};
use agon_core::{
    Ask, Brief, BriefFile, Debate, DebateLimits, Invalid, LOG_VERSION, LogRecord, OptionKind, Protocol,
    Reply, Request, TableTools, ToolOffer, options, protocol,
};
use agon_protocols::all;

/// Every protocol with its defaults, with every other value of each choice and flag, with every allowed pair of flags, with
/// limits, and with tools.
pub(crate) fn cases() -> Vec<(&'static dyn Protocol, Brief)> {
    let mut cases = Vec::new();
    for protocol in all() {
        let mut settings: Vec<Vec<(String, String)>> = vec![Vec::new()];
        for spec in protocol.info().options {
            let values: Vec<&str> = match spec.kind {
                OptionKind::Choice(words) => {
                    words.iter().filter(|word| **word != spec.default).copied().collect()
                }
                OptionKind::Flag => vec![if spec.default == "true" { "false" } else { "true" }],
                _ => Vec::new(),
            };
            settings.extend(values.into_iter().map(|value| vec![(spec.key.to_owned(), value.to_owned())]));
        }
        let flags: Vec<&str> = protocol
            .info()
            .options
            .iter()
            .filter(|spec| spec.kind == OptionKind::Flag)
            .map(|spec| spec.key)
            .collect();
        for (place, one) in flags.iter().enumerate() {
            let on = |key: &str| (key.to_owned(), "true".to_owned());
            settings.extend(flags.iter().skip(place + 1).map(|other| vec![on(one), on(other)]));
        }
        for (number, set) in settings.into_iter().enumerate() {
            let is_pair = set.len() == 2;
            match brief(protocol, set, number as u64) {
                Ok(brief) => cases.push((protocol, brief)),
                Err(why) => assert!(is_pair, "{}: {why}", protocol.info().name),
            }
        }
        for limits in limits() {
            cases.push((protocol, Brief { limits, ..brief(protocol, Vec::new(), 9).unwrap() }));
        }
        let calls = DebateLimits { calls: Some(10), ..DebateLimits::default() };
        for limits in [DebateLimits::default(), calls] {
            let mut brief = brief(protocol, Vec::new(), 9).unwrap();
            brief.files.push(tools().file().unwrap());
            cases.push((protocol, Brief { limits, ..brief }));
        }
    }
    cases
}

/// Tools for which made-up answers ask, too.
fn tools() -> TableTools {
    let arguments = serde_json::json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let offer = ToolOffer { name: "files".into(), about: "Reads files.".into(), arguments };
    TableTools { offers: vec![offer], calls: 8, tokens: 60, folder: None }
}

/// Limits that a debate reaches early, in the middle and late.
pub(crate) fn limits() -> Vec<DebateLimits> {
    let mut all = Vec::new();
    for n in [0, 4, 10] {
        all.push(DebateLimits { calls: Some(n), ..DebateLimits::default() });
        all.push(DebateLimits { usd: Some(f64::from(n) * REPLY_USD), ..DebateLimits::default() });
        all.push(DebateLimits { deadline_ms: Some(u64::from(n) * REPLY_MS), ..DebateLimits::default() });
    }
    all
}

/// A debate with these options, if the protocol allows them.
pub(crate) fn brief(
    protocol: &dyn Protocol,
    set: Vec<(String, String)>,
    seed: u64,
) -> Result<Brief, Invalid> {
    let request = Request {
        question: "Should the team adopt the queue?".into(),
        files: vec![BriefFile { path: "plan.md".into(), text: "Adopt the queue.".into(), part: None }],
        models: ["one/a", "two/b", "three/c"].map(String::from).to_vec(),
        roles: BTreeMap::new(),
        options: options::resolve(protocol.info().options, set).unwrap(),
        seed: 7,
    };
    Ok(Brief {
        version: LOG_VERSION,
        id: "test".into(),
        protocol: protocol.info().name.into(),
        seats: protocol.seats(&request)?,
        question: request.question,
        files: request.files,
        options: request.options,
        seed,
        nonce: "nonce".into(),
        limits: DebateLimits::default(),
        templates: protocol::template_hashes(protocol),
        written_by: String::new(),
        created_at: "2026-01-01T00:00:00Z".into(),
        parent: None,
    })
}

/// The log of a debate that has just been opened.
pub(crate) fn opened(brief: &Brief) -> Vec<LogRecord> {
    vec![Debate::open(brief.clone()).unwrap().1]
}

/// A made-up answer that passes the protocol's check. Few pass a strict check, such as that a ranking lists everybody once, so
/// several are tried.
pub(crate) fn invented(protocol: &dyn Protocol, debate: &Debate, ask: &Ask, seed: u64) -> Reply {
    let tries = (0..20).map(|more| invent(protocol, debate, ask, seed + 1000 * more));
    let mut tries = tries.skip_while(|reply| matches!(reply, Reply::Absent { .. }));
    tries.next().unwrap_or_else(|| panic!("{}: no made-up answer passes the check", protocol.info().name))
}

/// Plays a debate with made-up answers. They depend on the prompts, so they differ if a prompt depends on the arrival order.
pub(crate) fn played(protocol: &dyn Protocol, records: Vec<LogRecord>, seed: u64) -> Vec<LogRecord> {
    let mut answer = |debate: &Debate, ask: &Ask| invented(protocol, debate, ask, seed);
    play(protocol, records, &mut answer, &mut |_| {}).unwrap()
}
