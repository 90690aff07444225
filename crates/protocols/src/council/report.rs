//! What people read of a council's verdict: the headline and the report. It shows what the verdict and the log record, and adds nothing.

use agon_core::view::ending_sentence;
use agon_core::wording::{capitalized, counted, heading, joined, percent, sentence, sentences};
use agon_core::{
    Corrupt, Debate, Headline, Outline, ReportBlock, ReportItem, ReportLength, ReportSection, SectionKind,
    VerdictTone,
};
use serde::Deserialize;

use super::closing::CouncilDissent;
use super::log::{Challenge, ChallengeFate, CouncilLog, CouncillorStanding, has_words};
use super::moderation::{InterventionKind, ModeratorIntervention, id_list};
use super::replies::{CouncilVote, CouncillorQuote, RiskProbability, RiskSeverity};
use super::verdict::{CastVote, CouncilDisagreement, CouncilVerdict, RiskEntry, councillors_of};
use crate::quotes::is_same_text;

/// A list in the short report ends here if at least two entries would follow.
const SHORT_ITEMS_MAX: usize = 6;

/// The minority's positions, as the outcome has them.
pub(super) fn dissent_items(log: &CouncilLog<'_>) -> Result<Vec<ReportItem>, Corrupt> {
    let recorded = log.debate.outcome.iter().flat_map(|outcome| &outcome.dissent);
    let items = recorded.map(|held| {
        let held = CouncilDissent::deserialize(held)?;
        let argument = labelled("Its reason", held.key_argument.as_deref().unwrap_or_default());
        let notes: Vec<String> = argument.into_iter().chain([sentence(&capitalized(&held.reason))]).collect();
        let who = Some(log.name(&held.seat).to_owned());
        Ok(ReportItem { who, text: held.position, note: Some(sentences(&notes)) })
    });
    items.collect()
}

pub(super) fn headline(log: &CouncilLog<'_>, verdict: &CouncilVerdict) -> Headline {
    let Some(outcome) = &log.debate.outcome else { return Headline::default() };
    Headline {
        verdict: verdict.decision.map(|decision| decision.as_str().to_owned()),
        answer: verdict.agreed.clone(),
        why: Some(vote_sentence(log, verdict)),
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
fn vote_sentence(log: &CouncilLog<'_>, verdict: &CouncilVerdict) -> String {
    if verdict.votes.is_empty() {
        return "Nobody voted.".to_owned();
    }
    let cast = verdict.tally.iter().filter(|(_, count)| **count > 0);
    let tally: Vec<String> = cast.map(|(vote, count)| format!("{count} {}", vote.as_str())).collect();
    let seated = log.members.len();
    let of = if seated > verdict.votes.len() { format!(" of {seated} councillors") } else { String::new() };
    let votes = format!("{}{of}: {}.", counted(verdict.votes.len() as u64, "vote"), tally.join(", "));
    let Some(confidence) = verdict.confidence else {
        return format!("{votes} That is too few to decide anything.");
    };
    let split = (verdict.divided == Some(true)).then_some("an even split is RECONSIDER");
    let caps = verdict.confidence_caps.iter().map(|cap| cap.words());
    let reasons: Vec<&str> = split.into_iter().chain(caps).collect();
    let because = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join("; ")) };
    format!("{votes} Confidence {}{because}.", confidence.as_str())
}

/// First the verdict, why, what must be so and what is missing; then how it came about: how votes and positions moved, what the
/// councillors share and what they refuse, risks, evasions and interventions. The full report adds every challenge.
pub(super) fn outline(log: &CouncilLog<'_>, verdict: &CouncilVerdict) -> Outline {
    let report = CouncilReport { log, verdict };
    let answer = [
        log.debate.outcome.as_ref().map(|_| report.verdict()),
        report.reasons(),
        report.conditions(),
        report.facts_needed(),
    ];
    let body = [
        report.evolution(),
        report.shared_points(),
        report.refusals(),
        report.risks(),
        report.unsettled_challenges(),
        report.interventions(),
    ];
    Outline {
        answer: answer.into_iter().flatten().collect(),
        body: body.into_iter().flatten().collect(),
        details: report.every_challenge().into_iter().collect(),
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
fn cut_list(debate: &Debate, title: &str, items: Vec<ReportItem>) -> Option<ReportSection> {
    let more = items.len().saturating_sub(SHORT_ITEMS_MAX);
    let Some(shown) = items.get(..SHORT_ITEMS_MAX).filter(|_| more > 1) else {
        return whole_list(title, items);
    };
    let rest = format!("And {more} more: `agon export {}` has them.", debate.brief.id);
    let short = vec![ReportBlock::Items(shown.to_vec()), ReportBlock::Line(rest)];
    let full = vec![ReportBlock::Items(items)];
    let blocks = [(ReportLength::Short, short), (ReportLength::Full, full)];
    Some(part(title, blocks.map(|(length, blocks)| ReportBlock::In(length, blocks)).into()))
}

/// A table with a head; `None` where it would have no other row.
fn table<const N: usize>(head: [&str; N], rows: Vec<[String; N]>) -> Option<ReportBlock> {
    let all = std::iter::once(head.map(str::to_owned)).chain(rows).map(Vec::from);
    let all: Vec<Vec<String>> = all.collect();
    (all.len() > 1).then_some(ReportBlock::Table(all))
}

fn group(title: impl Into<String>, block: ReportBlock) -> ReportBlock {
    ReportBlock::Group { title: title.into(), badges: Vec::new(), blocks: vec![block] }
}

/// A text with a name before it, if it says something.
fn labelled(label: &str, text: &str) -> Option<String> {
    has_words(text).then(|| format!("{label}: {}", text.trim()))
}

impl CouncilReport<'_> {
    fn name(&self, id: &str) -> String {
        self.log.name(id).to_owned()
    }

    fn names(&self, ids: &[String]) -> String {
        self.log.names(ids.iter().map(String::as_str))
    }

    fn verdict(&self) -> ReportSection {
        let divided = if self.verdict.divided == Some(true) { " (divided)" } else { "" };
        let (kind, word) = match self.verdict.decision {
            Some(decision) => (SectionKind::Answer, format!("{}{divided}", decision.as_str())),
            None => (SectionKind::NoAnswer, "No verdict".to_owned()),
        };
        let mut blocks = vec![ReportBlock::Headline(tone(self.verdict), word)];
        let meaning = self.verdict.decision.and_then(CouncilVote::meaning);
        blocks.extend(meaning.map(|meaning| ReportBlock::Line(capitalized(meaning))));
        if let Some(agreed) = &self.verdict.agreed {
            let quoted = councillors_of(&self.verdict.agreed_quotes);
            let quoted = joined(&quoted.iter().map(|id| self.name(id)).collect::<Vec<_>>());
            blocks.push(ReportBlock::Prose(agreed.clone()));
            blocks.push(ReportBlock::Line(format!("Written by the moderator, who quotes {quoted} for it.")));
        }
        blocks.push(ReportBlock::Line(vote_sentence(self.log, self.verdict)));
        ReportSection::new(kind, "Verdict", blocks)
    }

    /// What each councillor voted for and why, those on the side of the decision first.
    fn reasons(&self) -> Option<ReportSection> {
        let is_with = |cast: &CastVote| {
            self.verdict.decision.is_some_and(|decision| decision.is_in_favour() == cast.vote.is_in_favour())
        };
        let mut cast: Vec<&CastVote> = self.verdict.votes.iter().collect();
        cast.sort_by_key(|cast| !is_with(cast));
        let items = cast.into_iter().map(|cast| {
            let notes = [
                labelled("Its reason", &cast.key_argument),
                labelled("Strongest point of the other side", &cast.strongest_opposing_point),
                labelled("Remaining concern", &cast.remaining_concern),
            ];
            let notes: Vec<String> = notes.into_iter().flatten().collect();
            ReportItem {
                who: Some(format!("{}, {}", self.name(&cast.councillor), cast.vote.as_str())),
                text: cast.final_position.clone(),
                note: (!notes.is_empty()).then(|| sentences(&notes)),
            }
        });
        let section = whole_list("The votes, and why", items.collect());
        section.map(|section| ReportSection { kind: SectionKind::Why, ..section })
    }

    /// All conditions, those of the side of the decision first, and those that exclude each other.
    fn conditions(&self) -> Option<ReportSection> {
        let of_side = |side: bool| {
            let made = self.verdict.conditions.iter().filter(|made| made.on_decision_side == side);
            let items = made.map(|made| ReportItem {
                who: None,
                text: made.condition.clone(),
                note: Some(self.named_by(&made.condition, &made.councillors, &made.stated)),
            });
            items.collect()
        };
        let conflicts = self.verdict.conflicts.iter().map(|conflict| ReportItem {
            who: None,
            text: self.quoted(&conflict.stated),
            note: Some(conflict.why.clone()),
        });
        let others =
            if self.verdict.decision.is_some() { "Against the decision" } else { "Without a decision" };
        let lists: [(&str, Vec<ReportItem>); 3] = [
            ("With the decision", of_side(true)),
            (others, of_side(false)),
            ("Conditions that exclude each other, as the moderator finds", conflicts.collect()),
        ];
        let lists = lists.into_iter().filter(|(_, items)| !items.is_empty());
        let groups: Vec<ReportBlock> =
            lists.map(|(title, items)| group(title, ReportBlock::Items(items))).collect();
        (!groups.is_empty()).then(|| part("Conditions", groups))
    }

    /// Who named a condition or a risk, and in which words if they are not the text's.
    fn named_by(&self, text: &str, councillors: &[String], stated: &[CouncillorQuote]) -> String {
        if stated.iter().all(|said| is_same_text(&said.quote, text)) {
            return self.names(councillors);
        }
        format!("Merged by the moderator. {}", self.quoted(stated))
    }

    fn quoted(&self, stated: &[CouncillorQuote]) -> String {
        let words = stated.iter().map(|said| format!("{}: \"{}\"", self.name(&said.councillor), said.quote));
        words.collect::<Vec<_>>().join(" / ")
    }

    fn facts_needed(&self) -> Option<ReportSection> {
        whole_list("What only you can tell", self.verdict.facts_needed.iter().map(ReportItem::text).collect())
    }

    /// Everybody's votes through the rounds at a glance, and every change with the reason given for it.
    fn evolution(&self) -> Option<ReportSection> {
        let all = &self.verdict.position_evolution;
        let steps_max = all.values().map(Vec::len).max().unwrap_or_default();
        let mut head = vec!["Councillor".to_owned(), "Opening".into()];
        head.extend((1..steps_max).map(|round| format!("Round {round}")));
        head.push("Vote".into());
        let (mut rows, mut changes) = (vec![head], Vec::new());
        for (id, steps) in all {
            let name = self.name(id);
            let change = |when: String, text: String, because: &str| ReportItem {
                who: Some(format!("{name} {when}")),
                text,
                note: labelled("Its reason", because),
            };
            let vote_now = |vote: CouncilVote| format!("The vote is now {}.", vote.as_str());
            for (before, step) in steps.iter().zip(steps.iter().skip(1)) {
                let text = match step.changed {
                    true => step.position.clone(),
                    false if before.vote != step.vote => vote_now(step.vote),
                    false => continue,
                };
                changes.push(change(format!("in round {}", step.round), text, &step.because));
            }
            let cast = self.verdict.votes.iter().find(|cast| cast.councillor == *id);
            let late = cast.filter(|cast| steps.last().is_some_and(|step| step.vote != cast.vote));
            changes.extend(late.map(|cast| change("in the vote".into(), vote_now(cast.vote), &cast.because)));
            let vote = cast.map_or("none", |cast| short_vote(cast.vote)).to_owned();
            rows.push(
                std::iter::once(name.clone()).chain(steps.iter().map(standing_cell)).chain([vote]).collect(),
            );
        }
        let mut blocks = vec![ReportBlock::Table(rows)];
        blocks.extend((!changes.is_empty()).then_some(ReportBlock::Items(changes)));
        (!all.is_empty()).then(|| part("How votes and positions moved", blocks))
    }

    /// What was shared when the moderator last looked, which was before the vote: by most, and what only some share.
    fn shared_points(&self) -> Option<ReportSection> {
        let active = self.log.active.len() as u64;
        let round = self.log.rounds.iter().rev().find(|round| round.is_moderated)?.number;
        let by_most = self.verdict.consensus_points.iter().map(|shared| {
            let share = percent(shared.councillors.len() as u64, active);
            let challenged = match shared.challenged_by.as_slice() {
                [] => String::new(),
                ids => format!("; challenged in {}", id_list(ids)),
            };
            let note = format!("{} ({share}){challenged}", self.names(&shared.councillors));
            ReportItem { who: None, text: shared.point.clone(), note: Some(note) }
        });
        let by_some = self.verdict.disagreements.iter().filter(|dispute| dispute.challenge_id.is_none());
        let by_some = by_some.map(|dispute| ReportItem {
            who: None,
            text: dispute.point.clone(),
            note: Some(self.sides(dispute)),
        });
        cut_list(
            self.log.debate,
            &format!("Shared points after round {round}"),
            by_most.chain(by_some).collect(),
        )
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
        cut_list(self.log.debate, "Challenges answered with disagreement", items.collect())
    }

    fn sides(&self, dispute: &CouncilDisagreement) -> String {
        let sides = dispute.sides.iter();
        let sides = sides.map(|side| format!("{}: {}", self.names(&side.councillors), side.view));
        sides.collect::<Vec<_>>().join(" / ")
    }

    /// How many risks there are of each severity and probability, and which.
    fn risks(&self) -> Option<ReportSection> {
        let risks = &self.verdict.risk_matrix;
        let rows = RiskSeverity::ALL.into_iter().rev().map(|severity| {
            let [low, medium, high] = RiskProbability::ALL.map(|probability| {
                let is_in_cell =
                    |risk: &&RiskEntry| (risk.severity, risk.probability) == (severity, probability);
                risks.iter().filter(is_in_cell).count().to_string()
            });
            [heading(severity.as_str()), low, medium, high]
        });
        let matrix = table(["Severity", "Probability low", "Medium", "High"], rows.collect());
        let items = risks.iter().map(|risk| {
            let by = self.named_by(&risk.risk, &risk.councillors, &risk.stated);
            let notes: Vec<String> =
                [Some(by), labelled("Against it", &risk.mitigation)].into_iter().flatten().collect();
            let (severity, probability) = (risk.severity.as_str(), risk.probability.as_str());
            ReportItem {
                who: Some(format!("Severity {severity}, probability {probability}")),
                text: risk.risk.clone(),
                note: Some(sentences(&notes)),
            }
        });
        let section = cut_list(self.log.debate, "Risks", items.collect())?;
        Some(ReportSection { blocks: matrix.into_iter().chain(section.blocks).collect(), ..section })
    }

    /// The challenges that were put again, and those that have no answer in the end.
    fn unsettled_challenges(&self) -> Option<ReportSection> {
        let is_over = self.log.debate.outcome.is_some();
        let is_shown = |put: &Challenge| match put.fate {
            ChallengeFate::Answered => put.re_asked.is_some(),
            // While the debate runs, it may still be answered.
            ChallengeFate::Open => is_over,
            ChallengeFate::Evaded => true,
        };
        Some(part("Challenges evaded, put again or open", vec![self.challenges(is_shown)?]))
    }

    fn every_challenge(&self) -> Option<ReportSection> {
        let section = part("Every challenge and its fate", vec![self.challenges(|_| true)?]);
        Some(section.folded().only(ReportLength::Full))
    }

    /// The cases that somebody was asked to make, and the questions to all.
    fn interventions(&self) -> Option<ReportSection> {
        let done = self.verdict.interventions.iter().filter(|done| done.kind != InterventionKind::Evasion);
        let groups: Vec<ReportBlock> = done.map(|done| self.intervention(done)).collect();
        (!groups.is_empty()).then(|| part("What the moderator did", groups).folded())
    }

    fn intervention(&self, done: &ModeratorIntervention) -> ReportBlock {
        let (what, about) = match done.kind {
            InterventionKind::Stale => ("a question to all".to_owned(), "Question"),
            _ => (format!("the case against, by {}", self.name(&done.to)), "Point"),
        };
        let pairs = [
            (about, done.question.as_str()),
            ("Shown by", &done.quote),
            ("Answer", done.reply.as_deref().unwrap_or(&done.outcome)),
        ];
        let pairs = pairs.map(|(name, text)| (name.to_owned(), text.to_owned()));
        let title = format!("Round {}, {}: {what}", done.round, heading(done.kind.as_str()));
        group(title, ReportBlock::Pairs(pairs.into()))
    }

    /// Challenges with their answers and what became of them. Their words in full are in the transcript.
    fn challenges(&self, is_shown: impl Fn(&Challenge) -> bool) -> Option<ReportBlock> {
        let rows = self.verdict.challenges.iter().filter(|put| is_shown(put)).map(|put| {
            let answers = put.answers.iter().map(|answer| {
                let again = if answer.second { ", put again" } else { "" };
                let evasive = if answer.evasive_since.is_some() { ", evasive" } else { "" };
                format!("round {}{again}: {}{evasive}", answer.round, answer.stance_word())
            });
            let answers: Vec<String> = answers.collect();
            let again = put.re_asked.map_or_else(|| "no".to_owned(), |round| format!("in round {round}"));
            let who = format!("{} to {}", self.name(&put.from), self.name(&put.to));
            let id = format!("[{}]", put.id);
            [id, who, put.question.clone(), answers.join("; "), again, self.fate(put)]
        });
        table(["Challenge", "Who", "Question", "Answers", "Put again", "Outcome"], rows.collect())
    }

    /// What became of a challenge, with the reason why it was evaded or is open.
    fn fate(&self, put: &Challenge) -> String {
        let mut violations = self.verdict.violations.iter();
        let violation = violations.find(|found| found.challenge_id == put.id);
        let open = self.verdict.open_questions.iter().find(|open| open.challenge_id == put.id);
        match (violation, open) {
            (Some(violation), _) => format!("violation: {}", violation.why),
            (None, Some(open)) => format!("open: {}", open.why),
            (None, None) => put.fate.as_str().to_owned(),
        }
    }
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
