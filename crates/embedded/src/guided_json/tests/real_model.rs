//! With the real small model, if `AGON_TEST_MODELS` names the folder that it was pulled to; `--nocapture` shows the speed. The
//! model writes nonsense in this way, but nonsense that follows its schema.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use agon_core::seed::SeededDraw;
use agon_engine::{CallMessage, MessageRole};
use candle_core::quantized::gguf_file::Content;
use serde_json::{Value, json};

use super::fixtures::protocol_schemas;
use crate::EmbeddedSettings;
use crate::chat_template::ChatTemplate;
use crate::guided_json::json_writer::WrittenJson;
use crate::guided_json::schema_bounds::bounded_schema;
use crate::guided_json::{GrammarCompiler, JsonRequest, write_json};
use crate::llama::LlamaNetwork;
use crate::token_sampling::{SamplingSettings, sample_token};
use crate::vocabulary::TokenVocabulary;

const REPLIES: u64 = 10;

#[test]
fn every_reply_of_a_real_model_is_valid() {
    let Some(folder) = std::env::var_os("AGON_TEST_MODELS").map(PathBuf::from) else {
        println!("skipped: AGON_TEST_MODELS is not set");
        return;
    };
    let path = folder.join("smollm2").join("SmolLM2-135M-Instruct.Q4_1.gguf");
    let mut file = BufReader::new(File::open(path).unwrap());
    let content = Content::read(&mut file).unwrap();
    let vocabulary = TokenVocabulary::of(&content).unwrap();
    let template = ChatTemplate::of(&content, &vocabulary).unwrap();
    let mut llama = LlamaNetwork::read(&content, &mut file, &EmbeddedSettings::default()).unwrap();
    let since = Instant::now();
    let compiler = GrammarCompiler::new(&vocabulary).unwrap();
    println!("the vocabulary took {:?}", since.elapsed());
    println!("a mask took {:?}", average_mask_time(&compiler, &vocabulary));
    let schemas = protocol_schemas();
    let (mut tokens, mut computed) = (0, 0);
    let (mut total, mut network, mut sampling) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    for seed in 0..REPLIES {
        // Neighbours share a schema, so that each prompt is read once.
        let schema = &schemas[(seed as usize * schemas.len()) / REPLIES as usize];
        let question = format!(
            "Should a small team adopt a message queue? Answer in JSON that follows this schema:\n{schema}"
        );
        let prompt = template.tokens(&[CallMessage::new(MessageRole::User, question)], &vocabulary).unwrap();
        llama.next_logits(&prompt, &|| true).unwrap();
        let mut draw = SeededDraw::new(seed, "real");
        let tokens_max = [400, 500, 700][seed as usize % 3];
        let since = Instant::now();
        let WrittenJson { text, stop, tokens: written } = write_json(
            &compiler,
            JsonRequest {
                vocabulary: &vocabulary,
                prompt,
                schema,
                tokens_max,
                next_logits: &mut |tokens| {
                    computed += 1;
                    timed(&mut network, || llama.next_logits(tokens, &|| true))
                },
                choose: &mut |logits, written| {
                    let settings = SamplingSettings { temperature: 0.6, top_p: 0.95, repeat_penalty: 1.05 };
                    timed(&mut sampling, || sample_token(logits, written, settings, &mut draw))
                },
                on_delta: &|_| {},
            },
        )
        .unwrap();
        total += since.elapsed();
        tokens += written;
        let value: Value = serde_json::from_str(&text).unwrap();
        assert!(jsonschema::is_valid(schema, &value), "{value} of {schema}");
        assert!(written <= tokens_max as u64);
        let each = |of: Duration| of.as_secs_f64() * 1000.0 / f64::from(computed);
        println!("{seed}: {written} of {tokens_max} {stop:?} {text}");
        println!(
            "  so far {tokens} tokens, {computed} computed, {:.1} tok/s; ms each: network {:.2}, sampling {:.2}, grammar {:.2}",
            tokens as f64 / total.as_secs_f64(),
            each(network),
            each(sampling),
            each(total - network - sampling)
        );
    }
}

/// How long a mask in the middle of a string takes.
fn average_mask_time(compiler: &GrammarCompiler, vocabulary: &TokenVocabulary) -> Duration {
    let schema = json!({"type": "object", "properties": {"answer": {"type": "string"}}});
    let mut guided = compiler.start(&bounded_schema(&schema, 600)).unwrap();
    let text = r#"{"answer":"A queue decouples the parts of a system, and a small team pays for it."#;
    let mut rest = text;
    for token in guided.forced_tokens() {
        guided.append(token).unwrap();
        rest = &rest[vocabulary.bytes(token).len()..];
    }
    let tokens = vocabulary.encode(rest).unwrap();
    let mut spent = Duration::ZERO;
    for token in &tokens {
        let mut logits = vec![0.0; vocabulary.len()];
        timed(&mut spent, || guided.mask(&mut logits)).unwrap();
        guided.append(*token).unwrap();
    }
    spent / tokens.len() as u32
}

fn timed<T>(spent: &mut Duration, job: impl FnOnce() -> T) -> T {
    let since = Instant::now();
    let done = job();
    *spent += since.elapsed();
    done
}
