//! The first answers, which each seat gives alone, and whether the first two agree.

use std::sync::OnceLock;

use agon_core::{Corrupt, Debate, PositionHistory, Step};

use super::{ANSWER, AskPhase, SYSTEM};
use crate::clerk::{AnswerSheet, CLERK, ClerkSorting, SortedBy};
use crate::poll::answers::{AnswerAsks, SeatAnswer, answer_history, seat_answers};
use crate::prompt::made_once;
use crate::sorting::Sorting;

/// How many seats answer in the first step.
const PAIR_SIZE: usize = 2;

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
    pub(super) all: Vec<SeatAnswer<'a>>,
    /// How many of the first two seats answered.
    pair_count: usize,
    pub(super) agreement: PairAgreement,
    /// The sorting of all of them, by place.
    sorting: Sorting,
}

impl<'a> FirstAnswers<'a> {
    pub(super) fn read(debate: &'a Debate) -> Result<Self, Corrupt> {
        let mut all = seat_answers(debate, AskPhase::Answer.as_str())?;
        let declared = ClerkSorting::read(debate, AskPhase::Clerk.as_str())?;
        let agreement = agreement(debate, &all, declared.as_ref());
        let pair_count = all.len();
        all.extend(seat_answers(debate, AskPhase::DeepAnswer.as_str())?);
        // The clerk sorts the first two. The moderator of the debate sorts the others with them.
        let declared = declared.filter(|_| all.len() <= PAIR_SIZE);
        let (sorting, _) = sheet(debate, &all).sorted(declared.as_ref());
        Ok(Self { debate, all, pair_count, agreement, sorting })
    }

    /// The answers of the first step.
    pub(super) fn pair(&self) -> &[SeatAnswer<'a>] {
        self.all.get(..self.pair_count).unwrap_or_default()
    }

    /// The answers that the clerk sorts.
    pub(super) fn pair_sheet(&self) -> AnswerSheet<'_> {
        sheet(self.debate, self.pair())
    }

    /// Whether it is known of every two first answers if they are the same.
    pub(super) fn is_known(&self) -> bool {
        self.sorting.is_complete()
    }

    /// The name of the position of a seat's first answer: the words of the first who gave it.
    pub(super) fn position(&self, seat: &str) -> Option<String> {
        let place = self.all.iter().position(|first| first.seat == seat)?;
        let first = self.all.get(*self.sorting.group_of(place)?.members.first()?)?;
        Some(first.answer().to_owned())
    }

    /// The first round, if there was no debate.
    pub(super) fn history(&self) -> PositionHistory {
        let are_texts = !sheet(self.debate, &self.all).is_discrete();
        PositionHistory { are_texts, ..answer_history(&self.all, &self.sorting.groups, 0) }
    }
}

fn sheet<'f>(debate: &'f Debate, all: &'f [SeatAnswer<'_>]) -> AnswerSheet<'f> {
    AnswerSheet::new(&debate.brief, all.iter().map(|first| first.reply.answer.as_str()).collect())
}

/// The seats of the first step.
pub(super) fn pair_of(debate: &Debate) -> Vec<&str> {
    debate.brief.seats_of("debater").take(PAIR_SIZE).map(|seat| seat.id.as_str()).collect()
}

fn agreement(debate: &Debate, pair: &[SeatAnswer<'_>], declared: Option<&ClerkSorting>) -> PairAgreement {
    let [one, other] = pair else {
        let is_absent = |seat: &&str| pair.iter().all(|first| first.seat != *seat);
        let absent = pair_of(debate).into_iter().filter(is_absent);
        return PairAgreement::Missing(absent.map(str::to_owned).collect());
    };
    let (sorting, by) = sheet(debate, pair).sorted(declared);
    let is_asked = debate.turn(AskPhase::Clerk.as_str(), 0).is_some();
    let statement = |place: usize, first: &SeatAnswer<'_>| {
        let declared = sorting.group_of(place).and_then(|group| group.statement.clone());
        declared.unwrap_or_else(|| first.answer().to_owned())
    };
    match by {
        SortedBy::Unknown if is_asked => PairAgreement::Unknown,
        SortedBy::Unknown => PairAgreement::Open,
        by if sorting.groups.len() == 1 => PairAgreement::Same(by),
        by => PairAgreement::Different(by, [statement(0, one), statement(1, other)]),
    }
}

/// Asks the two seats of the first step, or the debaters who join in the second step. All get the same prompt.
pub(super) fn ask_for_answers(debate: &Debate, phase: AskPhase) -> Result<Step, Corrupt> {
    static ASKS: OnceLock<AnswerAsks> = OnceLock::new();
    let asks = made_once(&ASKS, || AnswerAsks::new([SYSTEM, ANSWER]))?;
    let (pair, is_first) = (pair_of(debate), phase == AskPhase::Answer);
    let seats = debate.brief.seats_of("debater").filter(|seat| pair.contains(&seat.id.as_str()) == is_first);
    asks.ask(debate, phase.at(0), seats)
}

/// Asks the clerk whether the two answers are the same.
pub(super) fn ask_clerk(debate: &Debate, firsts: &FirstAnswers<'_>) -> Result<Step, Corrupt> {
    let clerk = debate.brief.seats_of(CLERK).next();
    let asks = clerk.map(|seat| firsts.pair_sheet().ask_clerk(seat)).transpose()?;
    Ok(Step::Ask(AskPhase::Clerk.at(0), asks.into_iter().collect()))
}
