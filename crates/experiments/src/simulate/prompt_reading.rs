//! What a simulated seat reads: its prompt and nothing else.
//!
//! The seat learns from the quotations in the prompt who said what. A protocol that shows a seat too little or too much therefore
//! changes what the seat does.

use agon_core::quotations;
use agon_core::simulation::{FABRICATED_EVIDENCE, SimulatedSide, SimulatedSpeaker};
use agon_engine::{MessageRole, ModelCall};

/// How a prompt names the reader's own words.
const OWN_WORDS: &str = "your words";

/// What a prompt shows to the seat that is asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct PromptReading {
    quoted: Vec<QuotedWords>,
    /// The side that the reader itself took last.
    pub(super) own_side: Option<SimulatedSide>,
    /// The names of the reader.
    reader: Vec<String>,
}

/// One quotation of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
struct QuotedWords {
    speaker: String,
    side: Option<SimulatedSide>,
    is_fabricated: bool,
}

impl PromptReading {
    pub(super) fn new(call: &ModelCall) -> Self {
        let prompt = call.messages.last().map_or("", |message| message.text.as_str());
        let quoted = quotations(prompt).into_iter().map(|quotation| QuotedWords {
            speaker: quotation.what.to_owned(),
            side: SimulatedSide::find_in(quotation.text),
            is_fabricated: quotation.text.contains(FABRICATED_EVIDENCE),
        });
        let reader = [Some(call.seat.clone()), call.label.clone()].into_iter().flatten().collect();
        let mut reading = Self { quoted: quoted.collect(), own_side: None, reader };
        // Some protocols quote only the others. The reader's own words are then earlier in its conversation.
        let replies = call.messages.iter().filter(|message| message.role == MessageRole::Assistant);
        let first_reply = replies.filter_map(|message| SimulatedSide::find_in(&message.text)).next();
        if let (Some(side), false) = (first_reply, reading.quoted.iter().any(|said| reading.is_reader(said)))
        {
            let own = QuotedWords { speaker: call.seat.clone(), side: Some(side), is_fabricated: false };
            reading.quoted.insert(0, own);
        }
        let own = reading.quoted.iter().filter(|said| said.speaker == OWN_WORDS || reading.is_reader(said));
        reading.own_side = own.filter_map(|said| said.side).next_back();
        reading
    }

    /// The others who take a side, once each and in the order of their first words, with the side that each takes last.
    pub(super) fn others(&self) -> Vec<SimulatedSpeaker> {
        let mut others: Vec<SimulatedSpeaker> = Vec::new();
        for (name, side) in self.words_of_others().filter_map(|said| Some((&said.speaker, said.side?))) {
            match others.iter_mut().find(|other| other.name == *name) {
                Some(other) => other.side = side,
                None => others.push(SimulatedSpeaker { name: name.clone(), side }),
            }
        }
        others
    }

    /// Every quotation that takes a side, in order.
    pub(super) fn statements(&self) -> Vec<SimulatedSpeaker> {
        let statement =
            |said: &QuotedWords| Some(SimulatedSpeaker { name: said.speaker.clone(), side: said.side? });
        self.quoted.iter().filter_map(statement).collect()
    }

    /// How many answers of this side the prompt shows, over all rounds and with the reader's own.
    pub(super) fn count(&self, side: SimulatedSide) -> usize {
        self.quoted.iter().filter(|said| said.speaker != OWN_WORDS && said.side == Some(side)).count()
    }

    /// Whether somebody else shows the adversary's evidence.
    pub(super) fn has_fabricated_evidence(&self) -> bool {
        self.words_of_others().any(|said| said.is_fabricated)
    }

    fn words_of_others(&self) -> impl Iterator<Item = &QuotedWords> {
        self.quoted.iter().filter(|said| said.speaker != OWN_WORDS && !self.is_reader(said))
    }

    fn is_reader(&self, said: &QuotedWords) -> bool {
        let plain = |name: &str| name.to_lowercase().replace(' ', "-");
        self.reader.iter().any(|name| plain(name) == plain(&said.speaker))
    }
}

#[cfg(test)]
mod tests {
    use agon_core::{Brief, DebateLimits, Fence, Phase};
    use agon_engine::CallMessage;

    use super::*;

    fn call(quoted: &[(&str, &str)], label: Option<&str>) -> ModelCall {
        let fence = Fence::new(&Brief {
            version: agon_core::LOG_VERSION,
            id: "d".into(),
            protocol: "example".into(),
            question: String::new(),
            files: Vec::new(),
            options: Default::default(),
            seats: Vec::new(),
            seed: 1,
            nonce: "nonce".into(),
            limits: DebateLimits::default(),
            templates: Default::default(),
            written_by: String::new(),
            created_at: String::new(),
            parent: None,
        });
        let prompt: Vec<String> = quoted.iter().map(|(who, text)| fence.quote(who, text)).collect();
        ModelCall {
            debate: "d".into(),
            seat: "debater-1".into(),
            ask: 1,
            attempt: 1,
            is_again: false,
            is_repair: false,
            phase: Phase::new("debate", 1),
            label: label.map(str::to_owned),
            about: None,
            question: String::new(),
            messages: vec![CallMessage::new(MessageRole::User, prompt.join("\n"))],
            schema: None,
            max_output_tokens: 1,
            seed: 1,
        }
    }

    #[test]
    fn a_seat_knows_what_the_others_hold_now_and_how_often_each_side_was_taken() {
        let (yes, no) = (SimulatedSide::Yes.text(), SimulatedSide::No.text());
        let quoted = [("Debater A", &*yes), ("Debater B", &*no), ("Debater C", &*no), ("Debater B", &*yes)];
        let reading = PromptReading::new(&call(&quoted, Some("Debater A")));
        assert_eq!(reading.own_side, Some(SimulatedSide::Yes));
        let others = reading.others();
        let others: Vec<(&str, SimulatedSide)> =
            others.iter().map(|one| (one.name.as_str(), one.side)).collect();
        assert_eq!(others, [("Debater B", SimulatedSide::Yes), ("Debater C", SimulatedSide::No)]);
        assert_eq!((reading.count(SimulatedSide::Yes), reading.count(SimulatedSide::No)), (2, 2));
        assert!(!reading.has_fabricated_evidence());
    }

    #[test]
    fn fabricated_evidence_counts_only_in_the_words_of_others() {
        let fabricated = format!("{} {FABRICATED_EVIDENCE}", SimulatedSide::No.text());
        let quoted = [("Debater A", &*fabricated), ("your words", &*fabricated)];
        assert!(!PromptReading::new(&call(&quoted, Some("Debater A"))).has_fabricated_evidence());
        assert!(PromptReading::new(&call(&quoted, Some("Debater B"))).has_fabricated_evidence());
    }
}
