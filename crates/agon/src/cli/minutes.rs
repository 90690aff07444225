//! The file that grows as a debate goes on: whoever looks into the folder sees the last round that is over.

use std::path::{Path, PathBuf};

use agon_core::{Body, Debate, Protocol, Record};

use super::{output, write};

/// Writes the minutes of one debate.
pub struct Minutes {
    protocol: &'static dyn Protocol,
    folder: PathBuf,
    debate: Option<Debate>,
    written: String,
    failed: bool,
}

impl Minutes {
    /// Of a debate whose log so far is this, into a folder of its own.
    pub fn new(protocol: &'static dyn Protocol, folder: &Path, log: &[Record]) -> Self {
        let debate = Debate::from_records(log).ok();
        Self { protocol, folder: folder.to_owned(), debate, written: String::new(), failed: false }
    }

    /// Takes in the next record of the log, and writes what it adds.
    pub fn record(&mut self, record: &Record) {
        match &mut self.debate {
            Some(debate) if record.entry.seq >= debate.events => drop(debate.apply(record)),
            Some(_) => return,
            None => self.debate = Debate::from_records(std::slice::from_ref(record)).ok(),
        }
        let Some(debate) = self.debate.as_ref().filter(|debate| debate.outstanding().next().is_none()) else {
            return;
        };
        let Some(saved) = self.protocol.minutes(debate) else { return };
        let Body::Text(text) = saved.body else { return };
        if self.failed || text == self.written {
            return;
        }
        let file = self.folder.join(format!("{}{}", saved.stem, saved.ending));
        let made = std::fs::create_dir_all(&self.folder);
        let done = made
            .map_err(|why| why.to_string())
            .and_then(|()| write::whole(&file, &text).map_err(|why| why.to_string()));
        // Once is enough to say so; the debate goes on, and the log has everything.
        if let Err(why) = done {
            output::note(&format!("note: {} is not written: {why}", file.display()));
            self.failed = true;
        }
        self.written = text;
    }
}
