//! `[destinations.NAME]` of `agon.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use agon_core::Invalid;
use serde::{Deserialize, Serialize};

use crate::deliveries::destination::{Address, Format, is_name};
use crate::deliveries::hooks::HookConfig;
use crate::deliveries::policy::TIMEOUT_S_MAX;
use crate::deliveries::visible::visible;

/// One `[destinations.NAME]`.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DestinationConfig {
    /// What it is; when not given, a program where there is a `command`, a file where there is a `dir`, else a callback.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Its address. One with a secret in it, as chats have them, is better kept in a variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The environment variable that holds its address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url_env: Option<String>,
    /// The environment variable with the secret that a callback is signed with;
    /// [`CALLBACK_SECRET`](crate::deliveries::signature::CALLBACK_SECRET), where that is set, when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_env: Option<String>,
    /// The program and its arguments. No shell reads them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The folder that files are put into, each under the name of its debate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dir: Option<PathBuf>,
    /// What a file is written in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// How long an attempt may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<f64>,
}

/// What a destination is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A server that is called with the outcome.
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
    /// What it is.
    pub fn kind(&self) -> Kind {
        let seen = if !self.command.is_empty() {
            Kind::Command
        } else if self.dir.is_some() {
            Kind::File
        } else {
            Kind::Callback
        };
        self.kind.unwrap_or(seen)
    }

    /// The environment variables that a delivery needs: in a run without them it is better left alone.
    pub fn variables(&self) -> Vec<&str> {
        [&self.url_env, &self.secret_env].into_iter().flatten().map(String::as_str).collect()
    }

    /// The same with a `dir` that begins at `folder`, for the delivery may be made from elsewhere.
    pub fn anchored(mut self, folder: &Path) -> Self {
        self.dir = self.dir.map(|dir| folder.join(dir));
        self
    }

    /// Refuses what cannot work in `[destinations.NAME]`, and says where it stands.
    pub fn check(&self, name: &str) -> Result<(), Invalid> {
        self.wrong(name)
            .map_or(Ok(()), |why| Err(Invalid(format!("[destinations.{}]: {why}", visible(name)))))
    }

    fn wrong(&self, name: &str) -> Option<String> {
        if !is_name(name) {
            return Some("the name has letters, digits, `-` and `_` only".into());
        }
        let kind = self.kind();
        let posted = matches!(kind, Kind::Callback | Kind::Slack | Kind::Discord);
        if let Some(extra) = self.out_of_place(kind, posted) {
            return Some(format!("{extra} has no meaning for this kind of destination: leave it away"));
        }
        match (&self.url, &self.url_env) {
            (Some(url), None) => {
                if let Err(why) = Address::parse(url) {
                    return Some(format!("url: {why}"));
                }
            }
            (None, Some(_)) => {}
            _ if posted => {
                return Some("give either url = \"https://...\" or url_env = \"A_VARIABLE\"".into());
            }
            _ => {}
        }
        if kind == Kind::Command && wrong_program(&self.command) {
            return Some("command is the program and its arguments, such as [\"notify\", \"--json\"]".into());
        }
        if kind == Kind::File && self.dir.as_ref().is_none_or(|dir| dir.as_os_str().is_empty()) {
            return Some("dir is the folder that the files are put into".into());
        }
        let variables = [("url_env", &self.url_env), ("secret_env", &self.secret_env)];
        for (field, variable) in variables {
            if variable.as_deref().is_some_and(|variable| !is_variable(variable)) {
                return Some(format!("{field} is the name of an environment variable, not what it holds"));
            }
        }
        let sane = |seconds: f64| seconds > 0.0 && seconds <= TIMEOUT_S_MAX;
        (!self.timeout_s.is_none_or(sane))
            .then(|| format!("timeout_s is a number of seconds over 0, at most {TIMEOUT_S_MAX}"))
    }

    fn out_of_place(&self, kind: Kind, posted: bool) -> Option<&'static str> {
        let fields = [
            ("url", self.url.is_some() && !posted),
            ("url_env", self.url_env.is_some() && !posted),
            ("secret_env", self.secret_env.is_some() && kind != Kind::Callback),
            ("command", !self.command.is_empty() && kind != Kind::Command),
            ("dir", self.dir.is_some() && kind != Kind::File),
            ("format", self.format.is_some() && kind != Kind::File),
        ];
        fields.into_iter().find(|(_, wrong)| *wrong).map(|(field, _)| field)
    }

    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.timeout_s.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    }
}

// An address may hold a secret, and a configuration is printed by whoever looks for a mistake in it.
impl std::fmt::Debug for DestinationConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DestinationConfig")
            .field("kind", &self.kind())
            .field("url", &self.url.as_deref().map(Address::parse))
            .field("url_env", &self.url_env)
            .field("secret_env", &self.secret_env)
            .field("command", &self.command)
            .field("dir", &self.dir)
            .field("format", &self.format)
            .field("timeout_s", &self.timeout_s)
            .finish()
    }
}

/// Refuses what cannot work, and says where it stands.
pub fn check(
    destinations: &BTreeMap<String, DestinationConfig>,
    hooks: &[HookConfig],
) -> Result<(), Invalid> {
    destinations.iter().try_for_each(|(name, destination)| destination.check(name))?;
    let mut names = BTreeSet::new();
    for (number, hook) in (1..).zip(hooks) {
        let twice = hook.name.as_ref().filter(|name| !names.insert(name.as_str()));
        let twice = twice.map(|name| format!("there is another hook of the name {name}"));
        if let Some(why) = hook.wrong(destinations).or(twice) {
            return Err(Invalid(format!("[[hooks]] number {number}: {why}")));
        }
    }
    Ok(())
}

/// Whether this is no program with its arguments.
pub(crate) fn wrong_program(program: &[String]) -> bool {
    let blank = program.first().is_none_or(|program| program.trim().is_empty());
    blank || program.iter().any(|word| word.contains('\0'))
}

fn is_variable(name: &str) -> bool {
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    starts && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct File {
        destinations: BTreeMap<String, DestinationConfig>,
        hooks: Vec<HookConfig>,
    }

    fn read(toml: &str) -> Result<File, String> {
        let file: File = toml::from_str(toml).map_err(|why| why.to_string())?;
        check(&file.destinations, &file.hooks).map_err(|why| why.0)?;
        Ok(file)
    }

    #[test]
    fn a_destination_is_what_its_fields_say() {
        let toml = "[destinations.a]\nurl = \"https://a.example/\"\ntimeout_s = 1.5\n[destinations.b]\nkind = \"slack\"\n\
                    url_env = \"B\"\n[destinations.c]\ncommand = [\"notify\"]\n[destinations.d]\ndir = \"out\"\nformat = \"md\"";
        let file = read(toml).unwrap();
        let kinds: Vec<Kind> = file.destinations.values().map(DestinationConfig::kind).collect();
        assert_eq!(kinds, [Kind::Callback, Kind::Slack, Kind::Command, Kind::File]);
        assert_eq!(file.destinations["a"].timeout(), Some(Duration::from_millis(1_500)));
        assert_eq!(file.destinations["d"].format, Some(Format::Markdown));
    }

    #[test]
    fn wrong_input_of_every_kind_is_named() {
        for (toml, named) in [
            ("[destinations.x]", "[destinations.x]: give either url"),
            ("[destinations.x]\nurl = \"http://a/\"\nurl_env = \"A\"", "give either url"),
            ("[destinations.x]\nkind = \"slack\"", "give either url"),
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
            ("[destinations.x]\nkind = \"file\"", "dir is the folder"),
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
            ("[[hooks]]", "[[hooks]] number 1: give one of"),
            ("[[hooks]]\ncommand = [\"a\"]\nwebhook = \"http://a/\"", "give one of"),
            ("[[hooks]]\ncommand = []", "command is the program"),
            ("[[hooks]]\nwebhook = \"ops\"", "there is no [destinations.ops]"),
            ("[[hooks]]\nwebhook = \"ftp://a/\"", "webhook is a name of a destination or an address"),
            ("[[hooks]]\nexport = { dir = \"\" }", "export.dir"),
            ("[[hooks]]\nexport = { format = \"docx\", dir = \"a\" }", "docx"),
            ("[[hooks]]\non = \"sometimes\"\ncommand = [\"a\"]", "sometimes"),
            ("[[hooks]]\nname = \"a b\"\ncommand = [\"a\"]", "letters"),
            (
                "[[hooks]]\nname = \"a\"\ncommand = [\"a\"]\n[[hooks]]\nname = \"a\"\ncommand = [\"b\"]",
                "[[hooks]] number 2: there is another hook of the name a",
            ),
        ] {
            let why = read(toml).unwrap_err();
            assert!(why.contains(named), "{toml}: {why}");
            assert!(!why.contains("sesame@") && !why.contains("ses ame"), "{why}");
        }
    }

    /// "it is stored with the delivery, as it was configured when it was bound"
    #[test]
    fn a_destination_is_kept_as_it_was_configured() {
        let toml = "[destinations.a]\nurl = \"https://a.example/x\"\nsecret_env = \"S\"\ntimeout_s = 1.5\n[destinations.b]\n\
                    kind = \"slack\"\nurl_env = \"B\"\n[destinations.c]\ncommand = [\"notify\", \"-\"]\n[destinations.d]\n\
                    dir = \"out\"\nformat = \"md\"\n[destinations.e]\ndir = \"/abs\"\n[[hooks]]\nname = \"f\"\nwebhook = \"b\"\n\
                    [[hooks]]\nname = \"g\"\nexport = { dir = \"out\" }\n[[hooks]]\nname = \"h\"\nwebhook = \"http://a/\"";
        let File { destinations, hooks } = read(toml).unwrap();
        for (name, config) in &destinations {
            let kept = serde_json::to_string(config).unwrap();
            assert_eq!(&serde_json::from_str::<DestinationConfig>(&kept).unwrap(), config, "{kept}");
            assert!(!kept.contains("null") && config.check(name).is_ok(), "{kept}");
        }
        let variables: Vec<Vec<&str>> = destinations.values().map(DestinationConfig::variables).collect();
        assert_eq!(variables, [vec!["S"], vec!["B"], vec![], vec![], vec![]]);
        let variables: Vec<Vec<&str>> = hooks.iter().map(|hook| hook.variables(&destinations)).collect();
        assert_eq!(variables, [vec!["B"], vec![], vec![]]);
        let dir = |name: &str| destinations[name].clone().anchored(Path::new("/home/me")).dir;
        assert_eq!((dir("d"), dir("e"), dir("a")), (Some("/home/me/out".into()), Some("/abs".into()), None));
        let export = |place: usize| hooks[place].clone().anchored(Path::new("/home/me")).export;
        assert_eq!((export(0), export(1).unwrap().dir), (None, PathBuf::from("/home/me/out")));
    }

    #[test]
    fn a_configuration_is_printed_without_its_secrets() {
        let toml = "[destinations.a]\nurl = \"https://a.example/SESAME\"\n[[hooks]]\nwebhook = \"https://a.example/SESAME\"";
        let told = format!("{:?}", read(toml).unwrap());
        assert!(told.contains("https://a.example/\u{2026}") && !told.contains("SESAME"), "{told}");
    }

    #[test]
    fn a_found_config_sends_runs_and_writes_nothing_outside() {
        for (toml, named) in [
            (
                "[destinations.x]\nurl = \"https://a.example/s\"",
                Some("[destinations.x] would send what is debated to https://a.example/"),
            ),
            ("[destinations.x]\nurl_env = \"HOOK\"", Some("to the address in HOOK")),
            ("[destinations.x]\ncommand = [\"rm\\u001b[2J\"]", Some("run the program \"rm[2J\"")),
            ("[destinations.x]\ndir = \"/etc\"", Some("write files outside")),
            ("[[hooks]]\ncommand = [\"rm\"]", Some("[[hooks]] number 1 would run the program \"rm\"")),
            ("[[hooks]]\nwebhook = \"http://127.0.0.1.a.example/\"", Some("send what is debated")),
            ("[[hooks]]\nexport = { dir = \"../x\" }", Some("write files outside")),
            ("[destinations.x]\nurl = \"http://127.0.0.1:8080/\"\n[[hooks]]\nwebhook = \"x\"", None),
            ("[[hooks]]\nwebhook = \"http://localhost/\"", None),
            ("[[hooks]]\nexport = { dir = \"./results/arena\" }", None),
        ] {
            let file = read(toml).unwrap();
            let told = crate::deliveries::check_found(&file.destinations, &file.hooks).err().map(|why| why.0);
            match named {
                None => assert_eq!(told, None, "{toml}"),
                Some(named) => {
                    let told = told.unwrap();
                    assert!(told.contains(named) && told.contains("--config agon.toml"), "{toml}: {told}");
                }
            }
        }
    }
}
