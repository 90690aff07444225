//! The lines of a batch, all of them checked before the first call.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use agon_core::seed::Draw;
use agon_engine::Models;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::cli::failure::Failure;
use crate::cli::opening::{Opening, Subject, check_models};
use crate::cli::{input, target};

/// A question, escaped, and a generous rest.
const LINE_BYTES_MAX: u64 = 4 << 20;
const SEED_MAX: u64 = (1 << 53) - 1;

/// One debate to hold.
#[derive(Debug, Clone)]
pub struct Line {
    /// Counted from 0.
    pub index: usize,
    /// The line's own `id`.
    pub input_id: Option<Value>,
    /// What the debate is about.
    pub subject: Subject,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    id: Option<Value>,
    question: Option<String>,
    files: Option<Vec<PathBuf>>,
    #[serde(default)]
    models: Vec<String>,
    #[serde(default)]
    options: Map<String, Value>,
    seed: Option<u64>,
}

/// Reads every line and checks that each can be opened. The first that cannot is named by its number.
pub fn read(
    file: Option<&PathBuf>,
    opening: &Opening,
    seed: Option<u64>,
    models: &dyn Models,
) -> Result<Vec<Line>, Failure> {
    let path = file.map(PathBuf::as_path).unwrap_or(Path::new("-"));
    let source: Box<dyn Read> = if path == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        // Through the same door as every file, for its sentences.
        Box::new(std::fs::File::open(path).map_err(|why| Failure::file(path, input::cannot_read(&why)))?)
    };
    let lines = parse(source, path, opening, seed, models)?;
    match lines.is_empty() {
        true => Err(Failure::file(
            path,
            "there is no line in it: write one JSON object a line, {\"question\": \"...\"}",
        )),
        false => Ok(lines),
    }
}

fn parse(
    source: impl Read,
    path: &Path,
    opening: &Opening,
    seed: Option<u64>,
    models: &dyn Models,
) -> Result<Vec<Line>, Failure> {
    let mut source = BufReader::new(source);
    let mut lines: Vec<Line> = Vec::new();
    for number in 1_u64.. {
        let wrong = |why: String| Failure::file(path, format!("line {number}: {why}"));
        let mut bytes = Vec::new();
        let got = (&mut source).take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut bytes);
        match got.map_err(|why| Failure::file(path, input::cannot_read(&why)))? as u64 {
            0 => break,
            n if n > LINE_BYTES_MAX => {
                return Err(wrong(format!("it is longer than {} KB, the limit", LINE_BYTES_MAX / 1024)));
            }
            _ => {}
        }
        let text = String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8 text".into()))?;
        // An editor's byte order mark and blank lines do no harm.
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            continue;
        }
        // An array would be read as the fields in their order.
        if !text.starts_with('{') {
            return Err(wrong("it is not a JSON object: write {\"question\": \"...\"}".into()));
        }
        let raw: Raw = serde_json::from_str(text).map_err(|why| wrong(json_sentence(&why)))?;
        let index = lines.len();
        let line = line(raw, index, opening, seed).map_err(&wrong)?;
        let brief = opening.brief(line.subject.clone());
        match brief.and_then(|brief| check_models(&brief, models)) {
            Err(Failure::Input { sentence, help }) => {
                let sentence = wrong(sentence).to_string();
                return Err(Failure::Input { sentence, help });
            }
            other => other?,
        }
        lines.push(line);
    }
    Ok(lines)
}

/// The parser counts lines too, but knows of one only.
fn json_sentence(why: &serde_json::Error) -> String {
    let text = why.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    format!("{text} (column {})", why.column())
}

fn line(raw: Raw, index: usize, opening: &Opening, seed: Option<u64>) -> Result<Line, String> {
    let subject = target::of_line(opening.protocol, raw.question, raw.files)?;
    if raw.seed.is_some_and(|seed| seed > SEED_MAX) {
        return Err(format!("its seed is over {SEED_MAX}"));
    }
    let models = raw.models.iter().map(|name| name.trim().to_owned()).collect();
    // One seed for all would shuffle all alike.
    let seed = raw.seed.or(seed.map(|seed| Draw::new(seed, &format!("batch {index}")).next_u64() & SEED_MAX));
    let options = raw.options.into_iter().map(option).collect::<Result<_, _>>()?;
    Ok(Line { index, input_id: raw.id, subject: Subject { models, options, seed, ..subject } })
}

fn option((key, value): (String, Value)) -> Result<(String, String), String> {
    match value {
        Value::String(text) => Ok((key, text)),
        Value::Number(_) | Value::Bool(_) => Ok((key, value.to_string())),
        _ => Err(format!("option {key:?} must be a number, a text, true or false")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agon_core::Invalid;
    use agon_engine::Model;

    use super::*;
    use crate::cli::args::Said;
    use crate::cli::config::Config;

    struct Scripts(agon_models::Catalogue);

    impl Models for Scripts {
        fn model(&self, name: &str) -> Result<Arc<dyn Model>, Invalid> {
            self.0.model(name)
        }
    }

    fn lines(text: &str) -> Result<Vec<Line>, String> {
        let protocol = agon_protocols::find("deep").unwrap();
        let said = Said { models: vec!["script/demo".into()], ..Said::default() };
        let opening = Opening::new(protocol, said, &Config::default()).unwrap();
        let models = Scripts(agon_models::Catalogue::new(agon_models::Config::default(), |_| None));
        parse(text.as_bytes(), Path::new("in.jsonl"), &opening, Some(1), &models)
            .map_err(|why| why.to_string())
    }

    #[test]
    fn a_line_may_have_an_id_models_options_and_a_seed_of_its_own() {
        let lines = lines(
            "\u{feff}{\"question\": \" a? \"}\n\n{\"id\": 7, \"question\": \"b?\", \"models\": [\"script/demo\"], \
             \"options\": {\"max_rounds\": 2}, \"seed\": 5}",
        )
        .unwrap();
        let [first, second] = lines.as_slice() else { panic!("{lines:?}") };
        assert_eq!((first.index, first.subject.question.as_str(), &first.input_id), (0, "a?", &None));
        assert_eq!((second.index, second.subject.seed), (1, Some(5)));
        assert_eq!(second.input_id, Some(serde_json::json!(7)));
        assert_eq!(second.subject.options, [("max_rounds".to_owned(), "2".to_owned())]);
    }

    #[test]
    fn with_one_seed_for_the_batch_every_line_has_its_own_and_always_the_same() {
        let text = "{\"question\": \"a\"}\n{\"question\": \"b\"}\n";
        let seeds = || lines(text).unwrap().iter().map(|line| line.subject.seed.unwrap()).collect::<Vec<_>>();
        assert_eq!(seeds(), seeds());
        assert_ne!(seeds()[0], seeds()[1]);
        assert!(seeds().iter().all(|seed| *seed <= SEED_MAX));
    }

    #[test]
    fn a_bad_line_is_named_by_its_number() {
        for (bad, want) in [
            ("{\"question\": }", "column"),
            ("[null, \"q\", null, [], {}, null]", "not a JSON object"),
            ("{\"question\": \"\"}", "is empty"),
            ("{\"id\": \"x\"}", "no question"),
            ("{\"question\": \"q\", \"rounds\": 2}", "unknown field `rounds`"),
            ("{\"question\": \"q\", \"files\": [\"a\"]}", "both"),
            ("{\"files\": [\"a\"]}", "not files"),
            ("{\"question\": \"q\", \"options\": {\"max_rounds\": 0}}", "max_rounds"),
            ("{\"question\": \"q\", \"options\": {\"max_rounds\": [1]}}", "must be a number"),
            ("{\"question\": \"q\", \"models\": [\"nobody/x\"]}", "nobody"),
            ("{\"question\": \"q\", \"seed\": 9007199254740992}", "seed"),
        ] {
            let why = lines(&format!("{{\"question\": \"fine\"}}\n{bad}\n")).unwrap_err();
            assert!(why.contains("in.jsonl: line 2: ") && why.contains(want), "{bad}: {why}");
        }
    }
}
