//! Context that a person attaches to a debate of any protocol: `--context FILE|-`.
//!
//! The texts are material, not instructions: they stand in fences, with ids `[K1]`, `[K2]`... in the order in which they were
//! attached. [`WithTools`](crate::tools::WithTools) shows them to the seats of every protocol. A protocol that shows other context
//! numbers it after them.

use agon_core::{Brief, BriefFile, ItemFinding, ToolItem};
use serde_json::Value;

/// The part of a brief's files that are attached context.
pub const CONTEXT_PART: &str = "context";

/// A text that the person attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachedText<'b> {
    /// Its id: `K1`.
    pub id: String,
    /// The path as the person gave it.
    pub path: &'b str,
    /// What it says.
    pub text: &'b str,
}

/// The texts that the person attached, in order.
pub fn attached_texts(brief: &Brief) -> Vec<AttachedText<'_>> {
    let is_attached = |file: &&BriefFile| file.part.as_deref() == Some(CONTEXT_PART);
    let attached = (1..).zip(brief.files.iter().filter(is_attached));
    attached
        .map(|(number, file)| AttachedText { id: format!("K{number}"), path: &file.path, text: &file.text })
        .collect()
}

/// The same as items, which every seat reads from the start and may cite.
pub fn attached_items(brief: &Brief) -> Vec<ToolItem> {
    let item = |AttachedText { id, path, text }: AttachedText<'_>| ToolItem {
        id,
        tool: CONTEXT_PART.to_owned(),
        arguments: Value::Null,
        askers: Vec::new(),
        was_run: false,
        finding: ItemFinding::Found { source: path.to_owned(), text: text.to_owned() },
        from_turn: 0,
    };
    attached_texts(brief).into_iter().map(item).collect()
}

/// Whether the person attached anything.
pub fn has_attached(brief: &Brief) -> bool {
    brief.part(CONTEXT_PART).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::plain_brief;

    fn brief(files: &[(&str, Option<&str>)]) -> Brief {
        let mut brief = plain_brief();
        brief.files = files
            .iter()
            .map(|(path, part)| BriefFile {
                path: (*path).to_owned(),
                text: format!("The text of {path}."),
                part: part.map(str::to_owned),
            })
            .collect();
        brief
    }

    #[test]
    fn attached_texts_have_ids_in_order_and_other_files_have_none() {
        let brief = brief(&[
            ("a.md", None),
            ("b.md", Some("context")),
            ("c.md", Some("spec")),
            ("-", Some("context")),
        ]);
        let attached = attached_texts(&brief);
        let ids: Vec<(&str, &str)> = attached.iter().map(|text| (text.id.as_str(), text.path)).collect();
        assert_eq!(ids, [("K1", "b.md"), ("K2", "-")]);
        let items = attached_items(&brief);
        assert_eq!(
            items.iter().map(|item| item.text()).collect::<Vec<_>>(),
            [Some("The text of b.md."), Some("The text of -.")]
        );
    }
}
