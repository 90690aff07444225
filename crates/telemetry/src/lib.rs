//! Traces and metrics for whoever runs debates, by OTLP.
//!
//! A trace is a reading of the log, like a report. Its ids are hashes, so a debate that was resumed, moved to another process or exported
//! again has the same spans. Nothing here can slow down or end a debate. A tour, in reading order:
//!
//! - [`conventions`]: the names of spans, attributes and metrics.
//! - [`debate_spans`]: the spans of a log. A pure function.
//! - [`live_metrics`]: counts what happens while debates run.
//! - [`settings`]: the standard variables of OpenTelemetry.
//! - [`observed_store`]: a store that tells the exporter what the engine writes. The engine knows nothing of it.
//! - [`exporter`]: sends spans and metrics in the background.

#![warn(missing_docs)]

pub mod conventions;
pub mod debate_spans;
pub mod exporter;
pub mod live_metrics;
mod observed_store;
mod otlp_client;
pub mod settings;

pub use debate_spans::{SpanContent, debate_spans, trace_id, trace_json};
pub use exporter::{ProblemReport, TelemetryExporter};
pub use live_metrics::LiveMetrics;
pub use settings::TelemetrySettings;
