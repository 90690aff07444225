//! One leg of a debate: it runs until it is over, until its time is up, or until only people are waited for.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::cli::clock;
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
    /// Only people are asked now, each until this time, in milliseconds since 1970.
    People { due: Vec<(u32, u64)>, now_ms: u64 },
    /// It cannot go on until somebody does something: a key is wrong, a budget is used up, a person stopped it.
    Interrupted { why: String },
}

impl DebateHost {
    /// Runs a debate for a while. `due` is until when people may answer who were asked in an earlier leg. An error means that it is worth
    /// trying again.
    pub async fn run_leg(
        &self,
        id: &str,
        at_most: Duration,
        due: Vec<(u32, u64)>,
    ) -> Result<LegEnd, HostError> {
        // A leg whose caller went away may still run here.
        let run = match self.run_of(id) {
            Some(run) => run,
            None => self.spawn_run(id, None)?,
        };
        let (mut due, mut people_only) = (BTreeMap::from_iter(due), false);
        tokio::select! {
            () = run.ended() => {}
            () = tokio::time::sleep(at_most) => run.stop_and_end().await,
            () = self.only_people_are_asked(&run, &mut due) => {
                people_only = true;
                run.stop_and_end().await;
            }
        }
        if let Some(status) = run.end_status() {
            return Ok(LegEnd::Over { status: status.as_str().to_owned() });
        }
        let wanted = id.to_owned();
        let listed = self.read_store(move |store| store.listed_debate(&wanted)).await?;
        if self.state(&listed).is_over() {
            return Ok(LegEnd::Over { status: listed.status });
        }
        if self.state(&listed) == DebateState::Running {
            return Ok(LegEnd::Elsewhere);
        }
        match run.fault() {
            _ if run.was_stopped_by_person() => Ok(LegEnd::Interrupted { why: "somebody stopped it".into() }),
            None if people_only => {
                Ok(LegEnd::People { due: due.into_iter().collect(), now_ms: clock::unix_millis() })
            }
            None => Ok(LegEnd::TimeIsUp),
            Some(HostError { kind: HostErrorKind::Elsewhere, .. }) => Ok(LegEnd::Elsewhere),
            Some(fault @ HostError { kind: HostErrorKind::Failed | HostErrorKind::Busy { .. }, .. }) => {
                Err(fault)
            }
            Some(fault) => Ok(LegEnd::Interrupted { why: fault.sentence }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Restate keeps how a leg ended. What it cannot read back would be tried without end.
    #[test]
    fn every_end_of_a_leg_can_be_read_back() {
        for end in [
            LegEnd::Over { status: "complete".into() },
            LegEnd::TimeIsUp,
            LegEnd::Elsewhere,
            LegEnd::People { due: vec![(2, 5), (7, 9)], now_ms: 3 },
            LegEnd::Interrupted { why: "a key is wrong".into() },
        ] {
            let json = serde_json::to_string(&end).unwrap();
            assert_eq!(serde_json::from_str::<LegEnd>(&json).unwrap(), end, "{json}");
        }
    }
}
