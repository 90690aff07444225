//! The telemetry of this process. It is off unless the environment names a collector, and then nothing of it exists.

use std::sync::{Arc, OnceLock};

use agon_core::LogRecord;
use agon_engine::Store;
use agon_telemetry::settings::{environment_captures_content, resource};
use agon_telemetry::{
    ProblemReport, SpanContent, TelemetryExporter, TelemetrySettings, debate_spans, trace_json,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::app::find_protocol;
use super::errors::CliError;
use super::output;
use super::runtime::{block_on, runtime};

/// `[telemetry]` of the configuration. Addresses and keys are in the standard variables.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TelemetryConfig {
    /// Whether traces carry the question, prompts, replies and the verdict.
    pub content: bool,
}

impl TelemetryConfig {
    /// Whether the user asked for content, here or by the standard variable.
    pub fn captures_content(&self) -> bool {
        self.content || environment_captures_content(&variable)
    }
}

/// How a face tells that telemetry does not work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TelemetryNotes {
    /// Not at all.
    Quiet,
    /// When the process ends, below what it has printed.
    AtTheEnd,
    /// When it is noticed.
    AtOnce,
}

struct ProcessTelemetry {
    exporter: TelemetryExporter,
    notes: TelemetryNotes,
}

static TELEMETRY: OnceLock<Option<ProcessTelemetry>> = OnceLock::new();

/// Starts the exporter if the environment asks for one. Only the first call counts.
pub fn start(config: &TelemetryConfig, notes: TelemetryNotes) {
    TELEMETRY.get_or_init(|| match TelemetrySettings::read(&variable) {
        Ok(settings) => settings.and_then(|settings| start_exporter(config, settings, notes)),
        Err(why) => {
            if notes != TelemetryNotes::Quiet {
                tell(&format!("telemetry is off: {why}"));
            }
            None
        }
    });
}

fn start_exporter(
    config: &TelemetryConfig,
    settings: TelemetrySettings,
    notes: TelemetryNotes,
) -> Option<ProcessTelemetry> {
    // Without a runtime there is no debate either, and whoever starts one says why.
    let runtime = runtime().ok()?;
    let report = match notes {
        TelemetryNotes::AtOnce => ProblemReport::AtOnce(tell),
        TelemetryNotes::Quiet | TelemetryNotes::AtTheEnd => ProblemReport::AtTheEnd,
    };
    let content_of = config.captures_content().then_some(find_protocol as fn(&str) -> _);
    let exporter = TelemetryExporter::start(settings, content_of, report, runtime.handle());
    Some(ProcessTelemetry { exporter, notes })
}

fn running() -> Option<&'static ProcessTelemetry> {
    TELEMETRY.get()?.as_ref()
}

/// The store that an engine should write to: the same one if telemetry is off.
pub fn observed(store: Arc<dyn Store>) -> Arc<dyn Store> {
    match running() {
        Some(telemetry) => telemetry.exporter.observe(store),
        None => store,
    }
}

/// Says how many debates wait until they may run.
pub fn set_queue_length(debates: usize) {
    if let Some(telemetry) = running() {
        telemetry.exporter.set_queue_length(debates as u64);
    }
}

/// Sends what is left before the process ends, for a few seconds at most.
pub fn finish() {
    let Some(telemetry) = running() else { return };
    let problem = block_on(telemetry.exporter.finish()).ok().flatten();
    if let Some(problem) = problem.filter(|_| telemetry.notes != TelemetryNotes::Quiet) {
        tell(&problem);
    }
}

/// The trace of a debate as a file that collectors read: OTLP in JSON.
pub fn trace_document(records: &[LogRecord], config: &TelemetryConfig) -> Result<String, CliError> {
    let opened = agon_core::Debate::from_records(records.get(..1).unwrap_or_default());
    let unreadable = |why: agon_core::Corrupt| CliError::System(why.to_string());
    let protocol = find_protocol(&opened.map_err(unreadable)?.brief.protocol);
    let content = match protocol.filter(|_| config.captures_content()) {
        Some(protocol) => SpanContent::Captured(protocol),
        None => SpanContent::Omitted,
    };
    let spans = debate_spans(records, content).map_err(unreadable)?;
    let text = trace_json(spans, resource(&variable)?);
    let text = text.map_err(|why| CliError::System(format!("the trace cannot be written as JSON: {why}")))?;
    Ok(format!("{text}\n"))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn tell(sentence: &str) {
    output::note(&format!("note: {sentence}"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_store::DebateStore;

    #[test]
    fn without_a_collector_the_engine_writes_to_the_store_itself() {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> =
            Arc::new(DebateStore::open(folder.path().join("agon.db").as_path()).unwrap());
        assert!(std::env::var("OTEL_EXPORTER_OTLP_ENDPOINT").is_err(), "the tests run without a collector");
        start(&TelemetryConfig::default(), TelemetryNotes::AtTheEnd);
        assert!(running().is_none(), "no exporter, so no task and no queue");
        assert!(Arc::ptr_eq(&observed(store.clone()), &store));
    }
}
