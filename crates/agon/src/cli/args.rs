//! The options that several verbs share: how they are declared, and what was said with them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agon_core::{Kind, Opt, Protocol};
use agon_report::Gate;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, value_parser};

use super::limits::{Wanted, seconds, usd, whole};
use super::place::Env;

/// The name by which `--set` knows the limit on a call's time, as the protocols' settings do.
pub const TIMEOUT_KEY: &str = "execution.timeout.per_llm_call";
/// The largest seed: what JSON readers that hold numbers as floats keep whole.
const SEED_MAX: u64 = (1 << 53) - 1;
const SAVE_DIR: &str = "agon-debates";

/// `--config` and `--db`.
pub fn files() -> [Arg; 2] {
    [config(), db()]
}

/// `--config`.
pub fn config() -> Arg {
    let help = "The configuration [default: ./agon.toml, then agon.toml in the configuration folder]";
    path("config", "FILE", help).help_heading("Files")
}

/// `--db`.
pub fn db() -> Arg {
    let help = "The store [default: AGON_HOME/agon.db, else agon.db in the data folder]";
    path("db", "FILE", help).help_heading("Files")
}

/// ` --db FILE` as it must be said again for the same store; empty when it was not said.
pub fn same_store(args: &ArgMatches) -> String {
    args.get_one::<PathBuf>("db")
        .map(|file| format!(" --db {}", quoted(&file.to_string_lossy())))
        .unwrap_or_default()
}

/// A word as a shell takes it for one word.
pub fn quoted(word: &str) -> String {
    let plain = |char: char| char.is_alphanumeric() || "_-./:,=+@%".contains(char);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// An option whose value is a path, which need not be UTF-8.
pub fn path(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).value_parser(value_parser!(PathBuf)).help(help)
}

/// A switch.
pub fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// `--json` for verbs that print something else by default.
pub fn json() -> Arg {
    switch("json", "Print one JSON document on stdout and nothing else there")
}

/// How a debate's result is given: on the screen, as JSON, as the log.
pub fn face() -> [Arg; 4] {
    let save = path(
        "save",
        "DIR",
        "Also write report.md, outcome.json, log.ndjson and the protocol's own records into DIR/ID",
    )
    .num_args(0..=1)
    .default_missing_value(SAVE_DIR);
    [
        json().conflicts_with("events"),
        switch("events", "Print the log on stdout as it happens, one JSON event a line"),
        switch("quiet", "Print nothing but the result"),
        save,
    ]
    .map(|arg| arg.help_heading("Output"))
}

/// How a verdict that is a gate is given to a pipeline, and whether its files are written.
pub fn gate() -> [Arg; 2] {
    let names = std::iter::once("text").chain(Gate::NAMES);
    [
        Arg::new("format")
            .long("format")
            .value_name("FORMAT")
            .value_parser(PossibleValuesParser::new(names))
            .conflicts_with_all(["json", "events"])
            .help("What to print: the report, annotations for a pull request, a SARIF file, a JUnit report [default: text]"),
        no_files(),
    ]
    .map(|arg| arg.help_heading("Output"))
}

/// `--no-files`.
pub fn no_files() -> Arg {
    switch("no-files", "Write no files of a review into .agents/council").help_heading("Output")
}

/// Who sits and by which chance.
pub fn seats() -> [Arg; 2] {
    let models = "The models, one per seat, cycling: provider/model, or a fallback chain A|B";
    [
        Arg::new("models")
            .long("models")
            .value_name("A,B,C")
            .value_delimiter(',')
            .value_parser(model)
            .help(models),
        Arg::new("seed")
            .long("seed")
            .value_name("N")
            .allow_negative_numbers(true)
            .value_parser(whole(0, Some(SEED_MAX)))
            .help("Where every shuffle and draw comes from [default: random]"),
    ]
    .map(|arg| arg.help_heading("Seats"))
}

/// A model for each of these roles.
pub fn roles<'a>(roles: impl IntoIterator<Item = &'a &'static str>) -> Vec<Arg> {
    let role = |name: &&'static str| {
        let help = format!("The {name}'s model");
        Arg::new(*name).long(*name).value_name("MODEL").value_parser(model).help(help).help_heading("Seats")
    };
    roles.into_iter().map(role).collect()
}

/// The limits.
pub fn limits() -> Vec<Arg> {
    let limit = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name(value)
            .help(help)
            .help_heading("Limits")
            .allow_negative_numbers(true)
    };
    let calls = limit("max-calls", "N", "The most calls, every attempt counted");
    let tokens = limit("max-tokens", "N", "The most tokens, read and written together");
    vec![
        limit(
            "timeout",
            "SECONDS",
            "How long one call may take, `execution.timeout.per_llm_call` [default: 120]",
        )
        .value_parser(seconds),
        limit("deadline", "SECONDS", "How long the debate may take").value_parser(seconds),
        limit("budget-usd", "X", "The most US dollars that the debate may cost").value_parser(usd),
        calls.value_parser(whole(1_u32, None)),
        tokens.value_parser(whole(1_u64, None)),
    ]
}

/// `--set key=value`.
pub fn set() -> Arg {
    Arg::new("set")
        .long("set")
        .value_name("key=value")
        .action(ArgAction::Append)
        .value_parser(pair)
        .help("Set an option of the protocol by its key; `agon protocols` lists them")
        .help_heading("Protocol")
}

/// A flag for each option of a protocol whose key can be one.
pub fn options(protocol: &dyn Protocol) -> Vec<Arg> {
    protocol.options().iter().filter(|opt| !opt.key.contains('.')).map(option).collect()
}

fn option(opt: &Opt) -> Arg {
    let (value, default) = match opt.kind {
        Kind::Int(..) => ("N", opt.default),
        Kind::Float(..) => ("X", opt.default),
        Kind::Choice(_) => ("WORD", opt.default),
        // A switch that is off until somebody turns it on goes without saying.
        Kind::Flag => ("BOOL", if opt.default == "false" { "" } else { opt.default }),
        Kind::Text => ("TEXT", opt.default),
        Kind::File => ("FILE", opt.default),
        Kind::Models => ("A,B", opt.default),
    };
    let default = if default.is_empty() { String::new() } else { format!(" [default: {default}]") };
    let arg = Arg::new(opt.key)
        .long(opt.key.replace('_', "-"))
        .value_name(value)
        .help(format!("{}{default}", capital(opt.help)))
        .help_heading("Protocol");
    match opt.kind {
        Kind::Choice(words) => arg.value_parser(PossibleValuesParser::new(words)),
        Kind::Flag => arg
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_parser(PossibleValuesParser::new(["true", "false"]))
            .hide_possible_values(true),
        Kind::Int(..) | Kind::Float(..) => arg.allow_negative_numbers(true),
        Kind::Text => arg,
        Kind::File => arg.value_hint(clap::ValueHint::FilePath),
        // Without a name, those of the configuration are meant.
        Kind::Models => arg.num_args(0..=1).default_missing_value(""),
    }
}

fn capital(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map(|first| first.to_uppercase().chain(rest).collect()).unwrap_or_default()
}

fn model(raw: &str) -> Result<String, String> {
    match raw.trim() {
        "" => Err("a model's name is empty: write provider/model".into()),
        name => Ok(name.to_owned()),
    }
}

fn pair(raw: &str) -> Result<(String, String), String> {
    let (key, value) = raw.split_once('=').ok_or("write it as key=value, for instance max_rounds=4")?;
    Ok((key.to_owned(), value.to_owned()))
}

/// What was said about who sits, the limits and the protocol's options.
#[derive(Debug, Default)]
pub struct Said {
    /// `--models`.
    pub models: Vec<String>,
    /// `--moderator` and so on.
    pub roles: BTreeMap<String, String>,
    /// `--seed`.
    pub seed: Option<u64>,
    /// The limits that were set.
    pub limits: Wanted,
    /// `--set` and the protocol's own flags, which come last and so win.
    pub options: Vec<(String, String)>,
}

impl Said {
    /// With what the environment says of the protocol's options; what was said on the command line wins.
    pub fn under(mut self, protocol: &dyn Protocol, env: Env) -> Self {
        let variables = protocol.environment().iter().filter_map(|(variable, key)| {
            let raw = env(variable)?.into_string().ok().filter(|raw| !raw.is_empty())?;
            Some(((*key).to_owned(), raw))
        });
        self.options.splice(0..0, variables);
        self
    }

    /// Reads the options of [`seats`], [`roles`], [`limits`], [`set`] and [`options`].
    pub fn read(args: &ArgMatches, roles: &[&'static str], table: &[Opt]) -> Self {
        let pairs =
            args.try_get_many::<(String, String)>("set").ok().flatten().into_iter().flatten().cloned();
        let flags = table.iter().filter_map(|opt| {
            let raw = args.try_get_one::<String>(opt.key).ok().flatten()?;
            Some((opt.key.to_owned(), raw.clone()))
        });
        let limits = Wanted {
            timeout_ms: args.get_one("timeout").copied(),
            deadline_ms: args.get_one("deadline").copied(),
            budget_usd: args.get_one("budget-usd").copied(),
            max_calls: args.get_one("max-calls").copied(),
            max_tokens: args.get_one("max-tokens").copied(),
            ..Wanted::default()
        };
        Self {
            models: args.get_many::<String>("models").into_iter().flatten().cloned().collect(),
            roles: roles
                .iter()
                .filter_map(|role| Some(((*role).to_owned(), args.get_one::<String>(role)?.clone())))
                .collect(),
            seed: args.get_one("seed").copied(),
            limits,
            options: pairs.chain(flags).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_only_where_a_shell_would_take_it_apart() {
        for (word, want) in
            [("a/b-1.db", "a/b-1.db"), ("my store.db", "'my store.db'"), ("it's", "'it'\\''s'"), ("", "''")]
        {
            assert_eq!(quoted(word), want);
        }
    }
}
