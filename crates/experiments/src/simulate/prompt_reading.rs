//! What a simulated seat reads: nothing but its prompt. Whom it has heard, and what they hold, is in the quotations there, so that a
//! protocol that showed a seat too little or too much would be seen in what the seat does.

use agon_core::quotations;
use agon_engine::{Call, Role};

use crate::words::{FABRICATED, Side};

/// How a prompt calls the words of the one who reads it.
const OWN: &str = "your words";

/// What somebody said, by one quotation of the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Said {
    /// As the prompt names them.
    who: String,
    side: Option<Side>,
    fabricated: bool,
}

/// What a prompt shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Shown {
    said: Vec<Said>,
    /// What the reader itself holds.
    pub(crate) own: Option<Side>,
    /// How the prompt names the reader.
    names: Vec<String>,
}

/// Somebody else, as the prompt shows them now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Other {
    pub(crate) who: String,
    pub(crate) side: Side,
}

impl Shown {
    /// What this call shows to the one who is called.
    pub(crate) fn read(call: &Call) -> Self {
        let prompt = call.messages.last().map_or("", |message| message.text.as_str());
        let said: Vec<Said> = quotations(prompt)
            .into_iter()
            .map(|quoted| Said {
                who: quoted.what.to_owned(),
                side: Side::of(quoted.text),
                fabricated: quoted.text.contains(FABRICATED),
            })
            .collect();
        let names: Vec<String> =
            [Some(call.seat.clone()), call.label.clone()].into_iter().flatten().collect();
        let mut shown = Self { said, own: None, names };
        // A judge of a review is shown the others; what it said itself is earlier in its conversation.
        let before = call.messages.iter().filter(|message| message.role == Role::Assistant);
        let before: Vec<Side> = before.filter_map(|message| Side::of(&message.text)).collect();
        if let (Some(side), false) = (before.first(), shown.said.iter().any(|said| shown.is_own(&said.who))) {
            shown.said.insert(0, Said { who: call.seat.clone(), side: Some(*side), fabricated: false });
        }
        let own = shown.said.iter().filter(|said| said.who == OWN || shown.is_own(&said.who));
        shown.own = own.filter_map(|said| said.side).next_back();
        shown
    }

    /// Everybody else who holds something, once, in the order in which they are first shown, with what they hold now.
    pub(crate) fn others(&self) -> Vec<Other> {
        let mut others: Vec<Other> = Vec::new();
        let said = self.said.iter().filter(|said| said.who != OWN && !self.is_own(&said.who));
        for (who, side) in said.filter_map(|said| Some((&said.who, said.side?))) {
            match others.iter_mut().find(|other| other.who == *who) {
                Some(other) => other.side = side,
                None => others.push(Other { who: who.clone(), side }),
            }
        }
        others
    }

    /// How many answers of this side were shown in all rounds, the reader's included.
    pub(crate) fn count(&self, side: Side) -> usize {
        self.said.iter().filter(|said| said.who != OWN && said.side == Some(side)).count()
    }

    /// Whether somebody else shows what the adversary makes up.
    pub(crate) fn is_fabricated(&self) -> bool {
        self.said.iter().any(|said| said.fabricated && said.who != OWN && !self.is_own(&said.who))
    }

    /// Who stands in the prompt first with a side, for those who judge what others proposed.
    pub(crate) fn in_order(&self) -> Vec<Other> {
        let held =
            self.said.iter().filter_map(|said| Some(Other { who: said.who.clone(), side: said.side? }));
        held.collect()
    }

    fn is_own(&self, who: &str) -> bool {
        let plain = |name: &str| name.to_lowercase().replace(' ', "-");
        self.names.iter().any(|name| plain(name) == plain(who))
    }
}

/// The words that a schema allows at a place of an answer.
pub(crate) fn allowed(call: &Call, pointer: &str) -> Vec<String> {
    let schema = call.schema.as_ref().and_then(|schema| schema.json.pointer(&format!("{pointer}/enum")));
    let words = schema.and_then(|words| words.as_array()).into_iter().flatten();
    words.filter_map(|word| word.as_str()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use agon_core::{Brief, Fence, Limits, Phase};
    use agon_engine::Message;

    use super::*;

    fn fence() -> Fence {
        Fence::new(&Brief {
            version: 1,
            id: "d".into(),
            protocol: "deep".into(),
            question: String::new(),
            files: Vec::new(),
            options: Default::default(),
            seats: Vec::new(),
            seed: 1,
            limits: Limits::default(),
            templates: Default::default(),
            written_by: String::new(),
            created_at: String::new(),
            parent: None,
        })
    }

    fn call(quoted: &[(&str, &str)], label: Option<&str>) -> Call {
        let fence = fence();
        let prompt: Vec<String> = quoted.iter().map(|(who, text)| fence.quote(who, text)).collect();
        Call {
            debate: "d".into(),
            seat: "debater-1".into(),
            ask: 1,
            attempt: 1,
            phase: Phase::new("debate", 1),
            label: label.map(str::to_owned),
            about: None,
            messages: vec![Message::new(Role::User, prompt.join("\n"))],
            schema: None,
            max_output_tokens: 1,
            seed: 1,
        }
    }

    #[test]
    fn a_seat_knows_what_others_hold_now_and_all_that_was_said() {
        let (yes, no) = (Side::Yes.text(), Side::No.text());
        let quoted = [("Debater A", &*yes), ("Debater B", &*no), ("Debater C", &*no), ("Debater B", &*yes)];
        let shown = Shown::read(&call(&quoted, Some("Debater A")));
        assert_eq!(shown.own, Some(Side::Yes));
        let others: Vec<(String, Side)> = shown.others().into_iter().map(|o| (o.who, o.side)).collect();
        assert_eq!(others, [("Debater B".to_owned(), Side::Yes), ("Debater C".to_owned(), Side::No)]);
        assert_eq!((shown.count(Side::Yes), shown.count(Side::No)), (2, 2));
        assert!(!shown.is_fabricated());
    }

    #[test]
    fn made_up_evidence_is_seen_in_the_words_of_others_only() {
        let said = format!("{} {FABRICATED}", Side::No.text());
        let quoted = [("Debater A", &*said), ("your words", &*said)];
        assert!(!Shown::read(&call(&quoted, Some("Debater A"))).is_fabricated());
        assert!(Shown::read(&call(&quoted, Some("Debater B"))).is_fabricated());
    }
}
