//! The tools that an agent sees: names, descriptions and schemas, made from the table of protocols.

use std::sync::Arc;

use agon_core::ProtocolInfo;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::debate_result::DebateResult;
use crate::cli::input::DIFF_PART;
use crate::hosting::DebateHost;
use crate::hosting::debate_request::DebateRequest;

/// How long a call waits if it does not say: clients give up after a minute.
pub const WAIT_S_DEFAULT: u64 = 45;
/// The longest wait that a call may ask for. Progress keeps its client from giving up.
pub const WAIT_S_MAX: u64 = 3_600;
/// The longest wait of a call that wants no progress.
pub const WAIT_S_SILENT_MAX: u64 = 50;
/// How much `debate_show` gives if the call does not say.
pub const SHOWN_TOKENS_DEFAULT: usize = 2_000;

/// The tools with a fixed name.
pub mod names {
    pub const DEBATE: &str = "debate";
    pub const WAIT: &str = "debate_wait";
    pub const ANSWER: &str = "debate_answer";
    pub const STOP: &str = "debate_stop";
    pub const SHOW: &str = "debate_show";
    pub const SEARCH: &str = "search_debates";
    pub const MODELS: &str = "list_models";
}

/// The protocol that judges a diff. Its name is the name of its tool.
pub fn diff_judge() -> Option<&'static ProtocolInfo> {
    let takes_diff = |info: &&ProtocolInfo| info.options.iter().any(|option| option.key == DIFF_PART);
    agon_protocols::all().map(|protocol| protocol.info()).find(takes_diff)
}

/// The protocol that answers a question with the fewest calls. It is what to try first.
pub async fn first_resort(host: &DebateHost) -> Option<&'static ProtocolInfo> {
    let script = host.catalogue().built_in_scripts().first()?.clone();
    let mut best: Option<(u32, &'static ProtocolInfo)> = None;
    // A gate judges a text. It does not answer a question.
    for protocol in agon_protocols::all().filter(|protocol| protocol.info().gate.is_none()) {
        let request = DebateRequest {
            protocol: Some(protocol.info().name.to_owned()),
            question: Some("Which?".to_owned()),
            models: vec![script.clone()],
            ..DebateRequest::default()
        };
        let Ok(prepared) = host.prepare(request).await else { continue };
        let calls = protocol.plan(&prepared.brief).fewest_calls;
        if best.is_none_or(|(fewest, _)| calls < fewest) {
            best = Some((calls, protocol.info()));
        }
    }
    best.map(|(_, info)| info)
}

/// All tools. `first` is the protocol to try first.
pub fn tool_list(first: Option<&ProtocolInfo>) -> Vec<Tool> {
    let mut tools = vec![debate_tool(first)];
    tools.extend(diff_judge().map(judge_tool));
    tools.extend([wait_tool(), answer_tool(), stop_tool(), show_tool(), search_tool(), models_tool()]);
    tools
}

fn object(value: Value) -> Arc<JsonObject> {
    match value {
        Value::Object(fields) => Arc::new(fields),
        _ => Arc::default(),
    }
}

fn input(properties: Value, required: &[&str]) -> Arc<JsonObject> {
    object(json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    }))
}

fn tool(name: &'static str, title: &str, description: String, input: Arc<JsonObject>) -> Tool {
    Tool::new(name, description, input).with_title(title)
}

fn of_debate(tool: Tool) -> Tool {
    tool.with_raw_output_schema(object(DebateResult::output_schema()))
}

fn wait_schema() -> Value {
    let description = format!(
        "How many seconds to wait. The call then returns the id, and the debate goes on in the background. A call without a progress token \
         returns after {WAIT_S_SILENT_MAX} seconds at the latest."
    );
    json!({
        "type": "integer", "minimum": 0, "maximum": WAIT_S_MAX, "default": WAIT_S_DEFAULT,
        "description": description,
    })
}

fn id_schema() -> Value {
    json!({"type": "string", "description": "The debate's id, or a beginning of it that no other has; `last` is the newest."})
}

fn files_schema(about: &str) -> Value {
    json!({
        "type": "array", "description": about,
        "items": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "A name for the text."},
                "text": {"type": "string", "description": "The content. Nothing is read from disk."},
            },
            "required": ["path", "text"], "additionalProperties": false,
        },
    })
}

fn debate_tool(first: Option<&ProtocolInfo>) -> Tool {
    let infos: Vec<&ProtocolInfo> = agon_protocols::all().map(|protocol| protocol.info()).collect();
    let kinds: Vec<String> = infos.iter().map(|info| format!("- {}: {}.", info.name, info.about)).collect();
    let default = infos.first().map_or("", |info| info.name);
    let try_first = first.map(|info| {
        format!(" If you are not sure whether a debate is worth it, use protocol \"{}\": it stops after a few calls if the models agree.", info.name)
    });
    let description = format!(
        "Let several language models debate a question and get one answer with its reasons, the dissent that is left and who changed \
         its mind. Use it for decisions with real trade-offs: designs, plans, risks, estimates, choices that are costly to undo. Do \
         not use it for facts that you can look up, for code that you can run or test, or for simple questions: a debate takes many \
         model calls, money and minutes.{} Put what the models need to know into `question` and `files`, because they see nothing \
         else.\n\nThe call returns after wait_s seconds at the latest. If `state` is then \"running\", call {} with the id. If \
         `waiting` is there, answer with {}.\n\nKinds of debate:\n{}",
        try_first.unwrap_or_default(),
        names::WAIT,
        names::ANSWER,
        kinds.join("\n"),
    );
    let properties = json!({
        "question": {"type": "string", "description": "The question with all the context that matters. For kinds that judge files or texts, what to judge."},
        "protocol": {
            "type": "string", "enum": infos.iter().map(|info| info.name).collect::<Vec<_>>(), "default": default,
            "description": "The kind of debate.",
        },
        "models": {
            "type": "array", "items": {"type": "string"},
            "description": format!(
                "One per seat, repeated as needed: provider/model as {} lists them. \"caller\" is you: the debate then waits for your \
                 answers. human/NAME is a person. Without it, the user's own models.", names::MODELS),
        },
        "files": files_schema("Texts to debate about or to use."),
        "budget_usd": {"type": "number", "exclusiveMinimum": 0, "description": "The most that the debate may cost."},
        "wait_s": wait_schema(),
    });
    let tool = tool(names::DEBATE, "Debate a question", description, input(properties, &["question"]));
    of_debate(tool)
        .with_annotations(ToolAnnotations::new().read_only(false).destructive(false).open_world(true))
}

fn judge_tool(info: &'static ProtocolInfo) -> Tool {
    let description = format!(
        "{}. Send a `diff` (as `git diff` prints it) or `files`, and the `spec` that they should meet if there is one. Use it before \
         you commit or merge something that matters, or before you carry out a plan. Do not use it instead of running the tests, or \
         for a change that you would not ask a colleague to look at. It works like {}: after wait_s seconds you get the id, and {} \
         waits on.",
        info.about,
        names::DEBATE,
        names::WAIT
    );
    let properties = json!({
        "diff": {"type": "string", "description": "A unified diff."},
        "files": files_schema("Texts to judge, such as a plan or a source file."),
        "spec": {"type": "string", "description": "What the diff or the files are meant to do."},
        "wait_s": wait_schema(),
    });
    let tool = tool(info.name, "Let judges rule on a diff or on files", description, input(properties, &[]));
    of_debate(tool)
        .with_annotations(ToolAnnotations::new().read_only(false).destructive(false).open_world(true))
}

fn wait_tool() -> Tool {
    let description = "Wait for a debate that was started earlier, also one of an earlier session, and get its result. A debate that \
         was stopped or interrupted is continued. It returns as soon as the debate is over or waits for you.";
    let properties = json!({"id": id_schema(), "wait_s": wait_schema()});
    let tool = tool(names::WAIT, "Wait for a debate", description.to_owned(), input(properties, &["id"]));
    of_debate(tool)
        .with_annotations(ToolAnnotations::new().read_only(false).destructive(false).idempotent(true))
}

fn answer_tool() -> Tool {
    let description = format!(
        "Answer an ask of a debate in which you, or a person, have a seat: an item of `waiting`. Answer as the seat that the prompt \
         describes, on your own judgement. The answer is checked like any other; if it is refused, the error says what to correct. \
         Returns when there is another ask for you, the debate is over, or {WAIT_S_DEFAULT} seconds have passed."
    );
    let properties = json!({
        "id": id_schema(),
        "ask": {"type": "integer", "minimum": 0, "description": "The number of the ask."},
        "value": {"description": "An object that conforms to the ask's schema, or a text where it has none. null passes: the seat is then absent."},
    });
    let input = input(properties, &["id", "ask", "value"]);
    of_debate(tool(names::ANSWER, "Answer an ask", description, input))
        .with_annotations(ToolAnnotations::new().read_only(false).destructive(false))
}

fn stop_tool() -> Tool {
    let description = format!(
        "Stop a running debate in order. Nothing that was said is lost, and {} continues it. Stop it if nobody needs the answer any \
         more.",
        names::WAIT
    );
    let tool = tool(names::STOP, "Stop a debate", description, input(json!({"id": id_schema()}), &["id"]));
    of_debate(tool)
        .with_annotations(ToolAnnotations::new().read_only(false).destructive(false).idempotent(true))
}

fn show_tool() -> Tool {
    let description =
        "Read a debate, or a part of it, as text: use it if the short result is not enough.".to_owned();
    let properties = json!({
        "id": id_schema(),
        "part": {
            "type": "string", "default": "report",
            "description": "report (everything), answer, verdict (the typed result as JSON), dissent, changes (who changed its mind, and why), \
                timeline, round:N (what was said in round N), seat:NAME (what a seat said), or ask:N (an ask that waits, with its schema).",
        },
        "max_tokens": {
            "type": "integer", "minimum": 100, "default": SHOWN_TOKENS_DEFAULT,
            "description": "The most that is returned. If there is more, the text says how much.",
        },
    });
    tool(names::SHOW, "Read a debate", description, input(properties, &["id"]))
        .with_annotations(ToolAnnotations::new().read_only(true).open_world(false))
}

fn search_tool() -> Tool {
    let description =
        "Find earlier debates by words that were asked, said or decided. Look here before you start a debate: the question may be \
         settled already."
            .to_owned();
    let properties = json!({"query": {"type": "string", "description": "Words that must all occur."}});
    tool(names::SEARCH, "Find debates", description, input(properties, &["query"]))
        .with_annotations(ToolAnnotations::new().read_only(true).open_world(false))
}

fn models_tool() -> Tool {
    let description =
        "List the models that can take a seat now, with prices per million tokens where they are known."
            .to_owned();
    tool(names::MODELS, "List models", description, input(json!({}), &[]))
        .with_annotations(ToolAnnotations::new().read_only(true).open_world(false))
}
