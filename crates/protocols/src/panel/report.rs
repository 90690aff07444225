//! What readers see of a `panel`: headline, outline, round tables, the gate and the seed's records.

use std::collections::BTreeSet;

use agon_core::view::ending_sentence;
use agon_core::wording::{counted, dollars, joined, spoken};
use agon_core::{
    Ballot, Corrupt, DebateView, Fate, GateFinding, GateJudge, GateReport, GateRuling, GateSeverity,
    Headline, Outline, RecordBody, ReportBlock, ReportItem, ReportLength, ReportSection, RoundSummary,
    SavedRecord, SeatVote, SectionKind, Termination, VerdictTone, timestamps,
};
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Map, Value};

use super::closing;
use super::consensus::{FindingState, PanelDecision, mean, range};
use super::disputes::{DisputeRecord, DisputeState};
use super::findings::CriticalFindingRecord;
use super::follow_up::{AttentionItem, PanelRecommendation, sentence};
use super::log::{JudgeStance, JudgeStatement, PanelJudge, PanelLog, PanelRound};
use super::replies::{ConfidenceLevel, FindingHold, FindingSeverity};
use super::verdict::{self, JudgeResult, PanelVerdict, VerdictDecision};
use super::{PanelFailOn, PanelStatus, figure};

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
    let votes = log.judges.iter().zip(log.last_standings()).map(|(judge, standing)| SeatVote {
        seat: judge.id.to_owned(),
        label: None,
        vote: figure(standing.score),
        confidence: None,
    });
    Ok(DebateView {
        votes: votes.collect(),
        headline: report.headline(),
        outline: report.outline(),
        positions: closing::positions(log),
        ballots: ballots.collect(),
        dissent: dissent(log),
        round_summaries: round_summaries(log),
        records: records(log)?,
        gate: log.options.fail_on.map(|fail_on| report.gate(fail_on)),
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
            why: outcome.map(|_| self.why()),
            score: self.verdict.score(),
            tone,
            ending: outcome.map(|outcome| ending_sentence(outcome, "judges")).unwrap_or_default(),
            ..Headline::default()
        }
    }

    /// The decision and why come first: the go/no-go line, the critical findings, what each side says. Then what the reader must
    /// decide and do, then how it came about. Figures are details.
    fn outline(&self) -> Outline {
        let mut answer = vec![self.verdict_section()];
        answer.extend(self.critical_findings());
        answer.extend(self.opinions());
        let mut body = Vec::new();
        body.extend(self.attention());
        body.extend(self.recommendations());
        body.extend(self.scores());
        let mut details = Vec::new();
        details.extend(self.disputes());
        details.extend(self.other_findings());
        details.extend(self.claims());
        details.extend(self.dimensions());
        details.extend(self.score_changes());
        details.push(self.metrics());
        Outline { answer, body, details, ..Outline::default() }
    }

    /// The status in a word. A tie has no band.
    fn status(&self) -> (SectionKind, VerdictTone, &'static str) {
        match self.verdict.status {
            _ if self.decision == PanelDecision::NoMajority => {
                (SectionKind::NoAnswer, VerdictTone::Warn, "NO MAJORITY")
            }
            Some(PanelStatus::Green) => (SectionKind::Answer, VerdictTone::Good, "GREEN"),
            Some(PanelStatus::Yellow) => (SectionKind::Answer, VerdictTone::Warn, "YELLOW"),
            Some(PanelStatus::Red) => (SectionKind::NoAnswer, VerdictTone::Bad, "RED"),
            None => (SectionKind::NoAnswer, VerdictTone::Warn, "No verdict"),
        }
    }

    fn verdict_section(&self) -> ReportSection {
        let (kind, tone, _) = self.status();
        let mut blocks = vec![ReportBlock::Headline(tone, self.go_line())];
        blocks.push(ReportBlock::Line(self.why()));
        ReportSection::new(kind, "Verdict", blocks)
    }

    /// One line that says whether to go ahead.
    fn go_line(&self) -> String {
        let held: Vec<&CriticalFindingRecord> = self.verdict.held_findings().collect();
        let ids: Vec<String> = held.iter().map(|finding| format!("[{}]", finding.finding_id)).collect();
        match (self.verdict.status, self.status().2) {
            (None, word) => word.to_owned(),
            (_, word @ "NO MAJORITY") => format!("UNDECIDED: {word}"),
            (Some(status), word) if !ids.is_empty() => {
                let (ids, are) = (joined(&ids), if ids.len() == 1 { "is" } else { "are" });
                match status {
                    // To settle the findings would not be enough.
                    PanelStatus::Red => format!("NO GO ({word}), and {ids} {are} not settled"),
                    _ => format!("NO GO until {ids} {are} settled ({word})"),
                }
            }
            (Some(PanelStatus::Green), word) => format!("GO ({word})"),
            (Some(PanelStatus::Yellow), word) => format!("GO WITH CHANGES ({word})"),
            (Some(PanelStatus::Red), word) => format!("NO GO ({word})"),
        }
    }

    /// The critical findings that somebody holds, then what was decided, by how many judges, and how sure it is.
    fn why(&self) -> String {
        let judges = self.verdict.judges.len();
        let findings = self.verdict.held_findings().map(|finding| match finding.held_by.len() {
            n if n == judges => {
                format!("All {judges} judges hold the critical finding {}.", stop(&finding.named()))
            }
            n => {
                let hold = if n == 1 { "holds" } else { "hold" };
                format!("{n} of {judges} judges {hold} the critical finding {}.", stop(&finding.named()))
            }
        });
        let mut sentences: Vec<String> = findings.filter(|_| self.decision != PanelDecision::None).collect();
        sentences.push(self.sentence());
        sentences.join(" ")
    }

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
                    "All {judges} judges together give {} of 5 on average, but there is no consensus: {}.",
                    figure(verdict.majority_score),
                    self.obstacles()
                ),
            },
            VerdictDecision::NoMajority(verdict) => {
                let scores = verdict::scores_written(&verdict.scores);
                format!("No majority: of the scores {scores} no group is nearer together than another.")
            }
            VerdictDecision::None(_) => return self.no_verdict().to_owned(),
        };
        let weighted = self.verdict.weighted_score.map(figure).unwrap_or_default();
        let confidence = self.verdict.confidence().map_or("unknown", ConfidenceLevel::as_str);
        let status = self.verdict.status.filter(|_| self.decision != PanelDecision::NoMajority);
        let band = self.verdict.weighted_score.map(|weighted| self.log.band(weighted));
        let band = match status.zip(band) {
            None => String::new(),
            Some((status, band)) if status == band => format!(", which is {}", band.as_str()),
            Some((status, band)) => {
                format!(", which is {}, but {} with a critical finding", band.as_str(), status.as_str())
            }
        };
        format!("{decided} Confidence {confidence}. The weighted score of all judges is {weighted}{band}.")
    }

    /// What keeps judges whose scores are one group from consensus.
    fn obstacles(&self) -> String {
        let Some(round) = self.log.last() else { return "nobody spoke".to_owned() };
        let mut obstacles = Vec::new();
        if round.check.range > self.verdict.thresholds.consensus_range + 1e-9 {
            obstacles.push(format!("their scores are {} apart", figure(round.check.range)));
        }
        let most = self.verdict.thresholds.dimension_range + 1e-9;
        let far = self.verdict.dimension_consensus.iter().filter(|(_, agreement)| agreement.range > most);
        obstacles.extend(
            far.map(|(key, agreement)| format!("{} is {} apart", spoken(key), figure(agreement.range))),
        );
        if round.check.disputed > 0 {
            obstacles.push(format!("{} open", counted(round.check.disputed as u64, "critical finding")));
        }
        joined(&obstacles)
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

    /// Those that all judges hold first, withdrawn ones last.
    fn critical_findings(&self) -> Option<ReportSection> {
        let states = [FindingState::Adopted, FindingState::Disputed, FindingState::Withdrawn];
        let findings = states.iter().flat_map(|state| {
            self.verdict.critical_findings.iter().filter(move |finding| finding.state == *state)
        });
        section("Critical findings", findings.map(|finding| self.critical_item(finding)).collect())
    }

    /// What each side says. The minority's section is of the same kind as the majority's.
    fn opinions(&self) -> Vec<ReportSection> {
        let [first, second] = match &self.verdict.decision {
            VerdictDecision::Consensus(verdict) => [Some(("Why", &verdict.balanced_assessment)), None],
            VerdictDecision::Majority(verdict) => [
                Some(("The majority's opinion", &verdict.majority_opinion)),
                verdict.minority_opinion.as_ref().map(|opinion| ("The minority's opinion", opinion)),
            ],
            VerdictDecision::NoMajority(verdict) => {
                [Some(("What the judges say", &verdict.balanced_assessment)), None]
            }
            VerdictDecision::None(_) => [None, None],
        };
        let prose = |(title, text): (&str, &String)| {
            // The section has a title of its own.
            let text = text.split_once("\n\n").map_or(text.as_str(), |(_, rest)| rest);
            ReportSection::new(SectionKind::Why, title, vec![ReportBlock::Prose(text.to_owned())])
        };
        first.into_iter().chain(second).map(prose).collect()
    }

    fn attention(&self) -> Option<ReportSection> {
        let items = self.verdict.user_attention_needed.iter();
        let groups: Vec<ReportBlock> = items.map(attention_group).collect();
        let section = ReportSection::new(SectionKind::Part, "What needs your attention", groups);
        (!section.blocks.is_empty()).then_some(section)
    }

    fn recommendations(&self) -> Option<ReportSection> {
        let items = self.verdict.recommendations.iter().map(|advice| {
            let by = advice.made_by.iter().map(|judge| self.maker(judge, advice));
            let by = by.collect::<Vec<_>>().join(", ");
            let fixes = match advice.finding_ids.join(", ") {
                ids if ids.is_empty() => String::new(),
                ids => format!(" For {ids}."),
            };
            let why =
                if advice.rationale.is_empty() { String::new() } else { format!(" {}", advice.rationale) };
            ReportItem {
                who: Some(advice.priority.as_str().to_owned()),
                text: advice.action.clone(),
                note: Some(format!("{by}.{fixes}{why}")),
            }
        });
        section("Recommendations", items.collect())
    }

    /// A judge who makes a recommendation, with its own priority where the list shows a higher one.
    fn maker(&self, judge: &str, shown: &PanelRecommendation) -> String {
        let own = self.log.judges.iter().filter(|other| other.id == judge);
        let own = own.flat_map(|judge| judge.recommendations());
        let own = own.filter(|advice| advice.id.as_ref().is_some_and(|id| shown.ids.contains(id)));
        match own.map(|advice| advice.priority).min() {
            Some(own) if own != shown.priority => format!("{judge} ({})", own.as_str()),
            _ => judge.to_owned(),
        }
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
        let ranges: Vec<f64> = self.verdict.debate_metrics.rounds.values().map(|round| round.range).collect();
        let (ranges, needed) =
            (verdict::scores_written(&ranges), figure(self.verdict.thresholds.consensus_range));
        let line = format!("Apart after each round: {ranges}. Consensus needs {needed} or less.");
        let blocks = vec![ReportBlock::Table(rows), ReportBlock::Line(line)];
        Some(ReportSection::new(SectionKind::Part, "Scores", blocks))
    }

    fn side(&self, judge: &str) -> Option<&'static str> {
        match &self.verdict.decision {
            VerdictDecision::Majority(verdict) if verdict.majority_judges.iter().any(|id| id == judge) => {
                Some("majority")
            }
            VerdictDecision::Majority(_) => Some("minority"),
            VerdictDecision::Consensus(_) | VerdictDecision::NoMajority(_) | VerdictDecision::None(_) => None,
        }
    }

    /// What was in dispute, what is open and what was resolved.
    fn disputes(&self) -> Option<ReportSection> {
        section("Disputes", self.verdict.disputes.iter().map(|dispute| self.dispute_item(dispute)).collect())
    }

    fn dispute_item(&self, dispute: &DisputeRecord) -> ReportItem {
        let rounds = agon_core::wording::rounds(&dispute.open_after_rounds);
        let state = match dispute.state {
            DisputeState::Open => "Open at the end",
            DisputeState::Resolved => "Resolved",
        };
        let is_dimension =
            self.verdict.rubric.iter().any(|dimension| Some(&dimension.key) == dispute.about.as_ref());
        let is_finding = self.log.findings.iter().any(|finding| Some(&finding.id) == dispute.about.as_ref());
        let about = dispute.about.as_deref().unwrap_or_default();
        let text = match (is_dimension, is_finding) {
            (true, _) => format!("The score of {}", spoken(&dispute.topic)),
            (_, true) => format!("Whether [{about}] is critical"),
            _ => dispute.topic.clone(),
        };
        let mut note = vec![format!("{state}; it was open after {rounds}.")];
        let known = self.log.disputes.iter().find(|known| known.id == dispute.dispute_id);
        let said = known.into_iter().flat_map(|known| known.last_entries());
        match (is_dimension || is_finding, about) {
            // What it is about decides whether it is open. The judges may put it in other words.
            (true, _) => note.extend(said.map(|entry| {
                format!("{} puts it so: {}", self.log.ids(&[entry.place]).join(""), sentence(&entry.topic))
            })),
            (false, "") => note.push(format!("Raised by {}.", dispute.raised_by.join(", "))),
            (false, id) => note.push(format!("Raised by {} about [{id}].", dispute.raised_by.join(", "))),
        }
        ReportItem { who: Some(format!("[{}]", dispute.dispute_id)), text, note: Some(note.join(" ")) }
    }

    /// The claims that a change or a dispute cites, so that a reader can look up the ids, and those whose evidence does not verify.
    fn claims(&self) -> Option<ReportSection> {
        let rounds = self.verdict.debate_metrics.rounds.values();
        let reasons =
            rounds.flat_map(|round| round.score_changes.iter().flatten()).map(|change| &change.reason);
        let about = self.verdict.disputes.iter().filter_map(|dispute| dispute.about.as_ref());
        let cited = reasons.chain(about).cloned().collect::<Vec<_>>().join(" ");
        let cited = self.log.cited_ids(&cited, u32::MAX, None);
        let mut items = Vec::new();
        for (judge, claim) in
            self.log.judges.iter().flat_map(|j| j.statement.key_claims.iter().map(move |c| (j, c)))
        {
            let Some(id) = claim.id.as_ref().filter(|id| cited.contains(id) || claim.unverified.is_some())
            else {
                continue;
            };
            let mark = if claim.unverified.is_some() { " (unverified)" } else { "" };
            let note = format!("{}. Evidence{mark}: {}.", judge.id, stop(&claim.evidence));
            items.push(ReportItem {
                who: Some(format!("[{id}]")),
                text: claim.claim.clone(),
                note: Some(note),
            });
        }
        section("Claims that are cited or unverified", items)
    }

    fn critical_item(&self, finding: &CriticalFindingRecord) -> ReportItem {
        let raised = format!("raised by {}", finding.raised_by.join(", "));
        let state = match finding.state {
            FindingState::Adopted => format!("All judges hold it; {raised}."),
            FindingState::Disputed => format!("Open: {}; {raised}.", self.stands(finding)),
            FindingState::Withdrawn => {
                format!("Nobody holds it any more: {}; {raised}.", self.stands(finding))
            }
        };
        let mut note = vec![state];
        match (finding.evidence.as_str(), finding.unverified) {
            ("", _) => note.push("No evidence was given (unverified).".to_owned()),
            (evidence, true) => note.push(format!("Evidence (unverified): {}.", stop(evidence))),
            (evidence, false) => note.push(format!("Evidence: {}.", stop(evidence))),
        }
        if !finding.fix.is_empty() {
            note.push(format!("Fix: {}.", stop(&finding.fix)));
        }
        let same = finding.same_as.iter().map(|id| format!(", {id}")).collect::<String>();
        ReportItem {
            who: Some(format!("[{}{same}]", finding.finding_id)),
            text: finding.finding.clone(),
            note: Some(note.join(" ")),
        }
    }

    /// What the judges think of a finding in the end: `critical (judge-3); real, but not critical (judge-1, judge-2)`.
    fn stands(&self, finding: &CriticalFindingRecord) -> String {
        let mut stands: IndexMap<&str, Vec<&str>> = IndexMap::new();
        for judge in &self.log.judges {
            stands.entry(finding.stand_of(judge.id)).or_default().push(judge.id);
        }
        // Who holds it comes first.
        stands.sort_by_key(|stand, _| *stand != FindingHold::Hold.spoken());
        let told = stands.iter().map(|(stand, judges)| format!("{stand} ({})", judges.join(", ")));
        told.collect::<Vec<_>>().join("; ")
    }

    fn other_findings(&self) -> Option<ReportSection> {
        let items = self.verdict.other_findings.iter().map(|finding| {
            let mark = if finding.unverified { "; evidence unverified" } else { "" };
            let priority = match finding.priority {
                FindingSeverity::Critical | FindingSeverity::High => "High",
                FindingSeverity::Medium => "Medium",
                FindingSeverity::Low => "Low",
            };
            let same = match finding.same_as.join(", ") {
                ids if ids.is_empty() => ids,
                ids => format!("; the same as {ids}"),
            };
            let note = format!("{priority}; {}{same}{mark}", finding.source_judges.join(", "));
            let who = finding.id.as_ref().map(|id| format!("[{id}]"));
            ReportItem { who, text: finding.finding.clone(), note: Some(note) }
        });
        section("Other findings", items.collect())
    }

    /// The dimensions by judge. One row for each dimension, so that seven judges fit.
    fn dimensions(&self) -> Option<ReportSection> {
        let judges = &self.verdict.judges;
        let mut head = vec!["Dimension".to_owned()];
        head.extend(judges.iter().map(|judge| judge.judge_id.replace("judge-", "J")));
        head.extend(["Avg".to_owned(), "Gap".to_owned()]);
        let mut rows = vec![head];
        for (key, agreement) in &self.verdict.dimension_consensus {
            let scores = judges.iter().map(|judge| judge.dimension_scores.get(key).copied());
            let scores = scores.map(|score| score.map(figure).unwrap_or_default());
            let figures = [agreement.average, agreement.range].map(figure);
            rows.push(std::iter::once(spoken(key)).chain(scores).chain(figures).collect());
        }
        let weights = self.verdict.rubric.iter().map(|d| format!("{} {}", spoken(&d.key), figure(d.weight)));
        let needed = figure(self.verdict.thresholds.dimension_range);
        let line = format!(
            "Consensus needs {needed} or less apart. Weights: {}.",
            weights.collect::<Vec<_>>().join(", ")
        );
        let blocks = vec![ReportBlock::Table(rows), ReportBlock::Line(line)];
        (!judges.is_empty()).then(|| ReportSection::new(SectionKind::Part, "By dimension", blocks).folded())
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
        let usd = metrics.cost.estimated_usd;
        let usd = usd.map_or("price unknown".to_owned(), |usd| format!("{} in all", dollars(usd)));
        let line = format!(
            "{} formed; {} resolved, {} open; {}, {usd}.",
            counted(evolution.agreements_formed as u64, "agreement"),
            counted(evolution.disputes_resolved as u64, "dispute"),
            evolution.disputes_remaining,
            counted(metrics.cost.judge_calls as u64, "judge call")
        );
        ReportSection::new(SectionKind::Part, "The debate in figures", vec![ReportBlock::Line(line)])
    }

    /// The verdict for a pipeline.
    fn gate(&self, fail_on: PanelFailOn) -> GateReport {
        let status = self.verdict.status.filter(|_| self.decision != PanelDecision::None);
        let ruling = match status {
            None => GateRuling::Missing,
            Some(_) if !closing::passes(&self.verdict, &self.decision, fail_on) => GateRuling::Blocked,
            Some(PanelStatus::Green) => GateRuling::Passed,
            Some(PanelStatus::Yellow | PanelStatus::Red) => GateRuling::Warned,
        };
        let findings = self.verdict.critical_findings.iter().map(|finding| self.gate_finding(finding));
        GateReport {
            ruling,
            verdict: status.map(|_| self.status().2.to_owned()),
            meaning: format!("{}. {}", self.go_line(), self.why()),
            target: self.log.title(),
            path: self.log.packet.paths().next().map(str::to_owned),
            fails_on_warn: fail_on == PanelFailOn::Yellow,
            footer: None,
            judges: self.verdict.judges.iter().map(gate_judge).collect(),
            findings: findings.collect(),
        }
    }

    fn gate_finding(&self, finding: &CriticalFindingRecord) -> GateFinding {
        let place = self.log.packet.locate(&finding.evidence).filter(|_| !finding.unverified);
        let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let dropped = finding.state == FindingState::Withdrawn;
        GateFinding {
            severity: if dropped { GateSeverity::Minor } else { GateSeverity::Critical },
            description: finding.finding.clone(),
            category: None,
            recommendation: text(&finding.fix),
            location: text(&finding.evidence),
            file: place.as_ref().map(|place| place.file.clone()),
            line: place.as_ref().and_then(|place| place.line),
            end_line: place.and_then(|place| place.end_line),
            judges: finding.raised_by.clone(),
            dropped_by: if dropped { finding.raised_by.clone() } else { Vec::new() },
            dropped,
            unverified: finding.unverified,
        }
    }
}

fn gate_judge(judge: &JudgeResult) -> GateJudge {
    GateJudge {
        name: format!("{} ({})", judge.judge_id, judge.stance.as_str()),
        seat: judge.judge_id.clone(),
        vendor: judge.model.split_once('/').map(|(vendor, _)| vendor.to_owned()),
        verdict: Some(figure(judge.score)),
        confidence: None,
        key_insight: None,
        recommendation: None,
        round: u8::try_from(judge.scores.len()).ok(),
        findings: Vec::new(),
        notes: Vec::new(),
        absence: None,
    }
}

/// A section with a list; none where the list is empty.
fn section(title: &str, items: Vec<ReportItem>) -> Option<ReportSection> {
    let is_empty = items.is_empty();
    let section = ReportSection::new(SectionKind::Part, title, vec![ReportBlock::Items(items)]);
    (!is_empty).then_some(section)
}

/// A text without the full stop that the sentence around it adds.
fn stop(text: &str) -> &str {
    text.trim_end_matches('.')
}

fn attention_group(item: &AttentionItem) -> ReportBlock {
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut pair = |name: &str, text: &str| {
        if !text.trim().is_empty() && text != item.issue {
            pairs.push((name.to_owned(), text.to_owned()));
        }
    };
    match (&item.majority_view, &item.minority_view) {
        (Some(majority), Some(minority)) => {
            pair("Majority", majority);
            pair("Minority", minority);
        }
        _ => item.views.iter().for_each(|view| pair(&view.judge_id, &view.view)),
    }
    pair("At stake", item.stakes.as_deref().unwrap_or_default());
    pair("Suggested", item.recommendation.as_deref().unwrap_or_default());
    if pairs.is_empty() {
        pairs.push(("Asked by".to_owned(), item.raised_by.join(", ")));
    }
    let badges = if item.ids.is_empty() { Vec::new() } else { vec![item.ids.join(", ")] };
    ReportBlock::Group { title: item.issue.clone(), badges, blocks: vec![ReportBlock::Pairs(pairs)] }
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
        n => format!(", {} open", counted(n as u64, "critical finding")),
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

/// The files that `--save` writes: every judge's statements, the verdict and the metrics, with the seed's fields.
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
    let raised = match &mut said {
        JudgeStatement::Position(statement) => {
            stance = Some(judge.stance);
            &mut statement.critical_findings[..]
        }
        JudgeStatement::Rebuttal(rebuttal) => {
            score_changed = Some(rebuttal.is_changed());
            rebuttal.score_changed = None;
            &mut rebuttal.critical_findings[..]
        }
        JudgeStatement::Final(_) => {
            is_final = Some(true);
            &mut []
        }
    };
    // A critical finding blocks consensus even where its judge did not say so.
    for raised in raised {
        raised.blocks_consensus.get_or_insert(raised.severity == FindingSeverity::Critical);
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
