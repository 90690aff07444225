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
}

impl RoundFindings {
    /// What the moderator quotes and somebody said.
    pub(super) fn quotes(&self) -> impl Iterator<Item = &str> {
        let shared = self.shared_points.iter().flat_map(|shared| &shared.members);
        let said = shared.chain(&self.new_arguments).map(|said| said.quote.as_str());
        said.chain(self.evasions.iter().map(|evasion| evasion.quote.as_str()))
    }
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
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
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

super::wire_words! {
    /// Why the moderator intervenes.
    #[derive(Default)]
    enum InterventionKind {
        #[default]
        /// A challenge was not answered or was evaded: it is put again.
        Evasion = "evasion",
        /// Nobody challenges what many share: somebody must make the case against it.
        Groupthink = "groupthink",
        /// The round brought nothing new: a question to all.
        Stale = "stale",
    }
}

/// The outcome of an intervention that got its answer.
const ANSWERED: &str = "answered";
/// The outcome of one that got none.
const ABSENT: &str = "absent";

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
    /// The point against which somebody made the case.
    pub(super) fn steelmanned_point(&self) -> Option<&str> {
        let is_made = self.kind == InterventionKind::Groupthink && !self.replies.is_empty();
        self.about.as_deref().filter(|_| is_made)
    }
}

/// Ids as the transcript writes them.
pub(super) fn id_list(ids: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    ids.into_iter().map(|id| format!("[{}]", id.as_ref())).collect::<Vec<_>>().join(", ")
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
        for shared in &said.shared_points {
            let shared = shared_point(log, round, shared, &mut found);
            found.shared_points.extend(shared);
        }
        for new in &said.new_arguments {
            let new = new_argument(log, round, new, &mut found.notes);
            found.new_arguments.extend(new);
        }
        let known = key_exchange_ids(log, round.number);
        let is_known = |id: &&String| known.iter().any(|known| is_same_text(known, id));
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
    let sharing = |position: &str| -> Vec<CouncillorQuote> {
        let same = round.after.iter().filter(|(_, held)| is_same_text(&held.position, position));
        same.map(|(seat, held)| CouncillorQuote::new(seat, &held.position)).collect()
    };
    // Of several groups of one size, the first counts.
    let groups = round.after.values().rev().map(|held| sharing(&held.position));
    let members =
        groups.max_by_key(Vec::len).filter(|group| group.len() >= groupthink_min(log.active.len()))?;
    let point = members.first()?.quote.clone();
    let challenged_by = Vec::new();
    Some(SharedPoint { point, challenged: false, challenged_by, members, equal_positions: true })
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

/// A point that the moderator declares, with those who said what it quotes; `None` where nobody did, or the point is known.
fn shared_point(
    log: &CouncilLog<'_>,
    round: &CouncilRound<'_>,
    shared: &SharedPointFinding,
    found: &mut RoundFindings,
) -> Option<SharedPoint> {
    let point = shared.point.trim().to_owned();
    let mut members: Vec<CouncillorQuote> = Vec::new();
    for member in &shared.members {
        let seat = log.seat_named(&member.councillor).filter(|seat| log.active.contains(seat));
        let Some(seat) = seat.filter(|seat| members.iter().all(|other| other.councillor != *seat)) else {
            continue;
        };
        let (name, quote) = (log.name(seat), member.quote.trim());
        // A third councillor may be shown the quote, so it is not from a message.
        if round.shared_words(seat).iter().any(|text| log.texts.is_quoted(quote, text)) {
            members.push(CouncillorQuote::new(seat, quote));
        } else {
            let note = format!(
                "{name} did not say {quote:?} to everybody, word for word. Whether it shares \"{point}\" is not known."
            );
            found.notes.push(note);
        }
    }
    members.sort_by_key(|member| log.active.iter().position(|seat| *seat == member.councillor));
    let is_known = found.shared_points.iter().any(|other| {
        // A point that only quotes equal positions is those positions again.
        let repeats = |member: &CouncillorQuote| is_quote_of(&member.quote, &other.point);
        is_same_text(&other.point, &point) || (other.equal_positions && members.iter().all(repeats))
    });
    if is_known || members.is_empty() {
        return None;
    }
    let against = log.challenges.iter().filter(|put| is_against(put, shared, &members, round.number));
    let challenged_by: Vec<String> = against.map(|put| put.id.clone()).collect();
    let challenged = !challenged_by.is_empty();
    if shared.challenged && !challenged {
        let note = format!(
            "\"{point}\" does not count as challenged: no challenge to somebody who shares it is named."
        );
        found.notes.push(note);
    }
    Some(SharedPoint { point, challenged, challenged_by, members, equal_positions: false })
}

/// A challenge of the round against the quoted words is a challenge against the point, whatever the moderator says. Any other must be
/// named, and must be one to somebody who shares the point.
fn is_against(put: &Challenge, shared: &SharedPointFinding, members: &[CouncillorQuote], round: u32) -> bool {
    let is_named = shared.challenged_by.iter().any(|id| is_same_text(id, &put.id));
    let may_quote = put.round == round && put.quoted == Some(true);
    let mut holders = members.iter().filter(|member| member.councillor == put.to);
    holders.any(|member| is_named || (may_quote && is_quote_of(&member.quote, &put.claim)))
}

fn new_argument(
    log: &CouncilLog<'_>,
    round: &CouncilRound<'_>,
    new: &NewArgumentFinding,
    notes: &mut Vec<String>,
) -> Option<CouncillorQuote> {
    let seat = log.seat_named(&new.councillor)?;
    let quote = new.words().trim();
    let name = log.name(seat);
    if !log.quotable_words(round, seat).iter().any(|text| log.texts.is_quoted(quote, text)) {
        notes.push(format!("{name} did not say {quote:?} word for word, so it is no new argument."));
        return None;
    }
    if was_said_before(log, round, quote) {
        notes.push(format!("{name}: {quote:?} is no new argument: it was said before this round."));
        return None;
    }
    Some(CouncillorQuote::new(seat, quote))
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
        let (about, to, kind) = (Some(point.clone()), to.to_owned(), InterventionKind::Groupthink);
        let put = ModeratorIntervention { round: number, kind, to, about, quote, ..Default::default() };
        planned.push(ModeratorIntervention { question: point, ..put });
    }
    if found.stale && planned.len() >= INTERVENTIONS_MAX {
        let note = "The round was stale, and there was no room for a reframing question.";
        found.notes.push(note.to_owned());
    } else if found.stale {
        let quote = format!("round {number}: no position changed and no new argument was made");
        let (to, kind) = ("all".to_owned(), InterventionKind::Stale);
        planned.push(ModeratorIntervention {
            round: number,
            kind,
            to,
            quote,
            question,
            ..Default::default()
        });
    }
    round.interventions = planned;
}

/// Puts evaded challenges again. One that was put again before, or that finds no room, is a violation.
fn plan_re_asks(log: &mut CouncilLog<'_>, round: &CouncilRound<'_>) -> Vec<ModeratorIntervention> {
    let unanswered = round.unanswered.iter().map(|id| EvasionFinding {
        challenge_id: id.clone(),
        why: "no answer to this id".to_owned(),
        quote: String::new(),
    });
    let mut evasions: Vec<_> = unanswered.chain(round.findings.evasions.iter().cloned()).collect();
    evasions.sort_by_key(|found| log.challenges.iter().position(|put| put.id == found.challenge_id));
    let mut planned: Vec<ModeratorIntervention> = Vec::new();
    for EvasionFinding { challenge_id: id, why, quote } in evasions {
        let Some(challenge) = log.challenge_mut(&id) else { continue };
        if let Some(answer) = challenge.answers.last_mut().filter(|_| !quote.is_empty()) {
            answer.evasive_since = Some(round.number);
        }
        let violation = match challenge.re_asked {
            Some(_) => Some(why.clone()),
            None if planned.len() >= INTERVENTIONS_MAX => Some(format!("{why}; no room to put it again")),
            None => None,
        };
        if let Some(why) = violation {
            violate(log, &id, round.number, why);
            continue;
        }
        challenge.fate = ChallengeFate::Open;
        let (to, question) = (challenge.to.clone(), challenge.text());
        let quote = if quote.is_empty() { question.clone() } else { quote };
        let (round, about, why) = (round.number, Some(id), Some(why));
        planned.push(ModeratorIntervention { round, to, about, why, quote, question, ..Default::default() });
    }
    planned
}

/// Records that a councillor evaded a challenge for good.
fn violate(log: &mut CouncilLog<'_>, id: &str, round: u32, why: String) {
    if let Some(challenge) = log.challenge_mut(id) {
        challenge.fate = ChallengeFate::Evaded;
        let (councillor, challenge_id) = (challenge.to.clone(), challenge.id.clone());
        log.violations.push(ChallengeViolation { round, councillor, challenge_id, why });
    }
}

/// What enough councillors share and nobody has challenged, each with the words that show it.
fn unchallenged_points(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> Vec<(String, String)> {
    let is_new = |point: &str| log.steelmanned_points().all(|other| !is_same_text(other, point));
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
    let present = || log.active.iter().copied().filter(|seat| round.responded.contains_key(seat));
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
        let asked = match done.kind {
            InterventionKind::Stale => log.active.clone(),
            InterventionKind::Evasion | InterventionKind::Groupthink => {
                Vec::from_iter(log.seat_named(&done.to))
            }
        };
        let replies: Vec<(&str, &Reply)> =
            asked.iter().filter_map(|seat| Some((*seat, replies.next()??))).collect();
        done.settled = replies.len();
        let is_settled = done.settled == asked.len();
        round.is_over &= is_settled;
        settle_one(log, round, done, &replies, is_settled)?;
    }
    round.interventions = interventions;
    let now = round.interventions.iter().filter_map(ModeratorIntervention::steelmanned_point);
    let steelmanned: Vec<&str> = log.steelmanned_points().chain(now).collect();
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
    let about = done.about.clone().unwrap_or_default();
    let mut changed = 0;
    for (seat, value) in replies.iter().filter_map(|(seat, reply)| Some((*seat, reply.value()?))) {
        let text = match done.kind {
            InterventionKind::Evasion => {
                let said = SecondResponse::deserialize(value)?;
                let stance = said.stance.map_or("no stance", ChallengeStance::as_str);
                format!("[{about}] ({stance}) {}", said.response.trim())
            }
            InterventionKind::Groupthink => steelman_text(&about, &SteelmanCase::deserialize(value)?),
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
    let shown = done.replies.iter().map(|reply| format!("{}: {}", log.name(&reply.councillor), reply.text));
    done.reply = Some(shown.collect::<Vec<_>>().join("\n")).filter(|shown| !shown.is_empty());
    done.outcome = match (done.kind, done.replies.len()) {
        _ if !is_settled => "not put".to_owned(),
        (InterventionKind::Evasion, _) => settle_re_ask(log, round.number, &about, replies)?.to_owned(),
        (_, 0) => ABSENT.to_owned(),
        (InterventionKind::Groupthink, _) => ANSWERED.to_owned(),
        (InterventionKind::Stale, heard) => format!("{changed} of {heard} changed their position"),
    };
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
fn settle_re_ask(
    log: &mut CouncilLog<'_>,
    round: u32,
    id: &str,
    replies: &[(&str, &Reply)],
) -> Result<&'static str, Corrupt> {
    let Some(challenge) = log.challenge_mut(id) else { return Ok(ANSWERED) };
    challenge.re_asked = Some(round);
    let reply = replies.first().map(|(_, reply)| *reply);
    let said = reply.and_then(Reply::value).map(SecondResponse::deserialize).transpose()?;
    let evasion = match (said, reply) {
        (Some(said), _) => take_second_response(challenge, round, &said),
        // An absence is not an evasion. Words that nobody can read are one: they take no stance.
        (None, Some(Reply::Absent { why: AbsenceReason::Malformed, .. })) => {
            Some("the second answer could not be read")
        }
        (None, _) => {
            challenge.absent_in.push(round);
            return Ok(ABSENT);
        }
    };
    let Some(why) = evasion else {
        challenge.fate = ChallengeFate::Answered;
        return Ok(ANSWERED);
    };
    if let Some(answer) = challenge.answers.last_mut().filter(|answer| answer.second) {
        answer.evasive_since = Some(round);
    }
    violate(log, id, round, why.to_owned());
    Ok("evaded")
}

/// Records a second response, and says how it evades the challenge if it does.
fn take_second_response(put: &mut Challenge, round: u32, said: &SecondResponse) -> Option<&'static str> {
    let repeats = put.answers.iter().any(|first| is_same_text(&first.response, &said.response));
    let is_empty = !has_words(&said.response);
    if said.stance.is_some() || !is_empty {
        put.add_answer(round, said.stance, &said.response);
    }
    match said.stance {
        None => Some("the second answer takes no stance"),
        Some(_) if is_empty => Some("the second answer is empty"),
        Some(_) if repeats => Some("the second answer repeats the first one"),
        Some(_) => None,
    }
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
        violate(log, &evasion.challenge_id, last, evasion.why);
    }
}
