//! The standard variables of OpenTelemetry. `OTEL_EXPORTER_OTLP_ENDPOINT` switches telemetry on.

use std::time::Duration;

use agon_core::Invalid;
use opentelemetry_proto::tonic::resource::v1::Resource;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::conventions::attribute;

const DEFAULT_TIMEOUT_MS: u64 = 10_000;
const DEFAULT_INTERVAL_MS: u64 = 60_000;
const SERVICE_NAME: &str = "service.name";

/// Where telemetry goes.
#[derive(Debug, Clone)]
pub struct TelemetrySettings {
    /// Where spans go.
    pub traces: Option<SignalTarget>,
    /// Where metrics go.
    pub metrics: Option<SignalTarget>,
    /// What the receiver is told about this program.
    pub resource: Resource,
    /// How often metrics are sent.
    pub metric_interval: Duration,
}

/// Where one kind of telemetry goes.
#[derive(Debug, Clone)]
pub struct SignalTarget {
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) timeout: Duration,
    pub(crate) encoding: OtlpEncoding,
}

/// The two encodings of OTLP over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OtlpEncoding {
    Protobuf,
    Json,
}

/// Reads a variable. Empty means that it is not set.
type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

impl TelemetrySettings {
    /// What the environment says. `None` if telemetry is off. A sentence if a variable cannot be used.
    pub fn read(env: &dyn Fn(&str) -> Option<String>) -> Result<Option<Self>, Invalid> {
        let env: Environment<'_> =
            &|name| env(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        if env("OTEL_SDK_DISABLED").is_some_and(|text| text.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let traces = SignalTarget::read(env, "TRACES", "v1/traces")?;
        let metrics = SignalTarget::read(env, "METRICS", "v1/metrics")?;
        if traces.is_none() && metrics.is_none() {
            return Ok(None);
        }
        let interval_ms = milliseconds(env, "OTEL_METRIC_EXPORT_INTERVAL")?.unwrap_or(DEFAULT_INTERVAL_MS);
        Ok(Some(Self {
            traces,
            metrics,
            resource: resource(env)?,
            metric_interval: Duration::from_millis(interval_ms),
        }))
    }
}

/// Whether the environment asks for prompts and replies in spans.
pub fn environment_captures_content(env: &dyn Fn(&str) -> Option<String>) -> bool {
    env("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT")
        .is_some_and(|text| text.trim().eq_ignore_ascii_case("true"))
}

/// What a receiver is told about this program: its name, its version and what `OTEL_RESOURCE_ATTRIBUTES` adds.
pub fn resource(env: &dyn Fn(&str) -> Option<String>) -> Result<Resource, Invalid> {
    const NAME: &str = "OTEL_RESOURCE_ATTRIBUTES";
    let mut attributes: Vec<(String, String)> = vec![
        (SERVICE_NAME.to_owned(), "agon".to_owned()),
        ("service.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
    ];
    let mut set = |key: String, value: String| match attributes.iter_mut().find(|(known, _)| *known == key) {
        Some(place) => place.1 = value,
        None => attributes.push((key, value)),
    };
    for (key, value) in env(NAME).map(|text| pairs(NAME, &text)).transpose()?.unwrap_or_default() {
        set(key, value);
    }
    if let Some(name) = env("OTEL_SERVICE_NAME").filter(|name| !name.trim().is_empty()) {
        set(SERVICE_NAME.to_owned(), name);
    }
    let attributes = attributes.into_iter().map(|(key, value)| attribute(&key, value)).collect();
    Ok(Resource { attributes, ..Resource::default() })
}

impl SignalTarget {
    /// A variable of this signal comes before the one of both.
    fn read(env: Environment<'_>, signal: &str, path: &str) -> Result<Option<Self>, Invalid> {
        if env(&format!("OTEL_{signal}_EXPORTER")).is_some_and(|text| text.eq_ignore_ascii_case("none")) {
            return Ok(None);
        }
        let own = |name: &str| format!("OTEL_EXPORTER_OTLP_{signal}_{name}");
        let shared = |name: &str| format!("OTEL_EXPORTER_OTLP_{name}");
        let name_of = |name: &str| if env(&own(name)).is_some() { own(name) } else { shared(name) };
        let endpoint_name = name_of("ENDPOINT");
        let Some(endpoint) = env(&endpoint_name) else { return Ok(None) };
        // An endpoint for both is the folder above the two paths. An endpoint of one signal is used as it is.
        let address = match endpoint_name == own("ENDPOINT") {
            true => endpoint,
            false => format!("{}/{path}", endpoint.trim_end_matches('/')),
        };
        let url = Url::parse(&address).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let url = url.filter(Url::has_host).ok_or_else(|| {
            Invalid(format!("{endpoint_name} is not an address: write http://HOST:PORT, for instance http://127.0.0.1:4318"))
        })?;
        let timeout_ms = milliseconds(env, &name_of("TIMEOUT"))?.unwrap_or(DEFAULT_TIMEOUT_MS);
        Ok(Some(Self {
            url,
            headers: headers(env, &name_of("HEADERS"))?,
            timeout: Duration::from_millis(timeout_ms),
            encoding: encoding(env, &name_of("PROTOCOL"))?,
        }))
    }

    /// The address without anything that may be a secret.
    pub(crate) fn shown(&self) -> String {
        format!("{}{}", self.url.origin().ascii_serialization(), self.url.path())
    }
}

fn encoding(env: Environment<'_>, name: &str) -> Result<OtlpEncoding, Invalid> {
    match env(name).as_deref() {
        None | Some("http/protobuf") => Ok(OtlpEncoding::Protobuf),
        Some("http/json") => Ok(OtlpEncoding::Json),
        Some("grpc") => Err(Invalid(format!(
            "{name} is grpc, which agon does not speak: use http/protobuf and the collector's HTTP port, usually 4318"
        ))),
        Some(_) => Err(Invalid(format!("{name} must be http/protobuf or http/json"))),
    }
}

fn headers(env: Environment<'_>, name: &str) -> Result<HeaderMap, Invalid> {
    let mut headers = HeaderMap::new();
    for (key, value) in env(name).map(|text| pairs(name, &text)).transpose()?.unwrap_or_default() {
        // The value may be a key, so no message shows it.
        let wrong =
            || Invalid(format!("{name} has a header that cannot be sent: write NAME=VALUE,NAME=VALUE"));
        let header = HeaderName::from_bytes(key.as_bytes()).map_err(|_| wrong())?;
        let mut value = HeaderValue::from_str(&value).map_err(|_| wrong())?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}

fn milliseconds(env: Environment<'_>, name: &str) -> Result<Option<u64>, Invalid> {
    let parse = |text: String| text.parse().ok().filter(|ms| *ms > 0);
    let wrong = || Invalid(format!("{name} must be a number of milliseconds that is more than 0"));
    env(name).map(|text| parse(text).ok_or_else(wrong)).transpose()
}

/// `key=value,key=value`, with percent signs before what would otherwise end a value.
fn pairs(name: &str, text: &str) -> Result<Vec<(String, String)>, Invalid> {
    let wrong = || Invalid(format!("{name} must be a list such as NAME=VALUE,NAME=VALUE"));
    let pair = |part: &str| {
        let (key, value) = part.split_once('=').ok_or_else(wrong)?;
        let key = key.trim();
        if key.is_empty() {
            return Err(wrong());
        }
        Ok((key.to_owned(), percent_decoded(value.trim()).ok_or_else(wrong)?))
    };
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(pair).collect()
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Option<TelemetrySettings>, Invalid> {
        let env =
            |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        TelemetrySettings::read(&env)
    }

    const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/");

    #[test]
    fn nothing_is_on_without_an_endpoint() {
        for pairs in [
            &[][..],
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", "")],
            &[ENDPOINT, ("OTEL_SDK_DISABLED", "true")],
            &[ENDPOINT, ("OTEL_TRACES_EXPORTER", "none"), ("OTEL_METRICS_EXPORTER", "none")],
            &[("OTEL_EXPORTER_OTLP_HEADERS", "a=b"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")],
        ] {
            assert!(read(pairs).unwrap().is_none(), "{pairs:?}");
        }
    }

    #[test]
    fn an_endpoint_of_one_signal_is_used_as_it_is() {
        let both = read(&[ENDPOINT]).unwrap().unwrap();
        assert_eq!(both.traces.unwrap().url.as_str(), "http://collector:4318/v1/traces");
        assert_eq!(both.metrics.unwrap().url.as_str(), "http://collector:4318/v1/metrics");
        let own = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://other/here?x=1");
        let one = read(&[own]).unwrap().unwrap();
        assert!(one.metrics.is_none());
        let traces = one.traces.unwrap();
        assert_eq!(traces.url.as_str(), "https://other/here?x=1");
        assert_eq!(traces.shown(), "https://other/here", "a query may hold a key");
        assert_eq!(
            read(&[ENDPOINT, own]).unwrap().unwrap().traces.unwrap().url.as_str(),
            "https://other/here?x=1"
        );
    }

    #[test]
    fn headers_timeouts_and_encodings_are_read_for_both_or_for_one_signal() {
        let settings = read(&[
            ENDPOINT,
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20abc, x-team = blue"),
            ("OTEL_EXPORTER_OTLP_METRICS_HEADERS", "x-team=red"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "250"),
            ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"),
        ]);
        let settings = settings.unwrap().unwrap();
        let (traces, metrics) = (settings.traces.unwrap(), settings.metrics.unwrap());
        assert_eq!(traces.headers["authorization"], "Bearer abc");
        assert_eq!(traces.headers["x-team"], "blue");
        assert!(!format!("{traces:?}").contains("abc"), "a header may be a key");
        assert_eq!(metrics.headers["x-team"], "red");
        assert_eq!(traces.timeout, Duration::from_millis(250));
        assert_eq!((traces.encoding, metrics.encoding), (OtlpEncoding::Json, OtlpEncoding::Protobuf));
    }

    #[test]
    fn the_name_of_the_service_can_be_set() {
        let resource_of = |pairs: &[(&str, &str)]| {
            let settings = read(&[&[ENDPOINT], pairs].concat()).unwrap().unwrap();
            serde_json::to_string(&settings.resource).unwrap()
        };
        assert!(resource_of(&[]).contains(r#""stringValue":"agon""#));
        let listed = ("OTEL_RESOURCE_ATTRIBUTES", "service.name=one,deployment.environment.name=test");
        assert!(resource_of(&[listed]).contains(r#""stringValue":"one""#));
        assert!(resource_of(&[listed]).contains("deployment.environment.name"));
        let named = resource_of(&[listed, ("OTEL_SERVICE_NAME", "two")]);
        assert!(named.contains(r#""stringValue":"two""#) && !named.contains(r#""stringValue":"one""#));
    }

    #[test]
    fn what_cannot_be_used_is_a_sentence_without_a_secret() {
        for (pair, wants) in [
            (("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), "which agon does not speak"),
            (("OTEL_EXPORTER_OTLP_PROTOCOL", "smoke"), "must be http/protobuf or http/json"),
            (("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"), "is not an address"),
            (("OTEL_EXPORTER_OTLP_HEADERS", "secret"), "NAME=VALUE"),
            (("OTEL_EXPORTER_OTLP_HEADERS", "a=sec%0aret"), "cannot be sent"),
            (("OTEL_EXPORTER_OTLP_TIMEOUT", "soon"), "milliseconds"),
            (("OTEL_METRIC_EXPORT_INTERVAL", "0"), "milliseconds"),
        ] {
            let mistake = read(&[pair, ENDPOINT]).unwrap_err().to_string();
            assert!(mistake.contains(wants) && mistake.contains(pair.0), "{mistake}");
            assert!(!mistake.contains("secret") && !mistake.contains("ret\n"), "{mistake}");
        }
    }
}
