//! What is told of a round as it ends; `session.md`, the same as a document that grows, under the seed's headings; and the seed's
//! success metrics and failure modes, checked over the log.

use std::fmt::{Result as Written, Write};

use agon_core::wording::{counted, excerpt};
use agon_core::{Corrupt, QualityCheck, RecordBody, RoundSummary, SavedRecord};

use super::CouncilPhase;
use super::asks::round_lines;
use super::log::{CouncilLog, CouncilRound, PeerMessage, one_line};
use super::moderation::{INTERVENTIONS_MAX, InterventionKind, ModeratorIntervention, SharedPoint, id_list};
use super::replies::ChallengeStance;
use super::reply_rules::CHALLENGES_MIN;
use super::verdict::consensus_points;

/// A position in the printed table is cut here.
const POSITION_CHARS_MAX: usize = 60;
/// "points where 3+ councillors agree".
const EMERGING_MIN: usize = 3;
/// A challenge or a response in a list is cut here.
const WORDS_CHARS_MAX: usize = 160;

/// A list with its heading.
type HeadedList = (String, Vec<String>);

/// A summary of every round that is over, to be printed as it ends. The last one ends with the seed's "Debate complete".
pub(super) fn round_summaries(log: &CouncilLog<'_>) -> Vec<RoundSummary> {
    let over = log.rounds.iter().filter(|round| round.is_over);
    over.map(|round| {
        let is_of_round = |phase: &agon_core::Phase| {
            phase.round == round.number && CouncilPhase::of(phase).is_ok_and(|phase| !phase.info().is_closing)
        };
        let last = log.debate.turns.iter().rposition(|turn| is_of_round(&turn.phase));
        let mut notes = round_lists(log, round, WORDS_CHARS_MAX);
        notes.retain(|(_, items)| !items.is_empty());
        if round.number == log.options.rounds {
            notes.extend(completion(log));
        }
        RoundSummary {
            after_phases: last.map_or(0, |last| last + 1),
            title: format!("Round {} of {} Complete", round.number, log.options.rounds),
            rows: position_table(log, round, POSITION_CHARS_MAX),
            notes,
        }
    })
    .collect()
}

/// The lists under the table of a round.
fn round_lists(log: &CouncilLog<'_>, round: &CouncilRound<'_>, chars_max: usize) -> Vec<HeadedList> {
    let key =
        round.findings.key_exchanges.iter().filter_map(|id| key_exchange(log, round.number, id, chars_max));
    let new = round.findings.new_arguments.iter();
    let new = new.map(|said| format!("{}: {}", log.name(&said.councillor), said.quote));
    let is_emerging = |shared: &&SharedPoint| shared.members.len() >= EMERGING_MIN;
    let emerging = round.findings.shared_points.iter().filter(is_emerging);
    let lists = [
        ("Key Exchanges", key.collect()),
        ("New Arguments", new.collect()),
        ("Emerging Consensus", emerging.map(|shared| shared_line(log, shared)).collect()),
        ("Persistent Disagreements", persistent_disagreements(log, round)),
        ("Moderator Notes", moderator_notes(log, round)),
    ];
    lists.map(|(heading, items)| (heading.to_owned(), items)).into()
}

/// "**Debate complete.** {rounds} rounds of cross-examination finished.", with its lists.
fn completion(log: &CouncilLog<'_>) -> Vec<HeadedList> {
    let changes = log.rounds.iter().flat_map(|round| {
        round.changed().map(move |(seat, held)| {
            format!("{} changed in round {}: {}", log.name(seat), round.number, one_line(&held.because))
        })
    });
    let mut changes: Vec<String> = changes.collect();
    let contested = log.rounds.last().map_or(0, |last| persistent_disagreements(log, last).len());
    let results = vec![
        format!("Consensus areas: {}", consensus_points(log).len()),
        format!("Persistent disagreements: {contested}"),
        format!("Position changes: {}", changes.len()),
    ];
    if changes.is_empty() {
        changes.push("nobody changed position".to_owned());
    }
    let finished = counted(log.options.rounds.into(), "round");
    let next = vec!["Synthesizing all debate evidence into a structured verdict.".to_owned()];
    vec![
        (format!("Debate complete. {finished} of cross-examination finished."), Vec::new()),
        ("Position Evolution".to_owned(), changes),
        ("Key Results".to_owned(), results),
        ("NEXT: Phase 4 - Verdict".to_owned(), next),
    ]
}

/// "| Councillor | Before | After | Changed? |", for the active roster, with the confidence before and after.
fn position_table(log: &CouncilLog<'_>, round: &CouncilRound<'_>, chars_max: usize) -> Vec<Vec<String>> {
    let mut rows =
        vec![["Councillor", "Before", "After", "Changed?", "Confidence"].map(String::from).to_vec()];
    for (seat, after) in &round.after {
        let before = round.before.get(seat).unwrap_or(after);
        let changed = match (after.changed, after.carried) {
            (true, _) => format!("Yes: {}", shortened(&after.because, chars_max)),
            (false, true) => "No (absent)".to_owned(),
            (false, false) => "No".to_owned(),
        };
        let now = if after.changed { after.position.as_str() } else { "unchanged" };
        let confidence = match before.confidence == after.confidence {
            true => after.confidence.as_str().to_owned(),
            false => format!("{} \u{2192} {}", before.confidence.as_str(), after.confidence.as_str()),
        };
        let (before, now) = (shortened(&before.position, chars_max), shortened(now, chars_max));
        rows.push(vec![log.name(seat).to_owned(), before, now, changed, confidence]);
    }
    rows
}

/// "{Role A} -> {Role B}: {summary of challenge and response}", of a challenge or a message that the moderator chose.
fn key_exchange(log: &CouncilLog<'_>, round: u32, id: &str, chars_max: usize) -> Option<String> {
    let (id, from, to, said, answer) = match (log.challenge(id), log.message(id)) {
        (Some(put), _) => {
            let answer = put.answers.iter().rev().find(|answer| answer.round == round);
            let answer = answer.map(|answer| format!("{}: {}", answer.stance_word(), answer.response));
            (&put.id, &put.from, &put.to, &put.question, answer)
        }
        (None, sent) => sent.map(|sent| (&sent.id, &sent.from, &sent.to, &sent.text, sent.reply.clone()))?,
    };
    let (from, to, said) = (log.name(from), log.name(to), shortened(said, chars_max));
    let answer = shortened(answer.as_deref().unwrap_or("no answer"), chars_max);
    Some(format!("{from} \u{2192} {to} [{id}]: {said} \u{2014} {answer}"))
}

/// A point with those who share it and the challenges against it.
fn shared_line(log: &CouncilLog<'_>, shared: &SharedPoint) -> String {
    let challenged = match shared.challenged_by.as_slice() {
        [] => "not challenged".to_owned(),
        ids => format!("challenged in {}", id_list(ids)),
    };
    format!("{} ({}; {challenged})", shared.point, log.names(shared.holders()))
}

/// "{points still contested}": what was answered with a no in this round, and challenged points that few share.
fn persistent_disagreements(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> Vec<String> {
    let refused = log.challenges.iter().filter(|put| {
        let answer = put.answer_after(round.number).filter(|answer| answer.round == round.number);
        answer.is_some_and(|answer| answer.stance == Some(ChallengeStance::Disagree))
    });
    let refused = refused.map(|put| {
        let (from, to) = (log.name(&put.from), log.name(&put.to));
        format!("{from} \u{2192} {to} [{}]: {}", put.id, shortened(&put.question, WORDS_CHARS_MAX))
    });
    let is_contested =
        |shared: &&SharedPoint| !shared.challenged_by.is_empty() && shared.members.len() < EMERGING_MIN;
    let contested = round.findings.shared_points.iter().filter(is_contested);
    refused.chain(contested.map(|shared| shared_line(log, shared))).collect()
}

/// "{any interventions made and why}", and what of the moderator's findings does not count.
fn moderator_notes(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if round.is_moderated && round.moderator.is_none() {
        notes.push("The moderator was absent: only what can be counted was found".to_owned());
    }
    notes.extend(round.interventions.iter().map(|done| intervention_note(log, done)));
    notes.extend(round.findings.notes.iter().cloned());
    notes
}

fn intervention_note(log: &CouncilLog<'_>, done: &ModeratorIntervention) -> String {
    let (to, outcome) = (log.name(&done.to), &done.outcome);
    let about = done.about.as_deref().unwrap_or_default();
    match done.kind {
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
    }
}

/// `session.md`, as far as the debate got. Every later version begins with this text.
pub(super) fn session_record(log: &CouncilLog<'_>) -> Result<SavedRecord, Corrupt> {
    let mut text = String::new();
    let written = write_session(&mut text, log);
    written.map_err(|why| Corrupt::Render { file: "session.md".into(), why: why.to_string() })?;
    Ok(SavedRecord { stem: "session".into(), ending: ".md", body: RecordBody::Text(text), grows: true })
}

fn write_session(text: &mut String, log: &CouncilLog<'_>) -> Written {
    writeln!(text, "# Council: {}", one_line(&log.debate.brief.question))?;
    // A round that is not over can still change, so it is written only once the debate is.
    let is_closed = log.debate.outcome.is_some();
    for round in log.rounds.iter().filter(|round| round.is_over || is_closed) {
        write_round(text, log, round)?;
    }
    if log.rounds_completed() == log.options.rounds {
        for (heading, items) in completion(log) {
            let list = if items.is_empty() { String::new() } else { format!("\n{}", bullets(&items)) };
            write!(text, "\n**{heading}**\n{list}")?;
        }
    }
    Ok(())
}

/// "### Round {round_num}" with its four parts, and the other lists of the summary.
fn write_round(text: &mut String, log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> Written {
    let cut = if round.is_over { "" } else { " (incomplete)" };
    writeln!(text, "\n### Round {}{cut}\n\n#### Challenges", round.number)?;
    for seat in &log.active {
        write!(text, "\n**{}**\n\n{}", log.name(seat), bullets(&round_lines(log, round, seat)))?;
    }
    text.push_str("\n#### Position Updates\n\n");
    for (at, row) in position_table(log, round, usize::MAX).iter().enumerate() {
        let cells: Vec<String> = row.iter().map(|cell| one_line(cell).replace('|', "\\|")).collect();
        writeln!(text, "| {} |", cells.join(" | "))?;
        if at == 0 {
            writeln!(text, "|{}", "---|".repeat(row.len()))?;
        }
    }
    for (heading, items) in round_lists(log, round, usize::MAX) {
        let heading = if heading == "Moderator Notes" { "Moderator Interventions" } else { &heading };
        write!(text, "\n#### {heading}\n\n{}", bullets(&items))?;
    }
    text.push_str("\n---\n");
    Ok(())
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

/// The seed's success metrics, and its failure modes, which are met where they were avoided.
const SENTENCES: [&str; 14] = [
    "All rounds completed (no rounds skipped)",
    "Each councillor challenged 2+ specific points per round",
    "Peer exchange occurred between councillors (standard mode)",
    "Position evolution tracked across all rounds",
    "Moderator intervened when groupthink, evasion, or stalemate detected",
    "New insights emerged in each round (not just repetition)",
    "Debate log accumulated across all rounds",
    "Avoided: Cutting rounds short before all councillors respond",
    "Avoided: Not enforcing the 2-challenge minimum per councillor per round",
    "Avoided: Skipping moderator intervention when groupthink is detected",
    "Avoided: Not tracking position changes across rounds",
    "Avoided: Letting councillors repeat arguments without new substance",
    "Avoided: Over-intervening and dominating the debate (moderator should facilitate, not lead)",
    "Avoided: In standard mode: not encouraging/allowing peer exchange",
];

const QUOTED: &str = "with at least 2 quoted claims";

/// The phase that shows something, how many of how many are as they should be, and what they are.
type CheckResult = (CouncilPhase, [usize; 2], [&'static str; 2]);

/// Whether the debate was a good council. A sentence is met where all are as they should be, and does not apply where there are none.
pub(super) fn quality_checks(log: &CouncilLog<'_>) -> Vec<QualityCheck> {
    let results = SENTENCES.into_iter().zip(check_results(log));
    let checks = results.map(|(sentence, (phase, [done, all], [noun, how]))| {
        let replies = log.rounds.iter().flat_map(|round| log.asked(phase, round.number));
        let note = match all {
            0 => format!("no {noun}"),
            _ => format!("{done} of {} {how}", counted(all as u64, noun)),
        };
        QualityCheck {
            sentence: sentence.to_owned(),
            met: (all > 0).then_some(done >= all),
            note,
            shown_by: replies.map(|(ask, _)| ask.id).collect(),
        }
    });
    checks.collect()
}

fn check_results(log: &CouncilLog<'_>) -> [CheckResult; 14] {
    use CouncilPhase::{Challenge, Intervene, Moderate, Respond};
    let (held, rounds) = (log.rounds.len(), log.options.rounds as usize);
    // The moderator's reply shows that nothing was found, the interventions what was done about it.
    let phase_of = |found: usize| if found == 0 { Moderate } else { Intervene };
    let begun = if held == 0 { 0 } else { rounds };
    let of_rounds = |is_counted: &dyn Fn(&CouncilRound<'_>) -> bool| {
        log.rounds.iter().filter(|round| is_counted(round)).count()
    };
    let fresh = of_rounds(&|round| !round.findings.stale);
    let heard = of_rounds(&|round| round.is_over && is_heard(log, round));
    let restrained = of_rounds(&|round| interventions_put(log, round) <= INTERVENTIONS_MAX);
    let stalled = of_rounds(&|round| round.is_moderated && round.findings.stale);
    let examined = log.rounds.iter().map(|round| round.examined.len()).sum();
    let seats = log.rounds.iter().flat_map(|round| log.active.iter().map(move |seat| (round, seat)));
    let quoted = seats.map(|(round, seat)| {
        log.made_by(seat, round.number).filter(|made| made.quoted == Some(true)).count()
    });
    let enough = quoted.filter(|quoted| *quoted >= CHALLENGES_MIN).count();
    let sent = log.messages.len();
    let is_asked = |sent: &&PeerMessage| log.asked(Respond, sent.round).any(|(ask, _)| ask.seat == sent.to);
    let delivered = log.messages.iter().filter(is_asked).count();
    let exchanging = if log.options.economy { 0 } else { held.min(1) };
    let has_exchanged = log.messages.iter().any(|sent| sent.reply.is_some());
    let moderated = || log.rounds.iter().filter(|round| round.is_moderated);
    let points = moderated().map(|round| round.findings.unchallenged).sum();
    let evaded = moderated().map(|round| round.unanswered.len() + round.findings.evasions.len());
    let found = evaded.sum::<usize>() + points + stalled;
    let put = || moderated().flat_map(|round| &round.interventions).filter(|done| done.settled > 0);
    let argued = put().filter(|done| done.steelmanned_point().is_some()).count();
    let reframed = put().filter(|done| done.kind == InterventionKind::Stale).count();
    let changes = || log.rounds.iter().flat_map(CouncilRound::changed);
    let with_reason = changes().filter(|(_, held)| !held.because.is_empty()).count();
    [
        (Moderate, [of_rounds(&|round| round.is_over), rounds], ["round", "over"]),
        (Challenge, [enough, log.active.len() * held], ["cross-examination", QUOTED]),
        (
            Respond,
            [usize::from(has_exchanged), exchanging],
            ["standard debate held", "with an answered message"],
        ),
        (Respond, [held, begun], ["round", "with everybody's position"]),
        (phase_of(found), [put().count(), found], ["finding", "with an intervention"]),
        (Moderate, [fresh, held], ["round", "with a change or a new argument"]),
        (Challenge, [held, begun], ["round", "in the log"]),
        (Respond, [heard, rounds], ["round", "over, with answers from everybody"]),
        (Challenge, [enough, examined], ["given cross-examination", QUOTED]),
        (phase_of(points), [argued, points], ["widely shared and unchallenged point", "argued against"]),
        (Respond, [with_reason, changes().count()], ["position change", "with a reason"]),
        (phase_of(stalled), [reframed, stalled], ["stale round", "with a reframing question"]),
        (Intervene, [restrained, held], ["round", "with at most 3 interventions"]),
        (Respond, [delivered, sent], ["message", "delivered"]),
    ]
}

/// Whether everybody who was asked in a round answered.
fn is_heard(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> bool {
    let phases = [CouncilPhase::Challenge, CouncilPhase::Respond];
    let mut replies = phases.into_iter().flat_map(|phase| log.asked(phase, round.number));
    replies.all(|(_, reply)| reply.is_some_and(|reply| reply.value().is_some()))
}

/// Counted by what was asked. The asks of a question to all are about nothing in particular, and are one intervention.
fn interventions_put(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> usize {
    let asks = || log.asked(CouncilPhase::Intervene, round.number);
    asks().filter(|(ask, _)| ask.about.is_some()).count()
        + usize::from(asks().any(|(ask, _)| ask.about.is_none()))
}
