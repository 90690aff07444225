//! Seed 003 and its part of PROTOCOLS.md, sentence by sentence.

use agon_core::play::play;
use agon_core::{
    AbsenceReason, Brief, CallUsage, Debate, Fate, Fidelity, Outcome, Phase, QualityCheck, Reply, Status,
    Termination, quotations,
};
use serde_json::json;

use super::*;
use crate::testing;
use crate::tools::WithTools;

mod context;
mod critiques;
mod degradation;
mod hollow;
mod judge;
mod meaning;
mod outcome;
mod positions;
mod prompts;
mod real;
mod replies;
mod rhetoric;
mod rounds;
mod team;
mod view;
mod votes;

/// Three agents, and a fourth model that judges and sorts.
const MODELS: &[&str] = &["a/x", "b/y", "c/z"];
/// No source of context is asked.
const BARE: &[(&str, &str)] = &[("no_knowledge", "true"), ("no_memory", "true")];

/// A debate with scripted answers. By default three agents disagree, all vote for the first, and the judge agrees.
struct ScriptedArena<'a> {
    models: &'a [&'a str],
    set: &'a [(&'a str, &'a str)],
    files: &'a [(&'a str, &'a str)],
    /// By round, how similar the clerk finds every two proposals: the same from 0.85 on, else compatible.
    alike: &'a dyn Fn(u32) -> f64,
    /// By round, for each seat the number of the seat that it votes for; 0 abstains.
    votes: &'a dyn Fn(u32) -> Vec<usize>,
    /// By round and order, the judge's score for each seat.
    scores: &'a dyn Fn(u32, usize) -> Vec<f64>,
    /// Which asks stay without a reply.
    absent: &'a dyn Fn(&Ask, &str, u32) -> bool,
    /// Changes to the scripted answers.
    with: &'a dyn Fn(&Ask, &str, u32, &mut Value),
}

impl Default for ScriptedArena<'_> {
    fn default() -> Self {
        Self {
            models: MODELS,
            set: BARE,
            files: &[],
            alike: &|_| 0.2,
            votes: &|_| vec![1; 8],
            scores: &|_, _| vec![8.0, 6.0, 4.0, 3.0, 2.5, 2.0, 1.5, 1.0],
            absent: &|_, _, _| false,
            with: &|_, _, _, _| {},
        }
    }
}

impl ScriptedArena<'_> {
    fn brief(&self) -> Brief {
        let mut request =
            testing::request(&Arena, "How should the jobs run?", self.files, self.models, self.set).unwrap();
        request.roles.insert("judge".into(), "d/w".into());
        testing::brief(&Arena, request).unwrap()
    }

    fn run(&self) -> Debate {
        self.run_brief(self.brief())
    }

    /// Plays the debate. Every answer must keep its schema and the rules, but its declarations need not verify.
    fn run_brief(&self, brief: Brief) -> Debate {
        let seats = brief.clone();
        let mut answer = |debate: &Debate, ask: &Ask| {
            let Phase { name, round } = debate.last_phase().unwrap();
            if (self.absent)(ask, name, *round) {
                return Reply::Absent { why: AbsenceReason::TimedOut, detail: "test".into() };
            }
            let mut said = self.said(&seats, ask, name, *round);
            (self.with)(ask, name, *round, &mut said);
            jsonschema::validate(&ask.schema.as_ref().unwrap().json, &said).unwrap();
            if let Err(ReplyFault::Invalid(why)) = WithTools(Arena).check(debate, ask, &said) {
                panic!("{name}: {why}: {said}");
            }
            let usage = CallUsage { usd: Some(0.01), ..CallUsage::default() };
            let (text, model, value) = (said.to_string(), ask.model.clone(), Some(said));
            Reply::Said { text, value, model, usage, cut_off: false, shortened: None }
        };
        let opened = vec![Debate::open(brief).unwrap().1];
        Debate::from_records(&play(&WithTools(Arena), opened, &mut answer, &mut |_| {}).unwrap()).unwrap()
    }

    fn outcome(&self) -> Outcome {
        self.run().outcome.unwrap()
    }

    fn said(&self, brief: &Brief, ask: &Ask, phase: &str, round: u32) -> Value {
        match phase {
            "context" => json!({"items": []}),
            "tools" => json!({"source": "queues.md", "text": "Queues halve delays."}),
            "propose" => proposal(&ask.seat),
            "critique" => critique(ask),
            "revise" | "refine" | "challenge" => revision(ask, round),
            "compare" if ask.seat == "clerk" => sorted(ask, &|_, _| alike((self.alike)(round))),
            "compare" => compared(ask, (self.alike)(round)),
            "vote" => {
                let choice = (self.votes)(round)[number(&ask.seat) - 1];
                let choice = if choice == 0 { "abstain".into() } else { name(brief, choice) };
                json!({"choice": choice, "confidence": 0.7, "reason": format!("{} finds it the best", ask.seat)})
            }
            _ => {
                let order = usize::from(ask.about.as_deref() == Some("order 2"));
                judgement(brief, ask, &(self.scores)(round, order))
            }
        }
    }
}

/// 2 for `agent-2`.
fn number(seat: &str) -> usize {
    seat.strip_prefix("agent-").unwrap().parse().unwrap()
}

/// The label of the agent with this number.
fn label(brief: &Brief, number: usize) -> String {
    let agents = log::labelled_agents(brief);
    agents.iter().find(|agent| agent.seat.id == format!("agent-{number}")).unwrap().label.clone()
}

/// The agent with this number as prompts name it.
fn name(brief: &Brief, number: usize) -> String {
    format!("Agent {}", label(brief, number))
}

const POSITIONS: [&str; 8] = [
    "Move every job into one queue.",
    "Keep cron and watch it closely.",
    "Buy a hosted scheduler this year.",
    "Write a scheduler ourselves in spring.",
    "Run them by hand until summer.",
    "Let each team choose its tool.",
    "Drop half of the jobs first.",
    "Ask the customers about delays.",
];

fn proposal(seat: &str) -> Value {
    let position = POSITIONS[number(seat) - 1];
    json!({
        "proposal": format!("{position} That is the plan of {}.", number(seat)),
        "position": position,
        "claims": [{"claim": "It halves the delays", "evidence": "figures of 2025: 40 s to 20 s"}],
        "confidence": 0.6,
    })
}

fn critique(ask: &Ask) -> Value {
    let about = ask.about.as_deref().unwrap();
    json!({"severity": 0.5, "issues": [format!("{about} leaves the costs open")], "suggestions": ["Say what it costs"]})
}

/// The values that a schema allows at a pointer.
fn allowed(ask: &Ask, pointer: &str) -> Vec<String> {
    let schema = &ask.schema.as_ref().unwrap().json;
    let values = schema.pointer(&format!("{pointer}/enum")).and_then(Value::as_array);
    values.into_iter().flatten().map(|value| value.as_str().unwrap().to_owned()).collect()
}

/// The other agents, as an agent may name them.
fn others(ask: &Ask) -> Vec<String> {
    allowed(ask, "/properties/conflicts_with/items")
}

/// The ids of the critiques in an agent's prompt.
fn own(ask: &Ask) -> Vec<String> {
    let lines = ask.prompt.tail.lines().filter(|line| line.contains("] from "));
    lines.filter_map(|line| Some(line.strip_prefix('[')?.split_once(']')?.0.to_owned())).collect()
}

fn revision(ask: &Ask, round: u32) -> Value {
    let mut said = proposal(&ask.seat);
    said["proposal"] = json!(format!("{} As of round {round}.", said["proposal"].as_str().unwrap()));
    said["addressed"] =
        own(ask).iter().map(|id| json!({"critique_id": id, "how": "the costs are named"})).collect();
    said["conflicts_with"] = json!([]);
    said
}

/// A similarity by embeddings: equal texts have 1, others the given one.
fn compared(ask: &Ask, alike: f64) -> Value {
    let texts: Vec<String> = serde_json::from_str(&ask.prompt.tail).unwrap();
    let figure = |one: &String, other: &String| if one == other { 1.0 } else { alike };
    let row = |one: &String| texts.iter().map(|other| figure(one, other)).collect::<Vec<f64>>();
    json!({"similarity": texts.iter().map(row).collect::<Vec<_>>()})
}

/// The relation that goes with a similarity.
fn alike(similarity: f64) -> (&'static str, f64) {
    (if similarity >= 0.85 { "same" } else { "compatible" }, similarity)
}

/// The proposals in a prompt: whose they are, and their positions.
fn shown_proposals(ask: &Ask) -> Vec<(String, String)> {
    let text = ask.prompt.user();
    let quoted = quotations(&text);
    let proposals = quoted.iter().filter(|one| one.text.starts_with("Position: "));
    let position = |text: &str| text.lines().next().unwrap().strip_prefix("Position: ").unwrap().to_owned();
    proposals.map(|one| (one.what.to_owned(), position(one.text))).collect()
}

/// A sorting that quotes every position. `relate` gives the relation and the similarity of two positions.
fn sorted(ask: &Ask, relate: &dyn Fn(&str, &str) -> (&'static str, f64)) -> Value {
    let shown = shown_proposals(ask);
    let mut pairs = Vec::new();
    for (n, (a, one)) in shown.iter().enumerate() {
        for (b, other) in shown.iter().skip(n + 1) {
            let (relation, similarity) = relate(one, other);
            let quotes = json!([{"label": a, "quote": one}, {"label": b, "quote": other}]);
            pairs.push(
                json!({"a": a, "b": b, "quotes": quotes, "relation": relation, "similarity": similarity}),
            );
        }
    }
    json!({"analysis": "", "pairs": pairs})
}

/// A score on every criterion.
fn criteria(score: f64) -> Value {
    json!({"correctness": score, "evidence": score, "feasibility": score, "answers": score, "clarity": score})
}

/// Scores by seat, and the ranking that follows from them.
fn judgement(brief: &Brief, ask: &Ask, scores: &[f64]) -> Value {
    let labels = allowed(ask, "/properties/ranking/items");
    let mut scored: Vec<(String, f64)> = scores
        .iter()
        .zip(1..=brief.seats_of("agent").count())
        .map(|(score, number)| (name(brief, number), *score))
        .filter(|(name, _)| labels.contains(name))
        .collect();
    scored.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let scores: Vec<Value> =
        scored.iter().map(|(label, score)| json!({"label": label, "criteria": criteria(*score), "reasons": [format!("{label} is clear")]})).collect();
    let ranking: Vec<&String> = scored.iter().map(|(label, _)| label).collect();
    json!({"scores": scores, "ranking": ranking, "margin_comment": "it is plain"})
}

/// The phases of a debate with their rounds.
fn phases(debate: &Debate) -> Vec<(String, u32)> {
    debate.turns.iter().map(|turn| (turn.phase.name.clone(), turn.phase.round)).collect()
}

/// How many asks went to seats, and how many were errands.
fn calls(debate: &Debate) -> (usize, usize) {
    let asked = debate.turns.iter().flat_map(|turn| &turn.asks);
    let (seated, errands): (Vec<_>, Vec<_>) =
        asked.partition(|asked| debate.brief.seat(&asked.seat).is_some());
    (seated.len(), errands.len())
}

fn quality_checks(debate: &Debate) -> Vec<QualityCheck> {
    Arena.view(debate).unwrap().checks
}

fn warned(outcome: &Outcome, words: &str) -> bool {
    outcome.warnings.iter().any(|warning| warning.contains(words))
}

/// Votes of three agents without a majority.
const SPLIT: [usize; 3] = [1, 2, 3];
/// Scores that are too close to stop the debate.
const NEAR: [f64; 3] = [7.0, 6.5, 6.0];

/// A debate in which fallback models answer: `by` gives the model that answers for another one in a round.
fn respoken(
    table: &ScriptedArena<'_>,
    brief: Brief,
    by: &dyn Fn(&str, u32) -> Option<&'static str>,
) -> Outcome {
    use agon_core::Event;
    let mut answer = |debate: &Debate, ask: &Ask| {
        let now = debate.last_phase().unwrap();
        let value = table.said(&brief, ask, &now.name, now.round);
        let (text, model) = (value.to_string(), ask.model.clone());
        let (value, usage) = (Some(value), Default::default());
        Reply::Said { text, value, model, usage, cut_off: false, shortened: None }
    };
    let opened = vec![Debate::open(brief.clone()).unwrap().1];
    let records = play(&Arena, opened, &mut answer, &mut |_| {}).unwrap();
    let mut debate = Debate::from_records(&records[..1]).unwrap();
    for record in &records[1..records.len() - 1] {
        let mut event = record.entry.event.clone();
        if let Event::Sent { model, .. } = &mut event {
            let other = by(model, debate.last_phase().unwrap().round);
            *model = other.unwrap_or(model).to_owned();
        }
        debate.push(event, record.entry.at_ms).unwrap();
    }
    let Step::Close(outcome) = Arena.next(&debate).unwrap() else { panic!("it is over") };
    *outcome
}
