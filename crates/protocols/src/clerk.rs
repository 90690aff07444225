//! The clerk: a seat that sorts texts into positions, for protocols without a moderator.
//!
//! [`AnswerSheet`] has the answers to one question. Arithmetic and equality sort them as far as they can; if that leaves anything
//! open, the clerk is asked, and what it declares is verified.

use std::sync::{Arc, OnceLock};

use agon_core::{
    Ask, Brief, Corrupt, Debate, PhaseTurn, PromptTemplate, ReplyFault, Request, Seat, SeededDraw,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::prompt::{PromptSet, entry_question, made_once, new_ask, restrict, schema_of};
use crate::quotes::QuotedTexts;
use crate::short_answers::AnswerReader;
use crate::sorting::{DeclaredGroup, LabelledText, PositionGroup, Sorting};

/// The role of the seat, and the option that names its model.
pub const CLERK: &str = "clerk";

/// The templates that a protocol with a clerk lists among its own.
pub const CLERK_TEMPLATE: PromptTemplate =
    PromptTemplate { file: "clerk.hbs", text: include_str!("prompts/clerk.hbs") };

/// How the clerk sorts the texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClerkSorting {
    /// Which texts would lead to the same decision, and which would not? At most 150 words.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    pub analysis: String,
    /// Which positions do the texts state?
    #[schemars(length(max = 16), transform = entry_question("Which position do some of the texts state?"))]
    pub positions: Vec<ClerkPosition>,
}

/// A position, and the texts that state it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClerkPosition {
    /// What is the position, in one sentence?
    #[schemars(length(max = 1000))]
    pub statement: String,
    /// Which texts state it?
    #[schemars(length(max = 16), transform = entry_question("Which text states this position?"))]
    pub members: Vec<ClerkMember>,
}

/// A text of a position.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClerkMember {
    /// Which text is it?
    pub label: String,
    /// Which words of that text show the position? Copy them exactly.
    #[schemars(length(max = 1000))]
    pub quote: String,
}

impl ClerkSorting {
    /// What the clerk declared in this phase, if it was asked and is not absent.
    pub fn read(debate: &Debate, phase: &str) -> Result<Option<Self>, Corrupt> {
        let replies =
            debate.turns.iter().filter(|turn| turn.phase.name == phase).flat_map(PhaseTurn::settled);
        let mut said = replies.filter_map(|(_, reply)| reply.value());
        Ok(said.next().map(Self::deserialize).transpose()?)
    }

    /// The groups, as they are verified.
    fn declared(&self) -> Vec<DeclaredGroup> {
        let member = |member: &ClerkMember| (member.label.clone(), member.quote.clone());
        let group = |position: &ClerkPosition| DeclaredGroup {
            statement: position.statement.clone(),
            members: position.members.iter().map(member).collect(),
        };
        self.positions.iter().map(group).collect()
    }
}

/// The model of the clerk: the one that is named, else `preferred` (the judge's or the chair's), else the first model that holds no
/// position in the debate, else the first model.
pub fn clerk_model(request: &Request, preferred: Option<&str>, holders: &[Seat]) -> String {
    let holds_none = |model: &&String| holders.iter().all(|seat| seat.model != **model);
    let named = request.roles.get(CLERK).map(String::as_str).or(preferred);
    let listed = || request.models.iter().find(holds_none).or_else(|| request.models.first());
    named.or_else(|| listed().map(String::as_str)).unwrap_or_default().to_owned()
}

/// The answers to one question, and what is known of them without asking anybody.
#[derive(Debug)]
pub struct AnswerSheet<'a> {
    brief: &'a Brief,
    /// By place.
    answers: Vec<&'a str>,
    /// The places of answers that are the same by arithmetic or equality.
    distinct: Vec<Vec<usize>>,
    reader: AnswerReader,
}

/// How it is known which answers are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SortedBy {
    /// They are options, numbers or equal texts.
    Arithmetic,
    /// The clerk declared it, and that verifies.
    Clerk,
    /// Nobody declared it, or not for all of them.
    Unknown,
}

/// The model that the clerk answered with.
pub fn clerk_of(debate: &Debate) -> Option<String> {
    debate.spoke(CLERK).first().map(|model| (*model).to_owned())
}

/// Why it is not known which answers are the same.
pub fn why_unsorted(debate: &Debate) -> &'static str {
    match clerk_of(debate) {
        None => "the clerk gave no answer",
        Some(_) => "what the clerk declared does not verify",
    }
}

impl<'a> AnswerSheet<'a> {
    /// The answers to the question of this brief.
    pub fn new(brief: &'a Brief, answers: Vec<&'a str>) -> Self {
        let reader = AnswerReader::new(&brief.question);
        let mut distinct: Vec<Vec<usize>> = Vec::new();
        for (place, answer) in answers.iter().enumerate() {
            let is_same = |group: &&mut Vec<usize>| {
                let first = group.first().and_then(|first| answers.get(*first));
                first.is_some_and(|first| reader.is_same(first, answer) == Some(true))
            };
            match distinct.iter_mut().find(is_same) {
                Some(group) => group.push(place),
                None => distinct.push(vec![place]),
            }
        }
        Self { brief, answers, distinct, reader }
    }

    /// Whether it is known of every two answers if they are the same.
    pub fn is_settled(&self) -> bool {
        let places = 0..self.distinct.len();
        places.clone().all(|one| places.clone().take(one).all(|other| self.is_different(one, other)))
    }

    /// Whether all answers are options or numbers that can be told apart.
    pub fn is_discrete(&self) -> bool {
        self.is_settled() && self.answers.iter().all(|answer| self.reader.read(answer).is_some())
    }

    /// Asks the clerk to sort the answers.
    pub fn ask_clerk(&self, clerk: &Seat) -> Result<Ask, Corrupt> {
        static PROMPTS: OnceLock<PromptSet> = OnceLock::new();
        let prompts = made_once(&PROMPTS, || PromptSet::new(&[CLERK_TEMPLATE]))?;
        let (shown, quoted) = (self.shown(), QuotedTexts::anonymous(self.brief));
        let text = |(distinct, label): &(usize, String)| json!({"label": label, "content": quoted.quote(label, self.text(*distinct))});
        let context = json!({
            "question": quoted.person(&self.brief.question),
            "texts": shown.iter().map(text).collect::<Vec<_>>(),
        });
        let prompt = prompts.whole(&quoted.rule().into(), CLERK_TEMPLATE.file, &context)?;
        let labels: Vec<String> = shown.into_iter().map(|(_, label)| label).collect();
        let label = "/properties/positions/items/properties/members/items/properties/label";
        let schema = restrict(schema_of::<ClerkSorting>("sorting"), label, &labels);
        Ok(new_ask(clerk, prompt, Some(Arc::new(schema))))
    }

    /// Checks what the clerk declares.
    pub fn check_clerk(&self, reply: &ClerkSorting) -> Result<(), ReplyFault> {
        self.verified(reply).fault().map_or(Ok(()), |fault| Err(ReplyFault::Unverified(fault)))
    }

    /// The answers by place, sorted, and how that is known. `clerk` is what the clerk declared, if it did.
    pub fn sorted(&self, clerk: Option<&ClerkSorting>) -> (Sorting, SortedBy) {
        if self.is_settled() {
            let is_unsorted = self.distinct.len() == 1 && !self.is_discrete();
            return (self.without_clerk(is_unsorted), SortedBy::Arithmetic);
        }
        let sorting = clerk.map_or_else(|| self.without_clerk(true), |reply| self.verified(reply));
        let by = if sorting.is_complete() { SortedBy::Clerk } else { SortedBy::Unknown };
        (sorting, by)
    }

    fn without_clerk(&self, is_unsorted: bool) -> Sorting {
        let groups = self.distinct.iter().cloned();
        let groups = groups.map(|members| PositionGroup { statement: None, members, is_unsorted });
        Sorting { groups: groups.collect(), faults: Vec::new() }
    }

    /// What of the clerk's sorting verifies. Answers that arithmetic tells apart are not one position, whatever it declares.
    fn verified(&self, reply: &ClerkSorting) -> Sorting {
        let shown = self.shown();
        let texts = shown.iter().map(|(distinct, label)| LabelledText { label, text: self.text(*distinct) });
        let texts: Vec<LabelledText<'_>> = texts.collect();
        let quoted = QuotedTexts::anonymous(self.brief);
        let mut sorting = Sorting::verify(Some(&reply.declared()), &texts, &[], &quoted);
        let mut groups = Vec::new();
        for group in std::mem::take(&mut sorting.groups) {
            let of_sheet = group.members.iter().filter_map(|place| shown.get(*place));
            let of_sheet: Vec<usize> = of_sheet.map(|(distinct, _)| *distinct).collect();
            let members = |distinct: &usize| self.distinct.get(*distinct).cloned().unwrap_or_default();
            if of_sheet.iter().any(|one| of_sheet.iter().any(|other| self.is_different(*one, *other))) {
                sorting.faults.push("One position contains options or numbers that differ.".to_owned());
                let alone = of_sheet.iter().map(members);
                groups.extend(alone.map(|members| PositionGroup {
                    statement: None,
                    members,
                    is_unsorted: true,
                }));
            } else {
                let mut members: Vec<usize> = of_sheet.iter().flat_map(members).collect();
                members.sort_unstable();
                groups.push(PositionGroup { members, ..group });
            }
        }
        groups.sort_by_key(|group| group.members.first().copied());
        Sorting { groups, ..sorting }
    }

    fn is_different(&self, one: usize, other: usize) -> bool {
        self.reader.is_same(self.text(one), self.text(other)) == Some(false)
    }

    /// A distinct answer, in the words of the first who gave it.
    fn text(&self, distinct: usize) -> &'a str {
        let first = self.distinct.get(distinct).and_then(|places| places.first());
        first.and_then(|first| self.answers.get(*first)).copied().unwrap_or_default()
    }

    /// The distinct answers with their labels, in the order in which the clerk reads them. It shows nobody's seat.
    fn shown(&self) -> Vec<(usize, String)> {
        let mut order: Vec<usize> = (0..self.distinct.len()).collect();
        SeededDraw::new(self.brief.seed, "clerk").shuffle(&mut order);
        order
            .into_iter()
            .zip('A'..='Z')
            .map(|(distinct, letter)| (distinct, format!("Answer {letter}")))
            .collect()
    }
}

#[cfg(test)]
#[path = "clerk_tests.rs"]
pub(crate) mod tests;
