//! The clerk: a seat that sorts texts into positions, for protocols without a moderator.
//!
//! [`AnswerSheet`] has the answers to one question. Arithmetic and equality sort them as far as they can; if that leaves anything
//! open, the clerk is asked, and what it declares is verified.

use std::sync::{Arc, OnceLock};

use agon_core::{Ask, Brief, Corrupt, Prompt, PromptTemplate, ReplyFault, Request, Seat, SeededDraw};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// The groups, as they are verified.
    pub fn declared(&self) -> Vec<DeclaredGroup> {
        let group = |position: &ClerkPosition| DeclaredGroup {
            statement: position.statement.clone(),
            members: position
                .members
                .iter()
                .map(|member| (member.label.clone(), member.quote.clone()))
                .collect(),
        };
        self.positions.iter().map(group).collect()
    }

    /// What of it verifies.
    pub fn verify(&self, texts: &[LabelledText<'_>], quoted: &QuotedTexts<'_>) -> Sorting {
        Sorting::verify(Some(&self.declared()), texts, &[], quoted)
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

/// What the clerk's template shows.
#[derive(Serialize)]
struct ClerkContext<'a> {
    rule: String,
    question: String,
    texts: Vec<ClerkText<'a>>,
}

#[derive(Serialize)]
struct ClerkText<'a> {
    label: &'a str,
    content: String,
}

/// Asks the clerk to sort these texts.
pub fn clerk_ask(
    seat: &Seat,
    question: &str,
    texts: &[LabelledText<'_>],
    quoted: &QuotedTexts<'_>,
) -> Result<Ask, Corrupt> {
    static PROMPTS: OnceLock<PromptSet> = OnceLock::new();
    let prompts = made_once(&PROMPTS, || PromptSet::new(&[CLERK_TEMPLATE]))?;
    let content = |text: &LabelledText<'_>| text.texts.join("\n\n");
    let context = ClerkContext {
        rule: quoted.rule(),
        question: quoted.person(question),
        texts: texts
            .iter()
            .map(|text| ClerkText { label: text.label, content: quoted.quote(text.label, &content(text)) })
            .collect(),
    };
    let prompt: Prompt = prompts.whole(&Arc::from(context.rule.as_str()), CLERK_TEMPLATE.file, &context)?;
    let labels: Vec<String> = texts.iter().map(|text| text.label.to_owned()).collect();
    let schema = restrict(
        schema_of::<ClerkSorting>("sorting"),
        "/properties/positions/items/properties/members/items/properties/label",
        &labels,
    );
    Ok(new_ask(seat, prompt, Some(Arc::new(schema))))
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

    /// Asks the clerk to sort the answers, in an order that shows nobody's seat.
    pub fn ask_clerk(&self, clerk: &Seat) -> Result<Ask, Corrupt> {
        let (labels, texts) = self.labelled();
        let texts: Vec<LabelledText<'_>> = labelled_texts(&labels, &texts);
        clerk_ask(clerk, &self.brief.question, &texts, &QuotedTexts::anonymous(self.brief))
    }

    /// Checks what the clerk declares.
    pub fn check_clerk(&self, reply: &ClerkSorting) -> Result<(), ReplyFault> {
        self.verified(reply).fault().map_or(Ok(()), |fault| Err(ReplyFault::Unverified(fault)))
    }

    /// The answers by place, sorted, and how that is known. `clerk` is what the clerk declared, if it did.
    pub fn sorted(&self, clerk: Option<&ClerkSorting>) -> (Sorting, SortedBy) {
        if self.is_settled() {
            let is_unsorted = self.distinct.len() == 1 && !self.is_discrete();
            let group = |members: &Vec<usize>| PositionGroup {
                statement: None,
                members: members.clone(),
                is_unsorted,
            };
            let groups = self.distinct.iter().map(group).collect();
            return (Sorting { groups, faults: Vec::new() }, SortedBy::Arithmetic);
        }
        let sorting = clerk.map_or_else(|| self.unsorted(), |reply| self.verified(reply));
        let by = if sorting.is_complete() { SortedBy::Clerk } else { SortedBy::Unknown };
        (sorting, by)
    }

    fn unsorted(&self) -> Sorting {
        let group = |members: &Vec<usize>| PositionGroup {
            statement: None,
            members: members.clone(),
            is_unsorted: true,
        };
        Sorting { groups: self.distinct.iter().map(group).collect(), faults: Vec::new() }
    }

    /// What of the clerk's sorting verifies. Answers that arithmetic tells apart are not one position, whatever it declares.
    fn verified(&self, reply: &ClerkSorting) -> Sorting {
        let (labels, texts) = self.labelled();
        let mut sorting = reply.verify(&labelled_texts(&labels, &texts), &QuotedTexts::anonymous(self.brief));
        let mut groups = Vec::new();
        for group in std::mem::take(&mut sorting.groups) {
            let of_sheet: Vec<usize> =
                group.members.iter().filter_map(|place| self.order().get(*place).copied()).collect();
            let contradicts =
                of_sheet.iter().any(|one| of_sheet.iter().any(|other| self.is_different(*one, *other)));
            let expand = |distinct: &usize| self.distinct.get(*distinct).cloned().unwrap_or_default();
            if contradicts {
                sorting.faults.push("One position contains options or numbers that differ.".to_owned());
                let alone = |distinct: &usize| PositionGroup {
                    statement: None,
                    members: expand(distinct),
                    is_unsorted: true,
                };
                groups.extend(of_sheet.iter().map(alone));
            } else {
                let mut members: Vec<usize> = of_sheet.iter().flat_map(expand).collect();
                members.sort_unstable();
                groups.push(PositionGroup { members, ..group });
            }
        }
        groups.sort_by_key(|group| group.members.first().copied());
        Sorting { groups, ..sorting }
    }

    /// The label under which the clerk reads the answer of this place.
    pub fn clerk_label(&self, place: usize) -> Option<String> {
        let distinct = self.distinct.iter().position(|places| places.contains(&place))?;
        let shown = self.order().into_iter().position(|other| other == distinct)?;
        self.labelled().0.into_iter().nth(shown)
    }

    fn is_different(&self, one: usize, other: usize) -> bool {
        let first = |distinct: usize| self.answers.get(*self.distinct.get(distinct)?.first()?);
        let pair = first(one).zip(first(other));
        pair.is_some_and(|(one, other)| self.reader.is_same(one, other) == Some(false))
    }

    /// The distinct answers in the order in which the clerk reads them.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.distinct.len()).collect();
        SeededDraw::new(self.brief.seed, "clerk").shuffle(&mut order);
        order
    }

    /// The label and the text of each distinct answer, in the order in which the clerk reads them.
    fn labelled(&self) -> (Vec<String>, Vec<[&'a str; 1]>) {
        let first = |distinct: usize| self.answers.get(*self.distinct.get(distinct)?.first()?).copied();
        let texts: Vec<[&str; 1]> = self.order().into_iter().filter_map(first).map(|text| [text]).collect();
        let labels = ('A'..='Z').take(texts.len()).map(|letter| format!("Answer {letter}"));
        (labels.collect(), texts)
    }
}

fn labelled_texts<'t>(labels: &'t [String], texts: &'t [[&'t str; 1]]) -> Vec<LabelledText<'t>> {
    labels.iter().zip(texts).map(|(label, texts)| LabelledText { label, texts }).collect()
}

#[cfg(test)]
#[path = "clerk_tests.rs"]
pub(crate) mod tests;
