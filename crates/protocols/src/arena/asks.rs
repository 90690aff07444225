//! The asks of an arena: what each seat reads in each phase.
//!
//! The task and the context come first and are the same in every phase; then comes what the phase asks for; what only one seat
//! reads comes last. Agents are known by labels, and everybody's words but the person's are quoted.

use std::sync::Arc;

use agon_core::wording::joined;
use agon_core::{Ask, Corrupt, Prompt, ReplySchema, Seat, Step};
use serde::Serialize;

use super::context::{ContextItem, ContextKind};
use super::log::{ArenaCritique, ArenaLog, CritiqueSource};
use super::replies::{self, CriteriaScores};
use super::trickster::TricksterFinding;
use super::{ArenaPhase, DecidedBy, JUDGING, LAST_REVISION, REFINEMENT, prompts};
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
struct SystemContext {
    rule: String,
    is_agent: bool,
}

#[derive(Serialize)]
struct MaterialContext {
    task: String,
    context: Vec<ItemContext>,
    interjections: Vec<String>,
}

/// What the shared part of most templates needs.
#[derive(Serialize)]
struct PhaseContext {
    material: String,
    round: u32,
    has_context: bool,
    /// What the judge's criteria weigh, if not the same.
    weights: String,
    /// The agents whose proposals are the same, so that votes for them count together; empty if there are none.
    same: String,
    /// Whether the judge decides. Then its first place stands, whatever the votes.
    is_judge_deciding: bool,
}

#[derive(Serialize)]
struct ProposeTail {
    memory: Vec<ItemContext>,
}

#[derive(Serialize)]
struct CritiqueTail {
    label: String,
    target: String,
    content: String,
}

#[derive(Serialize, Default)]
struct RevisionContext {
    material: String,
    round: u32,
    title: &'static str,
    is_extended: bool,
    /// Whether the vote follows in any case.
    is_last: bool,
    /// Whether the vote follows at once if the proposals converge.
    is_converging: bool,
    has_context: bool,
    /// Whether an agent has answered one of its critiques before.
    has_answered: bool,
    steps: RevisionSteps,
    /// Before the first revision, the positions; afterwards the proposals.
    positions: Vec<LabelledQuote>,
    proposals: Vec<LabelledQuote>,
    whose: String,
    signals: Vec<SignalContext>,
}

/// The numbers of the steps that not every revision has, and of the one after them.
#[derive(Serialize, Default)]
struct RevisionSteps {
    addressed: Option<usize>,
    verdicts: Option<usize>,
    critiques: Option<usize>,
    conflicts_with: usize,
}

impl RevisionSteps {
    /// The steps after the first four.
    fn new(has_answers: bool, has_verdicts: bool, has_critiques: bool) -> Self {
        let mut last = 4;
        let mut next = |is_there: bool| {
            last += usize::from(is_there);
            is_there.then_some(last)
        };
        let (addressed, verdicts, critiques) = (next(has_answers), next(has_verdicts), next(has_critiques));
        Self { addressed, verdicts, critiques, conflicts_with: last + 1 }
    }
}

#[derive(Serialize)]
struct RevisionTail {
    label: String,
    /// The agent's own proposal, unless it stands among the proposals as the agent wrote it.
    own: String,
    /// Whether it stands there with masked words.
    is_masked: bool,
    critiques: Vec<CritiqueContext>,
    verdicts: Vec<CritiqueContext>,
    memory: Vec<ItemContext>,
}

#[derive(Serialize)]
struct CompareContext {
    task: String,
    proposals: Vec<LabelledQuote>,
}

/// What voters and judge read.
#[derive(Serialize)]
struct DecisionTail {
    label: String,
    proposed: bool,
    proposals: Vec<FinalProposal>,
}

#[derive(Serialize)]
struct FinalProposal {
    label: String,
    content: String,
    /// How many critiques of it the critics have called resolved.
    resolved: usize,
    critiques: Vec<CritiqueContext>,
}

#[derive(Serialize)]
struct ItemContext {
    id: String,
    kind: &'static str,
    content: String,
}

#[derive(Serialize)]
struct LabelledQuote {
    label: String,
    content: String,
}

/// A signal of the trickster with the words that it rests on.
#[derive(Serialize)]
struct SignalContext {
    about: &'static str,
    quotes: Vec<LabelledQuote>,
}

#[derive(Serialize)]
struct CritiqueContext {
    id: String,
    from: String,
    /// Whose proposal it is about.
    label: String,
    content: String,
    /// The last answer to it and the last verdict on it, in the order of the versions that they are about.
    steps: Vec<CritiqueStep>,
}

#[derive(Serialize)]
struct CritiqueStep {
    head: String,
    content: String,
}

impl<'a> ArenaAsks<'a> {
    pub(super) fn new(log: &'a ArenaLog<'a>) -> Result<Self, Corrupt> {
        let prompts = prompts()?;
        let system = |is_agent| {
            prompts.shared("arena/system.hbs", &SystemContext { rule: log.quoted.rule(), is_agent })
        };
        Ok(Self { log, prompts, system: system(true)?, impartial_system: system(false)? })
    }

    /// Round 1: every agent proposes on its own.
    pub(super) fn propose(&self) -> Result<Step, Corrupt> {
        let (phase, schema) = (ArenaPhase::Propose, replies::proposal_schema());
        let shared = self.shared(phase, 1)?;
        let mut asks = Vec::new();
        for place in self.log.in_seat_order() {
            let tail = ProposeTail { memory: self.memory(place) };
            let ask = self.agent_ask(phase, place, &shared, &tail, schema.clone())?;
            asks.extend(ask.map(|ask| Ask { at_once: self.log.options.max_concurrent_proposals, ..ask }));
        }
        Ok(Step::Ask(phase.at(1), asks))
    }

    /// Round 2: every agent critiques each other agent's proposal, with one ask for each.
    pub(super) fn critique(&self) -> Result<Step, Corrupt> {
        let (phase, schema) = (ArenaPhase::Critique, replies::critique_schema());
        let shared = self.shared(phase, 2)?;
        let at_once = self.log.options.max_concurrent_critiques;
        let mut asks = Vec::new();
        for place in self.log.in_seat_order() {
            for LabelledQuote { label, content } in self.proposals() {
                if self.log.label(place) == label {
                    continue;
                }
                let tail =
                    CritiqueTail { label: self.log.label(place).to_owned(), target: label.clone(), content };
                let ask = self.agent_ask(phase, place, &shared, &tail, schema.clone())?;
                asks.extend(ask.map(|ask| Ask { about: Some(label), at_once, ..ask }));
            }
        }
        Ok(Step::Ask(phase.at(2), asks))
    }

    /// Rounds 3 to 5 and extended rounds: every agent with a proposal revises it.
    pub(super) fn revise(&self, round: u32) -> Result<Step, Corrupt> {
        let shared = RevisionContext {
            round,
            title: "Revision",
            is_extended: round > JUDGING,
            is_last: round > JUDGING,
            ..RevisionContext::default()
        };
        self.change(ArenaPhase::Revise, &self.log.proposers(), shared)
    }

    /// Round 6: every agent refines its proposal with all critiques of it.
    pub(super) fn refine(&self) -> Result<Step, Corrupt> {
        let shared = RevisionContext {
            round: REFINEMENT,
            title: "Final Refinement",
            is_last: true,
            ..RevisionContext::default()
        };
        self.change(ArenaPhase::Refine, &self.log.proposers(), shared)
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
            SignalContext { about: signal.signal.about(), quotes: quotes.collect() }
        });
        let all = agents.len() == self.log.proposers().len();
        let whose = if all { String::new() } else { format!(" of {}", self.log.names(agents)) };
        let is_extended = round > JUDGING;
        let shared = RevisionContext {
            round,
            is_extended,
            signals: signals.collect(),
            whose,
            ..RevisionContext::default()
        };
        self.change(ArenaPhase::Challenge, agents, shared)
    }

    fn change(&self, phase: ArenaPhase, agents: &[usize], shared: RevisionContext) -> Result<Step, Corrupt> {
        let (log, round, is_extended) = (self.log, shared.round, shared.is_extended);
        let is_first = log.stages.len() < 2;
        let in_order = log.in_seat_order().into_iter().filter(|place| agents.contains(place));
        let due: Vec<(usize, Vec<&ArenaCritique>, Vec<&ArenaCritique>)> = in_order
            .map(|place| (place, log.due_answers(place, is_extended), log.due_verdicts(place)))
            .collect();
        let has_answers = due.iter().any(|(_, answered, _)| !answered.is_empty());
        let has_verdicts = due.iter().any(|(.., judged)| !judged.is_empty());
        let context = RevisionContext {
            material: self.material()?,
            is_converging: round <= LAST_REVISION,
            has_context: self.has_context(),
            has_answered: due
                .iter()
                .flat_map(|(_, answered, _)| answered)
                .any(|critique| critique.answer(log).is_some()),
            steps: RevisionSteps::new(has_answers, has_verdicts, log.takes_critiques(round)),
            positions: if is_first { self.positions() } else { Vec::new() },
            proposals: if is_first { Vec::new() } else { self.proposals() },
            ..shared
        };
        let shared = self.prompts.shared("arena/revise.hbs", &context)?;
        let at_once = log.options.max_concurrent_revisions.filter(|_| phase != ArenaPhase::Refine);
        let mut asks = Vec::new();
        for (place, answered, judged) in due {
            let tail = self.revision_tail(place, is_first, &answered, &judged);
            let ids = |critiques: &[&'a ArenaCritique]| -> Vec<&'a str> {
                critiques.iter().map(|critique| critique.id.as_str()).collect()
            };
            let schema = replies::revision_schema(log, place, round, &ids(&answered), &ids(&judged));
            let ask = self.agent_ask(ArenaPhase::Revise, place, &shared, &tail, schema)?;
            asks.extend(ask.map(|ask| Ask { at_once, ..ask }));
        }
        Ok(Step::Ask(phase.at(round), asks))
    }

    /// What only one agent reads when it revises. Everybody reads the proposals with names masked; an agent that should repeat its own
    /// must have it as it wrote it.
    fn revision_tail(
        &self,
        place: usize,
        is_first: bool,
        answered: &[&ArenaCritique],
        judged: &[&ArenaCritique],
    ) -> RevisionTail {
        let own = self.log.proposal(place).map_or_else(String::new, |held| held.said.text());
        let is_masked =
            !is_first && self.log.quoted.own_words(&own) != self.log.quoted.quote("your words", &own);
        let shown = |critiques: &[&ArenaCritique]| -> Vec<CritiqueContext> {
            critiques.iter().map(|critique| self.shown_critique(critique, Some(place))).collect()
        };
        RevisionTail {
            label: self.log.label(place).to_owned(),
            own: if is_first || is_masked { self.log.quoted.own_words(&own) } else { String::new() },
            is_masked,
            critiques: shown(answered),
            verdicts: shown(judged),
            memory: self.memory(place),
        }
    }

    /// The clerk relates the proposals to each other. Embeddings compare them too, if there are any.
    pub(super) fn compare(&self, round: u32) -> Result<Step, Corrupt> {
        let task = self.log.quoted.person(&self.log.debate.brief.question);
        let context = CompareContext { task, proposals: self.proposals() };
        let prompt = self.prompts.whole(&self.impartial_system, "arena/compare.hbs", &context)?;
        let schema = replies::sorting_schema(self.log);
        let seats = self.log.debate.brief.seats_of(CLERK);
        let mut asks: Vec<Ask> =
            seats.map(|seat| new_ask(seat, prompt.clone(), Some(schema.clone()))).collect();
        let embeddings = self.log.options.embeddings.trim();
        if !embeddings.is_empty() && embeddings != LEXICAL_EMBEDDINGS {
            let stages = self.log.stages.iter().rev().take(2);
            let texts: Vec<String> =
                stages.flat_map(|stage| stage.held.iter().flatten()).map(|held| held.said.text()).collect();
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
            let tail = DecisionTail {
                label: self.log.label(place).to_owned(),
                proposed: self.log.proposal(place).is_some(),
                proposals: self.final_proposals(&self.log.voting_order(round, place)),
            };
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
                let proposals = self.final_proposals(order);
                let tail = DecisionTail { label: String::new(), proposed: false, proposals };
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
        let context = PhaseContext {
            material: self.material()?,
            round,
            has_context: self.has_context(),
            weights: self.weights(),
            same: same
                .map(|group| joined(&group.iter().map(|place| self.log.name(*place)).collect::<Vec<_>>()))
                .collect::<Vec<_>>()
                .join("; "),
            is_judge_deciding: self.log.options.decide == DecidedBy::Judge,
        };
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
        let items = self.log.context.iter().filter(|item| item.kind != ContextKind::Memory);
        let interjections = self.log.debate.interjections.iter();
        let context = MaterialContext {
            task: self.log.quoted.person(&self.log.debate.brief.question),
            context: items.map(|item| self.item(item)).collect(),
            interjections: interjections.map(|said| self.log.quoted.person(&said.text)).collect(),
        };
        Ok(self.prompts.shared("arena/material.hbs", &context)?.to_string())
    }

    /// What only one agent remembers.
    fn memory(&self, place: usize) -> Vec<ItemContext> {
        let agent = self.log.agents.get(place);
        let memories = self.log.context.iter().filter(|item| item.kind == ContextKind::Memory);
        let own = memories.filter(|item| agent.is_some_and(|agent| item.is_for(agent)));
        own.map(|item| self.item(item)).collect()
    }

    /// The source of an item is as untrusted as its text, so only its kind stands outside the quotation.
    fn item(&self, item: &ContextItem) -> ItemContext {
        let content = self.log.quoted.quote(&format!("context {}", item.id), &item.quoted_text());
        ItemContext { id: item.id.clone(), kind: item.kind.as_str(), content }
    }

    fn positions(&self) -> Vec<LabelledQuote> {
        let held = self.log.proposers().into_iter();
        held.filter_map(|place| self.labelled(place, self.log.proposal(place)?.said.position.trim()))
            .collect()
    }

    fn proposals(&self) -> Vec<LabelledQuote> {
        let held = self.log.proposers().into_iter();
        held.filter_map(|place| self.labelled(place, &self.log.proposal(place)?.said.text())).collect()
    }

    fn labelled(&self, place: usize, text: &str) -> Option<LabelledQuote> {
        let content = self.log.quoted.quote(&self.log.name(place), text);
        Some(LabelledQuote { label: self.log.label(place).to_owned(), content })
    }

    fn final_proposals(&self, order: &[usize]) -> Vec<FinalProposal> {
        let proposal = |place: &usize| {
            let text = self.log.proposal(*place)?.said.text();
            let LabelledQuote { label, content } = self.labelled(*place, &text)?;
            let open = self.log.unresolved(*place);
            let critiques = open.iter().map(|critique| self.shown_critique(critique, None)).collect();
            let all = self.log.critiques.iter().filter(|critique| critique.to == *place);
            let resolved = all.filter(|critique| critique.is_resolved()).count();
            Some(FinalProposal { label, content, resolved, critiques })
        };
        order.iter().filter_map(proposal).collect()
    }

    /// A critique as an agent, or anybody else, reads it.
    fn shown_critique(&self, critique: &ArenaCritique, reader: Option<usize>) -> CritiqueContext {
        let (author, target) = (critique.author_name(self.log), self.log.name(critique.to));
        let by = match critique.from {
            CritiqueSource::Peer(place) | CritiqueSource::Voter(place, _) => Some(place),
            CritiqueSource::Judge => None,
        };
        let is_reader = |who: Option<usize>| who.is_some() && who == reader;
        let quote = |who: Option<usize>, name: &str, text: &str| match is_reader(who) {
            true => self.log.quoted.own_words(text),
            false => self.log.quoted.quote(name, text),
        };
        let step = |who: Option<usize>, name: &str, did: String, text: &str| CritiqueStep {
            head: format!("{} {did}", if is_reader(who) { "You" } else { name }),
            content: quote(who, name, text),
        };
        let answer = critique.answer(self.log).map(|(round, how)| {
            let did = format!("answered in round {round}");
            ((round, 0), step(Some(critique.to), &target, did, how))
        });
        let verdict = critique.verdict.as_ref().zip(critique.judged_round(self.log));
        let verdict = verdict.map(|(verdict, round)| {
            let why = if verdict.why.trim().is_empty() { "(no reason given)" } else { verdict.why.trim() };
            let did = format!("called it unresolved in the proposal of round {round}; what is left");
            ((round, 1), step(by, &author, did, why))
        });
        let mut steps: Vec<_> = answer.into_iter().chain(verdict).collect();
        steps.sort_by_key(|(order, _)| *order);
        let from = match critique.from {
            CritiqueSource::Peer(_) => {
                format!("{author}, severity {}", critique.severity.unwrap_or_default())
            }
            CritiqueSource::Voter(_, Some(choice)) => {
                format!("{author}, who voted for {}", self.log.name(choice))
            }
            CritiqueSource::Voter(_, None) => format!("{author}, who abstained"),
            CritiqueSource::Judge => author.clone(),
        };
        CritiqueContext {
            id: critique.id.clone(),
            from,
            label: self.log.label(critique.to).to_owned(),
            content: quote(by, &author, &critique.text()),
            steps: steps.into_iter().map(|(_, step)| step).collect(),
        }
    }

    /// What the criteria weigh, in words; nothing if they weigh the same.
    fn weights(&self) -> String {
        let weights = self.log.options.weights();
        if weights.windows(2).all(|pair| pair.first() == pair.last()) {
            return String::new();
        }
        let named =
            CriteriaScores::NAMES.iter().zip(weights).map(|(name, weight)| format!("{name} {weight}"));
        format!(" with these weights: {}", named.collect::<Vec<_>>().join(", "))
    }
}

fn template(phase: ArenaPhase) -> String {
    format!("arena/{}.hbs", phase.as_str())
}

impl ArenaCritique {
    /// Its author as prompts name it.
    fn author_name(&self, log: &ArenaLog<'_>) -> String {
        match self.from {
            CritiqueSource::Peer(place) | CritiqueSource::Voter(place, _) => log.name(place),
            CritiqueSource::Judge => "the judge".to_owned(),
        }
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
