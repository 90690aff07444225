//! A structured answer, written as JSON that is forced to follow its schema.
//!
//! The schema becomes a grammar. Before each token the grammar says which tokens are allowed, and the model chooses among
//! those. Where only one continuation is possible, such as the name of a field, the model is not even computed.
//!
//! - [`write_json`]: a whole answer that ends within its tokens.
//! - [`GrammarCompiler`] and [`GuidedText`]: grammars over a model's tokens, and one text under way.
//! - `schema_bounds`: the schema with a limit on everything.

mod json_writer;
mod schema_bounds;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};

use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::{InferenceCapabilities, SimpleVob, TokEnv, TokRxInfo, TokTrie, TokenizerEnv};
use llguidance::{Matcher, ParserFactory};
use serde_json::Value;

use crate::EmbeddedError;
use crate::vocabulary::TokenVocabulary;

pub(crate) use json_writer::{JsonRequest, write_json};

/// Makes grammars over a model's vocabulary. There is one per model.
pub(crate) struct GrammarCompiler {
    factory: ParserFactory,
    trie: Arc<TokenTrie>,
    grammars: Mutex<Vec<(String, Matcher)>>,
}

/// One text under way, and what its grammar allows next.
#[derive(Clone)]
pub(crate) struct GuidedText {
    matcher: Matcher,
    trie: Arc<TokenTrie>,
    position: JsonPosition,
}

/// So many grammars are kept: a protocol has a few kinds of replies.
const GRAMMARS_KEPT: usize = 16;
/// llguidance cannot store longer tokens, and no model would write one.
const TOKEN_BYTES_MAX: usize = 512;
/// A number that is this long ends as soon as it can: small models like to write endless fractions.
const NUMBER_CHARS_MAX: usize = 8;
/// What may follow a number.
const AFTER_NUMBER: &[u8] = b"}],";
/// Marks special tokens in llguidance. No text contains this byte.
const SPECIAL_TOKEN_MARKER: u8 = TokTrie::SPECIAL_TOKEN_MARKER;

impl GrammarCompiler {
    pub(crate) fn new(vocabulary: &TokenVocabulary) -> Result<Self, EmbeddedError> {
        let ids = || 0..u32::try_from(vocabulary.len()).unwrap_or(u32::MAX);
        let ends: Vec<u32> = ids().filter(|id| vocabulary.is_end(*id)).collect();
        let Some(end) = ends.first() else {
            return Err(EmbeddedError::File("it has no token that ends an answer".into()));
        };
        // A token without bytes is never allowed, so no control token gets into a text.
        let allowed_bytes = |id: u32| match vocabulary.bytes(id) {
            _ if vocabulary.is_end(id) => Vec::new(),
            [SPECIAL_TOKEN_MARKER, ..] => Vec::new(),
            bytes if bytes.len() > TOKEN_BYTES_MAX => Vec::new(),
            bytes => bytes.to_vec(),
        };
        let words: Vec<Vec<u8>> = ids().map(allowed_bytes).collect();
        let info = TokRxInfo::new(ids().end, *end);
        let trie = Arc::new(TokenTrie(TokTrie::from(&info, &words).with_eos_tokens(&ends)));
        let env: TokEnv = trie.clone();
        let capabilities = InferenceCapabilities { ff_tokens: true, ..InferenceCapabilities::default() };
        let slices = llguidance::earley::SlicedBiasComputer::json_slices();
        let mut factory = ParserFactory::new(&env, capabilities, &slices)
            .map_err(|why| EmbeddedError::File(format!("its tokens cannot be guided by a schema: {why}")))?;
        // Otherwise llguidance writes to the terminal.
        factory.set_stderr_log_level(0);
        factory.limits_mut().verbose_errors = false;
        Ok(Self { factory, trie, grammars: Mutex::default() })
    }

    /// A new text that follows this schema. Its grammar is compiled once.
    pub(crate) fn start(&self, schema: &Value) -> Result<GuidedText, EmbeddedError> {
        let key = schema.to_string();
        let mut grammars = self.grammars.lock().unwrap_or_else(PoisonError::into_inner);
        // A matcher collects what it learns about its grammar; a deep copy keeps the stored one from growing without end.
        let new_text = |matcher: &Matcher| GuidedText {
            matcher: matcher.deep_clone(),
            trie: self.trie.clone(),
            position: JsonPosition::default(),
        };
        if let Some((_, matcher)) = grammars.iter().find(|(known, _)| *known == key) {
            return Ok(new_text(matcher));
        }
        let parser = self.factory.create_parser(TopLevelGrammar::from_json_schema(schema.clone()));
        let matcher = Matcher::new(Ok(parser.map_err(cannot_guide)?));
        let text = new_text(&matcher);
        if grammars.len() >= GRAMMARS_KEPT {
            grammars.remove(0);
        }
        grammars.push((key, matcher));
        Ok(text)
    }
}

impl GuidedText {
    /// Sets the logits of all tokens that are not allowed next to minus infinity.
    pub(crate) fn mask(&mut self, logits: &mut [f32]) -> Result<(), EmbeddedError> {
        let allowed = self.allowed_tokens()?;
        let in_number = matches!(self.position, JsonPosition::Number { .. });
        for (logit, id) in logits.iter_mut().zip(0..) {
            // JSON allows numbers such as `4E442`, which no program can read. Without an exponent a number can still end.
            let is_exponent = in_number && matches!(self.trie.0.token(id).first(), Some(b'e' | b'E'));
            if is_exponent || !contains(&allowed, id) {
                *logit = f32::NEG_INFINITY;
            }
        }
        Ok(())
    }

    /// Appends this token.
    pub(crate) fn append(&mut self, token: u32) -> Result<(), EmbeddedError> {
        self.matcher.consume_token(token).map_err(cannot_guide)?;
        self.position.advance(self.trie.0.token(token));
        Ok(())
    }

    /// Whether the text is complete and nothing may follow.
    pub(crate) fn is_finished(&self) -> bool {
        !self.matcher.is_error() && self.matcher.is_stopped()
    }

    /// The tokens that must come next, in order; may be empty.
    pub(crate) fn forced_tokens(&mut self) -> Vec<u32> {
        if self.matcher.is_stopped() { Vec::new() } else { self.matcher.compute_ff_tokens() }
    }

    /// Whether the text may end here.
    fn may_end(&mut self) -> Result<bool, EmbeddedError> {
        Ok(self.is_finished() || self.matcher.is_accepting().map_err(cannot_guide)?)
    }

    /// A short continuation to the end, if there is one of at most `tokens_max` tokens. Its values are arbitrary: it only shows
    /// how much room must be left.
    fn shortest_ending(&self, tokens_max: usize) -> Result<Option<Vec<u32>>, EmbeddedError> {
        let mut ahead = self.clone();
        let mut ending = Vec::new();
        while !ahead.may_end()? {
            let mut next = ahead.forced_tokens();
            if next.is_empty() {
                next.push(match ahead.closing_token()? {
                    Some(token) => token,
                    None => ahead.filler_token(ending.len())?,
                });
            }
            for token in next {
                ahead.append(token)?;
                ending.push(token);
            }
            if ending.len() > tokens_max {
                return Ok(None);
            }
        }
        Ok(Some(ending))
    }

    /// The token that ends the current string, list or object, if it may end. It never chooses a value.
    fn closing_token(&mut self) -> Result<Option<u32>, EmbeddedError> {
        // Bytes that must follow anyway, even if a longer token could begin with them.
        if let Some(token) = self.trie.0.greedy_tokenize(&self.matcher.compute_ff_bytes()).first() {
            return Ok(Some(*token));
        }
        match self.position {
            JsonPosition::String { .. } => self.first_allowed(b"\""),
            JsonPosition::Number { .. } => self.number_end_token(),
            JsonPosition::Between => self.first_allowed(b"}]"),
        }
    }

    /// The token that ends a number that is too long.
    fn number_end_token(&mut self) -> Result<Option<u32>, EmbeddedError> {
        match self.position {
            JsonPosition::Number { length } if length >= NUMBER_CHARS_MAX => self.first_allowed(AFTER_NUMBER),
            _ => Ok(None),
        }
    }

    /// A token of a short ending, where none closes anything. `step` counts them.
    fn filler_token(&mut self, step: usize) -> Result<u32, EmbeddedError> {
        // Another digit each time: some numbers could repeat one digit without end.
        let digits = (1..=10).map(|turn| b'0' + ((step + turn) % 10) as u8);
        let candidates: Vec<u8> = match self.position {
            JsonPosition::String { .. } => b".".to_vec(),
            JsonPosition::Number { .. } => AFTER_NUMBER.iter().copied().chain(digits).collect(),
            JsonPosition::Between => b",n\"f".iter().copied().chain(digits).collect(),
        };
        if let Some(token) = self.first_allowed(&candidates)? {
            return Ok(token);
        }
        let first = self.allowed_tokens()?.first_bit_set().and_then(|id| u32::try_from(id).ok());
        first.ok_or_else(|| cannot_guide("no token is allowed next"))
    }

    /// The token of the first of these bytes that is allowed next.
    fn first_allowed(&mut self, bytes: &[u8]) -> Result<Option<u32>, EmbeddedError> {
        for byte in bytes {
            if let Some(token) = self.trie.0.token_id_at_bytes(&[*byte])
                && self.matcher.validate_tokens(&[token]).map_err(cannot_guide)? == 1
            {
                return Ok(Some(token));
            }
        }
        Ok(None)
    }

    fn allowed_tokens(&mut self) -> Result<SimpleVob, EmbeddedError> {
        self.matcher.compute_mask_or_eos().map_err(cannot_guide)
    }
}

/// What the last byte of a JSON text belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum JsonPosition {
    /// Between values, or in a word such as `null`.
    #[default]
    Between,
    /// In a string or the name of a field; `escaped` after a backslash.
    String { escaped: bool },
    /// In a number of so many characters.
    Number { length: usize },
}

impl JsonPosition {
    fn advance(&mut self, bytes: &[u8]) {
        for byte in bytes {
            *self = match (*self, byte) {
                (Self::String { escaped: true }, _) => Self::String { escaped: false },
                (Self::String { .. }, b'\\') => Self::String { escaped: true },
                (Self::String { .. }, b'"') => Self::Between,
                (string @ Self::String { .. }, _) => string,
                (_, b'"') => Self::String { escaped: false },
                (Self::Number { length }, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E') => {
                    Self::Number { length: length + 1 }
                }
                (_, b'0'..=b'9' | b'-') => Self::Number { length: 1 },
                _ => Self::Between,
            };
        }
    }

    fn is_in_string(self) -> bool {
        matches!(self, Self::String { .. })
    }
}

/// The tokens as a tree of their bytes.
struct TokenTrie(TokTrie);

impl TokenizerEnv for TokenTrie {
    fn tok_trie(&self) -> &TokTrie {
        &self.0
    }

    /// The longest token first, which splits JSON's own words almost as the model's tokenizer would.
    fn tokenize_bytes(&self, bytes: &[u8]) -> Vec<u32> {
        self.0.greedy_tokenize(bytes)
    }
}

fn contains(set: &SimpleVob, id: u32) -> bool {
    set.as_slice().get(id as usize / 32).is_some_and(|bits| bits >> (id % 32) & 1 == 1)
}

fn cannot_guide(why: impl std::fmt::Display) -> EmbeddedError {
    EmbeddedError::Prompt(format!("the answer cannot be guided by its schema: {why}"))
}
