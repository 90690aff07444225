//! The sections `[commands.NAME]` and `[humans.NAME]` of `agon.toml`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use agon_core::Invalid;
use serde::Deserialize;

/// One `[commands.NAME]`: a program that reads a prompt on its standard input and answers on its standard output.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandConfig {
    /// The program and its arguments. No shell reads them. A bare name is looked for in `PATH`; a path is taken from where
    /// Agon was started.
    #[serde(rename = "command", alias = "program")]
    pub program: Vec<String>,
    /// How long it may take to answer; the debate's own limit when not given.
    #[serde(default)]
    pub timeout_s: Option<f64>,
    /// The most that it may write; [`OUTPUT_BYTES_MAX`] when not given.
    #[serde(default)]
    pub output_bytes_max: Option<u64>,
    /// The environment variables that it gets, beside `PATH` and `HOME`. When not given it gets all of them, keys
    /// included: a coding agent looks for its own.
    #[serde(default)]
    pub env: Option<Vec<String>>,
    /// The folder that it runs in; Agon's own when not given.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    /// Whether a call of it costs nothing. When not, its price is not known, and a budget in dollars is refused.
    #[serde(default)]
    pub free: bool,
}

/// One `[humans.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HumanConfig {
    /// How long the person may take to answer; [`HUMAN_TIMEOUT`] when not given.
    pub timeout_s: Option<f64>,
}

/// The most that a program may write, where its section does not say.
pub const OUTPUT_BYTES_MAX: u64 = 1 << 20;
/// How long a person may take, where the section does not say.
pub const HUMAN_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// An answer is kept in memory, in the log and in later prompts.
const OUTPUT_BYTES_LIMIT: u64 = 64 << 20;
const TIMEOUT_S_MAX: f64 = 7.0 * 24.0 * 3600.0;

impl CommandConfig {
    /// Refuses what cannot work in `[commands.NAME]`, and says where it stands.
    pub fn check(&self, name: &str) -> Result<(), Invalid> {
        let wrong = |why: String| Err(Invalid(format!("[commands.{name}]: {why}")));
        if let Err(why) = check_name(name) {
            return wrong(why);
        }
        if self.program.first().is_none_or(|program| program.trim().is_empty()) {
            return wrong(
                "command is the program and its arguments, such as [\"my-agent\", \"--print\"]".into(),
            );
        }
        if self.program.iter().any(|word| word.contains('\0')) {
            return wrong("command has a character in it that no program can be given".into());
        }
        if let Err(why) = timeout(self.timeout_s) {
            return wrong(why);
        }
        if self.output_bytes_max.is_some_and(|bytes| !(1..=OUTPUT_BYTES_LIMIT).contains(&bytes)) {
            return wrong(format!("output_bytes_max is from 1 to {OUTPUT_BYTES_LIMIT}"));
        }
        let mut variables = self.env.iter().flatten();
        if variables.any(|variable| variable.is_empty() || variable.contains(['=', '\0'])) {
            return wrong("env is a list of names of environment variables, without their values".into());
        }
        Ok(())
    }

    /// How long it may take.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        timeout(self.timeout_s).ok().flatten()
    }
}

impl HumanConfig {
    /// Refuses what cannot work in `[humans.NAME]`, and says where it stands.
    pub fn check(&self, name: &str) -> Result<(), Invalid> {
        let checked = check_name(name).and_then(|()| timeout(self.timeout_s).map(drop));
        checked.map_err(|why| Invalid(format!("[humans.{name}]: {why}")))
    }

    /// How long the person may take.
    pub(crate) fn timeout(&self) -> Duration {
        timeout(self.timeout_s).ok().flatten().unwrap_or(HUMAN_TIMEOUT)
    }
}

/// Refuses programs in a configuration that nobody has named, such as an `agon.toml` that lies in the current folder: it
/// may have come with somebody else's files.
pub fn check_found(commands: &BTreeMap<String, CommandConfig>) -> Result<(), Invalid> {
    let Some((name, command)) = commands.first_key_value() else { return Ok(()) };
    let program = agon_host::clean_line(command.program.first().map_or("", String::as_str));
    Err(Invalid(format!(
        "[commands.{name}] would run the program {program:?}, and this agon.toml was found and not asked for: pass \
         `--config agon.toml` if you trust it"
    )))
}

fn check_name(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    match !name.is_empty() && name.chars().all(plain) {
        true => Ok(()),
        false => Err("the name has letters, digits, `-`, `_` and `.` only".into()),
    }
}

fn timeout(seconds: Option<f64>) -> Result<Option<Duration>, String> {
    match seconds {
        None => Ok(None),
        Some(s) if s > 0.0 && s <= TIMEOUT_S_MAX => {
            Duration::try_from_secs_f64(s).map(Some).map_err(|why| format!("timeout_s: {why}"))
        }
        Some(_) => Err(format!("timeout_s is a number of seconds over 0, at most {TIMEOUT_S_MAX}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    #[derive(Default)]
    struct File {
        commands: BTreeMap<String, CommandConfig>,
        humans: BTreeMap<String, HumanConfig>,
    }

    fn check(toml: &str) -> Result<File, String> {
        let file: File = toml::from_str(toml).map_err(|why| why.to_string())?;
        let commands = file.commands.iter().try_for_each(|(name, command)| command.check(name));
        let humans = file.humans.iter().try_for_each(|(name, human)| human.check(name));
        commands.and(humans).map_err(|why| why.0).map(|()| file)
    }

    #[test]
    fn the_sections_are_read_and_have_defaults() {
        let file = check(
            "[commands.agent]\ncommand = [\"agent\", \"-p\"]\ntimeout_s = 1.5\nenv = [\"AGENT_KEY\"]\n\
             [commands.script]\nprogram = [\"./x\"]\nfree = true\n[humans.anna]\n[humans.bob]\ntimeout_s = 60",
        )
        .unwrap();
        let agent = &file.commands["agent"];
        assert_eq!((agent.program.len(), agent.timeout()), (2, Some(Duration::from_millis(1_500))));
        assert_eq!((file.commands["script"].timeout(), file.commands["script"].free), (None, true));
        assert_eq!(file.humans["anna"].timeout(), Duration::from_secs(900));
        assert_eq!(file.humans["bob"].timeout(), Duration::from_secs(60));
    }

    #[test]
    fn wrong_input_of_every_kind_is_named() {
        for (toml, named) in [
            ("[commands.x]", "command"),
            ("[commands.x]\ncommand = \"agent -p\"", "command"),
            ("[commands.x]\ncommand = []", "[commands.x]: command is the program"),
            ("[commands.x]\ncommand = [\" \"]", "command is the program"),
            ("[commands.x]\ncommand = [\"a\\u0000\"]", "no program can be given"),
            ("[commands.\"a/b\"]\ncommand = [\"a\"]", "letters"),
            ("[commands.x]\ncommand = [\"a\"]\ntimeout_s = 0", "timeout_s"),
            ("[commands.x]\ncommand = [\"a\"]\ntimeout_s = nan", "timeout_s"),
            ("[commands.x]\ncommand = [\"a\"]\ntimeout_s = 1e300", "timeout_s"),
            ("[commands.x]\ncommand = [\"a\"]\noutput_bytes_max = 0", "output_bytes_max"),
            ("[commands.x]\ncommand = [\"a\"]\nenv = [\"A=b\"]", "env"),
            ("[commands.x]\ncommand = [\"a\"]\nshell = true", "shell"),
            ("[humans.x]\ntimeout_s = -1", "[humans.x]: timeout_s"),
            ("[humans.\"a|b\"]", "letters"),
        ] {
            let why = check(toml).unwrap_err();
            assert!(why.contains(named), "{toml}: {why}");
        }
    }

    #[test]
    fn a_found_config_runs_no_program() {
        let file = check("[commands.agent]\ncommand = [\"rm\\u001b[2J\", \"-r\"]").unwrap();
        let why = check_found(&file.commands).unwrap_err().0;
        assert!(why.contains("[commands.agent]") && why.contains("\"rm\""), "{why}");
        assert!(why.contains("--config agon.toml"), "{why}");
        assert_eq!(check_found(&BTreeMap::new()), Ok(()));
    }
}
