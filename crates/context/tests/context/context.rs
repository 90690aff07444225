//! `context/knowledge` and `context/memory` over a shelf that is a list.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_engine::{FaultKind, Model, Price};
use agon_context::{Answer, Item, Knowledge, Memory, Shelf, TurnedOut, Vectors, index};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::things::{ask, call, titles};

/// What a shelf was asked for.
type Asked = (Vec<String>, String, Option<(String, Vec<f32>)>, usize);

#[derive(Default)]
struct List {
    items: Vec<Item>,
    broken: bool,
    asked: Mutex<Vec<Asked>>,
    unindexed: Mutex<Vec<(String, String)>>,
    kept: Mutex<Vec<(String, String, Vec<f32>)>>,
}

impl Shelf for List {
    fn knowledge(
        &self,
        query: &str,
        vector: Option<(&str, &[f32])>,
        limit: usize,
    ) -> Result<Vec<Item>, String> {
        self.memories(&[], query, vector, limit)
    }

    fn memories(
        &self,
        agents: &[String],
        query: &str,
        vector: Option<(&str, &[f32])>,
        limit: usize,
    ) -> Result<Vec<Item>, String> {
        let vector = vector.map(|(model, vector)| (model.to_owned(), vector.to_vec()));
        self.asked.lock().unwrap().push((agents.to_vec(), query.into(), vector, limit));
        if self.broken { Err("the store is busy: try again".into()) } else { Ok(self.items.clone()) }
    }

    fn unindexed(&self, model: &str, limit: usize) -> Result<Vec<(String, String)>, String> {
        assert_eq!(model, "embeddings/two");
        Ok(self.unindexed.lock().unwrap().iter().take(limit).cloned().collect())
    }

    fn index(&self, _: &str, vectors: Vec<(String, String, Vec<f32>)>) -> Result<(), String> {
        self.unindexed.lock().unwrap().retain(|(id, _)| !vectors.iter().any(|(done, ..)| done == id));
        self.kept.lock().unwrap().extend(vectors);
        Ok(())
    }
}

/// Makes a vector of a text's length, or something else.
enum Two {
    Well,
    Failing,
    Late,
    Wrong(Vec<Vec<f32>>),
}

impl Vectors for Two {
    fn name(&self) -> &str {
        "embeddings/two"
    }

    fn of<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, String>> {
        match self {
            Self::Well => {
                let vectors = texts.iter().map(|text| vec![text.len() as f32, 1.0]).collect();
                std::future::ready(Ok(vectors)).boxed()
            }
            Self::Failing => std::future::ready(Err("its file is missing".into())).boxed(),
            Self::Late => std::future::pending().boxed(),
            Self::Wrong(vectors) => std::future::ready(Ok(vectors.clone())).boxed(),
        }
    }
}

fn items(count: usize) -> Vec<Item> {
    (0..count).map(|n| Item { title: format!("t{n}"), text: "x".into(), ..Item::default() }).collect()
}

fn shelf(items: Vec<Item>) -> Arc<List> {
    Arc::new(List { items, ..List::default() })
}

/// "Items of one answer that are the same are there once": another agent's or another debate's is not the same.
#[tokio::test]
async fn what_is_on_the_shelf_twice_comes_once() {
    let item = |agent: &str, debate: &str, score| Item {
        title: "t".into(),
        agent: Some(agent.into()),
        debate: Some(debate.into()),
        score: Some(score),
        ..Item::default()
    };
    let all =
        vec![item("a", "d-1", 0.9), item("a", "d-1", 0.8), item("b", "d-1", 0.7), item("a", "d-2", 0.6)];
    let want = vec![all[0].clone(), all[2].clone(), all[3].clone()];
    let answer = ask(&Memory::new(shelf(all.clone()), None), "q", 5).await.unwrap();
    assert_eq!(answer.items, want);
    assert_eq!(ask(&Knowledge::new(shelf(all), None), "q", 5).await.unwrap().items, want);
}

#[tokio::test]
async fn an_answer_has_every_field_of_the_contract() {
    let decided = Item {
        title: "Which database?".into(),
        text: "Postgres.".into(),
        source: "debate".into(),
        at: Some("2026-01-31T09:30:00Z".into()),
        debate: Some("d-1".into()),
        turned_out: Some(TurnedOut::Right),
        agent: Some("openai/x".into()),
        score: Some(0.5),
    };
    let knowledge = Knowledge::new(shelf(vec![decided, Item::default()]), None);
    let completion = knowledge.call(&call(r#"{"query": "q", "limit": 5}"#), None).await.unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&completion.text).unwrap(),
        json!({"items": [
            {"title": "Which database?", "text": "Postgres.", "source": "debate", "at": "2026-01-31T09:30:00Z",
             "debate": "d-1", "turned_out": "right", "agent": "openai/x", "score": 0.5},
            {"title": "", "text": "", "source": "", "at": null, "debate": null, "turned_out": null, "agent": null,
             "score": null},
        ]})
    );
    assert_eq!(completion.usage, agon_core::Usage::default());
}

#[tokio::test]
async fn the_shelf_is_asked_by_words_and_by_meaning() {
    let list = shelf(items(9));
    let vectors: Option<Arc<dyn Vectors>> = Some(Arc::new(Two::Well));
    let knowledge = Knowledge::new(list.clone(), vectors.clone());
    assert_eq!(
        titles(&ask(&knowledge, "four", 3).await.unwrap()),
        ["t0", "t1", "t2"],
        "never more than wanted"
    );
    let memory = Memory::new(list.clone(), vectors);
    let tail = json!({"query": "three", "limit": 1_000, "agents": ["openai/x", "b"]}).to_string();
    memory.call(&call(&tail), None).await.unwrap();
    let model = || "embeddings/two".to_owned();
    assert_eq!(
        *list.asked.lock().unwrap(),
        [
            (vec![], "four".to_owned(), Some((model(), vec![4.0, 1.0])), 3),
            (
                vec!["openai/x".to_owned(), "b".into()],
                "three".to_owned(),
                Some((model(), vec![5.0, 1.0])),
                50
            ),
        ]
    );
}

/// Of what is remembered, each agent's best count for themselves: whoever remembers most, or is surest, starves nobody. When room is
/// short, everybody's first outlasts anybody's second.
#[tokio::test]
async fn every_agent_has_its_own_share_of_memories() {
    let of = |agent: &str, n: usize| Item {
        title: format!("{agent}{n}"),
        text: "x".repeat(1_000),
        agent: Some(agent.into()),
        ..Item::default()
    };
    let sure = (0..9).map(|n| of("a", n)).chain((0..3).map(|n| of("b", n))).chain([of("c", 0)]);
    let memory = Memory::new(shelf(sure.collect()), None);
    assert_eq!(titles(&ask(&memory, "q", 2).await.unwrap()), ["a0", "b0", "c0", "a1", "b1"]);
    let mut asked = call(r#"{"query": "q", "limit": 9}"#);
    asked.max_output_tokens = 500;
    let answer: Answer = serde_json::from_str(&memory.call(&asked, None).await.unwrap().text).unwrap();
    assert_eq!(titles(&answer), ["a0", "b0", "c0"]);
}

/// "if that fails or takes too long, words alone and the answer says so in a `note` field"
#[tokio::test(start_paused = true)]
async fn without_a_vector_words_do_and_the_note_says_so() {
    for (vectors, why) in [
        (Two::Failing, "its file is missing"),
        (Two::Late, "it took longer than 2s"),
        (Two::Wrong(vec![]), "no vector of the same length"),
        (Two::Wrong(vec![vec![]]), "no vector of the same length"),
        (Two::Wrong(vec![vec![f32::NAN]]), "no vector of the same length"),
        (Two::Wrong(vec![vec![1.0], vec![1.0]]), "no vector of the same length"),
    ] {
        let list = shelf(items(1));
        let answer = ask(&Knowledge::new(list.clone(), Some(Arc::new(vectors))), "q", 5).await.unwrap();
        let note = answer.note.unwrap();
        assert!(note.starts_with("found by words alone: embeddings/two") && note.contains(why), "{note}");
        assert_eq!((answer.items.len(), &list.asked.lock().unwrap()[0].2), (1, &None));
    }
    let slow = Knowledge::new(shelf(items(1)), Some(Arc::new(Two::Late))).patience(Duration::from_millis(7));
    assert!(ask(&slow, "q", 5).await.unwrap().note.unwrap().contains("7ms"));
    assert_eq!(
        ask(&Knowledge::new(shelf(items(1)), None), "q", 5).await.unwrap().note,
        None,
        "none was wanted"
    );
}

#[tokio::test]
async fn a_broken_shelf_is_a_fault_that_is_worth_another_try() {
    let broken = Arc::new(List { broken: true, ..List::default() });
    let fault = ask(&Memory::new(broken, None), "q", 5).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unavailable);
    assert_eq!(fault.message, "context/memory: the store is busy: try again");
}

#[tokio::test]
async fn a_long_answer_is_cut_to_what_the_engine_reads() {
    let long = |n: usize| Item { title: format!("t{n}"), text: "é".repeat(5_000), ..Item::default() };
    let knowledge = Knowledge::new(shelf((0..20).map(long).collect()), Some(Arc::new(Two::Failing)));
    let mut asked = call(r#"{"query": "q", "limit": 20}"#);
    asked.max_output_tokens = 1_000;
    let text = knowledge.call(&asked, None).await.unwrap().text;
    let answer: Answer = serde_json::from_str(&text).unwrap();
    assert!(
        text.len() <= 8_000 && answer.items.len() == 3,
        "{} bytes, {} items",
        text.len(),
        answer.items.len()
    );
    assert!(answer.items.iter().all(|item| item.text.chars().count() == 1_200));
    let note = answer.note.unwrap();
    assert!(
        note.starts_with("found by words alone")
            && note.ends_with("; 17 of 20 are left out for want of room"),
        "{note}"
    );
}

#[test]
fn both_are_free_errands() {
    let (knowledge, memory) = (Knowledge::new(shelf(vec![]), None), Memory::new(shelf(vec![]), None));
    for (model, name) in [(&knowledge as &dyn Model, "context/knowledge"), (&memory, "context/memory")] {
        assert_eq!((model.name(), model.provider(), model.price()), (name, "context", Price::Free));
        assert!(model.is_errand());
    }
    assert_eq!(format!("{memory:?}"), "Context(\"context/memory\")");
}

#[tokio::test]
async fn entries_without_a_vector_get_one() {
    let list = shelf(vec![]);
    *list.unindexed.lock().unwrap() = (0..100).map(|n| (format!("k-{n}"), "x".repeat(n + 1))).collect();
    let shelf: Arc<dyn Shelf> = list.clone();
    assert_eq!(index(&shelf, &Two::Well, 70).await, Ok(70), "no more than wanted");
    assert_eq!(index(&shelf, &Two::Well, 70).await, Ok(30), "no more than there are");
    assert_eq!(index(&shelf, &Two::Well, 70).await, Ok(0));
    let kept = list.kept.lock().unwrap();
    assert_eq!(kept.len(), 100);
    let of = |n: usize| (format!("k-{n}"), "x".repeat(n + 1), vec![(n + 1) as f32, 1.0]);
    assert!((0..100).all(|n| kept.contains(&of(n))), "each its own, with the text that it is of");
}

#[tokio::test]
async fn a_failing_model_indexes_nothing_and_says_why() {
    let list = shelf(vec![]);
    *list.unindexed.lock().unwrap() = vec![("k-1".into(), "x".into()), ("k-2".into(), "y".into())];
    let shelf: Arc<dyn Shelf> = list.clone();
    assert_eq!(index(&shelf, &Two::Failing, 70).await, Err("its file is missing".into()));
    for wrong in [vec![vec![1.0]], vec![vec![1.0], vec![1.0, 2.0]]] {
        assert!(index(&shelf, &Two::Wrong(wrong), 70).await.unwrap_err().contains("no vector"));
    }
    assert!(list.kept.lock().unwrap().is_empty());
}
