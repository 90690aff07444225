//! `session.md`: the debate as a document that grows, under the seed's headings.

use agon_core::{Body, Debate, Saved};
use serde_json::Value;

use super::log::Log;
use super::points;
use super::round::Round;
use super::summary::{Told, table};
use super::transcript;

/// Everything so far.
pub(super) fn session(debate: &Debate) -> Option<Saved> {
    let log = Log::read(debate).ok()?;
    let mut text = opening(&log);
    // Until the debate is over only what can change no more: the file grows and is never rewritten.
    let rounds: Vec<&Round> =
        log.rounds.iter().filter(|round| round.over || debate.outcome.is_some()).collect();
    if !rounds.is_empty() {
        text.push_str("\n## Debate\n\n");
    }
    for round in rounds {
        text.push_str(&written(&log, round));
    }
    if log.completed() == debate.brief.int("rounds") {
        text.push_str(&complete(&log));
    }
    if let Some(outcome) = &debate.outcome {
        text.push_str(&verdict(&log, &outcome.verdict, &outcome.warnings));
    }
    Some(Saved { stem: "session".into(), ending: ".md", body: Body::Text(text) })
}

fn opening(log: &Log<'_>) -> String {
    let brief = &log.debate.brief;
    let mode = if log.is_economy() { "economy" } else { "standard" };
    let mut text = format!("# Council: {}\n\n", line(&brief.question));
    text.push_str(&format!("- Rounds: {}\n- Mode: {mode}\n", brief.int("rounds")));
    if !brief.text("focus").trim().is_empty() {
        text.push_str(&format!("- Focus: {}\n", line(brief.text("focus"))));
    }
    for member in &log.members {
        text.push_str(&format!("- {}: {}\n", member.role.name, member.seat.model));
    }
    text.push_str("\n## Opening Statements\n");
    for (place, member) in log.members.iter().enumerate() {
        let Some(opening) = &member.opening else { continue };
        text.push_str(&format!("\n### {}\n\n{}\n\n", member.role.name, line(&opening.position)));
        let arguments = opening.arguments.iter().zip(1..).map(|(said, n)| format!("{n}. {}\n", line(said)));
        text.extend(arguments);
        text.push_str(&format!("\nConfidence: {}\n", opening.confidence.as_str()));
        let asked = transcript::questions(log, place).unwrap_or_default();
        let asked: Vec<String> = asked.lines().map(|asked| format!("- {}", line(asked))).collect();
        text.push_str(&format!("\n{}\n", asked.join("\n")));
    }
    text
}

/// "### Round {round_num}" with its four parts.
fn written(log: &Log<'_>, round: &Round) -> String {
    let told = Told::of(log, round);
    let cut = if round.over { "" } else { " (incomplete)" };
    let mut text = format!("### Round {}{cut}\n\n#### Challenges\n", round.number);
    for place in log.active() {
        if !round.is_present(place) {
            continue;
        }
        text.push_str(&format!("\n**{}**\n\n", log.name(place)));
        let made = log.challenges.iter().filter(|entry| entry.round == round.number && entry.from == place);
        for (entry, n) in made.zip(1..) {
            text.push_str(&format!(
                "{n}. [{}] To {}: {}\n",
                entry.id(),
                log.name(entry.to),
                line(&entry.text())
            ));
        }
        for response in round.responses(place, &log.challenges) {
            let (id, stance) = (&response.challenge_id, response.stance.as_str());
            text.push_str(&format!("- On [{id}]: {stance}: {}\n", line(&response.response)));
        }
    }
    text.push_str("\n#### Position Updates\n\n");
    for (at, row) in table(log, round, usize::MAX).iter().enumerate() {
        let cells: Vec<String> = row.iter().map(|cell| line(cell).replace('|', "\\|")).collect();
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
        if at == 0 {
            text.push_str("|------------|--------|-------|----------|\n");
        }
    }
    text.push_str("\n#### Key Exchanges\n\n");
    text.push_str(&list(&told.exchanges));
    for letter in log.letters.iter().filter(|letter| letter.round == round.number) {
        let (from, to) = (log.name(letter.from), log.name(letter.to));
        let reply = letter.reply.as_deref().unwrap_or("no answer");
        text.push_str(&format!(
            "\n[{}] **{from} \u{2192} {to}**, {}: {}\n\n**{to}:** {}\n",
            letter.id(),
            line(&letter.topic),
            line(&letter.text),
            line(reply)
        ));
    }
    text.push_str("\n#### Moderator Interventions\n\n");
    text.push_str(&list(&told.notes));
    for done in &round.interventions {
        let heard =
            done.to.iter().zip(&done.replies).filter_map(|(place, reply)| Some((*place, reply.as_ref()?)));
        for (place, reply) in heard {
            let said = line(&transcript::intervention(done, reply));
            text.push_str(&format!("\n**{}** ({}): {said}\n", log.name(place), done.kind.as_str()));
        }
    }
    for (heading, items) in
        [("Emerging Consensus", &told.consensus), ("Persistent Disagreements", &told.disagreements)]
    {
        text.push_str(&format!("\n**{heading}:**\n\n{}", list(items)));
    }
    text.push_str("\n---\n\n");
    text
}

/// "**Debate complete.** {rounds} rounds of cross-examination finished."
fn complete(log: &Log<'_>) -> String {
    let rounds = log.debate.brief.int("rounds");
    let s = if rounds == 1 { "" } else { "s" };
    let changes: Vec<String> = log
        .rounds
        .iter()
        .flat_map(|round| {
            let name = |(place, standing): (usize, &super::round::Standing)| {
                format!("{} changed in round {}: {}", log.name(place), round.number, line(&standing.because))
            };
            round.changed().map(name).collect::<Vec<_>>()
        })
        .collect();
    let evolution =
        if changes.is_empty() { "- nobody changed position\n".to_owned() } else { list(&changes) };
    format!(
        "**Debate complete.** {rounds} round{s} of cross-examination finished.\n\n**Position Evolution:**\n\n{evolution}\n\
         **Key Results:**\n\n- Consensus areas: {}\n- Persistent disagreements: {}\n- Position changes: {}\n\n\
         **NEXT: Phase 4 - Verdict**\n\nSynthesizing all debate evidence into a structured verdict.\n\n",
        points::consensus(log).len(),
        points::disagreements(log).len(),
        changes.len()
    )
}

fn verdict(log: &Log<'_>, verdict: &Value, warnings: &[String]) -> String {
    let word = |value: &Value, key: &str| line(value.get(key).and_then(Value::as_str).unwrap_or("none"));
    let entries = |key: &str| verdict.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let who = |value: &Value| {
        let ids = value.get("councillors").and_then(Value::as_array).cloned().unwrap_or_default();
        ids.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
    };
    let divided = verdict.get("divided").and_then(Value::as_bool).unwrap_or_default();
    let divided = if divided { ", divided" } else { "" };
    let mut text = format!(
        "\n## Verdict\n\n**{}**{divided}, confidence {}\n\n| Councillor | Vote | Key argument | Remaining concern |\n|---|---|---|---|\n",
        word(verdict, "decision"),
        word(verdict, "confidence")
    );
    for (place, last) in
        log.finals.iter().enumerate().filter_map(|(place, last)| Some((place, last.as_ref()?)))
    {
        let cells = [log.name(place), last.vote.as_str(), &last.key_argument, &last.remaining_concern];
        let cells = cells.map(|cell| line(cell).replace('|', "\\|"));
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    let opposing = entries("votes").into_iter().filter_map(|vote| {
        let point = vote.get("strongest_opposing_point").and_then(Value::as_str)?.trim().to_owned();
        (!point.is_empty()).then(|| format!("{}: {point}", word(&vote, "councillor")))
    });
    let mut section = |title: &str, items: Vec<String>| {
        if !items.is_empty() {
            text.push_str(&format!("\n### {title}\n\n{}", list(&items)));
        }
    };
    let told = |key: &str, field: &str| -> Vec<String> {
        entries(key).iter().map(|entry| format!("{} ({})", word(entry, field), who(entry))).collect()
    };
    section("Strongest Opposing Points", opposing.collect());
    section("Conditions", told("conditions", "condition"));
    section("Consensus Points", told("consensus_points", "point"));
    section("Persistent Disagreements", entries("disagreements").iter().map(|d| word(d, "point")).collect());
    let risk = |risk: &Value| {
        let (severity, probability) = (word(risk, "severity"), word(risk, "probability"));
        format!(
            "{} (severity {severity}, probability {probability}): {}",
            word(risk, "risk"),
            word(risk, "mitigation")
        )
    };
    section("Risk Matrix", entries("risk_matrix").iter().map(risk).collect());
    let minority = |vote: &Value| {
        format!("{} ({}): {}", word(vote, "councillor"), word(vote, "vote"), word(vote, "final_position"))
    };
    section("Minority Opinion", entries("minority_opinion").iter().map(minority).collect());
    let violation = |entry: &Value| {
        format!("{} on [{}]: {}", word(entry, "councillor"), word(entry, "challenge_id"), word(entry, "why"))
    };
    section("Violations", entries("violations").iter().map(violation).collect());
    let open = |entry: &Value| {
        format!("[{}] to {}: {}", word(entry, "challenge_id"), word(entry, "to"), word(entry, "question"))
    };
    section("Open Questions", entries("open_questions").iter().map(open).collect());
    section("Warnings", warnings.to_vec());
    text
}

fn list(items: &[String]) -> String {
    match items {
        [] => "- none\n".to_owned(),
        items => items.iter().map(|item| format!("- {}\n", line(item))).collect(),
    }
}

/// Somebody's words on one line, so that no heading of theirs can pass for one of the document's.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
