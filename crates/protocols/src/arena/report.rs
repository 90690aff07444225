//! The report: the decision, why it was made and what is still open; the votes and the judge; then the details: the rounds, how the
//! proposals came together, what the trickster and the observer found, what was read and cited, every proposal and critique, and the
//! team and its ratings.

use agon_core::wording::{
    capitalized, counted, heading, joined, number_word, rounds, score, seat_name, sentences,
};
use agon_core::{
    ChartPoint, LevelBars, Outline, ReportBar, ReportBlock, ReportItem, ReportLength, ReportSection,
    RoundChart, SectionKind, Status, Termination, VerdictTone,
};

use indexmap::IndexSet;

use super::context::ContextKind;
use super::convergence::ConvergenceCheck;
use super::log::{ArenaCritique, ArenaLog, CritiqueSource, CritiqueStep, agent_name};
use super::replies::{CriteriaScores, PairRelation};
use super::rhetoric::{LANGUAGES, RhetoricKind};
use super::team::SeatingReason;
use super::trickster::ChallengeResult;
use super::verdict::{
    ArenaAgreement, ArenaBallot, ArenaCheck, ArenaContext, ArenaJudgement, ArenaPair, ArenaProposal,
    ArenaRhetoric, ArenaRound, ArenaRoundResult, ArenaTally, ArenaVerdict,
};
use super::view::stage_names;
use super::voting::ABSTAIN;
use super::{ArenaPhase, ConsensusRule, DecidedBy, PROPOSALS_MIN, closing};
use crate::quotes::is_same_text;

/// The report of a debate with this verdict.
pub(super) struct ArenaReport<'a> {
    pub(super) log: &'a ArenaLog<'a>,
    pub(super) verdict: &'a ArenaVerdict,
}

impl ArenaReport<'_> {
    /// The outline. Of a debate that is not over it has only sections that do not say who is behind which label.
    pub(super) fn outline(&self) -> Outline {
        if self.log.debate.outcome.is_none() {
            let details = [self.convergence(), self.trickster(), self.rhetoric(), self.critiques()];
            return Outline { details: details.into_iter().flatten().collect(), ..Outline::default() };
        }
        let details = [self.vote(), self.judge(), self.decisions(), self.rounds(), self.convergence()];
        let more = [
            self.trickster(),
            self.rhetoric(),
            self.context(),
            self.proposals(),
            self.critiques(),
            self.team(),
            self.ratings(),
        ];
        Outline {
            answer: vec![self.decision()],
            body: [self.claims(), self.open_critiques()].into_iter().flatten().collect(),
            details: details.into_iter().chain(more).flatten().collect(),
            ..Outline::default()
        }
    }

    /// An agent with its seat.
    pub(super) fn seated(&self, label: &str) -> String {
        let seat = self.log.debate.outcome.as_ref().and_then(|outcome| outcome.labels.get(label));
        seat.map_or_else(|| agent(label), |seat| format!("{} ({seat})", agent(label)))
    }

    fn status(&self) -> Option<Status> {
        self.log.debate.outcome.as_ref().map(|outcome| outcome.status)
    }

    fn decision(&self) -> ReportSection {
        let (kind, headline) = match &self.verdict.winner {
            Some(winner) => (SectionKind::Answer, format!("{} wins", agent(winner))),
            // The dissent has every position.
            None => (SectionKind::NoAnswer, "No decision".to_owned()),
        };
        let mut blocks = vec![ReportBlock::Headline(self.tone(), headline), ReportBlock::Line(self.reason())];
        let (position, answer) = (self.verdict.position.as_deref(), self.verdict.answer.as_deref());
        let is_new = |position: &&str| answer.is_none_or(|answer| !answer.starts_with(position));
        let texts = position.filter(is_new).into_iter().chain(answer).filter(|text| !text.is_empty());
        let texts: Vec<&str> = texts.collect();
        blocks.extend((!texts.is_empty()).then(|| ReportBlock::Prose(texts.join("\n\n"))));
        ReportSection::new(kind, "Decision", blocks)
    }

    /// The claims of the winning proposal, which may refer to them. The full report has them with the proposals.
    fn claims(&self) -> Option<ReportSection> {
        let winner = self.verdict.winner.as_ref()?;
        let proposal = self.verdict.proposals.iter().find(|proposal| proposal.label == *winner)?;
        let claims = vec![claim_items(proposal, self.log)];
        (!proposal.claims.is_empty()).then(|| part("What it rests on", claims).only(ReportLength::Short))
    }

    /// The critiques of the winning proposal that the critics have not called resolved: what is left of each by its author's last
    /// word, and what happened since.
    fn open_critiques(&self) -> Option<ReportSection> {
        let open = self.log.critiques.iter().filter(|one| self.verdict.unresolved.contains(&one.id));
        let items: Vec<ReportItem> = open.map(|critique| self.open_critique(critique)).collect();
        let line = "Critiques of the decision that the critics have not called resolved:";
        let blocks = || vec![ReportBlock::Line(line.into()), ReportBlock::Items(items.clone())];
        (!items.is_empty()).then(|| part("What is still open", blocks()))
    }

    fn open_critique(&self, critique: &ArenaCritique) -> ReportItem {
        let (from, to) = (agent(critique.author(self.log)), self.log.name(critique.to));
        let steps = critique.steps(self.log);
        let judged = steps.iter().rposition(|step| step.status.is_some());
        let last = judged.and_then(|at| steps.get(at));
        let whole =
            critique.issues.iter().chain(&critique.suggestions).cloned().collect::<Vec<_>>().join(" ");
        let (who, text) = match last.filter(|step| !step.text.is_empty()) {
            Some(step) => (format!("{from}, on the version of round {}", step.round), step.text.to_owned()),
            None => (from.clone(), whole),
        };
        let since = steps.iter().skip(judged.map_or(0, |at| at + 1));
        let told =
            |step: &CritiqueStep<'_>| format!("{}: {}", step_name(critique, step, self.log), step.text);
        let mut parts: Vec<String> = since.map(told).collect();
        let stages = self.log.stages.iter().enumerate();
        let revised = stages.filter(|(at, _)| self.log.is_revised(*at, critique.to));
        let revised = revised.last().map_or(0, |(_, stage)| stage.round);
        let is_late = self.log.stages.last().is_some_and(|stage| critique.round >= stage.round);
        parts.extend(match (last, critique.is_judged_now(self.log), parts.is_empty()) {
            (Some(_), true, _) => None,
            (Some(_), _, true) => Some(format!(
                "{to} revised its proposal in round {revised}; {from} gave no verdict on that version"
            )),
            (Some(_), _, false) => Some(format!("{from} gave no verdict on the last version")),
            (None, _, false) => Some(format!("{from} has not said whether that resolves it")),
            (None, _, true) if is_late => Some("Not answered: it came with the last revision".to_owned()),
            (None, _, true) => Some("Not answered".to_owned()),
        });
        let note = Some(sentences(&parts)).filter(|note| !note.is_empty());
        ReportItem { who: Some(format!("[{}] {who}", critique.id)), text, note }
    }

    /// A decision is good news if the debate is complete and vote and judge agree.
    pub(super) fn tone(&self) -> VerdictTone {
        let agree = self.verdict.judge.as_ref().and_then(|judge| judge.agrees_with_vote) == Some(true);
        let is_sure = self.verdict.winner.is_some() && self.status() == Some(Status::Complete) && agree;
        if is_sure { VerdictTone::Good } else { VerdictTone::Warn }
    }

    /// Who chose the winner, how clearly, and whether vote and judge agree; or why there is no decision.
    pub(super) fn reason(&self) -> String {
        let mut sentences = match (&self.verdict.winner, self.verdict.decided_by) {
            (None, _) => vec![self.why_no_decision()],
            (Some(_), Some(DecidedBy::Judge)) => self.by_judge(),
            (Some(winner), _) => self.by_vote(winner),
        };
        let early = self.verdict.early_consensus;
        sentences.extend(early.map(|round| format!("The proposals converged in round {round}.")));
        let idle = self.verdict.idle_revision;
        sentences.extend(idle.map(|round| {
            format!(
                "Round {round} changed no proposal and brought no new critique, so the revisions ended there."
            )
        }));
        sentences.extend(self.extension());
        if self.verdict.winner.is_some() && self.status() != Some(Status::Complete) {
            sentences.push("The debate is incomplete: weigh the decision accordingly.".into());
        }
        sentences.join(" ")
    }

    /// Which extended rounds there were, why each came, and what vote and judge came to before the first.
    fn extension(&self) -> Option<String> {
        let count = usize::try_from(self.verdict.extended_rounds).ok().filter(|count| *count > 0)?;
        let all = &self.verdict.rounds;
        let decisions: Vec<&ArenaRound> = all.iter().filter(|round| round.phase.info().is_closing).collect();
        let judged = |at: usize| decisions.get(2 * at + 1).map_or(u32::MAX, |judged| judged.round);
        let reasons: Vec<(Vec<u32>, String)> = (0..count)
            .filter_map(|at| {
                let mut held: Vec<u32> = all.iter().map(|round| round.round).collect();
                held.retain(|round| *round > judged(at) && *round <= judged(at + 1));
                held.dedup();
                Some((held, self.why_extended(decisions.get(2 * at)?)))
            })
            .collect();
        let parts = reasons.chunk_by(|(_, one), (_, other)| one == other).map(|same| {
            let held: Vec<u32> = same.iter().flat_map(|(held, _)| held.iter().copied()).collect();
            let why = same.first().map_or("", |(_, why)| why.as_str());
            format!("{}, because {why}", rounds(&held))
        });
        Some(format!(
            "It took {}: {}. Before that: vote: {}; judge: {}.",
            counted(count as u64, "extended round"),
            parts.collect::<Vec<_>>().join("; "),
            round_result(decisions.first()?),
            round_result(decisions.get(1)?)
        ))
    }

    /// Why this vote and the judgement after it did not end the debate.
    fn why_extended(&self, vote: &ArenaRound) -> String {
        let near =
            || format!("the judge put no proposal more than {} ahead", score(self.log.options.judge_gap));
        match &vote.result {
            ArenaRoundResult::Vote { hollow: true, .. } => "the vote was hollow".to_owned(),
            ArenaRoundResult::Vote { reached: true, .. } => format!("vote and judge differed and {}", near()),
            _ => format!("the vote reached no {} and {}", self.kind(), near()),
        }
    }

    fn by_vote(&self, winner: &str) -> Vec<String> {
        let consensus = &self.verdict.consensus;
        let needed = match consensus.kind {
            ConsensusRule::Majority => "a majority is more than half",
            ConsensusRule::Supermajority => "a supermajority is two thirds",
            ConsensusRule::Unanimous => "all were needed",
        };
        let group = self.verdict.tally.iter().find(|group| group.labels.iter().any(|label| label == winner));
        let share = consensus.share.map_or(String::new(), |share| format!(" ({})", percent(share)));
        let cast = counted(consensus.cast as u64, "vote");
        let votes = group.map_or(0, |group| group.votes);
        let mut sentences = vec![format!("By vote: {votes} of {cast} cast{share}; {needed}.")];
        sentences.extend(group.filter(|group| group.labels.len() > 1).map(|group| {
            let (names, first) = (agents(&group.labels), self.why_first(winner, group));
            format!("{names} propose the same, as the clerk's last sorting says, so votes for any of them count together; {first}.")
        }));
        let given = self
            .verdict
            .votes
            .iter()
            .filter(|ballot| group.is_some_and(|group| group.labels.contains(&ballot.choice)));
        let is_own: Vec<bool> = given.map(|ballot| ballot.own).collect();
        if is_own.iter().all(|own| *own) {
            let whose = if is_own.len() == 1 { "It is" } else { "Each of them is" };
            sentences.push(format!("{whose} a vote for the voter's own proposal."));
        }
        sentences.push(match &self.verdict.judge {
            None => "No judge was heard.".to_owned(),
            Some(judge) if judge.agrees_with_vote != Some(true) => match ranked_first(judge) {
                // Its own ranking may agree.
                Some(_) => format!("{}.", capitalized(&first_place(judge))),
                None => format!("The judge does not agree: {}.", first_place(judge)),
            },
            Some(judge) if judge.top.is_none() => {
                format!("The judge's first place is a tie that includes it: {}.", agents(&judge.first))
            }
            Some(_) => "The judge agrees.".to_owned(),
        });
        sentences
    }

    /// Why the winner stands for the proposals that say the same.
    fn why_first(&self, winner: &str, group: &ArenaTally) -> String {
        let others = || group.labels.iter().filter(|label| *label != winner);
        let votes = |label: &str| self.verdict.votes.iter().filter(|ballot| ballot.choice == label).count();
        let score = |label: &str| {
            let scores = &self.verdict.judge.as_ref()?.scores;
            scores.iter().find(|one| one.label == label).map(|one| one.score)
        };
        let name = agent(winner);
        if others().all(|other| votes(other) < votes(winner)) {
            format!("{name} has the most of them")
        } else if others().all(|other| votes(other) < votes(winner) || score(other) < score(winner)) {
            format!("{name} stands for them, because the judge scores it higher")
        } else {
            format!("{name} stands for them, because its label comes first")
        }
    }

    fn by_judge(&self) -> Vec<String> {
        let judge = self.verdict.judge.as_ref();
        let ahead = judge.map_or(String::new(), |judge| format!(", {}", points_ahead(judge)));
        let voted_for = self.verdict.tally.first().filter(|_| self.verdict.consensus.reached);
        let vote = match (judge.and_then(|judge| judge.agrees_with_vote), voted_for) {
            (Some(true), _) => "The vote agrees.".to_owned(),
            (_, Some(group)) => format!("The vote does not agree: it is for {}.", agents(&group.labels)),
            (_, None) => format!("The vote reached no {}: {}.", self.kind(), self.tally()),
        };
        vec![format!("By the judge{ahead}."), vote]
    }

    fn why_no_decision(&self) -> String {
        let (kind, tally, consensus) = (self.kind(), self.tally(), &self.verdict.consensus);
        match self.log.debate.outcome.as_ref().map(|outcome| outcome.termination) {
            Some(Termination::QuorumLost) if self.verdict.proposals.len() < PROPOSALS_MIN => {
                "Fewer than two agents made a proposal, so there was nothing to choose from.".into()
            }
            Some(Termination::QuorumLost) => {
                let abstained = match abstentions(&self.verdict.votes) {
                    0 => String::new(),
                    count => format!(" ({count} abstained)"),
                };
                let (cast, agents) = (consensus.cast, counted(consensus.agents as u64, "agent"));
                format!("Only {cast} of {agents} voted for a proposal{abstained}, and half of them must.")
            }
            Some(Termination::Cancelled) => "The debate was concluded before anything was decided.".into(),
            Some(Termination::Budget) if self.verdict.votes.is_empty() => {
                "A limit was reached before anybody voted.".into()
            }
            Some(Termination::Failed) => {
                format!("The vote reached no {kind} ({tally}), and no judge was heard.")
            }
            _ if consensus.hollow => {
                format!(
                    "The vote ({tally}) does not count, because it rests on too little that can be checked."
                )
            }
            _ if consensus.reached => {
                let article = if consensus.kind == ConsensusRule::Unanimous { "" } else { "a " };
                format!(
                    "The vote reached {article}{kind} ({tally}), but the judge was to decide, and its first place is a tie."
                )
            }
            _ => {
                let judge = self.verdict.judge.as_ref().map(first_place);
                let judge = judge.unwrap_or_else(|| "no judge was heard".into());
                format!("The vote reached no {kind}: {tally}. {}, but the vote decides.", capitalized(&judge))
            }
        }
    }

    fn kind(&self) -> &'static str {
        match self.verdict.consensus.kind {
            ConsensusRule::Majority => "majority",
            ConsensusRule::Supermajority => "supermajority",
            ConsensusRule::Unanimous => "unanimity",
        }
    }

    /// Who made a consensus that not every agent voted for, and why they are enough: "After 8 rounds two of three agents...".
    pub(super) fn consensus_of_some(&self, rounds: u32) -> String {
        let consensus = &self.verdict.consensus;
        let first = self.verdict.tally.first();
        let (all, votes) = (number_word(consensus.agents), first.map_or(0, |group| group.votes));
        let decided = self.log.votes.last().zip(closing::final_judgement(self.log));
        let is_torn = decided.is_some_and(|(vote, judged)| !closing::is_early_stop(self.log, vote, judged));
        if is_torn && self.verdict.extended_rounds > 0 {
            let (names, _) = first.map(|group| chosen(group, &self.verdict.votes)).unwrap_or_default();
            return format!(
                "After {}, with no extended round left, {} of {all} agents vote for {}; the judge's scores differ, and the {} decides.",
                counted(u64::from(rounds), "round"),
                number_word(votes),
                names.join(" or "),
                self.log.options.decide.as_str()
            );
        }
        let rule = match consensus.kind {
            ConsensusRule::Majority => "more than half of the votes cast, which is enough",
            ConsensusRule::Supermajority => "at least two thirds of the votes cast, which is enough",
            ConsensusRule::Unanimous => "all votes cast",
        };
        format!(
            "After {} {} of {all} agents vote for the same: {rule}.",
            counted(u64::from(rounds), "round"),
            number_word(votes)
        )
    }

    fn tally(&self) -> String {
        tally_sentence(&self.verdict.tally, &self.verdict.votes)
    }

    fn vote(&self) -> Option<ReportSection> {
        let votes = &self.verdict.votes;
        let mut rows = table_head(&["Voter", "Choice", "Confidence", "Reason"]);
        for ballot in votes {
            let choice = match ballot.choice.as_str() {
                ABSTAIN => "abstains".to_owned(),
                label if ballot.own => format!("{} (its own)", agent(label)),
                label => agent(label),
            };
            rows.push(vec![
                self.seated(&ballot.label),
                choice,
                score(ballot.confidence),
                ballot.reason.clone(),
            ]);
        }
        let bars = self.verdict.tally.iter().map(|group| {
            let share = group.share.map_or(String::new(), |share| format!(" ({})", percent(share)));
            let (value, written) = (group.votes as f64, format!("{}{share}", group.votes));
            ReportBar { name: group_name(group, votes), value, written }
        });
        let mut blocks = vec![ReportBlock::Table(rows), ReportBlock::Bars(bars.collect())];
        let seated = self.verdict.consensus.agents;
        if votes.len() < seated {
            let line = format!("{} of {} voted.", votes.len(), counted(seated as u64, "agent"));
            blocks.push(ReportBlock::Line(line));
        }
        (!votes.is_empty()).then(|| part("Votes", blocks))
    }

    fn judge(&self) -> Option<ReportSection> {
        let Some(judge) = &self.verdict.judge else {
            // That no judge was heard is news only if one was asked.
            let mut absences = self.log.debate.absences();
            let was_absent = absences.any(|(phase, ..)| phase.name == ArenaPhase::Judge.as_str());
            let line = "No judge was heard: nothing is scored, and no rating changes.";
            return was_absent.then(|| part("The judge", vec![ReportBlock::Line(line.into())]));
        };
        let first = closing::final_judgement(self.log).and_then(|judged| judged.sheets.first());
        let reasons = |label: &str| {
            let mut scores = first.into_iter().flat_map(|sheet| &sheet.scores);
            scores
                .find(|one| self.log.label(one.place) == label)
                .map_or(String::new(), |one| one.reasons.join("; "))
        };
        let mut rows = table_head(&["Agent", "Score", "Reasons"]);
        let mut criteria = table_head(&[&["Agent"], &CriteriaScores::NAMES[..]].concat());
        for scored in
            judge.ranking.iter().filter_map(|label| judge.scores.iter().find(|one| one.label == *label))
        {
            rows.push(vec![self.seated(&scored.label), score(scored.score), reasons(&scored.label)]);
            let figures = scored.criteria.list().map(|figure| format!("{figure:.1}"));
            criteria.push([vec![scored.label.clone()], figures.to_vec()].concat());
        }
        let mut blocks = vec![
            ReportBlock::Line(judge_sentence(judge)),
            ReportBlock::Table(rows),
            ReportBlock::In(ReportLength::Full, vec![ReportBlock::Table(criteria)]),
        ];
        let comment = first.and_then(|sheet| sheet.margin_comment.as_ref());
        let order = if judge.orders.len() > 1 { ", in the first order" } else { "" };
        blocks
            .extend(comment.map(|said| ReportBlock::Line(format!("The judge on the margin{order}: {said}"))));
        Some(part("The judge", blocks))
    }
}

fn part(title: &str, blocks: Vec<ReportBlock>) -> ReportSection {
    ReportSection::new(SectionKind::Part, title, blocks)
}

/// A table with only its head.
pub(super) fn table_head(cells: &[&str]) -> Vec<Vec<String>> {
    vec![cells.iter().map(|cell| (*cell).to_owned()).collect()]
}

/// An agent by its label. The judge has none and is called by its name.
pub(super) fn agent(label: &str) -> String {
    if label.chars().count() > 2 { seat_name(label) } else { agent_name(label) }
}

/// Agents by their labels: "Agent A, Agent B and Agent C".
fn agents(labels: &[String]) -> String {
    joined(&labels.iter().map(|label| agent(label)).collect::<Vec<_>>())
}

fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}

fn abstentions(ballots: &[ArenaBallot]) -> usize {
    ballots.iter().filter(|ballot| ballot.choice == ABSTAIN).count()
}

/// The agents of a group whose own proposals got a vote, and the others.
fn chosen(group: &ArenaTally, ballots: &[ArenaBallot]) -> (Vec<String>, Vec<String>) {
    let is_chosen = |label: &&String| ballots.iter().any(|ballot| ballot.choice == **label);
    let (chosen, others): (Vec<&String>, Vec<&String>) = group.labels.iter().partition(is_chosen);
    let names = |labels: Vec<&String>| labels.into_iter().map(|label| agent(label)).collect();
    (names(chosen), names(others))
}

/// "Agent A (Agent C is counted as the same)", "Agent A or Agent C (counted as the same)".
fn group_name(group: &ArenaTally, ballots: &[ArenaBallot]) -> String {
    let (chosen, others) = chosen(group, ballots);
    match (chosen.as_slice(), others.as_slice()) {
        ([only], []) | ([], [only]) => only.clone(),
        (all, []) | ([], all) => format!("{} (counted as the same)", all.join(" or ")),
        (chosen, others) => {
            let are = if others.len() == 1 { "is" } else { "are" };
            format!("{} ({} {are} counted as the same)", chosen.join(" or "), joined(others))
        }
    }
}

/// "2 votes for Agent A (Agent C is counted as the same), 1 vote for Agent B and 1 abstention".
pub(super) fn tally_sentence(groups: &[ArenaTally], ballots: &[ArenaBallot]) -> String {
    let groups = groups.iter().filter(|group| group.votes > 0);
    let told = |group: &ArenaTally| {
        format!("{} for {}", counted(group.votes as u64, "vote"), group_name(group, ballots))
    };
    let mut parts: Vec<String> = groups.map(told).collect();
    let abstained = abstentions(ballots) as u64;
    parts.extend((abstained > 0).then(|| counted(abstained, "abstention")));
    if parts.is_empty() { "nobody voted".into() } else { joined(&parts) }
}

/// The best of these proposals that is not the judge's first.
fn next_best<'s>(top: &str, scores: impl Iterator<Item = (&'s str, f64)>) -> String {
    let others = scores.filter(|(label, _)| *label != top);
    let best = others.reduce(|best, other| if other.1 > best.1 { other } else { best });
    best.map_or(String::new(), |(label, _)| agent(label))
}

/// "1.00 points ahead of Agent B".
fn points_ahead(judge: &ArenaJudgement) -> String {
    let scores = judge.scores.iter().map(|one| (one.label.as_str(), one.score));
    let next = next_best(judge.top.as_deref().unwrap_or_default(), scores);
    format!("{} points ahead of {next}", score(judge.margin))
}

/// "the judge puts Agent A first, 1.00 points ahead of Agent B", in both orders with both leads, or what the tie is between.
pub(super) fn first_place(judge: &ArenaJudgement) -> String {
    let first = agents(&judge.first);
    let (puts, ranking) = match ranked_first(judge) {
        Some(other) => {
            let ranking = format!(", and the scores count; its own ranking puts {} first", agent(other));
            ("the judge's scores put", ranking)
        }
        None => ("the judge puts", String::new()),
    };
    match (&judge.top, judge.consistent) {
        (Some(top), Some(true)) => {
            let leads: Vec<String> = judge.orders.iter().map(|order| score(order.lead(top))).collect();
            format!(
                "{puts} {first} first in both orders, {} points ahead of the next, and by the mean scores {}{ranking}",
                joined(&leads),
                points_ahead(judge)
            )
        }
        (Some(_), _) => format!("{puts} {first} first, {}{ranking}", points_ahead(judge)),
        (None, Some(false)) => format!(
            "the judge's first place depends on the order in which it read the proposals, which is a tie between {first}"
        ),
        (None, _) => format!("the judge's first place is a tie between {first}"),
    }
}

/// What the judge itself ranks first, in every order, if its scores put another one first.
fn ranked_first(judge: &ArenaJudgement) -> Option<&str> {
    let top = judge.top.as_ref()?;
    let mut firsts = judge.orders.iter().map(|order| order.ranking.first());
    let first = firsts.next()??;
    (first != top && firsts.all(|other| other == Some(first))).then_some(first)
}

/// What the judge puts first, whether the vote agrees, and who judged.
fn judge_sentence(judge: &ArenaJudgement) -> String {
    let agreement = match (judge.agrees_with_vote, ranked_first(judge)) {
        (Some(true), None) => " That agrees with the vote.",
        (Some(false), None) => " That does not agree with the vote.",
        (Some(true), Some(_)) => " The scores agree with the vote.",
        (Some(false), Some(_)) => " The scores do not agree with the vote.",
        (None, _) => "",
    };
    let orders = match judge.orders.len() {
        1 => "",
        _ => " The scores are the means of both orders; the reasons are from the first.",
    };
    format!("{}.{agreement}{orders} The judge is {}.", capitalized(&first_place(judge)), judge.model)
}

/// What stands after a conflict that is declared with a version that has changed since.
const LATE: &str = " (does not count)";

/// A list of findings in the short report is cut here.
const FINDINGS_MAX: usize = 6;

impl ArenaReport<'_> {
    /// A seat with its label.
    fn labelled(&self, seat: &str) -> String {
        let mut labels = self.log.debate.outcome.iter().flat_map(|outcome| &outcome.labels);
        let label = labels.find(|(_, id)| id.as_str() == seat).map(|(label, _)| label);
        label.map_or_else(|| seat.to_owned(), |label| self.seated(label))
    }

    /// Every phase.
    fn rounds(&self) -> Option<ReportSection> {
        self.phases("Round by round", &|_| true).map(|section| section.only(ReportLength::Full))
    }

    /// How votes and judgements moved, if there was more than one vote.
    fn decisions(&self) -> Option<ReportSection> {
        let votes = self.verdict.rounds.iter().filter(|round| round.phase == ArenaPhase::Vote).count();
        let section = self.phases("Votes and judgements", &|round| round.phase.info().is_closing);
        section.filter(|_| votes > 1).map(|section| section.only(ReportLength::Short))
    }

    fn phases(&self, title: &str, is_shown: &dyn Fn(&ArenaRound) -> bool) -> Option<ReportSection> {
        let mut rows = table_head(&["Round", "Phase", "Absent", "Result"]);
        for round in self.verdict.rounds.iter().filter(|round| is_shown(round)) {
            let absent: Vec<String> = round.absent.iter().map(|name| attendee(name)).collect();
            let number = round.round.to_string();
            rows.push(vec![number, round.phase.as_str().into(), absent.join(", "), round_result(round)]);
        }
        (rows.len() > 1).then(|| part(title, vec![ReportBlock::Table(rows)]))
    }

    /// How similar the proposals were after each revision, what stood against convergence, how pairs moved, and which proposals changed
    /// within their positions.
    fn convergence(&self) -> Option<ReportSection> {
        let (checks, threshold) = (&self.verdict.convergence, self.verdict.convergence_threshold);
        let names: Vec<String> = checks.iter().map(check_name).collect();
        let mut blocks = Vec::new();
        if !checks.is_empty() {
            let chart = ReportBlock::Chart(check_chart(checks, &names, threshold));
            blocks.push(ReportBlock::In(ReportLength::Full, vec![chart]));
        }
        let bars = checks.iter().zip(&names).filter_map(|(check, name)| {
            let value = check.agreement_min?;
            Some(ReportBar {
                name: name.clone(),
                value,
                written: format!("{} ({})", score(value), least_pairs(check)),
            })
        });
        let bars: Vec<ReportBar> = bars.collect();
        if !bars.is_empty() {
            let is_late = self.log.checks.iter().any(|check| {
                let all = self.declared(check).into_iter();
                let mut all = all.flat_map(|(one, others)| others.into_iter().map(move |other| (one, other)));
                all.any(|declared| !check.conflicts.contains(&declared))
            });
            let late = match is_late {
                true => {
                    " An agent declares a conflict with the version that it was shown; where that has changed since, only the clerk's word counts."
                }
                false => "",
            };
            blocks.push(ReportBlock::Line(format!(
                "The score is how similar the clerk finds the two proposals that are least similar, which stand beside it, from 0 to 1; \
                 two that conflict count as 0, however close the others are. They have converged at {} or more, if no agent declares a \
                 conflict.{late}",
                score(threshold)
            )));
            blocks.push(ReportBlock::Levels(LevelBars { bars, threshold: Some(threshold) }));
        }
        let outcomes = checks.iter().zip(&names).zip(&self.log.checks);
        let outcomes =
            outcomes.map(|((check, name), read)| (check.round, name, self.check_outcome(check, read)));
        let outcomes: Vec<(u32, &String, String)> = outcomes.collect();
        // Rounds that came to the same share a line.
        let lines = outcomes.chunk_by(|(_, _, one), (_, _, other)| one == other).map(|same| {
            let all: Vec<u32> = same.iter().map(|(round, ..)| *round).collect();
            let who = if same.len() == 1 { same.first().map(|(_, name, _)| (*name).clone()) } else { None };
            let text = same.first().map_or(String::new(), |(.., text)| text.clone());
            ReportItem { who: who.or_else(|| Some(capitalized(&rounds_of(&all)))), text, note: None }
        });
        blocks.push(ReportBlock::Items(lines.chain(pair_paths(checks)).collect()));
        let changes = self.changes_within_positions();
        let is_shown = !checks.is_empty() || changes.is_some();
        blocks.extend(changes.map(ReportBlock::Line));
        let mut full = vec![check_table(checks, &names)];
        full.extend(checks.iter().any(|check| check.stability_min.is_none()).then(|| {
            let line = "Stability is how similar the proposals are to their last versions. Where one changed, only embeddings can say so \
                        (`--embeddings`; `embeddings/lexical`, which counts words, is not asked); otherwise it is unknown.";
            ReportBlock::Line(line.into())
        }));
        if let Some(last) = checks.iter().rfind(|check| check.sorted_by.is_some()) {
            full.push(ReportBlock::Line(format!(
                "How the clerk relates the proposals of round {}:",
                last.round
            )));
            full.push(ReportBlock::Items(last.pairs.iter().map(pair_item).collect()));
        }
        blocks.extend((!checks.is_empty()).then_some(ReportBlock::In(ReportLength::Full, full)));
        is_shown.then(|| part("How the proposals came together", blocks))
    }

    /// "converged", or everything that stood against it, with what the agents themselves declare.
    fn check_outcome(&self, check: &ArenaCheck, read: &ConvergenceCheck) -> String {
        if check.converged {
            return "converged".into();
        }
        let pairs = |wanted: Option<PairRelation>| -> Vec<String> {
            let found = check.pairs.iter().filter(|pair| pair.relation == wanted);
            found.map(pair_name).collect()
        };
        let mut against = Vec::new();
        let (conflicts, unknown) = (pairs(Some(PairRelation::Conflict)), pairs(None));
        if check.sorted_by.is_none() {
            let why = "the clerk was absent, so it is not known how the proposals relate";
            against.push(format!("not converged: {why}"));
        } else if !conflicts.is_empty() {
            against.push(format!("the clerk sees a conflict between {}", conflicts.join(", and between ")));
        } else if check.agreement_min.is_some_and(|least| least < self.verdict.convergence_threshold) {
            against.push("not similar enough".into());
        }
        if check.sorted_by.is_some() && !unknown.is_empty() {
            against.push(format!("it is not known how these relate: {}", unknown.join("; ")));
        }
        against.extend(self.declared_text(read));
        if against.is_empty() { "not converged".into() } else { against.join("; ") }
    }

    /// The conflicts that agents declared in the stage of a check, including those that no longer count.
    fn declared(&self, check: &ConvergenceCheck) -> Vec<(usize, Vec<usize>)> {
        let held =
            self.log.stages.get(check.stage).into_iter().flat_map(|stage| stage.held.iter().enumerate());
        let declared = held.filter_map(|(place, held)| {
            let mut others = held.as_ref()?.conflicts.clone();
            others.sort_unstable();
            others.dedup();
            Some((place, others))
        });
        declared.filter(|(_, others)| !others.is_empty()).collect()
    }

    /// What the agents declare beside the clerk: the same conflicts, others or none. Nothing if neither sees any.
    fn declared_text(&self, check: &ConvergenceCheck) -> Option<String> {
        let declared = self.declared(check);
        let seen: Vec<_> =
            check.pairs.iter().filter(|pair| pair.relation == PairRelation::Conflict).collect();
        if declared.is_empty() {
            return (!seen.is_empty()).then(|| "no agent declares one".to_owned());
        }
        let seen_with = |place: usize| -> Vec<usize> {
            let mut others: Vec<usize> = seen
                .iter()
                .filter_map(|pair| match (pair.a == place, pair.b == place) {
                    (true, _) => Some(pair.b),
                    (_, true) => Some(pair.a),
                    _ => None,
                })
                .collect();
            others.sort_unstable();
            others
        };
        let counts = |place: usize, other: usize| check.conflicts.contains(&(place, other));
        let all = declared.iter().flat_map(|(place, others)| others.iter().map(|other| (*place, *other)));
        let (counting, late): (Vec<_>, Vec<_>) = all.partition(|(place, other)| counts(*place, *other));
        let late_mark = if late.is_empty() { "" } else { LATE };
        let declarers: Vec<usize> = declared.iter().map(|(place, _)| *place).collect();
        let all_seen = (0..self.log.agents.len()).filter(|place| !seen_with(*place).is_empty());
        let is_same = (counting.is_empty() || late.is_empty())
            && all_seen.eq(declarers.iter().copied())
            && declared.iter().all(|(place, others)| seen_with(*place) == *others);
        Some(match (is_same, declarers.len() == self.log.agents.len(), declarers.len()) {
            (true, true, 2) => format!("both agents declare the same{late_mark}"),
            (true, true, count) => format!("all {} agents declare the same{late_mark}", number_word(count)),
            (true, false, _) => format!("{} declare the same{late_mark}", self.log.names(&declarers)),
            (false, ..) => {
                let each = declared.iter().map(|(place, others)| {
                    let others = others.iter().map(|other| {
                        let mark = if counts(*place, *other) { "" } else { LATE };
                        format!("{}{mark}", self.log.name(*other))
                    });
                    let others = joined(&others.collect::<Vec<_>>());
                    format!("{} declares a conflict with {others}", self.log.name(*place))
                });
                each.collect::<Vec<_>>().join("; ")
            }
        })
    }

    /// The revisions that are no change of position: who changed its proposal within it, in which rounds, and which critiques it answered
    /// then.
    fn changes_within_positions(&self) -> Option<String> {
        let (log, names) = (self.log, stage_names(self.log));
        let name = |stage: usize, place: usize| Some(&names.get(stage)?.get(place)?.as_ref()?.0);
        let of_agent = |place: usize| {
            let stages = log.stages.iter().enumerate().skip(1);
            let kept = stages
                .filter(|(at, _)| log.is_revised(*at, place) && name(*at, place) == name(at - 1, place));
            let kept = kept.filter_map(|(at, stage)| {
                let before = &log.stages.get(at - 1)?.held_by(place)?.said;
                Some((stage.round, before, &stage.held_by(place)?.said))
            });
            let kept: Vec<_> = kept.collect();
            // A round may have two stages: a revision and a challenge.
            let rounds = kept.chunk_by(|(one, ..), (other, ..)| one == other).map(|same| {
                let has_same_text = same.iter().all(|(_, before, now)| {
                    is_same_text(&before.position, &now.position)
                        && is_same_text(&before.proposal, &now.proposal)
                });
                let mut notes: Vec<String> = Vec::from_iter(has_same_text.then(|| "its claims only".into()));
                let answered = same.iter().flat_map(|(.., now)| &now.addressed);
                let ids: IndexSet<String> = answered.map(|answer| answer.critique_id.clone()).collect();
                let ids = Vec::from_iter(ids);
                notes.extend((!ids.is_empty()).then(|| format!("answers {}", joined(&ids))));
                let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
                format!("round {}{notes}", same.first().map_or(0, |(round, ..)| *round))
            });
            let rounds: Vec<String> = rounds.collect();
            (!rounds.is_empty()).then(|| format!("{} in {}", log.name(place), joined(&rounds)))
        };
        let changes: Vec<String> = (0..log.agents.len()).filter_map(of_agent).collect();
        (!changes.is_empty())
            .then(|| format!("Within the same position, proposals changed: {}.", changes.join("; ")))
    }

    fn trickster(&self) -> Option<ReportSection> {
        let checks = &self.verdict.trickster.as_ref()?.checks;
        let mut blocks: Vec<ReportBlock> = checks.iter().map(|check| self.agreement(check)).collect();
        if blocks.is_empty() {
            let line = "The trickster had nothing to look at: the proposals did not converge, and no vote had a winner.";
            blocks.push(ReportBlock::Line(line.into()));
        }
        Some(part("Hollow consensus", blocks))
    }

    fn agreement(&self, check: &ArenaAgreement) -> ReportBlock {
        // Nobody is named if all agents agree.
        let is_part = (1..self.verdict.proposals.len()).contains(&check.agents.len());
        let whose = if is_part { format!(", {}", agents(&check.agents)) } else { String::new() };
        let measured = check.signals.iter().filter(|signal| signal.value.is_some()).count();
        let found = match (check.hollow, measured) {
            (true, _) => "hollow".to_owned(),
            (false, all) if all == check.signals.len() => "not hollow".to_owned(),
            (false, 1) => "not hollow by the one signal that could be measured".to_owned(),
            (false, some) => {
                format!("not hollow by the {} signals that could be measured", number_word(some))
            }
        };
        let result = match check.came_to {
            Some(ChallengeResult::Left) => "challenged, and the agreement was left",
            Some(ChallengeResult::Unknown) => "challenged, and nobody said whether they still agree",
            Some(ChallengeResult::Met) => "challenged, and the challenge was met",
            Some(ChallengeResult::NotMet) | None => "challenged, and the challenge was not met",
        };
        let mut rows = table_head(&["Signal", "Share", "Fires from", "Fired", "After"]);
        for (place, signal) in check.signals.iter().enumerate() {
            let share = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), score);
            let after =
                check.after.as_ref().and_then(|after| after.get(place)).and_then(|signal| signal.value);
            let fired = if signal.fired { "yes" } else { "no" };
            let cells =
                [signal.signal.about(), &share(signal.value), &score(signal.threshold), fired, &share(after)];
            rows.push(cells.map(str::to_owned).to_vec());
        }
        let quotes = check.signals.iter().filter(|signal| signal.fired).map(|signal| {
            let quotes = signal.quotes.iter();
            let quotes = quotes.map(|one| format!("{}, \u{201c}{}\u{201d}", agent(&one.label), one.quote));
            let (who, text) = (signal.signal.about().to_owned(), quotes.collect::<Vec<_>>().join("; "));
            ReportItem { who: Some(who), text, note: None }
        });
        ReportBlock::Group {
            title: format!("Round {}{whose}: {found}", check.round),
            badges: check.challenged.then(|| result.to_owned()).into_iter().collect(),
            blocks: vec![ReportBlock::Table(rows), ReportBlock::Items(quotes.collect())],
        }
    }

    fn rhetoric(&self) -> Option<ReportSection> {
        let all = self.verdict.rhetoric.as_ref()?;
        let of_kind = |kind: RhetoricKind| all.iter().filter(move |seen| seen.finding.kind == kind);
        let line = match all.is_empty() {
            true => format!("The observer, which knows {LANGUAGES} phrases only, found nothing to report."),
            false => {
                format!("Found by {LANGUAGES} phrases alone: hints for the reader, which decide nothing.")
            }
        };
        let mut blocks = vec![ReportBlock::Line(line)];
        let fallacies: Vec<ReportItem> = of_kind(RhetoricKind::Fallacy).map(rhetoric_item).collect();
        let patterns: Vec<&ArenaRhetoric> = of_kind(RhetoricKind::Pattern).collect();
        let mut short = fallacies.iter().take(FINDINGS_MAX).cloned().collect::<Vec<_>>();
        let more = fallacies.len().saturating_sub(short.len());
        short.extend(
            (more > 0).then(|| ReportItem::text(format!("And {more} more: the full report has them."))),
        );
        blocks.push(ReportBlock::In(ReportLength::Short, vec![ReportBlock::Items(short)]));
        let total = counted(patterns.len() as u64, "pattern");
        blocks.push(ReportBlock::In(
            ReportLength::Short,
            vec![ReportBlock::Line(format!("The full report also lists {total} that weaken no argument."))],
        ));
        let full = fallacies.into_iter().chain(patterns.into_iter().map(rhetoric_item)).collect();
        blocks.push(ReportBlock::In(ReportLength::Full, vec![ReportBlock::Items(full)]));
        Some(part("Rhetoric", blocks).folded())
    }

    /// What was found before the debate and who cites it; in the short report only what is cited.
    fn context(&self) -> Option<ReportSection> {
        // What the person attached has a section of its own, in every protocol.
        let is_found = |piece: &&ArenaContext| piece.item.kind != ContextKind::Attached;
        let all: Vec<&ArenaContext> = self.verdict.context.iter().filter(is_found).collect();
        let cited = all.iter().filter(|item| !item.cited_by.is_empty());
        let mut short: Vec<ReportItem> = cited.map(|piece| context_item(piece)).collect();
        let uncited = (all.len() - short.len()) as u64;
        let pieces = counted(uncited, if short.is_empty() { "piece" } else { "other piece" });
        short.extend(
            (uncited > 0)
                .then(|| ReportItem::text(format!("Nobody cites {pieces}, which the full report has."))),
        );
        let line =
            "Found before the debate and shown to the agents as untrusted material: nobody has checked it.";
        let full = vec![ReportBlock::Items(all.iter().map(|piece| context_item(piece)).collect())];
        let blocks = vec![
            ReportBlock::Line(line.into()),
            ReportBlock::In(ReportLength::Short, vec![ReportBlock::Items(short)]),
            ReportBlock::In(ReportLength::Full, full),
        ];
        (!all.is_empty()).then(|| part("What they were given to read", blocks).folded())
    }

    fn proposals(&self) -> Option<ReportSection> {
        let groups: Vec<ReportBlock> =
            self.verdict.proposals.iter().map(|proposal| self.proposal(proposal)).collect();
        let section = || part("Final proposals", groups).folded().only(ReportLength::Full);
        (!self.verdict.proposals.is_empty()).then(section)
    }

    fn proposal(&self, proposal: &ArenaProposal) -> ReportBlock {
        let mut badges = vec![format!("confidence {}", score(proposal.confidence))];
        badges.extend(proposal.carried.then(|| "carried: absent in the last revision".to_owned()));
        let conflicts = &proposal.conflicts_with;
        badges.extend(
            (!conflicts.is_empty()).then(|| format!("declares a conflict with {}", agents(conflicts))),
        );
        let texts = [&proposal.position, &proposal.proposal].into_iter().filter(|text| !text.is_empty());
        let mut blocks: Vec<ReportBlock> = texts.map(|text| ReportBlock::Prose(text.clone())).collect();
        blocks.push(claim_items(proposal, self.log));
        ReportBlock::Group { title: self.seated(&proposal.label), badges, blocks }
    }

    fn critiques(&self) -> Option<ReportSection> {
        let all = &self.log.critiques;
        let groups: Vec<ReportBlock> =
            all.iter().map(|critique| critique_group(critique, self.log)).collect();
        let section = || part("Critiques and what became of them", groups).folded().only(ReportLength::Full);
        (!all.is_empty()).then(section)
    }

    /// The team; in the short report only if an agent was picked rather than named.
    fn team(&self) -> Option<ReportSection> {
        let team = &self.verdict.team;
        let mut rows = table_head(&["Agent", "Model", "Why", "Rating", "Brier", "Games"]);
        for member in team {
            let why = match member.why {
                SeatingReason::Named => "named",
                SeatingReason::Rated => "picked by rating and calibration",
                SeatingReason::Explored => "drawn, to learn more about it",
            };
            rows.push(vec![
                self.labelled(&member.seat),
                member.agent.clone(),
                why.to_owned(),
                format!("{:.0}", member.rating),
                member.brier.map_or_else(|| "unknown".into(), |brier| format!("{brier:.3}")),
                member.games.to_string(),
            ]);
        }
        let is_picked = team.iter().any(|member| member.why != SeatingReason::Named);
        let shown = if is_picked { ReportLength::Any } else { ReportLength::Full };
        (!team.is_empty()).then(|| part("The team", vec![ReportBlock::Table(rows)]).only(shown))
    }

    fn ratings(&self) -> Option<ReportSection> {
        let ratings = &self.verdict.ratings;
        let mut rows = table_head(&["Agent", "Model", "Judge's score", "Before", "After", "Change"]);
        for rated in ratings {
            rows.push(vec![
                self.labelled(rated.seat.as_deref().unwrap_or_default()),
                rated.agent.clone(),
                score(rated.score),
                format!("{:.1}", rated.before),
                format!("{:.1}", rated.after),
                format!("{:+.1}", rated.change + 0.0),
            ]);
        }
        (!ratings.is_empty()).then(|| part("Ratings", vec![ReportBlock::Table(rows)]).folded())
    }
}

/// Who was asked, and about which agent: "Agent A on Agent B".
fn attendee(name: &str) -> String {
    match name.split_once(" on ") {
        Some((who, about)) => format!("{} on {}", agent(who), agent(about)),
        None => agent(name),
    }
}

/// What a phase came to, for the table of rounds.
fn round_result(round: &ArenaRound) -> String {
    match &round.result {
        ArenaRoundResult::Comparison { agreement_min, converged } => {
            let least =
                agreement_min.map_or("score not known".into(), |least| format!("score {}", score(least)));
            format!("{least}{}", if *converged { ", converged" } else { "" })
        }
        ArenaRoundResult::Vote { votes, tally, .. } => tally_sentence(tally, votes),
        ArenaRoundResult::Judgement { judge_top, margin, scores } => match (judge_top, margin) {
            (Some(top), Some(margin)) => {
                let scores = scores.iter().flatten().map(|one| (one.label.as_str(), one.score));
                format!("{} first, {} ahead of {}", agent(top), score(*margin), next_best(top, scores))
            }
            (None, Some(_)) => "a tie".into(),
            (_, None) => "not heard".into(),
        },
        ArenaRoundResult::Proposals { .. } | ArenaRoundResult::Nothing {} => String::new(),
    }
}

/// A finding of the observer with its sentence.
fn rhetoric_item(seen: &ArenaRhetoric) -> ReportItem {
    let (round, phase, sure) = (seen.round, seen.phase.as_str(), score(seen.finding.score));
    ReportItem {
        who: Some(format!("{}, {}", heading(&seen.finding.name), agent(&seen.label))),
        text: format!("\u{201c}{}\u{201d}", seen.finding.quote),
        note: Some(format!("Round {round}, {phase}, {sure}")),
    }
}

fn context_item(piece: &ArenaContext) -> ReportItem {
    let item = &piece.item;
    let title = if item.title.trim().is_empty() { String::new() } else { format!("{}: ", item.title.trim()) };
    let mut notes = vec![match piece.cited_by.as_slice() {
        [] => "Cited by nobody".to_owned(),
        by => format!("Cited by {}", agents(by)),
    }];
    notes.extend((!item.source.trim().is_empty()).then(|| format!("from {}", item.source.trim())));
    notes.extend(item.provenance.as_deref().map(|provenance| format!("held in {provenance}")));
    notes.extend(item.at.as_deref().map(|at| at.split('T').next().unwrap_or(at).to_owned()));
    notes.extend(item.turned_out.map(|how| format!("turned out {}", how.as_str())));
    notes.extend(item.agent.as_deref().map(|agent| format!("shown only to {agent}")));
    ReportItem {
        who: Some(format!("[{}] {}", item.id, heading(item.kind.as_str()))),
        text: format!("{title}{}", item.text),
        note: Some(notes.join("; ")),
    }
}

/// What a proposal rests on. Words that do not occur in what the evidence names are marked.
fn claim_items(proposal: &ArenaProposal, log: &ArenaLog<'_>) -> ReportBlock {
    let marked = |evidence: &str| {
        let quotes = log.evidence_quotes(evidence).into_iter().filter(|(_, is_found)| !is_found);
        let false_quotes: Vec<String> = quotes.map(|(quote, _)| format!("\u{201c}{quote}\u{201d}")).collect();
        match false_quotes.is_empty() {
            true => format!("Evidence: {evidence}"),
            false => {
                let words = joined(&false_quotes);
                format!("Evidence: {evidence} (unverified: what it names does not say {words})")
            }
        }
    };
    let claims = proposal.claims.iter().map(|claim| ReportItem {
        who: None,
        text: claim.claim.trim().to_owned(),
        note: Some(match claim.evidence.trim() {
            "" => "No evidence given".into(),
            evidence => marked(evidence),
        }),
    });
    ReportBlock::Items(claims.collect())
}

/// A critique, or a reason of a voter or the judge, with every answer and verdict.
fn critique_group(critique: &ArenaCritique, log: &ArenaLog<'_>) -> ReportBlock {
    let (from, to, round) = (agent(critique.author(log)), log.name(critique.to), critique.round);
    let title = match critique.from {
        CritiqueSource::Peer(_) => format!("{from} on {to}, round {round}"),
        CritiqueSource::Voter(..) => format!("{from}'s reason for its vote, shown to {to}, round {round}"),
        CritiqueSource::Judge => format!("The judge's reasons for its scores of {to}, round {round}"),
    };
    let mut badges: Vec<String> = Vec::new();
    badges.extend(critique.severity.map(|severity| format!("severity {}", score(severity))));
    badges.extend(critique.is_by_peer().then(|| match critique.verdict() {
        Some(verdict) => verdict.status.as_str().to_owned(),
        None if critique.issues.is_empty() => "finds no issue".to_owned(),
        None => "not judged by its author".to_owned(),
    }));
    let mut later = log.stages.iter().enumerate().filter(|(_, stage)| stage.round > critique.round);
    let is_ignored = critique.is_by_peer()
        && critique.is_open()
        && critique.last_step(log, false).is_none()
        && later.any(|(at, _)| log.is_new(at, critique.to));
    badges.extend(is_ignored.then(|| format!("{to} never answered it")));
    let mut pairs = Vec::new();
    let first = if critique.is_by_peer() { "Issue" } else { "Reason" };
    for (name, texts) in [(first, &critique.issues), ("Suggestion", &critique.suggestions)] {
        pairs.extend(texts.iter().map(|text| (name.to_owned(), text.trim().to_owned())));
    }
    let steps = critique.steps(log).into_iter();
    pairs.extend(steps.map(|step| (step_name(critique, &step, log), step.text.to_owned())));
    ReportBlock::Group {
        title: format!("[{}] {title}", critique.id),
        badges,
        blocks: vec![ReportBlock::Pairs(pairs)],
    }
}

/// "Agent A answers in round 3", "Agent C calls it unresolved in the version of round 3".
fn step_name(critique: &ArenaCritique, step: &CritiqueStep<'_>, log: &ArenaLog<'_>) -> String {
    match step.status {
        None => format!("{} answers in round {}", log.name(critique.to), step.round),
        Some(status) => {
            let (who, status) = (agent(critique.author(log)), status.as_str());
            format!("{who} calls it {status} in the version of round {}", step.round)
        }
    }
}

/// What follows the name of a round's check after a challenge.
const CHALLENGED: &str = ", challenged";

fn check_name(check: &ArenaCheck) -> String {
    format!("Round {}{}", check.round, if check.after_challenge { CHALLENGED } else { "" })
}

fn check_chart(checks: &[ArenaCheck], names: &[String], threshold: f64) -> RoundChart {
    let points = checks.iter().zip(names).map(|(check, name)| ChartPoint {
        round: name.clone(),
        tick: name.replace("Round ", "R").replace(CHALLENGED, "+"),
        first: check.agreement_min,
        second: check.stability_min,
    });
    RoundChart {
        names: ["convergence score", "stability"],
        threshold: Some(threshold),
        axis_max: [1.0, 1.0],
        points: points.collect(),
    }
}

/// Rounds in a sentence. One that was checked twice is named once.
fn rounds_of(all: &[u32]) -> String {
    let mut once = all.to_vec();
    once.dedup();
    rounds(&once)
}

/// How the relation of two proposals moved, for those that were the same or compatible at any time. Pairs that moved alike share an
/// entry.
fn pair_paths(checks: &[ArenaCheck]) -> Vec<ReportItem> {
    let pairs = checks.first().map_or(&[][..], |check| &check.pairs);
    let in_check = |check: &ArenaCheck, pair: &ArenaPair| {
        check.pairs.iter().find(|one| (&one.a, &one.b) == (&pair.a, &pair.b)).cloned()
    };
    let path = |pair: &ArenaPair| -> Vec<Option<PairRelation>> {
        checks.iter().map(|check| in_check(check, pair)?.relation).collect()
    };
    let mut groups: Vec<(Vec<Option<PairRelation>>, Vec<&ArenaPair>)> = Vec::new();
    for pair in pairs {
        match groups.iter_mut().find(|(other, _)| *other == path(pair)) {
            Some((_, alike)) => alike.push(pair),
            None => groups.push((path(pair), vec![pair])),
        }
    }
    let item = |(path, alike): (Vec<Option<PairRelation>>, Vec<&ArenaPair>)| {
        let steps: Vec<(&ArenaCheck, Option<PairRelation>)> = checks.iter().zip(path).collect();
        let runs = steps.chunk_by(|(_, one), (_, other)| one == other).map(|run| {
            let figures = run.iter().flat_map(|(check, _)| alike.iter().map(|pair| in_check(check, pair)));
            let figures: Vec<f64> = figures.filter_map(|pair| pair?.similarity).collect();
            let what = match run.first().and_then(|(_, relation)| *relation) {
                Some(PairRelation::Same) => format!("the same ({})", figure_range(&figures)),
                Some(PairRelation::Compatible) => format!("compatible ({})", figure_range(&figures)),
                Some(PairRelation::Conflict) => "in conflict".to_owned(),
                None => "not known".to_owned(),
            };
            format!("{what} in {}", rounds_of(&run.iter().map(|(check, _)| check.round).collect::<Vec<_>>()))
        });
        let who = match alike.len() > 1 && alike.len() == pairs.len() {
            true => "Every two proposals".to_owned(),
            false => alike.iter().map(|pair| pair_name(pair)).collect::<Vec<_>>().join("; "),
        };
        ReportItem { who: Some(who), text: runs.collect::<Vec<_>>().join(", "), note: None }
    };
    let fits = |relation: &Option<PairRelation>| {
        matches!(relation, Some(PairRelation::Same | PairRelation::Compatible))
    };
    groups.into_iter().filter(|(path, _)| path.iter().any(fits)).map(item).collect()
}

/// "0.65", or "0.20 to 0.65".
fn figure_range(figures: &[f64]) -> String {
    let least = score(figures.iter().copied().reduce(f64::min).unwrap_or_default());
    let most = score(figures.iter().copied().reduce(f64::max).unwrap_or_default());
    if least == most { least } else { format!("{least} to {most}") }
}

/// The two proposals that are least similar, or how many pairs are equally far apart: "A and C, B and C".
fn least_pairs(check: &ArenaCheck) -> String {
    let figure = |pair: &&ArenaPair| match pair.relation {
        Some(PairRelation::Conflict) => Some(0.0),
        _ => pair.similarity,
    };
    let least = check.pairs.iter().filter(|pair| figure(pair) == check.agreement_min);
    let least: Vec<String> = least.map(|pair| format!("{} and {}", pair.a, pair.b)).collect();
    match least.len() {
        0..=2 => least.join(", "),
        all if all == check.pairs.len() => "every two".to_owned(),
        some => format!("{some} of {} pairs", check.pairs.len()),
    }
}

fn pair_name(pair: &ArenaPair) -> String {
    format!("{} and {}", agent(&pair.a), agent(&pair.b))
}

fn check_table(checks: &[ArenaCheck], names: &[String]) -> ReportBlock {
    let has_embedding = checks.iter().any(|check| check.embedding.is_some());
    let mut head = vec!["Round", "Score", "Mean", "Stability", "Converged", "Sorted by"];
    head.extend(has_embedding.then_some("By embeddings"));
    let mut rows = table_head(&head);
    for (check, name) in checks.iter().zip(names) {
        let figures = [check.agreement_min, check.agreement_mean, check.stability_min];
        let mut row = vec![name.clone()];
        row.extend(figures.map(|figure| figure.map_or_else(|| "unknown".into(), score)));
        row.push(if check.converged { "yes" } else { "no" }.into());
        row.push(check.sorted_by.clone().unwrap_or_else(|| "nobody".into()));
        let embedded = check.embedding.as_ref().map_or("unknown".into(), |one| score(one.agreement_min));
        row.extend(has_embedding.then_some(embedded));
        rows.push(row);
    }
    ReportBlock::Table(rows)
}

/// How two proposals relate, with the words that show it.
fn pair_item(pair: &ArenaPair) -> ReportItem {
    let quotes =
        pair.quotes.iter().map(|one| format!("{}: \u{201c}{}\u{201d}", agent(&one.label), one.quote));
    let quotes: Vec<String> = quotes.collect();
    ReportItem {
        who: Some(pair_name(pair)),
        text: match (pair.relation, pair.similarity) {
            (Some(PairRelation::Conflict), _) => "conflict".into(),
            (Some(relation), Some(similarity)) => {
                format!("{}, {} similar", relation.as_str(), score(similarity))
            }
            _ => "not known: the clerk's word did not verify".into(),
        },
        note: (!quotes.is_empty()).then(|| quotes.join("; ")),
    }
}
