//! What is compared: one model, many samples of it, a plain vote, and any protocol.
//!
//! The equal budget is fixed before the first call. Self-consistency draws as many samples as the most expensive protocol arm is
//! expected to make calls, up to the number of seats that a plain vote has. The expected number is the middle of the fewest and the
//! most calls of [`Protocol::plan`]. The budget is in calls because calls are known in advance; the findings show what each arm
//! really read and wrote.

use std::collections::BTreeMap;

use agon_core::{
    Brief, DebateLimits, Invalid, LOG_VERSION, OptionKind, Protocol, ProtocolInfo, Request, options, protocol,
};
use agon_protocols::clerk::CLERK;
use agon_protocols::{PLAIN_VOTE, PROTOCOLS};
use serde::Serialize;
use serde_json::{Value, json};

use super::dataset::EvalQuestion;

const SINGLE: &str = "single";
const SELF_CONSISTENCY: &str = "self-consistency";
const VOTE: &str = "vote";
/// The option of a plain vote that sets how often the models are asked.
const SEATS: &str = "seats";
/// Samples where no other arm sets the budget.
const SAMPLES_DEFAULT: u32 = 3;

/// The arms of a run that names none: the three plain ones and the first protocol.
pub fn default_arms() -> Vec<&'static str> {
    let first = PROTOCOLS.first().map(|protocol| protocol.info().name);
    [SINGLE, SELF_CONSISTENCY, VOTE].into_iter().chain(first).collect()
}

/// What a user asks to be compared.
#[derive(Debug, Clone, Default)]
pub struct EvalRequest {
    /// Names of arms: `single`, `self-consistency`, `vote`, or a protocol, with options after a colon:
    /// `NAME:key=value,key=value`. Empty for [`default_arms`].
    pub arms: Vec<String>,
    /// The models, in order. The first one is tried alone.
    pub models: Vec<String>,
    /// Models for single roles, for the protocols that have them.
    pub roles: BTreeMap<String, String>,
    /// Options for all arms of a protocol, by the protocol's name, such as those of the configuration.
    pub options: BTreeMap<String, Vec<(String, String)>>,
    /// The number of samples of self-consistency; `None` for the equal budget.
    pub samples: Option<u32>,
    /// The seed from which the seeds of all trials derive.
    pub seed: u64,
    /// The limits of every trial, as the caller writes them. Results under other limits belong to another run.
    pub limits: Value,
}

impl EvalRequest {
    /// The model that grades what arithmetic cannot: the clerk's, the judge's or the chair's, or else the first.
    pub fn clerk(&self) -> String {
        let named = [CLERK, "judge", "chair"].iter().find_map(|role| self.roles.get(*role));
        named.or(self.models.first()).cloned().unwrap_or_default()
    }

    /// The models for the roles that a protocol lets a user name.
    fn roles_of(&self, info: &ProtocolInfo) -> BTreeMap<String, String> {
        let named = |role: &str| info.named_roles().any(|named| named == role);
        let roles = self.roles.iter().filter(|(role, _)| named(role.as_str()));
        roles.map(|(role, model)| (role.clone(), model.clone())).collect()
    }
}

/// The kind of an arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArmKind {
    /// The first model, once.
    Single,
    /// The first model several times, and its most frequent answer.
    SelfConsistency,
    /// Every model once, and the most frequent answer.
    Vote,
    /// A debate.
    Protocol,
    /// The vote on the first positions of a debate. It needs no calls of its own.
    FirstRound,
}

/// One way to answer the questions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvalArm {
    /// The name that the user gave.
    pub name: String,
    /// The kind.
    pub kind: ArmKind,
    /// The name of the protocol.
    pub protocol: String,
    /// The models that sit.
    pub models: Vec<String>,
    /// Models for single roles.
    pub roles: BTreeMap<String, String>,
    /// The options that are set.
    pub options: Vec<(String, String)>,
    /// The fewest and the most calls for one question, if no seat is absent.
    pub calls: [u32; 2],
    /// Whether an equal budget would have been more samples than a plain vote has seats.
    pub capped: bool,
}

impl EvalArm {
    fn protocol(&self) -> Result<&'static dyn Protocol, Invalid> {
        agon_protocols::find(&self.protocol).ok_or_else(|| unknown_arm(&self.protocol))
    }

    /// The hashes of the protocol's templates.
    pub(super) fn templates(&self) -> Result<Value, Invalid> {
        Ok(json!(protocol::template_hashes(self.protocol()?)))
    }

    /// The calls that one question is expected to take. A plain vote rarely needs its clerk.
    pub fn expected_calls(&self) -> u32 {
        match (self.kind, self.calls) {
            (ArmKind::Protocol, [fewest, most]) => fewest.saturating_add(most).saturating_add(1) / 2,
            (_, [fewest, _]) => fewest,
        }
    }

    /// Checks that the arm can be held on a question, and counts its calls.
    fn planned(mut self, question: &EvalQuestion, seed: u64) -> Result<Self, Invalid> {
        let in_arm = |why: Invalid| Invalid(format!("the arm {}: {}", self.name, why.0));
        let protocol = self.protocol()?;
        let request = Request {
            question: question.text.clone(),
            files: question.files.clone(),
            models: self.models.clone(),
            roles: self.roles.clone(),
            options: options::resolve(protocol.info().options, self.options.iter().cloned())
                .map_err(in_arm)?,
            seed,
        };
        let seats = protocol.seats(&request).map_err(in_arm)?;
        let brief = Brief {
            version: LOG_VERSION,
            id: String::new(),
            protocol: self.protocol.clone(),
            question: request.question,
            files: request.files,
            options: request.options,
            seats,
            seed,
            nonce: String::new(),
            limits: DebateLimits::default(),
            templates: BTreeMap::new(),
            written_by: String::new(),
            created_at: String::new(),
            parent: None,
        };
        let plan = protocol.plan(&brief);
        self.calls = [plan.fewest_calls, plan.most_calls];
        Ok(self)
    }
}

/// The requested arms, checked on the first question.
pub fn arms(request: &EvalRequest, question: &EvalQuestion) -> Result<Vec<EvalArm>, Invalid> {
    let Some(first) = request.models.first() else {
        return Err(Invalid::new("no model is named: --models a,b,c"));
    };
    let mut arms: Vec<EvalArm> = Vec::new();
    for name in arm_names(request) {
        if arms.iter().any(|arm| arm.name == name) {
            return Err(Invalid(format!("the arm {name} is named twice")));
        }
        arms.push(arm(&name, request, first)?);
    }
    // The samples of self-consistency follow from the calls of the other arms, so those are planned first.
    let is_sampled = |arm: &EvalArm| arm.kind == ArmKind::SelfConsistency;
    for arm in arms.iter_mut().filter(|arm| !is_sampled(arm)) {
        *arm = arm.clone().planned(question, request.seed)?;
    }
    let equal = equal_samples(request, &arms);
    let samples = equal.min(samples_max());
    for arm in arms.iter_mut().filter(|arm| is_sampled(arm)) {
        let options = vec![(SEATS.to_owned(), samples.to_string())];
        let sampled = EvalArm { options, capped: equal > samples, ..arm.clone() };
        *arm = sampled.planned(question, request.seed)?;
    }
    Ok(arms)
}

/// By default there is no vote of one model: it would be that model alone.
fn arm_names(request: &EvalRequest) -> Vec<String> {
    if !request.arms.is_empty() {
        return request.arms.iter().map(|name| name.trim().to_owned()).collect();
    }
    let has_voters = voters(request).len() > 1;
    default_arms().into_iter().filter(|name| *name != VOTE || has_voters).map(str::to_owned).collect()
}

/// Every model once.
fn voters(request: &EvalRequest) -> Vec<String> {
    let mut voters: Vec<String> = Vec::new();
    for model in &request.models {
        if !voters.contains(model) {
            voters.push(model.clone());
        }
    }
    voters
}

/// How many samples are an equal budget.
fn equal_samples(request: &EvalRequest, arms: &[EvalArm]) -> u32 {
    let most_expected =
        |kind: ArmKind| arms.iter().filter(|arm| arm.kind == kind).map(EvalArm::expected_calls).max();
    let equal = request.samples.or(most_expected(ArmKind::Protocol)).or(most_expected(ArmKind::Vote));
    equal.unwrap_or(SAMPLES_DEFAULT).max(1)
}

/// How many seats a plain vote can have.
fn samples_max() -> u32 {
    match PLAIN_VOTE.info().options.iter().find(|option| option.key == SEATS).map(|option| option.kind) {
        Some(OptionKind::Int(_, most)) => most,
        _ => u32::MAX,
    }
}

fn arm(name: &str, request: &EvalRequest, first: &str) -> Result<EvalArm, Invalid> {
    let plain_vote = |kind: ArmKind, models: Vec<String>| EvalArm {
        name: name.to_owned(),
        kind,
        protocol: PLAIN_VOTE.info().name.to_owned(),
        options: vec![(SEATS.to_owned(), models.len().to_string())],
        models,
        roles: request.roles_of(PLAIN_VOTE.info()),
        calls: [0, 0],
        capped: false,
    };
    match name {
        SINGLE => Ok(plain_vote(ArmKind::Single, vec![first.to_owned()])),
        SELF_CONSISTENCY => Ok(plain_vote(ArmKind::SelfConsistency, vec![first.to_owned()])),
        VOTE => match voters(request) {
            voters if voters.len() < 2 => {
                Err(Invalid::new("the arm vote needs at least two models: --models a,b"))
            }
            voters => Ok(plain_vote(ArmKind::Vote, voters)),
        },
        _ => debate_arm(name, request),
    }
}

/// The arm of a protocol: its name, with options after a colon.
fn debate_arm(name: &str, request: &EvalRequest) -> Result<EvalArm, Invalid> {
    let (protocol, given) = name.split_once(':').unwrap_or((name, ""));
    let info = agon_protocols::find(protocol).ok_or_else(|| unknown_arm(protocol))?.info();
    let mut options = request.options.get(protocol).cloned().unwrap_or_default();
    let mut set = |key: &str, value: &str| {
        options.retain(|(other, _)| other != key);
        options.push((key.to_owned(), value.to_owned()));
    };
    // What one question taught must not answer the next.
    for (key, value) in info.isolation {
        set(key, value);
    }
    for pair in given.split(',').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').ok_or_else(|| {
            Invalid(format!("the arm {name}: {pair:?} is not an option: write {protocol}:key=value"))
        })?;
        set(key.trim(), value.trim());
    }
    Ok(EvalArm {
        name: name.to_owned(),
        kind: ArmKind::Protocol,
        protocol: protocol.to_owned(),
        models: request.models.clone(),
        roles: request.roles_of(info),
        options,
        calls: [0, 0],
        capped: false,
    })
}

fn unknown_arm(name: &str) -> Invalid {
    let known: Vec<&str> = agon_protocols::all().map(|protocol| protocol.info().name).collect();
    Invalid(format!(
        "there is no arm {name:?}: the arms are {SINGLE}, {SELF_CONSISTENCY}, {VOTE}, and the protocols {}",
        known.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::EvalDataset;

    fn of(names: &[&str], models: &[&str], samples: Option<u32>) -> Result<Vec<EvalArm>, String> {
        let dataset = EvalDataset::parse("{\"question\": \"Q?\", \"answer\": 1}").unwrap();
        let request = EvalRequest {
            arms: names.iter().map(|name| (*name).to_owned()).collect(),
            models: models.iter().map(|model| (*model).to_owned()).collect(),
            roles: [("chair".to_owned(), "c/c".to_owned())].into(),
            samples,
            ..EvalRequest::default()
        };
        arms(&request, &dataset.questions[0]).map_err(|why| why.0)
    }

    fn seats(arms: &[EvalArm], name: &str) -> Vec<String> {
        let arm = arms.iter().find(|arm| arm.name == name).unwrap();
        arm.options.iter().filter(|(key, _)| key == "seats").map(|(_, seats)| seats.clone()).collect()
    }

    /// A debate of three makes 12 to 16 calls, so 14 samples are an equal budget.
    #[test]
    fn self_consistency_has_as_many_calls_as_the_most_expensive_debate() {
        let all = of(
            &["single", "self-consistency", "vote", "deep", "deep:mode=quick"],
            &["a/x", "b/y", "c/z"],
            None,
        )
        .unwrap();
        let calls: Vec<(&str, [u32; 2])> = all.iter().map(|arm| (arm.name.as_str(), arm.calls)).collect();
        assert_eq!(
            calls,
            [
                ("single", [1, 1]),
                ("self-consistency", [14, 15]),
                ("vote", [3, 4]),
                ("deep", [12, 16]),
                ("deep:mode=quick", [4, 4])
            ]
        );
        assert_eq!(
            (all[1].models.as_slice(), seats(&all, "self-consistency")),
            (&["a/x".to_owned()][..], vec!["14".to_owned()])
        );
        assert_eq!((all[0].roles.len(), all[3].roles["chair"].as_str()), (0, "c/c"));
        let dear = of(&["self-consistency", "deep:max_rounds=9"], &["a/x", "b/y", "c/z"], None).unwrap();
        assert_eq!((dear[0].calls, dear[0].capped), ([15, 16], true));
        let own = of(&["self-consistency", "deep"], &["a/x"], Some(5)).unwrap();
        assert_eq!((own[0].calls, own[0].capped), ([5, 6], false));
        let votes = of(&["self-consistency", "vote"], &["a/x", "b/y", "b/y"], None).unwrap();
        assert_eq!((votes[0].calls, votes[1].calls, votes[1].models.len()), ([2, 3], [2, 3], 2));
    }

    #[test]
    fn the_default_arms_include_a_vote_only_for_several_models() {
        let names = |models: &[&str]| {
            of(&[], models, None).unwrap().into_iter().map(|arm| arm.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&["a/x", "b/y"]), default_arms());
        assert_eq!(default_arms(), ["single", "self-consistency", "vote", "deep"]);
        assert_eq!(names(&["a/x"]), ["single", "self-consistency", "deep"]);
    }

    #[test]
    fn a_debate_arm_reads_nothing_that_earlier_debates_left_unless_its_name_says_so() {
        let context_items = |name: &str| {
            let arms = of(&[name], &["a/x", "b/y"], None).unwrap();
            arms[0].options.iter().filter(|(key, _)| key == "context_items").cloned().collect::<Vec<_>>()
        };
        assert_eq!(context_items("arena"), [("context_items".to_owned(), "0".to_owned())]);
        assert_eq!(context_items("arena:context_items=3"), [("context_items".to_owned(), "3".to_owned())]);
    }

    #[test]
    fn an_arm_that_cannot_be_held_is_refused_before_the_first_call() {
        for (names, models, why) in [
            (&["deeep"][..], &["a/x"][..], "there is no arm \"deeep\""),
            (&["deep", "deep"], &["a/x"], "twice"),
            (&["vote"], &["a/x", "a/x"], "two models"),
            (&["deep:rounds=1"], &["a/x"], "the arm deep:rounds=1: there is no option"),
            (&["deep:max_rounds"], &["a/x"], "write deep:key=value"),
            (&["panel"], &["a/x"], "the arm panel:"),
            (
                &["vote"],
                &[
                    "a/0", "a/1", "a/2", "a/3", "a/4", "a/5", "a/6", "a/7", "a/8", "a/9", "b/0", "b/1",
                    "b/2", "b/3", "b/4", "b/5",
                ],
                "1 to 15",
            ),
            (&["single"], &[], "no model"),
        ] {
            let found = of(names, models, None).unwrap_err();
            assert!(found.contains(why), "{names:?}: {found}");
        }
    }
}
