//! One leg of a debate: it runs until it is over, until its time is up, or until only people are waited for.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::hosting::host_error::{HostError, HostErrorKind};
use crate::hosting::{DebateHost, DebateState};

/// How long a leg may take. Restate's own time limits are longer, see [`super::debate_workflow`].
pub const LEG_MAX: Duration = Duration::from_secs(300);

/// How a leg ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum LegEnd {
    /// The debate is over.
    Over { status: String },
    /// Its time is up, and the next leg goes on.
    TimeIsUp,
    /// Another process runs the debate.
    Elsewhere,
    /// Only people are asked now. They have this long.
    People { wait_ms: u64 },
    /// It cannot go on until somebody does something: a key is wrong, a budget is used up, a person stopped it.
    Interrupted { why: String },
}

impl DebateHost {
    /// Runs a debate for a while. An error means that it is worth trying again.
    pub async fn run_leg(&self, id: &str, at_most: Duration) -> Result<LegEnd, HostError> {
        // A leg whose caller went away may still run here.
        let run = match self.run_of(id) {
            Some(run) => run,
            None => self.spawn_run(id)?,
        };
        let mut people_have = None;
        tokio::select! {
            () = run.ended() => {}
            () = tokio::time::sleep(at_most) => run.stop_and_end().await,
            wait = self.only_people_are_asked(&run) => {
                people_have = Some(wait);
                run.stop_and_end().await;
            }
        }
        let wanted = id.to_owned();
        let listed = self.read_store(move |store| store.listed_debate(&wanted)).await?;
        if self.state(&listed).is_over() {
            return Ok(LegEnd::Over { status: listed.status });
        }
        if self.state(&listed) == DebateState::Running {
            return Ok(LegEnd::Elsewhere);
        }
        if let Some(wait) = people_have {
            return Ok(LegEnd::People { wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX) });
        }
        match run.fault() {
            _ if run.was_stopped_by_person() => Ok(LegEnd::Interrupted { why: "somebody stopped it".into() }),
            None => Ok(LegEnd::TimeIsUp),
            Some(HostError { kind: HostErrorKind::Elsewhere, .. }) => Ok(LegEnd::Elsewhere),
            Some(fault @ HostError { kind: HostErrorKind::Failed | HostErrorKind::Busy { .. }, .. }) => {
                Err(fault)
            }
            Some(fault) => Ok(LegEnd::Interrupted { why: fault.sentence }),
        }
    }
}
