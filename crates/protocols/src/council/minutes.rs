//! What is told of a round as it ends; `session.md`, the debate as a document that grows, under the seed's headings; and the seed's
//! success metrics and failure modes, checked over the log.

use std::fmt::Write;

use agon_core::wording::{capitalized, counted, excerpt};
use agon_core::{Corrupt, QualityCheck, RecordBody, RoundSummary, SavedRecord};
use indexmap::IndexMap;
use serde::Serialize;

use super::CouncilPhase;
use super::log::{Challenge, CouncilLog, CouncilRound, PeerMessage, one_line, phase_replies};
use super::moderation::{INTERVENTIONS_MAX, InterventionKind, SharedPoint, id_list, opposition};
use super::replies::{ChallengeStance, CouncilConfidence, CouncilVote};
use super::reply_rules::CHALLENGES_MIN;
use super::verdict::{CouncilVerdict, consensus_points};

/// A position in the printed table is cut here.
const POSITION_CHARS_MAX: usize = 60;
/// "points where 3+ councillors agree".
const EMERGING_MIN: usize = 3;
/// A challenge or a response in a list is cut here.
const WORDS_CHARS_MAX: usize = 160;

/// The seed's summary of a round, as data.
#[derive(Debug, Serialize)]
pub(super) struct RoundNotes {
    title: String,
    position_changes: Vec<Vec<String>>,
    /// `key_exchanges` and the other lists.
    #[serde(flatten)]
    lists: IndexMap<String, Vec<String>>,
}

impl RoundNotes {
    pub(super) fn new(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> Self {
        let how = if round.is_over { "Complete" } else { "Incomplete" };
        let new = round.findings.new_arguments.iter();
        let new = new.map(|said| format!("{}: {}", log.name(&said.councillor), one_line(&said.quote)));
        let lists = [
            ("provisional_votes", provisional_votes(log, round)),
            ("key_exchanges", key_exchanges(log, round)),
            ("new_arguments", new.collect()),
            ("emerging_consensus", emerging_consensus(log, round)),
            ("persistent_disagreements", persistent_disagreements(log, round)),
            ("moderator_notes", moderator_notes(log, round)),
        ];
        Self {
            title: format!("Round {} of {} {how}", round.number, log.options.rounds),
            position_changes: position_table(log, round, usize::MAX),
            lists: lists.into_iter().map(|(name, items)| (name.to_owned(), items)).collect(),
        }
    }

    fn list(&self, name: &str) -> &[String] {
        self.lists.get(name).map_or(&[], Vec::as_slice)
    }
}

/// The seed's heading of a list: `key_exchanges` becomes "Key Exchanges". After the first round nothing is persistent yet.
fn list_heading(name: &str, round: u32) -> String {
    let name = if round == 1 { name.trim_start_matches("persistent_") } else { name };
    name.split('_').map(capitalized).collect::<Vec<_>>().join(" ")
}

/// A summary of every round that is over, to be printed as it ends. The last one ends with the seed's "Debate complete".
pub(super) fn round_summaries(log: &CouncilLog<'_>) -> Vec<RoundSummary> {
    let over = log.rounds.iter().filter(|round| round.is_over);
    over.map(|round| {
        let is_of_round = |phase: &agon_core::Phase| {
            phase.round == round.number && CouncilPhase::of(phase).is_ok_and(|phase| !phase.info().is_closing)
        };
        let last = log.debate.turns.iter().rposition(|turn| is_of_round(&turn.phase));
        let notes = RoundNotes::new(log, round);
        let lists = notes.lists.into_iter().filter(|(_, items)| !items.is_empty());
        let mut lists: Vec<(String, Vec<String>)> =
            lists.map(|(name, items)| (list_heading(&name, round.number), items)).collect();
        if round.number == log.options.rounds {
            lists.extend(completion(log));
        }
        RoundSummary {
            after_phases: last.map_or(0, |last| last + 1),
            title: notes.title,
            rows: position_table(log, round, POSITION_CHARS_MAX),
            notes: lists,
        }
    })
    .collect()
}

/// "**Debate complete.** {rounds} rounds of cross-examination finished.", with its lists.
fn completion(log: &CouncilLog<'_>) -> Vec<(String, Vec<String>)> {
    let finished = counted(log.options.rounds.into(), "round");
    let changes = log.rounds.iter().flat_map(|round| {
        round.changed().map(move |(seat, held)| {
            format!("{} changed in round {}: {}", log.name(seat), round.number, one_line(&held.because))
        })
    });
    let changes: Vec<String> = changes.collect();
    let results = vec![
        format!("Consensus areas: {}", consensus_points(log).len()),
        format!(
            "Persistent disagreements: {}",
            log.rounds.last().map_or(0, |last| persistent_disagreements(log, last).len())
        ),
        format!("Position changes: {} (changed votes: {})", changes.len(), vote_changes(log)),
    ];
    let evolution = if changes.is_empty() { vec!["nobody changed position".to_owned()] } else { changes };
    vec![
        (format!("Debate complete. {finished} of cross-examination finished."), Vec::new()),
        ("Position Evolution".to_owned(), evolution),
        ("Key Results".to_owned(), results),
        (
            "NEXT: Phase 4 - Verdict".to_owned(),
            vec!["Synthesizing all debate evidence into a structured verdict.".to_owned()],
        ),
    ]
}

/// How often a provisional vote became another one in a round. A new position can keep the vote.
fn vote_changes(log: &CouncilLog<'_>) -> usize {
    let changed =
        log.rounds.iter().map(|round| round.after.keys().filter(|seat| round.is_vote_changed(seat)));
    changed.map(Iterator::count).sum()
}

/// "| Councillor | Before | After | Changed? |", for the active roster, with the confidence before and after. An answer to a challenge
/// that was put again comes after the positions of the round, so it stands beside them.
fn position_table(log: &CouncilLog<'_>, round: &CouncilRound<'_>, chars_max: usize) -> Vec<Vec<String>> {
    let head = ["Councillor", "Before", "After", "Changed?", "Confidence"].map(String::from);
    let mut rows = vec![head.to_vec()];
    for (seat, after) in &round.after {
        let before = round.before.get(seat).unwrap_or(after);
        let changed = match (after.changed, after.carried) {
            (true, _) => format!("Yes: {}", shortened(&after.because, chars_max)),
            (false, true) => "No (absent)".to_owned(),
            (false, false) => "No".to_owned(),
        };
        let granted =
            log.challenges.iter().filter(|put| put.to == *seat && put.is_granted_again(round.number));
        let granted = id_list(granted.map(|put| put.id.as_str()));
        let granted = match granted.as_str() {
            "" => String::new(),
            ids => format!("; {ids} conceded when put again"),
        };
        let now = if after.position == before.position { "unchanged" } else { after.position.as_str() };
        let confidence = match before.confidence == after.confidence {
            true => after.confidence.as_str().to_owned(),
            false => format!("{} \u{2192} {}", before.confidence.as_str(), after.confidence.as_str()),
        };
        let (before, now) = (shortened(&before.position, chars_max), shortened(now, chars_max));
        rows.push(vec![log.name(seat).to_owned(), before, now, format!("{changed}{granted}"), confidence]);
    }
    rows
}

fn provisional_votes(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> Vec<String> {
    let votes = CouncilVote::ALL.into_iter().filter_map(|vote| {
        let holders = round.after.iter().filter(|(_, held)| held.vote == vote).map(|(seat, _)| *seat);
        let holders = log.names(holders);
        (!holders.is_empty()).then(|| format!("{}: {holders}", vote.as_str()))
    });
    votes.collect()
}

/// "{Role A} -> {Role B}: {summary of challenge and response}": those that the moderator chose, else those that granted something.
fn key_exchanges(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> Vec<String> {
    let chosen = &round.findings.key_exchanges;
    let is_chosen = |id: &str| chosen.iter().any(|other| other.eq_ignore_ascii_case(id));
    let challenges = log.challenges.iter().filter_map(|put| {
        let answer = put.answers.iter().rev().find(|answer| answer.round == round.number);
        let grants = answer.is_some_and(|answer| answer.stance.is_some_and(ChallengeStance::concedes));
        let is_shown = if chosen.is_empty() { grants } else { is_chosen(&put.id) };
        let answer = answer.map_or_else(
            || "no answer".to_owned(),
            |answer| format!("{}: {}", answer.stance_word(), shortened(&answer.response, WORDS_CHARS_MAX)),
        );
        is_shown.then(|| format!("{} \u{2014} {answer}", challenge_line(log, put)))
    });
    let messages = log.messages_of(round.number).filter(|message| is_chosen(&message.id)).map(|message| {
        let reply = message.reply.as_deref().map(|reply| shortened(reply, WORDS_CHARS_MAX));
        let (from, to) = (log.name(&message.from), log.name(&message.to));
        let topic = shortened(&message.topic, WORDS_CHARS_MAX);
        let reply = reply.unwrap_or_else(|| "no reply".to_owned());
        format!("{from} \u{2192} {to} [{}]: {topic} \u{2014} {reply}", message.id)
    });
    challenges.chain(messages).collect()
}

fn challenge_line(log: &CouncilLog<'_>, challenge: &Challenge) -> String {
    let (from, to) = (log.name(&challenge.from), log.name(&challenge.to));
    format!("{from} \u{2192} {to} [{}]: {}", challenge.id, shortened(&challenge.question, WORDS_CHARS_MAX))
}

/// A point with those who share it, and what was said against it by the end of this round.
fn shared_line(log: &CouncilLog<'_>, round: &CouncilRound<'_>, shared: &SharedPoint) -> String {
    let so_far = log.rounds.iter().filter(|earlier| earlier.number < round.number).chain([round]);
    let done = so_far.flat_map(|earlier| &earlier.interventions);
    let point = (shared.point.as_str(), shared.challenged_by.as_slice());
    let challenged = opposition(log, point, shared.holders(), done);
    format!("{} ({}; {challenged})", shared.point, log.names(shared.holders()))
}

/// "{points where 3+ councillors agree}".
fn emerging_consensus(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> Vec<String> {
    let points = round.findings.shared_points.iter().filter(|shared| shared.members.len() >= EMERGING_MIN);
    points.map(|shared| shared_line(log, round, shared)).collect()
}

/// "{points still contested}": challenges that were answered with a no that stands after this round, and challenged points that few
/// share.
fn persistent_disagreements(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> Vec<String> {
    let refused = log.challenges.iter().filter(|put| log.is_contested_after(put, round.number));
    let refused = refused.map(|put| challenge_line(log, put));
    let shared = round.findings.shared_points.iter();
    let contested =
        shared.filter(|shared| !shared.challenged_by.is_empty() && shared.members.len() < EMERGING_MIN);
    refused.chain(contested.map(|shared| shared_line(log, round, shared))).collect()
}

/// "{any interventions made and why}", and what of the moderator's findings does not count.
fn moderator_notes(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if round.is_moderated && round.moderator.is_none() {
        notes.push("The moderator was absent: only what can be counted was found".to_owned());
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
                format!("Groupthink: {to} was asked to argue against \"{about}\": {outcome}")
            }
            InterventionKind::Stale => {
                format!("Stale: a reframing question to all: \"{}\": {outcome}", done.question)
            }
        });
    }
    let violations = log.violations.iter().filter(|found| found.round == round.number && !found.is_late);
    notes.extend(violations.map(|found| {
        format!("Violation: {} evaded [{}]: {}", log.name(&found.councillor), found.challenge_id, found.why)
    }));
    notes.extend(round.findings.notes.iter().cloned());
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
        for (heading, items) in completion(log) {
            let list = if items.is_empty() { String::new() } else { format!("{}\n", bullets(&items)) };
            write!(text, "**{heading}**\n\n{list}")?;
        }
    }
    outcome.map_or(Ok(()), |_| write_verdict(text, log, verdict))
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
        writeln!(
            text,
            "\nConfidence: {}, provisional vote: {}\n",
            opening.confidence.as_str(),
            opening.vote.as_str()
        )?;
        for asked in log.made_by(&member.seat.id, 0) {
            writeln!(text, "- [{}] to {}: {}", asked.id, log.name(&asked.to), one_line(&asked.question))?;
        }
    }
    Ok(())
}

/// "### Round {round_num}" with its four parts.
fn write_round(text: &mut String, log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> std::fmt::Result {
    let notes = RoundNotes::new(log, round);
    let cut = if round.is_over { "" } else { " (incomplete)" };
    writeln!(text, "### Round {}{cut}\n\n#### Challenges", round.number)?;
    for seat in &log.active {
        let answers = log
            .challenges
            .iter()
            .filter(|put| put.to == *seat)
            .filter_map(|put| Some((put, put.answer_in(round.number)?)));
        writeln!(text, "\n**{}**\n", log.name(seat))?;
        for (made, n) in log.made_by(seat, round.number).zip(1..) {
            writeln!(text, "{n}. [{}] To {}: {}", made.id, log.name(&made.to), one_line(&made.text()))?;
        }
        for (put, answer) in answers {
            writeln!(text, "- On [{}]: {}: {}", put.id, answer.stance_word(), one_line(&answer.response))?;
        }
    }
    text.push_str("\n#### Position Updates\n\n");
    for (at, row) in notes.position_changes.iter().enumerate() {
        write_row(text, row.iter().map(String::as_str))?;
        if at == 0 {
            text.push_str("|---|---|---|---|---|\n");
        }
    }
    write!(text, "\n#### Key Exchanges\n\n{}", bullets(notes.list("key_exchanges")))?;
    if log.messages_of(round.number).next().is_some() {
        text.push_str("\n**Messages:**\n");
    }
    for message in log.messages_of(round.number) {
        let (from, to) = (log.name(&message.from), log.name(&message.to));
        let (topic, said) = (one_line(&message.topic), one_line(&message.text));
        let reply = one_line(message.reply.as_deref().unwrap_or("no reply"));
        writeln!(text, "\n[{}] **{from} \u{2192} {to}**, {topic}: {said}\n\n**{to}:** {reply}", message.id)?;
    }
    write!(text, "\n#### Moderator Interventions\n\n{}", bullets(notes.list("moderator_notes")))?;
    for done in &round.interventions {
        for reply in &done.replies {
            let (name, said) = (log.name(&reply.councillor), one_line(&reply.text));
            writeln!(text, "\n**{name}** ({}): {said}", done.kind.as_str())?;
        }
    }
    for name in ["provisional_votes", "new_arguments", "emerging_consensus", "persistent_disagreements"] {
        write!(text, "\n**{}:**\n\n{}", list_heading(name, round.number), bullets(notes.list(name)))?;
    }
    text.push_str("\n---\n\n");
    Ok(())
}

fn write_verdict(text: &mut String, log: &CouncilLog<'_>, verdict: &CouncilVerdict) -> std::fmt::Result {
    let decision = verdict.decision.map_or("No decision", CouncilVote::as_str);
    let divided = if verdict.divided == Some(true) { ", divided" } else { "" };
    let confidence = verdict.confidence.map(CouncilConfidence::as_str);
    let confidence = confidence.map_or_else(String::new, |confidence| format!(", confidence {confidence}"));
    writeln!(text, "\n## Verdict\n\n**{decision}**{divided}{confidence}\n")?;
    if let Some(agreed) = &verdict.agreed {
        writeln!(text, "{}\n", one_line(agreed))?;
    }
    text.push_str(
        "| Councillor | Vote | Final position | Key argument | Remaining concern |\n|---|---|---|---|---|\n",
    );
    for (seat, last) in &log.finals {
        let (name, vote) = (log.name(seat), last.vote.as_str());
        write_row(text, [name, vote, &last.final_position, &last.key_argument, &last.remaining_concern])?;
    }
    for (heading, items) in verdict_lists(log, verdict).into_iter().filter(|(_, items)| !items.is_empty()) {
        write!(text, "\n**{heading}:**\n\n{}", bullets(&items))?;
    }
    Ok(())
}

/// What the votes ask for, fear and reject.
fn verdict_lists(log: &CouncilLog<'_>, verdict: &CouncilVerdict) -> [(&'static str, Vec<String>); 5] {
    let names = |seats: &[String]| log.names(seats.iter().map(String::as_str));
    let conditions = verdict.conditions.iter().map(|made| {
        let side = if made.on_decision_side { "" } else { ", against the decision" };
        format!("{} ({}{side})", made.condition, names(&made.councillors))
    });
    let conflicts = verdict.conflicts.iter().map(|conflict| conflict.words(log));
    let risks = verdict.risk_matrix.iter().map(|risk| {
        let (severity, probability) = (risk.severity.as_str(), risk.probability.as_str());
        let by = names(&risk.councillors);
        format!("{} (severity {severity}, probability {probability}; {by})", risk.risk)
    });
    let minority = verdict.minority_opinion.iter().flatten();
    let minority = minority.map(|cast| {
        format!("{}, {}: {}", log.name(&cast.councillor), cast.vote.as_str(), cast.final_position)
    });
    [
        ("Conditions", conditions.collect()),
        ("Conditions That Exclude Each Other", conflicts.collect()),
        ("Risks", risks.collect()),
        ("Dissent", minority.collect()),
        ("Facts Needed", verdict.facts_needed.clone()),
    ]
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

fn shortened(text: &str, chars_max: usize) -> String {
    excerpt(&one_line(text), chars_max)
}

/// The seed's success metrics.
const SUCCESS_METRICS: [&str; 7] = [
    "All rounds completed (no rounds skipped)",
    "Each councillor challenged 2+ specific points per round",
    "Peer exchange occurred between councillors (standard mode)",
    "Position evolution tracked across all rounds",
    "Moderator intervened when groupthink, evasion, or stalemate detected",
    "New insights emerged in each round (not just repetition)",
    "Debate log accumulated across all rounds",
];

/// The seed's failure modes. They are met where they were avoided.
const FAILURE_MODES: [&str; 7] = [
    "Avoided: Cutting rounds short before all councillors respond",
    "Avoided: Not enforcing the 2-challenge minimum per councillor per round",
    "Avoided: Skipping moderator intervention when groupthink is detected",
    "Avoided: Not tracking position changes across rounds",
    "Avoided: Letting councillors repeat arguments without new substance",
    "Avoided: Over-intervening and dominating the debate (moderator should facilitate, not lead)",
    "Avoided: In standard mode: not encouraging/allowing peer exchange",
];

/// The moderator's reply shows that nothing was found, the interventions what was done about it.
const MODERATED: [CouncilPhase; 2] = [CouncilPhase::Moderate, CouncilPhase::Intervene];

/// Whether something is so, where it applies; what shows it; and in which phase.
type CheckResult = (Option<bool>, String, CouncilPhase);

/// All checks. Only the first of each list applies where no round was held.
pub(super) fn quality_checks(log: &CouncilLog<'_>) -> Vec<QualityCheck> {
    let lists = [(SUCCESS_METRICS, success_metrics(log)), (FAILURE_MODES, failure_modes(log))];
    let mut checks = Vec::new();
    for (sentences, results) in lists {
        for (at, (sentence, (met, note, phase))) in sentences.into_iter().zip(results).enumerate() {
            let rounds = log.rounds.iter();
            let replies = rounds.flat_map(|round| phase_replies(&log.debate.turns, phase, round.number));
            let applies = at == 0 || !log.rounds.is_empty();
            checks.push(QualityCheck {
                sentence: sentence.to_owned(),
                met: met.filter(|_| applies),
                note: if applies { note } else { "no round was held".to_owned() },
                shown_by: replies.map(|(ask, _)| ask.id).collect(),
            });
        }
    }
    checks
}

fn success_metrics(log: &CouncilLog<'_>) -> [CheckResult; 7] {
    let (held, rounds) = (log.rounds.len(), log.options.rounds);
    let (is_held, is_complete) = (u32::try_from(held) == Ok(rounds), log.rounds_completed() == rounds);
    let few = too_few(log, |_, _| true);
    let made = log.challenges.iter().filter(|challenge| challenge.round > 0).count();
    let made = format!("{} in {}", count_of(made, "challenge"), count_of(held, "round"));
    let answered = log.messages.iter().filter(|message| message.reply.is_some()).count();
    let sent = format!("{}, {answered} of them answered", count_of(log.messages.len(), "message"));
    let changes: usize = log.rounds.iter().map(|round| round.changed().count()).sum();
    let seats = count_of(log.active.len(), "councillor");
    let (moved, voted) = (count_of(changes, "new position"), count_of(vote_changes(log), "changed vote"));
    let tracked = format!("{seats} after {held} of {rounds} rounds, {moved}, {voted}");
    let (found, put) = findings_and_interventions(log);
    let stale = log.rounds.iter().filter(|round| round.findings.stale);
    let stale = stale.map(|round| format!("no change and no new argument in round {}", round.number));
    let fresh = format!("a change or a new argument in each of {}", count_of(held, "round"));
    let fates = count_of(log.challenges.len(), "challenge");
    let logged = format!("{held} of {rounds} rounds are in the log, {fates} with a fate each");
    [
        (Some(is_complete), of_rounds(log), CouncilPhase::Moderate),
        unless(few, made, CouncilPhase::Challenge),
        in_standard(log, answered > 0, sent),
        (Some(is_held), tracked, CouncilPhase::Respond),
        each_of(
            [put, found],
            ["finding", "that call for an intervention got one", "nothing of the kind was found"],
            MODERATED,
        ),
        unless(stale.collect(), fresh, CouncilPhase::Moderate),
        (Some(is_held), logged, CouncilPhase::Challenge),
    ]
}

fn failure_modes(log: &CouncilLog<'_>) -> [CheckResult; 7] {
    let silent = silent_councillors(log);
    let is_whole = !log.was_cut() && log.rounds_completed() == log.options.rounds;
    let not_cut = match silent.is_empty() {
        true if is_whole => "everybody responded in every round".to_owned(),
        true => of_rounds(log),
        false => format!("no response from {}", silent.join(", ")),
    };
    let enforced = format!("everybody who took part made at least {CHALLENGES_MIN} in every round");
    // A councillor who took part with too few challenges shows that the rule was not applied.
    let few = too_few(log, |round, seat| round.examined.contains_key(seat));
    let moderated = || log.rounds.iter().filter(|round| round.is_moderated);
    let points: usize = moderated().map(|round| round.findings.unchallenged).sum();
    let done = || log.rounds.iter().flat_map(|round| &round.interventions);
    let argued = done().filter(|done| done.steelmanned_point().is_some()).count();
    let changes = || log.rounds.iter().flat_map(CouncilRound::changed);
    let with_reason = changes().filter(|(_, standing)| !standing.because.is_empty()).count();
    let changed = changes().count();
    let stalled = moderated().filter(|round| round.findings.stale).count();
    let reframed = done().filter(|done| done.kind == InterventionKind::Stale && done.settled > 0).count();
    let most = log.rounds.iter().map(|round| interventions_put(log, round)).max().unwrap_or_default();
    let put = format!("at most {} in a round, of {INTERVENTIONS_MAX}", count_of(most, "intervention"));
    let respond = CouncilPhase::Respond;
    let is_lost = |sent: &&PeerMessage| {
        !phase_replies(&log.debate.turns, respond, sent.round).any(|(ask, _)| ask.seat == sent.to)
    };
    let lost = log.messages.iter().filter(is_lost).count();
    let sent = format!("{}, {lost} not delivered{}", messages_written(log), unsent_messages(log));
    [
        (Some(silent.is_empty() && is_whole), not_cut, respond),
        unless(few, enforced, CouncilPhase::Challenge),
        each_of(
            [argued, points],
            ["unchallenged point", "shared by more than half, argued against", "no groupthink was found"],
            MODERATED,
        ),
        each_of([with_reason, changed], ["change", "with a reason", "no position changed"], [respond; 2]),
        each_of(
            [reframed, stalled],
            ["stale round", "with a reframing question", "no round stalled"],
            MODERATED,
        ),
        (Some(most <= INTERVENTIONS_MAX), put, CouncilPhase::Intervene),
        in_standard(log, lost == 0, sent),
    ]
}

/// How many messages were written, with those that the limit left out.
fn messages_written(log: &CouncilLog<'_>) -> String {
    let written = log.rounds.iter().flat_map(|round| round.examined.values());
    let written = written.map(|said| said.messages.len()).sum::<usize>();
    let surplus = written.saturating_sub(log.messages.len());
    format!("{} written, {surplus} over the limit", count_of(written, "message"))
}

/// Who took part in a round and sent nobody a message.
fn unsent_messages(log: &CouncilLog<'_>) -> String {
    let of_round = |round: &CouncilRound<'_>| {
        let is_sender = |seat: &str| log.messages_of(round.number).any(|sent| sent.from == seat);
        let silent = log.names(round.examined.keys().copied().filter(|seat| !is_sender(seat)));
        (!silent.is_empty()).then(|| format!("; none in round {} from {silent}", round.number))
    };
    log.rounds.iter().filter_map(of_round).collect()
}

/// Met where nothing is missing.
fn unless(missing: Vec<String>, note: String, phase: CouncilPhase) -> CheckResult {
    (Some(missing.is_empty()), if missing.is_empty() { note } else { missing.join("; ") }, phase)
}

fn in_standard(log: &CouncilLog<'_>, is_met: bool, note: String) -> CheckResult {
    match log.options.economy {
        true => (None, "economy mode has none".to_owned(), CouncilPhase::Respond),
        false => (Some(is_met), note, CouncilPhase::Respond),
    }
}

/// Met where all of them are done; it does not apply where there are none.
fn each_of(
    [done, all]: [usize; 2],
    [noun, how, none]: [&str; 3],
    [if_none, if_some]: [CouncilPhase; 2],
) -> CheckResult {
    match all {
        0 => (None, none.to_owned(), if_none),
        _ => (Some(done >= all), format!("{done} of {} {how}", count_of(all, noun)), if_some),
    }
}

fn count_of(number: usize, noun: &str) -> String {
    counted(number as u64, noun)
}

fn of_rounds(log: &CouncilLog<'_>) -> String {
    format!("{} of {} rounds are over", log.rounds_completed(), log.options.rounds)
}

/// Who made too few challenges with a verified claim in a round.
fn too_few(log: &CouncilLog<'_>, is_counted: impl Fn(&CouncilRound<'_>, &str) -> bool) -> Vec<String> {
    let mut notes = Vec::new();
    for round in &log.rounds {
        for seat in log.active.iter().filter(|seat| is_counted(round, seat)) {
            let made = log.made_by(seat, round.number).count();
            let quoted = log.made_by(seat, round.number).filter(|made| made.quoted == Some(true)).count();
            let note = format!("{} made {made} in round {}", log.name(seat), round.number);
            let note = match made - quoted {
                0 => note,
                others => format!("{note}, {others} of them without a quote"),
            };
            notes.extend((quoted < CHALLENGES_MIN).then_some(note));
        }
    }
    notes
}

/// Who did not answer in a round.
fn silent_councillors(log: &CouncilLog<'_>) -> Vec<String> {
    let mut silent = Vec::new();
    for round in &log.rounds {
        for phase in [CouncilPhase::Challenge, CouncilPhase::Respond] {
            let replies = phase_replies(&log.debate.turns, phase, round.number);
            let absent = replies.filter(|(_, reply)| reply.is_none_or(|reply| reply.value().is_none()));
            silent
                .extend(absent.map(|(ask, _)| format!("{} in round {}", log.name(&ask.seat), round.number)));
        }
    }
    silent
}

fn findings_and_interventions(log: &CouncilLog<'_>) -> (usize, usize) {
    let (mut found, mut put) = (0, 0);
    for round in log.rounds.iter().filter(|round| round.is_moderated) {
        found += round.unanswered.len() + round.findings.evasions.len() + round.findings.unchallenged;
        found += usize::from(round.findings.stale);
        put += round.interventions.iter().filter(|done| done.settled > 0).count();
    }
    (found, put)
}

/// Counted by what was asked. The asks of a question to all are about nothing in particular, and are one intervention.
fn interventions_put(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> usize {
    let asks = || phase_replies(&log.debate.turns, CouncilPhase::Intervene, round.number);
    asks().filter(|(ask, _)| ask.about.is_some()).count()
        + usize::from(asks().any(|(ask, _)| ask.about.is_none()))
}
