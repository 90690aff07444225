//! The seed's success metrics and failure modes, as checks over a log.

use agon_core::{Asked, Check, Debate};

use super::log::{Log, heard};
use super::moderation::{INTERVENTIONS_MAX, Kind, is_stale, unchallenged};
use super::round::Round;
use super::validation::CHALLENGES_MIN;

/// Every one of them, in the seed's order. A failure mode is met where it was avoided.
pub(super) fn checks(debate: &Debate) -> Vec<Check> {
    let Ok(log) = Log::read(debate) else { return Vec::new() };
    let over = Over { debate, log: &log, rounds: debate.brief.int("rounds") };
    vec![
        over.all_rounds(),
        over.held(over.two_challenges()),
        over.held(over.peer_exchange()),
        over.held(over.evolution_tracked()),
        over.held(over.intervened()),
        over.held(over.new_insights()),
        over.held(over.log_accumulated()),
        over.not_cut_short(),
        over.held(over.minimum_enforced()),
        over.held(over.groupthink_met()),
        over.held(over.changes_tracked()),
        over.held(over.no_repetition()),
        over.held(over.not_dominated()),
        over.held(over.exchange_allowed()),
    ]
}

struct Over<'a> {
    debate: &'a Debate,
    log: &'a Log<'a>,
    rounds: u32,
}

fn check(sentence: &str, met: Option<bool>, note: String, shown_by: Vec<u32>) -> Check {
    Check { sentence: sentence.to_owned(), met, note, shown_by }
}

fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn avoided(mode: &str) -> String {
    format!("Avoided: {mode}")
}

impl Over<'_> {
    /// What is said of rounds does not apply where none was held.
    fn held(&self, check: Check) -> Check {
        match self.log.rounds.is_empty() {
            true => Check { met: None, note: "no round was held".to_owned(), ..check },
            false => check,
        }
    }

    /// The asks of a phase of a round.
    fn asks(&self, phase: &str, round: u32) -> Vec<u32> {
        heard(&self.debate.turns, phase, round).map(|(asked, _)| asked.id).collect()
    }

    /// The asks of a phase of some rounds.
    fn asks_of<'b>(&self, phase: &str, rounds: impl Iterator<Item = &'b Round>) -> Vec<u32> {
        rounds.flat_map(|round| self.asks(phase, round.number)).collect()
    }

    fn all_rounds(&self) -> Check {
        let done = self.log.completed();
        let shown = self.asks_of("moderate", self.log.rounds.iter());
        let note = format!("{done} of {} rounds are over", self.rounds);
        check("All rounds completed (no rounds skipped)", Some(done == self.rounds), note, shown)
    }

    /// Who made fewer challenges than two in a round, or none because it was absent.
    fn fewer(&self) -> Vec<(u32, usize, usize)> {
        let mut fewer = Vec::new();
        for round in &self.log.rounds {
            for place in self.log.active() {
                let made = self.log.challenges.iter();
                let made = made.filter(|entry| entry.round == round.number && entry.from == place).count();
                if made < CHALLENGES_MIN {
                    fewer.push((round.number, place, made));
                }
            }
        }
        fewer
    }

    fn two_challenges(&self) -> Check {
        let sentence = "Each councillor challenged 2+ specific points per round";
        let fewer = self.fewer();
        let told: Vec<String> = fewer
            .iter()
            .map(|(round, place, made)| format!("{} made {made} in round {round}", self.log.name(*place)))
            .collect();
        let note = if told.is_empty() {
            let made = self.log.challenges.iter().filter(|entry| entry.round > 0).count();
            format!("{} in {}", counted(made, "challenge"), counted(self.log.rounds.len(), "round"))
        } else {
            told.join("; ")
        };
        let shown = self.asks_of("challenge", self.log.rounds.iter());
        check(sentence, Some(fewer.is_empty()), note, shown)
    }

    fn peer_exchange(&self) -> Check {
        let sentence = "Peer exchange occurred between councillors (standard mode)";
        if self.log.is_economy() {
            return check(sentence, None, "economy mode has none".to_owned(), Vec::new());
        }
        let sent = self.log.letters.len();
        let answered = self.log.letters.iter().filter(|letter| letter.reply.is_some()).count();
        let note = format!("{}, {answered} of them answered", counted(sent, "message"));
        check(sentence, Some(answered > 0), note, self.asks_of("exchange", self.log.rounds.iter()))
    }

    fn evolution_tracked(&self) -> Check {
        let active = self.log.active();
        let placed = |round: &Round| {
            active.iter().all(|place| round.after.get(*place).is_some_and(|s| !s.position.is_empty()))
        };
        let held = self.log.rounds.iter().filter(|round| placed(round)).count();
        let changes: usize = self.log.rounds.iter().map(|round| round.changed().count()).sum();
        let met = held > 0 && held == usize::try_from(self.rounds).unwrap_or(usize::MAX);
        let note = format!(
            "positions of {} councillors after {held} of {} rounds, {changes} changes",
            active.len(),
            self.rounds
        );
        let shown = self.asks_of("challenge", self.log.rounds.iter());
        check("Position evolution tracked across all rounds", Some(met), note, shown)
    }

    /// In each round: how much was found, and how much of it the moderator acted on.
    fn found(&self, round: &Round) -> (usize, usize) {
        let evasions = round.unanswered.len() + round.findings.evasions.len();
        let stale = round.interventions.iter().any(|done| matches!(done.kind, Kind::Stale));
        let stale = usize::from(stale || (round.moderated && is_stale(round)));
        let put = round.interventions.iter().filter(|done| !done.replies.is_empty()).count();
        (evasions + unchallenged(self.log, round).len() + stale, put)
    }

    fn intervened(&self) -> Check {
        let sentence = "Moderator intervened when groupthink, evasion, or stalemate detected";
        let (found, put) = self
            .log
            .rounds
            .iter()
            .map(|round| self.found(round))
            .fold((0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1));
        let shown = self.asks_of("intervene", self.log.rounds.iter());
        match found {
            0 => check(sentence, None, "nothing of the kind was found".to_owned(), shown),
            _ => check(
                sentence,
                Some(put >= found),
                format!("{} for {}", counted(put, "intervention"), counted(found, "finding")),
                shown,
            ),
        }
    }

    fn new_insights(&self) -> Check {
        let sentence = "New insights emerged in each round (not just repetition)";
        let stale: Vec<String> = self
            .log
            .rounds
            .iter()
            .filter(|round| is_stale(round))
            .map(|round| round.number.to_string())
            .collect();
        let held = counted(self.log.rounds.len(), "round");
        let note = match stale.is_empty() {
            true => format!("a changed position or a new argument in each of {held}"),
            false => format!("no change and no new argument in round {}", stale.join(", ")),
        };
        check(sentence, Some(stale.is_empty()), note, self.asks_of("moderate", self.log.rounds.iter()))
    }

    fn log_accumulated(&self) -> Check {
        let held = u32::try_from(self.log.rounds.len()).unwrap_or(u32::MAX);
        let shown =
            self.log.rounds.iter().filter_map(|round| self.asks("challenge", round.number).first().copied());
        let note = format!(
            "{held} of {} rounds are in the log, {} challenges with a fate each",
            self.rounds,
            self.log.challenges.len()
        );
        let shown = shown.collect();
        check("Debate log accumulated across all rounds", Some(held == self.rounds), note, shown)
    }

    fn not_cut_short(&self) -> Check {
        let sentence = avoided("Cutting rounds short before all councillors respond");
        let mut silent = Vec::new();
        let mut shown = Vec::new();
        for round in &self.log.rounds {
            for (asked, reply) in heard(&self.debate.turns, "challenge", round.number) {
                if reply.is_none_or(|reply| reply.value().is_none()) {
                    silent.push(format!("{} in round {}", asked.seat, round.number));
                    shown.push(asked.id);
                }
            }
        }
        let met = silent.is_empty() && !self.log.was_cut() && self.log.completed() == self.rounds;
        if met {
            shown = self.asks_of("challenge", self.log.rounds.iter());
        }
        let note = match (silent.is_empty(), met) {
            (_, true) => "everybody responded in every round".to_owned(),
            (false, _) => format!("no response from {}", silent.join(", ")),
            (true, _) => format!("{} of {} rounds are over", self.log.completed(), self.rounds),
        };
        check(&sentence, Some(met), note, shown)
    }

    /// Who spoke and made fewer challenges: the rule of two would have sent that back.
    fn minimum_enforced(&self) -> Check {
        let sentence = avoided("Not enforcing the 2-challenge minimum per councillor per round");
        let few: Vec<String> = self
            .fewer()
            .into_iter()
            .filter(|(round, place, _)| self.log.round(*round).is_some_and(|round| round.is_present(*place)))
            .map(|(round, place, made)| format!("{} made {made} in round {round}", self.log.name(place)))
            .collect();
        let sent_back = self.debate.turns_of("challenge").flat_map(|turn| &turn.attempts).flatten();
        let sent_back = sent_back.filter(|attempt| attempt.fault.is_some()).count();
        let note = if few.is_empty() {
            format!("{} sent back", counted(sent_back, "answer"))
        } else {
            few.join("; ")
        };
        let shown = self.asks_of("challenge", self.log.rounds.iter());
        check(&sentence, Some(few.is_empty()), note, shown)
    }

    fn groupthink_met(&self) -> Check {
        let sentence = avoided("Skipping moderator intervention when groupthink is detected");
        let found: usize = self.log.rounds.iter().map(|round| unchallenged(self.log, round).len()).sum();
        let put = self.log.rounds.iter().flat_map(|round| &round.interventions);
        let put = put
            .filter(|done| {
                matches!(done.kind, Kind::Groupthink { .. }) && done.replies.iter().any(Option::is_some)
            })
            .count();
        let shown = self.asks_of("intervene", self.log.rounds.iter());
        match found {
            0 => check(&sentence, None, "no groupthink was found".to_owned(), shown),
            _ => check(
                &sentence,
                Some(put >= found),
                format!(
                    "{put} {} for {}",
                    if put == 1 { "steelman" } else { "steelmen" },
                    counted(found, "unchallenged point")
                ),
                shown,
            ),
        }
    }

    fn changes_tracked(&self) -> Check {
        let sentence = avoided("Not tracking position changes across rounds");
        let changes: Vec<bool> = self
            .log
            .rounds
            .iter()
            .flat_map(|round| {
                round.changed().map(|(_, standing)| !standing.because.is_empty()).collect::<Vec<_>>()
            })
            .collect();
        let with_reason = changes.iter().filter(|has| **has).count();
        let shown = self.asks_of("challenge", self.log.rounds.iter());
        match changes.len() {
            0 => check(&sentence, None, "no position changed".to_owned(), shown),
            n => check(
                &sentence,
                Some(with_reason == n),
                format!("{with_reason} of {n} changes have a reason"),
                shown,
            ),
        }
    }

    fn no_repetition(&self) -> Check {
        let sentence = avoided("Letting councillors repeat arguments without new substance");
        let asked = |round: &&Round| {
            round
                .interventions
                .iter()
                .any(|done| matches!(done.kind, Kind::Stale) && !done.replies.is_empty())
        };
        let stalled = |round: &&Round| asked(round) || (round.moderated && is_stale(round));
        let stalled: Vec<&Round> = self.log.rounds.iter().filter(stalled).collect();
        let reframed = stalled.iter().filter(|round| asked(round)).count();
        let shown = self.asks_of("intervene", stalled.iter().copied());
        match stalled.len() {
            0 => check(&sentence, None, "no round stalled".to_owned(), shown),
            n => check(
                &sentence,
                Some(reframed == n),
                format!("{} in {}", counted(reframed, "reframing question"), counted(n, "stale round")),
                shown,
            ),
        }
    }

    fn not_dominated(&self) -> Check {
        let sentence =
            avoided("Over-intervening and dominating the debate (moderator should facilitate, not lead)");
        // By what was really asked: a question to all is one intervention.
        let put = |round: &Round| {
            let asked = || heard(&self.debate.turns, "intervene", round.number).map(|(asked, _)| asked);
            let is_to_all = |asked: &&Asked| asked.about.is_none();
            asked().filter(|asked| !is_to_all(asked)).count()
                + usize::from(asked().any(|asked| is_to_all(&asked)))
        };
        let most = self.log.rounds.iter().map(put).max().unwrap_or_default();
        let note = format!("at most {} in a round, of {INTERVENTIONS_MAX}", counted(most, "intervention"));
        let shown = self.asks_of("intervene", self.log.rounds.iter());
        check(&sentence, Some(most <= INTERVENTIONS_MAX), note, shown)
    }

    /// Every message reached its recipient.
    fn exchange_allowed(&self) -> Check {
        let sentence = avoided("In standard mode: not encouraging/allowing peer exchange");
        if self.log.is_economy() {
            return check(&sentence, None, "economy mode has none".to_owned(), Vec::new());
        }
        let put = |round: u32, to: usize| {
            heard(&self.debate.turns, "exchange", round).any(|(asked, _)| asked.seat == self.log.id(to))
        };
        let lost = self.log.letters.iter().filter(|letter| !put(letter.round, letter.to)).count();
        let note =
            format!("{} written, {lost} of them not delivered", counted(self.log.letters.len(), "message"));
        let shown = self.asks_of("exchange", self.log.rounds.iter());
        check(&sentence, Some(lost == 0), note, shown)
    }
}
