//! The files of a review: one for each judge and round, and the report.

use agon_core::calendar::day;
use agon_core::{Body, Saved};
use serde_json::Value;

use super::log::{Judge, Log};
use super::packet;
use super::reply::{Finding, Second};
use crate::named;

/// `YYYY-MM-DD-<target>-<vendor>-<perspective>.md`, `-r2.md` for round 2, and the report.
pub(super) fn records(log: &Log<'_>) -> Vec<Saved> {
    let brief = log.brief();
    let stem = format!("{}-{}", day(&brief.created_at), packet::slug(brief));
    let mut files = vec![Saved { stem: format!("{stem}-report"), ending: ".md", body: Body::Report }];
    for judge in &log.judges {
        let perspective = judge.perspective.as_ref().map_or(&judge.seat.id, |perspective| &perspective.name);
        let mut own = format!("{stem}-{}-{perspective}", named::key(&judge.vendor));
        // A judge whose model was replaced by one of the other vendor would take the place of another.
        while files.iter().any(|file| is_of(file, &own)) {
            own.push_str("-2");
        }
        if let Some(answer) = judge.answer {
            files.push(Saved { stem: own.clone(), ending: ".md", body: Body::Text(first(judge, answer)) });
        }
        if let Some((second, value)) = &judge.second {
            let text = self::second(judge, second, value);
            files.push(Saved { stem: own, ending: "-r2.md", body: Body::Text(text) });
        }
    }
    files
}

/// Whether a file has one of the names that a judge's files would have.
fn is_of(file: &Saved, own: &str) -> bool {
    let name = format!("{}{}", file.stem, file.ending);
    name.strip_prefix(own).is_some_and(|ending| matches!(ending, ".md" | "-r2.md"))
}

fn head(judge: &Judge<'_>, round: u32, verdict: Option<&str>) -> String {
    let verdict = verdict.map_or(String::new(), |verdict| format!(": {verdict}"));
    let perspective = judge.perspective.as_ref();
    let perspective =
        perspective.map_or(String::new(), |own| format!("\nPerspective: {}. {}\n", own.name, own.about));
    format!("# {}, round {round}{verdict}\n\nModel: {}\n{perspective}", judge.seat.id, judge.seat.model)
}

fn first(judge: &Judge<'_>, answer: &Value) -> String {
    let Some(first) = &judge.first else {
        return format!("{}{}", head(judge, 1, None), json(answer));
    };
    let mut text = head(judge, 1, Some(first.verdict.as_str()));
    text.push_str(&format!("\nConfidence: {}\n\n{}", first.confidence.as_str(), quoted(&first.key_insight)));
    text.push_str(&findings(&first.findings));
    text.push_str(&part("Recommendation", &first.recommendation));
    text.push_str(&json(answer));
    text
}

fn second(judge: &Judge<'_>, second: &Second, value: &Value) -> String {
    let mut text = head(judge, 2, Some(second.verdict.as_str()));
    text.push_str(&part("Restatement of round 1", &second.restatement));
    text.push_str(&format!(
        "\nConfidence: {}\n\n{}",
        second.confidence.as_str(),
        quoted(&second.key_insight)
    ));
    if let Some(because) = &second.changed_because {
        text.push_str(&part("Changed because", &because.citation));
    }
    text.push_str(&findings(&second.findings));
    text.push_str(&part("Steel man", &second.steel_man));
    let challenges = second.challenges.iter();
    let challenges = challenges
        .map(|said| format!("{}: {} {}", plain(&said.judge), plain(&said.claim), plain(&said.response)));
    text.push_str(&items("Challenges", &challenges.collect::<Vec<_>>()));
    let accepted = second.acknowledgments.iter();
    let accepted = accepted.map(|said| format!("{}: {}", plain(&said.judge), plain(&said.point)));
    text.push_str(&items("Acknowledgments", &accepted.collect::<Vec<_>>()));
    text.push_str(&part("Recommendation", &second.recommendation));
    text.push_str(&json(value));
    text
}

/// A judge's own words, under a heading.
fn part(title: &str, text: &str) -> String {
    match text.trim() {
        "" => String::new(),
        text => format!("\n## {title}\n\n{}", quoted(text)),
    }
}

/// A list, under a heading.
fn items(title: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.iter().map(|line| format!("- {line}\n")).collect();
    format!("\n## {title}\n\n{lines}")
}

fn findings(found: &[Finding]) -> String {
    let line = |finding: &Finding| {
        let place = finding.location.as_ref().map_or(String::new(), |place| format!(" ({})", plain(place)));
        let mend =
            finding.recommendation.as_ref().map_or(String::new(), |mend| format!("\n  {}", plain(mend)));
        format!("{}: {}{place}{mend}", finding.severity.as_str(), plain(&finding.description))
    };
    items("Findings", &found.iter().map(line).collect::<Vec<_>>())
}

/// Words as a quotation: no heading, fence or list in them can pass for one of the page.
fn quoted(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control() || *c == '\n').collect();
    text.trim().lines().map(|line| format!("> {}\n", marked(line))).collect()
}

/// Words in one line.
fn plain(text: &str) -> String {
    marked(
        &text
            .split(|c: char| c.is_whitespace() || c.is_control())
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" "),
    )
}

/// With the signs taken literally that would draw a picture, open a tag or hide what follows.
fn marked(text: &str) -> String {
    let mut marked = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '<' | '`' | '[' | '!') {
            marked.push('\\');
        }
        marked.push(c);
    }
    marked
}

/// The answer as it was given. A fence of more ticks than any in it keeps it in its place.
fn json(value: &Value) -> String {
    let text = format!("{value:#}");
    let longest = text.split(|char| char != '`').map(str::len).max().unwrap_or_default();
    let ticks = "`".repeat(longest.max(2) + 1);
    format!("\n{ticks}json\n{text}\n{ticks}\n")
}
