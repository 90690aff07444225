//! What readers see of a `deep` debate: the headline, the outline and a table for each round.

use agon_core::view::{ending_sentence, holder_name, label_name, minority_items};
use agon_core::wording::{score, spoken};
use agon_core::{
    Ballot, ChartPoint, Corrupt, DebateView, Headline, Outline, ReportBlock, ReportItem, ReportLength,
    ReportSection, RoundChart, RoundSummary, SectionKind, VerdictTone,
};

use super::log::{DeepLog, DeepRound, LoopExit};
use super::positions;
use super::replies::{Revision, Stance};
use super::verdict::{self, DeepVerdict, RoundReport, StanceReport};
use super::{DeepMode, DeepPhase};

/// Everything that the reports, the page and the other interfaces show of the debate.
pub(super) fn view(log: &DeepLog<'_>) -> Result<DebateView, Corrupt> {
    let verdict = verdict::verdict(log)?;
    let ballots = log.debaters.iter().map(|debater| Ballot {
        seat: debater.seat.to_owned(),
        answer: debater.answer.trim().to_owned(),
        stands_alone: false,
    });
    Ok(DebateView {
        votes: Vec::new(),
        headline: headline(log, &verdict),
        outline: outline(log, &verdict),
        positions: positions::positions(log)?,
        ballots: ballots.collect(),
        dissent: minority_items(log.debate),
        round_summaries: log.rounds.iter().filter_map(|round| round_summary(log, round)).collect(),
        ..DebateView::default()
    })
}

fn headline(log: &DeepLog<'_>, verdict: &DeepVerdict) -> Headline {
    let outcome = log.debate.outcome.as_ref();
    Headline {
        answer: verdict.answer.clone(),
        why: verdict.why.clone(),
        tone: if verdict.answer.is_some() { VerdictTone::Good } else { VerdictTone::Bad },
        ending: outcome.map(|outcome| ending_sentence(outcome, "debaters")).unwrap_or_default(),
        ..Headline::default()
    }
}

fn outline(log: &DeepLog<'_>, verdict: &DeepVerdict) -> Outline {
    let mut answer = vec![answer(log, verdict)];
    answer.extend(
        verdict
            .why
            .as_ref()
            .map(|why| ReportSection::new(SectionKind::Why, "Why", vec![ReportBlock::Prose(why.clone())])),
    );
    let mut details = Vec::new();
    details.extend(rounds(log, verdict));
    details.extend(ranking(log, verdict));
    let stand_in = verdict.chair.as_ref().filter(|chair| chair.stand_in);
    let absent_chair = stand_in
        .map(|chair| format!("The chair was absent: {} stood in and wrote the verdict.", chair.model));
    let mode = (log.options.mode != DeepMode::Deep).then(|| log.options.mode.as_str().to_owned());
    Outline {
        answer,
        body: contested(verdict).into_iter().collect(),
        details,
        facts: mode.into_iter().collect(),
        missing: absent_chair.into_iter().collect(),
        ..Outline::default()
    }
}

fn answer(log: &DeepLog<'_>, verdict: &DeepVerdict) -> ReportSection {
    if let Some(answer) = verdict.answer.as_deref().map(str::trim).filter(|answer| !answer.is_empty()) {
        return ReportSection::new(SectionKind::Answer, "Answer", vec![ReportBlock::Prose(answer.into())]);
    }
    let stances = verdict.synthesis_input.final_stances.iter().zip(&log.debaters);
    let items: Vec<ReportItem> = stances
        .map(|(stance, debater)| ReportItem {
            who: Some(holder_name(log.debate, Some(&stance.debater), debater.seat)),
            text: stance.revised_position.clone(),
            note: None,
        })
        .collect();
    let blocks = match items.is_empty() {
        true => vec![ReportBlock::Line("There is no answer.".into())],
        false => {
            vec![ReportBlock::Line("This is where the debaters stood:".into()), ReportBlock::Items(items)]
        }
    };
    ReportSection::new(SectionKind::NoAnswer, "No answer", blocks)
}

fn contested(verdict: &DeepVerdict) -> Option<ReportSection> {
    let items: Vec<ReportItem> = verdict.contested.iter().map(ReportItem::text).collect();
    let section =
        ReportSection::new(SectionKind::Part, "What was contested", vec![ReportBlock::Items(items)]);
    (!verdict.contested.is_empty()).then_some(section)
}

fn rounds(log: &DeepLog<'_>, verdict: &DeepVerdict) -> Option<ReportSection> {
    let mut head = vec!["Round".to_owned(), "Agreement".into(), "New points".into()];
    head.extend(log.debaters.iter().map(|debater| label_name(log.debate, &debater.label)));
    let mut rows = vec![head];
    for round in &verdict.rounds {
        let score_cell = |value: Option<f64>| value.map_or("not assessed".into(), score);
        let mut row = vec![
            round.round.to_string(),
            score_cell(round.agreement_score),
            score_cell(round.new_points_ratio),
        ];
        row.extend(round.stances.iter().map(stance_cell));
        rows.push(row);
    }
    let point = |round: &RoundReport| ChartPoint {
        round: format!("Round {}", round.round),
        tick: format!("Round {}", round.round),
        first: round.agreement_score,
        second: round.new_points_ratio,
    };
    let chart = RoundChart {
        names: ["agreement", "new points"],
        threshold: None,
        axis_max: [1.0, 1.0],
        points: verdict.rounds.iter().map(point).collect(),
    };
    let chart = ReportBlock::In(ReportLength::Full, vec![ReportBlock::Chart(chart)]);
    let section =
        ReportSection::new(SectionKind::Part, "Round by round", vec![chart, ReportBlock::Table(rows)]);
    (!verdict.rounds.is_empty()).then_some(section)
}

/// A table cell with a debater's stance, its confidence and what changed.
fn stance_cell(report: &StanceReport) -> String {
    let (Some(stance), Some(revision)) = (report.stance, report.revision) else {
        return "absent, carried".into();
    };
    let confidence = report.confidence.map_or(String::new(), |value| format!(" {}", score(value)));
    let mut cell = vec![format!("{}{confidence}", spoken(stance.as_str()))];
    if revision != Revision::NoChange {
        cell.push(spoken(revision.as_str()));
    } else if stance == Stance::Concede {
        // PROTOCOLS.md: `concede` with `no_change` is flagged, not rejected.
        cell.push("yet no change".to_owned());
    }
    cell.join(", ")
}

fn ranking(log: &DeepLog<'_>, verdict: &DeepVerdict) -> Option<ReportSection> {
    let ranked = verdict.ranking.as_ref().filter(|ranked| !ranked.is_empty())?;
    let mut rows = vec![["Rank", "Debater", "Score", "z", ""].map(str::to_owned).to_vec()];
    for (rank, answer) in (1..).zip(ranked) {
        let note = if answer.disqualified { "disqualified" } else { "" };
        rows.push(vec![
            rank.to_string(),
            label_name(log.debate, &answer.debater),
            answer.score.map(score).unwrap_or_default(),
            score(answer.z),
            note.to_owned(),
        ]);
    }
    Some(ReportSection::new(SectionKind::Part, "Ranking", vec![ReportBlock::Table(rows)]))
}

/// The table that is printed after the moderator has assessed a round.
fn round_summary(log: &DeepLog<'_>, round: &DeepRound) -> Option<RoundSummary> {
    let is_assessment = |phase: &agon_core::Phase| *phase == DeepPhase::Moderate.at(round.number);
    let place = log.debate.turns.iter().position(|turn| is_assessment(&turn.phase))?;
    if log.debate.turns.get(place)?.outstanding().next().is_some() {
        return None;
    }
    let mut rows = vec![["Debater", "Stance", "Revision", "Confidence"].map(String::from).to_vec()];
    for (debater, argument) in log.debaters.iter().zip(&round.arguments) {
        let cells = match argument {
            Some(argument) => {
                let (stance, revision) = (argument.stance.as_str(), argument.revision.as_str());
                [stance.into(), revision.into(), score(argument.confidence)]
            }
            None => ["absent".into(), "carried".into(), "-".into()],
        };
        rows.push(std::iter::once(debater.label.clone()).chain(cells).collect());
    }
    let end = match log.exit(round.number) {
        Some(LoopExit::Converged) => ": converged",
        Some(LoopExit::Stable) => ": stable",
        Some(LoopExit::MaxRounds) => ": last round",
        None => "",
    };
    let (number, max_rounds, assessment) = (round.number, log.options.max_rounds, round.assessment_words());
    Some(RoundSummary {
        after_phases: place + 1,
        title: format!("Round {number} of {max_rounds}, {assessment}{end}"),
        rows,
        notes: Vec::new(),
    })
}
