//! A model in one conversation: it reads messages, writes sentences or JSON, and scores given answers.

use agon_core::seed::SeededDraw;
use agon_engine::{CallMessage, MessageRole};
use serde_json::Value;

use crate::EmbeddedError;
use crate::chat_template::ChatTemplate;
use crate::context_window::PromptPieces;
use crate::field_by_field::PlainAnswerer;
use crate::guided_json::{GrammarCompiler, JsonRequest, write_json};
use crate::llama::LlamaNetwork;
use crate::sentences::{end_of_sentences, tidy_sentences};
use crate::token_sampling::{SamplingSettings, log_probability, sample_token};
use crate::vocabulary::TokenVocabulary;

/// A reminder of something that the model has read is at most this long.
pub(crate) const REMINDER_TOKENS: usize = 160;

/// A model whose file is loaded.
pub(crate) struct LoadedModel {
    pub(crate) network: LlamaNetwork,
    pub(crate) vocabulary: TokenVocabulary,
    pub(crate) template: ChatTemplate,
    /// Made when JSON is first written.
    pub(crate) compiler: Option<GrammarCompiler>,
}

/// The tokens of a call.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TokenTally {
    /// Tokens that the model was given, all questions together.
    pub(crate) read: u64,
    pub(crate) written: u64,
}

/// A model that answers one call.
pub(crate) struct Conversation<'a> {
    pub(crate) model: &'a mut LoadedModel,
    pub(crate) pieces: &'a PromptPieces,
    pub(crate) messages: Vec<CallMessage>,
    /// The answers to the text fields so far.
    pub(crate) field_answers: Vec<String>,
    pub(crate) draw: SeededDraw,
    pub(crate) sampling: SamplingSettings,
    pub(crate) field_tokens_max: usize,
    pub(crate) is_wanted: &'a dyn Fn() -> bool,
    /// Receives the text as it is written.
    pub(crate) on_delta: &'a dyn Fn(&str),
    pub(crate) tally: TokenTally,
}

/// Why a text ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// The model ended it, or it has its number of sentences.
    Done,
    /// It reached the limit of tokens.
    Length,
}

impl Conversation<'_> {
    /// The model's answer to these messages, with at most so many sentences.
    pub(crate) fn generate(
        &mut self,
        messages: &[CallMessage],
        sentences_max: usize,
        tokens_max: usize,
    ) -> Result<(String, StopReason), EmbeddedError> {
        let LoadedModel { network, vocabulary, template, .. } = &mut *self.model;
        let mut tokens = template.tokens(messages, vocabulary)?;
        let prompt_tokens = tokens.len();
        self.tally.read += prompt_tokens as u64;
        let room = network.shape().context.saturating_sub(prompt_tokens);
        let mut bytes: Vec<u8> = Vec::new();
        let mut sent_bytes = 0;
        let mut logits = network.next_logits(&tokens, self.is_wanted)?;
        for _ in 0..tokens_max.min(room) {
            let written = tokens.get(prompt_tokens..).unwrap_or_default();
            let token = sample_token(&logits, written, self.sampling, &mut self.draw);
            if vocabulary.is_end(token) {
                return Ok((lossy_text(&bytes), StopReason::Done));
            }
            bytes.extend_from_slice(vocabulary.bytes(token));
            self.tally.written += 1;
            let text = lossy_text(&bytes);
            if let Some(end) = end_of_sentences(&text, sentences_max) {
                return Ok((text.get(..end).unwrap_or(&text).to_owned(), StopReason::Done));
            }
            // A character whose last bytes are still missing is sent when it is complete.
            if let Some(fresh) = text.get(sent_bytes..).filter(|fresh| !fresh.ends_with('\u{FFFD}')) {
                (self.on_delta)(fresh);
                sent_bytes = text.len();
            }
            tokens.push(token);
            logits = network.next_logits(&tokens, self.is_wanted)?;
        }
        Ok((lossy_text(&bytes), StopReason::Length))
    }

    /// The model's answer to the conversation, as JSON that follows the schema.
    pub(crate) fn generate_json(
        &mut self,
        schema: &Value,
        tokens_max: usize,
    ) -> Result<(String, StopReason), EmbeddedError> {
        let LoadedModel { network, vocabulary, template, compiler } = &mut *self.model;
        let prompt = template.tokens(&self.messages, vocabulary)?;
        self.tally.read += prompt.len() as u64;
        let tokens_max = tokens_max.min(network.shape().context.saturating_sub(prompt.len()));
        let compiler = match compiler {
            Some(compiler) => compiler,
            None => compiler.insert(GrammarCompiler::new(vocabulary)?),
        };
        let (is_wanted, sampling, draw) = (self.is_wanted, self.sampling, &mut self.draw);
        let next_logits = &mut |tokens: &[u32]| network.next_logits(tokens, is_wanted);
        let choose = &mut |logits: &[f32], written: &[u32]| sample_token(logits, written, sampling, draw);
        let on_delta = self.on_delta;
        let request = JsonRequest { vocabulary, prompt, schema, tokens_max, next_logits, choose, on_delta };
        let json = write_json(compiler, request)?;
        self.tally.written += json.tokens;
        Ok((json.text, json.stop))
    }

    /// The messages with this question at their end.
    fn with_question(&self, question: &str) -> Vec<CallMessage> {
        let mut messages = self.messages.clone();
        match messages.last_mut() {
            Some(last) if last.role == MessageRole::User => {
                last.text = format!("{}\n\n{question}", last.text.trim_end())
            }
            _ => messages.push(CallMessage::new(MessageRole::User, question)),
        }
        messages
    }
}

impl PlainAnswerer for Conversation<'_> {
    fn answer(&mut self, question: &str, sentences_max: usize) -> Result<String, EmbeddedError> {
        // The question does not include earlier answers: a small model that sees them repeats them.
        let (text, _) = self.generate(&self.with_question(question), sentences_max, self.field_tokens_max)?;
        let text = tidy_sentences(&text, sentences_max);
        self.field_answers.push(text.clone());
        Ok(text)
    }

    fn score(&mut self, question: &str, answers: &[String]) -> Result<Vec<f32>, EmbeddedError> {
        let messages = match self.field_answers.as_slice() {
            [] => self.with_question(question),
            earlier => {
                let earlier = reminder(&earlier.join(" "), &self.model.vocabulary)?;
                self.with_question(&format!("You say: {earlier}\n\n{question}"))
            }
        };
        let LoadedModel { network, vocabulary, template, .. } = &mut *self.model;
        let prompt = template.tokens(&messages, vocabulary)?;
        self.tally.read += prompt.len() as u64;
        let mut scores = Vec::with_capacity(answers.len());
        for answer in answers {
            let mut tokens = prompt.clone();
            let mut score = 0.0;
            for token in vocabulary.encode(answer)?.into_iter().chain([vocabulary.end()]) {
                score += log_probability(&network.next_logits(&tokens, self.is_wanted)?, token);
                tokens.push(token);
            }
            scores.push(score);
        }
        Ok(scores)
    }

    fn last_words_of(&self, who: &str) -> Option<String> {
        self.pieces.last_words_of(who).and_then(|words| reminder(words, &self.model.vocabulary).ok())
    }

    fn quote_of(&self, who: &str) -> Option<String> {
        let words = self.pieces.last_words_of(who)?.lines().next()?;
        let sentence = end_of_sentences(words, 1).and_then(|end| words.get(..end)).unwrap_or(words);
        Some(sentence.trim().to_owned()).filter(|quote| !quote.is_empty())
    }
}

/// The first sentences of a text that the model has already read.
fn reminder(text: &str, vocabulary: &TokenVocabulary) -> Result<String, EmbeddedError> {
    let tokens = vocabulary.encode(text)?;
    let Some(kept) = tokens.get(..REMINDER_TOKENS) else { return Ok(text.to_owned()) };
    let bytes: Vec<u8> = kept.iter().flat_map(|token| vocabulary.bytes(*token)).copied().collect();
    Ok(tidy_sentences(lossy_text(&bytes).trim_end_matches('\u{FFFD}'), usize::MAX))
}

fn lossy_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
