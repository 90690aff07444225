//! Waits for a debate on behalf of a call: until it is over, somebody here must answer, or the time is over.
//!
//! Nothing here can harm a debate. A call that is cancelled or times out only stops waiting.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::broadcast;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::McpServer;
use super::debate_result::progress_words;
use crate::hosting::host_error::HostError;
use crate::hosting::person_seats::CALLER;
use crate::hosting::{DebateHost, DebateState};

/// How often the debate is looked at, even if nothing was heard of it: another process may run it.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The longest time without a word to a client that wants progress. The contract says 10 seconds.
const PROGRESS_EVERY: Duration = Duration::from_secs(5);
/// Words come no faster than this.
const PROGRESS_GAP: Duration = Duration::from_millis(500);

/// What a wait ends for, besides the end of the debate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitUntil {
    /// An ask for the calling agent.
    CallerAsked,
    /// An ask for the calling agent or a person, because nobody but the agent can pass it on.
    AnyoneAsked,
}

impl McpServer {
    /// Waits for a debate, at most this long.
    pub(super) async fn wait_for_debate(
        &self,
        id: &str,
        wait: Duration,
        until: WaitUntil,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), HostError> {
        let deadline = Instant::now() + wait;
        let mut changes = self.host().changes();
        let mut progress = ProgressReporter::of_call(context);
        let mut look = interval(LOOK_EVERY);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !self.ends_wait(id, until).await? {
            self.elicit_answers(id, context).await;
            tokio::select! {
                () = sleep_until(deadline) => return Ok(()),
                () = context.ct.cancelled() => return Ok(()),
                () = self.closing() => return Ok(()),
                () = changed(&mut changes, id) => {}
                _ = look.tick() => {}
            }
            progress.report(self.host(), id).await;
        }
        Ok(())
    }

    async fn ends_wait(&self, id: &str, until: WaitUntil) -> Result<bool, HostError> {
        let host = self.host();
        let asks = host.waiting_asks(id);
        let counts = |model: &str| until == WaitUntil::AnyoneAsked || model == CALLER;
        if asks.iter().any(|ask| counts(&ask.model)) {
            return Ok(true);
        }
        // The memory knows that it runs here. Only otherwise the store must be asked.
        if host.runs_here(id) {
            return Ok(false);
        }
        let state = host.state_of(id).await?;
        Ok(state.is_over() || state == DebateState::Interrupted)
    }
}

/// Returns when the debate changes, or may have changed.
async fn changed(changes: &mut broadcast::Receiver<String>, id: &str) {
    loop {
        match changes.recv().await {
            Ok(changed) if changed != id => {}
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => return,
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}

/// Tells a client in words how a debate goes on, if it wants to know.
struct ProgressReporter {
    target: Option<(Peer<RoleServer>, ProgressToken)>,
    told_at: Option<Instant>,
    words: String,
    steps: u32,
}

impl ProgressReporter {
    fn of_call(context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        let target = token.map(|token| (context.peer.clone(), token));
        Self { target, told_at: None, words: String::new(), steps: 0 }
    }

    async fn report(&mut self, host: &DebateHost, id: &str) {
        let Some((peer, token)) = &self.target else { return };
        let since = self.told_at.map(|told_at| told_at.elapsed());
        if since.is_some_and(|since| since < PROGRESS_GAP) {
            return;
        }
        let Ok(debate) = host.debate_so_far(id).await else { return };
        let words = progress_words(&debate, DebateState::Running, &host.waiting_asks(id));
        if words == self.words && since.is_some_and(|since| since < PROGRESS_EVERY) {
            return;
        }
        self.steps += 1;
        self.told_at = Some(Instant::now());
        let told = ProgressNotificationParam::new(token.clone(), f64::from(self.steps)).with_message(&words);
        self.words = words;
        // A client that is gone needs no progress.
        let _ = peer.notify_progress(told).await;
    }
}
