//! The trials of an eval as debates: each is run once, even if the run is interrupted, and its result is written as it ends.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_core::event::sha256;
use agon_core::{Brief, Debate, Status};
use agon_engine::{DebateWatch, Engine, EngineError, StopSignal, StoreError};
use agon_experiments::eval::{
    EvalDataset, EvalPlan, EvalQuestion, EvalTrial, GRADING, ResultRow, StoredResults, TrialGrade,
    find_grading, grading_brief,
};
use agon_store::DebateStore;
use tokio::task::JoinSet;

use super::app::DebateHandle;
use super::brief_builder::{BriefBuilder, DebateSubject};
use super::debate_reading::DebateReading;
use super::errors::CliError;
use super::progress::TaskProgress;
use super::{output, signals};

/// How many characters of a hash make the id of a trial's debate.
const ID_CHARS: usize = 16;

/// How trials are run.
pub struct EvalRun {
    /// The engine that all trials share.
    pub engine: Engine,
    /// The store that has their logs.
    pub store: DebateStore,
    /// How the debates of each arm are opened, by the arm's name.
    pub builders: BTreeMap<String, BriefBuilder>,
    /// The questions.
    pub dataset: EvalDataset,
    /// The model that grades what arithmetic cannot.
    pub clerk: String,
    /// The hash of the plan. The ids of the debates derive from it.
    pub plan_hash: String,
    /// How many debates run at once.
    pub concurrency: usize,
    /// Whether no progress is shown.
    pub is_quiet: bool,
    /// Whether failed trials are held again.
    pub retries_failed: bool,
}

pub struct ResultsFile {
    path: PathBuf,
    file: File,
}

impl ResultsFile {
    /// Opens the file, locks it for as long as this process lives, and reads its results. A line that a crash cut off is overwritten.
    pub fn open(path: &Path, plan: &EvalPlan) -> Result<(Self, StoredResults), CliError> {
        let write_error = |why: std::io::Error| CliError::file(path, format!("it cannot be written: {why}"));
        let mut file =
            agon_host::open_growing(path, OpenOptions::new().read(true).write(true)).map_err(write_error)?;
        if file.try_lock().is_err() {
            let sentence =
                "another eval is writing to it: wait until it is done, or name another file with --out";
            return Err(CliError::file(path, sentence));
        }
        let mut bytes = Vec::new();
        let read = file.read_to_end(&mut bytes);
        read.map_err(|why| CliError::file(path, format!("it cannot be read: {why}")))?;
        let stored = StoredResults::read(plan, &bytes).map_err(|why| CliError::file(path, why))?;
        file.set_len(stored.length as u64).map_err(write_error)?;
        file.seek(SeekFrom::End(0)).map_err(write_error)?;
        let mut results = Self { path: path.to_owned(), file };
        if stored.length == 0 {
            results.write(&format!("{}\n", plan.header()))?;
        }
        Ok((results, stored))
    }

    fn write(&mut self, line: &str) -> Result<(), CliError> {
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|why| CliError::file(&self.path, format!("it cannot be written: {why}")))
    }
}

impl EvalRun {
    /// Runs the trials. Returns the results, and whether the run was interrupted.
    pub async fn run(
        self,
        trials: Vec<EvalTrial>,
        results: &mut ResultsFile,
    ) -> Result<(Vec<ResultRow>, bool), CliError> {
        let stop = StopSignal::new();
        let farewell = "finished trials are kept: the same command continues with the rest".to_owned();
        let signals = tokio::spawn(signals::watch(stop.clone(), output::note, farewell));
        let progress = TaskProgress::counting_beside_people("debates", trials.len(), self.is_quiet);
        let (run, mut waiting) = (Arc::new(self), trials.into_iter());
        let (mut running, mut rows) = (JoinSet::new(), Vec::new());
        loop {
            while running.len() < run.concurrency && !stop.is_stopped() {
                let Some(trial) = waiting.next() else { break };
                running.spawn(hold_trial(Arc::clone(&run), trial, stop.clone()));
            }
            let Some(ended) = running.join_next().await else { break };
            let ended = ended.map_err(|why| CliError::System(format!("a trial broke off: {why}")))?;
            let written = ended.and_then(|row| match row {
                Some(row) => results.write(&row.line()?).map(|()| rows.push(row)),
                None => Ok(()),
            });
            // A result that cannot be written must not be paid for, so the other trials are stopped.
            if let Err(error) = written {
                stop.stop();
                while running.join_next().await.is_some() {}
                return Err(error);
            }
            progress.set_done(rows.len());
        }
        signals.abort();
        Ok((rows, stop.is_stopped()))
    }

    /// The id of a trial's debate, and whether the debate has begun. With `retries_failed`, a debate that failed stays as it
    /// is and the trial gets a new one.
    fn debate_id(&self, trial: &EvalTrial) -> Result<(String, bool), CliError> {
        let mut last: Option<String> = None;
        for attempt in 0_u32.. {
            let hash = sha256(&format!("{}\n{}\n{attempt}", self.plan_hash, trial.key));
            let id: String = hash.chars().take(ID_CHARS).collect();
            let Some(debate) = self.stored_debate(&id)? else {
                return Ok(match last {
                    Some(last) if !self.retries_failed => (last, true),
                    _ => (id, false),
                });
            };
            if debate.outcome.as_ref().is_none_or(|outcome| outcome.status == Status::Complete) {
                return Ok((id, true));
            }
            last = Some(id);
        }
        Err(CliError::System(format!("there is no id left for the trial {}", trial.key)))
    }

    /// The result of a trial. If arithmetic cannot grade it, the clerk is asked. Its call has a log of its own in the same store, so that
    /// it is paid for once. Returns `None` if the run was interrupted.
    async fn graded(
        &self,
        grade: TrialGrade,
        question: &EvalQuestion,
        trial: &Brief,
        stop: &StopSignal,
    ) -> Result<Option<ResultRow>, CliError> {
        if grade.open.is_empty() {
            return Ok(Some(grade.row));
        }
        // The answers belong to the id: a trial that is held again is graded again.
        let hash = sha256(&format!("{}\ngrading\n{}", trial.id, grade.open.join("\n")));
        let id: String = hash.chars().take(ID_CHARS).collect();
        let watch = DebateWatch::default();
        let ended = match self.stored_debate(&id)? {
            Some(_) => self.engine.resume(&find_grading, &id, None, &watch, stop).await,
            None => {
                let brief = grading_brief(trial, id, &self.clerk, &grade.open, &question.gold);
                self.engine.open(&GRADING, brief, &watch, stop).await
            }
        };
        match ended {
            Ok(grading) => {
                let unreadable =
                    |reason| CliError::Log { id: grading.brief.id.clone(), reason: Box::new(reason) };
                grade.with_grading(&grading).map(Some).map_err(unreadable)
            }
            Err(EngineError::Interrupted { .. }) => Ok(None),
            Err(error) => Ok(Some(grade.without_grading(&error.to_string()))),
        }
    }

    fn stored_debate(&self, id: &str) -> Result<Option<Debate>, CliError> {
        match self.store.raw_log(id) {
            Err(StoreError::Unknown(_)) => Ok(None),
            Err(error) => Err(error.into()),
            Ok(raw) if raw.is_empty() => Ok(None),
            Ok(_) => {
                let handle = DebateHandle { store: self.store.clone(), id: id.to_owned() };
                Ok(Some(handle.read()?.debate))
            }
        }
    }
}

/// Holds one trial. Returns `None` if it was interrupted; a later run continues it.
async fn hold_trial(
    run: Arc<EvalRun>,
    trial: EvalTrial,
    stop: StopSignal,
) -> Result<Option<ResultRow>, CliError> {
    let question = run.dataset.questions.get(trial.question);
    let Some((question, builder)) = question.zip(run.builders.get(&trial.arm.name)) else {
        return Err(CliError::System(format!("the trial {} has no arm or question in the plan", trial.key)));
    };
    let (id, has_begun) = run.debate_id(&trial)?;
    let subject = DebateSubject {
        files: question.files.clone(),
        seed: Some(trial.seed),
        ..DebateSubject::question(&question.text)
    };
    let mut brief = builder.brief(subject)?;
    brief.id.clone_from(&id);
    let watch = DebateWatch::default();
    let ended = match has_begun {
        true => run.engine.resume(&agon_protocols::find, &id, None, &watch, &stop).await,
        false => run.engine.open(builder.protocol, brief, &watch, &stop).await,
    };
    match ended {
        Ok(debate) => {
            let grade = TrialGrade::of(&trial, question, &DebateReading::of(&debate)?.source());
            run.graded(grade, question, &debate.brief, &stop).await
        }
        Err(EngineError::Interrupted { .. }) => Ok(None),
        Err(error) => Ok(Some(ResultRow::failed(&trial, question, &error.to_string()))),
    }
}
