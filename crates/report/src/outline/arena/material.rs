//! What the agents read and wrote: context, final proposals, critiques.

use serde_json::Value;

use super::{Told, agent, agents, figure, texts, who};
use crate::figures::counted;
use crate::outline::{Block, Item, Section, at, heading, list, shortened, string, whole, words};

/// A piece of context in the short report ends here.
const CONTEXT_CHARS_MAX: usize = 160;

impl Told<'_> {
    /// What was found before the debate and who cites it; in the short report only what is cited.
    pub(super) fn context(&self) -> Option<Section> {
        let all = self.list("/context");
        let cited = |item: &&Value| self.full || !list(item, "/cited_by").is_empty();
        let items: Vec<Item> = all.iter().filter(cited).map(|item| self.piece(item)).collect();
        let left_out = (all.len() - items.len()) as u64;
        let line =
            "Found before the debate and shown to the agents as untrusted material: nobody has checked it.";
        let mut blocks = vec![Block::Line(line.into())];
        let none = items.is_empty();
        blocks.extend((!none).then_some(Block::Items(items)));
        blocks.extend((left_out > 0).then(|| {
            let what = counted(left_out, if none { "piece" } else { "other piece" });
            Block::Line(format!("Nobody cites {what}, which the full report has."))
        }));
        (!all.is_empty()).then(|| Section::new("context", "What they were given to read", blocks))
    }

    fn piece(&self, item: &Value) -> Item {
        let most = (!self.full).then_some(CONTEXT_CHARS_MAX);
        let title = words(item, "/title").map_or(String::new(), |title| {
            match title.ends_with(char::is_alphanumeric) {
                true => format!("{title}: "),
                false => format!("{title} "),
            }
        });
        let cited = match list(item, "/cited_by") {
            [] => "Cited by nobody".to_owned(),
            by => format!("Cited by {}", agents(by)),
        };
        let mut notes = vec![cited];
        notes.extend(words(item, "/source").map(|source| format!("from {source}")));
        notes.extend(words(item, "/at").map(|at| at.split('T').next().unwrap_or(at).to_owned()));
        notes.extend(words(item, "/turned_out").map(|how| format!("turned out {how}")));
        notes.extend(words(item, "/agent").map(|agent| format!("shown only to {agent}")));
        Item {
            who: Some(format!("[{}] {}", string(item, "/id"), heading(&string(item, "/kind")))),
            text: shortened(&format!("{title}{}", string(item, "/text")), most),
            note: Some(notes.join("; ")),
        }
    }

    /// The final proposals, in the full report.
    pub(super) fn proposals(&self) -> Option<Section> {
        let groups: Vec<Block> =
            self.list("/proposals").iter().map(|proposal| self.proposal(proposal)).collect();
        (self.full && !groups.is_empty()).then(|| Section::new("proposals", "Final proposals", groups))
    }

    fn proposal(&self, proposal: &Value) -> Block {
        let mut badges: Vec<String> =
            figure(proposal, "/confidence", 2).map(|sure| format!("confidence {sure}")).into_iter().collect();
        let carried = at(proposal, "/carried").as_bool() == Some(true);
        badges.extend(carried.then(|| "carried: absent in the last revision".to_owned()));
        let conflicts = list(proposal, "/conflicts_with");
        badges.extend((!conflicts.is_empty()).then(|| format!("in conflict with {}", agents(conflicts))));
        let mut blocks: Vec<Block> = ["/position", "/proposal"]
            .iter()
            .filter_map(|field| words(proposal, field))
            .map(|text| Block::Prose(text.to_owned()))
            .collect();
        let claims = list(proposal, "/claims").iter().map(|claim| Item {
            who: None,
            text: string(claim, "/claim"),
            note: Some(
                words(claim, "/evidence").map_or("No evidence given".into(), |by| format!("Evidence: {by}")),
            ),
        });
        let claims: Vec<Item> = claims.collect();
        blocks.extend((!claims.is_empty()).then_some(Block::Items(claims)));
        Block::Group { title: who(self, proposal), badges, blocks }
    }

    /// Every critique and how it was addressed, in the full report.
    pub(super) fn critiques(&self) -> Option<Section> {
        let groups: Vec<Block> = self.list("/critiques").iter().map(critique).collect();
        let title = "Critiques and how they were addressed";
        (self.full && !groups.is_empty()).then(|| Section::new("critiques", title, groups))
    }
}

fn critique(critique: &Value) -> Block {
    let (from, to) = (agent(&string(critique, "/from")), agent(&string(critique, "/to")));
    let title = format!("[{}] {from} on {to}, round {}", string(critique, "/id"), whole(critique, "/round"));
    let answer = words(critique, "/addressed");
    let mut badges: Vec<String> =
        figure(critique, "/severity", 2).map(|severity| format!("severity {severity}")).into_iter().collect();
    badges.push(if answer.is_some() { "addressed" } else { "not addressed" }.into());
    let mut pairs = Vec::new();
    for (name, field) in [("Issue", "/issues"), ("Suggestion", "/suggestions")] {
        pairs.extend(texts(critique, field).into_iter().map(|text| (name.to_owned(), text)));
    }
    pairs.extend(answer.map(|how| (format!("{to} answers"), how.to_owned())));
    Block::Group { title, badges, blocks: vec![Block::Pairs(pairs)] }
}
