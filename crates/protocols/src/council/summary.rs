//! "Present Round Summary": what is shown as a round ends.

use agon_core::{Debate, Summary};
use serde_json::{Value, json};

use super::ledger::Entry;
use super::log::Log;
use super::moderation::Kind;
use super::round::Round;
use super::transcript::stance;
use super::words::short;

/// A position in the table is cut here.
const POSITION_CHARS_MAX: usize = 60;
/// "points where 3+ councillors agree".
const EMERGING_FROM: usize = 3;
/// A challenge or a response in a list is cut here.
const WORDS_CHARS_MAX: usize = 160;

/// The seed's summary, once the round is over.
pub(super) fn summary(debate: &Debate) -> Option<Summary> {
    let phase = debate.last_phase().filter(|phase| phase.round > 0 && phase.name != "verdict")?;
    let log = Log::read(debate).ok()?;
    let round = log.round(phase.round).filter(|round| round.over)?;
    let told = Told::of(&log, round);
    Some(Summary {
        title: title(&log, round),
        rows: table(&log, round, POSITION_CHARS_MAX),
        notes: told.notes(),
    })
}

pub(super) fn title(log: &Log<'_>, round: &Round) -> String {
    let how = if round.over { "Complete" } else { "Incomplete" };
    format!("Round {} of {} {how}", round.number, log.debate.brief.int("rounds"))
}

/// "| Councillor | Before | After | Changed? |", for the active roster.
pub(super) fn table(log: &Log<'_>, round: &Round, chars_max: usize) -> Vec<Vec<String>> {
    let mut rows = vec![["Councillor", "Before", "After", "Changed?"].map(String::from).to_vec()];
    for place in log.active() {
        let (Some(before), Some(after)) = (round.before.get(place), round.after.get(place)) else { continue };
        let changed = match (after.changed, after.carried) {
            (true, _) => format!("Yes: {}", short(&after.because, chars_max)),
            (false, true) => "No (absent)".to_owned(),
            (false, false) => "No".to_owned(),
        };
        let now = if after.position == before.position { "unchanged" } else { after.position.as_str() };
        rows.push(vec![
            log.name(place).to_owned(),
            short(&before.position, chars_max),
            short(now, chars_max),
            changed,
        ]);
    }
    rows
}

/// The lists under the table.
pub(super) struct Told {
    pub(super) exchanges: Vec<String>,
    pub(super) consensus: Vec<String>,
    pub(super) disagreements: Vec<String>,
    pub(super) notes: Vec<String>,
}

impl Told {
    pub(super) fn of(log: &Log<'_>, round: &Round) -> Self {
        Self {
            exchanges: exchanges(log, round),
            consensus: consensus(log, round),
            disagreements: disagreements(log, round),
            notes: moderator_notes(log, round),
        }
    }

    fn notes(self) -> Vec<(String, Vec<String>)> {
        let lists = [
            ("Key Exchanges", self.exchanges),
            ("Emerging Consensus", self.consensus),
            ("Persistent Disagreements", self.disagreements),
            ("Moderator Notes", self.notes),
        ];
        lists.map(|(heading, items)| (heading.to_owned(), or_none(items))).to_vec()
    }
}

fn or_none(items: Vec<String>) -> Vec<String> {
    if items.is_empty() { vec!["none".to_owned()] } else { items }
}

/// The round's summary as data.
pub(super) fn record(log: &Log<'_>, round: &Round) -> Value {
    let told = Told::of(log, round);
    json!({
        "title": title(log, round),
        "position_changes": table(log, round, usize::MAX),
        "key_exchanges": told.exchanges,
        "emerging_consensus": told.consensus,
        "persistent_disagreements": told.disagreements,
        "moderator_notes": told.notes,
    })
}

/// "{Role A} -> {Role B}: {summary of challenge and response}".
fn exchanges(log: &Log<'_>, round: &Round) -> Vec<String> {
    let answered = log.challenges.iter().filter_map(|entry| {
        let answer = entry.answers.iter().rev().find(|answer| answer.round == round.number)?;
        let (challenge, said) =
            (short(entry.point(), WORDS_CHARS_MAX), short(&answer.response, WORDS_CHARS_MAX));
        Some(format!("{} \u{2014} {}: {said}", arrow(log, entry, &challenge), stance(answer.stance)))
    });
    let letters = log.letters.iter().filter(|letter| letter.round == round.number).map(|letter| {
        let said =
            letter.reply.as_deref().map_or("no answer".to_owned(), |reply| short(reply, WORDS_CHARS_MAX));
        let (from, to) = (log.name(letter.from), log.name(letter.to));
        format!(
            "{from} \u{2192} {to} [{}]: {} \u{2014} {said}",
            letter.id(),
            short(&letter.topic, WORDS_CHARS_MAX)
        )
    });
    answered.chain(letters).collect()
}

fn arrow(log: &Log<'_>, entry: &Entry, challenge: &str) -> String {
    format!("{} \u{2192} {} [{}]: {challenge}", log.name(entry.from), log.name(entry.to), entry.id())
}

/// "{points where 3+ councillors agree}".
fn consensus(log: &Log<'_>, round: &Round) -> Vec<String> {
    let points = round.findings.shared.iter().filter(|shared| shared.who.len() >= EMERGING_FROM);
    points
        .map(|shared| {
            let who = log.names(shared.who.iter().map(|(place, _)| *place));
            let challenged = if shared.is_challenged() { "" } else { "; not challenged" };
            format!("{} ({who}{challenged})", shared.point)
        })
        .collect()
}

/// "{points still contested}": what was answered with a no up to this round, and points that few share and somebody challenged.
fn disagreements(log: &Log<'_>, round: &Round) -> Vec<String> {
    let refused = log.challenges.iter().enumerate().filter_map(|(at, entry)| {
        let against = log.answered_by(at, round.number)?.stance == Some(super::reply::Stance::Disagree);
        against.then(|| arrow(log, entry, &short(entry.point(), WORDS_CHARS_MAX)))
    });
    let shared = round.findings.shared.iter();
    let contested = shared.filter(|shared| shared.is_challenged() && shared.who.len() < EMERGING_FROM);
    let contested = contested.map(|shared| {
        format!("{} (shared by {})", shared.point, log.names(shared.who.iter().map(|(place, _)| *place)))
    });
    refused.chain(contested).collect()
}

/// "{any interventions made and why}", and what could not be shown.
fn moderator_notes(log: &Log<'_>, round: &Round) -> Vec<String> {
    let mut notes = Vec::new();
    if round.moderated && round.moderation.is_none() {
        notes.push("the moderator was absent: only what can be counted was found".to_owned());
    }
    for done in &round.interventions {
        let to = log.names(done.to.iter().copied());
        let told = match &done.kind {
            Kind::Evasion { entry, why } => {
                let id = log.challenges.get(*entry).map_or(String::new(), |entry| entry.id());
                format!("Evasion: [{id}] put again to {to} ({why})")
            }
            Kind::Groupthink { point } => format!("Groupthink: {to} steelmans the opposite of \"{point}\""),
            Kind::Stale => format!("Stale: a reframing question to all: \"{}\"", done.question),
        };
        notes.push(format!("{told}: {}", done.outcome));
    }
    for violation in log.violations.iter().filter(|violation| violation.round == round.number) {
        let id = log.challenges.get(violation.entry).map_or(String::new(), |entry| entry.id());
        notes.push(format!("Violation: {} evaded [{id}]: {}", log.name(violation.place), violation.why));
    }
    notes.extend(round.findings.set_aside.iter().map(|why| format!("Note: {why}")));
    notes
}
