//! What a debate is about, from the command line or from a line of a batch.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use agon_core::{BriefFile, OptionKind, ProtocolInfo};
use clap::{Arg, ArgAction, ArgMatches, value_parser};

use super::brief_builder::DebateSubject;
use super::errors::CliError;
use super::input;

/// What the positional arguments of a protocol's verb are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectKind {
    /// One question, topic or task.
    Question,
    Files,
    /// Any mix of files and texts.
    Targets,
}

impl SubjectKind {
    pub fn of(info: &ProtocolInfo) -> Self {
        match info.subject {
            subject if subject.starts_with("FILE") => Self::Files,
            subject if subject.starts_with("TARGET") => Self::Targets,
            _ => Self::Question,
        }
    }
}

/// The part that marks a text which the seats may use and cite.
pub const CONTEXT: &str = agon_protocols::attached_context::CONTEXT_PART;
/// The part that marks a text without a file.
const TEXT_PART: &str = "text";

/// The arguments that say what the debate is about.
pub fn arguments(info: &'static ProtocolInfo) -> Vec<Arg> {
    let arg = Arg::new("subject").value_name(info.subject.trim_end_matches('.'));
    let word = info.subject.to_lowercase();
    match SubjectKind::of(info) {
        SubjectKind::Question => {
            vec![arg.help(format!("The {word}, in quotes; without it, or with `-`, it is read from stdin"))]
        }
        SubjectKind::Files => {
            let files = arg.num_args(1..).required(true).value_parser(value_parser!(PathBuf));
            vec![files.help("The files to debate about")]
        }
        SubjectKind::Targets => {
            let target = "What to judge: files, folders, or a text in quotes; without any, or with `-`, a text or a diff is read from stdin";
            let text = Arg::new(TEXT_PART)
                .long(TEXT_PART)
                .value_name("TEXT")
                .action(ArgAction::Append)
                .help("A text to judge, even if it looks like a path");
            vec![arg.num_args(0..).help(target), text]
        }
    }
}

/// Reads what the command line says the debate is about.
pub fn read_subject(info: &ProtocolInfo, args: &ArgMatches) -> Result<DebateSubject, CliError> {
    match SubjectKind::of(info) {
        SubjectKind::Question => {
            let given = args.get_one::<String>("subject").map(String::as_str);
            Ok(DebateSubject::question(input::read_question(given, info)?))
        }
        SubjectKind::Files => {
            let paths = args.get_many::<PathBuf>("subject").into_iter().flatten();
            let files = input::debate_files(paths.map(PathBuf::as_path))?;
            Ok(DebateSubject { files, ..DebateSubject::default() })
        }
        SubjectKind::Targets => read_targets(info, args),
    }
}

fn read_targets(info: &ProtocolInfo, args: &ArgMatches) -> Result<DebateSubject, CliError> {
    let stdin_readers = count_stdin_readers(info, args);
    if stdin_readers > 1 {
        return Err(CliError::input("stdin can be read only once: name a file for all but one of them"));
    }
    let mut files = Vec::new();
    let has_diff = matches!(args.try_get_one::<String>(input::DIFF_PART), Ok(Some(_)));
    let takes_diff = !has_diff && info.options.iter().any(|option| option.key == input::DIFF_PART);
    for word in args.get_many::<String>("subject").into_iter().flatten() {
        match word.as_str() {
            "-" => files
                .push(piped_target(&input::read_stdin("target", input::DEBATE_FILE_BYTES_MAX)?, takes_diff)?),
            word => files.extend(files_or_text(word)?),
        }
    }
    for words in args.get_many::<String>(TEXT_PART).into_iter().flatten() {
        files.push(text_target(words)?);
    }
    if files.is_empty() && !has_diff && stdin_readers == 0 && !std::io::stdin().is_terminal() {
        let piped = input::read_stdin("target", input::DEBATE_FILE_BYTES_MAX)?;
        // The protocol has the error for a debate about nothing.
        if !piped.trim().is_empty() {
            files.push(piped_target(&piped, takes_diff)?);
        }
    }
    Ok(subject_of_targets(files))
}

/// How many arguments and options want to read stdin.
fn count_stdin_readers(info: &ProtocolInfo, args: &ArgMatches) -> usize {
    let targets = args.get_many::<String>("subject").into_iter().flatten();
    let options = info.options.iter().filter(|option| {
        option.kind == OptionKind::File
            && matches!(args.try_get_one::<String>(option.key), Ok(Some(path)) if path == "-")
    });
    targets.filter(|word| *word == "-").count() + options.count()
}

/// Reads what a line of a batch says the debate is about. The error is a sentence without the line's number.
pub fn subject_of_line(
    info: &ProtocolInfo,
    question: Option<String>,
    paths: Option<Vec<PathBuf>>,
) -> Result<DebateSubject, String> {
    let (name, word) = (info.name, info.subject.to_lowercase());
    let sentence = |error: CliError| error.to_string();
    let read = |paths: &[PathBuf]| input::debate_files(paths.iter().map(PathBuf::as_path)).map_err(sentence);
    match (SubjectKind::of(info), question, paths) {
        (SubjectKind::Targets, None, None) => Err("it has neither a question nor files".into()),
        (SubjectKind::Targets, question, paths) => {
            let mut files = read(&paths.unwrap_or_default())?;
            files.extend(question.map(|words| text_target(&words)).transpose().map_err(sentence)?);
            Ok(subject_of_targets(files))
        }
        (_, Some(_), Some(_)) => Err("it has both a question and files: give one of them".into()),
        (SubjectKind::Files, None, Some(paths)) => {
            Ok(DebateSubject { files: read(&paths)?, ..DebateSubject::default() })
        }
        (SubjectKind::Files, ..) => Err(format!("{name} takes files, not a question")),
        (SubjectKind::Question, None, Some(_)) => Err(format!("{name} takes a {word}, not files")),
        (SubjectKind::Question, Some(question), None) => {
            Ok(DebateSubject::question(input::check_question(&question, &word).map_err(sentence)?))
        }
        (SubjectKind::Question, None, None) => Err("it has no question".into()),
    }
}

/// What a caller's request says the debate is about. Files without a part are what it is about, or context where it is about a question.
pub fn subject_of_request(
    info: &ProtocolInfo,
    question: Option<String>,
    mut files: Vec<BriefFile>,
) -> Result<DebateSubject, CliError> {
    let word = info.subject.trim_end_matches('.').to_lowercase();
    let question = question.filter(|question| !question.trim().is_empty());
    match SubjectKind::of(info) {
        SubjectKind::Question => {
            let question =
                question.ok_or_else(|| CliError::input(format!("{} needs a {word}", info.name)))?;
            let question = input::check_question(&question, &word)?;
            for file in files.iter_mut().filter(|file| file.part.is_none()) {
                file.part = Some(CONTEXT.to_owned());
            }
            Ok(DebateSubject { question, files, ..DebateSubject::default() })
        }
        SubjectKind::Files => match files.iter().any(|file| file.part.is_none()) {
            true => {
                let question = question.map(|words| input::check_question(&words, "question"));
                let question = question.transpose()?.unwrap_or_default();
                Ok(DebateSubject { question, files, ..DebateSubject::default() })
            }
            false => Err(CliError::input(format!(
                "{} judges files: send at least one under `files`, with `path` and `text`",
                info.name
            ))),
        },
        SubjectKind::Targets => {
            let has_diff = files.iter().any(|file| file.part.as_deref() == Some(input::DIFF_PART));
            let takes_diff = !has_diff && info.options.iter().any(|option| option.key == input::DIFF_PART);
            if let Some(words) = question {
                files.push(piped_target(&words, takes_diff)?);
            }
            Ok(subject_of_targets(files))
        }
    }
}

/// A file of a caller's request.
pub fn request_file(path: String, text: String, part: Option<String>) -> Result<BriefFile, CliError> {
    let wrong = |why: &str| Err(CliError::input(format!("the file {path:?} {why}")));
    if path.trim().is_empty() {
        return wrong("has no name: set `path`");
    }
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return wrong("is empty: send one with something in it");
    }
    if text.len() as u64 > input::DEBATE_FILE_BYTES_MAX {
        return wrong(&format!("has more than {} KB, the limit", input::DEBATE_FILE_BYTES_MAX / 1024));
    }
    if text.contains('\0') {
        return wrong("is binary: send text");
    }
    Ok(BriefFile { path, text, part })
}

/// A diff that came on stdin, or a text.
fn piped_target(text: &str, takes_diff: bool) -> Result<BriefFile, CliError> {
    match takes_diff && agon_protocols::packet_lines::read_diff(text).is_ok() {
        true => {
            let part = Some(input::DIFF_PART.to_owned());
            Ok(BriefFile { path: "-".into(), text: text.to_owned(), part })
        }
        false => text_target(text),
    }
}

/// A file or the files of a folder if the word names one, an error if it only looks like a path, else a text.
fn files_or_text(word: &str) -> Result<Vec<BriefFile>, CliError> {
    let path = Path::new(word);
    match word {
        _ if path.is_dir() => match input::folder_files(path)? {
            files if files.is_empty() => Err(CliError::file(
                path,
                "it is a folder without any file that is not hidden or empty: name another",
            )),
            files => Ok(files),
        },
        _ if path.exists() => Ok(vec![input::debate_file(path, None)?]),
        _ if looks_like_path(word) => Ok(vec![input::debate_file(path, None).map_err(|error| {
            CliError::input(error.to_string()).with_help(format!("if it is a text: --text {word:?}"))
        })?]),
        _ => Ok(vec![text_target(word)?]),
    }
}

/// No white space, and a slash or an extension.
fn looks_like_path(word: &str) -> bool {
    !word.contains(char::is_whitespace) && (word.contains('/') || Path::new(word).extension().is_some())
}

fn text_target(words: &str) -> Result<BriefFile, CliError> {
    let text = input::check_question(words, "target")?;
    Ok(BriefFile { path: TEXT_PART.into(), text, part: Some(TEXT_PART.into()) })
}

/// The texts also become the debate's question.
fn subject_of_targets(files: Vec<BriefFile>) -> DebateSubject {
    let texts = files.iter().filter(|file| file.part.as_deref() == Some(TEXT_PART));
    let question = texts.map(|file| file.text.as_str()).collect::<Vec<_>>().join("\n\n");
    DebateSubject { question, files, ..DebateSubject::default() }
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
        let found = files_or_text(file.to_str().unwrap()).unwrap().remove(0);
        assert_eq!((found.text.as_str(), found.part), ("Adopt the queue.", None));
        for word in ["none.md", "a/b", "./none", "v1.2", "/none/at/all"] {
            let error = files_or_text(word).unwrap_err().to_string();
            assert!(error.contains(word) && error.contains("no such file"), "{error}");
        }
        for word in ["Is this sane?", "see a/b for more", "plan", "ends with a dot."] {
            let found = files_or_text(word).unwrap().remove(0);
            assert_eq!((found.text.as_str(), found.part.as_deref()), (word, Some("text")));
        }
        assert!(files_or_text(" ").unwrap_err().to_string().contains("empty"));
    }

    /// "files and folders": every file below it by its path, without hidden ones; what cannot be judged is named.
    #[test]
    fn a_folder_is_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        assert!(
            files_or_text(folder.path().to_str().unwrap())
                .unwrap_err()
                .to_string()
                .contains("folder without")
        );
        std::fs::create_dir_all(path("b/.git")).unwrap();
        for name in ["b/c.py", "a.py", ".env", "b/.git/head"] {
            std::fs::write(path(name), name).unwrap();
        }
        std::fs::write(path("empty"), "").unwrap();
        let found = files_or_text(folder.path().to_str().unwrap()).unwrap();
        assert_eq!(found.iter().map(|file| file.text.as_str()).collect::<Vec<_>>(), ["a.py", "b/c.py"]);
        std::fs::write(path("b/picture"), [0, 1]).unwrap();
        let error = files_or_text(folder.path().to_str().unwrap()).unwrap_err().to_string();
        assert!(error.contains("picture") && error.contains("binary"), "{error}");
    }

    #[test]
    fn a_diff_on_stdin_is_recognised() {
        let diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
        for (text, takes_diff, part) in
            [(diff, true, "diff"), (diff, false, "text"), ("a plan", true, "text")]
        {
            let found = piped_target(text, takes_diff).unwrap();
            assert_eq!(found.part.as_deref(), Some(part), "{text}");
        }
    }
}
