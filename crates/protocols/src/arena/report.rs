//! The report: the decision, why it was made and what is still open; then the votes and the judge. What follows is in
//! [`details`](super::details).

use agon_core::wording::{capitalized, counted, joined, number_word, score, seat_name};
use agon_core::{
    Outline, ReportBar, ReportBlock, ReportItem, ReportLength, ReportSection, SectionKind, Status,
    Termination, VerdictTone,
};

use super::log::{ArenaLog, agent_name};
use super::replies::CriteriaScores;
use super::verdict::{ArenaBallot, ArenaCritiqueEntry, ArenaJudgement, ArenaTally, ArenaVerdict};
use super::voting::ABSTAIN;
use super::{ArenaPhase, ConsensusRule, DecidedBy, PROPOSALS_MIN, closing};

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
        let details = [self.vote(), self.judge(), self.rounds(), self.convergence(), self.trickster()];
        let more = [
            self.rhetoric(),
            self.context(),
            self.proposals(),
            self.critiques(),
            self.team(),
            self.ratings(),
        ];
        Outline {
            answer: vec![self.decision()],
            body: self.open_critiques().into_iter().collect(),
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
        blocks.extend(texts.map(|text| ReportBlock::Prose(text.to_owned())));
        ReportSection::new(kind, "Decision", blocks)
    }

    /// The critiques of the winning proposal that the critic has not called resolved.
    fn open_critiques(&self) -> Option<ReportSection> {
        let open = self.verdict.critiques.iter().filter(|one| self.verdict.unresolved.contains(&one.id));
        let items = open.map(|critique| ReportItem {
            who: Some(format!("[{}] {}", critique.id, agent(&critique.from))),
            text: critique.issues.iter().chain(&critique.suggestions).cloned().collect::<Vec<_>>().join(" "),
            note: Some(self.what_became(critique)),
        });
        let items: Vec<ReportItem> = items.collect();
        let line = "Critiques of the decision that the critic has not called resolved:";
        let blocks = || vec![ReportBlock::Line(line.into()), ReportBlock::Items(items.clone())];
        (!items.is_empty()).then(|| part("What is still open", blocks()))
    }

    /// The last answer to a critique and its author's last verdict, each with the version that it is about.
    fn what_became(&self, critique: &ArenaCritiqueEntry) -> String {
        let steps = critique.steps().into_iter().map(|(what, text)| match text {
            "" => what,
            text => format!("{what}: {text}"),
        });
        let mut parts: Vec<String> = steps.collect();
        let last = self.log.stages.last().map(|stage| stage.round);
        let is_judged_now = || {
            let mut all = self.log.critiques.iter().filter(|one| one.id == critique.id);
            all.any(|one| one.is_judged_now(self.log))
        };
        if parts.is_empty() {
            let is_late = last.is_some_and(|last| critique.round >= last);
            let why = if is_late { ": it came with the last revision" } else { "" };
            parts.push(format!("Not answered{why}"));
        } else if critique.verdict.is_none() {
            parts.push(format!("{} has not said whether that resolves it", agent(&critique.from)));
        } else if !is_judged_now() {
            parts.push(format!("{} has not judged the last version", agent(&critique.from)));
        }
        let parts: Vec<&str> = parts.iter().map(|part| part.trim_end_matches('.')).collect();
        parts.join(". ")
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
        let extended = Some(u64::from(self.verdict.extended_rounds)).filter(|rounds| *rounds > 0);
        sentences.extend(extended.map(|rounds| format!("It took {}.", counted(rounds, "extended round"))));
        if self.verdict.winner.is_some() && self.status() != Some(Status::Complete) {
            sentences.push("The debate is incomplete: weigh the decision accordingly.".into());
        }
        sentences.join(" ")
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
            Some(judge) if judge.agrees_with_vote != Some(true) => {
                format!("The judge does not agree: {}.", first_place(judge))
            }
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
        let ahead = judge.map_or(String::new(), |judge| format!(", {} points ahead", score(judge.margin)));
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
            Some(Termination::Cancelled) => "The debate was cancelled before anything was decided.".into(),
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
        let votes = self.verdict.tally.first().map_or(0, |group| group.votes);
        let rule = match consensus.kind {
            ConsensusRule::Majority => "more than half of the votes cast, which is enough",
            ConsensusRule::Supermajority => "at least two thirds of the votes cast, which is enough",
            ConsensusRule::Unanimous => "all votes cast",
        };
        format!(
            "After {} {} of {} agents vote for the same: {rule}.",
            counted(u64::from(rounds), "round"),
            number_word(votes),
            number_word(consensus.agents)
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
            ReportBar { name: agents(&group.labels), value, written }
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

pub(super) fn part(title: &str, blocks: Vec<ReportBlock>) -> ReportSection {
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
pub(super) fn agents(labels: &[String]) -> String {
    joined(&labels.iter().map(|label| agent(label)).collect::<Vec<_>>())
}

fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}

fn abstentions(ballots: &[ArenaBallot]) -> usize {
    ballots.iter().filter(|ballot| ballot.choice == ABSTAIN).count()
}

/// "2 votes for Agent A, 1 vote for Agent B and 1 abstention".
pub(super) fn tally_sentence(groups: &[ArenaTally], ballots: &[ArenaBallot]) -> String {
    let groups = groups.iter().filter(|group| group.votes > 0);
    let mut parts: Vec<String> = groups
        .map(|group| format!("{} for {}", counted(group.votes as u64, "vote"), agents(&group.labels)))
        .collect();
    let abstained = abstentions(ballots) as u64;
    parts.extend((abstained > 0).then(|| counted(abstained, "abstention")));
    if parts.is_empty() { "nobody voted".into() } else { joined(&parts) }
}

/// "the judge puts Agent A first, 1.00 points ahead", in both orders with both leads, or what the tie is between.
fn first_place(judge: &ArenaJudgement) -> String {
    let first = agents(&judge.first);
    match (&judge.top, judge.consistent) {
        (Some(top), Some(true)) => {
            let leads: Vec<String> = judge.orders.iter().map(|order| score(order.lead(top))).collect();
            format!(
                "the judge puts {first} first in both orders, {} points ahead, {} by the mean scores",
                joined(&leads),
                score(judge.margin)
            )
        }
        (Some(_), _) => format!("the judge puts {first} first, {} points ahead", score(judge.margin)),
        (None, Some(false)) => format!(
            "the judge's first place depends on the order in which it read the proposals, which is a tie between {first}"
        ),
        (None, _) => format!("the judge's first place is a tie between {first}"),
    }
}

/// What the judge puts first, whether the vote agrees, and who judged.
fn judge_sentence(judge: &ArenaJudgement) -> String {
    let agreement = match judge.agrees_with_vote {
        Some(true) => " That agrees with the vote.",
        Some(false) => " That does not agree with the vote.",
        None => "",
    };
    let orders = match judge.orders.len() {
        1 => "",
        _ => " The scores are the means of both orders; the reasons are from the first.",
    };
    format!("{}.{agreement}{orders} The judge is {}.", capitalized(&first_place(judge)), judge.model)
}
