//! `agon resolve`: says how a debate turned out, so that later ones know and forecasts can be scored.

use std::collections::BTreeSet;

use agon_core::lesson::{Lesson, Part};
use agon_core::{Debate, Stands};
use agon_evidence::calibration::{Resolution, Truth};
use agon_evidence::past;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgGroup, ArgMatches, Command};
use serde_json::json;

use super::{Group, Verb, id};
use crate::cli::desk::Kept;
use crate::cli::failure::Failure;
use crate::cli::run::runtime;
use crate::cli::{args, clock, input, output};

pub(super) const VERB: Verb = Verb { name: "resolve", group: Group::Kept, command, run };

fn command(command: Command) -> Command {
    let winner = Arg::new("winner")
        .long("winner")
        .value_name("LABEL")
        .help("What turned out to be right: a position (FAIL), the label or seat that held it, or `nobody`");
    let truth = Arg::new("truth")
        .long("truth")
        .value_name("WORD")
        .value_parser(PossibleValuesParser::new(["right", "wrong", "true", "false"]))
        .help("Whether what was decided turned out to be right");
    let note = Arg::new("note").long("note").value_name("TEXT").help("Why, or from where you know");
    command
        .about("Say how a debate turned out: it is kept, and forecasts are scored")
        .arg(id())
        .args([winner, truth, note])
        .group(ArgGroup::new("what").args(["winner", "truth"]).required(true))
        .arg(args::json())
        .arg(args::db())
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let kept = Kept::find(args)?;
    let debate = kept.debate()?;
    let resolution = resolution(args, &debate)?;
    let note = args.get_one::<String>("note").map(|note| input::check(note, "note")).transpose()?;
    let at = clock::rfc3339(clock::now_s());
    let stands = super::protocol_of(&debate.brief)?.stands(&debate).unwrap_or_default();
    let turned_out = past::turned_out(&debate, &stands, &resolution);
    let resolved = kept.store.resolve_as(&kept.id, resolution, note, &at, turned_out);
    let resolved = runtime()?.block_on(resolved)?;
    if args.get_flag("json") {
        let mut document = json!({"id": kept.id});
        if let (Some(fields), Ok(serde_json::Value::Object(own))) =
            (document.as_object_mut(), serde_json::to_value(&resolved))
        {
            fields.extend(own);
        }
        output::print_json(&document)?;
    } else {
        let turned_out = match resolved.turned_out {
            Some(Truth::Right) => "what was decided turned out right",
            Some(Truth::Wrong) => "what was decided turned out wrong",
            None => "nothing was decided, and that is kept",
        };
        output::print(&format!("debate {}: {turned_out}\n", kept.id))?;
    }
    Ok(0)
}

/// What became known, if it can be of this debate.
fn resolution(args: &ArgMatches, debate: &Debate) -> Result<Resolution, Failure> {
    let id = &debate.brief.id;
    let Some(outcome) = &debate.outcome else {
        return Err(Failure::input(format!("debate {id} is not over: nothing can have turned out yet")));
    };
    let stands = super::protocol_of(&debate.brief)?.stands(debate).unwrap_or_default();
    let decided = match &outcome.lesson {
        Some(lesson) => lesson.decision.is_some(),
        None => stands.decided.is_some(),
    };
    let Some(winner) = args.get_one::<String>("winner").map(|name| name.trim()) else {
        let truth = match args.get_one::<String>("truth").map(String::as_str) {
            Some("right" | "true") => Truth::Right,
            _ => Truth::Wrong,
        };
        return match decided {
            true => Ok(Resolution::Truth(truth)),
            false => Err(Failure::input(format!(
                "debate {id} decided nothing that could be right or wrong: say which position was with --winner LABEL"
            ))),
        };
    };
    match &outcome.lesson {
        Some(lesson) => proposed(id, lesson, winner),
        None => held(debate, &stands, winner),
    }
    .map(Resolution::Winner)
}

/// The position that a name means, of those that were held.
fn held(debate: &Debate, stands: &Stands, name: &str) -> Result<String, Failure> {
    if let Some(position) = past::named(debate, stands, name) {
        return Ok(position.to_owned());
    }
    if name.eq_ignore_ascii_case(past::NOBODY) {
        return Ok(past::NOBODY.to_owned());
    }
    let id = &debate.brief.id;
    let held: BTreeSet<&str> =
        stands.rounds.iter().flat_map(|held| &held.stands).map(|stand| stand.position.as_str()).collect();
    let held = held.into_iter().map(|position| format!("{position:?}")).collect::<Vec<_>>().join(", ");
    Err(Failure::input(if held.is_empty() {
        format!("debate {id} has no position that could have been right")
    } else {
        format!("nobody in debate {id} held {name:?}: say a seat, a label, one of {held}, or `nobody`")
    }))
}

/// The label of the proposal of this name: a label, as the report has it or alone, or a seat. Who proposed nothing was not right.
fn proposed(id: &str, lesson: &Lesson, name: &str) -> Result<String, Failure> {
    let label = match name.split_once(' ') {
        Some((agent, label)) if agent.eq_ignore_ascii_case("agent") => label.trim(),
        _ => name,
    };
    let proposals: Vec<&Part> = lesson.parts.iter().filter(|part| part.position.is_some()).collect();
    let found = proposals.iter().find(|part| part.label.eq_ignore_ascii_case(label) || part.seat == name);
    if let Some(part) = found {
        return Ok(part.label.clone());
    }
    let known: BTreeSet<&str> = proposals.iter().map(|part| part.label.as_str()).collect();
    let known = known.into_iter().collect::<Vec<_>>().join(", ");
    Err(Failure::input(if known.is_empty() {
        format!("debate {id} has no proposal that could have been right")
    } else {
        format!("debate {id} has no proposal {name:?}: say which of {known} was right")
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(label: &str, position: Option<&str>) -> Part {
        Part {
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

    /// "`agon resolve --winner` accepts only parts with a position; the sentence lists only those."
    #[test]
    fn only_who_proposed_something_can_have_been_right() {
        let parts = vec![part("C", Some("Tea.")), part("B", None), part("A", Some("Coffee."))];
        let lesson = Lesson { decision: None, parts };
        for name in ["A", "a", "Agent A", "agent a", "seat-of-A"] {
            assert_eq!(proposed("d1", &lesson, name).unwrap(), "A", "{name}");
        }
        for name in ["B", "Agent B", "seat-of-B", "Z"] {
            let why = proposed("d1", &lesson, name).unwrap_err().to_string();
            assert!(why.contains(&format!("no proposal {name:?}: say which of A, C was right")), "{why}");
        }
        let silent = Lesson { decision: None, parts: vec![part("A", None)] };
        let why = proposed("d1", &silent, "A").unwrap_err().to_string();
        assert!(why.contains("no proposal that could have been right"), "{why}");
    }
}
