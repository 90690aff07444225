//! One provider: where it is and which key it takes; and the table of the well-known ones.

use agon_core::Invalid;
use agon_engine::Price;
use genai::adapter::AdapterKind;
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};

use crate::config::ProviderConfig;

/// A provider that can be called, or the reason why it cannot.
#[derive(Debug)]
pub(crate) struct Provider {
    pub(crate) name: String,
    pub(crate) base: Result<Base, String>,
    pub(crate) key_env: Option<String>,
    pub(crate) key: Option<SecretString>,
    pub(crate) key_needed: bool,
    pub(crate) adapter: AdapterKind,
    /// What its models cost when `[prices]` does not say.
    pub(crate) price: Price,
}

/// A provider that everybody knows.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) base_url: &'static str,
    /// The variable that may put another base URL in the place of the public one.
    base_env: Option<&'static str>,
    pub(crate) key_env: Option<&'static str>,
    /// All of them speak OpenAI's chat completions; two have dialects that genai knows.
    adapter: AdapterKind,
}

/// The well-known providers.
pub(crate) const KNOWN: &[Known] = &[
    Known {
        name: "openai",
        base_url: "https://api.openai.com/v1",
        base_env: Some("OPENAI_BASE_URL"),
        key_env: Some("OPENAI_API_KEY"),
        adapter: AdapterKind::OpenAI,
    },
    Known {
        name: "ollama",
        base_url: "http://127.0.0.1:11434/v1",
        base_env: Some("OLLAMA_HOST"),
        key_env: None,
        adapter: AdapterKind::OpenAI,
    },
    public("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", AdapterKind::OpenAI),
    public("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", AdapterKind::OpenAI),
    public("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", AdapterKind::OpenAI),
    // Counts the tokens of reasoning beside the output, not in it.
    public("xai", "https://api.x.ai/v1", "XAI_API_KEY", AdapterKind::Xai),
    // Calls the seed `random_seed` and refuses `seed`.
    public("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", AdapterKind::Mistral),
];

const fn public(
    name: &'static str,
    base_url: &'static str,
    key_env: &'static str,
    adapter: AdapterKind,
) -> Known {
    Known { name, base_url, base_env: None, key_env: Some(key_env), adapter }
}

impl Provider {
    pub(crate) fn known(known: &Known, env: &dyn Fn(&str) -> Option<String>) -> Self {
        let given = known.base_env.and_then(|variable| Some((variable, read(env, variable)?)));
        let base = match &given {
            None => Base::parse(known.base_url),
            Some((variable, url)) if known.name == "ollama" => {
                Base::parse(&ollama(url)).map_err(|why| format!("{variable} {why}"))
            }
            Some((variable, url)) => Base::parse(url).map_err(|why| format!("{variable} {why}")),
        };
        // A server that took the place of the public one may well want no key.
        let theirs = Base::parse(known.base_url).ok().map(|base| base.host);
        let replaced = base.as_ref().is_ok_and(|base| Some(&base.host) != theirs.as_ref());
        Self {
            name: known.name.into(),
            base,
            key_env: known.key_env.map(Into::into),
            key: known.key_env.and_then(|variable| read(env, variable)).map(SecretString::from),
            key_needed: known.key_env.is_some() && !replaced,
            adapter: known.adapter,
            price: if known.name == "ollama" { Price::Free } else { Price::Unknown },
        }
    }

    pub(crate) fn configured(
        name: &str,
        config: &ProviderConfig,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let known = KNOWN.iter().find(|known| known.name == name);
        Self {
            name: name.into(),
            base: Base::parse(&config.base_url)
                .map_err(|why| format!("base_url of [providers.{name}] {why}")),
            key_env: config.key_env.clone(),
            key: config.key_env.as_deref().and_then(|variable| read(env, variable)).map(SecretString::from),
            key_needed: config.key_env.is_some(),
            adapter: known.map_or(AdapterKind::OpenAI, |known| known.adapter),
            price: Price::Unknown,
        }
    }

    /// Refuses a provider that no call could reach.
    pub(crate) fn usable(&self) -> Result<&Base, Invalid> {
        let base = self.base.as_ref().map_err(|why| Invalid(why.clone()))?;
        let variable = self.key_env.as_deref().unwrap_or_default();
        match &self.key {
            None if self.key_needed => {
                Err(Invalid(format!("{} needs a key: set {variable} to it in the environment", self.name)))
            }
            Some(key) if !key.expose_secret().bytes().all(|byte| byte.is_ascii_graphic()) => Err(Invalid(
                format!("{variable} holds something that no key has, white space or an odd character"),
            )),
            _ => Ok(base),
        }
    }
}

/// Where a provider is.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    /// With a slash at the end, as joining wants it.
    pub(crate) url: String,
    /// As people may see it.
    pub(crate) shown: String,
    /// Whether it is `http://`.
    pub(crate) plain: bool,
    pub(crate) host: String,
}

impl Base {
    /// From a base URL; else the rest of a sentence that begins with what it is the value of.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let example = "write it like http://127.0.0.1:8080/v1";
        let mut url = Url::parse(text.trim()).map_err(|why| format!("is not a URL ({why}): {example}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("begins with neither http:// nor https://: {example}"));
        }
        let Some(host) = url.host_str().map(str::to_owned) else {
            return Err(format!("has no host: {example}"));
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err("has a password in it: put the key into a variable and name that with key_env".into());
        }
        url.set_fragment(None);
        if !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
        let mut shown = url.clone();
        shown.set_query(None);
        let shown = shown.as_str().trim_end_matches('/').to_owned();
        Ok(Self { plain: url.scheme() == "http", url: url.into(), shown, host })
    }
}

/// `OLLAMA_HOST` as Ollama reads it: scheme, host and port may each be missing, and a server's "any address" is
/// this machine to a client.
fn ollama(host: &str) -> String {
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

fn read(env: &dyn Fn(&str) -> Option<String>, variable: &str) -> Option<String> {
    env(variable).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
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
            assert_eq!(ollama(host), url, "{host}");
        }
    }

    #[test]
    fn a_base_url_ends_in_a_slash_and_is_shown_without_its_query() {
        let base = Base::parse("https://x.example/openai/v1?api-version=2#top").unwrap();
        assert_eq!(base.url, "https://x.example/openai/v1/?api-version=2");
        assert_eq!(base.shown, "https://x.example/openai/v1");
        assert!(!base.plain && Base::parse("http://127.0.0.1:1/v1/").unwrap().plain);
    }
}
