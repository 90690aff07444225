//! A whole answer, which is valid however little may be said.
//!
//! Two things keep an answer within its tokens. `bounds` gives every text a share of them, in characters, as many as a token
//! commonly has; so a model that speaks at length comes to the end of one field before it has used what the others need. And in
//! case its tokens are shorter than that, the way to the end is looked up before every token that the model chooses: with
//!
//! - `left`, the tokens that may still be written,
//! - `way(s)`, the tokens of a short way from the state `s` of the grammar to its end,
//! - `spare`, room for the model to say the values that stand on that way,
//!
//! `way(s) <= left` holds from the beginning: an order for which it does not is refused. A token that leads from `s` to `t` is
//! taken only if `way(t) <= left - 1`, and from when `way(t) + spare` is more than that, texts, lists and objects are closed as soon
//! as they can be, which is how the way itself goes: each such step makes both sides smaller by one. So `left` never runs out
//! before the way does, and whatever is written is a whole answer.
//!
//! Bounding the texts alone would do too, but a character can take four tokens: a list of a few points would be left with ten
//! or twenty characters each.

use serde_json::Value;

use super::bounds::{bounded, choices};
use super::{Guide, Guided};
use crate::Broken;
use crate::speaker::Stop;
use crate::vocabulary::Vocabulary;

/// What tells how likely each token is to come after these, as logits.
pub(crate) type Network<'a> = dyn FnMut(&[u32]) -> Result<Vec<f32>, Broken> + 'a;

/// What is to be written, and by whom.
pub(crate) struct Order<'a> {
    pub(crate) vocabulary: &'a Vocabulary,
    /// What the model has read.
    pub(crate) prompt: Vec<u32>,
    /// The schema as the protocol gave it.
    pub(crate) schema: &'a Value,
    /// So many tokens may be written; the caller leaves room for them in the model's context.
    pub(crate) most_tokens: usize,
    pub(crate) network: &'a mut Network<'a>,
    /// Chooses by such logits. Beside them it gets what has been said in texts so far, without the marks of JSON: those have to be
    /// repeated.
    pub(crate) sampler: &'a mut dyn FnMut(&[f32], &[u32]) -> u32,
    /// Where the JSON goes as it is written.
    pub(crate) heard: &'a dyn Fn(&str),
}

/// What was written.
#[derive(Debug)]
pub(crate) struct Written {
    /// JSON that keeps the schema.
    pub(crate) text: String,
    /// `Length` if the model would have said more.
    pub(crate) stop: Stop,
    pub(crate) said_tokens: u64,
}

/// Room for one value that the model has to choose: a number of eight digits, or the words of an enumeration.
const CHOICE_TOKENS: usize = 8;
/// Limits that are nearly the same share a grammar.
const STEP_TOKENS: usize = 32;

/// Writes an answer that keeps the schema, within the tokens that it may have.
pub(crate) fn write(guide: &Guide, order: Order<'_>) -> Result<Written, Broken> {
    let Order { vocabulary, prompt, schema, most_tokens, network, sampler, heard } = order;
    let schema = bounded(schema, most_tokens / STEP_TOKENS * STEP_TOKENS);
    let spare = spare_tokens(&schema);
    let mut pen = Pen::new(guide.start(&schema)?, vocabulary, prompt, heard);
    pen.check(most_tokens, spare)?;
    let (mut stop, mut texts) = (Stop::Done, Vec::new());
    loop {
        for token in pen.guided.forced() {
            pen.put(token)?;
        }
        if pen.guided.is_done() {
            break;
        }
        let left = most_tokens.saturating_sub(pen.said);
        let ending = if stop == Stop::Length { pen.guided.closing()? } else { pen.guided.rounding()? };
        if let Some(token) = ending {
            pen.put(token)?;
            continue;
        }
        let mut logits = network(&pen.tokens)?;
        pen.guided.mask(&mut logits)?;
        let token = sampler(&logits, &texts);
        if vocabulary.ends(token) && pen.guided.is_whole()? {
            break;
        }
        let kept = if stop == Stop::Length { 0 } else { spare };
        if pen.can_take(token, left.checked_sub(1 + kept))? {
            if pen.put(token)? {
                texts.push(token);
            }
        } else if stop == Stop::Done {
            stop = Stop::Length;
        } else {
            pen.run_out(left)?;
            break;
        }
    }
    Ok(Written { stop, said_tokens: pen.said as u64, text: pen.text()? })
}

/// Room for all values that the model has to choose, wherever the answer has got to.
pub(super) fn spare_tokens(schema: &Value) -> usize {
    CHOICE_TOKENS * choices(schema)
}

/// What has been written.
struct Pen<'a> {
    guided: Guided,
    vocabulary: &'a Vocabulary,
    heard: &'a dyn Fn(&str),
    /// The prompt, and what was written after it.
    tokens: Vec<u32>,
    said: usize,
    bytes: Vec<u8>,
    /// So many bytes have been heard.
    given: usize,
}

impl<'a> Pen<'a> {
    fn new(guided: Guided, vocabulary: &'a Vocabulary, tokens: Vec<u32>, heard: &'a dyn Fn(&str)) -> Self {
        Self { guided, vocabulary, heard, tokens, said: 0, bytes: Vec::new(), given: 0 }
    }

    /// Refuses what cannot be done, before the model is asked.
    fn check(&self, most: usize, spare: usize) -> Result<(), Broken> {
        // Only to be able to say how much it would take.
        const FAR: usize = 100_000;
        match self.guided.way_out(FAR)?.map(|way| way.len() + spare) {
            Some(least) if least <= most => Ok(()),
            Some(least) => Err(Broken::Prompt(format!(
                "an answer of this form takes at least {least} tokens, and only {most} are left for it: allow more, or say less \
                 in the question"
            ))),
            None => Err(Broken::Prompt("an answer of this form would never end".into())),
        }
    }

    /// Writes this token, and tells whether it is a piece of a text.
    fn put(&mut self, token: u32) -> Result<bool, Broken> {
        let before = self.guided.place;
        self.guided.commit(token)?;
        self.tokens.push(token);
        self.said += 1;
        self.bytes.extend_from_slice(self.vocabulary.bytes(token));
        // A character that is not whole yet is heard when it is.
        let fresh = self.bytes.get(self.given..).unwrap_or_default();
        let whole = fresh.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        if !whole.is_empty() {
            (self.heard)(whole);
            self.given += whole.len();
        }
        Ok(before.is_text() && self.guided.place.is_text())
    }

    /// Whether the end can be reached in so many tokens after this one.
    fn can_take(&self, token: u32, left: Option<usize>) -> Result<bool, Broken> {
        let Some(left) = left else { return Ok(false) };
        let mut ahead = self.guided.clone();
        ahead.commit(token)?;
        Ok(ahead.way_out(left)?.is_some())
    }

    /// Goes the short way to the end. Only a model that says nothing but digits, however it is asked, comes to this.
    fn run_out(&mut self, left: usize) -> Result<(), Broken> {
        let Some(way) = self.guided.way_out(left)? else {
            return Err(Broken::Prompt("the answer could not be ended within its tokens".into()));
        };
        way.into_iter().try_for_each(|token| self.put(token).map(drop))
    }

    fn text(self) -> Result<String, Broken> {
        String::from_utf8(self.bytes).map_err(|_| Broken::Prompt("the answer is no text".into()))
    }
}
