//! One attempt at a delivery.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::delivery_plan::{CallbackSecret, DeliveryPlan, DeliveryRoute, PlanError};
use super::destination::{ReportFormat, WebAddress};
use super::outbox::{DeliveredOutcome, DueDelivery, OutcomeRenderer};
use super::retry_policy::ATTEMPT_S_MAX;
use super::runner::{DeliverySettings, run_blocking};
use super::send::chat::{ChatSummary, discord_message, slack_message};
use super::send::http::HttpSender;
use super::send::{file, program};
use super::signature::{CALLBACK_SECRET, HEADER, sign};

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AttemptResult {
    Done {
        note: Option<String>,
    },
    /// The debate ended in a way that the delivery is not for.
    Skipped,
    Retry {
        why: String,
        retry_after: Option<Duration>,
    },
    Dead {
        why: String,
    },
}

impl AttemptResult {
    pub(super) fn retry(why: impl Into<String>) -> Self {
        Self::Retry { why: why.into(), retry_after: None }
    }
}

/// Makes attempts. Simulations replace it.
pub(super) trait DeliveryAttempts: Send + Sync {
    /// Makes one attempt. Dropping the future abandons it.
    fn attempt<'a>(&'a self, delivery: &'a DueDelivery, now_s: i64) -> BoxFuture<'a, AttemptResult>;
}

/// Makes attempts over the network, on the disk and with programs.
pub(super) struct DeliverySender {
    renderer: Arc<dyn OutcomeRenderer>,
    settings: DeliverySettings,
    http: HttpSender,
}

impl DeliveryAttempts for DeliverySender {
    fn attempt<'a>(&'a self, delivery: &'a DueDelivery, now_s: i64) -> BoxFuture<'a, AttemptResult> {
        self.send_in_time(delivery, now_s).boxed()
    }
}

impl DeliverySender {
    pub(super) fn new(renderer: Arc<dyn OutcomeRenderer>, settings: DeliverySettings) -> Self {
        Self { renderer, settings, http: HttpSender::default() }
    }

    async fn send_in_time(&self, delivery: &DueDelivery, now_s: i64) -> AttemptResult {
        let plan = match DeliveryPlan::new(delivery, &self.settings) {
            Ok(plan) => plan,
            Err(PlanError::Permanent(why)) => return AttemptResult::Dead { why },
            Err(PlanError::VariableUnset(why)) => return AttemptResult::retry(why),
        };
        // An attempt must end before another process takes the delivery for abandoned.
        let longest = Duration::from_secs(ATTEMPT_S_MAX.unsigned_abs() * 3 / 4);
        let timeout = plan.timeout.min(longest);
        let late = |_| AttemptResult::retry(format!("no answer within {timeout:?}"));
        tokio::time::timeout(timeout, self.send(&plan, delivery, now_s)).await.unwrap_or_else(late)
    }

    async fn send(&self, plan: &DeliveryPlan, delivery: &DueDelivery, now_s: i64) -> AttemptResult {
        let outcome = match self.outcome(&delivery.debate).await {
            Ok(outcome) => outcome,
            Err(why) => return AttemptResult::retry(why),
        };
        if !plan.on.includes(outcome.status) {
            return AttemptResult::Skipped;
        }
        match &plan.route {
            DeliveryRoute::File { path, format, create_folder } => {
                match self.report(&delivery.debate, *format, &outcome).await {
                    Ok(text) => file::deliver(path, text, *create_folder).await,
                    Err(why) => AttemptResult::retry(why),
                }
            }
            DeliveryRoute::Callback { address, secret } => {
                self.call_back(address, secret, delivery, &outcome.document, now_s).await
            }
            DeliveryRoute::Slack(address) | DeliveryRoute::Discord(address) => {
                let summary = match self.chat_summary(&delivery.debate, &outcome).await {
                    Ok(summary) => summary,
                    Err(why) => return AttemptResult::retry(why),
                };
                let message = match &plan.route {
                    DeliveryRoute::Slack(_) => slack_message(&summary),
                    _ => discord_message(&summary),
                };
                self.post_message(address, &message, delivery, now_s).await
            }
            DeliveryRoute::Program { command, section } => {
                let env = [
                    ("AGON_DEBATE_ID", delivery.debate.as_str()),
                    ("AGON_STATUS", outcome.status.as_str()),
                    ("AGON_DELIVERY", &delivery.name()),
                ];
                let document = outcome.document.to_string();
                program::deliver(command, section, &self.settings.folder, &env, &document).await
            }
        }
    }

    async fn outcome(&self, debate: &str) -> Result<DeliveredOutcome, String> {
        let (renderer, debate) = (Arc::clone(&self.renderer), debate.to_owned());
        run_blocking(move || renderer.outcome(&debate)).await
    }

    async fn report(
        &self,
        debate: &str,
        format: ReportFormat,
        outcome: &DeliveredOutcome,
    ) -> Result<String, String> {
        if format == ReportFormat::Json {
            let json = serde_json::to_string_pretty(&outcome.document);
            return json.map(|json| json + "\n").map_err(|why| why.to_string());
        }
        let (renderer, debate) = (Arc::clone(&self.renderer), debate.to_owned());
        run_blocking(move || renderer.text(&debate, format)).await
    }

    /// The summary for a chat. If there is no answer, the report takes its place.
    async fn chat_summary(&self, debate: &str, outcome: &DeliveredOutcome) -> Result<ChatSummary, String> {
        let mut summary = outcome.summary.clone();
        if summary.answer.is_none() {
            summary.answer = Some(self.report(debate, ReportFormat::Text, outcome).await?);
        }
        Ok(summary)
    }

    async fn call_back(
        &self,
        address: &WebAddress,
        secret: &CallbackSecret,
        delivery: &DueDelivery,
        outcome: &Value,
        now_s: i64,
    ) -> AttemptResult {
        let body = outcome.to_string().into_bytes();
        let mut headers =
            vec![("Agon-Delivery", delivery.name()), ("Agon-Event", "debate.closed".to_owned())];
        let note = match secret {
            CallbackSecret::Known(secret) => {
                headers.push((HEADER, sign(secret, now_s, &body)));
                None
            }
            CallbackSecret::Unset => {
                Some(format!("it is not signed: set {CALLBACK_SECRET} to a secret that both sides know"))
            }
        };
        match self.http.post(address, headers, body, now_s).await {
            AttemptResult::Done { .. } => AttemptResult::Done { note },
            other => other,
        }
    }

    async fn post_message(
        &self,
        address: &WebAddress,
        message: &Value,
        delivery: &DueDelivery,
        now_s: i64,
    ) -> AttemptResult {
        let headers = vec![("Agon-Delivery", delivery.name())];
        self.http.post(address, headers, message.to_string().into_bytes(), now_s).await
    }
}
