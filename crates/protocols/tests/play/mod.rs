//! Debates of every protocol, played with made-up answers.

use std::collections::BTreeMap;

use agon_core::play::{REPLY_MS, REPLY_USD, invent, play};
use agon_core::{
    Ask, Brief, BriefFile, Debate, DebateLimits, Invalid, LOG_VERSION, LogRecord, OptionKind, Protocol,
    Reply, Request, options, protocol,
};
use agon_protocols::all;

/// Every protocol with its defaults, with every other value of each of its choices and switches, and with every two switches
/// together where that is allowed.
pub(crate) fn cases() -> Vec<(&'static dyn Protocol, Brief)> {
    let mut cases = Vec::new();
    for protocol in all() {
        let mut settings: Vec<Vec<(String, String)>> = vec![Vec::new()];
        for opt in protocol.info().options {
            let values: Vec<&str> = match opt.kind {
                OptionKind::Choice(words) => {
                    words.iter().filter(|word| **word != opt.default).copied().collect()
                }
                OptionKind::Flag => vec![if opt.default == "true" { "false" } else { "true" }],
                _ => Vec::new(),
            };
            settings.extend(values.into_iter().map(|value| vec![(opt.key.to_owned(), value.to_owned())]));
        }
        let flags: Vec<&str> = protocol
            .info()
            .options
            .iter()
            .filter(|opt| opt.kind == OptionKind::Flag)
            .map(|opt| opt.key)
            .collect();
        for (place, one) in flags.iter().enumerate() {
            let on = |key: &str| (key.to_owned(), "true".to_owned());
            settings.extend(flags.iter().skip(place + 1).map(|other| vec![on(one), on(other)]));
        }
        for (number, given) in settings.into_iter().enumerate() {
            let alone = given.len() < 2;
            match brief(protocol, given, number as u64) {
                Ok(brief) => cases.push((protocol, brief)),
                Err(why) => assert!(!alone, "{}: {why}", protocol.info().name),
            }
        }
        for limits in limits() {
            cases.push((protocol, Brief { limits, ..brief(protocol, Vec::new(), 9).unwrap() }));
        }
    }
    cases
}

/// DebateLimits that a debate runs into early, in the middle, late.
pub(crate) fn limits() -> Vec<DebateLimits> {
    let mut all = Vec::new();
    // A call that is repeated after a crash counts, so that a limit on calls that a debate just keeps would end it there: it
    // would not be the same debate.
    for n in [0, 4, 10] {
        all.push(DebateLimits { calls: Some(n), ..DebateLimits::default() });
        all.push(DebateLimits { usd: Some(f64::from(n) * REPLY_USD), ..DebateLimits::default() });
        all.push(DebateLimits { deadline_ms: Some(u64::from(n) * REPLY_MS), ..DebateLimits::default() });
    }
    all
}

fn brief(protocol: &dyn Protocol, given: Vec<(String, String)>, seed: u64) -> Result<Brief, Invalid> {
    let request = Request {
        question: "Should the team adopt the queue?".into(),
        files: vec![BriefFile { path: "plan.md".into(), text: "Adopt the queue.".into(), part: None }],
        models: ["one/a", "two/b", "three/c"].map(String::from).to_vec(),
        roles: BTreeMap::new(),
        options: options::resolve(protocol.info().options, given).unwrap(),
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
        limits: DebateLimits::default(),
        templates: protocol::template_hashes(protocol),
        written_by: String::new(),
        created_at: "2026-01-01T00:00:00Z".into(),
        parent: None,
    })
}

/// The log of a debate in which nothing was said yet.
pub(crate) fn opened(brief: &Brief) -> Vec<LogRecord> {
    vec![Debate::open(brief.clone()).unwrap().1]
}

/// A made-up answer. Rules that few made-up answers keep, such as that a ranking has everybody once, are tried for longer.
pub(crate) fn invented(protocol: &dyn Protocol, debate: &Debate, ask: &Ask, seed: u64) -> Reply {
    let tries = (0..20).map(|more| invent(protocol, debate, ask, seed + 1000 * more));
    let mut tries = tries.skip_while(|reply| matches!(reply, Reply::Absent { .. }));
    tries.next().unwrap_or_else(|| panic!("{}: no made-up answer keeps the rules", protocol.info().name))
}

/// Plays a debate with invented answers. They depend on the prompt, so a prompt that depends on arrival order shows.
pub(crate) fn played(protocol: &dyn Protocol, records: Vec<LogRecord>, seed: u64) -> Vec<LogRecord> {
    let mut answer = |debate: &Debate, ask: &Ask| invented(protocol, debate, ask, seed);
    play(protocol, records, &mut answer, &mut |_| {}).unwrap()
}
