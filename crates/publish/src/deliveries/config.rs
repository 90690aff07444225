//! `[destinations.NAME]` and `[[hooks]]` of `agon.toml`, and what a file found in the working directory may not do.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use agon_core::{Invalid, Status};
use agon_host::visible_text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::destination::{Destination, ReportFormat, WebAddress, is_section_name};
use super::retry_policy::TIMEOUT_S_MAX;

const HOOK_KEY_CHARS: usize = 12;
const COMMAND_FORM: &str = "command is the program and its arguments, such as [\"notify\", \"--json\"]";

/// One `[destinations.NAME]`.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DestinationConfig {
    /// What it is. By default a program if there is a `command`, a file if there is a `dir`, and otherwise a callback.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<DestinationKind>,
    /// For a callback or a chat: its address. The address of a chat contains a secret, so keep it in a variable and use `url_env`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The name of the environment variable that holds the address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url_env: Option<String>,
    /// The name of the environment variable with the secret that signs a callback. By default `AGON_CALLBACK_SECRET`, if that
    /// is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_env: Option<String>,
    /// For a program: the program and its arguments. There is no shell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// For files: the folder. Each file is named after its debate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dir: Option<PathBuf>,
    /// For files: the format. By default `json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<ReportFormat>,
    /// How many seconds an attempt may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<f64>,
}

/// What a destination is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DestinationKind {
    /// A server that receives the outcome.
    Callback,
    /// A Slack channel.
    Slack,
    /// A Discord channel.
    Discord,
    /// A program.
    Command,
    /// A file in a folder.
    File,
}

impl DestinationConfig {
    /// What it is, as written or by its fields.
    pub fn kind(&self) -> DestinationKind {
        let by_fields = if !self.command.is_empty() {
            DestinationKind::Command
        } else if self.dir.is_some() {
            DestinationKind::File
        } else {
            DestinationKind::Callback
        };
        self.kind.unwrap_or(by_fields)
    }

    /// The environment variables that a delivery needs.
    pub fn variables(&self) -> Vec<&str> {
        [&self.url_env, &self.secret_env].into_iter().flatten().map(String::as_str).collect()
    }

    /// The same with a relative `dir` starting at `folder`, because the delivery may be made from elsewhere.
    pub fn anchored(mut self, folder: &Path) -> Self {
        self.dir = self.dir.map(|dir| folder.join(dir));
        self
    }

    /// Refuses what cannot work in `[destinations.NAME]`.
    pub fn check(&self, name: &str) -> Result<(), Invalid> {
        match self.problem(name) {
            Some(why) => Err(Invalid(format!("[destinations.{}]: {why}", visible_text(name)))),
            None => Ok(()),
        }
    }

    fn problem(&self, name: &str) -> Option<String> {
        if !is_section_name(name) {
            return Some("the name has letters, digits, `-` and `_` only".into());
        }
        let kind = self.kind();
        let is_web =
            matches!(kind, DestinationKind::Callback | DestinationKind::Slack | DestinationKind::Discord);
        if let Some(field) = self.misplaced_field(kind, is_web) {
            return Some(format!("{field} has no meaning for this kind of destination: remove it"));
        }
        match (&self.url, &self.url_env) {
            (Some(url), None) => {
                if let Err(why) = WebAddress::parse(url) {
                    return Some(format!("url: {why}"));
                }
            }
            (None, Some(_)) => {}
            _ if is_web => {
                return Some("set either url = \"https://...\" or url_env = \"A_VARIABLE\"".into());
            }
            _ => {}
        }
        if kind == DestinationKind::Command && !is_command(&self.command) {
            return Some(COMMAND_FORM.into());
        }
        if kind == DestinationKind::File && self.dir.as_ref().is_none_or(|dir| dir.as_os_str().is_empty()) {
            return Some("set dir to the folder for the files".into());
        }
        for (field, variable) in [("url_env", &self.url_env), ("secret_env", &self.secret_env)] {
            if variable.as_deref().is_some_and(|variable| !is_variable_name(variable)) {
                return Some(format!("{field} is the name of an environment variable, not its value"));
            }
        }
        let is_valid = |seconds: f64| seconds > 0.0 && seconds <= TIMEOUT_S_MAX;
        (!self.timeout_s.is_none_or(is_valid))
            .then(|| format!("timeout_s is a number of seconds greater than 0 and at most {TIMEOUT_S_MAX}"))
    }

    fn misplaced_field(&self, kind: DestinationKind, is_web: bool) -> Option<&'static str> {
        let fields = [
            ("url", self.url.is_some() && !is_web),
            ("url_env", self.url_env.is_some() && !is_web),
            ("secret_env", self.secret_env.is_some() && kind != DestinationKind::Callback),
            ("command", !self.command.is_empty() && kind != DestinationKind::Command),
            ("dir", self.dir.is_some() && kind != DestinationKind::File),
            ("format", self.format.is_some() && kind != DestinationKind::File),
        ];
        fields.into_iter().find(|(_, misplaced)| *misplaced).map(|(field, _)| field)
    }

    pub(super) fn timeout(&self) -> Option<Duration> {
        self.timeout_s.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    }
}

/// Shows no secret that an address may contain.
impl std::fmt::Debug for DestinationConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DestinationConfig")
            .field("kind", &self.kind())
            .field("url", &self.url.as_deref().map(WebAddress::parse))
            .field("url_env", &self.url_env)
            .field("secret_env", &self.secret_env)
            .field("command", &self.command)
            .field("dir", &self.dir)
            .field("format", &self.format)
            .field("timeout_s", &self.timeout_s)
            .finish()
    }
}

/// One of the `[[hooks]]`: what happens after debates.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HookConfig {
    /// Its name in the list of deliveries.
    #[serde(default)]
    pub name: Option<String>,
    /// The endings after which it runs.
    #[serde(default)]
    pub on: HookTrigger,
    /// The protocols after which it runs. By default all.
    #[serde(default)]
    pub protocols: Option<Vec<String>>,
    /// A program that reads the outcome, and its arguments. There is no shell.
    #[serde(default)]
    pub command: Option<Vec<String>>,
    /// An address that receives the outcome, or the name of one of the `[destinations]`.
    #[serde(default)]
    pub webhook: Option<String>,
    /// A file to write for each debate.
    #[serde(default)]
    pub export: Option<ExportConfig>,
}

/// The ending of a debate that a hook runs after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HookTrigger {
    /// With a verdict.
    Complete,
    /// Cut short.
    Incomplete,
    /// Without a verdict.
    Failed,
    /// Any ending.
    #[default]
    Any,
}

impl HookTrigger {
    /// Whether it includes a debate with this status.
    pub fn includes(self, status: Status) -> bool {
        match self {
            Self::Complete => status == Status::Complete,
            Self::Incomplete => status == Status::Incomplete,
            Self::Failed => status == Status::Failed,
            Self::Any => true,
        }
    }
}

/// A file for each debate, named after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportConfig {
    /// Its format.
    #[serde(default)]
    pub format: ReportFormat,
    /// The folder, which is created if needed.
    pub dir: PathBuf,
}

/// The hooks to bind to a debate of this protocol. Whether its ending matches is checked when it is over.
pub fn hooks_for(hooks: &[HookConfig], protocol: &str) -> Vec<Destination> {
    let applies = |hook: &&HookConfig| match &hook.protocols {
        Some(protocols) => protocols.iter().any(|name| name == protocol),
        None => true,
    };
    let keys: BTreeSet<String> = hooks.iter().filter(applies).map(HookConfig::key).collect();
    keys.into_iter().map(Destination::Hook).collect()
}

impl HookConfig {
    /// The same with a relative `export.dir` starting at `folder`. This changes the [key](Self::key) of a hook without a
    /// name, so bind and deliver with the same version of it.
    pub fn anchored(mut self, folder: &Path) -> Self {
        self.export = self.export.map(|export| ExportConfig { dir: folder.join(export.dir), ..export });
        self
    }

    /// Identifies the hook in the outbox: its name, or a hash of its contents. So a delivery that was bound before the
    /// configuration changed never does something else.
    pub fn key(&self) -> String {
        let hash = || {
            let written = serde_json::to_string(self).unwrap_or_default();
            agon_core::event::sha256(&written).chars().take(HOOK_KEY_CHARS).collect()
        };
        self.name.clone().unwrap_or_else(hash)
    }

    /// Why the hook cannot work, if it cannot.
    pub(super) fn problem(&self, destinations: &BTreeMap<String, DestinationConfig>) -> Option<String> {
        if self.name.as_deref().is_some_and(|name| !is_section_name(name)) {
            return Some("the name has letters, digits, `-` and `_` only".into());
        }
        match (&self.command, &self.webhook, &self.export) {
            (Some(command), None, None) => (!is_command(command)).then(|| COMMAND_FORM.to_owned()),
            (None, Some(name), None) if is_section_name(name) => {
                (!destinations.contains_key(name)).then(|| format!("there is no [destinations.{name}]"))
            }
            (None, Some(url), None) => {
                let why = WebAddress::parse(url).err();
                why.map(|why| format!("webhook is the name of a destination or an address: {why}"))
            }
            (None, None, Some(export)) => export
                .dir
                .as_os_str()
                .is_empty()
                .then(|| "set export.dir to the folder for the files".to_owned()),
            _ => {
                Some("set one of command = [..], webhook = \"URL or NAME\", export = { format, dir }".into())
            }
        }
    }
}

/// Shows no secret that an address may contain.
impl std::fmt::Debug for HookConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |to: &String| WebAddress::parse(to).map_or_else(|_| "a name".into(), |to| to.to_string());
        f.debug_struct("HookConfig")
            .field("name", &self.name)
            .field("on", &self.on)
            .field("protocols", &self.protocols)
            .field("command", &self.command)
            .field("webhook", &self.webhook.as_ref().map(shown))
            .field("export", &self.export)
            .finish()
    }
}

/// Refuses a configuration that cannot work, with the section that is wrong.
pub fn check_config(
    destinations: &BTreeMap<String, DestinationConfig>,
    hooks: &[HookConfig],
) -> Result<(), Invalid> {
    destinations.iter().try_for_each(|(name, destination)| destination.check(name))?;
    let mut names = BTreeSet::new();
    for (number, hook) in (1..).zip(hooks) {
        let twice = hook.name.as_ref().filter(|name| !names.insert(name.as_str()));
        let twice = twice.map(|name| format!("another hook has the name {name}"));
        if let Some(why) = hook.problem(destinations).or(twice) {
            return Err(Invalid(format!("[[hooks]] number {number}: {why}")));
        }
    }
    Ok(())
}

fn is_command(words: &[String]) -> bool {
    words.first().is_some_and(|program| !program.trim().is_empty())
        && !words.iter().any(|word| word.contains('\0'))
}

fn is_variable_name(name: &str) -> bool {
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    starts && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct ConfigFile {
        destinations: BTreeMap<String, DestinationConfig>,
        hooks: Vec<HookConfig>,
    }

    fn read(toml: &str) -> Result<ConfigFile, String> {
        let file: ConfigFile = toml::from_str(toml).map_err(|why| why.to_string())?;
        check_config(&file.destinations, &file.hooks).map_err(|why| why.0)?;
        Ok(file)
    }

    #[test]
    fn the_kind_of_a_destination_follows_from_its_fields() {
        let toml = "[destinations.a]\nurl = \"https://a.example/\"\ntimeout_s = 1.5\n[destinations.b]\nkind = \"slack\"\n\
                    url_env = \"B\"\n[destinations.c]\ncommand = [\"notify\"]\n[destinations.d]\ndir = \"out\"\nformat = \"md\"";
        let file = read(toml).unwrap();
        let kinds: Vec<DestinationKind> = file.destinations.values().map(DestinationConfig::kind).collect();
        use DestinationKind::{Callback, Command, File, Slack};
        assert_eq!(kinds, [Callback, Slack, Command, File]);
        assert_eq!(file.destinations["a"].timeout(), Some(Duration::from_millis(1_500)));
        assert_eq!(file.destinations["d"].format, Some(ReportFormat::Markdown));
    }

    #[test]
    fn every_kind_of_wrong_input_is_named() {
        for (toml, part) in [
            ("[destinations.x]", "[destinations.x]: set either url"),
            ("[destinations.x]\nurl = \"http://a/\"\nurl_env = \"A\"", "set either url"),
            ("[destinations.x]\nkind = \"slack\"", "set either url"),
            ("[destinations.x]\nkind = \"teams\"\nurl = \"http://a/\"", "teams"),
            ("[destinations.x]\nurl = \"ftp://a/\"", "url: an address"),
            ("[destinations.x]\nurl = \"http://me:sesame@a/\"", "secret_env"),
            ("[destinations.x]\nurl_env = \"https://sesame/\"", "url_env is the name"),
            ("[destinations.x]\nurl = \"http://a/\"\nsecret_env = \"ses ame\"", "secret_env is the name"),
            ("[destinations.x]\nurl = \"http://a/\"\nsecret = \"sesame\"", "secret"),
            (
                "[destinations.x]\nkind = \"slack\"\nurl = \"http://a/\"\nsecret_env = \"S\"",
                "secret_env has no meaning",
            ),
            ("[destinations.x]\nurl = \"http://a/\"\nformat = \"md\"", "format has no meaning"),
            ("[destinations.x]\nkind = \"file\"\nurl = \"http://a/\"", "url has no meaning"),
            ("[destinations.x]\nkind = \"file\"", "set dir to the folder"),
            ("[destinations.x]\nkind = \"command\"", "command is the program"),
            ("[destinations.x]\ncommand = [\" \"]", "command is the program"),
            ("[destinations.x]\ncommand = [\"a\", \"b\\u0000\"]", "command is the program"),
            ("[destinations.x]\ncommand = [\"a\"]\ndir = \"b\"", "dir has no meaning"),
            ("[destinations.x]\nurl = \"http://a/\"\ntimeout_s = 0", "timeout_s"),
            ("[destinations.x]\nurl = \"http://a/\"\ntimeout_s = 46", "timeout_s"),
            ("[destinations.x]\nurl = \"http://a/\"\ntimeout_s = nan", "timeout_s"),
            ("[destinations.\"a.md\"]\nurl = \"http://a/\"", "letters"),
            (
                "[destinations.\"a\\u001b[2J\"]\nurl = \"http://a/\"",
                "[destinations.a\u{fffd}[2J]: the name has letters",
            ),
            ("[[hooks]]", "[[hooks]] number 1: set one of"),
            ("[[hooks]]\ncommand = [\"a\"]\nwebhook = \"http://a/\"", "set one of"),
            ("[[hooks]]\ncommand = []", "command is the program"),
            ("[[hooks]]\nwebhook = \"ops\"", "there is no [destinations.ops]"),
            ("[[hooks]]\nwebhook = \"ftp://a/\"", "webhook is the name of a destination or an address"),
            ("[[hooks]]\nexport = { dir = \"\" }", "export.dir"),
            ("[[hooks]]\nexport = { format = \"docx\", dir = \"a\" }", "docx"),
            ("[[hooks]]\non = \"sometimes\"\ncommand = [\"a\"]", "sometimes"),
            ("[[hooks]]\nname = \"a b\"\ncommand = [\"a\"]", "letters"),
            (
                "[[hooks]]\nname = \"a\"\ncommand = [\"a\"]\n[[hooks]]\nname = \"a\"\ncommand = [\"b\"]",
                "[[hooks]] number 2: another hook has the name a",
            ),
        ] {
            let why = read(toml).unwrap_err();
            assert!(why.contains(part), "{toml}: {why}");
            assert!(!why.contains("sesame@") && !why.contains("ses ame"), "{why}");
        }
    }

    /// A delivery is stored with the configuration it was bound with.
    #[test]
    fn a_configuration_survives_a_round_trip_through_json() {
        let toml = "[destinations.a]\nurl = \"https://a.example/x\"\nsecret_env = \"S\"\ntimeout_s = 1.5\n[destinations.b]\n\
                    kind = \"slack\"\nurl_env = \"B\"\n[destinations.c]\ncommand = [\"notify\", \"-\"]\n[destinations.d]\n\
                    dir = \"out\"\nformat = \"md\"\n[destinations.e]\ndir = \"/abs\"\n[[hooks]]\nname = \"f\"\nwebhook = \"b\"\n\
                    [[hooks]]\nname = \"g\"\nexport = { dir = \"out\" }\n[[hooks]]\nname = \"h\"\nwebhook = \"http://a/\"";
        let ConfigFile { destinations, hooks } = read(toml).unwrap();
        for (name, config) in &destinations {
            let json = serde_json::to_string(config).unwrap();
            assert_eq!(&serde_json::from_str::<DestinationConfig>(&json).unwrap(), config, "{json}");
            assert!(!json.contains("null") && config.check(name).is_ok(), "{json}");
        }
        let variables: Vec<Vec<&str>> = destinations.values().map(DestinationConfig::variables).collect();
        assert_eq!(variables, [vec!["S"], vec!["B"], vec![], vec![], vec![]]);
        let dir = |name: &str| destinations[name].clone().anchored(Path::new("/home/me")).dir;
        assert_eq!((dir("d"), dir("e"), dir("a")), (Some("/home/me/out".into()), Some("/abs".into()), None));
        let export = |place: usize| hooks[place].clone().anchored(Path::new("/home/me")).export;
        assert_eq!((export(0), export(1).unwrap().dir), (None, PathBuf::from("/home/me/out")));
    }

    #[test]
    fn debug_output_shows_no_secrets() {
        let toml = "[destinations.a]\nurl = \"https://a.example/SESAME\"\n[[hooks]]\nwebhook = \"https://a.example/SESAME\"";
        let shown = format!("{:?}", read(toml).unwrap());
        assert!(shown.contains("https://a.example/\u{2026}") && !shown.contains("SESAME"), "{shown}");
    }
}
