//! What was decided and by whom, or why nothing was.

use serde_json::Value;

use super::{Told, agent, agents, figure, joined, share, who};
use crate::figures::counted;
use crate::outline::{Block, Item, Section, Tone, at, list, shortened, string, whole, words};

impl Told<'_> {
    pub(super) fn decision(&self) -> Section {
        let Some(winner) = words(self.verdict, "/winner") else { return self.no_decision() };
        let surely = words(self.document, "/status") == Some("complete")
            && self.flag("/judge/agrees_with_vote") == Some(true);
        let tone = if surely { Tone::Good } else { Tone::Warn };
        let mut blocks =
            vec![Block::Headline(tone, format!("{} wins", agent(winner))), Block::Line(self.how(winner))];
        let (position, answer) = (words(self.verdict, "/position"), words(self.verdict, "/answer"));
        let new = position.filter(|position| answer.is_none_or(|answer| !answer.starts_with(position)));
        blocks.extend(new.into_iter().chain(answer).map(|text| Block::Prose(text.to_owned())));
        Section::new("answer", "Decision", blocks)
    }

    /// By whom the winner was chosen, how clearly, and whether the other side of the procedure agrees.
    fn how(&self, winner: &str) -> String {
        let mut told = match words(self.verdict, "/decided_by") {
            Some("judge") => self.by_judge(),
            _ => self.by_vote(winner),
        };
        told.extend(self.journey());
        if words(self.document, "/status") != Some("complete") {
            told.push("The debate is incomplete: weigh it by that.".into());
        }
        told.join(" ")
    }

    fn by_vote(&self, winner: &str) -> Vec<String> {
        let cast = whole(self.verdict, "/consensus/cast");
        let group = self.list("/tally").iter().find(|group| has(list(group, "/labels"), winner));
        let percent =
            share(self.verdict, "/consensus/share").map_or(String::new(), |share| format!(" ({share})"));
        let mut told = vec![match group {
            Some(group) => {
                let votes = whole(group, "/votes");
                format!("By vote: {votes} of {} cast{percent}; {}.", counted(cast, "vote"), self.needed())
            }
            None => "By vote.".to_owned(),
        }];
        let same = group.map(|group| list(group, "/labels")).filter(|labels| labels.len() > 1);
        told.extend(same.map(|labels| {
            format!(
                "{} propose the same in substance, so that votes for any of them count together.",
                agents(labels)
            )
        }));
        told.push(match (words(self.verdict, "/judge/top"), self.flag("/judge/agrees_with_vote")) {
            (_, Some(true)) => "The judge agrees.".to_owned(),
            (Some(top), _) => format!("The judge does not agree: it puts {} first.", agent(top)),
            (None, _) if at(self.verdict, "/judge").is_object() => {
                "The judge names no best: its two orders contradict each other.".to_owned()
            }
            _ => "No judge was heard.".to_owned(),
        });
        told
    }

    fn by_judge(&self) -> Vec<String> {
        let ahead = figure(self.verdict, "/judge/margin", 2).map(|margin| format!(", {margin} points ahead"));
        let mut told = vec![format!("By the judge{}.", ahead.unwrap_or_default())];
        let reached = self.flag("/consensus/reached") == Some(true);
        let chosen = self.list("/tally").first().filter(|_| reached).map(|group| list(group, "/labels"));
        told.push(match (self.flag("/judge/agrees_with_vote"), chosen) {
            (Some(true), _) => "The vote agrees.".to_owned(),
            (_, Some(labels)) => format!("The vote does not agree: it is for {}.", agents(labels)),
            (_, None) => format!("The vote reached no {}: {}.", self.kind(), self.tally()),
        });
        told
    }

    /// How it got there.
    fn journey(&self) -> Vec<String> {
        let early = at(self.verdict, "/early_consensus").as_u64();
        let early = early.map(|round| format!("The proposals converged in round {round}."));
        let extended = Some(whole(self.verdict, "/extended_rounds")).filter(|rounds| *rounds > 0);
        let extended = extended.map(|rounds| format!("It took {}.", counted(rounds, "extended round")));
        early.into_iter().chain(extended).collect()
    }

    fn no_decision(&self) -> Section {
        let mut told = vec![self.why_not()];
        told.extend(self.journey());
        let mut blocks = vec![Block::Headline(Tone::Warn, "No decision".into()), Block::Line(told.join(" "))];
        let most = (!self.full).then_some(crate::outline::POSITION_CHARS_MAX);
        let items = self.list("/proposals").iter().map(|proposal| Item {
            who: Some(who(self, proposal)),
            text: shortened(&string(proposal, "/position"), most),
            note: None,
        });
        let items: Vec<Item> = items.collect();
        // The dissent follows, and it may say all of this.
        let dissent = list(self.document, "/dissent");
        let is_told = |proposal: &Value| {
            dissent.iter().any(|held| words(held, "/position") == words(proposal, "/position"))
        };
        if !self.list("/proposals").iter().all(is_told) {
            blocks.push(Block::Line("This is where the agents stand:".into()));
            blocks.push(Block::Items(items));
        }
        Section::new("answer no-answer", "Decision", blocks)
    }

    fn why_not(&self) -> String {
        let (cast, agents) =
            (whole(self.verdict, "/consensus/cast"), whole(self.verdict, "/consensus/agents"));
        match words(self.document, "/termination") {
            Some("quorum_lost") if self.list("/proposals").len() < 2 => {
                "Fewer than two agents made a proposal, so that there was nothing to choose from.".into()
            }
            Some("quorum_lost") => {
                let abstains = |vote: &&Value| words(vote, "/choice") == Some("abstain");
                let abstained = match self.list("/votes").iter().filter(abstains).count() {
                    0 => String::new(),
                    count => format!(" ({count} abstained)"),
                };
                let agents = counted(agents, "agent");
                format!("Only {cast} of {agents} voted for a proposal{abstained}, and half of them must.")
            }
            Some("cancelled") => "The debate was cancelled before anything was decided.".into(),
            Some("budget") if self.list("/votes").is_empty() => {
                "A limit was reached before anybody voted.".into()
            }
            Some("failed") => {
                format!("The vote reached no {} ({}), and no judge was heard.", self.kind(), self.tally())
            }
            _ if self.flag("/consensus/hollow") == Some(true) => format!(
                "The vote ({}) rests on little: {}, so that it does not count.",
                self.tally(),
                self.why_hollow()
            ),
            _ if self.flag("/consensus/reached") == Some(true) => format!(
                "The vote reached {} ({}), but the judge was to decide, and it names no best.",
                self.one_of_kind(),
                self.tally()
            ),
            _ => format!("The vote reached no {}: {}. {}", self.kind(), self.tally(), self.judge_on_it()),
        }
    }

    /// Why an agreement that rests on little was not mended.
    fn why_hollow(&self) -> &'static str {
        let last = self.list("/trickster/checks").last();
        match last.and_then(|check| words(check, "/came_to")) {
            Some("unmeasured") => "nothing could be measured after the trickster's challenge",
            None if last.is_some_and(|check| at(check, "/challenged").as_bool() == Some(false)) => {
                "no round was left for the trickster's challenge"
            }
            _ => "the trickster's challenge was not met",
        }
    }

    /// What the judge has to say where the vote decides nothing.
    fn judge_on_it(&self) -> String {
        let ahead = figure(self.verdict, "/judge/margin", 2).unwrap_or_default();
        match words(self.verdict, "/judge/top") {
            Some(top) => {
                format!("The judge puts {} first, {ahead} points ahead, but the vote decides.", agent(top))
            }
            None if self.flag("/judge/consistent") == Some(false) => {
                "The judge names no best either: its two orders contradict each other.".into()
            }
            None => "No judge was heard.".into(),
        }
    }

    fn kind(&self) -> &str {
        words(self.verdict, "/consensus/kind").map_or("consensus", |kind| match kind {
            "unanimous" => "unanimity",
            kind => kind,
        })
    }

    fn one_of_kind(&self) -> String {
        let article = if matches!(self.kind(), "unanimity" | "consensus") { "" } else { "a " };
        format!("{article}{}", self.kind())
    }

    fn needed(&self) -> &'static str {
        match words(self.verdict, "/consensus/kind") {
            Some("supermajority") => "a supermajority is two thirds",
            Some("unanimous") => "all were needed",
            _ => "a majority is more than half",
        }
    }

    fn tally(&self) -> String {
        tally(self.list("/tally"), self.list("/votes"))
    }
}

/// "2 votes for Agent A, 1 vote for Agent B and 1 abstention".
pub(super) fn tally(groups: &[Value], ballots: &[Value]) -> String {
    let of = |group: &Value| {
        let votes = Some(whole(group, "/votes")).filter(|votes| *votes > 0);
        votes.map(|votes| format!("{} for {}", counted(votes, "vote"), agents(list(group, "/labels"))))
    };
    let mut told: Vec<String> = groups.iter().filter_map(of).collect();
    let abstained =
        ballots.iter().filter(|ballot| words(ballot, "/choice") == Some("abstain")).count() as u64;
    told.extend((abstained > 0).then(|| counted(abstained, "abstention")));
    if told.is_empty() { "nobody voted".into() } else { joined(&told) }
}

fn has(labels: &[Value], label: &str) -> bool {
    labels.iter().any(|other| other.as_str() == Some(label))
}
