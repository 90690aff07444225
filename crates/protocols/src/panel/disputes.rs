//! What judges leave open: the lists of their last statements, and what round 2 left open and nobody took up again.

use serde_json::{Value, json};

use super::consensus;
use super::log::{Judge, Log};
use super::points::same_point;

/// Something that judges leave open. The same issue of several judges is one.
#[derive(Debug)]
pub(super) struct Issue {
    pub(super) text: String,
    /// Whether it is the user's to decide: somebody says so in round 3, or it is among the unresolved disputes of round 2, which
    /// has no such field.
    pub(super) flagged: bool,
    /// The last round in which somebody left it open.
    pub(super) round: u32,
    pub(super) views: Vec<View>,
}

/// One judge's side of an issue.
#[derive(Debug)]
pub(super) struct View {
    pub(super) place: usize,
    pub(super) mine: String,
    pub(super) theirs: String,
    pub(super) why: String,
    /// The judges whom it contradicts, where it names them.
    against: Vec<usize>,
}

impl Issue {
    /// The judges who leave it open, by place.
    pub(super) fn judges(&self) -> Vec<usize> {
        distinct(self.views.iter().map(|view| view.place))
    }

    /// The judges whom those contradict.
    pub(super) fn opponents(&self) -> Vec<usize> {
        distinct(self.views.iter().flat_map(|view| view.against.iter().copied()))
    }

    /// The judges of both sides.
    pub(super) fn both_sides(&self) -> Vec<usize> {
        distinct(self.judges().into_iter().chain(self.opponents()))
    }

    /// The judges who hold a view of it.
    pub(super) fn holders(&self, view: &str) -> Vec<usize> {
        distinct(self.views.iter().filter(|own| same_point(&own.mine, view)).map(|own| own.place))
    }

    /// Why it is open, by the first who says so.
    pub(super) fn why(&self) -> Option<&str> {
        self.views.iter().map(|view| view.why.as_str()).find(|why| !why.is_empty())
    }
}

/// A record of an issue, with the round as of which it is open.
pub(super) fn dated(mut record: Value, issue: &Issue) -> Value {
    if let Value::Object(fields) = &mut record {
        fields.insert("as_of_round".to_owned(), json!(issue.round));
    }
    record
}

fn distinct(places: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut places: Vec<usize> = places.collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// How many points are open: the entries of every judge's own list in its last statement.
pub(super) fn remaining(log: &Log<'_>) -> usize {
    let own = |judge: &Judge<'_>| match (&judge.last, &judge.rebuttal) {
        (Some(last), _) => last.unresolved_disagreements.len(),
        (None, Some(rebuttal)) => rebuttal.unresolved_disputes.len(),
        (None, None) => 0,
    };
    log.judges.iter().map(own).sum()
}

/// What the judges leave open, merged; what is from an earlier round comes last.
pub(super) fn issues<'a>(log: &'a Log<'_>) -> &'a [Issue] {
    log.issues.get_or_init(|| merged(log))
}

fn merged(log: &Log<'_>) -> Vec<Issue> {
    let mut issues: Vec<Issue> = Vec::new();
    for entry in log.places().into_iter().flat_map(|place| open(log, place)) {
        let Entry { text, flagged, round, view } = entry;
        match issues.iter_mut().find(|issue| same_point(&issue.text, &text)) {
            Some(issue) => {
                issue.flagged |= flagged;
                issue.round = issue.round.max(round);
                issue.views.push(view);
            }
            None => issues.push(Issue { text, flagged, round, views: vec![view] }),
        }
    }
    issues.sort_by_key(|issue| std::cmp::Reverse(issue.round));
    issues
}

struct Entry {
    text: String,
    flagged: bool,
    round: u32,
    view: View,
}

/// What one judge leaves open, each point once: its list of round 3, and what it left open in round 2 and neither lists nor concedes
/// in round 3.
fn open(log: &Log<'_>, place: usize) -> Vec<Entry> {
    let Some(judge) = log.judges.get(place) else { return Vec::new() };
    let mut open: Vec<Entry> = Vec::new();
    let before = second(log, place, judge).into_iter().filter(|entry| !conceded(log, place, judge, entry));
    let all = third(log, place, judge).into_iter().chain(before);
    for entry in all.filter(|entry| !entry.text.is_empty()) {
        match open.iter_mut().find(|other| same_point(&other.text, &entry.text)) {
            Some(same) => {
                // Round 3 has the last word on whether the user must decide.
                same.flagged |= entry.flagged && entry.round == same.round;
                same.view.against.extend(entry.view.against);
            }
            None => open.push(entry),
        }
    }
    open
}

fn third(log: &Log<'_>, place: usize, judge: &Judge<'_>) -> Vec<Entry> {
    let open = judge.last.iter().flat_map(|last| &last.unresolved_disagreements);
    open.map(|u| {
        let view = view(log, place, [&u.my_final_view, &u.opposing_view, &u.why_unresolved]);
        Entry { text: u.issue.trim().to_owned(), flagged: u.user_attention_needed, round: 3, view }
    })
    .collect()
}

fn second(log: &Log<'_>, place: usize, judge: &Judge<'_>) -> Vec<Entry> {
    let Some(rebuttal) = &judge.rebuttal else { return Vec::new() };
    let disputes = rebuttal.unresolved_disputes.iter().map(|d| {
        let view = view(log, place, [&d.my_view, &d.opposing_view, &d.why_unresolved]);
        Entry { text: d.topic.trim().to_owned(), flagged: true, round: 2, view }
    });
    let disagreements = rebuttal.disagreements.iter().map(|d| {
        let mut view = view(log, place, [&d.my_counterargument, &d.their_argument, ""]);
        view.against.extend(log.judges.iter().position(|judge| judge.id == d.with_judge));
        Entry { text: d.on_point.trim().to_owned(), flagged: false, round: 2, view }
    });
    disputes.chain(disagreements).collect()
}

/// A judge's side; it contradicts whom it names as the other one.
fn view(log: &Log<'_>, place: usize, [mine, theirs, why]: [&str; 3]) -> View {
    let named = log.judges.iter().enumerate();
    let named = named.filter(|(at, judge)| *at != place && names(theirs, judge.id)).map(|(at, _)| at);
    let trimmed = |text: &str| text.trim().to_owned();
    View { place, mine: trimmed(mine), theirs: trimmed(theirs), why: trimmed(why), against: named.collect() }
}

/// Whether a judge gave a point of round 2 up: it concedes it in round 3, or in the end it holds the critical finding that says the
/// same.
fn conceded(log: &Log<'_>, place: usize, judge: &Judge<'_>, entry: &Entry) -> bool {
    let mut points = judge.last.iter().flat_map(|last| &last.concessions_made);
    let standings = log.last().map_or(&[][..], |round| &round.standings);
    let holds = |finding: usize| consensus::holders(standings, finding).contains(&place);
    let mut findings = log.findings.iter().enumerate();
    points.any(|concession| same_point(&concession.point, &entry.text))
        || findings.any(|(at, finding)| same_point(&finding.finding, &entry.text) && holds(at))
}

/// Whether a text names a judge: `judge-1` is not in `judge-12`.
pub(super) fn names(text: &str, id: &str) -> bool {
    let mut words = text.split(|c: char| !(c.is_alphanumeric() || c == '-'));
    words.any(|word| word.trim_matches('-').eq_ignore_ascii_case(id))
}
