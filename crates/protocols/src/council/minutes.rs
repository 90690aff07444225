//! What is told of a round as it ends, and `session.md`: the debate as a document that grows, under the seed's headings.

use std::fmt::Write;

use agon_core::{Corrupt, Outcome, RecordBody, RoundSummary, SavedRecord};
use serde::{Deserialize, Serialize};

use super::CouncilPhase;
use super::asks::question_lines;
use super::challenges::{Challenge, stance_word};
use super::log::{CouncilLog, CouncilRound};
use super::moderation::InterventionKind;
use super::replies::{ChallengeStance, CouncilConfidence, CouncilVote};
use super::text_matching::{one_line, shortened};
use super::verdict::{CouncilVerdict, consensus_points, disagreements};

/// A position in the printed table is cut here.
const POSITION_CHARS_MAX: usize = 60;
/// "points where 3+ councillors agree".
const EMERGING_MIN: usize = 3;
/// A challenge or a response in a list is cut here.
const WORDS_CHARS_MAX: usize = 160;

/// The seed's summary of a round, as data.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RoundNotes {
    title: String,
    position_changes: Vec<Vec<String>>,
    key_exchanges: Vec<String>,
    emerging_consensus: Vec<String>,
    persistent_disagreements: Vec<String>,
    moderator_notes: Vec<String>,
}

impl RoundNotes {
    pub(super) fn new(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> Self {
        let how = if round.is_over { "Complete" } else { "Incomplete" };
        Self {
            title: format!("Round {} of {} {how}", round.number, log.options.rounds),
            position_changes: position_table(log, round, usize::MAX),
            key_exchanges: key_exchanges(log, round),
            emerging_consensus: emerging_consensus(log, round),
            persistent_disagreements: persistent_disagreements(log, round),
            moderator_notes: moderator_notes(log, round),
        }
    }
}

/// A summary of every round that is over, to be printed as it ends.
pub(super) fn round_summaries(log: &CouncilLog<'_>) -> Vec<RoundSummary> {
    let over = log.rounds.iter().filter(|round| round.is_over);
    over.map(|round| {
        let of_round = |phase: &agon_core::Phase| {
            phase.round == round.number && phase.name != CouncilPhase::Vote.as_str()
        };
        let last = log.debate.turns.iter().rposition(|turn| of_round(&turn.phase));
        let notes = RoundNotes::new(log, round);
        let lists = [
            ("Key Exchanges", notes.key_exchanges),
            ("Emerging Consensus", notes.emerging_consensus),
            ("Persistent Disagreements", notes.persistent_disagreements),
            ("Moderator Notes", notes.moderator_notes),
        ];
        let or_none = |items: Vec<String>| if items.is_empty() { vec!["none".to_owned()] } else { items };
        RoundSummary {
            after_phases: last.map_or(0, |last| last + 1),
            title: notes.title,
            rows: position_table(log, round, POSITION_CHARS_MAX),
            notes: lists.map(|(heading, items)| (heading.to_owned(), or_none(items))).to_vec(),
        }
    })
    .collect()
}

/// "| Councillor | Before | After | Changed? |", for the active roster.
fn position_table(log: &CouncilLog<'_>, round: &CouncilRound<'_>, chars_max: usize) -> Vec<Vec<String>> {
    let mut rows = vec![["Councillor", "Before", "After", "Changed?"].map(String::from).to_vec()];
    for (seat, after) in &round.after {
        let before = round.before.get(seat).unwrap_or(after);
        let changed = match (after.changed, after.carried) {
            (true, _) => format!("Yes: {}", shortened(&after.because, chars_max)),
            (false, true) => "No (absent)".to_owned(),
            (false, false) => "No".to_owned(),
        };
        let now = if after.position == before.position { "unchanged" } else { after.position.as_str() };
        let (before, now) = (shortened(&before.position, chars_max), shortened(now, chars_max));
        rows.push(vec![log.name(seat).to_owned(), before, now, changed]);
    }
    rows
}

/// "{Role A} -> {Role B}: {summary of challenge and response}".
fn key_exchanges(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> Vec<String> {
    let answered = log.challenges.iter().filter_map(|challenge| {
        let answer = challenge.answers.iter().rev().find(|answer| answer.round == round.number)?;
        let said = shortened(&answer.response, WORDS_CHARS_MAX);
        Some(format!("{} \u{2014} {}: {said}", challenge_line(log, challenge), stance_word(answer.stance)))
    });
    let messages = log.messages_of(round.number).map(|message| {
        let reply = message.reply.as_deref().map(|reply| shortened(reply, WORDS_CHARS_MAX));
        let (from, to) = (log.name(&message.from), log.name(&message.to));
        format!(
            "{from} \u{2192} {to} [{}]: {} \u{2014} {}",
            message.id,
            shortened(&message.topic, WORDS_CHARS_MAX),
            reply.unwrap_or_else(|| "no answer".to_owned())
        )
    });
    answered.chain(messages).collect()
}

fn challenge_line(log: &CouncilLog<'_>, challenge: &Challenge) -> String {
    let (from, to) = (log.name(&challenge.from), log.name(&challenge.to));
    format!("{from} \u{2192} {to} [{}]: {}", challenge.id, shortened(challenge.point(), WORDS_CHARS_MAX))
}

/// "{points where 3+ councillors agree}".
fn emerging_consensus(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> Vec<String> {
    let points = round.findings.shared_points.iter().filter(|shared| shared.quotes.len() >= EMERGING_MIN);
    points
        .map(|shared| {
            let challenged = if shared.is_challenged() { "" } else { "; not challenged" };
            format!("{} ({}{challenged})", shared.point, log.names(shared.holders()))
        })
        .collect()
}

/// "{points still contested}": challenges whose answer is still a no after this round, and challenged points that few share.
fn persistent_disagreements(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> Vec<String> {
    let refused = log.challenges.iter().filter_map(|challenge| {
        let answer = log.answer_after(challenge, round.number)?;
        (answer.stance == Some(ChallengeStance::Disagree)).then(|| challenge_line(log, challenge))
    });
    let shared = round.findings.shared_points.iter();
    let contested = shared.filter(|shared| shared.is_challenged() && shared.quotes.len() < EMERGING_MIN);
    let contested =
        contested.map(|shared| format!("{} (shared by {})", shared.point, log.names(shared.holders())));
    refused.chain(contested).collect()
}

/// "{any interventions made and why}", and the findings that do not count.
fn moderator_notes(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if round.is_moderated && round.moderator.is_none() {
        notes.push("the moderator was absent: only what can be counted was found".to_owned());
    }
    for done in &round.interventions {
        let (to, outcome) = (log.name(&done.to), &done.outcome);
        let about = done.about.as_deref().unwrap_or_default();
        notes.push(match done.kind {
            InterventionKind::Evasion => {
                let why = done.why.as_deref().unwrap_or_default();
                format!("Evasion: [{about}] put again to {to} ({why}): {outcome}")
            }
            InterventionKind::Groupthink => {
                format!("Groupthink: {to} steelmans the opposite of \"{about}\": {outcome}")
            }
            InterventionKind::Stale => {
                format!("Stale: a reframing question to all: \"{}\": {outcome}", done.question)
            }
        });
    }
    for violation in log.violations.iter().filter(|violation| violation.round == round.number) {
        let (name, id) = (log.name(&violation.councillor), &violation.challenge_id);
        notes.push(format!("Violation: {name} evaded [{id}]: {}", violation.why));
    }
    notes.extend(round.findings.set_aside.iter().map(|why| format!("Note: {why}")));
    notes
}

/// `session.md`, as far as the debate got. Every later version begins with this text.
pub(super) fn session_record(log: &CouncilLog<'_>, verdict: &CouncilVerdict) -> Result<SavedRecord, Corrupt> {
    let mut text = String::new();
    let written = write_session(&mut text, log, verdict);
    written.map_err(|why| Corrupt::Render { file: "session.md".into(), why: why.to_string() })?;
    Ok(SavedRecord { stem: "session".into(), ending: ".md", body: RecordBody::Text(text), grows: true })
}

fn write_session(text: &mut String, log: &CouncilLog<'_>, verdict: &CouncilVerdict) -> std::fmt::Result {
    write_openings(text, log)?;
    // A round that is not over can still change, so it is written only once the debate is.
    let outcome = log.debate.outcome.as_ref();
    let rounds: Vec<_> = log.rounds.iter().filter(|round| round.is_over || outcome.is_some()).collect();
    if !rounds.is_empty() {
        text.push_str("\n## Debate\n\n");
    }
    for round in rounds {
        write_round(text, log, round)?;
    }
    if log.rounds_completed() == log.options.rounds {
        write_completion(text, log)?;
    }
    outcome.map_or(Ok(()), |outcome| write_verdict(text, log, verdict, outcome))
}

fn write_openings(text: &mut String, log: &CouncilLog<'_>) -> std::fmt::Result {
    let mode = if log.options.economy { "economy" } else { "standard" };
    writeln!(text, "# Council: {}\n", one_line(&log.debate.brief.question))?;
    writeln!(text, "- Rounds: {}\n- Mode: {mode}", log.options.rounds)?;
    if !log.options.focus.trim().is_empty() {
        writeln!(text, "- Focus: {}", one_line(&log.options.focus))?;
    }
    for member in &log.members {
        writeln!(text, "- {}: {}", member.role.name, member.seat.model)?;
    }
    text.push_str("\n## Opening Statements\n");
    for member in &log.members {
        let Some(opening) = &member.opening else { continue };
        writeln!(text, "\n### {}\n\n{}\n", member.role.name, one_line(&opening.position))?;
        for (argument, n) in opening.arguments.iter().zip(1..) {
            writeln!(text, "{n}. {}", one_line(argument))?;
        }
        writeln!(text, "\nConfidence: {}\n", opening.confidence.as_str())?;
        let asked: Vec<String> = question_lines(log, &member.seat.id)
            .iter()
            .map(|asked| format!("- {}", one_line(asked)))
            .collect();
        writeln!(text, "{}", asked.join("\n"))?;
    }
    Ok(())
}

/// "### Round {round_num}" with its four parts.
fn write_round(text: &mut String, log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> std::fmt::Result {
    let notes = RoundNotes::new(log, round);
    let cut = if round.is_over { "" } else { " (incomplete)" };
    writeln!(text, "### Round {}{cut}\n\n#### Challenges", round.number)?;
    for seat in log.active.iter().copied().filter(|seat| round.is_present(seat)) {
        writeln!(text, "\n**{}**\n", log.name(seat))?;
        for (made, n) in log.made_by(seat, round.number).zip(1..) {
            writeln!(text, "{n}. [{}] To {}: {}", made.id, log.name(&made.to), one_line(&made.text()))?;
        }
        for response in round.responses(seat, &log.challenges) {
            let (id, stance) = (&response.challenge_id, response.stance.as_str());
            writeln!(text, "- On [{id}]: {stance}: {}", one_line(&response.response))?;
        }
    }
    text.push_str("\n#### Position Updates\n\n");
    for (at, row) in notes.position_changes.iter().enumerate() {
        write_row(text, row.iter().map(String::as_str))?;
        if at == 0 {
            text.push_str("|------------|--------|-------|----------|\n");
        }
    }
    write!(text, "\n#### Key Exchanges\n\n{}", bullets(&notes.key_exchanges))?;
    for message in log.messages_of(round.number) {
        let (from, to) = (log.name(&message.from), log.name(&message.to));
        let (topic, said) = (one_line(&message.topic), one_line(&message.text));
        let reply = one_line(message.reply.as_deref().unwrap_or("no answer"));
        writeln!(text, "\n[{}] **{from} \u{2192} {to}**, {topic}: {said}\n\n**{to}:** {reply}", message.id)?;
    }
    write!(text, "\n#### Moderator Interventions\n\n{}", bullets(&notes.moderator_notes))?;
    for done in &round.interventions {
        for reply in &done.replies {
            let (name, said) = (log.name(&reply.councillor), one_line(&reply.text));
            writeln!(text, "\n**{name}** ({}): {said}", done.kind.as_str())?;
        }
    }
    write!(text, "\n**Emerging Consensus:**\n\n{}", bullets(&notes.emerging_consensus))?;
    write!(text, "\n**Persistent Disagreements:**\n\n{}", bullets(&notes.persistent_disagreements))?;
    text.push_str("\n---\n\n");
    Ok(())
}

/// "**Debate complete.** {rounds} rounds of cross-examination finished."
fn write_completion(text: &mut String, log: &CouncilLog<'_>) -> std::fmt::Result {
    let rounds = log.options.rounds;
    let s = if rounds == 1 { "" } else { "s" };
    let changes = log.rounds.iter().flat_map(|round| {
        round.changed().map(move |(seat, standing)| {
            format!("{} changed in round {}: {}", log.name(seat), round.number, one_line(&standing.because))
        })
    });
    let changes: Vec<String> = changes.collect();
    let evolution =
        if changes.is_empty() { "- nobody changed position\n".to_owned() } else { bullets(&changes) };
    write!(
        text,
        "**Debate complete.** {rounds} round{s} of cross-examination finished.\n\n**Position Evolution:**\n\n{evolution}\n\
         **Key Results:**\n\n- Consensus areas: {}\n- Persistent disagreements: {}\n- Position changes: {}\n\n\
         **NEXT: Phase 4 - Verdict**\n\nSynthesizing all debate evidence into a structured verdict.\n\n",
        consensus_points(log).len(),
        disagreements(log).len(),
        changes.len()
    )
}

fn write_verdict(
    text: &mut String,
    log: &CouncilLog<'_>,
    verdict: &CouncilVerdict,
    outcome: &Outcome,
) -> std::fmt::Result {
    let decision = verdict.decision.map_or("none", CouncilVote::as_str);
    let divided = if verdict.divided == Some(true) { ", divided" } else { "" };
    let confidence = verdict.confidence.map_or("none", CouncilConfidence::as_str);
    writeln!(text, "\n## Verdict\n\n**{decision}**{divided}, confidence {confidence}\n")?;
    text.push_str("| Councillor | Vote | Key argument | Remaining concern |\n|---|---|---|---|\n");
    for (seat, last) in &log.finals {
        let cells = [log.name(seat), last.vote.as_str(), &last.key_argument, &last.remaining_concern];
        write_row(text, cells)?;
    }
    let opposing = verdict.votes.iter().filter(|vote| !vote.strongest_opposing_point.trim().is_empty());
    let opposing =
        opposing.map(|vote| format!("{}: {}", vote.councillor, vote.strongest_opposing_point.trim()));
    let conditions = verdict.conditions.iter();
    let conditions = conditions.map(|made| format!("{} ({})", made.condition, made.councillors.join(", ")));
    let consensus = verdict.consensus_points.iter();
    let consensus = consensus.map(|point| format!("{} ({})", point.point, point.councillors.join(", ")));
    let risks = verdict.risk_matrix.iter().map(|risk| {
        let (severity, probability) = (risk.severity.as_str(), risk.probability.as_str());
        format!("{} (severity {severity}, probability {probability}): {}", risk.risk, risk.mitigation)
    });
    let minority = verdict.minority_opinion.iter().flatten();
    let minority =
        minority.map(|vote| format!("{} ({}): {}", vote.councillor, vote.vote.as_str(), vote.final_position));
    let violations = verdict.violations.iter();
    let violations = violations.map(|it| format!("{} on [{}]: {}", it.councillor, it.challenge_id, it.why));
    let open = verdict.open_questions.iter();
    let open = open.map(|open| format!("[{}] to {}: {}", open.challenge_id, open.to, open.question));
    let sections: [(&str, Vec<String>); 9] = [
        ("Strongest Opposing Points", opposing.collect()),
        ("Conditions", conditions.collect()),
        ("Consensus Points", consensus.collect()),
        ("Persistent Disagreements", verdict.disagreements.iter().map(|it| it.point.clone()).collect()),
        ("Risk Matrix", risks.collect()),
        ("Minority Opinion", minority.collect()),
        ("Violations", violations.collect()),
        ("Open Questions", open.collect()),
        ("Warnings", outcome.warnings.clone()),
    ];
    for (title, items) in sections.iter().filter(|(_, items)| !items.is_empty()) {
        write!(text, "\n### {title}\n\n{}", bullets(items))?;
    }
    Ok(())
}

fn write_row<'a>(text: &mut String, cells: impl IntoIterator<Item = &'a str>) -> std::fmt::Result {
    let cells: Vec<String> = cells.into_iter().map(|cell| one_line(cell).replace('|', "\\|")).collect();
    writeln!(text, "| {} |", cells.join(" | "))
}

/// A list with one line for each entry, so that no heading in somebody's words can pass for one of the document's.
fn bullets(items: &[String]) -> String {
    match items {
        [] => "- none\n".to_owned(),
        items => items.iter().map(|item| format!("- {}\n", one_line(item))).collect(),
    }
}
