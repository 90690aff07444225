//! What can be cited by an id in `council`: challenges, messages, conditions and risks. Quotes that do not verify have a remark.

use agon_core::CitableText;

use super::log::CouncilLog;
use super::moderation::RoundFindings;
use super::verdict::{stated_conditions, stated_risks, verified_conclusion};

impl CouncilLog<'_> {
    /// Every challenge, message, condition and risk, as its author's reply has it, and the moderator's quotes that nobody said.
    pub(super) fn citable(&self) -> Vec<CitableText> {
        let challenges = self.challenges.iter().map(|put| CitableText {
            id: put.id.clone(),
            seat: put.from.clone(),
            round: put.round,
            text: put.question.clone(),
            remark: (put.quoted == Some(false)).then_some("claim not a quote"),
        });
        let messages = self.messages.iter().map(|sent| CitableText {
            id: sent.id.clone(),
            seat: sent.from.clone(),
            round: sent.round,
            text: sent.text.clone(),
            remark: None,
        });
        let terms = stated_conditions(self).into_iter().chain(stated_risks(self)).map(|term| CitableText {
            id: term.id,
            seat: term.seat.to_owned(),
            round: self.options.rounds,
            text: term.text.to_owned(),
            remark: None,
        });
        let failed = self.failed_quotes().into_iter().map(|(round, quote)| CitableText {
            id: String::new(),
            seat: "moderator".to_owned(),
            round,
            text: quote,
            remark: Some("does not verify; not counted"),
        });
        challenges.chain(messages).chain(terms).chain(failed).collect()
    }

    /// The moderator's quotes that nobody said, with the rounds of its replies. The same words can be a quote elsewhere in a round.
    fn failed_quotes(&self) -> Vec<(u32, String)> {
        let mut failed = Vec::new();
        for number in 1..=self.options.rounds {
            let findings = self.round(number).map(|round| &round.findings);
            let concluded = self.conclusion.as_ref().filter(|_| number == self.options.rounds);
            let verified = concluded.map(|said| verified_conclusion(self, said).quotes).unwrap_or_default();
            let verified: Vec<&str> = verified.iter().map(|said| said.quote.as_str()).collect();
            let declared = concluded.into_iter().flat_map(|said| &said.quotes);
            let unverified = declared.map(|said| said.quote.trim()).filter(|quote| !verified.contains(quote));
            let quotes = findings.into_iter().flat_map(|found| &found.unverified).map(String::as_str);
            let counted = findings.into_iter().flat_map(quotes_of).chain(verified.iter().copied());
            let is_failed = |quote: &&str| counted.clone().all(|other| other != *quote);
            failed.extend(quotes.chain(unverified).filter(is_failed).map(|quote| (number, quote.to_owned())));
        }
        failed
    }
}

/// What the moderator quotes in a round and somebody said.
fn quotes_of(findings: &RoundFindings) -> impl Iterator<Item = &str> + Clone {
    let shared = findings.shared_points.iter().flat_map(|shared| &shared.members);
    let said = shared.chain(&findings.new_arguments).map(|said| said.quote.as_str());
    said.chain(findings.evasions.iter().map(|evasion| evasion.quote.as_str()))
}
