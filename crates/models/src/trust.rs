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
    /// run a program, or send what is debated, or a key, to a stranger: it may have come with somebody else's files. This
    /// machine is no stranger, nor are the well-known providers, to whom their own keys may go.
    pub fn check_found(&self) -> Result<(), Invalid> {
        crate::check_found(&self.commands)?;
        for (name, provider) in &self.providers {
            let Ok(base) = Base::parse(&provider.base_url) else { continue };
            let trusted = |hosts: &[String]| !base.plain && hosts.contains(&base.host);
            let what = match &provider.key_env {
                _ if is_loopback(&base.host) => continue,
                Some(variable) if trusted(&own_hosts(variable)) => continue,
                Some(variable) => format!("the key in {}", variable.to_ascii_uppercase()),
                None if trusted(&known_hosts()) => continue,
                None => "what is debated".to_owned(),
            };
            return Err(Invalid(format!(
                "[providers.{name}] would send {what} to {}, and this agon.toml was found and not asked for: pass \
                 `--config agon.toml` if you trust it",
                base.shown
            )));
        }
        Ok(())
    }
}

/// The hosts that the key in this variable is meant for; none when the variable is not a well-known one.
fn own_hosts(variable: &str) -> Vec<String> {
    // Some systems do not tell the letters of a variable's name apart.
    let same = |name: &str| name.eq_ignore_ascii_case(variable);
    let known = KNOWN.iter().find(|known| known.key_envs.iter().any(|name| same(name)));
    if let Some(known) = known {
        return Base::parse(known.base_url).into_iter().map(|base| base.host).collect();
    }
    let elsewhere = ELSEWHERE.iter().find(|(name, _)| same(name)).map_or(&[][..], |(_, hosts)| hosts);
    elsewhere.iter().map(|host| (*host).to_owned()).collect()
}

/// The hosts of the well-known providers.
fn known_hosts() -> Vec<String> {
    KNOWN.iter().filter_map(|known| Some(Base::parse(known.base_url).ok()?.host)).collect()
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
        for variable in ["NPM_TOKEN", "DATABASE_URL", "DEPLOY_PASSPHRASE"] {
            assert!(found("https://stranger.example/v1", variable).is_err(), "{variable}");
        }
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
        ] {
            assert_eq!(found(url, variable), Ok(()), "{url} {variable}");
        }
        for (url, trusted) in [
            ("https://api.openai.com/v1", true),
            ("http://127.0.0.1:8080/v1", true),
            ("https://a.example/v1", false),
            ("http://192.0.2.2/v1", false),
        ] {
            let keyless: Config =
                toml::from_str(&format!("[providers.openai]\nbase_url = \"{url}\"")).unwrap();
            let told = keyless.check_found().map_err(|why| why.0.contains("what is debated"));
            assert_eq!(told, if trusted { Ok(()) } else { Err(true) }, "{url}");
        }
    }

    #[test]
    fn a_found_config_runs_no_program_but_may_name_people() {
        let command: Config = toml::from_str("[commands.agent]\ncommand = [\"rm\"]").unwrap();
        let why = command.check_found().unwrap_err().0;
        assert!(why.contains("[commands.agent]") && why.contains("--config agon.toml"), "{why}");
        assert_eq!(toml::from_str::<Config>("[humans.anna]").unwrap().check_found(), Ok(()));
    }
}
