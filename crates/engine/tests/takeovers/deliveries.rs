//! Who starts the legs of debates: a scheduler that tries until each debate is over. It delivers late and sometimes twice, and it may take
//! a slow worker for a dead one.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::schedule::{Disturbance, ProcessKey, RunEnd, World};
use crate::worker_process::{LegDelivery, start_process};

/// A schedule that takes longer hangs. What can delay it are some disturbances of at most two minutes.
const TAKES_AT_MOST: Duration = Duration::from_secs(7_200);

/// The processes that take deliveries, one for each worker.
#[derive(Default)]
struct WorkerList {
    started: ProcessKey,
    workers: Vec<Option<mpsc::UnboundedSender<LegDelivery>>>,
}

/// Runs workers until all debates are over, and until nothing runs that could still do harm.
pub(crate) async fn run_to_end(world: &Arc<World>) {
    let workers = Arc::new(Mutex::new(WorkerList::default()));
    let mut background = JoinSet::new();
    for number in 0..world.schedule.workers {
        workers.lock().unwrap().workers.push(None);
        background.spawn(keep_worker(world.clone(), workers.clone(), number));
    }
    background.spawn(take_store_away(world.clone()));
    let mut debates = JoinSet::new();
    for brief in &world.schedule.briefs {
        debates.spawn(run_debate(world.clone(), workers.clone(), brief.id.clone()));
    }
    let ended = async {
        while let Some(ended) = debates.join_next().await {
            ended.unwrap();
        }
        while world.is_busy() {
            sleep(Duration::from_secs(1)).await;
        }
        // Messages that are under way arrive.
        sleep(Duration::from_secs(60)).await;
    };
    if timeout(TAKES_AT_MOST, ended).await.is_err() {
        world.note_violation("not everything came to an end".to_owned());
    }
    // A worker whose code panics is no crash that a schedule has planned.
    while let Some(ended) = background.try_join_next() {
        ended.unwrap();
    }
}

/// Starts the process of a worker again and again.
async fn keep_worker(world: Arc<World>, workers: Arc<Mutex<WorkerList>>, number: usize) {
    loop {
        let (sender, deliveries) = mpsc::unbounded_channel();
        let process = {
            let mut list = workers.lock().unwrap();
            list.started += 1;
            list.workers[number] = Some(sender);
            list.started
        };
        world.start_process(process);
        start_process(&world, process, deliveries).await;
        world.living.lock().unwrap().remove(&process);
        workers.lock().unwrap().workers[number] = None;
        // The server notices at once that a process is gone, but not that a machine is.
        if world.below(4) > 0 {
            let (world, after) = (world.clone(), world.millis_below(100));
            tokio::spawn(async move {
                sleep(after).await;
                world.database.lock().unwrap().end_sessions_of(process);
            });
        }
        sleep(world.millis_below(5_000)).await;
    }
}

async fn take_store_away(world: Arc<World>) {
    for (after, lasts) in world.schedule.outages.clone() {
        sleep(after).await;
        world.database.lock().unwrap().go_away();
        for process in world.living.lock().unwrap().iter() {
            world.note_disturbance(Disturbance::Outage, *process);
        }
        sleep(lasts).await;
        world.database.lock().unwrap().is_away = false;
    }
}

/// Delivers legs until the debate is over.
async fn run_debate(world: Arc<World>, workers: Arc<Mutex<WorkerList>>, debate: String) {
    let mut retry_after = Duration::from_millis(200);
    loop {
        sleep(world.millis_below([30, 30, 30, 4_000][world.below(4)])).await;
        if world.below(10) == 0 {
            drop(deliver(&world, &workers, &debate));
        }
        let ended = timeout(world.schedule.patience, deliver(&world, &workers, &debate)).await;
        match ended {
            Ok(Ok(RunEnd::Over)) => return,
            Ok(Ok(RunEnd::Stopped)) => {}
            Ok(Ok(RunEnd::Elsewhere | RunEnd::LeaseLost)) => sleep(Duration::from_secs(1)).await,
            Ok(Ok(RunEnd::StoreFailed) | Err(_)) => {
                sleep(retry_after).await;
                retry_after = (2 * retry_after).min(Duration::from_secs(5));
            }
            // Whoever has it may still be at it.
            Err(_) => {}
        }
    }
}

/// Delivers a leg to one of the workers. The answer is an error if its process crashes.
fn deliver(world: &World, workers: &Mutex<WorkerList>, debate: &str) -> oneshot::Receiver<RunEnd> {
    let (ended, answer) = oneshot::channel();
    let list = workers.lock().unwrap();
    let chosen = world.below(list.workers.len());
    if let Some(worker) = &list.workers[chosen] {
        let _ = worker.send(LegDelivery { debate: debate.to_owned(), ended });
    }
    answer
}
