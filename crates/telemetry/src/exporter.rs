//! Sends the spans of debates once they ended, and metrics now and then. All of it happens in the background: a debate only puts its id
//! into a queue, and if the queue is full, its spans are not sent.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agon_core::{Event, LogRecord, Protocol};
use agon_engine::Store;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::conventions::attribute;
use crate::debate_spans::{SpanContent, debate_spans, trace_request};
use crate::live_metrics::{LiveMetrics, MetricTimes};
use crate::observed_store::ObservedStore;
use crate::otlp_client::OtlpClient;
use crate::settings::TelemetrySettings;

/// How many ended debates may wait until their spans are sent. Only their ids wait.
const QUEUE_MAX: usize = 10_000;
/// How many debates are read at a time.
const DEBATES_PER_READ: usize = 32;
/// A request is sent when its spans are this large. Collectors accept 20 MB by default.
const REQUEST_BYTES: usize = 2 << 20;
/// How long the process waits at its end.
const FINISH_TIMEOUT: Duration = Duration::from_secs(3);

/// Finds a protocol by its name.
type ProtocolFinder = fn(&str) -> Option<&'static dyn Protocol>;

/// What is done about the first thing that goes wrong.
#[derive(Debug, Clone, Copy)]
pub enum ProblemReport {
    /// It is told at once, for processes that may run for days.
    AtOnce(fn(&str)),
    /// [`TelemetryExporter::finish`] returns it.
    AtTheEnd,
}

/// Exports the debates of one process.
pub struct TelemetryExporter {
    state: Arc<ExporterState>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

/// What a debate and the tasks share.
pub(crate) struct ExporterState {
    pub(crate) metrics: LiveMetrics,
    resource: Resource,
    queue: Option<mpsc::Sender<EndedDebate>>,
    /// Debates that ended and whose spans were not sent yet.
    unsent: AtomicU64,
    first_problem: Mutex<Option<String>>,
    report: ProblemReport,
    finishing: watch::Sender<bool>,
    content_of: Option<ProtocolFinder>,
}

struct EndedDebate {
    id: String,
    store: Arc<dyn Store>,
}

impl TelemetryExporter {
    /// Starts to export. `content_of` finds the protocols of debates whose prompts and replies are sent along; without it none are.
    pub fn start(
        settings: TelemetrySettings,
        content_of: Option<ProtocolFinder>,
        report: ProblemReport,
        runtime: &Handle,
    ) -> Self {
        let (sender, queue) = mpsc::channel(QUEUE_MAX);
        let state = Arc::new(ExporterState {
            metrics: LiveMetrics::default(),
            resource: settings.resource,
            queue: settings.traces.is_some().then_some(sender),
            unsent: AtomicU64::new(0),
            first_problem: Mutex::default(),
            report,
            finishing: watch::Sender::new(false),
            content_of,
        });
        let mut tasks = Vec::new();
        if let Some(target) = settings.traces {
            tasks.push(runtime.spawn(export_traces(state.clone(), OtlpClient::new(target), queue)));
        }
        if let Some(target) = settings.metrics {
            let client = OtlpClient::new(target);
            tasks.push(runtime.spawn(export_metrics(state.clone(), client, settings.metric_interval)));
        }
        Self { state, tasks: Mutex::new(tasks) }
    }

    /// The same store, observed: debates whose logs are written through it are exported.
    pub fn observe(&self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(ObservedStore { inner: store, exporter: self.state.clone() })
    }

    /// Says how many debates wait until they may run.
    pub fn set_queue_length(&self, debates: u64) {
        self.state.metrics.set_queue_length(debates);
    }

    /// Sends what is left, for a few seconds at most. Returns what should be told: what went wrong, unless it was told before.
    pub async fn finish(&self) -> Option<String> {
        self.state.finishing.send_replace(true);
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        let stops: Vec<_> = tasks.iter().map(JoinHandle::abort_handle).collect();
        let all = futures_util::future::join_all(tasks);
        if tokio::time::timeout(FINISH_TIMEOUT, all).await.is_err() {
            stops.iter().for_each(tokio::task::AbortHandle::abort);
            self.state.note_problem(format!("there was no answer within {} s", FINISH_TIMEOUT.as_secs()));
        }
        match self.state.report {
            ProblemReport::AtOnce(_) => None,
            ProblemReport::AtTheEnd => self.state.problem_sentence(),
        }
    }
}

impl ExporterState {
    /// Queues a debate whose run ended.
    pub(crate) fn queue_debate(&self, id: &str, store: &Arc<dyn Store>) {
        let Some(queue) = &self.queue else { return };
        self.unsent.fetch_add(1, Ordering::AcqRel);
        if queue.try_send(EndedDebate { id: id.to_owned(), store: store.clone() }).is_err() {
            self.note_problem(format!("more than {QUEUE_MAX} debates were waiting to be sent"));
        }
    }

    fn note_problem(&self, why: String) {
        let mut first = self.first_problem.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_some() {
            return;
        }
        *first = Some(why);
        drop(first);
        if let (ProblemReport::AtOnce(tell), Some(sentence)) = (self.report, self.problem_sentence()) {
            tell(&sentence);
        }
    }

    fn problem_sentence(&self) -> Option<String> {
        let why = self.first_problem.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        Some(match self.unsent.load(Ordering::Acquire) {
            0 => format!("telemetry was not sent: {why}"),
            1 => {
                format!("the trace of 1 debate was not sent: {why}. `agon export ID --format otlp` writes it")
            }
            n => format!(
                "the traces of {n} debates were not sent: {why}. `agon export ID --format otlp` writes them"
            ),
        })
    }

    /// The spans of a debate that ended.
    async fn spans_of(&self, ended: EndedDebate) -> Result<Vec<Span>, String> {
        let records = ended.store.load(&ended.id).await.map_err(|why| why.to_string())?;
        let content_of = self.content_of;
        // A long debate takes some milliseconds, and more if its prompts are rendered again.
        let made = tokio::task::spawn_blocking(move || {
            let protocol = content_of.and_then(|find| find(protocol_name(&records)?));
            let content = protocol.map_or(SpanContent::Omitted, SpanContent::Captured);
            debate_spans(&records, content).map_err(|why| why.to_string())
        });
        made.await.unwrap_or_else(|why| Err(why.to_string()))
    }

    async fn send_spans(&self, client: &OtlpClient, spans: Vec<Span>, debates: u64) {
        if debates == 0 {
            return;
        }
        match client.send(&trace_request(spans, self.resource.clone()), self.finishing.subscribe()).await {
            Ok(()) => drop(self.unsent.fetch_sub(debates, Ordering::AcqRel)),
            Err(why) => self.note_problem(why),
        }
    }
}

fn protocol_name(records: &[LogRecord]) -> Option<&str> {
    match &records.first()?.entry.event {
        Event::Opened { brief } => Some(&brief.protocol),
        _ => None,
    }
}

async fn export_traces(
    state: Arc<ExporterState>,
    client: OtlpClient,
    mut queue: mpsc::Receiver<EndedDebate>,
) {
    let mut finishing = state.finishing.subscribe();
    let mut ended = Vec::new();
    loop {
        tokio::select! {
            biased;
            count = queue.recv_many(&mut ended, DEBATES_PER_READ) => if count == 0 { return },
            // What is in the queue is still sent.
            _ = finishing.wait_for(|is_finishing| *is_finishing), if !queue.is_closed() => queue.close(),
        }
        let (mut spans, mut bytes, mut debates) = (Vec::new(), 0, 0);
        for debate in ended.drain(..) {
            match state.spans_of(debate).await {
                Ok(more) => {
                    bytes += more.iter().map(Message::encoded_len).sum::<usize>();
                    spans.extend(more);
                    debates += 1;
                }
                Err(why) => state.note_problem(why),
            }
            if bytes >= REQUEST_BYTES {
                state.send_spans(&client, std::mem::take(&mut spans), debates).await;
                (bytes, debates) = (0, 0);
            }
        }
        state.send_spans(&client, spans, debates).await;
    }
}

async fn export_metrics(state: Arc<ExporterState>, client: OtlpClient, interval: Duration) {
    let mut finishing = state.finishing.subscribe();
    let start_ns = now_ns();
    let resource = instance_resource(&state.resource, start_ns);
    loop {
        let is_last = tokio::select! {
            () = tokio::time::sleep(interval) => false,
            _ = finishing.wait_for(|is_finishing| *is_finishing) => true,
        };
        let times = MetricTimes { start_ns, now_ns: now_ns() };
        let request = state.metrics.request(resource.clone(), times);
        if let Err(why) = client.send(&request, finishing.clone()).await {
            state.note_problem(why);
        }
        if is_last {
            return;
        }
    }
}

/// The counts of two processes must not be taken for one series.
fn instance_resource(resource: &Resource, start_ns: u64) -> Resource {
    let mut resource = resource.clone();
    let id = format!("{}-{start_ns}", std::process::id());
    if !resource.attributes.iter().any(|known| known.key == "service.instance.id") {
        resource.attributes.push(attribute("service.instance.id", id));
    }
    resource
}

fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
