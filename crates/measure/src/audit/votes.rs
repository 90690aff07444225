//! Models that answered the same questions: how many independent voices they are, what a vote gains, when two are enough.
//!
//! Only questions that all chosen models were asked count. The cell `-` is a question that was not asked. An empty cell is an
//! answer that was not given: it does not vote, counts as wrong, agrees with nobody, and breaks unanimity. The plurality is
//! the most frequent answer; a tie goes to the answer of the best single model if it is among them, otherwise to the first in
//! alphabetical order. The best single model is the one that is right most often; a tie goes to the first name.
//!
//! Resamples draw questions. The best single model is that of the whole table in every resample.

use std::collections::BTreeMap;

use serde::Serialize;

use super::answer_table::AnswerTable;
use super::vote_figures::measure_votes;
use super::{AuditError, AuditTable, BootstrapOptions, FigureIntervals};
use crate::independence::CorrelationMatrix;
use crate::intervals::thread_count;

/// Audits a table of answers.
pub fn audit_votes(table: &AuditTable, options: &VoteOptions) -> Result<VoteAudit, AuditError> {
    let answers = AnswerTable::read(table, options)?;
    let gate = gate_places(&answers.models, &options.gate)?;
    Ok(measure_votes(answers, gate, options.bootstrap, thread_count(options.threads)))
}

/// What to audit, and how.
#[derive(Debug, Clone, Default)]
pub struct VoteOptions {
    /// The column of the right answers. Default: `gold`, if it exists.
    pub gold: Option<String>,
    /// The columns of the models. Default: every column except that of the right answers, columns without a name, columns whose
    /// name ends in `_id`, and [`NON_MODEL_COLUMNS`].
    pub models: Vec<String>,
    /// Two models that are asked first; the others are asked only if these two disagree.
    pub gate: Vec<String>,
    /// How intervals are drawn.
    pub bootstrap: BootstrapOptions,
    /// How many threads to use. Default: one per core. The result does not depend on it.
    pub threads: Option<usize>,
}

/// Columns that are not models, whatever the case of their letters.
pub const NON_MODEL_COLUMNS: [&str; 23] = [
    "id",
    "item",
    "index",
    "idx",
    "row",
    "number",
    "no",
    "key",
    "question",
    "prompt",
    "task",
    "subset",
    "category",
    "subject",
    "topic",
    "split",
    "source",
    "difficulty",
    "gold",
    "answer",
    "label",
    "target",
    "truth",
];

/// The audit of a vote.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VoteAudit {
    /// How many questions count.
    pub questions: usize,
    /// How many rows the table has.
    pub rows: usize,
    /// The models, in the order of all lists and matrices.
    pub models: Vec<String>,
    /// The column of the right answers.
    pub gold: Option<String>,
    /// What depends on the right answers; `None` if they are unknown.
    #[serde(flatten)]
    pub right: Option<VoteAccuracy>,
    /// The share of questions to which all gave the same answer.
    pub unanimous: f64,
    /// The share of pairs that gave the same answer, over all questions.
    pub pairwise_agreement: f64,
    /// The mean entropy of the answers to a question, in bits.
    pub entropy: f64,
    /// The share of questions where several answers are equally frequent.
    pub tied: f64,
    /// The share of questions to which both gave the same answer. The diagonal is the share of questions that a model answered.
    pub agreement: Vec<Vec<f64>>,
    /// For each pair of models, the effect of asking it first.
    pub gates: Vec<AgreementGate>,
    /// The gate that [`VoteOptions::gate`] asks for.
    pub gate: Option<GateAudit>,
    /// 95% intervals of all figures above by name, except those of the gates.
    pub intervals: FigureIntervals,
    /// How the intervals were drawn.
    pub bootstrap: BootstrapOptions,
    /// What else a reader should know.
    pub notes: Vec<String>,
}

/// What depends on the right answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VoteAccuracy {
    /// The mean error correlation of two models; `None` if all but one are always right or always wrong.
    pub mean_rho: Option<f64>,
    /// How many independent voices the models are worth.
    pub n_eff: Option<f64>,
    /// How often the best model is right.
    pub best_single: f64,
    /// Which model that is.
    pub best_single_model: String,
    /// How often the plurality is right.
    pub plurality: f64,
    /// The plurality's accuracy minus the best model's.
    pub gain: f64,
    /// The probability of a difference at least this large if both are equally good: McNemar's exact test.
    pub gain_p: f64,
    /// How often at least one model is right.
    pub oracle: f64,
    /// How often a unanimous answer is right; `None` if no answer is unanimous.
    pub correct_when_unanimous: Option<f64>,
    /// How often each model is right.
    pub accuracy: BTreeMap<String, f64>,
    /// 95% intervals of `accuracy`.
    pub accuracy_intervals: FigureIntervals,
    /// The error correlation of each pair.
    pub correlation: CorrelationMatrix,
}

/// Two models are asked first. If they agree, that is the answer; otherwise it is the plurality of all models.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgreementGate {
    /// The two that are asked first.
    pub models: [String; 2],
    /// The share of questions on which they agree.
    pub stops: f64,
    /// The mean number of models asked per question.
    pub calls: f64,
    /// How often the answer is right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
}

/// A gate with the intervals of its figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateAudit {
    /// The gate.
    #[serde(flatten)]
    pub gate: AgreementGate,
    /// 95% intervals of `stops`, `calls` and `accuracy`.
    pub intervals: FigureIntervals,
}

/// The places of the gate's two models among the audited ones.
fn gate_places(models: &[String], gate: &[String]) -> Result<Option<(usize, usize)>, AuditError> {
    let place = |name: &String| models.iter().position(|model| model == name);
    let invalid = || {
        let example = models.iter().take(2).cloned().collect::<Vec<_>>().join(",");
        AuditError::InvalidGate { example, given: gate.join(",") }
    };
    match gate {
        [] => Ok(None),
        [one, other] if one != other => place(one).zip(place(other)).map(Some).ok_or_else(invalid),
        _ => Err(invalid()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::agreement::entropy_bits;

    fn audit(text: &str) -> VoteAudit {
        audit_votes(&AuditTable::read(text.as_bytes()).unwrap(), &VoteOptions::default()).unwrap()
    }

    #[test]
    fn a_tie_goes_to_the_best_model_and_otherwise_to_the_alphabet() {
        let accuracy = audit("gold,m,n,o\nA,A,A,A\nB,C,A,B\n").right.unwrap();
        assert_eq!(
            (accuracy.best_single_model.as_str(), accuracy.best_single, accuracy.plurality),
            ("o", 1.0, 1.0)
        );
        // The best model, m, did not give one of the tied answers, so B wins over C.
        let tied = "gold,m,n,o,p,q\nA,A,A,A,A,A\nA,A,,,,\nC,A,C,B,C,B\n";
        let accuracy = audit(tied).right.unwrap();
        assert_eq!((accuracy.best_single_model.as_str(), accuracy.plurality), ("m", 2.0 / 3.0));
        let accuracy = audit(&tied.replace("C,A,C,B,C,B", "B,A,C,B,C,B")).right.unwrap();
        assert_eq!(accuracy.plurality, 1.0);
    }

    #[test]
    fn an_empty_answer_does_not_vote_counts_as_wrong_and_breaks_unanimity() {
        let audit = audit("gold,m,n\nA,A,\nA,A,A\nB,,\n");
        assert_eq!((audit.unanimous, audit.pairwise_agreement, audit.tied), (1.0 / 3.0, 1.0 / 3.0, 0.0));
        assert_eq!(audit.agreement, [[2.0 / 3.0, 1.0 / 3.0], [1.0 / 3.0, 1.0 / 3.0]]);
        let accuracy = audit.right.unwrap();
        assert_eq!((accuracy.plurality, accuracy.oracle), (2.0 / 3.0, 2.0 / 3.0));
        assert_eq!(accuracy.correct_when_unanimous, Some(1.0));
        assert_eq!((accuracy.accuracy["m"], accuracy.accuracy["n"]), (2.0 / 3.0, 1.0 / 3.0));
    }

    #[test]
    fn only_questions_that_all_were_asked_and_that_have_a_right_answer_count() {
        let audit = audit("gold,m,n\nA,A,-\nA,A,B\n,A,A\n");
        assert_eq!((audit.questions, audit.rows, audit.unanimous), (1, 3, 0.0));
        let small = "Only 1 questions: all figures and intervals are rough.";
        assert_eq!(audit.notes, [small, "Skipped 1 of 3 rows, which have no right answer."]);
        assert_eq!(audit.right.unwrap().correct_when_unanimous, None);
    }

    #[test]
    fn without_right_answers_only_agreement_is_measured() {
        let audit = audit("id,answer,m,n,o\n1,A,A,A,B\n2,A,B,B,B\n3,A,,A,B\n");
        assert_eq!((audit.models.len(), audit.gold.as_deref(), &audit.right), (3, None, &None));
        assert!(audit.notes[1].contains("--gold \"answer\""), "{:?}", audit.notes);
        assert_eq!(
            (audit.unanimous, audit.tied, audit.pairwise_agreement),
            (1.0 / 3.0, 1.0 / 3.0, 4.0 / 9.0)
        );
        assert!((audit.entropy - (entropy_bits(&[1, 1, 2]) + 1.0) / 3.0).abs() < 1e-12);
        let names: Vec<&str> = audit.intervals.keys().map(String::as_str).collect();
        assert_eq!(names, ["entropy", "pairwise_agreement", "tied", "unanimous"]);
        assert_eq!((audit.gates[0].stops, audit.gates[0].accuracy), (2.0 / 3.0, None));
        let json = serde_json::to_value(&audit).unwrap();
        assert!(json.get("plurality").is_none() && json["gold"].is_null());
    }

    #[test]
    fn models_that_are_always_right_have_no_correlation() {
        let audit = audit("gold,m,n\nA,A,A\nB,B,B\n");
        let accuracy = audit.right.unwrap();
        assert_eq!((accuracy.mean_rho, accuracy.n_eff, accuracy.gain_p), (None, None, 1.0));
        assert_eq!(accuracy.correlation, [[Some(1.0), None], [None, Some(1.0)]]);
        assert!(!audit.intervals.contains_key("mean_rho"));
    }

    #[test]
    fn invalid_requests_are_refused_with_a_reason() {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let none = VoteOptions::default;
        let models = |names: &[&str]| VoteOptions { models: list(names), ..none() };
        let gate = |names: &[&str]| VoteOptions { gate: list(names), ..none() };
        let table = "Question_ID,gold,m,n\n1,A,A,B\n";
        for (text, options, sentence) in [
            ("id,gold,m\n1,A,A\n", none(), "only \"m\" to audit, and a vote needs two models"),
            ("id,gold\n1,A\n", none(), "no model to audit"),
            (table, models(&["m"]), "only \"m\""),
            (table, models(&["m", "x"]), "no column \"x\"; it has \"Question_ID\", \"gold\", \"m\", \"n\""),
            (table, models(&["m", "m"]), "\"m\" is named twice"),
            (table, models(&["m", "gold"]), "\"gold\" is the column of the right answers"),
            (table, VoteOptions { gold: Some("right".into()), ..none() }, "no column \"right\""),
            (table, gate(&["m"]), "as in --gate \"m,n\", and not \"m\""),
            (table, gate(&["m", "m"]), "--gate needs two different models"),
            (table, gate(&["m", "x"]), "--gate needs two different models"),
            ("gold,m,n\nA,A,-\nA,-,-\n", none(), "no question that all of these models were asked (\"n\""),
        ] {
            let error = audit_votes(&AuditTable::read(text.as_bytes()).unwrap(), &options).unwrap_err();
            assert!(error.to_string().contains(sentence), "{error}");
        }
    }

    #[test]
    fn columns_that_describe_the_question_are_not_models() {
        let audit = audit(",Question_ID,Category,SUBSET,gold,m,n,id-like\n0,1,c,s,A,A,B,A\n");
        assert_eq!(audit.models, ["m", "n", "id-like"]);
    }

    fn any_table() -> impl Strategy<Value = String> {
        let cell = proptest::sample::select(vec!["A", "B", "C", "D", "", "-"]);
        let row = (proptest::sample::select(vec!["A", "B", "C"]), proptest::collection::vec(cell, 4));
        proptest::collection::vec(row, 1..30).prop_map(|rows| {
            let line = |(gold, cells): (&str, Vec<&str>)| format!("{gold},{}\n", cells.join(","));
            format!("gold,m,n,o,p\n{}A,A,B,C,D\n", rows.into_iter().map(line).collect::<String>())
        })
    }

    proptest! {
        #[test]
        fn figures_are_within_bounds_and_do_not_depend_on_threads(table in any_table()) {
            let table = AuditTable::read(table.as_bytes()).unwrap();
            let run = |threads| {
                let bootstrap = BootstrapOptions { resamples: 40, seed: 3 };
                let gate = vec!["m".to_owned(), "o".to_owned()];
                let threads = Some(threads);
                audit_votes(&table, &VoteOptions { bootstrap, gate, threads, ..VoteOptions::default() }).unwrap()
            };
            let audit = run(1);
            prop_assert_eq!(&audit, &run(3));
            let accuracy = audit.right.as_ref().unwrap();
            prop_assert!(accuracy.plurality <= accuracy.oracle && accuracy.best_single <= accuracy.oracle);
            prop_assert!(accuracy.accuracy.values().all(|share| *share <= accuracy.best_single));
            prop_assert!(audit.unanimous <= audit.pairwise_agreement);
            for gate in &audit.gates {
                prop_assert!((2.0..=4.0).contains(&gate.calls) && gate.accuracy.unwrap() <= accuracy.oracle);
            }
            prop_assert!(audit.intervals.values().all(|(low, high)| low <= high));
        }
    }
}
