//! The seed's mechanisms, as checks over a log.

use agon_core::{Check, Debate, Fate, Turn};

use super::log::{FIRST_REVISION, LAST_REVISION, Log};
use super::{context, ending, fates, ratings};

/// Every one of them, in the order of the rounds.
pub(super) fn checks(debate: &Debate) -> Vec<Check> {
    let Ok(log) = Log::read(debate) else { return Vec::new() };
    let over = Over { debate, log: &log };
    vec![
        over.context(),
        over.independent(),
        over.critiqued(),
        over.convergence_checked(),
        over.short_circuit(),
        over.refined(),
        over.voted(),
        over.judged(),
        over.extended(),
        over.rated(),
        over.dissent_kept(),
    ]
}

struct Over<'a> {
    debate: &'a Debate,
    log: &'a Log<'a>,
}

fn check(sentence: &str, met: Option<bool>, note: String, shown_by: Vec<u32>) -> Check {
    Check { sentence: sentence.to_owned(), met, note, shown_by }
}

/// `1 vote`, `3 votes`.
fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// How many of a phase answered.
fn present(turn: &Turn) -> usize {
    turn.settled().filter(|(_, reply)| reply.text().is_some()).count()
}

fn asks<'t>(turns: impl IntoIterator<Item = &'t Turn>) -> Vec<u32> {
    turns.into_iter().flat_map(|turn| &turn.asks).map(|asked| asked.id).collect()
}

impl Over<'_> {
    fn context(&self) -> Check {
        let sentence = "Round 0 gathers context: knowledge, memory, current topics";
        let wanted = context::sources(&self.debate.brief).len();
        let Some(turn) = self.debate.turns_of("context").next().filter(|_| wanted > 0) else {
            return check(sentence, None, "no source is asked".to_owned(), Vec::new());
        };
        let (heard, items) = (present(turn), self.log.context.len());
        let cited = self.log.context.iter().filter(|item| !item.cited_by(self.log).is_empty()).count();
        let note = format!("{heard} of {} answered, {items} found, {cited} cited", counted(wanted, "source"));
        check(sentence, Some(heard == wanted), note, asks([turn]))
    }

    fn independent(&self) -> Check {
        let sentence = "Round 1: all agents propose at once, and nobody sees another's proposal";
        let Some(turn) = self.debate.turns_of("propose").next() else {
            return check(sentence, None, "no proposal was asked for".to_owned(), Vec::new());
        };
        let brief = &self.debate.brief;
        let spoken = self.debate.turns.iter().take_while(|other| other.since < turn.since);
        let earlier =
            spoken.flat_map(|turn| &turn.asks).filter(|asked| brief.seat(&asked.seat).is_some()).count();
        let note = format!("{} of {} in one phase", present(turn), counted(turn.asks.len(), "proposal"));
        check(sentence, Some(earlier == 0 && turn.asks.len() == self.log.agents.len()), note, asks([turn]))
    }

    fn critiqued(&self) -> Check {
        let sentence = "Round 2: every agent critiques each other agent's proposal";
        let Some(turn) = self.debate.turns_of("critique").next() else {
            return check(sentence, self.cut(), "it was not held".to_owned(), Vec::new());
        };
        let proposals = self.log.proposers().len();
        let due = proposals * self.log.agents.len().saturating_sub(1);
        let made = present(turn);
        let answered =
            self.log.critiques.iter().filter(|critique| critique.answer(self.log).is_some()).count();
        let note = format!("{made} of {}, {answered} answered by id", counted(due, "critique"));
        check(sentence, Some(made == due), note, asks([turn]))
    }

    fn convergence_checked(&self) -> Check {
        let sentence = "Rounds 3 to 5: convergence is checked after each revision";
        let revised = |stage: &&super::log::Stage| (FIRST_REVISION..=LAST_REVISION).contains(&stage.round);
        let rounds: Vec<u32> = self
            .log
            .stages
            .iter()
            .filter(revised)
            .filter(|stage| stage.name == "revise")
            .map(|stage| stage.round)
            .collect();
        if rounds.is_empty() {
            return check(sentence, self.cut(), "no round of revision was held".to_owned(), Vec::new());
        }
        let measured = |round: &&u32| {
            self.log.checks.iter().any(|check| check.round == **round && check.agreement.is_some())
        };
        let known = rounds.iter().filter(measured).count();
        let note = format!("{known} of {} measured", counted(rounds.len(), "round"));
        check(sentence, Some(known == rounds.len()), note, asks(self.debate.turns_of("compare")))
    }

    fn short_circuit(&self) -> Check {
        let sentence = "Convergence short-circuits to consensus: straight to the vote";
        let early = self.log.checks.iter().find(|check| check.converged && check.round <= LAST_REVISION);
        match (early, self.log.early_consensus()) {
            (_, Some(round)) => check(
                sentence,
                Some(true),
                format!("in round {round}"),
                asks(self.debate.turns_of("compare")),
            ),
            (Some(found), None) => {
                let note = format!("round {} converged, but the agreement was hollow", found.round);
                check(sentence, None, note, asks(self.debate.turns_of("challenge")))
            }
            (None, None) => check(sentence, None, "no round converged".to_owned(), Vec::new()),
        }
    }

    fn refined(&self) -> Check {
        let sentence = "Round 6: a final refinement with all feedback";
        match (self.debate.turns_of("refine").next(), self.log.early_consensus()) {
            (Some(turn), _) => {
                let note = format!("{} of {}", present(turn), counted(turn.asks.len(), "proposal"));
                check(sentence, Some(present(turn) > 0), note, asks([turn]))
            }
            (None, Some(round)) => {
                check(sentence, None, format!("early consensus in round {round}"), Vec::new())
            }
            (None, None) => check(sentence, self.cut(), "it was not held".to_owned(), Vec::new()),
        }
    }

    fn voted(&self) -> Check {
        let sentence = "Round 7: all agents vote, and half of them choose a proposal";
        let Some(poll) = self.log.polls.last() else {
            let why = format!("{} only: no vote", counted(self.log.proposers().len(), "proposal"));
            return check(sentence, Some(false), why, Vec::new());
        };
        let (cast, agents) = (poll.cast(), self.log.agents.len());
        let note = format!("{cast} of {agents} in the last vote, {}", counted(self.log.polls.len(), "vote"));
        check(sentence, Some(poll.is_quorum()), note, asks(self.debate.turns_of("vote")))
    }

    fn judged(&self) -> Check {
        let sentence = "Round 8: one judge scores and ranks every proposal";
        let shown = asks(self.debate.turns_of("judge"));
        match ending::judged(self.log) {
            Some(judged) => {
                let scored = judged.scores.len();
                let orders = counted(judged.sheets.len(), "order");
                check(
                    sentence,
                    Some(scored == self.log.proposers().len()),
                    format!("{scored} scored in {orders}"),
                    shown,
                )
            }
            None if shown.is_empty() => check(sentence, Some(false), "it was not asked".to_owned(), shown),
            None => check(sentence, Some(false), "it was absent from the last one".to_owned(), shown),
        }
    }

    fn extended(&self) -> Check {
        let sentence = "Extended rounds only where the early stop criteria are not met";
        let held = self.log.extended();
        let shown = asks(self.debate.turns_of("judge"));
        let last = self.log.polls.last().zip(ending::judged(self.log));
        match last.map(|(poll, judged)| ending::is_early_stop(self.log, poll, judged)) {
            None => check(sentence, None, "there is no judgement to stop at".to_owned(), shown),
            Some(true) => check(
                sentence,
                Some(true),
                format!("met after {}", counted(held as usize, "extended round")),
                shown,
            ),
            Some(false) => {
                let all = held >= self.debate.brief.int("max_extended_rounds");
                check(
                    sentence,
                    Some(all),
                    format!("not met after {}", counted(held as usize, "extended round")),
                    shown,
                )
            }
        }
    }

    fn rated(&self) -> Check {
        let sentence = "Ratings change by the judge's scores, and sum to 0";
        let rated = ratings::rated(self.log);
        let sum: f64 = rated.iter().map(|rated| rated.change).sum();
        match rated.len() {
            0 => check(sentence, None, "nobody is rated".to_owned(), Vec::new()),
            n => check(
                sentence,
                Some(sum.abs() < 1e-9),
                counted(n, "rated seat"),
                asks(self.debate.turns_of("judge")),
            ),
        }
    }

    fn dissent_kept(&self) -> Check {
        let sentence = "Every position of round 1 is adopted, refuted with a reason, or dissent";
        let positions = fates::positions(self.log);
        if positions.is_empty() {
            return check(sentence, None, "there is no position".to_owned(), Vec::new());
        }
        let of = |fate: Fate| positions.iter().filter(|position| position.fate == fate).count();
        let (adopted, refuted, minority) = (of(Fate::Adopted), of(Fate::Refuted), of(Fate::Minority));
        let kept = fates::dissent(self.log, &positions).len() == minority
            && positions.iter().all(|position| !position.reason.is_empty());
        let note = format!("{adopted} adopted, {refuted} refuted, {minority} in the dissent");
        check(sentence, Some(kept), note, asks(self.debate.turns_of("propose")))
    }

    /// Of a round that was not held: a limit is why, or there was too little to hold it about.
    fn cut(&self) -> Option<bool> {
        (!self.log.polls.is_empty()).then_some(false)
    }
}
