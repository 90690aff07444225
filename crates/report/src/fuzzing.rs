//! What must hold for any words in a Markdown export. The tests and the fuzz target `markdown` call it.

#![allow(clippy::panic)]

use agon_core::outline::VerdictTone;
use agon_core::{ReportBlock, ReportItem, ReportLength, ReportSection, SectionKind};
use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::markdown::write_sections;
use crate::report_assembly::renderable;

/// A reader of Markdown finds in a report no HTML but our own line breaks, no picture, no heading but ours, and no other node that
/// this report does not write. The bytes are the texts, each up to a zero byte.
pub fn markdown(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut texts = text.split('\0').map(str::to_owned).cycle();
    let mut next = || texts.next().unwrap_or_default();
    let item = |who, text, note| ReportItem { who: Some(who), text, note: Some(note) };
    let blocks = vec![
        ReportBlock::Prose(next()),
        ReportBlock::Line(next()),
        ReportBlock::Items(vec![item(next(), next(), next()), ReportItem::text(next())]),
        ReportBlock::Headline(VerdictTone::Good, next()),
        ReportBlock::Pairs(vec![(next(), next()), (next(), next())]),
        ReportBlock::Table(vec![vec![next(), next()], vec![next(), next()]]),
        ReportBlock::Group { title: next(), badges: vec![next()], blocks: vec![ReportBlock::Prose(next())] },
        ReportBlock::Prose(next()),
    ];
    let sections = vec![
        ReportSection::new(SectionKind::Answer, next(), blocks),
        ReportSection::new(SectionKind::Part, "The end", vec![ReportBlock::Line("The end.".into())]),
    ];
    let sections = renderable(sections, ReportLength::Full);
    let mut written = String::new();
    write_sections(&mut written, &sections);
    assert_only_own_nodes(&written, headings(&sections));
}

/// Two headings for the sections, and one for the group.
fn headings(sections: &[ReportSection]) -> usize {
    let is_group = |block: &&ReportBlock| matches!(block, ReportBlock::Group { .. });
    sections.iter().map(|section| 1 + section.blocks.iter().filter(is_group).count()).sum()
}

fn assert_only_own_nodes(written: &str, headings: usize) {
    let extensions = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut found = 0;
    let parser = Parser::new_ext(written, extensions);
    assert_eq!(parser.reference_definitions().iter().count(), 0, "a line vanishes from {written}");
    for event in parser {
        match event {
            Event::InlineHtml(html) | Event::Html(html) => assert_eq!(html.trim(), "<br>", "in {written}"),
            Event::Start(Tag::Image { dest_url, .. }) => panic!("{dest_url} would be fetched by {written}"),
            Event::Start(Tag::MetadataBlock(_) | Tag::FootnoteDefinition(_))
            | Event::FootnoteReference(_) => {
                panic!("{event:?} in {written}")
            }
            Event::Start(Tag::Heading { .. }) => found += 1,
            _ => {}
        }
    }
    assert_eq!(found, headings, "headings in {written}");
}

#[cfg(test)]
mod tests {
    use super::markdown;

    #[test]
    fn no_words_at_all_become_markup_of_an_export() {
        const PIECES: &[&str] = &[
            "`",
            "``",
            "```",
            "~~~",
            "\\",
            "<b>",
            "</b>",
            "<",
            ">",
            "<!--",
            "-->",
            "<http://x>",
            "![",
            "[",
            "](",
            ")",
            "[^1]",
            "[^1]: ",
            "x",
            " ",
            "\n",
            "\n\n",
            "    ",
            "\t",
            "- ",
            "1. ",
            "> ",
            "# ",
            "|",
            "---",
            "*",
            "**",
            "_",
            "&lt;",
            "&#60;",
            "&amp;",
            "\"",
            "'",
            "\u{1b}[1m",
            "\u{85}",
            "\u{2028}",
            "<br",
            "=",
            "===",
            ":",
            "]:",
            "\u{a0}",
            "<script>",
            "\0",
            "- [ ] ",
            "~~",
            "http://x",
        ];
        agon_fuzzing::check("markdown", PIECES, markdown);
    }
}
