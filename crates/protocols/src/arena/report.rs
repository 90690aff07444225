//! The report: the decision and how it came about, then the votes, the judge, how the proposals converged, what the trickster and the
//! observer found, what was read and cited, and the team and its ratings. The full report adds every proposal and critique.

use agon_core::wording::{capitalized, counted, heading, joined, rounds, score, seat_name};
use agon_core::{
    ChartPoint, Debate, LevelBars, Outline, ReportBar, ReportBlock, ReportItem, ReportLength, ReportSection,
    RoundChart, SectionKind, Status, Termination, VerdictTone,
};

use super::ArenaPhase;
use super::PROPOSALS_MIN;
use super::ballots::ABSTAIN;
use super::closing::ArenaDissent;
use super::convergence::THRESHOLD_TOLERANCE;
use super::options::{ConsensusRule, DecidedBy};
use super::rhetoric::RhetoricKind;
use super::team::SeatingReason;
use super::trickster::{ChallengeResult, SignalKind, WeaknessSignal};
use super::verdict::{
    ArenaAgreement, ArenaBallot, ArenaCheck, ArenaContext, ArenaCritiqueEntry, ArenaJudgement, ArenaProposal,
    ArenaRating, ArenaRhetoric, ArenaRound, ArenaRoundResult, ArenaTally, ArenaVerdict,
};

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
        Outline { answer: vec![self.decision()], details, ..Outline::default() }
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
                "{} propose the same in substance, so votes for any of them count together.",
                agents(&group.labels)
            )
        }));
        sentences.push(match &self.verdict.judge {
            None => "No judge was heard.".to_owned(),
            Some(judge) => match (&judge.top, judge.agrees_with_vote) {
                (_, Some(true)) => "The judge agrees.".to_owned(),
                (Some(top), _) => format!("The judge does not agree: it puts {} first.", agent(top)),
                (None, _) => "The judge names no best: its two orders contradict each other.".to_owned(),
            },
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
                    "The vote ({tally}) does not count, because it rests on little: {}.",
                    self.why_hollow()
                )
            }
            _ if consensus.reached => {
                let article = if consensus.kind == ConsensusRule::Unanimous { "" } else { "a " };
                format!(
                    "The vote reached {article}{kind} ({tally}), but the judge was to decide, and it names no best."
                )
            }
            _ => format!("The vote reached no {kind}: {tally}. {}", self.judge_without_majority()),
        }
    }

    fn why_hollow(&self) -> &'static str {
        let last = self.verdict.trickster.as_ref().and_then(|trickster| trickster.checks.last());
        match last.map(|check| (check.came_to, check.challenged)) {
            Some((Some(ChallengeResult::Unmeasured), _)) => {
                "nothing could be measured after the trickster's challenge"
            }
            Some((None, false)) => "no round was left for the trickster's challenge",
            _ => "the trickster's challenge was not met",
        }
    }

    /// What the judge says if the vote decides nothing.
    fn judge_without_majority(&self) -> String {
        let Some(judge) = &self.verdict.judge else { return "No judge was heard.".into() };
        match &judge.top {
            Some(top) => {
                let ahead = score(judge.margin);
                format!("The judge puts {} first, {ahead} points ahead, but the vote decides.", agent(top))
            }
            None => "The judge names no best either: its two orders contradict each other.".into(),
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
        let mut rows = table_head(&["Place", "Agent", "Score", "Reasons"]);
        for (place, label) in (1..).zip(&judge.ranking) {
            let scored = judge.scores.iter().find(|scored| scored.label == *label);
            let figure = scored.map(|scored| score(scored.score)).unwrap_or_default();
            let reasons = scored.map(|scored| scored.reasons.join(" ")).unwrap_or_default();
            rows.push(vec![place.to_string(), self.seated(label), figure, reasons]);
        }
        let mut blocks = vec![ReportBlock::Line(judge_sentence(judge)), ReportBlock::Table(rows)];
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
                "The similarity of the two proposals that differ most; 1 means the same. At {} or more, and if nobody sees a \
                 conflict, they have converged.",
                score(threshold)
            )));
            blocks.push(ReportBlock::Levels(LevelBars { bars, threshold: Some(threshold) }));
        }
        blocks.push(ReportBlock::In(ReportLength::Full, vec![check_table(checks, &names)]));
        blocks.push(ReportBlock::Items(check_outcomes(checks, threshold)));
        (!checks.is_empty()).then(|| part("How alike the proposals were", blocks))
    }

    fn trickster(&self) -> Option<ReportSection> {
        let checks = &self.verdict.trickster.as_ref()?.checks;
        let mut blocks: Vec<ReportBlock> = checks.iter().map(|check| self.agreement(check)).collect();
        if blocks.is_empty() {
            let line = "The trickster had nothing to look at: there was never enough agreement.";
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
            (Some(ChallengeResult::Unmeasured), _) => "challenged, and nothing could be measured after it",
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
            return section(vec![ReportBlock::Line("The observer found nothing to report.".into())]);
        }
        let line = "Found by words alone: hints for the reader, which decide nothing.";
        let mut blocks = vec![ReportBlock::Line(line.into())];
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
    if label.chars().count() > 2 { seat_name(label) } else { format!("Agent {label}") }
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

/// Whom the judge puts first, how clearly, and whether the vote agrees.
fn judge_sentence(judge: &ArenaJudgement) -> String {
    let model = if judge.model.is_empty() { "The judge" } else { &judge.model };
    let margin = score(judge.margin);
    let first = match (&judge.top, judge.consistent) {
        (Some(top), Some(true)) => {
            format!("{model} puts {} first in both orders, {margin} points ahead.", agent(top))
        }
        (Some(top), _) => format!("{model} puts {} first, {margin} points ahead.", agent(top)),
        (None, _) => {
            format!(
                "{model} puts a different agent first in each of the two orders: that is a tie, and nobody is best."
            )
        }
    };
    let agreement = match judge.agrees_with_vote {
        Some(true) => " That agrees with the vote.",
        Some(false) => " That does not agree with the vote.",
        None => "",
    };
    format!("{first}{agreement}")
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
            let alike =
                agreement_min.map_or("not measured".into(), |alike| format!("{} alike", score(alike)));
            format!("{alike}{}", if *converged { ", converged" } else { "" })
        }
        ArenaRoundResult::Vote { votes, tally, .. } => tally_sentence(tally, votes),
        ArenaRoundResult::Judgement { judge_top, margin, .. } => match (judge_top, margin) {
            (Some(top), Some(margin)) => format!("{} first, {} ahead", agent(top), score(*margin)),
            (Some(top), None) => format!("{} first", agent(top)),
            (None, Some(_)) => "nobody first: the orders contradict each other".into(),
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
    let head = ["Round", "Agreement, least", "Mean", "Stability, least", "Mean", "Converged", "Measured by"];
    let mut rows = table_head(&head);
    for (check, name) in checks.iter().zip(names) {
        let figures = [check.agreement_min, check.agreement_mean, check.stability_min, check.stability_mean];
        let mut row = vec![name.clone()];
        row.extend(figures.map(|figure| figure.map_or_else(|| "unknown".into(), score)));
        row.push(if check.converged { "yes" } else { "no" }.into());
        row.push(check.measured_by.clone().unwrap_or_else(|| "nobody".into()));
        rows.push(row);
    }
    ReportBlock::Table(rows)
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
    let mut against = Vec::new();
    match check.agreement_min {
        None => against.push("it could not be measured how alike they are".to_owned()),
        Some(least) if least < threshold - THRESHOLD_TOLERANCE => against.push("not alike enough".into()),
        Some(_) => {}
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
    for [one, other] in &check.opposed {
        let (one, other) = (agent(one), agent(other));
        against.push(format!("the positions of {one} and {other} oppose each other by words or figures"));
    }
    if !check.undeclared.is_empty() {
        let (has, it) = if check.undeclared.len() == 1 { ("has", "it sees") } else { ("have", "they see") };
        against.push(format!("{} {has} not said whether {it} a conflict", agents(&check.undeclared)));
    }
    if against.is_empty() { "not converged".into() } else { against.join("; ") }
}

fn signal_name(signal: SignalKind) -> &'static str {
    match signal {
        SignalKind::Uncited => "Claims without evidence",
        SignalKind::Unspecific => "Evidence that nobody can check",
        SignalKind::NearCopies => "Near copies of each other",
        SignalKind::NoReasons => "No reasons given",
    }
}

/// The signals of an agreement, what still fired after a challenge, and the words that the signals rest on.
fn signal_blocks(check: &ArenaAgreement) -> Vec<ReportBlock> {
    let mut rows = table_head(&["Signal", "Share", "Fires from", "Fired"]);
    for signal in &check.signals {
        let fired = if signal.fired { "yes" } else { "no" };
        let cells = [signal_name(signal.signal), &score(signal.value), &score(signal.threshold), fired];
        rows.push(cells.map(str::to_owned).to_vec());
    }
    let mut blocks = vec![ReportBlock::Table(rows)];
    if let Some(after) = &check.after {
        let still = after.iter().filter(|signal| signal.fired);
        let still: Vec<String> = still.map(|signal| signal_name(signal.signal).to_lowercase()).collect();
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
        who: Some(signal_name(signal.signal).to_owned()),
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
    badges.push(if critique.addressed.is_some() { "addressed" } else { "not addressed" }.into());
    let mut pairs = Vec::new();
    for (name, texts) in [("Issue", &critique.issues), ("Suggestion", &critique.suggestions)] {
        let texts = texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
        pairs.extend(texts.map(|text| (name.to_owned(), text.to_owned())));
    }
    pairs.extend(critique.addressed.as_ref().map(|how| (format!("{to} answers"), how.clone())));
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
