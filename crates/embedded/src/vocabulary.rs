//! Text to tokens and back, as the model's file defines it.
//!
//! Control tokens (`<|im_end|>`) never come from text, only from a chat template. When a person or another model writes such a
//! name, it stays text.

use candle_core::quantized::gguf_file::{Content, Value};
use tokenizers::Tokenizer;
use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::tokenizer::SplitDelimiterBehavior;

use crate::EmbeddedError;

/// The tokens of a model.
pub(crate) struct TokenVocabulary {
    tokenizer: Tokenizer,
    /// The bytes of each token.
    bytes: Vec<Vec<u8>>,
    control: Vec<bool>,
    /// The control tokens and their names, the longest first.
    control_names: Vec<(String, u32)>,
    /// The tokens that end an answer.
    ends: Vec<u32>,
    pub(crate) begin: Option<u32>,
    end: u32,
}

/// How Llama 3 splits text into words.
const LLAMA_3: &str = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// The type of control tokens in a GGUF file.
const CONTROL_TYPE: i64 = 3;
/// Names of tokens that end a turn in chat templates, in addition to the file's own end token.
const TURN_ENDS: &[&str] =
    &["<|im_end|>", "<|eot_id|>", "<|end_of_text|>", "<|endoftext|>", "</s>", "<|end|>"];

impl TokenVocabulary {
    pub(crate) fn of(content: &Content) -> Result<Self, EmbeddedError> {
        let kind = metadata_text(content, "tokenizer.ggml.model").unwrap_or_default();
        if kind != "gpt2" {
            return Err(EmbeddedError::File(format!(
                "its tokenizer is of the kind {kind:?}; only byte-level BPE is supported, as in SmolLM2 and Llama 3"
            )));
        }
        let tokens = metadata_texts(content, "tokenizer.ggml.tokens")?;
        let merges = metadata_texts(content, "tokenizer.ggml.merges")?.into_iter().filter_map(|merge| {
            merge.split_once(' ').map(|(left, right)| (left.to_owned(), right.to_owned()))
        });
        let numbered = || tokens.iter().zip(0..).map(|(token, id)| (token.to_string(), id));
        let vocab: Vocab = numbered().collect();
        let model = BPE::builder().vocab_and_merges(vocab, merges.collect::<Vec<_>>()).build();
        let mut tokenizer = Tokenizer::new(
            model.map_err(|why| EmbeddedError::File(format!("its vocabulary is invalid: {why}")))?,
        );
        tokenizer.with_pre_tokenizer(Some(word_splitter(
            metadata_text(content, "tokenizer.ggml.pre").unwrap_or_default(),
        )?));
        let types = content.metadata.get("tokenizer.ggml.token_type").and_then(|types| types.to_vec().ok());
        let is_control =
            |id: usize| types.and_then(|types| types.get(id)).and_then(whole_number) == Some(CONTROL_TYPE);
        let control: Vec<bool> = (0..tokens.len()).map(is_control).collect();
        let mut control_names: Vec<(String, u32)> =
            numbered().zip(&control).filter(|(_, control)| **control).map(|(named, _)| named).collect();
        control_names.sort_by_key(|(name, id)| (std::cmp::Reverse(name.len()), *id));
        let end = metadata_id(content, "tokenizer.ggml.eos_token_id")
            .ok_or_else(|| EmbeddedError::File("it does not name the token that ends an answer".into()))?;
        let more =
            control_names.iter().filter(|(name, _)| TURN_ENDS.contains(&name.as_str())).map(|(_, id)| *id);
        Ok(Self {
            bytes: tokens.iter().map(|token| bytes_of_name(token)).collect(),
            ends: std::iter::once(end).chain(more).collect(),
            begin: metadata_id(content, "tokenizer.ggml.bos_token_id"),
            end,
            tokenizer,
            control,
            control_names,
        })
    }

    /// The tokens of plain text, never a control token.
    pub(crate) fn encode(&self, text: &str) -> Result<Vec<u32>, EmbeddedError> {
        let encoded = self.tokenizer.encode(text, false);
        encoded
            .map(|encoding| encoding.get_ids().to_vec())
            .map_err(|why| EmbeddedError::Prompt(format!("the text cannot be split into tokens: {why}")))
    }

    /// The tokens of a template's own text, in which names of control tokens become those tokens.
    pub(crate) fn encode_template(&self, text: &str) -> Result<Vec<u32>, EmbeddedError> {
        let mut tokens = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let found = self
                .control_names
                .iter()
                .filter_map(|(name, id)| Some((rest.find(name.as_str())?, name, *id)));
            // The first one; of two at the same position the longest, which comes first in the list.
            match found.min_by_key(|(position, ..)| *position) {
                Some((position, name, id)) => {
                    tokens.extend(self.encode(rest.get(..position).unwrap_or_default())?);
                    tokens.push(id);
                    rest = rest.get(position + name.len()..).unwrap_or_default();
                }
                None => {
                    tokens.extend(self.encode(rest)?);
                    rest = "";
                }
            }
        }
        Ok(tokens)
    }

    /// The bytes of a token; empty for a control token.
    pub(crate) fn bytes(&self, token: u32) -> &[u8] {
        if self.is_control(token) { &[] } else { self.bytes.get(token as usize).map_or(&[], Vec::as_slice) }
    }

    /// The name of a control token.
    pub(crate) fn control_name(&self, token: u32) -> Option<&str> {
        self.control_names.iter().find(|(_, id)| *id == token).map(|(name, _)| name.as_str())
    }

    pub(crate) fn is_control(&self, token: u32) -> bool {
        self.control.get(token as usize).copied().unwrap_or(true)
    }

    pub(crate) fn is_end(&self, token: u32) -> bool {
        self.ends.contains(&token)
    }

    /// The token that ends the model's own answers.
    pub(crate) fn end(&self) -> u32 {
        self.end
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }
}

/// How text is split into words before the words are split into tokens.
fn word_splitter(pre: &str) -> Result<PreTokenizerWrapper, EmbeddedError> {
    let bytes = |regex| ByteLevel::new(false, true, regex);
    Ok(match pre {
        "smollm" => Sequence::new(vec![Digits::new(true).into(), bytes(true).into()]).into(),
        "llama-bpe" | "llama3" | "smaug-bpe" => {
            let split =
                Split::new(SplitPattern::Regex(LLAMA_3.into()), SplitDelimiterBehavior::Isolated, false);
            let split = split.map_err(|why| {
                EmbeddedError::File(format!("its rule for splitting words is invalid: {why}"))
            })?;
            Sequence::new(vec![split.into(), bytes(false).into()]).into()
        }
        "gpt-2" | "gpt2" | "default" | "" => bytes(true).into(),
        other => {
            return Err(EmbeddedError::File(format!(
                "its tokenizer splits words as {other:?}, which is not supported (smollm, llama-bpe and gpt-2 are)"
            )));
        }
    })
}

/// The bytes of a token's name. Byte-level BPE writes each byte as a printable character.
fn bytes_of_name(token: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(token.len());
    for c in token.chars() {
        match byte_of(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend(c.to_string().into_bytes()),
        }
    }
    bytes
}

/// Printable bytes stand for themselves; the others are numbered from 256.
fn byte_of(c: char) -> Option<u8> {
    let is_printable = |byte: &u32| matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    let code = u32::from(c);
    if is_printable(&code) {
        return u8::try_from(code).ok();
    }
    let index = code.checked_sub(256)?;
    (0u32..256)
        .filter(|byte| !is_printable(byte))
        .nth(index as usize)
        .and_then(|byte| u8::try_from(byte).ok())
}

pub(crate) fn metadata_text<'a>(content: &'a Content, key: &str) -> Option<&'a str> {
    content.metadata.get(key)?.to_string().ok().map(String::as_str)
}

fn metadata_texts<'a>(content: &'a Content, key: &str) -> Result<Vec<&'a str>, EmbeddedError> {
    let missing = || EmbeddedError::File(format!("it does not have {key}"));
    let values = content.metadata.get(key).and_then(|values| values.to_vec().ok()).ok_or_else(missing)?;
    values.iter().map(|value| value.to_string().map(String::as_str).map_err(|_| missing())).collect()
}

fn metadata_id(content: &Content, key: &str) -> Option<u32> {
    whole_number(content.metadata.get(key)?).and_then(|id| u32::try_from(id).ok())
}

fn whole_number(value: &Value) -> Option<i64> {
    match value {
        Value::I32(n) => Some(i64::from(*n)),
        Value::I64(n) => Some(*n),
        other => other.to_u64().ok().and_then(|n| i64::try_from(n).ok()),
    }
}
