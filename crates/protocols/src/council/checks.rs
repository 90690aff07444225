//! The seed's success metrics and failure modes, checked over a log.

use agon_core::QualityCheck;
use agon_core::wording::counted;

use super::CouncilPhase;
use super::log::{CouncilLog, CouncilRound, phase_replies};
use super::moderation::{INTERVENTIONS_MAX, InterventionKind, is_stale, unchallenged_points};
use super::reply_rules::CHALLENGES_MIN;

/// All checks, in the seed's order. A failure mode is met where it was avoided.
pub(super) fn quality_checks(log: &CouncilLog<'_>) -> Vec<QualityCheck> {
    let checks = CouncilChecks { log, rounds: log.options.rounds };
    vec![
        checks.all_rounds_completed(),
        checks.if_held(checks.two_challenges_each()),
        checks.if_held(checks.peer_exchange_occurred()),
        checks.if_held(checks.evolution_tracked()),
        checks.if_held(checks.moderator_intervened()),
        checks.if_held(checks.new_insights()),
        checks.if_held(checks.log_accumulated()),
        checks.not_cut_short(),
        checks.if_held(checks.minimum_enforced()),
        checks.if_held(checks.groupthink_answered()),
        checks.if_held(checks.changes_tracked()),
        checks.if_held(checks.no_repetition()),
        checks.if_held(checks.not_dominated()),
        checks.if_held(checks.exchange_allowed()),
    ]
}

struct CouncilChecks<'a> {
    log: &'a CouncilLog<'a>,
    rounds: u32,
}

fn check(sentence: &str, met: impl Into<Option<bool>>, note: String, shown_by: Vec<u32>) -> QualityCheck {
    QualityCheck { sentence: sentence.to_owned(), met: met.into(), note, shown_by }
}

fn count_of(number: usize, noun: &str) -> String {
    counted(number as u64, noun)
}

impl CouncilChecks<'_> {
    /// A check about rounds does not apply where none was held.
    fn if_held(&self, check: QualityCheck) -> QualityCheck {
        match self.log.rounds.is_empty() {
            true => QualityCheck { met: None, note: "no round was held".to_owned(), ..check },
            false => check,
        }
    }

    /// The asks of a phase over all rounds.
    fn asks(&self, phase: CouncilPhase) -> Vec<u32> {
        self.asks_in(phase, self.log.rounds.iter())
    }

    fn asks_in<'r>(
        &self,
        phase: CouncilPhase,
        rounds: impl Iterator<Item = &'r CouncilRound<'r>>,
    ) -> Vec<u32> {
        let turns = &self.log.debate.turns;
        let replies = rounds.flat_map(|round| phase_replies(turns, phase, round.number));
        replies.map(|(ask, _)| ask.id).collect()
    }

    fn all_rounds_completed(&self) -> QualityCheck {
        let done = self.log.rounds_completed();
        let note = format!("{done} of {} rounds are over", self.rounds);
        let shown = self.asks(CouncilPhase::Moderate);
        check("All rounds completed (no rounds skipped)", done == self.rounds, note, shown)
    }

    /// Who made too few challenges in a round, and how many.
    fn too_few_challenges(&self) -> Vec<(&CouncilRound<'_>, &str, usize)> {
        let made = self.log.rounds.iter().flat_map(|round| {
            let active = self.log.active.iter().copied();
            active.map(move |seat| (round, seat, self.log.made_by(seat, round.number).count()))
        });
        made.filter(|(.., made)| *made < CHALLENGES_MIN).collect()
    }

    fn count_note(&self, (round, seat, made): &(&CouncilRound<'_>, &str, usize)) -> String {
        format!("{} made {made} in round {}", self.log.name(seat), round.number)
    }

    fn two_challenges_each(&self) -> QualityCheck {
        let notes: Vec<String> = self.too_few_challenges().iter().map(|few| self.count_note(few)).collect();
        let made = self.log.challenges.iter().filter(|challenge| challenge.round > 0).count();
        let note = match notes.is_empty() {
            true => {
                format!("{} in {}", count_of(made, "challenge"), count_of(self.log.rounds.len(), "round"))
            }
            false => notes.join("; "),
        };
        let sentence = "Each councillor challenged 2+ specific points per round";
        check(sentence, notes.is_empty(), note, self.asks(CouncilPhase::Challenge))
    }

    fn peer_exchange_occurred(&self) -> QualityCheck {
        let sentence = "Peer exchange occurred between councillors (standard mode)";
        if self.log.options.economy {
            return check(sentence, None, "economy mode has none".to_owned(), Vec::new());
        }
        let messages = &self.log.messages;
        let answered = messages.iter().filter(|message| message.reply.is_some()).count();
        let note = format!("{}, {answered} of them answered", count_of(messages.len(), "message"));
        check(sentence, answered > 0, note, self.asks(CouncilPhase::Exchange))
    }

    fn evolution_tracked(&self) -> QualityCheck {
        let active = &self.log.active;
        let is_tracked =
            |round: &&CouncilRound<'_>| round.after.values().all(|held| !held.position.is_empty());
        let tracked = self.log.rounds.iter().filter(is_tracked).count();
        let changes: usize = self.log.rounds.iter().map(|round| round.changed().count()).sum();
        let note = format!(
            "positions of {} councillors after {tracked} of {} rounds, {changes} changes",
            active.len(),
            self.rounds
        );
        let met = tracked > 0 && u32::try_from(tracked) == Ok(self.rounds);
        let shown = self.asks(CouncilPhase::Challenge);
        check("Position evolution tracked across all rounds", met, note, shown)
    }

    fn moderator_intervened(&self) -> QualityCheck {
        let sentence = "Moderator intervened when groupthink, evasion, or stalemate detected";
        let (mut found, mut put) = (0, 0);
        for round in &self.log.rounds {
            found += round.unanswered.len() + round.findings.evasions.len();
            found += unchallenged_points(self.log, round).len();
            let reframed = round.interventions.iter().any(|done| done.kind == InterventionKind::Stale);
            found += usize::from(reframed || (round.is_moderated && is_stale(round)));
            put += round.interventions.iter().filter(|done| done.settled > 0).count();
        }
        let shown = self.asks(CouncilPhase::Intervene);
        if found == 0 {
            return check(sentence, None, "nothing of the kind was found".to_owned(), shown);
        }
        let note = format!("{} for {}", count_of(put, "intervention"), count_of(found, "finding"));
        check(sentence, put >= found, note, shown)
    }

    fn new_insights(&self) -> QualityCheck {
        let stale = self.log.rounds.iter().filter(|round| is_stale(round));
        let stale: Vec<String> = stale.map(|round| round.number.to_string()).collect();
        let held = count_of(self.log.rounds.len(), "round");
        let note = match stale.is_empty() {
            true => format!("a changed position or a new argument in each of {held}"),
            false => format!("no change and no new argument in round {}", stale.join(", ")),
        };
        let sentence = "New insights emerged in each round (not just repetition)";
        check(sentence, stale.is_empty(), note, self.asks(CouncilPhase::Moderate))
    }

    fn log_accumulated(&self) -> QualityCheck {
        let held = self.log.rounds.len();
        let first_ask = |round: &CouncilRound<'_>| {
            phase_replies(&self.log.debate.turns, CouncilPhase::Challenge, round.number).next()
        };
        let shown = self.log.rounds.iter().filter_map(first_ask).map(|(ask, _)| ask.id).collect();
        let note = format!(
            "{held} of {} rounds are in the log, {} challenges with a fate each",
            self.rounds,
            self.log.challenges.len()
        );
        let met = u32::try_from(held) == Ok(self.rounds);
        check("Debate log accumulated across all rounds", met, note, shown)
    }

    fn not_cut_short(&self) -> QualityCheck {
        let (mut silent, mut shown) = (Vec::new(), Vec::new());
        for round in &self.log.rounds {
            for (ask, reply) in phase_replies(&self.log.debate.turns, CouncilPhase::Challenge, round.number) {
                if reply.is_none_or(|reply| reply.value().is_none()) {
                    silent.push(format!("{} in round {}", ask.seat, round.number));
                    shown.push(ask.id);
                }
            }
        }
        let done = self.log.rounds_completed();
        let met = silent.is_empty() && !self.log.was_cut() && done == self.rounds;
        let note = match (met, silent.is_empty()) {
            (true, _) => {
                shown = self.asks(CouncilPhase::Challenge);
                "everybody responded in every round".to_owned()
            }
            (false, false) => format!("no response from {}", silent.join(", ")),
            (false, true) => format!("{done} of {} rounds are over", self.rounds),
        };
        check("Avoided: Cutting rounds short before all councillors respond", met, note, shown)
    }

    /// A councillor who took part with too few challenges shows that the rule was not applied.
    fn minimum_enforced(&self) -> QualityCheck {
        let few = self.too_few_challenges().into_iter().filter(|(round, seat, _)| round.is_present(seat));
        let notes: Vec<String> = few.map(|few| self.count_note(&few)).collect();
        let turns = self.log.debate.turns_of(CouncilPhase::Challenge.as_str());
        let attempts = turns.flat_map(|turn| &turn.attempts).flatten();
        let sent_back = attempts.filter(|attempt| attempt.fault.is_some()).count();
        let note = match notes.is_empty() {
            true => format!("{} sent back", count_of(sent_back, "answer")),
            false => notes.join("; "),
        };
        let sentence = "Avoided: Not enforcing the 2-challenge minimum per councillor per round";
        check(sentence, notes.is_empty(), note, self.asks(CouncilPhase::Challenge))
    }

    fn groupthink_answered(&self) -> QualityCheck {
        let sentence = "Avoided: Skipping moderator intervention when groupthink is detected";
        let rounds = &self.log.rounds;
        let found: usize = rounds.iter().map(|round| unchallenged_points(self.log, round).len()).sum();
        let done = rounds.iter().flat_map(|round| &round.interventions);
        let put = done.filter(|done| done.steelmanned_point().is_some()).count();
        let shown = self.asks(CouncilPhase::Intervene);
        if found == 0 {
            return check(sentence, None, "no groupthink was found".to_owned(), shown);
        }
        let steelmen = if put == 1 { "steelman" } else { "steelmen" };
        let note = format!("{put} {steelmen} for {}", count_of(found, "unchallenged point"));
        check(sentence, put >= found, note, shown)
    }

    fn changes_tracked(&self) -> QualityCheck {
        let sentence = "Avoided: Not tracking position changes across rounds";
        let changes = || self.log.rounds.iter().flat_map(CouncilRound::changed);
        let with_reason = changes().filter(|(_, standing)| !standing.because.is_empty()).count();
        let shown = self.asks(CouncilPhase::Challenge);
        match changes().count() {
            0 => check(sentence, None, "no position changed".to_owned(), shown),
            n => check(
                sentence,
                with_reason == n,
                format!("{with_reason} of {n} changes have a reason"),
                shown,
            ),
        }
    }

    fn no_repetition(&self) -> QualityCheck {
        let sentence = "Avoided: Letting councillors repeat arguments without new substance";
        let is_reframed = |round: &CouncilRound<'_>| {
            round.interventions.iter().any(|done| done.kind == InterventionKind::Stale && done.settled > 0)
        };
        let stalled = self.log.rounds.iter();
        let stalled: Vec<&CouncilRound<'_>> =
            stalled.filter(|round| is_reframed(round) || (round.is_moderated && is_stale(round))).collect();
        let reframed = stalled.iter().filter(|round| is_reframed(round)).count();
        let shown = self.asks_in(CouncilPhase::Intervene, stalled.iter().copied());
        match stalled.len() {
            0 => check(sentence, None, "no round stalled".to_owned(), shown),
            n => {
                let note =
                    format!("{} in {}", count_of(reframed, "reframing question"), count_of(n, "stale round"));
                check(sentence, reframed == n, note, shown)
            }
        }
    }

    fn not_dominated(&self) -> QualityCheck {
        // Counted by what was asked. The asks of a question to all are about nothing in particular, and are one intervention.
        let put = |round: &CouncilRound<'_>| {
            let asks = || phase_replies(&self.log.debate.turns, CouncilPhase::Intervene, round.number);
            let to_one = asks().filter(|(ask, _)| ask.about.is_some()).count();
            to_one + usize::from(asks().any(|(ask, _)| ask.about.is_none()))
        };
        let most = self.log.rounds.iter().map(put).max().unwrap_or_default();
        let note = format!("at most {} in a round, of {INTERVENTIONS_MAX}", count_of(most, "intervention"));
        let sentence =
            "Avoided: Over-intervening and dominating the debate (moderator should facilitate, not lead)";
        check(sentence, most <= INTERVENTIONS_MAX, note, self.asks(CouncilPhase::Intervene))
    }

    fn exchange_allowed(&self) -> QualityCheck {
        let sentence = "Avoided: In standard mode: not encouraging/allowing peer exchange";
        if self.log.options.economy {
            return check(sentence, None, "economy mode has none".to_owned(), Vec::new());
        }
        let is_delivered = |round: u32, to: &str| {
            phase_replies(&self.log.debate.turns, CouncilPhase::Exchange, round)
                .any(|(ask, _)| ask.seat == to)
        };
        let messages = self.log.messages.iter();
        let lost = messages.filter(|sent| !is_delivered(sent.round, &sent.to)).count();
        let written = count_of(self.log.messages.len(), "message");
        let note = format!("{written} written, {lost} of them not delivered");
        check(sentence, lost == 0, note, self.asks(CouncilPhase::Exchange))
    }
}
