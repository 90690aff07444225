//! How `deep` ends: the synthesis input, the outcome, the fate of every first-round position.

use agon_core::{Corrupt, Debate, Fate, Fidelity, Outcome, Position, Status, Step, Summary, Termination};
use serde_json::{Value, json};

use super::log::{self, Exit, Log, Round};
use super::ranking;
use super::reply::{Argument, Revision, Stance};
use crate::{grouping, heard, lexical};

/// A final position this close to the answer counts as adopted when the debate did not converge.
const ADOPTED_FROM: f64 = 0.5;

/// Closes the debate.
pub(super) fn close(log: &Log<'_>) -> Result<Step, Corrupt> {
    let brief = &log.debate.brief;
    let (termination, status) = ending(log);
    let positions = fates(log, termination);
    let dissent = dissent(&positions);
    let whole = log.debate.absences().next().is_none()
        && heard::cut_off(log.debate).is_empty()
        && termination != Termination::Budget
        && status == Status::Complete;
    let outcome = Outcome {
        status,
        termination,
        rounds_completed: rounds_completed(log),
        verdict: verdict(log)?,
        dissent,
        fidelity: if whole { Fidelity::Full } else { Fidelity::Degraded },
        warnings: warnings(log, termination, brief.text("mode")),
        labels: log.debaters.iter().map(|debater| (debater.label.clone(), debater.seat.to_owned())).collect(),
        positions,
        passed: None,
        lesson: None,
    };
    Ok(Step::Close(Box::new(outcome)))
}

/// The minority's positions, each distinct one once, with all who held it.
fn dissent(positions: &[Position]) -> Vec<Value> {
    let mut distinct: Vec<(&Position, Vec<&str>)> = Vec::new();
    for position in positions.iter().filter(|position| position.fate == Fate::Minority) {
        let label = position.label.as_deref().unwrap_or_default();
        let same = |(first, _): &&mut (&Position, _)| first.position.eq_ignore_ascii_case(&position.position);
        match distinct.iter_mut().find(same) {
            Some((_, labels)) => labels.push(label),
            None => distinct.push((position, vec![label])),
        }
    }
    let entry = |(p, labels): (&Position, Vec<&str>)| json!({"debater": p.label, "seat": p.seat, "position": p.position, "reason": p.reason, "held_by": labels});
    distinct.into_iter().map(entry).collect()
}

pub(super) fn ending(log: &Log<'_>) -> (Termination, Status) {
    let stages = log.loop_ending();
    match (stages, &log.synthesis) {
        (Termination::QuorumLost, _) => (stages, Status::Incomplete),
        (_, Some(_)) => (stages, Status::Complete),
        (Termination::Budget, None) => (stages, Status::Incomplete),
        _ if log.debate.spent_share() >= 1.0 || chair_over_budget(log) => {
            (Termination::Budget, Status::Incomplete)
        }
        _ => (Termination::Failed, Status::Failed),
    }
}

fn chair_over_budget(log: &Log<'_>) -> bool {
    let mut absences = log.debate.turns_of("synthesis").flat_map(agon_core::Turn::absences).peekable();
    absences.peek().is_some() && absences.all(|(_, why, _)| why == agon_core::Absence::OverBudget)
}

fn rounds_completed(log: &Log<'_>) -> u32 {
    log.counted().last().map_or(0, |round| round.number)
}

fn verdict(log: &Log<'_>) -> Result<Value, Corrupt> {
    let rounds: Vec<Value> = log.counted().map(|round| round_record(log, round)).collect();
    let chair = log.debate.turns_of("synthesis").last().and_then(|turn| turn.settled().next());
    let chair = chair.filter(|_| log.synthesis.is_some()).map(|(ask, _)| {
        let stand_in = log.debate.brief.seat(&ask.seat).is_none_or(|seat| seat.model != ask.model);
        json!({"seat": ask.seat, "model": ask.model, "stand_in": stand_in})
    });
    let ranking = ranking::ranking(log)?;
    let mut verdict = json!({
        "answer": log.synthesis.as_ref().map(|synthesis| &synthesis.answer),
        "why": log.synthesis.as_ref().map(|synthesis| &synthesis.why),
        "contested": log.synthesis.as_ref().map_or(&[][..], |synthesis| &synthesis.contested),
        "synthesis_input": synthesis_input(log),
        "rounds": rounds,
        "chair": chair,
    });
    if log.debate.brief.text("mode") == "standard" {
        verdict.as_object_mut().map(|verdict| verdict.insert("ranking".into(), json!(ranking)));
    }
    Ok(verdict)
}

/// What the debate loop passes to Stage 3: exactly the seed's JSON.
pub(super) fn synthesis_input(log: &Log<'_>) -> Value {
    let mode = log.debate.brief.text("mode");
    let last = log.counted().last();
    let final_stances: Vec<Value> = (0..log.debaters.len()).map(|place| final_stance(log, place)).collect();
    let status = last.and_then(|round| round.assessment.as_ref()).map(|assessment| {
        json!({
            "agreement_score": assessment.agreement_score,
            "new_points_ratio": assessment.new_points_ratio,
            "consensus_answer": log::consensus_answer(assessment),
            "remaining_disagreements": assessment.remaining_disagreements,
        })
    });
    json!({
        "mode": mode,
        "rounds_completed": rounds_completed(log),
        "final_stances": final_stances,
        "convergence_status": status,
        "debate_log": log.counted().map(|round| summary(log, round)).collect::<Vec<_>>(),
    })
}

fn final_stance(log: &Log<'_>, place: usize) -> Value {
    let last = log.last_argument(place).map(|(_, argument)| argument);
    json!({
        "debater": log.debaters.get(place).map(|debater| &debater.label),
        "stance": last.map(|argument| argument.stance),
        "confidence": last.map(|argument| argument.confidence),
        "revised_position": log.position(place, u32::MAX),
    })
}

/// A round in one line, made from its data.
fn summary(log: &Log<'_>, round: &Round) -> String {
    let stances = log.debaters.iter().zip(&round.arguments).map(|(debater, argument)| match argument {
        Some(a) => {
            let (stance, revision) = (a.stance.as_str(), a.revision.as_str());
            format!("{}: {stance}, {revision}, confidence {:.2}", debater.label, a.confidence)
        }
        None => format!("{}: absent, position carried", debater.label),
    });
    let stances: Vec<String> = stances.collect();
    let assessed = match &round.assessment {
        Some(a) => format!("agreement {:.2}, new points {:.2}", a.agreement_score, a.new_points_ratio),
        None => "unassessed".to_owned(),
    };
    let open = round.assessment.as_ref().map_or(0, |assessment| assessment.remaining_disagreements.len());
    format!("Round {}: {}; {assessed}; {open} open disagreements", round.number, stances.join("; "))
}

fn round_record(log: &Log<'_>, round: &Round) -> Value {
    let assessment = round.assessment.as_ref();
    let stances: Vec<Value> = log
        .debaters
        .iter()
        .zip(&round.arguments)
        .map(|(debater, argument)| {
            json!({
                "debater": debater.label,
                "stance": argument.as_ref().map(|a| a.stance),
                "revision": argument.as_ref().map(|a| a.revision),
                "confidence": argument.as_ref().map(|a| a.confidence),
                "carried": argument.is_none(),
                "key_points": argument.as_ref().map_or(&[][..], |a| &a.key_points),
                "counterpoints": argument.as_ref().map_or(&[][..], |a| &a.counterpoints),
                "revised_position": argument.as_ref().and_then(Argument::new_position),
            })
        })
        .collect();
    json!({
        "round": round.number,
        "assessed": assessment.is_some(),
        "agreement_score": assessment.map(|a| a.agreement_score),
        "new_points_ratio": assessment.map(|a| a.new_points_ratio),
        "should_stop": assessment.map(|a| a.should_stop),
        "consensus_answer": assessment.and_then(log::consensus_answer),
        "remaining_disagreements": assessment.map_or(&[][..], |a| &a.remaining_disagreements),
        "next_round_focus": assessment.and_then(|a| a.next_round_focus.as_ref()),
        "stances": stances,
    })
}

/// What became of every Stage 1 answer. A debater's own declaration comes first; where it held to its answer, the
/// moderator's agreement or, failing that, the likeness of its position to the answer decides.
pub(super) fn fates(log: &Log<'_>, termination: Termination) -> Vec<Position> {
    let fate = |place: usize| {
        given_up(log, place)
            .map(|reason| (Fate::Refuted, reason))
            .unwrap_or_else(|| kept(log, place, termination))
    };
    let debaters = log.debaters.iter().enumerate();
    debaters
        .map(|(place, debater)| {
            let (fate, reason) = fate(place);
            let (seat, label) = (debater.seat.to_owned(), Some(debater.label.clone()));
            Position { seat, label, position: debater.answer.trim().to_owned(), fate, reason }
        })
        .collect()
}

/// Why a debater gave its first answer up, if it did.
fn given_up(log: &Log<'_>, place: usize) -> Option<String> {
    let debater = log.debaters.get(place)?;
    let own = &debater.label;
    // Who came back to it has not given it up.
    if grouping::is_same(log.position(place, u32::MAX), debater.answer.trim()) {
        return None;
    }
    let (number, argument) = log.rounds.iter().find_map(|round| {
        let argument = round.arguments.get(place)?.as_ref()?;
        let conceded = argument.stance == Stance::Concede && argument.revision != Revision::NoChange;
        (conceded || argument.revision == Revision::MajorRevision).then_some((round.number, argument))
    })?;
    let against = log.rounds.iter().filter(|round| round.number <= number).flat_map(|round| {
        log.debaters.iter().zip(&round.arguments).flat_map(|(debater, said)| {
            let points = said.iter().flat_map(|argument| &argument.counterpoints);
            points
                .filter(|point| point.target.ends_with(own.as_str()))
                .map(|point| (&debater.label, &point.point))
        })
    });
    let by: Vec<String> = against.map(|(label, point)| format!("Debater {label}: {point}")).collect();
    let by = if by.is_empty() { "no counterpoint named it".to_owned() } else { by.join("; ") };
    let now = argument.new_position().unwrap_or_default();
    Some(format!("given up in round {number} for: {now} (against it: {by})"))
}

fn kept(log: &Log<'_>, place: usize, termination: Termination) -> (Fate, String) {
    let Some(synthesis) = &log.synthesis else {
        return (Fate::Minority, "there is no verdict that could adopt it".into());
    };
    if termination == Termination::Converged {
        let agreement = log.counted().last().and_then(|round| round.assessment.as_ref());
        let score = agreement.map_or(0.0, |assessment| assessment.agreement_score);
        return (Fate::Adopted, format!("the debaters converged, agreement {score:.2}"));
    }
    let position = log.position(place, u32::MAX);
    let likeness = lexical::similarity(position, &synthesis.answer);
    let fate = if is_like(position, &synthesis.answer) { Fate::Adopted } else { Fate::Minority };
    (
        fate,
        format!(
            "held to the end; its words are {likeness:.2} like the answer's, {ADOPTED_FROM:.2} counts as adopted"
        ),
    )
}

/// Whether the words of a position show that the answer is it.
pub(super) fn is_like(position: &str, answer: &str) -> bool {
    lexical::similarity(position, answer) >= ADOPTED_FROM && !lexical::opposed(position, answer)
}

fn warnings(log: &Log<'_>, termination: Termination, mode: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    if termination == Termination::Budget && log.synthesis.is_some() {
        warnings.push(format!("{mode} -> synthesis (degraded)"));
    }
    if matches!(termination, Termination::Budget | Termination::QuorumLost) {
        warnings.extend(
            log.limits().met(log.debaters.len()).map(|limit| format!("a limit was reached: {limit}")),
        );
    }
    warnings.extend(heard::cut_off(log.debate));
    warnings.extend(heard::shortened(log.debate));
    let evaluated = log.debate.turn("evaluate", 0);
    if evaluated.is_some_and(|turn| turn.settled().all(|(_, reply)| reply.value().is_none())) {
        warnings.push("no evaluation could be used: the answers are not ranked".into());
    }
    for round in log.counted() {
        warnings.extend(contradiction(log, round));
        if round.assessment.is_none() {
            let why = if round.moderated {
                "the moderator was absent"
            } else {
                "too little was left to ask the moderator"
            };
            warnings.push(format!("round {} is unassessed: {why}", round.number));
        }
        for (debater, argument) in log.debaters.iter().zip(&round.arguments) {
            let odd = |a: &&Argument| a.stance == Stance::Concede && a.revision == Revision::NoChange;
            if argument.as_ref().as_ref().filter(|a| odd(a)).is_some() {
                warnings.push(format!(
                    "round {}: Debater {} concedes but changes nothing",
                    round.number, debater.label
                ));
            }
        }
    }
    warnings
}

/// Where the moderator's advice and the arithmetic differ.
fn contradiction(log: &Log<'_>, round: &Round) -> Option<String> {
    let assessment = round.assessment.as_ref()?;
    let (number, brief) = (round.number, &log.debate.brief);
    let met = log::meets_thresholds(brief, assessment);
    let why = match (assessment.should_stop, met, number < brief.int("min_rounds")) {
        (true, false, _) => "the moderator would stop, but its own scores do not reach the thresholds",
        (true, true, true) => "the moderator would stop, but min_rounds is not reached",
        (false, true, false) => "the moderator would go on, but its own scores reach the thresholds",
        _ => return None,
    };
    Some(format!("round {number}: {why}"))
}

/// The table after a round.
pub(super) fn round_table(debate: &Debate) -> Option<Summary> {
    let phase = debate.last_phase().filter(|phase| phase.name == "moderate")?;
    let log = Log::read(debate).ok()?;
    let round = log.round(phase.round)?;
    let mut rows = vec![["Debater", "Stance", "Revision", "Confidence"].map(String::from).to_vec()];
    for (debater, argument) in log.debaters.iter().zip(&round.arguments) {
        let cells = match argument {
            Some(a) => [a.stance.as_str().into(), a.revision.as_str().into(), format!("{:.2}", a.confidence)],
            None => ["absent".into(), "carried".into(), "-".into()],
        };
        rows.push(std::iter::once(debater.label.clone()).chain(cells).collect());
    }
    let assessed = match &round.assessment {
        Some(a) => format!("agreement {:.2}, new points {:.2}", a.agreement_score, a.new_points_ratio),
        None => "unassessed".into(),
    };
    let end = match log.exit(round.number) {
        Some(Exit::Converged) => ": converged",
        Some(Exit::Stable) => ": stable",
        Some(Exit::MaxRounds) => ": last round",
        None => "",
    };
    Some(Summary {
        title: format!("Round {} of {}, {assessed}{end}", round.number, debate.brief.int("max_rounds")),
        rows,
        notes: Vec::new(),
    })
}
