//! What the moderator finds in a round, and what it does about it.
//!
//! What can be counted is never asked of a model: a challenge without an answer, a round without a change. The rest is the moderator's
//! judgement, but every finding carries words that were really said: the moderator's quotation if a councillor said it, else the
//! councillor's nearest sentence. A finding without such words does not count.

use std::fmt;

use agon_core::seed::SeededDraw;
use agon_core::{Corrupt, Reply};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::challenges::{Challenge, ChallengeAnswer, ChallengeState, ChallengeViolation, stance_word};
use super::log::{CouncilLog, CouncilRound, CouncillorStanding, place_of};
use super::replies::{ModeratorReply, ReframingAnswer, SecondResponse, SteelmanCase};
use super::reply_rules::requested_fields;
use super::text_matching::{is_same_point, nearest_sentence, occurs_in, plain_words};

/// "so that the moderator does not dominate".
pub(super) const INTERVENTIONS_MAX: usize = 3;

/// The seed's examples, for when the moderator has no question of its own.
pub(super) const REFRAMING_QUESTIONS: [&str; 4] = [
    "What if the timeline was 10x shorter/longer?",
    "What if the budget was unlimited/zero?",
    "What if the main competitor already did this?",
    "What would you recommend if you had to live with the consequences personally?",
];

/// What was found in a round, with the words that each finding rests on.
#[derive(Debug, Default)]
pub(super) struct RoundFindings {
    pub(super) shared_points: Vec<SharedPoint>,
    pub(super) evasions: Vec<EvasiveAnswer>,
    /// Who made a new argument, by place, and the sentence.
    pub(super) new_arguments: Vec<(usize, String)>,
    /// Whether any councillor declares a new argument in words that were not said before.
    pub(super) new_argument_declared: bool,
    /// Notes about findings that do not count, and about interventions that found no room.
    pub(super) set_aside: Vec<String>,
}

/// A point that several councillors share.
#[derive(Debug, Clone)]
pub(super) struct SharedPoint {
    pub(super) point: String,
    /// Who shares it, by place, each with a sentence of its own.
    pub(super) holders: Vec<(usize, String)>,
    /// Whether the moderator says so, or a challenge of the round quotes it.
    pub(super) challenged: bool,
    /// Whether somebody has made the case against it, in this round or before.
    pub(super) steelmanned: bool,
}

impl SharedPoint {
    pub(super) fn is_challenged(&self) -> bool {
        self.challenged || self.steelmanned
    }

    pub(super) fn places(&self) -> impl Iterator<Item = usize> {
        self.holders.iter().map(|(place, _)| *place)
    }
}

/// An answer that does not engage its challenge.
#[derive(Debug)]
pub(super) struct EvasiveAnswer {
    /// The index of the challenge.
    pub(super) challenge: usize,
    pub(super) why: String,
    pub(super) quote: String,
}

/// Something that the moderator does.
#[derive(Debug)]
pub(super) struct ModeratorIntervention {
    pub(super) cause: InterventionCause,
    /// Who is asked, by place.
    pub(super) to: Vec<usize>,
    /// The words that it rests on.
    pub(super) quote: String,
    pub(super) question: String,
    /// What came back, in the order of `to`; `None` for an absence. Shorter while replies are missing.
    replies: Vec<Option<InterventionReply>>,
    pub(super) outcome: InterventionOutcome,
}

/// Why the moderator intervenes.
#[derive(Debug)]
pub(super) enum InterventionCause {
    /// A challenge, by its index, was not answered or was evaded: it is put again.
    Evasion { challenge: usize, why: String },
    /// Nobody challenges a point that many share: somebody must make the case against it.
    Groupthink { point: String },
    /// The round brought nothing new: a question to all.
    Stale,
}

/// The kind of an intervention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum InterventionKind {
    Evasion,
    Groupthink,
    Stale,
}

impl InterventionKind {
    /// The wire name.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Evasion => "evasion",
            Self::Groupthink => "groupthink",
            Self::Stale => "stale",
        }
    }
}

/// What came of an intervention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InterventionOutcome {
    NotPut,
    Absent,
    Answered,
    Evaded,
    Reframed { changed: usize, heard: usize },
}

impl fmt::Display for InterventionOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPut => f.write_str("not put"),
            Self::Absent => f.write_str("absent"),
            Self::Answered => f.write_str("answered"),
            Self::Evaded => f.write_str("evaded"),
            Self::Reframed { changed, heard } => write!(f, "{changed} of {heard} changed their position"),
        }
    }
}

/// The answer to an intervention.
#[derive(Debug)]
pub(super) struct InterventionReply {
    /// As it is in the log.
    pub(super) value: Value,
    pub(super) answer: InterventionAnswer,
}

/// The same, read.
#[derive(Debug)]
pub(super) enum InterventionAnswer {
    Response(SecondResponse),
    Steelman(SteelmanCase),
    Reframing(ReframingAnswer),
}

impl ModeratorIntervention {
    fn new(cause: InterventionCause, to: Vec<usize>, quote: String, question: String) -> Self {
        Self { cause, to, quote, question, replies: Vec::new(), outcome: InterventionOutcome::NotPut }
    }

    pub(super) fn kind(&self) -> InterventionKind {
        match self.cause {
            InterventionCause::Evasion { .. } => InterventionKind::Evasion,
            InterventionCause::Groupthink { .. } => InterventionKind::Groupthink,
            InterventionCause::Stale => InterventionKind::Stale,
        }
    }

    /// The challenge that is put again, by its index.
    pub(super) fn challenge(&self) -> Option<usize> {
        match self.cause {
            InterventionCause::Evasion { challenge, .. } => Some(challenge),
            InterventionCause::Groupthink { .. } | InterventionCause::Stale => None,
        }
    }

    /// Whether it was put to anybody, absent or not.
    pub(super) fn was_put(&self) -> bool {
        !self.replies.is_empty()
    }

    /// Who answered, by place, and what.
    pub(super) fn heard(&self) -> impl Iterator<Item = (usize, &InterventionReply)> {
        self.to.iter().zip(&self.replies).filter_map(|(place, reply)| Some((*place, reply.as_ref()?)))
    }

    /// The point against which somebody made the case.
    pub(super) fn steelmanned_point(&self) -> Option<&str> {
        match &self.cause {
            InterventionCause::Groupthink { point } if self.heard().next().is_some() => Some(point),
            _ => None,
        }
    }

    fn read_reply(&self, reply: &Reply) -> Result<Option<InterventionReply>, Corrupt> {
        let Some(value) = reply.value() else { return Ok(None) };
        let fields = requested_fields(value, |_| true);
        let answer = match self.kind() {
            InterventionKind::Evasion => InterventionAnswer::Response(SecondResponse::deserialize(fields)?),
            InterventionKind::Groupthink => InterventionAnswer::Steelman(SteelmanCase::deserialize(fields)?),
            InterventionKind::Stale => InterventionAnswer::Reframing(ReframingAnswer::deserialize(fields)?),
        };
        Ok(Some(InterventionReply { value: value.clone(), answer }))
    }

    /// An answer as seats and people read it.
    pub(super) fn reply_text(&self, reply: &InterventionReply) -> String {
        match &reply.answer {
            InterventionAnswer::Response(said) => {
                format!("[{}] ({}) {}", said.challenge_id.trim(), stance_word(said.stance), said.response.trim())
            }
            InterventionAnswer::Steelman(said) => {
                let against = match &self.cause {
                    InterventionCause::Groupthink { point } => point.as_str(),
                    InterventionCause::Evasion { .. } | InterventionCause::Stale => "",
                };
                let mut lines = vec![format!("Against \"{against}\": {}", said.counter_argument.trim())];
                for (name, text) in [
                    ("What would need to be true", &said.must_be_true),
                    ("What would change my mind", &said.would_change_my_mind),
                    ("Blind spots", &said.blind_spots),
                ] {
                    let text = text.trim();
                    lines.extend((!text.is_empty()).then(|| format!("{name}: {text}")));
                }
                lines.join("\n")
            }
            InterventionAnswer::Reframing(said) => format!("\"{}\" - {}", self.question, said.effect.trim()),
        }
    }
}

/// What is found in a round.
pub(super) fn find(log: &CouncilLog<'_>, round: &CouncilRound) -> RoundFindings {
    let declared = round.said.iter().flatten().flat_map(|said| &said.new_arguments);
    let mut declared = declared.map(|argument| argument.trim()).filter(|argument| !argument.is_empty());
    let mut found = RoundFindings {
        new_argument_declared: declared.any(|argument| !was_said_before(log, round, argument)),
        ..RoundFindings::default()
    };
    if let Some(said) = &round.moderator {
        find_evasions(log, round, said, &mut found);
        find_shared_points(log, round, said, &mut found);
        find_new_arguments(log, round, said, &mut found);
    }
    found
}

fn find_evasions(log: &CouncilLog<'_>, round: &CouncilRound, said: &ModeratorReply, found: &mut RoundFindings) {
    for evasion in &said.evasions {
        let id = evasion.challenge_id.as_str();
        let challenge = log.challenges.iter().position(|challenge| challenge.id() == id);
        if found.evasions.iter().any(|other| Some(other.challenge) == challenge) {
            continue;
        }
        let answer = challenge.and_then(|index| log.challenges.get(index)?.last_answer());
        let answer = answer.filter(|answer| answer.round == round.number);
        let (Some(challenge), Some(answer)) = (challenge, answer) else {
            found
                .set_aside
                .push(format!("the evasion of {id} does not count: there is no answer to it in this round"));
            continue;
        };
        let is_quoted = occurs_in(&evasion.quote, &answer.response);
        let quote = if is_quoted { evasion.quote.trim() } else { answer.response.trim() };
        let (why, quote) = (evasion.why.trim().to_owned(), quote.to_owned());
        found.evasions.push(EvasiveAnswer { challenge, why, quote });
        if !is_quoted {
            found.set_aside.push(format!(
                "the moderator's quotation for the evasion of {id} does not stand in the answer, which is quoted instead"
            ));
        }
    }
}

fn find_shared_points(
    log: &CouncilLog<'_>,
    round: &CouncilRound,
    said: &ModeratorReply,
    found: &mut RoundFindings,
) {
    for shared in &said.shared_points {
        let point = shared.point.trim().to_owned();
        let mut holders: Vec<(usize, String)> = Vec::new();
        for place in shared.councillors.iter().filter_map(|name| place_of(&log.members, name)) {
            if holders.iter().any(|(other, _)| *other == place) || !log.active.contains(&place) {
                continue;
            }
            let words = round.after.get(place).into_iter().flat_map(CouncillorStanding::words);
            let words: Vec<&str> = words.chain(round.words_of(place)).collect();
            let own = shared.quotes.iter().filter(|own| place_of(&log.members, &own.councillor) == Some(place));
            let quotes: Vec<&str> = own.map(|own| own.quote.as_str()).collect();
            match supporting_words(&shared.point, &quotes, &words) {
                Some(sentence) => holders.push((place, sentence.to_owned())),
                None => found.set_aside.push(format!(
                    "{} does not count as sharing \"{point}\": no words of theirs say it",
                    log.name(place)
                )),
            }
        }
        holders.sort_by_key(|(place, _)| *place);
        // A challenge of this round that quotes the point is a challenge against it, whatever the moderator says.
        let mut made = log.challenges.iter().filter(|challenge| challenge.round == round.number);
        let quoted = made.any(|challenge| plain_words(&challenge.claim) == plain_words(&shared.point));
        let challenged = shared.challenged || quoted;
        found.shared_points.push(SharedPoint { point, holders, challenged, steelmanned: false });
    }
}

fn find_new_arguments(
    log: &CouncilLog<'_>,
    round: &CouncilRound,
    said: &ModeratorReply,
    found: &mut RoundFindings,
) {
    for new in &said.new_arguments {
        let Some(place) = place_of(&log.members, &new.councillor) else { continue };
        let messages = log.messages.iter().filter(|message| message.round == round.number);
        let messages = messages.flat_map(|message| {
            let own = (message.from == place).then_some(message.text.as_str());
            own.into_iter().chain(message.reply.as_deref().filter(|_| message.to == place))
        });
        let words: Vec<&str> = round.words_of(place).into_iter().chain(messages).collect();
        let sentence = supporting_words(&new.argument, &[new.quote.as_str()], &words);
        let mut claims = [Some(new.argument.as_str()), sentence].into_iter().flatten();
        let is_old = claims.any(|claim| was_said_before(log, round, claim));
        let why_not = match sentence {
            Some(sentence) if !is_old => {
                found.new_arguments.push((place, sentence.to_owned()));
                continue;
            }
            _ if is_old => "its words were said in an earlier round",
            _ => "no words of theirs in this round make it",
        };
        found.set_aside.push(format!("the new argument of {} does not count: {why_not}", log.name(place)));
    }
}

/// The words that a finding rests on: the moderator's quotation if it occurs in what was said, else the nearest sentence.
fn supporting_words<'a>(finding: &str, quotes: &[&'a str], words: &[&'a str]) -> Option<&'a str> {
    let said = quotes.iter().copied().find(|quote| words.iter().any(|text| occurs_in(quote, text)));
    said.map(str::trim).or_else(|| nearest_sentence(finding, words.iter().copied()))
}

/// Whether anybody said these words before this round.
fn was_said_before(log: &CouncilLog<'_>, round: &CouncilRound, words: &str) -> bool {
    let words = format!(" {} ", plain_words(words));
    let earlier = log.rounds.iter().filter(|other| other.number < round.number);
    let mut said = earlier
        .flat_map(|earlier| (0..log.members.len()).flat_map(|place| earlier.words_of(place)))
        .chain(round.before.iter().flat_map(CouncillorStanding::words));
    !words.trim().is_empty() && said.any(|text| format!(" {} ", plain_words(text)).contains(&words))
}

/// How many of `n` councillors must share a point for groupthink: `max(3, ceil(0.6 n))`.
pub(super) fn groupthink_min(n: usize) -> usize {
    (3 * n).div_ceil(5).max(3)
}

/// Plans the round's interventions: evasions first, then groupthink, then stale, as many as there is room for.
pub(super) fn plan_interventions(log: &mut CouncilLog<'_>, round: &mut CouncilRound) {
    let mut planned = plan_re_asks(log, round);
    for shared in unchallenged_points(log, round) {
        let Some(to) = steelman_place(log, round).filter(|_| planned.len() < INTERVENTIONS_MAX) else {
            round.findings.set_aside.push(format!("no room to have \"{}\" argued against", shared.point));
            continue;
        };
        let quotes: Vec<String> =
            shared.holders.iter().map(|(place, said)| format!("{}: \"{said}\"", log.name(*place))).collect();
        let cause = InterventionCause::Groupthink { point: shared.point.clone() };
        planned.push(ModeratorIntervention::new(cause, vec![to], quotes.join("; "), shared.point));
    }
    if is_stale(round) && planned.len() >= INTERVENTIONS_MAX {
        let note = "the round is stale, and there was no room for a reframing question";
        round.findings.set_aside.push(note.into());
    } else if is_stale(round) {
        let quote = format!("round {}: no position changed and no new argument was made", round.number);
        let question = reframing_question(log, round);
        planned.push(ModeratorIntervention::new(
            InterventionCause::Stale,
            log.active.clone(),
            quote,
            question,
        ));
    }
    round.interventions = planned;
}

/// Puts evaded challenges again. One that was put again before, or that finds no room, is a violation.
fn plan_re_asks(log: &mut CouncilLog<'_>, round: &CouncilRound) -> Vec<ModeratorIntervention> {
    let text = |index: usize| log.challenges.get(index).map_or(String::new(), Challenge::text);
    let unanswered = round.unanswered.iter().copied();
    let mut evasions: Vec<(usize, String, String)> =
        unanswered.map(|index| (index, "no answer to this id".to_owned(), text(index))).collect();
    let mut found: Vec<&EvasiveAnswer> = round.findings.evasions.iter().collect();
    found.sort_by_key(|evasive| evasive.challenge);
    evasions.extend(found.iter().map(|evasive| (evasive.challenge, evasive.why.clone(), evasive.quote.clone())));
    let mut planned: Vec<ModeratorIntervention> = Vec::new();
    for (index, why, quote) in evasions {
        let Some(challenge) = log.challenges.get_mut(index) else { continue };
        let violation = match challenge.re_asked {
            Some(_) => Some(format!("it was put again before; {why}")),
            None if planned.len() >= INTERVENTIONS_MAX => Some(format!("{why}; no room to put it again")),
            None => None,
        };
        let place = challenge.to;
        if let Some(why) = violation {
            challenge.state = ChallengeState::Evaded;
            log.violations.push(ChallengeViolation { round: round.number, place, challenge: index, why });
            continue;
        }
        challenge.state = ChallengeState::Open;
        let (cause, text) = (InterventionCause::Evasion { challenge: index, why }, challenge.text());
        planned.push(ModeratorIntervention::new(cause, vec![place], quote, text));
    }
    planned
}

/// The points that enough councillors share and nobody has challenged, in this round or by a steelman before.
pub(super) fn unchallenged_points(log: &CouncilLog<'_>, round: &CouncilRound) -> Vec<SharedPoint> {
    let min = groupthink_min(log.active.len());
    let earlier = log.rounds.iter().filter(|other| other.number < round.number);
    let interventions = earlier.flat_map(|earlier| &earlier.interventions);
    let steelmanned: Vec<&str> =
        interventions.filter_map(ModeratorIntervention::steelmanned_point).collect();
    let mut points: Vec<SharedPoint> = Vec::new();
    for shared in &round.findings.shared_points {
        let is_known = steelmanned.iter().any(|point| is_same_point(point, &shared.point))
            || points.iter().any(|other| is_same_point(&other.point, &shared.point));
        if !shared.challenged && shared.holders.len() >= min && !is_known {
            points.push(shared.clone());
        }
    }
    points
}

/// Who makes the case against a point: the Critic, or the least convinced of those who are present.
fn steelman_place(log: &CouncilLog<'_>, round: &CouncilRound) -> Option<usize> {
    let present = || log.active.iter().copied().filter(|place| round.is_present(*place));
    let confidence = |place: &usize| round.after.get(*place).and_then(|standing| standing.confidence);
    let critic = present().find(|place| log.id(*place) == "critic");
    critic.or_else(|| present().min_by_key(|place| (confidence(place), *place)))
}

/// "If a round produces no position changes and no new arguments". Without a moderator, the councillors' own declarations count.
pub(super) fn is_stale(round: &CouncilRound) -> bool {
    let has_new_argument = match round.moderator {
        Some(_) => !round.findings.new_arguments.is_empty(),
        None => round.findings.new_argument_declared,
    };
    round.changed().next().is_none() && !has_new_argument
}

fn reframing_question(log: &CouncilLog<'_>, round: &CouncilRound) -> String {
    let own = round.moderator.as_ref().map(|said| said.reframing_question.trim()).unwrap_or_default();
    if !own.is_empty() {
        return own.to_owned();
    }
    let mut draw = SeededDraw::new(log.debate.brief.seed, &format!("reframing {}", round.number));
    let drawn = REFRAMING_QUESTIONS.get(draw.below(REFRAMING_QUESTIONS.len()));
    drawn.copied().unwrap_or_default().to_owned()
}

/// Records what came of the interventions: the fates of challenges, new positions, and whether the round is over.
pub(super) fn settle_interventions(
    log: &mut CouncilLog<'_>,
    round: &mut CouncilRound,
    replies: &[Option<&Reply>],
) -> Result<(), Corrupt> {
    let mut replies = replies.iter();
    let mut is_missing = false;
    for done in &mut round.interventions {
        for _ in &done.to {
            match replies.next() {
                Some(Some(reply)) => {
                    let reply = done.read_reply(reply)?;
                    done.replies.push(reply);
                }
                _ => is_missing = true,
            }
        }
        if done.replies.len() == done.to.len() {
            done.outcome = outcome_of(log, round.number, &mut round.after, done);
        }
    }
    round.is_over = !is_missing;
    let earlier = log.rounds.iter().flat_map(|round| &round.interventions);
    let steelmanned = earlier.chain(&round.interventions).filter_map(ModeratorIntervention::steelmanned_point);
    let steelmanned: Vec<&str> = steelmanned.collect();
    for shared in &mut round.findings.shared_points {
        shared.steelmanned = steelmanned.iter().any(|point| is_same_point(point, &shared.point));
    }
    Ok(())
}

fn outcome_of(
    log: &mut CouncilLog<'_>,
    round: u32,
    standings: &mut [CouncillorStanding],
    done: &ModeratorIntervention,
) -> InterventionOutcome {
    let heard = done.heard().count();
    if let Some(challenge) = done.challenge() {
        return settle_re_ask(log, round, challenge, done);
    }
    let mut changed = 0;
    for (place, reply) in done.heard() {
        if let (InterventionAnswer::Reframing(said), Some(standing)) = (&reply.answer, standings.get_mut(place)) {
            changed += usize::from(standing.update(&said.position, said.changed, &said.because));
        }
    }
    match done.kind() {
        _ if heard == 0 => InterventionOutcome::Absent,
        InterventionKind::Stale => InterventionOutcome::Reframed { changed, heard },
        InterventionKind::Groupthink | InterventionKind::Evasion => InterventionOutcome::Answered,
    }
}

/// What became of a challenge that was put again. An absence is not an evasion.
fn settle_re_ask(
    log: &mut CouncilLog<'_>,
    round: u32,
    index: usize,
    done: &ModeratorIntervention,
) -> InterventionOutcome {
    let Some(challenge) = log.challenges.get_mut(index) else { return InterventionOutcome::NotPut };
    challenge.re_asked = Some(round);
    let Some(InterventionAnswer::Response(said)) = done.heard().next().map(|(_, reply)| &reply.answer) else {
        challenge.absent_in.push(round);
        return InterventionOutcome::Absent;
    };
    let evasion = challenge.evasion_of(said.stance, &said.response);
    let response = said.response.trim().to_owned();
    if said.stance.is_some() || !response.is_empty() {
        challenge.answers.push(ChallengeAnswer { round, stance: said.stance, response });
    }
    let Some(why) = evasion else {
        challenge.state = ChallengeState::Answered;
        return InterventionOutcome::Answered;
    };
    challenge.state = ChallengeState::Evaded;
    let (place, why) = (challenge.to, why.to_owned());
    log.violations.push(ChallengeViolation { round, place, challenge: index, why });
    InterventionOutcome::Evaded
}
