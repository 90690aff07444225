//! What the moderator finds in a round, and what it does about it.
//!
//! What can be counted is never asked of a model: a challenge without an answer, a round without a change. The rest is the moderator's
//! judgement, but every finding carries words that were really said: the moderator's quotation if a councillor said it, else the
//! councillor's nearest sentence. A finding without such words does not count.

use agon_core::seed::SeededDraw;
use agon_core::{Corrupt, Reply};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::challenges::{Challenge, ChallengeFate, ChallengeViolation, stance_word};
use super::log::{CouncilLog, CouncilRound, CouncillorStanding};
use super::replies::{CouncillorQuote, ModeratorReply, ReframingAnswer, SecondResponse, SteelmanCase};
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

/// What was found in a round, as it is in the verdict: each finding has the words that it rests on.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct RoundFindings {
    moderator_present: bool,
    pub(super) shared_points: Vec<SharedPoint>,
    pub(super) evasions: Vec<EvasiveAnswer>,
    pub(super) new_arguments: Vec<CouncillorQuote>,
    /// Notes about findings that do not count, and about interventions that found no room.
    pub(super) set_aside: Vec<String>,
    /// Whether any councillor declares a new argument in words that were not said before.
    #[serde(skip)]
    pub(super) new_argument_declared: bool,
}

/// A point that several councillors share.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SharedPoint {
    pub(super) point: String,
    /// Whether the moderator says so, or a challenge of the round quotes it.
    challenged: bool,
    /// Who shares it, each with a sentence of its own.
    pub(super) quotes: Vec<CouncillorQuote>,
    /// Whether somebody has made the case against it, in this round or before.
    #[serde(skip)]
    steelmanned: bool,
}

impl SharedPoint {
    pub(super) fn is_challenged(&self) -> bool {
        self.challenged || self.steelmanned
    }

    pub(super) fn holders(&self) -> impl Iterator<Item = &str> {
        self.quotes.iter().map(|quote| quote.councillor.as_str())
    }
}

/// An answer that does not engage its challenge.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct EvasiveAnswer {
    challenge_id: String,
    why: String,
    quote: String,
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
    /// Nobody challenges a point that many share: somebody must make the case against it.
    Groupthink,
    /// The round brought nothing new: a question to all.
    Stale,
}

super::wire_names!(InterventionKind { Evasion = "evasion", Groupthink = "groupthink", Stale = "stale" });

/// The outcome of an intervention that got its answer.
pub(super) const ANSWERED: &str = "answered";

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

    /// Who is asked.
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

/// What is found in a round.
pub(super) fn find(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> RoundFindings {
    let declared = round.said.values().flat_map(|said| &said.new_arguments);
    let mut declared = declared.map(|argument| argument.trim()).filter(|argument| !argument.is_empty());
    let mut found = RoundFindings {
        moderator_present: round.moderator.is_some(),
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

fn find_evasions(
    log: &CouncilLog<'_>,
    round: &CouncilRound<'_>,
    said: &ModeratorReply,
    found: &mut RoundFindings,
) {
    for evasion in &said.evasions {
        let id = &evasion.challenge_id;
        if found.evasions.iter().any(|other| other.challenge_id == *id) {
            continue;
        }
        let challenge = log.challenge(id).filter(|put| put.answered_in == Some(round.number));
        let Some(answer) = challenge.and_then(|challenge| challenge.response.as_deref()) else {
            found
                .set_aside
                .push(format!("the evasion of {id} does not count: there is no answer to it in this round"));
            continue;
        };
        let is_quoted = occurs_in(&evasion.quote, answer);
        let quote = if is_quoted { evasion.quote.trim() } else { answer };
        let (why, quote) = (evasion.why.trim().to_owned(), quote.to_owned());
        found.evasions.push(EvasiveAnswer { challenge_id: id.clone(), why, quote });
        if !is_quoted {
            found.set_aside.push(format!(
                "the moderator's quotation for the evasion of {id} does not occur in the answer, so the answer is quoted instead"
            ));
        }
    }
}

fn find_shared_points(
    log: &CouncilLog<'_>,
    round: &CouncilRound<'_>,
    said: &ModeratorReply,
    found: &mut RoundFindings,
) {
    for shared in &said.shared_points {
        let point = shared.point.trim().to_owned();
        let mut quotes: Vec<CouncillorQuote> = Vec::new();
        for seat in shared.councillors.iter().filter_map(|name| log.seat_named(name)) {
            if quotes.iter().any(|other| other.councillor == seat) || !log.active.contains(&seat) {
                continue;
            }
            let words = round.after.get(seat).into_iter().flat_map(CouncillorStanding::words);
            let words: Vec<&str> = words.chain(round.words_of(seat)).collect();
            let own = shared.quotes.iter().filter(|own| log.seat_named(&own.councillor) == Some(seat));
            let own: Vec<&str> = own.map(|own| own.quote.as_str()).collect();
            match supporting_words(&shared.point, &own, &words) {
                Some(sentence) => quotes.push(CouncillorQuote::new(seat, sentence)),
                None => found.set_aside.push(format!(
                    "{} does not count as sharing \"{point}\": nothing they said supports it",
                    log.name(seat)
                )),
            }
        }
        quotes.sort_by_key(|quote| log.active.iter().position(|seat| *seat == quote.councillor));
        // A challenge of this round that quotes the point is a challenge against it, whatever the moderator says.
        let mut made = log.challenges.iter().filter(|challenge| challenge.round == round.number);
        let quoted = made.any(|challenge| plain_words(&challenge.claim) == plain_words(&shared.point));
        let challenged = shared.challenged || quoted;
        found.shared_points.push(SharedPoint { point, challenged, quotes, steelmanned: false });
    }
}

fn find_new_arguments(
    log: &CouncilLog<'_>,
    round: &CouncilRound<'_>,
    said: &ModeratorReply,
    found: &mut RoundFindings,
) {
    for new in &said.new_arguments {
        let Some(seat) = log.seat_named(&new.councillor) else { continue };
        let messages = log.messages_of(round.number).flat_map(|message| {
            let own = (message.from == seat).then_some(message.text.as_str());
            own.into_iter().chain(message.reply.as_deref().filter(|_| message.to == seat))
        });
        let words: Vec<&str> = round.words_of(seat).into_iter().chain(messages).collect();
        let sentence = supporting_words(&new.argument, &[new.quote.as_str()], &words);
        let mut claims = [Some(new.argument.as_str()), sentence].into_iter().flatten();
        let is_old = claims.any(|claim| was_said_before(log, round, claim));
        let why_not = match sentence {
            Some(sentence) if !is_old => {
                found.new_arguments.push(CouncillorQuote::new(seat, sentence));
                continue;
            }
            _ if is_old => "its words were said in an earlier round",
            _ => "nothing they said in this round makes it",
        };
        found.set_aside.push(format!("the new argument of {} does not count: {why_not}", log.name(seat)));
    }
}

/// The words that a finding rests on: the moderator's quotation if it occurs in what was said, else the nearest sentence.
fn supporting_words<'a>(finding: &str, quotes: &[&'a str], words: &[&'a str]) -> Option<&'a str> {
    let said = quotes.iter().copied().find(|quote| words.iter().any(|text| occurs_in(quote, text)));
    said.map(str::trim).or_else(|| nearest_sentence(finding, words.iter().copied()))
}

/// Whether anybody said these words before this round.
fn was_said_before(log: &CouncilLog<'_>, round: &CouncilRound<'_>, words: &str) -> bool {
    let words = format!(" {} ", plain_words(words));
    let earlier = log.rounds.iter().filter(|other| other.number < round.number);
    let mut said = earlier
        .flat_map(|earlier| earlier.said.keys().flat_map(|seat| earlier.words_of(seat)))
        .chain(round.before.values().flat_map(CouncillorStanding::words));
    !words.trim().is_empty() && said.any(|text| format!(" {} ", plain_words(text)).contains(&words))
}

/// How many of `n` councillors must share a point for groupthink: `max(3, ceil(0.6 n))`.
pub(super) fn groupthink_min(n: usize) -> usize {
    (3 * n).div_ceil(5).max(3)
}

/// Plans the round's interventions: evasions first, then groupthink, then stale, as many as there is room for.
pub(super) fn plan_interventions(log: &mut CouncilLog<'_>, round: &mut CouncilRound<'_>) {
    let mut planned = plan_re_asks(log, round);
    for shared in unchallenged_points(log, round) {
        let Some(to) = steelman_seat(log, round).filter(|_| planned.len() < INTERVENTIONS_MAX) else {
            round
                .findings
                .set_aside
                .push(format!("there was no room to have \"{}\" argued against", shared.point));
            continue;
        };
        let quotes = shared.quotes.iter();
        let quotes: Vec<String> =
            quotes.map(|said| format!("{}: \"{}\"", log.name(&said.councillor), said.quote)).collect();
        let (kind, point) = (InterventionKind::Groupthink, shared.point);
        let put = ModeratorIntervention::new(round.number, kind, to, quotes.join("; "), point.clone());
        planned.push(ModeratorIntervention { about: Some(point), ..put });
    }
    if is_stale(round) && planned.len() >= INTERVENTIONS_MAX {
        let note = "the round is stale, and there was no room for a reframing question";
        round.findings.set_aside.push(note.into());
    } else if is_stale(round) {
        let quote = format!("round {}: no position changed and no new argument was made", round.number);
        let (kind, question) = (InterventionKind::Stale, reframing_question(log, round));
        planned.push(ModeratorIntervention::new(round.number, kind, "all", quote, question));
    }
    round.interventions = planned;
}

/// Puts evaded challenges again. One that was put again before, or that finds no room, is a violation.
fn plan_re_asks(log: &mut CouncilLog<'_>, round: &CouncilRound<'_>) -> Vec<ModeratorIntervention> {
    let text = |id: &str| log.challenge(id).map_or(String::new(), Challenge::text);
    let unanswered = round.unanswered.iter();
    let mut evasions: Vec<(&str, &str, String)> =
        unanswered.map(|id| (id.as_str(), "no answer to this id", text(id))).collect();
    let mut found: Vec<&EvasiveAnswer> = round.findings.evasions.iter().collect();
    found.sort_by_key(|evasive| log.challenges.iter().position(|put| put.id == evasive.challenge_id));
    evasions.extend(
        found.iter().map(|found| (found.challenge_id.as_str(), found.why.as_str(), found.quote.clone())),
    );
    let mut planned: Vec<ModeratorIntervention> = Vec::new();
    for (id, why, quote) in evasions {
        let Some(challenge) = log.challenge_mut(id) else { continue };
        let violation = match challenge.re_asked {
            Some(_) => Some(format!("it was put again before; {why}")),
            None if planned.len() >= INTERVENTIONS_MAX => Some(format!("{why}; no room to put it again")),
            None => None,
        };
        if let Some(why) = violation {
            challenge.fate = ChallengeFate::Evaded;
            let (councillor, challenge_id) = (challenge.to.clone(), id.to_owned());
            log.violations.push(ChallengeViolation { round: round.number, councillor, challenge_id, why });
            continue;
        }
        challenge.fate = ChallengeFate::Open;
        let (kind, to, text) = (InterventionKind::Evasion, challenge.to.as_str(), challenge.text());
        let put = ModeratorIntervention::new(round.number, kind, to, quote, text);
        planned.push(ModeratorIntervention { about: Some(id.to_owned()), why: Some(why.to_owned()), ..put });
    }
    planned
}

/// The points that enough councillors share and nobody has challenged, in this round or by a steelman before.
pub(super) fn unchallenged_points(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> Vec<SharedPoint> {
    let min = groupthink_min(log.active.len());
    let earlier = log.rounds.iter().filter(|other| other.number < round.number);
    let interventions = earlier.flat_map(|earlier| &earlier.interventions);
    let steelmanned: Vec<&str> = interventions.filter_map(ModeratorIntervention::steelmanned_point).collect();
    let mut points: Vec<SharedPoint> = Vec::new();
    for shared in &round.findings.shared_points {
        let is_known = steelmanned.iter().any(|point| is_same_point(point, &shared.point))
            || points.iter().any(|other| is_same_point(&other.point, &shared.point));
        if !shared.challenged && shared.quotes.len() >= min && !is_known {
            points.push(shared.clone());
        }
    }
    points
}

/// Who makes the case against a point: the Critic, or the least convinced of those who are present.
fn steelman_seat<'l>(log: &CouncilLog<'l>, round: &CouncilRound<'_>) -> Option<&'l str> {
    let present = || log.active.iter().copied().filter(|seat| round.is_present(seat));
    let confidence = |seat: &&str| round.after.get(*seat).map(|standing| standing.confidence);
    present().find(|seat| *seat == "critic").or_else(|| present().min_by_key(confidence))
}

/// "If a round produces no position changes and no new arguments". Without a moderator, the councillors' own declarations count.
pub(super) fn is_stale(round: &CouncilRound<'_>) -> bool {
    let has_new_argument = match round.moderator {
        Some(_) => !round.findings.new_arguments.is_empty(),
        None => round.findings.new_argument_declared,
    };
    round.changed().next().is_none() && !has_new_argument
}

fn reframing_question(log: &CouncilLog<'_>, round: &CouncilRound<'_>) -> String {
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
        shared.steelmanned = steelmanned.iter().any(|point| is_same_point(point, &shared.point));
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
    let (mut shown, mut changed, mut outcome) = (Vec::new(), 0, "absent".to_owned());
    let values = replies.iter().filter_map(|(seat, reply)| Some((*seat, reply.value()?)));
    for (seat, value) in values {
        let fields = requested_fields(value, |_| true);
        let text = match done.kind {
            InterventionKind::Evasion => {
                let said = SecondResponse::deserialize(fields)?;
                if is_settled {
                    outcome = settle_re_ask(log, round.number, done.about.as_deref(), &said).to_owned();
                }
                let (id, stance) = (said.challenge_id.trim(), stance_word(said.stance));
                format!("[{id}] ({stance}) {}", said.response.trim())
            }
            InterventionKind::Groupthink => {
                outcome = ANSWERED.to_owned();
                steelman_text(done.about.as_deref().unwrap_or_default(), &SteelmanCase::deserialize(fields)?)
            }
            InterventionKind::Stale => {
                let said = ReframingAnswer::deserialize(fields)?;
                if let Some(standing) = round.after.get_mut(seat).filter(|_| is_settled) {
                    changed += usize::from(standing.update(&said.position, said.changed, &said.because));
                }
                shown.push(format!("{}: {}", log.name(seat), said.effect.trim()));
                format!("\"{}\" - {}", done.question, said.effect.trim())
            }
        };
        done.replies.push(InterventionReply { councillor: seat.to_owned(), reply: value.clone(), text });
    }
    let heard = done.replies.len();
    match done.kind {
        InterventionKind::Stale if heard > 0 => {
            outcome = format!("{changed} of {heard} changed their position");
        }
        InterventionKind::Evasion if heard == 0 && is_settled => {
            if let Some(challenge) = done.about.as_deref().and_then(|id| log.challenge_mut(id)) {
                challenge.re_asked = Some(round.number);
                // An absence is not an evasion.
                challenge.absent_in.push(round.number);
            }
        }
        InterventionKind::Evasion | InterventionKind::Groupthink | InterventionKind::Stale => {}
    }
    if shown.is_empty() {
        shown = done.replies.iter().map(|reply| reply.text.clone()).collect();
    }
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
        let text = text.trim();
        lines.extend((!text.is_empty()).then(|| format!("{name}: {text}")));
    }
    lines.join("\n")
}

/// Records the answer to a challenge that was put again, and says what came of it.
fn settle_re_ask(
    log: &mut CouncilLog<'_>,
    round: u32,
    id: Option<&str>,
    said: &SecondResponse,
) -> &'static str {
    let Some(challenge) = id.and_then(|id| log.challenge_mut(id)) else { return ANSWERED };
    challenge.re_asked = Some(round);
    let evasion = challenge.evasion_of(said.stance, &said.response);
    if said.stance.is_some() || !said.response.trim().is_empty() {
        challenge.add_answer(round, said.stance, &said.response);
    }
    let Some(why) = evasion else {
        challenge.fate = ChallengeFate::Answered;
        return ANSWERED;
    };
    challenge.fate = ChallengeFate::Evaded;
    let (councillor, challenge_id) = (challenge.to.clone(), challenge.id.clone());
    log.violations.push(ChallengeViolation { round, councillor, challenge_id, why: why.to_owned() });
    "evaded"
}
