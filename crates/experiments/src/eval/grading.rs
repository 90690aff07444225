//! How a clerk grades answers that arithmetic cannot: a debate of one ask, so that the call is in a log like every other and is never
//! paid for twice.

use std::collections::BTreeMap;

use agon_core::protocol::{file_names, template_hashes};
use agon_core::{
    Ask, Brief, BriefFile, CallPlan, Corrupt, Debate, DebateView, Fidelity, Invalid, Outcome, Phase,
    PhaseInfo, PhaseTurn, Protocol, ProtocolInfo, ReplyFault, Request, RoleInfo, RoleModels, Seat, Status,
    Step, Termination,
};
use agon_protocols::clerk::{AnswerSheet, CLERK, CLERK_TEMPLATE, ClerkSorting, clerk_model};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The clerk sorts answers together with the gold answers.
#[derive(Debug)]
pub struct AnswerGrading;

/// The protocol of a grading, for reading and resuming its log.
pub static GRADING: AnswerGrading = AnswerGrading;

const ANSWER: &str = "answer";
const GOLD: &str = "gold";

static INFO: ProtocolInfo = ProtocolInfo {
    name: "grading",
    about: "A clerk says which answers are the same as the gold answer",
    subject: "QUESTION",
    options: &[],
    roles: &[RoleInfo { name: CLERK, models: RoleModels::Named }],
    templates: &[CLERK_TEMPLATE],
    phases: &[PhaseInfo::new(CLERK, "Which answers are right", "grades the answers", "grade the answers")],
    closing_share: 0.0,
    title: file_names,
    gate: None,
    is_rated: false,
    record_folder: None,
    isolation: &[],
    simulation: None,
    example: None,
    demo: None,
};

/// The protocol of this name, if it is that of a grading.
pub fn find_grading(name: &str) -> Option<&'static dyn Protocol> {
    (name == INFO.name).then_some(&GRADING as &dyn Protocol)
}

/// The brief of a grading. `trial` is the brief of the trial's debate, whose question and limits it has.
pub fn grading_brief(trial: &Brief, id: String, clerk: &str, answers: &[String], gold: &[String]) -> Brief {
    let file = |part: &str, text: &String| BriefFile {
        path: part.to_owned(),
        text: text.clone(),
        part: Some(part.to_owned()),
    };
    let answers = answers.iter().map(|text| file(ANSWER, text));
    Brief {
        id,
        protocol: INFO.name.to_owned(),
        files: answers.chain(gold.iter().map(|text| file(GOLD, text))).collect(),
        options: serde_json::Map::new(),
        seats: vec![Seat { id: CLERK.into(), role: CLERK.into(), model: clerk.to_owned() }],
        templates: template_hashes(&GRADING),
        parent: None,
        ..trial.clone()
    }
}

/// The verdict of a grading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GradingVerdict {
    /// For each answer whether it is the same as a gold answer. Null if that is not known.
    pub grades: Vec<Option<bool>>,
}

impl GradingVerdict {
    /// The grades that a log shows.
    pub fn read(debate: &Debate) -> Result<Self, Corrupt> {
        let mut replies = debate.turns.iter().flat_map(PhaseTurn::settled);
        let reply =
            replies.find_map(|(_, reply)| reply.value()).map(ClerkSorting::deserialize).transpose()?;
        let (sorting, _) = sheet(debate).sorted(reply.as_ref());
        let is_gold = |place: &usize| debate.brief.files.get(*place).is_some_and(|file| is_part(file, GOLD));
        let is_sorted = |place: usize| sorting.group_of(place).is_some_and(|group| !group.is_unsorted);
        let places = 0..debate.brief.files.len();
        let all_gold_sorted = places.clone().filter(is_gold).all(is_sorted);
        let grade = |place: usize| {
            let group = sorting.group_of(place)?;
            let is_different = sorting.is_complete() || (is_sorted(place) && all_gold_sorted);
            if group.members.iter().any(is_gold) { Some(true) } else { is_different.then_some(false) }
        };
        Ok(Self { grades: places.filter(|place| !is_gold(place)).map(grade).collect() })
    }
}

fn is_part(file: &BriefFile, part: &str) -> bool {
    file.part.as_deref() == Some(part)
}

/// The answers, then the gold answers.
fn sheet(debate: &Debate) -> AnswerSheet<'_> {
    AnswerSheet::new(&debate.brief, debate.brief.files.iter().map(|file| file.text.as_str()).collect())
}

impl Protocol for AnswerGrading {
    fn info(&self) -> &'static ProtocolInfo {
        &INFO
    }

    fn seats(&self, request: &Request) -> Result<Vec<Seat>, Invalid> {
        let model = clerk_model(request, None, &[]);
        Ok(vec![Seat { id: CLERK.into(), role: CLERK.into(), model }])
    }

    fn plan(&self, _: &Brief) -> CallPlan {
        CallPlan { fewest_calls: 1, most_calls: 1, most_phases: 1, most_rounds: None }
    }

    fn next(&self, debate: &Debate) -> Result<Step, Corrupt> {
        if debate.last_phase().is_none() {
            let asks = debate.brief.seats_of(CLERK).map(|seat| sheet(debate).ask_clerk(seat));
            return Ok(Step::Ask(Phase::new(CLERK, 0), asks.collect::<Result<_, _>>()?));
        }
        let verdict = GradingVerdict::read(debate)?;
        let is_known = verdict.grades.iter().all(Option::is_some);
        Ok(Step::Close(Box::new(Outcome {
            status: if is_known { Status::Complete } else { Status::Incomplete },
            termination: if is_known { Termination::AllRoundsComplete } else { Termination::QuorumLost },
            rounds_completed: 0,
            verdict: serde_json::to_value(verdict)?,
            dissent: Vec::new(),
            fidelity: if is_known { Fidelity::Full } else { Fidelity::Degraded },
            warnings: Vec::new(),
            labels: BTreeMap::new(),
            positions: Vec::new(),
            passed: None,
            lesson: None,
        })))
    }

    fn check(&self, debate: &Debate, _: &Ask, value: &Value) -> Result<(), ReplyFault> {
        sheet(debate).check_clerk(&ClerkSorting::deserialize(value)?)
    }

    fn view(&self, _: &Debate) -> Result<DebateView, Corrupt> {
        Ok(DebateView::default())
    }
}
