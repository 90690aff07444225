//! How `council` ends: the outcome, what became of every opening position, what a reader should know, who voted what when, and what can
//! be cited by an id.

use std::collections::BTreeMap;

use agon_core::wording::sentences;
use agon_core::{
    Ballot, CitableText, Corrupt, DecidedPosition, Fate, Fidelity, Outcome, PositionChange, PositionFate,
    PositionHistory, RoundPositions, SeatPosition, SeatVote, Status, Termination,
};
use serde::{Deserialize, Serialize};

use super::CouncilPhase;
use super::log::{Challenge, CouncilLog, CouncilRound, CouncillorStanding, PeerMessage};
use super::replies::{CouncilVote, FinalStatement, ModeratorReply};
use super::verdict::{CouncilVerdict, decide, stated_conditions, stated_risks, verified_conclusion};
use crate::participation::{cut_off_warnings, shortened_warnings};
use crate::tools::{SourceCitation, named_items};

/// A councillor who voted against the decision, or who held out without a vote.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CouncilDissent {
    pub(super) seat: String,
    pub(super) councillor: String,
    pub(super) opening: String,
    /// The final position, or the last one where the councillor gave no final statement.
    pub(super) position: String,
    pub(super) vote: Option<CouncilVote>,
    pub(super) key_argument: Option<String>,
    pub(super) reason: String,
}

/// Why a debate ended in which the councillors were asked for their votes.
pub(super) fn termination(log: &CouncilLog<'_>) -> Termination {
    match (log.was_cut(), log.finals.len()) {
        (true, _) => Termination::Budget,
        (false, 0) => Termination::Failed,
        (false, votes) if votes < log.quorum() => Termination::QuorumLost,
        (false, _) => Termination::AllRoundsComplete,
    }
}

/// The outcome of a debate that is over.
pub(super) fn close(log: &CouncilLog<'_>, termination: Termination) -> Result<Outcome, Corrupt> {
    let is_complete = termination == Termination::AllRoundsComplete;
    let all_heard = log.debate.absences().next().is_none() && cut_off_warnings(log.debate).is_empty();
    let endings = || log.openings.iter().map(|(seat, opening)| CouncillorEnding::new(log, seat, opening));
    let dissent =
        endings().filter(CouncillorEnding::is_dissent).map(|ended| serde_json::to_value(ended.dissent()));
    Ok(Outcome {
        status: if is_complete { Status::Complete } else { Status::Incomplete },
        termination,
        rounds_completed: log.rounds_completed(),
        verdict: serde_json::to_value(CouncilVerdict::from_log(log))?,
        dissent: dissent.collect::<Result<_, _>>()?,
        fidelity: if is_complete && all_heard { Fidelity::Full } else { Fidelity::Degraded },
        warnings: warnings(log),
        labels: BTreeMap::new(),
        positions: endings().map(|ended| ended.fate()).collect(),
        passed: None,
        lesson: None,
    })
}

/// Where a councillor began, and where it ended.
struct CouncillorEnding<'l> {
    log: &'l CouncilLog<'l>,
    seat: &'l str,
    opening: &'l CouncillorStanding,
    standing: &'l CouncillorStanding,
    last: Option<&'l FinalStatement>,
    /// The vote, or the last provisional one.
    vote: CouncilVote,
    decision: Option<CouncilVote>,
}

impl<'l> CouncillorEnding<'l> {
    fn new(log: &'l CouncilLog<'l>, seat: &'l str, opening: &'l CouncillorStanding) -> Self {
        let (last, standing) = (log.finals.get(seat), log.standings().get(seat).unwrap_or(opening));
        let vote = last.map_or(standing.vote, |last| last.vote);
        let decision = decide(&log.votes(), log.quorum()).map(|decided| decided.vote);
        Self { log, seat, opening, standing, last, vote, decision }
    }

    /// Whether the councillor ends on another side than the decision, or there is no decision.
    fn is_dissent(&self) -> bool {
        self.decision.is_none_or(|decision| decision.is_in_favour() != self.vote.is_in_favour())
    }

    /// The vote beside the decision.
    fn vote_and_decision(&self) -> String {
        let how = if self.last.is_some() { "voted" } else { "did not vote; the last provisional vote was" };
        let decision = self.decision.map(|decision| format!("the decision is {}", decision.as_str()));
        let decision = decision.unwrap_or_else(|| "nothing was decided".to_owned());
        format!("{how} {}; {decision}", self.vote.as_str())
    }

    /// What became of the opening position: given up where the vote changed, else adopted or dissent, as the vote is.
    fn fate(&self) -> PositionFate {
        let fate = match (self.opening.vote == self.vote, self.is_dissent()) {
            (false, _) => Fate::Refuted,
            (true, true) => Fate::Minority,
            (true, false) => Fate::Adopted,
        };
        let mut told = self.changes();
        if fate != Fate::Refuted || self.last.is_none() {
            told.insert(0, self.vote_and_decision());
        }
        let (seat, position) = (self.seat.to_owned(), self.opening.position.clone());
        PositionFate { seat, label: None, position, fate, reason: sentences(&told) }
    }

    /// Every change of the vote, with its reason.
    fn changes(&self) -> Vec<String> {
        let history = position_history(self.log);
        let flips = history.flips().into_iter().filter(|flip| flip.seat == self.seat);
        let told = flips.map(|flip| {
            let is_vote = history.rounds.iter().any(|round| round.ballots && round.round == flip.round);
            let when = if is_vote { "in the vote".to_owned() } else { format!("in round {}", flip.round) };
            let because = flip.reason.map_or(", without a reason".to_owned(), |why| format!(": {why}"));
            format!("{} became {} {when}{because}", flip.from, flip.to)
        });
        told.collect()
    }

    fn dissent(&self) -> CouncilDissent {
        CouncilDissent {
            seat: self.seat.to_owned(),
            councillor: self.seat.to_owned(),
            opening: self.opening.position.clone(),
            position: self.last.map_or(&self.standing.position, |last| &last.final_position).clone(),
            vote: self.last.map(|last| last.vote),
            key_argument: self.last.map(|last| last.key_argument.clone()),
            reason: self.vote_and_decision(),
        }
    }
}

fn warnings(log: &CouncilLog<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    let not_asked = log.names(log.never_asked(CouncilPhase::Opening, 0));
    if log.was_cut() || !not_asked.is_empty() {
        let limit = log.limits().reached(log.active.len());
        let limit = limit.unwrap_or_else(|| "a limit was reached".to_owned());
        let (held, rounds) = (log.rounds_completed(), log.options.rounds);
        warnings
            .push(format!("the debate is incomplete because {limit}; {held} of {rounds} rounds were held"));
    }
    if !not_asked.is_empty() {
        warnings.push(format!("not asked for an opening, because a limit was reached: {not_asked}"));
    }
    if log.options.economy {
        let economy = "economy mode: one call at a time on one model, and no messages between councillors";
        warnings.push(economy.to_owned());
    }
    warnings.extend(cut_off_warnings(log.debate));
    warnings.extend(shortened_warnings(log.debate));
    let members = log.members.iter().map(|member| member.seat.id.as_str());
    let out = log.names(members.filter(|seat| !log.active.contains(seat)));
    if !out.is_empty() {
        warnings.push(format!("gave no opening and took no part: {out}"));
    }
    warnings.extend(log.rounds.iter().flat_map(|round| round_warnings(log, round)));
    let silent = log.names(log.active.iter().copied().filter(|seat| !log.finals.contains_key(seat)));
    if !silent.is_empty() && log.debate.turns_of(CouncilPhase::Vote.as_str()).next().is_some() {
        warnings.push(format!("did not vote: {silent}"));
    }
    warnings.extend(conclusion_warnings(log));
    warnings
}

fn round_warnings(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> Vec<String> {
    let (number, limit) = (round.number, log.options.exchanges);
    let surplus =
        round.examined.iter().filter(|(_, said)| !log.options.economy && said.messages.len() > limit);
    let surplus = surplus.map(|(seat, said)| {
        let (name, sent) = (log.name(seat), said.messages.len());
        format!(
            "round {number}: {name} sent {sent} messages; the limit is {limit}, and the others were left out"
        )
    });
    let mut warnings: Vec<String> = surplus.collect();
    let is_unanswered =
        |sent: &&PeerMessage| sent.reply.is_none() && round.responded.contains_key(sent.to.as_str());
    warnings.extend(log.messages_of(number).filter(is_unanswered).map(|sent| {
        let (from, to) = (log.name(&sent.from), log.name(&sent.to));
        format!("round {number}: {to} did not reply to the message [{}] from {from}", sent.id)
    }));
    for phase in [CouncilPhase::Challenge, CouncilPhase::Respond] {
        let not_asked = log.names(log.never_asked(phase, number));
        if !not_asked.is_empty() {
            let name = phase.as_str();
            warnings
                .push(format!("round {number}, {name}: not asked, because a limit was reached: {not_asked}"));
        }
    }
    warnings.extend(round.findings.notes.iter().map(|note| format!("round {number}, moderation: {note}")));
    warnings
}

fn conclusion_warnings(log: &CouncilLog<'_>) -> Vec<String> {
    let decision = decide(&log.votes(), log.quorum());
    let mut warnings = Vec::new();
    if let Some(said) = &log.conclusion {
        let faults = verified_conclusion(log, said).faults.into_iter();
        warnings.extend(faults.map(|fault| format!("the moderator's conclusion: {fault}")));
    } else if decision.is_some() {
        warnings.push("the moderator gave no conclusion: conditions and risks are listed as given".into());
    }
    if decision.is_some_and(|it| it.vote == CouncilVote::WithConditions) && stated_conditions(log).is_empty()
    {
        warnings.push("the decision is PROCEED WITH CONDITIONS, but nobody named a condition".to_owned());
    }
    warnings
}

/// Who voted what: the provisional votes of the openings and of each round, then the votes.
pub(super) fn position_history(log: &CouncilLog<'_>) -> PositionHistory {
    let mut rounds = Vec::new();
    if !log.openings.is_empty() {
        let held = log.openings.iter().map(|(seat, held)| (*seat, held.vote, None));
        rounds.push(round_positions(log, 0, held.collect()));
    }
    for round in log.rounds.iter().filter(|round| !round.responded.is_empty()) {
        let held = round.after.iter().map(|(seat, held)| {
            let is_changed = held.changed || round.is_vote_changed(seat);
            let shown = (CouncilPhase::Respond, round.number);
            let change = is_changed.then(|| position_change(log, shown, round.number, seat, &held.because));
            (*seat, held.vote, change)
        });
        rounds.push(round_positions(log, round.number, held.collect()));
    }
    if let Some(last) = rounds.last().filter(|_| !log.finals.is_empty()).map(|last| last.round) {
        // Who did not vote has no position in the vote.
        let held = log.standings().iter().filter_map(|(seat, held)| {
            let cast = log.finals.get(seat)?;
            let shown = (CouncilPhase::Vote, log.options.rounds);
            let change = (cast.vote != held.vote)
                .then(|| position_change(log, shown, last + 1, seat, cast.because.trim()));
            Some((*seat, cast.vote, change))
        });
        rounds.push(RoundPositions { ballots: true, ..round_positions(log, last + 1, held.collect()) });
    }
    // Until the debate is over, votes may be missing that would decide otherwise.
    let decision = decide(&log.votes(), log.quorum()).filter(|_| log.debate.outcome.is_some());
    let decided = decision.map_or(DecidedPosition::Nothing, |decision| {
        let name = decision.vote.as_str().to_owned();
        match log.votes().contains(&decision.vote) {
            true => DecidedPosition::Held(name),
            false => DecidedPosition::New(name),
        }
    });
    PositionHistory { are_texts: false, rounds, decided, marks: Vec::new(), near: None }
}

/// A change, with what its reason names of what the councillor had read in this phase.
fn position_change(
    log: &CouncilLog<'_>,
    (phase, phase_round): (CouncilPhase, u32),
    round: u32,
    seat: &str,
    because: &str,
) -> PositionChange {
    let shown = log.debate.items_shown(phase.as_str(), phase_round);
    let found = SourceCitation::in_text(&log.texts, &log.debate.brief, shown, because);
    let mut cited = cited(log, round, seat, because);
    let mut unverified = not_shown(log, seat, because, &cited);
    let unfound = named_items(&log.debate.brief, because).into_iter();
    let unfound = unfound.filter(|id| found.iter().all(|source| source.id != *id));
    unverified.extend(unfound.map(|id| format!("[{id}] without words that occur there")));
    cited.extend(found.iter().map(|source| source.cited.clone()));
    let reason = Some(because.to_owned()).filter(|because| !because.is_empty());
    let sources = found.into_iter().map(|source| source.id).collect();
    PositionChange { cited, sources, unverified, reason }
}

/// The votes of a round, with what they would decide.
fn round_positions(
    log: &CouncilLog<'_>,
    round: u32,
    held: Vec<(&str, CouncilVote, Option<PositionChange>)>,
) -> RoundPositions {
    let votes: Vec<CouncilVote> = held.iter().map(|(_, vote, _)| *vote).collect();
    let ruling = decide(&votes, log.quorum()).map(|decision| decision.vote.as_str().to_owned());
    let stands = held.into_iter().map(|(seat, vote, change)| SeatPosition {
        seat: seat.to_owned(),
        position: vote.as_str().to_owned(),
        change,
        ..SeatPosition::default()
    });
    RoundPositions { round, stands: stands.collect(), ruling, ballots: false }
}

/// The challenges and messages that a councillor's reason names by their ids, among those that it was shown when it gave the reason.
fn cited(log: &CouncilLog<'_>, round: u32, seat: &str, because: &str) -> Vec<String> {
    let is_named = |id: &str| {
        because.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word.eq_ignore_ascii_case(id))
    };
    // What is put to others in a round, the openings' questions in round 1, is public from the next round on.
    let is_read = |put: &&Challenge| (put.to == seat && put.round <= round) || put.round.max(1) < round;
    let challenges = log.challenges.iter().filter(is_read);
    let received = log.messages.iter().filter(|sent| {
        let is_reply_read = sent.from == seat && sent.reply.is_some() && sent.round < round;
        (sent.to == seat && sent.round <= round) || is_reply_read
    });
    let ids = challenges.map(|put| &put.id).chain(received.map(|sent| &sent.id));
    ids.filter(|id| is_named(id)).map(|id| format!("[{id}]")).collect()
}

/// The ids in square brackets of challenges and messages that the councillor neither made nor had read when it gave this reason.
fn not_shown(log: &CouncilLog<'_>, seat: &str, because: &str, cited: &[String]) -> Vec<String> {
    let is_id = |id: &&str| {
        let number = id.strip_prefix(['C', 'c', 'M', 'm']).unwrap_or_default();
        !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
    };
    let is_own = |id: &str| {
        let is_message = log.message(id).is_some_and(|sent| sent.from == seat);
        is_message || log.challenge(id).is_some_and(|put| put.from == seat)
    };
    let brackets = because.split('[').skip(1).filter_map(|rest| rest.split_once(']'));
    let named = brackets.flat_map(|(inside, _)| inside.split(',')).map(str::trim).filter(is_id);
    let mut ids: Vec<String> =
        named.filter(|id| !is_own(id)).map(|id| format!("[{}]", id.to_uppercase())).collect();
    ids.retain(|id| !cited.contains(id));
    ids.dedup();
    ids.into_iter().map(|id| format!("{id}, which it had not read")).collect()
}

/// What each councillor would have voted before it read anybody.
pub(super) fn ballots(log: &CouncilLog<'_>) -> Vec<Ballot> {
    let votes = log.openings.iter().map(|(seat, held)| ((*seat).to_owned(), held.vote.as_str().to_owned()));
    votes.map(|(seat, answer)| Ballot { seat, answer, stands_alone: true }).collect()
}

/// Each councillor's last vote: the final one, else the last provisional one.
pub(super) fn last_votes(log: &CouncilLog<'_>) -> Vec<SeatVote> {
    let vote = |(seat, held): (&&str, &CouncillorStanding)| SeatVote {
        seat: (*seat).to_owned(),
        label: None,
        vote: log.finals.get(seat).map_or(held.vote, |last| last.vote).as_str().to_owned(),
        confidence: Some(held.confidence.as_str().to_owned()),
    };
    log.standings().iter().map(vote).collect()
}

impl CouncilLog<'_> {
    /// What can be cited by an id: every challenge, message, condition and risk, as its author's reply has it, and the moderator's quotes that nobody said.
    pub(super) fn citable(&self) -> Vec<CitableText> {
        let citable = |id: &str, seat: &str, round: u32, text: &str, remark: Option<&'static str>| {
            let [id, seat, text] = [id, seat, text].map(str::to_owned);
            CitableText { id, seat, round, text, remark }
        };
        let last = self.options.rounds;
        let challenges = self.challenges.iter().map(|put| {
            let remark = (put.quoted == Some(false)).then_some("claim not a quote");
            citable(&put.id, &put.from, put.round, &put.question, remark)
        });
        let messages =
            self.messages.iter().map(|sent| citable(&sent.id, &sent.from, sent.round, &sent.text, None));
        let terms = stated_conditions(self).into_iter().chain(stated_risks(self));
        let terms = terms.map(|term| citable(&term.id, term.seat, last, term.text, None));
        let failed = self.quotes_not_counted().into_iter();
        let failed =
            failed.map(|(round, quote)| citable("", "moderator", round, &quote, Some("not counted")));
        challenges.chain(messages).chain(terms).chain(failed).collect()
    }

    /// What the moderator quotes and the findings do not count, with the rounds of its replies.
    fn quotes_not_counted(&self) -> Vec<(u32, String)> {
        let mut quotes: Vec<(u32, String)> = Vec::new();
        for round in &self.rounds {
            let counted: Vec<&str> = round.findings.quotes().collect();
            let declared = round.moderator.iter().flat_map(ModeratorReply::quotes);
            let others = declared.filter(|quote| !counted.contains(quote));
            quotes.extend(others.map(|quote| (round.number, quote.to_owned())));
        }
        if let Some(said) = &self.conclusion {
            let counted = verified_conclusion(self, said).quotes;
            let declared = said.quotes.iter().map(|said| said.quote.trim());
            let others = declared.filter(|quote| counted.iter().all(|said| said.quote != *quote));
            quotes.extend(others.map(|quote| (self.options.rounds, quote.to_owned())));
        }
        quotes
    }
}
