//! What a configuration may not do that was found and not asked for: take a key of the person's to a stranger, or run a
//! program.

use std::net::IpAddr;

use agon_core::Invalid;

use crate::config::Config;
use crate::provider::{Base, KNOWN};

/// Variables with keys that people have set for other programs, beside those of the well-known providers, and the hosts
/// that they are meant for.
const ELSEWHERE: &[(&str, &[&str])] = &[
    ("ANTHROPIC_AUTH_TOKEN", &["api.anthropic.com"]),
    ("COHERE_API_KEY", &["api.cohere.com", "api.cohere.ai"]),
    ("TOGETHER_API_KEY", &["api.together.xyz", "api.together.ai"]),
    ("FIREWORKS_API_KEY", &["api.fireworks.ai"]),
    ("PERPLEXITY_API_KEY", &["api.perplexity.ai"]),
    ("CEREBRAS_API_KEY", &["api.cerebras.ai"]),
    ("NVIDIA_API_KEY", &["integrate.api.nvidia.com"]),
    ("HF_TOKEN", &["router.huggingface.co"]),
    ("GITHUB_TOKEN", &["models.github.ai"]),
    ("GH_TOKEN", &["models.github.ai"]),
    ("AZURE_OPENAI_API_KEY", &[]),
    ("AWS_SECRET_ACCESS_KEY", &[]),
    ("AWS_SESSION_TOKEN", &[]),
];

impl Config {
    /// Refuses a configuration that nobody has named, such as an `agon.toml` that lies in the current folder, when it would
    /// run a program, or send a well-known key to another host than the key's own or this machine: it may have come with
    /// somebody else's files.
    pub fn check_found(&self) -> Result<(), Invalid> {
        agon_seats::check_found(&self.commands)?;
        for (name, provider) in &self.providers {
            let (Some(variable), Ok(base)) = (&provider.key_env, Base::parse(&provider.base_url)) else {
                continue;
            };
            let own = own_hosts(variable).is_none_or(|hosts| !base.plain && hosts.contains(&base.host));
            if !own && !is_loopback(&base.host) {
                let (variable, shown) = (variable.to_ascii_uppercase(), &base.shown);
                return Err(Invalid(format!(
                    "[providers.{name}] would send the key in {variable} to {shown}, which it is not meant for, and this \
                     agon.toml was found and not asked for: pass `--config agon.toml` if you trust it"
                )));
            }
        }
        Ok(())
    }
}

/// The hosts that the key in this variable is meant for; `None` when the variable is not a well-known one.
fn own_hosts(variable: &str) -> Option<Vec<String>> {
    // Some systems do not tell the letters of a variable's name apart.
    let same = |name: &str| name.eq_ignore_ascii_case(variable);
    let known = KNOWN.iter().find(|known| known.key_envs.iter().any(|name| same(name)));
    if let Some(known) = known {
        return Some(Base::parse(known.base_url).into_iter().map(|base| base.host).collect());
    }
    let (_, hosts) = ELSEWHERE.iter().find(|(name, _)| same(name))?;
    Some(hosts.iter().map(|host| (*host).to_owned()).collect())
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(base_url: &str, key_env: &str) -> Result<(), String> {
        let toml = format!("[providers.x]\nbase_url = \"{base_url}\"\nkey_env = \"{key_env}\"");
        let config: Config = toml::from_str(&toml).unwrap();
        assert_eq!(config.check(), Ok(()), "what a person names is theirs to decide");
        config.check_found().map_err(|why| why.0)
    }

    #[test]
    fn a_found_config_sends_no_well_known_key_to_a_stranger() {
        let others = ["ANTHROPIC_AUTH_TOKEN", "GITHUB_TOKEN", "openai_api_key"];
        for variable in KNOWN.iter().flat_map(|known| known.key_envs).copied().chain(others) {
            for url in [
                "https://stranger.example/v1",
                "http://192.168.1.7/v1",
                "https://api.openai.com.stranger.example/v1",
                "https://localhost.stranger.example/v1",
                "http://api.openai.com/v1",
                "http://127.0.0.1.stranger.example/v1",
            ] {
                let why = found(url, variable).unwrap_err();
                assert!(why.contains("[providers.x]") && why.contains("--config agon.toml"), "{why}");
                assert!(why.contains(&variable.to_ascii_uppercase()) && why.contains(url), "{why}");
            }
        }
        assert!(
            found("https://api.groq.com/v1", "OPENAI_API_KEY").is_err(),
            "another provider is a stranger"
        );
    }

    #[test]
    fn a_found_config_may_use_own_keys_own_hosts_and_this_machine() {
        for (url, variable) in [
            ("https://api.openai.com/v1", "OPENAI_API_KEY"),
            ("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
            ("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
            ("https://generativelanguage.googleapis.com", "GOOGLE_API_KEY"),
            ("http://127.0.0.1:8080/v1", "OPENAI_API_KEY"),
            ("http://localhost:8080/v1", "OPENAI_API_KEY"),
            ("http://[::1]:8080/v1", "OPENAI_API_KEY"),
            ("https://gateway.example/v1", "GATEWAY_KEY"),
        ] {
            assert_eq!(found(url, variable), Ok(()), "{url} {variable}");
        }
        let keyless: Config =
            toml::from_str("[providers.openai]\nbase_url = \"https://a.example/v1\"").unwrap();
        assert_eq!(keyless.check_found(), Ok(()), "no key is sent");
    }

    #[test]
    fn a_found_config_runs_no_program_but_may_name_people() {
        let command: Config = toml::from_str("[commands.agent]\ncommand = [\"rm\"]").unwrap();
        let why = command.check_found().unwrap_err().0;
        assert!(why.contains("[commands.agent]") && why.contains("--config agon.toml"), "{why}");
        assert_eq!(toml::from_str::<Config>("[humans.anna]").unwrap().check_found(), Ok(()));
    }
}
