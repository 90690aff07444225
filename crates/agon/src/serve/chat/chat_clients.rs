//! Who waits for a debate in a chat program, and what becomes of the debate when nobody does any more.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::hosting::DebateHost;

/// The debates that chat programs wait for. Clones share them.
#[derive(Clone, Default)]
pub struct ChatClients(Arc<Mutex<HashMap<String, AwaitedDebate>>>);

#[derive(Clone, Default)]
struct AwaitedDebate {
    /// The hash of the request that opened it.
    request: String,
    /// How many wait now.
    clients: usize,
    /// How many have come. A client that comes and goes begins the time anew.
    visits: u64,
}

impl ChatClients {
    /// Notes that somebody waits for a debate until the answer is dropped. If nobody waits any more, the debate goes on for `linger` and
    /// is then stopped in order.
    pub fn wait_for(&self, host: &DebateHost, id: &str, request: &str, linger: Duration) -> WaitingClient {
        let mut debates = self.debates();
        let debate = debates.entry(id.to_owned()).or_default();
        request.clone_into(&mut debate.request);
        debate.clients += 1;
        debate.visits += 1;
        WaitingClient { clients: self.clone(), host: host.clone(), id: id.to_owned(), linger }
    }

    /// A debate that the same request opened and that goes on, whether or not somebody still waits for it.
    pub fn debate_of(&self, request: &str) -> Option<String> {
        let debates = self.debates();
        debates.iter().find(|(_, debate)| debate.request == request).map(|(id, _)| id.clone())
    }

    fn debates(&self) -> MutexGuard<'_, HashMap<String, AwaitedDebate>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of visits if the last client has left.
    fn leave(&self, id: &str) -> Option<u64> {
        let mut debates = self.debates();
        let debate = debates.get_mut(id)?;
        debate.clients = debate.clients.saturating_sub(1);
        (debate.clients == 0).then_some(debate.visits)
    }

    /// Forgets a debate for which nobody has come since. Returns whether that is so.
    fn forget(&self, id: &str, visits: u64) -> bool {
        let mut debates = self.debates();
        let is_left = debates.get(id).is_some_and(|debate| debate.clients == 0 && debate.visits == visits);
        if is_left {
            debates.remove(id);
        }
        is_left
    }
}

/// A client that waits for a debate. Dropping it says that the client has its answer, or hung up.
pub struct WaitingClient {
    clients: ChatClients,
    host: DebateHost,
    id: String,
    linger: Duration,
}

impl Drop for WaitingClient {
    fn drop(&mut self) {
        let Some(visits) = self.clients.leave(&self.id) else { return };
        let (clients, host, id, linger) =
            (self.clients.clone(), self.host.clone(), self.id.clone(), self.linger);
        if host.run_of(&id).is_none() {
            clients.forget(&id, visits);
            return;
        }
        // Without a runtime the process is about to end, and with it the debate.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let is_over = host.wait(&id, linger).await;
                if clients.forget(&id, visits) && !is_over {
                    // It may have ended meanwhile.
                    drop(host.stop(&id).await);
                }
            });
        }
    }
}
