//! The whole debate as one page: no script, no network, light and dark, desktop and phone.
//!
//! [`page_report`] is the frame and the sections; `blocks` sets what stands in them, `markup` the words; `paths`, `score_paths` and
//! `chart` are the drawings.

mod blocks;
mod chart;
mod markup;
mod paths;
mod score_paths;

use agon_core::{ReportSection, SectionFold, SectionKind};

use crate::assemble::{AssembledReport, full_report};
use crate::source::ReportSource;
use blocks::Place;
use markup::{escape, inline};

const STYLES: &str = include_str!("page.css");

/// The whole debate as one self-contained page. All text in it is escaped, and the page forbids itself to load or run
/// anything.
pub fn page_report(source: &ReportSource<'_>) -> String {
    let outline = full_report(source);
    let mut out = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    out.push_str("<meta name=\"color-scheme\" content=\"light dark\">\n");
    out.push_str("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n");
    out.push_str(&format!(
        "<title>{}</title>\n<style>\n{STYLES}</style>\n</head>\n<body>\n",
        escape(&title(&outline))
    ));
    write_header(&mut out, &outline);
    write_contents(&mut out, &outline.sections);
    out.push_str("<main>\n");
    for (place, section) in outline.sections.iter().enumerate() {
        write_section(&mut out, place, section);
    }
    out.push_str("</main>\n");
    out.push_str(&format!(
        "<footer>Debate <code>{}</code>, written by Agon.</footer>\n</body>\n</html>\n",
        escape(&outline.id)
    ));
    out
}

/// A title in a tab is cut anypath.
const TITLE_CHARS_MAX: usize = 120;

fn title(outline: &AssembledReport) -> String {
    outline.question.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(TITLE_CHARS_MAX).collect()
}

fn write_header(out: &mut String, outline: &AssembledReport) {
    let troubled = if outline.is_troubled { " troubled" } else { "" };
    out.push_str(&format!("<header>\n<p class=\"facts\">{}</p>\n", escape(&outline.facts.join(" \u{b7} "))));
    out.push_str(&format!("<h1>{}</h1>\n", escape(&outline.question).replace('\n', "<br>")));
    out.push_str(&format!("<p class=\"ending{troubled}\">{}</p>\n</header>\n", inline(&outline.ending)));
}

/// Links to the sections, beside the text where there is room for them. All that was said is one entry.
fn write_contents(out: &mut String, sections: &[ReportSection]) {
    out.push_str("<nav aria-label=\"Contents\">\n<ul>\n");
    let mut said = false;
    for (place, section) in sections.iter().enumerate() {
        let turn = section.kind == SectionKind::Transcript;
        let title = if turn { "What was said" } else { &section.title };
        if !(turn && said) {
            out.push_str(&format!("<li><a href=\"#part-{place}\">{}</a></li>\n", escape(title)));
        }
        said |= turn;
    }
    out.push_str("</ul>\n</nav>\n");
}

fn write_section(out: &mut String, place: usize, section: &ReportSection) {
    let (kind, title) = (escape(section.kind.as_str()), escape(&section.title));
    let inside = Place { level: 3, folded: section.kind == SectionKind::Transcript };
    let fold = section.fold;
    match fold {
        SectionFold::Never => {
            out.push_str(&format!("<section class=\"{kind}\" id=\"part-{place}\">\n<h2>{title}</h2>\n"));
            blocks::write(out, &section.blocks, inside);
            out.push_str("</section>\n");
        }
        SectionFold::Open | SectionFold::Closed => {
            let open = if fold == SectionFold::Open { " open" } else { "" };
            out.push_str(&format!(
                "<details class=\"{kind}\" id=\"part-{place}\"{open}>\n<summary><h2>{title}</h2></summary>\n"
            ));
            blocks::write(out, &section.blocks, inside);
            out.push_str("</details>\n");
        }
    }
}
