//! Tools at the table, and texts that the person attached, for every protocol alike.
//!
//! [`WithTools`] stands around a protocol. The protocol sees a debate in which nobody asked for anything: without the phases in
//! which tools ran, and without the requests in the replies. In [`Debate::items`] it sees what was found, so that it can verify
//! citations ([`cited_item`]).
//!
//! - Between two phases, the requests of the first are run as errands. Without requests there is no such phase.
//! - What is found is added to all later prompts, in the part that all seats share.
//! - A seat that asked for something and has no say afterwards is asked once more, with what was found, and its last reply counts. That
//!   is so if the debate would close, if closing phases without the seat follow, or if the phase
//!   [says so](agon_core::PhaseInfo::is_asked_again).
//!
//! Attached texts are items that all prompts have from the start. A debate without tools and attached texts passes through unchanged.

mod prompts;
mod report;
mod requests;
mod table;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};

use agon_core::tools::{TOOL_PREFIX, TOOLS, TOOLS_PHASE, table_tools};
use agon_core::{
    Ask, AskRecord, Brief, CallPlan, Corrupt, Debate, DebateView, Fidelity, Invalid, Phase, PhaseTurn,
    Prompt, Protocol, ProtocolInfo, ReplyFault, ReplySchema, Request, Seat, Step, ToolItem,
};
use serde_json::{Value, json};

use crate::attached_context::has_attached;
use crate::prompt::new_ask;
use crate::quotes::{QuotedTexts, quoted_words};
use table::ToolTable;

/// A protocol whose seats read what the person attached, and can have things looked up.
#[derive(Debug)]
pub struct WithTools<P>(pub P);

impl<P: Protocol> Protocol for WithTools<P> {
    fn info(&self) -> &'static ProtocolInfo {
        self.0.info()
    }

    fn seats(&self, request: &Request) -> Result<Vec<Seat>, Invalid> {
        self.0.seats(request)
    }

    fn plan(&self, brief: &Brief) -> CallPlan {
        let mut plan = self.0.plan(brief);
        if table_tools(brief).is_some() {
            // After each phase tools may run, and its seats may be asked again.
            plan.most_calls = plan.most_calls.saturating_mul(2);
            plan.most_phases = plan.most_phases.saturating_mul(3);
        }
        plan
    }

    fn next(&self, debate: &Debate) -> Result<Step, Corrupt> {
        let Some(table) = ToolTable::read(debate) else { return self.0.next(debate) };
        if table.pending().next().is_some() {
            return run_requests(&table);
        }
        let mut step = self.0.next(&table.seen)?;
        if let Some(again) = self.ask_again(debate, &table, &step)? {
            return Ok(again);
        }
        match &mut step {
            Step::Ask(_, asks) => {
                prompts::add_to_asks(&debate.brief, table.tools.as_ref(), &table, asks);
            }
            // The protocol does not see that a tool, or a seat that was asked again, did not answer.
            Step::Close(outcome) if table.tools.is_some() && debate.absences().next().is_some() => {
                outcome.fidelity = Fidelity::Degraded;
            }
            Step::Close(_) => {}
        }
        Ok(step)
    }

    fn check(&self, debate: &Debate, ask: &Ask, value: &Value) -> Result<(), ReplyFault> {
        let Some(table) = ToolTable::read(debate) else { return self.0.check(debate, ask, value) };
        match debate.last_phase() {
            Some(phase) if phase.name == TOOLS_PHASE => Ok(()),
            _ => self.0.check(&table.seen, ask, &requests::without_requests(value)),
        }
    }

    fn view(&self, debate: &Debate) -> Result<DebateView, Corrupt> {
        let Some(table) = ToolTable::read(debate) else { return self.0.view(debate) };
        let mut view = self.0.view(&table.seen)?;
        for summary in &mut view.round_summaries {
            summary.after_phases = table::raw_phases(debate, summary.after_phases);
        }
        report::add_items(&mut view, &table);
        Ok(view)
    }
}

impl<P: Protocol> WithTools<P> {
    /// Asks the seats again that asked for something in the last phase and have no say after it.
    fn ask_again(&self, debate: &Debate, table: &ToolTable, step: &Step) -> Result<Option<Step>, Corrupt> {
        let (seen, Some(last)) = (&table.seen, table.seen.turns.last()) else { return Ok(None) };
        let asked = last.asks.iter().filter(|record| table.requesting.contains(&record.id));
        let due = asked.filter(|record| self.is_last_word(last, record, step));
        let due: Vec<u32> = due.map(|record| record.id).collect();
        let has_room = debate.spent_share() < 1.0
            && seen.calls_left().is_none_or(|left| usize::try_from(left).unwrap_or(usize::MAX) >= due.len());
        if due.is_empty() || !has_room {
            return Ok(None);
        }
        let before = before_last_turn(seen, last.since, last.decided_at_ms);
        let Step::Ask(phase, asks) = self.0.next(&before)? else { return Ok(None) };
        if phase != last.phase || !asks.iter().map(|ask| &ask.seat).eq(last.asks.iter().map(|ask| &ask.seat))
        {
            return Ok(None);
        }
        let asked = asks.into_iter().zip(&last.asks).zip(&last.replies);
        let mut again = Vec::new();
        for ((ask, record), first) in asked.filter(|((_, record), _)| due.contains(&record.id)) {
            let mut ask = Ask { repeats: Some(record.id), ..ask };
            prompts::add_first_reply(&debate.brief, &mut ask, first.as_ref(), &new_ids(seen, &record.seat));
            again.push(ask);
        }
        prompts::add_to_asks(&debate.brief, None, table, &mut again);
        Ok(Some(Step::Ask(phase, again)))
    }

    /// Whether a seat has no say after its reply in this phase, if `step` comes next.
    fn is_last_word(&self, last: &PhaseTurn, record: &AskRecord, step: &Step) -> bool {
        let (info, Step::Ask(next, asks)) = (self.0.info(), step) else { return true };
        info.phase(&last.phase.name).is_some_and(|phase| phase.is_asked_again)
            || info.is_closing(&next.name) && asks.iter().all(|ask| ask.seat != record.seat)
    }
}

/// The items that a seat asked for after the last phase, as prompts name them.
fn new_ids(seen: &Debate, seat: &str) -> Vec<String> {
    let is_asked = |item: &&ToolItem| item.askers.iter().any(|asker| asker.seat == seat);
    let new = seen.items.iter().filter(|item| item.from_turn == seen.turns.len()).filter(is_asked);
    new.map(|item| format!("[{}]", item.id)).collect()
}

/// The debate as it was before its last phase, but with everything that was looked up since.
fn before_last_turn(seen: &Debate, events: u64, at_ms: u64) -> Debate {
    let mut before = Debate { events, at_ms, ..seen.clone() };
    before.turns.pop();
    let turns = before.turns.len();
    before.interjections.retain(|said| said.after <= turns);
    before.items.iter_mut().for_each(|item| item.from_turn = item.from_turn.min(turns));
    before
}

/// The phase in which tools run.
fn run_requests(table: &ToolTable) -> Result<Step, Corrupt> {
    static SCHEMA: OnceLock<Arc<ReplySchema>> = OnceLock::new();
    let schema = SCHEMA.get_or_init(|| {
        let text = json!({"type": "string"});
        let fields = json!({"source": text, "text": text, "refused": {"type": ["string", "null"]}});
        let json = json!({"type": "object", "properties": fields, "required": ["source"]});
        Arc::new(ReplySchema { name: "tool_answer".to_owned(), json })
    });
    // No seat writes this part of the prompt, so no seat chooses the folder.
    let folder = table.tools.as_ref().and_then(|tools| tools.folder.as_deref());
    let folder: Arc<str> = folder.unwrap_or_default().into();
    let ask = |item: &ToolItem| {
        let (id, model) = (TOOLS_PHASE.to_owned(), format!("{TOOL_PREFIX}{}", item.tool));
        let seat = Seat { id, role: String::new(), model };
        let tail = item.arguments.to_string();
        let prompt = Prompt { system: Arc::clone(&folder), shared: "".into(), tail };
        Ask { about: Some(item.id.clone()), ..new_ask(&seat, prompt, Some(Arc::clone(schema))) }
    };
    let round = table.seen.turns.last().map_or(0, |turn| turn.phase.round);
    Ok(Step::Ask(Phase::new(TOOLS_PHASE, round), table.pending().map(ask).collect()))
}

/// The item that `said` names, with or without brackets, of those that a seat was shown.
pub fn cited_item<'d>(shown: impl IntoIterator<Item = &'d ToolItem>, said: &str) -> Option<&'d ToolItem> {
    let id = said.trim().trim_matches(['[', ']']);
    shown.into_iter().find(|item| item.id.eq_ignore_ascii_case(id))
}

/// The ids of items that a text names in square brackets, in order: `[E1]`, `[E1, K2]`. An id that the debate cannot have is no id.
pub fn named_items(brief: &Brief, text: &str) -> Vec<String> {
    let (has_tools, has_attached) = (brief.part(TOOLS).is_some(), has_attached(brief));
    let bracketed = text.split('[').skip(1).filter_map(|rest| rest.split_once(']')).map(|(inner, _)| inner);
    let words = bracketed.flat_map(|inner| inner.split(|c: char| !c.is_ascii_alphanumeric()));
    let is_id = |word: &&str| {
        let requested = word.strip_prefix(['E', 'e']).filter(|_| has_tools);
        let number = requested.or_else(|| word.strip_prefix(['K', 'k']).filter(|_| has_attached));
        let number = number.unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    words.filter(is_id).map(str::to_ascii_uppercase).collect()
}

/// Whether an item has these words, as seats are shown it.
fn has_words(quoted: &QuotedTexts<'_>, item: &ToolItem, words: &str) -> bool {
    item.text().is_some_and(|text| quoted.is_quoted_item(words, text))
}

/// A verified citation of something that was looked up or attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceCitation {
    /// The id of the item.
    pub id: String,
    /// The id with the quoted words, as reports show it.
    pub cited: String,
}

impl SourceCitation {
    /// The citation, if these words occur in the item.
    pub fn verified(quoted: &QuotedTexts<'_>, item: &ToolItem, quote: &str) -> Option<Self> {
        let id = item.id.clone();
        has_words(quoted, item, quote).then(|| Self { cited: format!("[{id}]: \"{}\"", quote.trim()), id })
    }

    /// The citations in a text: it names an item in square brackets, and words in quotation marks occur in that item.
    pub fn in_text<'d>(
        quoted: &QuotedTexts<'_>,
        brief: &Brief,
        shown: impl Iterator<Item = &'d ToolItem>,
        text: &str,
    ) -> Vec<Self> {
        let (named, quotes) = (named_items(brief, text), quoted_words(text));
        let named = shown.filter(|item| named.contains(&item.id));
        named.filter_map(|item| quotes.iter().find_map(|quote| Self::verified(quoted, item, quote))).collect()
    }
}
