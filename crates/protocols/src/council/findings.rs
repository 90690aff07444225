//! What the moderator finds in a round.
//!
//! What arithmetic can find is never asked of a model: an unanswered id, no change. What needs judgement is the moderator's to find,
//! but every finding stands with words that were really said: the moderator's quotation where somebody said it, else the
//! councillor's sentence that comes nearest. Who said nothing like it does not count.

use super::ledger::place_of;
use super::log::Log;
use super::reply::Moderation;
use super::round::{Round, Standing};
use super::words::{nearest, plain, stands_in};

/// What the moderator found, with the words that it rests on.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) shared: Vec<Shared>,
    pub(super) evasions: Vec<Evaded>,
    /// Who brought a new argument, and the sentence.
    pub(super) new_arguments: Vec<(usize, String)>,
    /// Whether anybody says to bring a new argument, in words that were not said before.
    pub(super) claimed: bool,
    /// What the moderator quoted and nobody said, or found where there is nothing.
    pub(super) set_aside: Vec<String>,
}

/// A point that several councillors share.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    pub(super) point: String,
    /// Each with the sentence of its own that says it.
    pub(super) who: Vec<(usize, String)>,
    /// By the moderator's word.
    pub(super) challenged: bool,
    /// Whether somebody has made the case against it, in this round or before.
    pub(super) steelmanned: bool,
}

impl Shared {
    pub(super) fn is_challenged(&self) -> bool {
        self.challenged || self.steelmanned
    }
}

/// An answer that does not engage its challenge.
#[derive(Debug)]
pub(super) struct Evaded {
    pub(super) entry: usize,
    pub(super) why: String,
    pub(super) quote: String,
}

/// The moderator's findings, each with words that were said.
pub(super) fn findings(log: &Log<'_>, round: &Round) -> Findings {
    let mut found = Findings::default();
    let own = round.said.iter().flatten().flat_map(|said| &said.new_arguments);
    let own: Vec<&str> = own.map(|argument| argument.trim()).filter(|said| !said.is_empty()).collect();
    found.claimed = own.iter().any(|argument| !was_said(log, round, argument));
    let Some(said) = &round.moderation else { return found };
    evasions(log, round, said, &mut found);
    shared_points(log, round, said, &mut found);
    new_arguments(log, round, said, &mut found);
    found
}

fn evasions(log: &Log<'_>, round: &Round, said: &Moderation, found: &mut Findings) {
    for evasion in &said.evasions {
        let id = evasion.challenge_id.as_str();
        let entry = log.challenges.iter().position(|entry| entry.id() == id);
        let answer = entry.and_then(|at| log.challenges.get(at)?.last()).filter(|a| a.round == round.number);
        match (entry, answer) {
            _ if found.evasions.iter().any(|other| Some(other.entry) == entry) => {}
            (Some(entry), Some(answer)) => {
                let said = stands_in(&evasion.quote, &answer.response);
                let quote = if said { evasion.quote.trim() } else { answer.response.trim() };
                let (why, quote) = (evasion.why.trim().to_owned(), quote.to_owned());
                found.evasions.push(Evaded { entry, why, quote });
                if !said {
                    found.set_aside.push(format!(
                        "the moderator's quotation for the evasion of {id} does not stand in the answer, which is quoted instead"
                    ));
                }
            }
            _ => found
                .set_aside
                .push(format!("the evasion of {id} does not count: there is no answer to it in this round")),
        }
    }
}

fn shared_points(log: &Log<'_>, round: &Round, said: &Moderation, found: &mut Findings) {
    for shared in &said.shared_points {
        let mut who: Vec<(usize, String)> = Vec::new();
        for place in shared.councillors.iter().filter_map(|named| place_of(&log.members, named)) {
            if who.iter().any(|(other, _)| *other == place) || !log.active().contains(&place) {
                continue;
            }
            let words = round.after.get(place).into_iter().flat_map(Standing::spoken);
            let words: Vec<&str> = words.chain(round.spoken(place)).collect();
            let quotes =
                shared.quotes.iter().filter(|own| place_of(&log.members, &own.councillor) == Some(place));
            let quotes: Vec<&str> = quotes.map(|own| own.quote.as_str()).collect();
            match shown(&shared.point, &quotes, &words) {
                Some(sentence) => who.push((place, sentence.to_owned())),
                None => found.set_aside.push(format!(
                    "{} does not count as sharing \"{}\": no words of theirs say it",
                    log.name(place),
                    shared.point.trim()
                )),
            }
        }
        who.sort_by_key(|(place, _)| *place);
        // A challenge of this round that quotes the point is one against it, whatever the moderator says.
        let mut made = log.challenges.iter().filter(|entry| entry.round == round.number);
        let quoted = made.any(|entry| plain(&entry.claim) == plain(&shared.point));
        let (point, challenged) = (shared.point.trim().to_owned(), shared.challenged || quoted);
        found.shared.push(Shared { point, who, challenged, steelmanned: false });
    }
}

fn new_arguments(log: &Log<'_>, round: &Round, said: &Moderation, found: &mut Findings) {
    for new in &said.new_arguments {
        let Some(place) = place_of(&log.members, &new.councillor) else { continue };
        let letters = log.letters.iter().filter(|letter| letter.round == round.number);
        let letters = letters.flat_map(|letter| {
            let own = (letter.from == place).then_some(letter.text.as_str());
            own.into_iter().chain(letter.reply.as_deref().filter(|_| letter.to == place))
        });
        let words: Vec<&str> = round.spoken(place).into_iter().chain(letters).collect();
        let words = shown(&new.argument, &[new.quote.as_str()], &words);
        // That the very words were there before is arithmetic.
        let old =
            [Some(new.argument.as_str()), words].into_iter().flatten().any(|said| was_said(log, round, said));
        match words.filter(|_| !old) {
            Some(sentence) => found.new_arguments.push((place, sentence.to_owned())),
            None => {
                let why = if old {
                    "its words were said in an earlier round"
                } else {
                    "no words of theirs in this round make it"
                };
                found
                    .set_aside
                    .push(format!("the new argument of {} does not count: {why}", log.name(place)));
            }
        }
    }
}

/// The words that a finding rests on: the moderator's quotation if it stands in what was said, else the nearest sentence.
fn shown<'a>(what: &str, quotes: &[&'a str], words: &[&'a str]) -> Option<&'a str> {
    let said = quotes.iter().copied().find(|quote| words.iter().any(|text| stands_in(quote, text)));
    said.map(str::trim).or_else(|| nearest(what, words.iter().copied()))
}

/// Whether these words were said by anybody before this round.
fn was_said(log: &Log<'_>, round: &Round, words: &str) -> bool {
    let words = format!(" {} ", plain(words));
    let earlier = log.rounds.iter().filter(|other| other.number < round.number);
    let mut said = earlier
        .flat_map(|earlier| (0..log.members.len()).flat_map(|place| earlier.spoken(place)))
        .chain(round.before.iter().flat_map(Standing::spoken));
    !words.trim().is_empty() && said.any(|text| format!(" {} ", plain(text)).contains(&words))
}
