//! What a person may set.

use std::sync::OnceLock;

use agon_core::{Kind, Opt};

use super::{rhetoric, trickster};

/// All options: the debate's own, the trickster's and the observer's.
pub(super) fn all() -> &'static [Opt] {
    static ALL: OnceLock<Vec<Opt>> = OnceLock::new();
    ALL.get_or_init(|| [OPTIONS, trickster::OPTIONS, rhetoric::OPTIONS].concat())
}

const OPTIONS: &[Opt] = &[
    Opt {
        key: "team",
        kind: Kind::Int(2, 8),
        default: "",
        help: "how many agents sit: of more names the best by rating and calibration; by default all who are named, or 3 of one",
    },
    Opt {
        key: "explore",
        kind: Kind::Float(0.0, 1.0),
        default: "0.1",
        help: "the share of the team that is drawn among the others, the least known the likeliest: its whole seats, and one more with the probability of the rest; 0 draws nobody, 1 all",
    },
    Opt {
        key: "consensus",
        kind: Kind::Choice(&["majority", "supermajority", "unanimous"]),
        default: "majority",
        help: "the votes that make a consensus: more than half of those cast, two thirds, or all",
    },
    Opt {
        key: "decide",
        kind: Kind::Choice(&["vote", "judge"]),
        default: "vote",
        help: "whose choice is the winner where the vote and the judge differ",
    },
    Opt {
        key: "judge_orders",
        kind: Kind::Int(1, 2),
        default: "1",
        help: "2: the judge is asked twice, with the proposals in opposite orders, and two different choices are a tie",
    },
    Opt {
        key: "judge_gap",
        kind: Kind::Float(0.0, 10.0),
        default: "1.0",
        help: "the debate stops when the judge's best is ahead by more than this",
    },
    Opt {
        key: "convergence_threshold",
        kind: Kind::Float(0.0, 1.0),
        default: "0.85",
        help: "how alike all proposals must be to converge, where nobody declares a conflict",
    },
    Opt {
        key: "max_extended_rounds",
        kind: Kind::Int(0, 5),
        default: "2",
        help: "the most rounds after the judge, when neither vote nor judge decides",
    },
    concurrent("max_concurrent_proposals", "how many proposals may be under way at once; by default all"),
    concurrent("max_concurrent_critiques", "how many critiques may be under way at once; by default all"),
    concurrent("max_concurrent_revisions", "how many revisions may be under way at once; by default all"),
    Opt {
        key: "embeddings",
        kind: Kind::Text,
        default: "",
        help: "the embeddings that say how alike the proposals are; by default the ones in use here (agon doctor says which)",
    },
    switch("no_knowledge", "leave out what earlier debates decided"),
    switch("no_memory", "leave out what the agents remember"),
    switch("no_pulse", "leave out the sources of current topics"),
    Opt {
        key: "pulse",
        kind: Kind::Text,
        default: "",
        help: "sources of current topics, by their names in the configuration, with commas between them",
    },
    Opt {
        key: "context_items",
        kind: Kind::Int(0, 20),
        default: "5",
        help: "the most pieces of context from each source",
    },
    Opt {
        key: "context_timeout",
        kind: Kind::Float(0.1, 60.0),
        default: "3",
        help: "how many seconds each source of context has; the debate goes on without one that is late",
    },
    switch("trickster", "challenge a consensus that rests on little before it counts"),
    switch("observer", "report patterns and fallacies in every argument"),
];

const fn switch(key: &'static str, help: &'static str) -> Opt {
    Opt { key, kind: Kind::Flag, default: "false", help }
}

const fn concurrent(key: &'static str, help: &'static str) -> Opt {
    Opt { key, kind: Kind::Int(1, 64), default: "", help }
}
