//! The last vote, the judge's scores, and how both moved over the rounds.

use serde_json::Value;

use super::{Told, agent, agents, figure, share, texts, who};
use crate::figures::{counted, score};
use crate::outline::{Bar, Block, Item, Section, at, list, string, whole, words};

impl Told<'_> {
    pub(super) fn vote(&self) -> Option<Section> {
        let votes = self.list("/votes");
        let head = ["Voter", "Choice", "Confidence", "Own", "Reason"];
        let mut rows = vec![head.map(String::from).to_vec()];
        for ballot in votes {
            let choice = match words(ballot, "/choice") {
                Some("abstain") | None => "abstains".to_owned(),
                Some(label) => agent(label),
            };
            let own = if at(ballot, "/own").as_bool() == Some(true) { "own" } else { "" };
            let confidence = at(ballot, "/confidence").as_f64().map(score).unwrap_or_default();
            rows.push(vec![who(self, ballot), choice, confidence, own.into(), string(ballot, "/reason")]);
        }
        let mut blocks = vec![Block::Table(rows)];
        let bars: Vec<Bar> = self.list("/tally").iter().filter_map(bar).collect();
        blocks.extend((!bars.is_empty()).then_some(Block::Bars(bars)));
        let seated = whole(self.verdict, "/consensus/agents");
        if (votes.len() as u64) < seated {
            let line = format!("{} of {} voted.", votes.len(), counted(seated, "agent"));
            blocks.push(Block::Line(line));
        }
        (!votes.is_empty()).then(|| Section::new("votes", "Votes", blocks))
    }

    pub(super) fn judge(&self) -> Option<Section> {
        let judge = at(self.verdict, "/judge");
        if !judge.is_object() {
            return self.no_judge();
        }
        let mut rows = vec![["Place", "Agent", "Score", "Reasons"].map(String::from).to_vec()];
        for (place, label) in (1..).zip(list(judge, "/ranking").iter().filter_map(Value::as_str)) {
            let scored = list(judge, "/scores").iter().find(|scored| words(scored, "/label") == Some(label));
            let score = scored.and_then(|scored| figure(scored, "/score", 2)).unwrap_or_default();
            let reasons = scored.map(|scored| texts(scored, "/reasons").join(" ")).unwrap_or_default();
            rows.push(vec![place.to_string(), self.seated(label), score, reasons]);
        }
        let mut blocks = vec![Block::Line(self.judged(judge)), Block::Table(rows)];
        let orders = list(judge, "/orders");
        if orders.len() > 1 {
            blocks
                .push(Block::Items((1..).zip(orders).map(|(number, order)| sheet(number, order)).collect()));
        }
        blocks.extend(
            words(judge, "/margin_comment")
                .map(|said| Block::Line(format!("The judge on the margin: {said}"))),
        );
        Some(Section::new("judge", "The judge", blocks))
    }

    /// Whom the judge puts first, how clearly, and what that is to the vote.
    fn judged(&self, judge: &Value) -> String {
        let model = words(judge, "/model").unwrap_or("The judge");
        let margin = figure(judge, "/margin", 2).unwrap_or_default();
        let mut told = match (words(judge, "/top"), at(judge, "/consistent").as_bool()) {
            (Some(top), Some(true)) => {
                format!("{model} puts {} first in both orders, {margin} points ahead.", agent(top))
            }
            (Some(top), _) => format!("{model} puts {} first, {margin} points ahead.", agent(top)),
            (None, _) => {
                format!(
                    "{model} puts another first in each of the two orders: that is a tie, and nobody is best."
                )
            }
        };
        told.push_str(match at(judge, "/agrees_with_vote").as_bool() {
            Some(true) => " That agrees with the vote.",
            Some(false) => " That does not agree with the vote.",
            None => "",
        });
        told
    }

    /// Only where a judge was asked is it news that none was heard.
    fn no_judge(&self) -> Option<Section> {
        let asked = |absence: &Value| words(absence, "/phase") == Some("judge");
        let line = "No judge was heard: nothing is scored, and no rating changes.";
        let silent = list(self.document, "/absences").iter().any(asked);
        silent.then(|| Section::new("judge", "The judge", vec![Block::Line(line.into())]))
    }

    /// How votes and judge moved, where there was more than one vote; in the full report every phase.
    pub(super) fn rounds(&self) -> Option<Section> {
        let is_kept = |round: &&Value| self.full || matches!(words(round, "/phase"), Some("vote" | "judge"));
        let rounds: Vec<&Value> = self.list("/rounds").iter().filter(is_kept).collect();
        let votes = rounds.iter().filter(|round| words(round, "/phase") == Some("vote")).count();
        let mut rows = vec![["Round", "Phase", "Absent", "Result"].map(String::from).to_vec()];
        for round in &rounds {
            let absent: Vec<String> = texts(round, "/absent").iter().map(|name| attendee(name)).collect();
            let number = whole(round, "/round").to_string();
            rows.push(vec![number, string(round, "/phase"), absent.join(", "), result(round)]);
        }
        let title = if self.full { "Round by round" } else { "The votes by round" };
        let shown = !rounds.is_empty() && (self.full || votes > 1);
        shown.then(|| Section::new("rounds", title, vec![Block::Table(rows)]))
    }
}

fn bar(group: &Value) -> Option<Bar> {
    let votes = at(group, "/votes").as_u64()?;
    let share = share(group, "/share").map_or(String::new(), |share| format!(" ({share})"));
    Some(Bar {
        name: agents(list(group, "/labels")),
        value: votes as f64,
        written: format!("{votes}{share}"),
    })
}

/// What the judge said in one order.
fn sheet(number: usize, order: &Value) -> Item {
    let shown: Vec<&str> = list(order, "/order").iter().filter_map(Value::as_str).collect();
    let scores: Vec<String> = list(order, "/scores")
        .iter()
        .filter_map(|scored| Some(format!("{} {}", words(scored, "/label")?, figure(scored, "/score", 2)?)))
        .collect();
    let who = format!("Order {number} ({})", shown.join(", "));
    Item { who: Some(who), text: scores.join(", "), note: None }
}

/// Who was asked, and about whom: "A on B".
fn attendee(name: &str) -> String {
    match name.split_once(" on ") {
        Some((who, about)) => format!("{} on {}", agent(who), agent(about)),
        None => agent(name),
    }
}

/// What a phase came to: how alike they were, for whom they voted, whom the judge put first.
fn result(round: &Value) -> String {
    match words(round, "/phase") {
        Some("compare") => {
            let alike = figure(round, "/agreement_min", 2)
                .map_or("not measured".into(), |alike| format!("{alike} alike"));
            let converged = at(round, "/converged").as_bool() == Some(true);
            format!("{alike}{}", if converged { ", converged" } else { "" })
        }
        Some("vote") => super::decision::tally(list(round, "/tally"), list(round, "/votes")),
        Some("judge") => match (words(round, "/judge_top"), figure(round, "/margin", 2)) {
            (Some(top), Some(margin)) => format!("{} first, {margin} ahead", agent(top)),
            (Some(top), None) => format!("{} first", agent(top)),
            (None, Some(_)) => "nobody first: the orders contradict each other".into(),
            (None, None) => "not heard".into(),
        },
        _ => String::new(),
    }
}
