//! The report: the decision, what it rests on and what is still open; then tables of what was said, in the order of the rounds; then
//! everything that was written. A row or a list item shows what the log has, with its round and its author.

use agon_core::wording::{capitalized, counted, excerpt, heading, joined, score, seat_name, sentences};
use agon_core::{
    Outline, ReportBlock, ReportItem, ReportLength, ReportSection, RoundSummary, SectionKind, Status,
    VerdictTone,
};

use super::context::ContextKind;
use super::convergence::{ComparedPair, ConvergenceCheck};
use super::log::{ArenaCritique, ArenaLog, CritiqueSource, CritiqueStep, agent_name};
use super::replies::{CriteriaScores, PairRelation, ProposalClaim};
use super::rhetoric::LANGUAGES;
use super::team::SeatingReason;
use super::trickster::{ArenaAgreement, ChallengeResult};
use super::verdict::{ArenaContext, ArenaRhetoric, ArenaVerdict, PhaseResult, attendance, phase_results};
use super::voting::{ABSTAIN, ArenaBallot, ArenaTally, JudgeResult, is_quorum};
use super::{ConsensusRule, PROPOSALS_MIN};

/// The report of a debate with this verdict.
pub(super) struct ArenaReport<'a> {
    pub(super) log: &'a ArenaLog<'a>,
    pub(super) verdict: &'a ArenaVerdict,
}

impl ArenaReport<'_> {
    /// The outline. Of a debate that is not over it has only sections that do not say who is behind which label.
    pub(super) fn outline(&self) -> Outline {
        let meanwhile = vec![self.convergence(), self.trickster(), self.rhetoric()];
        if self.log.debate.outcome.is_none() {
            let details = meanwhile.into_iter().chain([self.critiques()]);
            return Outline { details: details.flatten().collect(), ..Outline::default() };
        }
        let decided = [self.vote(), self.judge(), self.rounds()].into_iter();
        let rest = [self.context(), self.proposals(), self.critiques(), self.team()];
        Outline {
            answer: vec![self.decision()],
            body: [self.claims(), self.open_critiques()].into_iter().flatten().collect(),
            details: decided.chain(meanwhile).chain(rest).flatten().collect(),
            ..Outline::default()
        }
    }

    /// An agent with its seat.
    fn seated(&self, label: &str) -> String {
        let seat = self.log.debate.outcome.as_ref().and_then(|outcome| outcome.labels.get(label));
        seat.map_or_else(|| agent(label), |seat| format!("{} ({seat})", agent(label)))
    }

    fn is_complete(&self) -> bool {
        self.log.debate.outcome.as_ref().is_some_and(|outcome| outcome.status == Status::Complete)
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

    /// A decision is good news if the debate is complete and vote and judge agree.
    pub(super) fn tone(&self) -> VerdictTone {
        let agree = self.verdict.judge.as_ref().and_then(|judge| judge.agrees_with_vote) == Some(true);
        let is_sure = self.verdict.winner.is_some() && self.is_complete() && agree;
        if is_sure { VerdictTone::Good } else { VerdictTone::Warn }
    }

    /// What the vote and the judge came to, whether they agree, and what else a reader must know of how it ended.
    pub(super) fn reason(&self) -> String {
        let verdict = self.verdict;
        let has_quorum = is_quorum(verdict.consensus.cast, verdict.consensus.agents);
        let mut sentences = vec![self.vote_result(has_quorum)];
        match &verdict.judge {
            Some(judge) => {
                sentences.push(format!("{}.", capitalized(&first_place(judge))));
                let by = verdict.decided_by.unwrap_or(self.log.options.decide).as_str();
                sentences.push(match judge.agrees_with_vote {
                    Some(true) => "Vote and judge agree.".to_owned(),
                    Some(false) => format!("Vote and judge differ; the {by} decides."),
                    None => format!("The {by} decides."),
                });
            }
            None => sentences.extend(has_quorum.then(|| "No judge was heard.".to_owned())),
        }
        let early = verdict.early_consensus;
        sentences.extend(early.map(|round| format!("The proposals converged in round {round}.")));
        let idle = verdict.idle_revision;
        let ended = "changed no proposal and brought no new critique, so the revisions ended there.";
        sentences.extend(idle.map(|round| format!("Round {round} {ended}")));
        let extended = u64::from(verdict.extended_rounds);
        sentences.extend((extended > 0).then(|| format!("It took {}.", counted(extended, "extended round"))));
        if verdict.winner.is_some() && !self.is_complete() {
            sentences.push("The debate is incomplete.".into());
        }
        sentences.join(" ")
    }

    /// "2 votes for Agent A and 1 vote for Agent B: a majority (67%).", or why there are no votes that count.
    fn vote_result(&self, has_quorum: bool) -> String {
        let (votes, consensus) = (&self.verdict.votes, &self.verdict.consensus);
        if self.verdict.proposals.len() < PROPOSALS_MIN {
            return "Fewer than two agents made a proposal.".into();
        }
        if votes.is_empty() {
            return "Nobody voted.".into();
        }
        let tally = tally_sentence(&self.verdict.tally, votes);
        let (article, kind) = match consensus.kind {
            ConsensusRule::Majority => ("a ", "majority"),
            ConsensusRule::Supermajority => ("a ", "two-thirds majority"),
            ConsensusRule::Unanimous => ("", "unanimity"),
        };
        let share = consensus.share.map_or(String::new(), |share| format!(" ({:.0}%)", 100.0 * share));
        match (has_quorum, consensus.hollow, consensus.reached) {
            (false, ..) => format!("{tally}: half of {} agents must vote for a proposal.", consensus.agents),
            (_, true, _) => format!("{tally}: hollow, so that it does not count."),
            (.., true) => format!("{tally}: {article}{kind}{share}."),
            (.., false) => format!("{tally}: no {kind}."),
        }
    }

    /// The claims of the winning proposal, which may refer to them. The full report has them with the proposals.
    fn claims(&self) -> Option<ReportSection> {
        let winner = self.log.place(self.verdict.winner.as_ref()?)?;
        let claims = &self.log.proposal(winner)?.said.now.claims;
        let blocks = vec![claim_items(claims, self.log)];
        (!claims.is_empty()).then(|| part("What it rests on", blocks).only(ReportLength::Short))
    }

    /// The critiques of the winning proposal that the critics have not called resolved, with the last answer to each and the last verdict.
    fn open_critiques(&self) -> Option<ReportSection> {
        let open = self.log.critiques.iter().filter(|one| self.verdict.unresolved.contains(&one.id));
        let item = |critique: &ArenaCritique| {
            let last = [critique.answer(), critique.verdict()].into_iter().flatten().map(|step| {
                let name = step_name(critique, step, self.log);
                if step.text().is_empty() { name } else { format!("{name}: {}", step.text()) }
            });
            let last: Vec<String> = last.collect();
            let severity = critique.severity.unwrap_or_default();
            let from = agent(critique.author(self.log));
            ReportItem {
                who: Some(format!(
                    "[{}] {from}, round {}, severity {}",
                    critique.id,
                    critique.round,
                    score(severity)
                )),
                text: sentences(&[&critique.issues[..], &critique.suggestions].concat()),
                note: Some(if last.is_empty() { "No answer".to_owned() } else { last.join("\n") }),
            }
        };
        let items: Vec<ReportItem> = open.map(item).collect();
        let line = "Critiques of the decision that the critics have not called resolved:";
        let blocks = || vec![ReportBlock::Line(line.into()), ReportBlock::Items(items.clone())];
        (!items.is_empty()).then(|| part("What is still open", blocks()))
    }

    fn vote(&self) -> Option<ReportSection> {
        let votes = &self.verdict.votes;
        (!votes.is_empty()).then(|| part("Votes", vec![ReportBlock::Table(self.vote_rows(votes))]))
    }

    fn vote_rows(&self, ballots: &[ArenaBallot]) -> Vec<Vec<String>> {
        let mut rows = table_head(&["Voter", "Choice", "Confidence", "Reason"]);
        for ballot in ballots {
            let choice = match ballot.choice.as_str() {
                ABSTAIN => "abstains".to_owned(),
                label if ballot.own => format!("{} (its own)", agent(label)),
                label => agent(label),
            };
            let confidence = score(ballot.confidence);
            rows.push(vec![self.seated(&ballot.label), choice, confidence, ballot.reason.clone()]);
        }
        rows
    }

    /// The scores, in each order if there were two, and the reasons for them.
    fn judge(&self) -> Option<ReportSection> {
        let judge = self.verdict.judge.as_ref()?;
        let orders: Vec<String> = match judge.orders.len() {
            0 | 1 => Vec::new(),
            count => (1..=count).map(|order| format!("Order {order}")).collect(),
        };
        let orders: Vec<&str> = orders.iter().map(String::as_str).collect();
        let mut rows = table_head(&[&["Agent", "Score"], &orders[..], &["Reasons"]].concat());
        let mut criteria = table_head(&[&["Agent"], &CriteriaScores::NAMES[..]].concat());
        let scored = |label: &String| judge.scores.iter().find(|scored| scored.label == *label);
        for scored in judge.ranking.iter().filter_map(scored) {
            let (label, reasons) = (&scored.label, scored.reasons.join("; "));
            let all = judge.orders.iter().take(orders.len()).flat_map(|order| &order.scores);
            let in_orders: Vec<String> =
                all.filter(|one| one.label == *label).map(|one| score(one.score)).collect();
            rows.push([vec![self.seated(label), score(scored.score)], in_orders, vec![reasons]].concat());
            let figures = scored.criteria.list().map(|figure| format!("{figure:.1}"));
            criteria.push([vec![agent(label)], figures.to_vec()].concat());
        }
        let mut blocks = vec![
            ReportBlock::Table(rows),
            ReportBlock::In(ReportLength::Full, vec![ReportBlock::Table(criteria)]),
            ReportBlock::Line(format!("Judge: {}.", judge.model)),
        ];
        let comment = judge.margin_comment.as_ref();
        blocks.extend(comment.map(|said| ReportBlock::Line(format!("The judge on the margin: {said}"))));
        Some(part("The judge", blocks))
    }

    /// Every phase.
    fn rounds(&self) -> Option<ReportSection> {
        let mut rows = table_head(&["Round", "Phase", "Absent", "Result"]);
        for (turn, phase, result) in phase_results(self.log) {
            let absent = attendance(self.log, turn, false, agent).join(", ");
            let (round, result) = (turn.phase.round.to_string(), round_result(self.log, &result));
            rows.push(vec![round, phase.as_str().into(), absent, result]);
        }
        let section = || part("Round by round", vec![ReportBlock::Table(rows.clone())]);
        (rows.len() > 1).then(|| section().only(ReportLength::Full))
    }

    /// What each sorting came to, and how it relates every two proposals.
    fn convergence(&self) -> Option<ReportSection> {
        let checks = &self.verdict.convergence;
        let line = format!(
            "Score: how similar the clerk finds the two least similar proposals, 0 for a conflict. Converged: {} or more, and no declared \
             conflict.",
            score(self.verdict.convergence_threshold)
        );
        let blocks = vec![
            ReportBlock::Line(line),
            ReportBlock::Table(check_rows(checks)),
            ReportBlock::Table(pair_rows(checks)),
        ];
        (!checks.is_empty()).then(|| part("How the proposals came together", blocks))
    }

    fn trickster(&self) -> Option<ReportSection> {
        let checks = &self.verdict.trickster.as_ref()?.checks;
        let nothing = "The proposals did not converge, and no vote had a winner.";
        let blocks = match checks.is_empty() {
            true => vec![ReportBlock::Line(nothing.into())],
            false => checks.iter().map(agreement_group).collect(),
        };
        Some(part("Hollow consensus", blocks))
    }

    fn rhetoric(&self) -> Option<ReportSection> {
        let all = self.verdict.rhetoric.as_ref()?;
        let line = match all.is_empty() {
            true => format!("The observer, which knows {LANGUAGES} phrases only, found nothing."),
            false => format!("Found by {LANGUAGES} phrases alone: hints, which decide nothing."),
        };
        let items = all.iter().map(rhetoric_item).collect();
        Some(part("Rhetoric", vec![ReportBlock::Line(line), ReportBlock::Items(items)]).folded())
    }

    /// What was found before the debate, and who cites it. What the person attached has a section of its own, in every protocol.
    fn context(&self) -> Option<ReportSection> {
        let found = self.verdict.context.iter().filter(|piece| piece.item.kind != ContextKind::Attached);
        let items: Vec<ReportItem> = found.map(context_item).collect();
        let line =
            "Found before the debate and shown to the agents as untrusted material: nobody has checked it.";
        let blocks = || vec![ReportBlock::Line(line.into()), ReportBlock::Items(items.clone())];
        let section = || part("What they were given to read", blocks()).folded().only(ReportLength::Full);
        (!items.is_empty()).then(section)
    }

    fn proposals(&self) -> Option<ReportSection> {
        let places = self.log.proposers().into_iter();
        let groups: Vec<ReportBlock> = places.filter_map(|place| self.proposal(place)).collect();
        let is_empty = groups.is_empty();
        let section = || part("Final proposals", groups).folded().only(ReportLength::Full);
        (!is_empty).then(section)
    }

    fn proposal(&self, place: usize) -> Option<ReportBlock> {
        let held = self.log.proposal(place)?;
        let mut badges = vec![format!("confidence {}", score(held.said.now.confidence))];
        badges.extend(held.carried.then(|| "carried: absent in the last revision".to_owned()));
        let conflicts = self.log.names(&held.conflicts);
        badges.extend((!conflicts.is_empty()).then(|| format!("declares a conflict with {conflicts}")));
        let texts = [&held.said.now.position, &held.said.now.proposal]
            .map(String::clone)
            .into_iter()
            .filter(|text| !text.is_empty());
        let mut blocks: Vec<ReportBlock> = texts.map(ReportBlock::Prose).collect();
        blocks.push(claim_items(&held.said.now.claims, self.log));
        Some(ReportBlock::Group { title: self.seated(self.log.label(place)), badges, blocks })
    }

    fn critiques(&self) -> Option<ReportSection> {
        let all = &self.log.critiques;
        let groups: Vec<ReportBlock> =
            all.iter().map(|critique| critique_group(critique, self.log)).collect();
        let section = || part("Critiques and what became of them", groups).folded().only(ReportLength::Full);
        (!all.is_empty()).then(section)
    }

    /// Who sits and why, and the ratings; in the short report only if an agent was picked or a rating changed.
    fn team(&self) -> Option<ReportSection> {
        let (team, ratings) = (&self.verdict.team, &self.verdict.ratings);
        let mut rows = table_head(&["Agent", "Model", "Why", "Games", "Brier", "Rating", "After", "Change"]);
        for member in team {
            let why = match member.why {
                SeatingReason::Named => "named",
                SeatingReason::Rated => "picked by rating and calibration",
                SeatingReason::Explored => "drawn, to learn more about it",
            };
            let seated = self.log.agents.iter().find(|agent| agent.seat.id == member.seat);
            let rated = ratings.iter().find(|rated| rated.seat == member.seat);
            rows.push(vec![
                self.seated(seated.map_or("", |agent| &agent.label)),
                rated.map_or(&member.agent, |rated| &rated.agent).clone(),
                why.to_owned(),
                member.games.to_string(),
                member.brier.map_or_else(|| "unknown".into(), |brier| format!("{brier:.3}")),
                format!("{:.1}", rated.map_or(member.rating, |rated| rated.before)),
                rated.map_or_else(|| "-".into(), |rated| format!("{:.1}", rated.after)),
                rated.map_or_else(|| "-".into(), |rated| format!("{:+.1}", rated.change + 0.0)),
            ]);
        }
        let is_news = !ratings.is_empty() || team.iter().any(|member| member.why != SeatingReason::Named);
        let shown = if is_news { ReportLength::Any } else { ReportLength::Full };
        let section =
            || part("The team and its ratings", vec![ReportBlock::Table(rows)]).folded().only(shown);
        (!team.is_empty()).then(section)
    }

    /// A table for every comparison, vote and judgement that is complete.
    pub(super) fn round_summaries(&self) -> Vec<RoundSummary> {
        let mut summaries = Vec::new();
        for ((turn, _, result), after_phases) in phase_results(self.log).into_iter().zip(1..) {
            let (name, rows) = match &result {
                _ if turn.outstanding().next().is_some() => continue,
                PhaseResult::Comparison(check) => ("sorting", pair_rows(std::slice::from_ref(check))),
                PhaseResult::Vote(vote) => ("vote", self.vote_rows(&vote.in_seat_order(self.log))),
                PhaseResult::Judgement(judgement) => {
                    let mut rows = table_head(&["Proposal", "Score"]);
                    let scores = judgement.result.iter().flat_map(|result| &result.scores);
                    rows.extend(scores.map(|one| vec![agent(&one.label), score(one.score)]));
                    ("judge", rows)
                }
                PhaseResult::Proposals(_) | PhaseResult::Nothing => continue,
            };
            let title = format!("Round {}, {name}: {}", turn.phase.round, round_result(self.log, &result));
            let cut = |row: Vec<String>| row.iter().map(|cell| excerpt(cell, SUMMARY_CHARS_MAX)).collect();
            let rows = rows.into_iter().map(cut).collect();
            summaries.push(RoundSummary { after_phases, title, rows, ..RoundSummary::default() });
        }
        summaries
    }
}

/// A cell of a summary is cut here.
const SUMMARY_CHARS_MAX: usize = 80;

fn part(title: &str, blocks: Vec<ReportBlock>) -> ReportSection {
    ReportSection::new(SectionKind::Part, title, blocks)
}

/// A table with only its head.
fn table_head(cells: &[&str]) -> Vec<Vec<String>> {
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

/// "Agent A (Agent C is counted as the same)", "Agent A or Agent C (counted as the same)".
fn group_name(group: &ArenaTally, ballots: &[ArenaBallot]) -> String {
    let is_chosen = |label: &&String| ballots.iter().any(|ballot| ballot.choice == **label);
    let (chosen, others): (Vec<&String>, Vec<&String>) = group.labels.iter().partition(is_chosen);
    let [chosen, others] =
        [chosen, others].map(|labels| labels.iter().map(|label| agent(label)).collect::<Vec<_>>());
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
    let abstained = ballots.iter().filter(|ballot| ballot.choice == ABSTAIN).count() as u64;
    parts.extend((abstained > 0).then(|| counted(abstained, "abstention")));
    if parts.is_empty() { "nobody voted".into() } else { joined(&parts) }
}

/// The best proposal that is not the judge's first.
fn next_best(judge: &JudgeResult) -> String {
    let others = judge.scores.iter().filter(|one| judge.top.as_ref() != Some(&one.label));
    let best = others.reduce(|best, other| if other.score > best.score { other } else { best });
    best.map_or(String::new(), |best| agent(&best.label))
}

/// "1.00 points ahead of Agent B".
fn points_ahead(judge: &JudgeResult) -> String {
    format!("{} points ahead of {}", score(judge.margin), next_best(judge))
}

/// "the judge puts Agent A first, 1.00 points ahead of Agent B", in both orders with both leads, or what the tie is between.
pub(super) fn first_place(judge: &JudgeResult) -> String {
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
fn ranked_first(judge: &JudgeResult) -> Option<&str> {
    let top = judge.top.as_ref()?;
    let mut firsts = judge.orders.iter().map(|order| order.ranking.first());
    let first = firsts.next()??;
    (first != top && firsts.all(|other| other == Some(first))).then_some(first)
}

/// What a phase came to, for the table of rounds.
fn round_result(log: &ArenaLog<'_>, result: &PhaseResult<'_>) -> String {
    match result {
        PhaseResult::Comparison(check) => {
            let least = check.agreement_min.map(|least| format!("score {}", score(least)));
            let converged = if check.converged { ", converged" } else { "" };
            format!("{}{converged}", least.unwrap_or_else(|| "score not known".into()))
        }
        PhaseResult::Vote(vote) => tally_sentence(&vote.tally(log), &vote.ballots),
        PhaseResult::Judgement(judgement) => match &judgement.result {
            None => "not heard".into(),
            Some(judge) => judge.top.as_ref().map_or("a tie".into(), |top| {
                format!("{} first, {} ahead of {}", agent(top), score(judge.margin), next_best(judge))
            }),
        },
        PhaseResult::Proposals(_) | PhaseResult::Nothing => String::new(),
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
fn claim_items(claims: &[ProposalClaim], log: &ArenaLog<'_>) -> ReportBlock {
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
    let claims = claims.iter().map(|claim| ReportItem {
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
        Some(CritiqueStep { status: Some(status), .. }) => status.as_str().to_owned(),
        _ if critique.issues.is_empty() => "finds no issue".to_owned(),
        _ => "not judged by its author".to_owned(),
    }));
    let mut pairs = Vec::new();
    let first = if critique.is_by_peer() { "Issue" } else { "Reason" };
    for (name, texts) in [(first, &critique.issues), ("Suggestion", &critique.suggestions)] {
        pairs.extend(texts.iter().map(|text| (name.to_owned(), text.trim().to_owned())));
    }
    let steps = critique.steps.iter();
    pairs.extend(steps.map(|step| (step_name(critique, step, log), step.text().to_owned())));
    ReportBlock::Group {
        title: format!("[{}] {title}", critique.id),
        badges,
        blocks: vec![ReportBlock::Pairs(pairs)],
    }
}

/// "Agent A answers in round 3", "Agent C calls it unresolved in the version of round 3".
fn step_name(critique: &ArenaCritique, step: &CritiqueStep, log: &ArenaLog<'_>) -> String {
    match step.status {
        None => format!("{} answers in round {}", log.name(critique.to), step.round),
        Some(status) => {
            let (who, status) = (agent(critique.author(log)), status.as_str());
            format!("{who} calls it {status} in the version of round {}", step.round)
        }
    }
}

/// An agreement that the trickster looked at, with the words that its signals rest on.
fn agreement_group(check: &ArenaAgreement) -> ReportBlock {
    let share = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), score);
    let mut rows = table_head(&["Signal", "Share", "Fires from", "Fired", "After"]);
    for (place, signal) in check.signals.iter().enumerate() {
        let after = check.after.as_ref().and_then(|after| after.get(place)).and_then(|signal| signal.value);
        let fired = if signal.fired { "yes" } else { "no" };
        let cells =
            [signal.signal.about(), &share(signal.value), &score(signal.threshold), fired, &share(after)];
        rows.push(cells.map(str::to_owned).to_vec());
    }
    let quotes = check.signals.iter().filter(|signal| signal.fired).flat_map(|signal| {
        signal.quotes.iter().map(|one| ReportItem {
            who: Some(format!("{}, {}", signal.signal.about(), agent(&one.label))),
            text: format!("\u{201c}{}\u{201d}", one.quote),
            note: None,
        })
    });
    let came_to = check.challenged.then_some(match check.came_to {
        Some(ChallengeResult::Left) => "challenged: the agents no longer agree",
        Some(ChallengeResult::Unknown) => "challenged: not known whether they still agree",
        Some(ChallengeResult::Met) => "challenged: met",
        Some(ChallengeResult::NotMet) | None => "challenged: not met",
    });
    let found = if check.hollow { "hollow" } else { "not hollow" };
    ReportBlock::Group {
        title: format!("Round {}, {}: {found}", check.round, agents(&check.agents)),
        badges: came_to.map(str::to_owned).into_iter().collect(),
        blocks: vec![ReportBlock::Table(rows), ReportBlock::Items(quotes.collect())],
    }
}

/// A row for each sorting.
fn check_rows(checks: &[ConvergenceCheck]) -> Vec<Vec<String>> {
    let has_embedding = checks.iter().any(|check| check.embedding.is_some());
    let known = |figure: Option<f64>| figure.map_or_else(|| "unknown".to_owned(), score);
    let mut head = vec!["Round", "Score", "Converged", "Conflicts that count", "Stability", "Sorted by"];
    head.extend(has_embedding.then_some("By embeddings"));
    let mut rows = table_head(&head);
    for check in checks {
        let conflicts = check.conflicts.iter().map(|[one, other]| format!("{one} with {other}"));
        let mut row = vec![
            check_name(check),
            known(check.agreement_min),
            if check.converged { "yes" } else { "no" }.into(),
            conflicts.collect::<Vec<_>>().join(", "),
            known(check.stability_min),
            check.sorted_by.clone().unwrap_or_else(|| "nobody".into()),
        ];
        row.extend(has_embedding.then(|| known(check.embedding.as_ref().map(|one| one.agreement_min))));
        rows.push(row);
    }
    rows
}

/// A row for every two proposals: how each sorting relates them, and how similar it finds them.
fn pair_rows(checks: &[ConvergenceCheck]) -> Vec<Vec<String>> {
    let mut rows = table_head(&["Pair"]);
    rows.iter_mut()
        .for_each(|head| head.extend(checks.iter().map(|check| format!("Round {}", check_name(check)))));
    let pairs = checks.first().map_or(&[][..], |check| &check.pairs);
    let related = |pair: &ComparedPair| match (pair.relation, pair.similarity) {
        (Some(PairRelation::Conflict), _) => "conflict".to_owned(),
        (Some(relation), Some(similarity)) => format!("{} {}", relation.as_str(), score(similarity)),
        _ => "unknown".to_owned(),
    };
    for pair in pairs {
        let in_checks = checks.iter().map(|check| {
            let mut all = check.pairs.iter();
            all.find(|one| (&one.a, &one.b) == (&pair.a, &pair.b)).map_or(String::new(), related)
        });
        rows.push(
            std::iter::once(format!("{} and {}", agent(&pair.a), agent(&pair.b))).chain(in_checks).collect(),
        );
    }
    rows
}

/// The round of a sorting. Two sortings of one round differ in whether they follow a challenge.
fn check_name(check: &ConvergenceCheck) -> String {
    format!("{}{}", check.round, if check.after_challenge { ", challenged" } else { "" })
}
