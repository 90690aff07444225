//! The options that several verbs share: how they are declared, and how they are read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use agon_core::{OptionKind, OptionSpec, ProtocolInfo};
use agon_report::GateFormat;
use agon_store::StoreAddress;
use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, StyledStr};
use clap::{Arg, ArgAction, ArgMatches, value_parser};

use super::input::DIFF_PART;
use super::limits::{LimitOverrides, parse_seconds, parse_usd, whole_number};
use super::paths::Environment;

/// The key under which `--set` accepts the limit on the time of a call.
pub const TIMEOUT_KEY: &str = "execution.timeout.per_llm_call";
/// The largest seed: JSON readers that store numbers as floats keep 53 bits.
pub const SEED_MAX: u64 = (1 << 53) - 1;
/// The folder of `--save` if none is named.
pub const DEFAULT_SAVE_FOLDER: &str = "agon-debates";

/// `ID` of a stored debate.
pub fn debate_id() -> Arg {
    Arg::new("id").value_name("ID").required(true).help("A debate's id, a unique prefix of it, or `last`")
}

/// `--config`, `--no-config` and `--db`.
pub fn config_and_store() -> Vec<Arg> {
    [&config()[..], &[store()]].concat()
}

/// `--config` and `--no-config`.
pub fn config() -> [Arg; 2] {
    let file = "The configuration [default: agon.toml in AGON_HOME or in the configuration folder]";
    let none = "Use no configuration file";
    [
        path_option("config", "FILE", file).help_heading("Files"),
        switch("no-config", none).conflicts_with("config").help_heading("Files"),
    ]
}

/// `--db`.
pub fn store() -> Arg {
    let help = "The store: a file, or postgres://USER@HOST/NAME [default: AGON_DB, else agon.db in AGON_HOME or in the data \
                folder]";
    path_option("db", "STORE", help).help_heading("Files")
}

/// `--restate` and `--restate-admin`, for verbs that submit debates to workers.
pub fn workers() -> [Arg; 2] {
    let submit =
        "Run on the workers of this Restate server instead of in this process, for instance http://HOST:8080";
    restate(submit).map(|arg| arg.help_heading("Workers"))
}

/// The address of a Restate server.
pub fn restate(help: &'static str) -> [Arg; 2] {
    let option = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("URL").help(help).value_parser(NonEmptyStringValueParser::new())
    };
    let admin = "Where that server is administered, if not on port 9070 of the same host";
    [option("restate", help), option("restate-admin", admin).requires("restate")]
}

/// ` --db STORE`, for a command that is printed and must use the same store; empty if the option was not given. A password is left out.
pub fn store_option(args: &ArgMatches) -> String {
    let store = args.get_one::<PathBuf>("db").map(|store| shown_store(store));
    store.map(|store| format!(" --db {}", shell_quoted(&store))).unwrap_or_default()
}

/// A store as it can be printed: without a password.
pub fn shown_store(store: &Path) -> String {
    StoreAddress::parse(store.as_os_str())
        .map_or_else(|_| "postgres://…".to_owned(), |address| address.to_string())
}

/// A word as a shell reads it as one word.
pub fn shell_quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_alphanumeric() || "_-./:,=+@%".contains(char);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// An option whose value is a path. Paths need not be UTF-8.
pub fn path_option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).value_parser(value_parser!(PathBuf)).help(help)
}

/// A flag without a value.
pub fn switch(name: &'static str, help: impl Into<StyledStr>) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help.into())
}

/// `--json`.
pub fn json() -> Arg {
    switch("json", "Print one JSON document on stdout and nothing else there")
}

/// `--limit N` of a listing.
pub fn count_limit(default: &'static str, help: &'static str) -> Arg {
    Arg::new("limit")
        .long("limit")
        .value_name("N")
        .default_value(default)
        .value_parser(whole_number(1_u64, None))
        .help(help)
}

/// The value of `--limit`.
pub fn limit_value(args: &ArgMatches) -> usize {
    args.get_one::<u64>("limit").map_or(usize::MAX, |n| usize::try_from(*n).unwrap_or(usize::MAX))
}

/// The values of a repeated option or argument, joined with spaces.
pub fn joined_words(args: &ArgMatches, name: &str) -> String {
    let words = args.get_many::<String>(name).into_iter().flatten();
    words.map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// How a debate's result is printed: as a report, as JSON, as the log. And where it is saved.
pub fn output_options() -> [Arg; 4] {
    let help = "Also write report.md, outcome.json, log.ndjson and the protocol's own records into DIR/ID";
    let save = path_option("save", "DIR", help).num_args(0..=1).default_missing_value(DEFAULT_SAVE_FOLDER);
    [
        json().conflicts_with("events"),
        switch("events", "Print the log on stdout as it happens, one JSON event per line"),
        switch("quiet", "Print nothing but the result"),
        save,
    ]
    .map(|arg| arg.help_heading("Output"))
}

/// `--format`, for verdicts that are a gate in a pipeline.
pub fn gate_format() -> Arg {
    let names = std::iter::once("text").chain(GateFormat::NAMES);
    let help = "What to print: the report, annotations for a pull request, a code quality report for GitLab, a SARIF file, a JUnit \
                report, a short comment [default: text]";
    Arg::new("format")
        .long("format")
        .value_name("FORMAT")
        .value_parser(PossibleValuesParser::new(names))
        .conflicts_with_all(["json", "events"])
        .help(help)
        .help_heading("Output")
}

/// `--no-files`.
pub fn no_files() -> Arg {
    let folders = agon_protocols::all().filter_map(|protocol| protocol.info().record_folder);
    let folders: BTreeSet<&str> = folders.collect();
    let folders = folders.into_iter().collect::<Vec<_>>().join(" or ");
    switch("no-files", format!("Do not write record files into {folders}")).help_heading("Output")
}

/// `--remember`.
pub fn remember() -> Arg {
    let help = "Let later debates know of this one, also if a script speaks in it or an agon.toml of this folder is used";
    switch("remember", help).help_heading("Output")
}

/// `--models` and `--seed`.
pub fn seats() -> [Arg; 2] {
    let models = "The models, one per seat, repeated as needed: provider/model, or a fallback chain A|B";
    [
        Arg::new("models")
            .long("models")
            .value_name("A,B,C")
            .value_delimiter(',')
            .value_parser(parse_model)
            .help(models),
        Arg::new("seed")
            .long("seed")
            .value_name("N")
            .allow_negative_numbers(true)
            .value_parser(whole_number(0, Some(SEED_MAX)))
            .help("The source of every shuffle and draw [default: random]"),
    ]
    .map(|arg| arg.help_heading("Seats"))
}

/// A model for each of these roles: `--moderator`, `--chair`.
pub fn role_models(roles: impl IntoIterator<Item = &'static str>) -> Vec<Arg> {
    let option = |name: &'static str| {
        let help = format!("The {name}'s model");
        Arg::new(name)
            .long(name)
            .value_name("MODEL")
            .value_parser(parse_model)
            .help(help)
            .help_heading("Seats")
    };
    roles.into_iter().map(option).collect()
}

/// The roles of all protocols, for verbs that do not know yet which protocol will run.
pub fn all_roles() -> &'static [&'static str] {
    static ROLES: OnceLock<Vec<&'static str>> = OnceLock::new();
    ROLES.get_or_init(|| {
        let roles = agon_protocols::all().flat_map(|protocol| protocol.info().named_roles());
        roles.collect::<BTreeSet<_>>().into_iter().collect()
    })
}

pub fn limits() -> Vec<Arg> {
    let limit = |name: &'static str, value: &'static str, help: &'static str| {
        let arg = Arg::new(name).long(name).value_name(value).help(help).help_heading("Limits");
        arg.allow_negative_numbers(true)
    };
    let timeout = "How long one call may take, `execution.timeout.per_llm_call` [default: 120]";
    vec![
        limit("timeout", "SECONDS", timeout).value_parser(parse_seconds),
        limit("deadline", "SECONDS", "How long the debate may take").value_parser(parse_seconds),
        limit("budget-usd", "X", "The most US dollars that the debate may cost").value_parser(parse_usd),
        limit("max-calls", "N", "The most calls, counting every attempt")
            .value_parser(whole_number(1_u32, None)),
        limit("max-tokens", "N", "The most tokens, input and output together")
            .value_parser(whole_number(1_u64, None)),
    ]
}

/// `--set key=value`.
pub fn set_option() -> Arg {
    Arg::new("set")
        .long("set")
        .value_name("key=value")
        .action(ArgAction::Append)
        .value_parser(parse_pair)
        .help("Set an option of the protocol by its key; `agon protocols` lists them")
        .help_heading("Protocol")
}

/// A flag for each option of a protocol. Keys with a dot are set with `--set` only.
pub fn protocol_options(info: &ProtocolInfo) -> Vec<Arg> {
    info.options.iter().filter(|option| !option.key.contains('.')).map(protocol_option).collect()
}

fn protocol_option(option: &OptionSpec) -> Arg {
    let value_name = match option.kind {
        OptionKind::Int(..) => "N",
        OptionKind::Float(..) => "X",
        OptionKind::Choice(_) => "WORD",
        OptionKind::Flag => "BOOL",
        OptionKind::Text => "TEXT",
        OptionKind::File if option.key == DIFF_PART => "FILE|RANGE",
        OptionKind::File => "FILE",
        OptionKind::Model => "MODEL",
        OptionKind::Models => "A,B",
    };
    // Readers expect a switch to be off by default, so that is not mentioned.
    let is_plain_switch = option.kind == OptionKind::Flag && option.default == "false";
    let default = match option.default.is_empty() || is_plain_switch {
        true => String::new(),
        false => format!(" [default: {}]", option.default),
    };
    let arg = Arg::new(option.key)
        .long(option.key.replace('_', "-"))
        .value_name(value_name)
        .help(format!("{}{default}", agon_core::wording::capitalized(option.help)))
        .help_heading("Protocol");
    match option.kind {
        OptionKind::Choice(words) => arg.value_parser(PossibleValuesParser::new(words)),
        OptionKind::Flag => arg
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_parser(PossibleValuesParser::new(["true", "false"]))
            .hide_possible_values(true),
        OptionKind::Int(..) | OptionKind::Float(..) => arg.allow_negative_numbers(true),
        OptionKind::Text | OptionKind::Model => arg,
        OptionKind::File => arg.value_hint(clap::ValueHint::FilePath),
        // Without a value, the models in the configuration are used.
        OptionKind::Models => arg.num_args(0..=1).default_missing_value(""),
    }
}

fn parse_model(raw: &str) -> Result<String, String> {
    match raw.trim() {
        "" => Err("the name of a model is empty: write provider/model".into()),
        name => Ok(name.to_owned()),
    }
}

fn parse_pair(raw: &str) -> Result<(String, String), String> {
    let (key, value) = raw.split_once('=').ok_or("write it as key=value, for example max_rounds=4")?;
    Ok((key.to_owned(), value.to_owned()))
}

/// What the command line says about seats, limits and the protocol's options.
#[derive(Debug, Default)]
pub struct CliArguments {
    /// `--models`.
    pub models: Vec<String>,
    /// `--moderator` and so on.
    pub roles: BTreeMap<String, String>,
    /// `--seed`.
    pub seed: Option<u64>,
    /// `--remember`.
    pub remember: bool,
    /// The limits that are set.
    pub limits: LimitOverrides,
    /// `--set` and the protocol's own flags. Later pairs outrank earlier ones.
    pub options: Vec<(String, String)>,
}

impl CliArguments {
    /// Reads the options of one protocol's verb.
    pub fn of_protocol(args: &ArgMatches, info: &ProtocolInfo, env: Environment) -> Self {
        let mut arguments = Self::read(args, info.named_roles());
        let flags = info.options.iter().filter_map(|option| {
            let raw = args.try_get_one::<String>(option.key).ok().flatten()?;
            Some((option.key.to_owned(), raw.clone()))
        });
        arguments.options.extend(flags);
        // Variables come first, so that the command line outranks them.
        let variables = info.options.iter().filter_map(|option| {
            let raw = env(option.environment?)?.into_string().ok().filter(|raw| !raw.is_empty())?;
            Some((option.key.to_owned(), raw))
        });
        arguments.options.splice(0..0, variables);
        arguments
    }

    /// Reads the options of a verb that serves every protocol.
    pub fn of_any_protocol(args: &ArgMatches) -> Self {
        Self::read(args, all_roles().iter().copied())
    }

    fn read(args: &ArgMatches, roles: impl IntoIterator<Item = &'static str>) -> Self {
        let pairs = args.try_get_many::<(String, String)>("set").ok().flatten();
        let role = |role: &'static str| {
            Some((role.to_owned(), args.try_get_one::<String>(role).ok().flatten()?.clone()))
        };
        Self {
            models: args.get_many::<String>("models").into_iter().flatten().cloned().collect(),
            roles: roles.into_iter().filter_map(role).collect(),
            seed: args.get_one("seed").copied(),
            remember: matches!(args.try_get_one("remember"), Ok(Some(true))),
            limits: LimitOverrides {
                timeout_ms: args.get_one("timeout").copied(),
                deadline_ms: args.get_one("deadline").copied(),
                budget_usd: args.get_one("budget-usd").copied(),
                max_calls: args.get_one("max-calls").copied(),
                max_tokens: args.get_one("max-tokens").copied(),
                ..LimitOverrides::default()
            },
            options: pairs.into_iter().flatten().cloned().collect(),
        }
    }

    /// A role that was named but that the protocol does not have.
    pub fn role_without_seat(&self, info: &ProtocolInfo) -> Option<&str> {
        let role = self.roles.keys().find(|role| !info.named_roles().any(|known| known == role.as_str()));
        role.map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_only_where_a_shell_would_split_it() {
        for (word, quoted) in
            [("a/b-1.db", "a/b-1.db"), ("my store.db", "'my store.db'"), ("it's", "'it'\\''s'"), ("", "''")]
        {
            assert_eq!(shell_quoted(word), quoted);
        }
    }
}
