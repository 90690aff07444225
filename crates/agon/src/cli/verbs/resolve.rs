//! `agon resolve`: records how a debate turned out, so that later debates know and forecasts can be scored.

use std::collections::BTreeSet;

use agon_core::lesson::LessonSeat;
use agon_core::{Debate, DebateLesson, DecidedPosition, PositionHistory};
use agon_measure::calibration::{DebateResolution, OutcomeTruth};
use agon_measure::resolved::{NOBODY, decision_truth, position_named};
use agon_store::DebateStore;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgGroup, ArgMatches, Command};
use serde_json::{Value, json};

use super::{CliVerb, VerbGroup};
use crate::cli::app::{App, DebateHandle, protocol_of};
use crate::cli::errors::CliError;
use crate::cli::runtime::block_on;
use crate::cli::{arguments, clock, input, output};

pub(super) const VERB: CliVerb = CliVerb { name: "resolve", group: VerbGroup::StoredDebates, command, run };

fn command(command: Command) -> Command {
    let winner = Arg::new("winner")
        .long("winner")
        .value_name("LABEL")
        .help("What turned out to be right: a position (FAIL), the label or seat that held it, or `nobody`");
    let truth = Arg::new("truth")
        .long("truth")
        .value_name("WORD")
        .value_parser(PossibleValuesParser::new(["right", "wrong", "true", "false"]))
        .help("Whether the decision turned out to be right");
    let note = Arg::new("note").long("note").value_name("TEXT").help("The reason, or how you know");
    command
        .about("Record how a debate turned out, so that forecasts are scored")
        .arg(arguments::debate_id())
        .args([winner, truth, note])
        .group(ArgGroup::new("what").args(["winner", "truth"]).required(true))
        .arg(arguments::json())
        .arg(arguments::store())
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let app = App::new(args);
    let handle = app.stored_debate()?;
    let debate = handle.read()?.debate;
    let view = protocol_of(&debate.brief)?.view(&debate).map_err(|reason| handle.log_error(reason))?;
    let note = args.get_one::<String>("note").map(|note| input::check_question(note, "note")).transpose()?;
    let winner = args.get_one::<String>("winner").map(String::as_str);
    let truth = args.get_one::<String>("truth").map(|word| matches!(word.as_str(), "right" | "true"));
    let resolution = PreparedResolution::new(&debate, &view.positions, winner, truth)?;
    let earlier = handle.store.resolutions(&handle.id)?;
    if let Some(earlier) = earlier.last().filter(|earlier| earlier.resolution != resolution.resolution) {
        output::note(&format!(
            "note: this debate was resolved before, on {}; from now on the new word counts, and the earlier one is kept",
            earlier.at
        ));
    }
    let turned_out = resolution.turned_out;
    let document = block_on(resolution.store(&handle.store, note))??;
    if app.flag("json") {
        output::print_json(&document)?;
    } else {
        let sentence = match turned_out {
            Some(OutcomeTruth::Right) => "the decision turned out right",
            Some(OutcomeTruth::Wrong) => "the decision turned out wrong",
            None => "there was no decision; the resolution is recorded",
        };
        output::print(&format!("debate {}: {sentence}\n", handle.id))?;
    }
    Ok(0)
}

/// Checks that a stored debate can be resolved this way: a winner, or whether the decision was right.
pub(crate) fn prepare_resolution(
    handle: &DebateHandle,
    winner: Option<&str>,
    truth: Option<bool>,
) -> Result<PreparedResolution, CliError> {
    let debate = handle.read()?.debate;
    let view = protocol_of(&debate.brief)?.view(&debate).map_err(|reason| handle.log_error(reason))?;
    PreparedResolution::new(&debate, &view.positions, winner, truth)
}

/// A resolution that can be stored.
pub(crate) struct PreparedResolution {
    id: String,
    resolution: DebateResolution,
    turned_out: Option<OutcomeTruth>,
}

impl PreparedResolution {
    fn new(
        debate: &Debate,
        positions: &PositionHistory,
        winner: Option<&str>,
        truth: Option<bool>,
    ) -> Result<Self, CliError> {
        let resolution = read_resolution(winner, truth, debate, positions)?;
        let turned_out = decision_truth(debate, positions, &resolution);
        Ok(Self { id: debate.brief.id.clone(), resolution, turned_out })
    }

    /// Stores it and returns it as JSON.
    pub(crate) async fn store(self, store: &DebateStore, note: Option<String>) -> Result<Value, CliError> {
        let Self { id, resolution, turned_out } = self;
        let stored = store.resolve_debate(&id, resolution, note, &clock::timestamp(), turned_out).await?;
        let mut document = json!({"id": id});
        if let (Some(fields), Ok(Value::Object(own))) =
            (document.as_object_mut(), serde_json::to_value(&stored))
        {
            fields.extend(own);
        }
        Ok(document)
    }
}

/// What the user says became known, if this debate can be resolved that way.
fn read_resolution(
    winner: Option<&str>,
    truth: Option<bool>,
    debate: &Debate,
    positions: &PositionHistory,
) -> Result<DebateResolution, CliError> {
    let id = &debate.brief.id;
    let Some(outcome) = &debate.outcome else {
        return Err(CliError::input(format!("debate {id} is not over, so nothing can have turned out yet")));
    };
    let has_decision = match &outcome.lesson {
        Some(lesson) => lesson.decision.is_some(),
        None => positions.decided != DecidedPosition::Nothing,
    };
    let Some(winner) = winner.map(str::trim) else {
        let truth = match truth {
            Some(true) => OutcomeTruth::Right,
            Some(false) => OutcomeTruth::Wrong,
            None => return Err(CliError::input("say what turned out: a winner, or whether it was right")),
        };
        return match has_decision {
            true => Ok(DebateResolution::Truth(truth)),
            false => Err(CliError::input(format!(
                "debate {id} has no decision that could be right or wrong: name the right position with --winner LABEL"
            ))),
        };
    };
    let winner = match &outcome.lesson {
        Some(lesson) => winning_proposal(id, lesson, winner)?,
        None => winning_position(debate, positions, winner)?,
    };
    Ok(DebateResolution::Winner(winner))
}

/// The position that a name means, among those that were held.
fn winning_position(debate: &Debate, positions: &PositionHistory, name: &str) -> Result<String, CliError> {
    if let Some(position) = position_named(debate, positions, name) {
        return Ok(position.to_owned());
    }
    if name.eq_ignore_ascii_case(NOBODY) {
        return Ok(NOBODY.to_owned());
    }
    let id = &debate.brief.id;
    let held = positions.rounds.iter().flat_map(|round| &round.stands);
    let held: BTreeSet<&str> = held.map(|stand| stand.position.as_str()).collect();
    let held = held.into_iter().map(|position| format!("{position:?}")).collect::<Vec<_>>().join(", ");
    Err(CliError::input(if held.is_empty() {
        format!("debate {id} has no position that could have been right")
    } else {
        format!("nobody in debate {id} held {name:?}: name a seat, a label, one of {held}, or `nobody`")
    }))
}

/// The label of the proposal that a name means: a label, alone or as the report prints it, or a seat. A seat without a
/// proposal cannot have been right.
fn winning_proposal(id: &str, lesson: &DebateLesson, name: &str) -> Result<String, CliError> {
    let label = match name.split_once(' ') {
        Some((agent, label)) if agent.eq_ignore_ascii_case("agent") => label.trim(),
        _ => name,
    };
    let proposals: Vec<&LessonSeat> = lesson.parts.iter().filter(|seat| seat.position.is_some()).collect();
    let found = proposals.iter().find(|seat| seat.label.eq_ignore_ascii_case(label) || seat.seat == name);
    if let Some(seat) = found {
        return Ok(seat.label.clone());
    }
    let known: BTreeSet<&str> = proposals.iter().map(|seat| seat.label.as_str()).collect();
    let known = known.into_iter().collect::<Vec<_>>().join(", ");
    Err(CliError::input(if known.is_empty() {
        format!("debate {id} has no proposal that could have been right")
    } else {
        format!("debate {id} has no proposal {name:?}: name the one of {known} that was right")
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(label: &str, position: Option<&str>) -> LessonSeat {
        LessonSeat {
            seat: format!("seat-of-{label}"),
            label: label.into(),
            agent: None,
            position: position.map(str::to_owned),
            confidence: None,
            won: false,
            score: None,
            rated: None,
            ballot: None,
        }
    }

    #[test]
    fn only_a_seat_with_a_proposal_can_have_been_right() {
        let parts = vec![seat("C", Some("Tea.")), seat("B", None), seat("A", Some("Coffee."))];
        let lesson = DebateLesson { decision: None, parts };
        for name in ["A", "a", "Agent A", "agent a", "seat-of-A"] {
            assert_eq!(winning_proposal("d1", &lesson, name).unwrap(), "A", "{name}");
        }
        for name in ["B", "Agent B", "seat-of-B", "Z"] {
            let error = winning_proposal("d1", &lesson, name).unwrap_err().to_string();
            assert!(error.contains(&format!("no proposal {name:?}: name the one of A, C")), "{error}");
        }
        let silent = DebateLesson { decision: None, parts: vec![seat("A", None)] };
        let error = winning_proposal("d1", &silent, "A").unwrap_err().to_string();
        assert!(error.contains("no proposal that could have been right"), "{error}");
    }
}
