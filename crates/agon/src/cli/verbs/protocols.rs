//! `agon protocols`: the kinds of debate and their options.

use agon_core::{OptionKind, OptionSpec, ProtocolInfo};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

use super::{CliVerb, VerbGroup};
use crate::cli::errors::CliError;
use crate::cli::{arguments, output};

pub(super) const VERB: CliVerb = CliVerb { name: "protocols", group: VerbGroup::Setup, command, run };

fn command(command: Command) -> Command {
    let names = PossibleValuesParser::new(agon_protocols::all().map(|protocol| protocol.info().name));
    let name = Arg::new("name").value_name("NAME").value_parser(names).help("Only this kind of debate");
    command.about("List the kinds of debate and their options").arg(name).arg(arguments::json())
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let wanted = args.get_one::<String>("name");
    let infos = || {
        let all = agon_protocols::all().map(|protocol| protocol.info());
        all.filter(|info| wanted.is_none_or(|name| info.name == name))
    };
    output::print_result(
        args.get_flag("json"),
        || infos().map(protocol_document).collect::<Vec<_>>(),
        || infos().map(protocol_text).collect::<Vec<_>>().join("\n"),
    )
}

fn protocol_document(info: &ProtocolInfo) -> Value {
    let option = |option: &OptionSpec| {
        let default = if option.default.is_empty() { Value::Null } else { json!(option.default) };
        let value = value_words(option.kind);
        json!({"key": option.key, "value": value, "default": default, "help": option.help})
    };
    json!({
        "name": info.name,
        "about": info.about,
        "subject": info.subject,
        "roles": info.named_roles().collect::<Vec<_>>(),
        "options": info.options.iter().map(option).collect::<Vec<_>>(),
    })
}

/// The same for programs: the options as one JSON Schema.
pub(crate) fn schema_document(info: &ProtocolInfo) -> Value {
    let property = |option: &OptionSpec| (option.key.to_owned(), option_schema(option));
    let properties: serde_json::Map<String, Value> = info.options.iter().map(property).collect();
    json!({
        "name": info.name,
        "about": info.about,
        "subject": info.subject,
        "roles": info.named_roles().collect::<Vec<_>>(),
        "demo": info.demo.map(|_| format!("script/demo-{}", info.name)),
        "options": {"type": "object", "properties": properties, "additionalProperties": false},
    })
}

fn option_schema(option: &OptionSpec) -> Value {
    let mut schema = match option.kind {
        OptionKind::Int(low, high) => json!({"type": "integer", "minimum": low, "maximum": high}),
        OptionKind::Float(low, high) => json!({"type": "number", "minimum": low, "maximum": high}),
        OptionKind::Choice(words) => json!({"type": "string", "enum": words}),
        OptionKind::Flag => json!({"type": "boolean"}),
        OptionKind::Text => json!({"type": "string"}),
        OptionKind::File => json!({"type": "string", "format": "path of one of the request's files"}),
        OptionKind::Model => json!({"type": "string", "format": "a model"}),
        OptionKind::Models => json!({"type": "string", "format": "models, with commas"}),
    };
    let default = match option.kind {
        _ if option.default.is_empty() => Value::Null,
        OptionKind::Int(..) | OptionKind::Float(..) | OptionKind::Flag => {
            serde_json::from_str(option.default).unwrap_or_default()
        }
        _ => json!(option.default),
    };
    if let Value::Object(fields) = &mut schema {
        fields.insert("description".into(), json!(option.help));
        if !default.is_null() {
            fields.insert("default".into(), default);
        }
    }
    schema
}

fn protocol_text(info: &ProtocolInfo) -> String {
    const INDENT: usize = 6;
    let mut text = format!("{}\n", output::hanging_indent(&format!("{}: {}", info.name, info.about), 0));
    let roles: Vec<String> = info.named_roles().map(|role| format!("--{role}")).collect();
    if !roles.is_empty() {
        text.push_str(&format!("  models for single roles: {}\n", roles.join(", ")));
    }
    for option in info.options {
        let default = if option.default.is_empty() { "not set" } else { option.default };
        let value = value_words(option.kind);
        let (indent, help) = (" ".repeat(INDENT), output::hanging_indent(option.help, INDENT));
        text.push_str(&format!("  {} = {default}   ({value})\n{indent}{help}\n", option.key));
    }
    text
}

/// What an option's value may be, in words.
pub(crate) fn value_words(kind: OptionKind) -> String {
    match kind {
        OptionKind::Int(low, high) => format!("{low} to {high}"),
        OptionKind::Float(low, high) => format!("{low:?} to {high:?}"),
        OptionKind::Choice(words) => words.join(", "),
        OptionKind::Flag => "true, false".into(),
        OptionKind::Text => "text".into(),
        OptionKind::File => "a file".into(),
        OptionKind::Model => "a model".into(),
        OptionKind::Models => "models, with commas".into(),
    }
}
