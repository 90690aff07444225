//! What was said in a round, by a seat, or both.

use agon_core::{Asked, Debate, Reply, Turn};
use serde_json::{Value, json};

use super::{Kept, NoView};
use crate::outline::evidence::{Ways, after, flipped, who};
use crate::outline::facts::{label_for, label_of, place_of};
use crate::outline::transcript::sections_of;
use crate::outline::wording::{joined, rounds};
use crate::outline::{Block, Item, Section, at, list, string, words};

/// The words, and where that left everybody.
pub(super) fn sections(
    kept: &Kept<'_>,
    round: Option<u32>,
    seat: Option<&str>,
) -> Result<Vec<Section>, NoView> {
    let wanted = Wanted::new(kept, round, seat)?;
    let Kept { document, debate, .. } = kept;
    let mut sections: Vec<Section> = wanted.who(document).into_iter().collect();
    sections.extend(sections_of(document, debate, &|turn, ask| wanted.is(turn, ask)));
    sections.extend(wanted.held(document));
    let flips: Vec<Block> = wanted.flips(document).map(|flip| flipped(document, debate, flip)).collect();
    sections.extend((!flips.is_empty()).then(|| Section::new("changed", "Who changed and why", flips)));
    Ok(sections)
}

/// The same as a document.
pub(super) fn json(kept: &Kept<'_>, round: Option<u32>, seat: Option<&str>) -> Result<Value, NoView> {
    let wanted = Wanted::new(kept, round, seat)?;
    let turns = kept.debate.turns.iter().flat_map(|turn| {
        let asked = turn.asks.iter().zip(&turn.replies).filter(|(ask, _)| wanted.is(turn, ask));
        asked.map(move |(ask, reply)| spoken(turn, ask, reply.as_ref()))
    });
    let turns: Vec<Value> = turns.collect();
    let flips: Vec<&Value> = wanted.flips(kept.document).collect();
    let held: Vec<Value> = wanted
        .positions(kept.document)
        .map(|(seat, held)| {
            let mut told = held.clone();
            if let Some(fields) = told.as_object_mut() {
                fields.insert("seat".to_owned(), at(seat, "/seat").clone());
            }
            told
        })
        .collect();
    Ok(
        json!({"id": at(kept.document, "/id"), "round": round, "seats": wanted.seats, "said": turns, "held": held, "flips": flips}),
    )
}

/// One ask and what came of it.
fn spoken(turn: &Turn, ask: &Asked, reply: Option<&Reply>) -> Value {
    let mut told = json!({"phase": turn.phase.name, "round": turn.phase.round, "ask": ask.id, "seat": ask.seat,
        "label": ask.label, "about": ask.about});
    if let (Some(reply), Some(fields)) =
        (reply.and_then(|reply| serde_json::to_value(reply).ok()), told.as_object_mut())
    {
        fields.extend(reply.as_object().cloned().unwrap_or_default());
    }
    told
}

struct Wanted {
    round: Option<u32>,
    /// The ids of the seats; all of them where none was named.
    seats: Option<Vec<String>>,
}

impl Wanted {
    fn new(kept: &Kept<'_>, round: Option<u32>, seat: Option<&str>) -> Result<Self, NoView> {
        let seats = seat.map(|seat| named(kept, seat)).transpose()?;
        let wanted = Self { round, seats };
        let Some(round) = round else { return Ok(wanted) };
        let there = asked_in(kept.debate, &|_| true);
        if !there.contains(&u64::from(round)) {
            let there = match there.as_slice() {
                [] => "is none yet".to_owned(),
                [only] => format!("is only {}", rounds(&[*only])),
                there => format!("are {}", rounds(there)),
            };
            return Err(NoView::Round { round, there });
        }
        let mine = asked_in(kept.debate, &|ask| wanted.has(&ask.seat));
        match (seat, mine.as_slice()) {
            (Some(seat), mine) if !mine.contains(&u64::from(round)) => {
                let there = if mine.is_empty() { "no round at all".to_owned() } else { rounds(mine) };
                Err(NoView::Nothing { seat: seat.to_owned(), round, there })
            }
            _ => Ok(wanted),
        }
    }

    fn has(&self, seat: &str) -> bool {
        self.seats.as_ref().is_none_or(|seats| seats.iter().any(|own| own == seat))
    }

    fn is(&self, turn: &Turn, ask: &Asked) -> bool {
        self.round.is_none_or(|round| turn.phase.round == round) && self.has(&ask.seat)
    }

    fn flips<'a>(&self, document: &'a Value) -> impl Iterator<Item = &'a Value> {
        list(document, "/evidence/flips").iter().filter(|flip| {
            let round = at(flip, "/round").as_u64();
            self.round.is_none_or(|wanted| round == Some(u64::from(wanted)))
                && self.has(&string(flip, "/seat"))
        })
    }

    /// Everybody's position after the rounds that are wanted.
    fn positions<'a>(&self, document: &'a Value) -> impl Iterator<Item = (&'a Value, &'a Value)> {
        let seats =
            list(document, "/evidence/trajectory").iter().filter(|seat| self.has(&string(seat, "/seat")));
        seats.flat_map(|seat| list(seat, "/positions").iter().map(move |held| (seat, held))).filter(
            |(_, held)| self.round.is_none_or(|round| at(held, "/round").as_u64() == Some(u64::from(round))),
        )
    }

    /// Who the seats are, where some were named.
    fn who(&self, document: &Value) -> Option<Section> {
        let seats = list(document, "/seats").iter().filter(|seat| self.has(&string(seat, "/id")));
        let items = seats.map(|seat| {
            let id = string(seat, "/id");
            let label = label_for(document, &id).map_or(String::new(), |label| format!("{label}, "));
            Item {
                who: Some(id),
                text: format!("{label}{}, {}", string(seat, "/role"), string(seat, "/model")),
                note: None,
            }
        });
        let items: Vec<Item> = items.collect();
        (self.seats.is_some() && !items.is_empty())
            .then(|| Section::new("seats", "Who", vec![Block::Items(items)]))
    }

    /// Where they stood after the round, or through all of them.
    fn held(&self, document: &Value) -> Option<Section> {
        let Some(round) = self.round else {
            let seats = self.seats.as_ref()?;
            let places: Vec<usize> = seats.iter().map(|seat| place_of(document, seat)).collect();
            let ways = Ways::read(document).of(&places);
            return ways.drawn().then(|| Section::new("held", "Where it stood", vec![Block::Ways(ways)]));
        };
        let items = self.positions(document).filter_map(|(seat, held)| {
            let changed = at(held, "/changed").as_bool() == Some(true);
            let note = changed.then(|| "Changed in this round.".to_owned());
            Some(Item { who: Some(who(document, seat)), text: words(held, "/position")?.to_owned(), note })
        });
        let items: Vec<Item> = items.collect();
        let title = format!("Where they stood after {}", after(u64::from(round)));
        (!items.is_empty()).then(|| Section::new("held", title, vec![Block::Items(items)]))
    }
}

/// The rounds in which some of the asks were.
fn asked_in(debate: &Debate, counts: &dyn Fn(&Asked) -> bool) -> Vec<u64> {
    let turns = debate.turns.iter().filter(|turn| turn.asks.iter().any(counts));
    let mut rounds: Vec<u64> = turns.map(|turn| u64::from(turn.phase.round)).collect();
    rounds.sort_unstable();
    rounds.dedup();
    rounds
}

/// The seats that somebody may mean: one by its id or label, or all of a role.
fn named(kept: &Kept<'_>, wanted: &str) -> Result<Vec<String>, NoView> {
    let asked = kept.debate.turns.iter().flat_map(|turn| &turn.asks);
    let mut known: Vec<(String, Vec<String>)> = Vec::new();
    let seats = list(kept.document, "/seats").iter().map(|seat| string(seat, "/id"));
    // What is computed or looked up has a name, but no seat.
    for id in seats.chain(asked.clone().map(|ask| ask.seat.clone())) {
        if known.iter().all(|(other, _)| *other != id) {
            let labels = asked.clone().filter(|ask| ask.seat == id).filter_map(|ask| ask.label.clone());
            let mut names: Vec<String> = labels.collect();
            names.extend(label_of(kept.document, &id).map(str::to_owned));
            names.extend(label_for(kept.document, &id));
            known.push((id, names));
        }
    }
    let same = |name: &str| {
        name.trim().eq_ignore_ascii_case(wanted.trim()) || name.to_lowercase() == wanted.trim().to_lowercase()
    };
    let one = known
        .iter()
        .find(|(id, _)| same(id))
        .or_else(|| known.iter().find(|(_, names)| names.iter().any(|name| same(name))));
    if let Some((id, _)) = one {
        return Ok(vec![id.clone()]);
    }
    let role = list(kept.document, "/seats").iter().filter(|seat| same(&string(seat, "/role")));
    let of_role: Vec<String> = role.map(|seat| string(seat, "/id")).collect();
    if !of_role.is_empty() {
        return Ok(of_role);
    }
    let there = known.iter().map(|(id, _)| match label_for(kept.document, id) {
        Some(label) => format!("{id} ({label})"),
        None => id.clone(),
    });
    Err(NoView::Seat { seat: wanted.trim().to_owned(), there: joined(&there.collect::<Vec<_>>()) })
}
