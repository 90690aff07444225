//! What a process does that exits without waiting. Alone in its file, because it ends the programs of every test.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod support;

use agon_engine::{Message, Model, Role};
use agon_models::{Command, CommandConfig, kill_commands};
use support::{call, is_gone, is_over, number_in, patiently};

#[tokio::test]
async fn a_process_that_exits_at_once_can_end_its_programs_first() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo $$ > pid; sleep 1000 & echo $! > grandchild; wait; sleep 1000";
    let program = ["sh", "-c", script].map(String::from).to_vec();
    let config = CommandConfig { program, cwd: Some(folder.path().to_owned()), ..CommandConfig::default() };
    let command = Command::new("x", config).unwrap();
    let call = call(vec![Message::new(Role::User, "prompt")]);
    let mut running = command.call(&call, None);
    let file = folder.path().join("grandchild");
    let grandchild = tokio::select! {
        ended = &mut running => panic!("{ended:?}"),
        number = number_in(&file) => number,
    };
    kill_commands();
    let fault = patiently(running).await.unwrap_err();
    assert!(fault.message.contains("signal: 9"), "{fault}");
    is_gone(number_in(&folder.path().join("pid")).await).await;
    is_over(grandchild).await;
    kill_commands();
}
