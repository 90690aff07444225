//! The formats for pipelines, read back.

use std::collections::BTreeMap;

use agon_report::{Gate, gate};
use serde_json::Value;

/// A line of output that GitHub's runner takes for a command.
#[derive(Debug, PartialEq)]
pub(crate) struct Command {
    pub(crate) name: String,
    pub(crate) properties: BTreeMap<String, String>,
    pub(crate) message: String,
}

/// The commands in a step's output, by the runner's own rules. A line of the old form (`##[`) must not occur.
pub(crate) fn commands(output: &str) -> Vec<Command> {
    let mut commands = Vec::new();
    for line in output.split(['\r', '\n']) {
        let Some(line) = line.trim_start().strip_prefix("::") else {
            let visible: String =
                line.chars().filter(|char| !"\u{200b}\u{200d}\u{feff}".contains(*char)).collect();
            assert!(!visible.contains("##["), "{line:?}");
            continue;
        };
        let (info, message) = line.split_once("::").unwrap();
        let (name, properties) = info.split_once(' ').unwrap();
        let pairs = properties.split(',').filter_map(|pair| pair.split_once('='));
        let unescape = |text: &str| {
            let text = text.replace("%0D", "\r").replace("%0A", "\n");
            text.replace("%3A", ":").replace("%2C", ",").replace("%25", "%")
        };
        commands.push(Command {
            name: name.into(),
            properties: pairs.map(|(key, value)| (key.to_owned(), unescape(value))).collect(),
            message: unescape(message),
        });
    }
    commands
}

pub(crate) fn github(document: &Value) -> String {
    gate(document, Gate::Github).unwrap()
}

pub(crate) fn sarif(document: &Value) -> Value {
    serde_json::from_str(&gate(document, Gate::Sarif).unwrap()).unwrap()
}

pub(crate) fn junit(document: &Value) -> String {
    gate(document, Gate::Junit).unwrap()
}

/// Tests, failures, errors and skipped of a report, each the same in the attributes of both levels and in the elements.
pub(crate) fn counted(xml: &str) -> [usize; 4] {
    let read = roxmltree::Document::parse(xml).unwrap();
    let counts =
        [("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")];
    counts.map(|(attribute, tag)| {
        let elements = read.descendants().filter(|node| node.has_tag_name(tag)).count();
        for level in ["testsuites", "testsuite"] {
            let suite = read.descendants().find(|node| node.has_tag_name(level)).unwrap();
            assert_eq!(suite.attribute(attribute).unwrap(), elements.to_string(), "{level} {attribute}");
        }
        elements
    })
}
