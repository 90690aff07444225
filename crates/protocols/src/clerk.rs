//! The clerk: a seat that sorts texts into positions, for protocols without a moderator.

use std::sync::{Arc, OnceLock};

use agon_core::{Ask, Corrupt, Prompt, PromptTemplate, Request, Seat};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::prompt::{PromptSet, entry_question, made_once, new_ask, restrict, schema_of};
use crate::quotes::QuotedTexts;
use crate::sorting::{DeclaredGroup, LabelledText, Sorting};

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
    #[schemars(length(max = 12), transform = entry_question("Which position do some of the texts state?"))]
    pub positions: Vec<ClerkPosition>,
}

/// A position, and the texts that state it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClerkPosition {
    /// What is the position, in one sentence?
    #[schemars(length(max = 1000))]
    pub statement: String,
    /// Which texts state it?
    #[schemars(length(max = 12), transform = entry_question("Which text states this position?"))]
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
