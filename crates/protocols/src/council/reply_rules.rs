//! The rules of the replies that a schema cannot express, and what of a reply must verify.

use agon_core::{Ask, ReplyFault};
use serde::Deserialize;
use serde_json::Value;

use super::log::{CouncilLog, has_words};
use super::replies::{
    CrossExamination, FinalStatement, NewChallenge, OpeningStatement, ReframingAnswer, ReplyForm,
    RoundResponse, SecondResponse, SteelmanCase,
};
use super::{CouncilPhase, moderation, verdict};
use crate::named_lists::name_key;
use crate::quotes::is_same_text;

/// "challenging at least 2 specific points".
pub(super) const CHALLENGES_MIN: usize = 2;

/// Checks a reply by the rules that its schema cannot express.
pub(super) fn check_reply(log: &CouncilLog<'_>, ask: &Ask, value: &Value) -> Result<(), ReplyFault> {
    let last = log.debate.last_phase().ok_or("no phase was asked yet".to_owned())?;
    let phase = CouncilPhase::of(last).map_err(|why| why.to_string())?;
    let rules = ReplyRules { log, seat: &ask.seat };
    match phase {
        CouncilPhase::Opening => Ok(rules.opening(&read(value)?)?),
        CouncilPhase::Challenge => rules.examination(&read(value)?),
        CouncilPhase::Respond => Ok(rules.response(&read(value)?)?),
        CouncilPhase::Moderate => {
            let round = log.round(last.round).ok_or("the round has not begun".to_owned())?;
            verified(&moderation::find(log, round, Some(&read(value)?)).notes)
        }
        CouncilPhase::Intervene => Ok(rules.intervention(ask, value)?),
        CouncilPhase::Vote => {
            let said: FinalStatement = read(value)?;
            not_empty("final_position", &said.final_position)?;
            not_empty("key_argument", &said.key_argument)?;
            let before = log.standings().get(ask.seat.as_str()).map(|held| held.vote);
            match before.filter(|before| *before != said.vote && !has_words(&said.because)) {
                None => Ok(()),
                Some(before) => Err(ReplyFault::Unverified(format!(
                    "your provisional vote was {}, so `because` must say why you vote otherwise.",
                    before.as_str()
                ))),
            }
        }
        CouncilPhase::Conclude => verified(&verdict::verified_conclusion(log, &read(value)?).faults),
    }
}

/// The rules for one councillor's replies.
struct ReplyRules<'a> {
    log: &'a CouncilLog<'a>,
    seat: &'a str,
}

impl ReplyRules<'_> {
    /// "position, 3 to 5 arguments, confidence, at least one question to another councillor".
    fn opening(&self, said: &OpeningStatement) -> Result<(), String> {
        not_empty("position", &said.position)?;
        let arguments = said.arguments.iter().filter(|argument| has_words(argument)).count();
        if !(3..=5).contains(&arguments) {
            return Err(format!("`arguments` has {arguments} arguments, but it must have 3 to 5"));
        }
        if said.questions.is_empty() {
            return Err("`questions` is empty: ask another councillor at least one question".into());
        }
        for question in &said.questions {
            self.not_oneself("questions", &question.to)?;
            not_empty("question", &question.question)?;
        }
        Ok(())
    }

    /// "at least 2 challenges to other active councillors on distinct points, each quoting the claim (verified)".
    fn examination(&self, said: &CrossExamination) -> Result<(), ReplyFault> {
        self.challenges(&said.challenges)?;
        if !self.log.options.economy {
            for message in said.messages.iter().take(self.log.options.exchanges) {
                self.takes_part("messages", &message.to)?;
                not_empty("text", &message.text)?;
            }
        }
        let round = self.log.debate.last_phase().map_or(0, |last| last.round);
        let made_up = said
            .challenges
            .iter()
            .filter(|made| !self.log.is_claim_of(&made.to, self.seat, round, &made.claim));
        let faults: Vec<String> = made_up.map(|made| {
            format!(
                "{} did not say {:?} word for word. Keep at least {CHALLENGES_MIN} challenges: only the quote does not count, and without \
                 one a challenge is put all the same, marked as not a quote.",
                made.to, made.claim
            )
        }).collect();
        verified(&faults)
    }

    fn challenges(&self, made: &[NewChallenge]) -> Result<(), String> {
        if made.len() < CHALLENGES_MIN {
            let count = made.len();
            return Err(format!("`challenges` has {count}, but challenge at least {CHALLENGES_MIN} claims"));
        }
        for (place, challenge) in made.iter().enumerate() {
            self.takes_part("challenges", &challenge.to)?;
            not_empty("claim", &challenge.claim)?;
            not_empty("reason", &challenge.reason)?;
            not_empty("question", &challenge.question)?;
            let (to, claim) = (name_key(&challenge.to), &challenge.claim);
            let mut earlier = made.iter().take(place);
            if earlier.any(|other| name_key(&other.to) == to && is_same_text(&other.claim, claim)) {
                return Err(format!("`challenges` has {claim:?} twice: challenge distinct points"));
            }
        }
        Ok(())
    }

    /// A challenge without an answer is not sent back: it is an evasion. Nor is a change that names nothing: it may have no cause among
    /// what others said, and the report says so.
    fn response(&self, said: &RoundResponse) -> Result<(), String> {
        let before = self.log.standings().get(self.seat);
        let is_vote_changed = before.is_some_and(|before| before.vote != said.vote);
        if is_vote_changed && !has_words(&said.because) {
            return Err("your vote changed, so `because` must say why".into());
        }
        // A changed vote is a change without a new position, too.
        self.change(said.changed && !is_vote_changed, &said.position, &said.because)
    }

    fn intervention(&self, ask: &Ask, value: &Value) -> Result<(), String> {
        let name = ask.schema.as_ref().map(|schema| schema.name.as_str());
        match ReplyForm::ALL.into_iter().find(|form| Some(form.as_str()) == name) {
            Some(ReplyForm::Steelman) => {
                not_empty("counter_argument", &read::<SteelmanCase>(value)?.counter_argument)
            }
            Some(ReplyForm::SecondResponse) => read::<SecondResponse>(value).map(|_| ()),
            Some(ReplyForm::Reframing) => {
                let said: ReframingAnswer = read(value)?;
                not_empty("effect", &said.effect)?;
                self.change(said.changed, &said.position, &said.because)
            }
            _ => Err(format!("there is no reply of the form {name:?} to an intervention")),
        }
    }

    /// "Changed because: {reason}".
    fn change(&self, changed: bool, position: &str, because: &str) -> Result<(), String> {
        let standing = self.log.standings().get(self.seat);
        match changed {
            true if !has_words(position) => {
                Err("`changed` is true, so `position` must state the new position".into())
            }
            true if standing.is_some_and(|held| is_same_text(&held.position, position)) => {
                Err("`changed` is true, but `position` repeats your position: state the new one, or set `changed` to false".into())
            }
            true if !has_words(because) => Err("`changed` is true, so `because` must say why".into()),
            _ => Ok(()),
        }
    }

    fn takes_part(&self, list: &str, to: &str) -> Result<(), String> {
        self.not_oneself(list, to)?;
        if self.log.active.contains(&name_key(to).as_str()) {
            return Ok(());
        }
        let others = self.log.names(self.log.active.iter().copied().filter(|id| *id != self.seat));
        Err(format!("`{list}` names {to:?}, who does not take part; the others are: {others}"))
    }

    fn not_oneself(&self, list: &str, to: &str) -> Result<(), String> {
        match name_key(to) == self.seat {
            true => Err(format!("`{list}` names yourself: address another councillor")),
            false => Ok(()),
        }
    }
}

fn read<'a, T: Deserialize<'a>>(value: &'a Value) -> Result<T, String> {
    T::deserialize(value).map_err(|why| why.to_string())
}

fn not_empty(field: &str, text: &str) -> Result<(), String> {
    if has_words(text) { Ok(()) } else { Err(format!("`{field}` must not be empty")) }
}

fn verified(faults: &[String]) -> Result<(), ReplyFault> {
    if faults.is_empty() { Ok(()) } else { Err(ReplyFault::Unverified(faults.join(" "))) }
}
