//! What the judges found: the critical findings and who holds them, the issues that stay open, the points that judges accept from
//! each other, and what follows from these: the convergent, shared and divergent findings of the verdict.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::consensus::{self, FindingState, TOLERANCE, dimension_scores, extremes, mean};
use super::log::{PanelJudge, PanelLog};
use super::replies::{FindingHold, FindingPosition, FindingSeverity};
use super::{PanelPhase, PanelStatus, figure};
use crate::lexical;

/// A critical finding of round 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CriticalFinding {
    /// `F1`, `F2`... in seat order.
    pub(super) id: String,
    pub(super) finding: String,
    pub(super) evidence: String,
    /// The places of the judges who raised it, several where their words are the same.
    pub(super) raised_by: Vec<usize>,
}

/// The critical findings of round 1, numbered in seat order. The same words are the same finding.
pub(super) fn critical_findings(judges: &[PanelJudge<'_>]) -> Vec<CriticalFinding> {
    let mut findings: Vec<CriticalFinding> = Vec::new();
    for (place, judge) in judges.iter().enumerate() {
        let raised = judge.statement.critical_findings.iter();
        for raised in raised.filter(|raised| raised.severity == FindingSeverity::Critical) {
            match findings.iter_mut().find(|other| same_words(&other.finding, &raised.finding)) {
                Some(same) if same.raised_by.contains(&place) => {}
                Some(same) => same.raised_by.push(place),
                None => findings.push(CriticalFinding {
                    id: format!("F{}", findings.len() + 1),
                    finding: raised.finding.trim().to_owned(),
                    evidence: raised.evidence.trim().to_owned(),
                    raised_by: vec![place],
                }),
            }
        }
    }
    findings
}

/// Whether two texts differ only in case, white space and final punctuation. Signs count: `< 30 s` is not `> 30 s`.
pub(super) fn same_words(one: &str, other: &str) -> bool {
    let plain = |text: &str| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        match text.trim_end_matches(['.', '!', '?', ';', ',']) {
            "" => text,
            words => words.to_owned(),
        }
    };
    plain(one) == plain(other)
}

/// Whether a judge holds a finding after what it says of it; what it held before counts where it says nothing.
pub(super) fn holds(before: bool, id: &str, positions: &[FindingPosition]) -> bool {
    let position = positions.iter().find(|position| position.finding_id == id);
    position.map_or(before, |position| position.position == FindingHold::Adopt)
}

/// The places of the judges who hold a critical finding in the end.
pub(super) fn holders(log: &PanelLog<'_>, finding: usize) -> Vec<usize> {
    consensus::holders(log.last_standings(), finding)
}

/// What has become of a critical finding in the end.
pub(super) fn state(log: &PanelLog<'_>, finding: usize) -> FindingState {
    FindingState::of(&holders(log, finding), log.judges.len())
}

/// The critical findings in this state, with their places.
pub(super) fn in_state<'a>(
    log: &'a PanelLog<'_>,
    wanted: FindingState,
) -> impl Iterator<Item = (usize, &'a CriticalFinding)> {
    log.findings.iter().enumerate().filter(move |(place, _)| state(log, *place) == wanted)
}

/// A critical finding, as the verdict shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CriticalFindingRecord {
    pub finding_id: String,
    pub finding: String,
    pub evidence: String,
    pub raised_by: Vec<String>,
    pub held_by: Vec<String>,
    pub state: FindingState,
    /// Everything that was said of it, by round and in seat order.
    pub positions: Vec<FindingPositionRecord>,
}

/// What a judge said of a critical finding in a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingPositionRecord {
    pub round: u32,
    pub judge_id: String,
    pub position: FindingHold,
    pub reason: String,
}

/// The critical findings of the verdict.
pub(super) fn critical_finding_records(log: &PanelLog<'_>) -> Vec<CriticalFindingRecord> {
    let record = |(place, finding): (usize, &CriticalFinding)| CriticalFindingRecord {
        finding_id: finding.id.clone(),
        finding: finding.finding.clone(),
        evidence: finding.evidence.clone(),
        raised_by: log.ids(&finding.raised_by),
        held_by: log.ids(&holders(log, place)),
        state: state(log, place),
        positions: finding_positions(log, &finding.id),
    };
    log.findings.iter().enumerate().map(record).collect()
}

fn finding_positions(log: &PanelLog<'_>, id: &str) -> Vec<FindingPositionRecord> {
    let mut records = Vec::new();
    for phase in [PanelPhase::Rebuttal, PanelPhase::Final] {
        for judge in &log.judges {
            let positions = judge.finding_positions(phase).iter();
            records.extend(positions.filter(|said| said.finding_id == id).map(|said| {
                FindingPositionRecord {
                    round: phase.round(),
                    judge_id: judge.id.to_owned(),
                    position: said.position,
                    reason: said.reason.clone(),
                }
            }));
        }
    }
    records
}

/// Something that judges leave open. The same issue of several judges is one.
#[derive(Debug)]
pub(super) struct OpenIssue {
    pub(super) text: String,
    /// Whether the user must decide it. In round 3 a judge says so; every unresolved dispute of round 2 counts, because that round
    /// has no such field.
    pub(super) flagged: bool,
    /// The last round in which somebody left it open.
    pub(super) round: u32,
    pub(super) views: Vec<IssueView>,
}

/// One judge's side of an issue.
#[derive(Debug)]
pub(super) struct IssueView {
    pub(super) place: usize,
    pub(super) mine: String,
    pub(super) theirs: String,
    why: String,
    /// The places of the judges that it contradicts, where it names them.
    against: Vec<usize>,
}

impl OpenIssue {
    /// The judges who leave it open, by place.
    pub(super) fn judges(&self) -> Vec<usize> {
        let places: BTreeSet<usize> = self.views.iter().map(|view| view.place).collect();
        places.into_iter().collect()
    }

    /// The judges that those contradict.
    fn opponents(&self) -> impl Iterator<Item = usize> {
        self.views.iter().flat_map(|view| view.against.iter().copied())
    }

    /// How many judges hold a view of it.
    pub(super) fn count_holders(&self, view: &str) -> usize {
        let holders = self.views.iter().filter(|own| same_point(&own.mine, view)).map(|own| own.place);
        holders.collect::<BTreeSet<_>>().len()
    }

    /// Why it is open, by the first judge who says so.
    pub(super) fn why(&self) -> Option<&str> {
        self.views.iter().map(|view| view.why.as_str()).find(|why| !why.is_empty())
    }
}

/// What the judges leave open, each issue once, the issues of earlier rounds last.
pub(super) fn open_issues<'a>(log: &'a PanelLog<'_>) -> &'a [OpenIssue] {
    log.issues.get_or_init(|| {
        let mut issues: Vec<OpenIssue> = Vec::new();
        for found in log.places().into_iter().flat_map(|place| left_open_by(log, place)) {
            match issues.iter_mut().find(|issue| same_point(&issue.text, &found.text)) {
                Some(issue) => {
                    issue.flagged |= found.flagged;
                    issue.round = issue.round.max(found.round);
                    issue.views.extend(found.views);
                }
                None => issues.push(found),
            }
        }
        issues.sort_by_key(|issue| std::cmp::Reverse(issue.round));
        issues
    })
}

/// What one judge leaves open, each point once: its list of round 3, and what it left open in round 2 and neither lists nor
/// concedes in round 3.
fn left_open_by(log: &PanelLog<'_>, place: usize) -> Vec<OpenIssue> {
    let Some(judge) = log.judges.get(place) else { return Vec::new() };
    let earlier = issues_of_round_2(log, place, judge)
        .into_iter()
        .filter(|issue| !is_conceded(log, place, judge, issue));
    let all = issues_of_round_3(log, place, judge).into_iter().chain(earlier);
    let mut open: Vec<OpenIssue> = Vec::new();
    for issue in all.filter(|issue| !issue.text.is_empty()) {
        match open.iter_mut().find(|other| same_point(&other.text, &issue.text)) {
            Some(same) => {
                // Round 3 has the last word on whether the user must decide.
                same.flagged |= issue.flagged && issue.round == same.round;
                let against = issue.views.into_iter().flat_map(|view| view.against);
                if let Some(view) = same.views.first_mut() {
                    view.against.extend(against);
                }
            }
            None => open.push(issue),
        }
    }
    open
}

fn issues_of_round_3(log: &PanelLog<'_>, place: usize, judge: &PanelJudge<'_>) -> Vec<OpenIssue> {
    let open = judge.last.iter().flat_map(|last| &last.unresolved_disagreements);
    open.map(|left| {
        let view = view(log, place, [&left.my_final_view, &left.opposing_view, &left.why_unresolved]);
        let (text, flagged) = (left.issue.trim().to_owned(), left.user_attention_needed);
        OpenIssue { text, flagged, round: PanelPhase::Final.round(), views: vec![view] }
    })
    .collect()
}

fn issues_of_round_2(log: &PanelLog<'_>, place: usize, judge: &PanelJudge<'_>) -> Vec<OpenIssue> {
    let Some(rebuttal) = &judge.rebuttal else { return Vec::new() };
    let issue = |text: &str, flagged: bool, view: IssueView| {
        let (text, round) = (text.trim().to_owned(), PanelPhase::Rebuttal.round());
        OpenIssue { text, flagged, round, views: vec![view] }
    };
    let disputes = rebuttal.unresolved_disputes.iter().map(|left| {
        let view = view(log, place, [&left.my_view, &left.opposing_view, &left.why_unresolved]);
        issue(&left.topic, true, view)
    });
    let disagreements = rebuttal.disagreements.iter().map(|left| {
        let mut view = view(log, place, [&left.my_counterargument, &left.their_argument, ""]);
        view.against.extend(log.judges.iter().position(|judge| judge.id == left.with_judge));
        issue(&left.on_point, false, view)
    });
    disputes.chain(disagreements).collect()
}

/// A judge's side of an issue. It contradicts the judges that it names as the other side.
fn view(log: &PanelLog<'_>, place: usize, [mine, theirs, why]: [&str; 3]) -> IssueView {
    let others = log.judges.iter().enumerate();
    let against =
        others.filter(|(at, judge)| *at != place && names(theirs, judge.id)).map(|(at, _)| at).collect();
    let trimmed = |text: &str| text.trim().to_owned();
    IssueView { place, mine: trimmed(mine), theirs: trimmed(theirs), why: trimmed(why), against }
}

/// Whether a judge gave up a point of round 2: it concedes it in round 3, or it holds the critical finding that says the same.
fn is_conceded(log: &PanelLog<'_>, place: usize, judge: &PanelJudge<'_>, issue: &OpenIssue) -> bool {
    let mut points = judge.last.iter().flat_map(|last| &last.concessions_made);
    let mut findings = log.findings.iter().enumerate();
    points.any(|concession| same_point(&concession.point, &issue.text))
        || findings.any(|(at, finding)| {
            same_point(&finding.finding, &issue.text) && holders(log, at).contains(&place)
        })
}

/// Whether a text names a judge: `judge-1` is not in `judge-12`.
fn names(text: &str, id: &str) -> bool {
    let mut words = text.split(|c: char| !(c.is_alphanumeric() || c == '-'));
    words.any(|word| word.trim_matches('-').eq_ignore_ascii_case(id))
}

/// Two points with at least this similarity are the same, unless one denies the other.
const SAME_FROM: f64 = 0.8;

/// What one point is to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PointRelation {
    Same,
    Denial,
    Other,
}

impl PointRelation {
    fn of(one: &str, other: &str) -> Self {
        match is_similar(lexical::similarity(one, other)) {
            _ if same_words(one, other) => Self::Same,
            true if lexical::opposed(one, other) => Self::Denial,
            true => Self::Same,
            false => Self::Other,
        }
    }
}

/// Whether two points say the same.
pub(super) fn same_point(one: &str, other: &str) -> bool {
    PointRelation::of(one, other) == PointRelation::Same
}

pub(super) fn is_similar(similarity: f64) -> bool {
    similarity >= SAME_FROM - TOLERANCE
}

/// A point that judges accept from each other.
struct PanelPoint<'a> {
    text: &'a str,
    /// The judges who accepted it, and those who made it.
    accepted_by: BTreeSet<usize>,
    /// Those of them who do not dispute it. A judge disputes it by leaving the same point open, by accepting its denial, or by not
    /// holding the critical finding that says the same.
    shared_by: BTreeSet<usize>,
    /// The places of the open issues that say the same.
    issues: Vec<usize>,
    /// The places of the points that deny it.
    denials: Vec<usize>,
    /// The places of the critical findings that say the same.
    findings: Vec<usize>,
}

fn panel_points<'a>(log: &'a PanelLog<'_>) -> Vec<PanelPoint<'a>> {
    let accepted = accepted_points(log);
    accepted.iter().map(|(text, judges)| panel_point(log, &accepted, text, judges)).collect()
}

fn panel_point<'a>(
    log: &PanelLog<'_>,
    all: &[AcceptedPoint<'_>],
    text: &'a str,
    accepted_by: &BTreeSet<usize>,
) -> PanelPoint<'a> {
    let mut disputed_by = BTreeSet::new();
    let (mut issues, mut denials, mut findings) = (Vec::new(), Vec::new(), Vec::new());
    for (at, issue) in open_issues(log).iter().enumerate() {
        match PointRelation::of(&issue.text, text) {
            PointRelation::Same => {
                issues.push(at);
                disputed_by.extend(issue.judges());
            }
            // A judge who is contradicted in the denial holds the denial.
            PointRelation::Denial => disputed_by.extend(issue.opponents()),
            PointRelation::Other => {}
        }
    }
    for (at, (other, judges)) in all.iter().enumerate() {
        if PointRelation::of(other, text) == PointRelation::Denial {
            denials.push(at);
            disputed_by.extend(judges);
        }
    }
    for (at, finding) in log.findings.iter().enumerate() {
        if same_point(&finding.finding, text) {
            findings.push(at);
            let holders = holders(log, at);
            disputed_by.extend(log.places().into_iter().filter(|judge| !holders.contains(judge)));
        }
    }
    let shared_by = accepted_by.difference(&disputed_by).copied().collect();
    PanelPoint { text, accepted_by: accepted_by.clone(), shared_by, issues, denials, findings }
}

/// A point with the judges who accepted it.
type AcceptedPoint<'a> = (&'a str, BTreeSet<usize>);

/// What judges came to agree on: the agreements of round 2 and the concessions of round 3, each with the judges that it names.
fn accepted_points<'a>(log: &'a PanelLog<'_>) -> Vec<AcceptedPoint<'a>> {
    let mut points: Vec<AcceptedPoint<'a>> = Vec::new();
    let mut add = |text: &'a str, own: usize, is_named: &dyn Fn(&str) -> bool| {
        let text = text.trim();
        let named = log.judges.iter().enumerate().filter(|(_, judge)| is_named(judge.id)).map(|(at, _)| at);
        let judges = std::iter::once(own).chain(named);
        match points.iter_mut().find(|(other, _)| same_point(other, text)) {
            _ if text.is_empty() => {}
            Some((_, accepted_by)) => accepted_by.extend(judges),
            None => points.push((text, judges.collect())),
        }
    };
    for (own, judge) in log.judges.iter().enumerate() {
        for agreement in judge.rebuttal.iter().flat_map(|rebuttal| &rebuttal.agreements) {
            add(&agreement.on_point, own, &|id| id == agreement.with_judge);
        }
    }
    for (own, judge) in log.judges.iter().enumerate() {
        for concession in judge.last.iter().flat_map(|last| &last.concessions_made) {
            add(&concession.point, own, &|id| names(&concession.convinced_by, id));
        }
    }
    points
}

/// A finding of the verdict, with the judges whose it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PanelFinding {
    pub finding: String,
    pub priority: FindingSeverity,
    /// Their ids, or `all`.
    pub source_judges: Vec<String>,
    pub action_required: bool,
    /// The round in which it was left open, where it is an open issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of_round: Option<u32>,
}

impl PanelFinding {
    fn new(
        finding: impl Into<String>,
        priority: FindingSeverity,
        source_judges: Vec<String>,
        action_required: bool,
    ) -> Self {
        Self { finding: finding.into(), priority, source_judges, action_required, as_of_round: None }
    }
}

/// The three lists of findings.
pub(super) struct PanelFindings {
    /// "A conclusion all judges agree on".
    pub(super) convergent: Vec<PanelFinding>,
    /// What several judges share, but not all.
    pub(super) shared: Vec<PanelFinding>,
    /// "A conclusion where judges disagree".
    pub(super) divergent: Vec<PanelFinding>,
}

impl PanelFindings {
    pub(super) fn of(log: &PanelLog<'_>) -> Self {
        let points = panel_points(log);
        Self {
            convergent: convergent(log, &points),
            shared: shared(log, &points),
            divergent: divergent(log, &points),
        }
    }
}

fn all_judges() -> Vec<String> {
    vec!["all".to_owned()]
}

/// Critical findings that all hold, points that all share, and dimensions that all score alike.
fn convergent(log: &PanelLog<'_>, points: &[PanelPoint<'_>]) -> Vec<PanelFinding> {
    let held = in_state(log, FindingState::Adopted);
    let mut found: Vec<PanelFinding> = held
        .map(|(_, held)| PanelFinding::new(&held.finding, FindingSeverity::Critical, all_judges(), true))
        .collect();
    // A point that is also a critical finding is in the list already.
    let all =
        |point: &&PanelPoint<'_>| point.shared_by.len() == log.judges.len() && point.findings.is_empty();
    let points = points.iter().filter(all);
    found.extend(points.map(|point| accepted_finding(log, point, FindingSeverity::Medium, all_judges())));
    found.extend(dimension_findings(log, true));
    found
}

fn shared(log: &PanelLog<'_>, points: &[PanelPoint<'_>]) -> Vec<PanelFinding> {
    // A point that a single judge conceded and nobody is known to share is not agreed on.
    let some = 2..log.judges.len();
    let is_adopted = |at: &usize| state(log, *at) == FindingState::Adopted;
    let is_shared = |point: &&PanelPoint<'_>| {
        some.contains(&point.shared_by.len()) && !point.findings.iter().any(is_adopted)
    };
    let mut points: Vec<&PanelPoint<'_>> = points.iter().filter(is_shared).collect();
    points.sort_by_key(|point| std::cmp::Reverse(point.shared_by.len()));
    let points = points.into_iter();
    points
        .map(|point| accepted_finding(log, point, FindingSeverity::Low, ids(log, &point.shared_by)))
        .collect()
}

/// Disputed critical findings, dimensions that are scored too differently, open issues, and points that some judges accept and
/// others deny.
fn divergent(log: &PanelLog<'_>, points: &[PanelPoint<'_>]) -> Vec<PanelFinding> {
    let mut found = Vec::new();
    for (place, finding) in in_state(log, FindingState::Disputed) {
        let spoke = |judge: &PanelJudge<'_>| judge.last_position_on(&finding.id).is_some();
        let holders = holders(log, place);
        let judges = log.judges.iter().enumerate();
        let judges =
            judges.filter(|(at, judge)| holders.contains(at) || spoke(judge)).map(|(at, _)| at).collect();
        let text = format!("[{}] {}", finding.id, finding.finding);
        found.push(PanelFinding::new(text, FindingSeverity::Critical, ids(log, &judges), true));
    }
    found.extend(dimension_findings(log, false));
    for (place, issue) in open_issues(log).iter().enumerate() {
        let severity = if issue.flagged { FindingSeverity::High } else { FindingSeverity::Medium };
        let mut judges: BTreeSet<usize> = issue.judges().into_iter().chain(issue.opponents()).collect();
        let same = points.iter().filter(|point| point.issues.contains(&place));
        judges.extend(same.flat_map(|point| &point.accepted_by));
        let finding = PanelFinding::new(&issue.text, severity, ids(log, &judges), issue.flagged);
        found.push(PanelFinding { as_of_round: Some(issue.round), ..finding });
    }
    found.extend(denied_points(log, points));
    found
}

/// Points of which some judges accepted one and others its denial, unless a judge leaves one of them open.
fn denied_points(log: &PanelLog<'_>, points: &[PanelPoint<'_>]) -> Vec<PanelFinding> {
    let mut found = Vec::new();
    for (place, one) in points.iter().enumerate() {
        let others = one.denials.iter().filter(|at| **at > place).filter_map(|at| points.get(*at));
        for other in others.filter(|other| one.issues.is_empty() && other.issues.is_empty()) {
            let judges: BTreeSet<usize> = one.accepted_by.union(&other.accepted_by).copied().collect();
            let text = format!("{} (others: {})", one.text, other.text);
            found.push(PanelFinding::new(text, FindingSeverity::Medium, ids(log, &judges), false));
        }
    }
    found
}

fn ids(log: &PanelLog<'_>, judges: &BTreeSet<usize>) -> Vec<String> {
    log.ids(&judges.iter().copied().collect::<Vec<_>>())
}

/// A point as a finding. It is as urgent as the ordinary finding that says the same, else as urgent as `otherwise`.
fn accepted_finding(
    log: &PanelLog<'_>,
    point: &PanelPoint<'_>,
    otherwise: FindingSeverity,
    judges: Vec<String>,
) -> PanelFinding {
    let raised = log.judges.iter().flat_map(|judge| &judge.statement.critical_findings);
    let same = raised.filter(|raised| same_point(&raised.finding, point.text));
    let severity = same.map(|raised| raised.severity).min();
    let action = severity.is_some_and(|severity| severity <= FindingSeverity::High);
    PanelFinding::new(point.text, severity.unwrap_or(otherwise), judges, action)
}

/// The dimensions whose scores are within the range, or those whose are not. The average decides how urgent each is.
fn dimension_findings(log: &PanelLog<'_>, within: bool) -> Vec<PanelFinding> {
    let standings = log.last_standings();
    let most = log.options.dimension_range + TOLERANCE;
    let mut found = Vec::new();
    for (place, key) in log.rubric.keys().enumerate().filter(|_| !standings.is_empty()) {
        let scores = dimension_scores(standings, place);
        let (low, high) = extremes(&scores);
        if (high - low <= most) != within {
            continue;
        }
        let spread = high - low > TOLERANCE;
        let [low, high] = [low, high].map(figure);
        let text = match (within, spread) {
            (true, true) => format!("{key}: all judges between {low} and {high}"),
            (true, false) => format!("{key}: all judges at {low}"),
            (false, _) => format!("{key}: the judges are between {low} and {high}"),
        };
        let (priority, action) = match log.band(mean(&scores)) {
            PanelStatus::Red => (FindingSeverity::High, true),
            PanelStatus::Yellow => (FindingSeverity::Medium, true),
            PanelStatus::Green => (FindingSeverity::Low, false),
        };
        found.push(PanelFinding::new(text, priority, all_judges(), action));
    }
    found
}
