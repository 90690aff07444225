//! With a real model, where `AGON_TEST_MODELS` names the folder that it was pulled to; `--nocapture` shows the figures. The small model
//! writes nonsense in this way, but nonsense that keeps its schema.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use agon_core::seed::Draw;
use agon_engine::{Message, Role};
use candle_core::quantized::gguf_file::Content;
use serde_json::{Value, json};

use super::stage::schemas;
use crate::chat::Template;
use crate::guided::bounds::bounded;
use crate::guided::write::Written;
use crate::guided::{Guide, Order, write};
use crate::llama::Llama;
use crate::sample::{Taste, sample};
use crate::vocabulary::Vocabulary;

const REPLIES: u64 = 10;

/// "*every* structured reply is valid", by schema too.
#[test]
fn every_reply_of_a_real_model_is_valid() {
    let Some(folder) = std::env::var_os("AGON_TEST_MODELS").map(PathBuf::from) else {
        println!("not run: AGON_TEST_MODELS names no folder with the model's file");
        return;
    };
    let path = folder.join("smollm2").join("SmolLM2-135M-Instruct.Q4_1.gguf");
    let mut file = BufReader::new(File::open(path).unwrap());
    let content = Content::read(&mut file).unwrap();
    let vocabulary = Vocabulary::of(&content).unwrap();
    let template = Template::of(&content, &vocabulary).unwrap();
    let mut llama = Llama::read(&content, &mut file, 4096).unwrap();
    let since = Instant::now();
    let guide = Guide::new(&vocabulary).unwrap();
    println!("the vocabulary took {:?}", since.elapsed());
    println!("a mask took {:?}", masks(&guide, &vocabulary));
    let schemas = schemas();
    let (mut tokens, mut computed) = (0, 0);
    let (mut whole, mut network, mut luck) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    for seed in 0..REPLIES {
        // One after the other, so that the prompt of each is read once.
        let schema = &schemas[(seed as usize * schemas.len()) / REPLIES as usize];
        let question = format!(
            "Should a small team adopt a message queue? Answer in JSON that keeps this schema:\n{schema}"
        );
        let prompt = template.tokens(&[Message::new(Role::User, question)], &vocabulary).unwrap();
        llama.after(&prompt, &|| true).unwrap();
        let mut draw = Draw::new(seed, "real");
        let most_tokens = [400, 500, 700][seed as usize % 3];
        let since = Instant::now();
        let Written { text, stop, said_tokens } = write(
            &guide,
            Order {
                vocabulary: &vocabulary,
                prompt,
                schema,
                most_tokens,
                network: &mut |tokens| {
                    computed += 1;
                    timed(&mut network, || llama.after(tokens, &|| true))
                },
                sampler: &mut |logits, said| {
                    let taste = Taste { temperature: 0.6, top: 0.95, penalty: 1.05 };
                    timed(&mut luck, || sample(logits, said, taste, &mut draw))
                },
                heard: &|_| {},
            },
        )
        .unwrap();
        whole += since.elapsed();
        tokens += said_tokens;
        let value: Value = serde_json::from_str(&text).unwrap();
        assert!(jsonschema::is_valid(schema, &value), "{value} of {schema}");
        assert!(said_tokens <= most_tokens as u64);
        let each = |of: Duration| of.as_secs_f64() * 1000.0 / f64::from(computed);
        println!("{seed}: {said_tokens} of {most_tokens} {stop:?} {text}");
        println!(
            "  so far {tokens} tokens, {computed} computed, {:.1} tok/s; ms each: network {:.2}, luck {:.2}, grammar {:.2}",
            tokens as f64 / whole.as_secs_f64(),
            each(network),
            each(luck),
            each(whole - network - luck)
        );
    }
}

/// How long a mask in the middle of a text takes.
fn masks(guide: &Guide, vocabulary: &Vocabulary) -> Duration {
    let schema = json!({"type": "object", "properties": {"answer": {"type": "string"}}});
    let mut guided = guide.start(&bounded(&schema, 600)).unwrap();
    let text = r#"{"answer":"A queue decouples the parts of a system, and a small team pays for it."#;
    let mut rest = text;
    for token in guided.forced() {
        guided.commit(token).unwrap();
        rest = &rest[vocabulary.bytes(token).len()..];
    }
    let said = vocabulary.encode(rest).unwrap();
    let mut spent = Duration::ZERO;
    for token in &said {
        let mut logits = vec![0.0; vocabulary.len()];
        timed(&mut spent, || guided.mask(&mut logits)).unwrap();
        guided.commit(*token).unwrap();
    }
    spent / said.len() as u32
}

fn timed<T>(spent: &mut Duration, job: impl FnOnce() -> T) -> T {
    let since = Instant::now();
    let done = job();
    *spent += since.elapsed();
    done
}
