//! The tables of the book that are made from the code: settings, options, providers, routes, tools and versions.
//!
//! A page has each of them between `<!-- made from the code: NAME -->` and `<!-- end -->`. A test compares the pages with what the
//! code gives. `AGON_UPDATE_BOOK=1` writes the pages instead.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agon_core::{DebateLimits, LOG_VERSION, OptionSpec, ProtocolInfo};
use agon_engine::EngineSettings;
use agon_models::{KNOWN_PROVIDERS, KnownProvider};
use agon_publish::receipts::statement::PREDICATE_TYPE;
use agon_store::{FILE_SCHEMA_OLDEST, FILE_SCHEMA_VERSION, SERVER_SCHEMA_VERSION};
use serde_json::{Map, Value, json};

use crate::cli::arguments::{self, TIMEOUT_KEY};
use crate::cli::configuration::ConfigurationFile;
use crate::cli::verbs::protocols::value_words;
use crate::mcp::tool_table;
use crate::serve::openapi::api_router;

const BEGIN: &str = "<!-- made from the code: ";
const END: &str = "<!-- end -->";

#[test]
fn the_tables_of_the_book_are_what_the_code_gives() {
    for (page, tables) in [
        ("configuration.md", vec![("settings", settings_text()), ("options", options_text())]),
        ("models.md", vec![("providers", providers_text())]),
        ("http-api.md", vec![("routes", routes_text())]),
        ("mcp.md", vec![("tools", tools_text())]),
        ("upgrading.md", vec![("versions", versions_text())]),
    ] {
        let file = docs_folder().join(page);
        let written = std::fs::read_to_string(&file).unwrap();
        let mut wanted = written.clone();
        for (name, text) in tables {
            wanted = with_table(&wanted, name, &text).unwrap_or_else(|| panic!("{page} has no table {name}"));
        }
        if std::env::var_os("AGON_UPDATE_BOOK").is_some() {
            std::fs::write(&file, &wanted).unwrap();
        } else if let Some((line, (is, should))) =
            (1..).zip(written.lines().zip(wanted.lines())).find(|(_, (is, should))| is != should)
        {
            panic!(
                "docs/{page}, line {line} is\n{is}\nbut the code gives\n{should}\nAGON_UPDATE_BOOK=1 writes it"
            );
        } else {
            assert_eq!(written, wanted, "docs/{page}: AGON_UPDATE_BOOK=1 writes it");
        }
    }
}

/// Every variable with a name of its own is on the page, so that none is a secret of the code.
#[test]
fn every_variable_that_the_program_reads_is_in_the_book() {
    let page = std::fs::read_to_string(docs_folder().join("configuration.md")).unwrap();
    let mut sources = Vec::new();
    for folder in std::fs::read_dir(docs_folder().join("../crates")).unwrap() {
        rust_files(&folder.unwrap().path().join("src"), &mut sources);
    }
    assert!(sources.len() > 100, "{}", sources.len());
    let names = sources.iter().flat_map(|file| variable_names(&std::fs::read_to_string(file).unwrap()));
    let names: std::collections::BTreeSet<String> = names.collect();
    assert!(names.contains("AGON_HOME"), "{names:?}");
    let missing: Vec<&String> = names.iter().filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/configuration.md does not say what these are: {missing:?}");
}

fn docs_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The names in quotation marks that begin with `AGON_`, apart from those that only tests read.
fn variable_names(source: &str) -> Vec<String> {
    const TESTS_ONLY: [&str; 3] = ["AGON_POSTGRES", "AGON_TEST_MODELS", "AGON_UPDATE_BOOK"];
    let is_name = |c: char| c.is_ascii_uppercase() || c == '_';
    let quoted = source.split("\"AGON_").skip(1).filter_map(|rest| rest.split_once('"'));
    let names = quoted.filter(|(name, _)| !name.is_empty() && name.chars().all(is_name));
    let names = names.map(|(name, _)| format!("AGON_{name}"));
    names.filter(|name| !TESTS_ONLY.contains(&name.as_str())).collect()
}

fn with_table(page: &str, name: &str, text: &str) -> Option<String> {
    let (before, rest) = page.split_once(&format!("{BEGIN}{name} -->\n"))?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{name} -->\n\n{}\n\n{END}{after}", text.trim()))
}

fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: Vec<String>| {
        let cells: Vec<String> = cells.into_iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | ")).replace("|  |", "| |").replace("|  |", "| |")
    };
    let mut text = line(header.iter().map(|title| (*title).to_owned()).collect());
    text.push_str(&line(vec!["---".to_owned(); header.len()]).replace(' ', ""));
    text.extend(rows.into_iter().map(line));
    text
}

/// What the types say that read `agon.toml`: one heading for each section, one line for each key.
fn settings_text() -> String {
    let schema = schemars::schema_for!(ConfigurationFile).to_value();
    let defaults = defaults_elsewhere();
    let mut text = top_level_text(&schema);
    for (name, section) in properties(&schema, &schema) {
        let section_schema = resolve(&schema, section);
        let (heading, entry) = match section_schema.get("type").and_then(Value::as_str) {
            Some("object") if section_schema.get("additionalProperties").is_some_and(Value::is_object) => {
                let heading = if name == "prices" { "[prices]".into() } else { format!("[{name}.NAME]") };
                (heading, resolve(&schema, &section_schema["additionalProperties"]))
            }
            Some("array") => (format!("[[{name}]]"), resolve(&schema, &section_schema["items"])),
            _ => (format!("[{name}]"), section_schema),
        };
        if entry.get("properties").is_none() {
            continue;
        }
        let rows = setting_rows(&schema, entry, "", &|key| defaults.get(&format!("{name}.{key}")).cloned());
        let table = table(&["key", "value", "default", "meaning"], rows);
        text.push_str(&format!("### `{heading}`\n\n{}\n\n{table}\n", description(section)));
    }
    text
}

/// The keys that stand before the first section.
fn top_level_text(schema: &Value) -> String {
    let models = &schema["properties"]["models"];
    let roles = arguments::all_roles().iter().map(|role| {
        let of = agon_protocols::all().map(|protocol| protocol.info());
        let of: Vec<String> = of
            .filter(|info| info.named_roles().any(|known| known == *role))
            .map(|info| format!("`{}`", info.name))
            .collect();
        vec![
            format!("`{role}`"),
            "text".into(),
            String::new(),
            format!(
                "The model of the {role} in {}: `--{role}`. By default the first of `models`.",
                of.join(", ")
            ),
        ]
    });
    let models = vec!["`models`".into(), "list of texts".into(), String::new(), description(models)];
    let rows = table(&["key", "value", "default", "meaning"], [models].into_iter().chain(roles));
    format!("### Before the first section\n\n{rows}\n")
}

/// Defaults that another type than that of the file has, by section and key.
fn defaults_elsewhere() -> BTreeMap<String, String> {
    let limits = DebateLimits::default();
    let engine = EngineSettings::default();
    let destinations = agon_publish::deliveries::retry_policy::TIMEOUT;
    let figures = [
        ("limits.timeout_s", limits.call_timeout_ms / 1_000),
        ("limits.repairs", limits.repairs.into()),
        ("limits.retries", limits.retries.into()),
        ("limits.output_tokens", limits.output_tokens.into()),
        ("engine.concurrent_calls", engine.concurrent_calls as u64),
        ("engine.provider_calls", engine.provider_calls as u64),
        ("commands.output_bytes_max", agon_models::config::OUTPUT_BYTES_MAX),
        ("humans.timeout_s", agon_models::config::HUMAN_TIMEOUT.as_secs()),
        ("destinations.timeout_s", destinations.as_secs()),
    ];
    figures.into_iter().map(|(key, value)| (key.to_owned(), format!("`{value}`"))).collect()
}

fn setting_rows(
    root: &Value,
    section: &Value,
    prefix: &str,
    default_elsewhere: &dyn Fn(&str) -> Option<String>,
) -> Vec<Vec<String>> {
    let required: Vec<&str> =
        section["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut rows = Vec::new();
    for (key, property) in properties(root, section) {
        let schema = resolve(root, property);
        if schema.get("properties").is_some() {
            rows.extend(setting_rows(root, schema, &format!("{prefix}{key}."), default_elsewhere));
            continue;
        }
        let default = match property.get("default") {
            _ if required.contains(&key) => "required".to_owned(),
            Some(value) if is_something(value) => format!("`{value}`"),
            _ => default_elsewhere(key).unwrap_or_default(),
        };
        let meaning = format!("{}{}", description(property), choice_words(schema));
        rows.push(vec![format!("`{prefix}{key}`"), value_text(root, schema), default, meaning]);
    }
    rows
}

/// Whether a default tells more than "not set".
fn is_something(value: &Value) -> bool {
    let is_empty =
        value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(Map::is_empty);
    !value.is_null() && !is_empty && value != &json!("")
}

fn properties<'a>(root: &'a Value, schema: &'a Value) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let fields = resolve(root, schema).get("properties").and_then(Value::as_object);
    fields.into_iter().flatten().map(|(name, property)| (name.as_str(), property))
}

/// The schema that a reference or an optional value stands for.
fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    if let Some(pointer) = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix('#'))
    {
        return resolve(root, root.pointer(pointer).unwrap());
    }
    let is_null = |schema: &&Value| schema.get("type") == Some(&json!("null"));
    let other = schema.get("anyOf").and_then(Value::as_array);
    other.and_then(|of| of.iter().find(|schema| !is_null(schema))).map_or(schema, |of| resolve(root, of))
}

fn description(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_else(|| panic!("{schema} has no comment"));
    text.replace('\n', " ")
}

fn value_text(root: &Value, schema: &Value) -> String {
    if !choices(schema).is_empty() {
        let words: Vec<String> = choices(schema).iter().map(|(word, _)| format!("`{word}`")).collect();
        return words.join(", ");
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        kind => kind.as_str(),
    };
    match kind {
        Some("string") => "text".into(),
        Some("number") => "number".into(),
        Some("integer") => "whole number".into(),
        Some("boolean") => "`true`, `false`".into(),
        Some("array") => format!("list of {}s", value_text(root, resolve(root, &schema["items"]))),
        Some("object") => {
            format!("table of {}s", value_text(root, resolve(root, &schema["additionalProperties"])))
        }
        _ => panic!("{schema} has a type without words"),
    }
}

/// The values of a choice, each with what it means.
fn choices(schema: &Value) -> Vec<(&str, &str)> {
    let of = schema["oneOf"].as_array().into_iter().flatten();
    of.filter_map(|choice| Some((choice["const"].as_str()?, choice["description"].as_str()?))).collect()
}

fn choice_words(schema: &Value) -> String {
    let words = |(word, meaning): (&str, &str)| format!(" `{word}`: {}", meaning.replace('\n', " "));
    choices(schema).into_iter().map(words).collect()
}

/// The options of every protocol, as `agon protocols` lists them.
fn options_text() -> String {
    let section = |info: &ProtocolInfo| {
        let row = |option: &OptionSpec| {
            let default =
                if option.default.is_empty() { String::new() } else { format!("`{}`", option.default) };
            let help = match option.environment {
                Some(variable) => format!("{}; the variable `{variable}` sets it, too", option.help),
                None => option.help.to_owned(),
            };
            vec![format!("`{}`", option.key), value_words(option.kind), default, help]
        };
        let table = table(&["key", "value", "default", "meaning"], info.options.iter().map(row));
        format!("### `[protocols.{}]`\n\n{table}\n", info.name)
    };
    let sections = agon_protocols::all().map(|protocol| section(protocol.info()));
    let timeout =
        format!("Every protocol also has `{TIMEOUT_KEY}`: how many seconds one of its calls may take.\n\n");
    [timeout].into_iter().chain(sections).collect()
}

fn providers_text() -> String {
    let row = |provider: &KnownProvider| {
        let keys: Vec<String> = provider.key_envs.iter().map(|key| format!("`{key}`")).collect();
        let keys = if keys.is_empty() { "none needed".to_owned() } else { keys.join(", else ") };
        vec![
            format!("`{}/MODEL`", provider.name),
            keys,
            format!("`{}`", provider.base_url),
            format!("`{}`", provider.base_env),
        ]
    };
    table(&["name", "key", "address", "another address"], KNOWN_PROVIDERS.iter().map(row))
}

fn routes_text() -> String {
    let (_, document) = api_router();
    let document = serde_json::to_value(&document).unwrap();
    let mut rows = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let about = operation["summary"].as_str().unwrap_or_else(|| panic!("{path} has no summary"));
            rows.push(vec![format!("`{} {path}`", method.to_uppercase()), about.to_owned()]);
        }
    }
    table(&["route", "meaning"], rows)
}

fn tools_text() -> String {
    let rows = tool_table::tool_list(None).into_iter().map(|tool| {
        let arguments = tool.input_schema.get("properties").and_then(Value::as_object);
        let arguments: Vec<String> =
            arguments.into_iter().flatten().map(|(name, _)| format!("`{name}`")).collect();
        vec![format!("`{}`", tool.name), tool.title.unwrap_or_default(), arguments.join(", ")]
    });
    table(&["tool", "meaning", "arguments"], rows)
}

fn versions_text() -> String {
    let file = format!("{FILE_SCHEMA_VERSION}; {FILE_SCHEMA_OLDEST} and later are brought up to date");
    let rows = [
        ("the program", env!("CARGO_PKG_VERSION").to_owned(), "`agon --version`"),
        ("the log", LOG_VERSION.to_string(), "`receipt.log_version` of an outcome"),
        ("the store in a file", file, "`schema_version` in `agon doctor --json`"),
        (
            "the store in PostgreSQL",
            SERVER_SCHEMA_VERSION.to_string(),
            "the same, and the table `agon_schema`",
        ),
        ("the HTTP API", "v1".to_owned(), "the path `/api/v1`"),
        ("receipts", format!("`{PREDICATE_TYPE}`"), "`predicateType` of the statement"),
    ];
    let rows = rows.map(|(what, version, place)| vec![what.to_owned(), version, place.to_owned()]);
    table(&["what", "version", "where you see it"], rows)
}
