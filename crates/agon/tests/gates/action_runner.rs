//! Runs the steps of `action.yml` as a runner of GitHub does: expressions go into the environment, outputs come back through a file, and
//! lines of the output are commands.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::github_api::GithubApi;
use crate::repository::{TestRepository, project};

/// The token of the workflow. Nothing but requests to the service may have it.
pub(crate) const TOKEN: &str = "ghs_token_of_the_workflow";

/// One use of the action in a workflow.
pub(crate) struct ActionUse<'a> {
    pub(crate) repository: &'a TestRepository,
    pub(crate) api: &'a GithubApi,
    /// `with:` of the step.
    pub(crate) inputs: BTreeMap<String, String>,
    /// `env:` of the step.
    pub(crate) env: BTreeMap<String, String>,
    /// The name of the event and its payload.
    pub(crate) event: (&'static str, Value),
    /// Where the action's own files are.
    pub(crate) action: PathBuf,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct ActionResult {
    /// The exit status of the step that failed, or 0.
    pub(crate) status: i32,
    /// All output, as the runner reads it.
    pub(crate) log: String,
    pub(crate) outputs: BTreeMap<String, String>,
    /// The page of the run.
    pub(crate) summary: String,
}

impl<'a> ActionUse<'a> {
    /// A review of the repository's change by this model.
    pub(crate) fn new(repository: &'a TestRepository, api: &'a GithubApi, model: &str) -> Self {
        let event = json!({
            "number": 12,
            "pull_request": {
                "number": 12,
                "title": "`touch pwned` $(touch pwned) '; touch pwned; #",
                "base": {"sha": repository.base, "ref": "main"},
                "head": {"sha": repository.head, "ref": "x';touch${IFS}pwned;'", "repo": {"full_name": "octo/demo"}},
            },
        });
        let inputs = [("models", model), ("binary", env!("CARGO_BIN_EXE_agon"))];
        Self {
            repository,
            api,
            inputs: inputs.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            env: BTreeMap::new(),
            event: ("pull_request", event),
            action: project(),
        }
    }

    /// A review by judges who play a script.
    pub(crate) fn scripted(repository: &'a TestRepository, api: &'a GithubApi, script: &str) -> Self {
        let file = repository.keep("judges.yaml", script);
        Self::new(repository, api, &format!("script/{}", file.display()))
    }

    pub(crate) fn with(mut self, input: &str, value: &str) -> Self {
        self.inputs.insert(input.to_owned(), value.to_owned());
        self
    }

    /// Runs the steps, until one fails.
    pub(crate) fn run(&self) -> ActionResult {
        let text = std::fs::read_to_string(self.action.join("action.yml")).unwrap();
        let action: Value = serde_norway::from_str(&text).unwrap();
        let temp = tempfile::tempdir_in(self.repository.path("")).unwrap().keep();
        let mut run =
            ActionRun { action: &action, used: self, temp, steps: BTreeMap::new(), log: String::new() };
        let mut status = 0;
        for step in action["runs"]["steps"].as_array().unwrap() {
            status = run.step(step);
            if status != 0 {
                break;
            }
        }
        let outputs = action["outputs"].as_object().unwrap().iter();
        let outputs =
            outputs.map(|(name, output)| (name.clone(), run.filled(output["value"].as_str().unwrap())));
        let outputs = outputs.collect();
        let summary = std::fs::read_to_string(run.temp.join("summary")).unwrap_or_default();
        ActionResult { status, log: run.log, outputs, summary }
    }
}

struct ActionRun<'a> {
    action: &'a Value,
    used: &'a ActionUse<'a>,
    temp: PathBuf,
    steps: BTreeMap<String, BTreeMap<String, String>>,
    log: String,
}

impl ActionRun<'_> {
    fn step(&mut self, step: &Value) -> i32 {
        assert_eq!(step["shell"], "bash", "{step}");
        let script = step["run"].as_str().unwrap();
        assert!(!script.contains("${{"), "text of strangers must not be written into a script: {script}");
        let file = self.temp.join("step.sh");
        std::fs::write(&file, script).unwrap();
        let (output, log) = (self.temp.join("output"), self.temp.join("log"));
        std::fs::write(&output, "").unwrap();
        let stream = File::create(&log).unwrap();
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-eo", "pipefail"]).arg(&file).current_dir(&self.temp);
        command.stdin(Stdio::null()).stdout(stream.try_clone().unwrap()).stderr(stream);
        command.env_clear().envs(self.environment()).env("GITHUB_OUTPUT", &output).envs(&self.used.env);
        let env = step["env"].as_object().unwrap().iter();
        command.envs(env.map(|(name, value)| (name.clone(), self.filled(value.as_str().unwrap()))));
        let status = command.status().unwrap();
        self.log.push_str(&std::fs::read_to_string(&log).unwrap());
        if let Some(id) = step["id"].as_str() {
            let written = std::fs::read_to_string(&output).unwrap();
            let pairs = written.lines().map(|line| line.split_once('=').unwrap());
            let outputs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            self.steps.insert(id.to_owned(), outputs);
        }
        status.code().unwrap()
    }

    /// The variables that a runner sets.
    fn environment(&self) -> Vec<(&'static str, String)> {
        let server = format!("file://{}", self.used.repository.path("server").display());
        vec![
            ("PATH", std::env::var("PATH").unwrap()),
            ("HOME", self.temp.display().to_string()),
            ("RUNNER_TEMP", self.temp.display().to_string()),
            ("GITHUB_ACTION_PATH", self.used.action.display().to_string()),
            ("GITHUB_EVENT_NAME", self.used.event.0.to_owned()),
            ("GITHUB_SERVER_URL", server),
            ("GITHUB_API_URL", self.used.api.url()),
            ("GITHUB_GRAPHQL_URL", format!("{}/graphql", self.used.api.url())),
            ("GITHUB_REPOSITORY", "octo/demo".to_owned()),
            ("GITHUB_RUN_ID", "77".to_owned()),
            ("GITHUB_STEP_SUMMARY", self.temp.join("summary").display().to_string()),
        ]
    }

    /// A text with its expressions replaced by their values.
    fn filled(&self, text: &str) -> String {
        match text.strip_prefix("${{").and_then(|rest| rest.strip_suffix("}}")) {
            Some(expression) => {
                let values = expression.split("||").map(|path| self.value(path.trim()));
                values.into_iter().find(|value| !value.is_empty()).unwrap_or_default()
            }
            None => {
                assert!(!text.contains("${{"), "{text}");
                text.to_owned()
            }
        }
    }

    /// The value at a path such as `github.event.pull_request.number`; empty if there is none.
    fn value(&self, path: &str) -> String {
        let parts: Vec<&str> = path.split('.').collect();
        match parts.as_slice() {
            ["inputs", name] => self.input(name),
            ["steps", id, "outputs", name] => {
                self.steps.get(*id).and_then(|outputs| outputs.get(*name)).cloned().unwrap_or_default()
            }
            ["github", "token"] => TOKEN.to_owned(),
            ["github", "action_repository"] => "octo/agon".to_owned(),
            ["github", "event", rest @ ..] => {
                let found = rest.iter().fold(&self.used.event.1, |value, key| &value[*key]);
                found.as_str().map_or_else(
                    || if found.is_null() { String::new() } else { found.to_string() },
                    str::to_owned,
                )
            }
            _ => panic!("the runner of these tests does not know {path}"),
        }
    }

    fn input(&self, name: &str) -> String {
        let declared = &self.action["inputs"][name];
        assert!(declared.is_object(), "the action has no input {name}");
        let given = self.used.inputs.get(name).cloned();
        given.unwrap_or_else(|| self.filled(declared["default"].as_str().unwrap()))
    }
}

impl ActionResult {
    /// The commands in the log, by the runner's own rules.
    pub(crate) fn commands(&self) -> Vec<String> {
        let mut commands = Vec::new();
        let mut stopped: Option<String> = None;
        for line in self.log.split(['\r', '\n']) {
            let line = line.trim_start();
            if let Some(token) = &stopped {
                if line == format!("::{token}::") {
                    stopped = None;
                }
                continue;
            }
            if let Some(token) = line.strip_prefix("::stop-commands::") {
                stopped = Some(token.to_owned());
            } else if line.starts_with("::") || line.contains("##[") {
                commands.push(line.to_owned());
            }
        }
        assert_eq!(stopped, None, "the commands stay stopped: {}", self.log);
        commands
    }
}
