//! The first answers, which each seat gives alone, and whether the first two agree.

use std::sync::{Arc, OnceLock};

use agon_core::{
    Corrupt, Debate, PhaseTurn, PositionHistory, ReplySchema, RoundPositions, Seat, SeatPosition, Step,
};
use serde::Deserialize;

use super::{AskPhase, OWN_TEMPLATES};
use crate::clerk::{AnswerSheet, CLERK, ClerkSorting, SortedBy};
use crate::poll::AnswerPromptContext;
use crate::poll::replies::PollAnswer;
use crate::prompt::{self, PromptSet, new_ask};
use crate::sorting::Sorting;

/// How many seats answer in the first step.
const PAIR_SIZE: usize = 2;

/// A seat's first answer.
#[derive(Debug, Clone)]
pub(super) struct FirstAnswer<'a> {
    pub(super) seat: &'a str,
    pub(super) reply: PollAnswer,
}

/// Whether the two answers of the first step are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PairAgreement {
    /// These seats of the pair are absent, so there is nothing to compare.
    Missing(Vec<String>),
    /// Arithmetic cannot tell. The clerk has not been asked yet.
    Open,
    /// They are the same.
    Same(SortedBy),
    /// They are different: what each of them says.
    Different(SortedBy, [String; 2]),
    /// The clerk is absent, or what it declares does not verify.
    Unknown,
}

/// All first answers, in seat order.
#[derive(Debug)]
pub(super) struct FirstAnswers<'a> {
    debate: &'a Debate,
    pub(super) all: Vec<FirstAnswer<'a>>,
    pub(super) agreement: PairAgreement,
    /// The sorting of all of them, by place.
    sorting: Sorting,
}

impl<'a> FirstAnswers<'a> {
    pub(super) fn read(debate: &'a Debate) -> Result<Self, Corrupt> {
        let is_first = |turn: &&PhaseTurn| {
            matches!(AskPhase::parse(&turn.phase.name), Some(AskPhase::Answer | AskPhase::DeepAnswer))
        };
        let mut all: Vec<FirstAnswer<'a>> = Vec::new();
        for (ask, reply) in debate.turns.iter().filter(is_first).flat_map(PhaseTurn::settled) {
            let Some(value) = reply.value() else { continue };
            all.push(FirstAnswer { seat: &ask.seat, reply: PollAnswer::deserialize(value)? });
        }
        let clerk = debate.turn(AskPhase::Clerk.as_str(), 0);
        let mut declared =
            clerk.into_iter().flat_map(PhaseTurn::settled).filter_map(|(_, reply)| reply.value());
        let declared = declared.next().map(ClerkSorting::deserialize).transpose()?;
        let agreement = agreement(debate, &all, declared.as_ref());
        // The clerk sorts the first two. The moderator of the debate sorts the others with them.
        let declared = declared.filter(|_| all.len() <= PAIR_SIZE);
        let (sorting, _) = sheet(debate, &all).sorted(declared.as_ref());
        Ok(Self { debate, all, agreement, sorting })
    }

    /// The first two answers.
    pub(super) fn pair(&self) -> Vec<&FirstAnswer<'a>> {
        pair_answers(self.debate, &self.all)
    }

    /// The answers that the clerk sorts.
    pub(super) fn pair_sheet(&self) -> AnswerSheet<'_> {
        let answers = self.pair().into_iter().map(|first| first.reply.answer.as_str());
        AnswerSheet::new(&self.debate.brief, answers.collect())
    }

    /// Whether it is known of every two first answers if they are the same.
    pub(super) fn is_known(&self) -> bool {
        self.sorting.is_complete()
    }

    /// The name of the position of a seat's first answer: the words of the first who gave it.
    pub(super) fn position(&self, seat: &str) -> Option<String> {
        let place = self.all.iter().position(|first| first.seat == seat)?;
        let first = self.all.get(*self.sorting.group_of(place)?.members.first()?)?;
        Some(first.reply.answer.trim().to_owned())
    }

    /// The first round, if there was no debate.
    pub(super) fn history(&self) -> PositionHistory {
        let stand = |(place, first): (usize, &FirstAnswer<'_>)| SeatPosition {
            seat: first.seat.to_owned(),
            position: self.position(first.seat).unwrap_or_default(),
            is_unsorted: self.sorting.group_of(place).is_some_and(|group| group.is_unsorted),
            confidence: Some(first.reply.confidence),
            ..SeatPosition::default()
        };
        let stands: Vec<SeatPosition> = self.all.iter().enumerate().map(stand).collect();
        let round = RoundPositions { stands, ..RoundPositions::default() };
        PositionHistory {
            are_texts: !sheet(self.debate, &self.all).is_discrete(),
            rounds: if round.stands.is_empty() { Vec::new() } else { vec![round] },
            ..PositionHistory::default()
        }
    }
}

fn sheet<'f>(debate: &'f Debate, all: &'f [FirstAnswer<'_>]) -> AnswerSheet<'f> {
    AnswerSheet::new(&debate.brief, all.iter().map(|first| first.reply.answer.as_str()).collect())
}

/// The seats of the first step.
pub(super) fn pair_of(debate: &Debate) -> Vec<&str> {
    debate.brief.seats_of("debater").take(PAIR_SIZE).map(|seat| seat.id.as_str()).collect()
}

fn pair_answers<'f, 'a>(debate: &Debate, all: &'f [FirstAnswer<'a>]) -> Vec<&'f FirstAnswer<'a>> {
    let pair = pair_of(debate);
    all.iter().filter(|first| pair.contains(&first.seat)).collect()
}

fn agreement(debate: &Debate, all: &[FirstAnswer<'_>], declared: Option<&ClerkSorting>) -> PairAgreement {
    let answers = pair_answers(debate, all);
    let [one, other] = answers.as_slice() else {
        let has_answered = |seat: &str| answers.iter().any(|first| first.seat == seat);
        let absent = pair_of(debate).into_iter().filter(|seat| !has_answered(seat));
        return PairAgreement::Missing(absent.map(str::to_owned).collect());
    };
    let texts = [one, other].map(|first| first.reply.answer.as_str());
    let (sorting, by) = AnswerSheet::new(&debate.brief, texts.to_vec()).sorted(declared);
    let is_asked = debate.turn(AskPhase::Clerk.as_str(), 0).is_some();
    let statement = |place: usize| {
        let declared = sorting.group_of(place).and_then(|group| group.statement.clone());
        declared.unwrap_or_else(|| texts.get(place).copied().unwrap_or_default().trim().to_owned())
    };
    match by {
        SortedBy::Unknown if is_asked => PairAgreement::Unknown,
        SortedBy::Unknown => PairAgreement::Open,
        by if sorting.groups.len() == 1 => PairAgreement::Same(by),
        by => PairAgreement::Different(by, [statement(0), statement(1)]),
    }
}

/// The compiled templates and the schema, which are the same in every debate.
struct AskParts {
    prompts: PromptSet,
    answer: Arc<ReplySchema>,
}

fn parts() -> Result<&'static AskParts, Corrupt> {
    static PARTS: OnceLock<AskParts> = OnceLock::new();
    prompt::made_once(&PARTS, || {
        Ok(AskParts {
            prompts: PromptSet::new(OWN_TEMPLATES)?,
            answer: Arc::new(prompt::schema_of::<PollAnswer>("answer")),
        })
    })
}

/// Asks the two seats of the first step to answer, each alone.
pub(super) fn ask_pair(debate: &Debate) -> Result<Step, Corrupt> {
    let pair = pair_of(debate);
    ask_for_answers(debate, AskPhase::Answer, |seat| pair.contains(&seat.id.as_str()))
}

/// Asks the debaters who join in the second step to answer the same question in the same way, each alone.
pub(super) fn ask_joining(debate: &Debate) -> Result<Step, Corrupt> {
    let pair = pair_of(debate);
    ask_for_answers(debate, AskPhase::DeepAnswer, |seat| !pair.contains(&seat.id.as_str()))
}

fn ask_for_answers(
    debate: &Debate,
    phase: AskPhase,
    is_asked: impl Fn(&Seat) -> bool,
) -> Result<Step, Corrupt> {
    let (parts, context) = (parts()?, AnswerPromptContext::of(debate));
    let system = parts.prompts.shared("ask/system.hbs", &context)?;
    let prompt = parts.prompts.whole(&system, "ask/answer.hbs", &context)?;
    let seats = debate.brief.seats_of("debater").filter(|seat| is_asked(seat));
    let asks = seats.map(|seat| new_ask(seat, prompt.clone(), Some(parts.answer.clone())));
    Ok(Step::Ask(phase.at(0), asks.collect()))
}

/// Asks the clerk whether the two answers are the same.
pub(super) fn ask_clerk(debate: &Debate, firsts: &FirstAnswers<'_>) -> Result<Step, Corrupt> {
    let clerk = debate.brief.seats_of(CLERK).next();
    let asks = clerk.map(|seat| firsts.pair_sheet().ask_clerk(seat)).transpose()?;
    Ok(Step::Ask(AskPhase::Clerk.at(0), asks.into_iter().collect()))
}
