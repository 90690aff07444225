//! `[tools.NAME]` of `agon.toml`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agon_core::Invalid;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{fetch, files};

/// The tools of a configuration, by name.
pub type ToolsConfig = BTreeMap<String, ToolConfig>;

/// One `[tools.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolConfig {
    /// For `files`: the folder that seats may read. By default the folder that Agon was started in. A relative path leads to a folder below that one, without links.
    pub root: Option<PathBuf>,
    /// For `fetch`: the hosts that seats may reach: `docs.example.org`, `*.example.org`, `127.0.0.1:8080`.
    pub allow: Vec<String>,
    /// For an MCP server: the program and its arguments. There is no shell.
    pub command: Vec<String>,
    /// For an MCP server that is a program: the environment variables that it gets in addition to `PATH`, `HOME`, `LANG` and `TMPDIR`.
    pub env: Vec<String>,
    /// For an MCP server that speaks streamable HTTP: its address.
    pub url: Option<String>,
    /// The name of the environment variable that holds the key for `url`.
    pub key_env: Option<String>,
}

/// The longest name of a tool.
const NAME_BYTES_MAX: usize = 32;

impl ToolConfig {
    /// Rejects values that cannot work, with a sentence that names the section.
    pub fn check(&self, name: &str) -> Result<(), Invalid> {
        let wrong = |what: &str| Err(Invalid(format!("[tools.{name}]: {what}")));
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.bytes().all(is_plain) {
            return wrong("a name has at most 32 letters, digits, - and _");
        }
        let is_server =
            !self.command.is_empty() || self.url.is_some() || !self.env.is_empty() || self.key_env.is_some();
        match name {
            files::NAME if is_server || !self.allow.is_empty() => wrong("files has root, and nothing else"),
            fetch::NAME if is_server || self.root.is_some() => wrong("fetch has allow, and nothing else"),
            fetch::NAME => fetch::check_hosts(&self.allow),
            files::NAME => Ok(()),
            _ if self.root.is_some() || !self.allow.is_empty() => {
                wrong("only files has root, and only fetch has allow")
            }
            _ => match (&*self.command, &self.url) {
                ([], None) => wrong("set command = [..] or url = \"..\""),
                ([program, ..], None) if program.trim().is_empty() => {
                    wrong("command is the program and its arguments")
                }
                ([_, ..], None) if self.key_env.is_some() => {
                    wrong("key_env belongs to url; a program gets variables with env")
                }
                ([_, ..], None) => Ok(()),
                ([], Some(url)) if is_web_address(url) => Ok(()),
                ([], Some(_)) => wrong("url must begin with http:// or https://"),
                ([_, ..], Some(_)) => wrong("set command or url, not both"),
            },
        }
    }
}

fn is_web_address(url: &str) -> bool {
    let parsed = reqwest::Url::parse(url);
    parsed.is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_that_cannot_work_is_refused_with_its_name() {
        let check = |name: &str, text: &str| {
            toml::from_str::<ToolConfig>(text).unwrap().check(name).map_err(|why| why.0)
        };
        for (name, text) in [
            ("files", "root = \"docs\""),
            ("fetch", "allow = [\"docs.example.org\"]"),
            ("docs", "command = [\"server\", \"--stdio\"]\nenv = [\"DOCS_KEY\"]"),
            ("docs", "url = \"http://127.0.0.1:8000/mcp\"\nkey_env = \"DOCS_KEY\""),
        ] {
            assert_eq!(check(name, text), Ok(()), "{name} {text}");
        }
        for (name, text) in [
            ("files", "command = [\"cat\"]"),
            ("fetch", "root = \".\""),
            ("fetch", "allow = [\"https://a.example\"]"),
            ("docs", ""),
            ("docs", "command = [\"x\"]\nurl = \"http://a/\""),
            ("docs", "url = \"file:///x\""),
            ("docs", "root = \".\""),
            ("a.b", "command = [\"x\"]"),
            ("", "command = [\"x\"]"),
        ] {
            let why = check(name, text).unwrap_err();
            assert!(why.starts_with("[tools."), "{why}");
        }
    }
}
