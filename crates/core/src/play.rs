//! A whole debate without any I/O: how a log is continued, replayed and branched, and how one is played with
//! made-up answers for dry runs and for the laws that every protocol keeps.

use serde_json::{Value, json};

use crate::protocol::check_brief;
use crate::seed::SeededDraw;
use crate::{
    AbsenceReason, Ask, BranchParent, Brief, Corrupt, Debate, Event, LogRecord, NextEvent, PhaseTurn,
    Protocol, Reply, ReplyFault, ReplySchema, advance, quotations,
};

/// Folds a log that is to be continued: the debate, and the asks of its last phase that have no reply, with their
/// prompts made anew and compared with what the log says was asked.
pub fn reopen(protocol: &dyn Protocol, records: &[LogRecord]) -> Result<(Debate, Vec<Ask>), Corrupt> {
    let debate = Debate::from_records(records)?;
    check_brief(protocol, &debate.brief)?;
    let Some(turn) = debate.turns.last().filter(|turn| turn.outstanding().next().is_some()) else {
        return Ok((debate, Vec::new()));
    };
    let since = usize::try_from(turn.since).unwrap_or(usize::MAX);
    let before = Debate::from_records(records.get(..since).unwrap_or_default())?;
    let asks = match advance(protocol, &before)? {
        NextEvent::Ask(event, asks) => {
            compare(turn.since, records.get(since).map(|record| &record.entry.event), &event)?;
            asks
        }
        NextEvent::Close(_) => return Err(departed(turn.since, "it would have closed here")),
    };
    let open: Vec<u32> = turn.outstanding().map(|asked| asked.id).collect();
    let asks = asks.into_iter().filter(|ask| open.contains(&ask.id)).collect();
    Ok((debate, asks))
}

/// Goes through a log and checks that the protocol would have done at every step what the log says it did, and that only models spoke
/// that were asked.
pub fn replay(protocol: &dyn Protocol, records: &[LogRecord]) -> Result<Debate, Corrupt> {
    replay_with(protocol, records, &mut |_, _| Ok(()))
}

/// Does the same and asks `check` about every reply. Its error is a sentence.
pub fn replay_with(
    protocol: &dyn Protocol,
    records: &[LogRecord],
    check: &mut dyn FnMut(&Ask, &Reply) -> Result<(), String>,
) -> Result<Debate, Corrupt> {
    let (first, rest) = records.split_first().ok_or(Corrupt::Empty)?;
    let mut debate = Debate::from_records(std::slice::from_ref(first))?;
    check_brief(protocol, &debate.brief)?;
    let inherited = debate.brief.parent.as_ref().map_or(0, |parent| parent.events);
    let mut asks: Vec<Ask> = Vec::new();
    for record in rest {
        let (seq, event) = (record.entry.seq, &record.entry.event);
        match event {
            Event::Asked { .. } | Event::Closed { .. } => {
                let expected = match advance(protocol, &debate)? {
                    NextEvent::Ask(expected, asked) => {
                        asks = asked;
                        expected
                    }
                    NextEvent::Close(expected) => expected,
                };
                compare(seq, Some(event), &expected)?;
            }
            Event::Sent { ask, model, .. } => {
                check_model(&asks, *ask, model).map_err(|why| departed(seq, &why))?
            }
            Event::Replied { ask, reply } => {
                // What a branch took over was said to the questions, and by the seats, of the first debate.
                if let Some(asked) = asks.iter().find(|asked| asked.id == *ask && seq > inherited) {
                    if let Reply::Said { model, .. } = reply {
                        check_model(&asks, *ask, model).map_err(|why| departed(seq, &why))?;
                    }
                    check(asked, reply).map_err(|why| departed(seq, &why))?;
                }
            }
            _ => {}
        }
        debate.apply(record)?;
    }
    Ok(debate)
}

/// Whether a model is one of those that an ask names. The model behind a named agent is not in the log.
fn check_model(asks: &[Ask], id: u32, model: &str) -> Result<(), String> {
    let Some(ask) = asks.iter().find(|ask| ask.id == id) else { return Ok(()) };
    let is_named = |link: &str| link == model || link.starts_with("agent/");
    match ask.model == model || ask.model.split('|').map(str::trim).any(is_named) {
        true => Ok(()),
        false => Err(format!("{model} was not asked, but {}", ask.model)),
    }
}

fn compare(seq: u64, found: Option<&Event>, expected: &Event) -> Result<(), Corrupt> {
    if found == Some(expected) {
        return Ok(());
    }
    match (found, expected) {
        (Some(Event::Asked { phase, round, .. }), Event::Asked { phase: p, round: r, .. })
            if (phase, round) == (p, r) =>
        {
            Err(departed(seq, &format!("the prompts of {phase}, round {round}, are not the same")))
        }
        (Some(Event::Asked { phase, round, .. }), Event::Asked { phase: p, round: r, .. }) => {
            Err(departed(seq, &format!("it would have asked {p}, round {r}, not {phase}, round {round}")))
        }
        (Some(Event::Closed { .. }), Event::Closed { .. }) => {
            Err(departed(seq, "the outcome is not the same"))
        }
        _ => Err(departed(seq, "it would have taken another step")),
    }
}

fn departed(seq: u64, why: &str) -> Corrupt {
    Corrupt::Departed { seq, why: why.to_owned() }
}

/// A new debate that takes over another's replies up to the end of round `at_round` (0: the phases before the first
/// round), under a brief that may have other seats, options or limits. Phases that the new brief would not ask in
/// the same way are not taken over, nor are those that a limit cut or that close the debate.
pub fn branch(
    protocol: &dyn Protocol,
    records: &[LogRecord],
    mut brief: Brief,
    at_round: u32,
) -> Result<Vec<LogRecord>, Corrupt> {
    let source = Debate::from_records(records)?;
    let closing = |turn: &PhaseTurn| protocol.info().is_closing(&turn.phase.name);
    let limit = |why: AbsenceReason| matches!(why, AbsenceReason::OverBudget | AbsenceReason::Cancelled);
    let goes_on = |turn: &&PhaseTurn| {
        let limited = turn.absences().any(|(_, why, _)| limit(why));
        turn.phase.round <= at_round && !closing(turn) && !limited
    };
    let kept: Vec<_> = source.turns.iter().take_while(goes_on).collect();
    let most: usize = kept.iter().map(|turn| 1 + turn.asks.len()).sum();
    let parent = BranchParent { id: source.brief.id.clone(), at_round, events: most as u64 };
    brief.parent = Some(parent);
    let (mut debate, opened) = Debate::open(brief.clone())?;
    let mut taken = vec![opened];
    for turn in kept {
        let NextEvent::Ask(event, asks) = advance(protocol, &debate)? else { break };
        let same_seats = asks.iter().map(|ask| &ask.seat).eq(turn.asks.iter().map(|ask| &ask.seat));
        let same_phase = matches!(&event, Event::Asked { phase, round, .. }
            if *phase == turn.phase.name && *round == turn.phase.round);
        if !(same_seats && same_phase) || turn.outstanding().next().is_some() {
            break;
        }
        taken.push(debate.push(event, 0)?);
        for (ask, (_, reply)) in asks.iter().zip(turn.settled()) {
            taken.push(debate.push(Event::Replied { ask: ask.id, reply: reply.clone() }, 0)?);
        }
    }
    let events = taken.len() as u64 - 1;
    if events == most as u64 {
        return Ok(taken);
    }
    // Fewer phases fitted than hoped: seal the same events again under the true count.
    if let Some(parent) = &mut brief.parent {
        parent.events = events;
    }
    let (mut debate, opened) = Debate::open(brief)?;
    let mut sealed = vec![opened];
    for record in taken.into_iter().skip(1) {
        sealed.push(debate.push(record.entry.event, 0)?);
    }
    Ok(sealed)
}

/// How long a reply takes in a debate that is played.
pub const REPLY_MS: u64 = 10;
/// What a made-up reply costs, in US dollars.
pub const REPLY_USD: f64 = 0.001;

/// Plays a debate to its end, or goes on with one, asking `answer` for every reply. The replies of a phase arrive in
/// the order that `arrival` makes of their places.
pub fn play(
    protocol: &dyn Protocol,
    mut records: Vec<LogRecord>,
    answer: &mut dyn FnMut(&Debate, &Ask) -> Reply,
    arrival: &mut dyn FnMut(&mut [usize]),
) -> Result<Vec<LogRecord>, Corrupt> {
    let (mut debate, mut asks) = reopen(protocol, &records)?;
    let mut phases = 0;
    while debate.outcome.is_none() {
        if asks.is_empty() {
            match advance(protocol, &debate)? {
                NextEvent::Close(event) => {
                    records.push(debate.push(event, debate.at_ms)?);
                    break;
                }
                NextEvent::Ask(event, fresh) => {
                    records.push(debate.push(event, debate.at_ms)?);
                    asks = fresh;
                }
            }
            phases += 1;
            if phases > protocol.plan(&debate.brief).most_phases + 1 {
                return Err(departed(debate.events, "it asks more phases than its bound"));
            }
        }
        let mut order: Vec<usize> = (0..asks.len()).collect();
        arrival(&mut order);
        for ask in order.iter().filter_map(|place| asks.get(*place)) {
            let reply = answer(&debate, ask);
            if matches!(reply, Reply::Said { .. }) {
                let attempt = attempts_before(&debate, ask.id) + 1;
                let sent = Event::Sent {
                    ask: ask.id,
                    attempt,
                    model: ask.model.clone(),
                    worst_usd: Some(0.0),
                    worst_tokens: 0,
                    errand: false,
                };
                records.push(debate.push(sent, debate.at_ms)?);
            }
            // Every reply takes the same time, so that limits on time are met whatever the order.
            records.push(debate.push(Event::Replied { ask: ask.id, reply }, debate.at_ms + REPLY_MS)?);
        }
        asks.clear();
    }
    Ok(records)
}

fn attempts_before(debate: &Debate, ask: u32) -> u32 {
    let turn = debate.turns.last();
    let place = turn.and_then(|turn| turn.asks.iter().position(|asked| asked.id == ask));
    let attempts = place.and_then(|place| turn?.attempts.get(place)).map_or(0, Vec::len);
    u32::try_from(attempts).unwrap_or(u32::MAX)
}

/// A made-up answer to an ask, valid by its schema and by the protocol's own rules. The same seed,
/// seat and prompt give the same answer; another prompt gives another.
pub fn invent(protocol: &dyn Protocol, debate: &Debate, ask: &Ask, seed: u64) -> Reply {
    let mut draw = SeededDraw::new(seed, &format!("{}{}", ask.seat, ask.prompt.hash()));
    let usage =
        crate::CallUsage { input_tokens: 100, output_tokens: 20, usd: Some(REPLY_USD), ..Default::default() };
    let said = |text: String, value| Reply::Said {
        text,
        value,
        model: ask.model.clone(),
        usage,
        cut_off: false,
        shortened: None,
    };
    let Some(schema) = &ask.schema else {
        return said(sentence(&mut draw, 24), None);
    };
    // A quote that happens to verify is better than one that does not, and one that does not is better than no answer.
    let prompt = ask.prompt.user();
    // No schema allows a longer quote.
    let quotes = quotations(&prompt);
    let quotes: Vec<&str> =
        quotes.iter().flat_map(|quoted| quoted.text.lines()).filter(|line| line.len() <= 1_000).collect();
    let mut unverified = Vec::new();
    for _ in 0..200 {
        let value = made_up(&schema.json, &schema.json, &quotes, &mut draw);
        match protocol.check(debate, ask, &value) {
            Ok(()) => return said(value.to_string(), Some(value)),
            Err(ReplyFault::Unverified(_)) => unverified.push(value),
            Err(ReplyFault::Invalid(_)) => {}
        }
        if unverified.len() == 10 {
            break;
        }
    }
    if let Some(value) = unverified.into_iter().next() {
        return said(value.to_string(), Some(value));
    }
    let detail = format!("no made-up answer to {} keeps the protocol's rules", schema.name);
    Reply::Absent { why: AbsenceReason::Malformed, detail }
}

/// A made-up value of this schema.
pub fn invent_value(schema: &ReplySchema, draw: &mut SeededDraw) -> Value {
    made_up(&schema.json, &schema.json, &[], draw)
}

fn made_up(root: &Value, schema: &Value, quotes: &[&str], draw: &mut SeededDraw) -> Value {
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        return root
            .pointer(target.trim_start_matches('#'))
            .map_or(Value::Null, |inner| made_up(root, inner, quotes, draw));
    }
    if let Some(fixed) = schema.get("const") {
        return fixed.clone();
    }
    for key in ["enum", "anyOf", "oneOf"] {
        if let Some(choices) = schema.get(key).and_then(Value::as_array) {
            let choice = choices.get(draw.below(choices.len())).cloned().unwrap_or_default();
            return if key == "enum" { choice } else { made_up(root, &choice, quotes, draw) };
        }
    }
    let kinds: Vec<&str> = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        Some(kind) => kind.as_str().into_iter().collect(),
        None => Vec::new(),
    };
    match kinds.get(draw.below(kinds.len())).copied() {
        Some("object") => made_up_object(root, schema, quotes, draw),
        Some("array") => made_up_array(root, schema, quotes, draw),
        Some("string") => json!(sentence(draw, 8)),
        Some("boolean") => json!(draw.below(2) == 0),
        Some("integer") => json!(number(schema, draw).round() as i64),
        Some("number") => json!((number(schema, draw) * 100.0).round() / 100.0),
        _ => Value::Null,
    }
}

fn made_up_object(root: &Value, schema: &Value, quotes: &[&str], draw: &mut SeededDraw) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let mut value_of = |key: &str, inner: &Value| match quotes.get(draw.below(quotes.len())) {
        Some(line) if key == "quote" => json!(line),
        _ => made_up(root, inner, quotes, draw),
    };
    properties
        .map(|(key, inner)| (key.clone(), value_of(key, inner)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn made_up_array(root: &Value, schema: &Value, quotes: &[&str], draw: &mut SeededDraw) -> Value {
    let bound = |key: &str, default: u64| schema.get(key).and_then(Value::as_u64).unwrap_or(default) as usize;
    let (least, most) = (bound("minItems", 0), bound("maxItems", 3).min(8));
    let count = least + draw.below(most.saturating_sub(least) + 1);
    let item = schema.get("items").cloned().unwrap_or_default();
    (0..count).map(|_| made_up(root, &item, quotes, draw)).collect::<Vec<_>>().into()
}

fn number(schema: &Value, draw: &mut SeededDraw) -> f64 {
    let bound = |key: &str, default: f64| schema.get(key).and_then(Value::as_f64).unwrap_or(default);
    let (low, high) = (bound("minimum", 0.0), bound("maximum", 10.0));
    low + (high - low) * draw.unit()
}

fn sentence(draw: &mut SeededDraw, words: usize) -> String {
    // None of these is a word of a prompt, so that a renamed debate renames nothing else.
    const WORDS: &[&str] = &[
        "cost", "risk", "time", "users", "never", "always", "first", "measure", "because", "sample", "plan",
        "team", "change", "keep", "twice", "half", "later", "today", "price", "load",
    ];
    let count = 1 + draw.below(words);
    let words: Vec<&str> = (0..count).filter_map(|_| WORDS.get(draw.below(WORDS.len())).copied()).collect();
    format!("{}.", words.join(" "))
}
