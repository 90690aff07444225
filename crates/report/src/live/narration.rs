//! A debate in words while it runs, for readers who get text as it comes, such as the users of a chat program.

use agon_core::view::absence_words;
use agon_core::wording::excerpt;
use agon_core::{AskRecord, Debate, Event, LogRecord, NameMask, Protocol, Reply};
use agon_host::clean_line;

use super::{first_words, masked_detail, phase};

/// The most characters of one reply. The whole reply is in the log.
const REPLY_CHARS_MAX: usize = 600;

/// Tells a debate record by record: a line when a phase begins, and a short block for each reply.
///
/// A seat with a label is named by the label alone, as in the live view of a terminal.
pub struct DebateNarrator {
    protocol: &'static dyn Protocol,
    told: Option<(Debate, NameMask)>,
}

impl DebateNarrator {
    /// A narrator. It must get every record of the debate, from the first on.
    pub fn new(protocol: &'static dyn Protocol) -> Self {
        Self { protocol, told: None }
    }

    /// What the next record adds, as a paragraph of Markdown. `None` if it adds nothing that a reader needs, or is out of order.
    pub fn tell(&mut self, record: &LogRecord) -> Option<String> {
        let Some((debate, mask)) = &mut self.told else {
            let debate = Debate::from_records(std::slice::from_ref(record)).ok()?;
            let mask = NameMask::new(&debate.brief);
            self.told = Some((debate, mask));
            return None;
        };
        debate.apply(record).ok()?;
        match &record.entry.event {
            Event::Asked { .. } => {
                let title = phase::title(self.protocol, debate, debate.turns.last()?);
                Some(format!("**{}**\n\n", clean_line(&title)))
            }
            Event::Replied { ask, reply } => {
                let mut asks = debate.turns.iter().rev().flat_map(|turn| &turn.asks);
                let asked = asks.find(|asked| asked.id == *ask)?;
                Some(format!("{}\n\n", reply_block(asked, reply, mask)))
            }
            Event::Interjected { by, text } => {
                Some(format!("{}: {}\n\n", clean_line(by), excerpt(&clean_line(text), REPLY_CHARS_MAX)))
            }
            Event::Opened { .. } | Event::Sent { .. } | Event::Attempted { .. } | Event::Closed { .. } => {
                None
            }
        }
    }
}

fn reply_block(asked: &AskRecord, reply: &Reply, mask: &NameMask) -> String {
    let who = clean_line(&phase::shown(asked));
    let is_labelled = asked.label.is_some();
    match reply {
        Reply::Said { value, .. } => {
            let text = reply.words().unwrap_or_default();
            let words = excerpt(&first_words(&text, value.as_ref()), REPLY_CHARS_MAX);
            let words = if is_labelled { mask.apply(&words) } else { words };
            format!("{who}: {words}")
        }
        Reply::Absent { why, detail } => {
            let detail = masked_detail(detail, is_labelled, Some(mask));
            let gap = if detail.is_empty() { "" } else { ": " };
            format!("{who} {}{gap}{detail}", absence_words(*why))
        }
    }
}
