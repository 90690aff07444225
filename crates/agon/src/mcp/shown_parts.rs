//! The parts of a debate that an agent can read.

use agon_report::{DebateExcerpt, StoredDebate, TerminalStyle, markdown_report};

use crate::cli::app::{DebateHandle, StoredLog};
use crate::cli::debate_reading::DebateReading;
use crate::cli::errors::CliError;
use crate::hosting::host_error::HostError;
use crate::hosting::{DebateHost, blocking};

const STYLE: TerminalStyle = TerminalStyle { color: false, width: 120, unicode: true };

/// A part of a debate as text.
pub async fn shown_part(host: &DebateHost, id: &str, part: &str) -> Result<String, HostError> {
    if let Some(number) = part.strip_prefix("ask:") {
        return waiting_ask(host, id, number);
    }
    let excerpt = wanted_excerpt(part)?;
    let (handle, part) = (DebateHandle { store: host.store().clone(), id: id.to_owned() }, part.to_owned());
    blocking(move || {
        let StoredLog { records, debate, .. } = handle.read()?;
        let reading = DebateReading::of(&debate)?;
        if let Some(excerpt) = excerpt {
            let stored = StoredDebate { source: reading.source(), records: &records };
            return Ok(excerpt.text(&stored, &STYLE).map_err(CliError::from)?);
        }
        Ok(match part.as_str() {
            "answer" => {
                let headline = &reading.view.headline;
                let lines = [headline.verdict.as_ref(), headline.answer.as_ref(), headline.why.as_ref()];
                let lines = lines.into_iter().flatten().map(String::as_str);
                lines.chain([headline.ending.as_str()]).collect::<Vec<_>>().join("\n\n")
            }
            "verdict" => format!("{:#}", reading.document.get("verdict").cloned().unwrap_or_default()),
            _ => markdown_report(&reading.source()),
        })
    })
    .await
}

/// The excerpt that a part names; `None` for the parts that are not excerpts.
fn wanted_excerpt(part: &str) -> Result<Option<DebateExcerpt>, HostError> {
    let unknown = || {
        HostError::invalid(format!(
            "there is no part {part:?}: use report, answer, verdict, dissent, changes, timeline, round:N, seat:NAME or ask:N"
        ))
    };
    Ok(match part.split_once(':') {
        None => match part {
            "report" | "answer" | "verdict" => None,
            "dissent" => Some(DebateExcerpt::Dissent),
            "changes" => Some(DebateExcerpt::Flips),
            "timeline" => Some(DebateExcerpt::Timeline),
            _ => return Err(unknown()),
        },
        Some(("round", number)) => {
            let round = Some(number.trim().parse().map_err(|_| unknown())?);
            Some(DebateExcerpt::Said { round, seat: None })
        }
        Some(("seat", name)) => Some(DebateExcerpt::Said { round: None, seat: Some(name.trim().to_owned()) }),
        Some(_) => return Err(unknown()),
    })
}

fn waiting_ask(host: &DebateHost, id: &str, number: &str) -> Result<String, HostError> {
    let number = number.trim().parse::<u32>().ok();
    let waiting = host.waiting_asks(id);
    let ask = waiting.iter().find(|ask| Some(ask.ask) == number).ok_or_else(|| {
        let there: Vec<String> = waiting.iter().map(|ask| ask.ask.to_string()).collect();
        let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
        HostError::not_found(format!("this ask does not wait for an answer; those that do: {there}"))
    })?;
    let schema = ask.schema.as_ref().map(|schema| format!("\n\nThe JSON Schema of the answer:\n{schema}"));
    Ok(format!("{}{}", ask.prompt, schema.unwrap_or_default()))
}
