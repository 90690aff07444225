//! `agon batch`: many debates at once, one JSON object per line in, one outcome per line out.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use agon_core::{Debate, DebateLimits, document};
use agon_engine::{BudgetUse, DebateWatch, Engine, EngineError, SharedBudget, SharedLimits, StopSignal};
use agon_store::DebateStore;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::{CliVerb, VerbGroup};
use crate::cli::app::App;
use crate::cli::arguments::{self, CliArguments};
use crate::cli::batch_input::{BatchLine, read_batch};
use crate::cli::batch_progress_file::BatchProgressFile;
use crate::cli::brief_builder::BriefBuilder;
use crate::cli::debate_ids::new_nonce;
use crate::cli::debate_reading::outcome_document;
use crate::cli::deliveries::DeliveryBindings;
use crate::cli::errors::{CliError, EXIT_INCOMPLETE, EXIT_INTERRUPTED};
use crate::cli::limits::{parse_usd, whole_number};
use crate::cli::progress::TaskProgress;
use crate::cli::runtime::block_on;
use crate::cli::{output, seat_models, signals, table_tools, telemetry};
use crate::worker::debate_allowances::{AllowanceVerdict, DebateAllowances, HeldAllowance};
use crate::worker::remote_debates::RemoteDebates;

pub(super) const VERB: CliVerb = CliVerb { name: "batch", group: VerbGroup::ManyDebates, command, run };

const DEFAULT_CONCURRENCY: &str = "8";
const CONCURRENCY_MAX: u32 = 100_000;
/// Nobody reads more commands than this.
const RESUME_COMMANDS_MAX: usize = 10;

fn command(command: Command) -> Command {
    let file = Arg::new("file")
        .value_name("FILE.jsonl")
        .required(true)
        .value_parser(value_parser!(PathBuf))
        .help("One JSON object per line; `-` reads stdin");
    let names: Vec<&'static str> = agon_protocols::all().map(|protocol| protocol.info().name).collect();
    let protocol = Arg::new("protocol")
        .long("protocol")
        .value_name("P")
        .default_value(names.first().copied().unwrap_or_default())
        .value_parser(PossibleValuesParser::new(names))
        .help("The protocol of every debate");
    let concurrency = Arg::new("concurrency")
        .long("concurrency")
        .value_name("N")
        .default_value(DEFAULT_CONCURRENCY)
        .value_parser(whole_number(1, Some(CONCURRENCY_MAX)))
        .help("How many debates run at once, up to two for each call that may run at once");
    command
        .about("Run many debates: one JSON object per line in, one outcome per line out, each as it ends")
        .after_help(
            "A line: {\"question\": \"...\"}, optionally with \"id\", \"models\": [..], \"options\": {..}, \"seed\".\n\
             The whole file is checked before the first call. If a batch with --out is interrupted, the same command goes on: finished lines \
             are not held again, and debates that had begun are continued. The limits --total-... are on all debates together, earlier runs \
             included: when one is used up, nothing more starts, and the same command with a higher limit goes on.",
        )
        .arg(file)
        .arg(protocol)
        .arg(concurrency)
        .arg(arguments::path_option("out", "FILE.jsonl", "Write the outcomes here [default: stdout]"))
        .arg(arguments::switch("force", "Overwrite the file of --out"))
        .arg(arguments::switch("quiet", "Show no progress"))
        .args(arguments::seats())
        .args(arguments::role_models(arguments::all_roles().iter().copied()))
        .arg(arguments::set_option())
        .args(arguments::limits())
        .args(total_limits())
        .args(arguments::workers())
        .args(table_tools::arguments())
        .arg(arguments::remember())
        .args(arguments::config_and_store())
}

/// The limits on the whole batch.
fn total_limits() -> [Arg; 3] {
    let limit = |name: &'static str, value: &'static str, help: &'static str| {
        let arg = Arg::new(name).long(name).value_name(value).help(help).help_heading("Limits");
        arg.allow_negative_numbers(true)
    };
    let (calls, tokens) = ("The most calls of the whole batch", "The most tokens of the whole batch");
    [
        limit("total-usd", "X", "The most US dollars that the whole batch may cost").value_parser(parse_usd),
        limit("total-calls", "N", calls).value_parser(whole_number(1_u64, None)),
        limit("total-tokens", "N", tokens).value_parser(whole_number(1_u64, None)),
    ]
}

fn read_total_limits(args: &ArgMatches) -> Option<SharedLimits> {
    let limits = SharedLimits {
        usd: args.get_one("total-usd").copied(),
        calls: args.get_one("total-calls").copied(),
        tokens: args.get_one("total-tokens").copied(),
    };
    (limits != SharedLimits::default()).then_some(limits)
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let app = App::new(args);
    let configuration = app.configuration()?;
    let name = args.get_one::<String>("protocol").map(String::as_str).unwrap_or_default();
    let protocol = agon_protocols::find(name).ok_or_else(|| {
        CliError::input(format!("there is no protocol {name:?}: `agon protocols` lists them"))
    })?;
    let arguments = CliArguments::of_any_protocol(args);
    if let Some(role) = arguments.role_without_seat(protocol.info()) {
        return Err(CliError::input(format!("{name} has no {role}: omit --{role}")));
    }
    let seed = arguments.seed;
    let catalogue = app.catalogue()?;
    let builder = BriefBuilder::new(protocol, arguments, configuration)?
        // Each line may name its own models, so it is no error yet if there are none.
        .or_default_models(|| Ok(seat_models::default_models(catalogue).unwrap_or_default()))?
        .with_local_options(configuration, catalogue)?
        .with_tools(table_tools::read(args, &app)?);
    let bindings = DeliveryBindings::read(args, configuration, name)?;
    let total_limits = read_total_limits(args);
    let total_usd = total_limits.and_then(|limits| limits.usd);
    let mut lines = read_batch(args.get_one("file"), &builder, seed, &**catalogue, total_usd)?;
    let names = model_names(&lines, &builder);
    if !app.flag("quiet") {
        for notice in seat_models::embedded_notices(names.iter().copied(), &**catalogue) {
            output::note(&format!("note: {notice}"));
        }
    }
    seat_models::fetch_model_files(&app, names.iter().copied())?;
    let total = lines.len();
    let out_file = args.get_one::<PathBuf>("out");
    if let Some(file) = out_file.filter(|_| app.flag("force")) {
        BatchProgressFile::remove(file);
        output::write_file(file, "")?;
    }
    let record = out_file.map(|file| BatchProgressFile::open(file, &mut lines)).transpose()?;
    if lines.len() < total && !app.flag("quiet") {
        output::note(&format!("note: {} of {total} debates are done already", total - lines.len()));
    }
    let out = BatchOutput::open(out_file)?;
    let store = app.store()?;
    let mut engine = app.engine(&store)?;
    let mut workers = app.workers(&store)?.map(BatchWorkers::new).transpose()?;
    if let Some(limits) = total_limits {
        let used = record.as_ref().map(|record| record.used_before(&store)).transpose()?.unwrap_or_default();
        match &mut workers {
            Some(workers) => {
                let allowances = DebateAllowances::new(store.clone(), limits.less(used));
                if let Some(line) = lines.first() {
                    allowances.check(&builder.brief(line.subject.clone())?.limits)?;
                }
                workers.allowances = Some(allowances);
            }
            None => engine = engine.with_shared_budget(SharedBudget::new(limits, used)),
        }
    }
    let concurrency = args.get_one::<u32>("concurrency").copied().unwrap_or(1);
    let batch = DebateBatch {
        concurrency: usize::try_from(concurrency).unwrap_or(usize::MAX).min(engine.debates_at_once_max()),
        engine,
        workers,
        store: store.clone(),
        builder: builder.with_store(Some(store.clone())),
        bindings,
        is_quiet: app.flag("quiet"),
        store_option: app.store_option(),
    };
    let status = block_on(batch.run(lines, out, record))??;
    app.deliver_and_index(&store, None)?;
    Ok(status)
}

/// The models of all lines. The builder's are among them unless every line has its own.
fn model_names<'a>(lines: &'a [BatchLine], builder: &'a BriefBuilder) -> Vec<&'a str> {
    let own = lines.iter().flat_map(|line| line.subject.models.iter().map(String::as_str));
    match lines.iter().all(|line| !line.subject.models.is_empty()) {
        true => own.collect(),
        false => own.chain(builder.model_names()).collect(),
    }
}

/// Many debates that share an engine and its limits.
struct DebateBatch {
    engine: Engine,
    store: DebateStore,
    builder: BriefBuilder,
    bindings: DeliveryBindings,
    /// The workers that hold the debates instead of this process.
    workers: Option<BatchWorkers>,
    concurrency: usize,
    is_quiet: bool,
    store_option: String,
}

/// What became of one debate.
struct FinishedLine {
    line: String,
    is_complete: bool,
    is_interrupted: bool,
    /// Why the budget of the batch had no room for its next call.
    used_up: Option<String>,
    /// Its id, if it is not over and has a log to continue from.
    resumable: Option<String>,
}

impl DebateBatch {
    fn has_log(&self, id: &str) -> bool {
        self.store.raw_log(id).is_ok_and(|log| !log.is_empty())
    }

    /// Runs all lines and returns the exit status: 3 if a debate could not complete or the budget of the batch is used up, 130 if the batch
    /// was interrupted.
    async fn run(
        self,
        lines: Vec<BatchLine>,
        mut out: BatchOutput,
        mut record: Option<BatchProgressFile>,
    ) -> Result<u8, CliError> {
        let stop = StopSignal::new();
        let store_option = self.store_option.clone();
        let farewell = format!(
            "`agon list{store_option}` shows the interrupted debates; agon resume ID{store_option} continues one"
        );
        let signals = tokio::spawn(signals::watch(stop.clone(), output::note, farewell));
        let mut progress = BatchProgress {
            total: lines.len(),
            done: 0,
            failed: 0,
            used_up: None,
            resumable: Vec::new(),
            shown: TaskProgress::counting_beside_people("debates", lines.len(), self.is_quiet),
            has_file: record.is_some(),
            is_on_workers: self.workers.is_some(),
            store_option,
        };
        let (batch, mut waiting) = (Arc::new(self), lines.into_iter());
        let mut running = JoinSet::new();
        loop {
            while running.len() < batch.concurrency && !stop.is_stopped() && progress.used_up.is_none() {
                let Some(line) = waiting.next() else { break };
                let begun = record.as_ref().and_then(|record| record.begun(&line)).cloned();
                let begun = begun.filter(|id| batch.has_log(id));
                let opening = match begun {
                    Some(id) => Ok(LineOpening::Resume(id)),
                    None => batch
                        .builder
                        .brief(line.subject.clone())
                        .map(|brief| LineOpening::Open(Box::new(brief))),
                };
                if let (Some(record), Ok(LineOpening::Open(brief))) = (&mut record, &opening) {
                    record.begin(&line, &brief.id)?;
                }
                running.spawn(run_line(Arc::clone(&batch), line, opening, stop.clone()));
            }
            telemetry::set_queue_length(waiting.len());
            let Some(ended) = running.join_next().await else { break };
            let finished = ended.map_err(|why| CliError::System(format!("a debate broke off: {why}")))?;
            progress.count(&finished);
            // An outcome that cannot be written must not be paid for, so the other debates are stopped.
            if let Err(error) = out.write_line(finished.line) {
                stop.stop();
                while running.join_next().await.is_some() {}
                return Err(error);
            }
        }
        signals.abort();
        if let Some(record) = record.filter(|_| !stop.is_stopped() && progress.used_up.is_none()) {
            record.finish();
        }
        Ok(progress.finish(stop.is_stopped()))
    }
}

/// How the debate of a line starts.
enum LineOpening {
    Open(Box<agon_core::Brief>),
    /// It was begun by an earlier run of the batch.
    Resume(String),
}

async fn run_line(
    batch: Arc<DebateBatch>,
    line: BatchLine,
    opening: Result<LineOpening, CliError>,
    stop: StopSignal,
) -> FinishedLine {
    let BatchLine { index, input_id, subject, .. } = line;
    let question = subject.question;
    let id = opening.as_ref().ok().map(|opening| match opening {
        LineOpening::Open(brief) => brief.id.clone(),
        LineOpening::Resume(id) => id.clone(),
    });
    let ended = match opening {
        Ok(opening) => run_debate(&batch, opening, &stop).await,
        Err(error) => Err(error),
    };
    // The debate is dropped here, because thousands of them do not fit into memory.
    match ended.and_then(|debate| Ok((outcome_document(&debate)?, document::exit_status(&debate)))) {
        Ok((outcome, status)) => FinishedLine {
            line: numbered_line(outcome, index, input_id),
            is_complete: status < EXIT_INCOMPLETE,
            is_interrupted: false,
            used_up: None,
            resumable: None,
        },
        Err(error) => {
            let is_interrupted = matches!(error, CliError::Engine(EngineError::Interrupted { .. }));
            let used_up = match &error {
                CliError::Engine(EngineError::UsedUp { why, .. }) => Some(why.clone()),
                _ => None,
            };
            let resumable = id.clone().filter(|id| batch.has_log(id));
            let outcome = json!({
                "id": id,
                "protocol": batch.builder.protocol.info().name,
                "question": question,
                "status": if resumable.is_some() { "interrupted" } else { "failed" },
                "termination": null,
                "verdict": null,
                "error": error.to_string(),
            });
            let line = numbered_line(outcome, index, input_id);
            FinishedLine { line, is_complete: false, is_interrupted, used_up, resumable }
        }
    }
}

async fn run_debate(
    batch: &DebateBatch,
    opening: LineOpening,
    stop: &StopSignal,
) -> Result<Debate, CliError> {
    if let Some(workers) = &batch.workers {
        return run_on_workers(batch, workers, opening, stop).await;
    }
    let watch = DebateWatch::default();
    match opening {
        LineOpening::Open(brief) => {
            batch.bindings.bind(&batch.store, &brief.id).await?;
            Ok(batch.engine.open(batch.builder.protocol, *brief, &watch, stop).await?)
        }
        LineOpening::Resume(id) => {
            Ok(batch.engine.resume(&agon_protocols::find, &id, None, &watch, stop).await?)
        }
    }
}

/// Lets the workers hold a debate. When the batch is stopped, its debates go on.
async fn run_on_workers(
    batch: &DebateBatch,
    workers: &BatchWorkers,
    opening: LineOpening,
    stop: &StopSignal,
) -> Result<Debate, CliError> {
    let remote = &workers.remote;
    let (id, limits, used) = match &opening {
        LineOpening::Open(brief) => (brief.id.clone(), brief.limits.clone(), BudgetUse::default()),
        LineOpening::Resume(id) => {
            let debate = remote.read(id).await?;
            (id.clone(), debate.brief.limits.clone(), BudgetUse::of_debate(&debate))
        }
    };
    let held = workers.allow(&id, &limits, used, stop).await?;
    let ended = async {
        let submitted = match opening {
            LineOpening::Open(brief) => {
                batch.bindings.bind(&batch.store, &id).await?;
                remote.open(*brief).await?
            }
            LineOpening::Resume(id) => remote.give_away(&id).await?,
        };
        remote.follow(&submitted, &id, &DebateWatch::default(), stop).await
    };
    let ended = ended.await;
    if !stop.is_stopped() {
        let used = match &ended {
            Ok(debate) => BudgetUse::of_debate(debate),
            // What cannot be known counts as all that it may use.
            Err(_) => {
                remote.read(&id).await.map_or(whole_limit(&limits), |debate| BudgetUse::of_debate(&debate))
            }
        };
        workers.settle(held, used).await?;
    }
    ended
}

/// All that a debate may use.
fn whole_limit(limits: &DebateLimits) -> BudgetUse {
    BudgetUse {
        usd: limits.usd.unwrap_or_default(),
        calls: limits.calls.map_or(0, u64::from),
        tokens: limits.tokens.unwrap_or_default(),
    }
}

/// The workers of a batch, and what its debates may use together.
struct BatchWorkers {
    remote: RemoteDebates,
    allowances: Option<DebateAllowances>,
    /// The name of the budget in the store.
    pool: String,
    /// Tells debates that wait for a part of the budget that something was given back.
    settled: watch::Sender<()>,
}

impl BatchWorkers {
    fn new(remote: RemoteDebates) -> Result<Self, CliError> {
        let pool = format!("batch {}", new_nonce()?);
        Ok(Self { remote, allowances: None, pool, settled: watch::Sender::new(()) })
    }

    /// Waits until the budget of the batch has enough for a debate.
    async fn allow(
        &self,
        id: &str,
        limits: &DebateLimits,
        used: BudgetUse,
        stop: &StopSignal,
    ) -> Result<Option<HeldAllowance>, CliError> {
        let Some(allowances) = &self.allowances else { return Ok(None) };
        loop {
            let mut settled = self.settled.subscribe();
            match allowances.claim(&self.pool, id, limits, used).await? {
                AllowanceVerdict::SetAside(held) => return Ok(Some(held)),
                AllowanceVerdict::UsedUp(why) => {
                    return Err(EngineError::UsedUp { id: id.to_owned(), why }.into());
                }
                AllowanceVerdict::Later => tokio::select! {
                    _ = settled.changed() => {}
                    () = stop.stopped() => return Err(EngineError::Interrupted { id: id.to_owned() }.into()),
                },
            }
        }
    }

    async fn settle(&self, held: Option<HeldAllowance>, used: BudgetUse) -> Result<(), CliError> {
        if let (Some(allowances), Some(held)) = (&self.allowances, held) {
            allowances.settle(&held, used).await?;
            self.settled.send_replace(());
        }
        Ok(())
    }
}

/// An outcome on one line, with the place of its question in the input.
fn numbered_line(mut outcome: Value, index: usize, input_id: Option<Value>) -> String {
    if let Some(fields) = outcome.as_object_mut() {
        fields.insert("input_id".into(), input_id.unwrap_or_default());
        fields.insert("index".into(), json!(index));
    }
    outcome.to_string()
}

/// Where the outcomes go. Each line is written at once: a batch may run for hours.
enum BatchOutput {
    File(PathBuf, File),
    Stdout,
}

impl BatchOutput {
    /// Opens the output. Lines are added to a file.
    fn open(file: Option<&PathBuf>) -> Result<Self, CliError> {
        let Some(file) = file else { return Ok(Self::Stdout) };
        let error = |why: std::io::Error| CliError::file(file, format!("it cannot be written: {why}"));
        let open = agon_host::open_growing(file, OpenOptions::new().append(true)).map_err(error)?;
        Ok(Self::File(file.clone(), open))
    }

    fn write_line(&mut self, mut line: String) -> Result<(), CliError> {
        line.push('\n');
        match self {
            Self::Stdout => output::print(&line),
            Self::File(file, open) => open
                .write_all(line.as_bytes())
                .map_err(|why| CliError::file(file, format!("it cannot be written: {why}"))),
        }
    }
}

/// How far the batch is.
struct BatchProgress {
    total: usize,
    done: usize,
    failed: usize,
    /// Why the budget of the batch is used up.
    used_up: Option<String>,
    resumable: Vec<String>,
    shown: TaskProgress,
    /// Whether the outcomes go to a file, so that the batch can go on.
    has_file: bool,
    /// Whether workers hold the debates, so that they go on without the batch.
    is_on_workers: bool,
    store_option: String,
}

impl BatchProgress {
    fn count(&mut self, finished: &FinishedLine) {
        if finished.is_interrupted || finished.used_up.is_some() {
            self.used_up = self.used_up.take().or_else(|| finished.used_up.clone());
            self.resumable.extend(finished.resumable.clone());
        } else {
            self.done += 1;
            self.failed += usize::from(!finished.is_complete);
        }
        self.shown.set_done(self.done);
        if self.failed > 0 {
            self.shown.set_message(format!(", {} could not complete", self.failed));
        }
    }

    fn note_resumable(&self) {
        for id in self.resumable.iter().take(RESUME_COMMANDS_MAX) {
            output::note(&format!("agon resume {id}{}", self.store_option));
        }
        if self.resumable.len() > RESUME_COMMANDS_MAX {
            output::note(&format!("and so on: `agon list{}` shows the rest", self.store_option));
        }
    }

    fn finish(self, is_stopped: bool) -> u8 {
        if is_stopped && self.is_on_workers {
            let (done, total) = (self.done, self.total);
            output::note(&format!(
                "stopped after {done} of {total} debates; those that were submitted go on at the workers"
            ));
            output::note(match self.has_file {
                true => "the same command collects them and goes on",
                false => "`agon list` shows them",
            });
            return EXIT_INTERRUPTED;
        }
        if is_stopped {
            output::note(&format!(
                "interrupted after {} of {} debates; the logs are kept",
                self.done, self.total
            ));
            self.note_resumable();
            return EXIT_INTERRUPTED;
        }
        if let Some(why) = &self.used_up {
            let (done, total) = (self.done, self.total);
            output::note(&format!(
                "the budget of the batch is used up after {done} of {total} debates: {why}"
            ));
            match self.has_file {
                true => output::note("the same command with a higher limit goes on"),
                false => self.note_resumable(),
            }
            return EXIT_INCOMPLETE;
        }
        if self.failed > 0 {
            output::note(&format!("{} of {} debates could not complete", self.failed, self.total));
            return EXIT_INCOMPLETE;
        }
        0
    }
}
