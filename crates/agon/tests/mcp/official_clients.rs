//! The official clients, on both transports: the Python SDK `mcp` and the inspector's `--cli`.
//!
//! `.ci/run` prepares both and sets `AGON_MCP_PYTHON` and `AGON_MCP_INSPECTOR`. Without them these tests are skipped.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::served::Served;
use crate::support::Home;

/// The program that a variable names, if it is set.
fn program(variable: &str) -> Option<String> {
    let program = std::env::var(variable).ok().filter(|program| !program.is_empty());
    if program.is_none() {
        eprintln!("skipped, because {variable} is not set: `.ci/run` prepares the client");
    }
    program
}

fn succeeded(output: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    out.into_owned()
}

#[test]
fn the_python_sdk_debates_on_both_transports_and_in_both_lifecycles() {
    let Some(python) = program("AGON_MCP_PYTHON") else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/clients/python_client.py");
    for mode in ["legacy", "auto"] {
        let home = Home::new();
        let served = Served::start(&home, None);
        for target in [env!("CARGO_BIN_EXE_agon").to_owned(), format!("http://{}/mcp", served.address)] {
            let mut command = Command::new(&python);
            command.arg(&script).args([mode, &target]).env("AGON_HOME", home.path("home"));
            let said = succeeded(&command.output().unwrap());
            assert!(said.ends_with("all is well\n"), "{mode} {target}: {said}");
        }
    }
}

#[test]
fn the_inspector_calls_tools_on_both_transports() {
    let Some(inspector) = program("AGON_MCP_INSPECTOR") else { return };
    let home = Home::new();
    let served = Served::start(&home, None);
    let url = format!("http://{}/mcp", served.address);
    for target in [&[env!("CARGO_BIN_EXE_agon"), "mcp"][..], &[url.as_str()][..]] {
        let inspect = |args: &[&str]| -> Value {
            let mut command = Command::new("sh");
            // The variable holds a command line: the inspector may need a newer Node than the machine's.
            command
                .args(["-c", &format!("exec {inspector} --cli \"$@\""), "inspector"])
                .args(target)
                .args(args);
            command.env("AGON_HOME", home.path("home")).env("HOME", home.path("user"));
            std::fs::create_dir_all(home.path("user")).unwrap();
            let out = succeeded(&command.output().unwrap());
            serde_json::from_str(&out).unwrap_or_else(|why| panic!("{why}: {out}"))
        };
        let tools = inspect(&["--method", "tools/list"]);
        assert_eq!(tools["tools"].as_array().unwrap().len(), 8, "{tools}");
        let call = ["--method", "tools/call", "--tool-name", "debate", "--tool-arg", "question=Tabs?"];
        let result = inspect(&[&call[..], &["models=[\"script/demo-deep\"]", "wait_s=60"]].concat());
        assert_eq!(result["structuredContent"]["state"], "complete", "{result}");
        let prompts = inspect(&["--method", "prompts/list"]);
        assert_eq!(prompts["prompts"].as_array().unwrap().len(), 3, "{prompts}");
        let uri = result["structuredContent"]["uri"].as_str().unwrap();
        let read = inspect(&["--method", "resources/read", "--uri", uri]);
        assert_eq!(read["contents"][0]["mimeType"], "text/markdown", "{read}");
    }
}
