//! Counts what happens while debates run, from the records that the engine appends.
//!
//! Numbers are cumulative since the process started, as OTLP's default asks.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agon_core::{CallUsage, Event, LogEntry, LogRecord, Reply, Status};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as NumberValue;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint, ResourceMetrics,
    ScopeMetrics, Sum,
};
use opentelemetry_proto::tonic::resource::v1::Resource;

use crate::conventions::{AskOperation, attribute, names, provider_and_model, scope};

/// The bounds that the conventions advise, in seconds.
const DURATION_BOUNDS_S: &[f64] =
    &[0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
/// The bounds that the conventions advise, in tokens.
const TOKEN_BOUNDS: &[f64] = &[
    1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0, 16384.0, 65536.0, 262144.0, 1048576.0, 4194304.0,
    16777216.0, 67108864.0,
];
const COMMIT_BOUNDS_S: &[f64] =
    &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// The counts of this process.
#[derive(Debug, Default)]
pub struct LiveMetrics(Mutex<MetricState>);

#[derive(Debug, Default)]
struct MetricState {
    running: HashMap<String, RunningDebate>,
    queued: u64,
    durations_s: BTreeMap<MetricLabels, ValueCounts>,
    tokens: BTreeMap<MetricLabels, ValueCounts>,
    commits_s: BTreeMap<MetricLabels, ValueCounts>,
    cost_usd: BTreeMap<MetricLabels, f64>,
    ended: BTreeMap<MetricLabels, u64>,
}

/// What tells one series of a metric from another.
type MetricLabels = Vec<(&'static str, String)>;

/// A debate that this process has leased.
#[derive(Debug, Default)]
struct RunningDebate {
    protocol: String,
    /// Whether this run wrote anything.
    has_written: bool,
    /// The calls under way, by ask.
    calls: HashMap<u32, OpenCall>,
}

#[derive(Debug)]
struct OpenCall {
    model: String,
    sent_at_ms: u64,
}

/// What the metrics need of the records of one append.
#[derive(Debug)]
pub struct AppendedEvents(Vec<SeenEvent>);

#[derive(Debug)]
enum SeenEvent {
    Opened { protocol: String },
    Sent { ask: u32, call: OpenCall },
    CallEnded { ask: u32, at_ms: u64, usage: Option<CallUsage>, error: Option<&'static str> },
    Closed { status: Status },
}

impl AppendedEvents {
    /// Reads records before they go to the store.
    pub fn of(records: &[LogRecord]) -> Self {
        Self(records.iter().filter_map(|record| seen_event(&record.entry)).collect())
    }

    /// Whether the debate is over with them.
    pub fn closes(&self) -> bool {
        matches!(self.0.last(), Some(SeenEvent::Closed { .. }))
    }
}

fn seen_event(entry: &LogEntry) -> Option<SeenEvent> {
    let at_ms = entry.at_ms;
    Some(match &entry.event {
        Event::Opened { brief } => SeenEvent::Opened { protocol: brief.protocol.clone() },
        Event::Sent { ask, model, .. } => {
            SeenEvent::Sent { ask: *ask, call: OpenCall { model: model.clone(), sent_at_ms: at_ms } }
        }
        Event::Attempted { ask, why, usage, .. } => {
            SeenEvent::CallEnded { ask: *ask, at_ms, usage: Some(*usage), error: Some(why.as_str()) }
        }
        Event::Replied { ask, reply: Reply::Said { usage, .. } } => {
            SeenEvent::CallEnded { ask: *ask, at_ms, usage: Some(*usage), error: None }
        }
        Event::Replied { ask, reply: Reply::Absent { why, .. } } => {
            SeenEvent::CallEnded { ask: *ask, at_ms, usage: None, error: Some(why.as_str()) }
        }
        Event::Closed { outcome } => SeenEvent::Closed { status: outcome.status },
        Event::Asked { .. } | Event::Interjected { .. } => return None,
    })
}

impl LiveMetrics {
    fn state(&self) -> MutexGuard<'_, MetricState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A stored debate was leased.
    pub fn begin(&self, debate: &str) {
        self.state().running.insert(debate.to_owned(), RunningDebate::default());
    }

    /// A leased debate was loaded.
    pub fn loaded(&self, debate: &str, records: &[LogRecord]) {
        let Some(Event::Opened { brief }) = records.first().map(|record| &record.entry.event) else { return };
        if let Some(running) = self.state().running.get_mut(debate) {
            running.protocol.clone_from(&brief.protocol);
        }
    }

    /// Records of a debate are durable.
    pub fn appended(&self, debate: &str, events: AppendedEvents, took: Duration) {
        let mut state = self.state();
        state.commits_s.entry(Vec::new()).or_default().add(COMMIT_BOUNDS_S, took.as_secs_f64());
        // It is taken out while it is counted, because the counts are in the same state.
        let mut running = state.running.remove(debate).unwrap_or_default();
        running.has_written = true;
        let mut is_over = false;
        for event in events.0 {
            match event {
                SeenEvent::Opened { protocol } => running.protocol = protocol,
                SeenEvent::Sent { ask, call } => drop(running.calls.insert(ask, call)),
                SeenEvent::CallEnded { ask, at_ms, usage, error } => {
                    if let Some(call) = running.calls.remove(&ask) {
                        state.count_call(&call, at_ms, usage.unwrap_or_default(), error);
                    }
                }
                SeenEvent::Closed { status } => {
                    is_over = true;
                    state.count_end(&running, status.as_str());
                }
            }
        }
        if !is_over {
            state.running.insert(debate.to_owned(), running);
        }
    }

    /// The lease of a debate ended before the debate did. Returns whether this run wrote anything.
    pub fn interrupted(&self, debate: &str) -> bool {
        let mut state = self.state();
        let Some(running) = state.running.remove(debate) else { return false };
        if running.has_written {
            state.count_end(&running, "interrupted");
        }
        running.has_written
    }

    /// How many debates wait until they may run.
    pub fn set_queue_length(&self, debates: u64) {
        self.state().queued = debates;
    }

    /// All metrics as a request to a collector.
    pub fn request(&self, resource: Resource, times: MetricTimes) -> ExportMetricsServiceRequest {
        let state = self.state();
        let asks = || state.running.values().flat_map(|debate| debate.calls.values());
        let waiting = state.running.values().filter(|debate| debate.waits_for_person()).count() as u64;
        let in_flight = asks().filter(|call| call.operation() != AskOperation::Person).count() as u64;
        let states = [("running", state.running.len() as u64 - waiting), ("waiting", waiting)];
        let states = states.map(|(name, count)| (vec![(names::STATE, name.to_owned())], count));
        let metrics = vec![
            times.histogram(names::OPERATION_DURATION, "s", DURATION_BOUNDS_S, &state.durations_s),
            times.histogram(names::TOKEN_USAGE, "{token}", TOKEN_BOUNDS, &state.tokens),
            times.histogram(names::COMMIT_DURATION, "s", COMMIT_BOUNDS_S, &state.commits_s),
            times.sum(names::COST_USD, "{USD}", state.cost_usd.iter().map(|(labels, usd)| (labels, *usd))),
            times.sum(names::DEBATES_ENDED, "{debate}", state.ended.iter().map(|(labels, n)| (labels, *n))),
            times.gauge(names::DEBATES, "{debate}", &states),
            times.gauge(names::CALLS_IN_FLIGHT, "{call}", &[(Vec::new(), in_flight)]),
            times.gauge(names::QUEUE_LENGTH, "{debate}", &[(Vec::new(), state.queued)]),
        ];
        let metrics = metrics.into_iter().flatten().collect();
        let scope_metrics = ScopeMetrics { scope: Some(scope()), metrics, ..ScopeMetrics::default() };
        let resource_metrics = ResourceMetrics {
            resource: Some(resource),
            scope_metrics: vec![scope_metrics],
            ..ResourceMetrics::default()
        };
        ExportMetricsServiceRequest { resource_metrics: vec![resource_metrics] }
    }
}

impl RunningDebate {
    fn waits_for_person(&self) -> bool {
        self.calls.values().any(|call| call.operation() == AskOperation::Person)
    }
}

impl OpenCall {
    fn operation(&self) -> AskOperation {
        AskOperation::of_model(&self.model)
    }
}

impl MetricState {
    fn count_call(&mut self, call: &OpenCall, at_ms: u64, usage: CallUsage, error: Option<&'static str>) {
        let operation = call.operation();
        if !operation.is_of_model() {
            return;
        }
        let (provider, model) = provider_and_model(&call.model);
        let labels = vec![
            (names::OPERATION, operation.as_str().to_owned()),
            (names::PROVIDER, provider.to_owned()),
            (names::REQUEST_MODEL, model.to_owned()),
        ];
        for (kind, tokens) in [("input", usage.input_tokens), ("output", usage.output_tokens)] {
            if tokens > 0 {
                let mut labels = labels.clone();
                labels.push((names::TOKEN_TYPE, kind.to_owned()));
                self.tokens.entry(labels).or_default().add(TOKEN_BOUNDS, tokens as f64);
            }
        }
        if let Some(usd) = usage.usd {
            *self.cost_usd.entry(labels.clone()).or_default() += usd;
        }
        let mut labels = labels;
        labels.extend(error.map(|error| (names::ERROR_TYPE, error.to_owned())));
        let took = Duration::from_millis(at_ms.saturating_sub(call.sent_at_ms));
        self.durations_s.entry(labels).or_default().add(DURATION_BOUNDS_S, took.as_secs_f64());
    }

    fn count_end(&mut self, debate: &RunningDebate, status: &str) {
        let labels = vec![(names::PROTOCOL, debate.protocol.clone()), (names::STATUS, status.to_owned())];
        *self.ended.entry(labels).or_default() += 1;
    }
}

/// How often values fell between which bounds.
#[derive(Debug, Default)]
struct ValueCounts {
    buckets: Vec<u64>,
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
}

impl ValueCounts {
    fn add(&mut self, bounds: &[f64], value: f64) {
        if self.count == 0 {
            self.buckets = vec![0; bounds.len() + 1];
            (self.min, self.max) = (value, value);
        }
        let place = bounds.iter().position(|bound| value <= *bound).unwrap_or(bounds.len());
        if let Some(bucket) = self.buckets.get_mut(place) {
            *bucket += 1;
        }
        self.count += 1;
        self.sum += value;
        (self.min, self.max) = (self.min.min(value), self.max.max(value));
    }
}

/// When counting began, and now.
#[derive(Debug, Clone, Copy)]
pub struct MetricTimes {
    /// Nanoseconds since 1970.
    pub start_ns: u64,
    /// Nanoseconds since 1970.
    pub now_ns: u64,
}

/// The value of a point.
trait PointValue: Copy {
    fn value(self) -> NumberValue;
}

impl PointValue for f64 {
    fn value(self) -> NumberValue {
        NumberValue::AsDouble(self)
    }
}

impl PointValue for u64 {
    fn value(self) -> NumberValue {
        NumberValue::AsInt(i64::try_from(self).unwrap_or(i64::MAX))
    }
}

fn attributes(labels: &MetricLabels) -> Vec<KeyValue> {
    labels.iter().map(|(key, value)| attribute(key, value.as_str())).collect()
}

/// Metrics without a point are omitted.
impl MetricTimes {
    fn point<N: PointValue>(self, labels: &MetricLabels, number: N) -> NumberDataPoint {
        NumberDataPoint {
            attributes: attributes(labels),
            start_time_unix_nano: self.start_ns,
            time_unix_nano: self.now_ns,
            value: Some(number.value()),
            ..NumberDataPoint::default()
        }
    }

    fn gauge(self, name: &str, unit: &str, series: &[(MetricLabels, u64)]) -> Option<Metric> {
        let data_points = series.iter().map(|(labels, number)| self.point(labels, *number)).collect();
        metric(name, unit, Data::Gauge(Gauge { data_points }))
    }

    fn sum<'a, N: PointValue>(
        self,
        name: &str,
        unit: &str,
        series: impl Iterator<Item = (&'a MetricLabels, N)>,
    ) -> Option<Metric> {
        let data_points: Vec<_> = series.map(|(labels, number)| self.point(labels, number)).collect();
        if data_points.is_empty() {
            return None;
        }
        let aggregation_temporality = AggregationTemporality::Cumulative.into();
        metric(name, unit, Data::Sum(Sum { data_points, aggregation_temporality, is_monotonic: true }))
    }

    fn histogram(
        self,
        name: &str,
        unit: &str,
        bounds: &[f64],
        series: &BTreeMap<MetricLabels, ValueCounts>,
    ) -> Option<Metric> {
        let point = |(labels, counts): (&MetricLabels, &ValueCounts)| HistogramDataPoint {
            attributes: attributes(labels),
            start_time_unix_nano: self.start_ns,
            time_unix_nano: self.now_ns,
            count: counts.count,
            sum: Some(counts.sum),
            bucket_counts: counts.buckets.clone(),
            explicit_bounds: bounds.to_vec(),
            min: Some(counts.min),
            max: Some(counts.max),
            ..HistogramDataPoint::default()
        };
        let data_points: Vec<_> = series.iter().map(point).collect();
        if data_points.is_empty() {
            return None;
        }
        let aggregation_temporality = AggregationTemporality::Cumulative.into();
        metric(name, unit, Data::Histogram(Histogram { data_points, aggregation_temporality }))
    }
}

fn metric(name: &str, unit: &str, data: Data) -> Option<Metric> {
    Some(Metric { name: name.to_owned(), unit: unit.to_owned(), data: Some(data), ..Metric::default() })
}

#[cfg(test)]
mod tests {
    use agon_core::{AbsenceReason, AskRecord, Brief, Debate};
    use serde_json::Value;

    use super::*;

    /// A debate with one phase of two asks, as its engine writes it: one append at a time.
    struct WrittenDebate(Debate);

    impl WrittenDebate {
        fn open(metrics: &LiveMetrics, models: [&str; 2]) -> Self {
            let brief: Brief = serde_json::from_value(serde_json::json!({
                "version": agon_core::LOG_VERSION, "id": "d1", "protocol": "example", "question": "q", "options": {}, "seats": [],
                "seed": 1, "nonce": "n", "limits": agon_core::DebateLimits::default(), "templates": {},
                "created_at": "2026-01-01T00:00:00Z",
            }))
            .unwrap();
            let (debate, opened) = Debate::open(brief).unwrap();
            metrics.appended("d1", AppendedEvents::of(&[opened]), Duration::from_millis(3));
            let mut written = Self(debate);
            let ask = |(id, model): (u32, &str)| AskRecord {
                id,
                seat: "s".into(),
                model: model.into(),
                label: None,
                about: None,
                schema: None,
                repeats: None,
                prompt: String::new(),
            };
            let asks = (1..).zip(models).map(ask).collect();
            written.write(metrics, 0, Event::Asked { phase: "p".into(), round: 0, asks });
            for (ask, model) in (1..).zip(models) {
                written.write(metrics, 100, sent(ask, 1, model));
            }
            written
        }

        fn write(&mut self, metrics: &LiveMetrics, at_ms: u64, event: Event) {
            let record = self.0.push(event, at_ms).unwrap();
            metrics.appended("d1", AppendedEvents::of(&[record]), Duration::from_millis(3));
        }
    }

    fn sent(ask: u32, attempt: u32, model: &str) -> Event {
        let (worst_usd, worst_tokens, errand) = (None, 0, false);
        Event::Sent { ask, attempt, model: model.into(), worst_usd, worst_tokens, errand }
    }

    fn said(ask: u32, model: &str) -> Event {
        let usage = CallUsage { input_tokens: 50, output_tokens: 5, usd: Some(0.25), ..CallUsage::default() };
        let (text, value, model) = ("yes".into(), None, model.into());
        Event::Replied {
            ask,
            reply: Reply::Said { text, value, model, usage, cut_off: false, shortened: None },
        }
    }

    /// The points of a metric: attributes and values, as JSON shows them.
    fn points(metrics: &LiveMetrics, name: &str) -> Vec<(String, Value)> {
        let times = MetricTimes { start_ns: 1, now_ns: 2 };
        let request = serde_json::to_value(metrics.request(Resource::default(), times)).unwrap();
        let found = request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap().clone();
        let Some(metric) = found.into_iter().find(|metric| metric["name"] == name) else { return Vec::new() };
        let data = ["gauge", "sum", "histogram"].iter().find_map(|kind| metric.get(kind)).unwrap().clone();
        let labels = |point: &Value| {
            let labels = point["attributes"].as_array().unwrap().iter();
            labels.map(|label| label["value"]["stringValue"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
        };
        data["dataPoints"].as_array().unwrap().iter().map(|point| (labels(point), point.clone())).collect()
    }

    fn gauge(metrics: &LiveMetrics, name: &str) -> Vec<(String, String)> {
        let shown = |(labels, point): (String, Value)| (labels, point["asInt"].to_string().replace('"', ""));
        points(metrics, name).into_iter().map(shown).collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn calls_are_in_flight_until_they_end_and_then_counted() {
        let metrics = LiveMetrics::default();
        let mut debate = WrittenDebate::open(&metrics, ["openai/gpt-5", "openai/gpt-5"]);
        assert_eq!(gauge(&metrics, "agon.calls.in_flight"), pairs(&[("", "2")]));
        assert!(points(&metrics, "gen_ai.client.operation.duration").is_empty());
        debate.write(&metrics, 1_100, said(1, "openai/gpt-5"));
        let failed = Event::Attempted {
            ask: 2,
            attempt: 1,
            why: AbsenceReason::Unreachable,
            detail: String::new(),
            text: None,
            unverified: false,
            usage: CallUsage::default(),
        };
        debate.write(&metrics, 2_100, failed);
        assert_eq!(gauge(&metrics, "agon.calls.in_flight"), pairs(&[("", "0")]));
        let durations = points(&metrics, "gen_ai.client.operation.duration");
        let seconds: Vec<(&str, &Value)> =
            durations.iter().map(|(labels, point)| (labels.as_str(), &point["sum"])).collect();
        assert_eq!(
            seconds,
            [("chat openai gpt-5", &Value::from(1.0)), ("chat openai gpt-5 unreachable", &Value::from(2.0))]
        );
        let tokens = points(&metrics, "gen_ai.client.token.usage");
        let tokens: Vec<(&str, &Value)> =
            tokens.iter().map(|(labels, point)| (labels.as_str(), &point["sum"])).collect();
        assert_eq!(
            tokens,
            [
                ("chat openai gpt-5 input", &Value::from(50.0)),
                ("chat openai gpt-5 output", &Value::from(5.0))
            ]
        );
        assert_eq!(points(&metrics, "agon.cost.usd")[0].1["asDouble"], 0.25);
        let buckets = &durations[0].1["bucketCounts"];
        assert_eq!(buckets.as_array().unwrap().iter().position(|count| count == "1"), Some(7), "1.0 <= 1.28");
    }

    #[test]
    fn a_debate_that_asks_a_person_waits() {
        let metrics = LiveMetrics::default();
        let mut debate = WrittenDebate::open(&metrics, ["human/ada", "openai/gpt-5"]);
        metrics.set_queue_length(4);
        assert_eq!(gauge(&metrics, "agon.debates"), pairs(&[("running", "0"), ("waiting", "1")]));
        assert_eq!(gauge(&metrics, "agon.calls.in_flight"), pairs(&[("", "1")]));
        assert_eq!(gauge(&metrics, "agon.queue.length"), pairs(&[("", "4")]));
        debate.write(&metrics, 9_000, said(1, "human/ada"));
        assert_eq!(gauge(&metrics, "agon.debates"), pairs(&[("running", "1"), ("waiting", "0")]));
        assert!(points(&metrics, "gen_ai.client.token.usage").is_empty(), "a person is no model");
    }

    #[test]
    fn a_run_that_wrote_nothing_is_not_told_of() {
        let metrics = LiveMetrics::default();
        metrics.begin("d1");
        assert_eq!(gauge(&metrics, "agon.debates")[0].1, "1");
        assert!(!metrics.interrupted("d1"), "such as the resume of a debate that is over");
        drop(WrittenDebate::open(&metrics, ["openai/gpt-5", "openai/gpt-5"]));
        assert!(metrics.interrupted("d1"));
        assert_eq!(gauge(&metrics, "agon.debates.ended"), pairs(&[("example interrupted", "1")]));
        assert_eq!(gauge(&metrics, "agon.debates")[0].1, "0");
        assert_eq!(gauge(&metrics, "agon.calls.in_flight")[0].1, "0", "its calls are lost");
        assert!(points(&metrics, "agon.store.commit.duration")[0].1["count"].is_string());
    }
}
