//! A whole JSON answer, which is valid however few tokens it may have.
//!
//! Two things keep an answer within its tokens. First, `schema_bounds` gives every string a share of them, in characters, so
//! that a talkative model ends one field before it has used up what the others need. Second, in case its tokens are shorter
//! than assumed, the way to the end is looked up before each token that the model chooses. With
//!
//! - `left`, the tokens that may still be written,
//! - `ending(s)`, the length of a short ending from the state `s` of the grammar,
//! - `reserve`, room for the model to choose the values on that ending,
//!
//! `ending(s) <= left` holds at the start: otherwise the request is refused. A token from `s` to `t` is taken only if
//! `ending(t) <= left - 1`. Once `ending(t) + reserve` exceeds that, strings, lists and objects are closed as soon as they
//! can be, which is what the short ending does too: each such step shortens both sides by one. So the answer is always
//! complete before `left` runs out.
//!
//! Bounds on strings alone would work too, but a character can take four tokens: a list of a few points would be left with
//! ten or twenty characters each.

use serde_json::Value;

use super::schema_bounds::{bounded_schema, count_choices};
use super::{GrammarCompiler, GuidedText};
use crate::EmbeddedError;
use crate::conversation::StopReason;
use crate::vocabulary::TokenVocabulary;

/// Returns the logits of the next token after these.
pub(crate) type NextLogits<'a> = dyn FnMut(&[u32]) -> Result<Vec<f32>, EmbeddedError> + 'a;

/// What to write, and with which model.
pub(crate) struct JsonRequest<'a> {
    pub(crate) vocabulary: &'a TokenVocabulary,
    pub(crate) prompt: Vec<u32>,
    /// The schema as the protocol gave it.
    pub(crate) schema: &'a Value,
    /// The most tokens of the answer. The caller makes sure that they fit into the model's context.
    pub(crate) tokens_max: usize,
    pub(crate) next_logits: &'a mut NextLogits<'a>,
    /// Chooses a token by its logits. The second argument is the text inside strings so far, without JSON's own marks: those
    /// have to be repeated.
    pub(crate) choose: &'a mut dyn FnMut(&[f32], &[u32]) -> u32,
    /// Receives the JSON as it is written.
    pub(crate) on_delta: &'a dyn Fn(&str),
}

/// A complete answer.
#[derive(Debug)]
pub(crate) struct WrittenJson {
    /// JSON that follows the schema.
    pub(crate) text: String,
    /// `Length` if the model would have written more.
    pub(crate) stop: StopReason,
    pub(crate) tokens: u64,
}

/// Room for one value that the model chooses: a number of eight digits, or the words of an enumeration.
const CHOICE_TOKENS: usize = 8;
/// Token limits are rounded down to this, so that similar limits share a grammar.
const LIMIT_STEP_TOKENS: usize = 32;

/// Writes an answer that follows the schema and fits into its tokens.
pub(crate) fn write_json(
    compiler: &GrammarCompiler,
    request: JsonRequest<'_>,
) -> Result<WrittenJson, EmbeddedError> {
    let JsonRequest { vocabulary, prompt, schema, tokens_max, next_logits, choose, on_delta } = request;
    let schema = bounded_schema(schema, tokens_max / LIMIT_STEP_TOKENS * LIMIT_STEP_TOKENS);
    let reserve = reserved_tokens(&schema);
    let mut writer = JsonWriter::new(compiler.start(&schema)?, vocabulary, prompt, on_delta);
    writer.check_room(tokens_max, reserve)?;
    let (mut stop, mut string_tokens) = (StopReason::Done, Vec::new());
    loop {
        for token in writer.guided.forced_tokens() {
            writer.push(token)?;
        }
        if writer.guided.is_finished() {
            break;
        }
        let left = tokens_max.saturating_sub(writer.written);
        let closing = match stop {
            StopReason::Length => writer.guided.closing_token()?,
            StopReason::Done => writer.guided.number_end_token()?,
        };
        if let Some(token) = closing {
            writer.push(token)?;
            continue;
        }
        let mut logits = next_logits(&writer.tokens)?;
        writer.guided.mask(&mut logits)?;
        let token = choose(&logits, &string_tokens);
        if vocabulary.is_end(token) && writer.guided.may_end()? {
            break;
        }
        let reserve = if stop == StopReason::Length { 0 } else { reserve };
        if writer.can_end_after(token, left.checked_sub(1 + reserve))? {
            if writer.push(token)? {
                string_tokens.push(token);
            }
        } else if stop == StopReason::Done {
            stop = StopReason::Length;
        } else {
            writer.push_shortest_ending(left)?;
            break;
        }
    }
    Ok(WrittenJson { stop, tokens: writer.written as u64, text: writer.into_text()? })
}

/// Room for all values that the model chooses.
pub(super) fn reserved_tokens(schema: &Value) -> usize {
    CHOICE_TOKENS * count_choices(schema)
}

struct JsonWriter<'a> {
    guided: GuidedText,
    vocabulary: &'a TokenVocabulary,
    on_delta: &'a dyn Fn(&str),
    /// The prompt and what was written after it.
    tokens: Vec<u32>,
    /// How many tokens were written.
    written: usize,
    bytes: Vec<u8>,
    sent_bytes: usize,
}

impl<'a> JsonWriter<'a> {
    fn new(
        guided: GuidedText,
        vocabulary: &'a TokenVocabulary,
        prompt: Vec<u32>,
        on_delta: &'a dyn Fn(&str),
    ) -> Self {
        Self { guided, vocabulary, on_delta, tokens: prompt, written: 0, bytes: Vec::new(), sent_bytes: 0 }
    }

    /// Refuses a limit that no answer can meet, before the model is computed.
    fn check_room(&self, tokens_max: usize, reserve: usize) -> Result<(), EmbeddedError> {
        // Far more than any answer, only to say in the error how many tokens are needed.
        const ENDING_TOKENS_MAX: usize = 100_000;
        match self.guided.shortest_ending(ENDING_TOKENS_MAX)?.map(|ending| ending.len() + reserve) {
            Some(least) if least <= tokens_max => Ok(()),
            Some(least) => Err(EmbeddedError::Prompt(format!(
                "an answer of this form takes at least {least} tokens, and only {tokens_max} are left for it: allow more \
                 tokens, or shorten the question"
            ))),
            None => Err(EmbeddedError::Prompt("an answer of this form would never end".into())),
        }
    }

    /// Writes this token, and returns whether it lies inside a string.
    fn push(&mut self, token: u32) -> Result<bool, EmbeddedError> {
        let before = self.guided.position;
        self.guided.append(token)?;
        self.tokens.push(token);
        self.written += 1;
        self.bytes.extend_from_slice(self.vocabulary.bytes(token));
        // An incomplete character is sent when it is complete.
        let fresh = self.bytes.get(self.sent_bytes..).unwrap_or_default();
        let complete = fresh.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        if !complete.is_empty() {
            (self.on_delta)(complete);
            self.sent_bytes += complete.len();
        }
        Ok(before.is_in_string() && self.guided.position.is_in_string())
    }

    /// Whether the end can be reached with so many tokens after this one.
    fn can_end_after(&self, token: u32, left: Option<usize>) -> Result<bool, EmbeddedError> {
        let Some(left) = left else { return Ok(false) };
        let mut ahead = self.guided.clone();
        ahead.append(token)?;
        Ok(ahead.shortest_ending(left)?.is_some())
    }

    /// Only needed for a model that writes nothing but digits, whatever it is asked.
    fn push_shortest_ending(&mut self, left: usize) -> Result<(), EmbeddedError> {
        let Some(ending) = self.guided.shortest_ending(left)? else {
            return Err(EmbeddedError::Prompt("the answer could not be ended within its tokens".into()));
        };
        ending.into_iter().try_for_each(|token| self.push(token).map(drop))
    }

    fn into_text(self) -> Result<String, EmbeddedError> {
        String::from_utf8(self.bytes)
            .map_err(|_| EmbeddedError::Prompt("the answer is not valid text".into()))
    }
}
