//! Which words of the transcript somebody cites, so that a citation links to them.

use std::cell::Cell;

use agon_core::{ReportBlock, ReportSection, SectionKind};
use maud::{Markup, html};

/// Shorter quotes may occur anywhere.
const QUOTE_CHARS_MIN: usize = 12;

/// The quotes of a report and the speeches that they are from.
#[derive(Debug, Default)]
pub(super) struct QuoteIndex {
    quotes: Vec<CitedQuote>,
    /// How many speeches have been rendered.
    rendered: Cell<usize>,
    /// The speech that is being rendered.
    current: Cell<Option<usize>>,
}

#[derive(Debug)]
struct CitedQuote {
    words: String,
    /// The place of the speech in the transcript.
    speech: usize,
    is_marked: Cell<bool>,
}

impl QuoteIndex {
    /// Finds what is cited outside the transcript in the transcript.
    pub(super) fn new(sections: &[ReportSection]) -> Self {
        let (said, rest): (Vec<_>, Vec<_>) =
            sections.iter().partition(|section| section.kind == SectionKind::Transcript);
        let speeches: Vec<String> =
            said.iter().flat_map(|section| &section.blocks).filter_map(speech_text).collect();
        let mut index = Self::default();
        let mut cited = Vec::new();
        rest.iter().flat_map(|section| &section.blocks).for_each(|block| cited_words(block, &mut cited));
        for words in cited {
            let speech = speeches.iter().position(|speech| speech.contains(&words));
            if let Some(speech) = speech.filter(|_| !index.quotes.iter().any(|quote| quote.words == words)) {
                index.quotes.push(CitedQuote { words, speech, is_marked: Cell::new(false) });
            }
        }
        index
    }

    /// Renders a speech of the transcript, with its number. Quotes that are not within one piece of text link to its beginning.
    pub(super) fn speech(&self, render: impl FnOnce() -> Markup) -> Markup {
        let number = self.rendered.get();
        self.rendered.set(number + 1);
        self.current.set(Some(number));
        let inside = render();
        self.current.set(None);
        let unmarked = self.quotes.iter().enumerate();
        let unmarked = unmarked.filter(|(_, quote)| quote.speech == number && !quote.is_marked.get());
        html! {
            @for (place, _) in unmarked { span id=(anchor(place)) {} }
            (inside)
        }
    }

    /// A piece of what was said, with the words marked that somebody cites.
    pub(super) fn marked(&self, text: &str) -> Markup {
        let found = self.quotes.iter().enumerate().find_map(|(place, quote)| {
            let here = Some(quote.speech) == self.current.get() && !quote.is_marked.get();
            let (before, after) = here.then(|| text.split_once(&quote.words)).flatten()?;
            Some((place, quote, before, after))
        });
        let Some((place, quote, before, after)) = found else { return html! { (text) } };
        quote.is_marked.set(true);
        html! { (self.marked(before)) mark id=(anchor(place)) { (quote.words) } (self.marked(after)) }
    }

    /// A citation with links to the words that it quotes.
    pub(super) fn linked(&self, text: &str) -> Markup {
        let found = self.quotes.iter().enumerate().find_map(|(place, quote)| {
            let (before, after) = text.split_once(&quote.words)?;
            let is_quoted = before.ends_with(QUOTE_MARKS) && after.starts_with(QUOTE_MARKS);
            is_quoted.then_some((place, quote, before, after))
        });
        match found {
            None => super::blocks::inline(text),
            Some((place, quote, before, after)) => html! {
                (self.linked(before))
                a class="quoted" href={ "#" (anchor(place)) } { (quote.words) }
                (self.linked(after))
            },
        }
    }
}

const QUOTE_MARKS: [char; 3] = ['"', '\u{201c}', '\u{201d}'];

fn anchor(place: usize) -> String {
    format!("quote-{place}")
}

/// All words of a speech, or `None` if the block is none.
fn speech_text(block: &ReportBlock) -> Option<String> {
    matches!(block, ReportBlock::Speech { .. }).then(|| {
        let mut text = String::new();
        collect_text(block, &mut text);
        text
    })
}

fn collect_text(block: &ReportBlock, text: &mut String) {
    let mut add = |words: &str| {
        text.push_str(words);
        text.push('\n');
    };
    match block {
        ReportBlock::Prose(words) | ReportBlock::Line(words) => add(words),
        ReportBlock::Items(items) => items.iter().for_each(|item| add(&item.text)),
        ReportBlock::Pairs(pairs) => pairs.iter().for_each(|(_, value)| add(value)),
        ReportBlock::Table(rows) => rows.iter().flatten().for_each(|cell| add(cell)),
        ReportBlock::Group { blocks, .. } | ReportBlock::Speech { blocks, .. } => {
            blocks.iter().for_each(|block| collect_text(block, text));
        }
        _ => {}
    }
}

/// The words in quotation marks of the pairs in a block: what a change of mind cites.
fn cited_words(block: &ReportBlock, cited: &mut Vec<String>) {
    match block {
        ReportBlock::Pairs(pairs) => {
            for (_, value) in pairs {
                let parts = value.split(QUOTE_MARKS).skip(1).step_by(2);
                let long = parts.filter(|words| words.chars().count() >= QUOTE_CHARS_MIN);
                cited.extend(long.map(str::to_owned));
            }
        }
        ReportBlock::Group { blocks, .. } | ReportBlock::Speech { blocks, .. } => {
            blocks.iter().for_each(|block| cited_words(block, cited));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speech(text: &str) -> ReportBlock {
        let blocks = vec![ReportBlock::Prose(text.to_owned())];
        ReportBlock::Speech { place: 0, title: String::new(), badges: Vec::new(), blocks }
    }

    fn index(cited: &str, said: &[&str]) -> QuoteIndex {
        let pairs = ReportBlock::Pairs(vec![("Cited".into(), cited.into())]);
        let said: Vec<ReportBlock> = said.iter().map(|text| speech(text)).collect();
        QuoteIndex::new(&[
            ReportSection::new(SectionKind::Part, "Who changed", vec![pairs]),
            ReportSection::new(SectionKind::Transcript, "Round 1", said),
        ])
    }

    #[test]
    fn a_citation_links_to_the_words_where_they_were_said() {
        let cited = "[A0] of B: \"the cost is <b>low</b>\"; [B1]";
        let index =
            index(cited, &["Nothing here.", "I say the cost is <b>low</b>, twice the cost is <b>low</b>."]);
        let link = index.linked(cited).into_string();
        assert!(
            link.contains(
                "<a class=\"quoted\" href=\"#quote-0\">the cost is &lt;b&gt;low&lt;/b&gt;</a>&quot;; [B1]"
            ),
            "{link}"
        );
        let first = index.speech(|| index.marked("Nothing here.")).into_string();
        assert_eq!(first, "Nothing here.");
        let second =
            index.speech(|| index.marked("I say the cost is <b>low</b>, twice the cost is <b>low</b>."));
        let second = second.into_string();
        assert_eq!(second.matches("<mark id=\"quote-0\">").count(), 1, "{second}");
        assert!(!second.contains("<b>"), "{second}");
    }

    /// Bold words split a text into pieces. The link then leads to the beginning of the speech.
    #[test]
    fn a_quote_that_is_not_in_one_piece_leads_to_its_speech() {
        let index = index("\"the cost is low\"", &["the cost is low"]);
        let speech = index.speech(|| html! { (index.marked("the cost ")) strong { "is low" } }).into_string();
        assert_eq!(speech, "<span id=\"quote-0\"></span>the cost <strong>is low</strong>");
    }

    #[test]
    fn what_nobody_said_is_no_link() {
        let index = index("\"words that nobody said\" and \"short\"", &["short"]);
        let shown = index.linked("\"words that nobody said\" and \"short\"").into_string();
        assert!(!shown.contains("<a"), "{shown}");
    }
}
