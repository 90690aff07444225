//! A conversation as the model was taught to read one.
//!
//! The file's own chat template is rendered with a mark in the place of each message, so that what the template wrote and what
//! people wrote can be told apart: only the former may hold control tokens.

use agon_engine::{Message, Role};
use candle_core::quantized::gguf_file::Content;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, ErrorKind, Value, context};

use crate::Broken;
use crate::vocabulary::{self, Vocabulary};

/// For files without a template whose vocabulary has these tokens.
const CHATML: &str = "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}\
                      {% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/// A model's chat template.
pub(crate) struct Template {
    environment: Environment<'static>,
    begin: String,
    end: String,
}

impl Template {
    pub(crate) fn of(content: &Content, vocabulary: &Vocabulary) -> Result<Self, Broken> {
        let name = |token: Option<u32>| token.and_then(|token| vocabulary.name(token)).unwrap_or_default();
        let (begin, end) = (name(vocabulary.begin).to_owned(), name(Some(vocabulary.end())).to_owned());
        let given = vocabulary::text(content, "tokenizer.chat_template");
        let source = match given {
            Some(source) => source,
            None if vocabulary.encode_template("<|im_start|>")?.len() == 1 => CHATML,
            None => {
                return Err(Broken::File(
                    "it has no chat template: it is not made to answer questions".into(),
                ));
            }
        };
        let mut environment = Environment::new();
        let broken = |why: Error| Broken::File(format!("its chat template cannot be used: {why}"));
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(broken)?);
        environment.add_function("raise_exception", |why: String| -> Result<String, Error> {
            Err(Error::new(ErrorKind::InvalidOperation, why))
        });
        environment.add_template_owned("chat", source.to_owned()).map_err(broken)?;
        Ok(Self { environment, begin, end })
    }

    /// The tokens of a conversation, up to where the model answers.
    pub(crate) fn tokens(&self, messages: &[Message], vocabulary: &Vocabulary) -> Result<Vec<u32>, Broken> {
        let turns = messages.iter().enumerate().map(|(place, message)| {
            let role = match message.role {
                Role::System => "system",
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            context! { role, content => mark(place) }
        });
        let turns: Vec<Value> = turns.collect();
        let template = self.environment.get_template("chat");
        let rendered = template.and_then(|template| {
            let (bos_token, eos_token) = (&self.begin, &self.end);
            template
                .render(context! { messages => turns, add_generation_prompt => true, bos_token, eos_token })
        });
        let rendered =
            rendered.map_err(|why| Broken::File(format!("its chat template cannot be used: {why}")))?;
        let mut tokens = Vec::new();
        let mut rest = rendered.as_str();
        for (place, message) in messages.iter().enumerate() {
            let Some((before, after)) = rest.split_once(&mark(place)) else {
                return Err(Broken::File("its chat template leaves out a message".into()));
            };
            tokens.extend(vocabulary.encode_template(before)?);
            tokens.extend(vocabulary.encode(&message.text)?);
            rest = after;
        }
        tokens.extend(vocabulary.encode_template(rest)?);
        Ok(tokens)
    }
}

/// What stands for a message while the template is rendered. No template writes private-use characters.
fn mark(place: usize) -> String {
    format!("\u{E000}{place}\u{E001}")
}
