//! What readers see of a `panel`: headline, outline, round tables and the seed's records.

use std::collections::BTreeSet;

use agon_core::view::ending_sentence;
use agon_core::wording::{capitalized, counted, dollars, heading, spoken};
use agon_core::{
    Ballot, Corrupt, DebateView, Fate, Headline, Outline, RecordBody, ReportBar, ReportBlock, ReportItem,
    ReportLength, ReportSection, RoundSummary, SavedRecord, SectionKind, Termination, VerdictTone,
    timestamps,
};
use serde::Serialize;
use serde_json::{Map, Value};

use super::consensus::{FindingState, PanelDecision, mean, range};
use super::findings::{CriticalFindingRecord, PanelFinding};
use super::follow_up::AttentionItem;
use super::log::{JudgeStance, JudgeStatement, PanelJudge, PanelLog, PanelRound};
use super::replies::{ConfidenceLevel, FindingSeverity};
use super::verdict::{self, JudgeResult, PanelVerdict, VerdictDecision};
use super::{PanelStatus, figure, positions};

/// One reading of the log for every face.
pub(super) fn view(log: &PanelLog<'_>) -> Result<DebateView, Corrupt> {
    let outcome = log.debate.outcome.as_ref();
    let decision = outcome.map_or(PanelDecision::None, |outcome| PanelDecision::of(log, outcome.termination));
    let verdict = verdict::verdict(log, &decision);
    let report = PanelReport { log, decision, verdict };
    let ballots = log.judges.iter().map(|judge| Ballot {
        seat: judge.id.to_owned(),
        answer: figure(judge.statement.overall_score),
        stands_alone: true,
    });
    Ok(DebateView {
        votes: Vec::new(),
        headline: report.headline(),
        outline: report.outline(),
        positions: positions::positions(log),
        ballots: ballots.collect(),
        dissent: dissent(log),
        round_summaries: round_summaries(log),
        records: records(log)?,
        ..DebateView::default()
    })
}

/// What the dissenting judges say in the end.
fn dissent(log: &PanelLog<'_>) -> Vec<ReportItem> {
    let fates = log.debate.outcome.iter().flat_map(|outcome| &outcome.positions);
    let minority = log.judges.iter().zip(fates).filter(|(_, position)| position.fate == Fate::Minority);
    minority
        .map(|(judge, position)| ReportItem {
            who: Some(judge.id.to_owned()),
            text: judge.position().to_owned(),
            note: Some(position.reason.clone()),
        })
        .collect()
}

/// Describes one verdict.
struct PanelReport<'a> {
    log: &'a PanelLog<'a>,
    decision: PanelDecision,
    verdict: PanelVerdict,
}

impl PanelReport<'_> {
    fn headline(&self) -> Headline {
        let outcome = self.log.debate.outcome.as_ref();
        let (_, tone, word) = self.status();
        Headline {
            verdict: self.decision.kind().map(|_| word.to_owned()),
            why: outcome.map(|_| self.sentence()),
            score: self.verdict.score(),
            tone,
            ending: outcome.map(|outcome| ending_sentence(outcome, "judges")).unwrap_or_default(),
            ..Headline::default()
        }
    }

    /// Critical findings that all judges hold lead. Then come the verdict in a sentence, the other critical findings, the scores,
    /// both sides with the same weight, and what to decide and do. Agreements and figures are details.
    fn outline(&self) -> Outline {
        let verdict = &self.verdict;
        let mut answer: Vec<ReportSection> = self.adopted_findings().into_iter().collect();
        answer.push(self.verdict_section());
        let mut body = Vec::new();
        body.extend(self.other_critical_findings());
        body.extend(self.scores());
        body.extend(self.opinions());
        body.extend(self.attention());
        body.extend(self.recommendations());
        let mut details = Vec::new();
        details.extend(self.dimensions());
        details.extend(self.findings("What all judges agree on", &verdict.convergent_findings, |_| true));
        details.extend(self.findings("What some judges share", &verdict.shared_findings, |_| true));
        // The short report does not repeat what stands above: what needs attention, and the dimensions.
        let differ = "Where the judges differ";
        let all = self.findings(differ, &verdict.divergent_findings, |_| true);
        let new = self.findings(differ, &verdict.divergent_findings, |finding| !self.is_shown_above(finding));
        details.extend(all.map(|section| section.only(ReportLength::Full)));
        details.extend(new.map(|section| section.only(ReportLength::Short)));
        details.extend(self.score_changes());
        details.push(self.metrics());
        Outline { answer, body, details, ..Outline::default() }
    }

    fn in_state(&self, wanted: FindingState) -> Vec<ReportItem> {
        let findings = self.verdict.critical_findings.iter();
        findings.filter(|finding| finding.state == wanted).map(critical_item).collect()
    }

    /// The status in a word. A tie has no band, and GREEN is no good news under a critical finding.
    fn status(&self) -> (SectionKind, VerdictTone, &'static str) {
        let is_critical = !self.in_state(FindingState::Adopted).is_empty();
        match self.verdict.status {
            _ if self.decision == PanelDecision::NoMajority => {
                (SectionKind::NoAnswer, VerdictTone::Warn, "NO MAJORITY")
            }
            Some(PanelStatus::Green) if is_critical => (SectionKind::NoAnswer, VerdictTone::Warn, "GREEN"),
            Some(PanelStatus::Green) => (SectionKind::Answer, VerdictTone::Good, "GREEN"),
            Some(PanelStatus::Yellow) => (SectionKind::Answer, VerdictTone::Warn, "YELLOW"),
            Some(PanelStatus::Red) => (SectionKind::NoAnswer, VerdictTone::Bad, "RED"),
            None => (SectionKind::NoAnswer, VerdictTone::Warn, "No verdict"),
        }
    }

    fn verdict_section(&self) -> ReportSection {
        let (kind, tone, word) = self.status();
        let blocks = vec![ReportBlock::Headline(tone, word.into()), ReportBlock::Line(self.sentence())];
        ReportSection::new(kind, "Verdict", blocks)
    }

    /// What was decided, by how many judges, and how sure it is.
    fn sentence(&self) -> String {
        let judges = self.verdict.judges.len();
        let decided = match &self.verdict.decision {
            VerdictDecision::Consensus(verdict) => {
                let [low, high] = verdict.score_range.map(figure);
                let between = if low == high {
                    format!("all at {low}")
                } else {
                    format!("all between {low} and {high}")
                };
                format!("Consensus of {judges} judges: {} of 5, {between}.", figure(verdict.consensus_score))
            }
            VerdictDecision::Majority(verdict) => match (verdict.minority_score, verdict.score_gap) {
                (Some(minority), Some(gap)) => format!(
                    "A majority of {} of {judges} judges gives {} of 5, the minority {}: {} apart.",
                    verdict.majority_judges.len(),
                    figure(verdict.majority_score),
                    figure(minority),
                    figure(gap)
                ),
                _ => format!(
                    "All {judges} judges give {} of 5 on average, but there is no consensus: something between them is open.",
                    figure(verdict.majority_score)
                ),
            },
            VerdictDecision::NoMajority(verdict) => {
                let scores: Vec<String> = verdict.scores.iter().copied().map(figure).collect();
                let scores = scores.join(", ");
                format!("No majority: of the scores {scores} no group is nearer together than another.")
            }
            VerdictDecision::None(_) => return self.no_verdict().to_owned(),
        };
        let band = self.verdict.status.filter(|_| self.decision == PanelDecision::NoMajority);
        let band = band.map_or(String::new(), |band| format!(", which would be {}", band.as_str()));
        let weighted = self.verdict.weighted_score.map(figure).unwrap_or_default();
        let is_critical = !self.in_state(FindingState::Adopted).is_empty();
        let but = if is_critical { " What is critical must be resolved first." } else { "" };
        let confidence = self.verdict.confidence().map_or("unknown", ConfidenceLevel::as_str);
        format!("{decided} Confidence {confidence}. Weighted score {weighted}{band}.{but}")
    }

    fn no_verdict(&self) -> &'static str {
        match self.log.debate.outcome.as_ref().map(|outcome| outcome.termination) {
            None => "There is no verdict yet.",
            Some(Termination::QuorumLost) => "There is no verdict, because fewer than two judges were left.",
            Some(Termination::Budget) => {
                "There is no verdict, because a limit left fewer than two position statements."
            }
            Some(_) => "There is no verdict.",
        }
    }

    fn adopted_findings(&self) -> Option<ReportSection> {
        let (items, judges) = (self.in_state(FindingState::Adopted), self.verdict.judges.len());
        let what = if items.len() == 1 { "this critical finding" } else { "these critical findings" };
        let line = format!("All {judges} judges hold {what}, whatever the scores say. Action is required.");
        (!items.is_empty()).then(|| {
            let head = ReportBlock::Headline(VerdictTone::Bad, "CRITICAL".into());
            let blocks = vec![head, ReportBlock::Line(line), ReportBlock::Items(items)];
            ReportSection::new(SectionKind::NoAnswer, "Critical findings", blocks)
        })
    }

    fn other_critical_findings(&self) -> Option<ReportSection> {
        let is_first = self.in_state(FindingState::Adopted).is_empty();
        let title = if is_first { "Critical findings" } else { "Other critical findings" };
        let mut items = self.in_state(FindingState::Disputed);
        items.extend(self.in_state(FindingState::Withdrawn));
        section(title, items)
    }

    /// The scores by judge and round, and how far they are apart after each round.
    fn scores(&self) -> Option<ReportSection> {
        let judges = &self.verdict.judges;
        let rounds = judges.iter().map(|judge| judge.scores.len()).max()?;
        let has_sides = judges.iter().any(|judge| self.side(&judge.judge_id).is_some());
        let mut head = vec!["Judge".to_owned(), "Stance".into()];
        head.extend((1..=rounds).map(|round| format!("Round {round}")));
        head.push("Weighted".into());
        head.extend(has_sides.then(|| "Side".to_owned()));
        let mut rows = vec![head];
        for judge in judges {
            let mut row = vec![judge.judge_id.clone(), judge.stance.as_str().to_owned()];
            row.extend((1..).zip(&judge.scores).map(|(round, score)| {
                let note = if judge.carried.contains(&round) { " (absent)" } else { "" };
                format!("{}{note}", figure(*score))
            }));
            row.push(figure(judge.weighted));
            row.extend(has_sides.then(|| self.side(&judge.judge_id).unwrap_or_default().to_owned()));
            rows.push(row);
        }
        let mut blocks = vec![ReportBlock::Table(rows)];
        blocks.extend(self.ranges());
        Some(ReportSection::new(SectionKind::Part, "Scores", blocks))
    }

    fn side(&self, judge: &str) -> Option<&'static str> {
        match &self.verdict.decision {
            VerdictDecision::Consensus(_) => Some("consensus"),
            VerdictDecision::Majority(verdict) if verdict.majority_judges.iter().any(|id| id == judge) => {
                Some("majority")
            }
            VerdictDecision::Majority(_) => Some("minority"),
            VerdictDecision::NoMajority(_) | VerdictDecision::None(_) => None,
        }
    }

    /// The range of the overall scores after each round, as bars, with what consensus needs.
    fn ranges(&self) -> Vec<ReportBlock> {
        let rounds = self.verdict.debate_metrics.rounds.iter();
        let bars: Vec<ReportBar> = rounds
            .map(|(name, round)| ReportBar {
                name: heading(name),
                value: round.range,
                written: figure(round.range),
            })
            .collect();
        let Some((first, last)) = bars.first().zip(bars.last()) else { return Vec::new() };
        let trend = match last.value - first.value {
            _ if bars.len() < 2 => "",
            apart if apart < -1e-9 => ": it shrank",
            apart if apart > 1e-9 => ": it grew",
            _ => ": it did not shrink",
        };
        let needed = figure(self.verdict.thresholds.consensus_range);
        let line = format!("The range of the scores by round{trend}. Consensus needs {needed} or less.");
        vec![ReportBlock::Line(line), ReportBlock::Bars(bars)]
    }

    /// What each side says in the end. The minority's section is of the same kind as the majority's.
    fn opinions(&self) -> Vec<ReportSection> {
        let on_side = |wanted: Option<&str>| -> Vec<ReportItem> {
            let judges = self.verdict.judges.iter();
            judges.filter(|judge| self.side(&judge.judge_id) == wanted).map(opinion).collect()
        };
        let title = match self.decision {
            PanelDecision::Majority { .. } => "The majority's opinion",
            PanelDecision::Consensus | PanelDecision::NoMajority | PanelDecision::None => {
                "What the judges say"
            }
        };
        let mut items = on_side(None);
        items.extend(on_side(Some("consensus")));
        items.extend(on_side(Some("majority")));
        let minority = section("The minority's opinion", on_side(Some("minority")));
        section(title, items).into_iter().chain(minority).collect()
    }

    fn attention(&self) -> Option<ReportSection> {
        let groups: Vec<ReportBlock> =
            self.verdict.attention().iter().map(|item| self.attention_group(item)).collect();
        let section = ReportSection::new(SectionKind::Part, "What needs your attention", groups);
        (!section.blocks.is_empty()).then_some(section)
    }

    fn attention_group(&self, item: &AttentionItem) -> ReportBlock {
        let mut pairs: Vec<(String, String)> = Vec::new();
        let mut pair = |name: &str, text: &str| {
            if !text.trim().is_empty() {
                pairs.push((name.to_owned(), text.to_owned()));
            }
        };
        for (name, view) in [("Majority", &item.majority_view), ("Minority", &item.minority_view)] {
            view.iter().for_each(|view| pair(name, view));
        }
        if item.majority_view.is_none() && item.minority_view.is_none() {
            item.views.iter().for_each(|view| pair(&view.judge_id, &view.view));
        }
        pair("At stake", &item.stakes);
        pair("Suggested", &item.recommendation);
        let badges = self.earlier_round(item.as_of_round).map(|when| format!("({when})"));
        ReportBlock::Group {
            title: item.issue.clone(),
            badges: badges.into_iter().collect(),
            blocks: vec![ReportBlock::Pairs(pairs)],
        }
    }

    fn recommendations(&self) -> Option<ReportSection> {
        let items = self.verdict.recommendations().iter().map(|advice| {
            let level =
                advice.consensus_level.map_or(String::new(), |level| format!(" ({})", level.as_str()));
            ReportItem {
                who: Some(format!("{}{level}", advice.priority.as_str())),
                text: advice.action.clone(),
                note: advice.rationale.clone(),
            }
        });
        section("Recommendations", items.collect())
    }

    /// The dimensions by judge, with the average and the range after each round.
    fn dimensions(&self) -> Option<ReportSection> {
        let judges = &self.verdict.judges;
        let rounds = judges.iter().map(|judge| judge.dimension_scores_by_round.len()).max()?;
        let has_rounds = rounds > 1;
        let mut head = vec!["Dimension".to_owned(), "Weight".into()];
        // Short names leave room for the rounds.
        head.extend(judges.iter().map(|judge| judge.judge_id.replace("judge-", "J")));
        head.push("Average".into());
        head.extend((1..=rounds).map(|round| if has_rounds { format!("R{round}") } else { "Range".into() }));
        let mut rows = vec![head];
        for (key, agreement) in &self.verdict.dimension_consensus {
            let weight = self.verdict.rubric.iter().find(|dimension| dimension.key == *key);
            let mut row =
                vec![spoken(key), weight.map(|dimension| figure(dimension.weight)).unwrap_or_default()];
            let scores = judges.iter().map(|judge| judge.dimension_scores.get(key).copied());
            row.extend(scores.map(|score| score.map(figure).unwrap_or_default()));
            row.push(figure(agreement.average));
            row.extend((0..rounds).map(|round| figure(range(&round_scores(judges, round, key)))));
            rows.push(row);
        }
        let mut blocks = vec![ReportBlock::Table(rows)];
        if has_rounds {
            let needed = figure(self.verdict.thresholds.dimension_range);
            blocks.push(ReportBlock::Line(format!(
                "R1 to R{rounds}: how far the judges are apart after each round. Consensus needs {needed} or less."
            )));
        }
        Some(ReportSection::new(SectionKind::Part, "By dimension", blocks).folded())
    }

    fn findings(
        &self,
        title: &str,
        findings: &[PanelFinding],
        is_shown: impl Fn(&PanelFinding) -> bool,
    ) -> Option<ReportSection> {
        let items = findings.iter().filter(|finding| is_shown(finding)).map(|finding| {
            let action = if finding.action_required { ", action required" } else { "" };
            let priority = match finding.priority {
                FindingSeverity::Critical => "Critical",
                FindingSeverity::High => "High",
                FindingSeverity::Medium => "Medium",
                FindingSeverity::Low => "Low",
            };
            let who = match finding.source_judges.join(", ") {
                all if all == "all" => "all judges".to_owned(),
                ids => ids,
            };
            let when =
                self.earlier_round(finding.as_of_round).map_or(String::new(), |when| format!("; {when}"));
            let text = match self.dimension_of(finding) {
                Some((key, rest)) => format!("{}:{rest}", heading(key)),
                None => finding.finding.clone(),
            };
            ReportItem { who: None, text, note: Some(format!("{priority}{action}; {who}{when}")) }
        });
        section(title, items.collect())
    }

    /// The dimension that a finding is about, and the rest of its text.
    fn dimension_of<'f>(&self, finding: &'f PanelFinding) -> Option<(&'f str, &'f str)> {
        let (key, rest) = finding.finding.split_once(':')?;
        self.verdict.rubric.iter().any(|dimension| dimension.key == key).then_some((key, rest))
    }

    fn is_shown_above(&self, finding: &PanelFinding) -> bool {
        let mut attention = self.verdict.attention().iter();
        self.dimension_of(finding).is_some() || attention.any(|item| item.issue == finding.finding)
    }

    /// Marks what was left open in an earlier round and not taken up again.
    fn earlier_round(&self, as_of_round: Option<u32>) -> Option<String> {
        let round = as_of_round.filter(|round| *round < self.log.rounds_completed())?;
        Some(format!("as of round {round}, not taken up again"))
    }

    /// Whose score changed, by how much and why. The full report of a debate that is over has the changes among its evidence.
    fn score_changes(&self) -> Option<ReportSection> {
        let mut items = Vec::new();
        for (name, round) in &self.verdict.debate_metrics.rounds {
            items.extend(round.score_changes.iter().flatten().map(|change| ReportItem {
                who: Some(change.judge.clone()),
                text: format!("{:+} in {}: {}", change.delta, spoken(name), change.reason),
                note: None,
            }));
        }
        let is_over = self.log.debate.outcome.is_some();
        let shown = if is_over { ReportLength::Short } else { ReportLength::Any };
        section("Whose score changed", items).map(|section| section.only(shown))
    }

    fn metrics(&self) -> ReportSection {
        let metrics = &self.verdict.debate_metrics;
        let evolution = &metrics.position_evolution;
        let usd = metrics.cost.estimated_usd.map_or("price unknown".to_owned(), dollars);
        let line = format!(
            "{} formed, {} resolved, {} remaining; {}, {usd}.",
            counted(evolution.agreements_formed as u64, "agreement"),
            counted(evolution.disputes_resolved as u64, "dispute"),
            evolution.disputes_remaining,
            counted(metrics.cost.judge_calls as u64, "judge call")
        );
        ReportSection::new(SectionKind::Part, "The debate in figures", vec![ReportBlock::Line(line)])
    }
}

/// A section with a list; none where the list is empty.
fn section(title: &str, items: Vec<ReportItem>) -> Option<ReportSection> {
    let is_empty = items.is_empty();
    let section = ReportSection::new(SectionKind::Part, title, vec![ReportBlock::Items(items)]);
    (!is_empty).then_some(section)
}

fn critical_item(finding: &CriticalFindingRecord) -> ReportItem {
    let raised = format!("raised by {}.", finding.raised_by.join(", "));
    let note = match finding.state {
        FindingState::Adopted => capitalized(&raised),
        FindingState::Disputed => {
            format!("Open: held by {}, not by all; {raised}", finding.held_by.join(", "))
        }
        FindingState::Withdrawn => format!("Withdrawn: nobody holds it any more; {raised}"),
    };
    let evidence = match finding.evidence.as_str() {
        "" => String::new(),
        evidence => format!(" Evidence: {evidence}"),
    };
    ReportItem {
        who: Some(format!("[{}]", finding.finding_id)),
        text: finding.finding.clone(),
        note: Some(format!("{note}{evidence}")),
    }
}

fn opinion(judge: &JudgeResult) -> ReportItem {
    ReportItem {
        who: Some(format!("{} ({}, {})", judge.judge_id, judge.stance.as_str(), figure(judge.score))),
        text: judge.position.clone(),
        note: None,
    }
}

/// The judges' scores of a dimension after a round, counted from 0.
fn round_scores(judges: &[JudgeResult], round: usize, key: &str) -> Vec<f64> {
    let scores = judges.iter().filter_map(|judge| judge.dimension_scores_by_round.get(round));
    scores.filter_map(|scores| scores.dimension_scores.get(key).copied()).collect()
}

/// A table for each round that is over.
fn round_summaries(log: &PanelLog<'_>) -> Vec<RoundSummary> {
    let turns = log.debate.turns.iter().zip(&log.rounds);
    let over = turns.enumerate().filter(|(_, (turn, _))| turn.outstanding().next().is_none());
    over.filter(|_| !log.judges.is_empty())
        .map(|(place, (_, round))| RoundSummary {
            after_phases: place + 1,
            title: round_title(round),
            rows: round_rows(log, round),
            notes: Vec::new(),
        })
        .collect()
}

fn round_title(round: &PanelRound) -> String {
    let scores = round.scores();
    let reached = if round.check.reached { "consensus" } else { "no consensus" };
    let open = match round.check.disputed {
        0 => String::new(),
        n => format!(", {} disputed", counted(n as u64, "critical finding")),
    };
    let (number, mean, range) = (round.number, figure(mean(&scores)), figure(range(&scores)));
    format!("Round {number}: mean {mean}, range {range}, {reached}{open}")
}

fn round_rows(log: &PanelLog<'_>, round: &PanelRound) -> Vec<Vec<String>> {
    let mut head = vec!["Judge".to_owned(), "Stance".into(), "Score".into()];
    head.extend(column_heads(log.rubric.keys().collect()));
    let mut rows = vec![head];
    for (place, (judge, standing)) in log.judges.iter().zip(&round.standings).enumerate() {
        let change = log.score_change(place, round.number);
        let change = change.map_or(String::new(), |change| format!(" ({change:+})"));
        let absent = if standing.present { "" } else { " (carried)" };
        let score = format!("{}{change}{absent}", figure(standing.score));
        let mut row = vec![judge.id.to_owned(), judge.stance.as_str().to_owned(), score];
        row.extend(standing.dimensions.iter().copied().map(figure));
        rows.push(row);
    }
    let mut last = vec!["range".to_owned(), String::new(), figure(round.check.range)];
    last.extend(round.check.dimensions.iter().copied().map(figure));
    rows.push(last);
    rows
}

/// The heads of narrow columns: the first word of each dimension, where that tells them apart.
fn column_heads(keys: Vec<&str>) -> Vec<String> {
    const HEAD_CHARS_MAX: usize = 8;
    let short = |key: &&str| {
        let word = key.split('_').next().unwrap_or(key);
        match word.chars().count() {
            0..=HEAD_CHARS_MAX => word.to_owned(),
            _ => format!("{}.", word.chars().take(HEAD_CHARS_MAX - 2).collect::<String>()),
        }
    };
    let heads: Vec<String> = keys.iter().map(short).collect();
    let distinct: BTreeSet<&String> = heads.iter().collect();
    if distinct.len() == heads.len() { heads } else { keys.into_iter().map(spoken).collect() }
}

/// A judge's statement as a record: what the seed's template has before the judge's own words, and those.
#[derive(Serialize)]
struct StatementRecord<'a> {
    judge_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    stance: Option<JudgeStance>,
    round: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_final: Option<bool>,
    timestamp: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    score_changed: Option<bool>,
    #[serde(flatten)]
    said: Map<String, Value>,
}

/// The files that `--save` writes: every judge's statements, the verdict and the metrics, with the seed's fields in the seed's order.
fn records(log: &PanelLog<'_>) -> Result<Vec<SavedRecord>, Corrupt> {
    let record = |stem: String, body: Value| SavedRecord {
        stem,
        ending: ".yaml",
        body: RecordBody::Yaml(body),
        grows: false,
    };
    let mut records = Vec::new();
    for round in &log.rounds {
        for judge in &log.judges {
            if let Some(body) = statement_record(log, judge, round)? {
                records.push(record(
                    format!("round-{}-{}", round.number, judge.id),
                    serde_json::to_value(body)?,
                ));
            }
        }
    }
    if let Some(Value::Object(verdict)) = log.debate.outcome.as_ref().map(|outcome| &outcome.verdict) {
        let (metrics, verdict) = verdict.clone().into_iter().partition(|(key, _)| key == "debate_metrics");
        records.push(record("verdict".into(), Value::Object(verdict)));
        records.push(record("debate_metrics".into(), Value::Object(metrics)));
    }
    Ok(records)
}

fn statement_record<'a>(
    log: &PanelLog<'_>,
    judge: &PanelJudge<'a>,
    round: &PanelRound,
) -> Result<Option<StatementRecord<'a>>, Corrupt> {
    let Some(mut said) = judge.said(round.phase) else { return Ok(None) };
    let (mut stance, mut is_final, mut score_changed) = (None, None, None);
    match &mut said {
        JudgeStatement::Position(statement) => {
            stance = Some(judge.stance);
            // A critical finding blocks consensus even where its judge did not say so.
            for raised in &mut statement.critical_findings {
                raised.blocks_consensus.get_or_insert(raised.severity == FindingSeverity::Critical);
            }
        }
        JudgeStatement::Rebuttal(rebuttal) => {
            score_changed = Some(rebuttal.is_changed());
            rebuttal.score_changed = None;
        }
        JudgeStatement::Final(_) => is_final = Some(true),
    }
    Ok(Some(StatementRecord {
        judge_id: judge.id,
        stance,
        round: round.number,
        is_final,
        timestamp: timestamps::later(&log.debate.brief.created_at, round.ended_at_ms),
        score_changed,
        said: log.fields(&said)?,
    }))
}
