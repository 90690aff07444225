//! A structured answer, held to its schema while it is written.
//!
//! The schema becomes a grammar; before each token the grammar says which tokens may come, and the model chooses among those. What
//! can come in one way only, like the names of fields, the model does not even have to compute.
//!
//! - [`write`]: a whole answer, which ends in time.
//! - [`Guide`] and [`Guided`]: the grammar of a schema over a model's tokens, and one answer under way.
//! - `bounds`: the schema with a bound on everything; `place`: where in the JSON the pen is.

mod bounds;
mod place;
#[cfg(test)]
mod tests;
mod write;

use std::sync::{Arc, Mutex, PoisonError};

use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::{InferenceCapabilities, SimpleVob, TokEnv, TokRxInfo, TokTrie, TokenizerEnv};
use llguidance::{Matcher, ParserFactory};
use serde_json::Value;

use crate::Broken;
use crate::vocabulary::Vocabulary;

use place::Place;
pub(crate) use write::{Order, write};

/// A model's vocabulary, ready for grammars. Made once per model.
pub(crate) struct Guide {
    factory: ParserFactory,
    trie: Arc<Tokens>,
    grammars: Mutex<Vec<(String, Matcher)>>,
}

/// One answer under way.
#[derive(Clone)]
pub(crate) struct Guided {
    matcher: Matcher,
    trie: Arc<Tokens>,
    place: Place,
}

/// So many grammars are kept: a protocol has a few kinds of replies.
const GRAMMARS: usize = 16;
/// Longer tokens have no place in the library's tree of tokens; no model would write one.
const TOKEN_BYTES_MOST: usize = 512;
/// A number gets no longer than this while there is a way to end it: small models like to count thirds.
const NUMBER_MOST: usize = 8;
/// What may stand behind a number.
const AFTER_NUMBER: &[u8] = b"}],";
/// Starts a special token in the library's tree. No text has this byte.
const MARKER: u8 = TokTrie::SPECIAL_TOKEN_MARKER;

impl Guide {
    pub(crate) fn new(vocabulary: &Vocabulary) -> Result<Self, Broken> {
        let ids = || 0..u32::try_from(vocabulary.len()).unwrap_or(u32::MAX);
        let ends: Vec<u32> = ids().filter(|id| vocabulary.ends(*id)).collect();
        let Some(end) = ends.first() else {
            return Err(Broken::File("no token of it ends an answer".into()));
        };
        let word = |id: u32| match vocabulary.bytes(id) {
            // A token without bytes is never allowed, and so nothing that steers the model gets into a text.
            _ if vocabulary.ends(id) => Vec::new(),
            [MARKER, ..] => Vec::new(),
            bytes if bytes.len() > TOKEN_BYTES_MOST => Vec::new(),
            bytes => bytes.to_vec(),
        };
        let words: Vec<Vec<u8>> = ids().map(word).collect();
        let info = TokRxInfo::new(ids().end, *end);
        let trie = Arc::new(Tokens(TokTrie::from(&info, &words).with_eos_tokens(&ends)));
        let env: TokEnv = trie.clone();
        let capable = InferenceCapabilities { ff_tokens: true, ..InferenceCapabilities::default() };
        let slices = llguidance::earley::SlicedBiasComputer::json_slices();
        let mut factory = ParserFactory::new(&env, capable, &slices)
            .map_err(|why| Broken::File(format!("its tokens cannot be held to a schema: {why}")))?;
        // It would write to the terminal.
        factory.set_stderr_log_level(0);
        factory.limits_mut().verbose_errors = false;
        Ok(Self { factory, trie, grammars: Mutex::default() })
    }

    /// An answer to this schema. The grammar is made once.
    pub(crate) fn start(&self, schema: &Value) -> Result<Guided, Broken> {
        let text = schema.to_string();
        let mut grammars = self.grammars.lock().unwrap_or_else(PoisonError::into_inner);
        // What an answer finds out about its grammar stays with it: kept, it would grow without end.
        let guided = |matcher: &Matcher| Guided {
            matcher: matcher.deep_clone(),
            trie: self.trie.clone(),
            place: Place::default(),
        };
        if let Some((_, matcher)) = grammars.iter().find(|(known, _)| *known == text) {
            return Ok(guided(matcher));
        }
        let parser = self.factory.create_parser(TopLevelGrammar::from_json_schema(schema.clone()));
        let matcher = Matcher::new(Ok(parser.map_err(unguided)?));
        let started = guided(&matcher);
        if grammars.len() >= GRAMMARS {
            grammars.remove(0);
        }
        grammars.push((text, matcher));
        Ok(started)
    }
}

impl Guided {
    /// Makes every token impossible that must not come next.
    pub(crate) fn mask(&mut self, logits: &mut [f32]) -> Result<(), Broken> {
        let allowed = self.allowed()?;
        for (logit, id) in logits.iter_mut().zip(0..) {
            if !is_in(&allowed, id) {
                *logit = f32::NEG_INFINITY;
            }
        }
        Ok(())
    }

    /// Writes this token.
    pub(crate) fn commit(&mut self, token: u32) -> Result<(), Broken> {
        self.matcher.consume_token(token).map_err(unguided)?;
        self.place.pass(self.trie.0.token(token));
        Ok(())
    }

    /// Whether the answer is whole, and nothing may follow.
    pub(crate) fn is_done(&self) -> bool {
        !self.matcher.is_error() && self.matcher.is_stopped()
    }

    /// Tokens that can only come next, in this order; may be empty.
    pub(crate) fn forced(&mut self) -> Vec<u32> {
        if self.matcher.is_stopped() { Vec::new() } else { self.matcher.compute_ff_tokens() }
    }

    /// Whether the answer may end here.
    fn is_whole(&mut self) -> Result<bool, Broken> {
        Ok(self.is_done() || self.matcher.is_accepting().map_err(unguided)?)
    }

    /// A short way to the end, if there is one of at most so many tokens. Its values say nothing: it is there to know how much room
    /// the model must be left.
    fn way_out(&self, most: usize) -> Result<Option<Vec<u32>>, Broken> {
        let mut ahead = self.clone();
        let mut way = Vec::new();
        while !ahead.is_whole()? {
            let mut next = ahead.forced();
            if next.is_empty() {
                next.push(match ahead.closing()? {
                    Some(token) => token,
                    None => ahead.something(way.len())?,
                });
            }
            for token in next {
                ahead.commit(token)?;
                way.push(token);
            }
            if way.len() > most {
                return Ok(None);
            }
        }
        Ok(Some(way))
    }

    /// The token that ends the text, the list or the object under way, where one does. Nothing that a model has to choose is
    /// chosen by it.
    fn closing(&mut self) -> Result<Option<u32>, Broken> {
        // What must come anyway, and might be the beginning of a longer token.
        if let Some(token) = self.trie.0.greedy_tokenize(&self.matcher.compute_ff_bytes()).first() {
            return Ok(Some(*token));
        }
        match self.place {
            Place::Text { .. } => self.first_allowed(b"\""),
            Place::Number { .. } => self.rounding(),
            Place::Between => self.first_allowed(b"}]"),
        }
    }

    /// The token that ends a number which has gone on for too long.
    fn rounding(&mut self) -> Result<Option<u32>, Broken> {
        match self.place {
            Place::Number { length } if length >= NUMBER_MOST => self.first_allowed(AFTER_NUMBER),
            _ => Ok(None),
        }
    }

    /// A token of a short way to the end, where none ends anything. `step` counts them.
    fn something(&mut self, step: usize) -> Result<u32, Broken> {
        // Another digit each time: of some numbers the same digit could come for ever.
        let digits = (1..=10).map(|turn| b'0' + ((step + turn) % 10) as u8);
        let tries: Vec<u8> = match self.place {
            Place::Text { .. } => b".".to_vec(),
            Place::Number { .. } => AFTER_NUMBER.iter().copied().chain(digits).collect(),
            Place::Between => b",n\"f".iter().copied().chain(digits).collect(),
        };
        if let Some(token) = self.first_allowed(&tries)? {
            return Ok(token);
        }
        let first = self.allowed()?.first_bit_set().and_then(|id| u32::try_from(id).ok());
        first.ok_or_else(|| unguided("no token may come next"))
    }

    /// The first of these bytes that may come next, as a token.
    fn first_allowed(&mut self, bytes: &[u8]) -> Result<Option<u32>, Broken> {
        for byte in bytes {
            if let Some(token) = self.trie.0.token_id_at_bytes(&[*byte])
                && self.matcher.validate_tokens(&[token]).map_err(unguided)? == 1
            {
                return Ok(Some(token));
            }
        }
        Ok(None)
    }

    fn allowed(&mut self) -> Result<SimpleVob, Broken> {
        self.matcher.compute_mask_or_eos().map_err(unguided)
    }
}

/// The tokens as a tree of their bytes.
struct Tokens(TokTrie);

impl TokenizerEnv for Tokens {
    fn tok_trie(&self) -> &TokTrie {
        &self.0
    }

    /// The longest token first. The words of JSON come out nearly as the model's own tokenizer would cut them.
    fn tokenize_bytes(&self, bytes: &[u8]) -> Vec<u32> {
        self.0.greedy_tokenize(bytes)
    }
}

fn is_in(set: &SimpleVob, id: usize) -> bool {
    set.as_slice().get(id / 32).is_some_and(|bits| bits >> (id % 32) & 1 == 1)
}

fn unguided(why: impl std::fmt::Display) -> Broken {
    Broken::Prompt(format!("the answer cannot be held to its schema: {why}"))
}
