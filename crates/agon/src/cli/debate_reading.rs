//! One reading of a debate's log, made once, for everything that shows it.

use agon_core::protocol::check_values;
use agon_core::{Debate, DebateView, ProtocolInfo, document};
use agon_measure::Evidence;
use agon_report::ReportSource;
use serde_json::Value;

use super::app::protocol_of;
use super::errors::CliError;

/// What a debate's log says: to its protocol, in figures, and as the JSON outcome.
pub struct DebateReading<'a> {
    info: &'static ProtocolInfo,
    debate: &'a Debate,
    /// The protocol's reading.
    pub view: DebateView,
    /// What the debate did.
    pub evidence: Evidence,
    /// The JSON outcome.
    pub document: Value,
}

impl<'a> DebateReading<'a> {
    /// Reads a debate. Fails if its protocol cannot read the log, or if an option in it has an impossible value.
    pub fn of(debate: &'a Debate) -> Result<Self, CliError> {
        let protocol = protocol_of(&debate.brief)?;
        let unreadable = |reason| CliError::Log { id: debate.brief.id.clone(), reason: Box::new(reason) };
        check_values(protocol, &debate.brief).map_err(unreadable)?;
        let view = protocol.view(debate).map_err(unreadable)?;
        let evidence = agon_measure::evidence(debate, &view.positions);
        let json = serde_json::to_value(&evidence).map_err(|why| unreadable(why.into()))?;
        let mut document = document::document(debate, json);
        document::add_headline(&mut document, &view.headline);
        document::add_items(&mut document, &view.items);
        Ok(Self { info: protocol.info(), debate, view, evidence, document })
    }

    /// What a report is made of.
    pub fn source(&self) -> ReportSource<'_> {
        ReportSource { info: self.info, debate: self.debate, view: &self.view, evidence: &self.evidence }
    }
}

/// The JSON outcome of a debate.
pub fn outcome_document(debate: &Debate) -> Result<Value, CliError> {
    DebateReading::of(debate).map(|reading| reading.document)
}
