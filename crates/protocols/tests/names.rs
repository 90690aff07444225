//! "Outside `protocols`, no source file names a protocol". Other crates reach what differs between protocols through the trait.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use agon_protocols::all;

#[test]
fn no_source_file_outside_this_crate_names_a_protocol() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = 0;
    let mut named = Vec::new();
    for entry in fs::read_dir(crates).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.ends_with("protocols") && folder.join("src").is_dir() {
            files += for_each_file(&folder.join("src"), &mut |file, text| {
                let found = protocols_named_in(text, file.extension().is_some_and(|end| end == "rs"));
                named.extend(found.iter().map(|line| format!("{}:{line}", file.display())));
            });
        }
    }
    assert!(files > 100, "only {files} files were read");
    assert!(named.is_empty(), "these lines name a protocol:\n{}", named.join("\n"));
}

#[test]
fn a_line_that_names_a_protocol_is_found() {
    for line in [
        r#"find("deep")"#,
        "agon_protocols::panel::Panel",
        r#"const EXAMPLES: &str = "agon council \"TOPIC\"";"#,
        r#"note("there are no debates yet: agon ask \"QUESTION\" holds one")"#,
        r#"about("Write a debate as JSON; a review also for a pipeline")"#,
        r#"about("later arenas are told what is relevant")"#,
        r#"help("Do not write a review's record files")"#,
        r##"("demo-panel", include_str!("x"))"##,
        "r#\"two\nlines of a review\"#",
        "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn deep() {}\n}\n\nconst B: &str = \"deep\";",
        "#[cfg(test)]\nmod tests;\n\nconst B: &str = \"agon poll\";",
    ] {
        assert_eq!(protocols_named_in(line, true).len(), 1, "{line}");
    }
    for line in [
        "let review = panel.deep;",
        r#"("ask", "asked", "deeply", "arena_width", 'a', "x")"#,
        "// `deep` is \"deep\", as in agon deep",
        "/// agon deep",
        "fn a() {}\n#[cfg(test)]\nmod tests {\n    const B: &str = \"deep\";\n}\n",
        r#"let quote = '"'; let deep = "no name";"#,
    ] {
        assert_eq!(protocols_named_in(line, true), Vec::<usize>::new(), "{line}");
    }
    assert_eq!(protocols_named_in("# one\n#[protocols.deep]\n", false), [2]);
}

/// The numbers of the lines that name a protocol. In Rust, comments and blocks of tests do not count.
fn protocols_named_in(text: &str, is_rust: bool) -> Vec<usize> {
    let (code, strings) = match is_rust {
        true => code_and_strings(&without_tests(text)),
        false => (text.lines().map(|_| "\n").collect(), text.to_owned()),
    };
    let is_named = |(code, string): (&str, &str)| {
        all()
            .map(|protocol| protocol.info().name)
            .any(|name| code.contains(&format!("agon_protocols::{name}::")) || names_in_text(string, name))
    };
    let lines = (1..).zip(code.lines().zip(strings.lines()));
    lines.filter(|(_, line)| is_named(*line)).map(|(number, _)| number).collect()
}

/// Whether a text names this protocol. "ask" is also the glossary word for a question to a seat, and an English verb, so only
/// `agon ask` and the like name the protocol.
fn names_in_text(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let after = after.strip_prefix('s').filter(|_| name != "ask").unwrap_or(after);
        let is_whole = !before.ends_with(is_word) && !after.starts_with(is_word);
        let is_command = ["agon ", "demo-", "protocols."].iter().any(|prefix| before.ends_with(prefix));
        is_whole && (name != "ask" || is_command)
    })
}

/// The file without its `#[cfg(test)] mod NAME { ... }` blocks. Their lines stay, empty, so that line numbers are right.
fn without_tests(text: &str) -> String {
    let mut kept = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        kept.push_str(line);
        kept.push('\n');
        let opens = |next: &&str| next.trim_start().starts_with("mod ") && next.ends_with('{');
        if line.trim() == "#[cfg(test)]" && lines.peek().is_some_and(opens) {
            let end = line.replace("#[cfg(test)]", "}");
            for skipped in lines.by_ref() {
                kept.push('\n');
                if skipped == end {
                    break;
                }
            }
        }
    }
    kept
}

/// The text of a Rust file in two parts of the same lines: the code outside of strings and comments, and the strings.
fn code_and_strings(text: &str) -> (String, String) {
    let (mut code, mut strings) = (String::new(), String::new());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let hashes = rest.strip_prefix('r').map(|raw| raw.len() - raw.trim_start_matches('#').len());
        let raw = hashes
            .filter(|hashes| rest[1 + hashes..].starts_with('"') && !code.ends_with(char::is_alphanumeric));
        let (length, is_string) = match (c, raw) {
            (_, Some(hashes)) => {
                let end = format!("\"{}", "#".repeat(hashes));
                let body = &rest[2 + hashes..];
                (2 + hashes + body.find(&end).map_or(body.len(), |at| at + end.len()), true)
            }
            ('"', _) => (string_end(rest), true),
            ('/', _) if rest.starts_with("//") => {
                let comment = rest.find('\n').unwrap_or(rest.len());
                rest = &rest[comment..];
                continue;
            }
            // A quote as a character, which opens no string.
            ('\'', _) if rest.starts_with("'\"'") || rest.starts_with("'\\\"'") => {
                (rest[1..].find('\'').map_or(1, |at| at + 2), false)
            }
            _ => (c.len_utf8(), false),
        };
        let (token, after) = rest.split_at(length);
        let blank: String = token.chars().filter(|c| *c == '\n').collect();
        let (to, other) = if is_string { (&mut strings, &mut code) } else { (&mut code, &mut strings) };
        to.push_str(token);
        other.push_str(&blank);
        rest = after;
    }
    (code, strings)
}

/// Where a string ends that begins with a quote.
fn string_end(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !is_escaped => return at + 1,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    text.len()
}

/// Calls `look` for every Rust and TOML file in a folder, except tests. Returns the number of files.
fn for_each_file(folder: &Path, look: &mut dyn FnMut(&Path, &str)) -> usize {
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_test = path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests"));
        if path.is_dir() && !is_test {
            files += for_each_file(&path, look);
        } else if path.extension().is_some_and(|end| end == "rs" || end == "toml") && !is_test {
            files += 1;
            look(&path, &fs::read_to_string(&path).unwrap());
        }
    }
    files
}
