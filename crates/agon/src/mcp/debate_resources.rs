//! Debates as resources: `agon://debate/ID` is the report, `/log` the log, `/receipt` a signed receipt.

use rmcp::model::{Resource, ResourceContents, ResourceTemplate};

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
        Ok(match kind {
            ResourceKind::Report => export_text(&handle, "md")?,
            ResourceKind::Receipt => issue_receipt(&handle, &catalogue, true)?,
            ResourceKind::Log => {
                let raw = handle.store.raw_log(&handle.id)?;
                raw.iter().map(|(body, hash)| format!("{}\n", log_line(body, hash))).collect()
            }
        })
    });
    Ok(ResourceContents::text(text.await?, uri).with_mime_type(kind.mime_type()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_are_the_contracts() {
        let templates = resource_templates();
        let uris: Vec<&str> = templates.iter().map(|template| template.uri_template.as_str()).collect();
        assert_eq!(uris, ["agon://debate/{id}", "agon://debate/{id}/log", "agon://debate/{id}/receipt"]);
    }
}
