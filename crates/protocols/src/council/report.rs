//! What people read of a council's verdict: the headline and the report.

use agon_core::view::ending_sentence;
use agon_core::wording::{capitalized, counted, heading, joined, percent, sentence, sentences};
use agon_core::{
    Corrupt, Debate, Headline, Outcome, Outline, ReportBlock, ReportItem, ReportLength, ReportSection,
    SectionKind, Termination, VerdictTone,
};
use serde::Deserialize;

use super::closing::{CouncilDissent, cited};
use super::log::{Challenge, ChallengeFate, CouncilLog, CouncillorStanding, has_words, one_line};
use super::moderation::{InterventionKind, ModeratorIntervention, opposition};
use super::replies::{CouncilVote, CouncillorQuote, RiskProbability, RiskSeverity};
use super::verdict::{
    CastVote, ConfidenceCap, CouncilDisagreement, CouncilVerdict, VoteCondition, councillors_of,
};
use crate::quotes::is_same_text;

/// A list in the short report ends here if at least two entries would follow.
const SHORT_ITEMS_MAX: usize = 6;

/// The minority's positions, as the outcome has them.
pub(super) fn dissent(debate: &Debate) -> Result<Vec<CouncilDissent>, Corrupt> {
    let recorded = debate.outcome.iter().flat_map(|outcome| &outcome.dissent);
    Ok(recorded.map(CouncilDissent::deserialize).collect::<Result<_, _>>()?)
}

pub(super) fn dissent_items(log: &CouncilLog<'_>, dissent: &[CouncilDissent]) -> Vec<ReportItem> {
    let item = |held: &CouncilDissent| {
        let argument = held.key_argument.as_deref().filter(|argument| has_words(argument));
        let argument =
            argument.map_or_else(String::new, |argument| format!("Its reason: {} ", sentence(argument)));
        ReportItem {
            who: Some(log.name(&held.seat).to_owned()),
            text: held.position.clone(),
            note: Some(format!("{argument}{}.", capitalized(&held.reason))),
        }
    };
    dissent.iter().map(item).collect()
}

pub(super) fn headline(log: &CouncilLog<'_>, verdict: &CouncilVerdict) -> Headline {
    let Some(outcome) = &log.debate.outcome else { return Headline::default() };
    Headline {
        verdict: verdict.decision.map(|decision| decision.as_str().to_owned()),
        answer: verdict.agreed.clone(),
        why: Some(vote_sentence(log, verdict, outcome)),
        score: None,
        tone: tone(verdict),
        ending: ending_sentence(outcome, "councillors"),
    }
}

fn tone(verdict: &CouncilVerdict) -> VerdictTone {
    match verdict.decision {
        Some(CouncilVote::Proceed) => VerdictTone::Good,
        Some(CouncilVote::WithConditions | CouncilVote::Reconsider) | None => VerdictTone::Warn,
        Some(CouncilVote::DoNotProceed) => VerdictTone::Bad,
    }
}

/// How the votes fell, how sure the decision is, and what limits that.
fn vote_sentence(log: &CouncilLog<'_>, verdict: &CouncilVerdict, outcome: &Outcome) -> String {
    if verdict.votes.is_empty() {
        return match outcome.termination {
            Termination::QuorumLost => "Too few councillors were left for a vote.".into(),
            _ => "Nobody voted.".into(),
        };
    }
    let cast = verdict.tally.iter().filter(|(_, count)| **count > 0);
    let tally: Vec<String> = cast.map(|(vote, count)| format!("{count} {}", vote.as_str())).collect();
    let seated = log.members.len();
    let of = if seated > verdict.votes.len() { format!(" of {seated} councillors") } else { String::new() };
    let votes = format!("{}{of}: {}.", counted(verdict.votes.len() as u64, "vote"), tally.join(", "));
    let Some(confidence) = verdict.confidence else {
        return format!("{votes} That is too few to decide anything.");
    };
    let is_divided = verdict.divided == Some(true);
    // An even split says that no side is large.
    let caps = verdict.confidence_caps.iter();
    let caps = caps.filter(|cap| !is_divided || **cap != ConfidenceCap::NotOver75Percent);
    let split = is_divided.then_some("the votes are evenly split");
    let reasons: Vec<String> =
        split.into_iter().chain(caps.map(|cap| cap.words())).map(str::to_owned).collect();
    let because = match (is_divided, reasons.is_empty()) {
        (true, _) => format!(", because {}", joined(&reasons)),
        (false, true) => String::new(),
        (false, false) => format!(", not HIGH, because {}", joined(&reasons)),
    };
    let half = verdict.votes.len() / 2;
    let tie = if is_divided {
        format!(" That is {half} for going ahead and {half} against going ahead now; a tie means not now.")
    } else {
        String::new()
    };
    format!("{votes}{tie} Confidence {}{because}.", confidence.as_str())
}

/// First the verdict, why, what must be so and what is missing; then how it came about: how votes and positions moved, what the
/// councillors agree on and what not, risks, evasions and interventions. The full report adds every challenge.
pub(super) fn outline(log: &CouncilLog<'_>, verdict: &CouncilVerdict) -> Outline {
    let report = CouncilReport { log, verdict };
    let outcome = log.debate.outcome.as_ref();
    let answer = [
        outcome.map(|outcome| report.verdict(outcome)),
        report.reasons(),
        report.conditions(),
        report.facts_needed(),
    ];
    let body = [
        report.evolution(),
        report.consensus(),
        report.partly_shared(),
        report.refusals(),
        report.risks(),
        report.violations(),
        report.interventions(),
        // While the debate runs, an open question may still be answered.
        outcome.and_then(|_| report.open_questions()),
    ];
    Outline {
        answer: answer.into_iter().flatten().collect(),
        body: body.into_iter().flatten().collect(),
        details: report.challenges().into_iter().collect(),
        facts: verdict.economy.then(|| "economy mode".to_owned()).into_iter().collect(),
        ..Outline::default()
    }
}

struct CouncilReport<'a> {
    log: &'a CouncilLog<'a>,
    verdict: &'a CouncilVerdict,
}

fn part(title: &str, blocks: Vec<ReportBlock>) -> ReportSection {
    ReportSection::new(SectionKind::Part, title, blocks)
}

/// A section with a list, whole in every report.
fn whole_list(title: &str, items: Vec<ReportItem>) -> Option<ReportSection> {
    (!items.is_empty()).then(|| part(title, vec![ReportBlock::Items(items)]))
}

/// A section with a list, of which the short report shows the first entries and says how to get all.
fn list_section(
    debate: &Debate,
    title: &str,
    mut first: Vec<ReportBlock>,
    items: Vec<ReportItem>,
) -> Option<ReportSection> {
    if items.is_empty() {
        return None;
    }
    let more = items.len().saturating_sub(SHORT_ITEMS_MAX);
    match items.get(..SHORT_ITEMS_MAX).filter(|_| more > 1) {
        None => first.push(ReportBlock::Items(items)),
        Some(shown) => {
            let id = &debate.brief.id;
            let rest = ReportBlock::Line(format!("And {more} more: `agon export {id}` has them."));
            let shown = vec![ReportBlock::Items(shown.to_vec()), rest];
            first.push(ReportBlock::In(ReportLength::Short, shown));
            first.push(ReportBlock::In(ReportLength::Full, vec![ReportBlock::Items(items)]));
        }
    }
    Some(part(title, first))
}

impl CouncilReport<'_> {
    fn name(&self, id: &str) -> String {
        self.log.name(id).to_owned()
    }

    fn names(&self, ids: &[String]) -> String {
        self.log.names(ids.iter().map(String::as_str))
    }

    fn verdict(&self, outcome: &Outcome) -> ReportSection {
        let (kind, word) = match self.verdict.decision {
            Some(decision) if self.verdict.divided == Some(true) => {
                (SectionKind::Answer, format!("{} (divided)", decision.as_str()))
            }
            Some(decision) => (SectionKind::Answer, decision.as_str().to_owned()),
            None => (SectionKind::NoAnswer, "No verdict".to_owned()),
        };
        let mut blocks = vec![ReportBlock::Headline(tone(self.verdict), word)];
        let meaning = self.verdict.decision.and_then(CouncilVote::meaning);
        blocks.extend(meaning.map(|meaning| ReportBlock::Line(capitalized(meaning))));
        if let Some(agreed) = &self.verdict.agreed {
            let quoted = councillors_of(&self.verdict.agreed_quotes);
            let who = if quoted.len() == self.verdict.votes.len() { "All" } else { "Most" };
            let quoted = joined(&quoted.iter().map(|id| self.name(id)).collect::<Vec<_>>());
            blocks.push(ReportBlock::Prose(format!("{who} would sign: {agreed}")));
            blocks.push(ReportBlock::Line(format!(
                "Written by the moderator, who supports it with words of {quoted}."
            )));
            blocks.extend(self.conditions_hint().map(ReportBlock::Line));
        }
        blocks.push(ReportBlock::Line(vote_sentence(self.log, self.verdict, outcome)));
        ReportSection::new(kind, "Verdict", blocks)
    }

    /// That the moderator's sentence is not all that those who voted for it ask.
    fn conditions_hint(&self) -> Option<String> {
        let names = self.makers(&self.verdict.conditions, CouncilVote::is_in_favour);
        let hint = format!("{} voted for it and named the conditions below.", joined(&names));
        (self.is_decided_for() && !names.is_empty()).then_some(hint)
    }

    /// What each councillor voted for and why, those on the side of the decision first.
    fn reasons(&self) -> Option<ReportSection> {
        let is_with = |cast: &CastVote| {
            self.verdict.decision.is_some_and(|decision| decision.is_in_favour() == cast.vote.is_in_favour())
        };
        let mut cast: Vec<&CastVote> = self.verdict.votes.iter().collect();
        cast.sort_by_key(|cast| !is_with(cast));
        let items = cast.iter().map(|cast| {
            let notes = [
                ("Its reason", &cast.key_argument),
                ("Strongest point of the other side", &cast.strongest_opposing_point),
                ("Remaining concern", &cast.remaining_concern),
            ];
            let notes = notes.iter().filter(|(_, text)| has_words(text));
            let notes: Vec<String> = notes.map(|(name, text)| format!("{name}: {}", text.trim())).collect();
            ReportItem {
                who: Some(format!("{}, {}", self.name(&cast.councillor), cast.vote.as_str())),
                text: cast.final_position.clone(),
                note: (!notes.is_empty()).then(|| sentences(&notes)),
            }
        });
        let section = whole_list("The votes, and why", items.collect());
        section.map(|section| ReportSection { kind: SectionKind::Why, ..section })
    }

    fn is_decided_for(&self) -> bool {
        self.verdict.decision.is_some_and(CouncilVote::is_in_favour)
    }

    /// The councillors with such a vote who make one of these conditions.
    fn makers<'c>(
        &self,
        made: impl IntoIterator<Item = &'c VoteCondition> + Clone,
        is_meant: impl Fn(CouncilVote) -> bool,
    ) -> Vec<String> {
        let makes = |id: &String| made.clone().into_iter().any(|made| made.councillors.contains(id));
        let cast = self.verdict.votes.iter().filter(|cast| is_meant(cast.vote) && makes(&cast.councillor));
        cast.map(|cast| self.name(&cast.councillor)).collect()
    }

    /// All conditions, those of the side of the decision first. What must be so before a new vote stands apart.
    fn conditions(&self) -> Option<ReportSection> {
        let first = self.verdict.decision.is_none_or(CouncilVote::is_in_favour);
        let sides = [first, !first].into_iter().filter_map(|side| self.conditions_of_side(side));
        let conflicts =
            self.verdict.conflicts.iter().map(|conflict| ReportItem::text(conflict.words(self.log)));
        let conflicts: Vec<ReportItem> = conflicts.collect();
        let conflicts = (!conflicts.is_empty()).then(|| ReportBlock::Group {
            title: "Conditions that exclude each other, as the moderator finds".to_owned(),
            badges: Vec::new(),
            blocks: vec![ReportBlock::Items(conflicts)],
        });
        (!self.verdict.conditions.is_empty()).then(|| part("Conditions", sides.chain(conflicts).collect()))
    }

    /// The conditions of those who voted for it or against it, under a title unless they are those of a decision for it.
    fn conditions_of_side(&self, in_favour: bool) -> Option<ReportBlock> {
        let makes_any = |cast: &CastVote, made: &VoteCondition| {
            cast.vote.is_in_favour() == in_favour && made.councillors.contains(&cast.councillor)
        };
        let is_of_side = |made: &&VoteCondition| self.verdict.votes.iter().any(|cast| makes_any(cast, made));
        let made: Vec<&VoteCondition> = self.verdict.conditions.iter().filter(is_of_side).collect();
        let makers = self.makers(made.iter().copied(), |vote| vote.is_in_favour() == in_favour);
        let reconsider = self.makers(made.iter().copied(), |vote| vote == CouncilVote::Reconsider);
        let proceed = self.makers(made.iter().copied(), |vote| vote == CouncilVote::Proceed);
        let (names, want) = (joined(&makers), if makers.len() == 1 { "wants" } else { "want" });
        let voted = if proceed.is_empty() { CouncilVote::WithConditions.as_str() } else { "for going ahead" };
        let title = match in_favour {
            true if self.is_decided_for() => None,
            true => Some(format!("What {names}, who voted {voted}, {want} to be met before it is done")),
            false if reconsider == makers => Some(format!("What {names} {want} before a new vote")),
            false => Some(format!("Conditions of {names}, who voted against going ahead now")),
        };
        let items = made.iter().map(|made| {
            let by = self.named_by(&made.condition, &made.councillors, &made.stated);
            // A title with one name says whose they are.
            let note = Some(by).filter(|by| title.is_none() || *by != names);
            ReportItem { who: None, text: made.condition.clone(), note }
        });
        let items = ReportBlock::Items(items.collect());
        (!made.is_empty()).then(|| match title {
            None => items,
            Some(title) => ReportBlock::Group { title, badges: Vec::new(), blocks: vec![items] },
        })
    }

    /// Who named a condition or a risk, and in which words if they are not the text's.
    fn named_by(&self, text: &str, councillors: &[String], stated: &[CouncillorQuote]) -> String {
        if stated.iter().all(|said| is_same_text(&said.quote, text)) {
            return self.names(councillors);
        }
        let words = stated.iter().map(|said| format!("{}: \"{}\"", self.name(&said.councillor), said.quote));
        format!("Merged by the moderator. {}", words.collect::<Vec<_>>().join(" / "))
    }

    fn facts_needed(&self) -> Option<ReportSection> {
        whole_list("What only you can tell", self.verdict.facts_needed.iter().map(ReportItem::text).collect())
    }

    /// Everybody's votes through the rounds at a glance, and the reasons of every change of position.
    fn evolution(&self) -> Option<ReportSection> {
        let all = &self.verdict.position_evolution;
        let steps_max = all.values().map(Vec::len).max().unwrap_or_default();
        let mut head = vec!["Councillor".to_owned(), "Opening".into()];
        head.extend((1..steps_max).map(|round| format!("Round {round}")));
        head.push("Vote".into());
        let (mut rows, mut changes) = (vec![head], Vec::new());
        for (id, steps) in all {
            let name = self.name(id);
            for (before, step) in steps.iter().zip(steps.iter().skip(1)) {
                let text = match step.changed {
                    true => step.position.clone(),
                    false if before.vote != step.vote => {
                        format!("The same position, but the vote is now {}.", step.vote.as_str())
                    }
                    false => continue,
                };
                let who = Some(format!("{name} in round {}", step.round));
                changes.push(ReportItem {
                    who,
                    text,
                    note: Some(self.reason(id, step.round, &step.because)),
                });
            }
            let cast = self.verdict.votes.iter().find(|cast| cast.councillor == *id);
            let late = cast.filter(|cast| steps.last().is_some_and(|step| step.vote != cast.vote));
            changes.extend(late.map(|cast| ReportItem {
                who: Some(format!("{name} in the vote")),
                text: format!("The vote is now {}.", cast.vote.as_str()),
                note: Some(match cast.because.as_str() {
                    "" => "It left the question for the reason unanswered.".to_owned(),
                    because => self.reason(id, self.log.options.rounds + 1, because),
                }),
            }));
            let vote = cast.map_or("none", |cast| short_vote(cast.vote));
            let cells = steps.iter().map(standing_cell);
            rows.push(std::iter::once(name).chain(cells).chain([vote.to_owned()]).collect());
        }
        let changes = match changes.is_empty() {
            true => ReportBlock::Line("Nobody changed position or vote.".into()),
            false => ReportBlock::Items(changes),
        };
        let title = "How votes and positions moved";
        (!all.is_empty()).then(|| part(title, vec![ReportBlock::Table(rows), changes]))
    }

    /// A reason, with who said what under the ids that it names.
    fn reason(&self, seat: &str, round: u32, because: &str) -> String {
        let named = cited(self.log, round, seat, because).into_iter().filter_map(|shown| {
            let id = shown.trim_matches(['[', ']']);
            let challenge = self.log.challenge(id).map(|put| (self.name(&put.from), put.question.as_str()));
            let message = self.log.messages.iter().find(|sent| sent.id == id);
            let message = message.map(|sent| match sent.from == seat {
                true => {
                    (format!("reply of {}", self.name(&sent.to)), sent.reply.as_deref().unwrap_or_default())
                }
                false => (self.name(&sent.from), sent.text.as_str()),
            });
            let (from, words) = challenge.or(message)?;
            Some(format!("{shown} ({from}): {}", one_line(words)))
        });
        let named: Vec<String> = named.collect();
        match named.is_empty() {
            true => format!("Its reason: {because}"),
            false => format!("Its reason: {because} / What it names: {}", named.join(" / ")),
        }
    }

    /// What was shared when the moderator last looked, which was before the vote.
    fn consensus(&self) -> Option<ReportSection> {
        let active = self.log.active.len();
        let is_shared_by_all = self.verdict.consensus_points.iter().all(|it| it.councillors.len() == active);
        let who = if is_shared_by_all { "all" } else { "most" };
        let round = self.log.rounds.iter().rev().find(|round| round.is_moderated)?.number;
        let items = self.verdict.consensus_points.iter().map(|shared| {
            let share = percent(shared.councillors.len() as u64, active as u64);
            let point = (shared.point.as_str(), shared.challenged_by.as_slice());
            let holders = shared.councillors.iter().map(String::as_str);
            let challenged = opposition(self.log, point, holders, &self.verdict.interventions);
            let note = format!("{} ({share}); {challenged}", self.names(&shared.councillors));
            ReportItem { who: None, text: shared.point.clone(), note: Some(note) }
        });
        let title = format!("What {who} agreed on after round {round}");
        list_section(self.log.debate, &title, self.later_conflicts(), items.collect())
    }

    /// Who of those who share a point later named conditions that exclude each other. Nobody declares which point they are about.
    fn later_conflicts(&self) -> Vec<ReportBlock> {
        let points = &self.verdict.consensus_points;
        let mut told: Vec<String> = Vec::new();
        for conflict in &self.verdict.conflicts {
            let makers = councillors_of(&conflict.stated);
            if points.iter().any(|shared| makers.iter().all(|seat| shared.councillors.contains(seat))) {
                let names = joined(&makers.iter().map(|id| self.name(id)).collect::<Vec<_>>());
                told.push(format!(
                    "In the vote, {names} named conditions that exclude each other: see Conditions."
                ));
            }
        }
        told.dedup();
        told.into_iter().map(ReportBlock::Line).collect()
    }

    /// The challenges that were answered with a no. Whether one is still in dispute, nobody declares.
    fn refusals(&self) -> Option<ReportSection> {
        let items = self.verdict.disagreements.iter().filter_map(|dispute| {
            let put = self.log.challenge(dispute.challenge_id.as_deref()?)?;
            let answered = put.answers.last().map_or(put.round, |answer| answer.round);
            let (from, to) = (self.name(&put.from), self.name(&put.to));
            Some(ReportItem {
                who: Some(format!("[{}] {from} asks {to}, answered in round {answered}", put.id)),
                text: match put.shown_claim() {
                    Some(claim) => format!("On {claim}: {}", dispute.point),
                    None => dispute.point.clone(),
                },
                note: Some(self.sides(dispute)),
            })
        });
        list_section(self.log.debate, "Challenges answered with disagreement", Vec::new(), items.collect())
    }

    /// The challenged points that too few share for a consensus.
    fn partly_shared(&self) -> Option<ReportSection> {
        let points = self.verdict.disagreements.iter().filter(|dispute| dispute.challenge_id.is_none());
        let items = points.map(|dispute| ReportItem {
            who: None,
            text: dispute.point.clone(),
            note: Some(self.sides(dispute)),
        });
        list_section(self.log.debate, "What only some share", Vec::new(), items.collect())
    }

    fn sides(&self, dispute: &CouncilDisagreement) -> String {
        let sides = dispute.sides.iter();
        let sides = sides.map(|side| format!("{}: {}", self.names(&side.councillors), side.view));
        sides.collect::<Vec<_>>().join(" / ")
    }

    fn violations(&self) -> Option<ReportSection> {
        let items = self.verdict.violations.iter().map(|violation| {
            let id = &violation.challenge_id;
            let challenge = self.verdict.challenges.iter().find(|challenge| challenge.id == *id);
            let name = self.name(&violation.councillor);
            let found = match violation.is_late {
                true => "after the votes".to_owned(),
                false => format!("in round {}", violation.round),
            };
            ReportItem {
                who: Some(format!("{name} on [{id}], found {found}")),
                text: challenge.map_or(String::new(), |challenge| challenge.question.clone()),
                note: Some(capitalized(&violation.why)),
            }
        });
        whole_list("Who evaded a challenge", items.collect())
    }

    fn interventions(&self) -> Option<ReportSection> {
        let groups: Vec<ReportBlock> =
            self.verdict.interventions.iter().map(|done| self.intervention(done)).collect();
        (!groups.is_empty()).then(|| part("What the moderator did", groups).folded())
    }

    fn intervention(&self, done: &ModeratorIntervention) -> ReportBlock {
        let (to, id) = (self.name(&done.to), done.about.as_deref().unwrap_or_default());
        let (what, about, shown) = match done.kind {
            InterventionKind::Evasion => {
                (format!("[{id}] again, to {to}"), "Challenge", "Words of the answer")
            }
            InterventionKind::Groupthink => (format!("the case against, by {to}"), "Point", "Shown by"),
            InterventionKind::Stale => ("a question to all".to_owned(), "Question", "Shown by"),
        };
        let outcome = self.outcome(done);
        let pairs = [
            (about, Some(done.question.as_str())),
            ("Because", done.why.as_deref()),
            (shown, Some(done.quote.as_str()).filter(|quote| quote.trim() != done.question.trim())),
            ("Answer", done.reply.as_deref()),
            ("Outcome", outcome.as_deref()),
        ];
        let title = format!("Round {}, {}: {what}", done.round, heading(done.kind.as_str()));
        group(title, Vec::new(), pairs.into_iter().filter_map(|(name, text)| Some((name, text?))))
    }

    /// What came of an intervention. Whether a point outlived the case against it, the moderator's next findings show.
    fn outcome(&self, done: &ModeratorIntervention) -> Option<String> {
        let is_evaded = |put: &&Challenge| {
            Some(&put.id) == done.about.as_ref()
                && put.fate == ChallengeFate::Evaded
                && done.outcome == "answered"
        };
        if self.log.challenges.iter().any(|put| is_evaded(&put)) {
            return Some("answered, and the moderator found that answer evasive, too".to_owned());
        }
        let Some(point) = done.steelmanned_point() else { return Some(done.outcome.clone()) };
        let shared = |number: u32| {
            let round = self.log.round(number).filter(|round| round.moderator.is_some())?;
            Some(round.findings.shared_points.iter().find(|shared| is_same_text(&shared.point, point)))
        };
        let next = done.round + 1;
        match (shared(done.round).flatten(), shared(next)) {
            (Some(_), Some(Some(still))) => Some(format!(
                "the case was made; after round {next} still shared by {}",
                self.log.names(still.holders())
            )),
            (Some(_), Some(None)) => Some(format!(
                "the case was made; after round {next} the moderator does not name the point any more"
            )),
            _ => None,
        }
    }

    /// How many risks there are of each severity and probability, and which.
    fn risks(&self) -> Option<ReportSection> {
        let risks = &self.verdict.risk_matrix;
        let mut rows = vec![["Severity", "Unlikely", "Possible", "Likely"].map(String::from).to_vec()];
        for severity in RiskSeverity::ALL.into_iter().rev() {
            let counts = RiskProbability::ALL.map(|probability| {
                let same =
                    risks.iter().filter(|risk| (risk.severity, risk.probability) == (severity, probability));
                match same.count() {
                    0 => "-".to_owned(),
                    n => n.to_string(),
                }
            });
            rows.push([heading(severity.as_str())].into_iter().chain(counts).collect());
        }
        let items = risks.iter().map(|risk| {
            let by = self.named_by(&risk.risk, &risk.councillors, &risk.stated);
            let likely = match risk.probability {
                RiskProbability::High => "likely",
                RiskProbability::Medium => "possible",
                RiskProbability::Low => "unlikely",
            };
            let mitigation = match risk.mitigation.trim() {
                "" => String::new(),
                text => format!("; against it: {text}"),
            };
            ReportItem {
                who: Some(format!("{}, {likely}", heading(risk.severity.as_str()))),
                text: risk.risk.clone(),
                note: Some(format!("{by}{mitigation}")),
            }
        });
        let mut first = vec![ReportBlock::Table(rows)];
        if risks.iter().any(|risk| risk.councillors.len() > 1) {
            let highest = "Where several name a risk, it has the highest severity and probability that one of them gives it.";
            first.push(ReportBlock::Line(highest.into()));
        }
        list_section(self.log.debate, "Risks", first, items.collect())
    }

    fn open_questions(&self) -> Option<ReportSection> {
        let items = self.verdict.open_questions.iter().map(|open| {
            let (from, to) = (self.name(&open.from), self.name(&open.to));
            ReportItem {
                who: Some(format!("[{}] {from} to {to}", open.challenge_id)),
                text: open.question.clone(),
                note: Some(capitalized(&open.why)),
            }
        });
        list_section(self.log.debate, "Open questions", Vec::new(), items.collect())
            .map(ReportSection::folded)
    }

    /// Every challenge with its fate.
    fn challenges(&self) -> Option<ReportSection> {
        let groups: Vec<ReportBlock> =
            self.verdict.challenges.iter().map(|challenge| self.challenge(challenge)).collect();
        let section = || part("Every challenge and its fate", groups).folded().only(ReportLength::Full);
        (!self.verdict.challenges.is_empty()).then(section)
    }

    fn challenge(&self, challenge: &Challenge) -> ReportBlock {
        let mut badges = vec![challenge.fate.as_str().to_owned()];
        badges.extend(challenge.stance.map(|stance| stance.as_str().to_owned()));
        badges.dedup();
        badges.extend(challenge.re_asked.map(|round| format!("put again in round {round}")));
        badges.extend((challenge.quoted == Some(false)).then(|| "not a quote".to_owned()));
        let words =
            [("Claim", &challenge.claim), ("Reason", &challenge.reason), ("Question", &challenge.question)];
        let words = words.map(|(name, text)| (name.to_owned(), text.as_str())).into_iter();
        let answers = challenge.answers.iter().map(|answer| {
            let again = if answer.second { ", put again" } else { "" };
            let evasive = if answer.evasive_since.is_some() { ", evasive" } else { "" };
            let name = format!("Answer in round {}{again} ({}{evasive})", answer.round, answer.stance_word());
            (name, answer.response.as_str())
        });
        let round = match challenge.round {
            0 => "opening".to_owned(),
            round => format!("round {round}"),
        };
        let (from, to) = (self.name(&challenge.from), self.name(&challenge.to));
        let title = format!("[{}] {from} to {to}, {round}", challenge.id);
        group(title, badges, words.filter(|(_, text)| !text.is_empty()).chain(answers))
    }
}

fn group<'a, N: Into<String>>(
    title: String,
    badges: Vec<String>,
    pairs: impl IntoIterator<Item = (N, &'a str)>,
) -> ReportBlock {
    let pairs = pairs.into_iter().map(|(name, text)| (name.into(), text.to_owned())).collect();
    ReportBlock::Group { title, badges, blocks: vec![ReportBlock::Pairs(pairs)] }
}

/// A councillor's provisional vote and confidence after a round, and whether its position changed in it.
fn standing_cell(step: &CouncillorStanding) -> String {
    let held = format!("{}, {}", short_vote(step.vote), step.confidence.as_str());
    match (step.changed, step.carried) {
        (true, _) => format!("{held}, new position"),
        (false, true) => format!("{held} (absent)"),
        (false, false) => held,
    }
}

/// A vote in a narrow table.
fn short_vote(vote: CouncilVote) -> &'static str {
    match vote {
        CouncilVote::WithConditions => "CONDITIONS",
        other => other.as_str(),
    }
}
