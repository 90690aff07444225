//! What the debate did, in a few sentences.
//!
//! A sentence says only what the log shows. What no verified declaration says is unknown, which is said once.

use agon_core::wording::{
    capitalized, excerpt, excerpt_of_sentences, joined, number_word, rounds as rounds_words, sentence, spoken,
};
use agon_core::{DecidedPosition, PositionFlip, PositionHistory, ReportLength, RoundPositions, SeatPosition};
use agon_measure::Evidence;
use agon_measure::evidence::{FirstRound, SeatTrajectory};

use super::{citation, flip_citation, has_quote};
use crate::report_source::ReportSource;

/// Who changed, how the verdict relates to the first positions, which rounds were idle, and how independent the seats are.
pub(super) fn paragraph(source: &ReportSource<'_>, length: ReportLength) -> Option<String> {
    let facts = EvidenceFacts::new(source, length)?;
    let sentences = [
        facts.changes(),
        facts.ballots(),
        facts.verdict(),
        facts.turn(),
        facts.idle_rounds(),
        facts.independence(),
    ];
    let sentences: Vec<String> = sentences.into_iter().flatten().collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// A longer position is cut where a sentence quotes it.
const QUOTED_CHARS_MAX: usize = 60;

/// A short report cuts what a seat says to this length.
const WORDS_CHARS_MAX: usize = 200;

struct EvidenceFacts<'a> {
    source: &'a ReportSource<'a>,
    evidence: &'a Evidence,
    history: &'a PositionHistory,
    /// The rounds in which the seats stated positions of their own.
    own_rounds: Vec<&'a RoundPositions>,
    /// How many seats took a position.
    seats: usize,
    /// What one of these seats is called: "debater".
    role: String,
    /// Whether every position is a score.
    scored: bool,
    length: ReportLength,
}

/// What is known about the verdict.
enum KnownVerdict<'a> {
    /// The debate is not over.
    NotYet,
    /// There is none.
    Missing,
    /// There is one, and it is not known which position it states.
    Unknown,
    /// It states this position, which a seat held, or which is a value.
    Held(&'a str),
    /// It states a position that nobody held.
    New,
}

impl<'a> EvidenceFacts<'a> {
    /// `None` if nobody took a position.
    fn new(source: &'a ReportSource<'a>, length: ReportLength) -> Option<Self> {
        let (evidence, history) = (source.evidence, &source.view.positions);
        let held = || history.rounds.iter().flat_map(|round| &round.stands);
        held().next()?;
        let mut roles = evidence.trajectory.iter().map(|seat| source.debate.brief.seat(&seat.seat));
        let first = roles.next().flatten().map(|seat| seat.role.as_str());
        let is_shared = roles.all(|seat| seat.map(|seat| seat.role.as_str()) == first);
        Some(Self {
            source,
            evidence,
            history,
            own_rounds: history.rounds.iter().filter(|round| !round.ballots).collect(),
            seats: evidence.trajectory.len(),
            role: first.filter(|_| is_shared).map_or_else(|| "seat".to_owned(), spoken),
            scored: source.is_scored(),
            length,
        })
    }

    /// Who changed, when, and whether a citation backs it.
    fn changes(&self) -> Option<String> {
        if self.own_rounds.len() < 2 {
            let is_voted = self.own_rounds.len() < self.history.rounds.len();
            let what = if self.scored { "scores" } else { "positions" };
            let end = if is_voted { " before the vote" } else { ", so nobody could change" };
            let line = format!("There was only one round of {what}{end}.");
            return (!self.own_rounds.is_empty()).then_some(line);
        }
        let is_own = |flip: &&PositionFlip| self.own_rounds.iter().any(|round| round.round == flip.round);
        let flips: Vec<&PositionFlip> = self.evidence.flips.iter().filter(is_own).collect();
        if flips.is_empty() {
            return Some(self.nobody_changed());
        }
        let changed = distinct(flips.iter().map(|flip| flip.seat.as_str())).len();
        let what = match (self.is_unsorted(&flips), changed == 1) {
            _ if self.scored && changed == 1 => "changed its score",
            _ if self.scored => "changed their scores",
            (false, true) => "changed its mind",
            (false, false) => "changed their minds",
            // A new text may still state the old position.
            (true, true) => "revised its position",
            (true, false) => "revised their positions",
        };
        let when = rounds_words(&distinct(flips.iter().map(|flip| flip.round)));
        let details = match flips.as_slice() {
            [only] if !self.history.are_texts => format!(", from {} to {}", only.from, only.to),
            _ if flips.len() > changed => format!(", {} times in all", number_word(flips.len())),
            _ => String::new(),
        };
        let who = capitalized(&self.some_of(changed, self.seats));
        let citation = self.citation_words(&flips, changed);
        let line = format!("{who} {what} in {when}{details}{citation}.");
        Some([Some(line), self.other_revisions(&flips)].into_iter().flatten().collect::<Vec<_>>().join(" "))
    }

    /// Who revised the text of a position that it kept, and when.
    fn other_revisions(&self, flips: &[&PositionFlip]) -> Option<String> {
        let is_flip =
            |seat: &str, round: u32| flips.iter().any(|flip| flip.seat == seat && flip.round == round);
        let mut revised: Vec<(Vec<String>, Vec<u32>)> = Vec::new();
        for seat in &self.evidence.trajectory {
            let mut rounds = self.history.revisions(&seat.seat);
            rounds.retain(|round| !is_flip(&seat.seat, *round));
            match revised.iter_mut().find(|(_, others)| *others == rounds) {
                _ if rounds.is_empty() => {}
                Some((names, _)) => names.push(self.source.name(&seat.seat)),
                None => revised.push((vec![self.source.name(&seat.seat)], rounds)),
            }
        }
        let told =
            revised.iter().map(|(names, rounds)| format!("{} ({})", joined(names), rounds_words(rounds)));
        let told = joined(&told.collect::<Vec<_>>());
        let is_one = revised.iter().map(|(names, _)| names.len()).sum::<usize>() == 1;
        let what = match (self.history.are_texts, is_one) {
            (true, true) => "its position without giving it up",
            (true, false) => "their positions without giving them up",
            (false, true) => "its position and kept its vote",
            (false, false) => "their positions and kept their votes",
        };
        (!self.scored && !revised.is_empty()).then(|| format!("{told} revised {what}."))
    }

    /// Whether one of the changes is from or to a text that nobody compared with the others.
    fn is_unsorted(&self, flips: &[&PositionFlip]) -> bool {
        let is_unsorted = |flip: &&PositionFlip| {
            let held = self.history.rounds.iter().filter(|round| round.round <= flip.round);
            let mut held = held.rev().filter_map(|round| round.of(&flip.seat)).take(2);
            held.any(|held| held.is_unsorted)
        };
        flips.iter().any(is_unsorted)
    }

    /// The end of the sentence on these changes, of which `changed` seats are the authors.
    fn citation_words(&self, flips: &[&PositionFlip], changed: usize) -> String {
        let looked_up = match flips.iter().filter(|flip| flip.by_source).count() {
            0 => String::new(),
            1 if flips.len() == 1 => " of a source".to_owned(),
            n => format!(" ({} of a source)", number_word(n)),
        };
        let cited = flips.iter().filter(|flip| flip.evidenced).count();
        let quoted = flips.iter().filter(|flip| has_quote(&flip.cited)).count();
        let bare = || flips.iter().filter(|flip| !flip.evidenced);
        let nothing = citation(&[], bare().any(|flip| !flip.unverified.is_empty()));
        let how = match flips {
            [only] => flip_citation(only),
            _ if cited == 0 => nothing.clone(),
            _ if quoted == cited => "with a verified quote".to_owned(),
            _ => "citing a point or evidence".to_owned(),
        };
        if cited > 0 && cited < flips.len() {
            let (with, without) = (number_word(cited), number_word(flips.len() - cited));
            let gap = if flips.len() > changed { ':' } else { ',' };
            return format!("{gap} {with} {how}{looked_up} and {without} {nothing}");
        }
        // Where all seats changed, the sentence begins with "both" or "all".
        let each = match flips.len() {
            _ if changed == self.seats || flips.len() > changed => "",
            1 => "",
            2 => "both ",
            _ => "all ",
        };
        let is_toward = self.seats > 2 && flips.iter().all(|flip| flip.toward_majority == Some(true));
        let toward = match (is_toward, self.scored) {
            (false, _) => "",
            (true, false) => "joining most of the others",
            (true, true) => "moving toward the other scores",
        };
        let gap = match (toward, how.starts_with("citing")) {
            ("", _) => "",
            (_, true) => " and ",
            (_, false) => ", ",
        };
        format!(", {each}{how}{looked_up}{gap}{toward}")
    }

    fn nobody_changed(&self) -> String {
        let what = if self.scored { "score" } else { "position" };
        let seats = self.evidence.trajectory.iter();
        let revised = seats.filter(|seat| !self.history.revisions(&seat.seat).is_empty()).count();
        let (has, given, so_far) = match self.source.outcome() {
            Some(_) => ("", "gave", ""),
            None => ("has ", "has given", " so far"),
        };
        let nobody = match self.seats {
            1 if revised > 0 => {
                return format!("The only {} revised its {what} without giving it up.", self.role);
            }
            1 => return format!("The only {} {has}kept its {what}{so_far}.", self.role),
            2 => format!("Neither {}", self.role),
            all => format!("None of the {} {}s", number_word(all), self.role),
        };
        match revised {
            0 => format!("{nobody} {has}changed its {what}{so_far}."),
            // The text changed, and the position is the same.
            some => format!("{nobody} {given} up its {what}{so_far}; {} revised it.", self.number_of(some)),
        }
    }

    /// `both`, `all three`, `two`.
    fn number_of(&self, some: usize) -> String {
        match some {
            2 if self.seats == 2 => "both".to_owned(),
            all if all == self.seats => format!("all {}", number_word(all)),
            some => number_word(some),
        }
    }

    /// `both debaters`, `all three debaters`, `two of three debaters`.
    fn some_of(&self, some: usize, all: usize) -> String {
        match (some, all) {
            (1, 1) => format!("the only {}", self.role),
            (2, 2) => format!("both {}s", self.role),
            (some, all) if some >= all => format!("all {} {}s", number_word(some), self.role),
            (some, all) => format!("{} of {} {}s", number_word(some), number_word(all), self.role),
        }
    }

    /// Whether the last vote went to the positions that the voters held.
    fn ballots(&self) -> Option<String> {
        let mut votes = self.history.rounds.iter().filter(|round| round.ballots);
        let last = votes.next_back().filter(|last| !last.stands.is_empty() && !self.own_rounds.is_empty())?;
        let own = |vote: &'a SeatPosition| Some((vote, self.history.at_last(&vote.seat)?));
        let pairs: Vec<(&SeatPosition, &SeatPosition)> = last.stands.iter().filter_map(own).collect();
        let is_same = |(vote, held): &(&SeatPosition, &SeatPosition)| match vote.position == held.position {
            true => Some(true),
            false => (!vote.is_unsorted && !held.is_unsorted).then_some(false),
        };
        let kept: Option<Vec<bool>> = pairs.iter().map(is_same).collect();
        let moved = pairs.iter().zip(kept?).filter(|(_, kept)| !kept).map(|(pair, _)| *pair);
        let moved: Vec<(&SeatPosition, &SeatPosition)> = moved.collect();
        let which = if votes.next().is_some() { "the last vote" } else { "the vote" };
        let name = |held: &SeatPosition| self.source.name(&held.seat);
        let told = match (moved.as_slice(), pairs.as_slice()) {
            (_, []) => return None,
            // Where votes are compared with votes, the words of a position may have changed.
            ([], [(only, _)]) if self.seats > 1 && !self.history.are_texts => {
                format!("{} voted as before", name(only))
            }
            ([], _) if !self.history.are_texts => {
                format!("{} voted as before", self.some_of(pairs.len(), self.seats))
            }
            ([], [(only, _)]) if self.seats > 1 => format!("{} backed the position that it held", name(only)),
            ([], _) => {
                format!("{} backed the positions that they held", self.some_of(pairs.len(), self.seats))
            }
            ([(vote, held)], _) if !self.history.are_texts => {
                format!("{} went from {} to {}", name(vote), held.position, vote.position)
            }
            ([(vote, _)], _) => format!("{} backed another position than its own", name(vote)),
            (several, _) => {
                let names: Vec<String> = several.iter().map(|(vote, _)| name(vote)).collect();
                format!("{} backed other positions than their last ones", joined(&names))
            }
        };
        let reason = match moved.as_slice() {
            [(vote, _)] => vote.change.as_ref().and_then(|change| Some((vote, change.reason.as_ref()?))),
            _ => None,
        };
        let reason =
            reason.map(|(vote, reason)| format!(" {}'s reason: {}", name(vote), self.quoted_words(reason)));
        Some(format!("In {which}, {told}{}.{}", self.silent(last), reason.unwrap_or_default()))
    }

    /// A clause about the seats without a vote: those that abstained, and those that were not heard.
    fn silent(&self, vote: &RoundPositions) -> String {
        let silent = self.evidence.trajectory.iter().filter(|seat| vote.of(&seat.seat).is_none());
        let (abstained, absent): (Vec<_>, Vec<_>) =
            silent.partition(|seat| self.source.view.votes.iter().any(|vote| vote.seat == seat.seat));
        let clause = |seats: Vec<&SeatTrajectory>, did: &str| {
            let names: Vec<String> = seats.iter().map(|seat| self.source.name(&seat.seat)).collect();
            if names.is_empty() { String::new() } else { format!("; {} {did}", joined(&names)) }
        };
        format!("{}{}", clause(abstained, "abstained"), clause(absent, "did not vote"))
    }

    /// How the verdict relates to the first positions.
    fn verdict(&self) -> Option<String> {
        let first = self.own_rounds.first().filter(|first| first.stands.len() > 1)?;
        let figures = self.evidence.first_round.as_ref()?;
        if !first.is_sorted() {
            return Some(self.unknown_positions());
        }
        let sentence = match figures.positions.len() {
            _ if self.scored => return self.scores_verdict(figures),
            1 => self.agreed(first),
            _ => match figures.vote.as_deref() {
                Some(vote) => self.after_vote(figures, vote),
                None => self.after_tie(figures),
            },
        };
        let unknown = matches!(self.known_verdict(), KnownVerdict::Unknown).then(|| self.unknown_verdict());
        Some([Some(sentence), unknown].into_iter().flatten().collect::<Vec<_>>().join(" "))
    }

    /// In which round the protocol's own rule first gave the verdict for good, and by whose change.
    fn turn(&self) -> Option<String> {
        let KnownVerdict::Held(decided) = self.known_verdict() else { return None };
        let rounds = &self.history.rounds;
        // With one round of changes there is nothing to choose from.
        let is_told = rounds.len() > 2 && !self.history.are_texts;
        let before = rounds.iter().rposition(|round| round.ruling.as_deref() != Some(decided));
        let turned = before.filter(|_| is_told).and_then(|before| rounds.get(before + 1))?;
        let when = self.source.round_name(turned.round);
        let mut flips = self.evidence.flips.iter().filter(|flip| flip.round == turned.round);
        let by = match (flips.next(), flips.next()) {
            (Some(only), None) if turned.ballots => {
                format!(", by the vote of {}", self.source.name(&only.seat))
            }
            (Some(only), None) => {
                format!(", by {}'s change ({})", self.source.name(&only.seat), flip_citation(only))
            }
            _ => String::new(),
        };
        let from = before.and_then(|before| rounds.get(before)?.ruling.as_deref());
        let from = from
            .map_or(String::new(), |from| format!(" from {} to {}", self.quoted(from), self.quoted(decided)));
        Some(format!("The {} turned{from} in {when}{by}.", self.noun()))
    }

    fn known_verdict(&self) -> KnownVerdict<'a> {
        match &self.history.decided {
            _ if self.source.outcome().is_none() => KnownVerdict::NotYet,
            DecidedPosition::Nothing => KnownVerdict::Missing,
            DecidedPosition::Unknown => KnownVerdict::Unknown,
            DecidedPosition::Held(name) => KnownVerdict::Held(name),
            DecidedPosition::New(_) => KnownVerdict::New,
        }
    }

    /// `verdict`, or `answer` if the protocol gives one.
    fn noun(&self) -> &'static str {
        let headline = &self.source.view.headline;
        if headline.verdict.is_none() && headline.answer.is_some() { "answer" } else { "verdict" }
    }

    /// Which sentences are impossible because no verified declaration sorts the positions.
    fn unknown_positions(&self) -> String {
        let is_decided = !matches!(self.known_verdict(), KnownVerdict::NotYet | KnownVerdict::Missing);
        let all_unknown = self.history.rounds.iter().all(|round| !round.is_sorted());
        let mut unknown = Vec::new();
        unknown.extend(all_unknown.then(|| format!("how far they {}", self.would("agreed", "agree"))));
        unknown.push(format!("what a plain vote on them {}", self.would("would have said", "says")));
        unknown.extend(
            (self.is_debated() && is_decided)
                .then(|| format!("whether the debate changed the {}", self.noun())),
        );
        let which = if all_unknown { "positions" } else { "first positions" };
        let is = if unknown.len() == 1 { "is" } else { "are" };
        let unknown = joined(&unknown);
        format!("No verified declaration says which of the {which} are the same, so {unknown} {is} unknown.")
    }

    fn unknown_verdict(&self) -> String {
        let noun = self.noun();
        let line = format!("No verified declaration says which position the {noun} states");
        match self.is_debated() {
            false => format!("{line}."),
            true => format!("{line}, so whether the debate changed it is unknown."),
        }
    }

    /// What the rule of a protocol that decides on scores would have made of the first ones.
    fn scores_verdict(&self, figures: &FirstRound) -> Option<String> {
        let would = "The first scores would have given";
        let ruling = figures.ruling.as_deref();
        Some(match (self.known_verdict(), ruling) {
            _ if !self.is_debated() => return None,
            (KnownVerdict::Held(decided), Some(ruling)) if ruling == decided => {
                format!("{would} the same verdict.")
            }
            (KnownVerdict::Held(decided), Some(ruling)) => {
                format!("{would} {} instead of {}.", self.quoted(ruling), self.quoted(decided))
            }
            (KnownVerdict::New, Some(ruling)) => {
                format!("{would} another verdict: {}.", self.quoted(ruling))
            }
            (KnownVerdict::Held(_) | KnownVerdict::New, None) => format!("{would} no verdict."),
            (KnownVerdict::Missing, Some(ruling)) => {
                format!("{would} a verdict, {}, but there is none.", self.quoted(ruling))
            }
            (KnownVerdict::Missing, None) => format!("{would} no verdict either."),
            (KnownVerdict::Unknown | KnownVerdict::NotYet, _) => return None,
        })
    }

    /// Every first position is the same.
    fn agreed(&self, first: &RoundPositions) -> String {
        let who = match first.stands.len() {
            all if all == self.seats => self.some_of(all, all),
            some => format!("the {} {}s with a first position", number_word(some), self.role),
        };
        let position = first.stands.first().map_or("", |held| held.position.as_str());
        let what = if self.history.are_texts { "the same position" } else { position };
        let head = match self.is_debated() {
            false => format!("{} held {what}", capitalized(&who)),
            true => format!("Before they read each other, {who} held {what}"),
        };
        match self.known_verdict() {
            KnownVerdict::Held(decided) if decided == position => {
                format!("{head}, and that is the {}.", self.noun())
            }
            KnownVerdict::Unknown => format!("{head}."),
            KnownVerdict::NotYet => format!("{head}; {}.", self.stated()),
            _ => format!("{head}, but {}.", self.stated()),
        }
    }

    /// A clause that says what the verdict is, where it is not what the sentence expects.
    fn stated(&self) -> String {
        let noun = self.noun();
        match self.known_verdict() {
            KnownVerdict::NotYet => format!("there is no {noun} yet"),
            KnownVerdict::Missing => format!("there is no {noun}"),
            KnownVerdict::Unknown => String::new(),
            KnownVerdict::Held(decided) if !self.history.are_texts => format!("the {noun} is {decided}"),
            KnownVerdict::Held(_) => format!("the {noun} states another position"),
            KnownVerdict::New => format!("the {noun} states a position that nobody held"),
        }
    }

    fn first_positions(&self) -> &'static str {
        if self.is_debated() { "first positions" } else { "positions" }
    }

    /// Without a debate, what would have been is what is.
    fn would(&self, have_been: &'static str, is: &'static str) -> &'static str {
        if self.is_debated() { have_been } else { is }
    }

    /// Whether there was anything after the first positions.
    fn is_debated(&self) -> bool {
        self.history.rounds.len() > 1
    }

    /// One first position has the most holders.
    fn after_vote(&self, figures: &FirstRound, vote: &str) -> String {
        let (noun, on) = (self.noun(), self.first_positions());
        let says = self.would("would have said", "says");
        let said = format!("A plain vote on the {on} {says} {}", self.quoted(vote));
        let rule = "the protocol's own rule";
        let ruling = figures.ruling.as_deref();
        match self.known_verdict() {
            KnownVerdict::Unknown => format!("{said}."),
            KnownVerdict::NotYet => format!("{said}; {}.", self.stated()),
            KnownVerdict::Missing => format!("{said}, but {}.", self.stated()),
            KnownVerdict::Held(decided)
                if ruling == Some(decided) && vote != decided && !self.is_debated() =>
            {
                format!("{said}; by {rule} {}.", self.stated())
            }
            KnownVerdict::Held(decided) if vote == decided => {
                let gives = self.would("would have given", "gives");
                // A debate can add to a position that stays the same.
                let what = if self.history.are_texts && self.is_debated() { "position" } else { noun };
                let same = format!("A plain vote on the {on} {gives} the same {what}");
                match ruling {
                    Some(ruling) if ruling == decided => format!("{same}."),
                    Some(ruling) => {
                        format!("{same}, but by {rule} they would have given {}.", self.quoted(ruling))
                    }
                    None => format!("{same}, but by {rule} they would have given none."),
                }
            }
            KnownVerdict::Held(decided) if ruling == Some(decided) => {
                format!(
                    "By {rule} the {on} would have given the same {noun}; a plain vote on them would have said {}.",
                    self.quoted(vote)
                )
            }
            KnownVerdict::Held(_) | KnownVerdict::New => match ruling {
                Some(ruling) if ruling == vote => format!("{said}; {}.", self.stated()),
                Some(ruling) => {
                    let ruling = self.quoted(ruling);
                    format!("{said}, and {rule} would have given {ruling}; {}.", self.stated())
                }
                None => format!("{said}, and {rule} would have given no {noun}; {}.", self.stated()),
            },
        }
    }

    /// Several first positions have the most holders.
    fn after_tie(&self, figures: &FirstRound) -> String {
        let (noun, tie) = (self.noun(), self.tie(figures));
        let ruling = figures.ruling.as_deref();
        match (self.known_verdict(), ruling) {
            (KnownVerdict::Unknown, _) => format!("{tie}."),
            (KnownVerdict::NotYet | KnownVerdict::Missing, _) => format!("{tie}; {}.", self.stated()),
            (KnownVerdict::Held(decided), Some(ruling)) if ruling == decided && !self.is_debated() => {
                format!("{tie}; the protocol's own rule decided.")
            }
            (KnownVerdict::Held(decided), Some(ruling)) if ruling == decided => {
                format!("{tie}, but by the protocol's own rule the {noun} would have been the same.")
            }
            (_, Some(ruling)) => {
                let ruling = self.quoted(ruling);
                format!(
                    "{tie}. By the protocol's own rule they would have given {ruling}; {}.",
                    self.stated()
                )
            }
            (verdict, None) => format!("{tie}. {}", self.tie_ending(&verdict)),
        }
    }

    /// Whether the debate broke a tie, as far as the last positions show it.
    fn tie_ending(&self, verdict: &KnownVerdict<'_>) -> String {
        let noun = self.noun();
        let takes = match verdict {
            KnownVerdict::New => format!("the {noun} states a position that nobody held"),
            _ => format!("the {noun} takes one of the positions that were held"),
        };
        let last = self.history.rounds.last().filter(|last| last.is_sorted() && self.is_debated());
        let Some(last) = last else { return format!("{}.", capitalized(&takes)) };
        match (last.plurality(), verdict) {
            (Some(most), verdict) => {
                let holders = last.stands.iter().filter(|held| held.position == most).count();
                let who = self.some_of(holders, self.seats);
                let end = match verdict {
                    KnownVerdict::Held(decided) if most == *decided => format!("and that is the {noun}"),
                    _ => format!("but {}", self.stated()),
                };
                format!("In the end {who} held {}, {end}.", self.quoted(most))
            }
            (None, _) => format!("The debate did not break the tie; {takes}."),
        }
    }

    fn tie(&self, figures: &FirstRound) -> String {
        let on = self.first_positions();
        if figures.positions.iter().all(|position| position.count <= 1) {
            let head = match figures.positions.len() {
                2 => format!("The two {on} {} different", self.would("were", "are")),
                _ => format!("No two of the {on} {} the same", self.would("were", "are")),
            };
            return format!("{head}, so a plain vote on them {} tied", self.would("would have been", "is"));
        }
        let between = match self.history.are_texts {
            false => joined(&figures.tied.iter().map(|name| self.quoted(name)).collect::<Vec<_>>()),
            true => format!("{} of them", number_word(figures.tied.len())),
        };
        format!("A plain vote on the {on} {} tied between {between}", self.would("would have been", "is"))
    }

    /// A position in a sentence: a value as it is, a text in quotes.
    fn quoted(&self, position: &str) -> String {
        let line = agon_host::clean_line(position);
        if !self.history.are_texts {
            return excerpt(&line, QUOTED_CHARS_MAX);
        }
        let short = excerpt(line.trim_end_matches('.'), QUOTED_CHARS_MAX).replace(" [...]", "...");
        format!("\"{}\"", short.replace('"', "'"))
    }

    /// What a seat says, in quotes, as a sentence.
    fn quoted_words(&self, text: &str) -> String {
        let line = agon_host::clean_line(text);
        let words = match self.length {
            ReportLength::Full => line,
            ReportLength::Any | ReportLength::Short => excerpt_of_sentences(&line, WORDS_CHARS_MAX),
        };
        format!("\"{}\"", sentence(&words.replace('"', "'")))
    }

    /// The last rounds in which nobody revised anything, and how many calls they took.
    fn idle_rounds(&self) -> Option<String> {
        let idle = &self.evidence.counterfactual.idle_rounds;
        let rounds: Vec<u32> = self.history.rounds.iter().map(|round| round.round).collect();
        let tail = rounds.iter().rev().take_while(|round| idle.contains(round)).count();
        let (before, tail) = rounds.split_at(rounds.len() - tail);
        let calls = before.last().zip(Some(self.calls_in(tail))).filter(|(_, calls)| *calls > 0);
        let saved = calls.map(|(before, calls)| {
            let noun = if calls == 1 { "call" } else { "calls" };
            let before = self.source.round_name(*before);
            format!("stopping after {before} would have left the same positions with {calls} fewer {noun}.")
        });
        // If nobody revised anything in any round, the first sentence has said so.
        if idle.len() + 1 >= self.own_rounds.len() {
            return saved.map(|saved| capitalized(&saved));
        }
        let named = if tail.is_empty() { idle.as_slice() } else { tail };
        let line = format!("Nobody revised anything in {}", rounds_words(named));
        (!named.is_empty()).then(|| match saved {
            Some(saved) => format!("{line}; {saved}"),
            None => format!("{line}."),
        })
    }

    fn calls_in(&self, rounds: &[u32]) -> u32 {
        let phases = self.evidence.cost.rounds.iter();
        let counted = phases.filter(|phase| {
            rounds.contains(&phase.round) && self.source.is_in_round(&phase.phase, phase.round)
        });
        counted.map(|phase| phase.calls).fold(0, u32::saturating_add)
    }

    /// How many independent voices the seats are worth, or which of them share a model.
    fn independence(&self) -> Option<String> {
        let independence = &self.evidence.independence;
        if self.seats < 2 {
            return None;
        }
        if !independence.known {
            let (role, shared) = (&self.role, self.shared_models());
            return Some(format!("How independent the {role}s are is not known yet; {shared}."));
        }
        let seats = format!("the {} {}s", number_word(self.seats), self.role);
        let all = self.seats as f64;
        Some(match independence.n_eff.filter(|n_eff| *n_eff <= all) {
            Some(n_eff) => {
                format!("By earlier debates, {seats} are worth about {n_eff:.1} independent voices.")
            }
            None => format!("By earlier debates, {seats} do not err together."),
        })
    }

    fn shared_models(&self) -> String {
        let independence = &self.evidence.independence;
        let models: Vec<usize> = independence.shared_models.iter().map(|shared| shared.seats.len()).collect();
        let families: Vec<usize> = independence.families.iter().map(|shared| shared.seats.len()).collect();
        match (models.as_slice(), families.as_slice()) {
            ([some], _) => format!("{} use the same model", self.number_of(*some)),
            ([_, ..], _) => {
                format!("{} share a model with another seat", self.number_of(models.iter().sum()))
            }
            ([], [some]) => format!("{} use models of one vendor", self.number_of(*some)),
            ([], [_, ..]) => {
                format!("{} share a vendor with another seat", self.number_of(families.iter().sum()))
            }
            ([], []) => "no two share a model".to_owned(),
        }
    }
}

/// The distinct values, in order.
fn distinct<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}
