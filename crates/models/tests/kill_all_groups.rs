//! `kill_all_groups`, in a process of its own because it kills the programs of all tests.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

#[path = "models/support.rs"]
#[allow(dead_code)]
mod support;

use agon_engine::{CallMessage, MessageRole, Model};
use agon_host::kill_all_groups;
use agon_models::{CommandConfig, CommandModel};
use support::{call_with, process_id_in, wait_until_ended, wait_until_gone, within_two_minutes};

#[tokio::test]
async fn a_process_can_kill_its_programs_before_it_exits() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo $$ > pid; sleep 1000 & echo $! > grandchild; wait; sleep 1000";
    let program = ["sh", "-c", script].map(String::from).to_vec();
    let config = CommandConfig { program, cwd: Some(folder.path().to_owned()), ..CommandConfig::default() };
    let command = CommandModel::new("x", config).unwrap();
    let call = call_with(vec![CallMessage::new(MessageRole::User, "prompt")]);
    let mut running = command.call(&call, None);
    let file = folder.path().join("grandchild");
    let grandchild = tokio::select! {
        ended = &mut running => panic!("{ended:?}"),
        number = process_id_in(&file) => number,
    };
    kill_all_groups();
    let fault = within_two_minutes(running).await.unwrap_err();
    assert!(fault.message.contains("signal: 9"), "{fault}");
    wait_until_gone(process_id_in(&folder.path().join("pid")).await).await;
    wait_until_ended(grandchild).await;
    kill_all_groups();
}
