//! Debates of every protocol with their evidence: who held what is told here, and the measures follow from it.

use std::collections::BTreeMap;

use agon_core::Debate;
use serde_json::{Value, json};

use super::{arena, council, panel, review};

/// A change: whose, in which round, and what it names.
pub(crate) type Cited<'a> = (&'a str, u64, &'a [&'a str]);

/// Who held what in which round.
pub(crate) struct Told<'a> {
    pub(crate) grouping: &'a str,
    pub(crate) rounds: &'a [u64],
    /// A seat, its label, and what it held after each round.
    pub(crate) held: &'a [(&'a str, Option<&'a str>, &'a [&'a str])],
    pub(crate) cited: &'a [Cited<'a>],
    /// What the rule makes of each round.
    pub(crate) verdicts: &'a [Option<&'a str>],
    pub(crate) decided: Option<&'a str>,
    pub(crate) independence: Value,
}

impl Told<'_> {
    /// Puts the evidence that follows into the document of a debate.
    pub(crate) fn into(self, debate: &Debate, document: &mut Value) {
        let flips = self.flips();
        let by_seat = self.held.iter().map(|(seat, label, _)| {
            let mine: Vec<&Value> = flips.iter().filter(|flip| flip["seat"] == *seat).collect();
            let count = |key: &str| mine.iter().filter(|flip| flip[key] == json!(true)).count();
            json!({"seat": seat, "label": label, "flips": mine.len(), "evidenced": count("evidenced"),
                "toward_majority": count("toward_majority")})
        });
        let by_seat: Vec<Value> = by_seat.collect();
        let counterfactual: Vec<Value> = self
            .rounds
            .iter()
            .zip(self.verdicts)
            .enumerate()
            .map(|(place, (round, verdict))| {
                let before = place.checked_sub(1).map(|before| self.verdicts[before]);
                json!({"round": round, "verdict": verdict, "changed": before.is_some_and(|before| before != *verdict)})
            })
            .collect();
        let idle: Vec<u64> = (1..self.rounds.len())
            .filter(|place| self.verdicts[*place] == self.verdicts[place - 1])
            .map(|place| self.rounds[place])
            .collect();
        let had = super::spent(debate);
        document["evidence"] = json!({"grouping": self.grouping, "first_round": self.first(), "flips": flips,
            "flips_by_seat": by_seat, "agreement": self.agreement(), "trajectory": self.trajectory(&flips),
            "independence": self.independence, "dissent": had["dissent"], "counterfactual": {"rounds": counterfactual, "idle_rounds": idle},
            "judge": null, "calibration": {"seats": []}, "cost": had["cost"]});
    }

    fn at(&self, place: usize) -> BTreeMap<&str, Vec<usize>> {
        let mut held: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (seat, (_, _, positions)) in self.held.iter().enumerate() {
            held.entry(positions[place]).or_default().push(seat);
        }
        held
    }

    fn first(&self) -> Value {
        let (held, all) = (self.at(0), self.held.len() as f64);
        let most = held.values().map(Vec::len).max().unwrap_or_default();
        let foremost: Vec<&str> =
            held.iter().filter(|(_, seats)| seats.len() == most).map(|(position, _)| *position).collect();
        let vote = (foremost.len() == 1).then(|| foremost[0]);
        let positions = held.iter().map(|(position, seats)| {
            let ids: Vec<&str> = seats.iter().map(|seat| self.held[*seat].0).collect();
            json!({"position": position, "count": seats.len(), "share": seats.len() as f64 / all, "seats": ids})
        });
        json!({"round": self.rounds[0], "positions": positions.collect::<Vec<_>>(), "vote": vote,
            "tied": if vote.is_some() { Vec::new() } else { foremost }, "decided": self.decided,
            "changed_by_debate": self.decided.is_some() && vote != self.decided})
    }

    fn flips(&self) -> Vec<Value> {
        let mut flips = Vec::new();
        for place in 1..self.rounds.len() {
            for (seat, label, positions) in self.held {
                let (from, to) = (positions[place - 1], positions[place]);
                if from != to {
                    let known =
                        self.cited.iter().find(|cited| cited.0 == *seat && cited.1 == self.rounds[place]);
                    let cited = known.map_or(&[][..], |cited| cited.2);
                    let held = |position: &str| {
                        self.held
                            .iter()
                            .filter(|other| other.0 != *seat && other.2[place - 1] == position)
                            .count()
                    };
                    flips.push(json!({"round": self.rounds[place], "seat": seat, "label": label, "from": from, "to": to,
                        "evidenced": !cited.is_empty(), "toward_majority": held(to) > held(from), "cited": cited}));
                }
            }
        }
        flips
    }

    fn agreement(&self) -> Vec<Value> {
        let mut before: Option<f64> = None;
        let all = self.held.len() as f64;
        let row = |place: usize| {
            let held = self.at(place);
            let pairs: f64 = held.values().map(|seats| (seats.len() * (seats.len() - 1)) as f64).sum();
            let entropy: f64 =
                held.values().map(|seats| seats.len() as f64 / all).map(|p| -p * p.log2()).sum();
            let gain = before.replace(entropy).map(|before| before - entropy);
            json!({"round": self.rounds[place], "positions": held.len(), "pairwise": pairs / (all * (all - 1.0)),
                "entropy": entropy, "information_gain": gain})
        };
        (0..self.rounds.len()).map(row).collect()
    }

    fn trajectory(&self, flips: &[Value]) -> Vec<Value> {
        let way = |(seat, label, positions): &(&str, Option<&str>, &[&str])| {
            let held = self.rounds.iter().zip(*positions).map(|(round, position)| {
                let changed = flips.iter().any(|flip| flip["seat"] == *seat && flip["round"] == *round);
                json!({"round": round, "position": position, "value": position.parse::<f64>().ok(), "confidence": 0.8, "changed": changed})
            });
            json!({"seat": seat, "label": label, "positions": held.collect::<Vec<_>>()})
        };
        self.held.iter().map(way).collect()
    }
}

/// What is known of the voices where there is no history.
pub(crate) fn unknown(shared: &[&[&str]]) -> Value {
    let shared: Vec<Value> =
        shared.iter().map(|seats| json!({"model": "openai/alpha", "seats": seats})).collect();
    json!({"known": false, "debates": 0, "rho": null, "n_eff": null, "pairs": [], "shared_models": shared, "families": [],
        "note": "No debate of these agents has a known outcome yet."})
}

pub(crate) fn known(n_eff: f64, debates: u64) -> Value {
    json!({"known": true, "debates": debates, "rho": 0.4589, "n_eff": n_eff,
        "pairs": [{"agents": ["openai/alpha", "anthropic/beta"], "rho": 0.4589, "debates": debates}], "shared_models": [], "families": [],
        "note": ""})
}

const LEDGER: &str = "Only the ledger: it is 4,000 lines and all the incidents are there.";
const TYPES: &str = "No. A rewrite stops features for two quarters; put types around the hot paths instead.";
const ALL: &str = "Yes, rewrite it. The two worst outages of last year were data races.";

pub(crate) fn deep() -> (Debate, Value) {
    let log = super::converged();
    let mut document = log.document();
    Told {
        grouping: "similarity",
        rounds: &[0, 1, 2],
        held: &[
            ("debater-2", Some("A"), &[TYPES, TYPES, LEDGER]),
            ("debater-1", Some("B"), &[ALL, ALL, ALL]),
            ("debater-3", Some("C"), &[LEDGER, LEDGER, LEDGER]),
        ],
        cited: &[(
            "debater-2",
            2,
            &["Debater C's point", "the ledger was ported to Go in five weeks in 2022"],
        )],
        verdicts: &[None, None, Some(LEDGER)],
        decided: Some(LEDGER),
        independence: unknown(&[]),
    }
    .into(&log.debate, &mut document);
    (log.debate, document)
}

pub(crate) fn panel() -> (Debate, Value) {
    let (debate, mut document) = panel::divided();
    Told {
        grouping: "discrete",
        rounds: &[1, 2, 3],
        held: &[
            ("judge-1", None, &["3.5", "3.8", "4"]),
            ("judge-2", None, &["4.5", "4.5", "4.3"]),
            ("judge-3", None, &["2", "2.2", "2.2"]),
        ],
        cited: &[("judge-1", 2, &["judge-1", "F1"]), ("judge-3", 2, &["docs/billing-queue.md, step 3"])],
        verdicts: &[Some("majority 4"), Some("majority 4.15"), Some("majority 4.15")],
        decided: Some("majority 4.15"),
        independence: known(1.7633, 12),
    }
    .into(&debate, &mut document);
    (debate, document)
}

pub(crate) fn council() -> (Debate, Value) {
    let (debate, mut document) = council::eventful();
    let (yes, conditions, no) = ("PROCEED", "PROCEED WITH CONDITIONS", "RECONSIDER");
    Told {
        grouping: "declared",
        rounds: &[0, 1, 2],
        held: &[
            ("visionary", None, &[yes, yes, yes]),
            (
                "critic",
                None,
                &[
                    "Do not move billing yet: an invoice that is lost costs more than a slow night.",
                    conditions,
                    conditions,
                ],
            ),
            ("pragmatist", None, &[conditions, conditions, conditions]),
            ("innovator", None, &[no, no, no]),
        ],
        cited: &[("critic", 1, &["[C2]"])],
        verdicts: &[None, Some(conditions), Some(conditions)],
        decided: Some(conditions),
        independence: unknown(&[&["visionary", "pragmatist"], &["critic", "innovator"]]),
    }
    .into(&debate, &mut document);
    (debate, document)
}

pub(crate) fn arena() -> (Debate, Value) {
    let log = arena::consensus();
    let mut document = log.document();
    let [a, b, c] = arena::POSITIONS;
    Told {
        grouping: "similarity",
        rounds: &[1, 3, 7],
        held: &[
            ("agent-2", Some("A"), &[a, b, b]),
            ("agent-1", Some("B"), &[b, b, b]),
            ("agent-3", Some("C"), &[c, c, c]),
        ],
        cited: &[],
        verdicts: &[None, Some(b), Some(b)],
        decided: Some(b),
        independence: known(2.2, 31),
    }
    .into(&log.debate, &mut document);
    (log.debate, document)
}

pub(crate) fn review() -> (Debate, Value) {
    let log = review::failed();
    let mut document = log.document();
    Told {
        grouping: "discrete",
        rounds: &[1, 2],
        held: &[
            ("security", None, &["WARN", "FAIL"]),
            ("operations", None, &["PASS", "WARN"]),
            ("usability", None, &["WARN", "WARN"]),
        ],
        cited: &[("security", 2, &["src/auth.py:45"])],
        verdicts: &[Some("WARN"), Some("FAIL")],
        decided: Some("FAIL"),
        independence: unknown(&[&["security", "operations"]]),
    }
    .into(&log.debate, &mut document);
    (log.debate, document)
}

/// One debate of each protocol.
pub(crate) fn all() -> [(&'static str, Debate, Value); 5] {
    [("deep", deep()), ("panel", panel()), ("council", council()), ("arena", arena()), ("review", review())]
        .map(|(name, (debate, document))| (name, debate, document))
}
