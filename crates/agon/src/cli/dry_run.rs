//! What a debate would take: seats, calls, tokens and price range, reckoned without a call.

use std::collections::BTreeMap;

use agon_core::play::{invent, play};
use agon_core::{Ask, Brief, Debate, Protocol, Reply, Thread};
use agon_engine::{Models, Price};
use agon_report::figures;
use serde_json::{Value, json};

use super::failure::Failure;
use super::opening::EMBEDDINGS;
use super::output;

/// So many debates are played with made-up answers; they differ in how soon they end.
const PLAYS: u64 = 8;
/// The estimate of a debate whose seed is yet to be drawn: the same whenever it is asked for.
const SEED: u64 = 7;
/// The rule of thumb for how much text a token is.
const BYTES_PER_TOKEN: usize = 4;

/// Prints what a debate with this brief would take; `seed` is the one that was asked for.
pub fn show(
    protocol: &dyn Protocol,
    mut brief: Brief,
    seed: Option<u64>,
    models: &dyn Models,
    as_json: bool,
) -> Result<u8, Failure> {
    brief.seed = seed.unwrap_or(SEED);
    let reckoning = reckon(protocol, &brief, models)?;
    if as_json {
        output::print_json(&reckoning.document(&brief))?;
    } else {
        output::print(&reckoning.text(&brief))?;
    }
    Ok(0)
}

/// From the least to the most.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Range<T> {
    min: T,
    max: T,
}

struct Reckoning {
    calls: Range<u32>,
    input_tokens: Range<u64>,
    output_tokens: Range<u64>,
    /// Unknown as soon as the price of one model is.
    usd: Option<Range<f64>>,
    /// For each model, whether its price is known, and what it is.
    prices: BTreeMap<String, Price>,
}

/// The calls to one model in one made-up debate.
#[derive(Debug, Clone, Copy, Default)]
struct Used {
    calls: u32,
    input_min: u64,
    input_max: u64,
    output_min: u64,
    output_max: u64,
    /// The longest prompt, at worst.
    prompt_max: u64,
}

type Sample = BTreeMap<String, Used>;

fn reckon(protocol: &dyn Protocol, brief: &Brief, models: &dyn Models) -> Result<Reckoning, Failure> {
    let mut prices = BTreeMap::new();
    for name in brief.seats.iter().flat_map(|seat| seat.model.split('|')) {
        prices.insert(name.trim().to_owned(), models.model(name.trim())?.price());
    }
    // A provider's embeddings have no seat, and a price all the same.
    if let Ok(embeddings) = models.model(brief.text(EMBEDDINGS)) {
        prices.insert(embeddings.name().to_owned(), embeddings.price());
    }
    let samples =
        (0..PLAYS).map(|seed| sample(protocol, brief, seed, models)).collect::<Result<Vec<_>, _>>()?;
    let calls = protocol.calls(brief);
    let limit = |n: u32| brief.limits.calls.map_or(n, |limit| limit.min(n));
    let calls = Range { min: limit(*calls.start()), max: limit(*calls.end()) };
    let most_played =
        samples.iter().map(|sample| sample.values().map(|used| used.calls).sum()).max().unwrap_or(1);
    // Made-up debates may all end early; the most is then reckoned up to the most calls there can be.
    let stretch = f64::from(calls.max) / f64::from(most_played.max(1));
    let each =
        |count: fn(&Used) -> u64| samples.iter().map(move |sample| sample.values().map(count).sum::<u64>());
    let tokens_max = brief.limits.tokens.unwrap_or(u64::MAX);
    let range = |least: fn(&Used) -> u64, most: fn(&Used) -> u64, call_max: u64| {
        let max = (each(most).max().unwrap_or_default() as f64 * stretch.max(1.0)).ceil() as u64;
        let max = max.min(u64::from(calls.max).saturating_mul(call_max)).min(tokens_max);
        Range { min: each(least).min().unwrap_or_default().min(max), max }
    };
    let longest = samples.iter().flat_map(Sample::values).map(|used| used.prompt_max).max();
    let usd = usd(&samples, &prices).map(|range| Range {
        min: range.min,
        max: brief.limits.usd.unwrap_or(f64::INFINITY).min(range.max * stretch.max(1.0)),
    });
    Ok(Reckoning {
        calls,
        input_tokens: range(|used| used.input_min, |used| used.input_max, longest.unwrap_or_default()),
        output_tokens: range(
            |used| used.output_min,
            |used| used.output_max,
            u64::from(brief.limits.output_tokens),
        ),
        usd,
        prices,
    })
}

/// Whether an ask is something looked up here, which is no call: nobody sits who would answer it, and no server either.
fn is_errand(brief: &Brief, ask: &Ask, models: &dyn Models) -> bool {
    brief.seat(&ask.seat).is_none() && models.model(&ask.model).map_or(true, |model| model.is_errand())
}

/// Plays the debate once with made-up answers and counts what each model would read and write.
fn sample(protocol: &dyn Protocol, brief: &Brief, seed: u64, models: &dyn Models) -> Result<Sample, Failure> {
    let failed = |why| Failure::Log { id: brief.id.clone(), why };
    let most_output = u64::from(brief.limits.output_tokens);
    let mut used = Sample::new();
    let mut answer = |debate: &Debate, ask: &Ask| {
        let reply = invent(protocol, debate, ask, seed);
        if is_errand(brief, ask, models) {
            return reply;
        }
        let written = tokens(reply.text().map_or(0, str::len));
        let read = tokens(prompt_bytes(ask));
        let entry = used.entry(ask.model.clone()).or_default();
        entry.calls += 1;
        entry.input_min += read;
        // Made-up answers are short. At worst every one so far was as long as it may be, and is in the prompt.
        let worst = read + answers(debate) * most_output;
        entry.input_max += worst;
        entry.prompt_max = entry.prompt_max.max(worst);
        entry.output_min += written;
        entry.output_max += most_output;
        reply
    };
    let (_, opened) = Debate::open(brief.clone()).map_err(failed)?;
    play(protocol, vec![opened], &mut answer, &mut |_| {}).map_err(failed)?;
    Ok(used)
}

fn prompt_bytes(ask: &Ask) -> usize {
    let thread = match &ask.thread {
        Thread::Fresh => 0,
        Thread::Continue(turns) => turns.iter().map(|turn| turn.prompt.len() + turn.reply.len()).sum(),
    };
    ask.prompt.system.len() + ask.prompt.shared.len() + ask.prompt.tail.len() + thread
}

fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN) as u64
}

/// The answers of phases that are over: those of the running one are nobody's to read yet.
fn answers(debate: &Debate) -> u64 {
    let over = debate.turns.iter().filter(|turn| turn.outstanding().next().is_none());
    over.flat_map(|turn| &turn.replies).filter(|reply| matches!(reply, Some(Reply::Said { .. }))).count()
        as u64
}

fn usd(samples: &[Sample], prices: &BTreeMap<String, Price>) -> Option<Range<f64>> {
    let cost = |name: &str, input: u64, output: u64, pick: fn(f64, f64) -> f64| {
        let usage = agon_core::Usage { input_tokens: input, output_tokens: output, ..Default::default() };
        // Of a fallback chain anybody may be the one that answers.
        let links = name.split('|').map(|link| prices.get(link.trim())?.of(&usage));
        links.reduce(|a, b| Some(pick(a?, b?))).flatten()
    };
    let mut range: Option<Range<f64>> = None;
    for sample in samples {
        let (mut min, mut max) = (0.0, 0.0);
        for (name, used) in sample {
            min += cost(name, used.input_min, used.output_min, f64::min)?;
            max += cost(name, used.input_max, used.output_max, f64::max)?;
        }
        range = Some(
            range.map_or(Range { min, max }, |seen| Range { min: seen.min.min(min), max: seen.max.max(max) }),
        );
    }
    range
}

impl Reckoning {
    fn document(&self, brief: &Brief) -> Value {
        let seat = |seat: &agon_core::Seat| json!({"id": seat.id, "role": seat.role, "model": seat.model});
        let range = |range: Range<u64>| json!({"min": range.min, "max": range.max});
        json!({
            "dry_run": true,
            "protocol": brief.protocol,
            "question": brief.question,
            "seats": brief.seats.iter().map(seat).collect::<Vec<_>>(),
            "calls": {"min": self.calls.min, "max": self.calls.max},
            "input_tokens": range(self.input_tokens),
            "output_tokens": range(self.output_tokens),
            "usd": self.usd.map(|usd| json!({"min": usd.min, "max": usd.max})),
            "limits": brief.limits,
        })
    }

    fn text(&self, brief: &Brief) -> String {
        let head = ["seat", "role", "model", "price"].map(str::to_owned).to_vec();
        let row = |seat: &agon_core::Seat| {
            let prices: Vec<String> = seat.model.split('|').map(|link| self.price(link.trim())).collect();
            vec![seat.id.clone(), seat.role.clone(), seat.model.clone(), prices.join(" | ")]
        };
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(brief.seats.iter().map(row)).collect();
        let title = format!("A dry run of {}: nothing is asked and nothing is stored", brief.protocol);
        let usd = match self.usd {
            None => "unknown: a model's price is not known; [prices] in agon.toml adds it".to_owned(),
            Some(usd) if usd.max == 0.0 => "nothing: every model is free".to_owned(),
            Some(Range { min, max }) => {
                format!("about {} to at most about {}", figures::dollars(min), figures::dollars(max))
            }
        };
        let calls = match self.calls.min == self.calls.max {
            true => self.calls.min.to_string(),
            false => format!("{} to {}", self.calls.min, self.calls.max),
        };
        let count = |range: Range<u64>| {
            format!("about {} to at most about {}", figures::count(range.min), figures::count(range.max))
        };
        format!(
            "{}\n  calls   {calls}, repairs and retries aside\n  reads   {} tokens\n  writes  {} tokens\n  price   {usd}\n",
            agon_report::table(&title, &rows, &output::stdout_style()),
            count(self.input_tokens),
            count(self.output_tokens),
        )
    }

    fn price(&self, name: &str) -> String {
        match self.prices.get(name) {
            Some(Price::Free) => "free".into(),
            Some(Price::PerMillion { input, output, .. }) => {
                format!("${input} in, ${output} out per million")
            }
            Some(Price::Unknown) | None => "unknown".into(),
        }
    }
}
