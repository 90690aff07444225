//! Trials as debates: each is held once, whatever interrupts it, and its result is written down as it ends.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_core::event::{open_all, sha256};
use agon_core::{Debate, Status};
use agon_engine::{Engine, EngineError, Stop, Watch};
use agon_store::Sqlite;
use agon_experiments::eval::{Dataset, Kept, Plan, Row, Trial, grade};
use tokio::task::JoinSet;

use super::failure::Failure;
use super::opening::{Opening, Subject};
use super::{output, show, signals};

/// Of the hash that names a trial's debate, as much as no two trials share.
const NAME_CHARS: usize = 16;

/// How trials are held.
pub struct Trials {
    /// The engine that all share.
    pub engine: Engine,
    /// Where their logs are kept.
    pub store: Sqlite,
    /// How the debates of each arm are opened, by its name.
    pub openings: BTreeMap<String, Opening>,
    /// The questions.
    pub dataset: Dataset,
    /// What the whole run is known by.
    pub plan: String,
    /// How many debates run at once.
    pub concurrency: usize,
    /// Whether somebody watches stderr.
    pub progress: bool,
    /// Whether those that failed are held again.
    pub retry: bool,
}

/// The file of results.
pub struct Results {
    path: PathBuf,
    file: File,
}

impl Results {
    /// Opens the file and reads what is there; what a crash cut off is written over.
    pub fn open(path: &Path, plan: &Plan) -> Result<(Self, Kept), Failure> {
        let failed = |why: std::io::Error| Failure::file(path, format!("it cannot be written: {why}"));
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(why) => return Err(Failure::file(path, format!("it cannot be read: {why}"))),
        };
        let kept = Kept::read(plan, &bytes).map_err(|why| Failure::file(path, why.0))?;
        let mut file =
            OpenOptions::new().create(true).truncate(false).write(true).open(path).map_err(failed)?;
        file.set_len(kept.length as u64).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        let mut results = Self { path: path.to_owned(), file };
        if kept.length == 0 {
            results.write(&format!("{}\n", plan.header()))?;
        }
        Ok((results, kept))
    }

    fn write(&mut self, line: &str) -> Result<(), Failure> {
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|why| Failure::file(&self.path, format!("it cannot be written: {why}")))
    }
}

impl Trials {
    /// Holds the trials, and gives those that ended and whether it was interrupted.
    pub async fn hold(self, trials: Vec<Trial>, results: &mut Results) -> Result<(Vec<Row>, bool), Failure> {
        let stop = Stop::new();
        let farewell = "what is done is kept: the same command goes on with the rest".to_owned();
        tokio::spawn(signals::watch(stop.clone(), output::note, farewell));
        let (total, shown) = (trials.len(), self.progress);
        let (all, mut waiting) = (Arc::new(self), trials.into_iter());
        let (mut running, mut rows) = (JoinSet::new(), Vec::new());
        loop {
            while running.len() < all.concurrency && !stop.is_asked() {
                let Some(trial) = waiting.next() else { break };
                running.spawn(one(Arc::clone(&all), trial, stop.clone()));
            }
            let Some(ended) = running.join_next().await else { break };
            let ended = ended.map_err(|why| Failure::System(format!("a trial broke off: {why}")))?;
            let written = match ended {
                Ok(Some(row)) => row
                    .line()
                    .map_err(Failure::from)
                    .and_then(|line| results.write(&line))
                    .map(|()| rows.push(row)),
                Ok(None) => Ok(()),
                Err(failure) => Err(failure),
            };
            // What cannot be written down must not be paid for: the rest is interrupted.
            if let Err(failure) = written {
                stop.stop();
                while running.join_next().await.is_some() {}
                return Err(failure);
            }
            if shown {
                eprint!("\r{} of {total} debates ", rows.len());
            }
        }
        if shown {
            output::note("");
        }
        Ok((rows, stop.is_asked()))
    }
}

/// One trial; `None` where it was interrupted, and will be gone on with.
async fn one(all: Arc<Trials>, trial: Trial, stop: Stop) -> Result<Option<Row>, Failure> {
    let Some((question, opening)) =
        all.dataset.questions.get(trial.question).zip(all.openings.get(&trial.arm.name))
    else {
        return Err(Failure::System(format!("the trial {} is of no arm or question of the plan", trial.key)));
    };
    let (id, begun) = all.name(&trial)?;
    let subject = Subject {
        question: question.text.clone(),
        files: question.files.clone(),
        seed: Some(trial.seed),
        ..Subject::default()
    };
    let mut brief = opening.brief(subject)?;
    brief.id.clone_from(&id);
    let watch = Watch::default();
    let ended = match begun {
        true => all.engine.resume(&agon_protocols::find, &id, None, &watch, &stop).await,
        false => all.engine.open(opening.protocol, brief, &watch, &stop).await,
    };
    match ended {
        Ok(debate) => Ok(Some(grade(&trial, question, &show::outcome(&debate)))),
        Err(EngineError::Interrupted { .. }) => Ok(None),
        Err(failure) => Ok(Some(Row::failed(&trial, question, &failure.to_string()))),
    }
}

impl Trials {
    /// The id of the trial's debate, and whether it was begun. The last one that was held counts; where that failed and another is
    /// wanted, it is left as it is.
    fn name(&self, trial: &Trial) -> Result<(String, bool), Failure> {
        let mut last: Option<String> = None;
        for attempt in 0_u32.. {
            let hash = sha256(&format!("{}\n{}\n{attempt}", self.plan, trial.key));
            let id: String = hash.chars().take(NAME_CHARS).collect();
            let Some(debate) = self.kept(&id)? else {
                return Ok(match last {
                    Some(last) if !self.retry => (last, true),
                    _ => (id, false),
                });
            };
            let failed = |status: Status| status != Status::Complete;
            if !debate.outcome.as_ref().is_some_and(|outcome| failed(outcome.status)) {
                return Ok((id, true));
            }
            last = Some(id);
        }
        Err(Failure::System(format!("there is no name left for the trial {}", trial.key)))
    }

    fn kept(&self, id: &str) -> Result<Option<Debate>, Failure> {
        let Some(raw) = self.store.raw(id).ok().filter(|raw| !raw.is_empty()) else { return Ok(None) };
        let records = open_all(raw).map_err(|broken| Failure::Broken { id: id.to_owned(), broken })?;
        let debate = Debate::from_records(&records);
        debate.map(Some).map_err(|why| Failure::Log { id: id.to_owned(), why })
    }
}
