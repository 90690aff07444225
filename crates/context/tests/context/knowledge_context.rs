//! `context/knowledge` and `context/memory` over a source that is a list.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_context::{
    ContextEmbedder, ContextItem, ContextSearch, DecisionResolution, ErrandAnswer, KnowledgeSource,
    embed_missing_entries,
};
use agon_engine::{CallFaultKind, Model, ModelPrice};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::support::{ask, call_with, titles};

/// Agents, query, model and vector, limit.
type RecordedSearch = (Vec<String>, String, Option<(String, Vec<f32>)>, usize);

#[derive(Default)]
struct ListSource {
    items: Vec<ContextItem>,
    broken: bool,
    searches: Mutex<Vec<RecordedSearch>>,
    unindexed: Mutex<Vec<(String, String)>>,
    stored: Mutex<Vec<(String, String, Vec<f32>)>>,
}

impl KnowledgeSource for ListSource {
    fn knowledge(
        &self,
        query: &str,
        vector: Option<(&str, &[f32])>,
        limit: usize,
    ) -> Result<Vec<ContextItem>, String> {
        self.memories(&[], query, vector, limit)
    }

    fn memories(
        &self,
        agents: &[String],
        query: &str,
        vector: Option<(&str, &[f32])>,
        limit: usize,
    ) -> Result<Vec<ContextItem>, String> {
        let vector = vector.map(|(model, vector)| (model.to_owned(), vector.to_vec()));
        self.searches.lock().unwrap().push((agents.to_vec(), query.into(), vector, limit));
        if self.broken { Err("the store is busy: try again".into()) } else { Ok(self.items.clone()) }
    }

    fn unindexed(&self, model: &str, limit: usize) -> Result<Vec<(String, String)>, String> {
        assert_eq!(model, "embeddings/two");
        Ok(self.unindexed.lock().unwrap().iter().take(limit).cloned().collect())
    }

    fn index(&self, _: &str, vectors: Vec<(String, String, Vec<f32>)>) -> Result<(), String> {
        self.unindexed.lock().unwrap().retain(|(id, _)| !vectors.iter().any(|(done, ..)| done == id));
        self.stored.lock().unwrap().extend(vectors);
        Ok(())
    }
}

/// Embeds a text by its length, or fails in some way.
enum TestEmbedder {
    Working,
    Failing,
    Late,
    Wrong(Vec<Vec<f32>>),
}

impl ContextEmbedder for TestEmbedder {
    fn name(&self) -> &str {
        "embeddings/two"
    }

    fn of<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, String>> {
        match self {
            Self::Working => {
                let vectors = texts.iter().map(|text| vec![text.len() as f32, 1.0]).collect();
                std::future::ready(Ok(vectors)).boxed()
            }
            Self::Failing => std::future::ready(Err("its file is missing".into())).boxed(),
            Self::Late => std::future::pending().boxed(),
            Self::Wrong(vectors) => std::future::ready(Ok(vectors.clone())).boxed(),
        }
    }
}

fn items(count: usize) -> Vec<ContextItem> {
    (0..count)
        .map(|n| ContextItem { title: format!("t{n}"), text: "x".into(), ..ContextItem::default() })
        .collect()
}

fn source(items: Vec<ContextItem>) -> Arc<ListSource> {
    Arc::new(ListSource { items, ..ListSource::default() })
}

/// Items that differ in agent or debate are not duplicates.
#[tokio::test]
async fn duplicates_are_returned_once() {
    let item = |agent: &str, debate: &str, score| ContextItem {
        title: "t".into(),
        agent: Some(agent.into()),
        debate: Some(debate.into()),
        score: Some(score),
        ..ContextItem::default()
    };
    let all =
        vec![item("a", "d-1", 0.9), item("a", "d-1", 0.8), item("b", "d-1", 0.7), item("a", "d-2", 0.6)];
    let want = vec![all[0].clone(), all[2].clone(), all[3].clone()];
    let answer = ask(&ContextSearch::memories(source(all.clone()), None), "q", 5).await.unwrap();
    assert_eq!(answer.items, want);
    assert_eq!(ask(&ContextSearch::knowledge(source(all), None), "q", 5).await.unwrap().items, want);
}

#[tokio::test]
async fn an_answer_has_every_documented_field() {
    let decided = ContextItem {
        title: "Which database?".into(),
        text: "Postgres.".into(),
        source: "debate".into(),
        at: Some("2026-01-31T09:30:00Z".into()),
        debate: Some("d-1".into()),
        turned_out: Some(DecisionResolution::Right),
        agent: Some("openai/x".into()),
        score: Some(0.5),
        provenance: Some("~/work, server models".into()),
    };
    let knowledge = ContextSearch::knowledge(source(vec![decided, ContextItem::default()]), None);
    let completion = knowledge.call(&call_with(r#"{"query": "q", "limit": 5}"#), None).await.unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&completion.text).unwrap(),
        json!({"items": [
            {"title": "Which database?", "text": "Postgres.", "source": "debate", "at": "2026-01-31T09:30:00Z",
             "debate": "d-1", "turned_out": "right", "agent": "openai/x", "score": 0.5,
             "provenance": "~/work, server models"},
            {"title": "", "text": "", "source": "", "at": null, "debate": null, "turned_out": null, "agent": null,
             "score": null},
        ]})
    );
    assert_eq!(completion.usage, agon_core::CallUsage::default());
}

#[tokio::test]
async fn the_source_is_searched_by_words_and_by_embedding() {
    let list = source(items(9));
    let vectors: Option<Arc<dyn ContextEmbedder>> = Some(Arc::new(TestEmbedder::Working));
    let knowledge = ContextSearch::knowledge(list.clone(), vectors.clone());
    assert_eq!(
        titles(&ask(&knowledge, "four", 3).await.unwrap()),
        ["t0", "t1", "t2"],
        "never more than the limit"
    );
    let memory = ContextSearch::memories(list.clone(), vectors);
    let errand = json!({"query": "three", "limit": 1_000, "agents": ["openai/x", "b"]}).to_string();
    memory.call(&call_with(&errand), None).await.unwrap();
    let model = || "embeddings/two".to_owned();
    assert_eq!(
        *list.searches.lock().unwrap(),
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

/// When room is short, every agent keeps its best memory before any agent keeps its second.
#[tokio::test]
async fn every_agent_gets_its_own_share_of_memories() {
    let of = |agent: &str, n: usize| ContextItem {
        title: format!("{agent}{n}"),
        text: "x".repeat(1_000),
        agent: Some(agent.into()),
        ..ContextItem::default()
    };
    let all = (0..9).map(|n| of("a", n)).chain((0..3).map(|n| of("b", n))).chain([of("c", 0)]);
    let memory = ContextSearch::memories(source(all.collect()), None);
    assert_eq!(titles(&ask(&memory, "q", 2).await.unwrap()), ["a0", "b0", "c0", "a1", "b1"]);
    let mut asked = call_with(r#"{"query": "q", "limit": 9}"#);
    asked.max_output_tokens = 500;
    let answer: ErrandAnswer = serde_json::from_str(&memory.call(&asked, None).await.unwrap().text).unwrap();
    assert_eq!(titles(&answer), ["a0", "b0", "c0"]);
}

#[tokio::test(start_paused = true)]
async fn without_an_embedding_the_search_uses_words_and_the_note_says_why() {
    for (vectors, why) in [
        (TestEmbedder::Failing, "its file is missing"),
        (TestEmbedder::Late, "it took longer than 2s"),
        (TestEmbedder::Wrong(vec![]), "did not return one vector of the same length"),
        (TestEmbedder::Wrong(vec![vec![]]), "did not return one vector of the same length"),
        (TestEmbedder::Wrong(vec![vec![f32::NAN]]), "did not return one vector of the same length"),
        (TestEmbedder::Wrong(vec![vec![1.0], vec![1.0]]), "did not return one vector of the same length"),
    ] {
        let list = source(items(1));
        let answer =
            ask(&ContextSearch::knowledge(list.clone(), Some(Arc::new(vectors))), "q", 5).await.unwrap();
        let note = answer.note.unwrap();
        assert!(note.starts_with("found by words alone: embeddings/two") && note.contains(why), "{note}");
        assert_eq!((answer.items.len(), &list.searches.lock().unwrap()[0].2), (1, &None));
    }
    let slow = ContextSearch::knowledge(source(items(1)), Some(Arc::new(TestEmbedder::Late)))
        .embedding_timeout(Duration::from_millis(7));
    assert!(ask(&slow, "q", 5).await.unwrap().note.unwrap().contains("7ms"));
    assert_eq!(
        ask(&ContextSearch::knowledge(source(items(1)), None), "q", 5).await.unwrap().note,
        None,
        "no embedder was configured"
    );
}

#[tokio::test]
async fn a_failing_source_is_a_fault_that_may_be_retried() {
    let broken = Arc::new(ListSource { broken: true, ..ListSource::default() });
    let fault = ask(&ContextSearch::memories(broken, None), "q", 5).await.unwrap_err();
    assert_eq!(fault.kind, CallFaultKind::Unavailable);
    assert_eq!(fault.message, "context/memory: the store is busy: try again");
}

#[tokio::test]
async fn a_long_answer_is_cut_to_the_token_limit_of_the_call() {
    let long =
        |n: usize| ContextItem { title: format!("t{n}"), text: "é".repeat(5_000), ..ContextItem::default() };
    let knowledge =
        ContextSearch::knowledge(source((0..20).map(long).collect()), Some(Arc::new(TestEmbedder::Failing)));
    let mut asked = call_with(r#"{"query": "q", "limit": 20}"#);
    asked.max_output_tokens = 1_000;
    let text = knowledge.call(&asked, None).await.unwrap().text;
    let answer: ErrandAnswer = serde_json::from_str(&text).unwrap();
    assert!(
        text.len() <= 8_000 && answer.items.len() == 3,
        "{} bytes, {} items",
        text.len(),
        answer.items.len()
    );
    assert!(answer.items.iter().all(|item| item.text.chars().count() == 1_200));
    let note = answer.note.unwrap();
    assert!(
        note.starts_with("found by words alone") && note.ends_with("; 17 of 20 items did not fit"),
        "{note}"
    );
}

#[test]
fn both_are_free_errands() {
    let (knowledge, memory) =
        (ContextSearch::knowledge(source(vec![]), None), ContextSearch::memories(source(vec![]), None));
    for (model, name) in [(&knowledge as &dyn Model, "context/knowledge"), (&memory, "context/memory")] {
        assert_eq!((model.name(), model.provider(), model.price()), (name, "context", ModelPrice::Free));
        assert!(model.is_errand());
    }
    assert_eq!(format!("{memory:?}"), "ContextSearch(\"context/memory\")");
}

#[tokio::test]
async fn entries_without_an_embedding_get_one() {
    let list = source(vec![]);
    *list.unindexed.lock().unwrap() = (0..100).map(|n| (format!("k-{n}"), "x".repeat(n + 1))).collect();
    let source: Arc<dyn KnowledgeSource> = list.clone();
    assert_eq!(
        embed_missing_entries(&source, &TestEmbedder::Working, 70).await,
        Ok(70),
        "no more than the limit"
    );
    assert_eq!(
        embed_missing_entries(&source, &TestEmbedder::Working, 70).await,
        Ok(30),
        "no more than exist"
    );
    assert_eq!(embed_missing_entries(&source, &TestEmbedder::Working, 70).await, Ok(0));
    let stored = list.stored.lock().unwrap();
    assert_eq!(stored.len(), 100);
    let of = |n: usize| (format!("k-{n}"), "x".repeat(n + 1), vec![(n + 1) as f32, 1.0]);
    assert!((0..100).all(|n| stored.contains(&of(n))), "each entry has its own vector and text");
}

#[tokio::test]
async fn a_failing_embedder_stores_nothing_and_says_why() {
    let list = source(vec![]);
    *list.unindexed.lock().unwrap() = vec![("k-1".into(), "x".into()), ("k-2".into(), "y".into())];
    let source: Arc<dyn KnowledgeSource> = list.clone();
    assert_eq!(
        embed_missing_entries(&source, &TestEmbedder::Failing, 70).await,
        Err("its file is missing".into())
    );
    for wrong in [vec![vec![1.0]], vec![vec![1.0], vec![1.0, 2.0]]] {
        assert!(
            embed_missing_entries(&source, &TestEmbedder::Wrong(wrong), 70)
                .await
                .unwrap_err()
                .contains("did not return one vector")
        );
    }
    assert!(list.stored.lock().unwrap().is_empty());
}
