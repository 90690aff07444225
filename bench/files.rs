//! How long requests to the tool `files` take over this repository: `cargo bench -p agon-context --bench files`.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::time::{Duration, Instant};

use agon_context::tools::files::FilesTool;
use serde_json::{Value, json};

const BYTES_MAX: usize = 16 * 1024;
const REPEATS: u32 = 20;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let tool = FilesTool::under(&root).unwrap();
    let kinds: [(&str, Vec<Value>); 4] = [
        (
            "read a file or a range",
            vec![
                json!({"path": "ARCHITECTURE.md"}),
                json!({"path": "crates/core/src/protocol.rs", "from": 100, "to": 180}),
                json!({"path": "Cargo.lock", "from": 3000}),
            ],
        ),
        ("list a folder", vec![json!({"path": ""}), json!({"path": "crates/protocols/src"})]),
        (
            "search by words",
            vec![
                json!({"query": "convergence threshold"}),
                json!({"query": "hash chain durable"}),
                json!({"query": "nowhere in the repository"}),
            ],
        ),
        (
            "search by an expression",
            vec![json!({"query": r"fn \w+_quorum\("}), json!({"query": "zz[0-9]{9}"})],
        ),
    ];
    println!("{:<28} {:>10} {:>10}", "", "average", "slowest");
    let (mut all, mut count) = (Duration::ZERO, 0);
    for (kind, requests) in kinds {
        let (mut total, mut slowest, mut served) = (Duration::ZERO, Duration::ZERO, 0);
        for arguments in requests.iter().cycle().take(requests.len() * REPEATS as usize) {
            let began = Instant::now();
            // A search that finds nothing is served, too.
            let _ = std::hint::black_box(tool.serve(arguments, BYTES_MAX));
            let took = began.elapsed();
            (total, slowest, served) = (total + took, slowest.max(took), served + 1);
        }
        println!("{kind:<28} {:>7.2} ms {:>7.2} ms", ms(total) / f64::from(served), ms(slowest));
        (all, count) = (all + total, count + served);
    }
    println!("{:<28} {:>7.2} ms {:>10}   target 5 ms", "all requests", ms(all) / f64::from(count), "");
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
