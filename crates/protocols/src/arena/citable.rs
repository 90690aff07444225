//! What can be cited by an id in `arena`: critiques. What the clerk says of two proposals has a remark where it does not verify.

use agon_core::CitableText;

use super::log::{ArenaLog, CritiqueSource};
use crate::clerk::CLERK;

impl ArenaLog<'_> {
    /// Every issue of every critique, as its author's reply has it.
    pub(super) fn citable(&self) -> Vec<CitableText> {
        let judge = self.debate.brief.seats_of("judge").next();
        let mut texts = Vec::new();
        for critique in &self.critiques {
            let seat = match critique.from {
                CritiqueSource::Peer(place) | CritiqueSource::Voter(place, _) => {
                    self.agents.get(place).map(|agent| &agent.seat.id)
                }
                CritiqueSource::Judge => judge.map(|seat| &seat.id),
            };
            let Some(seat) = seat else { continue };
            texts.extend(critique.issues.iter().map(|issue| CitableText {
                id: critique.id.clone(),
                seat: seat.clone(),
                round: critique.round,
                text: issue.clone(),
                remark: None,
            }));
        }
        texts.extend(self.unverified_pairs());
        texts
    }

    /// The pairs of which no sorting of their round says anything that verifies, by both names of each.
    fn unverified_pairs(&self) -> Vec<CitableText> {
        let is_unknown = |round: u32, pair: &(usize, usize)| {
            let mut checks = self.checks.iter().filter(|check| check.round == round);
            checks.all(|check| check.unknown.contains(pair))
        };
        let pairs = self.checks.iter().flat_map(|check| check.unknown.iter().map(|pair| (check.round, pair)));
        let pairs = pairs.filter(|(round, pair)| is_unknown(*round, pair));
        let named = pairs.flat_map(|(round, (a, b))| [(round, [*a, *b]), (round, [*b, *a])]);
        named
            .map(|(round, pair)| CitableText {
                id: String::new(),
                seat: CLERK.to_owned(),
                round,
                text: self.names(&pair),
                remark: Some("does not verify and does not count"),
            })
            .collect()
    }
}
