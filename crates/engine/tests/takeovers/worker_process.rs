//! A worker: a process that runs legs of debates with an engine of its own, until it crashes. Then it starts again as another process.

use std::collections::{BTreeMap, VecDeque};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agon_engine::{DebateWatch, Engine, EngineError, StopSignal, StoreError};
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Sleep, sleep};

use crate::database::{OTHER_HEAD, TAKEOVER_AFTER};
use crate::model_server::ServedModels;
use crate::process_store::{ProcessStore, StoreWriter};
use crate::rounds_protocol::find_protocol;
use crate::schedule::{Disturbance, ProcessKey, RunEnd, World};

/// The order to run a leg of a debate, and who wants to know how it ended.
pub(crate) struct LegDelivery {
    pub(crate) debate: String,
    pub(crate) ended: oneshot::Sender<RunEnd>,
}

/// Starts a process. It lives until it crashes.
pub(crate) fn start_process(
    world: &Arc<World>,
    process: ProcessKey,
    deliveries: mpsc::UnboundedReceiver<LegDelivery>,
) -> DisturbedProcess {
    let (store, writer) = ProcessStore::new(world, process);
    let models = ServedModels { world: world.clone(), process };
    let engine = Engine::new(Arc::new(models), Arc::new(store), world.schedule.settings.clone());
    let work = run_deliveries(world.clone(), process, engine, writer, deliveries);
    DisturbedProcess {
        world: world.clone(),
        process,
        work: Box::pin(work),
        polls: 0,
        planned: planned_disturbances(world),
        pause: None,
    }
}

/// What happens to a process, and after how many polls. A crash is the last.
fn planned_disturbances(world: &World) -> VecDeque<(usize, Option<Duration>)> {
    let mut planned = VecDeque::new();
    let mut at = 0;
    while planned.len() < 3 && world.may_disturb(2) {
        // Early ones are more likely than late ones.
        let most = world.below(120);
        at += 1 + world.below(most + 1);
        if world.below(3) == 0 {
            planned.push_back((at, None));
            break;
        }
        let pause = match world.below(4) {
            0 => world.millis_below(1_000),
            1 => world.millis_below(90_000),
            // It goes on about when others may take its debates.
            _ => TAKEOVER_AFTER - Duration::from_secs(6) + world.millis_below(9_000),
        };
        planned.push_back((at, Some(pause)));
    }
    planned
}

/// A process that can crash and stand still before any poll, that is, wherever it waits for something.
pub(crate) struct DisturbedProcess {
    world: Arc<World>,
    process: ProcessKey,
    work: BoxFuture<'static, ()>,
    polls: usize,
    /// `None` is a crash.
    planned: VecDeque<(usize, Option<Duration>)>,
    pause: Option<Pin<Box<Sleep>>>,
}

impl Future for DisturbedProcess {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Self { world, process, work, polls, planned, pause } = self.get_mut();
        loop {
            if let Some(pausing) = pause {
                ready!(pausing.as_mut().poll(context));
                *pause = None;
            }
            match planned.pop_front_if(|(at, _)| *at <= *polls) {
                Some((_, None)) => {
                    world.note_disturbance(Disturbance::Crash, *process);
                    return Poll::Ready(());
                }
                Some((_, Some(lasts))) => {
                    world.note_disturbance(Disturbance::Pause, *process);
                    *pause = Some(Box::pin(sleep(lasts)));
                }
                None => break,
            }
        }
        *polls += 1;
        work.as_mut().poll(context)
    }
}

async fn run_deliveries(
    world: Arc<World>,
    process: ProcessKey,
    engine: Engine,
    writer: StoreWriter,
    mut deliveries: mpsc::UnboundedReceiver<LegDelivery>,
) {
    let mut writing = pin!(writer.run());
    let mut legs = FuturesUnordered::new();
    let mut waiting: BTreeMap<String, Vec<oneshot::Sender<RunEnd>>> = BTreeMap::new();
    loop {
        tokio::select! {
            biased;
            () = &mut writing => return,
            Some((debate, end)) = legs.next(), if !legs.is_empty() => {
                for ended in waiting.remove(&debate).unwrap_or_default() {
                    let _ = ended.send(end);
                }
            }
            Some(LegDelivery { debate, ended }) = deliveries.recv() => {
                // A leg whose caller went away may still run here.
                let is_new = !waiting.contains_key(&debate);
                waiting.entry(debate.clone()).or_default().push(ended);
                if is_new {
                    legs.push(run_leg(&world, process, &engine, debate));
                }
            }
        }
    }
}

/// Runs a debate until it is over or the time of the leg is.
async fn run_leg(world: &World, process: ProcessKey, engine: &Engine, debate: String) -> (String, RunEnd) {
    let run = world.begin_run(process, &debate);
    let (watch, stop) = (DebateWatch::default(), StopSignal::new());
    let result = {
        let mut resumed = pin!(engine.resume(&find_protocol, &debate, None, &watch, &stop));
        tokio::select! {
            biased;
            result = &mut resumed => result,
            () = sleep(world.schedule.leg_max) => {
                stop.stop();
                resumed.await
            }
        }
    };
    let end = match result {
        Ok(_) => RunEnd::Over,
        Err(EngineError::Interrupted { .. }) => RunEnd::Stopped,
        Err(EngineError::Store(StoreError::Leased(_))) => RunEnd::Elsewhere,
        Err(EngineError::Store(StoreError::LeaseLost(_))) => RunEnd::LeaseLost,
        Err(why) => {
            let is_expected =
                matches!(&why, EngineError::Store(StoreError::Failed { why, .. }) if why != OTHER_HEAD);
            if !is_expected {
                world.note_violation(format!("the run of {debate} in process {process} ended with: {why}"));
            }
            RunEnd::StoreFailed
        }
    };
    world.runs.lock().unwrap()[run].end = Some(end);
    (debate, end)
}
