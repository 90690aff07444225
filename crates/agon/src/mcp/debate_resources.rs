//! Debates as resources: `agon://debate/ID` is the report, `/log` the log, `/receipt` a signed receipt.

use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde_json::json;

use super::debate_result::debate_uri;
use super::token_limits::cut_text;
use crate::cli::app::DebateHandle;
use crate::cli::receipts::issue_receipt;
use crate::cli::verbs::export::export_text;
use crate::cli::verification::log_line;
use crate::hosting::host_error::HostError;
use crate::hosting::{DebateHost, blocking};

/// How many of the newest debates are listed.
const LISTED: usize = 30;
const NAME_BYTES: usize = 120;
/// The longest resource.
pub const RESOURCE_BYTES_MAX: usize = 1024 * 1024;

/// What of a debate a resource is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResourceKind {
    Report,
    Log,
    Receipt,
}

impl ResourceKind {
    const ALL: [Self; 3] = [Self::Report, Self::Log, Self::Receipt];

    fn ending(self) -> &'static str {
        match self {
            Self::Report => "",
            Self::Log => "/log",
            Self::Receipt => "/receipt",
        }
    }

    fn mime_type(self) -> &'static str {
        match self {
            Self::Report => "text/markdown",
            Self::Log => "application/x-ndjson",
            Self::Receipt => "application/json",
        }
    }

    fn about(self) -> (&'static str, &'static str) {
        match self {
            Self::Report => ("Report", "The report of a debate as Markdown."),
            Self::Log => ("Log", "Every event of a debate with its hash, one JSON object per line."),
            Self::Receipt => ("Receipt", "A signed receipt with the log. `agon verify` checks it anywhere."),
        }
    }
}

/// The reports of the newest debates.
pub async fn listed_resources(host: &DebateHost) -> Result<Vec<Resource>, HostError> {
    let newest = host.read_store(|store| store.list_debates(Some(LISTED))).await?;
    let resource = |debate: agon_store::ListedDebate| {
        let name = cut_text(&debate.question.replace('\n', " "), NAME_BYTES, "more in the report");
        let about = format!("{}, {}, {}", debate.protocol, debate.status, debate.created_at);
        Resource::new(debate_uri(&debate.id), name)
            .with_description(about)
            .with_mime_type(ResourceKind::Report.mime_type())
    };
    Ok(newest.into_iter().map(resource).collect())
}

/// The templates of all resources.
pub fn resource_templates() -> Vec<ResourceTemplate> {
    let template = |kind: ResourceKind| {
        let (name, about) = kind.about();
        ResourceTemplate::new(format!("{}{}", debate_uri("{id}"), kind.ending()), name)
            .with_description(about)
            .with_mime_type(kind.mime_type())
    };
    ResourceKind::ALL.map(template).to_vec()
}

/// The content of a resource.
pub async fn read_resource(host: &DebateHost, uri: &str) -> Result<ResourceContents, HostError> {
    let unknown = || {
        HostError::not_found(format!(
            "there is no resource {uri:?}: use agon://debate/ID, agon://debate/ID/log or agon://debate/ID/receipt"
        ))
    };
    let path = uri.strip_prefix(&debate_uri("")).ok_or_else(unknown)?;
    let (id, kind) = match path.split_once('/') {
        None => (path, ResourceKind::Report),
        Some((id, "log")) => (id, ResourceKind::Log),
        Some((id, "receipt")) => (id, ResourceKind::Receipt),
        Some(_) => return Err(unknown()),
    };
    let handle = DebateHandle { store: host.store().clone(), id: host.find(id).await? };
    let catalogue = host.catalogue().clone();
    let text = blocking(move || {
        let id = &handle.id;
        match kind {
            ResourceKind::Report => {
                let rest = format!("`agon export {id}` writes all of it");
                Ok(cut_text(&export_text(&handle, "md")?, RESOURCE_BYTES_MAX, &rest))
            }
            ResourceKind::Receipt => {
                let receipt = issue_receipt(&handle, &catalogue, true)?;
                // A part of a receipt proves nothing.
                match receipt.len() <= RESOURCE_BYTES_MAX {
                    true => Ok(receipt),
                    false => Err(HostError::invalid(format!(
                        "the receipt is too long to be read here: `agon export {id} --receipt` writes it"
                    ))),
                }
            }
            ResourceKind::Log => {
                let raw = handle.store.raw_log(id)?;
                Ok(log_text(id, raw.iter().map(|(body, hash)| log_line(body, hash))))
            }
        }
    });
    Ok(ResourceContents::text(text.await?, uri).with_mime_type(kind.mime_type()))
}

/// The lines of a log, as many as fit. Then the last line is an object that says how to get the others.
fn log_text(id: &str, lines: impl Iterator<Item = String>) -> String {
    let (mut text, mut left_out) = (String::new(), 0_usize);
    for line in lines {
        if left_out > 0 || text.len() + line.len() > RESOURCE_BYTES_MAX {
            left_out += 1;
            continue;
        }
        text.push_str(&line);
        text.push('\n');
    }
    if left_out > 0 {
        let rest = format!(
            "the log is too long to be read here: `agon export {id} --format json` writes all of it, and `agon serve` has it at \
             /api/v1/debates/{id}/log"
        );
        text.push_str(&format!("{}\n", json!({"events_left_out": left_out, "note": rest})));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_is_too_long_ends_at_a_line_and_says_how_to_get_the_rest() {
        let line = json!({"seq": "x".repeat(RESOURCE_BYTES_MAX / 4)}).to_string();
        let text = |count: usize| log_text("d1", (0..count).map(|_| line.clone()));
        assert_eq!(text(3).lines().collect::<Vec<_>>(), [line.as_str(); 3]);
        let cut = text(10);
        assert!(cut.len() < RESOURCE_BYTES_MAX + 1_000);
        let last: serde_json::Value = serde_json::from_str(cut.lines().last().unwrap()).unwrap();
        assert_eq!((cut.lines().count(), last["events_left_out"].as_u64()), (4, Some(7)));
        assert!(last["note"].as_str().unwrap().contains("agon export d1"), "{last}");
    }

    #[test]
    fn the_templates_are_the_contracts() {
        let templates = resource_templates();
        let uris: Vec<&str> = templates.iter().map(|template| template.uri_template.as_str()).collect();
        assert_eq!(uris, ["agon://debate/{id}", "agon://debate/{id}/log", "agon://debate/{id}/receipt"]);
    }
}
