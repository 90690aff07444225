//! A collector on loopback: it keeps what it is sent, and can misbehave.

// Two test programs use it, and neither uses all of it.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as NumberValue;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

/// What the receiver does with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behaviour {
    Accept,
    Refuse(u16),
    Hang,
}

#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// A receiver that runs until the tests end.
pub(crate) struct OtlpReceiver {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Received>>>,
}

impl OtlpReceiver {
    pub(crate) fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let received = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let received = Arc::clone(&received);
                std::thread::spawn(move || while serve(&stream, &received, behaviour).is_some() {});
            }
        });
        Self { url, requests }
    }

    pub(crate) fn requests(&self) -> Vec<Received> {
        self.requests.lock().unwrap().clone()
    }

    /// Every span that arrived, in order.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let requests = self.requests().into_iter().filter(|request| request.path == "/v1/traces");
        requests.flat_map(|request| spans_of(decode(&request))).collect()
    }

    /// The metrics as they arrived last.
    pub(crate) fn metrics(&self) -> Vec<Metric> {
        let mut requests = self.requests().into_iter().filter(|request| request.path == "/v1/metrics");
        let Some(last) = requests.next_back() else { return Vec::new() };
        let decoded: ExportMetricsServiceRequest = decode(&last);
        let scopes = decoded.resource_metrics.into_iter().flat_map(|resource| resource.scope_metrics);
        scopes.flat_map(|scope| scope.metrics).collect()
    }

    /// The sum over all points of a metric whose attributes have this value among them.
    pub(crate) fn metric(&self, name: &str, label: &str) -> f64 {
        let metrics = self.metrics();
        let Some(data) =
            metrics.iter().find(|metric| metric.name == name).and_then(|metric| metric.data.as_ref())
        else {
            return f64::NAN;
        };
        let is_meant = |attributes: &[KeyValue]| {
            label.is_empty() || attributes.iter().any(|attribute| text_of(attribute) == Some(label))
        };
        match data {
            Data::Histogram(histogram) => histogram
                .data_points
                .iter()
                .filter(|point| is_meant(&point.attributes))
                .filter_map(|point| point.sum)
                .sum(),
            Data::Gauge(gauge) => numbers(&gauge.data_points, is_meant),
            Data::Sum(sum) => numbers(&sum.data_points, is_meant),
            other => panic!("{other:?}"),
        }
    }

    /// Waits for something that a program sends by itself.
    pub(crate) fn wait_until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        for _ in 0..600 {
            if is_so(self) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{what} never arrived: {:?}", self.metrics());
    }
}

fn numbers(
    points: &[opentelemetry_proto::tonic::metrics::v1::NumberDataPoint],
    is_meant: impl Fn(&[KeyValue]) -> bool,
) -> f64 {
    let meant = points.iter().filter(|point| is_meant(&point.attributes));
    meant
        .map(|point| match point.value.unwrap() {
            NumberValue::AsDouble(number) => number,
            NumberValue::AsInt(number) => number as f64,
        })
        .sum()
}

fn decode<M: Message + Default + serde::de::DeserializeOwned>(request: &Received) -> M {
    match request.headers["content-type"].as_str() {
        "application/x-protobuf" => M::decode(request.body.as_slice()).unwrap(),
        "application/json" => serde_json::from_slice(&request.body).unwrap(),
        other => panic!("{other}"),
    }
}

/// The spans of a request.
pub(crate) fn spans_of(request: ExportTraceServiceRequest) -> Vec<Span> {
    let scopes = request.resource_spans.into_iter().flat_map(|resource| resource.scope_spans);
    scopes.flat_map(|scope| scope.spans).collect()
}

fn text_of(attribute: &KeyValue) -> Option<&str> {
    match attribute.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text),
        _ => None,
    }
}

/// An attribute of a span.
pub(crate) fn value<'a>(span: &'a Span, name: &str) -> Option<&'a Value> {
    let found = span.attributes.iter().find(|attribute| attribute.key == name)?;
    found.value.as_ref()?.value.as_ref()
}

/// The sum of a whole number over all spans.
pub(crate) fn sum(spans: &[Span], name: &str) -> i64 {
    let number = |span| match value(span, name) {
        Some(Value::IntValue(number)) => *number,
        _ => 0,
    };
    spans.iter().map(number).sum()
}

fn serve(stream: &TcpStream, received: &Mutex<Vec<Received>>, behaviour: Behaviour) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|bytes| *bytes > 0)?;
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(": ") else { break };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let path = first.split_whitespace().nth(1)?.to_owned();
    received.lock().unwrap().push(Received { path, headers, body });
    let status = match behaviour {
        Behaviour::Accept => 200,
        Behaviour::Refuse(status) => status,
        Behaviour::Hang => loop {
            std::thread::park();
        },
    };
    let (mut writer, body) = (stream, if status == 200 { "" } else { "no room\u{1b}[31m" });
    write!(writer, "HTTP/1.1 {status} x\r\nContent-Length: {}\r\n\r\n{body}", body.len()).ok()
}
