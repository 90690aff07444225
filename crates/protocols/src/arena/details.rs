//! The details of the report: the rounds, what the trickster and the observer found, what was read and cited, every proposal and
//! critique, and the team and its ratings.

use agon_core::wording::{counted, heading, score};
use agon_core::{ReportBlock, ReportItem, ReportLength, ReportSection};

use super::ArenaPhase;
use super::report::{ArenaReport, agent, agents, part, table_head, tally_sentence};
use super::rhetoric::{LANGUAGES, RhetoricKind};
use super::team::SeatingReason;
use super::trickster::ChallengeResult;
use super::verdict::{
    ArenaAgreement, ArenaContext, ArenaCritiqueEntry, ArenaProposal, ArenaRhetoric, ArenaRound,
    ArenaRoundResult,
};

/// A list of findings in the short report is cut here.
const FINDINGS_MAX: usize = 6;

impl ArenaReport<'_> {
    /// A seat with its label.
    fn labelled(&self, seat: &str) -> String {
        let mut labels = self.debate.outcome.iter().flat_map(|outcome| &outcome.labels);
        let label = labels.find(|(_, id)| id.as_str() == seat).map(|(label, _)| label);
        label.map_or_else(|| seat.to_owned(), |label| self.seated(label))
    }

    /// How votes and judgements moved if there was more than one vote; in the full report every phase.
    pub(super) fn rounds(&self) -> Option<ReportSection> {
        let all = &self.verdict.rounds;
        let table = |is_shown: &dyn Fn(&ArenaRound) -> bool| {
            let mut rows = table_head(&["Round", "Phase", "Absent", "Result"]);
            for round in all.iter().filter(|round| is_shown(round)) {
                let absent: Vec<String> = round.absent.iter().map(|name| attendee(name)).collect();
                let number = round.round.to_string();
                rows.push(vec![number, round.phase.as_str().into(), absent.join(", "), round_result(round)]);
            }
            vec![ReportBlock::Table(rows)]
        };
        let votes = all.iter().filter(|round| round.phase == ArenaPhase::Vote).count();
        let mut blocks = vec![ReportBlock::In(ReportLength::Full, table(&|_| true))];
        let decisions = table(&|round| round.phase.info().is_closing);
        blocks.extend((votes > 1).then_some(ReportBlock::In(ReportLength::Short, decisions)));
        let shown = if votes > 1 { ReportLength::Any } else { ReportLength::Full };
        (!all.is_empty()).then(|| part("Round by round", blocks).only(shown))
    }

    pub(super) fn trickster(&self) -> Option<ReportSection> {
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

    pub(super) fn rhetoric(&self) -> Option<ReportSection> {
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
    pub(super) fn context(&self) -> Option<ReportSection> {
        let all = &self.verdict.context;
        let cited = all.iter().filter(|item| !item.cited_by.is_empty());
        let mut short: Vec<ReportItem> = cited.map(context_item).collect();
        let uncited = (all.len() - short.len()) as u64;
        let pieces = counted(uncited, if short.is_empty() { "piece" } else { "other piece" });
        short.extend(
            (uncited > 0)
                .then(|| ReportItem::text(format!("Nobody cites {pieces}, which the full report has."))),
        );
        let line =
            "Found before the debate and shown to the agents as untrusted material: nobody has checked it.";
        let full = vec![ReportBlock::Items(all.iter().map(context_item).collect())];
        let blocks = vec![
            ReportBlock::Line(line.into()),
            ReportBlock::In(ReportLength::Short, vec![ReportBlock::Items(short)]),
            ReportBlock::In(ReportLength::Full, full),
        ];
        (!all.is_empty()).then(|| part("What they were given to read", blocks).folded())
    }

    pub(super) fn proposals(&self) -> Option<ReportSection> {
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
        let claims = proposal.claims.iter().map(|claim| ReportItem {
            who: None,
            text: claim.claim.trim().to_owned(),
            note: Some(match claim.evidence.trim() {
                "" => "No evidence given".into(),
                evidence => format!("Evidence: {evidence}"),
            }),
        });
        blocks.push(ReportBlock::Items(claims.collect()));
        ReportBlock::Group { title: self.seated(&proposal.label), badges, blocks }
    }

    pub(super) fn critiques(&self) -> Option<ReportSection> {
        let groups: Vec<ReportBlock> = self.verdict.critiques.iter().map(critique_group).collect();
        let section = || part("Critiques and what became of them", groups).folded().only(ReportLength::Full);
        (!self.verdict.critiques.is_empty()).then(section)
    }

    /// The team; in the short report only if an agent was picked rather than named.
    pub(super) fn team(&self) -> Option<ReportSection> {
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

    pub(super) fn ratings(&self) -> Option<ReportSection> {
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
        ArenaRoundResult::Judgement { judge_top, margin, .. } => match (judge_top, margin) {
            (Some(top), Some(margin)) => format!("{} first, {} ahead", agent(top), score(*margin)),
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
        Some(status) => status.as_str().into(),
        None => "not judged by its author".into(),
    });
    let mut pairs = Vec::new();
    for (name, texts) in [("Issue", &critique.issues), ("Suggestion", &critique.suggestions)] {
        pairs.extend(texts.iter().map(|text| (name.to_owned(), text.trim().to_owned())));
    }
    pairs.extend(critique.steps().into_iter().map(|(what, text)| (what, text.to_owned())));
    ReportBlock::Group {
        title: format!("[{}] {from} on {to}, round {}", critique.id, critique.round),
        badges,
        blocks: vec![ReportBlock::Pairs(pairs)],
    }
}
