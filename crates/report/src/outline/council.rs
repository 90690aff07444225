//! The verdict of `council`.

use serde_json::Value;

use super::{Block, Item, Section, Tone, Verdict, at, heading, list, shortened, string, whole, words};
use crate::figures::{counted, percent};

/// A list in the short report ends here; the full report has all of it.
const ITEMS_MAX: usize = 6;

/// The verdict in a sentence, the votes, the conditions and the minority; how everybody's position moved; what they agree on and what
/// not; who dodged and what the moderator did; risks and open questions. The full report adds every challenge and every message.
pub(super) fn verdict(document: &Value, verdict: &Value, full: bool) -> Verdict {
    let told = Told { verdict, full };
    let lead = [
        Some(told.headline(document)),
        told.votes(),
        told.conditions(),
        told.minority(document),
        told.evolution(),
        told.consensus(),
        told.disagreements(),
        told.violations(),
        told.interventions(),
        told.risks(),
        told.open_questions(),
    ];
    let detail = if full { vec![told.challenges(), told.exchanges()] } else { Vec::new() };
    Verdict { lead: lead.into_iter().flatten().collect(), detail: detail.into_iter().flatten().collect() }
}

struct Told<'a> {
    verdict: &'a Value,
    full: bool,
}

impl Told<'_> {
    fn list(&self, pointer: &str) -> &[Value] {
        list(self.verdict, pointer)
    }

    /// A councillor's name, by its id.
    fn name(&self, id: &str) -> String {
        let known = self.list("/councillors").iter().find(|known| words(known, "/councillor") == Some(id));
        known.and_then(|known| words(known, "/name")).map_or_else(|| heading(id), str::to_owned)
    }

    fn named(&self, value: &Value, pointer: &str) -> String {
        self.name(&string(value, pointer))
    }

    fn names(&self, value: &Value, pointer: &str) -> String {
        let names = list(value, pointer).iter().filter_map(Value::as_str).map(|id| self.name(id));
        names.collect::<Vec<_>>().join(", ")
    }

    fn shortened(&self, text: &str) -> String {
        shortened(text, (!self.full).then_some(super::POSITION_CHARS_MAX))
    }

    /// A section of points, in the short report not too many.
    fn section(&self, kind: &'static str, title: &str, mut items: Vec<Item>) -> Option<Section> {
        let more = items.len().saturating_sub(ITEMS_MAX);
        let mut blocks = Vec::new();
        if !self.full && more > 1 {
            items.truncate(ITEMS_MAX);
            blocks.push(Block::Line(format!("And {more} more: the full report has them.")));
        }
        let some = !items.is_empty();
        blocks.insert(0, Block::Items(items));
        some.then(|| Section::new(kind, title, blocks))
    }

    fn headline(&self, document: &Value) -> Section {
        let divided = at(self.verdict, "/divided").as_bool() == Some(true);
        let (kind, tone) = match words(self.verdict, "/decision") {
            Some("PROCEED") => ("answer", Tone::Good),
            Some("PROCEED WITH CONDITIONS" | "RECONSIDER") => ("answer", Tone::Warn),
            Some(_) => ("answer", Tone::Bad),
            None => ("answer no-answer", Tone::Warn),
        };
        let word = match words(self.verdict, "/decision") {
            Some(decision) if divided => format!("{decision} (divided)"),
            Some(decision) => decision.to_owned(),
            None => "No verdict".to_owned(),
        };
        Section::new(kind, "Verdict", vec![Block::Headline(tone, word), Block::Line(self.sentence(document))])
    }

    /// How the votes fell, how surely, and what stands against relying on it.
    fn sentence(&self, document: &Value) -> String {
        let votes = self.list("/votes");
        if votes.is_empty() {
            return match words(document, "/termination") {
                Some("quorum_lost") => {
                    "Fewer than two councillors were left, so that there was no vote.".into()
                }
                _ => "Nobody voted.".into(),
            };
        }
        let tally = at(self.verdict, "/tally").as_object().into_iter().flatten();
        let tally =
            tally.filter_map(|(vote, count)| Some((vote, count.as_u64().filter(|count| *count > 0)?)));
        let tally: Vec<String> = tally.map(|(vote, count)| format!("{count} {vote}")).collect();
        let seated = self.list("/councillors").len();
        let of = if seated > votes.len() { format!(" of {seated} councillors") } else { String::new() };
        let votes = counted(votes.len() as u64, "vote");
        if words(self.verdict, "/decision").is_none() {
            return format!("{votes}{of}: {}. That is too few to decide anything.", tally.join(", "));
        }
        let confidence = string(self.verdict, "/confidence");
        let cut = match words(document, "/status") {
            Some("complete") => "",
            _ => " The debate is incomplete: weigh the vote by that.",
        };
        format!("{votes}{of}: {}. Confidence {confidence}.{cut}", tally.join(", "))
    }

    fn votes(&self) -> Option<Section> {
        let head = ["Councillor", "Vote", "Key argument", "Remaining concern"].map(String::from);
        let (mut rows, mut opposing) = (vec![head.to_vec()], Vec::new());
        for vote in self.list("/votes") {
            let name = self.named(vote, "/councillor");
            let point = words(vote, "/strongest_opposing_point").filter(|point| !point.trim().is_empty());
            opposing.extend(point.map(|point| (name.clone(), self.shortened(point))));
            let mut row = vec![name];
            row.extend(["/vote", "/key_argument", "/remaining_concern"].map(|field| string(vote, field)));
            rows.push(row);
        }
        let some = rows.len() > 1;
        let mut blocks = vec![Block::Table(rows)];
        if !opposing.is_empty() {
            blocks.push(Block::Line("The strongest point of the other side, as each sees it:".into()));
            blocks.push(Block::Pairs(opposing));
        }
        some.then(|| Section::new("votes", "Votes", blocks))
    }

    fn conditions(&self) -> Option<Section> {
        let conditions = self.list("/conditions").iter().map(|condition| Item {
            who: None,
            text: string(condition, "/condition"),
            note: Some(self.names(condition, "/councillors")),
        });
        self.section("conditions", "Conditions", conditions.collect())
    }

    fn minority(&self, document: &Value) -> Option<Section> {
        let divided = at(self.verdict, "/divided").as_bool() == Some(true);
        let title = if divided { "The other half's opinion" } else { "The minority's opinion" };
        let items = self.list("/minority_opinion").iter().map(|vote| {
            let own = |dissent: &&Value| words(dissent, "/councillor") == words(vote, "/councillor");
            let opening = list(document, "/dissent").iter().find(own).and_then(|own| words(own, "/opening"));
            let opening = opening.filter(|opening| words(vote, "/final_position") != Some(opening));
            let opening = opening.map(|opening| format!("Opened with: {}", self.shortened(opening)));
            let notes: Vec<String> =
                words(vote, "/key_argument").map(str::to_owned).into_iter().chain(opening).collect();
            Item {
                who: Some(format!("{} ({})", self.named(vote, "/councillor"), string(vote, "/vote"))),
                text: self.shortened(&string(vote, "/final_position")),
                note: (!notes.is_empty()).then(|| notes.join(" ")),
            }
        });
        let items: Vec<Item> = items.collect();
        (!items.is_empty()).then(|| Section::new("minority", title, vec![Block::Items(items)]))
    }

    /// Everybody's way through the rounds at a glance, and why it turned where it did.
    fn evolution(&self) -> Option<Section> {
        let all = at(self.verdict, "/position_evolution").as_object()?;
        let rounds = all.values().map(|steps| list(steps, "").len()).max().unwrap_or_default();
        let mut head = vec!["Councillor".to_owned(), "Opening".into()];
        head.extend((1..rounds).map(|round| format!("Round {round}")));
        head.push("Vote".into());
        let (mut rows, mut changes) = (vec![head], Vec::new());
        for (id, steps) in all {
            let mut row = vec![self.name(id)];
            for step in list(steps, "") {
                row.push(cell(step));
                if at(step, "/changed").as_bool() == Some(true) {
                    let (round, because) = (whole(step, "/round"), string(step, "/because"));
                    let text = self.shortened(&string(step, "/position"));
                    let who = Some(format!("{} in round {round}", self.name(id)));
                    changes.push(Item { who, text, note: Some(because) });
                }
            }
            let vote = self.list("/votes").iter().find(|vote| words(vote, "/councillor") == Some(id));
            row.push(vote.map_or("none".to_owned(), |vote| string(vote, "/vote")));
            rows.push(row);
        }
        let mut blocks = vec![Block::Table(rows)];
        match changes.is_empty() {
            true => blocks.push(Block::Line("Nobody changed position.".into())),
            false => blocks.push(Block::Items(changes)),
        }
        (!all.is_empty()).then(|| Section::new("evolution", "How positions moved", blocks))
    }

    fn consensus(&self) -> Option<Section> {
        let here = |known: &&Value| at(known, "/active").as_bool() == Some(true);
        let active = self.list("/councillors").iter().filter(here).count();
        let points = self.list("/consensus_points").iter().map(|point| {
            let share = percent(list(point, "/councillors").len() as u64, active as u64);
            let challenged = match at(point, "/challenged").as_bool() {
                Some(true) => "challenged and held",
                _ => "not challenged by anybody",
            };
            let who = self.names(point, "/councillors");
            Item {
                who: None,
                text: string(point, "/point"),
                note: Some(format!("{who} ({share}); {challenged}")),
            }
        });
        self.section("consensus", "What they agree on", points.collect())
    }

    fn disagreements(&self) -> Option<Section> {
        let items = self.list("/disagreements").iter().map(|point| {
            // A question is both the point and what who asked it has to say.
            let told = |side: &&Value| words(side, "/view") != words(point, "/point");
            let sides = list(point, "/sides").iter().filter(told);
            let sides = sides.map(|side| {
                format!("{}: {}", self.names(side, "/councillors"), self.shortened(&string(side, "/view")))
            });
            let id = words(point, "/challenge_id").map(|id| format!("[{id}]"));
            Item { who: id, text: string(point, "/point"), note: Some(sides.collect::<Vec<_>>().join(" / ")) }
        });
        self.section("disagreements", "Where they still disagree", items.collect())
    }

    fn violations(&self) -> Option<Section> {
        let items: Vec<Item> = self
            .list("/violations")
            .iter()
            .map(|violation| {
                let id = string(violation, "/challenge_id");
                let challenge = self.list("/challenges").iter().find(|c| words(c, "/id") == Some(&id));
                let asked = challenge.map_or(String::new(), |challenge| string(challenge, "/question"));
                let who = format!(
                    "{} on [{id}], round {}",
                    self.named(violation, "/councillor"),
                    whole(violation, "/round")
                );
                Item { who: Some(who), text: asked, note: Some(heading_of(&string(violation, "/why"))) }
            })
            .collect();
        (!items.is_empty())
            .then(|| Section::new("violations", "Who evaded a challenge", vec![Block::Items(items)]))
    }

    fn interventions(&self) -> Option<Section> {
        let groups = self.list("/interventions").iter().map(|done| {
            let to = match words(done, "/to") {
                Some("all") => "all".to_owned(),
                Some(id) => self.name(id),
                None => String::new(),
            };
            let what = match words(done, "/kind") {
                Some("evasion") => format!("a challenge is put again to {to}"),
                Some("groupthink") => format!("{to} must make the case against"),
                _ => "a question to all".to_owned(),
            };
            let mut pairs = Vec::new();
            let mut pair = |name: &str, text: Option<&str>| {
                pairs.extend(text.map(|text| (name.to_owned(), self.shortened(text))));
            };
            pair("Asked", words(done, "/question"));
            pair("Because", words(done, "/why"));
            pair("Words", words(done, "/quote").filter(|quote| words(done, "/question") != Some(quote)));
            pair("Answer", words(done, "/reply"));
            pair("Outcome", words(done, "/outcome"));
            let kind = heading(&string(done, "/kind"));
            let title = format!("Round {}, {kind}: {what}", whole(done, "/round"));
            Block::Group { title, badges: Vec::new(), blocks: vec![Block::Pairs(pairs)] }
        });
        let groups: Vec<Block> = groups.collect();
        (!groups.is_empty()).then(|| Section::new("interventions", "What the moderator did", groups))
    }

    /// How many risks there are of each gravity, and which.
    fn risks(&self) -> Option<Section> {
        let risks = self.list("/risk_matrix");
        let probabilities = ["low", "medium", "high"];
        let mut rows = vec![["Severity", "Unlikely", "Possible", "Likely"].map(String::from).to_vec()];
        for severity in ["critical", "high", "medium", "low"] {
            let count = |probability: &str| {
                let same = |risk: &&Value| {
                    words(risk, "/severity") == Some(severity)
                        && words(risk, "/probability") == Some(probability)
                };
                match risks.iter().filter(same).count() {
                    0 => "-".to_owned(),
                    n => n.to_string(),
                }
            };
            rows.push([heading(severity)].into_iter().chain(probabilities.map(count)).collect());
        }
        let items = risks.iter().map(|risk| {
            let likely = match words(risk, "/probability") {
                Some("high") => "likely",
                Some("medium") => "possible",
                _ => "unlikely",
            };
            let mitigation =
                words(risk, "/mitigation").map_or(String::new(), |text| format!(". Against it: {text}"));
            let who = Some(format!("{}, {likely}", heading(&string(risk, "/severity"))));
            let note = Some(format!("{}{mitigation}", self.names(risk, "/councillors")));
            Item { who, text: string(risk, "/risk"), note }
        });
        let mut section = self.section("risks", "Risks", items.collect())?;
        section.blocks.insert(0, Block::Table(rows));
        Some(section)
    }

    fn open_questions(&self) -> Option<Section> {
        let open = self.list("/open_questions");
        let why = open.first().and_then(|first| words(first, "/why"));
        let same = open.len() > 1 && open.iter().all(|open| words(open, "/why") == why);
        let items = open.iter().map(|open| {
            let (from, to) = (self.named(open, "/from"), self.named(open, "/to"));
            let who = Some(format!("[{}] {from} to {to}", string(open, "/challenge_id")));
            let note = words(open, "/why").filter(|_| !same).map(heading_of);
            Item { who, text: string(open, "/question"), note }
        });
        let mut section = self.section("open", "Open questions", items.collect())?;
        if let Some(why) = why.filter(|_| same) {
            section.blocks.insert(0, Block::Line(format!("{}.", heading_of(why))));
        }
        Some(section)
    }

    /// Every challenge with its fate.
    fn challenges(&self) -> Option<Section> {
        let groups = self.list("/challenges").iter().map(|challenge| {
            let (from, to) = (self.named(challenge, "/from"), self.named(challenge, "/to"));
            let mut badges = vec![string(challenge, "/fate")];
            badges.extend(words(challenge, "/stance").map(str::to_owned));
            badges.extend(
                at(challenge, "/re_asked").as_u64().map(|round| format!("put again in round {round}")),
            );
            badges.extend(
                (at(challenge, "/quoted").as_bool() == Some(false)).then(|| "claim not found".to_owned()),
            );
            let mut pairs = Vec::new();
            for (name, field) in [("Claim", "/claim"), ("Reason", "/reason"), ("Question", "/question")] {
                pairs.extend(words(challenge, field).map(|text| (name.to_owned(), text.to_owned())));
            }
            for answer in list(challenge, "/answers") {
                let stance = words(answer, "/stance").unwrap_or("no stance");
                let name = format!("Answer in round {} ({stance})", whole(answer, "/round"));
                pairs.push((name, string(answer, "/response")));
            }
            let round = match whole(challenge, "/round") {
                0 => "opening".to_owned(),
                round => format!("round {round}"),
            };
            let title = format!("[{}] {from} to {to}, {round}", string(challenge, "/id"));
            Block::Group { title, badges, blocks: vec![Block::Pairs(pairs)] }
        });
        let groups: Vec<Block> = groups.collect();
        (!groups.is_empty()).then(|| Section::new("challenges", "Every challenge and its fate", groups))
    }

    /// Every message with its answer.
    fn exchanges(&self) -> Option<Section> {
        let groups = self.list("/exchanges").iter().map(|letter| {
            let (from, to) = (self.named(letter, "/from"), self.named(letter, "/to"));
            let reply = words(letter, "/reply").unwrap_or("no answer");
            let pairs = vec![
                ("About".to_owned(), string(letter, "/topic")),
                (from.clone(), string(letter, "/text")),
                (to.clone(), reply.to_owned()),
            ];
            let title =
                format!("[{}] {from} to {to}, round {}", string(letter, "/id"), whole(letter, "/round"));
            Block::Group { title, badges: Vec::new(), blocks: vec![Block::Pairs(pairs)] }
        });
        let groups: Vec<Block> = groups.collect();
        (!groups.is_empty()).then(|| Section::new("exchanges", "Messages between councillors", groups))
    }
}

/// A councillor's confidence after a round, and whether its position changed in it.
fn cell(step: &Value) -> String {
    let confidence = string(step, "/confidence");
    let flag = |pointer: &str| at(step, pointer).as_bool() == Some(true);
    match (flag("/changed"), flag("/carried")) {
        (true, _) => format!("{confidence}, changed"),
        (false, true) => format!("{confidence} (absent)"),
        (false, false) => confidence,
    }
}

/// A reason that begins like a sentence.
fn heading_of(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
