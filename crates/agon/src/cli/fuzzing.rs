//! What must hold for any `agon.toml` that lies in the working directory, and for any batch. The tests and the fuzz targets
//! `configuration` and `batch_lines` call it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::sync::LazyLock;

use agon_core::event::sha256;
use agon_core::{Brief, BriefFile, OptionKind, Protocol};
use agon_models::{ModelCatalogue, ModelsConfig};

use super::arguments::CliArguments;
use super::batch_input::parse_batch;
use super::brief_builder::{BriefBuilder, DebateSubject};
use super::configuration::{Configuration, parse_found};

/// Of a found file, only numbers, choices and flags of protocols have an effect, and in a gate nothing has.
pub fn configuration(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(found) = parse_found(Path::new("agon.toml"), &text) else { return };
    assert!(found.notice().is_none_or(|notice| !notice.chars().any(char::is_control)));
    let names: Vec<String> = found.options.keys().cloned().collect();
    let configuration = Configuration { found: Some(found), ..Configuration::default() };
    for name in names {
        let protocol = agon_protocols::find(&name).expect("an option that counts is a protocol's");
        let (own, with_found) = (brief(protocol, &Configuration::default()), brief(protocol, &configuration));
        // An option that counts may still be impossible together with the seats.
        let (Some(own), Some(with_found)) = (own, with_found) else { continue };
        let changed = own.options.keys().filter(|key| own.options.get(*key) != with_found.options.get(*key));
        for key in changed {
            let spec = protocol.info().options.iter().find(|option| option.key == key).unwrap();
            let is_allowed =
                !(spec.names_models() || matches!(spec.kind, OptionKind::Text | OptionKind::File));
            assert!(is_allowed && !protocol.info().gates(&own), "[{name}] {key} has an effect");
        }
        let as_own = Brief { options: own.options.clone(), seats: own.seats.clone(), ..with_found.clone() };
        assert_eq!(
            as_own,
            Brief {
                id: as_own.id.clone(),
                nonce: as_own.nonce.clone(),
                created_at: as_own.created_at.clone(),
                ..own.clone()
            }
        );
        let models = |brief: &Brief| {
            brief.seats.iter().map(|seat| seat.model.clone()).collect::<std::collections::BTreeSet<_>>()
        };
        assert!(models(&with_found).is_subset(&models(&own)), "{:?}", with_found.seats);
        let most_calls = |brief: &Brief| protocol.plan(brief).most_calls;
        assert!(most_calls(&with_found) <= most_calls(&own), "it makes the debate longer");
    }
}

fn brief(protocol: &'static dyn Protocol, configuration: &Configuration) -> Option<Brief> {
    let models = ["script/a", "script/b", "script/c"].map(String::from).to_vec();
    let arguments = CliArguments { models, seed: Some(1), ..CliArguments::default() };
    let builder = BriefBuilder::new(protocol, arguments, configuration).unwrap();
    let files = vec![BriefFile { path: "plan.md".into(), text: "Adopt the queue.".into(), part: None }];
    builder.brief(DebateSubject { files, ..DebateSubject::question("Why?") }).ok()
}

/// Every line of a batch is a debate, or the error names the line that is none.
pub fn batch_lines(bytes: &[u8]) {
    static MODELS: LazyLock<ModelCatalogue> = LazyLock::new(|| {
        ModelCatalogue::new(ModelsConfig::default(), |_| None)
            .with_scripts([("demo".to_owned(), "seats: {\"*\": {\"*\": Yes.}}")])
    });
    static BUILDER: LazyLock<BriefBuilder> = LazyLock::new(|| {
        let arguments = CliArguments { models: vec!["script/demo".into()], ..CliArguments::default() };
        BriefBuilder::new(agon_protocols::PLAIN_VOTE, arguments, &Configuration::default()).unwrap()
    });
    let text = String::from_utf8_lossy(bytes);
    let written: Vec<&str> =
        text.split('\n').map(|line| line.trim_start_matches('\u{feff}').trim()).collect();
    match parse_batch(bytes, Path::new("in.jsonl"), &BUILDER, Some(1), &*MODELS, None) {
        Ok(lines) => {
            let written: Vec<&&str> = written.iter().filter(|line| !line.is_empty()).collect();
            assert_eq!(lines.len(), written.len());
            for (place, (line, text)) in lines.iter().zip(written).enumerate() {
                assert_eq!((line.index, &line.hash), (place, &sha256(text)));
                assert!(!line.subject.question.trim().is_empty(), "{text}");
            }
        }
        Err(why) => {
            let why = why.to_string();
            let number =
                why.strip_prefix("in.jsonl: line ").and_then(|rest| rest.split(':').next()).expect(&why);
            assert!((1..=written.len()).contains(&number.parse().expect(&why)), "{why}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_found_configuration_at_all_has_an_effect_that_is_not_allowed() {
        const PIECES: &[&str] = &[
            "[review]\n",
            "[deep]\n",
            "[panel]\n",
            "[council]\n",
            "[arena]\n",
            "[protocols.review]\n",
            "[protocols.deep]\n",
            "[limits]\n",
            "[providers.openai]\n",
            "[commands.x]\n",
            "[[hooks]]\n",
            "count = 1\n",
            "mixed = \"script/x\"\n",
            "mode = \"brainstorm\"\n",
            "max_rounds = 9\n",
            "min_rounds = 1\n",
            "quorum = 1\n",
            "quick = true\n",
            "models = [\"a/b\"]\n",
            "base_url = \"http://x\"\n",
            "execution.timeout.per_llm_call = 1\n",
            "rounds = 2\n",
            "weights.accuracy = 30\n",
            "fail_on = \"fail\"\n",
            "debate = true\n",
            "spec = \"a\"\n",
            "\"",
            "=",
            "[",
            "]",
            ".",
            "#",
            "\n",
            "{",
            "}",
            "'",
        ];
        agon_fuzzing::check("configuration", PIECES, configuration);
    }

    #[test]
    fn no_batch_at_all_has_a_line_that_is_skipped_or_blamed_on_another() {
        const PIECES: &[&str] = &[
            "{\"question\": \"a?\"}\n",
            "{",
            "}",
            "\"question\":",
            "\"a?\"",
            ",",
            "\n",
            "\"id\":",
            "7",
            "\"models\":[\"script/demo\"]",
            "\"options\":{",
            "\"count\":2",
            "\"seed\":5",
            "\"files\":[\"x\"]",
            "\u{feff}",
            " ",
            "\r\n",
            "[",
            "]",
            "null",
            "\\u0000",
            "\u{85}",
            "\u{2028}",
        ];
        agon_fuzzing::check("batch_lines", PIECES, batch_lines);
    }
}
