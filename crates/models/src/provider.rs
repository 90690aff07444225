//! One provider: where it is and which key it takes; and the table of the well-known ones.

use agon_core::Invalid;
use genai::adapter::AdapterKind;
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};

use crate::config::{ProviderConfig, ProviderKind};

/// A provider that can be called, or the reason why it cannot.
#[derive(Debug)]
pub(crate) struct Provider {
    pub(crate) name: String,
    pub(crate) base: Result<Base, String>,
    pub(crate) key_env: Option<String>,
    pub(crate) key: Option<SecretString>,
    pub(crate) key_needed: bool,
    pub(crate) kind: ProviderKind,
    pub(crate) adapter: AdapterKind,
    /// Whether its models run where the person's own machines are and cost nothing.
    pub(crate) free: bool,
}

/// A provider that everybody knows.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) base_url: &'static str,
    /// The variable that may put another base URL in the place of the public one.
    base_env: &'static str,
    /// The variables that may hold its key, the first that is set.
    pub(crate) key_envs: &'static [&'static str],
    /// The wire format, and the dialect of it where genai knows one.
    adapter: AdapterKind,
}

/// The well-known providers.
pub(crate) const KNOWN: &[Known] = &[
    Known {
        name: "openai",
        base_url: "https://api.openai.com/v1",
        base_env: "OPENAI_BASE_URL",
        key_envs: &["OPENAI_API_KEY"],
        adapter: AdapterKind::OpenAI,
    },
    Known {
        name: "anthropic",
        base_url: "https://api.anthropic.com/v1",
        base_env: "ANTHROPIC_BASE_URL",
        key_envs: &["ANTHROPIC_API_KEY"],
        adapter: AdapterKind::Anthropic,
    },
    Known {
        name: "gemini",
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        base_env: "GEMINI_BASE_URL",
        key_envs: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        adapter: AdapterKind::Gemini,
    },
    Known {
        name: "ollama",
        base_url: "http://127.0.0.1:11434/v1",
        base_env: "OLLAMA_HOST",
        key_envs: &[],
        adapter: AdapterKind::OpenAI,
    },
    Known {
        name: "openrouter",
        base_url: "https://openrouter.ai/api/v1",
        base_env: "OPENROUTER_BASE_URL",
        key_envs: &["OPENROUTER_API_KEY"],
        adapter: AdapterKind::OpenAI,
    },
    Known {
        name: "groq",
        base_url: "https://api.groq.com/openai/v1",
        base_env: "GROQ_BASE_URL",
        key_envs: &["GROQ_API_KEY"],
        adapter: AdapterKind::OpenAI,
    },
    Known {
        name: "deepseek",
        base_url: "https://api.deepseek.com/v1",
        base_env: "DEEPSEEK_BASE_URL",
        key_envs: &["DEEPSEEK_API_KEY"],
        adapter: AdapterKind::OpenAI,
    },
    Known {
        name: "xai",
        base_url: "https://api.x.ai/v1",
        base_env: "XAI_BASE_URL",
        key_envs: &["XAI_API_KEY"],
        // Counts the tokens of reasoning beside the output, not in it.
        adapter: AdapterKind::Xai,
    },
    Known {
        name: "mistral",
        base_url: "https://api.mistral.ai/v1",
        base_env: "MISTRAL_BASE_URL",
        key_envs: &["MISTRAL_API_KEY"],
        // Calls the seed `random_seed` and refuses `seed`.
        adapter: AdapterKind::Mistral,
    },
];

impl Known {
    fn kind(&self) -> ProviderKind {
        match self.adapter {
            AdapterKind::Anthropic => ProviderKind::Anthropic,
            AdapterKind::Gemini => ProviderKind::Gemini,
            _ => ProviderKind::OpenAi,
        }
    }
}

impl Provider {
    pub(crate) fn known(known: &Known, env: &dyn Fn(&str) -> Option<String>) -> Self {
        let kind = known.kind();
        let base = match read(env, known.base_env) {
            None => Base::of(known.base_url, kind),
            Some(url) => {
                let url = if known.name == "ollama" { ollama(&url) } else { url };
                Base::of(&url, kind).map_err(|why| format!("{} {why}", known.base_env))
            }
        };
        // A server that took the place of the public one may well want no key.
        let theirs = Base::parse(known.base_url).ok().map(|base| base.host);
        let replaced = base.as_ref().is_ok_and(|base| Some(&base.host) != theirs.as_ref());
        let keys = known.key_envs.iter();
        let found = keys.clone().find_map(|variable| Some((*variable, read(env, variable)?)));
        Self {
            name: known.name.into(),
            base,
            key_env: found
                .as_ref()
                .map(|(variable, _)| variable)
                .or(keys.clone().next())
                .map(|v| (*v).into()),
            key: found.map(|(_, key)| SecretString::from(key)),
            key_needed: !known.key_envs.is_empty() && !replaced,
            kind,
            adapter: known.adapter,
            free: known.name == "ollama",
        }
    }

    pub(crate) fn configured(
        name: &str,
        config: &ProviderConfig,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let known = KNOWN.iter().find(|known| known.name == name);
        let kind = config.kind.or(known.map(Known::kind)).unwrap_or_default();
        let dialect = known.filter(|known| known.kind() == kind).map(|known| known.adapter);
        Self {
            name: name.into(),
            base: Base::of(&config.base_url, kind)
                .map_err(|why| format!("base_url of [providers.{name}] {why}")),
            key_env: config.key_env.clone(),
            key: config.key_env.as_deref().and_then(|variable| read(env, variable)).map(SecretString::from),
            key_needed: config.key_env.is_some(),
            kind,
            adapter: dialect.unwrap_or(match kind {
                ProviderKind::OpenAi => AdapterKind::OpenAI,
                ProviderKind::Anthropic => AdapterKind::Anthropic,
                ProviderKind::Gemini => AdapterKind::Gemini,
            }),
            free: false,
        }
    }

    /// The well-known provider that really sells its models, whatever it is called here.
    pub(crate) fn seller(&self) -> Option<&'static str> {
        let base = self.base.as_ref().ok().filter(|base| !base.plain)?;
        let sells = |known: &&Known| Base::parse(known.base_url).is_ok_and(|own| own.host == base.host);
        KNOWN.iter().find(sells).map(|known| known.name)
    }

    /// The key, for a header.
    pub(crate) fn secret(&self) -> Option<&str> {
        self.key.as_ref().map(|key| key.expose_secret())
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
    /// From a base URL of a server that speaks `kind`. The tools of two vendors take one without the version in its path.
    pub(crate) fn of(text: &str, kind: ProviderKind) -> Result<Self, String> {
        let base = Self::parse(text)?;
        let version = match kind {
            ProviderKind::OpenAi => return Ok(base),
            ProviderKind::Anthropic => "v1",
            ProviderKind::Gemini => "v1beta",
        };
        let Ok(mut url) = Url::parse(&base.url) else { return Ok(base) };
        let path = url.path().trim_end_matches('/').to_owned();
        if path.rsplit('/').next().is_some_and(|last| last.starts_with("v1")) {
            return Ok(base);
        }
        url.set_path(&format!("{path}/{version}/"));
        Self::parse(url.as_str())
    }

    /// The address of `path` under it.
    pub(crate) fn join(&self, path: &str) -> String {
        let (base, query) = self.url.split_once('?').unwrap_or((&self.url, ""));
        let mark = match query {
            "" => "",
            _ if path.contains('?') => "&",
            _ => "?",
        };
        format!("{base}{path}{mark}{query}")
    }

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
    fn a_base_url_may_leave_out_the_version_where_the_vendors_own_tools_do() {
        let of = |url: &str, kind| Base::of(url, kind).unwrap().url;
        for url in
            ["https://x.example", "https://x.example/", "https://x.example/v1", "https://x.example/v1/"]
        {
            assert_eq!(of(url, ProviderKind::Anthropic), "https://x.example/v1/", "{url}");
        }
        for url in ["https://x.example/g", "https://x.example/g/v1beta", "https://x.example/g/v1beta/"] {
            assert_eq!(of(url, ProviderKind::Gemini), "https://x.example/g/v1beta/", "{url}");
        }
        assert_eq!(of("https://x.example/v1?k=1", ProviderKind::Gemini), "https://x.example/v1/?k=1");
        assert_eq!(
            of("https://x.example", ProviderKind::OpenAi),
            "https://x.example/",
            "an OpenAI base is whole"
        );
    }

    #[test]
    fn a_path_goes_between_the_base_and_its_query() {
        let base = Base::parse("http://x.example/v1?k=1").unwrap();
        assert_eq!(base.join("models"), "http://x.example/v1/models?k=1");
        assert_eq!(base.join("m:s?alt=sse"), "http://x.example/v1/m:s?alt=sse&k=1");
        assert_eq!(Base::parse("http://x.example").unwrap().join("m?a"), "http://x.example/m?a");
    }

    #[test]
    fn a_base_url_ends_in_a_slash_and_is_shown_without_its_query() {
        let base = Base::parse("https://x.example/openai/v1?api-version=2#top").unwrap();
        assert_eq!(base.url, "https://x.example/openai/v1/?api-version=2");
        assert_eq!(base.shown, "https://x.example/openai/v1");
        assert!(!base.plain && Base::parse("http://127.0.0.1:1/v1/").unwrap().plain);
    }
}
