//! Text to tokens and back, as the model's file says.
//!
//! Control tokens (`<|im_end|>`) are never made from text: only a chat template writes them. Whatever a person or another model
//! says about them stays text.

use candle_core::quantized::gguf_file::{Content, Value};
use tokenizers::Tokenizer;
use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::tokenizer::SplitDelimiterBehavior;

use crate::Broken;

/// The tokens of a model.
pub(crate) struct Vocabulary {
    tokenizer: Tokenizer,
    /// What each token stands for.
    bytes: Vec<Vec<u8>>,
    control: Vec<bool>,
    /// The control tokens by their names, the longest first.
    names: Vec<(String, u32)>,
    /// The tokens after which nothing more comes.
    ends: Vec<u32>,
    pub(crate) begin: Option<u32>,
    end: u32,
}

/// How Llama 3 cuts text into words; a fact of the model, not ours to choose.
const LLAMA_3: &str = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// Token types of a GGUF file: what is neither text nor made by the user.
const CONTROL: i64 = 3;
/// Names by which chat templates end a turn, beside the token that the file calls its end.
const TURN_ENDS: &[&str] =
    &["<|im_end|>", "<|eot_id|>", "<|end_of_text|>", "<|endoftext|>", "</s>", "<|end|>"];

impl Vocabulary {
    pub(crate) fn of(content: &Content) -> Result<Self, Broken> {
        let kind = text(content, "tokenizer.ggml.model").unwrap_or_default();
        if kind != "gpt2" {
            return Err(Broken::File(format!(
                "its tokenizer is of the kind {kind:?}, and only byte-level BPE is read here, as SmolLM2 and Llama 3 have it"
            )));
        }
        let tokens = texts(content, "tokenizer.ggml.tokens")?;
        let merges = texts(content, "tokenizer.ggml.merges")?.into_iter().filter_map(|merge| {
            merge.split_once(' ').map(|(left, right)| (left.to_owned(), right.to_owned()))
        });
        let numbered = || tokens.iter().zip(0..).map(|(token, id)| (token.to_string(), id));
        let vocab: Vocab = numbered().collect();
        let model = BPE::builder().vocab_and_merges(vocab, merges.collect::<Vec<_>>()).build();
        let mut tokenizer = Tokenizer::new(
            model.map_err(|why| Broken::File(format!("its tokens make no vocabulary: {why}")))?,
        );
        tokenizer.with_pre_tokenizer(Some(words(text(content, "tokenizer.ggml.pre").unwrap_or_default())?));
        let types = content.metadata.get("tokenizer.ggml.token_type").and_then(|types| types.to_vec().ok());
        let is_control = |id: usize| types.and_then(|types| types.get(id)).and_then(whole) == Some(CONTROL);
        let control: Vec<bool> = (0..tokens.len()).map(is_control).collect();
        let mut names: Vec<(String, u32)> =
            numbered().zip(&control).filter(|(_, control)| **control).map(|(named, _)| named).collect();
        names.sort_by_key(|(name, id)| (std::cmp::Reverse(name.len()), *id));
        let end = id(content, "tokenizer.ggml.eos_token_id")
            .ok_or_else(|| Broken::File("it does not say by which token an answer ends".into()))?;
        let more = names.iter().filter(|(name, _)| TURN_ENDS.contains(&name.as_str())).map(|(_, id)| *id);
        Ok(Self {
            bytes: tokens.iter().map(|token| unmapped(token)).collect(),
            ends: std::iter::once(end).chain(more).collect(),
            begin: id(content, "tokenizer.ggml.bos_token_id"),
            end,
            tokenizer,
            control,
            names,
        })
    }

    /// The tokens of plain text: no control token is among them.
    pub(crate) fn encode(&self, text: &str) -> Result<Vec<u32>, Broken> {
        let encoded = self.tokenizer.encode(text, false);
        encoded
            .map(|encoding| encoding.get_ids().to_vec())
            .map_err(|why| Broken::Prompt(format!("the text cannot be cut into tokens: {why}")))
    }

    /// The tokens of a template's own text, in which control tokens stand by their names.
    pub(crate) fn encode_template(&self, text: &str) -> Result<Vec<u32>, Broken> {
        let mut tokens = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let found =
                self.names.iter().filter_map(|(name, id)| Some((rest.find(name.as_str())?, name, *id)));
            // The first of them, and of two at one place the longest, which comes first in the list.
            match found.min_by_key(|(place, ..)| *place) {
                Some((place, name, id)) => {
                    tokens.extend(self.encode(rest.get(..place).unwrap_or_default())?);
                    tokens.push(id);
                    rest = rest.get(place + name.len()..).unwrap_or_default();
                }
                None => {
                    tokens.extend(self.encode(rest)?);
                    rest = "";
                }
            }
        }
        Ok(tokens)
    }

    /// The bytes of a token; none for a control token.
    pub(crate) fn bytes(&self, token: u32) -> &[u8] {
        if self.is_control(token) { &[] } else { self.raw(token) }
    }

    /// The bytes of a token as its name has them.
    pub(crate) fn raw(&self, token: u32) -> &[u8] {
        self.bytes.get(token as usize).map_or(&[], Vec::as_slice)
    }

    /// The name of a control token.
    pub(crate) fn name(&self, token: u32) -> Option<&str> {
        self.names.iter().find(|(_, id)| *id == token).map(|(name, _)| name.as_str())
    }

    pub(crate) fn is_control(&self, token: u32) -> bool {
        self.control.get(token as usize).copied().unwrap_or(true)
    }

    pub(crate) fn ends(&self, token: u32) -> bool {
        self.ends.contains(&token)
    }

    /// The token by which the model ends.
    pub(crate) fn end(&self) -> u32 {
        self.end
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }
}

/// How text is cut into words before they are cut into tokens.
fn words(pre: &str) -> Result<PreTokenizerWrapper, Broken> {
    let bytes = |regex| ByteLevel::new(false, true, regex);
    Ok(match pre {
        "smollm" => Sequence::new(vec![Digits::new(true).into(), bytes(true).into()]).into(),
        "llama-bpe" | "llama3" | "smaug-bpe" => {
            let split =
                Split::new(SplitPattern::Regex(LLAMA_3.into()), SplitDelimiterBehavior::Isolated, false);
            let split =
                split.map_err(|why| Broken::File(format!("its words cannot be told apart: {why}")))?;
            Sequence::new(vec![split.into(), bytes(false).into()]).into()
        }
        "gpt-2" | "gpt2" | "default" | "" => bytes(true).into(),
        other => {
            return Err(Broken::File(format!(
                "its tokenizer cuts words in the manner {other:?}, which is not known here (smollm, llama-bpe and gpt-2 are)"
            )));
        }
    })
}

/// Byte-level BPE writes each byte as a character that can be seen; this is the way back.
fn unmapped(token: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(token.len());
    for c in token.chars() {
        match byte_of(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend(c.to_string().into_bytes()),
        }
    }
    bytes
}

/// Bytes that can be seen stand for themselves; the others are numbered from 256 on.
fn byte_of(c: char) -> Option<u8> {
    let seen = |byte: &u32| matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    let code = u32::from(c);
    if seen(&code) {
        return u8::try_from(code).ok();
    }
    let place = code.checked_sub(256)?;
    (0u32..256).filter(|byte| !seen(byte)).nth(place as usize).and_then(|byte| u8::try_from(byte).ok())
}

pub(crate) fn text<'a>(content: &'a Content, key: &str) -> Option<&'a str> {
    content.metadata.get(key)?.to_string().ok().map(String::as_str)
}

fn texts<'a>(content: &'a Content, key: &str) -> Result<Vec<&'a str>, Broken> {
    let missing = || Broken::File(format!("it does not have {key}"));
    let values = content.metadata.get(key).and_then(|values| values.to_vec().ok()).ok_or_else(missing)?;
    values.iter().map(|value| value.to_string().map(String::as_str).map_err(|_| missing())).collect()
}

fn id(content: &Content, key: &str) -> Option<u32> {
    whole(content.metadata.get(key)?).and_then(|id| u32::try_from(id).ok())
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::I32(n) => Some(i64::from(*n)),
        Value::I64(n) => Some(*n),
        other => other.to_u64().ok().and_then(|n| i64::try_from(n).ok()),
    }
}
