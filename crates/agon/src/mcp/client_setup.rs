//! The configuration that makes a client start `agon mcp`.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::cli::errors::CliError;
use crate::cli::output;
use crate::cli::paths::Environment;

/// The name under which clients know the server.
const SERVER: &str = "agon";

/// A program that has agents and reads a configuration of servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentClient {
    /// Its name on the command line.
    pub name: &'static str,
    format: SetupFormat,
    /// Its usual file: below the home directory, or in the working directory.
    file: &'static str,
    is_in_home: bool,
    /// An environment variable that names the folder of the file instead.
    folder_variable: Option<&'static str>,
    /// What to add to the entry so that a key of the user's environment reaches the program.
    key_entry: KeyEntry,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyEntry {
    /// The variable with this value, in `env`.
    Variable(&'static str),
    /// A setting of its own.
    Setting(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SetupFormat {
    /// A JSON object with the servers under this key. `true` if each says that it is a program.
    Json { key: &'static str, has_type: bool },
    /// TOML with a table for each server under this key.
    Toml { key: &'static str },
}

/// The clients that are known.
pub const CLIENTS: [AgentClient; 4] = [
    AgentClient {
        name: "claude-code",
        format: SetupFormat::Json { key: "mcpServers", has_type: true },
        file: ".mcp.json",
        is_in_home: false,
        folder_variable: None,
        key_entry: KeyEntry::Variable("${OPENAI_API_KEY}"),
    },
    AgentClient {
        name: "cursor",
        format: SetupFormat::Json { key: "mcpServers", has_type: false },
        file: ".cursor/mcp.json",
        is_in_home: true,
        folder_variable: None,
        key_entry: KeyEntry::Variable("${env:OPENAI_API_KEY}"),
    },
    AgentClient {
        name: "codex",
        format: SetupFormat::Toml { key: "mcp_servers" },
        file: ".codex/config.toml",
        is_in_home: true,
        folder_variable: Some("CODEX_HOME"),
        key_entry: KeyEntry::Setting(r#"env_vars = ["OPENAI_API_KEY"]"#),
    },
    AgentClient {
        name: "vscode",
        format: SetupFormat::Json { key: "servers", has_type: true },
        file: ".vscode/mcp.json",
        is_in_home: false,
        folder_variable: None,
        key_entry: KeyEntry::Setting(r#""envFile": "/a/file/with/OPENAI_API_KEY""#),
    },
];

/// How a client starts the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerCommand {
    pub program: String,
    pub arguments: Vec<String>,
    /// Variables that say where things are. Never a key.
    pub variables: Vec<(&'static str, String)>,
}

impl AgentClient {
    /// The file that the client reads.
    pub fn usual_file(&self, env: Environment<'_>) -> Result<PathBuf, CliError> {
        let own = self.folder_variable.and_then(env);
        match (own, self.is_in_home) {
            (Some(folder), _) => {
                let name = Path::new(self.file).file_name().unwrap_or_default();
                Ok(Path::new(&folder).join(name))
            }
            (None, true) => {
                let home = env("HOME").or_else(|| env("USERPROFILE"));
                let home = home.ok_or_else(|| CliError::input("no home directory is set: set HOME"))?;
                Ok(Path::new(&home).join(self.file))
            }
            (None, false) => Ok(PathBuf::from(self.file)),
        }
    }

    /// How the keys of providers reach the program.
    pub fn keys_note(&self, command: &ServerCommand) -> String {
        let what = match self.key_entry {
            KeyEntry::Variable(value) if command.variables.is_empty() => {
                format!(r#""env": {{"OPENAI_API_KEY": "{value}"}} to the entry"#)
            }
            KeyEntry::Variable(value) => format!(r#""OPENAI_API_KEY": "{value}" to "env" of the entry"#),
            KeyEntry::Setting(setting) => format!("{setting} to the entry"),
        };
        let name = self.name;
        format!("keys: {name} may not pass your environment on. For OPENAI_API_KEY, add\n{what}")
    }

    /// The configuration as the client's file has it, without anything else.
    pub fn setup_text(&self, command: &ServerCommand) -> String {
        match self.format {
            SetupFormat::Json { key, has_type } => {
                format!("{:#}\n", json!({key: {SERVER: json_server(command, has_type)}}))
            }
            SetupFormat::Toml { key } => toml_server(key, command),
        }
    }

    /// The text of the client's file with the configuration in it; `None` if it is there already. Nothing else in the file changes.
    pub fn merged_text(&self, earlier: &str, command: &ServerCommand) -> Result<Option<String>, String> {
        match self.format {
            SetupFormat::Json { key, has_type } => merged_json(earlier, key, json_server(command, has_type)),
            SetupFormat::Toml { key } => merged_toml(earlier, key, command),
        }
    }

    /// Writes the configuration into the client's file. Returns whether it was not there yet.
    pub fn write(&self, file: &Path, command: &ServerCommand) -> Result<bool, CliError> {
        let earlier = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(why) => return Err(CliError::file(file, format!("it cannot be read: {why}"))),
        };
        let refused = |why: String| {
            let by_hand = format!("add this by hand:\n{}", self.setup_text(command));
            CliError::file(file, format!("{why}. Nothing was changed")).with_help(by_hand)
        };
        let Some(text) = self.merged_text(&earlier, command).map_err(refused)? else { return Ok(false) };
        if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            output::create_folder(folder)?;
        }
        output::write_file(file, &text)?;
        Ok(true)
    }
}

fn json_server(command: &ServerCommand, has_type: bool) -> Value {
    let mut server = Map::new();
    if has_type {
        server.insert("type".into(), json!("stdio"));
    }
    server.insert("command".into(), json!(command.program));
    server.insert("args".into(), json!(command.arguments));
    if !command.variables.is_empty() {
        let variables = command.variables.iter().map(|(name, value)| ((*name).to_owned(), json!(value)));
        server.insert("env".into(), Value::Object(variables.collect()));
    }
    Value::Object(server)
}

fn toml_server(key: &str, command: &ServerCommand) -> String {
    let text = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let arguments: Vec<String> = command.arguments.iter().map(|argument| text(argument)).collect();
    let variables: Vec<String> =
        command.variables.iter().map(|(name, value)| format!("{name} = {}", text(value))).collect();
    let variables = match variables.is_empty() {
        true => String::new(),
        false => format!("env = {{ {} }}\n", variables.join(", ")),
    };
    let (program, arguments) = (text(&command.program), arguments.join(", "));
    format!("[{key}.{SERVER}]\ncommand = {program}\nargs = [{arguments}]\n{variables}")
}

const OTHER_SERVER: &str = "there is a server of this name with other settings already";

fn merged_json(earlier: &str, key: &str, server: Value) -> Result<Option<String>, String> {
    let earlier = if earlier.trim().is_empty() { "{}" } else { earlier };
    let mut document: Value =
        serde_json::from_str(earlier).map_err(|why| format!("it is not plain JSON: {why}"))?;
    let Some(fields) = document.as_object_mut() else { return Err("it is not a JSON object".into()) };
    let servers = fields.entry(key).or_insert_with(|| json!({}));
    let Some(servers) = servers.as_object_mut() else {
        return Err(format!("{key:?} in it is not an object"));
    };
    match servers.get(SERVER) {
        Some(known) if *known == server => return Ok(None),
        Some(_) => return Err(OTHER_SERVER.into()),
        None => servers.insert(SERVER.into(), server),
    };
    Ok(Some(format!("{document:#}\n")))
}

fn merged_toml(earlier: &str, key: &str, command: &ServerCommand) -> Result<Option<String>, String> {
    let read =
        |text: &str| text.parse::<toml::Table>().map_err(|why| format!("it is not TOML: {}", why.message()));
    let known = read(earlier)?;
    let section = toml_server(key, command);
    if let Some(server) = known.get(key).and_then(|servers| servers.get(SERVER)) {
        let wanted = read(&section)?;
        let is_same = wanted.get(key).and_then(|servers| servers.get(SERVER)) == Some(server);
        return if is_same { Ok(None) } else { Err(OTHER_SERVER.into()) };
    }
    let gap = match earlier.trim_end() {
        "" => "",
        _ if earlier.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let merged = format!("{earlier}{gap}{section}");
    // A file whose servers are an inline table cannot have a section added.
    read(&merged)?;
    Ok(Some(merged))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> ServerCommand {
        let variables = vec![("AGON_HOME", "/a \"b\"".to_owned())];
        ServerCommand { program: "/opt/a \"b\"/agon".into(), arguments: vec!["mcp".into()], variables }
    }

    fn client(name: &str) -> &'static AgentClient {
        CLIENTS.iter().find(|client| client.name == name).unwrap()
    }

    /// "merging with what is there, never destroying it"
    #[test]
    fn what_is_in_a_json_file_stays_in_its_order() {
        for client in CLIENTS.iter().filter(|client| client.name != "codex") {
            let SetupFormat::Json { key, .. } = client.format else { panic!("{client:?}") };
            let earlier = json!({"z": 1, key: {"other": {"command": "x"}}, "a": [true]}).to_string();
            let merged = client.merged_text(&earlier, &command()).unwrap().unwrap();
            let read: Value = serde_json::from_str(&merged).unwrap();
            assert_eq!(read["z"], 1);
            assert_eq!(read[key]["other"]["command"], "x");
            assert_eq!(read[key]["agon"]["command"], "/opt/a \"b\"/agon");
            assert_eq!(read[key]["agon"]["env"], json!({"AGON_HOME": "/a \"b\""}));
            assert_eq!(read.as_object().unwrap().keys().collect::<Vec<_>>(), ["z", key, "a"]);
            assert_eq!(client.merged_text(&merged, &command()), Ok(None), "a second time changes nothing");
            assert_eq!(client.merged_text("", &command()).unwrap().unwrap(), client.setup_text(&command()));
        }
    }

    #[test]
    fn a_file_that_cannot_be_merged_is_refused() {
        let other = r#"{"mcpServers": {"agon": {"command": "mine"}}}"#;
        for earlier in ["// comment\n{}", "[]", r#"{"mcpServers": []}"#, "{", other] {
            assert!(client("cursor").merged_text(earlier, &command()).is_err(), "{earlier}");
        }
        for earlier in [
            "a = ",
            "mcp_servers = 1",
            "mcp_servers = {x = {command = \"x\"}}",
            "[mcp_servers.agon]\ncommand = \"x\"",
        ] {
            assert!(client("codex").merged_text(earlier, &command()).is_err(), "{earlier}");
        }
    }

    #[test]
    fn a_section_is_added_to_a_toml_file_and_every_byte_before_it_stays() {
        let codex = client("codex");
        for earlier in ["", "model = \"x\" # mine", "[mcp_servers.other]\ncommand = \"y\"\n"] {
            let merged = codex.merged_text(earlier, &command()).unwrap().unwrap();
            assert!(merged.starts_with(earlier), "{merged}");
            let read: toml::Table = merged.parse().unwrap();
            assert_eq!(read["mcp_servers"]["agon"]["args"][0].as_str(), Some("mcp"));
            assert_eq!(read["mcp_servers"]["agon"]["command"].as_str(), Some("/opt/a \"b\"/agon"));
            assert_eq!(read["mcp_servers"]["agon"]["env"]["AGON_HOME"].as_str(), Some("/a \"b\""));
            assert_eq!(codex.merged_text(&merged, &command()), Ok(None));
        }
    }

    /// A second `env` would take the place of the first.
    #[test]
    fn a_key_is_added_to_the_variables_that_an_entry_has() {
        let without = ServerCommand { variables: Vec::new(), ..command() };
        for (name, command, want) in [
            ("cursor", without, r#""env": {"OPENAI_API_KEY": "${env:OPENAI_API_KEY}"} to the entry"#),
            ("cursor", command(), r#""OPENAI_API_KEY": "${env:OPENAI_API_KEY}" to "env" of the entry"#),
            ("codex", command(), r#"env_vars = ["OPENAI_API_KEY"] to the entry"#),
        ] {
            let note = client(name).keys_note(&command);
            assert!(note.ends_with(want) && note.lines().all(|line| line.len() <= 80), "{note}");
        }
    }

    #[test]
    fn the_usual_file_is_in_the_home_or_here() {
        let env = |name: &str| (name == "HOME").then(|| "/home/me".into());
        let file = |name: &str| client(name).usual_file(&env).unwrap();
        assert_eq!(file("cursor"), Path::new("/home/me/.cursor/mcp.json"));
        assert_eq!(file("codex"), Path::new("/home/me/.codex/config.toml"));
        assert_eq!(file("vscode"), Path::new(".vscode/mcp.json"));
        assert_eq!(file("claude-code"), Path::new(".mcp.json"));
        let env = |name: &str| (name == "CODEX_HOME").then(|| "/c".into());
        assert_eq!(client("codex").usual_file(&env).unwrap(), Path::new("/c/config.toml"));
    }
}
