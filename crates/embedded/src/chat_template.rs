//! A conversation in the form that the model was trained on.
//!
//! The file's own chat template is rendered with a placeholder for each message. So the template's text, which may contain
//! control tokens, stays separate from what people wrote, which may not.

use agon_engine::{CallMessage, MessageRole};
use candle_core::quantized::gguf_file::Content;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, ErrorKind, Value, context};

use crate::EmbeddedError;
use crate::vocabulary::{TokenVocabulary, metadata_text};

/// For files without a template whose vocabulary has these tokens.
const CHATML: &str = "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}\
                      {% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/// The chat template of a model.
pub(crate) struct ChatTemplate {
    environment: Environment<'static>,
    begin_token: String,
    end_token: String,
}

impl ChatTemplate {
    pub(crate) fn of(content: &Content, vocabulary: &TokenVocabulary) -> Result<Self, EmbeddedError> {
        let name =
            |token: Option<u32>| token.and_then(|token| vocabulary.control_name(token)).unwrap_or_default();
        let (begin_token, end_token) =
            (name(vocabulary.begin).to_owned(), name(Some(vocabulary.end())).to_owned());
        let source = match metadata_text(content, "tokenizer.chat_template") {
            Some(source) => source,
            None if vocabulary.encode_template("<|im_start|>")?.len() == 1 => CHATML,
            None => {
                return Err(EmbeddedError::File(
                    "it has no chat template: it is not made to answer questions".into(),
                ));
            }
        };
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(unusable)?);
        environment.add_function("raise_exception", |why: String| -> Result<String, Error> {
            Err(Error::new(ErrorKind::InvalidOperation, why))
        });
        environment.add_template_owned("chat", source.to_owned()).map_err(unusable)?;
        Ok(Self { environment, begin_token, end_token })
    }

    /// The tokens of a conversation, up to where the model answers.
    pub(crate) fn tokens(
        &self,
        messages: &[CallMessage],
        vocabulary: &TokenVocabulary,
    ) -> Result<Vec<u32>, EmbeddedError> {
        let turns = messages.iter().enumerate().map(|(index, message)| {
            let role = match message.role {
                MessageRole::System => "system",
                MessageRole::User => "user",
                MessageRole::Assistant => "assistant",
            };
            context! { role, content => placeholder(index) }
        });
        let turns: Vec<Value> = turns.collect();
        let rendered = self.environment.get_template("chat").and_then(|template| {
            let (bos_token, eos_token) = (&self.begin_token, &self.end_token);
            template
                .render(context! { messages => turns, add_generation_prompt => true, bos_token, eos_token })
        });
        let rendered = rendered.map_err(unusable)?;
        let mut tokens = Vec::new();
        let mut rest = rendered.as_str();
        for (index, message) in messages.iter().enumerate() {
            let Some((before, after)) = rest.split_once(&placeholder(index)) else {
                return Err(EmbeddedError::File("its chat template leaves out a message".into()));
            };
            tokens.extend(vocabulary.encode_template(before)?);
            tokens.extend(vocabulary.encode(&message.text)?);
            rest = after;
        }
        tokens.extend(vocabulary.encode_template(rest)?);
        Ok(tokens)
    }
}

fn unusable(why: Error) -> EmbeddedError {
    EmbeddedError::File(format!("its chat template cannot be used: {why}"))
}

/// Stands for a message while the template is rendered. No template writes private-use characters.
fn placeholder(index: usize) -> String {
    format!("\u{E000}{index}\u{E001}")
}
