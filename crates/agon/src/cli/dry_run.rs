//! What a debate would take: seats, calls, tokens and price, estimated without a call.

use std::collections::BTreeMap;

use agon_core::play::{invent, play};
use agon_core::wording::{count, dollars};
use agon_core::{Ask, Brief, CallUsage, Debate, Protocol, Reply, Seat, SeatThread};
use agon_engine::{ModelPrice, ModelSource};
use serde_json::{Value, json};

use super::brief_builder::EMBEDDINGS_OPTION;
use super::errors::CliError;
use super::output;

/// How many debates are played with invented answers. They differ in how soon they end.
const PLAYED_DEBATES: u64 = 8;
/// The seed of an estimate if the user set none, so that it is always the same.
const DEFAULT_SEED: u64 = 7;
/// A rule of thumb.
const BYTES_PER_TOKEN: usize = 4;

/// Prints what a debate with this brief would take. `seed` is the one that the user set.
pub fn print_estimate(
    protocol: &dyn Protocol,
    brief: Brief,
    seed: Option<u64>,
    models: &dyn ModelSource,
    as_json: bool,
) -> Result<u8, CliError> {
    let brief = repeatable(brief, seed);
    let estimate = DebateEstimate::of(protocol, &brief, models)?;
    output::print_result(as_json, || estimate.document(&brief), || estimate.text(&brief))
}

/// The same as JSON.
pub fn estimate_document(
    protocol: &dyn Protocol,
    brief: Brief,
    seed: Option<u64>,
    models: &dyn ModelSource,
) -> Result<Value, CliError> {
    let brief = repeatable(brief, seed);
    Ok(DebateEstimate::of(protocol, &brief, models)?.document(&brief))
}

/// An estimate says the same whenever it is asked for. The nonce is random, and invented answers quote the prompts.
fn repeatable(brief: Brief, seed: Option<u64>) -> Brief {
    Brief { seed: seed.unwrap_or(DEFAULT_SEED), nonce: "dry run".to_owned(), ..brief }
}

/// From the least to the most.
#[derive(Debug, Clone, Copy, PartialEq)]
struct EstimateRange<T> {
    min: T,
    max: T,
}

struct DebateEstimate {
    calls: EstimateRange<u32>,
    input_tokens: EstimateRange<u64>,
    output_tokens: EstimateRange<u64>,
    /// `None` if the price of a model is not known.
    usd: Option<EstimateRange<f64>>,
    prices: BTreeMap<String, ModelPrice>,
}

/// The calls to one model in one played debate.
#[derive(Debug, Clone, Copy, Default)]
struct ModelTraffic {
    calls: u32,
    input_min: u64,
    input_max: u64,
    output_min: u64,
    output_max: u64,
    longest_prompt: u64,
}

/// The traffic of one played debate, by model.
type DebateTraffic = BTreeMap<String, ModelTraffic>;

impl DebateEstimate {
    fn of(protocol: &dyn Protocol, brief: &Brief, models: &dyn ModelSource) -> Result<Self, CliError> {
        let prices = model_prices(brief, models)?;
        let played = (0..PLAYED_DEBATES)
            .map(|seed| play_once(protocol, brief, seed, models))
            .collect::<Result<Vec<_>, _>>()?;
        let plan = protocol.plan(brief);
        let within_limit = |calls: u32| brief.limits.calls.map_or(calls, |limit| limit.min(calls));
        let calls =
            EstimateRange { min: within_limit(plan.fewest_calls), max: within_limit(plan.most_calls) };
        let most_played = played.iter().map(|debate| debate.values().map(|model| model.calls).sum()).max();
        // If all played debates end early, the most is scaled up to the most calls that are possible.
        let stretch = (f64::from(calls.max) / f64::from(most_played.unwrap_or(1).max(1))).max(1.0);
        let totals = |field: fn(&ModelTraffic) -> u64| {
            played.iter().map(move |debate| debate.values().map(field).sum::<u64>())
        };
        let tokens_max = brief.limits.tokens.unwrap_or(u64::MAX);
        let range = |least: fn(&ModelTraffic) -> u64, most: fn(&ModelTraffic) -> u64, per_call_max: u64| {
            let max = (totals(most).max().unwrap_or_default() as f64 * stretch).ceil() as u64;
            let max = max.min(u64::from(calls.max).saturating_mul(per_call_max)).min(tokens_max);
            EstimateRange { min: totals(least).min().unwrap_or_default().min(max), max }
        };
        let longest = played.iter().flat_map(DebateTraffic::values).map(|model| model.longest_prompt).max();
        let output_max = u64::from(brief.limits.output_tokens);
        let usd = price_range(&played, &prices).map(|range| EstimateRange {
            min: range.min,
            max: brief.limits.usd.unwrap_or(f64::INFINITY).min(range.max * stretch),
        });
        Ok(Self {
            calls,
            input_tokens: range(
                |model| model.input_min,
                |model| model.input_max,
                longest.unwrap_or_default(),
            ),
            output_tokens: range(|model| model.output_min, |model| model.output_max, output_max),
            usd,
            prices,
        })
    }

    fn document(&self, brief: &Brief) -> Value {
        let seat = |seat: &Seat| json!({"id": seat.id, "role": seat.role, "model": seat.model});
        let range = |range: EstimateRange<u64>| json!({"min": range.min, "max": range.max});
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
        let row = |seat: &Seat| {
            let prices: Vec<String> =
                seat.model.split('|').map(|link| self.price_words(link.trim())).collect();
            vec![seat.id.clone(), seat.role.clone(), seat.model.clone(), prices.join(" | ")]
        };
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(brief.seats.iter().map(row)).collect();
        let title = format!("A dry run of {}: nothing is asked and nothing is stored", brief.protocol);
        let usd = match self.usd {
            None => "unknown: the price of a model is not known; [prices] in agon.toml adds it".to_owned(),
            Some(usd) if usd.max == 0.0 => "nothing: every model is free".to_owned(),
            Some(EstimateRange { min, max }) => {
                format!("about {} to at most about {}", dollars(min), dollars(max))
            }
        };
        let calls = match self.calls.min == self.calls.max {
            true => self.calls.min.to_string(),
            false => format!("{} to {}", self.calls.min, self.calls.max),
        };
        let tokens = |range: EstimateRange<u64>| {
            format!("about {} to at most about {} tokens", count(range.min), count(range.max))
        };
        format!(
            "{}\n  calls   {calls}, not counting repairs and retries\n  input   {}\n  output  {}\n  price   {usd}\n",
            agon_report::table(&title, &rows, &output::stdout_style()),
            tokens(self.input_tokens),
            tokens(self.output_tokens),
        )
    }

    fn price_words(&self, name: &str) -> String {
        match self.prices.get(name) {
            Some(ModelPrice::Free) => "free".into(),
            Some(ModelPrice::PerMillion { input, output, .. }) => {
                format!("${input} in, ${output} out per million")
            }
            Some(ModelPrice::Unknown) | None => "unknown".into(),
        }
    }
}

fn model_prices(brief: &Brief, models: &dyn ModelSource) -> Result<BTreeMap<String, ModelPrice>, CliError> {
    let mut prices = BTreeMap::new();
    for name in brief.seats.iter().flat_map(|seat| seat.model.split('|')).map(str::trim) {
        prices.insert(name.to_owned(), models.model(name)?.price());
    }
    // A provider's embeddings have no seat, but they have a price.
    let embeddings = brief.options.get(EMBEDDINGS_OPTION).and_then(Value::as_str);
    if let Some(embeddings) = embeddings.and_then(|name| models.model(name).ok()) {
        prices.insert(embeddings.name().to_owned(), embeddings.price());
    }
    Ok(prices)
}

/// Plays the debate once with invented answers, and counts what each model would read and write.
fn play_once(
    protocol: &dyn Protocol,
    brief: &Brief,
    seed: u64,
    models: &dyn ModelSource,
) -> Result<DebateTraffic, CliError> {
    let unplayable = |reason| CliError::Log { id: brief.id.clone(), reason: Box::new(reason) };
    let output_max = u64::from(brief.limits.output_tokens);
    let mut traffic = DebateTraffic::new();
    let mut answer = |debate: &Debate, ask: &Ask| {
        let reply = invent(protocol, debate, ask, seed);
        if is_errand(brief, ask, models) {
            return reply;
        }
        let input = tokens(prompt_bytes(ask));
        // Invented answers are short. At worst, every answer so far is as long as it may be and is in the prompt.
        let worst_input = input + finished_answers(debate) * output_max;
        let model = traffic.entry(ask.model.clone()).or_default();
        model.calls += 1;
        model.input_min += input;
        model.input_max += worst_input;
        model.longest_prompt = model.longest_prompt.max(worst_input);
        model.output_min += tokens(reply.text().map_or(0, str::len));
        model.output_max += output_max;
        reply
    };
    let (_, opened) = Debate::open(brief.clone()).map_err(unplayable)?;
    play(protocol, vec![opened], &mut answer, &mut |_| {}).map_err(unplayable)?;
    Ok(traffic)
}

/// Whether an ask is looked up on this machine, which is not a call: it has no seat and no server.
fn is_errand(brief: &Brief, ask: &Ask, models: &dyn ModelSource) -> bool {
    brief.seat(&ask.seat).is_none() && models.model(&ask.model).map_or(true, |model| model.is_errand())
}

fn prompt_bytes(ask: &Ask) -> usize {
    let thread = match &ask.thread {
        SeatThread::Fresh => 0,
        SeatThread::Continue(turns) => turns.iter().map(|turn| turn.prompt.len() + turn.reply.len()).sum(),
    };
    // The schema is sent beside the prompt or at its end.
    let schema = ask.schema.as_ref().map_or(0, |schema| schema.json.to_string().len());
    ask.prompt.system.len() + ask.prompt.shared.len() + ask.prompt.tail.len() + thread + schema
}

fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN) as u64
}

/// How many answers finished phases have. Those of the current phase are in no prompt yet.
fn finished_answers(debate: &Debate) -> u64 {
    let finished = debate.turns.iter().filter(|turn| turn.outstanding().next().is_none());
    let said = finished.flat_map(|turn| &turn.replies);
    said.filter(|reply| matches!(reply, Some(Reply::Said { .. }))).count() as u64
}

fn price_range(
    played: &[DebateTraffic],
    prices: &BTreeMap<String, ModelPrice>,
) -> Option<EstimateRange<f64>> {
    let cost = |name: &str, input_tokens: u64, output_tokens: u64, pick: fn(f64, f64) -> f64| {
        let usage = CallUsage { input_tokens, output_tokens, ..Default::default() };
        // Any model of a fallback chain may be the one that answers.
        let links = name.split('|').map(|link| prices.get(link.trim())?.cost_usd(&usage));
        links.reduce(|a, b| Some(pick(a?, b?))).flatten()
    };
    let mut range: Option<EstimateRange<f64>> = None;
    for debate in played {
        let (mut min, mut max) = (0.0, 0.0);
        for (name, model) in debate {
            min += cost(name, model.input_min, model.output_min, f64::min)?;
            max += cost(name, model.input_max, model.output_max, f64::max)?;
        }
        range = Some(match range {
            Some(seen) => EstimateRange { min: seen.min.min(min), max: seen.max.max(max) },
            None => EstimateRange { min, max },
        });
    }
    range
}
