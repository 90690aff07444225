//! A model in a conversation: it reads, says sentences, and chooses among words.

use agon_core::seed::Draw;
use agon_engine::{Message, Role};
use serde_json::Value;

use crate::Broken;
use crate::chat::Template;
use crate::fields::Voice;
use crate::guided::{Guide, Order, write};
use crate::llama::Llama;
use crate::sample::{Taste, likelihood, sample};
use crate::script::Script;
use crate::sentence;
use crate::vocabulary::Vocabulary;

/// A reminder of what was said has at most so many tokens: it stands beside the whole of it.
pub(crate) const REMINDER_TOKENS: usize = 160;

/// A model that is loaded.
pub(crate) struct Loaded {
    pub(crate) llama: Llama,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) template: Template,
    /// What holds answers to a schema; made when it is first wanted.
    pub(crate) guide: Option<Guide>,
}

/// What a call used of the network.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    /// Tokens that it was given to read, all questions together.
    pub(crate) read: u64,
    /// Tokens that were said.
    pub(crate) said: u64,
}

/// A model that speaks in one conversation.
pub(crate) struct Speaker<'a> {
    pub(crate) loaded: &'a mut Loaded,
    pub(crate) script: &'a Script,
    /// The conversation so far.
    pub(crate) messages: Vec<Message>,
    /// What it has said for the fields so far.
    pub(crate) said: Vec<String>,
    pub(crate) draw: Draw,
    pub(crate) taste: Taste,
    pub(crate) most_tokens: usize,
    pub(crate) go_on: &'a dyn Fn() -> bool,
    /// Where words go as they are said.
    pub(crate) heard: &'a dyn Fn(&str),
    pub(crate) tally: Tally,
}

/// How a speech ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The model was done, or had said its sentences.
    Done,
    /// It may say no more.
    Length,
}

impl Speaker<'_> {
    /// What the model says to these messages, in so many sentences at most.
    pub(crate) fn speak(
        &mut self,
        messages: &[Message],
        sentences: usize,
        most_tokens: usize,
    ) -> Result<(String, Stop), Broken> {
        let Loaded { llama, vocabulary, template, .. } = &mut *self.loaded;
        let mut tokens = template.tokens(messages, vocabulary)?;
        let prompt = tokens.len();
        self.tally.read += prompt as u64;
        let room = llama.shape().context.saturating_sub(prompt);
        let mut bytes: Vec<u8> = Vec::new();
        let mut given = 0;
        let mut logits = llama.after(&tokens, self.go_on)?;
        for _ in 0..most_tokens.min(room) {
            let said = tokens.get(prompt..).unwrap_or_default();
            let token = sample(&logits, said, self.taste, &mut self.draw);
            if vocabulary.ends(token) {
                return Ok((text(&bytes), Stop::Done));
            }
            bytes.extend_from_slice(vocabulary.bytes(token));
            self.tally.said += 1;
            let whole = text(&bytes);
            if let Some(end) = sentence::end(&whole, sentences) {
                return Ok((whole.get(..end).unwrap_or(&whole).to_owned(), Stop::Done));
            }
            if let Some(fresh) = whole.get(given..).filter(|fresh| !fresh.ends_with('\u{FFFD}')) {
                (self.heard)(fresh);
                given = whole.len();
            }
            tokens.push(token);
            logits = llama.after(&tokens, self.go_on)?;
        }
        Ok((text(&bytes), Stop::Length))
    }

    /// What the model answers to the conversation, in JSON that keeps the schema.
    pub(crate) fn write(&mut self, schema: &Value, most_tokens: usize) -> Result<(String, Stop), Broken> {
        let Loaded { llama, vocabulary, template, guide } = &mut *self.loaded;
        let prompt = template.tokens(&self.messages, vocabulary)?;
        self.tally.read += prompt.len() as u64;
        let most_tokens = most_tokens.min(llama.shape().context.saturating_sub(prompt.len()));
        let guide = match guide {
            Some(guide) => guide,
            None => guide.insert(Guide::new(vocabulary)?),
        };
        let (go_on, taste, draw) = (self.go_on, self.taste, &mut self.draw);
        let network = &mut |tokens: &[u32]| llama.after(tokens, go_on);
        let sampler = &mut |logits: &[f32], said: &[u32]| sample(logits, said, taste, draw);
        let order = Order { vocabulary, prompt, schema, most_tokens, network, sampler, heard: self.heard };
        let written = write(guide, order)?;
        self.tally.said += written.said_tokens;
        Ok((written.text, written.stop))
    }

    /// The conversation with this put to the model at its end.
    fn asked(&self, question: &str) -> Vec<Message> {
        let mut messages = self.messages.clone();
        match messages.last_mut() {
            Some(last) if last.role == Role::User => {
                last.text = format!("{}\n\n{question}", last.text.trim_end())
            }
            _ => messages.push(Message::new(Role::User, question)),
        }
        messages
    }
}

impl Voice for Speaker<'_> {
    fn say(&mut self, question: &str, sentences: usize) -> Result<String, Broken> {
        // Each question stands by itself: a small model that sees what it said before says it again.
        let (said, _) = self.speak(&self.asked(question), sentences, self.most_tokens)?;
        let said = sentence::tidy(&said, sentences);
        self.said.push(said.clone());
        Ok(said)
    }

    fn weigh(&mut self, question: &str, values: &[String]) -> Result<Vec<f32>, Broken> {
        let asked = match self.said.as_slice() {
            [] => self.asked(question),
            said => {
                let said = shortly(&said.join(" "), &self.loaded.vocabulary)?;
                self.asked(&format!("You say: {said}\n\n{question}"))
            }
        };
        let Loaded { llama, vocabulary, template, .. } = &mut *self.loaded;
        let tokens = template.tokens(&asked, vocabulary)?;
        self.tally.read += tokens.len() as u64;
        let mut likely = Vec::with_capacity(values.len());
        for value in values {
            let mut so_far = tokens.clone();
            let mut sum = 0.0;
            for token in vocabulary.encode(value)?.into_iter().chain([vocabulary.end()]) {
                sum += likelihood(&llama.after(&so_far, self.go_on)?, token);
                so_far.push(token);
            }
            likely.push(sum);
        }
        Ok(likely)
    }

    fn recall(&self, who: &str) -> Option<String> {
        self.script.last_words(who).and_then(|words| shortly(words, &self.loaded.vocabulary).ok())
    }
}

/// The first sentences of something that the model has read already and is reminded of.
fn shortly(words: &str, vocabulary: &Vocabulary) -> Result<String, Broken> {
    let tokens = vocabulary.encode(words)?;
    let Some(kept) = tokens.get(..REMINDER_TOKENS) else { return Ok(words.to_owned()) };
    let bytes: Vec<u8> = kept.iter().flat_map(|token| vocabulary.bytes(*token)).copied().collect();
    Ok(sentence::tidy(text(&bytes).trim_end_matches('\u{FFFD}'), usize::MAX))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
