//! How a model answers a call.

use std::borrow::Cow;

use agon_core::CallUsage;
use agon_core::quotations;
use agon_core::seed::SeededDraw;
use agon_engine::{CallMessage, FinishReason, MessageRole, ModelCall, ModelCompletion};

use crate::EmbeddedError;
use crate::context_window::{PromptPieces, PromptStyle};
use crate::conversation::{Conversation, LoadedModel, REMINDER_TOKENS, StopReason, TokenTally};
use crate::embedded_model::{EmbeddedSettings, StructuredStrategy};
use crate::field_by_field::fill_schema;
use crate::sentences::tidy_sentences;
use crate::token_sampling::SamplingSettings;

/// Models with fewer weights are small: they are asked in plain words and field by field.
const SMALL_BELOW_WEIGHTS: u64 = 1_000_000_000;
/// A sentence of a small model that is longer than this does not end.
const SENTENCE_TOKENS: usize = 72;
/// The most that a small model says in one plain answer.
const ANSWER_SENTENCES: usize = 4;
const ANSWER_TOKENS: usize = 200;
/// Room between the transcript and the answer to a field: the question, the quoted words, and the answers so far.
const FIELD_TOKENS: usize = 2 * REMINDER_TOKENS + 320;
/// Room for the small model's system prompt and what the template adds to it.
const SYSTEM_PROMPT_TOKENS: usize = 40;
/// A small model cannot follow more rules than these.
const SYSTEM_PROMPT: &str =
    "You are an expert with an opinion of your own. You answer plainly and give reasons.";

/// Low enough to stay coherent, high enough that three seats do not say the same.
const SMALL_SAMPLING: SamplingSettings =
    SamplingSettings { temperature: 0.3, top_p: 0.9, repeat_penalty: 1.1 };
const LARGE_SAMPLING: SamplingSettings =
    SamplingSettings { temperature: 0.6, top_p: 0.95, repeat_penalty: 1.0 };

/// The answer to a call, without the name of the model.
pub(crate) fn answer_call(
    model: &mut LoadedModel,
    call: &ModelCall,
    settings: &EmbeddedSettings,
    is_wanted: &dyn Fn() -> bool,
    on_delta: &dyn Fn(&str),
) -> Result<ModelCompletion, EmbeddedError> {
    let is_small = model.network.shape().weights < SMALL_BELOW_WEIGHTS;
    let by_size = if is_small { StructuredStrategy::Fields } else { StructuredStrategy::Schema };
    let strategy = settings.structured.unwrap_or(by_size);
    let style = match &call.schema {
        Some(_) if strategy == StructuredStrategy::Schema => PromptStyle::AsWritten,
        _ if !is_small => PromptStyle::AsWritten,
        schema => PromptStyle::Plain { with_instructions: schema.is_none() },
    };
    let output_tokens_max = usize::try_from(call.max_output_tokens).unwrap_or(usize::MAX);
    // The grammar keeps the answer to the schema, but only the prompt says what each field means.
    let messages = match style {
        PromptStyle::AsWritten => call.messages_with_schema(),
        PromptStyle::Plain { .. } => Cow::Borrowed(call.messages.as_slice()),
    };
    let pieces = PromptPieces::new(messages_to_read(&messages, style), style, &call.question);
    let context = model.network.shape().context;
    let reserve = reserved_tokens(style, output_tokens_max).min(context / 2);
    let (messages, shortened) = pieces
        .fit(context, reserve, &|messages| Ok(model.template.tokens(messages, &model.vocabulary)?.len()))?;
    let messages =
        if style == PromptStyle::AsWritten { messages } else { with_short_system_prompt(messages) };
    let computed_before = model.network.computed_tokens();
    // The prompt is part of the seed: an ask that was lost and is sent again gets the same answer, and a repair, whose
    // prompt differs, gets another.
    let last_prompt = call.messages.last().map(|message| message.text.as_str()).unwrap_or_default();
    let mut conversation = Conversation {
        model,
        pieces: &pieces,
        messages,
        field_answers: Vec::new(),
        draw: SeededDraw::new(call.seed, &format!("embedded {last_prompt}")),
        sampling: if is_small { SMALL_SAMPLING } else { LARGE_SAMPLING },
        field_tokens_max: SENTENCE_TOKENS.min(output_tokens_max),
        is_wanted,
        on_delta,
        tally: TokenTally::default(),
    };
    let (text, stop) = generate_answer(&mut conversation, call, style, output_tokens_max)?;
    let TokenTally { read, written } = conversation.tally;
    let computed = model.network.computed_tokens().saturating_sub(computed_before).saturating_sub(written);
    Ok(ModelCompletion {
        text,
        model: String::new(),
        usage: CallUsage {
            input_tokens: read,
            cached_input_tokens: read.saturating_sub(computed),
            output_tokens: written,
            ..CallUsage::default()
        },
        finish: if stop == StopReason::Length { FinishReason::Length } else { FinishReason::End },
        shortened,
    })
}

fn generate_answer(
    conversation: &mut Conversation<'_>,
    call: &ModelCall,
    style: PromptStyle,
    output_tokens_max: usize,
) -> Result<(String, StopReason), EmbeddedError> {
    let messages = conversation.messages.clone();
    match (&call.schema, style) {
        (Some(schema), PromptStyle::Plain { .. }) => {
            Ok((fill_schema(&schema.json, conversation)?.to_string(), StopReason::Done))
        }
        (Some(schema), PromptStyle::AsWritten) => conversation.generate_json(&schema.json, output_tokens_max),
        (None, PromptStyle::Plain { .. }) => {
            let tokens_max = ANSWER_TOKENS.min(output_tokens_max);
            let (text, stop) = conversation.generate(&messages, ANSWER_SENTENCES, tokens_max)?;
            // Only the debate's limit cuts an answer off; the small model's own limit is a matter of style.
            let stop = if output_tokens_max < ANSWER_TOKENS { stop } else { StopReason::Done };
            Ok((tidy_sentences(&text, ANSWER_SENTENCES), stop))
        }
        (None, PromptStyle::AsWritten) => conversation.generate(&messages, usize::MAX, output_tokens_max),
    }
}

/// How much of the context window the answer needs.
fn reserved_tokens(style: PromptStyle, output_tokens_max: usize) -> usize {
    match style {
        PromptStyle::AsWritten => output_tokens_max,
        PromptStyle::Plain { with_instructions: true } => ANSWER_TOKENS + SYSTEM_PROMPT_TOKENS,
        PromptStyle::Plain { with_instructions: false } => FIELD_TOKENS + SYSTEM_PROMPT_TOKENS,
    }
}

/// The messages up to the ask itself. When fields are asked for one by one, a rejected JSON answer after it is useless.
fn messages_to_read(messages: &[CallMessage], style: PromptStyle) -> &[CallMessage] {
    if style != (PromptStyle::Plain { with_instructions: false }) {
        return messages;
    }
    // The request for a repair shares nothing with other seats and quotes nothing.
    let is_ask = |message: &CallMessage| {
        message.role == MessageRole::User && (message.shared > 0 || !quotations(&message.text).is_empty())
    };
    let end = messages.iter().rposition(is_ask).map_or(messages.len(), |index| index + 1);
    messages.get(..end).unwrap_or(messages)
}

fn with_short_system_prompt(messages: Vec<CallMessage>) -> Vec<CallMessage> {
    let others = messages.into_iter().filter(|message| message.role != MessageRole::System);
    std::iter::once(CallMessage::new(MessageRole::System, SYSTEM_PROMPT)).chain(others).collect()
}
