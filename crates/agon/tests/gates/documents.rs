//! The examples and the chapter on pipelines: every YAML in them can be read and names only what exists.

use std::path::PathBuf;

use serde_json::Value;

use crate::action_runner::ActionUse;
use crate::github_api::GithubApi;
use crate::repository::{TestRepository, project, script, tools};

fn read(name: &str) -> String {
    std::fs::read_to_string(project().join(name)).unwrap_or_else(|why| panic!("{name}: {why}"))
}

fn yaml(text: &str) -> Value {
    serde_norway::from_str(text).unwrap_or_else(|why| panic!("{why}: {text}"))
}

/// The fenced blocks of a language in a Markdown file.
fn fences(text: &str, language: &str) -> Vec<String> {
    let fence = format!("\n```{language}\n");
    let blocks = text.split(&fence).skip(1);
    blocks.map(|block| block.split("\n```").next().unwrap().to_owned()).collect()
}

/// Every step of a workflow that uses the action.
fn uses(value: &Value, found: &mut Vec<Value>) {
    match value {
        Value::Object(fields)
            if fields.get("uses").and_then(Value::as_str).is_some_and(|name| name.contains("/agon@")) =>
        {
            found.push(value.clone());
        }
        Value::Object(fields) => fields.values().for_each(|field| uses(field, found)),
        Value::Array(values) => values.iter().for_each(|value| uses(value, found)),
        _ => {}
    }
}

#[test]
fn every_use_of_the_action_in_a_document_has_inputs_that_exist_and_runs() {
    let action = yaml(&read("action.yml"));
    let mut steps = Vec::new();
    uses(&yaml(&read("examples/workflows/github.yml")), &mut steps);
    assert_eq!(steps.len(), 1, "the example uses the action once");
    for name in ["docs/pipelines.md", "README.md"] {
        fences(&read(name), "yaml").iter().for_each(|block| uses(&yaml(block), &mut steps));
    }
    assert!(steps.len() > 2);
    for step in &steps {
        for (input, value) in step["with"].as_object().unwrap() {
            assert!(action["inputs"][input].is_object(), "{input} in {step}");
            assert!(value.is_string(), "inputs are texts: {input} in {step}");
        }
    }
    let Some(()) = tools() else { return };
    // The example as it is, with judges who need no key.
    let (repository, api) = (TestRepository::new(), GithubApi::start());
    let mut used = ActionUse::scripted(&repository, &api, &script("FAIL"));
    for (input, value) in steps[0]["with"].as_object().unwrap().iter().filter(|(input, _)| *input != "models")
    {
        used = used.with(input, value.as_str().unwrap());
    }
    let ran = used.run();
    assert_eq!(ran.status, 1, "{}", ran.log);
}

/// An input that a document or the action does not mention is one that nobody finds.
#[test]
fn the_chapter_lists_every_input_and_output() {
    let (action, chapter) = (yaml(&read("action.yml")), read("docs/pipelines.md"));
    for part in ["inputs", "outputs"] {
        for name in action[part].as_object().unwrap().keys() {
            assert!(chapter.contains(&format!("| `{name}` |")), "{name} is not in docs/pipelines.md");
        }
    }
    let job = yaml(&read("packaging/gitlab/agon-review.yml"));
    for name in job["agon-review"]["variables"].as_object().unwrap().keys() {
        assert!(
            name == "GIT_STRATEGY" || chapter.contains(&format!("| `{name}` |")),
            "{name} is not in docs/pipelines.md"
        );
    }
}

/// The examples for GitLab and pre-commit name only variables, hooks and options that exist.
#[test]
fn the_other_examples_name_what_exists() {
    let job = yaml(&read("packaging/gitlab/agon-review.yml"));
    let known = job["agon-review"]["variables"].as_object().unwrap();
    let blocks = fences(&read("docs/pipelines.md"), "yaml").into_iter().map(|block| yaml(&block));
    let examples: Vec<Value> = blocks.chain([yaml(&read("examples/workflows/gitlab.yml"))]).collect();
    let jobs: Vec<&Value> =
        examples.iter().map(|example| &example["agon-review"]).filter(|job| job.is_object()).collect();
    assert!(!jobs.is_empty());
    for job in jobs {
        for name in job["variables"].as_object().unwrap().keys() {
            assert!(known.contains_key(name), "{name}");
        }
    }
    let hooks = yaml(&read(".pre-commit-hooks.yaml"));
    let example = yaml(&read("examples/workflows/pre-commit-config.yaml"));
    assert_eq!(example["repos"][0]["hooks"][0]["id"], hooks[0]["id"]);
}

/// The scripts work with the shells that pipelines have, by a reader that knows their traps.
#[test]
fn the_scripts_have_no_traps() {
    let scripts = [
        "action/install",
        "action/fetch",
        "action/review",
        "action/comment",
        "action/pin",
        "pre-commit/agon-review",
    ];
    let paths: Vec<PathBuf> = scripts.iter().map(|name| project().join("packaging").join(name)).collect();
    let checked =
        std::process::Command::new("shellcheck").arg("-x").args(&paths).current_dir(project()).output();
    let Ok(checked) = checked else {
        eprintln!("there is no shellcheck: the test is skipped");
        return;
    };
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}
