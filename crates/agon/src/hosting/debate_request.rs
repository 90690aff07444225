//! What a caller of a server or an agent wants debated, and how it becomes a brief.
//!
//! A caller is not the person who runs the process. So it may send texts, but not name files, programs, scripts or model files of this
//! machine, unless the configuration allows the name.

use std::collections::{BTreeMap, BTreeSet};

use agon_core::tools::{TOOL_PREFIX, table_tools};
use agon_core::{Brief, BriefFile, OptionKind, OptionSpec, Protocol, ProtocolInfo};
use agon_models::ModelCatalogue;
use agon_store::DebateStore;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::host_error::HostError;
use super::person_seats::CALLER;
use crate::cli::arguments::{CliArguments, SEED_MAX};
use crate::cli::batch_input::option_pair;
use crate::cli::brief_builder::BriefBuilder;
use crate::cli::configuration::{Configuration, OptionPairs};
use crate::cli::errors::CliError;
use crate::cli::limits::LimitOverrides;
use crate::cli::{seat_models, targets};

/// A debate that a caller wants.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DebateRequest {
    /// The kind of debate; the first protocol if it is not named.
    pub protocol: Option<String>,
    /// The question, topic or task.
    pub question: Option<String>,
    /// Texts to debate about, or to use.
    pub files: Vec<RequestFile>,
    /// One per seat, repeated as needed. The server's own if there are none.
    pub models: Vec<String>,
    /// Models for single roles.
    pub roles: BTreeMap<String, String>,
    /// The protocol's options.
    pub options: Map<String, Value>,
    /// Limits on time and money.
    pub limits: LimitOverrides,
    /// The source of every shuffle and draw.
    pub seed: Option<u64>,
}

/// A text with a name. It is content: nothing is read from this machine.
#[derive(Debug, Clone, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestFile {
    /// Its name, as the debate shows it.
    pub path: String,
    pub text: String,
    /// What it is for, if it is not what the debate is about: `context`, or an option that takes a file, such as `diff` or `spec`.
    #[serde(default)]
    pub part: Option<String>,
}

/// What callers may do.
#[derive(Debug, Clone, Default)]
pub struct CallerRights {
    /// The models that callers may name although they run programs or read files of this machine.
    pub allowed_models: BTreeSet<String>,
    /// The section of `agon.toml` that lists them, for messages.
    pub section: &'static str,
    /// Whether the caller itself can take a seat.
    pub caller_seat: bool,
}

/// Makes briefs of what callers want.
pub struct RequestReader<'a> {
    pub configuration: &'a Configuration,
    pub catalogue: &'a ModelCatalogue,
    pub store: &'a DebateStore,
    pub rights: &'a CallerRights,
}

impl RequestReader<'_> {
    /// The brief that a request asks for. It reads the store, so it must not run on a thread of the async runtime.
    pub fn brief(&self, request: DebateRequest) -> Result<(&'static dyn Protocol, Brief), HostError> {
        let protocol = find_protocol(request.protocol.as_deref())?;
        let info = protocol.info();
        self.check_models(info, &request)?;
        if request.seed.is_some_and(|seed| seed > SEED_MAX) {
            return Err(HostError::invalid(format!("the seed is over {SEED_MAX}: choose a smaller one")));
        }
        let roles = request.roles.keys().find(|role| !info.named_roles().any(|known| known == *role));
        if let Some(role) = roles {
            let known: Vec<&str> = info.named_roles().collect();
            return Err(HostError::invalid(format!(
                "{} has no role {role:?} that a model can be named for; it has: {}",
                info.name,
                if known.is_empty() { "none".to_owned() } else { known.join(", ") }
            )));
        }
        let pairs = request.options.into_iter().map(text_pair);
        let pairs = pairs.collect::<Result<OptionPairs, String>>().map_err(HostError::invalid)?;
        let (files, options) = named_files(info, request.files, pairs)?;
        let subject = targets::subject_of_request(info, request.question, files)?;
        let arguments = CliArguments {
            models: request.models,
            roles: request.roles,
            seed: request.seed,
            remember: false,
            limits: request.limits,
            options,
        };
        let builder = BriefBuilder::new(protocol, arguments, self.configuration)?
            .or_default_models(|| seat_models::default_models(self.catalogue))?
            .with_local_options(self.configuration, self.catalogue)?
            .with_store(Some(self.store.clone()));
        let brief = builder.brief(subject)?;
        self.check_brief(&brief)?;
        Ok((protocol, brief))
    }

    /// Refuses a model, of a seat or of an option that names models, that neither the server's own configuration names nor callers may
    /// name, and a tool that callers may not use: a caller who branches or resumes a debate runs its models and tools.
    pub fn check_brief(&self, brief: &Brief) -> Result<(), HostError> {
        let configuration = self.configuration;
        let options = configuration.options.values().flatten().map(|(_, value)| value);
        let own = configuration.models.iter().chain(configuration.roles.values()).chain(options);
        let own: BTreeSet<&str> = own.flat_map(|names| model_links(names)).collect();
        let info = find_protocol(Some(&brief.protocol))?.info();
        let options = info.options.iter().filter(|option| option.names_models());
        let in_options = options.filter_map(|option| brief.options.get(option.key)?.as_str());
        let named = brief.seats.iter().map(|seat| seat.model.as_str()).chain(in_options);
        let mut links = named.flat_map(model_links).filter(|link| !own.contains(link));
        links.try_for_each(|link| self.check_model(link))?;
        let offers = table_tools(brief).map(|tools| tools.offers).unwrap_or_default();
        offers.iter().try_for_each(|offer| {
            // A server's tools are allowed together: `tool/docs` stands for `docs.search`, too.
            let tool = offer.name.split('.').next().unwrap_or_default();
            self.check_model(&format!("{TOOL_PREFIX}{tool}"))
        })
    }

    fn check_models(&self, info: &ProtocolInfo, request: &DebateRequest) -> Result<(), HostError> {
        let takes_models =
            |key: &str| info.options.iter().filter(|option| option.key == key).any(OptionSpec::names_models);
        let in_options = request.options.iter().filter(|(key, _)| takes_models(key));
        let in_options = in_options.filter_map(|(key, value)| text_pair((key.clone(), value.clone())).ok());
        let names: Vec<String> = request.models.iter().chain(request.roles.values()).cloned().collect();
        let all = names.into_iter().chain(in_options.map(|(_, value)| value));
        all.into_iter().try_for_each(|names| model_links(&names).try_for_each(|link| self.check_model(link)))
    }

    /// Refuses a model that would run a program or read a file of this machine.
    fn check_model(&self, name: &str) -> Result<(), HostError> {
        if self.rights.allowed_models.contains(name) {
            return Ok(());
        }
        if name == CALLER {
            return match self.rights.caller_seat {
                true => Ok(()),
                false => {
                    Err(HostError::invalid("the caller cannot take a seat here: seat human/NAME instead"))
                }
            };
        }
        let (provider, model) = name.split_once('/').unwrap_or((name, ""));
        let is_built_in = self.catalogue.built_in_scripts().iter().any(|script| script == name);
        let is_refused = match provider {
            // What a debate looks up on this machine is not a debater.
            "command" | "tool" | "context" | "pulse" => true,
            "script" => !is_built_in,
            "embedded" => model != agon_models::SMOLLM2,
            "agent" => {
                let answering = self.configuration.answering_model(name);
                return match answering == name {
                    true => Ok(()),
                    false => answering.split('|').try_for_each(|link| self.check_model(link.trim())),
                };
            }
            _ => false,
        };
        match is_refused {
            false => Ok(()),
            true => {
                // No other tool takes the place of one that a debate has.
                let way_out = if provider == "tool" { "" } else { ", or name another model" };
                Err(HostError::invalid(format!(
                    "callers may not name {name:?}, because it runs a program or reads a file of this machine: \
                     list it under `allow` in [{}] of the user's own agon.toml{way_out}",
                    self.rights.section
                )))
            }
        }
    }
}

/// The models of a list, and those of each fallback chain in it.
fn model_links(names: &str) -> impl Iterator<Item = &str> {
    names.split(['|', ',']).map(str::trim).filter(|link| !link.is_empty())
}

fn find_protocol(name: Option<&str>) -> Result<&'static dyn Protocol, HostError> {
    let Some(name) = name else {
        return agon_protocols::all().next().ok_or_else(|| HostError::failed("there is no protocol"));
    };
    agon_protocols::find(name).ok_or_else(|| {
        let known: Vec<&str> = agon_protocols::all().map(|protocol| protocol.info().name).collect();
        HostError::invalid(format!("there is no protocol {name:?}; there are: {}", known.join(", ")))
    })
}

/// An option as `--set` takes it. A list of models may be a JSON list.
fn text_pair((key, value): (String, Value)) -> Result<(String, String), String> {
    match value {
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            Ok((key, items.join(",")))
        }
        value => option_pair((key, value)),
    }
}

/// The files as the brief has them. An option that takes a file names one of them, never a file of this machine.
fn named_files(
    info: &ProtocolInfo,
    files: Vec<RequestFile>,
    options: OptionPairs,
) -> Result<(Vec<BriefFile>, OptionPairs), HostError> {
    let takes_file =
        |key: &str| info.options.iter().any(|option| option.key == key && option.kind == OptionKind::File);
    let (named, options): (OptionPairs, OptionPairs) =
        options.into_iter().partition(|(key, _)| takes_file(key));
    let mut brief_files = Vec::new();
    for file in files {
        let by_option = named.iter().find(|(_, path)| *path == file.path).map(|(key, _)| key.clone());
        let part = file.part.or(by_option);
        if let Some(part) = part.as_deref().filter(|part| !takes_file(part) && *part != targets::CONTEXT) {
            return Err(HostError::invalid(format!(
                "{} has no part {part:?} for a file: omit `part`, or use `{}`{}",
                info.name,
                targets::CONTEXT,
                file_options(info)
            )));
        }
        brief_files.push(targets::request_file(file.path, file.text, part)?);
    }
    let missing = named.iter().find(|(key, path)| {
        !brief_files.iter().any(|file| file.part.as_deref() == Some(key) && file.path == *path)
    });
    match missing {
        None => Ok((brief_files, options)),
        Some((key, path)) => Err(HostError::invalid(format!(
            "option {key:?} names {path:?}, which is not among `files`: send its text there under that path"
        ))),
    }
}

fn file_options(info: &ProtocolInfo) -> String {
    let keys = info.options.iter().filter(|option| option.kind == OptionKind::File);
    keys.map(|option| format!(", `{}`", option.key)).collect()
}

impl From<agon_core::Invalid> for HostError {
    fn from(invalid: agon_core::Invalid) -> Self {
        Self::from(CliError::from(invalid))
    }
}
