//! `human/NAME`: a person at the terminal takes a seat.
//!
//! The person reads what any other seat would read, and answers with plain text over several lines, or field by field if the
//! answer is structured. The terminal is never put into raw mode, so it stays usable whatever happens. A question that is no
//! longer wanted is closed, and a line that comes too late answers nothing.
//!
//! [`PersonModel`] is a person in place of a model, wherever the person is asked. `page` is what the person reads, [`form`] asks for the answer, [`terminal_prompt`] shares one terminal among all people,
//! and `tty` is the real terminal.

pub mod form;
mod page;
pub mod terminal_prompt;
mod tty;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use agon_core::{CallUsage, Invalid};
use agon_engine::{
    CallFault, CallFaultKind, DeltaSink, FinishReason, Model, ModelCall, ModelCompletion, ModelPrice,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::config::HumanConfig;
use form::FormStep;
pub use page::{PromptPart, prompt_parts};
use terminal_prompt::TerminalQuestion;
pub use terminal_prompt::{TerminalDevice, TerminalInput, TerminalPauseHook, TerminalPrompt};

/// The most lines of one answer. The form reads all lines again after each new one.
const LINES_MAX: usize = 2_000;

/// Where people are asked.
pub trait PersonChannel: std::fmt::Debug + Send + Sync {
    /// Asks the person `name` and waits for the answer. The engine gives up after `timeout`.
    fn ask<'a>(
        &'a self,
        name: &'a str,
        timeout: Duration,
        call: &'a ModelCall,
    ) -> BoxFuture<'a, Result<String, CallFault>>;

    /// How many people can be asked at once.
    fn at_once(&self) -> usize;
}

/// A person in place of a model.
#[derive(Debug)]
pub struct PersonModel<C> {
    name: String,
    timeout: Duration,
    channel: C,
}

/// A person at the terminal. All people of a process share one [`TerminalPrompt`].
pub type HumanModel = PersonModel<Arc<TerminalPrompt>>;

impl<C> PersonModel<C> {
    /// The person of `[humans.NAME]`, or of the defaults; `name` is the part after `human/`.
    pub fn new(name: &str, config: &HumanConfig, channel: C) -> Result<Self, Invalid> {
        config.check(name)?;
        Ok(Self::with_timeout(&format!("human/{name}"), config.timeout(), channel))
    }

    /// Somebody else with this name, who may take this long.
    pub fn with_timeout(name: &str, timeout: Duration, channel: C) -> Self {
        Self { name: name.to_owned(), timeout, channel }
    }
}

impl PersonChannel for Arc<TerminalPrompt> {
    fn ask<'a>(
        &'a self,
        name: &'a str,
        _: Duration,
        call: &'a ModelCall,
    ) -> BoxFuture<'a, Result<String, CallFault>> {
        ask_at_terminal(self, name, call).boxed()
    }

    fn at_once(&self) -> usize {
        1
    }
}

async fn ask_at_terminal(
    terminal: &TerminalPrompt,
    name: &str,
    call: &ModelCall,
) -> Result<String, CallFault> {
    let mut question = terminal.open_question().await.map_err(|why| {
        let message = format!(
            "{name} needs a terminal, and there is none here ({why}): start agon in a terminal, or seat a model instead"
        );
        CallFault::new(CallFaultKind::NoSuchModel, message)
    })?;
    let asked = fill_in_form(&mut question, name, call).await;
    question.close(match &asked {
        Ok(Ok(_)) => "\nThank you. The debate goes on.\n\n",
        Ok(Err(_)) => "\nYou passed. The debate goes on.\n\n",
        Err(_) => "",
    });
    asked.map_err(|why| {
        CallFault::new(CallFaultKind::Unavailable, format!("the terminal of {name} is gone: {why}"))
    })?
}

async fn fill_in_form(
    question: &mut TerminalQuestion<'_>,
    name: &str,
    call: &ModelCall,
) -> io::Result<Result<String, CallFault>> {
    question.show(page::prompt_page(name, call, question.columns())).await?;
    let schema = call.schema.as_ref().map(|schema| &schema.json);
    let mut typed = Vec::new();
    while typed.len() < LINES_MAX {
        match form::next_step(schema, &typed) {
            FormStep::Ask(text) => question.show(text).await?,
            FormStep::Done(text) => return Ok(Ok(text)),
            FormStep::Pass => {
                return Ok(Err(CallFault::new(CallFaultKind::Refused, format!("{name} passed"))));
            }
        }
        typed.push(question.read_line().await?);
    }
    let message = format!("the answer of {name} has more than {LINES_MAX} lines");
    Ok(Err(CallFault::new(CallFaultKind::Garbled, message)))
}

impl<C: PersonChannel> Model for PersonModel<C> {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        "human"
    }

    fn uses_tokens(&self) -> bool {
        false
    }

    fn price(&self) -> ModelPrice {
        ModelPrice::Free
    }

    fn at_once(&self) -> Option<usize> {
        Some(self.channel.at_once())
    }

    fn timeout(&self) -> Option<Duration> {
        Some(self.timeout)
    }

    fn call<'a>(
        &'a self,
        call: &'a ModelCall,
        _: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelCompletion, CallFault>> {
        async move {
            let text = self.channel.ask(&self.name, self.timeout, call).await?;
            let (model, usage) = (self.name.clone(), CallUsage::default());
            Ok(ModelCompletion { text, model, usage, finish: FinishReason::End, shortened: None })
        }
        .boxed()
    }
}
