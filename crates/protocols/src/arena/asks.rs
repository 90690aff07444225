//! The asks of an arena: what each seat reads in each phase.
//!
//! The task and the context come first and are the same in every phase; then comes what the phase asks for; what only one seat
//! reads comes last. Agents are known by labels, and everybody's words are quoted.

use std::cell::OnceCell;
use std::sync::Arc;

use agon_core::{Ask, Corrupt, Fence, NameMask, Prompt, ReplySchema, Seat, Step};
use serde::Serialize;
use serde_json::json;

use super::context::{ContextItem, ContextKind};
use super::log::{ArenaCritique, ArenaLog, CritiqueSource, ProposalStage};
use super::replies::{self, RevisionReply};
use super::trickster::{SignalKind, TricksterFinding, WeaknessSignal};
use super::{ArenaPhase, JUDGING, REFINEMENT, prompts};
use crate::prompt::{PromptSet, new_ask};

/// The embeddings that compare proposals unless others are named. They know words, not meanings.
pub(super) const LEXICAL_EMBEDDINGS: &str = "embeddings/lexical";

/// Makes the asks of one debate.
pub(super) struct ArenaAsks<'a> {
    log: &'a ArenaLog<'a>,
    prompts: &'static PromptSet,
    fence: Fence,
    /// Made when another agent's words are first quoted.
    mask: OnceCell<NameMask>,
    system: Arc<str>,
}

/// What the shared part of a phase's template may use. Every template uses some of it.
#[derive(Serialize, Default)]
struct SharedContext {
    material: String,
    schema: String,
    round: u32,
    extended: bool,
    positions: String,
    form: String,
    whose: String,
    signals: Vec<SignalContext>,
    proposals: Vec<LabelledText>,
}

/// What the private part of a phase's template may use.
#[derive(Serialize, Default)]
struct PrivateContext {
    label: String,
    memory: String,
    own: String,
    target: String,
    content: String,
    proposed: bool,
    proposals: Vec<LabelledText>,
}

#[derive(Serialize)]
struct LabelledText {
    label: String,
    content: String,
}

/// A signal of the trickster with the words that it rests on.
#[derive(Serialize)]
struct SignalContext {
    about: &'static str,
    quotes: Vec<LabelledText>,
}

/// The asks of one phase to agents: what they have in common.
struct PhaseAsks<'a> {
    asks: &'a ArenaAsks<'a>,
    phase: ArenaPhase,
    shared: Arc<str>,
    schema: Arc<ReplySchema>,
    at_once: Option<u32>,
}

impl PhaseAsks<'_> {
    /// The ask to one agent.
    fn ask(&self, place: usize, private: &PrivateContext) -> Result<Option<Ask>, Corrupt> {
        let log = self.asks.log;
        let Some(agent) = log.agents.get(place) else { return Ok(None) };
        let tail = self.asks.prompts.tail(&template(self.phase), private)?;
        let prompt = Prompt { system: self.asks.system.clone(), shared: self.shared.clone(), tail };
        let ask = new_ask(agent.seat, prompt, Some(self.schema.clone()));
        Ok(Some(Ask { label: Some(log.name(place)), at_once: self.at_once, ..ask }))
    }
}

fn template(phase: ArenaPhase) -> String {
    format!("arena/{}.hbs", phase.as_str())
}

impl<'a> ArenaAsks<'a> {
    pub(super) fn new(log: &'a ArenaLog<'a>) -> Result<Self, Corrupt> {
        let (prompts, fence) = (prompts()?, Fence::new(&log.debate.brief));
        let system = prompts.shared("arena/system.hbs", &json!({"rule": fence.rule()}))?;
        Ok(Self { log, prompts, fence, mask: OnceCell::new(), system })
    }

    /// Round 1: every agent proposes on its own.
    pub(super) fn propose(&self) -> Result<Step, Corrupt> {
        let schema = replies::proposal_schema();
        let at_once = self.log.options.max_concurrent_proposals;
        let phase = self.phase(ArenaPhase::Propose, schema, at_once, SharedContext::default())?;
        let mut asks = Vec::new();
        for place in self.log.in_seat_order() {
            let private = PrivateContext { memory: self.memory(place)?, ..PrivateContext::default() };
            asks.extend(phase.ask(place, &private)?);
        }
        Ok(Step::Ask(ArenaPhase::Propose.at(1), asks))
    }

    /// Round 2: every agent critiques each other agent's proposal, with one ask for each.
    pub(super) fn critique(&self) -> Result<Step, Corrupt> {
        let schema = replies::critique_schema();
        let at_once = self.log.options.max_concurrent_critiques;
        let phase = self.phase(ArenaPhase::Critique, schema, at_once, SharedContext::default())?;
        let mut asks = Vec::new();
        for place in self.log.in_seat_order() {
            for target in self.log.proposers().into_iter().filter(|target| *target != place) {
                let Some(LabelledText { label, content }) = self.labelled_proposal(target) else { continue };
                let private = PrivateContext {
                    label: self.log.label(place).to_owned(),
                    target: label.clone(),
                    content,
                    ..PrivateContext::default()
                };
                let ask = phase.ask(place, &private)?;
                asks.extend(ask.map(|ask| Ask { about: Some(label), ..ask }));
            }
        }
        Ok(Step::Ask(ArenaPhase::Critique.at(2), asks))
    }

    /// Rounds 3 to 5 and extended rounds: every agent with a proposal revises it. In an extended round, only the reasons of the
    /// last vote and judge are critiques.
    pub(super) fn revise(&self, round: u32) -> Result<Step, Corrupt> {
        let extended = round > JUDGING;
        let last_vote = self.log.votes.last().map_or(0, |vote| vote.round);
        let is_due = |critique: &ArenaCritique| {
            !extended || (critique.round > REFINEMENT && critique.round >= last_vote)
        };
        let shared = SharedContext { round, extended, ..SharedContext::default() };
        self.change(ArenaPhase::Revise, &self.log.proposers(), is_due, shared)
    }

    /// Round 6: every agent refines its proposal with all critiques of it.
    pub(super) fn refine(&self) -> Result<Step, Corrupt> {
        let shared = SharedContext { round: REFINEMENT, ..SharedContext::default() };
        self.change(ArenaPhase::Refine, &self.log.proposers(), |_| true, shared)
    }

    /// The trickster's challenge to the agents whose agreement may be hollow.
    pub(super) fn challenge(
        &self,
        round: u32,
        agents: &[usize],
        finding: &TricksterFinding,
    ) -> Result<Step, Corrupt> {
        let fired = finding.signals.iter().filter(|signal| signal.fired);
        let signals = fired.map(|signal| self.signal(signal)).collect();
        let all = agents.len() == self.log.proposers().len();
        let whose = if all { String::new() } else { format!(" of {}", self.log.names(agents)) };
        let shared = SharedContext { round, signals, whose, ..SharedContext::default() };
        self.change(ArenaPhase::Challenge, agents, |_| true, shared)
    }

    fn change(
        &self,
        phase: ArenaPhase,
        agents: &[usize],
        is_due: impl Fn(&ArenaCritique) -> bool,
        shared: SharedContext,
    ) -> Result<Step, Corrupt> {
        let round = shared.round;
        let due: Vec<&ArenaCritique> =
            self.log.critiques.iter().filter(|critique| is_due(critique)).collect();
        let ids: Vec<&str> = due.iter().map(|critique| critique.id.as_str()).collect();
        let schema = replies::revision_schema(self.log, &ids);
        let shared = SharedContext { positions: self.positions()?, form: self.form(&schema)?, ..shared };
        let limit = self.log.options.max_concurrent_revisions;
        let at_once = if phase == ArenaPhase::Refine { None } else { limit };
        let changed = self.phase(phase, schema, at_once, shared)?;
        let mut asks = Vec::new();
        for place in self.log.in_seat_order().into_iter().filter(|place| agents.contains(place)) {
            let critiques: Vec<&ArenaCritique> =
                due.iter().copied().filter(|critique| critique.to == place).collect();
            let private =
                PrivateContext { own: self.own_proposal(place, &critiques)?, ..PrivateContext::default() };
            asks.extend(changed.ask(place, &private)?);
        }
        Ok(Step::Ask(phase.at(round), asks))
    }

    /// Every agent votes on the final proposals, in one order for all.
    pub(super) fn vote(&self, round: u32) -> Result<Step, Corrupt> {
        let schema = replies::vote_schema(self.log);
        let proposals = self.proposals(&self.log.voting_order(round));
        let shared = SharedContext { round, proposals, ..SharedContext::default() };
        let phase = self.phase(ArenaPhase::Vote, schema, None, shared)?;
        let mut asks = Vec::new();
        for place in self.log.in_seat_order() {
            let private = PrivateContext {
                label: self.log.label(place).to_owned(),
                proposed: self.log.proposal(place).is_some(),
                ..PrivateContext::default()
            };
            asks.extend(phase.ask(place, &private)?);
        }
        Ok(Step::Ask(ArenaPhase::Vote.at(round), asks))
    }

    /// The judge scores and ranks the proposals, once for each order.
    pub(super) fn judge(&self, round: u32) -> Result<Step, Corrupt> {
        let schema = replies::judgement_schema(self.log);
        let shared = SharedContext { round, ..SharedContext::default() };
        let phase = self.phase(ArenaPhase::Judge, schema, None, shared)?;
        let orders = self.log.judging_orders(round);
        let mut asks = Vec::new();
        for seat in self.log.debate.brief.seats_of("judge") {
            for (order, n) in orders.iter().zip(1..) {
                let private =
                    PrivateContext { proposals: self.proposals(order), ..PrivateContext::default() };
                let tail = self.prompts.tail(&template(ArenaPhase::Judge), &private)?;
                let prompt = Prompt { system: self.system.clone(), shared: phase.shared.clone(), tail };
                let about = (orders.len() > 1).then(|| format!("order {n}"));
                asks.push(Ask { about, ..new_ask(seat, prompt, Some(phase.schema.clone())) });
            }
        }
        Ok(Step::Ask(ArenaPhase::Judge.at(round), asks))
    }

    fn phase(
        &'a self,
        phase: ArenaPhase,
        schema: Arc<ReplySchema>,
        at_once: Option<u32>,
        shared: SharedContext,
    ) -> Result<PhaseAsks<'a>, Corrupt> {
        let context = SharedContext { material: self.material()?, schema: schema.json.to_string(), ..shared };
        let shared = self.prompts.shared(&template(phase), &context)?;
        Ok(PhaseAsks { asks: self, phase, shared, schema, at_once })
    }

    /// The task, its context, and what people said to the whole table.
    fn material(&self) -> Result<String, Corrupt> {
        #[derive(Serialize)]
        struct MaterialContext {
            task: String,
            context: Vec<ItemContext>,
            interjections: Vec<String>,
        }
        let items = self.log.context.iter().filter(|item| item.kind != ContextKind::Memory);
        let interjections = self.log.debate.interjections.iter();
        let context = MaterialContext {
            task: self.fence.quote("the task", &self.log.debate.brief.question),
            context: items.map(|item| self.item(item)).collect(),
            interjections: interjections
                .map(|said| self.fence.quote("the person who asked", &said.text))
                .collect(),
        };
        self.part("arena/material.hbs", &context)
    }

    /// What only one agent remembers.
    fn memory(&self, place: usize) -> Result<String, Corrupt> {
        let Some(agent) = self.log.agents.get(place) else { return Ok(String::new()) };
        let memories = self.log.context.iter().filter(|item| item.kind == ContextKind::Memory);
        let own = memories.filter(|item| item.is_for(agent));
        self.part("arena/memory.hbs", &json!({"memory": own.map(|item| self.item(item)).collect::<Vec<_>>()}))
    }

    /// The source of an item is as untrusted as its text, so only its kind stands outside the quotation.
    fn item(&self, item: &ContextItem) -> ItemContext {
        let content = self.quote(&format!("context {}", item.id), &item.quoted_text());
        ItemContext { id: item.id.clone(), kind: item.kind.as_str(), content }
    }

    fn positions(&self) -> Result<String, Corrupt> {
        let held = self.log.held().iter().enumerate();
        let positions = held.filter_map(|(place, held)| {
            let content = self.quote(&self.log.name(place), held.as_ref()?.said.sentence());
            Some(LabelledText { label: self.log.label(place).to_owned(), content })
        });
        self.part("arena/positions.hbs", &json!({"positions": positions.collect::<Vec<_>>()}))
    }

    fn form(&self, schema: &ReplySchema) -> Result<String, Corrupt> {
        self.part("arena/form.hbs", &json!({"schema": schema.json.to_string()}))
    }

    /// An agent's own proposal and the critiques of it.
    fn own_proposal(&self, place: usize, critiques: &[&ArenaCritique]) -> Result<String, Corrupt> {
        #[derive(Serialize)]
        struct OwnContext {
            label: String,
            others: String,
            own: String,
            critiques: Vec<CritiqueContext>,
            memory: String,
        }
        let others: Vec<usize> = self.log.proposers().into_iter().filter(|other| *other != place).collect();
        let others: Vec<String> =
            others.iter().map(|other| format!("\"{}\"", self.log.name(*other))).collect();
        let held = self.log.proposal(place);
        let context = OwnContext {
            label: self.log.label(place).to_owned(),
            others: others.join(", "),
            own: held
                .map_or(String::new(), |held| self.fence.quote("your words", &proposal_text(&held.said))),
            critiques: critiques.iter().map(|critique| self.critique_context(critique)).collect(),
            memory: self.memory(place)?,
        };
        self.part("arena/own.hbs", &context)
    }

    fn critique_context(&self, critique: &ArenaCritique) -> CritiqueContext {
        let (author, from) = match critique.from {
            CritiqueSource::Peer(place) => {
                let name = self.log.name(place);
                let severity = critique.severity.unwrap_or_default();
                (name.clone(), format!("{name}, severity {severity}"))
            }
            CritiqueSource::Voter(place, choice) => {
                let name = self.log.name(place);
                let voted = match choice {
                    Some(choice) => format!("who voted for {}", self.log.name(choice)),
                    None => "who abstained".to_owned(),
                };
                (name.clone(), format!("{name}, {voted}"))
            }
            CritiqueSource::Judge => ("the judge".to_owned(), "the judge".to_owned()),
        };
        let mut lines: Vec<String> = critique.issues.iter().map(|issue| format!("- {issue}")).collect();
        let suggestions = critique.suggestions.iter();
        lines.extend(suggestions.map(|suggestion| format!("- Suggestion: {suggestion}")));
        if lines.is_empty() {
            lines.push("Nothing is wrong with it.".to_owned());
        }
        CritiqueContext { id: critique.id.clone(), from, content: self.quote(&author, &lines.join("\n")) }
    }

    fn proposals(&self, order: &[usize]) -> Vec<LabelledText> {
        order.iter().filter_map(|place| self.labelled_proposal(*place)).collect()
    }

    fn labelled_proposal(&self, place: usize) -> Option<LabelledText> {
        let content = self.quote(&self.log.name(place), &proposal_text(&self.log.proposal(place)?.said));
        Some(LabelledText { label: self.log.label(place).to_owned(), content })
    }

    fn signal(&self, signal: &WeaknessSignal) -> SignalContext {
        let quotes = signal.quotes.iter().map(|quote| LabelledText {
            label: quote.label.clone(),
            content: self.quote(&format!("Agent {}", quote.label), &quote.quote),
        });
        let about = match signal.signal {
            SignalKind::Uncited => "Claims without evidence",
            SignalKind::Unspecific => "Evidence that nobody could check",
            SignalKind::NearCopies => "Proposals that are near copies of each other",
            SignalKind::NoReasons => "Proposals without a reason",
        };
        SignalContext { about, quotes: quotes.collect() }
    }

    /// Quotes another agent's words, with names of models masked.
    fn quote(&self, author: &str, text: &str) -> String {
        let mask = self.mask.get_or_init(|| NameMask::new(&self.log.debate.brief));
        self.fence.quote(author, &mask.apply(text))
    }

    fn part(&self, file: &str, context: &impl Serialize) -> Result<String, Corrupt> {
        Ok(self.prompts.shared(file, context)?.to_string())
    }
}

#[derive(Serialize)]
struct ItemContext {
    id: String,
    kind: &'static str,
    content: String,
}

#[derive(Serialize)]
struct CritiqueContext {
    id: String,
    from: String,
    content: String,
}

/// A proposal as others read it in full.
fn proposal_text(said: &RevisionReply) -> String {
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

/// Compares the proposals with each other, and each with what it was before.
pub(super) fn compare(log: &ArenaLog<'_>, round: u32) -> Result<Step, Corrupt> {
    let texts = |stage: Option<&ProposalStage>| -> Vec<String> {
        stage.into_iter().flat_map(|stage| &stage.held).flatten().map(|held| held.said.text()).collect()
    };
    let before = log.stages.len().checked_sub(2).and_then(|place| log.stages.get(place));
    let compared = [texts(log.stages.last()), texts(before)].concat();
    let named = log.options.embeddings.trim();
    let model = if named.is_empty() { LEXICAL_EMBEDDINGS } else { named };
    let ask = errand("similarity", model, &compared, replies::similarity_schema(compared.len()))?;
    Ok(Step::Ask(ArenaPhase::Compare.at(round), vec![ask]))
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
