//! Requests that a chat program makes for itself, beside the conversation: a title, tags, follow-up questions, search queries.
//!
//! They are recognised by their structure, in any language: by `metadata.task`, or by a single message that begins with the heading
//! `### Task:` and shows a JSON object with a key of such tasks, before the conversation that it quotes. A debate would be a waste, so one
//! model answers with one call.

use serde_json::{Value, json};

use super::chat_request::ChatRequest;

const TASK_HEADING: &str = "### Task:";
/// Where the quoted conversation begins. What a person wrote there says nothing about the task.
const QUOTED_CONVERSATION: &str = "<chat_history>";
/// The keys that chat programs ask for.
const TASK_KEYS: [&str; 6] = ["title", "tags", "follow_ups", "queries", "prompt", "text"];

/// A request that a chat program makes for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideTask {
    /// The JSON object that it wants, if it says so.
    wanted: Option<WantedKey>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct WantedKey {
    key: &'static str,
    is_list: bool,
}

impl SideTask {
    /// The task that a request is, if it is one.
    pub fn of(request: &ChatRequest) -> Option<Self> {
        let mut said = request.messages.iter().filter(|message| message.role != "system");
        let only = said.next().filter(|_| said.next().is_none());
        let text = only.filter(|message| message.role == "user").and_then(|message| message.text().ok());
        let wanted = text.as_deref().and_then(wanted_key);
        let is_marked =
            request.metadata.as_ref().and_then(|data| data.get("task")).is_some_and(Value::is_string);
        (is_marked || wanted.is_some()).then_some(Self { wanted })
    }

    /// The task as a question to one model.
    pub fn question(task: &str) -> String {
        format!(
            "{}\n\nYour answer is exactly what this task asks for, in the format that it asks for, and nothing else.",
            task.trim_end()
        )
    }

    /// The answer as the chat program wants it. A small model may give the words without the JSON around them.
    pub fn answer(&self, words: &str) -> String {
        let Some(WantedKey { key, is_list }) = &self.wanted else { return words.to_owned() };
        let object = json_object(words).filter(|object| object.get(key).is_some());
        let object = object.unwrap_or_else(|| match is_list {
            true => json!({*key: [words.trim()]}),
            false => json!({*key: words.trim()}),
        });
        object.to_string()
    }
}

/// The key of the JSON object that a task shows as its format.
fn wanted_key(text: &str) -> Option<WantedKey> {
    let task = text.trim_start().strip_prefix(TASK_HEADING)?;
    let task = task.split(QUOTED_CONVERSATION).next().unwrap_or_default();
    task.split('{').skip(1).find_map(|object| {
        let (key, rest) = object.trim_start().strip_prefix('"')?.split_once('"')?;
        let value = rest.trim_start().strip_prefix(':')?.trim_start();
        let key = TASK_KEYS.into_iter().find(|known| *known == key)?;
        Some(WantedKey { key, is_list: value.starts_with('[') })
    })
}

/// The object in an answer, which may stand in a code block or between words.
fn json_object(words: &str) -> Option<Value> {
    let object = words.get(words.find('{')?..=words.rfind('}')?)?;
    serde_json::from_str(object).ok().filter(Value::is_object)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(body: Value) -> Option<SideTask> {
        SideTask::of(&serde_json::from_value(body).unwrap())
    }

    fn asked(text: &str) -> Option<SideTask> {
        task(json!({"model": "agon/x", "messages": [{"role": "user", "content": text}]}))
    }

    fn title_task(history: &str) -> String {
        format!(
            "### Task:\nGenerate a concise title.\n### Output:\nJSON format: {{ \"title\": \"your title\" }}\n### Chat History:\n\
             <chat_history>\n{history}\n</chat_history>"
        )
    }

    #[test]
    fn a_task_is_recognised_by_its_heading_and_the_json_that_it_wants() {
        let wanted =
            |text: &str| asked(text).and_then(|task| task.wanted).map(|wanted| (wanted.key, wanted.is_list));
        assert_eq!(wanted(&title_task("USER: hello")), Some(("title", false)));
        for (text, key) in [
            ("### Task:\nNenne Schlagworte.\n### Ausgabe:\n{ \"tags\": [\"a\"] }", ("tags", true)),
            ("\n### Task:\n提案\n{\"follow_ups\":[\"?\"]}", ("follow_ups", true)),
            ("### Task:\nx {not json} { \"queries\" : [] }", ("queries", true)),
        ] {
            assert_eq!(wanted(text), Some(key), "{text}");
        }
    }

    #[test]
    fn a_question_of_a_person_is_no_task() {
        for text in [
            "Generate a concise title for my talk as JSON: { \"title\": \"...\" }",
            "### Task:\nShould we use tabs or spaces?",
            "### Task:\nWhich of these? { \"name\": \"title\" }",
            "### Task:\nSummarize.\n<chat_history>\n{ \"title\": \"x\" }\n</chat_history>",
            "Say ### Task: { \"title\": 1 }",
        ] {
            assert_eq!(asked(text), None, "{text}");
        }
        // A conversation that goes on is no task, whatever its first message says.
        let turns = json!([
            {"role": "user", "content": title_task("x")}, {"role": "assistant", "content": "{}"}, {"role": "user", "content": "Why?"},
        ]);
        assert_eq!(task(json!({"model": "agon/x", "messages": turns})), None);
    }

    #[test]
    fn a_request_that_is_marked_as_a_task_is_one() {
        let messages = json!([{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]);
        let body = |metadata: Value| json!({"model": "agon/x", "messages": messages, "metadata": metadata});
        assert_eq!(task(body(json!({"task": "title_generation"}))), Some(SideTask { wanted: None }));
        assert_eq!(task(body(json!({"chat": "1"}))), None);
        assert_eq!(task(body(Value::Null)), None);
    }

    #[test]
    fn the_answer_is_the_json_that_the_program_wants() {
        let title = asked(&title_task("x")).unwrap();
        for (words, answer) in [
            ("```json\n{\"title\": \"Tabs\"}\n```", r#"{"title":"Tabs"}"#),
            (" Tabs or \"spaces\" ", r#"{"title":"Tabs or \"spaces\""}"#),
            ("{\"name\": \"Tabs\"}", r#"{"title":"{\"name\": \"Tabs\"}"}"#),
        ] {
            assert_eq!(title.answer(words), answer);
        }
        let tags = asked("### Task:\n{ \"tags\": [] }").unwrap();
        assert_eq!(tags.answer("Editors"), r#"{"tags":["Editors"]}"#);
        assert_eq!(SideTask { wanted: None }.answer("A title"), "A title");
    }
}
