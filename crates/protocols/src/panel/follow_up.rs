//! What the reader must do after the verdict: the items that need attention, and the recommendations.

use serde::{Deserialize, Serialize};

use super::consensus::{self, FindingState, PanelDecision, dimension_scores, mean, range};
use super::findings::{self, CriticalFinding, OpenIssue, open_issues};
use super::log::PanelLog;
use super::{PanelStatus, figure};

/// Something that only the person who asked can decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttentionItem {
    pub issue: String,
    pub majority_view: Option<String>,
    pub minority_view: Option<String>,
    pub stakes: String,
    pub recommendation: String,
    /// What each judge says.
    pub views: Vec<JudgeView>,
    /// The round in which it was left open, where it is an open issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of_round: Option<u32>,
}

/// One judge's view of an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgeView {
    pub judge_id: String,
    pub view: String,
    /// What the judge takes the other side's view to be, where it was asked for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opposing_view: Option<String>,
}

/// The seed's list: open critical findings, then what judges leave open, then dimensions and scores.
pub(super) fn attention_items(log: &PanelLog<'_>, decision: &PanelDecision) -> Vec<AttentionItem> {
    let critical = findings::in_state(log, FindingState::Disputed);
    let mut items: Vec<AttentionItem> =
        critical.map(|(place, finding)| critical_item(log, decision, place, finding)).collect();
    let everything = *decision == PanelDecision::NoMajority;
    let issues = open_issues(log).iter().filter(|issue| everything || issue.flagged);
    items.extend(issues.map(|issue| issue_item(log, decision, issue)));
    items.extend(dimensions_item(log, decision));
    items.extend(scores_item(log, decision));
    items
}

/// Every judge's view.
fn views(log: &PanelLog<'_>, view: impl Fn(usize) -> String) -> Vec<JudgeView> {
    let judges = log.judges.iter().enumerate();
    judges
        .map(|(place, judge)| JudgeView {
            judge_id: judge.id.to_owned(),
            view: view(place),
            opposing_view: None,
        })
        .collect()
}

fn critical_item(
    log: &PanelLog<'_>,
    decision: &PanelDecision,
    place: usize,
    finding: &CriticalFinding,
) -> AttentionItem {
    let holders = findings::holders(log, place);
    let view = |judge: usize| {
        let said = log.judges.get(judge).and_then(|judge| judge.last_position_on(&finding.id));
        let stand = match (holders.contains(&judge), said) {
            (true, _) => "holds it",
            (false, Some(_)) => "does not hold it",
            (false, None) => "takes no position",
        };
        match said.map(|said| said.reason.trim()).filter(|reason| !reason.is_empty()) {
            Some(reason) => format!("{stand}: {reason}"),
            None => stand.to_owned(),
        }
    };
    let side_view = |places: &[usize]| {
        let named = log.ids(places).into_iter().zip(places);
        named.map(|(id, place)| format!("{id} {}", view(*place))).collect::<Vec<_>>().join("; ")
    };
    let [majority_view, minority_view] = decision.sides().map(|side| side.map(side_view));
    let (id, count, judges) = (&finding.id, holders.len(), log.judges.len());
    let evidence = if finding.evidence.is_empty() { "no evidence was given" } else { &finding.evidence };
    AttentionItem {
        issue: format!("[{id}] {}", finding.finding),
        majority_view,
        minority_view,
        stakes: format!("a critical finding, held by {count} of {judges} judges; evidence: {evidence}"),
        recommendation: format!(
            "Settle [{id}] before you go on. Check its evidence: if it is right, resolve it first; if not, say why and go on."
        ),
        views: views(log, view),
        as_of_round: None,
    }
}

fn issue_item(log: &PanelLog<'_>, decision: &PanelDecision, issue: &OpenIssue) -> AttentionItem {
    let id = |place: usize| log.judges.get(place).map_or("", |judge| judge.id);
    // Where a side did not speak to the issue, its view comes from those who did.
    let side_view = |side: &[usize]| {
        let own = issue.views.iter().filter(|view| side.contains(&view.place) && !view.mine.is_empty());
        let own: Vec<String> = own.map(|view| format!("{}: {}", id(view.place), view.mine)).collect();
        if !own.is_empty() {
            return Some(own.join("; "));
        }
        let others = issue.views.iter().filter(|view| !side.contains(&view.place) && !view.theirs.is_empty());
        let others: Vec<String> =
            others.map(|view| format!("{} (as {} puts it)", view.theirs, id(view.place))).collect();
        (!others.is_empty()).then(|| others.join("; "))
    };
    let [majority_view, minority_view] = decision.sides().map(|side| side.and_then(side_view));
    let views = issue.views.iter().map(|view| JudgeView {
        judge_id: id(view.place).to_owned(),
        view: view.mine.clone(),
        opposing_view: Some(view.theirs.clone()),
    });
    AttentionItem {
        issue: issue.text.clone(),
        majority_view,
        minority_view,
        stakes: issue.why().unwrap_or("nobody said what is at stake").to_owned(),
        recommendation: open_ways(log, decision),
        views: views.collect(),
        as_of_round: Some(issue.round),
    }
}

/// The dimensions on which the judges are too far apart for consensus, where there are no two sides whose scores show it.
fn dimensions_item(log: &PanelLog<'_>, decision: &PanelDecision) -> Option<AttentionItem> {
    let without_sides = match decision {
        PanelDecision::NoMajority => true,
        PanelDecision::Majority { minority, .. } => minority.is_empty(),
        PanelDecision::Consensus | PanelDecision::None => false,
    };
    let round = log.last().filter(|_| without_sides)?;
    let most = log.options.dimension_range;
    let apart = log.rubric.keys().zip(&round.check.dimensions).enumerate();
    let apart: Vec<_> = apart.filter(|(_, (_, range))| **range > most + consensus::TOLERANCE).collect();
    if apart.is_empty() {
        return None;
    }
    let name = |key: &str| key.replace('_', " ");
    let ranges = apart.iter().map(|(_, (key, range))| format!("{} ({})", name(key), figure(**range)));
    let ranges = ranges.collect::<Vec<_>>().join(", ");
    let view = |judge: usize| {
        let standing = round.standings.get(judge);
        let scores = apart.iter().filter_map(|(place, (key, _))| {
            let score = standing?.dimensions.get(*place).copied()?;
            Some(format!("{} {}", name(key), figure(score)))
        });
        scores.collect::<Vec<_>>().join(", ")
    };
    Some(AttentionItem {
        issue: format!("Dimensions on which the judges are far apart: {ranges}"),
        majority_view: None,
        minority_view: None,
        stakes: format!("consensus needs {} or less on every dimension", figure(most)),
        recommendation: open_ways(log, decision),
        views: views(log, view),
        as_of_round: None,
    })
}

/// How far the sides are apart, and what that would mean.
fn scores_item(log: &PanelLog<'_>, decision: &PanelDecision) -> Option<AttentionItem> {
    let side_view = |side: &[usize]| {
        let (mean, ids) = (mean(&log.last_scores(side)), log.ids(side).join(", "));
        format!("{} ({ids})", figure(mean))
    };
    let band = |side: &[usize]| log.weighted(side).map_or("unknown", |weighted| log.band(weighted).as_str());
    let (issue, stakes) = match (decision, decision.sides()) {
        (PanelDecision::Majority { .. }, [Some(ours), Some(theirs)]) => {
            let (ours, theirs) = (band(ours), band(theirs));
            let stakes = format!("by its own weighted score the majority is {ours}, the minority {theirs}");
            ("The overall score", stakes)
        }
        (PanelDecision::NoMajority, _) => (
            "The overall score: no group of judges is nearer together than another",
            "there is no verdict, and none was guessed".to_owned(),
        ),
        _ => return None,
    };
    let [majority_view, minority_view] = decision.sides().map(|side| side.map(side_view));
    let scores = log.last_scores(&log.places());
    Some(AttentionItem {
        issue: issue.to_owned(),
        majority_view,
        minority_view,
        stakes,
        recommendation: open_ways(log, decision),
        views: views(log, |place| {
            format!("score {}", scores.get(place).copied().map(figure).unwrap_or_default())
        }),
        as_of_round: None,
    })
}

/// What the user can do about an open item.
fn open_ways(log: &PanelLog<'_>, decision: &PanelDecision) -> String {
    match decision.sides() {
        [Some(ours), Some(theirs)] => format!(
            "Accept the majority's view ({}), address the minority's concerns ({}) before proceeding, or seek additional input.",
            log.ids(ours).join(", "),
            log.ids(theirs).join(", ")
        ),
        _ => "Weigh the judges' views yourself, or seek additional input: the scores do not decide this."
            .to_owned(),
    }
}

/// Something that should be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PanelRecommendation {
    pub priority: RecommendationPriority,
    pub action: String,
    /// Why, where there is consensus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// How many stand behind it, where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consensus_level: Option<ConsensusLevel>,
}

/// The seed's priorities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum RecommendationPriority {
    Must,
    Should,
    Consider,
}

impl RecommendationPriority {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::Consider => "CONSIDER",
        }
    }
}

/// How many of the judges stand behind something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConsensusLevel {
    Unanimous,
    Majority,
    Minority,
}

impl ConsensusLevel {
    fn of(behind: usize, judges: usize) -> Self {
        match behind {
            n if n == judges => Self::Unanimous,
            n if n * 2 > judges => Self::Majority,
            _ => Self::Minority,
        }
    }

    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unanimous => "unanimous",
            Self::Majority => "majority",
            Self::Minority => "minority",
        }
    }
}

/// The seed's list: from the critical findings, the weak dimensions and the open issues, the most urgent first.
pub(super) fn recommendations(log: &PanelLog<'_>, decision: &PanelDecision) -> Vec<PanelRecommendation> {
    let is_consensus = *decision == PanelDecision::Consensus;
    let actions =
        critical_actions(log).into_iter().chain(dimension_actions(log)).chain(issue_actions(log, decision));
    let mut all: Vec<PanelRecommendation> = actions
        .map(|(priority, action, rationale, level)| PanelRecommendation {
            priority,
            action,
            rationale: is_consensus.then_some(rationale),
            consensus_level: (!is_consensus).then_some(level),
        })
        .collect();
    all.sort_by_key(|recommendation| recommendation.priority);
    all
}

/// Priority, action, rationale and how many stand behind it.
type ProposedAction = (RecommendationPriority, String, String, ConsensusLevel);

/// A critical finding is a MUST where all or most hold it, and a CONSIDER where fewer do.
fn critical_actions(log: &PanelLog<'_>) -> Vec<ProposedAction> {
    let held = log.findings.iter().enumerate();
    let held = held.filter(|(place, _)| findings::state(log, *place) != FindingState::Withdrawn);
    held.map(|(place, finding)| {
        let holders = findings::holders(log, place);
        let level = ConsensusLevel::of(holders.len(), log.judges.len());
        let priority = match level {
            ConsensusLevel::Minority => RecommendationPriority::Consider,
            ConsensusLevel::Majority | ConsensusLevel::Unanimous => RecommendationPriority::Must,
        };
        let who = log.ids(&holders).join(", ");
        let action = format!("Resolve [{}]: {}", finding.id, finding.finding);
        (priority, action, format!("a critical finding held by {who}; evidence: {}", finding.evidence), level)
    })
    .collect()
}

/// A dimension with an average below GREEN is a SHOULD, and a CONSIDER where only a few judges are the cause.
fn dimension_actions(log: &PanelLog<'_>) -> Vec<ProposedAction> {
    let is_weak = |score: f64| log.band(score) != PanelStatus::Green;
    let dimensions = log.rubric.keys().enumerate();
    let scored = dimensions.map(|(place, key)| (key, dimension_scores(log.last_standings(), place)));
    let weak = scored.filter(|(_, scores)| !scores.is_empty() && is_weak(mean(scores)));
    weak.map(|(key, scores)| {
        let level = ConsensusLevel::of(scores.iter().filter(|score| is_weak(**score)).count(), scores.len());
        let priority = match level {
            ConsensusLevel::Minority => RecommendationPriority::Consider,
            ConsensusLevel::Majority | ConsensusLevel::Unanimous => RecommendationPriority::Should,
        };
        let (average, apart) = (figure(mean(&scores)), figure(range(&scores)));
        let action = format!("Improve {} ({average} on average)", key.replace('_', " "));
        let band = log.band(mean(&scores)).as_str();
        (priority, action, format!("{band}: average {average}, range {apart}"), level)
    })
    .collect()
}

/// What the minority leaves open is a CONSIDER; where there are no sides, what anybody leaves open.
fn issue_actions(log: &PanelLog<'_>, decision: &PanelDecision) -> Vec<ProposedAction> {
    let counts = |place: usize| match decision.sides() {
        [_, Some(minority)] => minority.contains(&place),
        _ => true,
    };
    let last = log.last().map_or(0, |round| round.number);
    let issues = open_issues(log).iter().filter(|issue| issue.judges().into_iter().any(counts));
    issues
        .map(|issue| {
            let shown = issue.views.iter().find(|view| counts(view.place) && !view.mine.is_empty());
            let view = shown.map_or(String::new(), |view| format!(" - {}", view.mine));
            let judges = issue.judges();
            // Those who hold the view stand behind it; without a view, those who leave the issue open.
            let behind = shown.map_or(judges.len(), |shown| issue.count_holders(&shown.mine));
            let who = log.ids(&judges).join(", ");
            let when = if issue.round < last { format!(" in round {}", issue.round) } else { String::new() };
            let why = issue.why().map_or(String::new(), |why| format!(": {why}"));
            let level = ConsensusLevel::of(behind, log.judges.len());
            let rationale = format!("left open by {who}{when}{why}");
            (RecommendationPriority::Consider, format!("{}{view}", issue.text), rationale, level)
        })
        .collect()
}
