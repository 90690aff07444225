//! What every protocol's report has: how it ended, who dissents, what was missing, what it cost.

use agon_core::Debate;
use serde_json::Value;

use super::{
    Bar, Block, Fold, Item, Section, at, generic, heading, list, shortened, spoken, string, transcript,
    whole, words,
};
use crate::figures::{count, counted, dollars, percent, seconds};

/// How it ended, in a sentence or two; `store` ends the command that goes on with it.
pub(super) fn ending(document: &Value, store: &str) -> String {
    let rounds = whole(document, "/rounds_completed");
    let after = match rounds {
        0 => String::new(),
        n => format!(" after {}", counted(n, "round")),
    };
    let told = super::ask::ending(document);
    let sentence = match words(document, "/termination") {
        None if words(document, "/status") == Some("running") => "Still running.".into(),
        None => {
            let id = string(document, "/id");
            format!("Interrupted before the end. Go on with `agon resume {id}{store}`.")
        }
        Some(_) if told.is_some() => told.unwrap_or_default(),
        Some("converged") => {
            let role = words(document, "/seats/0/role").map_or_else(|| "debater".into(), spoken);
            // Rounds may follow the one in which they converge, such as a vote.
            let when = at(document, "/verdict/early_consensus").as_u64();
            let when = when.map_or(after, |round| format!(" in round {round}"));
            format!("The {role}s converged{when}.")
        }
        Some("stable") => format!("Nobody changed position any more{after}."),
        Some("consensus") => format!("Consensus{after}."),
        Some("majority") => format!("A majority{after}, not a consensus."),
        Some("no_majority") => format!("No majority{after}."),
        Some("max_rounds") => {
            format!("Not converged when the limit of {} was reached.", counted(rounds, "round"))
        }
        Some("all_rounds_complete") if rounds == 0 => "Answered without debate rounds.".into(),
        Some("all_rounds_complete") if rounds == 1 => "The one round is complete.".into(),
        Some("all_rounds_complete") => format!("All {} complete.", counted(rounds, "round")),
        Some("quorum_lost") => format!("Cut short{after}: too few voices were left."),
        Some("budget") => format!("Cut short{after}: a limit was reached."),
        Some("cancelled") => format!("Cancelled{after}."),
        Some("failed") => format!("Failed{after}: there is no verdict."),
        Some(other) => format!("{}{after}.", heading(other)),
    };
    match words(document, "/fidelity") {
        Some("degraded") => format!("{sentence} Degraded: see what was missing."),
        _ => sentence,
    }
}

/// Whether the ending wants a second look.
pub(super) fn troubled(document: &Value) -> bool {
    words(document, "/status") != Some("complete") || words(document, "/fidelity") == Some("degraded")
}

/// The small print under the title.
pub(super) fn small_print(document: &Value) -> Vec<String> {
    let seats = list(document, "/seats");
    let first_role = seats.first().and_then(|seat| words(seat, "/role")).unwrap_or("seat");
    let sitting = seats.iter().filter(|seat| words(seat, "/role") == Some(first_role)).count() as u64;
    let mut facts = vec![string(document, "/protocol")];
    facts.extend(
        words(document, "/verdict/synthesis_input/mode").filter(|mode| *mode != "deep").map(str::to_owned),
    );
    // Of a ladder not all who sit are asked.
    let (sitting, what) = super::ask::first_answers(document).unwrap_or((sitting, first_role));
    facts.extend((sitting > 0).then(|| counted(sitting, what)));
    facts.extend(
        (whole(document, "/rounds_completed") > 0)
            .then(|| counted(whole(document, "/rounds_completed"), "round")),
    );
    facts.extend(at(document, "/elapsed_ms").as_u64().map(seconds));
    facts.extend(words(document, "/parent/id").map(|id| match whole(document, "/parent/at_round") {
        0 => format!("branched from {id} before round 1"),
        round => format!("branched from {id} after round {round}"),
    }));
    facts
}

/// The minority's positions, or the sentence that there is none where that is known.
pub(crate) fn dissent(document: &Value, chars_max: Option<usize>) -> Option<Section> {
    let accounted = list(document, "/evidence/dissent");
    let minority = |position: &&Value| words(position, "/fate") == Some("minority");
    let held: Vec<&Value> = match list(document, "/dissent") {
        [] => accounted.iter().filter(minority).collect(),
        dissent => dissent.iter().collect(),
    };
    if !held.is_empty() {
        let items = held.iter().map(|dissent| dissenter(document, dissent, chars_max)).collect();
        return Some(Section::new("dissent", "Dissent", vec![Block::Items(items)]));
    }
    let settled = |position: &Value| matches!(words(position, "/fate"), Some("adopted" | "refuted"));
    let none = !accounted.is_empty() && accounted.iter().all(settled);
    let line = "No dissent: every first-round position was adopted or given up.";
    none.then(|| Section::new("dissent", "Dissent", vec![Block::Line(line.into())]))
}

fn dissenter(document: &Value, dissent: &Value, chars_max: Option<usize>) -> Item {
    let Some(position) = words(dissent, "/position") else { return generic::item(dissent) };
    Item {
        who: holder(document, dissent),
        text: shortened(position, chars_max),
        note: words(dissent, "/reason").map(str::to_owned),
    }
}

/// Who holds a position, by label and seat.
pub(super) fn holder(document: &Value, position: &Value) -> Option<String> {
    let seat = words(position, "/seat");
    let label = words(position, "/debater").or_else(|| words(position, "/label"));
    match (label.map(|label| named(document, label)), seat) {
        (Some(label), Some(seat)) => Some(format!("{label} ({seat})")),
        (Some(label), None) => Some(label),
        (None, seat) => seat.map(str::to_owned),
    }
}

/// A label as it was shown: `A` is "Debater A".
pub(crate) fn named(document: &Value, label: &str) -> String {
    if label.chars().count() > 2 {
        return label.to_owned();
    }
    let seat = document.get("labels").and_then(|labels| words(labels.get(label)?, ""));
    let role = seat.and_then(|seat| words(seat_of(document, seat)?, "/role")).unwrap_or("debater");
    format!("{} {label}", heading(role))
}

pub(super) fn seat_of<'a>(document: &'a Value, id: &str) -> Option<&'a Value> {
    list(document, "/seats").iter().find(|seat| words(seat, "/id") == Some(id))
}

/// A seat's place at the table; who has none sits behind the last.
pub(crate) fn place_of(document: &Value, id: &str) -> usize {
    let seats = list(document, "/seats");
    seats.iter().position(|seat| words(seat, "/id") == Some(id)).unwrap_or(seats.len())
}

/// Absences and stand-ins.
pub(super) fn missing(document: &Value) -> Option<Section> {
    let mut items: Vec<Item> =
        list(document, "/absences").iter().map(|absence| absent(document, absence)).collect();
    if at(document, "/verdict/chair/stand_in").as_bool() == Some(true) {
        let model = words(document, "/verdict/chair/model").unwrap_or("another model");
        items.push(Item::text(format!("The chair was absent: {model} stood in and wrote the verdict.")));
    }
    if items.is_empty() && words(document, "/fidelity") == Some("degraded") {
        items.push(Item::text("Not everything that the protocol wants was done."));
    }
    (!items.is_empty()).then(|| Section::new("missing", "What was missing", vec![Block::Items(items)]))
}

/// What a reader should know before trusting the verdict.
pub(super) fn warnings(document: &Value) -> Option<Section> {
    let warnings = list(document, "/warnings").iter().filter_map(Value::as_str);
    let items: Vec<Item> = warnings.map(|warning| Item::text(sentence(warning))).collect();
    (!items.is_empty()).then(|| Section::new("warnings", "Warnings", vec![Block::Items(items)]))
}

/// A warning begins like a sentence; `deep -> synthesis (degraded)` is a fixed line and stays as it is.
fn sentence(warning: &str) -> String {
    let mut chars = warning.chars();
    match chars.next() {
        Some(first) if !warning.contains("->") && !warning.contains('/') => {
            first.to_uppercase().chain(chars).collect()
        }
        _ => warning.to_owned(),
    }
}

fn absent(document: &Value, absence: &Value) -> Item {
    let seat = string(absence, "/seat");
    let label = label_of(document, &seat).map(|label| format!("{} ({seat})", named(document, label)));
    let phase = string(absence, "/phase");
    let place = match whole(absence, "/round") {
        // A phase that is called by its round says nothing more.
        round if phase == format!("r{round}") => format!(" in round {round}"),
        round if round > 0 && in_a_round(&phase) => format!(" in round {round} ({})", spoken(&phase)),
        _ => format!(" ({})", spoken(&phase)),
    };
    let detail = words(absence, "/detail").map_or(String::new(), |detail| format!(": {detail}"));
    let text = format!("{}{place}{detail}", why_absent(&string(absence, "/why")));
    Item { who: Some(label.unwrap_or_else(|| heading_id(&seat))), text, note: None }
}

/// The verdict belongs to no round, whichever number its phase has.
pub(crate) fn in_a_round(phase: &str) -> bool {
    !matches!(own_name(phase), "synthesis" | "verdict")
}

/// A phase of a debate within a debate has the name of its protocol in front.
pub(crate) fn own_name(phase: &str) -> &str {
    phase.rsplit('/').next().unwrap_or(phase)
}

/// An absence in words that follow the seat's name.
pub(crate) fn why_absent(why: &str) -> String {
    match why {
        "timed_out" => "timed out".into(),
        "refused" => "would not answer".into(),
        "malformed" => "gave no answer that could be used".into(),
        "unreachable" => "could not be reached".into(),
        "over_budget" => "was not asked: the call did not fit the budget".into(),
        "cancelled" => "was cancelled".into(),
        other => spoken(other),
    }
}

pub(crate) fn label_of<'a>(document: &'a Value, seat: &str) -> Option<&'a str> {
    let labels = at(document, "/labels").as_object()?;
    labels.iter().find(|(_, id)| id.as_str() == Some(seat)).map(|(label, _)| label.as_str())
}

/// The label behind which a seat sat, as it was shown.
pub(crate) fn label_for(document: &Value, seat: &str) -> Option<String> {
    label_of(document, seat).map(|label| named(document, label))
}

/// Every first-round position and what became of it.
pub(crate) fn positions(document: &Value) -> Option<Section> {
    let items: Vec<Item> = list(document, "/evidence/dissent")
        .iter()
        .map(|position| {
            let fate = fate_of(words(position, "/fate").unwrap_or("unknown"));
            let reason = words(position, "/reason").map_or(String::new(), |reason| format!(": {reason}"));
            let note = Some(format!("{}{reason}", heading(fate)));
            Item { who: holder(document, position), text: string(position, "/position"), note }
        })
        .collect();
    let mut section =
        Section::new("positions", "What became of each first position", vec![Block::Items(items)]);
    section.fold = Fold::Closed;
    (!list(document, "/evidence/dissent").is_empty()).then_some(section)
}

/// What became of a position, in words.
pub(super) fn fate_of(fate: &str) -> &str {
    match fate {
        "refuted" => "given up",
        "minority" => "in the dissent",
        fate => fate,
    }
}

/// A seat's id keeps its dash ("debater-2"), but a single word begins like a name ("Moderator").
pub(crate) fn heading_id(id: &str) -> String {
    if id.contains('-') { id.to_owned() } else { heading(id) }
}

/// What it cost, in one line.
pub(super) fn cost(document: &Value) -> Option<Section> {
    let usage = document.get("usage").filter(|usage| usage.is_object())?;
    let (input, cached) = (whole(usage, "/input_tokens"), whole(usage, "/cached_input_tokens"));
    let written = whole(usage, "/cache_write_tokens");
    let shares = [(cached, "cached"), (written, "written to the cache")].into_iter();
    let shares = shares.filter(|(tokens, _)| *tokens > 0);
    let shares: Vec<String> =
        shares.map(|(tokens, what)| format!("{} {what}", percent(tokens, input))).collect();
    let share = if shares.is_empty() { String::new() } else { format!(" ({})", shares.join(", ")) };
    let price = at(usage, "/usd").as_f64().map_or("price unknown".into(), dollars);
    let line = format!(
        "{}, {} in{share}, {} out, {price}",
        counted(whole(usage, "/calls"), "call"),
        counted(input, "token"),
        count(whole(usage, "/output_tokens")),
    );
    let mut blocks = vec![Block::Line(line)];
    blocks.extend(billed_twice(usage).map(Block::Line));
    Some(Section::new("cost", "Cost", blocks))
}

fn billed_twice(usage: &Value) -> Option<String> {
    let (calls, usd) =
        (whole(usage, "/possibly_billed_twice_calls"), at(usage, "/possibly_billed_twice_usd").as_f64());
    let price = usd.map_or("price unknown".into(), dollars);
    match (calls, usd) {
        (0, None) => None,
        (0, Some(usd)) if usd <= 0.0 => None,
        (0, _) => Some(format!("possibly billed twice: {price}")),
        _ => Some(format!("possibly billed twice: {}, {price}", counted(calls, "call"))),
    }
}

/// What each round cost, drawn, and each phase.
pub(super) fn cost_by_phase(document: &Value) -> Option<Section> {
    let phases = list(document, "/evidence/cost/rounds");
    let head = ["Phase", "Round", "Calls", "Tokens in", "Cached", "Tokens out", "US dollars"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for row in phases {
        rows.push(vec![
            spoken(&string(row, "/phase")),
            whole(row, "/round").to_string(),
            count(whole(row, "/calls")),
            count(whole(row, "/input_tokens")),
            count(whole(row, "/cached_input_tokens")),
            count(whole(row, "/output_tokens")),
            at(row, "/usd").as_f64().map_or("unknown".into(), dollars),
        ]);
    }
    let blocks = vec![Block::Bars(by_round(document, phases)), Block::Table(rows)];
    let blocks = blocks.into_iter().chain(cached(document).map(Block::Line)).collect();
    let mut section = Section::new("cost-by-phase", "Cost by round", blocks);
    section.fold = Fold::Open;
    (!phases.is_empty()).then_some(section)
}

/// The rounds in order, and what belongs to none: in dollars where every price is known, else in tokens.
fn by_round(document: &Value, phases: &[Value]) -> Vec<Bar> {
    let name = |row: &Value| match whole(row, "/round") {
        round if round > 0 && in_a_round(&string(row, "/phase")) => format!("Round {round}"),
        _ => transcript::named(&string(document, "/protocol"), &string(row, "/phase")),
    };
    let tokens = |row: &Value| whole(row, "/input_tokens").saturating_add(whole(row, "/output_tokens"));
    let priced = phases.iter().all(|row| at(row, "/usd").is_number());
    let mut bars: Vec<(String, u64, u64, f64)> = Vec::new();
    for row in phases {
        let usd = at(row, "/usd").as_f64().unwrap_or_default();
        match bars.iter_mut().find(|bar| bar.0 == name(row)) {
            Some(bar) => {
                let calls = bar.1.saturating_add(whole(row, "/calls"));
                *bar = (name(row), calls, bar.2.saturating_add(tokens(row)), bar.3 + usd);
            }
            None => bars.push((name(row), whole(row, "/calls"), tokens(row), usd)),
        }
    }
    let paid = priced && bars.iter().any(|bar| bar.3 > 0.0);
    bars.into_iter()
        .map(|(name, calls, tokens, usd)| {
            let price = if paid { format!(", {}", dollars(usd)) } else { String::new() };
            let written = format!("{}, {}{price}", counted(calls, "call"), counted(tokens, "token"));
            Bar { name, value: if paid { usd } else { tokens as f64 }, written }
        })
        .collect()
}

/// How much of what was read came from a cache, and how much could have.
fn cached(document: &Value) -> Option<String> {
    let share = |pointer: &str| at(document, pointer).as_f64().map(|share| format!("{:.0}%", 100.0 * share));
    let had = share("/evidence/cost/cached_share")?;
    let could = share("/evidence/cost/predicted_cached_share");
    let could = could.map_or(String::new(), |could| format!("; {could} was to be expected"));
    Some(format!("{had} of the input came from a cache{could}."))
}

/// What is needed to find, check and repeat the debate.
pub(super) fn receipt(document: &Value, debate: &Debate) -> Section {
    let brief = &debate.brief;
    let pair = |name: &str, value: String| (name.to_owned(), value);
    let mut pairs = vec![
        pair("Id", brief.id.clone()),
        pair("Opened", brief.created_at.clone()),
        pair("Seed", brief.seed.to_string()),
        pair("Events", count(debate.events)),
        pair("Head of the hash chain", debate.head.clone()),
    ];
    pairs.extend(
        brief
            .parent
            .as_ref()
            .map(|parent| pair("Branched from", format!("{} after round {}", parent.id, parent.at_round))),
    );
    pairs.extend(brief.options.iter().map(|(key, value)| (key.clone(), generic::scalar(value))));
    let check = format!("Check it with `agon verify {}`.", string(document, "/id"));
    let mut section =
        Section::new("receipt", "Technical details", vec![Block::Pairs(pairs), Block::Line(check)]);
    section.fold = Fold::Closed;
    section
}
