//! Where a provider is and which key it takes; the table of well-known providers.

use agon_core::Invalid;
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};

use crate::config::{ProviderConfig, WireFormat};

/// A provider that can be called, or the reason why it cannot.
#[derive(Debug)]
pub(crate) struct ModelProvider {
    pub(crate) name: String,
    pub(crate) base: Result<BaseUrl, String>,
    pub(crate) key_env: Option<String>,
    pub(crate) key: Option<SecretString>,
    pub(crate) key_needed: bool,
    pub(crate) format: WireFormat,
    pub(crate) habits: ServerHabits,
    /// Whether its models run on the user's own machines and cost nothing.
    pub(crate) is_free: bool,
}

/// A provider that needs no configuration.
#[derive(Debug)]
pub struct KnownProvider {
    /// The name before the slash.
    pub name: &'static str,
    /// Its public address.
    pub base_url: &'static str,
    /// The variable that replaces the public address.
    pub base_env: &'static str,
    /// The variables that may hold its key. The first one that is set is used.
    pub key_envs: &'static [&'static str],
    format: WireFormat,
    habits: ServerHabits,
}

/// Where a server departs from its wire format.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ServerHabits {
    /// It calls the seed `random_seed` and rejects `seed`.
    pub(crate) says_random_seed: bool,
    /// It does not count reasoning as a part of the output.
    pub(crate) counts_reasoning_apart: bool,
}

const NONE: ServerHabits = ServerHabits { says_random_seed: false, counts_reasoning_apart: false };

/// The providers that need no configuration.
#[rustfmt::skip]
pub const KNOWN_PROVIDERS: &[KnownProvider] = &[
    known("openai", "https://api.openai.com/v1", "OPENAI_BASE_URL", &["OPENAI_API_KEY"], WireFormat::OpenAi, NONE),
    known("anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_BASE_URL", &["ANTHROPIC_API_KEY"], WireFormat::Anthropic, NONE),
    known("gemini", "https://generativelanguage.googleapis.com/v1beta", "GEMINI_BASE_URL", &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        WireFormat::Gemini, NONE),
    known("ollama", "http://127.0.0.1:11434/v1", "OLLAMA_HOST", &[], WireFormat::OpenAi, NONE),
    known("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_BASE_URL", &["OPENROUTER_API_KEY"], WireFormat::OpenAi, NONE),
    known("groq", "https://api.groq.com/openai/v1", "GROQ_BASE_URL", &["GROQ_API_KEY"], WireFormat::OpenAi, NONE),
    known("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_BASE_URL", &["DEEPSEEK_API_KEY"], WireFormat::OpenAi, NONE),
    known("xai", "https://api.x.ai/v1", "XAI_BASE_URL", &["XAI_API_KEY"], WireFormat::OpenAi,
        ServerHabits { counts_reasoning_apart: true, ..NONE }),
    known("mistral", "https://api.mistral.ai/v1", "MISTRAL_BASE_URL", &["MISTRAL_API_KEY"], WireFormat::OpenAi,
        ServerHabits { says_random_seed: true, ..NONE }),
];

const fn known(
    name: &'static str,
    base_url: &'static str,
    base_env: &'static str,
    key_envs: &'static [&'static str],
    format: WireFormat,
    habits: ServerHabits,
) -> KnownProvider {
    KnownProvider { name, base_url, base_env, key_envs, format, habits }
}

impl ModelProvider {
    pub(crate) fn well_known(known: &KnownProvider, env: &dyn Fn(&str) -> Option<String>) -> Self {
        let format = known.format;
        let base = match read_variable(env, known.base_env) {
            None => BaseUrl::for_format(known.base_url, format),
            Some(url) => {
                let url = if known.name == "ollama" { ollama_base_url(&url) } else { url };
                BaseUrl::for_format(&url, format).map_err(|why| format!("{} {why}", known.base_env))
            }
        };
        // A server that replaces the public one may not need a key.
        let public_host = BaseUrl::parse(known.base_url).ok().map(|base| base.host);
        let is_replaced = base.as_ref().is_ok_and(|base| Some(&base.host) != public_host.as_ref());
        let key = known.key_envs.iter().find_map(|name| Some((*name, read_variable(env, name)?)));
        let key_env = key.as_ref().map(|(name, _)| *name).or_else(|| known.key_envs.first().copied());
        Self {
            name: known.name.into(),
            base,
            key_env: key_env.map(str::to_owned),
            key: key.map(|(_, key)| SecretString::from(key)),
            key_needed: !known.key_envs.is_empty() && !is_replaced,
            format,
            habits: known.habits,
            is_free: known.name == "ollama",
        }
    }

    pub(crate) fn configured(
        name: &str,
        config: &ProviderConfig,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let known = KNOWN_PROVIDERS.iter().find(|known| known.name == name);
        let format = config.kind.or(known.map(|known| known.format)).unwrap_or_default();
        let habits = known.filter(|known| known.format == format).map(|known| known.habits);
        let key = config.key_env.as_deref().and_then(|variable| read_variable(env, variable));
        Self {
            name: name.into(),
            base: BaseUrl::for_format(&config.base_url, format)
                .map_err(|why| format!("base_url of [providers.{name}] {why}")),
            key_env: config.key_env.clone(),
            key: key.map(SecretString::from),
            key_needed: config.key_env.is_some(),
            format,
            habits: habits.unwrap_or_default(),
            is_free: false,
        }
    }

    /// The well-known provider at this address, whatever the provider is called here. Built-in prices are that provider's.
    pub(crate) fn seller(&self) -> Option<&'static str> {
        let base = self.base.as_ref().ok().filter(|base| !base.is_plain_http)?;
        let sells =
            |known: &&KnownProvider| BaseUrl::parse(known.base_url).is_ok_and(|own| own.host == base.host);
        KNOWN_PROVIDERS.iter().find(sells).map(|known| known.name)
    }

    pub(crate) fn secret(&self) -> Option<&str> {
        self.key.as_ref().map(|key| key.expose_secret())
    }

    /// The base URL, unless the address or the key is missing or malformed.
    pub(crate) fn check_usable(&self) -> Result<&BaseUrl, Invalid> {
        let base = self.base.as_ref().map_err(|why| Invalid(why.clone()))?;
        let variable = self.key_env.as_deref().unwrap_or_default();
        match self.secret() {
            None if self.key_needed => {
                Err(Invalid(format!("{} needs a key: set {variable} to it in the environment", self.name)))
            }
            Some(key) if !key.bytes().all(|byte| byte.is_ascii_graphic()) => Err(Invalid(format!(
                "{variable} contains white space or another character that no key has: set it again"
            ))),
            _ => Ok(base),
        }
    }
}

/// The address of a provider.
#[derive(Debug, Clone)]
pub(crate) struct BaseUrl {
    /// Ends with a slash.
    pub(crate) url: String,
    /// For messages: without the query, which may contain a key.
    pub(crate) shown: String,
    pub(crate) is_plain_http: bool,
    pub(crate) host: String,
}

impl BaseUrl {
    /// The base URL of a server that speaks `format`. Anthropic's and Google's own tools accept a base URL without the API
    /// version, so it is added.
    pub(crate) fn for_format(text: &str, format: WireFormat) -> Result<Self, String> {
        let base = Self::parse(text)?;
        let version = match format {
            WireFormat::OpenAi => return Ok(base),
            WireFormat::Anthropic => "v1",
            WireFormat::Gemini => "v1beta",
        };
        let Ok(mut url) = Url::parse(&base.url) else { return Ok(base) };
        let path = url.path().trim_end_matches('/').to_owned();
        if path.rsplit('/').next().is_some_and(|last| last.starts_with("v1")) {
            return Ok(base);
        }
        url.set_path(&format!("{path}/{version}/"));
        Self::parse(url.as_str())
    }

    /// The address of `path` under this one. The query of the base URL is kept.
    pub(crate) fn join(&self, path: &str) -> String {
        let (base, query) = self.url.split_once('?').unwrap_or((&self.url, ""));
        let separator = match query {
            "" => "",
            _ if path.contains('?') => "&",
            _ => "?",
        };
        format!("{base}{path}{separator}{query}")
    }

    /// An error is the end of a sentence that starts with the name of the setting.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let example = "write it like http://127.0.0.1:8080/v1";
        let mut url = Url::parse(text.trim()).map_err(|why| format!("is not a URL ({why}): {example}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("must start with http:// or https://: {example}"));
        }
        let Some(host) = url.host_str().map(str::to_owned) else {
            return Err(format!("has no host: {example}"));
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(
                "contains a password: put the key into a variable and name the variable with key_env".into(),
            );
        }
        url.set_fragment(None);
        if !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
        let mut shown = url.clone();
        shown.set_query(None);
        let shown = shown.as_str().trim_end_matches('/').to_owned();
        Ok(Self { is_plain_http: url.scheme() == "http", url: url.into(), shown, host })
    }
}

/// Reads `OLLAMA_HOST` as Ollama does: scheme, host and port may each be missing, and `0.0.0.0`, a server's "any address",
/// means this machine to a client.
fn ollama_base_url(host: &str) -> String {
    let host = host.trim_end_matches('/');
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let rest = match rest {
        _ if rest.starts_with(':') => format!("127.0.0.1{rest}"),
        _ if host.contains("://") || rest.contains('/') => rest.to_owned(),
        _ if rest.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()) => rest.to_owned(),
        _ => format!("{rest}:11434"),
    };
    let rest = rest.strip_prefix("0.0.0.0").map(|port| format!("127.0.0.1{port}")).unwrap_or(rest);
    format!("{scheme}://{}/v1", rest.trim_end_matches("/v1"))
}

fn read_variable(env: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    env(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ollama_host_is_read_as_ollama_reads_it() {
        for (host, url) in [
            ("127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
            ("0.0.0.0", "http://127.0.0.1:11434/v1"),
            ("0.0.0.0:8000", "http://127.0.0.1:8000/v1"),
            (":8000", "http://127.0.0.1:8000/v1"),
            ("gpu", "http://gpu:11434/v1"),
            ("http://gpu:8000/", "http://gpu:8000/v1"),
            ("https://gpu.example", "https://gpu.example/v1"),
            ("http://gpu:8000/v1", "http://gpu:8000/v1"),
        ] {
            assert_eq!(ollama_base_url(host), url, "{host}");
        }
    }

    #[test]
    fn a_base_url_may_omit_the_version_for_anthropic_and_gemini() {
        let of = |url: &str, kind| BaseUrl::for_format(url, kind).unwrap().url;
        for url in
            ["https://x.example", "https://x.example/", "https://x.example/v1", "https://x.example/v1/"]
        {
            assert_eq!(of(url, WireFormat::Anthropic), "https://x.example/v1/", "{url}");
        }
        for url in ["https://x.example/g", "https://x.example/g/v1beta", "https://x.example/g/v1beta/"] {
            assert_eq!(of(url, WireFormat::Gemini), "https://x.example/g/v1beta/", "{url}");
        }
        assert_eq!(of("https://x.example/v1?k=1", WireFormat::Gemini), "https://x.example/v1/?k=1");
        assert_eq!(
            of("https://x.example", WireFormat::OpenAi),
            "https://x.example/",
            "an OpenAI base URL is used as it is"
        );
    }

    #[test]
    fn a_path_is_inserted_before_the_query() {
        let base = BaseUrl::parse("http://x.example/v1?k=1").unwrap();
        assert_eq!(base.join("models"), "http://x.example/v1/models?k=1");
        assert_eq!(base.join("m:s?alt=sse"), "http://x.example/v1/m:s?alt=sse&k=1");
        assert_eq!(BaseUrl::parse("http://x.example").unwrap().join("m?a"), "http://x.example/m?a");
    }

    #[test]
    fn a_base_url_ends_in_a_slash_and_is_shown_without_its_query() {
        let base = BaseUrl::parse("https://x.example/openai/v1?api-version=2#top").unwrap();
        assert_eq!(base.url, "https://x.example/openai/v1/?api-version=2");
        assert_eq!(base.shown, "https://x.example/openai/v1");
        assert!(!base.is_plain_http && BaseUrl::parse("http://127.0.0.1:1/v1/").unwrap().is_plain_http);
    }
}
