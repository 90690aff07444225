//! Debates at workers whose end this process waits for.
//!
//! The store says when a debate is over, and one query looks for all that are followed. Restate is asked only about debates that nobody has:
//! it alone knows that one was interrupted. A request that waits at Restate for each end would be simpler, but then nobody learns of the
//! ends that workers reach while Restate is away.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agon_store::{DebateProgress, DebateStore};
use tokio::sync::{Semaphore, watch};

use super::debate_workflow::DebateEnd;
use super::restate_client::{RestateClient, SubmittedDebate};
use crate::cli::errors::CliError;
use crate::cli::output;

/// How often the store is asked.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long nobody may have a debate before Restate is asked about it, at first and in the long run.
const QUESTION_FIRST: Duration = Duration::from_millis(500);
const QUESTION_MAX: Duration = Duration::from_secs(5);
/// How often Restate is asked about a debate that a process has. It may have died and left no word.
const OWNED_QUESTION: Duration = Duration::from_secs(30);
/// How many questions are under way at once.
const QUESTIONS_AT_ONCE: usize = 16;

/// Looks for the ends of debates, for as long as somebody waits for one.
#[derive(Debug)]
pub struct FollowedDebates {
    store: DebateStore,
    followed: Mutex<FollowedTable>,
    questions: Semaphore,
}

#[derive(Debug, Default)]
struct FollowedTable {
    by_id: HashMap<String, watch::Sender<DebateProgress>>,
    is_looking: bool,
}

impl FollowedDebates {
    pub fn new(store: DebateStore) -> Arc<Self> {
        Arc::new(Self { store, followed: Mutex::default(), questions: Semaphore::new(QUESTIONS_AT_ONCE) })
    }

    /// Waits until a submitted debate has ended or was interrupted.
    pub async fn ended(
        self: &Arc<Self>,
        client: &RestateClient,
        submitted: &SubmittedDebate,
    ) -> Result<DebateEnd, CliError> {
        let mut progress = self.follow(submitted.debate());
        let mut unowned_pause = QUESTION_FIRST;
        loop {
            let known = progress.borrow_and_update().clone();
            let pause = match known {
                DebateProgress::Over(status) => return Ok(DebateEnd { status, why: None }),
                DebateProgress::Owned => OWNED_QUESTION,
                DebateProgress::Unowned => unowned_pause,
            };
            // The sender lives until nobody waits, so the wait cannot fail.
            if tokio::time::timeout(pause, progress.changed()).await.is_ok() {
                unowned_pause = QUESTION_FIRST;
                continue;
            }
            if let Some(end) = self.ask_restate(client, submitted).await? {
                return Ok(end);
            }
            unowned_pause = (2 * unowned_pause).min(QUESTION_MAX);
        }
    }

    async fn ask_restate(
        &self,
        client: &RestateClient,
        submitted: &SubmittedDebate,
    ) -> Result<Option<DebateEnd>, CliError> {
        // Nobody closes it, so there is always a place in the end.
        let _place = self.questions.acquire().await.ok();
        client.output(submitted).await
    }

    /// How far a debate is, from now on.
    fn follow(self: &Arc<Self>, id: &str) -> watch::Receiver<DebateProgress> {
        let mut followed = self.followed();
        let sender = followed.by_id.entry(id.to_owned());
        let receiver = sender.or_insert_with(|| watch::Sender::new(DebateProgress::Owned)).subscribe();
        if !std::mem::replace(&mut followed.is_looking, true) {
            tokio::spawn(Arc::clone(self).look());
        }
        receiver
    }

    /// Looks until nobody waits any more.
    async fn look(self: Arc<Self>) {
        let mut is_away = false;
        while let Some(ids) = self.wanted() {
            let store = self.store.clone();
            let found = tokio::task::spawn_blocking(move || store.progress_of(&ids)).await;
            match found {
                Ok(Ok(found)) => {
                    is_away = false;
                    self.tell(found);
                }
                // The debates go on at the workers, so there is no reason to give up.
                Ok(Err(why)) if !is_away => {
                    is_away = true;
                    output::note(&format!("{why}; still waiting for the debates"));
                }
                _ => {}
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// The debates that somebody waits for. If there are none, looking ends.
    fn wanted(&self) -> Option<Vec<String>> {
        let mut followed = self.followed();
        followed.by_id.retain(|_, sender| sender.receiver_count() > 0);
        followed.is_looking = !followed.by_id.is_empty();
        followed.is_looking.then(|| followed.by_id.keys().cloned().collect())
    }

    fn tell(&self, found: Vec<(String, DebateProgress)>) {
        let followed = self.followed();
        for (id, progress) in found {
            if let Some(sender) = followed.by_id.get(&id) {
                sender.send_if_modified(|known| {
                    let is_new = *known != progress;
                    *known = progress;
                    is_new
                });
            }
        }
    }

    fn followed(&self) -> MutexGuard<'_, FollowedTable> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
