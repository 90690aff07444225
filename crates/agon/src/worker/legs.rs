//! One leg of a debate: it runs until it is over, until its time is up, or until only people are waited for.

use std::collections::BTreeMap;
use std::time::Duration;

use agon_core::Debate;
use agon_engine::deadline_left_ms;
use serde::{Deserialize, Serialize};

use crate::cli::clock;
use crate::hosting::host_error::{HostError, HostErrorKind};
use crate::hosting::{DebateHost, DebateState, find_protocol};

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
    /// Only people are asked now.
    People(PeopleWait),
    /// It cannot go on until somebody does something: a key is wrong, a budget is used up, a person stopped it.
    Interrupted { why: String },
}

/// A debate that waits for people, without a process. Times are milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeopleWait {
    /// Until when each ask may be answered.
    pub due: Vec<(u32, u64)>,
    /// How many events the log has.
    pub events: u64,
    /// Since when it has not grown.
    pub since: u64,
    /// How long to wait if nobody answers: until the first of these times, or the deadline of the debate.
    pub sleep_ms: u64,
}

impl PeopleWait {
    /// The wait of a debate with this log. If nothing was added to the log since an `earlier` wait, it is the same wait.
    fn new(due: BTreeMap<u32, u64>, debate: &Debate, earlier: Option<PeopleWait>) -> Self {
        let (now, events) = (clock::unix_millis(), debate.events);
        let since = earlier.filter(|earlier| earlier.events == events).map_or(now, |earlier| earlier.since);
        let protocol = find_protocol(&debate.brief.protocol);
        let left_ms = protocol.and_then(|protocol| deadline_left_ms(protocol, debate));
        let times = due.values().copied().chain(left_ms.map(|left_ms| since.saturating_add(left_ms)));
        let sleep_ms = times.filter(|time| *time > now).min().map_or(0, |time| time - now);
        Self { due: due.into_iter().collect(), events, since, sleep_ms }
    }
}

impl DebateHost {
    /// Runs a debate for a while. `wait` is how it waited for people before. An error means that it is worth trying again.
    pub async fn run_leg(
        &self,
        id: &str,
        at_most: Duration,
        wait: Option<PeopleWait>,
    ) -> Result<LegEnd, HostError> {
        let waited_ms = wait.as_ref().map_or(0, |wait| clock::unix_millis().saturating_sub(wait.since));
        // A leg whose caller went away may still run here.
        let run = match self.run_of(id) {
            Some(run) => run,
            None => self.spawn_run(id, None, waited_ms)?,
        };
        let due = wait.iter().flat_map(|wait| wait.due.iter().copied());
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
                Ok(LegEnd::People(PeopleWait::new(due, &self.read_debate(id).await?, wait)))
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
            LegEnd::People(PeopleWait { due: vec![(2, 5), (7, 9)], events: 4, since: 3, sleep_ms: 2 }),
            LegEnd::Interrupted { why: "a key is wrong".into() },
        ] {
            let json = serde_json::to_string(&end).unwrap();
            assert_eq!(serde_json::from_str::<LegEnd>(&json).unwrap(), end, "{json}");
        }
    }
}
