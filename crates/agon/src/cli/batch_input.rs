//! The lines of a batch. All of them are checked before the first call.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use agon_core::SeededDraw;
use agon_core::event::sha256;
use agon_engine::ModelSource;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::arguments::SEED_MAX;
use super::brief_builder::{BriefBuilder, DebateSubject};
use super::errors::CliError;
use super::seat_models::check_models;
use super::{input, targets};

/// Room for an escaped question and generous options.
const LINE_BYTES_MAX: u64 = 4 << 20;

#[derive(Debug, Clone)]
pub struct BatchLine {
    /// Its place in the input, counted from 0.
    pub index: usize,
    /// The `id` of the line.
    pub input_id: Option<Value>,
    /// What the debate is about.
    pub subject: DebateSubject,
    /// A hash of the line as it is written.
    pub hash: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBatchLine {
    id: Option<Value>,
    question: Option<String>,
    files: Option<Vec<PathBuf>>,
    #[serde(default)]
    models: Vec<String>,
    #[serde(default)]
    options: Map<String, Value>,
    seed: Option<u64>,
}

/// Reads every line and checks that a debate can be opened with it. `total_usd` is the budget of the whole batch. The error names the number of the line.
pub fn read_batch(
    file: Option<&PathBuf>,
    builder: &BriefBuilder,
    seed: Option<u64>,
    models: &dyn ModelSource,
    total_usd: Option<f64>,
) -> Result<Vec<BatchLine>, CliError> {
    let path = file.map(PathBuf::as_path).unwrap_or(Path::new("-"));
    let source: Box<dyn Read> = if path == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(std::fs::File::open(path).map_err(|why| CliError::file(path, input::read_error(&why)))?)
    };
    let lines = parse_batch(source, path, builder, seed, models, total_usd)?;
    match lines.is_empty() {
        true => Err(CliError::file(
            path,
            "there is no line in it: write one JSON object per line, {\"question\": \"...\"}",
        )),
        false => Ok(lines),
    }
}

pub(super) fn parse_batch(
    source: impl Read,
    path: &Path,
    builder: &BriefBuilder,
    seed: Option<u64>,
    models: &dyn ModelSource,
    total_usd: Option<f64>,
) -> Result<Vec<BatchLine>, CliError> {
    let mut reader = BufReader::new(source);
    let mut lines: Vec<BatchLine> = Vec::new();
    for number in 1_usize.. {
        let error = |why: String| CliError::file(path, format!("line {number}: {why}"));
        let mut bytes = Vec::new();
        let read = (&mut reader).take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut bytes);
        if read.map_err(|why| CliError::file(path, input::read_error(&why)))? == 0 {
            break;
        }
        if bytes.len() as u64 > LINE_BYTES_MAX {
            return Err(error(format!("it is longer than {} KB, the limit", LINE_BYTES_MAX / 1024)));
        }
        let text = String::from_utf8(bytes).map_err(|_| error("it is not UTF-8 text".into()))?;
        // A byte order mark and blank lines do no harm.
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            continue;
        }
        // serde would read an array as the fields in their order.
        if !text.starts_with('{') {
            return Err(error("it is not a JSON object: write {\"question\": \"...\"}".into()));
        }
        let raw: RawBatchLine = serde_json::from_str(text).map_err(|why| error(json_error(&why)))?;
        let line = batch_line(raw, lines.len(), builder, seed).map_err(&error)?;
        let line = BatchLine { hash: sha256(text), ..line };
        let checked = builder.brief(line.subject.clone()).and_then(|mut brief| {
            // A budget in dollars needs known prices, whether it is the debate's or the batch's.
            brief.limits.usd = brief.limits.usd.or(total_usd);
            check_models(&brief, models)
        });
        checked.map_err(|why| match why {
            CliError::Input { sentence, help } => {
                CliError::Input { sentence: error(sentence).to_string(), help }
            }
            other => other,
        })?;
        lines.push(line);
    }
    Ok(lines)
}

/// The parser's message without its line number, which counts from the start of this one line.
fn json_error(why: &serde_json::Error) -> String {
    let text = why.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    format!("{text} (column {})", why.column())
}

fn batch_line(
    raw: RawBatchLine,
    index: usize,
    builder: &BriefBuilder,
    seed: Option<u64>,
) -> Result<BatchLine, String> {
    let subject = targets::subject_of_line(builder.protocol.info(), raw.question, raw.files)?;
    if raw.seed.is_some_and(|seed| seed > SEED_MAX) {
        return Err(format!("its seed is over {SEED_MAX}"));
    }
    let models = raw.models.iter().map(|name| name.trim().to_owned()).collect();
    // With the same seed, all debates would be shuffled alike.
    let line_seed = |seed| SeededDraw::new(seed, &format!("batch {index}")).next_u64() & SEED_MAX;
    let seed = raw.seed.or(seed.map(line_seed));
    let options = raw.options.into_iter().map(option_pair).collect::<Result<_, _>>()?;
    let subject = DebateSubject { models, options, seed, ..subject };
    Ok(BatchLine { index, input_id: raw.id, subject, hash: String::new() })
}

/// An option of a JSON object as `--set` takes it.
pub fn option_pair((key, value): (String, Value)) -> Result<(String, String), String> {
    match value {
        Value::String(text) => Ok((key, text)),
        Value::Number(_) | Value::Bool(_) => Ok((key, value.to_string())),
        _ => Err(format!("option {key:?} must be a number, a text, true or false")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::arguments::CliArguments;
    use crate::cli::configuration::Configuration;

    fn lines(text: &str) -> Result<Vec<BatchLine>, String> {
        let protocol = agon_protocols::find("deep").unwrap();
        let arguments = CliArguments { models: vec!["script/demo".into()], ..CliArguments::default() };
        let builder = BriefBuilder::new(protocol, arguments, &Configuration::default()).unwrap();
        let models = agon_models::ModelCatalogue::new(agon_models::ModelsConfig::default(), |_| None)
            .with_scripts([("demo".to_owned(), "seats: {\"*\": {\"*\": Yes.}}")]);
        parse_batch(text.as_bytes(), Path::new("in.jsonl"), &builder, Some(1), &models, None)
            .map_err(|why| why.to_string())
    }

    #[test]
    fn a_line_may_have_its_own_id_models_options_and_seed() {
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
    fn one_seed_for_the_batch_gives_each_line_its_own_and_always_the_same() {
        let text = "{\"question\": \"a\"}\n{\"question\": \"b\"}\n";
        let seeds = || lines(text).unwrap().iter().map(|line| line.subject.seed.unwrap()).collect::<Vec<_>>();
        assert_eq!(seeds(), seeds());
        assert_ne!(seeds()[0], seeds()[1]);
        assert!(seeds().iter().all(|seed| *seed <= SEED_MAX));
    }

    #[test]
    fn the_error_for_a_bad_line_names_its_number() {
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
