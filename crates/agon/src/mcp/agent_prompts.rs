//! Prompts that a person can pick in the agent's client. Each tells the agent which tool to call, and what to do with the result.

use agon_core::ProtocolInfo;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

use super::tool_table::{diff_judge, names};

/// Before the kind of thing that is judged in the name of a prompt.
const PLAN: &str = "plan";
const DIFF: &str = "diff";
const QUESTION: &str = "question";

const REPORT_BACK: &str = "When the debate is over, tell me the answer, the strongest reason, and the dissent that is left. If a \
     model changed its mind, say why. Say where you disagree yourself.";

/// The prompts.
pub fn prompt_list() -> Vec<Prompt> {
    let argument = |name: &str, about: &str, is_required: bool| {
        Some(vec![PromptArgument::new(name).with_description(about).with_required(is_required)])
    };
    let question = argument(QUESTION, "What to debate", true);
    let mut prompts = vec![Prompt::new(names::DEBATE, Some("Let models debate a question"), question)];
    if let Some(info) = diff_judge() {
        let plan = argument(PLAN, "The plan, or where it is", true);
        let diff =
            argument(DIFF, "A git range such as main...HEAD; without it, what is not committed", false);
        prompts.push(Prompt::new(
            judge_prompt(PLAN, info),
            Some("Let judges rule on a plan before it is carried out"),
            plan,
        ));
        prompts.push(Prompt::new(
            judge_prompt(DIFF, info),
            Some("Let judges rule on a change before it is merged"),
            diff,
        ));
    }
    prompts
}

fn judge_prompt(what: &str, info: &ProtocolInfo) -> String {
    format!("{what}-{}", info.name)
}

/// A prompt with its arguments filled in; `None` if there is no such prompt.
pub fn filled_prompt(name: &str, arguments: &JsonObject) -> Option<GetPromptResult> {
    let given = |key: &str| arguments.get(key).and_then(|value| value.as_str()).unwrap_or_default().trim();
    let judge = diff_judge();
    let text = match (name, judge) {
        (names::DEBATE, _) => format!(
            "Use the tool `{}` for this question:\n\n{}\n\nFirst look with `{}` whether it was debated before. Put what the \
             debaters need to know into `question` and `files`: they see nothing else. {REPORT_BACK}",
            names::DEBATE,
            given(QUESTION),
            names::SEARCH,
        ),
        (name, Some(info)) if name == judge_prompt(PLAN, info) => format!(
            "Use the tool `{}` on this plan. Send it as one of `files`, and what it must achieve as `spec`:\n\n{}\n\nThen list the \
             findings by weight and say for each whether the plan should change. {REPORT_BACK}",
            info.name,
            given(PLAN),
        ),
        (name, Some(info)) if name == judge_prompt(DIFF, info) => {
            let range = match given(DIFF) {
                "" => "what is not committed yet (`git diff HEAD`)".to_owned(),
                range => format!("`git diff {range}`"),
            };
            format!(
                "Use the tool `{}` on a change: send {range} as `diff`, and what the change is meant to do as `spec`. Then list the \
                 findings by weight and check each against the code before you repeat it. {REPORT_BACK}",
                info.name
            )
        }
        _ => return None,
    };
    Some(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompts_are_the_contracts_and_can_all_be_filled() {
        let prompts = prompt_list();
        let names: Vec<&str> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
        assert_eq!(names, ["debate", "plan-review", "diff-review"]);
        for name in names {
            assert!(filled_prompt(name, &JsonObject::new()).is_some(), "{name}");
        }
        assert!(filled_prompt("other", &JsonObject::new()).is_none());
    }
}
