//! The demos: scripted debates that need no model. What each is about is read from its script.

use agon_core::{BriefFile, OptionKind, Protocol, ProtocolInfo};

use super::configuration::OptionPairs;

/// The files that demo scripts are about, by their names in the folder `examples` of the repository.
const EXAMPLES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/example_files.rs"));

/// A protocol's demo, and what to open it with.
pub struct DemoDebate {
    pub protocol: &'static dyn Protocol,
    /// What answers in every seat.
    pub model: String,
    /// The question that the script answers. A demo about files has none.
    pub question: Option<&'static str>,
    pub files: Vec<BriefFile>,
    /// As `--set` takes them.
    pub options: OptionPairs,
}

/// The demos, in the order of the protocols.
pub fn demo_debates() -> impl Iterator<Item = DemoDebate> {
    agon_protocols::all().filter_map(DemoDebate::of)
}

impl DemoDebate {
    /// The demo of a protocol, if it has one.
    pub fn of(protocol: &'static dyn Protocol) -> Option<Self> {
        let info = protocol.info();
        let script = info.demo?;
        let question = script.lines().find_map(|line| line.strip_prefix("question:"))?;
        let files = EXAMPLES.iter().map(|(name, text)| (format!("examples/{name}"), *text));
        let files = files.filter(|(path, _)| script.contains(path));
        let file = |(path, text): (String, &str)| BriefFile { path, text: text.to_owned(), part: None };
        let files: Vec<BriefFile> = files.map(file).collect();
        Some(Self {
            protocol,
            model: format!("script/demo-{}", info.name),
            // The text of a target would count as one more target.
            question: files.is_empty().then(|| question.trim().trim_matches('"')),
            files,
            options: shown_options(info, script),
        })
    }

    /// The name of the protocol.
    pub fn name(&self) -> &'static str {
        self.protocol.info().name
    }
}

/// The command line that the script's first lines show, without `#`.
fn shown_command(script: &'static str) -> &'static str {
    let line = script.lines().find(|line| line.starts_with('#') && line.contains("--models"));
    line.unwrap_or_default().trim_start_matches('#').trim()
}

/// The options of the command line that the script's first lines show.
fn shown_options(info: &ProtocolInfo, script: &'static str) -> OptionPairs {
    let mut options = Vec::new();
    let mut words = shown_command(script).split_whitespace();
    while let Some(word) = words.next() {
        let Some(key) = word.strip_prefix("--").map(|key| key.replace('-', "_")) else { continue };
        let Some(option) = info.options.iter().find(|option| option.key == key) else { continue };
        let value = match option.kind {
            OptionKind::Flag => "true",
            _ => match words.next() {
                Some(value) => value.trim_matches('"'),
                None => continue,
            },
        };
        options.push((key, value.to_owned()));
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_demo_has_what_its_script_shows() {
        let mut with_files = 0;
        for demo in demo_debates() {
            let info = demo.protocol.info();
            assert_eq!(demo.question.is_some(), demo.files.is_empty(), "{}", info.name);
            with_files += usize::from(!demo.files.is_empty());
            assert!(demo.options.iter().all(|(key, _)| info.options.iter().any(|known| known.key == key)));
            // The command line that the script shows has nothing that the demo lacks.
            let command = shown_command(info.demo.unwrap());
            let flags =
                command.split_whitespace().filter(|word| word.starts_with("--") && *word != "--models");
            assert_eq!(flags.count(), demo.options.len(), "{command}");
            let named = command.split_whitespace().filter(|word| word.starts_with("examples/"));
            assert_eq!(named.count(), demo.files.len(), "{command}");
        }
        assert!(with_files > 0 && demo_debates().count() > with_files);
    }
}
