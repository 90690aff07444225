//! The workflow of a debate in Restate. Its key is the id of the debate; when an interrupted debate is submitted again, the key has a
//! number behind it, because a workflow runs once.

use std::time::Duration;

use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};

use super::legs::{LEG_MAX, LegEnd};
use crate::hosting::DebateHost;

/// The name under which Restate knows the workflow.
pub const WORKFLOW: &str = "agon_debate";
/// Separates the id of a debate from the number of its submission.
const SUBMISSION_MARK: char = '.';
/// How long to wait for a process that runs the debate already.
const ELSEWHERE_WAIT: Duration = Duration::from_secs(1);
/// The state that counts how often the workflow has waited for people.
const WAITS: &str = "waits";

/// What became of a debate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DebateEnd {
    /// `complete`, `incomplete`, `failed`, or `interrupted`.
    pub status: String,
    /// Why it was interrupted.
    pub why: Option<String>,
}

/// The key of the workflow for the nth submission of a debate, counted from 0.
pub fn workflow_key(debate: &str, submission: u32) -> String {
    match submission {
        0 => debate.to_owned(),
        n => format!("{debate}{SUBMISSION_MARK}{n}"),
    }
}

/// The id of the debate that a workflow holds.
pub fn debate_of_key(key: &str) -> &str {
    key.split(SUBMISSION_MARK).next().unwrap_or(key)
}

/// Runs debates for Restate.
#[derive(Clone)]
pub struct DebateWorkflow {
    pub host: DebateHost,
}

// A leg takes at most five minutes. Restate must not suspend or abort it before, because it would start it again without end.
#[restate_sdk::workflow(
    name = "agon_debate",
    inactivity_timeout = "15m",
    abort_timeout = "15m",
    workflow_completion_retention = "1 day",
    invocation_retry_policy(
        initial_interval = "100ms",
        factor = 2.0,
        max_interval = "5s",
        max_attempts = 1_000_000,
        on_max_attempts = "pause",
    )
)]
impl DebateWorkflow {
    /// Runs the debate to its end.
    #[handler]
    async fn run(&self, ctx: WorkflowContext<'_>) -> Result<Json<DebateEnd>, HandlerError> {
        let id = debate_of_key(ctx.key()).to_owned();
        let retries = RunRetryPolicy::new()
            .initial_delay(Duration::from_millis(200))
            .exponentiation_factor(2.0)
            .max_delay(Duration::from_secs(5));
        let (mut waits, mut wait) = (0_u64, None);
        loop {
            let (host, debate, waited) = (self.host.clone(), id.clone(), wait.take());
            let leg = ctx
                .run(|| async move { Ok(Json(host.run_leg(&debate, LEG_MAX, waited).await?)) })
                .name("leg")
                .retry_policy(retries.clone())
                .await?;
            match leg.into_inner() {
                LegEnd::Over { status } => return Ok(Json(DebateEnd { status, why: None })),
                LegEnd::Interrupted { why } => {
                    return Ok(Json(DebateEnd { status: "interrupted".into(), why: Some(why) }));
                }
                LegEnd::TimeIsUp => {}
                LegEnd::Elsewhere => ctx.sleep(ELSEWHERE_WAIT).await?,
                LegEnd::People(people) => {
                    let sleep = Duration::from_millis(people.sleep_ms);
                    wait = Some(people);
                    waits += 1;
                    ctx.set(WAITS, waits);
                    let woken = wake_promise(waits);
                    restate_sdk::select! {
                        woken = ctx.promise::<bool>(&woken) => { woken?; },
                        timer = ctx.sleep(sleep) => { timer?; }
                    }
                }
            }
        }
    }

    /// Says that there is something new for the debate, for instance the answer of a person.
    #[handler]
    async fn wake(&self, ctx: SharedWorkflowContext<'_>) -> Result<(), HandlerError> {
        let waits = ctx.get::<u64>(WAITS).await?.unwrap_or_default();
        // The leg that is about to wait may have looked before the answer was there. Its wait then ends at once.
        ctx.resolve_promise(&wake_promise(waits), true);
        ctx.resolve_promise(&wake_promise(waits + 1), true);
        Ok(())
    }
}

fn wake_promise(waits: u64) -> String {
    format!("wake-{waits}")
}
