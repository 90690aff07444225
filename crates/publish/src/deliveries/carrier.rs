//! One attempt at a delivery.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::deliveries::address::{self, Secret, Task, Trouble, Way};
use crate::deliveries::chat;
use crate::deliveries::courier::{Carried, Carry, Settings, aside};
use crate::deliveries::destination::{Address, Format};
use crate::deliveries::file;
use crate::deliveries::outbox::{Parcel, Render};
use crate::deliveries::policy::ATTEMPT_S_MAX;
use crate::deliveries::send::post::{Headers, Post};
use crate::deliveries::send::program;
use crate::deliveries::signature::{CALLBACK_SECRET, HEADER, sign};

/// Makes the attempts over the network, on the disk and with programs.
pub(crate) struct Carrier {
    render: Arc<dyn Render>,
    settings: Settings,
    post: Post,
}

impl Carrier {
    pub(crate) fn new(render: Arc<dyn Render>, settings: Settings) -> Self {
        Self { render, settings, post: Post::default() }
    }

    async fn attempt(&self, parcel: &Parcel, now_s: i64) -> Carried {
        let task = match address::task(parcel, &self.settings) {
            Ok(task) => task,
            Err(Trouble::Wrong(why)) => return Carried::Dead { why },
            Err(Trouble::NotHere(why)) => return Carried::later(why),
        };
        // An attempt that takes as long as another may think it lost would be made twice.
        let longest = Duration::from_secs(ATTEMPT_S_MAX.unsigned_abs() * 3 / 4);
        let within = task.timeout.min(longest);
        let late = |_| Carried::later(format!("no answer within {within:?}"));
        tokio::time::timeout(within, self.go(&task, parcel, now_s)).await.unwrap_or_else(late)
    }

    async fn go(&self, task: &Task, parcel: &Parcel, now_s: i64) -> Carried {
        let rendered = self.outcome(&parcel.debate).await;
        let outcome = match rendered {
            Ok(outcome) => outcome,
            Err(why) => return Carried::later(why),
        };
        let status = outcome.get("status").and_then(Value::as_str).unwrap_or_default();
        if !task.on.means(status) {
            return Carried::PassedOver;
        }
        match &task.way {
            Way::File { path, format, make_folder } => {
                match self.written(&parcel.debate, *format, &outcome).await {
                    Ok(text) => file::write(path, &text, parcel.id, *make_folder).await,
                    Err(why) => Carried::later(why),
                }
            }
            Way::Callback { address, secret } => self.call(address, secret, parcel, &outcome, now_s).await,
            Way::Slack(address) => {
                let letter = self.letter(&parcel.debate, &outcome).await;
                self.tell(address, &chat::slack::message(&letter), parcel, now_s).await
            }
            Way::Discord(address) => {
                let letter = self.letter(&parcel.debate, &outcome).await;
                self.tell(address, &chat::discord::message(&letter), parcel, now_s).await
            }
            Way::Program { command, section } => {
                let env = [
                    ("AGON_DEBATE_ID", parcel.debate.as_str()),
                    ("AGON_STATUS", status),
                    ("AGON_DELIVERY", &parcel.name()),
                ];
                program::run(command, section, &self.settings.folder, &env, &outcome.to_string()).await
            }
        }
    }

    async fn outcome(&self, debate: &str) -> Result<Value, String> {
        let (render, debate) = (Arc::clone(&self.render), debate.to_owned());
        aside(move || render.outcome(&debate)).await
    }

    async fn written(&self, debate: &str, format: Format, outcome: &Value) -> Result<String, String> {
        if format == Format::Json {
            return serde_json::to_string_pretty(outcome)
                .map(|json| json + "\n")
                .map_err(|why| why.to_string());
        }
        let (render, debate) = (Arc::clone(&self.render), debate.to_owned());
        aside(move || render.text(&debate, format)).await
    }

    /// What a chat is told. Where the verdict has no answer of its own, the report is one.
    async fn letter(&self, debate: &str, outcome: &Value) -> chat::Letter {
        let mut letter = chat::Letter::of(outcome);
        if letter.body.is_empty() {
            letter.body = self.written(debate, Format::Text, outcome).await.unwrap_or_default();
        }
        letter
    }

    async fn call(
        &self,
        address: &Address,
        secret: &Secret,
        parcel: &Parcel,
        outcome: &Value,
        now_s: i64,
    ) -> Carried {
        let body = outcome.to_string().into_bytes();
        let mut headers: Headers =
            vec![("Agon-Delivery", parcel.name()), ("Agon-Event", "debate.closed".to_owned())];
        let note = match secret {
            Secret::Known(secret) => {
                headers.push((HEADER, sign(secret, now_s, &body)));
                None
            }
            Secret::None => {
                Some(format!("it is not signed: set {CALLBACK_SECRET} to a secret that both sides know"))
            }
        };
        match self.post.send(address, headers, body, now_s).await {
            Carried::Done { .. } => Carried::Done { note },
            other => other,
        }
    }

    async fn tell(&self, address: &Address, message: &Value, parcel: &Parcel, now_s: i64) -> Carried {
        let headers = vec![("Agon-Delivery", parcel.name())];
        self.post.send(address, headers, message.to_string().into_bytes(), now_s).await
    }
}

impl Carry for Carrier {
    fn carry<'a>(&'a self, parcel: &'a Parcel, now_s: i64) -> BoxFuture<'a, Carried> {
        self.attempt(parcel, now_s).boxed()
    }
}

impl Carried {
    pub(crate) fn later(why: impl Into<String>) -> Self {
        Self::Later { why: why.into(), retry_after: None }
    }
}
