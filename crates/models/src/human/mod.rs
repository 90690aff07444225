//! `human/NAME`: a person at the terminal takes a seat.
//!
//! The person reads what any other seat would read, and answers: plain text over several lines, or a structured answer
//! field by field. The terminal stays as it is (nothing is set to raw mode), so that it is usable whatever happens. A question
//! that is waited for no longer is closed, and a line that comes late is nobody's answer.

pub mod desk;
pub mod form;
mod page;
pub mod terminal;
mod tty;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use agon_core::{Invalid, Usage};
use agon_engine::{Call, Completion, Deltas, Fault, FaultKind, Finish, Model, Price};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::seat_config::HumanConfig;
pub use desk::{Aside, Desk};
use form::Step;
pub use terminal::{Terminal, Typed};

/// The most lines of one answer. Each line is asked for with a look at all before it.
const LINES_MAX: usize = 2_000;

/// A person in the place of a model.
#[derive(Debug)]
pub struct Human {
    /// `human/NAME`.
    name: String,
    timeout: Duration,
    desk: Arc<Desk>,
}

impl Human {
    /// The person of `[humans.NAME]`, which need not be there; `name` is what stands after `human/`. All people of one process
    /// share one desk.
    pub fn new(name: &str, config: &HumanConfig, desk: Arc<Desk>) -> Result<Self, Invalid> {
        config.check(name)?;
        Ok(Self { name: format!("human/{name}"), timeout: config.timeout(), desk })
    }

    async fn ask(&self, call: &Call) -> Result<Completion, Fault> {
        let mut session = self.desk.sit().await.map_err(|why| self.no_terminal(&why))?;
        let asked = self.converse(&mut session, call).await;
        session.close(match &asked {
            Ok(Ok(_)) => "\nThank you. The debate goes on.\n\n",
            Ok(Err(_)) => "\nYou pass. The debate goes on.\n\n",
            Err(_) => "",
        });
        let text = asked.map_err(|why| self.gone(&why))??;
        let (model, usage) = (self.name.clone(), Usage::default());
        Ok(Completion { text, model, usage, finish: Finish::End, shortened: None })
    }

    async fn converse(
        &self,
        session: &mut desk::Session<'_>,
        call: &Call,
    ) -> io::Result<Result<String, Fault>> {
        session.show(page::written(&self.name, call, session.columns())).await?;
        let schema = call.schema.as_ref().map(|schema| &schema.json);
        let mut typed = Vec::new();
        while typed.len() < LINES_MAX {
            match form::step(schema, &typed) {
                Step::Ask(text) => session.show(text).await?,
                Step::Done(text) => return Ok(Ok(text)),
                Step::Pass => return Ok(Err(self.passed())),
            }
            typed.push(session.line().await?);
        }
        let message = format!("the answer of {} has more than {LINES_MAX} lines", self.name);
        Ok(Err(Fault::new(FaultKind::Garbled, message)))
    }

    fn passed(&self) -> Fault {
        Fault::new(FaultKind::Refused, format!("{} passed", self.name))
    }

    fn no_terminal(&self, why: &io::Error) -> Fault {
        let message = format!(
            "{} needs a terminal, and there is none here ({why}): start agon in a terminal, or seat a model instead",
            self.name
        );
        Fault::new(FaultKind::NoSuchModel, message)
    }

    fn gone(&self, why: &io::Error) -> Fault {
        Fault::new(FaultKind::Unavailable, format!("the terminal of {} is gone: {why}", self.name))
    }
}

impl Model for Human {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        "human"
    }

    fn price(&self) -> Price {
        Price::Free
    }

    fn at_once(&self) -> Option<usize> {
        Some(1)
    }

    fn timeout(&self) -> Option<Duration> {
        Some(self.timeout)
    }

    fn call<'a>(&'a self, call: &'a Call, _: Option<Deltas<'a>>) -> BoxFuture<'a, Result<Completion, Fault>> {
        self.ask(call).boxed()
    }
}
