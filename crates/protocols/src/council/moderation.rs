//! What is found in a round, and what the moderator does about it.
//!
//! What can be counted is never asked of a model: a challenge without an answer, equal positions, votes that are all the same, a round
//! without a change. The rest is the moderator's judgement. Each of its findings quotes a councillor, and a finding whose quote does
//! not occur in that councillor's words is dropped.

use agon_core::seed::SeededDraw;
use agon_core::{AbsenceReason, Corrupt, Reply};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::log::{
    Challenge, ChallengeFate, ChallengeViolation, CouncilLog, CouncilRound, CouncillorStanding, has_words,
};
use super::replies::{
    ChallengeStance, CouncilVote, CouncillorQuote, EvasionFinding, ModeratorReply, NewArgumentFinding,
    ReframingAnswer, SecondResponse, SharedPointFinding, SteelmanCase,
};
use crate::quotes::{is_quote_of, is_same_text};

/// "so that the moderator does not dominate".
pub(super) const INTERVENTIONS_MAX: usize = 3;

/// The seed's examples, for when the moderator has no question of its own.
pub(super) const REFRAMING_QUESTIONS: [&str; 4] = [
    "What if the timeline was 10x shorter/longer?",
    "What if the budget was unlimited/zero?",
    "What if the main competitor already did this?",
    "What would you recommend if you had to live with the consequences personally?",
];

/// What was found in a round, as it is in the verdict: each finding has the words that it rests on.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct RoundFindings {
    moderator_present: bool,
    pub(super) shared_points: Vec<SharedPoint>,
    pub(super) evasions: Vec<EvasionFinding>,
    pub(super) new_arguments: Vec<CouncillorQuote>,
    pub(super) key_exchanges: Vec<String>,
    /// What the moderator declared and what does not verify, and interventions for which there was no room, in sentences.
    pub(super) notes: Vec<String>,
    /// Whether nothing in the round is known to be new.
    pub(super) stale: bool,
    /// How many points had to be argued against.
    #[serde(skip)]
    pub(super) unchallenged: usize,
    /// What the moderator quotes and nobody said.
    #[serde(skip)]
    pub(super) unverified: Vec<String>,
}

/// A point that several councillors share.
#[derive(Debug, Clone, Serialize)]
pub(super) struct SharedPoint {
    pub(super) point: String,
    /// Whether somebody challenged it, or was asked to argue against it and did.
    pub(super) challenged: bool,
    /// The challenges against it.
    pub(super) challenged_by: Vec<String>,
    /// The councillors who share it, each with its own words.
    pub(super) members: Vec<CouncillorQuote>,
    /// Whether these are positions that are equal after normalization, so that nobody needed to declare it.
    pub(super) equal_positions: bool,
}

impl SharedPoint {
    pub(super) fn holders(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| member.councillor.as_str())
    }
}

/// Something that the moderator does, as it is in the verdict.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ModeratorIntervention {
    pub(super) round: u32,
    pub(super) kind: InterventionKind,
    /// The councillor who is asked, or `all`.
    pub(super) to: String,
    /// The challenge that is put again, or the point that many share.
    pub(super) about: Option<String>,
    pub(super) why: Option<String>,
    /// The words that it rests on.
    pub(super) quote: String,
    pub(super) question: String,
    /// All answers in one text.
    pub(super) reply: Option<String>,
    pub(super) replies: Vec<InterventionReply>,
    /// Words for people, [`ANSWERED`] among them.
    pub(super) outcome: String,
    /// How many of those who were asked have answered or are known to be absent.
    #[serde(skip)]
    pub(super) settled: usize,
}

/// Why the moderator intervenes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum InterventionKind {
    /// A challenge was not answered or was evaded: it is put again.
    Evasion,
    /// Nobody challenges what many share: somebody must make the case against it.
    Groupthink,
    /// The round brought nothing new: a question to all.
    Stale,
}

super::wire_names!(InterventionKind { Evasion = "evasion", Groupthink = "groupthink", Stale = "stale" });

/// The outcome of an intervention that got its answer.
const ANSWERED: &str = "answered";

/// An answer to an intervention.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct InterventionReply {
    pub(super) councillor: String,
    /// As the councillor gave it.
    reply: Value,
    /// As seats and people read it.
    #[serde(skip)]
    pub(super) text: String,
}

impl ModeratorIntervention {
    fn new(round: u32, kind: InterventionKind, to: &str, quote: String, question: String) -> Self {
        Self {
            round,
            kind,
            to: to.to_owned(),
            about: None,
            why: None,
            quote,
            question,
            reply: None,
            replies: Vec::new(),
            outcome: "not put".to_owned(),
            settled: 0,
        }
    }

    /// The seats that are asked.
    pub(super) fn asked<'l>(&self, log: &CouncilLog<'l>) -> Vec<&'l str> {
        match self.kind {
            InterventionKind::Stale => log.active.clone(),
            InterventionKind::Evasion | InterventionKind::Groupthink => {
                log.seat_named(&self.to).into_iter().collect()
            }
        }
    }

    /// The point against which somebody made the case.
    pub(super) fn steelmanned_point(&self) -> Option<&str> {
        let is_made = self.kind == InterventionKind::Groupthink && !self.replies.is_empty();
        self.about.as_deref().filter(|_| is_made)
    }
}

/// Who argued against a point, in words for people. A case that somebody was asked to argue does not show that anybody is against it.
pub(super) fn opposition<'i>(
    log: &CouncilLog<'_>,
    (point, challenged_by): (&str, &[String]),
    mut holders: impl Iterator<Item = &'i str>,
    done: impl IntoIterator<Item = &'i ModeratorIntervention>,
) -> String {
    let is_against =
        |done: &&ModeratorIntervention| done.steelmanned_point().is_some_and(|it| is_same_text(it, point));
    match (done.into_iter().find(is_against), challenged_by) {
        (Some(done), _) => {
            let shares = if holders.any(|seat| seat == done.to) { ", who shares it," } else { "" };
            format!("{}{shares} was asked to argue the case against", log.name(&done.to))
        }
        (None, []) => "not challenged".to_owned(),
        (None, ids) => format!("challenged in {}", id_list(ids.iter().map(String::as_str))),
    }
}

/// Ids as the transcript writes them.
pub(super) fn id_list<'i>(ids: impl Iterator<Item = &'i str>) -> String {
    ids.map(|id| format!("[{id}]")).collect::<Vec<_>>().join(", ")
}

/// What is found in a round: by counting, and from what the moderator said, as far as it verifies.
pub(super) fn find(
    log: &CouncilLog<'_>,
    round: &CouncilRound<'_>,
    said: Option<&ModeratorReply>,
) -> RoundFindings {
    let mut found = RoundFindings { moderator_present: said.is_some(), ..RoundFindings::default() };
    found.shared_points.extend(equal_positions(log, round));
    if let Some(said) = said {
        found.evasions = verified_evasions(log, round.number, &said.evasions, &mut found.notes);
        let is_found = |id: &str| found.evasions.iter().any(|other| is_same_text(&other.challenge_id, id));
        let dropped = said.evasions.iter().filter(|evasion| !is_found(&evasion.challenge_id));
        found.unverified.extend(dropped.map(|evasion| evasion.quote.trim().to_owned()));
        for shared in &said.shared_points {
            find_shared_point(log, round, shared, &mut found);
        }
        for new in &said.new_arguments {
            find_new_argument(log, round, new, &mut found);
        }
        let is_known =
            |id: &&String| key_exchange_ids(log, round.number).iter().any(|known| is_same_text(known, id));
        found.key_exchanges = said.key_exchanges.iter().filter(is_known).cloned().collect();
        found.key_exchanges.dedup();
    }
    found.stale = is_stale(log, round, said, &found);
    found
}

/// The challenges that were put or answered in a round, and its messages.
pub(super) fn key_exchange_ids(log: &CouncilLog<'_>, round: u32) -> Vec<String> {
    let is_of_round =
        |put: &&Challenge| put.round == round || put.answers.iter().any(|answer| answer.round == round);
    let challenges = log.challenges.iter().filter(is_of_round).map(|put| put.id.clone());
    challenges.chain(log.messages_of(round).map(|message| message.id.clone())).collect()
}

/// The largest group of positions that are equal after normalization, if it is large enough for groupthink.
fn equal_positions(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> Option<SharedPoint> {
    let held: Vec<(&str, &str)> =
        round.after.iter().map(|(seat, held)| (*seat, held.position.as_str())).collect();
    let holders = |position: &str| held.iter().filter(|(_, other)| is_same_text(other, position)).count();
    // Of several groups of one size, the first counts.
    let (_, position) = held.iter().rev().max_by_key(|(_, position)| holders(position))?;
    let members = held.iter().filter(|(_, other)| is_same_text(other, position));
    let members: Vec<_> = members.map(|(seat, quote)| CouncillorQuote::new(seat, quote)).collect();
    let is_enough = members.len() >= groupthink_min(log.active.len());
    let point = members.first()?.quote.clone();
    let challenged_by = Vec::new();
    is_enough.then_some(SharedPoint {
        point,
        challenged: false,
        challenged_by,
        members,
        equal_positions: true,
    })
}

/// The evasions whose quote occurs in the answer that the moderator judges in this round.
pub(super) fn verified_evasions(
    log: &CouncilLog<'_>,
    round: u32,
    declared: &[EvasionFinding],
    faults: &mut Vec<String>,
) -> Vec<EvasionFinding> {
    let mut found: Vec<EvasionFinding> = Vec::new();
    for evasion in declared {
        let challenge = log.challenge(&evasion.challenge_id).filter(|put| put.is_judged_in(round));
        let Some((challenge, answer)) = challenge.and_then(|put| Some((put, put.answers.last()?))) else {
            continue;
        };
        if found.iter().any(|other| other.challenge_id == challenge.id) {
            continue;
        }
        let (id, quote) = (challenge.id.clone(), evasion.quote.trim().to_owned());
        match log.texts.is_quoted(&quote, &answer.response) {
            true => found.push(EvasionFinding { challenge_id: id, why: evasion.why.trim().into(), quote }),
            false => faults.push(format!("The answer to {id} does not contain the words {quote:?}.")),
        }
    }
    found
}

fn find_shared_point(
    log: &CouncilLog<'_>,
    round: &CouncilRound<'_>,
    shared: &SharedPointFinding,
    found: &mut RoundFindings,
) {
    let point = shared.point.trim().to_owned();
    let mut members: Vec<CouncillorQuote> = Vec::new();
    for member in &shared.members {
        let seat = log.seat_named(&member.councillor).filter(|seat| log.active.contains(seat));
        let Some(seat) = seat.filter(|seat| members.iter().all(|other| other.councillor != *seat)) else {
            continue;
        };
        let quote = member.quote.trim();
        // A third councillor may be shown the quote, so it is not from a message.
        match round.shared_words(seat).iter().any(|text| log.texts.is_quoted(quote, text)) {
            true => members.push(CouncillorQuote::new(seat, quote)),
            false => {
                let name = log.name(seat);
                found.notes.push(format!(
                    "The moderator's quote of {name} for \"{point}\" does not verify: they did not say {quote:?} to everybody, word \
                     for word. So {name} is not counted, and whether it shares the point is not known."
                ));
                found.unverified.push(quote.to_owned());
            }
        }
    }
    members.sort_by_key(|member| log.active.iter().position(|seat| *seat == member.councillor));
    // A challenge of the round against the quoted words is a challenge against the point, whatever the moderator says. Any other must
    // be named, and must be one to somebody who shares the point.
    let is_named = |put: &Challenge| shared.challenged_by.iter().any(|id| is_same_text(id, &put.id));
    let is_against = |put: &&Challenge| {
        let is_quoted =
            |member: &CouncillorQuote| put.quoted == Some(true) && is_quote_of(&member.quote, &put.claim);
        let mut holders = members.iter().filter(|member| member.councillor == put.to);
        holders.any(|member| is_named(put) || (put.round == round.number && is_quoted(member)))
    };
    let challenged_by: Vec<String> =
        log.challenges.iter().filter(is_against).map(|put| put.id.clone()).collect();
    let challenged = !challenged_by.is_empty();
    // A point that only quotes equal positions is those positions again.
    let is_known = found.shared_points.iter().any(|other| {
        let repeats = |member: &CouncillorQuote| is_quote_of(&member.quote, &other.point);
        is_same_text(&other.point, &point) || (other.equal_positions && members.iter().all(repeats))
    });
    if is_known || members.is_empty() {
        return;
    }
    if shared.challenged && !challenged {
        found.notes.push(format!(
            "\"{point}\" does not count as challenged: no challenge to somebody who shares it is named."
        ));
    }
    found.shared_points.push(SharedPoint {
        point,
        challenged,
        challenged_by,
        members,
        equal_positions: false,
    });
}

fn find_new_argument(
    log: &CouncilLog<'_>,
    round: &CouncilRound<'_>,
    new: &NewArgumentFinding,
    found: &mut RoundFindings,
) {
    let Some(seat) = log.seat_named(&new.councillor) else { return };
    let quote = if has_words(&new.quote) { new.quote.trim() } else { new.argument.trim() };
    let words = log.quotable_words(round, seat);
    let name = log.name(seat);
    if !words.iter().any(|text| log.texts.is_quoted(quote, text)) {
        found.notes.push(format!(
            "The moderator's quote of a new argument of {name} does not verify: they did not say {quote:?} word for word. So it is not counted."
        ));
        found.unverified.push(quote.to_owned());
    } else if was_said_before(log, round, quote) {
        found.notes.push(format!("The argument of {name} is not new: {quote:?} was said before this round."));
    } else {
        found.new_arguments.push(CouncillorQuote::new(seat, quote));
    }
}

/// Whether anybody said these words before this round.
fn was_said_before(log: &CouncilLog<'_>, round: &CouncilRound<'_>, words: &str) -> bool {
    let earlier = log.rounds.iter().filter(|other| other.number < round.number);
    let said = earlier.flat_map(|earlier| log.active.iter().flat_map(|seat| earlier.public_words(seat)));
    let held = log.openings.values().chain(round.before.values()).flat_map(CouncillorStanding::words);
    said.chain(held).any(|text| log.texts.is_quoted(words, text))
}

/// How many of `n` councillors must share a point for groupthink: `max(3, ceil(0.6 n))`.
pub(super) fn groupthink_min(n: usize) -> usize {
    (3 * n).div_ceil(5).max(3)
}

/// "no position changed and no new argument". Where the moderator is absent, or a new argument that it declares does not verify, the
/// councillors' own declarations count.
fn is_stale(
    log: &CouncilLog<'_>,
    round: &CouncilRound<'_>,
    said: Option<&ModeratorReply>,
    found: &RoundFindings,
) -> bool {
    let is_judged = said.is_some_and(|said| said.new_arguments.len() == found.new_arguments.len());
    let mut declared = round.responded.values().flat_map(|said| &said.new_arguments);
    let is_declared = !is_judged && declared.any(|new| has_words(new) && !was_said_before(log, round, new));
    let has_change =
        round.changed().next().is_some() || round.after.keys().any(|seat| round.is_vote_changed(seat));
    !round.responded.is_empty() && !has_change && found.new_arguments.is_empty() && !is_declared
}

/// Plans the round's interventions: evasions first, then groupthink, then stale, as many as there is room for.
pub(super) fn plan_interventions(log: &mut CouncilLog<'_>, round: &mut CouncilRound<'_>) {
    let mut planned = plan_re_asks(log, round);
    let (number, unchallenged) = (round.number, unchallenged_points(log, round));
    let (steelman, question) = (steelman_seat(log, round), reframing_question(log, round));
    let found = &mut round.findings;
    found.unchallenged = unchallenged.len();
    for (point, quote) in unchallenged {
        let Some(to) = steelman.filter(|_| planned.len() < INTERVENTIONS_MAX) else {
            found.notes.push(format!("There was no room to have \"{point}\" argued against."));
            continue;
        };
        let put = ModeratorIntervention::new(number, InterventionKind::Groupthink, to, quote, point.clone());
        planned.push(ModeratorIntervention { about: Some(point), ..put });
    }
    if found.stale && planned.len() >= INTERVENTIONS_MAX {
        let note = "The round was stale, and there was no room for a reframing question.";
        found.notes.push(note.to_owned());
    } else if found.stale {
        let quote = format!("round {number}: no position changed and no new argument was made");
        planned.push(ModeratorIntervention::new(number, InterventionKind::Stale, "all", quote, question));
    }
    round.interventions = planned;
}

/// Puts evaded challenges again. One that was put again before, or that finds no room, is a violation.
fn plan_re_asks(log: &mut CouncilLog<'_>, round: &CouncilRound<'_>) -> Vec<ModeratorIntervention> {
    let unanswered = round.unanswered.iter().map(|id| (id.clone(), "no answer to this id".to_owned(), None));
    let found = round.findings.evasions.iter();
    let found = found.map(|it| (it.challenge_id.clone(), it.why.clone(), Some(it.quote.clone())));
    let mut evasions: Vec<(String, String, Option<String>)> = unanswered.chain(found).collect();
    evasions.sort_by_key(|(id, ..)| log.challenges.iter().position(|put| put.id == *id));
    let mut planned: Vec<ModeratorIntervention> = Vec::new();
    for (id, why, quote) in evasions {
        let Some(challenge) = log.challenge_mut(&id) else { continue };
        if let Some(answer) = challenge.answers.last_mut().filter(|_| quote.is_some()) {
            answer.evasive_since = Some(round.number);
        }
        let violation = match challenge.re_asked {
            Some(_) => Some(format!("it was put again before; {why}")),
            None if planned.len() >= INTERVENTIONS_MAX => Some(format!("{why}; no room to put it again")),
            None => None,
        };
        if let Some(why) = violation {
            violate(log, &id, round.number, why, false);
            continue;
        }
        challenge.fate = ChallengeFate::Open;
        let (to, text) = (challenge.to.clone(), challenge.text());
        let quote = quote.unwrap_or_else(|| text.clone());
        let put = ModeratorIntervention::new(round.number, InterventionKind::Evasion, &to, quote, text);
        planned.push(ModeratorIntervention { about: Some(id), why: Some(why), ..put });
    }
    planned
}

/// Records that a councillor evaded a challenge for good.
fn violate(log: &mut CouncilLog<'_>, id: &str, round: u32, why: String, is_late: bool) {
    if let Some(challenge) = log.challenge_mut(id) {
        challenge.fate = ChallengeFate::Evaded;
        let (councillor, challenge_id) = (challenge.to.clone(), challenge.id.clone());
        log.violations.push(ChallengeViolation { round, councillor, challenge_id, why, is_late });
    }
}

/// What enough councillors share and nobody has challenged, each with the words that show it.
fn unchallenged_points(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> Vec<(String, String)> {
    let earlier = log.rounds.iter().filter(|other| other.number < round.number);
    let interventions = earlier.flat_map(|earlier| &earlier.interventions);
    let steelmanned: Vec<&str> = interventions.filter_map(ModeratorIntervention::steelmanned_point).collect();
    let is_new = |point: &str| steelmanned.iter().all(|other| !is_same_text(other, point));
    let mut points: Vec<(String, String)> = Vec::new();
    for shared in &round.findings.shared_points {
        let is_many = shared.members.len() >= groupthink_min(log.active.len());
        let is_unchallenged = shared.equal_positions || !shared.challenged;
        if is_many && is_unchallenged && is_new(&shared.point) {
            let quotes = shared.members.iter();
            let quotes: Vec<String> =
                quotes.map(|said| format!("{}: \"{}\"", log.name(&said.councillor), said.quote)).collect();
            points.push((shared.point.clone(), quotes.join("; ")));
        }
    }
    if let Some(vote) = uncontested_vote(log, round).filter(|_| points.is_empty()) {
        let point = format!("All provisional votes are {}", vote.as_str());
        let shown = format!("round {}: no challenge was answered with agree or modified", round.number);
        points.extend(is_new(&point).then_some((point, shown)));
    }
    points
}

/// The vote that all would give, while no challenge of the round was granted anything.
fn uncontested_vote(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> Option<CouncilVote> {
    let answers =
        log.challenges.iter().flat_map(|put| &put.answers).filter(|answer| answer.round == round.number);
    let is_conceded = answers.filter_map(|answer| answer.stance).any(ChallengeStance::concedes);
    let mut votes = round.after.values().map(|held| held.vote);
    let first = votes.next().filter(|_| !is_conceded && !round.responded.is_empty())?;
    (round.after.len() >= groupthink_min(log.active.len()) && votes.all(|vote| vote == first))
        .then_some(first)
}

/// Who makes the case against a point: the Critic, or the least convinced of those who are present.
fn steelman_seat<'l>(log: &CouncilLog<'l>, round: &CouncilRound<'_>) -> Option<&'l str> {
    let present = || log.active.iter().copied().filter(|seat| round.is_present(seat));
    let confidence = |seat: &&str| round.after.get(*seat).map(|standing| standing.confidence);
    present().find(|seat| *seat == "critic").or_else(|| present().min_by_key(confidence))
}

fn reframing_question(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> String {
    let own = round.moderator.as_ref().map(|said| said.reframing_question.trim()).unwrap_or_default();
    if has_words(own) {
        return own.to_owned();
    }
    let mut draw = SeededDraw::new(log.debate.brief.seed, &format!("reframing {}", round.number));
    let drawn = REFRAMING_QUESTIONS.get(draw.below(REFRAMING_QUESTIONS.len()));
    drawn.copied().unwrap_or_default().to_owned()
}

/// Records what came of the interventions: the fates of challenges, new positions, and whether the round is over.
pub(super) fn settle_interventions(
    log: &mut CouncilLog<'_>,
    round: &mut CouncilRound<'_>,
    replies: &[Option<&Reply>],
) -> Result<(), Corrupt> {
    let mut replies = replies.iter().copied();
    round.is_over = true;
    let mut interventions = std::mem::take(&mut round.interventions);
    for done in &mut interventions {
        let asked = done.asked(log);
        let replies: Vec<(&str, &Reply)> =
            asked.iter().filter_map(|seat| Some((*seat, replies.next()??))).collect();
        done.settled = replies.len();
        let is_settled = done.settled == asked.len();
        round.is_over &= is_settled;
        settle_one(log, round, done, &replies, is_settled)?;
    }
    round.interventions = interventions;
    let earlier = log.rounds.iter().flat_map(|round| &round.interventions);
    let steelmanned =
        earlier.chain(&round.interventions).filter_map(ModeratorIntervention::steelmanned_point);
    let steelmanned: Vec<&str> = steelmanned.collect();
    for shared in &mut round.findings.shared_points {
        shared.challenged |= steelmanned.iter().any(|point| is_same_text(point, &shared.point));
    }
    Ok(())
}

/// Reads the answers to one intervention. They take effect once everybody who was asked has answered or is known to be absent.
fn settle_one(
    log: &mut CouncilLog<'_>,
    round: &mut CouncilRound<'_>,
    done: &mut ModeratorIntervention,
    replies: &[(&str, &Reply)],
    is_settled: bool,
) -> Result<(), Corrupt> {
    let (mut changed, mut outcome) = (0, "absent".to_owned());
    for (seat, value) in replies.iter().filter_map(|(seat, reply)| Some((*seat, reply.value()?))) {
        let text = match done.kind {
            InterventionKind::Evasion => {
                let said = SecondResponse::deserialize(value)?;
                let id = done.about.as_deref().unwrap_or_default();
                if is_settled {
                    outcome = settle_re_ask(log, round.number, id, &said).to_owned();
                }
                let stance = said.stance.map_or("no stance", ChallengeStance::as_str);
                format!("[{id}] ({stance}) {}", said.response.trim())
            }
            InterventionKind::Groupthink => {
                outcome = ANSWERED.to_owned();
                steelman_text(done.about.as_deref().unwrap_or_default(), &SteelmanCase::deserialize(value)?)
            }
            InterventionKind::Stale => {
                let said = ReframingAnswer::deserialize(value)?;
                if let Some(standing) = round.after.get_mut(seat).filter(|_| is_settled) {
                    changed += usize::from(standing.update(&said.position, said.changed, &said.because));
                }
                said.effect.trim().to_owned()
            }
        };
        done.replies.push(InterventionReply { councillor: seat.to_owned(), reply: value.clone(), text });
    }
    let heard = done.replies.len();
    if done.kind == InterventionKind::Stale && heard > 0 {
        outcome = format!("{changed} of {heard} changed their position");
    }
    let unanswered =
        done.about.as_deref().filter(|_| done.kind == InterventionKind::Evasion && heard == 0 && is_settled);
    let is_garbled =
        replies.iter().any(|(_, reply)| matches!(reply, Reply::Absent { why: AbsenceReason::Malformed, .. }));
    if let Some(challenge) = unanswered.and_then(|id| log.challenge_mut(id)) {
        challenge.re_asked = Some(round.number);
        // An absence is not an evasion. Words that nobody can read are one: they take no stance.
        if !is_garbled {
            challenge.absent_in.push(round.number);
        }
    }
    if let Some(id) = unanswered.filter(|_| is_garbled) {
        violate(log, id, round.number, "put again, its answer could not be read".to_owned(), false);
        outcome = "evaded".to_owned();
    }
    let shown = done.replies.iter().map(|reply| match done.kind {
        InterventionKind::Stale => format!("{}: {}", log.name(&reply.councillor), reply.text),
        InterventionKind::Evasion | InterventionKind::Groupthink => reply.text.clone(),
    });
    let shown: Vec<String> = shown.collect();
    done.reply = (!shown.is_empty()).then(|| shown.join("\n"));
    if is_settled {
        done.outcome = outcome;
    }
    Ok(())
}

fn steelman_text(point: &str, said: &SteelmanCase) -> String {
    let mut lines = vec![format!("Against \"{point}\": {}", said.counter_argument.trim())];
    for (name, text) in [
        ("What would need to be true", &said.must_be_true),
        ("What would change my mind", &said.would_change_my_mind),
        ("Blind spots", &said.blind_spots),
    ] {
        lines.extend(has_words(text).then(|| format!("{name}: {}", text.trim())));
    }
    lines.join("\n")
}

/// Records the answer to a challenge that was put again, and says what came of it.
fn settle_re_ask(log: &mut CouncilLog<'_>, round: u32, id: &str, said: &SecondResponse) -> &'static str {
    let Some(challenge) = log.challenge_mut(id) else { return ANSWERED };
    challenge.re_asked = Some(round);
    let repeats = challenge.answers.iter().any(|first| is_same_text(&first.response, &said.response));
    let evasion = match said.stance {
        None => Some("put again, its answer takes no stance"),
        Some(_) if !has_words(&said.response) => Some("put again, its answer is empty"),
        Some(_) if repeats => Some("put again, its answer repeats the first one"),
        Some(_) => None,
    };
    if said.stance.is_some() || has_words(&said.response) {
        challenge.add_answer(round, said.stance, &said.response);
    }
    let Some(why) = evasion else {
        challenge.fate = ChallengeFate::Answered;
        return ANSWERED;
    };
    if let Some(answer) = challenge.answers.last_mut() {
        answer.evasive_since = Some(round);
    }
    violate(log, id, round, why.to_owned(), false);
    "evaded"
}

/// Records which answers to challenges that were put again in the last round the moderator found evasive after the votes.
pub(super) fn settle_late_evasions(log: &mut CouncilLog<'_>) {
    let Some(said) = &log.conclusion else { return };
    let last = log.options.rounds;
    let found = verified_evasions(log, last + 1, &said.evasions, &mut Vec::new());
    for evasion in found {
        let answers = log.challenge_mut(&evasion.challenge_id).map(|put| &mut put.answers);
        if let Some(answer) = answers.and_then(|answers| answers.last_mut()) {
            answer.evasive_since = Some(last + 1);
        }
        violate(log, &evasion.challenge_id, last, format!("it was put again before; {}", evasion.why), true);
    }
}
