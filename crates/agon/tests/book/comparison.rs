//! Compares what the commands of a chapter print with what it shows, and updates it.

use std::ops::Range;

use crate::chapter::Chapter;
use crate::session::CommandResult;

/// Stands for any number of lines.
const LEFT_OUT: &str = "...";

/// A sentence for each command that prints something else, or fails.
pub(crate) fn failures(chapter: &Chapter, results: &[CommandResult]) -> Vec<String> {
    let commands = chapter.all_commands();
    let mut failures = Vec::new();
    for (n, (command, result)) in commands.iter().zip(results).enumerate() {
        let place = chapter.place(command.line);
        let expected = &chapter.lines[command.output.clone()];
        if !is_match(expected, &result.lines) {
            failures.push(format!(
                "{place}: `{}` does not print what is shown (AGON_UPDATE_BOOK=1 updates it).\n--- shown\n{}\n--- printed\n{}",
                command.text,
                expected.join("\n"),
                result.lines.join("\n")
            ));
        }
        let shows_status = commands.get(n + 1).is_some_and(|next| next.text == "echo $?");
        if result.status != 0 && !shows_status {
            failures.push(format!(
                "{place}: `{}` ends with status {}, and no `echo $?` follows it:\n{}",
                command.text,
                result.status,
                result.lines.join("\n")
            ));
        }
    }
    assert_eq!(commands.len(), results.len(), "{}: every command is run", chapter.place(0));
    failures
}

/// Writes what the commands print into the chapter, where it differs from what is shown.
pub(crate) fn update(chapter: &mut Chapter, results: &[CommandResult]) {
    let mut edits: Vec<(Range<usize>, Vec<String>)> = Vec::new();
    for result in results {
        let shown = &chapter.lines[result.command.output.clone()];
        if !is_match(shown, &result.lines) {
            edits.push((result.command.output.clone(), updated(shown, &result.lines)));
        }
    }
    if edits.is_empty() {
        return;
    }
    for (lines, new) in edits.into_iter().rev() {
        chapter.lines.splice(lines, new);
    }
    std::fs::write(&chapter.path, chapter.text()).unwrap();
}

/// Whether the printed lines are the ones that are shown.
fn is_match(shown: &[String], printed: &[String]) -> bool {
    let steady = |lines: &[String]| lines.iter().map(|line| steady_line(line)).collect::<Vec<_>>();
    let (shown, printed) = (steady(shown), steady(printed));
    // `reached[n]`: the lines that were shown so far can be the first `n` printed ones.
    let mut reached = vec![false; printed.len() + 1];
    reached[0] = true;
    for line in &shown {
        let mut next = vec![false; printed.len() + 1];
        if line == LEFT_OUT {
            let mut any = false;
            for n in 0..=printed.len() {
                any |= reached[n];
                next[n] = any;
            }
        } else {
            for n in 0..printed.len() {
                next[n + 1] = reached[n] && printed[n] == *line;
            }
        }
        reached = next;
    }
    reached[printed.len()]
}

/// The printed lines, without those that the chapter leaves out, if that can be told.
fn updated(shown: &[String], printed: &[String]) -> Vec<String> {
    if !shown.iter().any(|line| line == LEFT_OUT) {
        return printed.to_vec();
    }
    let parts: Vec<&[String]> = shown.split(|line| line == LEFT_OUT).collect();
    let mut new = Vec::new();
    let mut from = 0;
    for (n, part) in parts.iter().enumerate() {
        if n > 0 {
            new.push(LEFT_OUT.to_owned());
        }
        let (Some(first), Some(last)) = (part.first(), part.last()) else { continue };
        let find = |line: &String, from: usize| {
            (from..printed.len()).find(|at| steady_line(&printed[*at]) == steady_line(line))
        };
        let start = if n == 0 { Some(0) } else { find(first, from) };
        let end = start.and_then(|start| match n + 1 == parts.len() {
            true => Some(printed.len()),
            false => find(last, start + usize::from(part.len() > 1)).map(|end| end + 1),
        });
        let Some((start, end)) = start.zip(end).filter(|(start, end)| start <= end) else {
            return printed.to_vec();
        };
        new.extend_from_slice(&printed[start..end]);
        from = end;
    }
    new
}

/// A line in which what differs from run to run is the same: ids, hashes, dates, durations, ports, and how many spaces there are.
fn steady_line(line: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in line.split_whitespace() {
        let word = steady_word(word);
        let is_unit = ["s", "ms", "min", "h"].contains(&word.trim_end_matches([',', '.', ';', ')', ']']));
        match words.last_mut() {
            Some(number) if is_unit && is_number(number) => *number = "0".to_owned(),
            // `"ms": 12,` of a JSON document.
            Some(key) if key.ends_with("ms\":") => {
                words.push("0".to_owned());
                continue;
            }
            _ => {}
        }
        words.push(word);
    }
    let indent = line.len() - line.trim_start().len();
    format!("{:indent$}{}", "", words.join(" "))
}

fn is_number(word: &str) -> bool {
    let digits = word.trim_start_matches(['(', '[', '~', '<']);
    !digits.is_empty() && digits.chars().all(|char| char.is_ascii_digit() || char == '.')
}

fn steady_word(word: &str) -> String {
    let mut steady = String::new();
    let mut rest = word;
    while !rest.is_empty() {
        let end = rest.find(|char: char| !char.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        let comes_after = |text: &str| steady.ends_with(text);
        let is_digits = !run.is_empty() && run.chars().all(|char| char.is_ascii_digit());
        let is_port = is_digits && (comes_after("127.0.0.1:") || comes_after("localhost:"));
        let is_id = run.len() == 12 && run.starts_with('1') && !run.contains(char::is_uppercase);
        let is_hex = run.chars().all(|char| char.is_ascii_hexdigit());
        // An entry of the knowledge is `k-` and 8 digits.
        let is_hash = is_hex && (run.len() >= 16 || run.len() == 8 && comes_after("k-"));
        steady.push_str(match () {
            () if is_port => "0",
            () if is_id => "ID",
            () if is_hash => "HASH",
            () => run,
        });
        let mut chars = after.chars();
        steady.extend(chars.next());
        rest = chars.as_str();
    }
    steady_time(&steady)
}

/// `2026-01-02`, `03:04`, `03:04:05Z`, `2026-01-02T03:04:05.678Z` and `1.2s` in a word.
fn steady_time(word: &str) -> String {
    let shape: String = word.chars().map(|char| if char.is_ascii_digit() { '0' } else { char }).collect();
    let is_time = ["0000-00-00", "00:00"].iter().any(|time| shape.contains(time));
    let seconds = shape.trim_end_matches([',', '.', ';', ')']).strip_suffix('s');
    let is_duration = seconds.is_some_and(is_number);
    match () {
        () if is_time => "TIME".to_owned(),
        () if is_duration => "0s".to_owned(),
        () => word.to_owned(),
    }
}

#[test]
fn only_what_differs_from_run_to_run_may_differ() {
    let same = [
        ("Debate 1nfme8w7n720", "Debate 1abcde012345"),
        ("deep · 3 debaters · 4.0 s", "deep · 3 debaters · 12.5 s"),
        ("  ✓ debater-1   0.3 s  Tabs.", "  ✓ debater-1  10.3 s  Tabs."),
        ("listening on http://127.0.0.1:7717", "listening on http://127.0.0.1:41234"),
        ("2026-01-02T03:04:05Z deep", "2027-11-12T13:14:15Z deep"),
        ("1 entry stored: k-61c2b0eb", "1 entry stored: k-0a0b0c0d"),
        ("\"ms\": 12,", "\"ms\": 340,"),
    ];
    for (shown, printed) in same {
        assert!(is_match(&[shown.to_owned()], &[printed.to_owned()]), "{shown} | {printed}");
    }
    let different = [
        ("3 calls", "4 calls"),
        ("  Go by default.", "Go by default."),
        ("$0.12", "$0.13"),
        ("agreement 0.48", "agreement 0.50"),
    ];
    for (shown, printed) in different {
        assert!(!is_match(&[shown.to_owned()], &[printed.to_owned()]), "{shown} | {printed}");
    }
}

#[test]
fn lines_that_are_left_out_stay_left_out_in_an_update() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (shown, printed) = (lines("a\n...\nd\nold\nf\n...\ng"), lines("a\nb\nc\nd\nnew\nf\nx\ng"));
    assert!(!is_match(&shown, &printed));
    assert_eq!(updated(&shown, &printed), lines("a\n...\nd\nnew\nf\n...\ng"));
    assert!(is_match(&updated(&shown, &printed), &printed));
    assert_eq!(updated(&lines("a\n...\nunknown"), &printed), printed, "it cannot be told what to leave out");
    assert_eq!(updated(&[], &printed), printed, "a new command");
}
