//! What a user may set.

use serde::{Deserialize, Serialize};

use super::trickster::SignalThresholds;

agon_core::protocol_options! {
    /// The options of an arena.
    pub(super) struct ArenaOptions {
        team: Option<usize> = Int(2, 8), "",
            "how many agents sit: of more models the best by rating and calibration; by default all models, or 3 seats of one";
        explore: f64 = Float(0.0, 1.0), "0.1",
            "the share of the team that is drawn among the other models, the least known the likeliest: its whole seats, and one more with the probability of the rest; 0 draws nobody, 1 everybody";
        consensus: ConsensusRule = Choice(ConsensusRule::WORDS), "majority",
            "the votes that make a consensus: more than half of those cast, two thirds, or all";
        decide: DecidedBy = Choice(DecidedBy::WORDS), "vote",
            "whose choice is the winner where the vote and the judge differ";
        judge_orders: usize = Int(1, 2), "1",
            "2: the judge is asked twice, with the proposals in opposite orders, and two different choices are a tie";
        judge_gap: f64 = Float(0.0, 10.0), "1.0",
            "the debate stops when the judge's best proposal is ahead by more than this";
        convergence_threshold: f64 = Float(0.0, 1.0), "0.85",
            "how alike all proposals must be to converge, if nobody declares a conflict";
        max_extended_rounds: u32 = Int(0, 5), "2",
            "the most rounds after the judge, when neither vote nor judge decides";
        max_concurrent_proposals: Option<u32> = Int(1, 64), "",
            "how many proposals may be under way at once; by default all";
        max_concurrent_critiques: Option<u32> = Int(1, 64), "",
            "how many critiques may be under way at once; by default all";
        max_concurrent_revisions: Option<u32> = Int(1, 64), "",
            "how many revisions may be under way at once; by default all";
        embeddings: String = Text, "",
            "the embeddings that measure how alike the proposals are; by default the ones in use here (see agon doctor)";
        no_knowledge: bool = Flag, "false", "do not look up what earlier debates decided";
        no_memory: bool = Flag, "false", "do not look up what the agents remember";
        no_pulse: bool = Flag, "false", "do not ask the sources of current topics";
        pulse: String = Text, "",
            "sources of current topics, by their names in the configuration, separated by commas";
        context_items: usize = Int(0, 20), "5", "the most pieces of context from each source";
        context_timeout: f64 = Float(0.1, 60.0), "3",
            "how many seconds each source of context has; the debate continues without a source that is late";
        trickster: bool = Flag, "false", "challenge a consensus that rests on little before it counts";
        observer: bool = Flag, "false", "report patterns and fallacies in every argument";
        trickster_uncited: f64 = Float(0.0, 1.0), "0.5",
            "the share of claims without evidence at which the trickster objects";
        trickster_unspecific: f64 = Float(0.0, 1.0), "0.6",
            "the share of evidence that nobody could check at which the trickster objects";
        trickster_near_copies: f64 = Float(0.0, 1.0), "0.5",
            "the share of pairs of proposals that are near copies at which the trickster objects";
        trickster_no_reasons: f64 = Float(0.0, 1.0), "0.5",
            "the share of proposals without a reason at which the trickster objects";
        trickster_signals: usize = Int(1, 4), "2",
            "how many of the four objections make a consensus hollow";
        observer_threshold: f64 = Float(0.0, 1.0), "0.5",
            "how surely an argument must show a pattern or fallacy before the observer reports it";
    }
}

impl ArenaOptions {
    /// When the trickster objects.
    pub(super) fn signal_thresholds(&self) -> SignalThresholds {
        SignalThresholds {
            uncited: self.trickster_uncited,
            unspecific: self.trickster_unspecific,
            near_copies: self.trickster_near_copies,
            no_reasons: self.trickster_no_reasons,
            signals: self.trickster_signals,
        }
    }
}

agon_core::option_words! {
    /// How many of the votes cast make a consensus.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub(super) enum ConsensusRule {
        Majority = "majority",
        Supermajority = "supermajority",
        Unanimous = "unanimous",
    }
}

impl ConsensusRule {
    /// Whether `votes` of `cast` are enough.
    pub(super) fn is_met(self, votes: usize, cast: usize) -> bool {
        let enough = match self {
            Self::Majority => 2 * votes > cast,
            Self::Supermajority => 3 * votes >= 2 * cast,
            Self::Unanimous => votes == cast,
        };
        cast > 0 && enough
    }
}

agon_core::option_words! {
    /// Who chooses the winner.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub(super) enum DecidedBy {
        Vote = "vote",
        Judge = "judge",
    }
}
