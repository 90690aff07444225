//! The rapporteur: what it reads, which of its words count, and what happens without it.

use std::cell::RefCell;

use agon_core::ReplyFault;

use super::*;

/// A debate with these scores in which the rapporteur answers with `summary`; what it was asked, too.
fn debate(scores: [f64; 3], summary: &dyn Fn(&Ask) -> Option<Value>) -> (Outcome, Option<Ask>) {
    let asked = RefCell::new(None);
    let records = testing::run(&Panel, brief(MODELS, &[]), &|ask, _, round| {
        if ask.seat == RAPPORTEUR {
            asked.replace(Some(ask.clone()));
            return summary(ask);
        }
        let mut said = plain(&[scores[place(ask)]], round);
        let field = ["position_statement", "position_revision", "final_position"][round as usize - 1];
        said[field] =
            json!(["The queue is sound.", "Die Warteschlange trägt.", "队列没有回滚。"][place(ask)]);
        let action =
            ["Write a rollback plan", "Schreibt einen Plan für den Rückweg", "写回滚计划"][place(ask)];
        if round != 2 {
            said["recommendations"] =
                json!([{"action": action, "priority": if place(ask) == 0 { "SHOULD" } else { "MUST" }}]);
        }
        Some(said)
    });
    (records.1.outcome.unwrap(), asked.into_inner())
}

fn quoted(judge: &str, quote: &str) -> Value {
    json!({"judge": judge, "quote": quote})
}

/// "one call at the end", "It never sees or sets a score", "default the first model".
#[test]
fn it_is_asked_once_at_the_end_and_sees_no_score() {
    for (scores, fields) in [
        ([4.0, 4.0, 4.0], &["assessment"][..]),
        ([4.0, 4.5, 2.0], &["majority", "minority"]),
        ([3.0, 4.0, 5.0], &["assessment"]),
    ] {
        let (outcome, asked) = debate(scores, &|ask| Some(summed_up(ask)));
        let ask = asked.unwrap();
        assert_eq!(ask.model, "a/x");
        let text = ask.prompt.user();
        for figure in ["4.5", "4.0", " 4\n", "score 4", "scores it"] {
            assert!(!text.contains(figure), "{figure}: {text}");
        }
        assert!(
            text.contains("[R4] recommends (SHOULD): Write a rollback plan") || outcome.rounds_completed == 1
        );
        let schema = &ask.schema.as_ref().unwrap().json;
        for field in ["assessment", "majority", "minority"] {
            assert_eq!(schema["properties"].get(field).is_some(), fields.contains(&field), "{field}");
        }
        assert_eq!(outcome.verdict["opinions_by"], "rapporteur");
        assert_eq!(outcome.fidelity, Fidelity::Full);
        assert_eq!(outcome.verdict["debate_metrics"]["cost"]["judge_calls"], 3 * outcome.rounds_completed);
    }
}

/// "each claim with a verified quote of the judge it rests on. Absent or unverified: the judges' own statements, marked as such."
#[test]
fn only_words_with_a_verified_quote_count() {
    let said = "In short: it holds.";
    for (what, quotes, is_used, is_clean) in [
        ("verbatim", vec![quoted("judge-1", "The queue is sound.")], true, true),
        ("another case and white space", vec![quoted("judge-1", "the QUEUE  is sound")], true, true),
        ("German", vec![quoted("judge-2", "„Die Warteschlange trägt.“")], true, true),
        ("Chinese", vec![quoted("judge-3", "没有回滚")], true, true),
        (
            "one true, one made up",
            vec![quoted("judge-1", "is sound"), quoted("judge-2", "It is bad.")],
            true,
            false,
        ),
        ("a paraphrase", vec![quoted("judge-1", "The queue works.")], false, false),
        ("a negation", vec![quoted("judge-1", "The queue is not sound.")], false, false),
        ("a quote of another judge", vec![quoted("judge-2", "The queue is sound.")], false, false),
        ("a translation", vec![quoted("judge-3", "There is no rollback.")], false, false),
        ("an empty quote", vec![quoted("judge-1", "")], false, false),
        ("dots", vec![quoted("judge-1", "...")], false, false),
        ("no quote", vec![], false, false),
    ] {
        let summary = json!({"quotes": quotes, "assessment": said});
        let mut fault = None;
        let (records, _) = testing::run(&Panel, brief(MODELS, &[]), &|ask, _, round| match ask.seat
            == RAPPORTEUR
        {
            true => None,
            false => {
                let mut statement = plain(&[4.0], round);
                statement["position_statement"] =
                    json!(["The queue is sound.", "Die Warteschlange trägt.", "队列没有回滚。"][place(ask)]);
                Some(statement)
            }
        });
        // The reply goes into the log without the check, as the engine accepts it the second time.
        let end = records.len() - 2;
        let open = records.iter().take(end).cloned().collect::<Vec<_>>();
        let mut answer = |debate: &Debate, ask: &Ask| {
            fault = Panel.check(debate, ask, &summary).err();
            let (text, model) = (summary.to_string(), ask.model.clone());
            let (value, usage) = (Some(summary.clone()), agon_core::CallUsage::default());
            agon_core::Reply::Said { text, value, model, usage, cut_off: false, shortened: None }
        };
        let records = agon_core::play::play(&Panel, open, &mut answer, &mut |_| {}).unwrap();
        let debate = Debate::from_records(&records).unwrap();
        let view = Panel.view(&debate).unwrap();
        let outcome = debate.outcome.unwrap();
        // The transcript marks what does not verify, and the report says how many.
        let failed = view.citable.iter().filter(|text| text.remark == Some("does not verify"));
        assert!(failed.clone().all(|text| (text.seat.as_str(), text.round) == (RAPPORTEUR, 1)), "{what}");
        let kept = outcome.verdict["opinion_quotes"].as_array().unwrap().len();
        assert_eq!(failed.count() + kept, quotes.len(), "{what}");
        let told =
            format!("{:?}", view.outline).contains("Written by the rapporteur; 1 of its 2 quotes verify.");
        assert_eq!(told, what == "one true, one made up");
        // Whoever quotes exactly and names the wrong judge is not told to quote exactly.
        let fault_text = match &fault {
            Some(ReplyFault::Unverified(text)) => text.as_str(),
            _ => "",
        };
        let is_wrong_judge = what == "a quote of another judge";
        assert_eq!(fault_text.contains("words of judge-1, not of judge-2"), is_wrong_judge, "{fault_text}");
        assert!(!is_wrong_judge || !fault_text.contains('"'), "{fault_text}");
        let text = outcome.verdict["balanced_assessment"].as_str().unwrap();
        assert_eq!(fault.is_none(), is_clean, "{what}: {fault:?}");
        assert!(!matches!(fault, Some(ReplyFault::Invalid(_))), "{what}: never an absence");
        assert_eq!(outcome.verdict["opinions_by"], if is_used { "rapporteur" } else { "judges" }, "{what}");
        assert_eq!(text == format!("## Consensus Assessment\n\n{said}"), is_used, "{what}: {text}");
        assert_eq!(text.contains("The judges' own statements"), !is_used, "{what}");
        assert_eq!(outcome.fidelity, Fidelity::Full, "{what}: no absence");
        assert_eq!(warned(&outcome, "rests on no verified quote of its side"), !is_used, "{what}");
    }
}

/// An absent rapporteur: the judges' own statements, under the seed's headings.
#[test]
fn without_it_the_judges_speak_for_themselves() {
    let (outcome, _) = debate([4.0, 4.5, 2.0], &|_| None);
    let verdict = &outcome.verdict;
    assert_eq!((&verdict["opinions_by"], outcome.fidelity), (&json!("judges"), Fidelity::Degraded));
    assert!(warned(&outcome, "the rapporteur gave no summary"), "{:?}", outcome.warnings);
    let words = |field: &str| verdict[field].as_str().unwrap().to_owned();
    assert!(words("majority_opinion").starts_with("## Majority Position\n\n*The judges' own statements;"));
    assert!(words("majority_opinion").contains("**judge-2** (for):\n\nDie Warteschlange trägt."));
    assert!(words("minority_opinion").contains("## Minority Position (Dissent)"));
    assert!(!words("majority_opinion").contains("judge-3") && !words("minority_opinion").contains("judge-1"));
    assert_eq!(verdict["recommendations"].as_array().unwrap().len(), 3, "nothing is put together");
}

/// "merges recommendations and attention items that say the same (by id, each keeping who made it)".
#[test]
fn items_are_put_together_by_their_ids() {
    let with = |merged: Value| {
        let (outcome, _) = debate([4.0, 4.0, 4.0], &|ask| {
            let mut summary = summed_up(ask);
            summary["merged"] = merged.clone();
            Some(summary)
        });
        outcome.verdict["recommendations"].clone()
    };
    let all = with(json!([{"ids": ["R1", "R2", "R3"], "text": "Plan the way back."}]));
    assert_eq!(
        all,
        json!([{"priority": "MUST", "action": "Plan the way back.", "rationale": "", "consensus_level": "unanimous",
            "made_by": ["judge-1", "judge-2", "judge-3"], "ids": ["R1", "R2", "R3"], "finding_ids": [],
            "merged_from": [
                {"judge_id": "judge-1", "view": "Write a rollback plan"},
                {"judge_id": "judge-2", "view": "Schreibt einen Plan für den Rückweg"},
                {"judge_id": "judge-3", "view": "写回滚计划"}]}])
    );
    let two = with(json!([{"ids": ["R1", "R3"], "text": "Plan the way back."}]));
    let levels: Vec<&str> =
        two.as_array().unwrap().iter().map(|r| r["consensus_level"].as_str().unwrap()).collect();
    assert_eq!(levels, ["majority", "minority"]);
}

/// It knows what was judged, every open item with everybody's words for it, and of each judge the last view only.
#[test]
fn it_reads_what_is_open_and_no_view_that_was_given_up() {
    let asked = std::cell::RefCell::new(String::new());
    super::meaning::played(include_str!("blood_bank.json"), &|ask, _, _| {
        *asked.borrow_mut() = ask.prompt.user();
    });
    let asked = asked.into_inner();
    for wanted in [
        "title>>\nPlan: new temperature sensors",
        "The same in other words: Cutover is a leap with no net",
        "Critical: judge-1, judge-3. Real, but not critical: judge-2.",
        "[D7] Is one sensor at the warmest point enough?",
        "[F1] critical. Still no step back",
    ] {
        assert!(asked.contains(wanted), "{wanted}: {asked}");
    }
    assert!(!asked.contains("Validation under QP-17 with a signed report is the test"), "{asked}");
}
