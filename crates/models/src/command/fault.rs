//! What went wrong with a program, in a sentence that says what to do.

use std::ffi::OsString;
use std::io;
use std::process::ExitStatus;

use agon_engine::{Fault, FaultKind};

use super::Command;
use super::output::{Answer, Tail, Unusable};
use agon_host::clean_line as one_line;

/// Names of variables whose values must not be in a sentence.
const SECRET: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSWORD"];
/// The shortest value that is taken for a secret: a shorter one would hide ordinary words.
const SECRET_BYTES_MIN: usize = 8;
/// A report shows sentences in a list.
const SAID_CHARS_MAX: usize = 400;

impl Command {
    pub(super) fn not_started(&self, why: &io::Error) -> Fault {
        let (name, section) = (&self.name, self.section());
        let program = one_line(self.config.program.first().map_or("", String::as_str));
        if let Some(folder) = self.config.cwd.as_deref().filter(|folder| !folder.is_dir()) {
            let folder = one_line(&folder.display().to_string());
            let message =
                format!("{name} cannot run in {folder:?}, which is no folder: set cwd under {section}");
            return Fault::new(FaultKind::NoSuchModel, message);
        }
        // What the system says of a file that is neither a program nor begins with `#!`.
        let no_program = cfg!(unix) && why.raw_os_error() == Some(8);
        if why.kind() == io::ErrorKind::NotFound {
            let message = format!(
                "{name}: there is no program {program:?}: install it, or put its path into command under {section}"
            );
            Fault::new(FaultKind::NoSuchModel, message)
        } else if no_program || why.kind() == io::ErrorKind::PermissionDenied {
            let message =
                format!("{name}: {program:?} cannot be run ({why}): look at command under {section}");
            Fault::new(FaultKind::NoSuchModel, message)
        } else {
            Fault::new(FaultKind::Unavailable, format!("{name} could not be started: {why}"))
        }
    }

    pub(super) fn unusable(&self, why: &Unusable) -> Fault {
        let (name, section) = (&self.name, self.section());
        let message = match why {
            Unusable::TooLong(bytes) => format!(
                "{name} wrote more than {bytes} bytes and was stopped: let it answer more briefly, or raise \
                 output_bytes_max under {section}"
            ),
            Unusable::NotText => format!("the answer of {name} is not UTF-8 text"),
            Unusable::Broken(why) => format!("the answer of {name} broke off: {why}"),
        };
        Fault::new(FaultKind::Garbled, message)
    }

    pub(super) fn lost(&self, why: &io::Error) -> Fault {
        Fault::new(FaultKind::Unavailable, format!("{} was lost sight of: {why}", self.name))
    }

    /// A program that ended badly. Some say why on the wrong stream.
    pub(super) fn failed(&self, status: ExitStatus, complaints: &Tail, answer: &Answer) -> Fault {
        let said =
            [complaints.text(), answer.so_far().to_owned()].map(|said| told(&said, std::env::vars_os()));
        let said = said.into_iter().find(|said| !said.is_empty());
        let said = said.map_or_else(String::new, |said| format!("; it says: {said}"));
        Fault::new(FaultKind::Unavailable, format!("{} ended with {}{said}", self.name, ending(status)))
    }

    fn section(&self) -> String {
        format!("[{}] in agon.toml", self.name.replacen("command/", "commands.", 1))
    }
}

fn ending(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit status {code}"),
        None => one_line(&status.to_string()),
    }
}

/// The end of what a program said, in one line and without the keys in these variables.
fn told(said: &str, variables: impl Iterator<Item = (OsString, OsString)>) -> String {
    let mut line = one_line(said);
    for (name, value) in variables {
        let name = name.to_string_lossy().to_ascii_uppercase();
        let secret = value.to_str().filter(|value| value.len() >= SECRET_BYTES_MIN);
        if let Some(secret) = secret.filter(|_| SECRET.iter().any(|word| name.contains(word))) {
            line = line.replace(secret, &format!("[{name}]"));
        }
    }
    match line.chars().count().checked_sub(SAID_CHARS_MAX) {
        Some(over) if over > 0 => format!("...{}", line.chars().skip(over).collect::<String>()),
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_says_is_shown_in_one_line_without_keys() {
        let variables = [
            ("MY_API_KEY", "sk-abcdefgh"),
            ("api_token", "t-12345678"),
            ("A_KEY", "is"),
            ("USER", "wrongness"),
        ];
        let variables =
            || variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let said = "\u{1b}[31mkey sk-abcdefgh\n is wrongness\u{7}; t-12345678";
        assert_eq!(told(said, variables()), "key [MY_API_KEY] is wrongness; [API_TOKEN]");
        let long = told(&format!("{} end", "x".repeat(2_000)), variables());
        assert!(long.starts_with("...x") && long.ends_with("x end"), "{long}");
        assert_eq!(long.chars().count(), SAID_CHARS_MAX + 3);
    }
}
