//! `human/NAME`: a person at the terminal takes a seat.
//!
//! The person reads what any other seat would read, and answers with plain text over several lines, or field by field if the
//! answer is structured. The terminal is never put into raw mode, so it stays usable whatever happens. A question that is no
//! longer wanted is closed, and a line that comes too late answers nothing.
//!
//! `page` is what the person reads, [`form`] asks for the answer, [`terminal_prompt`] shares one terminal among all people,
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
use terminal_prompt::TerminalQuestion;
pub use terminal_prompt::{TerminalDevice, TerminalInput, TerminalPauseHook, TerminalPrompt};

/// The most lines of one answer. The form reads all lines again after each new one.
const LINES_MAX: usize = 2_000;

/// A person in place of a model.
#[derive(Debug)]
pub struct HumanModel {
    /// `human/NAME`.
    name: String,
    timeout: Duration,
    terminal: Arc<TerminalPrompt>,
}

impl HumanModel {
    /// The person of `[humans.NAME]`, or of the defaults; `name` is the part after `human/`. All people of a process share
    /// one [`TerminalPrompt`].
    pub fn new(name: &str, config: &HumanConfig, terminal: Arc<TerminalPrompt>) -> Result<Self, Invalid> {
        config.check(name)?;
        Ok(Self { name: format!("human/{name}"), timeout: config.timeout(), terminal })
    }

    async fn ask(&self, call: &ModelCall) -> Result<ModelCompletion, CallFault> {
        let mut question = self.terminal.open_question().await.map_err(|why| {
            let message = format!(
                "{} needs a terminal, and there is none here ({why}): start agon in a terminal, or seat a model instead",
                self.name
            );
            CallFault::new(CallFaultKind::NoSuchModel, message)
        })?;
        let asked = self.fill_in_form(&mut question, call).await;
        question.close(match &asked {
            Ok(Ok(_)) => "\nThank you. The debate goes on.\n\n",
            Ok(Err(_)) => "\nYou passed. The debate goes on.\n\n",
            Err(_) => "",
        });
        let text = asked.map_err(|why| {
            CallFault::new(
                CallFaultKind::Unavailable,
                format!("the terminal of {} is gone: {why}", self.name),
            )
        })??;
        let (model, usage) = (self.name.clone(), CallUsage::default());
        Ok(ModelCompletion { text, model, usage, finish: FinishReason::End, shortened: None })
    }

    async fn fill_in_form(
        &self,
        question: &mut TerminalQuestion<'_>,
        call: &ModelCall,
    ) -> io::Result<Result<String, CallFault>> {
        question.show(page::prompt_page(&self.name, call, question.columns())).await?;
        let schema = call.schema.as_ref().map(|schema| &schema.json);
        let mut typed = Vec::new();
        while typed.len() < LINES_MAX {
            match form::next_step(schema, &typed) {
                FormStep::Ask(text) => question.show(text).await?,
                FormStep::Done(text) => return Ok(Ok(text)),
                FormStep::Pass => {
                    return Ok(Err(CallFault::new(CallFaultKind::Refused, format!("{} passed", self.name))));
                }
            }
            typed.push(question.read_line().await?);
        }
        let message = format!("the answer of {} has more than {LINES_MAX} lines", self.name);
        Ok(Err(CallFault::new(CallFaultKind::Garbled, message)))
    }
}

impl Model for HumanModel {
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
        Some(1)
    }

    fn timeout(&self) -> Option<Duration> {
        Some(self.timeout)
    }

    fn call<'a>(
        &'a self,
        call: &'a ModelCall,
        _: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelCompletion, CallFault>> {
        self.ask(call).boxed()
    }
}
