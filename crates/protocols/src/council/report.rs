//! What people read of a council's verdict: the headline and the report.

use agon_core::view::ending_sentence;
use agon_core::wording::{capitalized, counted, heading, joined, percent};
use agon_core::{
    Corrupt, Debate, Headline, Outcome, Outline, ReportBlock, ReportItem, ReportLength, ReportSection,
    SectionKind, Termination, VerdictTone,
};
use serde::Deserialize;

use super::closing::CouncilDissent;
use super::log::{Challenge, CouncilLog, CouncillorStanding, has_words};
use super::moderation::{InterventionKind, ModeratorIntervention, opposition};
use super::replies::{CouncilVote, RiskProbability, RiskSeverity};
use super::verdict::{
    CastVote, CouncilDisagreement, CouncilVerdict, StatedTerm, VoteCondition, stated_conditions, stated_risks,
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
        let argument = argument.map_or_else(String::new, |argument| format!("Its reason: {argument} "));
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
    let caps: Vec<String> = verdict.confidence_caps.iter().map(|cap| cap.words().to_owned()).collect();
    let capped = match caps.is_empty() {
        true => String::new(),
        false => format!(" It cannot be HIGH because {}.", joined(&caps)),
    };
    format!("{votes} Confidence {}.{capped}", confidence.as_str())
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

/// A section with a list, of which the short report shows the first entries.
fn list_section(title: &str, mut first: Vec<ReportBlock>, items: Vec<ReportItem>) -> Option<ReportSection> {
    if items.is_empty() {
        return None;
    }
    let more = items.len().saturating_sub(SHORT_ITEMS_MAX);
    match items.get(..SHORT_ITEMS_MAX).filter(|_| more > 1) {
        None => first.push(ReportBlock::Items(items)),
        Some(shown) => {
            let rest = ReportBlock::Line(format!("And {more} more: the full report has them."));
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
        if let Some(agreed) = &self.verdict.agreed {
            let quoted = self.verdict.agreed_quotes.iter().map(|said| self.name(&said.councillor));
            let quoted = joined(&quoted.collect::<Vec<_>>());
            blocks.push(ReportBlock::Prose(agreed.clone()));
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
        let name = if names.len() == 1 { "names" } else { "name" };
        let hint = format!(
            "{}, who voted for it, {name} conditions (below); the sentence above need not contain them all.",
            joined(&names)
        );
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
                note: (!notes.is_empty()).then(|| notes.join(" ")),
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

    /// All conditions, those of the majority first. What must be so before a new vote stands apart.
    fn conditions(&self) -> Option<ReportSection> {
        let all = &self.verdict.conditions;
        let makers = self.makers(all, |_| true);
        let is_separate = makers.len() > 1 && all.iter().all(|made| made.councillors.len() == 1);
        let separate = match makers.len() == self.log.members.len() {
            true => "Each councillor named its own.".to_owned(),
            false => format!("{} each named their own.", joined(&makers)),
        };
        let first = self.verdict.decision.is_none_or(CouncilVote::is_in_favour);
        let blocks = [
            is_separate.then_some(ReportBlock::Line(separate)),
            self.conditions_of_side(first),
            self.conditions_of_side(!first),
        ];
        (!all.is_empty()).then(|| part("Conditions", blocks.into_iter().flatten().collect()))
    }

    /// The conditions of those who voted for it or against it, under a title unless they are those of a decision for it.
    fn conditions_of_side(&self, in_favour: bool) -> Option<ReportBlock> {
        let vote =
            |id: &str| self.verdict.votes.iter().find(|cast| cast.councillor == id).map(|cast| cast.vote);
        let is_for = |id: &String| vote(id).is_some_and(CouncilVote::is_in_favour);
        // A condition of both sides stands with those of the decision.
        let is_of_side = |made: &&VoteCondition| match self.verdict.decision {
            Some(decision) => (made.majority == decision.is_in_favour()) == in_favour,
            None => made.councillors.iter().any(is_for) == in_favour,
        };
        let made: Vec<&VoteCondition> = self.verdict.conditions.iter().filter(is_of_side).collect();
        let makers = self.makers(made.iter().copied(), |vote| vote.is_in_favour() == in_favour);
        let reconsider = self.makers(made.iter().copied(), |vote| vote == CouncilVote::Reconsider);
        let (names, want) = (joined(&makers), if makers.len() == 1 { "wants" } else { "want" });
        let title = match in_favour {
            true if self.is_decided_for() => None,
            true => Some(format!("Conditions of {names}, who voted for it")),
            false if reconsider == makers => Some(format!("What {names} {want} before a new vote")),
            false => Some(format!("Conditions of {names}, who voted against it")),
        };
        let stated = stated_conditions(self.log);
        let items = made.iter().map(|made| {
            let by = made.councillors.iter().map(|id| match vote(id) {
                Some(vote) if vote.is_in_favour() != in_favour => {
                    format!("{} (voted {})", self.name(id), vote.as_str())
                }
                _ => self.name(id),
            });
            let by = by.collect::<Vec<_>>().join(", ");
            // A title with one name says whose they are.
            let by = if title.is_some() && by == names && makers.len() == 1 { String::new() } else { by };
            let note = format!("{by}{}", merge_note(&made.condition, &stated));
            let note = capitalized(note.trim_start_matches("; "));
            ReportItem { who: None, text: made.condition.clone(), note: (!note.is_empty()).then_some(note) }
        });
        let items = ReportBlock::Items(items.collect());
        (!made.is_empty()).then(|| match title {
            None => items,
            Some(title) => ReportBlock::Group { title, badges: Vec::new(), blocks: vec![items] },
        })
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
                changes.push(ReportItem { who, text, note: Some(format!("Because: {}", step.because)) });
            }
            let vote = self.verdict.votes.iter().find(|cast| cast.councillor == *id);
            let vote = vote.map_or("none", |cast| short_vote(cast.vote));
            let cells = steps.iter().map(standing_cell);
            rows.push(std::iter::once(name).chain(cells).chain([vote.to_owned()]).collect());
        }
        let changes = match changes.is_empty() {
            true => ReportBlock::Line("Nobody changed position or vote in the rounds.".into()),
            false => ReportBlock::Items(changes),
        };
        let title = "How votes and positions moved";
        (!all.is_empty()).then(|| part(title, vec![ReportBlock::Table(rows), changes]))
    }

    fn consensus(&self) -> Option<ReportSection> {
        let active = self.log.active.len();
        let items = self.verdict.consensus_points.iter().map(|shared| {
            let share = percent(shared.councillors.len() as u64, active as u64);
            let challenged = opposition(&shared.point, shared.challenged, &self.verdict.interventions);
            let note = format!("{} ({share}); {challenged}", self.names(&shared.councillors));
            ReportItem { who: None, text: shared.point.clone(), note: Some(note) }
        });
        list_section("What they agree on", Vec::new(), items.collect())
    }

    /// The challenges that were answered with a no. Whether one is still in dispute, nobody declares.
    fn refusals(&self) -> Option<ReportSection> {
        let items = self.verdict.disagreements.iter().filter_map(|dispute| {
            let put = self.log.challenge(dispute.challenge_id.as_deref()?)?;
            let answered = put.answers.last().map_or(put.round, |answer| answer.round);
            let (from, to) = (self.name(&put.from), self.name(&put.to));
            Some(ReportItem {
                who: Some(format!("[{}] {from} asks {to}, answered in round {answered}", put.id)),
                text: dispute.point.clone(),
                note: Some(self.sides(dispute)),
            })
        });
        list_section("Challenges answered with disagreement", Vec::new(), items.collect())
    }

    /// The challenged points that too few share for a consensus.
    fn partly_shared(&self) -> Option<ReportSection> {
        let points = self.verdict.disagreements.iter().filter(|dispute| dispute.challenge_id.is_none());
        let items = points.map(|dispute| {
            let challenged = opposition(&dispute.point, true, &self.verdict.interventions);
            let note = format!("{}; {challenged}", self.sides(dispute));
            ReportItem { who: None, text: dispute.point.clone(), note: Some(note) }
        });
        list_section("What only some share", Vec::new(), items.collect())
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
            let (name, round) = (self.name(&violation.councillor), violation.round);
            ReportItem {
                who: Some(format!("{name} on [{id}], round {round}")),
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
        let pairs = [
            (about, Some(done.question.as_str())),
            ("Because", done.why.as_deref()),
            (shown, Some(done.quote.as_str()).filter(|quote| quote.trim() != done.question.trim())),
            ("Answer", done.reply.as_deref()),
            ("Outcome", Some(done.outcome.as_str())),
        ];
        let title = format!("Round {}, {}: {what}", done.round, heading(done.kind.as_str()));
        group(title, Vec::new(), pairs.into_iter().filter_map(|(name, text)| Some((name, text?))))
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
        let stated = stated_risks(self.log);
        let items = risks.iter().map(|risk| {
            let merged = merge_note(&risk.risk, &stated);
            let likely = match risk.probability {
                RiskProbability::High => "likely",
                RiskProbability::Medium => "possible",
                RiskProbability::Low => "unlikely",
            };
            let mitigation = match risk.mitigation.trim() {
                "" => String::new(),
                text => format!(". Against it: {text}"),
            };
            ReportItem {
                who: Some(format!("{}, {likely}", heading(risk.severity.as_str()))),
                text: risk.risk.clone(),
                note: Some(format!("{}{merged}{mitigation}", self.names(&risk.councillors))),
            }
        });
        let mut first = vec![ReportBlock::Table(rows)];
        if risks.iter().any(|risk| risk.councillors.len() > 1) {
            let highest = "A risk that several name is as severe and as likely as any one of them says.";
            first.push(ReportBlock::Line(highest.into()));
        }
        list_section("Risks", first, items.collect())
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
        list_section("Open questions", Vec::new(), items.collect()).map(ReportSection::folded)
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

/// Who wrote a condition or a risk, where that is not one of those who named it.
fn merge_note(text: &str, stated: &[StatedTerm<'_>]) -> &'static str {
    let is_own = stated.iter().any(|term| is_same_text(term.text, text));
    if is_own { "" } else { "; merged by the moderator" }
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
