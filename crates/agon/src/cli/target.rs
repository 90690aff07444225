//! What a debate is about: from the first words on the command line, or from a line of a batch.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use agon_core::{Artifact, Kind, Protocol};
use clap::{Arg, ArgAction, ArgMatches, value_parser};

use super::failure::Failure;
use super::input;
use super::opening::Subject;

/// What the first words of a protocol's verb are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// One question, topic or task.
    Words,
    /// Files.
    Files,
    /// Files and texts, whichever each is.
    Targets,
}

fn takes(protocol: &dyn Protocol) -> Takes {
    match protocol.subject() {
        subject if subject.starts_with("FILE") => Takes::Files,
        subject if subject.starts_with("TARGET") => Takes::Targets,
        _ => Takes::Words,
    }
}

/// The part of a packet that is a text without a file.
const TEXT: &str = "text";

/// The arguments that say what the debate is about.
pub fn args(protocol: &'static dyn Protocol) -> Vec<Arg> {
    let arg = Arg::new("subject").value_name(protocol.subject().trim_end_matches('.'));
    let word = protocol.subject().to_lowercase();
    match takes(protocol) {
        Takes::Words => {
            let help = format!("The {word}, in quotes; `-`, or nothing at all, reads it from stdin");
            vec![arg.help(help)]
        }
        Takes::Files => {
            let files = arg.num_args(1..).required(true).value_parser(value_parser!(PathBuf));
            vec![files.help("The files to debate about")]
        }
        Takes::Targets => {
            let target =
                "What to judge: files, or a text in quotes; `-`, or nothing at all, reads one from stdin";
            let text = Arg::new(TEXT)
                .long(TEXT)
                .value_name("TEXT")
                .action(ArgAction::Append)
                .help("A text to judge, also where it looks like a path");
            vec![arg.num_args(0..).help(target), text]
        }
    }
}

/// What the command line says the debate is about.
pub fn read(protocol: &dyn Protocol, args: &ArgMatches) -> Result<Subject, Failure> {
    match takes(protocol) {
        Takes::Words => {
            let given = args.get_one::<String>("subject").map(String::as_str);
            Ok(Subject { question: input::question(given, protocol)?, ..Subject::default() })
        }
        Takes::Files => {
            let paths = args.get_many::<PathBuf>("subject").into_iter().flatten();
            let files = input::artifacts(paths.map(PathBuf::as_path))?;
            Ok(Subject { files, ..Subject::default() })
        }
        Takes::Targets => {
            if stdin_readers(protocol, args) > 1 {
                return Err(Failure::input("stdin can be read once: name a file for all but one of them"));
            }
            let mut files = Vec::new();
            for word in args.get_many::<String>("subject").into_iter().flatten() {
                files.push(target(word)?);
            }
            for words in args.get_many::<String>(TEXT).into_iter().flatten() {
                files.push(text(words)?);
            }
            let diff = args.try_contains_id("diff").unwrap_or_default();
            let taken = diff || stdin_readers(protocol, args) > 0;
            if files.is_empty() && !taken && !std::io::stdin().is_terminal() {
                let piped = input::stdin("target", input::QUESTION_BYTES_MAX)?;
                // Nothing piped in is nothing said; the protocol knows what to say to that.
                if !piped.trim().is_empty() {
                    files.push(text(&piped)?);
                }
            }
            Ok(subject(files))
        }
    }
}

/// How many of the words on the command line are to be read from stdin.
fn stdin_readers(protocol: &dyn Protocol, args: &ArgMatches) -> usize {
    let targets =
        args.get_many::<String>("subject").into_iter().flatten().filter(|word| *word == "-").count();
    let parts = protocol.options().iter().filter(|opt| opt.kind == Kind::File);
    let parts =
        parts.filter(|opt| matches!(args.try_get_one::<String>(opt.key), Ok(Some(path)) if path == "-"));
    targets + parts.count()
}

/// What a line of a batch says.
pub fn of_line(
    protocol: &dyn Protocol,
    question: Option<String>,
    paths: Option<Vec<PathBuf>>,
) -> Result<Subject, String> {
    let name = protocol.name();
    let word = protocol.subject().to_lowercase();
    let said = |why: Failure| why.to_string();
    let files = |paths: &[PathBuf]| input::artifacts(paths.iter().map(PathBuf::as_path)).map_err(said);
    match (takes(protocol), question, paths) {
        (Takes::Targets, None, None) => Err("it has neither a question nor files".into()),
        (Takes::Targets, question, paths) => {
            let mut all = files(&paths.unwrap_or_default())?;
            all.extend(question.map(|words| text(&words)).transpose().map_err(said)?);
            Ok(subject(all))
        }
        (_, Some(_), Some(_)) => Err("it has both a question and files: give one of them".into()),
        (Takes::Files, None, Some(paths)) => Ok(Subject { files: files(&paths)?, ..Subject::default() }),
        (Takes::Files, ..) => Err(format!("{name} takes files, not a question")),
        (Takes::Words, None, Some(_)) => Err(format!("{name} takes a {word}, not files")),
        (Takes::Words, Some(question), None) => {
            Ok(Subject { question: input::check(&question, &word).map_err(said)?, ..Subject::default() })
        }
        (Takes::Words, None, None) => Err("it has no question".into()),
    }
}

/// A file if it is one, an error if it only looks like one, else a text.
fn target(word: &str) -> Result<Artifact, Failure> {
    let path = Path::new(word);
    match word {
        "-" => text(&input::stdin("target", input::QUESTION_BYTES_MAX)?),
        _ if path.exists() => input::artifact(path, None),
        _ if looks_like_path(word) => input::artifact(path, None).map_err(|why| {
            Failure::input(why.to_string()).help(format!("if it is meant as a text: --text {word:?}"))
        }),
        _ => text(word),
    }
}

/// No white space, and a slash or an extension.
fn looks_like_path(word: &str) -> bool {
    !word.contains(char::is_whitespace) && (word.contains('/') || Path::new(word).extension().is_some())
}

fn text(words: &str) -> Result<Artifact, Failure> {
    let text = input::check(words, "target")?;
    Ok(Artifact { path: TEXT.into(), text, part: Some(TEXT.into()) })
}

/// The texts are also what the debate is called.
fn subject(files: Vec<Artifact>) -> Subject {
    let texts = files.iter().filter(|file| file.part.as_deref() == Some(TEXT));
    let question = texts.map(|file| file.text.as_str()).collect::<Vec<_>>().join("\n\n");
    Subject { question, files, ..Subject::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "A TARGET that exists is a file; one that looks like a path (no white space, with a slash or an extension) and does
    /// not exist is an error; anything else is text."
    #[test]
    fn a_target_is_a_file_an_error_or_a_text() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("plan");
        std::fs::write(&file, "Adopt the queue.").unwrap();
        let found = target(file.to_str().unwrap()).unwrap();
        assert_eq!((found.text.as_str(), found.part), ("Adopt the queue.", None));
        for word in ["none.md", "a/b", "./none", "v1.2", "/none/at/all"] {
            let why = target(word).unwrap_err().to_string();
            assert!(why.contains(word) && why.contains("no such file"), "{why}");
        }
        for word in ["Is this sane?", "see a/b for more", "plan", "ends with a dot."] {
            let found = target(word).unwrap();
            assert_eq!((found.text.as_str(), found.part.as_deref()), (word, Some("text")));
        }
        assert!(target(folder.path().to_str().unwrap()).unwrap_err().to_string().contains("folder"));
        assert!(target(" ").unwrap_err().to_string().contains("empty"));
    }
}
