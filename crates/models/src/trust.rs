//! What an `agon.toml` found in the working directory may not do: run a program, or send a key or a debate to a stranger.

use std::net::IpAddr;

use agon_core::Invalid;
use agon_host::clean_line;

use crate::config::ModelsConfig;
use crate::provider::{BaseUrl, KNOWN_PROVIDERS};

/// Variables that people set for other programs, in addition to those of the well-known providers, and the hosts that
/// each key is meant for.
const OTHER_KEY_VARIABLES: &[(&str, &[&str])] = &[
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

impl ModelsConfig {
    /// Checks a configuration that the user did not name, such as an `agon.toml` in the current folder: it may have come
    /// with someone else's files. It may not run programs. It may send debates and keys only to this machine and to the
    /// well-known providers, and to each of these only its own key.
    pub fn check_found(&self) -> Result<(), Invalid> {
        if let Some((name, command)) = self.commands.first_key_value() {
            let program = clean_line(command.program.first().map_or("", String::as_str));
            return Err(refused(&format!("[commands.{name}] would run the program {program:?}")));
        }
        for (name, provider) in &self.providers {
            let Ok(base) = BaseUrl::parse(&provider.base_url) else { continue };
            let trusted = |hosts: &[String]| !base.is_plain_http && hosts.contains(&base.host);
            let what = match &provider.key_env {
                _ if is_loopback(&base.host) => continue,
                Some(variable) if trusted(&hosts_of_key(variable)) => continue,
                Some(variable) => format!("the key in {}", variable.to_ascii_uppercase()),
                None if trusted(&known_hosts()) => continue,
                None => "what is debated".to_owned(),
            };
            return Err(refused(&format!("[providers.{name}] would send {what} to {}", base.shown)));
        }
        Ok(())
    }
}

fn refused(what: &str) -> Invalid {
    Invalid(format!(
        "{what}, and this agon.toml was found in the current folder, not named: pass `--config agon.toml` if you trust it"
    ))
}

/// The hosts that the key in this variable is meant for. Empty for an unknown variable.
fn hosts_of_key(variable: &str) -> Vec<String> {
    // Windows ignores the case of variable names.
    let same = |name: &str| name.eq_ignore_ascii_case(variable);
    let known = KNOWN_PROVIDERS.iter().find(|known| known.key_envs.iter().any(|name| same(name)));
    if let Some(known) = known {
        return BaseUrl::parse(known.base_url).into_iter().map(|base| base.host).collect();
    }
    let other = OTHER_KEY_VARIABLES.iter().find(|(name, _)| same(name)).map_or(&[][..], |(_, hosts)| hosts);
    other.iter().map(|host| (*host).to_owned()).collect()
}

fn known_hosts() -> Vec<String> {
    KNOWN_PROVIDERS.iter().filter_map(|known| Some(BaseUrl::parse(known.base_url).ok()?.host)).collect()
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
        let config: ModelsConfig = toml::from_str(&toml).unwrap();
        assert_eq!(config.check(), Ok(()), "a file that the user names may do this");
        config.check_found().map_err(|why| why.0)
    }

    #[test]
    fn a_found_config_cannot_send_a_key_to_a_stranger() {
        let others = ["ANTHROPIC_AUTH_TOKEN", "GITHUB_TOKEN", "openai_api_key"];
        for variable in KNOWN_PROVIDERS.iter().flat_map(|known| known.key_envs).copied().chain(others) {
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
    fn a_found_config_may_use_each_key_at_its_own_host_and_on_this_machine() {
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
            let without_key: ModelsConfig =
                toml::from_str(&format!("[providers.openai]\nbase_url = \"{url}\"")).unwrap();
            let checked = without_key.check_found().map_err(|why| why.0.contains("what is debated"));
            assert_eq!(checked, if trusted { Ok(()) } else { Err(true) }, "{url}");
        }
    }

    #[test]
    fn a_found_config_cannot_run_a_program_but_may_name_people() {
        let command: ModelsConfig =
            toml::from_str("[commands.agent]\ncommand = [\"rm\\u001b[2J\", \"-r\"]").unwrap();
        let why = command.check_found().unwrap_err().0;
        assert!(why.contains("[commands.agent]") && why.contains("\"rm\""), "{why}");
        assert!(why.contains("--config agon.toml"), "{why}");
        assert_eq!(toml::from_str::<ModelsConfig>("[humans.anna]").unwrap().check_found(), Ok(()));
    }
}
