//! One entry of a source, whatever the source is written in.

use super::moment;
use super::plain::plain;

const TITLE_CHARS_MAX: usize = 200;
pub(super) const TEXT_CHARS_MAX: usize = 600;
const LINK_CHARS_MAX: usize = 300;
/// What is kept of a text before it is made plain: most of it may be markup.
const RAW_BYTES_MAX: usize = 64 * 1024;

/// An entry as plain words.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Entry {
    pub(super) title: String,
    /// With its address on a line of its own at the end.
    pub(super) text: String,
    /// When it was published, in seconds since 1970.
    pub(super) at_s: Option<u64>,
}

/// An entry as its source has it.
#[derive(Debug, Default)]
pub(super) struct Raw {
    pub(super) title: String,
    pub(super) text: String,
    pub(super) link: String,
    pub(super) at: String,
}

impl Entry {
    pub(super) fn of(raw: &Raw) -> Self {
        let link = link(&raw.link);
        let room = TEXT_CHARS_MAX.saturating_sub(link.map_or(0, |link| link.chars().count() + 1));
        let mut text = plain(&raw.text, room);
        let mut title = plain(&raw.title, TITLE_CHARS_MAX);
        if title.is_empty() {
            // A short message has none, and is one itself.
            title = plain(&raw.text, TITLE_CHARS_MAX);
        }
        if let Some(link) = link.filter(|_| !title.is_empty()) {
            text = if text.is_empty() { link.to_owned() } else { format!("{text}\n{link}") };
        }
        Self { title, text, at_s: moment::seconds(&raw.at) }
    }

    pub(super) fn is_blank(&self) -> bool {
        self.title.is_empty()
    }
}

/// Adds to a text, up to the most that is kept of one.
pub(super) fn push(to: &mut String, more: &str) {
    let room = RAW_BYTES_MAX.saturating_sub(to.len());
    to.push_str(more.get(..more.floor_char_boundary(room)).unwrap_or_default());
}

/// An address that may be shown: one of the web, and nothing that could be taken for something else.
fn link(link: &str) -> Option<&str> {
    let link = link.trim();
    let of_the_web = link.starts_with("https://") || link.starts_with("http://");
    let short = link.len() <= LINK_CHARS_MAX && link.bytes().all(|byte| byte.is_ascii_graphic());
    (of_the_web && short).then_some(link)
}
