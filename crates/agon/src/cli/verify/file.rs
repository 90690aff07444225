//! The files that `agon verify` reads.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::{Beside, Finding, Raw};
use crate::cli::failure::Failure;
use crate::cli::{input, ndjson};

/// The most that a file to be verified may have.
pub const FILE_BYTES_MAX: u64 = 1 << 30;
const READS: &str = "verify reads what `agon export --format json` writes, the log.ndjson of --save, \
                     and what --events printed";

/// An exported debate.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exported {
    #[serde(default)]
    outcome: Option<Value>,
    log: Vec<Link>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Link {
    hash: String,
    body: String,
}

/// The log in a file and what stands beside it, or where one of its lines is not as Agon writes it.
pub fn read(file: &Path) -> Result<Result<(Raw, Beside), Finding>, Failure> {
    let text = input::file(file, FILE_BYTES_MAX)?;
    if text.trim().is_empty() {
        return Err(Failure::file(file, format!("it is empty: {READS}")));
    }
    if text.starts_with("{\"seq\":") {
        return Ok(lines(&text).map(|raw| (raw, Beside::Nothing)));
    }
    let exported: Exported = serde_json::from_str(&text)
        .map_err(|why| Failure::file(file, format!("it is none of what verify reads ({why}): {READS}")))?;
    let raw: Raw = exported.log.into_iter().map(|link| (link.body, link.hash)).collect();
    if raw.is_empty() {
        return Err(Failure::file(file, "it holds no events: there is nothing to check"));
    }
    Ok(Ok((raw, Beside::Outcome(exported.outcome))))
}

fn lines(text: &str) -> Result<Raw, Finding> {
    let split = |(seq, line): (u64, &str)| {
        let why = || Finding { event: Some(seq), why: format!("event {seq} does not end in its hash") };
        ndjson::split(line).ok_or_else(why)
    };
    (0..).zip(text.lines()).map(split).collect()
}
