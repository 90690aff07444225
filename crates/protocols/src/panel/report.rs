//! What readers see of a `panel`: headline, outline, round tables, the gate, the seed's records and what can be cited by an id.

use std::collections::BTreeSet;

use agon_core::view::ending_sentence;
use agon_core::wording::{self, capitalized, counted, dollars, joined, sentence, spoken};
use agon_core::{
    Ballot, CitableText, Corrupt, DebateView, Fate, GateFinding, GateJudge, GateReport, GateRuling,
    GateSeverity, Headline, Outline, RecordBody, ReportBlock, ReportItem, ReportLength, ReportSection,
    RoundSummary, SavedRecord, SeatVote, SectionKind, Termination, VerdictTone, timestamps,
};
use serde_json::{Map, Value};

use super::closing;
use super::consensus::{FindingState, PanelDecision, mean, range};
use super::disputes::{DisputeRecord, DisputeState, DisputeTopic, PanelDispute};
use super::findings::{CriticalFindingRecord, evidence_lines};
use super::follow_up::{self, AttentionItem, JudgeView, PanelRecommendation, in_turn};
use super::log::{JudgeStatement, PanelJudge, PanelLog, PanelRound};
use super::replies::ConfidenceLevel;
use super::verdict::{self, JudgeResult, PanelVerdict, VerdictDecision};
use super::{PanelFailOn, PanelPhase, PanelStatus, RAPPORTEUR, figure};
use crate::quotes::is_same_text;

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
        citable: [log.citable(), log.failed_quotes(&report.decision)].concat(),
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
    decision: PanelDecision,
    pub(super) verdict: PanelVerdict,
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
        let question = self.verdict.question.iter().map(|asked| format!("You asked: {asked}"));
        blocks.extend(question.map(ReportBlock::Line));
        let answers = self.verdict.judges.iter().filter_map(|judge| {
            let text = judge.answer_to_question.clone()?;
            Some(ReportItem { who: Some(judge.judge_id.clone()), text, note: None })
        });
        let answers: Vec<ReportItem> = answers.collect();
        blocks.extend((!answers.is_empty()).then_some(ReportBlock::Items(answers)));
        let gate = self.log.options.fail_on.filter(|_| self.log.debate.outcome.is_some());
        let gate = gate.map(|fail_on| self.gate_sentence(fail_on));
        blocks.extend([self.why()].into_iter().chain(gate).map(ReportBlock::Line));
        ReportSection::new(kind, "Verdict", blocks)
    }

    /// One line that says whether to go ahead.
    fn go_line(&self) -> String {
        match (self.verdict.status, self.status().2) {
            (None, word) => word.to_owned(),
            (_, word @ "NO MAJORITY") => format!("UNDECIDED: {word}"),
            (Some(status), word) if self.verdict.held_findings().next().is_some() => match status {
                // To settle the findings would not be enough.
                PanelStatus::Red => format!("NO GO ({word}), with {}", self.to_settle(["to be", "to be"])),
                _ => format!("NO GO until {} ({word})", self.to_settle(["is", "are"])),
            },
            (Some(_), word) => {
                format!("{} ({word})", self.log.last().map_or("", |last| self.log.go_after(last).0))
            }
        }
    }

    /// What must happen to the critical findings that somebody holds: `[F1] is fixed and [F3] is decided or fixed`.
    fn to_settle(&self, [one, several]: [&str; 2]) -> String {
        let states = [(FindingState::Adopted, "fixed"), (FindingState::Disputed, "decided or fixed")];
        let parts = states.map(|(state, done)| {
            let held = self.verdict.held_findings().filter(|finding| finding.state == state);
            let ids: Vec<String> = held.map(|finding| format!("[{}]", finding.finding_id)).collect();
            let are = if ids.len() == 1 { one } else { several };
            (!ids.is_empty()).then(|| format!("{} {are} {done}", joined(&ids)))
        });
        parts.into_iter().flatten().collect::<Vec<_>>().join(" and ")
    }

    /// What the gate decided, and why. Only the status decides it, not whether it is a GO.
    fn gate_sentence(&self, fail_on: PanelFailOn) -> String {
        let (option, failing) = match fail_on {
            PanelFailOn::Red => ("red", "only RED fails it"),
            PanelFailOn::Yellow => ("yellow", "YELLOW and RED fail it"),
        };
        let passes =
            if closing::passes(&self.verdict, &self.decision, fail_on) { "passes" } else { "does not pass" };
        let why = match (&self.decision, self.verdict.status) {
            (PanelDecision::NoMajority, _) => "there is no majority".to_owned(),
            (PanelDecision::None, _) | (_, None) => "there is no verdict".to_owned(),
            (_, Some(status)) => format!("the status is {}, and {failing}", status.as_str()),
        };
        format!("The gate (`--fail-on {option}`) {passes}: {why}.")
    }

    /// The critical findings that somebody holds, then what was decided, by how many judges, and how sure it is.
    fn why(&self) -> String {
        let judges = self.verdict.judges.len();
        let findings = self.verdict.held_findings().map(|finding| {
            let who = match finding.held_by.len() {
                n if n == judges => format!("All {judges} judges hold"),
                1 => format!("1 of {judges} judges ({}) holds", finding.held_by.join("")),
                n => format!("{n} of {judges} judges ({}) hold", finding.held_by.join(", ")),
            };
            sentence(&format!("{who} the critical finding {}", finding.named()))
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
                    "A majority of {} of {judges} judges ({}) gives {} of 5, the minority ({}) {}: {} apart.",
                    verdict.majority_judges.len(),
                    verdict.majority_judges.join(", "),
                    figure(verdict.majority_score),
                    verdict.minority_judges.join(", "),
                    figure(minority),
                    figure(gap)
                ),
                _ => {
                    let score = figure(verdict.majority_score);
                    let why = match self.obstacles() {
                        why if why.is_empty() => why,
                        why => format!(", but there is no consensus: {why}"),
                    };
                    format!("All {judges} judges together give {score} of 5 on average{why}.")
                }
            },
            VerdictDecision::NoMajority(verdict) => {
                let scores = verdict::scores_written(&verdict.scores);
                format!("No majority: of the scores {scores} no group is nearer together than another.")
            }
            VerdictDecision::None(_) => return self.no_verdict().to_owned(),
        };
        let blocked = self.blocked_by_findings();
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
        format!(
            "{decided}{blocked} Confidence {confidence}. The weighted score of all judges is {weighted}{band}."
        )
    }

    /// A sentence where the scores would be a consensus and only critical findings prevent it.
    fn blocked_by_findings(&self) -> String {
        let open = self.verdict.critical_findings.iter();
        let open = open.filter(|finding| finding.state == FindingState::Disputed);
        let ids: Vec<String> = open.map(|finding| format!("[{}]", finding.finding_id)).collect();
        let is_blocked = self.log.last().is_some_and(|round| round.check.scores_agree);
        if ids.is_empty() || !is_blocked {
            return String::new();
        }
        let (s, prevent) = if ids.len() == 1 { ("", "prevents") } else { ("s", "prevent") };
        format!(
            " The scores would be a consensus; the open critical finding{s} {} {prevent} it.",
            joined(&ids)
        )
    }

    /// What keeps judges whose scores are one group from consensus, unless only critical findings do.
    fn obstacles(&self) -> String {
        let round = self.log.last().filter(|round| !round.check.scores_agree);
        let Some(round) = round else { return String::new() };
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
        let mut sections: Vec<ReportSection> = first.into_iter().chain(second).map(prose).collect();
        let summary = follow_up::verified_summary(self.log, &self.decision).unwrap_or_default();
        let written = usize::from(summary.opinion.is_some()) + usize::from(summary.minority.is_some());
        if let Some(last) = written.checked_sub(1).and_then(|at| sections.get_mut(at)) {
            let what = if written == 1 { "Written" } else { "Both opinions were written" };
            let failed = match (summary.failed_quotes.len(), summary.quotes.len()) {
                (0, _) => String::new(),
                (1, left) => format!(" 1 of its {} quotes did not verify and was left out.", left + 1),
                (n, left) => format!(" {n} of its {} quotes did not verify and were left out.", n + left),
            };
            let line = format!("{what} by the rapporteur ({}).{failed}", self.rapporteur());
            last.blocks.push(ReportBlock::Line(line));
        }
        if let [_, second] = sections.as_mut_slice() {
            let line = "The sides are sides in scores alone. On a question or a finding they can be others.";
            second.blocks.push(ReportBlock::Line(line.to_owned()));
        }
        sections
    }

    /// The model that spoke for the rapporteur, and the judges that it also spoke for.
    fn rapporteur(&self) -> String {
        let spoke = self.log.debate.spoke(RAPPORTEUR);
        let is_shared = |judge: &&PanelJudge<'_>| {
            self.log.debate.spoke(judge.id).iter().any(|model| spoke.contains(model))
        };
        let judges = self.log.judges.iter().filter(is_shared).map(|judge| format!("{}'s", judge.id));
        match judges.collect::<Vec<_>>().as_slice() {
            [] => spoke.join(", "),
            judges => format!("{}, also {} model", spoke.join(", "), joined(judges)),
        }
    }

    fn attention(&self) -> Option<ReportSection> {
        let items = self.verdict.user_attention_needed.iter();
        let groups: Vec<ReportBlock> = items.map(|item| self.attention_group(item)).collect();
        let section = ReportSection::new(SectionKind::Part, "What needs your attention", groups);
        (!section.blocks.is_empty()).then_some(section)
    }

    /// The views of the sides: on a critical finding or a point the sides on that, else those of the scores.
    fn attention_group(&self, item: &AttentionItem) -> ReportBlock {
        let mut pairs: Vec<(String, String)> = Vec::new();
        let mut pair = |name: &str, text: &str| {
            if !text.trim().is_empty() && text != item.issue {
                pairs.push((name.to_owned(), text.to_owned()));
            }
        };
        let findings = self.verdict.critical_findings.iter().filter(|finding| self.is_about(item, finding));
        let other_sides: Vec<String> = item.views.iter().filter_map(JudgeView::other_side).collect();
        match (findings.collect::<Vec<_>>().as_slice(), &item.majority_view, &item.minority_view) {
            ([finding], ..) => {
                for (stand, judges) in finding.sides(&self.log.judges) {
                    pair(&capitalized(stand), &side_words(stand, &judges, item));
                }
            }
            ([], Some(majority), Some(minority)) if other_sides.is_empty() => {
                pair("Majority", majority);
                pair("Minority", minority);
            }
            _ => item.views.iter().for_each(|view| pair(&view.judge_id, &view.view)),
        }
        if let ([_], [other_side]) = (item.views.as_slice(), other_sides.as_slice()) {
            pair("Other side", other_side);
        }
        pair("At stake", item.stakes.as_deref().unwrap_or_default());
        pair("Suggested", item.recommendation.as_deref().unwrap_or_default());
        if pairs.is_empty() {
            pairs.push(("Asked by".to_owned(), item.raised_by.join(", ")));
        }
        // The issue of a finding begins with its id.
        let ids: Vec<&str> = item.ids.iter().map(String::as_str).collect();
        let ids: Vec<&str> =
            ids.into_iter().filter(|id| !item.issue.starts_with(&format!("[{id}]"))).collect();
        let badges = if ids.is_empty() { Vec::new() } else { vec![ids.join(", ")] };
        ReportBlock::Group { title: item.issue.clone(), badges, blocks: vec![ReportBlock::Pairs(pairs)] }
    }

    /// Whether an item is about a critical finding, or about a dispute whether it is critical.
    fn is_about(&self, item: &AttentionItem, finding: &CriticalFindingRecord) -> bool {
        let disputes = self.verdict.disputes.iter().filter(|dispute| item.ids.contains(&dispute.dispute_id));
        let about: Vec<&String> = disputes.filter_map(|dispute| dispute.about.as_ref()).collect();
        finding.ids().any(|id| item.ids.contains(id) || about.contains(&id))
    }

    fn recommendations(&self) -> Option<ReportSection> {
        let items = self.verdict.recommendations.iter().map(|advice| {
            let by = advice.made_by.iter().map(|judge| self.maker(judge, advice));
            let by = by.collect::<Vec<_>>().join(", ");
            let fixes = match advice.finding_ids.join(", ") {
                ids if ids.is_empty() => String::new(),
                ids => format!(" For {ids}."),
            };
            let mut note = vec![format!("{by}.{fixes}")];
            note.extend(Some(sentence(&advice.rationale)).filter(|why| !why.is_empty()));
            let others = advice.merged_from.iter().filter(|own| !is_same_text(&own.view, &advice.action));
            note.extend(others.map(|own| format!("{} puts it so: {}", own.judge_id, sentence(&own.view))));
            ReportItem {
                who: Some(advice.priority.as_str().to_owned()),
                text: advice.action.clone(),
                note: Some(note.join(" ")),
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
            row.push(wording::score(judge.weighted));
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
        let rounds = wording::rounds(&dispute.open_after_rounds);
        let state = match dispute.state {
            DisputeState::Open => "Open at the end",
            DisputeState::Resolved => "Resolved",
        };
        let known = self.log.disputes.iter().find(|known| known.id == dispute.dispute_id);
        let about = dispute.about.as_deref().unwrap_or_default();
        let mut note = vec![format!("{state}; it was open after {rounds}.")];
        let critical = self.verdict.critical_findings.iter();
        let critical = critical.filter(|_| dispute.state == DisputeState::Resolved);
        let critical = critical.filter(|finding| finding.ids().any(|id| Some(id) == dispute.about.as_ref()));
        note.extend(critical.flat_map(|finding| finding.moves(self.log, &format!("[{about}]"))));
        let text = match known.map(|known| (known, &known.topic)) {
            Some((_, DisputeTopic::Dimension(_))) => format!("The score of {}", spoken(&dispute.topic)),
            Some((known, DisputeTopic::Finding(_))) => {
                // The positions decide whether it is open. The judges may put it in other words.
                note.extend(known.last_entries().iter().map(|entry| {
                    let who = self.log.ids(&[entry.place]).join("");
                    format!("{who} puts it so: {}", sentence(&entry.topic))
                }));
                format!("Whether [{about}] is critical")
            }
            Some((_, DisputeTopic::Point(_))) | None => {
                let about = if about.is_empty() { String::new() } else { format!(" about [{about}]") };
                note.push(format!("Raised by {}{about}.", dispute.raised_by.join(", ")));
                dispute.topic.clone()
            }
        };
        note.extend(known.into_iter().flat_map(|known| self.settlement(known)));
        let same = dispute.same_as.iter().map(|id| format!(", {id}")).collect::<String>();
        ReportItem { who: Some(format!("[{}{same}]", dispute.dispute_id)), text, note: Some(note.join(" ")) }
    }

    /// Who gave up a side of a point, and which scores of a dimension moved until it was settled.
    fn settlement(&self, dispute: &PanelDispute) -> Vec<String> {
        // Only positions settle whether a finding is critical.
        let is_finding = matches!(dispute.topic, DisputeTopic::Finding(_));
        let given_up = dispute.given_up.iter().map(|(place, round, words)| {
            let who = self.log.ids(&[*place]).join("");
            let told = match (is_finding, words.is_empty()) {
                (true, true) => format!("{who} concedes it in round {round}"),
                (true, false) => format!("{who} concedes in round {round}: {words}"),
                (false, true) => format!("{who} gave up its side in round {round}"),
                (false, false) => format!("{who} gave up its side in round {round} and concedes: {words}"),
            };
            sentence(&told)
        });
        let mut told: Vec<String> = given_up.collect();
        let DisputeTopic::Dimension(at) = dispute.topic else { return told };
        let was_open = |(_, open): &(_, &bool)| **open && dispute.is_resolved();
        let rounds = self.log.rounds.iter().zip(self.log.rounds.iter().skip(1));
        for ((before, after), _) in rounds.zip(&dispute.open_after).filter(was_open) {
            for (judge, (then, now)) in
                self.log.judges.iter().zip(before.standings.iter().zip(&after.standings))
            {
                let scores =
                    then.dimensions.get(at).zip(now.dimensions.get(at)).filter(|(then, now)| then != now);
                told.extend(scores.map(|(then, now)| {
                    let [then, now] = [then, now].map(|score| figure(*score));
                    format!("{} went from {then} to {now} in round {}.", judge.id, after.number)
                }));
            }
        }
        told
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
            let figures = [wording::score(agreement.average), figure(agreement.range)];
            rows.push(std::iter::once(spoken(key)).chain(scores).chain(figures).collect());
        }
        let weights = self.verdict.rubric.iter().map(|d| format!("{} {}", spoken(&d.key), d.weight));
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
                text: format!("{:+?} in {}: {}", change.delta, spoken(name), change.reason),
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
            "In the end {} resolved and {} open; {}, {usd}.",
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
            meaning: format!("{}. {} {}", self.go_line(), self.gate_sentence(fail_on), self.why()),
            target: self.log.title(),
            path: self.log.packet.paths().next().map(str::to_owned),
            fails_on_warn: fail_on == PanelFailOn::Yellow,
            footer: None,
            judges: self.verdict.judges.iter().map(gate_judge).collect(),
            findings: findings.collect(),
        }
    }

    fn gate_finding(&self, finding: &CriticalFindingRecord) -> GateFinding {
        let place = evidence_lines(self.log, &finding.evidence).filter(|_| !finding.unverified);
        let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let judges = self.log.judges.iter().map(|judge| judge.id);
        let behind = judges.filter(|id| finding.raised_by.iter().chain(&finding.held_by).any(|by| by == id));
        let mut remarks = vec![format!("{}.", self.state(finding))];
        remarks.extend(finding.moves(self.log, "it"));
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
            remarks,
            // The remarks say who gave it up and when.
            dropped_by: Vec::new(),
            dropped: false,
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
pub(super) fn section(title: &str, items: Vec<ReportItem>) -> Option<ReportSection> {
    let is_empty = items.is_empty();
    let section = ReportSection::new(SectionKind::Part, title, vec![ReportBlock::Items(items)]);
    (!is_empty).then_some(section)
}

/// What the judges who think the same of a finding say. Their words need not repeat what that is.
fn side_words(stand: &str, judges: &[&str], item: &AttentionItem) -> String {
    let views = item.views.iter().filter(|view| judges.contains(&view.judge_id.as_str()));
    let (silent, speaking): (Vec<_>, Vec<_>) = views.partition(|view| view.view == stand);
    let said = speaking.iter().map(|view| {
        let words = view.view.strip_prefix(&format!("{stand}. ")).unwrap_or(&view.view);
        (view.judge_id.as_str(), words)
    });
    let silent = silent.iter().map(|view| view.judge_id.as_str()).collect::<Vec<_>>().join(", ");
    match in_turn(said) {
        None => silent,
        Some(said) if silent.is_empty() => said,
        Some(said) => format!("{said} Also {silent}."),
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
        let change = change.map_or(String::new(), |change| format!(" ({change:+?})"));
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
                records.push(record(format!("round-{}-{}", round.number, judge.id), Value::Object(body)));
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
) -> Result<Option<Map<String, Value>>, Corrupt> {
    let Some(said) = judge.said(round.phase) else { return Ok(None) };
    let mut words = log.fields(&said)?;
    words.shift_remove("score_changed");
    let stance = matches!(said, JudgeStatement::Position(_)).then(|| judge.stance.as_str().into());
    let is_final = matches!(said, JudgeStatement::Final(_)).then_some(true.into());
    let score_changed = match &said {
        JudgeStatement::Rebuttal(said) => Some(said.is_changed().into()),
        JudgeStatement::Position(_) | JudgeStatement::Final(_) => None,
    };
    let timestamp = timestamps::later(&log.debate.brief.created_at, round.ended_at_ms);
    let known = [
        ("judge_id", Some(judge.id.into())),
        ("stance", stance),
        ("round", Some(round.number.into())),
        ("is_final", is_final),
        ("timestamp", Some(timestamp.into())),
        ("score_changed", score_changed),
    ];
    let known =
        known.into_iter().filter_map(|(key, value): (&str, Option<Value>)| Some((key.to_owned(), value?)));
    Ok(Some(known.chain(words).collect()))
}

impl PanelLog<'_> {
    /// What can be cited by an id: every finding, claim and recommendation, as its judge's reply has it, and points without an id whose evidence does not verify.
    pub(super) fn citable(&self) -> Vec<CitableText> {
        let citable = |id: &str, seat: &str, phase: PanelPhase, text: &str, remark| CitableText {
            id: id.to_owned(),
            seat: seat.to_owned(),
            round: phase.round(),
            text: text.to_owned(),
            remark,
        };
        let evidence = |unverified: Option<bool>| (unverified == Some(true)).then_some("evidence unverified");
        let [first, second, last] = [PanelPhase::Position, PanelPhase::Rebuttal, PanelPhase::Final];
        let mut texts = Vec::new();
        for judge in &self.judges {
            let raised = judge.statement.critical_findings.iter().map(|raised| (first, raised));
            let later = judge.rebuttal.iter().flat_map(|said| &said.critical_findings);
            texts.extend(raised.chain(later.map(|raised| (second, raised))).filter_map(|(phase, raised)| {
                Some(citable(
                    raised.id.as_ref()?,
                    judge.id,
                    phase,
                    &raised.finding,
                    evidence(raised.unverified),
                ))
            }));
            texts.extend(judge.statement.key_claims.iter().filter_map(|claim| {
                Some(citable(claim.id.as_ref()?, judge.id, first, &claim.claim, evidence(claim.unverified)))
            }));
            let later = judge.last.iter().flat_map(|said| &said.recommendations).map(|advice| (last, advice));
            let advice = judge.statement.recommendations.iter().map(|advice| (first, advice)).chain(later);
            texts.extend(advice.filter_map(|(phase, advice)| {
                Some(citable(advice.id.as_ref()?, judge.id, phase, &advice.action, None))
            }));
            let rejected = judge.rebuttal.iter().flat_map(|said| &said.disagreements);
            let rejected = rejected.map(|point| (second, &point.on_point, point.unverified));
            let maintained = judge.last.iter().flat_map(|said| &said.key_points_maintained);
            let maintained = maintained.map(|point| (last, &point.point, point.unverified));
            let unverified = rejected.chain(maintained).filter(|(.., unverified)| unverified.is_some());
            texts.extend(
                unverified.map(|(phase, text, mark)| citable("", judge.id, phase, text, evidence(mark))),
            );
        }
        texts
    }

    /// The rapporteur's quotes that are not in what their judges say.
    pub(super) fn failed_quotes(&self, decision: &PanelDecision) -> Vec<CitableText> {
        let summary = follow_up::verified_summary(self, decision).unwrap_or_default();
        let quotes = summary.failed_quotes.into_iter().map(|quote| CitableText {
            id: String::new(),
            seat: RAPPORTEUR.to_owned(),
            round: self.rounds.last().map_or(0, |round| round.number),
            text: quote.quote,
            remark: Some("does not verify"),
        });
        quotes.collect()
    }
}
