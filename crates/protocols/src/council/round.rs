//! One round of cross-examination: what was said in it, and where it leaves everybody.

use super::findings::Findings;
use super::ledger::Entry;
use super::moderation::Intervention;
use super::reply::{Confidence, Correspondence, Examination, Moderation, Response};
use super::words::{plain, says_something};

/// Whether a position is another than the standing one, by its words.
pub(super) fn is_new(position: &str, standing: &str) -> bool {
    let words = plain(position);
    !words.is_empty() && words != plain(standing)
}

/// Where a councillor stands.
#[derive(Debug, Clone, Default)]
pub(super) struct Standing {
    pub(super) position: String,
    pub(super) confidence: Option<Confidence>,
    /// Those of the opening and all that were added since.
    pub(super) arguments: Vec<String>,
    /// Whether the position changed in this round, and why.
    pub(super) changed: bool,
    pub(super) because: String,
    /// Whether it said nothing in this round's cross-examination.
    pub(super) carried: bool,
}

impl Standing {
    /// Takes a new position, if it is one; whether it is. Who says that nothing changed keeps its position, to the letter: what is
    /// compared from round to round is the text.
    pub(super) fn update(&mut self, position: &str, changed: bool, because: &str) -> bool {
        let because = because.trim();
        let moved = changed && is_new(position, &self.position);
        if moved {
            // A second change in one round does not undo the reason of the first.
            self.because = match (self.changed, because.is_empty()) {
                (true, true) => self.because.clone(),
                (true, false) => format!("{}; then {because}", self.because),
                (false, _) => because.to_owned(),
            };
            self.position = position.trim().to_owned();
            self.changed = true;
        } else if !self.changed && !because.is_empty() {
            self.because = because.to_owned();
        }
        moved
    }

    /// As it goes into the next round.
    pub(super) fn carried_over(&self) -> Self {
        Self { changed: false, because: String::new(), carried: false, ..self.clone() }
    }
}

/// A message to one councillor, with its answer.
#[derive(Debug, Clone)]
pub(super) struct Letter {
    /// Counted from 1 over the whole debate.
    pub(super) number: usize,
    pub(super) round: u32,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) topic: String,
    pub(super) text: String,
    pub(super) reply: Option<String>,
}

impl Letter {
    pub(super) fn id(&self) -> String {
        format!("M{}", self.number)
    }
}

/// One round of cross-examination, as far as it got. Vectors are by the councillors' places.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) number: u32,
    pub(super) said: Vec<Option<Examination>>,
    pub(super) correspondence: Vec<Option<Correspondence>>,
    pub(super) before: Vec<Standing>,
    pub(super) after: Vec<Standing>,
    /// The challenges that were put in this round to somebody who was there and got no answer.
    pub(super) unanswered: Vec<usize>,
    /// What the moderator said; `None` where it was absent.
    pub(super) moderation: Option<Moderation>,
    /// Whether the moderator has been asked.
    pub(super) moderated: bool,
    pub(super) findings: Findings,
    pub(super) interventions: Vec<Intervention>,
    /// Whether everything that belongs to the round has happened.
    pub(super) over: bool,
}

impl Round {
    pub(super) fn present(&self) -> usize {
        self.said.iter().flatten().count()
    }

    pub(super) fn is_present(&self, place: usize) -> bool {
        self.said.get(place).is_some_and(Option::is_some)
    }

    /// Whose position changed, by place.
    pub(super) fn changed(&self) -> impl Iterator<Item = (usize, &Standing)> {
        self.after.iter().enumerate().filter(|(_, standing)| standing.changed)
    }
}

impl Standing {
    /// Its words.
    pub(super) fn spoken(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.position.as_str()).chain(self.arguments.iter().map(String::as_str))
    }
}

impl Round {
    /// A councillor's responses to challenges that were put to it; a response to anything else answers nothing.
    pub(super) fn responses<'a>(
        &'a self,
        place: usize,
        entries: &'a [Entry],
    ) -> impl Iterator<Item = &'a Response> {
        let said = self.said.get(place).and_then(Option::as_ref).map_or(&[][..], |said| &said.responses);
        said.iter().filter(move |response| {
            let is_own = |entry: &&Entry| entry.to == place && entry.round < self.number;
            let own = entries.iter().filter(is_own).any(|entry| entry.id() == response.challenge_id);
            own && says_something(&response.response)
        })
    }

    /// What a councillor said to everybody in this round's cross-examination.
    pub(super) fn spoken(&self, place: usize) -> Vec<&str> {
        let Some(said) = self.said.get(place).and_then(Option::as_ref) else { return Vec::new() };
        let mut words = vec![said.position.as_str(), said.because.as_str()];
        words.extend(said.new_arguments.iter().map(String::as_str));
        words.extend(said.responses.iter().map(|response| response.response.as_str()));
        words.extend(said.challenges.iter().flat_map(|made| [made.reason.as_str(), made.question.as_str()]));
        words
    }
}
