//! What the seats of a council reply, and the JSON Schemas of the replies.
//!
//! The doc comments of the reply types are the descriptions in the schemas, so they are part of the prompts. Those of fields are
//! questions, because a person or a small model is asked for one field at a time, with just that question.

use std::sync::{Arc, LazyLock};

use agon_core::ReplySchema;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::log::has_words;
use crate::prompt::{ListedSchemas, entry_question, schema_of};

/// The most characters of a text in a reply.
const TEXT_CHARS_MAX: usize = 8000;

/// Reads a field that may be null, or that was not asked for and has any shape: its default then.
fn or_default<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(reader: D) -> Result<T, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(reader)?).unwrap_or_default())
}

/// A councillor's opening statement.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(super) struct OpeningStatement {
    /// What decides this question, seen from your role? At most 150 words.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) analysis: String,
    /// What is your position on the topic? Two to four sentences.
    pub(super) position: String,
    /// Which arguments support your position? Give 3 to 5.
    #[schemars(length(min = 3, max = 5), transform = entry_question("What is an argument for your position?"))]
    pub(super) arguments: Vec<String>,
    /// How sure are you of your position?
    pub(super) confidence: CouncilConfidence,
    /// How would you vote on the proposition today?
    pub(super) vote: CouncilVote,
    /// What must other councillors answer? Ask at least one question that the role of the one you ask must be able to answer.
    #[schemars(length(min = 1, max = 5), transform = entry_question("What must another councillor answer?"))]
    pub(super) questions: Vec<OpeningQuestion>,
}

/// A question to another councillor. It counts as a challenge.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct OpeningQuestion {
    /// Which councillor do you ask?
    pub(super) to: String,
    /// What is your question?
    pub(super) question: String,
}

super::wire_words! {
    /// How sure a councillor is.
    #[derive(Default, PartialOrd, Ord, JsonSchema)]
    enum CouncilConfidence {
        Low = "LOW",
        #[default]
        Medium = "MEDIUM",
        High = "HIGH",
    }
}

/// What a councillor asks of the others in a round.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(super) struct CrossExamination {
    /// Which claims of the others matter most for the decision, and which of these rest on the weakest ground? At most 150 words.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) analysis: String,
    /// Which claims of other councillors do you challenge? At least two.
    #[schemars(length(min = 2, max = 6), transform = entry_question("Which claim of another councillor do you challenge?"))]
    pub(super) challenges: Vec<NewChallenge>,
    /// What do you write to another councillor directly? Only that councillor and the moderator read it.
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(transform = entry_question("What do you write to another councillor?"))]
    pub(super) messages: Vec<NewMessage>,
}

/// A challenge to another councillor.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct NewChallenge {
    /// Which councillor do you challenge?
    pub(super) to: String,
    /// Which words of that councillor do you challenge? Copy them exactly, in their own language.
    pub(super) claim: String,
    /// Why is this claim wrong, or why does it need scrutiny?
    pub(super) reason: String,
    /// What must the councillor answer?
    pub(super) question: String,
}

/// A message to one councillor.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct NewMessage {
    /// Which councillor do you write to?
    pub(super) to: String,
    /// What is the message about? A few words.
    pub(super) topic: String,
    /// What do you write?
    pub(super) text: String,
}

/// What a councillor answers in a round, and what it holds after it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(super) struct RoundResponse {
    /// Which challenge hits your position hardest, and what follows from it? At most 150 words.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) analysis: String,
    /// What do you answer to the challenges that you were given? One response for each id.
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(transform = entry_question("What do you answer to a challenge?"))]
    pub(super) responses: Vec<ChallengeResponse>,
    /// What do you reply to the messages that you were sent? One reply for each id.
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(transform = entry_question("What do you reply to a message?"))]
    pub(super) replies: Vec<MessageReply>,
    /// Why does your position or your vote change, or hold? Name the ids of the challenges and messages that decide it. Everybody reads this.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) because: String,
    /// Does your position or your vote change in this round? New reasons alone are no change.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) changed: bool,
    /// What is your position now, with what your answers concede, in two to four sentences? Empty if it does not change.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) position: String,
    /// Which arguments support your position now? List those that you keep and those that you add.
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(length(max = 6), transform = entry_question("What is an argument for your position now?"))]
    pub(super) key_arguments: Vec<String>,
    /// Which of your key arguments has nobody made before?
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(length(max = 5), transform = entry_question("What is an argument that nobody has made before?"))]
    pub(super) new_arguments: Vec<String>,
    /// How sure are you of your position now?
    pub(super) confidence: CouncilConfidence,
    /// How would you vote on the proposition now?
    pub(super) vote: CouncilVote,
}

/// The answer to a challenge.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct ChallengeResponse {
    /// Which challenge do you answer?
    pub(super) challenge_id: String,
    /// What is your direct response?
    pub(super) response: String,
    /// Do you agree with the challenge, disagree, modify your claim, or answer a question that quotes no claim of yours?
    pub(super) stance: ChallengeStance,
}

super::wire_words! {
    /// Where a councillor stands on a challenge.
    #[derive(JsonSchema)]
    enum ChallengeStance {
        Agree = "agree",
        Disagree = "disagree",
        Modified = "modified",
        Answered = "answered",
    }
}

impl ChallengeStance {
    /// Whether the councillor grants the challenge something.
    pub(super) fn concedes(self) -> bool {
        matches!(self, Self::Agree | Self::Modified)
    }
}

/// The reply to one message.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct MessageReply {
    /// Which message do you reply to?
    pub(super) message_id: String,
    /// What do you reply?
    pub(super) text: String,
}

/// The case against what the council is about to agree on.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(super) struct SteelmanCase {
    /// What is the strongest argument against the emerging consensus?
    pub(super) counter_argument: String,
    /// What would need to be true for the emerging consensus to be wrong?
    #[serde(default, deserialize_with = "or_default")]
    pub(super) must_be_true: String,
    /// What evidence would change your own mind about it?
    #[serde(default, deserialize_with = "or_default")]
    pub(super) would_change_my_mind: String,
    /// What blind spots might all councillors share?
    #[serde(default, deserialize_with = "or_default")]
    pub(super) blind_spots: String,
}

/// The answer to a challenge that is put again.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(super) struct SecondResponse {
    /// What exactly does the challenge ask of you? At most 150 words.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) analysis: String,
    /// Which challenge do you answer?
    pub(super) challenge_id: String,
    /// What is your direct response?
    #[serde(default, deserialize_with = "or_default")]
    pub(super) response: String,
    /// Do you agree with the challenge, disagree, modify your claim, or answer a mere question? No stance is an evasion.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) stance: Option<ChallengeStance>,
}

/// What a reframing question does to a councillor's analysis.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(super) struct ReframingAnswer {
    /// How does the moderator's question change your analysis?
    pub(super) effect: String,
    /// Why does your position change? Empty if it does not.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) because: String,
    /// Does your position change? New reasons alone are no change.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) changed: bool,
    /// What is your position now? Empty if it does not change.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) position: String,
}

/// A councillor's last word and vote.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(super) struct FinalStatement {
    /// Which arguments survived the cross-examination, and which did not? At most 150 words.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) analysis: String,
    /// What is your final position?
    pub(super) final_position: String,
    /// Which argument decides it for you?
    pub(super) key_argument: String,
    /// What is the strongest point of the other side?
    #[serde(default, deserialize_with = "or_default")]
    pub(super) strongest_opposing_point: String,
    /// Which concern remains?
    #[serde(default, deserialize_with = "or_default")]
    pub(super) remaining_concern: String,
    /// Why do you not vote as you would have after the last round? Name the ids of challenges or messages. Empty if you do.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) because: String,
    /// How do you vote on the proposition?
    pub(super) vote: CouncilVote,
    /// What must be met before it is done, or be true before you would vote yes? Each stands alone. Empty with PROCEED and DO NOT PROCEED.
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(length(max = 8), transform = entry_question("What must be met before it is done (if it holds later: from when), or be true before you would vote yes?"))]
    pub(super) conditions: Vec<String>,
    /// Which risks do you see if it goes ahead?
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(length(max = 8), transform = entry_question("Which risk do you see if it goes ahead?"))]
    pub(super) risks: Vec<StatedRisk>,
}

super::wire_words! {
    /// A vote, from the most to the least in favour.
    #[derive(Default, Hash, JsonSchema)]
    enum CouncilVote {
        Proceed = "PROCEED",
        WithConditions = "PROCEED WITH CONDITIONS",
        #[default]
        Reconsider = "RECONSIDER",
        DoNotProceed = "DO NOT PROCEED",
    }
}

impl CouncilVote {
    /// Whether it is on the side that goes ahead.
    pub(super) fn is_in_favour(self) -> bool {
        matches!(self, Self::Proceed | Self::WithConditions)
    }

    /// What RECONSIDER means, in the words of the prompts. The other votes say it by their names.
    pub(super) fn meaning(self) -> Option<&'static str> {
        (self == Self::Reconsider)
            .then_some("not now. Something has to be changed or found out first; then it is decided again.")
    }
}

/// A risk of going ahead.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct StatedRisk {
    /// What could go wrong?
    pub(super) risk: String,
    /// How bad would it be?
    pub(super) severity: RiskSeverity,
    /// How likely is it?
    pub(super) probability: RiskProbability,
    /// What would make it less likely or less bad?
    #[serde(default, deserialize_with = "or_default")]
    pub(super) mitigation: String,
}

super::wire_words! {
    /// How bad a risk is.
    #[derive(PartialOrd, Ord, JsonSchema)]
    enum RiskSeverity {
        Low = "low",
        Medium = "medium",
        High = "high",
        Critical = "critical",
    }
}

super::wire_words! {
    /// How likely a risk is.
    #[derive(PartialOrd, Ord, JsonSchema)]
    enum RiskProbability {
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

/// What the moderator finds in a round.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(super) struct ModeratorReply {
    /// Where do the councillors agree, who evades, what is new in this round, and which change is not explained? At most 150 words.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) analysis: String,
    /// Which major points do two or more councillors share?
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(length(max = 6), transform = entry_question("Which major point do two or more councillors share?"))]
    pub(super) shared_points: Vec<SharedPointFinding>,
    /// Which answers do not engage the challenge that they answer?
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(length(max = 6), transform = entry_question("Which answer does not engage its challenge?"))]
    pub(super) evasions: Vec<EvasionFinding>,
    /// Which arguments of this round had nobody made before?
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(length(max = 12), transform = entry_question("Which argument of this round had nobody made before?"))]
    pub(super) new_arguments: Vec<NewArgumentFinding>,
    /// Which two or three challenges or messages mattered most in this round?
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(length(max = 3), transform = entry_question("Which challenge or message mattered most?"))]
    pub(super) key_exchanges: Vec<String>,
    /// Which provocative question would show the topic from another side, in case the debate has stalled?
    #[serde(default, deserialize_with = "or_default")]
    pub(super) reframing_question: String,
}

impl ModeratorReply {
    /// What it says in the words of councillors.
    pub(super) fn quotes(&self) -> impl Iterator<Item = &str> {
        let members = self.shared_points.iter().flat_map(|shared| &shared.members);
        let quotes =
            members.map(|member| &member.quote).chain(self.evasions.iter().map(|found| &found.quote));
        quotes.chain(self.new_arguments.iter().map(NewArgumentFinding::words)).map(|quote| quote.trim())
    }
}

/// A point that several councillors share.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct SharedPointFinding {
    /// What do they agree on, in one sentence?
    pub(super) point: String,
    /// Which councillors share it?
    #[schemars(length(max = 6), transform = entry_question("Which councillor shares it?"))]
    pub(super) members: Vec<CouncillorQuote>,
    /// Which challenges to these councillors argue against the point itself? Name their ids.
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(length(max = 6), transform = entry_question("Which challenge argues against the point itself?"))]
    pub(super) challenged_by: Vec<String>,
    /// Does a challenge argue against this point itself?
    pub(super) challenged: bool,
}

/// A councillor's own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct CouncillorQuote {
    /// Which councillor is it?
    pub(super) councillor: String,
    /// Which words of this councillor say so? Copy them exactly, in their own language.
    pub(super) quote: String,
}

impl CouncillorQuote {
    pub(super) fn new(councillor: &str, quote: &str) -> Self {
        Self { councillor: councillor.to_owned(), quote: quote.to_owned() }
    }
}

/// An answer that evades its challenge.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct EvasionFinding {
    /// Which challenge was evaded?
    pub(super) challenge_id: String,
    /// What does the answer leave unanswered?
    pub(super) why: String,
    /// Which words of the answer show it? Copy them exactly.
    pub(super) quote: String,
}

/// An argument that was not made before.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct NewArgumentFinding {
    /// Which councillor made it?
    pub(super) councillor: String,
    /// What is the argument? Copy the councillor's words exactly.
    pub(super) argument: String,
    /// Not asked for. A moderator who put the argument in its own words may give the councillor's here.
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(skip)]
    pub(super) quote: String,
}

impl NewArgumentFinding {
    /// The councillor's words.
    pub(super) fn words(&self) -> &String {
        if has_words(&self.quote) { &self.quote } else { &self.argument }
    }
}

/// What the moderator makes of the votes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(super) struct ModeratorConclusion {
    /// What do the final statements have in common, and what does nobody at the table know? At most 150 words.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) analysis: String,
    /// Which one sentence answers the topic, so that more than half of the councillors would sign it? Empty if there is none.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) agreed: String,
    /// Which words of each of these councillors say so? Every part of the sentence needs some.
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(length(max = 18), transform = entry_question("Which councillor would sign the sentence?"))]
    pub(super) quotes: Vec<CouncillorQuote>,
    /// Which conditions of one kind, or which risks, say the same thing?
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(length(max = 12), transform = entry_question("Which conditions, or which risks, say the same thing?"))]
    pub(super) merged: Vec<MergedTerms>,
    /// Which conditions of different councillors cannot all be met?
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(length(max = 6), transform = entry_question("Which conditions of different councillors cannot all be met?"))]
    pub(super) conflicts: Vec<TermConflict>,
    /// Which facts are missing that only the person who asked can supply?
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(length(max = 8), transform = entry_question("Which fact is missing that only the person who asked can supply?"))]
    pub(super) facts_needed: Vec<String>,
    /// Which answers to challenges that were put again still do not engage them?
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(length(max = 3), transform = entry_question("Which answer still does not engage its challenge?"))]
    pub(super) evasions: Vec<EvasionFinding>,
}

/// Conditions, or risks, that say the same thing.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct MergedTerms {
    /// Which ones say the same thing? At least two ids of one kind.
    #[schemars(length(min = 2, max = 12), transform = entry_question("Which one says the same thing?"))]
    pub(super) ids: Vec<String>,
    /// What do all of them say, in one sentence?
    pub(super) text: String,
}

/// Conditions that exclude each other.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct TermConflict {
    /// Which ones exclude each other? At least two ids.
    #[schemars(length(min = 2, max = 6), transform = entry_question("Which one excludes another?"))]
    pub(super) ids: Vec<String>,
    /// Why can they not all be met?
    pub(super) why: String,
}

super::wire_words! {
    /// A kind of reply.
    enum ReplyForm {
        Opening = "opening",
        Examination = "examination",
        Response = "response",
        Moderation = "moderation",
        Steelman = "steelman",
        SecondResponse = "second_response",
        Reframing = "reframing",
        Final = "final",
        Conclusion = "conclusion",
    }
}

impl ReplyForm {
    /// The schema in which each place, a pointer below `properties`, allows only these values. A field in which nothing can be named is left out.
    pub(super) fn schema(self, choices: &[(&str, Vec<String>)]) -> Arc<ReplySchema> {
        static SCHEMAS: LazyLock<ListedSchemas> = LazyLock::new(ListedSchemas::default);
        let lists: Vec<&[String]> = choices.iter().map(|(_, values)| values.as_slice()).collect();
        SCHEMAS.get(self.as_str(), &lists, || {
            let mut schema = self.base_schema();
            bound_texts(&mut schema.json);
            for (property, values) in choices {
                let place = schema.json.pointer_mut(&format!("/properties/{property}"));
                if values.is_empty() {
                    remove(&mut schema.json, property.split('/').next().unwrap_or_default());
                } else if let Some(Value::Object(place)) = place {
                    place.shift_remove("maxLength");
                    place.insert("enum".to_owned(), values.to_vec().into());
                }
            }
            schema
        })
    }

    fn base_schema(self) -> ReplySchema {
        let name = self.as_str();
        match self {
            Self::Opening => schema_of::<OpeningStatement>(name),
            Self::Examination => schema_of::<CrossExamination>(name),
            Self::Response => schema_of::<RoundResponse>(name),
            Self::Moderation => schema_of::<ModeratorReply>(name),
            Self::Steelman => schema_of::<SteelmanCase>(name),
            Self::SecondResponse => schema_of::<SecondResponse>(name),
            Self::Reframing => schema_of::<ReframingAnswer>(name),
            Self::Final => schema_of::<FinalStatement>(name),
            Self::Conclusion => schema_of::<ModeratorConclusion>(name),
        }
    }
}

/// The schema of a second response to a challenge that is no question, so that `answered` is no stance on it.
pub(super) fn without_answered(schema: &ReplySchema) -> Arc<ReplySchema> {
    let mut json = schema.json.clone();
    if let Some(Value::Array(stances)) = json.pointer_mut("/properties/stance/enum") {
        stances.retain(|stance| stance != ChallengeStance::Answered.as_str());
    }
    Arc::new(ReplySchema { name: schema.name.clone(), json })
}

/// Every text has a limit on its length.
fn bound_texts(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.get("type").is_some_and(|kind| kind == "string") && !fields.contains_key("enum") {
                fields.insert("maxLength".to_owned(), TEXT_CHARS_MAX.into());
            }
            fields.values_mut().for_each(bound_texts);
        }
        Value::Array(entries) => entries.iter_mut().for_each(bound_texts),
        _ => {}
    }
}

fn remove(schema: &mut Value, property: &str) {
    if let Some(Value::Object(properties)) = schema.pointer_mut("/properties") {
        properties.shift_remove(property);
    }
    if let Some(Value::Array(required)) = schema.pointer_mut("/required") {
        required.retain(|name| name != property);
    }
}
