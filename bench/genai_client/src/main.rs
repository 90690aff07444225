//! `genai_client URL REQUESTS DEBATES`: makes the calls of so many debates at once with the bare `genai` client. REQUESTS is
//! a file with the bodies of one debate's requests, one per line; a step's calls run at once, as in a debate.

use std::error::Error;
use std::sync::Arc;

use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatOptions, ChatRequest, JsonSpec};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use serde_json::Value;

/// The same allocator as Agon's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How many calls each of the six steps makes at once.
const STEPS: [usize; 6] = [3, 3, 1, 3, 1, 1];

struct Call {
    request: ChatRequest,
    options: ChatOptions,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(url), Some(file), Some(debates)) = (args.next(), args.next(), args.next()) else {
        return Err("usage: genai_client URL REQUESTS DEBATES".into());
    };
    let debates: usize = debates.parse()?;
    let calls: Result<Vec<Call>, _> = std::fs::read_to_string(file)?.lines().map(read_call).collect();
    let calls = Arc::new(calls?);
    rustls::crypto::ring::default_provider().install_default().map_err(|_| "no TLS")?;
    let http = reqwest::Client::builder().http1_only().no_proxy().tcp_nodelay(true).tls_certs_only([]).build()?;
    let client = Client::builder().with_reqwest(http).build()?;
    let url = format!("{url}/");
    let running: Vec<_> = (0..debates)
        .map(|_| tokio::spawn(debate(client.clone(), url.clone(), Arc::clone(&calls))))
        .collect();
    let mut bytes = 0;
    for debate in running {
        bytes += debate.await??;
    }
    println!("{bytes}");
    Ok(())
}

async fn debate(client: Client, url: String, calls: Arc<Vec<Call>>) -> Result<usize, genai::Error> {
    let mut bytes = 0;
    let mut next = 0;
    for width in STEPS {
        let step: Vec<_> = (next..next + width)
            .map(|index| {
                let (client, url, calls) = (client.clone(), url.clone(), Arc::clone(&calls));
                tokio::spawn(async move { call(&client, url, &calls[index % calls.len()]).await })
            })
            .collect();
        next += width;
        for answer in step {
            bytes += answer.await.map_err(|why| genai::Error::Internal(why.to_string()))??;
        }
    }
    Ok(bytes)
}

async fn call(client: &Client, url: String, call: &Call) -> Result<usize, genai::Error> {
    let target = ServiceTarget {
        endpoint: Endpoint::from_owned(url),
        auth: AuthData::from_single("none"),
        model: ModelIden::new(AdapterKind::OpenAI, "mock"),
    };
    let answer = client.exec_chat(target, call.request.clone(), Some(&call.options)).await?;
    Ok(answer.into_texts().concat().len())
}

fn read_call(line: &str) -> Result<Call, Box<dyn Error>> {
    let body: Value = serde_json::from_str(line)?;
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let messages = body.get("messages").and_then(Value::as_array).into_iter().flatten();
    let messages = messages.map(|message| match text(message, "role").as_str() {
        "system" => ChatMessage::system(text(message, "content")),
        "assistant" => ChatMessage::assistant(text(message, "content")),
        _ => ChatMessage::user(text(message, "content")),
    });
    let mut options = ChatOptions::default().with_seed(7).with_max_tokens(1000);
    if let Some(format) = body.pointer("/response_format/json_schema") {
        let schema = format.get("schema").cloned().unwrap_or_default();
        options = options.with_response_format(JsonSpec::new(text(format, "name"), schema));
    }
    Ok(Call { request: ChatRequest::from_messages(messages.collect()), options })
}
