//! What follows from a debate: what needs the reader's attention, what the judges recommend, and what the rapporteur makes of it.
//!
//! Everything is in the judges' own words. The rapporteur may put items together that say the same, by their ids, and sum up the
//! opinions, as far as its quotes verify.

use std::collections::BTreeSet;

use agon_core::wording::{capitalized, sentence};
use agon_core::{CitableText, ReplyFault};
use indexmap::IndexSet;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::consensus::{FindingState, PanelDecision, TOLERANCE, mean};
use super::disputes::{DisputeTopic, PanelDispute};
use super::findings::CriticalFindingRecord;
use super::log::{PanelJudge, PanelLog};
use super::replies::{
    JudgeQuote, JudgeRecommendation, MergedItems, RapporteurSummary, RecommendationPriority,
};
use super::{PanelPhase, figure, wire_name};
use crate::quotes::{QUOTE_EXACTLY, QuotedTexts, is_same_text};

/// A score that moves by this much needs a reason that cites an id.
const LARGE_MOVE: f64 = 1.0;

/// Something that only the person who asked can decide.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct AttentionItem {
    pub issue: String,
    pub majority_view: Option<String>,
    pub minority_view: Option<String>,
    /// What happens if the other side is right, in the judges' words. Null where nobody said so.
    pub stakes: Option<String>,
    /// What the judges recommend about it. Null where nobody does.
    pub recommendation: Option<String>,
    /// The ids of what it is about.
    pub ids: Vec<String>,
    /// The judges who ask for attention or raised it.
    pub raised_by: Vec<String>,
    /// What each judge says.
    pub views: Vec<JudgeView>,
    /// What shows scores is not for the rapporteur.
    #[serde(skip)]
    pub shows_scores: bool,
}

/// One judge's view of an item.
#[derive(Debug, Clone, Serialize)]
pub(super) struct JudgeView {
    pub judge_id: String,
    pub view: String,
    /// What the judge takes the other side's view to be, where it was asked for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opposing_view: Option<String>,
}

/// Something that should be done.
#[derive(Debug, Serialize)]
pub(super) struct PanelRecommendation {
    pub priority: RecommendationPriority,
    pub action: String,
    pub rationale: String,
    /// How many of the judges make it.
    pub consensus_level: &'static str,
    pub made_by: Vec<String>,
    /// The same, each judge with its own priority: `judge-1 (MUST)`.
    #[serde(skip)]
    pub made_as: Vec<String>,
    pub ids: Vec<String>,
    pub finding_ids: Vec<String>,
    /// The judges' own words, where several are put together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub merged_from: Vec<JudgeView>,
}

/// How many of the judges stand behind something, in the seed's words.
fn consensus_level(behind: usize, judges: usize) -> &'static str {
    match behind {
        n if n == judges => "unanimous",
        n if n * 2 > judges => "majority",
        _ => "minority",
    }
}

/// The scores that moved by 1.0 or more without a reason that cites an id.
pub(super) fn unexplained_moves(log: &PanelLog<'_>) -> Vec<AttentionItem> {
    let mut moves = Vec::new();
    for round in &log.rounds {
        for (place, judge) in log.judges.iter().enumerate() {
            let Some(change) = log.score_change(place, round.number) else { continue };
            let reason = judge.change_reason(round.phase);
            let is_small = change.abs() < LARGE_MOVE - TOLERANCE;
            if is_small || !log.cited_ids(reason, round.number, None).is_empty() {
                continue;
            }
            let to = log.score(place, round.number).unwrap_or_default();
            let (id, number, from, to) = (judge.id, round.number, figure(to - change), figure(to));
            let issue = format!(
                "{id} moved its score from {from} to {to} in round {number}, and its reason cites no claim, finding or dispute"
            );
            let said = if reason.is_empty() { "gives no reason" } else { reason };
            let item = item(issue, Vec::new(), vec![id.to_owned()], vec![view(log, place, said, None)]);
            moves.push(AttentionItem { shows_scores: true, ..item });
        }
    }
    moves
}

/// What follows from a decision. Much of it is looked at in several places, so it is made once.
pub(super) struct PanelFollowUp<'a> {
    pub(super) log: &'a PanelLog<'a>,
    pub(super) decision: PanelDecision,
    /// What needs attention, before the rapporteur puts the same things together.
    open: Vec<AttentionItem>,
    /// What can be cited by an id.
    pub(super) citable: Vec<CitableText>,
    /// What the rapporteur wrote, as far as it verifies. Empty where it wrote nothing.
    pub(super) summary: VerifiedSummary,
}

impl<'a> PanelFollowUp<'a> {
    pub(super) fn new(log: &'a PanelLog<'a>, decision: PanelDecision) -> Self {
        let (open, summary) = (Vec::new(), VerifiedSummary::default());
        let mut follow_up = Self { log, decision, open, citable: log.citable(), summary };
        if follow_up.decision != PanelDecision::None {
            follow_up.open = follow_up.open_items();
            follow_up.summary = log.summary.as_ref().map(|said| follow_up.verify(said).0).unwrap_or_default();
        }
        follow_up
    }

    fn open_items(&self) -> Vec<AttentionItem> {
        let log = self.log;
        let is_disputed = |finding: &&CriticalFindingRecord| finding.state == FindingState::Disputed;
        let findings = log.critical.iter().filter(is_disputed).map(|finding| finding_item(log, finding));
        // What is said of an open finding stands with the finding.
        let is_listed = |dispute: &PanelDispute| log.critical_about(dispute).filter(is_disputed).is_some();
        let disputes = log.disputes.iter().filter(|dispute| is_for_the_person(log, &self.decision, dispute));
        let disputes =
            disputes.filter(|dispute| !is_listed(dispute)).map(|dispute| self.dispute_item(dispute));
        let mut items: Vec<AttentionItem> = findings.chain(disputes).collect();
        items.extend(attention_requests(log));
        items.extend(unexplained_moves(log));
        items.extend(scores_item(log, &self.decision));
        for item in &mut items {
            let sides = self.decision.sides();
            let [majority_view, minority_view] =
                sides.map(|side| side.and_then(|side| side_view(log, side, &item.views)));
            item.majority_view = item.majority_view.take().or(majority_view);
            item.minority_view = item.minority_view.take().or(minority_view);
        }
        items
    }

    /// What the rapporteur may read of what is open.
    fn readable_items(&self) -> impl Iterator<Item = &AttentionItem> {
        self.open.iter().filter(|item| !item.shows_scores)
    }

    fn dispute_item(&self, dispute: &PanelDispute) -> AttentionItem {
        let (log, last) = (self.log, dispute.last_entries());
        let mut views: Vec<JudgeView> = Vec::new();
        if let DisputeTopic::Dimension(at) = dispute.topic {
            let standings = log.last_standings().iter().enumerate();
            views.extend(standings.filter_map(|(place, standing)| {
                let score = standing.dimensions.get(at).copied()?;
                Some(view(log, place, &format!("scores it {}", figure(score)), None))
            }));
        }
        views.extend(
            last.iter().map(|entry| view(log, entry.place, &entry.view, Some(&entry.open.opposing_view))),
        );
        // Whose point it is says so by the point itself.
        if let DisputeTopic::Point(Some(id)) = &dispute.topic {
            let mut own: Vec<&CitableText> = self.citable.iter().filter(|point| point.id == *id).collect();
            // A judge may list it again.
            own.dedup_by(|again, first| again.seat == first.seat);
            views.extend(own.into_iter().filter_map(|point| {
                let place = log.judges.iter().position(|judge| judge.id == point.seat)?;
                let is_silent = last.iter().all(|entry| entry.place != place);
                let holds = log.accepts(place, &[id]) == Some(true);
                (is_silent && holds).then(|| view(log, place, &format!("[{id}] {}", point.text.trim()), None))
            }));
        }
        let issue = match dispute.is_dimension() {
            true => format!("How good is its {}?", dispute.text.replace('_', " ")),
            false => dispute.text.clone(),
        };
        let ids = dispute.ids().cloned().collect();
        AttentionItem {
            stakes: stakes(log, dispute),
            shows_scores: dispute.is_dimension(),
            ..item(issue, ids, log.ids(&dispute.first_raisers()), views)
        }
    }

    /// The seed's list, with the items that the rapporteur put together as one.
    pub(super) fn attention_items(&self) -> Vec<AttentionItem> {
        let mut items = self.open.clone();
        for merged in &self.summary.merged {
            let is_member = |item: &AttentionItem| item.ids.iter().any(|id| merged.ids.contains(id));
            let Some(at) = items.iter().position(is_member) else { continue };
            let members: Vec<AttentionItem> = items.extract_if(.., |item| is_member(item)).collect();
            items.insert(at, put_together(members, &merged.text));
        }
        items
    }

    /// The seed's list in the judges' own words, the most urgent first. Equal texts, and those that the rapporteur put together, are
    /// one.
    pub(super) fn recommendations(&self) -> Vec<PanelRecommendation> {
        let mut groups: Vec<AdviceGroup<'_>> = Vec::new();
        for (place, judge) in self.log.judges.iter().enumerate() {
            for advice in judge.recommendations() {
                let is_member =
                    |merged: &&MergedItems| advice.id.as_ref().is_some_and(|id| merged.ids.contains(id));
                let text = self.summary.merged.iter().find(is_member).map(|merged| merged.text.as_str());
                let is_equal =
                    |(_, other): &(usize, &JudgeRecommendation)| is_same_text(&other.action, &advice.action);
                let same = groups.iter_mut().find(|(other, members)| {
                    *other == text && (text.is_some() || members.iter().any(is_equal))
                });
                match same {
                    Some((_, members)) => members.push((place, advice)),
                    None => groups.push((text, vec![(place, advice)])),
                }
            }
        }
        let groups = groups.iter().filter_map(|(text, members)| recommendation(self.log, *text, members));
        let mut all: Vec<PanelRecommendation> = groups.collect();
        all.sort_by_key(|recommendation| recommendation.priority);
        all
    }

    /// What is open, with its id, where it is not one judge's own question, and the sides on a critical finding. It has no scores.
    pub(super) fn open_issues(&self) -> Vec<String> {
        let log = self.log;
        let items = self.readable_items();
        let items = items.filter(|item| item.views.iter().all(|view| view.view != item.issue));
        let named = items.map(|item| {
            let id = item.ids.first().map_or("", String::as_str);
            let Some(finding) = log.critical.iter().find(|finding| finding.finding_id == id) else {
                return format!("[{id}] {}", item.issue);
            };
            // The issue of a finding begins with its id.
            let mut told = vec![sentence(&item.issue)];
            let others = finding.same_as.iter().filter_map(|id| log.finding(id));
            told.extend(others.map(|other| format!("The same in other words: {}", sentence(&other.finding))));
            let sides = finding.sides(&log.judges).into_iter();
            told.extend(sides.map(|(stand, who)| format!("{}: {}.", capitalized(stand), who.join(", "))));
            told.join(" ")
        });
        named.collect()
    }

    /// What the rapporteur reads of a judge, and what its quotes are verified against. It has no scores and no words of others.
    pub(super) fn last_words(&self, judge: &PanelJudge<'_>) -> String {
        let mut lines = vec![judge.position().to_owned()];
        lines.extend(judge.answer().map(|answer| format!("Answers the question: {answer}")));
        for advice in judge.recommendations() {
            let (id, priority) = (advice.id.as_deref().unwrap_or_default(), wire_name(advice.priority));
            let why = Some(advice.rationale.trim()).filter(|why| !why.is_empty());
            let why = why.map(|why| format!(" - {why}")).unwrap_or_default();
            lines.push(format!("[{id}] recommends ({priority}): {}{why}", advice.action.trim()));
        }
        for item in self.readable_items() {
            let id = item.ids.first().map(String::as_str).unwrap_or_default();
            let own = item.views.iter().filter(|view| view.judge_id == judge.id && !view.view.is_empty());
            lines.extend(own.map(|own| {
                let asks = if own.view == item.issue { "asks the person to decide: " } else { "" };
                format!("[{id}] {asks}{}", own.view)
            }));
        }
        lines.join("\n")
    }

    /// The ids that the rapporteur may put together: recommendations, and what is open. One alone has nothing to be put together with.
    pub(super) fn mergeable_ids(&self) -> Vec<String> {
        let advice = self.log.judges.iter().flat_map(|judge| judge.recommendations());
        let advice = advice.filter_map(|advice| advice.id.clone()).collect();
        let items = self.readable_items().filter_map(|item| item.ids.first().cloned()).collect();
        [advice, items].into_iter().filter(|ids: &Vec<String>| ids.len() > 1).flatten().collect()
    }

    /// What of the rapporteur's words verifies, and what is wrong with the rest.
    pub(super) fn verify(&self, said: &RapporteurSummary) -> (VerifiedSummary, Vec<String>) {
        let log = self.log;
        let (mut verified, mut faults) = self.verify_quotes(said);
        let places = log.places();
        let [majority, minority] = self.decision.sides();
        let (first, first_name) = match majority {
            Some(_) => (&said.majority, "majority"),
            None => (&said.assessment, "assessment"),
        };
        let mut opinion = |text: &Option<String>, name: &str, side: &[usize]| {
            let text = text.as_deref().map(str::trim).filter(|text| !text.is_empty());
            let ids = log.ids(side);
            let is_supported = verified.quotes.iter().any(|quote| ids.contains(&quote.judge));
            if text.is_none() {
                faults.push(format!("`{name}` must not be empty."));
            } else if !is_supported {
                faults.push(format!("`{name}` needs a quote of {}.", ids.join(" or ")));
            }
            text.filter(|_| is_supported).map(str::to_owned)
        };
        let summed = opinion(first, first_name, majority.unwrap_or(&places));
        let dissent = minority.and_then(|side| opinion(&said.minority, "minority", side));
        // Without the first opinion the judges speak for themselves, on both sides.
        verified.minority = dissent.filter(|_| summed.is_some());
        verified.opinion = summed;
        let ids = self.mergeable_ids();
        for merged in &said.merged {
            match merge_fault(&ids, &verified.merged, merged) {
                None => verified.merged.push(merged.clone()),
                Some(fault) => faults.push(fault),
            }
        }
        (verified, faults)
    }

    fn verify_quotes(&self, said: &RapporteurSummary) -> (VerifiedSummary, Vec<String>) {
        let (mut verified, mut faults) = (VerifiedSummary::default(), Vec::new());
        let quoted = QuotedTexts::new(&self.log.debate.brief);
        let texts: Vec<(&str, String)> =
            self.log.judges.iter().map(|judge| (judge.id, self.last_words(judge))).collect();
        for (quote, n) in said.quotes.iter().zip(1..) {
            let says = |(_, text): &&(&str, String)| quoted.is_quoted(&quote.quote, text);
            let speakers: Vec<&str> = texts.iter().filter(says).map(|(judge, _)| *judge).collect();
            if speakers.contains(&quote.judge.as_str()) {
                verified.quotes.push(quote.clone());
                continue;
            }
            verified.failed_quotes.push(quote.clone());
            let JudgeQuote { judge, quote } = quote;
            faults.push(match speakers.join(" and ") {
                nobody if nobody.is_empty() => {
                    format!("The quote {quote:?} is not in what {judge} says ({QUOTE_EXACTLY}).")
                }
                // The words are right, so they are not repeated: who reads them here would look for a mistake in them.
                others => {
                    format!(
                        "Entry {n} of `quotes` has words of {others}, not of {judge}: name the right judge."
                    )
                }
            });
        }
        (verified, faults)
    }
}

fn item(issue: String, ids: Vec<String>, raised_by: Vec<String>, views: Vec<JudgeView>) -> AttentionItem {
    AttentionItem { issue, ids, raised_by, views, ..AttentionItem::default() }
}

/// What a side says of an item, in its judges' own words.
fn side_view(log: &PanelLog<'_>, side: &[usize], views: &[JudgeView]) -> Option<String> {
    let ids = log.ids(side);
    let own = views.iter().filter(|view| ids.contains(&view.judge_id));
    in_turn(own.map(|view| (view.judge_id.as_str(), view.view.as_str())))
}

/// What judges say, each as a sentence after its name. Nothing where nobody says anything.
pub(super) fn in_turn<'s>(said: impl Iterator<Item = (&'s str, &'s str)>) -> Option<String> {
    let told = said.filter(|(_, words)| !words.is_empty());
    let told: Vec<String> = told.map(|(who, words)| format!("{who}: {}", sentence(words))).collect();
    (!told.is_empty()).then(|| told.join(" "))
}

fn view(log: &PanelLog<'_>, place: usize, view: &str, opposing_view: Option<&str>) -> JudgeView {
    JudgeView {
        judge_id: log.judges.get(place).map_or("", |judge| judge.id).to_owned(),
        view: view.to_owned(),
        opposing_view: opposing_view.filter(|text| !text.is_empty()).map(str::to_owned),
    }
}

fn finding_item(log: &PanelLog<'_>, finding: &CriticalFindingRecord) -> AttentionItem {
    let is_about =
        |dispute: &&PanelDispute| log.critical_about(dispute).is_some_and(|about| about == finding);
    let dispute = log.disputes.iter().find(is_about);
    let views = log.judges.iter().enumerate().map(|(place, judge)| {
        let own = dispute.into_iter().flat_map(|dispute| dispute.last_entries());
        let own = own.filter(|entry| entry.place == place && !entry.view.is_empty());
        let own = own.map(|entry| format!("On \"{}\": {}", entry.topic, entry.view));
        let said = own.fold(finding.view_of(judge.id), |said, own| format!("{} {own}", sentence(&said)));
        view(log, place, &said, None)
    });
    let findings: Vec<String> = finding.ids().cloned().collect();
    let fix = Some(&finding.fix).filter(|fix| !fix.is_empty()).cloned();
    let disputes = dispute.into_iter().flat_map(|dispute| dispute.ids().cloned());
    AttentionItem {
        stakes: dispute.and_then(|dispute| stakes(log, dispute)),
        recommendation: recommended(log, &findings).or(fix),
        ..item(
            finding.named(),
            findings.iter().cloned().chain(disputes).collect(),
            finding.raised_by.clone(),
            views.collect(),
        )
    }
}

/// Whether a dispute needs the person's attention: a judge says so, or nothing else decides it.
fn is_for_the_person(log: &PanelLog<'_>, decision: &PanelDecision, dispute: &PanelDispute) -> bool {
    let last_word = |place: usize| {
        let judge = log.judges.get(place);
        let phases = [PanelPhase::Final, PanelPhase::Rebuttal, PanelPhase::Position];
        phases.into_iter().find(|phase| judge.is_some_and(|judge| judge.score(*phase).is_some()))
    };
    let flagged = dispute.entries.iter().any(|entry| {
        let is_last = last_word(entry.place).is_some_and(|phase| phase.round() == entry.round);
        entry.open.user_attention_needed && (is_last || dispute.is_open())
    });
    // Where the scores decide, a difference in them needs nobody's attention.
    let has_sides = matches!(decision.sides(), [Some(_), Some(_)]) || *decision == PanelDecision::Consensus;
    flagged || dispute.is_open() && !(has_sides && dispute.is_dimension())
}

/// What the judges say in the end is at stake.
fn stakes(log: &PanelLog<'_>, dispute: &PanelDispute) -> Option<String> {
    let last = dispute.last_entries().into_iter();
    in_turn(last.filter_map(|entry| Some((log.judges.get(entry.place)?.id, entry.open.stakes.as_str()))))
}

/// What judges recommend about findings, each in its own words.
fn recommended(log: &PanelLog<'_>, findings: &[String]) -> Option<String> {
    let advice = log.judges.iter().flat_map(|judge| judge.recommendations().iter().map(move |a| (judge, a)));
    let about = advice.filter(|(_, advice)| advice.finding_ids.iter().any(|id| findings.contains(id)));
    in_turn(about.map(|(judge, advice)| (judge.id, advice.action.trim())))
}

/// What judges ask the person to decide, in any round, each text once: `U1`, `U2`...
fn attention_requests(log: &PanelLog<'_>) -> Vec<AttentionItem> {
    let mut items: Vec<AttentionItem> = Vec::new();
    for phase in [PanelPhase::Position, PanelPhase::Rebuttal, PanelPhase::Final] {
        for (place, judge) in log.judges.iter().enumerate() {
            let Some(reason) = judge.attention(phase) else { continue };
            let issue = match reason {
                "" => format!("{} asks for your attention and does not say what for", judge.id),
                reason => reason.to_owned(),
            };
            match items.iter_mut().find(|item| is_same_text(&item.issue, &issue)) {
                Some(same) if same.raised_by.iter().any(|id| id == judge.id) => {}
                Some(same) => same.raised_by.push(judge.id.to_owned()),
                None => {
                    let (ids, raised_by) = (vec![format!("U{}", items.len() + 1)], vec![judge.id.to_owned()]);
                    items.push(item(issue, ids, raised_by, vec![view(log, place, reason, None)]));
                }
            }
        }
    }
    items
}

/// How far the sides are apart, where the status depends on it or nobody has a majority.
fn scores_item(log: &PanelLog<'_>, decision: &PanelDecision) -> Option<AttentionItem> {
    let side_view =
        |side: &[usize]| format!("{} ({})", figure(mean(&log.last_scores(side))), log.ids(side).join(", "));
    let band = |side: &[usize]| log.weighted(side).map(|weighted| wire_name(log.band(weighted)));
    let stakes = match decision.sides().map(|side| side.and_then(band)) {
        [Some(ours), Some(theirs)] if ours != theirs => {
            Some(format!("The majority's weighted score is {ours}, the minority's {theirs}."))
        }
        _ if *decision == PanelDecision::NoMajority => None,
        _ => return None,
    };
    let [majority_view, minority_view] = decision.sides().map(|side| side.map(side_view));
    let scores = log.last_scores(&log.places()).into_iter().enumerate();
    let views = scores.map(|(place, score)| view(log, place, &format!("score {}", figure(score)), None));
    let item = item("The overall score".to_owned(), Vec::new(), Vec::new(), views.collect());
    Some(AttentionItem { majority_view, minority_view, stakes, shows_scores: true, ..item })
}

fn put_together(members: Vec<AttentionItem>, text: &str) -> AttentionItem {
    let joined = |part: fn(&AttentionItem) -> &Option<String>| {
        let mut texts: Vec<String> = Vec::new();
        for text in members.iter().filter_map(|member| part(member).as_deref()) {
            if !texts.iter().any(|other| is_same_text(other, text)) {
                texts.push(sentence(text));
            }
        }
        (!texts.is_empty()).then(|| texts.join(" "))
    };
    let raised_by: BTreeSet<&String> = members.iter().flat_map(|member| &member.raised_by).collect();
    AttentionItem {
        issue: text.to_owned(),
        majority_view: joined(|member| &member.majority_view),
        minority_view: joined(|member| &member.minority_view),
        stakes: joined(|member| &member.stakes),
        recommendation: joined(|member| &member.recommendation),
        ids: members.iter().flat_map(|member| member.ids.clone()).collect(),
        raised_by: raised_by.into_iter().cloned().collect(),
        views: members.iter().flat_map(|member| member.views.clone()).collect(),
        shows_scores: false,
    }
}

/// Recommendations that are one, with the rapporteur's text for them and the places of their judges.
type AdviceGroup<'a> = (Option<&'a str>, Vec<(usize, &'a JudgeRecommendation)>);

fn recommendation<'a>(
    log: &PanelLog<'a>,
    text: Option<&str>,
    members: &[(usize, &'a JudgeRecommendation)],
) -> Option<PanelRecommendation> {
    let (_, first) = members.first()?;
    let mut places: Vec<usize> = members.iter().map(|(place, _)| *place).collect();
    places.dedup();
    let finding_ids = members.iter().flat_map(|(_, advice)| &advice.finding_ids);
    let finding_ids: IndexSet<String> = finding_ids.filter(|id| log.finding(id).is_some()).cloned().collect();
    let words = members.iter().map(|(place, advice)| view(log, *place, advice.action.trim(), None));
    let made_as = |(place, advice): &(usize, &JudgeRecommendation)| {
        format!("{} ({})", log.ids(&[*place]).join(""), wire_name(advice.priority))
    };
    let why = first.rationale.trim();
    let is_one = members.iter().all(|(_, advice)| is_same_text(&advice.rationale, why));
    let reason = |(place, advice): &(usize, &'a JudgeRecommendation)| {
        Some((log.judges.get(*place)?.id, advice.rationale.trim()))
    };
    let reasons = in_turn(members.iter().filter_map(reason)).filter(|_| !is_one);
    Some(PanelRecommendation {
        priority: members.iter().map(|(_, advice)| advice.priority).min()?,
        action: text.unwrap_or(&first.action).trim().to_owned(),
        rationale: reasons.unwrap_or_else(|| why.to_owned()),
        consensus_level: consensus_level(places.len(), log.judges.len()),
        made_by: log.ids(&places),
        made_as: members.iter().map(made_as).collect(),
        ids: members.iter().filter_map(|(_, advice)| advice.id.clone()).collect(),
        finding_ids: finding_ids.into_iter().collect(),
        merged_from: text.map(|_| words.collect()).unwrap_or_default(),
    })
}

/// What the rapporteur wrote, as far as it verifies.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct VerifiedSummary {
    /// The assessment of all, or the majority's opinion.
    pub(super) opinion: Option<String>,
    pub(super) minority: Option<String>,
    pub(super) quotes: Vec<JudgeQuote>,
    /// The quotes that are not in what their judges say.
    pub(super) failed_quotes: Vec<JudgeQuote>,
    pub(super) merged: Vec<MergedItems>,
}

/// Checks the rapporteur's reply.
pub(super) fn check_summary(log: &PanelLog<'_>, value: &Value) -> Result<(), ReplyFault> {
    let said = RapporteurSummary::deserialize(value)?;
    let decision =
        log.ending().map_or(PanelDecision::None, |termination| PanelDecision::of(log, termination));
    match PanelFollowUp::new(log, decision).verify(&said).1.as_slice() {
        [] => Ok(()),
        faults => Err(ReplyFault::Unverified(faults.join(" "))),
    }
}

/// What is wrong with items that were put together.
fn merge_fault(ids: &[String], before: &[MergedItems], merged: &MergedItems) -> Option<String> {
    let is_twice = |id: &String| {
        before.iter().any(|other| other.ids.contains(id))
            || merged.ids.iter().filter(|own| *own == id).count() > 1
    };
    let advice = merged.ids.iter().filter(|id| id.starts_with('R')).count();
    let fault = match () {
        () if merged.ids.len() < 2 => "needs at least two ids",
        () if merged.text.trim().is_empty() => "needs a text",
        () if !merged.ids.iter().all(|id| ids.contains(id)) => "has an unknown id",
        () if merged.ids.iter().any(is_twice) => "has an id that is listed twice",
        () if advice != 0 && advice != merged.ids.len() => "puts a recommendation and an open item together",
        () => return None,
    };
    Some(format!("`merged` [{}] {fault}.", merged.ids.join(", ")))
}
