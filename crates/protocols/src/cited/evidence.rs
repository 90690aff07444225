//! The pieces of evidence that a text names: whatever anybody can look up without having heard the debate.

/// A word and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word<'t> {
    pub(super) text: &'t str,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The words of a text, in order.
pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    let place = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.map(|part| Word { text: part, start: place(part), end: place(part) + part.len() }).collect()
}

/// A piece of evidence is shown with at most so many characters.
const SHOWN_CHARS: usize = 80;

/// The links, places in files and documents, standards, works, sums and sourced figures of a text, in order.
pub fn evidence(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for sentence in sentences(text) {
        let parts: Vec<&str> = sentence.split_whitespace().collect();
        let before = found.len();
        // Most words can be no evidence, and texts are long.
        let may_be =
            |part: &&str| part.bytes().any(|c| c.is_ascii_digit() || matches!(c, b'.' | b':' | 0x80..));
        for (at, part) in parts.iter().enumerate().filter(|(_, part)| may_be(part)) {
            let previous = at.checked_sub(1).and_then(|at| parts.get(at)).copied().unwrap_or_default();
            found.extend(link(part).or_else(|| standard(previous, part)).or_else(|| location(part)));
            found.extend(numbered(previous, part).or_else(|| work(&parts, at)));
        }
        found.extend(sum(sentence));
        if found.len() == before {
            found.extend(sourced(sentence));
        }
    }
    let mut distinct: Vec<String> = Vec::new();
    for piece in found {
        if !distinct.contains(&piece) {
            distinct.push(piece);
        }
    }
    distinct
}

/// The sentences of a text; a stop inside a word ends none.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| {
        let mut parts = Vec::new();
        let mut from = 0;
        for (at, stop) in line.match_indices(['.', '!', '?']) {
            let end = at + stop.len();
            let after = line.get(end..).unwrap_or_default().chars().next();
            let said = line.get(from..at).unwrap_or_default();
            let word = said.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            // "et al. 2020", "e.g. this" and "No. 5" go on.
            let shortened =
                stop == "." && (word.len() == 1 || matches!(word, "al" | "No" | "Art" | "Sec" | "Fig"));
            if after.is_some_and(char::is_whitespace) && !shortened {
                parts.push(line.get(from..end).unwrap_or_default());
                from = end;
            }
        }
        parts.push(line.get(from..).unwrap_or_default());
        parts
    })
}

fn trimmed(part: &str) -> &str {
    part.trim_matches(|c: char| !(c.is_alphanumeric() || matches!(c, '/' | '_' | '\u{a7}' | '.' | '#')))
        .trim_end_matches(['.', '#'])
}

fn link(part: &str) -> Option<String> {
    let start = ["https://", "http://", "www.", "doi:"].iter().find_map(|scheme| part.find(scheme))?;
    let link = part.get(start..)?;
    let end = link.find(['>', ']', '"', '`']).unwrap_or(link.len());
    let link = link.get(..end)?.trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '\'']);
    // A bracket that was opened outside the link is not part of it.
    let link = if link.contains('(') { link } else { link.trim_end_matches(')') };
    let link = link.trim_end_matches(['.', ',', ';']);
    let named = link.trim_start_matches("https://").trim_start_matches("http://");
    named.contains(['.', '/']).then(|| link.to_owned())
}

/// `RFC 8785`, `CVE-2024-3094`, `arXiv:2508.17536`.
fn standard(previous: &str, part: &str) -> Option<String> {
    const SERIES: &[&str] =
        &["RFC", "CVE", "ISO", "arXiv", "DOI", "PMID", "PEP", "ISBN", "DIN", "CWE", "JEP", "ADR"];
    let (previous, part) = (trimmed(previous), trimmed(part));
    let numbered = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    let series = SERIES.iter().find_map(|series| {
        let alone = previous.trim_end_matches(':').eq_ignore_ascii_case(series) && numbered(part);
        let rest =
            part.get(series.len()..).filter(|_| part.get(..series.len()).is_some_and(|p| p == *series));
        let joined = rest.is_some_and(|rest| numbered(rest.trim_start_matches(['-', ':'])));
        (alone || joined).then_some((*series, alone))
    });
    series.map(|(series, alone)| if alone { format!("{series} {part}") } else { part.to_owned() })
}

/// `src/a.rs:12`, `a.rs`, `notes/plan.pdf`.
fn location(part: &str) -> Option<String> {
    /// What a file's name may end with where nothing else says that it is one. `js` is missing: it ends many products' names.
    const ENDINGS: &[&str] = &[
        "rs", "py", "ts", "tsx", "jsx", "go", "java", "kt", "c", "cc", "cpp", "h", "hpp", "cs", "rb", "php",
        "swift", "sh", "sql", "toml", "yaml", "yml", "json", "jsonl", "md", "txt", "csv", "html", "css",
        "xml", "pdf", "lock", "ini", "tex", "ipynb", "log", "proto", "diff", "patch",
    ];
    if part.contains("://") {
        return None;
    }
    let part = trimmed(part);
    let (file, line) = match part.split_once(':').or_else(|| part.split_once("#L")) {
        Some((file, line)) => (file, line.starts_with(|c: char| c.is_ascii_digit())),
        None => (part, false),
    };
    let (stem, ending) = file.rsplit_once('.')?;
    let is_ending = (1..=6).contains(&ending.len())
        && ending.bytes().all(|c| c.is_ascii_alphanumeric())
        && ending.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_stem = !stem.is_empty() && stem.chars().all(|c| c.is_alphanumeric() || "_-./@".contains(c));
    let is_file = line || stem.contains('/') || ENDINGS.contains(&ending);
    (is_ending && is_stem && is_file && stem.chars().any(char::is_alphabetic)).then(|| shown(part))
}

/// `line 12`, `section 3.2`, `\u{a7} 5`.
fn numbered(previous: &str, part: &str) -> Option<String> {
    const PARTS: &[&str] = &[
        "line", "lines", "section", "sec", "\u{a7}", "article", "art", "page", "pages", "table", "figure",
        "fig", "chapter", "clause", "appendix", "theorem", "lemma",
    ];
    let (name, number) = (trimmed(previous).to_lowercase(), trimmed(part));
    let whole = number.strip_prefix('\u{a7}').is_some_and(|n| n.starts_with(|c: char| c.is_ascii_digit()));
    if whole {
        return Some(shown(number));
    }
    // "Lines 4 and 5" gives the first; that is enough to find the place.
    let is_number = number.starts_with(|c: char| c.is_ascii_digit())
        && number
            .chars()
            .all(|c| c.is_ascii_digit() || ".-\u{2013}()".contains(c) || c.is_ascii_alphabetic());
    (is_number && PARTS.contains(&name.as_str())).then(|| shown(&format!("{name} {number}")))
}

/// `Smith (2020)`, `(Smith, 2020)`, `Smith et al. 2020`.
fn work(parts: &[&str], at: usize) -> Option<String> {
    let part = parts.get(at)?;
    let year = trimmed(part);
    let is_year = year.len() == 4 && year.parse::<u32>().is_ok_and(|year| (1500..=2100).contains(&year));
    let previous = at.checked_sub(1).and_then(|at| parts.get(at))?;
    let several = matches!(trimmed(previous), "al");
    let author = if several { parts.get(at.checked_sub(3)?)? } else { previous };
    let name = trimmed(author);
    let named = name.chars().count() > 2 && name.starts_with(char::is_uppercase);
    let bracketed = part.starts_with('(') || (part.contains(')') && author.starts_with('('));
    let et_al = if several { " et al." } else { "" };
    (is_year && named && (several || bracketed)).then(|| format!("{name}{et_al} {year}"))
}

/// A sum that anybody can do again: `7 * 13 = 91`.
fn sum(sentence: &str) -> Option<String> {
    let in_sum = |c: char| {
        c.is_ascii_digit() || c.is_whitespace() || "+-*/^().,\u{d7}\u{b7}\u{f7}\u{2212}%$\u{20ac}".contains(c)
    };
    let is_figure = |c: char| c.is_ascii_digit();
    sentence.match_indices('=').find_map(|(at, _)| {
        let (left, right) = (sentence.get(..at)?, sentence.get(at + 1..)?);
        let left = left.get(
            left.rfind(|c: char| !in_sum(c)).map_or(0, |at| {
                at + left.get(at..).and_then(|l| l.chars().next()).map_or(1, char::len_utf8)
            })..,
        )?;
        let right = right.get(..right.find(|c: char| !in_sum(c)).unwrap_or(right.len()))?;
        let left = left.trim_matches(|c: char| c.is_whitespace() || c == ',' || c == '.');
        let right = right.trim().trim_end_matches(['.', ',', ')']);
        let figures = left
            .split(|c: char| !(is_figure(c) || c == '.' || c == ','))
            .filter(|part| part.contains(is_figure));
        let works =
            left.contains(|c: char| "+-*/^\u{d7}\u{b7}\u{f7}\u{2212}".contains(c)) && figures.count() > 1;
        (works && right.contains(is_figure)).then(|| shown(&format!("{left} = {right}")))
    })
}

/// A figure with what it comes from, or a document with what it says.
fn sourced(sentence: &str) -> Option<String> {
    const SOURCES: &[&str] = &[
        "source",
        "sources",
        "measured",
        "measurement",
        "measurements",
        "benchmark",
        "benchmarks",
        "study",
        "studies",
        "survey",
        "census",
        "dataset",
        "statistics",
        "documentation",
        "docs",
        "manual",
        "specification",
        "paper",
        "papers",
        "experiment",
        "experiments",
        "reported",
        "report",
        "trial",
        "trials",
        "logs",
        "profiler",
        "telemetry",
        "handbook",
        "encyclopedia",
        "textbook",
    ];
    const SAYS: &[&str] =
        &["says", "say", "states", "state", "shows", "show", "found", "gives", "documents", "notes", "lists"];
    const NOBODY: &[&str] =
        &["me", "you", "them", "others", "most", "everyone", "everybody", "majority", "my", "us", "debaters"];
    let words = words(sentence);
    let is = |list: &[&str], word: &Word<'_>| list.iter().any(|other| other.eq_ignore_ascii_case(word.text));
    let source = words.iter().position(|word| is(SOURCES, word));
    let figure = words.iter().any(|word| word.text.starts_with(|c: char| c.is_ascii_digit()));
    let says = source.is_some_and(|at| words.iter().skip(at + 1).take(2).any(|word| is(SAYS, word)));
    let by =
        words.windows(2).position(|pair| matches!(pair, [a, b] if is(&["according"], a) && is(&["to"], b)));
    let somebody = |at: usize| {
        let said = || words.iter().skip(at + 2).take(2);
        said().next().is_some() && !said().any(|word| is(NOBODY, word))
    };
    let told = (source.is_some() && figure) || says || by.is_some_and(somebody);
    told.then(|| shown(sentence.trim()))
}

/// A piece as it is shown: cut where it is long.
fn shown(text: &str) -> String {
    let mut chars = text.char_indices();
    match chars.nth(SHOWN_CHARS).and_then(|(end, _)| text.get(..end)) {
        Some(cut) => format!("{}...", cut.rsplit_once(' ').map_or(cut, |(whole, _)| whole)),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_looked_up_is_a_piece_of_evidence() {
        for (text, want) in [
            ("See https://example.org/a(b).", &["https://example.org/a(b)"][..]),
            ("It says so ([here](http://example.org/x)), twice.", &["http://example.org/x"]),
            ("`src/a.rs:12` drops the lock.", &["src/a.rs:12"]),
            ("The lock is dropped in a.rs, and on line 12.", &["a.rs", "line 12"]),
            (
                "RFC 8785 and CVE-2024-3094 say so, arXiv:2508.17536 too.",
                &["RFC 8785", "CVE-2024-3094", "arXiv:2508.17536"],
            ),
            ("Section 3.2 and \u{a7}5 forbid it.", &["section 3.2", "\u{a7}5"]),
            (
                "Smith (2020) and (Jones, 2019) and Gray et al. 1975 found it.",
                &["Smith 2020", "Jones 2019", "Gray et al. 1975"],
            ),
            ("It is not prime: 7 * 13 = 91.", &["7 * 13 = 91"]),
            ("The benchmark took 12 ms.", &["The benchmark took 12 ms."]),
            ("The documentation says that it blocks.", &["The documentation says that it blocks."]),
            ("According to the census it grew.", &["According to the census it grew."]),
        ] {
            assert_eq!(evidence(text), want, "{text}");
        }
    }

    #[test]
    fn words_and_bare_figures_are_none() {
        for text in [
            "I think 42 is right, e.g. for small teams.",
            "Use Node.js and/or version 1.2 of ASP.NET.",
            "x = 5 and y == 6.",
            "In Paris, 2020 was dry.",
            "According to most others it is so.",
            "The study was good.",
            "It holds.So I go.",
            "www is old; http:// is nothing.",
        ] {
            assert_eq!(evidence(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn a_long_piece_is_cut_and_said_once() {
        let long = format!("The benchmark took 12 ms {}.", "and so on ".repeat(20));
        let found = evidence(&format!("{long}\n{long}"));
        assert_eq!(found.len(), 1);
        assert!(found[0].ends_with("...") && found[0].chars().count() <= SHOWN_CHARS + 3, "{found:?}");
    }
}
