//! How `council` ends: the outcome, what became of every opening position, what a reader should know, who voted what when, and what can
//! be cited by an id.

use std::collections::BTreeMap;

use agon_core::wording::{capitalized, rounds, sentences};
use agon_core::{
    Ballot, CitableText, Corrupt, DecidedPosition, Fate, Fidelity, Outcome, PositionChange, PositionFate,
    PositionHistory, RoundPositions, SeatPosition, SeatVote, Status, Termination,
};
use serde::{Deserialize, Serialize};

use super::CouncilPhase;
use super::log::{Challenge, CouncilLog, CouncilRound, CouncillorStanding, PeerMessage};
use super::moderation::RoundFindings;
use super::replies::{CouncilVote, FinalStatement};
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
        warnings: warnings(log, termination),
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
    /// The vote in words.
    voted: String,
    decision: Option<CouncilVote>,
}

impl<'l> CouncillorEnding<'l> {
    fn new(log: &'l CouncilLog<'l>, seat: &'l str, opening: &'l CouncillorStanding) -> Self {
        let (last, standing) = (log.finals.get(seat), log.standings().get(seat).unwrap_or(opening));
        let vote = last.map_or(standing.vote, |last| last.vote);
        let how = if last.is_some() { "voted" } else { "did not vote; the last provisional vote was" };
        let voted = format!("{how} {}", vote.as_str());
        let decision = decide(&log.votes(), log.quorum()).map(|decided| decided.vote);
        Self { log, seat, opening, standing, last, vote, voted, decision }
    }

    /// Whether the councillor ends on another side than the decision, or there is no decision.
    fn is_dissent(&self) -> bool {
        self.decision.is_none_or(|decision| decision.is_in_favour() != self.vote.is_in_favour())
    }

    /// The vote beside the decision.
    fn against(&self) -> String {
        let decision = self.decision.map(|decision| format!("the decision is {}", decision.as_str()));
        let decision = decision.unwrap_or_else(|| "there is no decision that could adopt it".to_owned());
        format!("{}; {decision}", self.voted)
    }

    /// What became of the opening position: given up where the vote changed, else adopted or dissent, as the vote is.
    fn fate(&self) -> PositionFate {
        let (fate, ended) = match (self.opening.vote == self.vote, self.is_dissent()) {
            (false, _) => (Fate::Refuted, self.last.is_none().then(|| self.voted.clone())),
            (true, true) => (Fate::Minority, Some(self.against())),
            (true, false) => (
                Fate::Adopted,
                Some(format!("{} as in the opening, on the side of the decision", self.voted)),
            ),
        };
        let told = ended.into_iter().chain(self.departures()).enumerate();
        let told = told.map(|(place, text)| if place == 0 { text } else { capitalized(&text) });
        let reason = sentences(&told.collect::<Vec<_>>());
        let (seat, position) = (self.seat.to_owned(), self.opening.position.clone());
        PositionFate { seat, label: None, position, fate, reason }
    }

    /// How the opening position was left, the first step first: every change of the vote, and where a position was replaced before
    /// that, why the first one was.
    fn departures(&self) -> Vec<String> {
        let because = |text: &str| match text.trim() {
            "" => ", without a reason".to_owned(),
            text => format!(": {text}"),
        };
        let became = |from: CouncilVote, to: CouncilVote, when: &str, why: &str| {
            format!("{} became {} {when}{}", from.as_str(), to.as_str(), because(why))
        };
        let (mut told, mut again, mut vote) = (Vec::new(), None, self.opening.vote);
        for (round, held) in
            self.log.rounds.iter().filter_map(|round| Some((round.number, round.after.get(self.seat)?)))
        {
            if held.vote != vote {
                told.push(became(vote, held.vote, &format!("in round {round}"), &held.because));
            } else if held.changed && told.is_empty() {
                told.push(format!("the position was replaced in round {round}{}", because(&held.because)));
                again = Some(Vec::new());
            } else if held.changed {
                again.iter_mut().for_each(|again| again.push(round));
            }
            vote = held.vote;
        }
        let last = self.last.filter(|last| last.vote != vote);
        told.extend(last.map(|last| became(vote, last.vote, "in the vote", &last.because)));
        let again = again.filter(|again| !again.is_empty());
        told.extend(again.map(|again| format!("the position was replaced again in {}", rounds(&again))));
        told
    }

    fn dissent(&self) -> CouncilDissent {
        CouncilDissent {
            seat: self.seat.to_owned(),
            councillor: self.seat.to_owned(),
            opening: self.opening.position.clone(),
            position: self.last.map_or(&self.standing.position, |last| &last.final_position).clone(),
            vote: self.last.map(|last| last.vote),
            key_argument: self.last.map(|last| last.key_argument.clone()),
            reason: self.against(),
        }
    }
}

fn warnings(log: &CouncilLog<'_>, termination: Termination) -> Vec<String> {
    let held = format!("{} of {} rounds were held", log.rounds_completed(), log.options.rounds);
    let mut warnings = Vec::new();
    let not_asked = log.names(log.never_asked(CouncilPhase::Opening, 0));
    if log.was_cut() || !not_asked.is_empty() {
        let limit = log.limits().reached(log.active.len());
        let limit = limit.unwrap_or_else(|| "a limit was reached".to_owned());
        warnings.push(format!("the debate is incomplete because {limit}; {held}"));
    }
    if !not_asked.is_empty() {
        warnings.push(format!("not asked for an opening, because a limit was reached: {not_asked}"));
    }
    if termination == Termination::QuorumLost {
        let quorum = log.quorum();
        warnings.push(match log.finals.len() {
            0 => format!("fewer than {quorum} councillors were left, so there was no vote; {held}"),
            _ => format!("fewer than {quorum} councillors voted, so nothing is decided; {held}"),
        });
    }
    if log.options.economy {
        let economy = "economy mode: one call at a time on one model, and no messages between councillors";
        warnings.push(economy.to_owned());
    }
    warnings.extend(cut_off_warnings(log.debate));
    warnings.extend(shortened_warnings(log.debate));
    let out = log.members.iter().filter(|member| member.opening.is_none());
    let out = log.names(out.map(|member| member.seat.id.as_str()));
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
    // Who was absent is named below.
    let is_unanswered = |sent: &&PeerMessage| sent.reply.is_none() && round.is_present(&sent.to);
    warnings.extend(log.messages_of(number).filter(is_unanswered).map(|sent| {
        let (from, to) = (log.name(&sent.from), log.name(&sent.to));
        format!("round {number}: {to} did not reply to the message [{}] from {from}", sent.id)
    }));
    for (phase, said) in [
        (CouncilPhase::Challenge, round.examined.keys().copied().collect::<Vec<_>>()),
        (CouncilPhase::Respond, round.responded.keys().copied().collect()),
    ] {
        let (name, not_asked) = (phase.as_str(), log.never_asked(phase, number));
        let is_asked = log.debate.turn(name, number).is_some();
        let is_absent = |seat: &&str| is_asked && !said.contains(seat) && !not_asked.contains(seat);
        let absent = log.names(log.active.iter().copied().filter(is_absent));
        if !absent.is_empty() {
            let so = if phase == CouncilPhase::Respond { ", so the last position counts" } else { "" };
            warnings.push(format!("round {number}, {name}: absent{so}: {absent}"));
        }
        if !not_asked.is_empty() {
            let names = log.names(not_asked);
            warnings.push(format!("round {number}, {name}: not asked, because a limit was reached: {names}"));
        }
    }
    if round.is_moderated && round.moderator.is_none() {
        let found = "the moderator was absent, so only what can be counted was found";
        warnings.push(format!("round {number}: {found}"));
    }
    warnings.extend(round.findings.notes.iter().map(|note| format!("round {number}, moderation: {note}")));
    warnings
}

fn conclusion_warnings(log: &CouncilLog<'_>) -> Vec<String> {
    let decision = decide(&log.votes(), log.quorum());
    let mut warnings = Vec::new();
    match &log.conclusion {
        Some(said) => {
            let faults = verified_conclusion(log, said).faults.into_iter();
            warnings.extend(faults.map(|fault| format!("the moderator's conclusion: {fault}")));
        }
        None if decision.is_some() => {
            warnings
                .push("the moderator gave no conclusion: conditions and risks are listed as given".into());
        }
        None => {}
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
        let stands = log.openings.iter().map(|(seat, held)| seat_position(seat, held.vote, None));
        rounds.push(round_positions(log, 0, stands.collect(), false));
    }
    for round in log.rounds.iter().filter(|round| !round.responded.is_empty()) {
        let stands = round.after.iter().map(|(seat, held)| {
            let is_changed = held.changed || round.is_vote_changed(seat);
            let shown = (CouncilPhase::Respond, round.number);
            let change = is_changed.then(|| position_change(log, shown, round.number, seat, &held.because));
            seat_position(seat, held.vote, change)
        });
        rounds.push(round_positions(log, round.number, stands.collect(), false));
    }
    if let Some(last) = rounds.last().filter(|_| !log.finals.is_empty()).map(|last| last.round) {
        // Who did not vote has no position in the vote.
        let stands = log.standings().iter().filter_map(|(seat, held)| {
            let cast = log.finals.get(seat)?;
            let shown = (CouncilPhase::Vote, log.options.rounds);
            let change = (cast.vote != held.vote)
                .then(|| position_change(log, shown, last + 1, seat, cast.because.trim()));
            Some(seat_position(seat, cast.vote, change))
        });
        rounds.push(round_positions(log, last + 1, stands.collect(), true));
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

fn seat_position(seat: &str, vote: CouncilVote, change: Option<PositionChange>) -> SeatPosition {
    SeatPosition {
        seat: seat.to_owned(),
        position: vote.as_str().to_owned(),
        change,
        ..SeatPosition::default()
    }
}

fn round_positions(
    log: &CouncilLog<'_>,
    round: u32,
    stands: Vec<SeatPosition>,
    ballots: bool,
) -> RoundPositions {
    let vote = |held: &SeatPosition| CouncilVote::ALL.into_iter().find(|vote| vote.as_str() == held.position);
    let votes = if ballots { log.votes() } else { stands.iter().filter_map(vote).collect() };
    let ruling = decide(&votes, log.quorum()).map(|decision| decision.vote.as_str().to_owned());
    RoundPositions { round, stands, ruling, ballots }
}

/// The challenges and messages that a councillor's reason names by their ids, among those that it was shown when it gave the reason.
pub(super) fn cited(log: &CouncilLog<'_>, round: u32, seat: &str, because: &str) -> Vec<String> {
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
        let made = log.challenges.iter().map(|put| (&put.id, &put.from));
        made.chain(log.messages.iter().map(|sent| (&sent.id, &sent.from)))
            .any(|(own, from)| from == seat && own.eq_ignore_ascii_case(id))
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
        let challenges = self.challenges.iter().map(|put| CitableText {
            id: put.id.clone(),
            seat: put.from.clone(),
            round: put.round,
            text: put.question.clone(),
            remark: (put.quoted == Some(false)).then_some("claim not a quote"),
        });
        let messages = self.messages.iter().map(|sent| CitableText {
            id: sent.id.clone(),
            seat: sent.from.clone(),
            round: sent.round,
            text: sent.text.clone(),
            remark: None,
        });
        let terms = stated_conditions(self).into_iter().chain(stated_risks(self)).map(|term| CitableText {
            id: term.id,
            seat: term.seat.to_owned(),
            round: self.options.rounds,
            text: term.text.to_owned(),
            remark: None,
        });
        let failed = self.failed_quotes().into_iter().map(|(round, quote)| CitableText {
            id: String::new(),
            seat: "moderator".to_owned(),
            round,
            text: quote,
            remark: Some("does not verify; not counted"),
        });
        challenges.chain(messages).chain(terms).chain(failed).collect()
    }

    /// The moderator's quotes that nobody said, with the rounds of its replies. The same words can be a quote elsewhere in a round.
    fn failed_quotes(&self) -> Vec<(u32, String)> {
        let mut failed = Vec::new();
        for number in 1..=self.options.rounds {
            let findings = self.round(number).map(|round| &round.findings);
            let concluded = self.conclusion.as_ref().filter(|_| number == self.options.rounds);
            let verified = concluded.map(|said| verified_conclusion(self, said).quotes).unwrap_or_default();
            let verified: Vec<&str> = verified.iter().map(|said| said.quote.as_str()).collect();
            let declared = concluded.into_iter().flat_map(|said| &said.quotes);
            let unverified = declared.map(|said| said.quote.trim()).filter(|quote| !verified.contains(quote));
            let quotes = findings.into_iter().flat_map(|found| &found.unverified).map(String::as_str);
            let counted = findings.into_iter().flat_map(quotes_of).chain(verified.iter().copied());
            let is_failed = |quote: &&str| counted.clone().all(|other| other != *quote);
            failed.extend(quotes.chain(unverified).filter(is_failed).map(|quote| (number, quote.to_owned())));
        }
        failed
    }
}

/// What the moderator quotes in a round and somebody said.
fn quotes_of(findings: &RoundFindings) -> impl Iterator<Item = &str> + Clone {
    let shared = findings.shared_points.iter().flat_map(|shared| &shared.members);
    let said = shared.chain(&findings.new_arguments).map(|said| said.quote.as_str());
    said.chain(findings.evasions.iter().map(|evasion| evasion.quote.as_str()))
}
