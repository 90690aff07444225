//! The asks of `arena`: what each seat reads in each phase.
//!
//! The task and the context come first and are the same in every phase; then what the phase asks for; what only one seat reads comes
//! last. Other agents are labels, and all words but ours are quoted.

use std::cell::OnceCell;
use std::sync::Arc;

use agon_core::fence::Mask;
use agon_core::{Ask, Corrupt, Fence, Phase, Prompt, Schema, Seat, Step};
use serde_json::{Map, Value, json};

use super::critiques::{Critic, Critique};
use super::log::{JUDGING, Log, REFINEMENT};
use super::reply::Revision;
use super::trickster::{Finding, Signal};
use super::{prompts, schema};
use crate::prompt::{Prompts, ask};

/// Makes the asks of one debate.
pub(super) struct Asks<'a> {
    log: &'a Log<'a>,
    prompts: &'static Prompts,
    fence: Fence,
    /// Made when somebody else's words are first quoted.
    mask: OnceCell<Mask>,
    system: Arc<str>,
}

impl<'a> Asks<'a> {
    pub(super) fn new(log: &'a Log<'a>) -> Result<Self, Corrupt> {
        let (prompts, fence) = (prompts()?, Fence::new(&log.debate.brief));
        let system = prompts.shared("arena/system.hbs", &json!({"rule": fence.rule()}))?;
        Ok(Self { log, prompts, fence, mask: OnceCell::new(), system })
    }

    /// Round 1: every agent proposes, independently.
    pub(super) fn propose(&self) -> Result<Step, Corrupt> {
        let schema = schema::proposal();
        let shared = self.shared("arena/propose.hbs", &schema, json!({}))?;
        let mut asks = Vec::new();
        for place in self.log.in_seat_order() {
            let tail = json!({"memory": self.memory(place)?});
            asks.extend(self.ask(
                "arena/propose.hbs",
                place,
                &shared,
                &tail,
                &schema,
                "max_concurrent_proposals",
            )?);
        }
        Ok(Step::Ask(Phase::new("propose", 1), asks))
    }

    /// Round 2: every agent critiques each other agent's proposal, one ask each.
    pub(super) fn critique(&self) -> Result<Step, Corrupt> {
        let schema = schema::critique();
        let shared = self.shared("arena/critique.hbs", &schema, json!({}))?;
        let mut asks = Vec::new();
        for place in self.log.in_seat_order() {
            for target in self.log.proposers().into_iter().filter(|target| *target != place) {
                let Some(held) = self.log.proposal(target) else { continue };
                let label = self.log.label(target);
                let content = self.quote(&format!("Agent {label}"), &written(&held.said));
                let tail = json!({"label": self.log.label(place), "target": label, "content": content});
                let made = self.ask(
                    "arena/critique.hbs",
                    place,
                    &shared,
                    &tail,
                    &schema,
                    "max_concurrent_critiques",
                )?;
                asks.extend(made.map(|ask| Ask { about: Some(label.to_owned()), ..ask }));
            }
        }
        Ok(Step::Ask(Phase::new("critique", 2), asks))
    }

    /// Rounds 3 to 5 and extended ones: everybody who has a proposal revises it.
    pub(super) fn revise(&self, round: u32) -> Result<Step, Corrupt> {
        let put = |critique: &Critique| match round > JUDGING {
            true => critique.round > REFINEMENT && critique.round >= self.last_verdict(),
            false => true,
        };
        let context = json!({"round": round, "extended": round > JUDGING});
        self.change("revise", round, &self.log.proposers(), put, context)
    }

    /// Round 6: everybody refines its proposal with everything that was said of it.
    pub(super) fn refine(&self) -> Result<Step, Corrupt> {
        self.change("refine", REFINEMENT, &self.log.proposers(), |_| true, json!({"round": REFINEMENT}))
    }

    /// The trickster's challenge to those whose agreement may be hollow.
    pub(super) fn challenge(&self, round: u32, agents: &[usize], finding: &Finding) -> Result<Step, Corrupt> {
        let fired = finding.signals.iter().filter(|signal| signal.fired);
        let signals: Vec<Value> = fired.map(|signal| self.signal(signal)).collect();
        let all = agents.len() == self.log.proposers().len();
        let whose = if all { String::new() } else { format!(" of {}", self.log.names(agents)) };
        let context = json!({"round": round, "signals": signals, "whose": whose});
        self.change("challenge", round, agents, |_| true, context)
    }

    /// The round of the last vote, from which on reasons are new.
    fn last_verdict(&self) -> u32 {
        self.log.polls.last().map_or(0, |poll| poll.round)
    }

    fn change(
        &self,
        name: &str,
        round: u32,
        agents: &[usize],
        put: impl Fn(&Critique) -> bool,
        context: Value,
    ) -> Result<Step, Corrupt> {
        let file = format!("arena/{name}.hbs");
        let put: Vec<&Critique> = self.log.critiques.iter().filter(|critique| put(critique)).collect();
        let ids: Vec<&str> = put.iter().map(|critique| critique.id.as_str()).collect();
        let schema = schema::revision(self.log, &ids);
        let mut context = with(context, "positions", json!(&*self.positions()?));
        context = with(context, "form", json!(&*self.form(&schema)?));
        let shared = self.shared(&file, &schema, context)?;
        let limit = if name == "refine" { "" } else { "max_concurrent_revisions" };
        let mut asks = Vec::new();
        for place in self.log.in_seat_order().into_iter().filter(|place| agents.contains(place)) {
            let own: Vec<&Critique> = put.iter().copied().filter(|critique| critique.to == place).collect();
            let tail = json!({"own": self.own(place, &own)?});
            asks.extend(self.ask(&file, place, &shared, &tail, &schema, limit)?);
        }
        Ok(Step::Ask(Phase::new(name, round), asks))
    }

    /// Every agent votes on the final proposals, which stand in one order for all.
    pub(super) fn vote(&self, round: u32) -> Result<Step, Corrupt> {
        let schema = schema::vote(self.log);
        let proposals = self.proposals(&self.log.voted_in(round));
        let shared =
            self.shared("arena/vote.hbs", &schema, json!({"round": round, "proposals": proposals}))?;
        let mut asks = Vec::new();
        for place in self.log.in_seat_order() {
            let proposed = self.log.proposal(place).is_some();
            let tail = json!({"label": self.log.label(place), "proposed": proposed});
            asks.extend(self.ask("arena/vote.hbs", place, &shared, &tail, &schema, "")?);
        }
        Ok(Step::Ask(Phase::new("vote", round), asks))
    }

    /// The judge scores and ranks the proposals, once for each order.
    pub(super) fn judge(&self, round: u32) -> Result<Step, Corrupt> {
        let schema = schema::judgement(self.log);
        let shared = self.shared("arena/judge.hbs", &schema, json!({"round": round}))?;
        let orders = self.log.judged_in(round);
        let mut asks = Vec::new();
        for seat in self.log.debate.brief.seats_of("judge") {
            for (order, n) in orders.iter().zip(1..) {
                let tail = json!({"proposals": self.proposals(order)});
                let tail = self.prompts.tail("arena/judge.hbs", &tail)?;
                let prompt = Prompt { system: self.system.clone(), shared: shared.clone(), tail };
                let mut ask = ask(seat, prompt, Some(schema.clone()));
                ask.about = (orders.len() > 1).then(|| format!("order {n}"));
                asks.push(ask);
            }
        }
        Ok(Step::Ask(Phase::new("judge", round), asks))
    }

    fn ask(
        &self,
        file: &str,
        place: usize,
        shared: &Arc<str>,
        tail: &Value,
        schema: &Arc<Schema>,
        limit: &str,
    ) -> Result<Option<Ask>, Corrupt> {
        let Some(seat): Option<&Seat> = self.log.agents.get(place).map(|agent| agent.seat) else {
            return Ok(None);
        };
        let tail = self.prompts.tail(file, tail)?;
        let prompt = Prompt { system: self.system.clone(), shared: shared.clone(), tail };
        let mut ask = ask(seat, prompt, Some(schema.clone()));
        ask.label = Some(format!("Agent {}", self.log.label(place)));
        ask.at_once = Some(self.log.debate.brief.int(limit)).filter(|most| *most > 0);
        Ok(Some(ask))
    }

    fn shared(&self, file: &str, schema: &Schema, context: Value) -> Result<Arc<str>, Corrupt> {
        let context = with(context, "material", json!(&*self.material()?));
        self.prompts.shared(file, &with(context, "schema", json!(schema.json.to_string())))
    }

    /// The task, and what is known about it.
    fn material(&self) -> Result<Arc<str>, Corrupt> {
        let open = self.log.context.iter().filter(|item| item.kind != super::context::Kind::Memory);
        let context: Vec<Value> = open.map(|item| self.item(item)).collect();
        let said = self.log.debate.interjections.iter();
        let said: Vec<String> =
            said.map(|said| self.fence.quote("the person who asked", &said.text)).collect();
        let task = self.fence.quote("the task", &self.log.debate.brief.question);
        self.prompts
            .shared("arena/material.hbs", &json!({"task": task, "context": context, "interjections": said}))
    }

    /// What only one agent remembers.
    fn memory(&self, place: usize) -> Result<String, Corrupt> {
        let Some(agent) = self.log.agents.get(place) else { return Ok(String::new()) };
        let own = self.log.context.iter().filter(|item| item.kind == super::context::Kind::Memory);
        let own: Vec<Value> = own.filter(|item| item.is_for(agent)).map(|item| self.item(item)).collect();
        Ok(self.prompts.shared("arena/memory.hbs", &json!({"memory": own}))?.to_string())
    }

    /// Where an item is from is as untrusted as what it says, so that only its kind stands outside the quotation.
    fn item(&self, item: &super::context::Item) -> Value {
        let content = self.quote(&format!("context {}", item.id), &item.written());
        json!({"id": item.id, "kind": item.kind.as_str(), "content": content})
    }

    fn positions(&self) -> Result<Arc<str>, Corrupt> {
        let held = self.log.held().iter().enumerate();
        let positions: Vec<Value> = held
            .filter_map(|(place, held)| {
                let label = self.log.label(place);
                let content = self.quote(&format!("Agent {label}"), held.as_ref()?.said.sentence());
                Some(json!({"label": label, "content": content}))
            })
            .collect();
        self.prompts.shared("arena/positions.hbs", &json!({"positions": positions}))
    }

    fn form(&self, schema: &Schema) -> Result<Arc<str>, Corrupt> {
        self.prompts.shared("arena/form.hbs", &json!({"schema": schema.json.to_string()}))
    }

    /// An agent's own proposal and the critiques of it.
    fn own(&self, place: usize, critiques: &[&Critique]) -> Result<String, Corrupt> {
        let held = self.log.proposal(place);
        let others: Vec<usize> = self.log.proposers().into_iter().filter(|other| *other != place).collect();
        let others: Vec<String> =
            self.log.labels(&others).iter().map(|label| format!("\"Agent {label}\"")).collect();
        let critiques: Vec<Value> = critiques.iter().map(|critique| self.critiqued(critique)).collect();
        let context = json!({
            "label": self.log.label(place),
            "others": others.join(", "),
            "own": held.map(|held| self.fence.quote("your words", &written(&held.said))),
            "critiques": critiques,
            "memory": self.memory(place)?,
        });
        Ok(self.prompts.shared("arena/own.hbs", &context)?.to_string())
    }

    fn critiqued(&self, critique: &Critique) -> Value {
        let (what, from) = match critique.from {
            Critic::Peer(place) => {
                let name = format!("Agent {}", self.log.label(place));
                let severity = critique.severity.unwrap_or_default();
                (name.clone(), format!("{name}, severity {severity}"))
            }
            Critic::Voter(place, choice) => {
                let name = format!("Agent {}", self.log.label(place));
                let voted = match choice {
                    Some(choice) => format!("who voted for Agent {}", self.log.label(choice)),
                    None => "who abstained".to_owned(),
                };
                (name.clone(), format!("{name}, {voted}"))
            }
            Critic::Judge => ("the judge".to_owned(), "the judge".to_owned()),
        };
        let mut lines: Vec<String> = critique.issues.iter().map(|issue| format!("- {issue}")).collect();
        let suggestions = critique.suggestions.iter();
        lines.extend(suggestions.map(|suggestion| format!("- Suggestion: {suggestion}")));
        if lines.is_empty() {
            lines.push("Nothing is wrong with it.".to_owned());
        }
        json!({"id": critique.id, "from": from, "content": self.quote(&what, &lines.join("\n"))})
    }

    fn proposals(&self, order: &[usize]) -> Vec<Value> {
        let shown = order.iter().filter_map(|place| {
            let label = self.log.label(*place);
            let content = self.quote(&format!("Agent {label}"), &written(&self.log.proposal(*place)?.said));
            Some(json!({"label": label, "content": content}))
        });
        shown.collect()
    }

    fn signal(&self, signal: &Signal) -> Value {
        let quotes = signal.quotes.iter().map(
            |(label, words)| json!({"label": label, "content": self.quote(&format!("Agent {label}"), words)}),
        );
        let about = match signal.signal {
            "uncited" => "Claims without evidence",
            "unspecific" => "Evidence that nobody could check",
            "near_copies" => "Proposals that are near copies of each other",
            _ => "Proposals without a reason",
        };
        json!({"about": about, "quotes": quotes.collect::<Vec<_>>()})
    }

    /// Somebody else's words: masked, then quoted.
    fn quote(&self, what: &str, text: &str) -> String {
        let mask = self.mask.get_or_init(|| Mask::new(&self.log.debate.brief));
        self.fence.quote(what, &mask.apply(text))
    }
}

fn with(mut context: Value, key: &str, value: Value) -> Value {
    let map: Option<&mut Map<String, Value>> = context.as_object_mut();
    map.map(|map| map.insert(key.to_owned(), value));
    context
}

/// A proposal as it is read.
fn written(said: &Revision) -> String {
    let mut lines = vec![format!("Position: {}", said.position.trim()), String::new()];
    lines.push(said.proposal.trim().to_owned());
    if !said.claims.is_empty() {
        lines.extend([String::new(), "Claims:".to_owned()]);
    }
    for made in &said.claims {
        let evidence = match made.evidence.trim() {
            "" => "no evidence".to_owned(),
            evidence => format!("evidence: {evidence}"),
        };
        lines.push(format!("- {} ({evidence})", made.claim.trim()));
    }
    lines.join("\n")
}
