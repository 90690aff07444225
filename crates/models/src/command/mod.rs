//! `command/NAME`: any program that reads a prompt on its standard input and answers on its standard output.
//!
//! The program is started anew for each call, without a shell, in a process group of its own. When it ends, writes too much
//! or is waited for no longer, the whole group is ended with it. One that leaves its group, as a daemon does, is out of
//! reach.

mod fault;

mod output;
mod prompt;

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use agon_core::{Invalid, Usage};
use agon_engine::{Call, Completion, Deltas, Fault, Finish, Model, Price};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::seat_config::{CommandConfig, OUTPUT_BYTES_MAX};
use agon_host::{ProcessGroup as Group, ProcessPipes as Pipes};
use output::{Answer, Tail, Unusable};

pub use agon_host::kill_all_groups as kill_commands;

/// How long what a program has started may still write after the program itself has ended.
const AFTERWARDS: Duration = Duration::from_secs(2);
/// What every program needs to find others and its own files.
const ALWAYS_PASSED: &[&str] = &["PATH", "HOME", "USERPROFILE", "SYSTEMROOT", "TEMP", "TMPDIR"];
const READ_BYTES: usize = 8 * 1024;

/// A program in the place of a model.
#[derive(Debug)]
pub struct Command {
    /// `command/NAME`.
    name: String,
    program: OsString,
    config: CommandConfig,
}

impl Command {
    /// The program of `[commands.NAME]`; `name` is what stands after `command/`. Starts nothing.
    pub fn new(name: &str, config: CommandConfig) -> Result<Self, Invalid> {
        config.check(name)?;
        let written = config.program.first().map_or("", String::as_str);
        // With a folder of its own, systems disagree about where a relative path begins.
        let is_path = Path::new(written).components().count() > 1 || written.starts_with('.');
        let path = std::path::absolute(written).ok().filter(|_| is_path);
        let program = path.map_or_else(|| written.into(), |path| path.into_os_string());
        Ok(Self { name: format!("command/{name}"), program, config })
    }

    async fn run(&self, call: &Call, deltas: Option<Deltas<'_>>) -> Result<Completion, Fault> {
        let prompt = prompt::written(&call.messages);
        let (mut group, pipes) = self.start().map_err(|why| self.not_started(&why))?;
        let mut answer = Answer::new(self.config.output_bytes_max.unwrap_or(OUTPUT_BYTES_MAX));
        let mut complaints = Tail::default();
        let talked = talk(&mut group, pipes, &prompt, deltas, &mut answer, &mut complaints).await;
        talked.map_err(|why| self.unusable(&why))?;
        let status: ExitStatus = group.end().await.map_err(|why| self.lost(&why))?;
        if !status.success() {
            return Err(self.failed(status, &complaints, &answer));
        }
        let text = answer.whole().map_err(|why| self.unusable(&why))?;
        let (model, usage) = (self.name.clone(), Usage::default());
        Ok(Completion { text, model, usage, finish: Finish::End, shortened: None })
    }

    fn start(&self) -> io::Result<(Group, Pipes)> {
        let mut command = std::process::Command::new(&self.program);
        command.args(self.config.program.iter().skip(1));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(folder) = &self.config.cwd {
            command.current_dir(folder);
        }
        if let Some(passed) = &self.config.env {
            let passed = passed.iter().map(String::as_str).chain(ALWAYS_PASSED.iter().copied());
            command.env_clear().envs(passed.filter_map(|name| Some((name, std::env::var_os(name)?))));
        }
        Group::start(command)
    }
}

impl Model for Command {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        "command"
    }

    fn price(&self) -> Price {
        if self.config.free { Price::Free } else { Price::Unknown }
    }

    fn timeout(&self) -> Option<Duration> {
        self.config.timeout()
    }

    fn missing(&self) -> Option<String> {
        let program = Path::new(&self.program);
        let found = match program.components().count() {
            0 | 1 => std::env::var_os("PATH").is_none_or(|path| {
                // Other systems add endings to a name; only starting it tells there.
                cfg!(windows) || std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
            }),
            _ => program.is_file() || cfg!(windows),
        };
        let written = self.program.to_string_lossy();
        (!found).then(|| {
            let section = self.name.strip_prefix("command/").unwrap_or(&self.name);
            format!("there is no program {written}: set `command` under [commands.{section}] in agon.toml")
        })
    }

    fn call<'a>(
        &'a self,
        call: &'a Call,
        deltas: Option<Deltas<'a>>,
    ) -> BoxFuture<'a, Result<Completion, Fault>> {
        self.run(call, deltas).boxed()
    }
}

/// Tells the program the prompt and hears it out: until it says no more, or a little longer than it lives.
async fn talk(
    group: &mut Group,
    pipes: Pipes,
    prompt: &str,
    deltas: Option<Deltas<'_>>,
    answer: &mut Answer,
    complaints: &mut Tail,
) -> Result<(), Unusable> {
    let heard = |bytes: &[u8]| {
        let piece = answer.take(bytes)?;
        if let Some(deltas) = deltas.filter(|_| !piece.is_empty()) {
            deltas(&piece);
        }
        Ok(())
    };
    let complained = |bytes: &[u8]| {
        complaints.take(bytes);
        Ok(())
    };
    let Pipes { stdin, stdout, stderr } = pipes;
    let mut all = pin!(async {
        tokio::try_join!(tell(stdin, prompt).map(Ok), hear(stdout, heard), hear(stderr, complained)).map(drop)
    });
    tokio::select! {
        talked = &mut all => return talked,
        () = group.ended() => {}
    }
    tokio::time::timeout(AFTERWARDS, all).await.unwrap_or(Ok(()))
}

/// A program that does not want to read all of its prompt may still have an answer.
async fn tell(mut stdin: impl AsyncWrite + Unpin, prompt: &str) {
    let _ = stdin.write_all(prompt.as_bytes()).await;
    let _ = stdin.shutdown().await;
}

async fn hear(
    mut pipe: impl AsyncRead + Unpin,
    mut heard: impl FnMut(&[u8]) -> Result<(), Unusable>,
) -> Result<(), Unusable> {
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let read = pipe.read(&mut buffer).await.map_err(|why| Unusable::Broken(why.to_string()))?;
        match buffer.get(..read) {
            Some(bytes) if !bytes.is_empty() => heard(bytes)?,
            _ => return Ok(()),
        }
    }
}
