#![allow(clippy::unwrap_used, dead_code, unused)]
#[path = "engine/stage.rs"] mod stage;
use stage::*; use agon_engine::*; use std::sync::Arc; use serde_json::json; use std::time::*;
struct Null;
impl Store for Null {
    fn append<'a>(&'a self, _: &'a str, _: Vec<agon_core::Record>) -> futures_util::future::BoxFuture<'a, Result<(), StoreError>> { Box::pin(async{Ok(())}) }
    fn load<'a>(&'a self, _: &'a str) -> futures_util::future::BoxFuture<'a, Result<Vec<agon_core::Record>, StoreError>> { Box::pin(async{Ok(vec![])}) }
    fn lease<'a>(&'a self, _: &'a str) -> futures_util::future::BoxFuture<'a, Result<(), StoreError>> { Box::pin(async{Ok(())}) }
    fn release<'a>(&'a self, _: &'a str) -> futures_util::future::BoxFuture<'a, Result<(), StoreError>> { Box::pin(async{Ok(())}) }
}
struct M; impl Model for M { fn name(&self)->&str{"a/x"} fn provider(&self)->&str{"a"} fn price(&self)->Price{Price::Free}
 fn call<'a>(&'a self, call:&'a Call, _:Option<Deltas<'a>>) -> futures_util::future::BoxFuture<'a, Result<Completion,Fault>> { Box::pin(async move { tokio::time::sleep(Duration::from_millis(20)).await; Ok(Completion{text: json!({"answer": "x".repeat(800)}).to_string(), model:"a/x".into(), usage: Default::default(), finish: Finish::End}) }) } }
struct Ms; impl Models for Ms { fn model(&self,_:&str)->Result<Arc<dyn Model>, agon_core::Invalid>{Ok(Arc::new(M))} }
fn cpu() -> f64 { let s = std::fs::read_to_string("/proc/self/stat").unwrap(); let f: Vec<&str> = s.rsplit(')').next().unwrap().split_whitespace().collect(); (f[11].parse::<f64>().unwrap()+f[12].parse::<f64>().unwrap())/100.0 }
fn rss() -> String { std::fs::read_to_string("/proc/self/status").unwrap().lines().filter(|l| l.starts_with("VmHWM")).collect() }
#[tokio::test(flavor="multi_thread", worker_threads=2)]
async fn perf() {
    for n in [1usize, 1000] {
    let engine = Arc::new(Engine::new(Arc::new(Ms), Arc::new(Null), Settings{concurrent_calls: 4000, provider_calls: 4000, ..Settings::default()}));
    let (c, t) = (cpu(), Instant::now());
    let mut set = tokio::task::JoinSet::new();
    for i in 0..n { let engine = engine.clone(); set.spawn(async move { let mut b = brief(&["a/x","a/y","a/z"], 4); b.id = format!("d{i}"); b.options.insert("structured".into(), json!(true)); b.question = "q".repeat(2000); engine.open(&CIRCLE, b, &Watch::default(), &Stop::new()).await.unwrap(); }); }
    while set.join_next().await.is_some() {}
    println!("{n}: wall {:?} cpu {:.3}s = {:.4} ms/call {}", t.elapsed(), cpu()-c, (cpu()-c)*1000.0/(12*n) as f64, rss());
    }
}
