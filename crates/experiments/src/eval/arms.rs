//! What is tried: one model, many samples of it, a plain vote, and any protocol.
//!
//! "At equal budget" is fixed before the first call: self-consistency draws as many samples as the dearest protocol arm is
//! expected to make calls, the middle between the fewest and the most that its [`Protocol::calls`] says, as far as a poll has
//! seats. Calls, because they are known beforehand; what each arm really read and wrote is in the findings.

use std::collections::BTreeMap;

use agon_core::{Brief, Invalid, LOG_VERSION, Limits, Protocol, Request, options, protocol};
use agon_protocols::poll::SEATS_MAX;
use serde::Serialize;
use serde_json::{Value, json};

use crate::dataset::Question;

/// The arms of a run for which none is named.
pub const DEFAULT: &[&str] = &["single", "self-consistency", "vote", "deep"];
/// Samples where no protocol arm says how many calls are an equal budget.
const SAMPLES: u32 = 3;
const POLL: &str = "poll";

/// What is to be tried, as a person says it.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Names of arms: `single`, `self-consistency`, `vote`, or a protocol, with options if wanted: `deep:mode=quick,max_rounds=1`.
    /// Empty for [`DEFAULT`].
    pub arms: Vec<String>,
    /// The models, in order; the first is the one that is tried alone.
    pub models: Vec<String>,
    /// Models for single roles, for the protocols that have them.
    pub roles: BTreeMap<String, String>,
    /// Options of protocols that hold in every arm, by protocol, such as those of the configuration.
    pub options: BTreeMap<String, Vec<(String, String)>>,
    /// The samples of self-consistency, where they are not to follow from the budget.
    pub samples: Option<u32>,
    /// Where the seeds of all trials come from.
    pub seed: u64,
    /// The limits that hold for every trial, in the caller's own words: results under other limits are of another run.
    pub limits: Value,
}

/// What an arm is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The first model, once.
    Single,
    /// The first model, several times, and the answer that it gives most.
    SelfConsistency,
    /// Every model once, and the answer that most give.
    Vote,
    /// A debate.
    Protocol,
    /// The vote on the first positions of a debate, which the debate holds anyway.
    FirstRound,
}

/// One way to answer the questions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Arm {
    /// As it was named.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The protocol that it is held as.
    pub protocol: String,
    /// The models that sit.
    pub models: Vec<String>,
    /// Models for single roles.
    pub roles: BTreeMap<String, String>,
    /// The options that are set.
    pub options: Vec<(String, String)>,
    /// The fewest and the most calls that one question takes when nobody is absent.
    pub calls: [u32; 2],
    /// Whether an equal budget would have been more calls than a poll has seats.
    pub capped: bool,
}

impl Arm {
    fn protocol(&self) -> Result<&'static dyn Protocol, Invalid> {
        agon_protocols::find(&self.protocol).ok_or_else(|| unknown(&self.protocol))
    }

    /// The hashes of the templates that it is asked with.
    pub(crate) fn templates(&self) -> Result<Value, Invalid> {
        Ok(json!(protocol::template_hashes(self.protocol()?)))
    }

    /// The calls that one question is expected to take.
    pub fn expected_calls(&self) -> u32 {
        let [least, most] = self.calls;
        (least.saturating_add(most).saturating_add(1)) / 2
    }

    /// Checks that the arm can be held on a question, and counts its calls.
    fn settled(mut self, question: &Question, seed: u64) -> Result<Self, Invalid> {
        let of = |why: Invalid| Invalid(format!("the arm {}: {}", self.name, why.0));
        let protocol = self.protocol()?;
        let request = Request {
            question: question.text.clone(),
            files: question.files.clone(),
            models: self.models.clone(),
            roles: self.roles.clone(),
            options: options::resolve(protocol.options(), self.options.iter().cloned()).map_err(of)?,
            seed,
        };
        let seats = protocol.seats(&request).map_err(of)?;
        let brief = Brief {
            version: LOG_VERSION,
            id: String::new(),
            protocol: self.protocol.clone(),
            question: request.question,
            files: request.files,
            options: request.options,
            seats,
            seed,
            limits: Limits::default(),
            templates: BTreeMap::new(),
            written_by: String::new(),
            created_at: String::new(),
            parent: None,
        };
        let calls = protocol.calls(&brief);
        self.calls = [*calls.start(), *calls.end()];
        Ok(self)
    }
}

/// The arms that are wanted, checked on the first question.
pub fn arms(wanted: &Wanted, question: &Question) -> Result<Vec<Arm>, Invalid> {
    let Some(first) = wanted.models.first() else {
        return Err(Invalid::new("no model is named: --models a,b,c"));
    };
    let names = names(wanted);
    let mut arms = Vec::new();
    for name in &names {
        if arms.iter().any(|arm: &Arm| arm.name == *name) {
            return Err(Invalid(format!("the arm {name} is named twice")));
        }
        arms.push(arm(name, wanted, first)?);
    }
    // The budget of self-consistency follows from the others.
    let is_sampled = |arm: &Arm| arm.kind == Kind::SelfConsistency;
    let mut settled: Vec<Arm> = Vec::new();
    for arm in arms.iter().filter(|arm| !is_sampled(arm)) {
        settled.push(arm.clone().settled(question, wanted.seed)?);
    }
    let (samples, capped) = samples(wanted, &settled);
    let of_name = |name: &str| settled.iter().find(|arm| arm.name == name).cloned();
    let mut all = Vec::new();
    for arm in arms {
        all.push(match of_name(&arm.name) {
            Some(settled) => settled,
            None => sampled(Arm { capped, ..arm }, samples).settled(question, wanted.seed)?,
        });
    }
    Ok(all)
}

/// The names of the arms. By default there is no vote of one model: it would be that model alone.
fn names(wanted: &Wanted) -> Vec<String> {
    if !wanted.arms.is_empty() {
        return wanted.arms.iter().map(|name| name.trim().to_owned()).collect();
    }
    let default = DEFAULT.iter().filter(|name| **name != "vote" || voters(wanted).len() > 1);
    default.map(|name| (*name).to_owned()).collect()
}

/// Every model once.
fn voters(wanted: &Wanted) -> Vec<String> {
    let mut voters: Vec<String> = Vec::new();
    for model in &wanted.models {
        if !voters.contains(model) {
            voters.push(model.clone());
        }
    }
    voters
}

fn sampled(mut arm: Arm, samples: u32) -> Arm {
    arm.options = vec![("seats".to_owned(), samples.to_string())];
    arm
}

/// How many samples are an equal budget, and whether a poll has too few seats for that.
fn samples(wanted: &Wanted, others: &[Arm]) -> (u32, bool) {
    let debates = others.iter().filter(|arm| arm.kind == Kind::Protocol).map(Arm::expected_calls).max();
    let votes = others.iter().filter(|arm| arm.kind == Kind::Vote).map(Arm::expected_calls).max();
    let equal = wanted.samples.or(debates).or(votes).unwrap_or(SAMPLES).max(1);
    (equal.min(SEATS_MAX), equal > SEATS_MAX)
}

fn arm(name: &str, wanted: &Wanted, first: &str) -> Result<Arm, Invalid> {
    let poll = |kind: Kind, models: Vec<String>, seats: usize| Arm {
        name: name.to_owned(),
        kind,
        protocol: POLL.to_owned(),
        models,
        roles: BTreeMap::new(),
        options: vec![("seats".to_owned(), seats.to_string())],
        calls: [0, 0],
        capped: false,
    };
    match name {
        "single" => Ok(poll(Kind::Single, vec![first.to_owned()], 1)),
        "self-consistency" => Ok(poll(Kind::SelfConsistency, vec![first.to_owned()], 1)),
        "vote" => match voters(wanted) {
            voters if voters.len() < 2 => {
                Err(Invalid::new("the arm vote needs at least two models: --models a,b"))
            }
            voters => {
                let seats = voters.len();
                Ok(poll(Kind::Vote, voters, seats))
            }
        },
        _ => debate(name, wanted),
    }
}

/// The arm of a protocol: its name, and options behind a colon.
fn debate(name: &str, wanted: &Wanted) -> Result<Arm, Invalid> {
    let (protocol, set) = name.split_once(':').unwrap_or((name, ""));
    let found = agon_protocols::find(protocol).ok_or_else(|| unknown(protocol))?;
    let mut options = wanted.options.get(protocol).cloned().unwrap_or_default();
    for pair in set.split(',').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').ok_or_else(|| {
            Invalid(format!("the arm {name}: {pair:?} is no option: write {protocol}:key=value"))
        })?;
        options.retain(|(other, _)| other != key.trim());
        options.push((key.trim().to_owned(), value.trim().to_owned()));
    }
    let roles = wanted.roles.iter().filter(|(role, _)| found.roles().contains(&role.as_str()));
    Ok(Arm {
        name: name.to_owned(),
        kind: Kind::Protocol,
        protocol: protocol.to_owned(),
        models: wanted.models.clone(),
        roles: roles.map(|(role, model)| (role.clone(), model.clone())).collect(),
        options,
        calls: [0, 0],
        capped: false,
    })
}

fn unknown(name: &str) -> Invalid {
    let known: Vec<&str> = agon_protocols::all().map(|protocol| protocol.name()).collect();
    Invalid(format!(
        "there is no arm {name:?}: the arms are single, self-consistency, vote, and the protocols {}",
        known.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dataset;

    fn of(names: &[&str], models: &[&str], samples: Option<u32>) -> Result<Vec<Arm>, String> {
        let dataset = Dataset::parse("{\"question\": \"Q?\", \"answer\": 1}").unwrap();
        let wanted = Wanted {
            arms: names.iter().map(|name| (*name).to_owned()).collect(),
            models: models.iter().map(|model| (*model).to_owned()).collect(),
            roles: [("chair".to_owned(), "c/c".to_owned())].into(),
            samples,
            ..Wanted::default()
        };
        arms(&wanted, &dataset.questions[0]).map_err(|why| why.0)
    }

    fn seats(arms: &[Arm], name: &str) -> Vec<String> {
        let arm = arms.iter().find(|arm| arm.name == name).unwrap();
        arm.options.iter().filter(|(key, _)| key == "seats").map(|(_, seats)| seats.clone()).collect()
    }

    /// "`self-consistency` (poll of k samples of the same model, k such that its predicted cost is nearest to the dearest
    /// protocol arm's)": deep of three makes 12 to 16 calls.
    #[test]
    fn self_consistency_has_the_calls_of_the_dearest_debate() {
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
                ("self-consistency", [14, 14]),
                ("vote", [3, 3]),
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
        assert_eq!((dear[0].calls, dear[0].capped), ([15, 15], true));
        let own = of(&["self-consistency", "deep"], &["a/x"], Some(5)).unwrap();
        assert_eq!((own[0].calls, own[0].capped), ([5, 5], false));
        let votes = of(&["self-consistency", "vote"], &["a/x", "b/y", "b/y"], None).unwrap();
        assert_eq!((votes[0].calls, votes[1].calls, votes[1].models.len()), ([2, 2], [2, 2], 2));
    }

    #[test]
    fn by_default_there_is_a_vote_only_of_several_models() {
        let names = |models: &[&str]| {
            of(&[], models, None).unwrap().into_iter().map(|arm| arm.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&["a/x", "b/y"]), DEFAULT);
        assert_eq!(names(&["a/x"]), ["single", "self-consistency", "deep"]);
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
