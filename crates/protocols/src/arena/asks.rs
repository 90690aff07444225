//! The asks of an arena: what each seat reads in each phase.
//!
//! The task and the context come first and are the same in every phase; then comes what the phase asks for; what only one seat
//! reads comes last. Agents are known by labels, and everybody's words but the person's are quoted.

use std::sync::Arc;

use agon_core::wording::{capitalized, score};
use agon_core::{Ask, Corrupt, Phase, Prompt, ReplySchema, Seat, Step};
use serde::Serialize;
use serde_json::{Value, json};

use super::context::{ContextItem, ContextKind};
use super::log::{ArenaCritique, ArenaLog, CritiqueSource};
use super::replies::{self, CriteriaScores, CritiqueReply, ProposalReply};
use super::trickster::TricksterFinding;
use super::{ArenaPhase, DecidedBy, JUDGING, LAST_REVISION, REFINEMENT, closing, prompts, report};
use crate::clerk::CLERK;
use crate::prompt::{PromptSet, new_ask};

/// Embeddings that only count words. Their similarity is not worth showing.
const LEXICAL_EMBEDDINGS: &str = "embeddings/lexical";

/// Makes the asks of one debate.
pub(super) struct ArenaAsks<'a> {
    log: &'a ArenaLog<'a>,
    prompts: &'static PromptSet,
    /// What agents read first, and what the clerk and the judge do.
    system: Arc<str>,
    impartial_system: Arc<str>,
}

#[derive(Serialize)]
struct LabelledQuote {
    label: String,
    content: String,
}

impl<'a> ArenaAsks<'a> {
    pub(super) fn new(log: &'a ArenaLog<'a>) -> Result<Self, Corrupt> {
        let prompts = prompts()?;
        let system = |is_agent| {
            prompts.shared("arena/system.hbs", &json!({"rule": log.quoted.rule(), "is_agent": is_agent}))
        };
        Ok(Self { log, prompts, system: system(true)?, impartial_system: system(false)? })
    }

    /// Round 1: every agent proposes on its own.
    pub(super) fn propose(&self) -> Result<Step, Corrupt> {
        let (phase, schema) = (ArenaPhase::Propose, replies::plain_schema::<ProposalReply>("proposal"));
        let (shared, at_once) = (self.shared(phase, 1)?, self.log.options.max_concurrent_proposals);
        let mut asks = Vec::new();
        for place in self.log.in_seat_order() {
            let tail = json!({"memory": self.memory(place)});
            let ask = self.agent_ask(phase, place, &shared, &tail, schema.clone())?;
            asks.extend(ask.map(|ask| Ask { at_once, ..ask }));
        }
        Ok(Step::Ask(phase.at(1), asks))
    }

    /// Round 2: every agent critiques each other agent's proposal, with one ask for each.
    pub(super) fn critique(&self) -> Result<Step, Corrupt> {
        let (phase, schema) = (ArenaPhase::Critique, replies::plain_schema::<CritiqueReply>("critique"));
        let (shared, at_once) = (self.shared(phase, 2)?, self.log.options.max_concurrent_critiques);
        let mut asks = Vec::new();
        for place in self.log.in_seat_order() {
            let own = self.log.label(place);
            for proposal in self.proposals().into_iter().filter(|proposal| proposal.label != own) {
                let tail = json!({"label": own, "target": proposal.label, "content": proposal.content});
                let ask = self.agent_ask(phase, place, &shared, &tail, schema.clone())?;
                asks.extend(ask.map(|ask| Ask { about: Some(proposal.label), at_once, ..ask }));
            }
        }
        Ok(Step::Ask(phase.at(2), asks))
    }

    /// Rounds 3 to 5 and extended rounds: every agent with a proposal revises it.
    pub(super) fn revise(&self, round: u32) -> Result<Step, Corrupt> {
        self.change(ArenaPhase::Revise.at(round), &self.log.proposers(), String::new(), Vec::new())
    }

    /// Round 6: every agent refines its proposal with all critiques of it.
    pub(super) fn refine(&self) -> Result<Step, Corrupt> {
        self.change(ArenaPhase::Refine.at(REFINEMENT), &self.log.proposers(), String::new(), Vec::new())
    }

    /// The trickster's challenge to the agents whose agreement is hollow.
    pub(super) fn challenge(
        &self,
        round: u32,
        agents: &[usize],
        finding: &TricksterFinding,
    ) -> Result<Step, Corrupt> {
        let fired = finding.signals.iter().filter(|signal| signal.fired);
        let signals = fired.map(|signal| {
            let quotes = signal.quotes.iter().map(|quote| LabelledQuote {
                label: quote.label.clone(),
                content: self.log.quoted.quote(&format!("Agent {}", quote.label), &quote.quote),
            });
            json!({"about": signal.signal.about(), "quotes": quotes.collect::<Vec<_>>()})
        });
        let all = agents.len() == self.log.proposers().len();
        let whose = if all { String::new() } else { format!(" of {}", self.log.names(agents)) };
        self.change(ArenaPhase::Challenge.at(round), agents, whose, signals.collect())
    }

    /// Asks these agents for another version. `signals` are those of the trickster, each with the words that it rests on.
    fn change(
        &self,
        phase: Phase,
        agents: &[usize],
        whose: String,
        signals: Vec<Value>,
    ) -> Result<Step, Corrupt> {
        let (log, round, kind) = (self.log, phase.round, ArenaPhase::of(&phase)?);
        let is_first = log.stages.len() < 2;
        let is_extended = kind == ArenaPhase::Revise && round > JUDGING;
        let has_critiques = log.takes_critiques(round);
        let in_order = log.in_seat_order().into_iter().filter(|place| agents.contains(place));
        let due: Vec<(usize, Vec<&ArenaCritique>, Vec<&ArenaCritique>)> =
            in_order.map(|place| (place, log.due_answers(place), log.due_verdicts(place))).collect();
        let mut answered = due.iter().flat_map(|(_, answered, _)| answered);
        let context = json!({
            "material": self.material()?,
            "round": round,
            "title": match kind {
                ArenaPhase::Revise => "Revision",
                ArenaPhase::Refine => "Final Refinement",
                _ => "",
            },
            // What vote and judge came to, in an extended round.
            "result": if is_extended { self.last_result() } else { String::new() },
            // Whether the vote follows in any case, or at once if the proposals converge.
            "is_last": is_extended || kind == ArenaPhase::Refine,
            "is_converging": round <= LAST_REVISION,
            "has_context": self.has_context(),
            // Which of the fields that not every revision has are asked for, and whether an agent has answered a critique before.
            "has_addressed": answered.clone().next().is_some(),
            "has_answered": answered.any(|critique| critique.answer().is_some()),
            "has_verdicts": due.iter().any(|(.., judged)| !judged.is_empty()),
            "has_critiques": has_critiques,
            // Before the first revision, the positions; afterwards the proposals.
            "positions": if is_first { self.positions() } else { Vec::new() },
            "proposals": if is_first { Vec::new() } else { self.proposals() },
            "whose": whose,
            "signals": signals,
        });
        let shared = self.prompts.shared("arena/revise.hbs", &context)?;
        let at_once = log.options.max_concurrent_revisions.filter(|_| kind != ArenaPhase::Refine);
        let mut asks = Vec::new();
        for (place, answered, judged) in due {
            let tail = self.revision_tail(place, is_first, has_critiques, &answered, &judged);
            let ids = |critiques: &[&'a ArenaCritique]| -> Vec<&'a str> {
                critiques.iter().map(|critique| critique.id.as_str()).collect()
            };
            let schema = replies::revision_schema(log, place, round, &ids(&answered), &ids(&judged));
            let ask = self.agent_ask(ArenaPhase::Revise, place, &shared, &tail, schema)?;
            asks.extend(ask.map(|ask| Ask { at_once, ..ask }));
        }
        Ok(Step::Ask(phase, asks))
    }

    /// What only one agent reads when it revises. Everybody reads the proposals with names masked; an agent that should repeat its own
    /// must have it as it wrote it.
    fn revision_tail(
        &self,
        place: usize,
        is_first: bool,
        has_critiques: bool,
        answered: &[&ArenaCritique],
        judged: &[&ArenaCritique],
    ) -> Value {
        let own = self.log.proposal(place).map_or_else(String::new, |held| held.said.now.text());
        let own_words = self.log.quoted.own_words(&own);
        let is_masked = !is_first && own_words != self.log.quoted.quote("your words", &own);
        let shown = |critiques: &[&ArenaCritique], by_peers: bool| -> Vec<Value> {
            let wanted = critiques.iter().filter(|critique| critique.is_by_peer() == by_peers);
            wanted.map(|critique| self.shown_critique(critique, Some(place))).collect()
        };
        json!({
            "label": self.log.label(place),
            // Empty where it stands among the proposals as the agent wrote it.
            "own": if is_first || is_masked { own_words } else { String::new() },
            "is_masked": is_masked,
            "is_answering": !answered.is_empty(),
            "has_critiques": has_critiques,
            "critiques": shown(answered, true),
            "reasons": shown(answered, false),
            "verdicts": shown(judged, true),
            "memory": self.memory(place),
        })
    }

    /// What the last vote and judge came to, and what would settle the debate, in sentences.
    fn last_result(&self) -> String {
        let vote = self.log.votes.last();
        let settles = match vote.is_some_and(|vote| vote.hollow) {
            true => "the winner rests on too little that can be checked".to_owned(),
            false => format!(
                "the judge would have to put the winner of a vote first, or any proposal more than {} points ahead",
                score(self.log.options.judge_gap)
            ),
        };
        let vote = vote.map(|vote| report::tally_sentence(&vote.tally(self.log), &vote.ballots));
        let judged = closing::final_judgement(self.log);
        let judged = judged.map(report::first_place);
        let judged = judged.map_or(String::new(), |first| format!(" {}.", capitalized(&first)));
        let vote = vote.unwrap_or_default();
        format!(
            "The vote gave {vote}.{judged} That does not settle it: {settles}. So there is another revision."
        )
    }

    /// The clerk relates the proposals to each other. Embeddings compare them too, if there are any.
    pub(super) fn compare(&self, round: u32) -> Result<Step, Corrupt> {
        let task = self.log.quoted.person(&self.log.debate.brief.question);
        let context = json!({"task": task, "proposals": self.proposals()});
        let prompt = self.prompts.whole(&self.impartial_system, "arena/compare.hbs", &context)?;
        let schema = replies::sorting_schema(self.log);
        let seats = self.log.debate.brief.seats_of(CLERK);
        let mut asks: Vec<Ask> =
            seats.map(|seat| new_ask(seat, prompt.clone(), Some(schema.clone()))).collect();
        let embeddings = self.log.options.embeddings.trim();
        if !embeddings.is_empty() && embeddings != LEXICAL_EMBEDDINGS {
            let stages = self.log.stages.iter().rev().take(2);
            let texts: Vec<String> = stages
                .flat_map(|stage| stage.held.iter().flatten())
                .map(|held| held.said.now.text())
                .collect();
            asks.push(errand("similarity", embeddings, &texts, replies::similarity_schema(texts.len()))?);
        }
        Ok(Step::Ask(ArenaPhase::Compare.at(round), asks))
    }

    /// Every agent votes on the final proposals, each in an order of its own.
    pub(super) fn vote(&self, round: u32) -> Result<Step, Corrupt> {
        let (phase, schema) = (ArenaPhase::Vote, replies::vote_schema(self.log));
        let shared = self.shared(phase, round)?;
        let mut asks = Vec::new();
        for place in self.log.in_seat_order() {
            let tail = json!({
                "label": self.log.label(place),
                "proposed": self.log.proposal(place).is_some(),
                "proposals": self.final_proposals(&self.log.voting_order(round, place)),
            });
            asks.extend(self.agent_ask(phase, place, &shared, &tail, schema.clone())?);
        }
        Ok(Step::Ask(phase.at(round), asks))
    }

    /// The judge scores and ranks the proposals, once for each order.
    pub(super) fn judge(&self, round: u32) -> Result<Step, Corrupt> {
        let schema = replies::judgement_schema(self.log);
        let shared = self.shared(ArenaPhase::Judge, round)?;
        let orders = self.log.judging_orders(round);
        let mut asks = Vec::new();
        for seat in self.log.debate.brief.seats_of("judge") {
            for (order, n) in orders.iter().zip(1..) {
                let tail = json!({"proposals": self.final_proposals(order)});
                let tail = self.prompts.tail(&template(ArenaPhase::Judge), &tail)?;
                let prompt = Prompt { system: self.impartial_system.clone(), shared: shared.clone(), tail };
                let about = (orders.len() > 1).then(|| format!("order {n}"));
                asks.push(Ask { about, ..new_ask(seat, prompt, Some(schema.clone())) });
            }
        }
        Ok(Step::Ask(ArenaPhase::Judge.at(round), asks))
    }

    fn shared(&self, phase: ArenaPhase, round: u32) -> Result<Arc<str>, Corrupt> {
        let groups = self.log.same_groups(self.log.stages.len().saturating_sub(1));
        let same = groups.iter().filter(|group| group.len() > 1);
        let same: Vec<String> = same.map(|group| self.log.names(group)).collect();
        let context = json!({
            "material": self.material()?,
            "round": round,
            "has_context": self.has_context(),
            "weights": self.weights(),
            // Whose proposals are the same, so that votes for them count together.
            "same": same.join("; "),
            "is_judge_deciding": self.log.options.decide == DecidedBy::Judge,
            // Whether another revision may follow, in which the authors of the proposals read the reasons.
            "is_extendable": self.log.extended_rounds() < self.log.options.max_extended_rounds,
        });
        self.prompts.shared(&template(phase), &context)
    }

    /// Whether there is context that everybody reads.
    fn has_context(&self) -> bool {
        self.log.context.iter().any(|item| item.kind != ContextKind::Memory)
    }

    fn agent_ask(
        &self,
        phase: ArenaPhase,
        place: usize,
        shared: &Arc<str>,
        tail: &impl Serialize,
        schema: Arc<ReplySchema>,
    ) -> Result<Option<Ask>, Corrupt> {
        let Some(agent) = self.log.agents.get(place) else { return Ok(None) };
        let tail = self.prompts.tail(&template(phase), tail)?;
        let prompt = Prompt { system: self.system.clone(), shared: shared.clone(), tail };
        let ask = new_ask(agent.seat, prompt, Some(schema));
        Ok(Some(Ask { label: Some(self.log.name(place)), ..ask }))
    }

    /// The task, its context, and what the person said to the whole table.
    fn material(&self) -> Result<String, Corrupt> {
        // What the person attached is added to all prompts.
        let is_shown =
            |item: &&ContextItem| !matches!(item.kind, ContextKind::Attached | ContextKind::Memory);
        let items = self.log.context.iter().filter(is_shown);
        let interjections = self.log.debate.interjections.iter();
        let context = json!({
            "task": self.log.quoted.person(&self.log.debate.brief.question),
            "context": items.map(|item| self.item(item)).collect::<Vec<_>>(),
            "interjections": interjections.map(|said| self.log.quoted.person(&said.text)).collect::<Vec<_>>(),
        });
        Ok(self.prompts.shared("arena/material.hbs", &context)?.to_string())
    }

    /// What only one agent remembers.
    fn memory(&self, place: usize) -> Vec<Value> {
        let agent = self.log.agents.get(place);
        let memories = self.log.context.iter().filter(|item| item.kind == ContextKind::Memory);
        let own = memories.filter(|item| agent.is_some_and(|agent| item.is_for(agent)));
        own.map(|item| self.item(item)).collect()
    }

    /// The source of an item is as untrusted as its text, so only its kind stands outside the quotation.
    fn item(&self, item: &ContextItem) -> Value {
        let content = self.log.quoted.quote(&format!("context {}", item.id), &item.quoted_text());
        json!({"id": item.id, "kind": item.kind, "content": content})
    }

    fn positions(&self) -> Vec<LabelledQuote> {
        self.labelled(&self.log.proposers(), |said| said.position.clone())
    }

    fn proposals(&self) -> Vec<LabelledQuote> {
        self.labelled(&self.log.proposers(), ProposalReply::text)
    }

    /// Words of each agent. Nobody can look up an id that does not exist, so it is said below them.
    fn labelled(&self, places: &[usize], text: impl Fn(&ProposalReply) -> String) -> Vec<LabelledQuote> {
        let held =
            places.iter().filter_map(|place| Some((*place, text(&self.log.proposal(*place)?.said.now))));
        held.map(|(place, text)| {
            let quoted = self.log.quoted.quote(&self.log.name(place), &text);
            let note = self.log.unknown_ids(&text).map(|unknown| format!("\n(This text {unknown}.)"));
            let (label, content) = (self.log.label(place).to_owned(), quoted + &note.unwrap_or_default());
            LabelledQuote { label, content }
        })
        .collect()
    }

    fn final_proposals(&self, order: &[usize]) -> Vec<Value> {
        let texts = order.iter().zip(self.labelled(order, ProposalReply::text));
        let proposal = |(place, text): (&usize, LabelledQuote)| {
            let open = self.log.unresolved(*place).into_iter();
            let all = self.log.critiques.iter().filter(|critique| critique.to == *place);
            json!({
                "label": text.label,
                "content": text.content,
                "resolved": all.filter(|critique| critique.is_resolved()).count(),
                "critiques": open.map(|critique| self.shown_critique(critique, None)).collect::<Vec<_>>(),
            })
        };
        texts.map(proposal).collect()
    }

    /// A critique as an agent, or anybody else, reads it: with the last answer to it and the last verdict on it.
    fn shown_critique(&self, critique: &ArenaCritique, reader: Option<usize>) -> Value {
        let (author, target) = (critique.author_name(self.log), self.log.name(critique.to));
        let by = critique.from.agent();
        let is_reader = |who: Option<usize>| who.is_some() && who == reader;
        let quote = |who: Option<usize>, name: &str, text: &str| match is_reader(who) {
            true => self.log.quoted.own_words(text),
            false => self.log.quoted.quote(name, text),
        };
        let last = [critique.answer(), critique.verdict()];
        let steps = critique.steps.iter().filter(|step| last.contains(&Some(*step)));
        let steps = steps.map(|step| {
            let round = step.round;
            let judged =
                format!("read the version of round {round} and called this unresolved. What is left");
            let (who, name, did) = match step.status {
                None => (Some(critique.to), &target, format!("answered in round {round}")),
                Some(_) => (by, &author, judged),
            };
            let text = if step.text().is_empty() { "(no reason given)" } else { step.text() };
            let label = format!("{} {did}", if is_reader(who) { "You" } else { name });
            LabelledQuote { label, content: quote(who, name, text) }
        });
        let from = match critique.from {
            CritiqueSource::Peer(_) => {
                let (severity, version) = (critique.severity.unwrap_or_default(), critique.version(self.log));
                format!("{author}, severity {severity}, about the version of round {version}")
            }
            CritiqueSource::Voter(_, choice) if choice == by => {
                format!("{author}, who voted for its own proposal")
            }
            CritiqueSource::Voter(_, Some(choice)) => {
                format!("{author}, who voted for {}", self.log.name(choice))
            }
            CritiqueSource::Voter(_, None) => format!("{author}, who abstained"),
            CritiqueSource::Judge => author.clone(),
        };
        let since = self.log.stages.iter().enumerate().filter(|(_, stage)| stage.round > critique.round);
        let mut spoke = since.filter(|(at, _)| self.log.is_new(*at, critique.to));
        json!({
            "id": critique.id,
            "from": from,
            "label": self.log.label(critique.to),
            "content": quote(by, &author, &critique.text()),
            "steps": steps.collect::<Vec<_>>(),
            // Its author has spoken since and has not answered.
            "is_unanswered": critique.is_by_peer() && spoke.next().is_some() && critique.answer().is_none(),
        })
    }

    /// What the criteria weigh, in words.
    fn weights(&self) -> String {
        let weights = self.log.options.weights();
        if weights.windows(2).all(|pair| pair.first() == pair.last()) {
            return "all weigh the same".to_owned();
        }
        let named =
            CriteriaScores::NAMES.iter().zip(weights).map(|(name, weight)| format!("{name} {weight}"));
        format!("have these weights: {}", named.collect::<Vec<_>>().join(", "))
    }
}

fn template(phase: ArenaPhase) -> String {
    format!("arena/{}.hbs", phase.as_str())
}

impl ArenaCritique {
    /// Its author as prompts name it.
    fn author_name(&self, log: &ArenaLog<'_>) -> String {
        self.from.agent().map_or_else(|| "the judge".to_owned(), |place| log.name(place))
    }

    /// The critique as others read it.
    pub(super) fn text(&self) -> String {
        let issues = self.issues.iter().map(|issue| format!("- {issue}"));
        let suggestions = self.suggestions.iter().map(|suggestion| format!("- Suggestion: {suggestion}"));
        issues.chain(suggestions).collect::<Vec<_>>().join("\n")
    }
}

/// An ask that looks something up or computes it. No seat is behind it, but its answer is in the log like any other.
pub(super) fn errand(
    seat: &str,
    model: &str,
    query: &impl Serialize,
    schema: Arc<ReplySchema>,
) -> Result<Ask, Corrupt> {
    let seat = Seat { id: seat.to_owned(), role: "errand".to_owned(), model: model.to_owned() };
    let prompt = Prompt { system: "".into(), shared: "".into(), tail: serde_json::to_string(query)? };
    Ok(new_ask(&seat, prompt, Some(schema)))
}
