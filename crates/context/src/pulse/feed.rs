//! Entries out of a feed: RSS 2.0 and older, RSS 1.0 (RDF), Atom.
//!
//! Of a document type nothing is read: an entity that a document declares for itself is never expanded, and none is fetched.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::config::Format;
use super::entry::{Entry, Raw, push};
use super::plain::{entity, plain};

const ENTRIES_MAX: usize = 1_000;
/// No feed is nested so deeply; what is, is meant to do harm.
const DEPTH_MAX: usize = 64;

/// The entries of a feed.
pub(super) fn entries(text: &str, want: Option<Format>) -> Result<Vec<Entry>, String> {
    let mut reader = Reader::from_str(text);
    // Half of all feeds have an `&` that should have been written otherwise.
    reader.config_mut().allow_dangling_amp = true;
    let mut feed = Feed::default();
    loop {
        let event = reader.read_event();
        match event.map_err(|why| format!("is no feed: {}", plain(&why.to_string(), 160)))? {
            Event::Start(tag) => feed.begin(&tag, want)?,
            Event::Empty(tag) => {
                feed.begin(&tag, want)?;
                feed.end();
            }
            Event::End(_) => feed.end(),
            Event::Text(words) => feed.words(&words.html_content()),
            Event::CData(words) => feed.words(&words.html_content()),
            Event::GeneralRef(name) => feed.reference(&name.html_content()),
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
        if feed.entries.len() >= ENTRIES_MAX {
            return Ok(feed.entries);
        }
    }
    match (feed.kind, feed.depth) {
        (None, _) => Err("is no feed: it has no <rss>, <rdf:RDF> or <feed>".into()),
        (Some(_), 0) => Ok(feed.entries),
        (Some(_), _) => Err("is a feed that breaks off in the middle".into()),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rss,
    Atom,
}

/// Which field of an entry the text goes to that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Title,
    /// The fuller the text, the higher the number.
    Text(u8),
    Link,
    At(u8),
}

#[derive(Debug, Default)]
struct Feed {
    kind: Option<Kind>,
    /// What stands before the names of the feed's own elements, such as `atom:`.
    prefix: String,
    depth: usize,
    /// The depth of the entry that is read.
    entry: Option<usize>,
    raw: Raw,
    /// How good the text and the date are that the entry has so far.
    text_rank: u8,
    at_rank: u8,
    /// The field that is read, its depth, and its text so far.
    field: Option<(Field, usize, String)>,
    entries: Vec<Entry>,
}

impl Feed {
    fn begin(&mut self, tag: &BytesStart<'_>, want: Option<Format>) -> Result<(), String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("is no feed: its elements are more than {DEPTH_MAX} deep"));
        }
        let full = tag.name().into_inner().to_owned();
        let Some(kind) = self.kind else { return self.root(&full, want) };
        let name = full.strip_prefix(self.prefix.as_str()).unwrap_or(&full);
        match (self.entry, &self.field) {
            (None, _) => {
                let entry = if kind == Kind::Atom { "entry" } else { "item" };
                if name == entry {
                    self.entry = Some(self.depth);
                    (self.raw, self.text_rank, self.at_rank) = (Raw::default(), 0, 0);
                }
            }
            (Some(depth), None) if self.depth == depth + 1 => {
                self.field = field(kind, name, tag).map(|field| (field, self.depth, String::new()));
                if let Some((Field::Link, _, words)) = &mut self.field {
                    push(words, &attribute(tag, "href").unwrap_or_default());
                }
            }
            // An element inside a text ends a word.
            (Some(_), _) => self.words(" "),
        }
        Ok(())
    }

    fn root(&mut self, name: &str, want: Option<Format>) -> Result<(), String> {
        let (prefix, local) = name.rsplit_once(':').map_or(("", name), |(prefix, local)| (prefix, local));
        let kind = match local {
            "rss" | "RDF" => Kind::Rss,
            "feed" => Kind::Atom,
            other => return Err(format!("is no feed: it begins with <{}>", plain(other, 40))),
        };
        match (want, kind) {
            (Some(Format::Atom), Kind::Rss) => return Err("is RSS and not Atom: set format = \"rss\"".into()),
            (Some(Format::Rss), Kind::Atom) => {
                return Err("is Atom and not RSS: set format = \"atom\"".into());
            }
            _ => {}
        }
        if kind == Kind::Atom && !prefix.is_empty() {
            self.prefix = format!("{prefix}:");
        }
        self.kind = Some(kind);
        Ok(())
    }

    fn end(&mut self) {
        if self.field.as_ref().is_some_and(|(_, depth, _)| *depth == self.depth) {
            self.keep();
        } else if self.entry == Some(self.depth) {
            self.entry = None;
            self.entries.push(Entry::of(&self.raw));
        } else if self.field.is_some() {
            self.words(" ");
        }
        self.depth = self.depth.saturating_sub(1);
    }

    fn keep(&mut self) {
        let Some((field, _, words)) = self.field.take() else { return };
        if words.trim().is_empty() {
            return;
        }
        match field {
            Field::Title if self.raw.title.is_empty() => self.raw.title = words,
            Field::Link if self.raw.link.is_empty() => self.raw.link = words,
            Field::Text(rank) if rank > self.text_rank => (self.raw.text, self.text_rank) = (words, rank),
            Field::At(rank) if rank > self.at_rank => (self.raw.at, self.at_rank) = (words, rank),
            Field::Title | Field::Link | Field::Text(_) | Field::At(_) => {}
        }
    }

    fn words(&mut self, words: &str) {
        if let Some((_, _, text)) = &mut self.field {
            push(text, words);
        }
    }

    /// An entity is one of HTML's or a character by its number; any other stays as it is written.
    fn reference(&mut self, name: &str) {
        match entity(name) {
            Some(decoded) => self.words(&decoded),
            None => self.words(&format!("&{name};")),
        }
    }
}

/// The field that an element of an entry is.
fn field(kind: Kind, name: &str, tag: &BytesStart<'_>) -> Option<Field> {
    match (kind, name) {
        (_, "title") => Some(Field::Title),
        (Kind::Rss, "description") | (Kind::Atom, "summary") => Some(Field::Text(2)),
        (Kind::Rss, "content:encoded") | (Kind::Atom, "content") => Some(Field::Text(1)),
        (Kind::Rss, "link") => Some(Field::Link),
        (Kind::Atom, "link") => {
            let relation = attribute(tag, "rel");
            relation.is_none_or(|relation| relation == "alternate").then_some(Field::Link)
        }
        (Kind::Rss, "pubDate") | (Kind::Atom, "published") => Some(Field::At(2)),
        (Kind::Rss, "dc:date") | (Kind::Atom, "updated") => Some(Field::At(1)),
        _ => None,
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.try_get_attribute(name).ok().flatten()?;
    Some(found.value.replace("&amp;", "&"))
}
