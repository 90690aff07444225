#![allow(clippy::all, clippy::unwrap_used)]
#[path = "store/debates.rs"]
mod debates;
use agon_engine::Store;
use agon_store::Sqlite;
use debates::*;
use std::time::Instant;
fn cpu() -> f64 {
    let s = std::fs::read_to_string("/proc/self/stat").unwrap();
    let f: Vec<&str> = s.rsplit(')').next().unwrap().split_whitespace().collect();
    (f[11].parse::<f64>().unwrap() + f[12].parse::<f64>().unwrap()) * 10.0
}
#[test]
fn startup() {
    for round in 0..3 {
        let home = Home::new();
        let t = Instant::now();
        let s = home.open();
        println!("first open {:?}", t.elapsed());
        let t = Instant::now();
        append(&s, "d", Talk::new("d", "q").records).unwrap();
        println!("first append {:?}", t.elapsed());
        let mut talk = Talk::new("e", "q");
        append(&s, "e", talk.records.clone()).unwrap();
        let mut pre = vec![];
        for _ in 0..200 {
            pre.push(talk.say(&"word ".repeat(200)));
        }
        let rt = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        let t = Instant::now();
        rt.block_on(async {
            for r in pre {
                s.append("e", r).await.unwrap();
            }
        });
        println!("serial append of 3 x 1KB {:?}", t.elapsed() / 200);
        let t = Instant::now();
        drop(s);
        println!("close {:?}", t.elapsed());
        let t = Instant::now();
        let s = home.open();
        println!("second open {:?}", t.elapsed());
        let t = Instant::now();
        append(&s, "f", Talk::new("f", "q").records).unwrap();
        println!("first append {:?}", t.elapsed());
        let t = Instant::now();
        s.list(None).unwrap();
        println!("list {:?}", t.elapsed());
        let t = Instant::now();
        drop(s);
        println!("close {:?}", t.elapsed());
        let _ = round;
    }
}
#[test]
fn throughput() {
    let home = Home::new();
    let s = home.open();
    let batches: Vec<(String, Vec<Vec<agon_core::Record>>)> = (0..1000)
        .map(|n| {
            let id = format!("debate-{n:08}");
            let mut t = Talk::new(&id, "question");
            let mut v = vec![t.records.clone()];
            for _ in 0..12 {
                let mut three = t.say(&prose(n));
                let r = three.pop().unwrap();
                v.push(three);
                v.push(vec![r]);
            }
            (id, v)
        })
        .collect();
    let n: usize = batches.iter().map(|b| b.1.iter().map(Vec::len).sum::<usize>()).sum();
    let rt = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let c = cpu();
    let t = Instant::now();
    rt.block_on(async {
        let mut hs = vec![];
        for (id, v) in batches {
            let s = s.clone();
            hs.push(tokio::spawn(async move {
                for r in v {
                    s.append(&id, r).await.unwrap();
                }
            }));
        }
        for h in hs {
            h.await.unwrap();
        }
    });
    println!(
        "{n} events {:?} cpu {} ms commits {} size {}",
        t.elapsed(),
        cpu() - c,
        s.commits(),
        s.health().unwrap().size_bytes
    );
    let t = Instant::now();
    let h = s.search("w17", 10).unwrap();
    println!("first search {:?} {}", t.elapsed(), h.len());
    let t = Instant::now();
    let h = s.search("w17", 10).unwrap();
    println!("second search {:?} {}", t.elapsed(), h.len());
for q in ["w17 ","w4000","w1 w2 w3","w","w0"] { let t=Instant::now(); let h=s.search(q,10).unwrap(); println!("search {q} {:?} {}",t.elapsed(),h.len()); }
    let t = Instant::now();
    drop(s);
    println!("close {:?}", t.elapsed());
    let t = Instant::now();
    let s = Sqlite::open(&home.file()).unwrap();
    println!("open {:?}", t.elapsed());
    drop(s);
}
fn prose(n:usize)->String{ use std::sync::atomic::*; static X:AtomicU64=AtomicU64::new(12345); let mut o=String::new(); for _ in 0..300 { let mut x=X.load(Ordering::Relaxed); x^=x<<13;x^=x>>7;x^=x<<17; X.store(x,Ordering::Relaxed); let r=(x%10000) as f64/10000.0; let w=(r*r*r*8000.0) as u64; o.push_str(&format!("w{w} ")); } let _=n; o }
