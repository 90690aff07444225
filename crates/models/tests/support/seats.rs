//! What the tests of this crate share. Each uses some of it.
#![allow(dead_code)]

use std::path::Path;
use std::time::Duration;

use agon_core::Phase;
use agon_engine::{Call, Message};

/// A call with these messages.
pub(crate) fn call(messages: Vec<Message>) -> Call {
    Call {
        debate: "debate".into(),
        seat: "debater-1".into(),
        ask: 1,
        attempt: 1,
        phase: Phase::new("answer", 0),
        label: None,
        about: None,
        messages,
        schema: None,
        max_output_tokens: 1_000,
        seed: 1,
    }
}

/// Waits for what is sure to come, and fails instead of waiting for ever.
pub(crate) async fn patiently<T>(coming: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(120), coming).await.expect("it never came")
}

/// The process number in a file, as soon as it is there.
pub(crate) async fn number_in(file: &Path) -> u32 {
    let found = || std::fs::read_to_string(file).ok()?.strip_suffix('\n')?.parse().ok();
    patiently(async {
        loop {
            if let Some(number) = found() {
                return number;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
}

/// Returns when there is no such process any more, not even as a zombie.
pub(crate) async fn is_gone(id: u32) {
    until(|| state(id).is_none()).await;
}

/// Returns when the process has ended; whose child it became may be slow to take its status.
pub(crate) async fn is_over(id: u32) {
    until(|| state(id).is_none_or(|state| state == 'Z')).await;
}

/// Returns when it is so.
pub(crate) async fn until(so: impl Fn() -> bool) {
    patiently(async {
        while !so() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}

/// The letter of a process's state, as `ps` says it on every system.
fn state(id: u32) -> Option<char> {
    if Path::new("/proc/self/stat").exists() {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        return stat.rsplit_once(") ")?.1.chars().next();
    }
    let output = std::process::Command::new("ps").args(["-o", "state=", "-p", &id.to_string()]).output();
    String::from_utf8(output.expect("there is no ps").stdout).ok()?.trim().chars().next()
}
