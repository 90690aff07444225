//! The report: the decision, why it was made and what is still open; then the votes, the judge, how the proposals came together, what
//! the trickster and the observer found, what was read and cited, and the team and its ratings. The full report adds every proposal
//! and critique.

use agon_core::wording::{capitalized, counted, heading, joined, rounds, score, seat_name};
use agon_core::{
    ChartPoint, Debate, LevelBars, Outline, ReportBar, ReportBlock, ReportItem, ReportLength, ReportSection,
    RoundChart, SectionKind, Status, Termination, VerdictTone,
};

use super::closing::ArenaDissent;
use super::log::agent_name;
use super::replies::{CriteriaScores, CritiqueStatus, PairRelation};
use super::rhetoric::{LANGUAGES, RhetoricKind};
use super::team::SeatingReason;
use super::trickster::{ChallengeResult, WeaknessSignal};
use super::verdict::{
    ArenaAgreement, ArenaBallot, ArenaCheck, ArenaContext, ArenaCritiqueEntry, ArenaJudgement, ArenaPair,
    ArenaProposal, ArenaRating, ArenaRhetoric, ArenaRound, ArenaRoundResult, ArenaTally, ArenaVerdict,
};
use super::voting::ABSTAIN;
use super::{ArenaPhase, ConsensusRule, DecidedBy, PROPOSALS_MIN};

/// A list of findings in the short report is cut here.
const FINDINGS_MAX: usize = 6;
/// The most quotations for a signal in the short report.
const QUOTES_MAX: usize = 3;

/// The report of a debate with this verdict.
pub(super) struct ArenaReport<'a> {
    pub(super) debate: &'a Debate,
    pub(super) verdict: &'a ArenaVerdict,
    pub(super) dissent: &'a [ArenaDissent],
}

impl ArenaReport<'_> {
    /// The outline. Of a debate that is not over it has only sections that do not say who is behind which label.
    pub(super) fn outline(&self) -> Outline {
        if self.debate.outcome.is_none() {
            let details = [self.convergence(), self.trickster(), self.rhetoric(), self.critiques()];
            return Outline { details: details.into_iter().flatten().collect(), ..Outline::default() };
        }
        let mut details = Vec::new();
        details.extend(self.vote());
        details.extend(self.judge());
        details.extend(self.rounds());
        details.extend(self.convergence());
        details.extend(self.trickster());
        details.extend(self.rhetoric());
        details.extend(self.context());
        details.extend(self.proposals());
        details.extend(self.critiques());
        details.extend(self.team());
        details.extend(self.ratings());
        let body = self.open_critiques().into_iter().collect();
        Outline { answer: vec![self.decision()], body, details, ..Outline::default() }
    }

    /// An agent with its seat.
    fn seated(&self, label: &str) -> String {
        let seat = self.debate.outcome.as_ref().and_then(|outcome| outcome.labels.get(label));
        seat.map_or_else(|| agent(label), |seat| format!("{} ({seat})", agent(label)))
    }

    /// A seat with its label.
    fn labelled(&self, seat: &str) -> String {
        let mut labels = self.debate.outcome.iter().flat_map(|outcome| &outcome.labels);
        let label = labels.find(|(_, id)| id.as_str() == seat).map(|(label, _)| label);
        label.map_or_else(|| seat.to_owned(), |label| format!("{} ({seat})", agent(label)))
    }

    fn status(&self) -> Option<Status> {
        self.debate.outcome.as_ref().map(|outcome| outcome.status)
    }

    fn decision(&self) -> ReportSection {
        let Some(winner) = &self.verdict.winner else { return self.no_decision() };
        let mut blocks = vec![
            ReportBlock::Headline(self.tone(), format!("{} wins", agent(winner))),
            ReportBlock::Line(self.reason()),
        ];
        let (position, answer) = (self.verdict.position.as_deref(), self.verdict.answer.as_deref());
        let is_new = |position: &&str| answer.is_none_or(|answer| !answer.starts_with(position));
        let texts = position.filter(is_new).into_iter().chain(answer).filter(|text| !text.is_empty());
        blocks.extend(texts.map(|text| ReportBlock::Prose(text.to_owned())));
        ReportSection::new(SectionKind::Answer, "Decision", blocks)
    }

    /// The critiques of the winning proposal that nobody has called resolved.
    fn open_critiques(&self) -> Option<ReportSection> {
        let open = self.verdict.critiques.iter().filter(|one| self.verdict.unresolved.contains(&one.id));
        let items = open.map(|critique| ReportItem {
            who: Some(format!("[{}] {}", critique.id, agent(&critique.from))),
            text: critique.issues.iter().chain(&critique.suggestions).cloned().collect::<Vec<_>>().join(" "),
            note: Some(match (&critique.addressed, &critique.verdict) {
                (_, Some(verdict)) if !verdict.why.trim().is_empty() => {
                    format!("Still unresolved: {}", verdict.why.trim())
                }
                (Some(how), _) => format!("Answered: {how}"),
                (None, _) => "Not answered".to_owned(),
            }),
        });
        let items: Vec<ReportItem> = items.collect();
        let line = "Critiques of the decision that their authors have not called resolved:";
        (!items.is_empty()).then(|| {
            part("What is still open", vec![ReportBlock::Line(line.into()), ReportBlock::Items(items)])
        })
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
        let mut sentences = vec![match group {
            Some(group) => {
                let cast = counted(consensus.cast as u64, "vote");
                format!("By vote: {} of {cast} cast{share}; {needed}.", group.votes)
            }
            None => "By vote.".to_owned(),
        }];
        sentences.extend(group.filter(|group| group.labels.len() > 1).map(|group| {
            format!(
                "By the clerk's last sorting {} propose the same, so votes for any of them count together.",
                agents(&group.labels)
            )
        }));
        sentences.push(match &self.verdict.judge {
            None => "No judge was heard.".to_owned(),
            Some(judge) if judge.agrees_with_vote == Some(true) && judge.top.is_none() => {
                format!("The judge's first place is a tie that includes it: {}.", agents(&judge.first))
            }
            Some(judge) if judge.agrees_with_vote == Some(true) => "The judge agrees.".to_owned(),
            Some(judge) => format!("The judge does not agree: {}.", first_place(judge)),
        });
        sentences
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

    fn no_decision(&self) -> ReportSection {
        let mut blocks = vec![
            ReportBlock::Headline(VerdictTone::Warn, "No decision".into()),
            ReportBlock::Line(self.reason()),
        ];
        // The dissent follows, and it may already have every position.
        let is_dissent = |proposal: &ArenaProposal| {
            self.dissent.iter().any(|dissent| dissent.position.trim() == proposal.position.trim())
        };
        if !self.verdict.proposals.iter().all(is_dissent) {
            let items = self.verdict.proposals.iter().map(|proposal| ReportItem {
                who: Some(self.seated(&proposal.label)),
                text: proposal.position.clone(),
                note: None,
            });
            blocks.push(ReportBlock::Line("The agents' last positions:".into()));
            blocks.push(ReportBlock::Items(items.collect()));
        }
        ReportSection::new(SectionKind::NoAnswer, "Decision", blocks)
    }

    fn why_no_decision(&self) -> String {
        let (kind, tally, consensus) = (self.kind(), self.tally(), &self.verdict.consensus);
        match self.debate.outcome.as_ref().map(|outcome| outcome.termination) {
            Some(Termination::QuorumLost) if self.verdict.proposals.len() < PROPOSALS_MIN => {
                "Fewer than two agents made a proposal, so there was nothing to choose from.".into()
            }
            Some(Termination::QuorumLost) => {
                let abstained = match abstentions(&self.verdict.votes) {
                    0 => String::new(),
                    count => format!(" ({count} abstained)"),
                };
                let agents = counted(consensus.agents as u64, "agent");
                format!(
                    "Only {} of {agents} voted for a proposal{abstained}, and half of them must.",
                    consensus.cast
                )
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
                    "The vote ({tally}) does not count, because it rests on too little that can be checked: {}.",
                    self.why_hollow()
                )
            }
            _ if consensus.reached => {
                let article = if consensus.kind == ConsensusRule::Unanimous { "" } else { "a " };
                format!(
                    "The vote reached {article}{kind} ({tally}), but the judge was to decide, and its first place is a tie."
                )
            }
            _ => format!("The vote reached no {kind}: {tally}. {}", self.judge_without_majority()),
        }
    }

    fn why_hollow(&self) -> &'static str {
        let last = self.verdict.trickster.as_ref().and_then(|trickster| trickster.checks.last());
        match last.map(|check| (check.came_to, check.challenged)) {
            Some((Some(ChallengeResult::Unknown), _)) => {
                "nobody said whether the trickster's challenge was met"
            }
            Some((None, false)) => "no round was left for the trickster's challenge",
            _ => "the trickster's challenge was not met",
        }
    }

    /// What the judge says if the vote decides nothing.
    fn judge_without_majority(&self) -> String {
        match &self.verdict.judge {
            None => "No judge was heard.".into(),
            Some(judge) => format!("{}, but the vote decides.", capitalized(&first_place(judge))),
        }
    }

    fn kind(&self) -> &'static str {
        match self.verdict.consensus.kind {
            ConsensusRule::Majority => "majority",
            ConsensusRule::Supermajority => "supermajority",
            ConsensusRule::Unanimous => "unanimity",
        }
    }

    fn tally(&self) -> String {
        tally_sentence(&self.verdict.tally, &self.verdict.votes)
    }

    fn vote(&self) -> Option<ReportSection> {
        let votes = &self.verdict.votes;
        let mut rows = table_head(&["Voter", "Choice", "Confidence", "Own", "Reason"]);
        for ballot in votes {
            let choice = match ballot.choice.as_str() {
                ABSTAIN => "abstains".to_owned(),
                label => agent(label),
            };
            let own = if ballot.own { "own" } else { "" };
            let confidence = score(ballot.confidence);
            rows.push(vec![
                self.seated(&ballot.label),
                choice,
                confidence,
                own.into(),
                ballot.reason.clone(),
            ]);
        }
        let mut blocks = vec![ReportBlock::Table(rows)];
        let bars = self.verdict.tally.iter().map(|group| {
            let share = group.share.map_or(String::new(), |share| format!(" ({})", percent(share)));
            ReportBar {
                name: agents(&group.labels),
                value: group.votes as f64,
                written: format!("{}{share}", group.votes),
            }
        });
        let bars: Vec<ReportBar> = bars.collect();
        blocks.extend((!bars.is_empty()).then_some(ReportBlock::Bars(bars)));
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
            let mut absences = self.debate.absences();
            let was_absent = absences.any(|(phase, ..)| phase.name == ArenaPhase::Judge.as_str());
            let line = "No judge was heard: nothing is scored, and no rating changes.";
            return was_absent.then(|| part("The judge", vec![ReportBlock::Line(line.into())]));
        };
        let mut rows = table_head(&["Agent", "Score", "Reasons"]);
        let mut criteria = table_head(&[&["Agent"], &CriteriaScores::NAMES[..]].concat());
        for label in &judge.ranking {
            let Some(scored) = judge.scores.iter().find(|scored| scored.label == *label) else { continue };
            rows.push(vec![self.seated(label), score(scored.score), scored.reasons.join(" ")]);
            let figures = scored.criteria.list().map(|figure| format!("{figure:.1}"));
            criteria.push([vec![label.clone()], figures.to_vec()].concat());
        }
        let mut blocks = vec![
            ReportBlock::Line(judge_sentence(judge)),
            ReportBlock::Table(rows),
            ReportBlock::In(ReportLength::Full, vec![ReportBlock::Table(criteria)]),
        ];
        if judge.orders.len() > 1 {
            let items = (1..).zip(&judge.orders).map(|(number, order): (usize, _)| {
                let scores = order.scores.iter().map(|one| format!("{} {}", one.label, score(one.score)));
                ReportItem {
                    who: Some(format!("Order {number} ({})", order.order.join(", "))),
                    text: scores.collect::<Vec<_>>().join(", "),
                    note: None,
                }
            });
            blocks.push(ReportBlock::Items(items.collect()));
        }
        let comment = judge.margin_comment.as_ref();
        blocks.extend(comment.map(|said| ReportBlock::Line(format!("The judge on the margin: {said}"))));
        Some(part("The judge", blocks))
    }

    /// How votes and judgements moved if there was more than one vote; in the full report every phase.
    fn rounds(&self) -> Vec<ReportSection> {
        let table = |rounds: &[&ArenaRound]| {
            let mut rows = table_head(&["Round", "Phase", "Absent", "Result"]);
            for round in rounds {
                let absent: Vec<String> = round.absent.iter().map(|name| attendee(name)).collect();
                let number = round.round.to_string();
                rows.push(vec![number, round.phase.as_str().into(), absent.join(", "), round_result(round)]);
            }
            vec![ReportBlock::Table(rows)]
        };
        let all: Vec<&ArenaRound> = self.verdict.rounds.iter().collect();
        let decisions: Vec<&ArenaRound> =
            all.iter().copied().filter(|round| round.phase.info().is_closing).collect();
        let votes = all.iter().filter(|round| round.phase == ArenaPhase::Vote).count();
        let mut sections = Vec::new();
        if votes > 1 {
            sections.push(part("The votes by round", table(&decisions)).only(ReportLength::Short));
        }
        if !all.is_empty() {
            sections.push(part("Round by round", table(&all)).only(ReportLength::Full));
        }
        sections
    }

    fn convergence(&self) -> Option<ReportSection> {
        let (checks, threshold) = (&self.verdict.convergence, self.verdict.convergence_threshold);
        let names: Vec<String> = (0..checks.len()).map(|place| check_name(checks, place)).collect();
        let points = checks.iter().zip(&names).map(|(check, name)| ChartPoint {
            round: name.clone(),
            tick: name.replace("Round ", "R").replace(CHALLENGED, "+"),
            first: check.agreement_min,
            second: check.stability_min,
        });
        let chart = RoundChart {
            names: ["agreement", "stability"],
            threshold: Some(threshold),
            axis_max: [1.0, 1.0],
            points: points.collect(),
        };
        let mut blocks = vec![ReportBlock::In(ReportLength::Full, vec![ReportBlock::Chart(chart)])];
        let bars = checks.iter().zip(&names).filter_map(|(check, name)| {
            let value = check.agreement_min?;
            Some(ReportBar { name: name.clone(), value, written: score(value) })
        });
        let bars: Vec<ReportBar> = bars.collect();
        if !bars.is_empty() {
            blocks.push(ReportBlock::Line(format!(
                "How similar the clerk finds the two proposals that differ most: 1 is the same, 0 a conflict. They have converged at {} \
                 or more, if nobody sees a conflict.",
                score(threshold)
            )));
            blocks.push(ReportBlock::Levels(LevelBars { bars, threshold: Some(threshold) }));
        }
        blocks.push(ReportBlock::Items(check_outcomes(checks, threshold)));
        if let Some(last) = checks.iter().rfind(|check| check.sorted_by.is_some()) {
            let line = format!("How the clerk relates the proposals of round {}:", last.round);
            let pairs = last.pairs.iter().map(pair_item).collect();
            blocks.push(ReportBlock::In(
                ReportLength::Full,
                vec![ReportBlock::Line(line), ReportBlock::Items(pairs)],
            ));
        }
        blocks.push(ReportBlock::In(ReportLength::Full, vec![check_table(checks, &names)]));
        (!checks.is_empty()).then(|| part("How the proposals came together", blocks))
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
        let found = if check.hollow { "hollow" } else { "not hollow" };
        let result = match (check.came_to, check.met) {
            (Some(ChallengeResult::Left), _) => "challenged, and the agreement was left",
            (Some(ChallengeResult::Unknown), _) => "challenged, and nobody said whether they still agree",
            (_, Some(true)) => "challenged, and the challenge was met",
            _ => "challenged, and the challenge was not met",
        };
        ReportBlock::Group {
            title: format!("Round {}{whose}: {found}", check.round),
            badges: check.challenged.then(|| result.to_owned()).into_iter().collect(),
            blocks: signal_blocks(check),
        }
    }

    fn rhetoric(&self) -> Option<ReportSection> {
        let all = self.verdict.rhetoric.as_ref()?;
        let of_kind = |kind: RhetoricKind| all.iter().filter(move |seen| seen.finding.kind == kind);
        let section = |blocks| Some(part("Rhetoric", blocks).folded());
        if all.is_empty() {
            let line =
                format!("The observer, which knows {LANGUAGES} phrases only, found nothing to report.");
            return section(vec![ReportBlock::Line(line)]);
        }
        let line = format!("Found by {LANGUAGES} phrases alone: hints for the reader, which decide nothing.");
        let mut blocks = vec![ReportBlock::Line(line)];
        let fallacies: Vec<ReportItem> = of_kind(RhetoricKind::Fallacy).map(rhetoric_item).collect();
        let more = fallacies.len().saturating_sub(FINDINGS_MAX);
        match fallacies.len() {
            0 => blocks.push(ReportBlock::Line("No fallacy was seen.".into())),
            _ if more > 1 => {
                let first = fallacies.iter().take(FINDINGS_MAX).cloned().collect();
                let line = ReportBlock::Line(format!("And {more} more: the full report has them."));
                blocks.push(ReportBlock::In(ReportLength::Short, vec![ReportBlock::Items(first), line]));
                blocks.push(ReportBlock::In(ReportLength::Full, vec![ReportBlock::Items(fallacies)]));
            }
            _ => blocks.push(ReportBlock::Items(fallacies)),
        }
        let patterns: Vec<&ArenaRhetoric> = of_kind(RhetoricKind::Pattern).collect();
        if !patterns.is_empty() {
            let total = counted(patterns.len() as u64, "pattern");
            blocks.push(ReportBlock::Line(format!("{total}: {}.", pattern_counts(&patterns))));
            let items = patterns.into_iter().map(rhetoric_item).collect();
            blocks.push(ReportBlock::In(ReportLength::Full, vec![ReportBlock::Items(items)]));
        }
        section(blocks)
    }

    /// What was found before the debate and who cites it; in the short report only what is cited.
    fn context(&self) -> Option<ReportSection> {
        let all = &self.verdict.context;
        let is_cited = |item: &&ArenaContext| !item.cited_by.is_empty();
        let cited: Vec<ReportItem> = all.iter().filter(is_cited).map(context_item).collect();
        let mut short = Vec::new();
        let uncited = (all.len() - cited.len()) as u64;
        let pieces = counted(uncited, if cited.is_empty() { "piece" } else { "other piece" });
        short.extend((!cited.is_empty()).then_some(ReportBlock::Items(cited)));
        short.extend(
            (uncited > 0)
                .then(|| ReportBlock::Line(format!("Nobody cites {pieces}, which the full report has."))),
        );
        let line =
            "Found before the debate and shown to the agents as untrusted material: nobody has checked it.";
        let full = vec![ReportBlock::Items(all.iter().map(context_item).collect())];
        let blocks = vec![
            ReportBlock::Line(line.into()),
            ReportBlock::In(ReportLength::Short, short),
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
        badges.extend((!conflicts.is_empty()).then(|| format!("in conflict with {}", agents(conflicts))));
        let texts = [&proposal.position, &proposal.proposal].into_iter().filter(|text| !text.is_empty());
        let mut blocks: Vec<ReportBlock> = texts.map(|text| ReportBlock::Prose(text.clone())).collect();
        let claims = proposal.claims.iter().map(|claim| ReportItem {
            who: None,
            text: claim.claim.trim().to_owned(),
            note: Some(match claim.evidence.trim() {
                "" => "No evidence given".into(),
                evidence => format!("Evidence: {evidence}"),
            }),
        });
        let claims: Vec<ReportItem> = claims.collect();
        blocks.extend((!claims.is_empty()).then_some(ReportBlock::Items(claims)));
        ReportBlock::Group { title: self.seated(&proposal.label), badges, blocks }
    }

    fn critiques(&self) -> Option<ReportSection> {
        let groups: Vec<ReportBlock> = self.verdict.critiques.iter().map(critique_group).collect();
        let section =
            || part("Critiques and how they were addressed", groups).folded().only(ReportLength::Full);
        (!self.verdict.critiques.is_empty()).then(section)
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
                signed(rated.change),
            ]);
        }
        let mut blocks = vec![ReportBlock::Table(rows)];
        blocks.extend(agents_rated_twice(ratings).into_iter().map(|agent| {
            ReportBlock::Line(format!(
                "{agent} sits more than once: its seats share one rating, to which all of their changes add."
            ))
        }));
        (!ratings.is_empty()).then(|| part("Ratings", blocks).folded())
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
fn agent(label: &str) -> String {
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

/// "2 votes for Agent A, 1 vote for Agent B and 1 abstention".
fn tally_sentence(groups: &[ArenaTally], ballots: &[ArenaBallot]) -> String {
    let groups = groups.iter().filter(|group| group.votes > 0);
    let mut parts: Vec<String> = groups
        .map(|group| format!("{} for {}", counted(group.votes as u64, "vote"), agents(&group.labels)))
        .collect();
    let abstained = abstentions(ballots) as u64;
    parts.extend((abstained > 0).then(|| counted(abstained, "abstention")));
    if parts.is_empty() { "nobody voted".into() } else { joined(&parts) }
}

/// "the judge puts Agent A first, 1.00 points ahead", or what the tie is between.
fn first_place(judge: &ArenaJudgement) -> String {
    match (&judge.top, judge.consistent) {
        (Some(top), consistent) => {
            let both = if consistent == Some(true) { " in both orders" } else { "" };
            format!("the judge puts {} first{both}, {} points ahead", agent(top), score(judge.margin))
        }
        (None, Some(false)) => format!(
            "the judge's first place depends on the order in which it read the proposals, which is a tie between {}",
            agents(&judge.first)
        ),
        (None, _) => format!("the judge's first place is a tie between {}", agents(&judge.first)),
    }
}

/// What the judge puts first, who judged, and whether the vote agrees.
fn judge_sentence(judge: &ArenaJudgement) -> String {
    let agreement = match judge.agrees_with_vote {
        Some(true) => " That agrees with the vote.",
        Some(false) => " That does not agree with the vote.",
        None => "",
    };
    let model =
        if judge.model.is_empty() { String::new() } else { format!(" (The judge is {}.)", judge.model) };
    format!("{}.{agreement}{model}", capitalized(&first_place(judge)))
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
        ArenaRoundResult::Judgement { judge_top, margin, .. } => match (judge_top, margin) {
            (Some(top), Some(margin)) => format!("{} first, {} ahead", agent(top), score(*margin)),
            (Some(top), None) => format!("{} first", agent(top)),
            (None, Some(_)) => "a tie".into(),
            (None, None) => "not heard".into(),
        },
        ArenaRoundResult::Proposals { .. } | ArenaRoundResult::Nothing {} => String::new(),
    }
}

/// What follows the name of a round's second check.
const CHALLENGED: &str = ", challenged";

/// A round is checked again after a challenge of the trickster.
fn is_second_check(checks: &[ArenaCheck], place: usize) -> bool {
    let round = checks.get(place).map(|check| check.round);
    checks.iter().take(place).any(|check| Some(check.round) == round)
}

fn check_name(checks: &[ArenaCheck], place: usize) -> String {
    let round = checks.get(place).map(|check| check.round).unwrap_or_default();
    format!("Round {round}{}", if is_second_check(checks, place) { CHALLENGED } else { "" })
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
    let quotes: Vec<String> = pair
        .quotes
        .iter()
        .map(|one| format!("{}: \u{201c}{}\u{201d}", agent(&one.label), one.quote))
        .collect();
    ReportItem {
        who: Some(format!("{} and {}", agent(&pair.a), agent(&pair.b))),
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

/// What each check came to. Consecutive rounds that came to the same share a line.
fn check_outcomes(checks: &[ArenaCheck], threshold: f64) -> Vec<ReportItem> {
    struct OutcomeLine {
        rounds: Vec<u32>,
        text: String,
        /// Whether it is only about the answers to a challenge.
        only_second: bool,
        /// Whether a challenge changed nothing.
        both: bool,
    }
    let mut lines: Vec<OutcomeLine> = Vec::new();
    for (place, check) in checks.iter().enumerate() {
        let (text, second) = (check_outcome(check, threshold), is_second_check(checks, place));
        match lines.last_mut().filter(|line| line.text == text && !line.only_second) {
            Some(line) if second => line.both = true,
            Some(line) => line.rounds.push(check.round),
            None => {
                lines.push(OutcomeLine { rounds: vec![check.round], text, only_second: second, both: false })
            }
        }
    }
    let item = |line: OutcomeLine| {
        let who = match line.rounds.as_slice() {
            [only] if line.only_second => format!("Round {only}{CHALLENGED}"),
            [only] if line.both => format!("Round {only}, before and after the challenge"),
            all => capitalized(&rounds(all)),
        };
        ReportItem { who: Some(who), text: line.text, note: None }
    };
    lines.into_iter().map(item).collect()
}

/// "converged", or everything that stood against it.
fn check_outcome(check: &ArenaCheck, threshold: f64) -> String {
    if check.converged {
        return "converged".into();
    }
    if check.sorted_by.is_none() {
        return "not converged: the clerk was absent, so it is not known how the proposals relate".into();
    }
    let pairs = |wanted: Option<PairRelation>| -> Vec<String> {
        let found = check.pairs.iter().filter(|pair| pair.relation == wanted);
        found.map(|pair| format!("{} and {}", agent(&pair.a), agent(&pair.b))).collect()
    };
    let mut against = Vec::new();
    let (conflicts, unknown) = (pairs(Some(PairRelation::Conflict)), pairs(None));
    if !conflicts.is_empty() {
        against.push(format!("the clerk sees a conflict between {}", conflicts.join(", and between ")));
    } else if check.agreement_min.is_some_and(|least| least < threshold) {
        against.push("not similar enough".into());
    }
    if !unknown.is_empty() {
        against.push(format!("it is not known how these relate: {}", unknown.join("; ")));
    }
    for (place, [one, other]) in check.conflicts.iter().enumerate() {
        let is_reverse = |pair: &[String; 2]| pair[0] == *other && pair[1] == *one;
        // A conflict that both sides declare is told once.
        if check.conflicts.iter().take(place).any(is_reverse) {
            continue;
        }
        let (one, other) = (agent(one), agent(other));
        against.push(match check.conflicts.iter().any(is_reverse) {
            true => format!("{one} and {other} declare a conflict with each other"),
            false => format!("{one} declares a conflict with {other}"),
        });
    }
    if against.is_empty() { "not converged".into() } else { against.join("; ") }
}

/// The signals of an agreement, what still fired after a challenge, and the words that the signals rest on.
fn signal_blocks(check: &ArenaAgreement) -> Vec<ReportBlock> {
    let mut rows = table_head(&["Signal", "Share", "Fires from", "Fired"]);
    for signal in &check.signals {
        let fired = if signal.fired { "yes" } else { "no" };
        let share = signal.value.map_or_else(|| "nothing to look at".into(), score);
        let cells = [signal.signal.about(), &share, &score(signal.threshold), fired];
        rows.push(cells.map(str::to_owned).to_vec());
    }
    let mut blocks = vec![ReportBlock::Table(rows)];
    if let Some(after) = &check.after {
        let still = after.iter().filter(|signal| signal.fired);
        let still: Vec<String> = still.map(|signal| signal.signal.about().to_lowercase()).collect();
        let still = if still.is_empty() { "nothing".to_owned() } else { joined(&still) };
        blocks.push(ReportBlock::Line(format!("What still fired after the challenge: {still}.")));
    }
    let fired = check.signals.iter().filter(|signal| signal.fired);
    let short: Vec<ReportItem> = fired.filter_map(|signal| quote_item(signal, QUOTES_MAX)).collect();
    let full: Vec<ReportItem> =
        check.signals.iter().filter_map(|signal| quote_item(signal, usize::MAX)).collect();
    for (length, items) in [(ReportLength::Short, short), (ReportLength::Full, full)] {
        blocks.extend((!items.is_empty()).then(|| ReportBlock::In(length, vec![ReportBlock::Items(items)])));
    }
    blocks
}

/// The words that a signal rests on, at most so many.
fn quote_item(signal: &WeaknessSignal, quotes_max: usize) -> Option<ReportItem> {
    let shown = signal.quotes.iter().take(quotes_max);
    let shown: Vec<String> =
        shown.map(|quote| format!("{}, \u{201c}{}\u{201d}", agent(&quote.label), quote.quote)).collect();
    let more = (signal.quotes.len() - shown.len()) as u64;
    let item = ReportItem {
        who: Some(signal.signal.about().to_owned()),
        text: shown.join("; "),
        note: (more > 0).then(|| format!("And {}, in the full report.", counted(more, "other quotation"))),
    };
    (!shown.is_empty()).then_some(item)
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

/// "3 concession, 2 hedging", the most frequent first.
fn pattern_counts(patterns: &[&ArenaRhetoric]) -> String {
    let mut counts: Vec<(String, u64)> = Vec::new();
    for name in patterns.iter().map(|seen| agon_core::wording::spoken(&seen.finding.name)) {
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    counts.sort_by(|(one, few), (other, many)| many.cmp(few).then(one.cmp(other)));
    counts.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
}

fn context_item(piece: &ArenaContext) -> ReportItem {
    let item = &piece.item;
    let title = match item.title.trim() {
        "" => String::new(),
        title if title.ends_with(char::is_alphanumeric) => format!("{title}: "),
        title => format!("{title} "),
    };
    let mut notes = vec![match piece.cited_by.as_slice() {
        [] => "Cited by nobody".to_owned(),
        by => format!("Cited by {}", agents(by)),
    }];
    notes.extend((!item.source.trim().is_empty()).then(|| format!("from {}", item.source.trim())));
    notes.extend(item.at.as_deref().map(|at| at.split('T').next().unwrap_or(at).to_owned()));
    notes.extend(item.turned_out.map(|how| format!("turned out {}", how.as_str())));
    notes.extend(item.agent.as_deref().map(|agent| format!("shown only to {agent}")));
    ReportItem {
        who: Some(format!("[{}] {}", item.id, heading(item.kind.as_str()))),
        text: format!("{title}{}", item.text),
        note: Some(notes.join("; ")),
    }
}

fn critique_group(critique: &ArenaCritiqueEntry) -> ReportBlock {
    let (from, to) = (agent(&critique.from), agent(&critique.to));
    let mut badges: Vec<String> = Vec::new();
    badges.extend(critique.severity.map(|severity| format!("severity {}", score(severity))));
    badges.push(match critique.verdict.as_ref().map(|verdict| verdict.status) {
        Some(CritiqueStatus::Resolved) => "resolved".into(),
        Some(CritiqueStatus::Unresolved) => "unresolved".into(),
        None => "not judged by its author".into(),
    });
    let mut pairs = Vec::new();
    for (name, texts) in [("Issue", &critique.issues), ("Suggestion", &critique.suggestions)] {
        let texts = texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
        pairs.extend(texts.map(|text| (name.to_owned(), text.to_owned())));
    }
    pairs.extend(critique.addressed.as_ref().map(|how| (format!("{to} answers"), how.clone())));
    let why = critique.verdict.as_ref().map(|verdict| verdict.why.trim()).filter(|why| !why.is_empty());
    pairs.extend(why.map(|why| (format!("{from} on the revision"), why.to_owned())));
    ReportBlock::Group {
        title: format!("[{}] {from} on {to}, round {}", critique.id, critique.round),
        badges,
        blocks: vec![ReportBlock::Pairs(pairs)],
    }
}

/// The agents that are rated in more than one seat, each once.
fn agents_rated_twice(ratings: &[ArenaRating]) -> Vec<&str> {
    let mut twice: Vec<&str> = Vec::new();
    for (place, rated) in ratings.iter().enumerate() {
        let sits_again = ratings.iter().take(place).any(|other| other.agent == rated.agent);
        if sits_again && !twice.contains(&rated.agent.as_str()) {
            twice.push(&rated.agent);
        }
    }
    twice
}

/// A change with its sign; no change has none.
fn signed(change: f64) -> String {
    match format!("{change:+.1}") {
        zero if matches!(zero.as_str(), "+0.0" | "-0.0") => "0.0".into(),
        written => written,
    }
}
