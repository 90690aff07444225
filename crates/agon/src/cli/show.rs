//! How a debate is shown: while it runs, and when it is over.

use std::path::{Path, PathBuf};

use agon_core::{Brief, Debate, Protocol, Stands, document};
use agon_report::Gate;
use clap::ArgMatches;
use serde_json::Value;

use super::args::{quoted, same_store};
use super::failure::Failure;
use super::{output, records, write};

/// The file of a saved debate that is written last but one.
const OUTCOME: &str = "outcome.json";

/// What a person wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    /// The live view on stderr, the report on stdout.
    Live,
    /// The report alone.
    Quiet,
    /// The outcome as JSON.
    Json,
    /// The log as it happens.
    Events,
}

/// How a debate is shown, and where it is saved besides.
#[derive(Debug)]
pub struct Show {
    /// What goes to the screen.
    pub face: Face,
    /// Whether progress may be shown on stderr.
    pub progress: bool,
    quiet: bool,
    watched: bool,
    save: Option<PathBuf>,
    /// For a pipeline instead of a person.
    gate: Option<Gate>,
    /// Whether the protocol's own files are written where it has a folder for them.
    files: bool,
    /// ` --db FILE` where one was named.
    pub store: String,
}

impl Show {
    /// Reads the options of [`args::face`](super::args::face).
    pub fn read(args: &ArgMatches) -> Result<Self, Failure> {
        let face = match ["json", "events", "quiet"].map(|flag| args.get_flag(flag)) {
            [true, ..] => Face::Json,
            [_, true, _] => Face::Events,
            [.., true] => Face::Quiet,
            _ => Face::Live,
        };
        let (quiet, watched) = (args.get_flag("quiet"), output::watched());
        let progress = match face {
            Face::Live => true,
            Face::Json => !quiet && watched,
            Face::Quiet | Face::Events => false,
        };
        let (save, store) = (args.get_one::<PathBuf>("save").cloned(), same_store(args));
        let format = args.try_get_one::<String>("format").ok().flatten();
        let gate = format.and_then(|name| Gate::from_name(name));
        let files = !matches!(args.try_get_one::<bool>("no-files"), Ok(Some(true)));
        Ok(Self { face, progress, quiet, watched, save, gate, files, store })
    }

    /// Leaves the protocol's own files unwritten.
    pub fn write_no_files(&mut self) {
        self.files = false;
    }

    /// Whether anybody sees the words of an answer before it is whole.
    pub fn streams(&self) -> bool {
        self.face == Face::Live && self.watched
    }

    /// Refuses a place to save to, or a format, that would fail once the debate is over and paid for.
    pub fn check(&self, protocol: &dyn Protocol, brief: &Brief) -> Result<(), Failure> {
        if self.gate.is_some() && !protocol.gates(brief) {
            return Err(Failure::input(
                "--format is for verdicts, and this mode has none: leave it away, or use validate mode",
            ));
        }
        let Some(folder) = &self.save else { return Ok(()) };
        std::fs::create_dir_all(folder)
            .map_err(|why| Failure::file(folder, format!("no folder can be made here: {why}")))?;
        let own = folder.join(&brief.id);
        // What grew there before an interruption goes on; a result is there once.
        match own.join(OUTCOME).exists() {
            true => {
                Err(Failure::file(&own, "it is there already, and nothing is overwritten: save elsewhere"))
            }
            false => Ok(()),
        }
    }

    /// ` --save DIR` as it must be said again for the same folder; empty when it was not said.
    pub fn again(&self) -> String {
        self.save
            .as_ref()
            .map(|folder| format!(" --save {}", quoted(&folder.to_string_lossy())))
            .unwrap_or_default()
    }

    /// The folder that the debate is saved in, if it is.
    pub fn folder(&self, id: &str) -> Option<PathBuf> {
        self.save.as_ref().map(|folder| folder.join(id))
    }

    /// Prints the result, saves it if that is wanted, and gives the exit status that it stands for. `log` gives the
    /// log's lines.
    pub fn finish(
        &self,
        debate: &Debate,
        log: impl FnOnce() -> Result<Vec<String>, Failure>,
    ) -> Result<u8, Failure> {
        let outcome = outcome(debate);
        let protocol = agon_protocols::find(&debate.brief.protocol);
        if let Some(folder) = &self.save {
            let own = folder.join(&debate.brief.id);
            save(&own, &outcome, debate, &log()?)?;
            if let Some(protocol) = protocol {
                records::write(&own, protocol, debate, &outcome)?;
            }
            if !self.quiet {
                output::note(&format!("saved in {}", own.display()));
            }
        }
        if let Some((protocol, folder)) = protocol.and_then(|own| Some((own, own.folder()?)))
            && self.files
        {
            self.keep(Path::new(folder), protocol, debate, &outcome);
        }
        match self.face {
            Face::Events => {}
            _ if let Some(gate) = self.gate => output::print(&agon_report::gate(&outcome, gate)?)?,
            Face::Json => output::print_json(&outcome)?,
            Face::Live | Face::Quiet => output::print(&report(&outcome, &self.store))?,
        }
        Ok(document::exit_status(debate))
    }
}

impl Show {
    /// Writes the files that nobody asked for. That they cannot be written is worth a word, not the verdict.
    fn keep(&self, folder: &Path, protocol: &dyn Protocol, debate: &Debate, outcome: &Value) {
        match records::write(folder, protocol, debate, outcome) {
            Ok(Some(report)) if !self.quiet => output::note(&format!("written: {}", report.display())),
            Ok(_) => {}
            Err(why) => output::note(&format!("note: the judges' files are not written: {why}")),
        }
    }
}

/// The JSON outcome.
pub fn outcome(debate: &Debate) -> Value {
    let evidence = match agon_protocols::find(&debate.brief.protocol) {
        Some(protocol) => agon_evidence::section(protocol, debate),
        None => agon_evidence::section::of_stands(debate, &Stands::default()),
    };
    document::document(debate, evidence)
}

/// The report as stdout wants it; `store` is the ` --db FILE` that its commands need.
pub fn report(outcome: &Value, store: &str) -> String {
    agon_report::text_of_store(outcome, &output::stdout_style(), store)
}

fn save(folder: &Path, outcome: &Value, debate: &Debate, log: &[String]) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|why| Failure::file(folder, format!("the folder cannot be made: {why}")))?;
    let lines: String = log.iter().flat_map(|line| [line, "\n"]).collect();
    write::fresh(&folder.join("report.md"), &agon_report::markdown(outcome, debate))?;
    write::fresh(&folder.join(OUTCOME), &format!("{outcome:#}\n"))?;
    write::fresh(&folder.join("log.ndjson"), &lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_streamed_only_into_a_live_view_on_a_terminal() {
        let show = |face, watched| Show {
            face,
            progress: true,
            quiet: false,
            watched,
            save: None,
            gate: None,
            files: true,
            store: String::new(),
        };
        assert!(show(Face::Live, true).streams());
        assert!(!show(Face::Live, false).streams());
        for face in [Face::Quiet, Face::Json, Face::Events] {
            assert!(!show(face, true).streams(), "{face:?}");
        }
    }
}
