//! `review`: judges give PASS, WARN or FAIL, then revise after reading each other under an anti-anchoring rule (seed 004).
//!
//! This file is the transition table. [`seats`] decides who sits and refuses what cannot be, [`perspectives`] and [`packet`]
//! say what is looked at, [`log`] reads the verdicts, [`asks`] makes the prompts, [`anchoring`] is the evidence bar for a
//! changed verdict, [`findings`] and [`verdict`] consolidate, [`close`] writes the outcome, [`records`] the files, [`stands`] says
//! who held which verdict when, [`reply`] has the answers' types.

use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use agon_core::{
    Ask, Brief, Corrupt, Debate, Invalid, Kind, Opt, Protocol, Request, Saved, Schema, Seat, Stands, Step,
    Summary, Template,
};
use serde::Deserialize;
use serde_json::Value;

use crate::prompt::{self, Prompts};
use log::Log;

mod anchoring;
mod asks;
mod close;
mod diff;
mod findings;
mod log;
mod packet;
mod perspectives;
mod records;
pub mod reply;
mod seats;
mod stands;
#[cfg(test)]
mod tests;
mod verdict;

/// The protocol of seed 004.
#[derive(Debug)]
pub struct Review;

const OPTIONS: &[Opt] = &[
    Opt {
        key: "mode",
        kind: Kind::Choice(&["validate", "brainstorm", "research"]),
        default: "validate",
        help: "verdicts with findings (validate), ideas (brainstorm), or what is known (research)",
    },
    flag("debate", "a second round, in which the judges read each other and may revise"),
    flag("deep", "three judges instead of two"),
    flag("quick", "one judge, no second round"),
    Opt { key: "count", kind: Kind::Int(1, 12), default: "", help: "the number of judges" },
    Opt {
        key: "preset",
        kind: Kind::Choice(perspectives::PRESETS),
        default: "",
        help: "a set of perspectives, one for each judge",
    },
    Opt {
        key: "perspectives",
        kind: Kind::Text,
        default: "",
        help: "what the judges look at, by name, with commas",
    },
    Opt {
        key: "perspectives_file",
        kind: Kind::File,
        default: "",
        help: "perspectives of your own: `name: what it looks at`, in YAML, TOML or JSON",
    },
    Opt {
        key: "explorers",
        kind: Kind::Int(0, 5),
        default: "0",
        help: "explorers for each judge, who look around before round 1",
    },
    Opt {
        key: "mixed",
        kind: Kind::Models,
        default: "",
        help: "judges of a second vendor as well, in round 1 only",
    },
    Opt { key: "diff", kind: Kind::File, default: "", help: "a unified diff to judge; `-` is stdin" },
    Opt { key: "spec", kind: Kind::File, default: "", help: "what the target is meant to do" },
    Opt {
        key: "decisions",
        kind: Kind::File,
        default: "",
        help: "what was decided before and is not up for review",
    },
    flag(
        "strict_anchoring",
        "round 2 begins with a call of its own for the restatement, and a changed verdict without evidence is reverted",
    ),
    Opt {
        key: "r2_timeout",
        kind: Kind::Float(0.001, 86_400.0),
        default: "",
        help: "seconds for a judge's second round, COUNCIL_R2_TIMEOUT [default: 90, or --timeout if that is less]",
    },
    Opt {
        key: "fail_on",
        kind: Kind::Choice(&["fail", "warn"]),
        default: "fail",
        help: "from which verdict on the exit status is 1",
    },
];

const fn flag(key: &'static str, help: &'static str) -> Opt {
    Opt { key, kind: Kind::Flag, default: "false", help }
}

const TEMPLATES: &[Template] = &[
    Template { file: "review/system.hbs", text: include_str!("prompts/system.hbs") },
    Template { file: "review/packet.hbs", text: include_str!("prompts/packet.hbs") },
    Template { file: "review/explore.hbs", text: include_str!("prompts/explore.hbs") },
    Template { file: "review/r1.hbs", text: include_str!("prompts/r1.hbs") },
    Template { file: "review/restate.hbs", text: include_str!("prompts/restate.hbs") },
    Template { file: "review/r2.hbs", text: include_str!("prompts/r2.hbs") },
    Template { file: "review/brainstorm.hbs", text: include_str!("prompts/brainstorm.hbs") },
    Template { file: "review/research.hbs", text: include_str!("prompts/research.hbs") },
];

/// The compiled templates and the schemas that are the same in every debate.
struct Parts {
    prompts: Prompts,
    first: Arc<Schema>,
    restatement: Arc<Schema>,
    exploration: Arc<Schema>,
    brainstorm: Arc<Schema>,
    research: Arc<Schema>,
}

fn parts() -> Result<&'static Parts, Corrupt> {
    static PARTS: OnceLock<Parts> = OnceLock::new();
    prompt::once(&PARTS, || {
        Ok(Parts {
            prompts: Prompts::new(TEMPLATES)?,
            first: Arc::new(prompt::schema_of::<reply::First>("verdict")),
            restatement: Arc::new(prompt::schema_of::<reply::Restatement>("restatement")),
            exploration: Arc::new(prompt::schema_of::<reply::Exploration>("exploration")),
            brainstorm: Arc::new(prompt::schema_of::<reply::Brainstorm>("brainstorm")),
            research: Arc::new(prompt::schema_of::<reply::Research>("research")),
        })
    })
}

impl Protocol for Review {
    fn name(&self) -> &'static str {
        "review"
    }

    fn about(&self) -> &'static str {
        "Judges rule PASS, WARN or FAIL on files, a text or a diff, and may revise after reading each other"
    }

    fn subject(&self) -> &'static str {
        "TARGET..."
    }

    fn options(&self) -> &'static [Opt] {
        OPTIONS
    }

    fn roles(&self) -> &'static [&'static str] {
        &[]
    }

    fn templates(&self) -> &'static [Template] {
        TEMPLATES
    }

    fn seats(&self, request: &Request) -> Result<Vec<Seat>, Invalid> {
        seats::seats(request)
    }

    fn named(&self, brief: &Brief) -> Vec<String> {
        brief.seats_of("judge").map(|seat| seat.model.clone()).collect()
    }

    fn title(&self, request: &Request) -> String {
        let judged = request.files.iter().filter(|file| file.part.is_none());
        let mut paths: Vec<&str> = judged.map(|file| file.path.as_str()).collect();
        let diff = agon_core::brief::part(&request.files, "diff");
        paths.extend(diff.map(|file| if file.path == "-" { "a diff" } else { file.path.as_str() }));
        format!("Review of {}", paths.join(", "))
    }

    fn environment(&self) -> &'static [(&'static str, &'static str)] {
        &[("COUNCIL_R2_TIMEOUT", "r2_timeout")]
    }

    fn is_gate(&self) -> bool {
        true
    }

    fn gates(&self, brief: &Brief) -> bool {
        brief.text("mode") == "validate"
    }

    fn folder(&self) -> Option<&'static str> {
        Some(".agents/council")
    }

    fn records(&self, debate: &Debate) -> Vec<Saved> {
        Log::read(debate).map(|log| records::records(&log)).unwrap_or_default()
    }

    fn calls(&self, brief: &Brief) -> RangeInclusive<u32> {
        let of = |role: &str| u32::try_from(brief.seats_of(role).count()).unwrap_or(u32::MAX);
        let (judges, mixed, explorers) = (of("judge"), of("mixed_judge"), of("explorer"));
        let second = match (debates(brief), brief.flag("strict_anchoring")) {
            (false, _) => 0,
            (true, false) => judges,
            (true, true) => 2 * judges,
        };
        // With one judge and nobody beside it there is nothing to read in round 2.
        let second = if judges + mixed < 2 { 0 } else { second };
        let total = explorers + judges + mixed + second;
        total..=total
    }

    fn bound(&self, _: &Brief) -> u32 {
        4
    }

    fn next(&self, debate: &Debate) -> Result<Step, Corrupt> {
        let parts = parts()?;
        let log = Log::read(debate)?;
        let make = asks::Asks::new(&log, parts)?;
        let Some(phase) = debate.last_phase() else {
            return if log.brief().int("explorers") > 0 { make.explorations() } else { make.first() };
        };
        match phase.name.as_str() {
            "explore" => make.first(),
            "r1" if !log.has_second_round() || log.limits().spent(log.second_calls()) => close::close(&log),
            "r1" if log.brief().flag("strict_anchoring") => make.restatements(),
            "r1" => make.second(),
            "restate" if log.restated().count() == 0 || log.limits().spent(log.restated().count()) => {
                close::close(&log)
            }
            "restate" => make.second(),
            _ => close::close(&log),
        }
    }

    fn check(&self, debate: &Debate, ask: &Ask, value: &Value) -> Result<(), String> {
        match ask.schema.as_ref().map(|schema| schema.name.as_str()) {
            Some("second_verdict") => {
                let second = reply::Second::deserialize(value).map_err(|why| why.to_string())?;
                let disagreed = Log::read(debate).is_ok_and(|log| log.branch() == Some("disagreed"));
                anchoring::check(&second, disagreed)
            }
            Some("restatement") => {
                let said = reply::Restatement::deserialize(value).map_err(|why| why.to_string())?;
                anchoring::check_restatement(&said.restatement)
            }
            Some("verdict") => {
                let first = reply::First::deserialize(value).map_err(|why| why.to_string())?;
                anchoring::check_findings(&first.findings)
            }
            _ => Ok(()),
        }
    }

    fn summary(&self, debate: &Debate) -> Option<Summary> {
        close::round_table(debate)
    }

    fn stands(&self, debate: &Debate) -> Result<Stands, Corrupt> {
        Ok(stands::stands(&Log::read(debate)?))
    }
}

/// Whether the person wants the second round.
fn debates(brief: &Brief) -> bool {
    brief.flag("debate") && brief.text("mode") == "validate"
}
