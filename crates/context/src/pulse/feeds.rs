//! Entries from a feed: RSS 2.0 and older, RSS 1.0 (RDF), and Atom.
//!
//! The document type is ignored: no entity that a document declares is expanded or fetched. The reader is lenient where
//! feeds are often wrong: a bare `&`, a missing version, undeclared namespaces, HTML entities and elements in texts. The
//! crate `feed-rs` rejects such feeds or loses part of the text, so it is not used here.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::config::PulseFormat;
use super::documents::{ENTRIES_MAX, PulseEntry, RawEntry, parse_date, push_bounded};
use super::html_text::{entity_text, html_to_text};

/// Real feeds are not nested this deeply.
const DEPTH_MAX: usize = 64;

/// The entries of a feed. Fails if `wanted` is the other kind of feed.
pub(super) fn feed_entries(text: &str, wanted: Option<PulseFormat>) -> Result<Vec<PulseEntry>, String> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().allow_dangling_amp = true;
    let mut feed = FeedReader::default();
    loop {
        let event = reader.read_event();
        match event.map_err(|why| format!("is not a feed: {}", html_to_text(&why.to_string(), 160)))? {
            Event::Start(tag) => feed.begin_element(&tag, wanted)?,
            Event::Empty(tag) => {
                feed.begin_element(&tag, wanted)?;
                feed.end_element();
            }
            Event::End(_) => feed.end_element(),
            Event::Text(text) => feed.push_text(&text.html_content()),
            Event::CData(text) => feed.push_text(&text.html_content()),
            Event::GeneralRef(name) => {
                let name = name.html_content();
                // An unknown entity stays as it is written.
                feed.push_text(&entity_text(&name).unwrap_or_else(|| format!("&{name};")));
            }
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
        if feed.entries.len() >= ENTRIES_MAX {
            return Ok(feed.entries);
        }
    }
    match (feed.kind, feed.depth) {
        (None, _) => Err("is not a feed: it has no <rss>, <rdf:RDF> or <feed>".into()),
        (Some(_), 0) => Ok(feed.entries),
        (Some(_), _) => Err("is a feed that ends in the middle".into()),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FeedKind {
    Rss,
    Atom,
}

/// A field of an entry. If an entry has several texts or dates, the one with the highest rank counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryField {
    Title,
    Text { rank: u8 },
    Link,
    Date { rank: u8 },
}

#[derive(Debug, Default)]
struct FeedReader {
    kind: Option<FeedKind>,
    /// The namespace prefix of an Atom feed, such as `atom:`.
    prefix: String,
    depth: usize,
    /// The depth of the current entry.
    entry_depth: Option<usize>,
    raw: RawEntry,
    text_rank: u8,
    date_rank: u8,
    /// The current field, its depth, and its content so far.
    field: Option<(EntryField, usize, String)>,
    entries: Vec<PulseEntry>,
}

impl FeedReader {
    fn begin_element(&mut self, tag: &BytesStart<'_>, wanted: Option<PulseFormat>) -> Result<(), String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("is not a feed: it has more than {DEPTH_MAX} levels of elements"));
        }
        let full_name = tag.name().into_inner().to_owned();
        let Some(kind) = self.kind else { return self.begin_root(&full_name, wanted) };
        let name = full_name.strip_prefix(self.prefix.as_str()).unwrap_or(&full_name);
        match (self.entry_depth, &self.field) {
            (None, _) => {
                if name == if kind == FeedKind::Atom { "entry" } else { "item" } {
                    self.entry_depth = Some(self.depth);
                    (self.raw, self.text_rank, self.date_rank) = (RawEntry::default(), 0, 0);
                }
            }
            (Some(entry_depth), None) if self.depth == entry_depth + 1 => {
                self.field = entry_field(kind, name, tag).map(|field| (field, self.depth, String::new()));
                if let Some((EntryField::Link, _, link)) = &mut self.field {
                    push_bounded(link, &attribute(tag, "href").unwrap_or_default());
                }
            }
            // An element inside a text separates words.
            (Some(_), _) => self.push_text(" "),
        }
        Ok(())
    }

    fn begin_root(&mut self, full_name: &str, wanted: Option<PulseFormat>) -> Result<(), String> {
        let (prefix, name) = full_name.rsplit_once(':').unwrap_or(("", full_name));
        let kind = match name {
            "rss" | "RDF" => FeedKind::Rss,
            "feed" => FeedKind::Atom,
            other => return Err(format!("is not a feed: it begins with <{}>", html_to_text(other, 40))),
        };
        match (wanted, kind) {
            (Some(PulseFormat::Atom), FeedKind::Rss) => {
                return Err("is RSS, not Atom: set format = \"rss\"".into());
            }
            (Some(PulseFormat::Rss), FeedKind::Atom) => {
                return Err("is Atom, not RSS: set format = \"atom\"".into());
            }
            _ => {}
        }
        if kind == FeedKind::Atom && !prefix.is_empty() {
            self.prefix = format!("{prefix}:");
        }
        self.kind = Some(kind);
        Ok(())
    }

    fn end_element(&mut self) {
        if self.field.as_ref().is_some_and(|(_, depth, _)| *depth == self.depth) {
            self.end_field();
        } else if self.entry_depth == Some(self.depth) {
            self.entry_depth = None;
            self.entries.push(PulseEntry::new(&self.raw));
        } else {
            self.push_text(" ");
        }
        self.depth = self.depth.saturating_sub(1);
    }

    fn end_field(&mut self) {
        let Some((field, _, content)) = self.field.take() else { return };
        if content.trim().is_empty() {
            return;
        }
        match field {
            EntryField::Title if self.raw.title.is_empty() => self.raw.title = content,
            EntryField::Link if self.raw.link.is_empty() => self.raw.link = content,
            EntryField::Text { rank } if rank > self.text_rank => {
                (self.raw.text, self.text_rank) = (content, rank);
            }
            EntryField::Date { rank } if rank > self.date_rank => {
                (self.raw.published_s, self.date_rank) = (parse_date(&content), rank);
            }
            EntryField::Title | EntryField::Link | EntryField::Text { .. } | EntryField::Date { .. } => {}
        }
    }

    fn push_text(&mut self, text: &str) {
        if let Some((_, _, content)) = &mut self.field {
            push_bounded(content, text);
        }
    }
}

fn entry_field(kind: FeedKind, name: &str, tag: &BytesStart<'_>) -> Option<EntryField> {
    match (kind, name) {
        (_, "title") => Some(EntryField::Title),
        (FeedKind::Rss, "description") | (FeedKind::Atom, "summary") => Some(EntryField::Text { rank: 2 }),
        (FeedKind::Rss, "content:encoded") | (FeedKind::Atom, "content") => {
            Some(EntryField::Text { rank: 1 })
        }
        (FeedKind::Rss, "link") => Some(EntryField::Link),
        (FeedKind::Atom, "link") => {
            let relation = attribute(tag, "rel");
            relation.is_none_or(|relation| relation == "alternate").then_some(EntryField::Link)
        }
        (FeedKind::Rss, "pubDate") | (FeedKind::Atom, "published") => Some(EntryField::Date { rank: 2 }),
        (FeedKind::Rss, "dc:date") | (FeedKind::Atom, "updated") => Some(EntryField::Date { rank: 1 }),
        _ => None,
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.try_get_attribute(name).ok().flatten()?;
    Some(found.value.replace("&amp;", "&"))
}
