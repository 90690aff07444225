//! What readers see of a `panel`: headline, outline, round tables, the gate, the seed's records and what can be cited by an id.

use agon_core::view::ending_sentence;
use agon_core::wording::{self, capitalized, counted, sentence, spoken};
use agon_core::{
    Ballot, CitableText, Corrupt, DebateView, Fate, GateFinding, GateJudge, GateReport, GateRuling,
    GateSeverity, Headline, Outline, RecordBody, ReportBlock, ReportItem, ReportSection, RoundSummary,
    SavedRecord, SeatVote, SectionKind, Termination, VerdictTone, timestamps,
};
use serde_json::{Value, json};

use super::closing;
use super::consensus::{PanelDecision, TOLERANCE, mean, range};
use super::disputes::{self, DisputeTopic, PanelDispute};
use super::findings::{CriticalFindingRecord, FindingPositionRecord, evidence_lines};
use super::follow_up::{AttentionItem, JudgeView, PanelFollowUp};
use super::log::{JudgeStanding, PanelJudge, PanelLog, PanelRound};
use super::replies::RebuttalStatement;
use super::verdict::{self, PanelFinding, PanelVerdict, VerdictDecision};
use super::{PanelFailOn, PanelPhase, PanelStatus, RAPPORTEUR, figure, wire_name};
use crate::quotes::is_same_text;
use crate::report_sections::{list_section, table_rows};

/// One reading of the log for every face.
pub(super) fn view(log: &PanelLog<'_>) -> Result<DebateView, Corrupt> {
    let outcome = log.debate.outcome.as_ref();
    let decision = outcome.map_or(PanelDecision::None, |outcome| PanelDecision::of(log, outcome.termination));
    let follow_up = PanelFollowUp::new(log, decision);
    let (verdict, other_findings) = (verdict::verdict(&follow_up), verdict::other_findings(log));
    let report = PanelReport { log, follow_up: &follow_up, verdict, other_findings };
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
    // The rapporteur's quotes that are not in what their judges say.
    let failed_quotes = follow_up.summary.failed_quotes.iter().map(|quote| CitableText {
        id: String::new(),
        seat: RAPPORTEUR.to_owned(),
        round: log.rounds.last().map_or(0, |round| round.number),
        text: quote.quote.clone(),
        remark: Some("does not verify"),
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
        citable: follow_up.citable.iter().cloned().chain(failed_quotes).collect(),
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
            note: Some(sentence(&capitalized(&position.reason))),
        })
        .collect()
}

/// Describes one verdict.
pub(super) struct PanelReport<'a> {
    pub(super) log: &'a PanelLog<'a>,
    follow_up: &'a PanelFollowUp<'a>,
    pub(super) verdict: PanelVerdict,
    pub(super) other_findings: Vec<PanelFinding>,
}

impl PanelReport<'_> {
    fn headline(&self) -> Headline {
        let outcome = self.log.debate.outcome.as_ref();
        let (_, tone, word) = self.status();
        Headline {
            verdict: self.follow_up.decision.kind().map(|_| word.to_owned()),
            why: outcome.map(|_| self.why()),
            score: self.verdict.score(),
            tone,
            ending: outcome.map(|outcome| ending_sentence(outcome, "judges")).unwrap_or_default(),
            ..Headline::default()
        }
    }

    /// The decision and why come first: the go/no-go line, the critical findings, what each side says. Then what the reader must
    /// decide and do, and the scores. What can be looked up follows.
    fn outline(&self) -> Outline {
        let mut answer = vec![self.verdict_section()];
        answer.extend(self.critical_findings());
        answer.extend(self.opinions());
        let body = [self.attention(), self.recommendations(), self.scores()];
        let details = [self.disputes(), self.other_findings()];
        Outline {
            answer,
            body: body.into_iter().flatten().collect(),
            details: details.into_iter().flatten().collect(),
            ..Outline::default()
        }
    }

    /// The status in a word. A tie has no band.
    fn status(&self) -> (SectionKind, VerdictTone, &'static str) {
        match self.verdict.status {
            _ if self.follow_up.decision == PanelDecision::NoMajority => {
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
        let question = self.log.question().map(|asked| format!("You asked: {asked}"));
        blocks.extend(question.map(ReportBlock::Line));
        let answers = self.log.judges.iter().filter_map(|judge| {
            let text = judge.answer()?.to_owned();
            Some(ReportItem { who: Some(judge.id.to_owned()), text, note: None })
        });
        let answers: Vec<ReportItem> = answers.collect();
        blocks.extend((!answers.is_empty()).then_some(ReportBlock::Items(answers)));
        let gate = self.log.options.fail_on.filter(|_| self.log.debate.outcome.is_some());
        let gate = gate.map(|fail_on| self.gate_sentence(fail_on));
        blocks.extend([self.why()].into_iter().chain(gate).map(ReportBlock::Line));
        ReportSection::new(kind, "Verdict", blocks)
    }

    /// One line that says whether to go ahead, with the critical findings that somebody holds.
    fn go_line(&self) -> String {
        let word = self.status().2;
        let go = match self.follow_up.decision {
            PanelDecision::None => return word.to_owned(),
            PanelDecision::NoMajority => "UNDECIDED",
            PanelDecision::Consensus | PanelDecision::Majority { .. } => {
                self.log.last().map_or("", |last| self.log.go_after(last).0)
            }
        };
        let held: Vec<String> = self.verdict.held_findings().map(|f| format!("[{}]", f.finding_id)).collect();
        let critical =
            if held.is_empty() { String::new() } else { format!(", critical: {}", held.join(", ")) };
        format!("{go} ({word}){critical}")
    }

    fn passes(&self, fail_on: PanelFailOn) -> bool {
        closing::passes(&self.verdict, &self.follow_up.decision, fail_on)
    }

    /// What the gate decided. Only the status decides it, not whether it is a GO.
    fn gate_sentence(&self, fail_on: PanelFailOn) -> String {
        let option = wire_name(fail_on);
        let passes = if self.passes(fail_on) { "passes" } else { "does not pass" };
        format!("The gate (`--fail-on {option}`) {passes}: the status is {}.", self.status().2)
    }

    /// The critical findings that somebody holds, then what was decided, by how many judges, and how sure it is.
    fn why(&self) -> String {
        let Some(confidence) = self.verdict.confidence() else { return self.no_verdict().to_owned() };
        let held = self.verdict.held_findings();
        let mut sentences: Vec<String> = held
            .map(|held| {
                sentence(&format!("Held as critical by {}: {}", held.held_by.join(", "), held.named()))
            })
            .collect();
        sentences.push(self.decided());
        let weighted = self.verdict.weighted_score.map(figure).unwrap_or_default();
        let (confidence, status) = (wire_name(confidence), self.status().2);
        sentences.push(format!("Confidence {confidence}. Weighted score {weighted}, status {status}."));
        sentences.join(" ")
    }

    fn decided(&self) -> String {
        let judges = self.log.judges.len();
        match &self.verdict.decision {
            VerdictDecision::Consensus(verdict) => {
                let [low, high] = verdict.score_range.map(figure);
                let score = figure(verdict.consensus_score);
                format!("Consensus of {judges} judges: {score} of 5, scores from {low} to {high}.")
            }
            VerdictDecision::Majority(verdict) => {
                let (ours, score) = (verdict.majority_judges.join(", "), figure(verdict.majority_score));
                let minority = verdict.minority_score.map_or(String::new(), |score| {
                    format!("; minority ({}): {}", verdict.minority_judges.join(", "), figure(score))
                });
                let count = verdict.majority_judges.len();
                format!(
                    "Majority of {count} of {judges} judges ({ours}): {score} of 5{minority}. No consensus: {}.",
                    self.obstacles()
                )
            }
            VerdictDecision::NoMajority(verdict) => {
                let scores = verdict.scores.iter().copied().map(figure).collect::<Vec<_>>().join(", ");
                format!("No majority: of the scores {scores} no group is nearer together than another.")
            }
            VerdictDecision::None(_) => String::new(),
        }
    }

    /// What of the conditions for a consensus is not met.
    fn obstacles(&self) -> String {
        let (log, mut obstacles) = (self.log, Vec::new());
        let Some(round) = log.last() else { return String::new() };
        if round.check.range > log.options.consensus_range + TOLERANCE {
            obstacles.push(format!("scores {} apart", figure(round.check.range)));
        }
        let most = log.options.dimension_range;
        let far = round.check.dimensions.iter().filter(|range| **range > most + TOLERANCE);
        if let far @ 1.. = far.count() {
            obstacles.push(format!("{} more than {} apart", counted(far as u64, "dimension"), figure(most)));
        }
        if round.check.disputed > 0 {
            obstacles.push(format!("{} open", counted(round.check.disputed as u64, "critical finding")));
        }
        obstacles.join(", ")
    }

    fn no_verdict(&self) -> &'static str {
        match self.log.debate.outcome.as_ref().map(|outcome| outcome.termination) {
            None => "There is no verdict yet.",
            Some(Termination::QuorumLost | Termination::Budget) => {
                "There is no verdict, because fewer than two judges were left."
            }
            Some(_) => "There is no verdict.",
        }
    }

    /// What each side says. The minority's section is of the same kind as the majority's.
    fn opinions(&self) -> Vec<ReportSection> {
        let opinions = match &self.verdict.decision {
            VerdictDecision::Consensus(verdict) => vec![("Why", &verdict.balanced_assessment)],
            VerdictDecision::Majority(verdict) => {
                let minority = verdict.minority_opinion.iter().map(|text| ("The minority's opinion", text));
                std::iter::once(("The majority's opinion", &verdict.majority_opinion))
                    .chain(minority)
                    .collect()
            }
            VerdictDecision::NoMajority(verdict) => {
                vec![("What the judges say", &verdict.balanced_assessment)]
            }
            VerdictDecision::None(_) => Vec::new(),
        };
        let prose = |(title, text): (&str, &String)| {
            // The section has a title of its own.
            let text = text.split_once("\n\n").map_or(text.as_str(), |(_, rest)| rest);
            ReportSection::new(SectionKind::Why, title, vec![ReportBlock::Prose(text.to_owned())])
        };
        let mut sections: Vec<ReportSection> = opinions.into_iter().map(prose).collect();
        let summary = &self.follow_up.summary;
        if let Some(section) = sections.first_mut().filter(|_| summary.opinion.is_some()) {
            let (kept, failed) = (summary.quotes.len(), summary.failed_quotes.len());
            let line = format!("Written by the rapporteur; {kept} of its {} quotes verify.", kept + failed);
            section.blocks.push(ReportBlock::Line(line));
        }
        sections
    }

    fn attention(&self) -> Option<ReportSection> {
        let items = self.follow_up.attention_items();
        let groups: Vec<ReportBlock> = items.iter().map(attention_group).collect();
        let is_empty = groups.is_empty();
        (!is_empty).then(|| ReportSection::new(SectionKind::Part, "What needs your attention", groups))
    }

    fn recommendations(&self) -> Option<ReportSection> {
        let items = self.follow_up.recommendations();
        let items = items.iter().map(|advice| {
            let mut note = vec![format!("{}.", advice.made_as.join(", "))];
            if !advice.finding_ids.is_empty() {
                note.push(format!("For {}.", advice.finding_ids.join(", ")));
            }
            note.extend(Some(sentence(&advice.rationale)).filter(|why| !why.is_empty()));
            let others = advice.merged_from.iter().filter(|own| !is_same_text(&own.view, &advice.action));
            note.extend(others.map(|own| format!("{}: {}", own.judge_id, sentence(&own.view))));
            let (who, text) = (Some(wire_name(advice.priority)), advice.action.clone());
            ReportItem { who, text, note: Some(note.join(" ")) }
        });
        list_section("Recommendations", items)
    }

    /// The scores in the end. One row for each dimension, so that seven judges fit.
    fn scores(&self) -> Option<ReportSection> {
        let (log, standings) = (self.log, self.log.last_standings());
        let row = |name: &str, score: &dyn Fn(&JudgeStanding) -> Option<f64>| -> Vec<String> {
            let scores: Vec<f64> = standings.iter().filter_map(score).collect();
            let figures = scores.iter().copied().map(figure);
            let mut row: Vec<String> = std::iter::once(name.to_owned()).chain(figures).collect();
            row.extend([wording::score(mean(&scores)), figure(range(&scores))]);
            row
        };
        let mut head = vec!["Score".to_owned()];
        head.extend(log.judges.iter().map(|judge| judge.id.replace("judge-", "J")));
        head.extend(["Avg".to_owned(), "Gap".to_owned()]);
        let mut rows = vec![head, row("overall", &|standing| Some(standing.score))];
        for (place, key) in log.rubric.keys().enumerate() {
            rows.push(row(&spoken(key), &|standing| standing.dimensions.get(place).copied()));
        }
        rows.push(row("weighted", &|standing| Some(log.rubric.weighted(&standing.dimensions))));
        let weights = log.rubric.dimensions.iter().map(|d| format!("{} {}", spoken(&d.key), d.weight));
        let line = format!("Weights: {}.", weights.collect::<Vec<_>>().join(", "));
        let blocks = vec![ReportBlock::Table(rows), ReportBlock::Line(line)];
        (!standings.is_empty()).then(|| ReportSection::new(SectionKind::Part, "Scores", blocks))
    }

    fn disputes(&self) -> Option<ReportSection> {
        let disputes = disputes::listed(self.log).into_iter();
        list_section("Disputes", disputes.map(|dispute| self.dispute_item(dispute)))
    }

    /// What judges say of a dispute that is open stands in what needs attention.
    fn dispute_item(&self, dispute: &PanelDispute) -> ReportItem {
        let rounds = self.log.rounds.iter().zip(&dispute.open_after).filter(|(_, open)| **open);
        let rounds: Vec<u32> = rounds.map(|(round, _)| round.number).collect();
        let state = if dispute.is_open() { "Open" } else { "Resolved" };
        let mut note = vec![format!("{state} in the end; open after {}.", wording::rounds(&rounds))];
        let about = dispute.about(self.log);
        let text = match &dispute.topic {
            DisputeTopic::Dimension(_) => format!("The score of {}", spoken(&dispute.text)),
            DisputeTopic::Finding(_) => format!("Whether [{}] is critical", about.unwrap_or_default()),
            DisputeTopic::Point(_) => {
                note.extend(about.map(|id| format!("About [{id}].")));
                note.extend(dispute.given_up.iter().map(|(place, round, words)| {
                    let who = self.log.ids(&[*place]).join("");
                    sentence(&format!("{who} concedes in round {round}: {words}"))
                }));
                dispute.text.clone()
            }
        };
        let ids: Vec<&str> = dispute.ids().map(String::as_str).collect();
        ReportItem { who: Some(format!("[{}]", ids.join(", "))), text, note: Some(note.join(" ")) }
    }

    /// The verdict for a pipeline.
    fn gate(&self, fail_on: PanelFailOn) -> GateReport {
        let status = self.verdict.status;
        let ruling = match status {
            None => GateRuling::Missing,
            Some(_) if !self.passes(fail_on) => GateRuling::Blocked,
            Some(PanelStatus::Green) => GateRuling::Passed,
            Some(PanelStatus::Yellow | PanelStatus::Red) => GateRuling::Warned,
        };
        let findings = self.verdict.critical_findings.iter().map(|finding| self.gate_finding(finding));
        let judges = self.log.judges.iter().zip(self.log.last_standings());
        let round = u8::try_from(self.log.counted_rounds().count()).ok();
        GateReport {
            ruling,
            verdict: status.map(|_| self.status().2.to_owned()),
            meaning: format!("{}. {} {}", self.go_line(), self.gate_sentence(fail_on), self.why()),
            target: self.log.title(),
            path: self.log.packet.paths().next().map(str::to_owned),
            fails_on_warn: fail_on == PanelFailOn::Yellow,
            footer: None,
            judges: judges.map(|(judge, standing)| gate_judge(judge, standing, round)).collect(),
            findings: findings.collect(),
        }
    }

    fn gate_finding(&self, finding: &CriticalFindingRecord) -> GateFinding {
        let place = evidence_lines(self.log, &finding.evidence).filter(|_| !finding.unverified);
        let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let judges = self.log.judges.iter().map(|judge| judge.id);
        let behind = judges.filter(|id| finding.raised_by.iter().chain(&finding.held_by).any(|by| by == id));
        let positions = finding.positions.iter().map(FindingPositionRecord::told);
        GateFinding {
            severity: if finding.state.is_held() { GateSeverity::Critical } else { GateSeverity::Minor },
            description: sentence(&finding.finding),
            category: None,
            recommendation: text(&finding.fix),
            location: text(&finding.evidence),
            file: place.as_ref().map(|place| place.file.clone()),
            line: place.as_ref().and_then(|place| place.line),
            end_line: place.and_then(|place| place.end_line),
            judges: behind.map(str::to_owned).collect(),
            remarks: std::iter::once(self.state(finding)).chain(positions).collect(),
            // The remarks say who gave it up and when.
            dropped_by: Vec::new(),
            dropped: false,
            unverified: finding.unverified,
        }
    }
}

fn attention_group(item: &AttentionItem) -> ReportBlock {
    let mut pairs: Vec<(String, String)> =
        item.views.iter().map(|view| (view.judge_id.clone(), view.view.clone())).collect();
    if let [JudgeView { judge_id, opposing_view: Some(other), .. }] = item.views.as_slice() {
        pairs.push((format!("Other side, as {judge_id} puts it"), other.clone()));
    }
    pairs.extend(item.stakes.iter().map(|stakes| ("At stake".to_owned(), stakes.clone())));
    pairs.extend(item.recommendation.iter().map(|action| ("Suggested".to_owned(), action.clone())));
    pairs.retain(|(_, text)| !text.trim().is_empty() && *text != item.issue);
    if pairs.is_empty() {
        pairs.push(("Asked by".to_owned(), item.raised_by.join(", ")));
    }
    // The issue of a finding begins with its id.
    let ids = item.ids.iter().filter(|id| !item.issue.starts_with(&format!("[{id}]")));
    let ids = ids.map(String::as_str).collect::<Vec<_>>().join(", ");
    let badges = Some(ids).filter(|ids| !ids.is_empty()).into_iter().collect();
    ReportBlock::Group { title: item.issue.clone(), badges, blocks: vec![ReportBlock::Pairs(pairs)] }
}

fn gate_judge(judge: &PanelJudge<'_>, standing: &JudgeStanding, round: Option<u8>) -> GateJudge {
    GateJudge {
        name: format!("{} ({})", judge.id, wire_name(judge.stance)),
        seat: judge.id.to_owned(),
        vendor: judge.model.split_once('/').map(|(vendor, _)| vendor.to_owned()),
        verdict: Some(figure(standing.score)),
        confidence: None,
        key_insight: None,
        recommendation: None,
        round,
        findings: Vec::new(),
        notes: Vec::new(),
        absence: None,
    }
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
    let reached = if round.check.reached { "consensus" } else { "no consensus" };
    let open = match round.check.disputed {
        0 => String::new(),
        n => format!(", {} open", counted(n as u64, "critical finding")),
    };
    let (number, mean, range) = (round.number, figure(mean(&round.scores())), figure(round.check.range));
    format!("Round {number}: mean {mean}, range {range}, {reached}{open}")
}

fn round_rows(log: &PanelLog<'_>, round: &PanelRound) -> Vec<Vec<String>> {
    let judges = log.judges.iter().zip(&round.standings).enumerate();
    let rows = judges.map(|(place, (judge, standing))| {
        let change = log.score_change(place, round.number);
        let change = change.map_or(String::new(), |change| format!(" ({change:+?})"));
        let absent = if standing.present { "" } else { " (carried)" };
        let score = format!("{}{change}{absent}", figure(standing.score));
        let weighted = figure(log.rubric.weighted(&standing.dimensions));
        [judge.id.to_owned(), wire_name(judge.stance), score, weighted]
    });
    table_rows(["Judge", "Stance", "Score", "Weighted"], rows)
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
                records.push(record(format!("round-{}-{}", round.number, judge.id), body));
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

/// A judge's statement as a record: what the seed's template has before the judge's own words, and those.
fn statement_record(
    log: &PanelLog<'_>,
    judge: &PanelJudge<'_>,
    round: &PanelRound,
) -> Result<Option<Value>, Corrupt> {
    let Some(mut words) = log.statement(judge, round.phase)? else { return Ok(None) };
    words.shift_remove("score_changed");
    let is_in = |phase: PanelPhase| round.phase == phase;
    let rebuttal = judge.rebuttal.as_ref().filter(|_| is_in(PanelPhase::Rebuttal));
    let head = json!({
        "judge_id": judge.id,
        "stance": is_in(PanelPhase::Position).then_some(judge.stance),
        "round": round.number,
        "is_final": is_in(PanelPhase::Final).then_some(true),
        "timestamp": timestamps::later(&log.debate.brief.created_at, round.ended_at_ms),
        "score_changed": rebuttal.map(RebuttalStatement::is_changed),
    });
    let Value::Object(mut record) = head else { return Ok(None) };
    record.retain(|_, value| !value.is_null());
    record.append(&mut words);
    Ok(Some(Value::Object(record)))
}

impl PanelLog<'_> {
    /// What can be cited by an id: every finding, claim and recommendation, as its judge's reply has it, and points without an id whose evidence does not verify.
    pub(super) fn citable(&self) -> Vec<CitableText> {
        let mut texts = Vec::new();
        for judge in &self.judges {
            let said = &judge.statement;
            let raised =
                judge.raised().map(|(round, raised)| (&raised.id, round, &raised.finding, raised.unverified));
            let claims = said.key_claims.iter().map(|claim| (&claim.id, 1, &claim.claim, claim.unverified));
            let first = said.recommendations.iter().map(|advice| (&advice.id, 1, &advice.action, None));
            let last = judge.last.iter().flat_map(|said| &said.recommendations);
            let last = last.map(|advice| (&advice.id, 3, &advice.action, None));
            let rejected = judge.rebuttal.iter().flat_map(|said| &said.disagreements);
            let rejected = rejected.map(|point| (&None, 2, &point.on_point, point.unverified));
            let maintained = judge.last.iter().flat_map(|said| &said.key_points_maintained);
            let maintained = maintained.map(|point| (&None, 3, &point.point, point.unverified));
            let points = raised.chain(claims).chain(first).chain(last).chain(rejected).chain(maintained);
            let points = points.filter(|(id, .., unverified)| id.is_some() || unverified.is_some());
            texts.extend(points.map(|(id, round, text, unverified)| CitableText {
                id: id.clone().unwrap_or_default(),
                seat: judge.id.to_owned(),
                round,
                text: text.clone(),
                remark: unverified.map(|_| "evidence unverified"),
            }));
        }
        texts
    }
}
