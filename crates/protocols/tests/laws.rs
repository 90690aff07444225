//! The laws that every protocol of `PROTOCOLS` and `COMPANIONS` keeps. A protocol that is added to a table is tested for them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod play;

use std::collections::BTreeSet;

use agon_core::SeededDraw;
use agon_core::document::document;
use agon_core::play::{play, replay};
use agon_core::{
    AbsenceReason, Ask, Brief, Debate, DebateLimits, Event, Fate, LogRecord, OptionKind, OptionSpec,
    PhaseTurn, Protocol, Reply,
};
use serde_json::Value;

use self::play::{brief, cases, invented, limits, opened, played};

/// Whether a phase asks a seat. Some phases only ask clerks for errands.
fn asks_a_seat(debate: &Debate, turn: &PhaseTurn) -> bool {
    turn.asks.iter().any(|ask| debate.brief.seat(&ask.seat).is_some())
}

/// The events of a log without the records of calls, because a resumed debate repeats calls.
fn events_without_calls(records: &[LogRecord]) -> Vec<&Event> {
    records
        .iter()
        .map(|record| &record.entry.event)
        .filter(|event| !matches!(event, Event::Sent { .. }))
        .collect()
}

fn report(records: &[LogRecord]) -> String {
    let debate = Debate::from_records(records).unwrap();
    let mut document = document(&debate, Value::Null);
    // The receipt depends on the order in which replies arrived. Nothing else in the document does.
    document["receipt"] = Value::Null;
    document.to_string()
}

#[test]
fn always_closes_within_a_bound_computed_from_its_options() {
    for (protocol, brief) in cases() {
        for seed in 0..6 {
            let records = played(protocol, opened(&brief), seed);
            let debate = Debate::from_records(&records).unwrap();
            let (name, plan) = (protocol.info().name, protocol.plan(&brief));
            let (phases, most_phases) = (debate.turns.len(), plan.most_phases as usize);
            assert!(debate.outcome.is_some(), "{name} seed {seed}");
            assert!(phases <= most_phases, "{name} seed {seed}: {phases} > {most_phases}");
            let planned = plan.fewest_calls..=plan.most_calls;
            let is_limited = brief.limits != DebateLimits::default();
            let asks = debate.turns.iter().flat_map(|turn| &turn.asks);
            let calls = asks.filter(|ask| brief.seat(&ask.seat).is_some()).count() as u32;
            assert!(is_limited || planned.contains(&calls), "{name} seed {seed}: {calls} not in {planned:?}");
        }
    }
}

/// Whether a call was sent and not answered.
fn has_open_call(records: &[LogRecord]) -> bool {
    let events = || records.iter().map(|record| &record.entry.event);
    let sent = events().filter(|event| matches!(event, Event::Sent { .. })).count();
    sent > events().filter(|event| matches!(event, Event::Replied { .. })).count()
}

/// A log with more events than this is not resumed from every prefix with every seed.
const LONG_LOG_EVENTS: usize = 40;

/// Resumes a debate from prefixes of its log, and returns how many were tried.
fn try_resume_points(protocol: &dyn Protocol, brief: &Brief) -> usize {
    let mut points = 0;
    for seed in 0..6 {
        let whole = played(protocol, opened(brief), seed);
        // Each seed tries other prefixes of a long log. The six seeds together try all.
        let (from, step) = if whole.len() > LONG_LOG_EVENTS { (1 + seed as usize, 6) } else { (1, 1) };
        for length in (from..=whole.len()).step_by(step) {
            // A call that is repeated after a crash counts, so that a resumed debate may reach a limit on calls earlier.
            if brief.limits.calls.is_some() && has_open_call(&whole[..length]) {
                continue;
            }
            let resumed = played(protocol, whole[..length].to_vec(), seed);
            let cut = format!("{} seed {seed} cut at {length}", protocol.info().name);
            assert_eq!(events_without_calls(&resumed), events_without_calls(&whole), "{cut}");
            points += 1;
        }
    }
    points
}

#[test]
fn resuming_from_every_prefix_of_a_log_gives_the_same_log() {
    let cases = cases();
    // This law takes the longest, so it runs on all cores.
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let points: usize = std::thread::scope(|scope| {
        let share = |worker: usize| {
            let mine = cases.iter().skip(worker).step_by(workers);
            move || mine.map(|(protocol, brief)| try_resume_points(*protocol, brief)).sum::<usize>()
        };
        let running: Vec<_> = (0..workers).map(|worker| scope.spawn(share(worker))).collect();
        running.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert!(points > 300, "only {points} resume points were tried");
}

#[test]
fn arrival_order_of_replies_changes_nothing() {
    for (protocol, brief) in cases() {
        for seed in 0..6 {
            let in_seat_order = played(protocol, opened(&brief), seed);
            let mut draw = SeededDraw::new(seed, "arrival");
            let mut answer = |debate: &Debate, ask: &Ask| invented(protocol, debate, ask, seed);
            let mut arrival = |order: &mut [usize]| draw.shuffle(order);
            let shuffled = play(protocol, opened(&brief), &mut answer, &mut arrival).unwrap();
            assert_eq!(report(&shuffled), report(&in_seat_order), "{} seed {seed}", protocol.info().name);
        }
    }
}

#[test]
fn any_subset_of_seats_absent_in_any_phase_still_closes_with_the_absences_reported() {
    let mut met = BTreeSet::new();
    for (protocol, brief) in cases() {
        let is_first = met.insert(protocol.info().name);
        let phases = Debate::from_records(&played(protocol, opened(&brief), 1)).unwrap().turns;
        for (at, turn) in phases.iter().enumerate() {
            let all = (1_u32 << turn.asks.len().min(6)) - 1;
            // With other options than the defaults, one seat and all of them.
            let subsets: Vec<u32> = if is_first { (1..=all).collect() } else { vec![1, all] };
            for subset in subsets {
                let mut expected = 0;
                let mut answer = |debate: &Debate, ask: &Ask| {
                    let place = debate
                        .turns
                        .last()
                        .unwrap()
                        .asks
                        .iter()
                        .position(|asked| asked.id == ask.id)
                        .unwrap();
                    if debate.turns.len() == at + 1 && subset & (1 << place.min(31)) != 0 {
                        expected += 1;
                        return Reply::Absent { why: AbsenceReason::TimedOut, detail: "test".into() };
                    }
                    invented(protocol, debate, ask, 1)
                };
                let records = play(protocol, opened(&brief), &mut answer, &mut |_| {}).unwrap();
                let debate = Debate::from_records(&records).unwrap();
                let absences = document(&debate, Value::Null)["absences"].as_array().unwrap().len();
                let what = format!("{} phase {at} subset {subset:b}", protocol.info().name);
                assert_eq!(absences, expected, "{what}");
                let outcome = debate.outcome.expect(&what);
                assert_eq!(outcome.fidelity, agon_core::Fidelity::Degraded, "{what}");
            }
        }
    }
}

#[test]
fn a_debate_closes_if_every_seat_is_absent() {
    for (protocol, brief) in cases() {
        let mut nobody =
            |_: &Debate, _: &Ask| Reply::Absent { why: AbsenceReason::Unreachable, detail: "test".into() };
        let records = play(protocol, opened(&brief), &mut nobody, &mut |_| {}).unwrap();
        let outcome = Debate::from_records(&records).unwrap().outcome.unwrap();
        assert_ne!(outcome.status, agon_core::Status::Complete, "{}", protocol.info().name);
    }
}

#[test]
fn replay_makes_no_call_and_gives_the_same_report_byte_for_byte() {
    for (protocol, brief) in cases() {
        for seed in 0..5 {
            let records = played(protocol, opened(&brief), seed);
            let first = document(&Debate::from_records(&records).unwrap(), Value::Null).to_string();
            let again = document(&replay(protocol, &records).unwrap(), Value::Null).to_string();
            assert_eq!(again, first, "{} seed {seed}", protocol.info().name);
        }
    }
}

#[test]
fn a_replay_rejects_a_log_in_which_a_reply_was_changed() {
    for (protocol, brief) in cases() {
        let mut records = played(protocol, opened(&brief), 3);
        let debate = Debate::from_records(&records).unwrap();
        let first = debate.turns.iter().find(|turn| asks_a_seat(&debate, turn)).unwrap().asks[0].id;
        let answers_first = |event: &Event| matches!(event, Event::Replied { ask, .. } if *ask == first);
        let place = records.iter().position(|record| answers_first(&record.entry.event)).unwrap();
        if let Event::Replied { reply: Reply::Said { text, value, .. }, .. } = &mut records[place].entry.event
        {
            text.push_str(" And more.");
            value.iter_mut().for_each(add_to_texts);
        }
        assert!(replay(protocol, &records).is_err(), "{}", protocol.info().name);
    }
}

/// Adds words to every text of a structured answer. A single one may be shown to nobody.
fn add_to_texts(value: &mut Value) {
    for field in value.as_object_mut().unwrap().values_mut() {
        if let Value::String(text) = field {
            text.push_str(" And more.");
        }
    }
}

#[test]
fn first_round_positions_are_conserved() {
    for (protocol, brief) in cases() {
        for seed in 0..6 {
            let debate = Debate::from_records(&played(protocol, opened(&brief), seed)).unwrap();
            // A protocol may ask one seat at a time, so its first phase may have several turns. A protocol that contains another
            // also has first positions in that one's phase of the same name. Errands before the first phase state no position.
            let begun = debate.turns.iter().skip_while(|turn| !asks_a_seat(&debate, turn));
            let phase = &begun.clone().next().unwrap().phase;
            let own_name = |name: &str| name.rsplit('/').next().unwrap().to_owned();
            let (of_whole, of_part) = (begun.clone().take_while(|turn| turn.phase == *phase), begun);
            let of_part = of_part
                .filter(|turn| {
                    turn.phase.name.contains('/') && own_name(&turn.phase.name) == own_name(&phase.name)
                })
                .filter(|turn| turn.phase.round == phase.round);
            let first_turns = of_whole.chain(of_part);
            let answered: BTreeSet<&str> = first_turns
                .flat_map(PhaseTurn::settled)
                .filter(|(_, reply)| reply.text().is_some())
                .map(|(ask, _)| ask.seat.as_str())
                .collect();
            let outcome = debate.outcome.as_ref().unwrap();
            let accounted: BTreeSet<&str> =
                outcome.positions.iter().map(|position| position.seat.as_str()).collect();
            assert_eq!(accounted, answered, "{} seed {seed}", protocol.info().name);
            assert_eq!(outcome.positions.len(), answered.len(), "each seat once");
            for position in &outcome.positions {
                assert!(!position.position.is_empty() && !position.reason.is_empty());
            }
            // Who left the first position may dissent with a later one, whatever became of the first.
            let dissenting: BTreeSet<&str> =
                outcome.dissent.iter().filter_map(|told| told.get("seat")?.as_str()).collect();
            assert_eq!(dissenting.len(), outcome.dissent.len(), "each dissenter once");
            assert!(dissenting.is_subset(&accounted));
            let mut minority = outcome.positions.iter().filter(|position| position.fate == Fate::Minority);
            let is_conserved = minority.all(|position| dissenting.contains(position.seat.as_str()));
            assert!(is_conserved, "every minority position is in the dissent section");
        }
    }
}

#[test]
fn invented_answers_keep_the_schemas_that_are_sent_to_providers() {
    for (protocol, brief) in cases() {
        let mut answer = |debate: &Debate, ask: &Ask| {
            let reply = invented(protocol, debate, ask, 5);
            if let (Some(schema), Some(value)) = (&ask.schema, reply.value()) {
                jsonschema::validate(&schema.json, value).unwrap();
            }
            assert!(matches!(reply, Reply::Said { .. }), "{reply:?}");
            reply
        };
        play(protocol, opened(&brief), &mut answer, &mut |_| {}).unwrap();
    }
}

/// Whether a debate asks this model if an option has this value.
fn option_names_model(protocol: &dyn Protocol, option: &OptionSpec, value: &str, model: &str) -> bool {
    // Some options are allowed with a flag only.
    let flags = protocol.info().options.iter().filter(|spec| spec.kind == OptionKind::Flag);
    let flags = flags.map(|flag| vec![(flag.key.to_owned(), "true".to_owned())]);
    let named = (option.key.to_owned(), value.to_owned());
    std::iter::once(Vec::new()).chain(flags).any(|set| {
        let set = [set, vec![named.clone()]].concat();
        let Ok(brief) = brief(protocol, set, 7) else { return false };
        let records = played(protocol, opened(&brief), 7);
        let debate = Debate::from_records(&records).unwrap();
        let asked = debate.turns.iter().flat_map(|turn| &turn.asks).map(|ask| &ask.model);
        let seated = brief.seats.iter().map(|seat| &seat.model);
        asked.chain(seated).any(|chain| chain.split('|').any(|link| link.trim() == model))
    })
}

/// A server lets its callers set options, and checks the models of those whose kind says that they name some.
#[test]
fn only_an_option_whose_kind_says_so_can_name_a_model() {
    let mut naming = Vec::new();
    for protocol in agon_protocols::all() {
        for option in protocol.info().options {
            let is_text = matches!(option.kind, OptionKind::Text | OptionKind::File);
            if !(is_text || option.names_models()) {
                continue;
            }
            let values = ["command/critic", "x/y|command/critic", "x/y,command/critic"];
            let names =
                values.iter().any(|value| option_names_model(protocol, option, value, "command/critic"));
            assert_eq!(names, option.names_models(), "{} {}", protocol.info().name, option.key);
            naming.extend(names.then_some(option.key));
        }
    }
    assert!(naming.len() >= 3, "{naming:?}");
}

#[test]
fn a_log_with_other_templates_is_rejected_with_the_name_of_the_file() {
    for (protocol, mut brief) in cases() {
        let file = brief.templates.keys().next().unwrap().clone();
        brief.templates.insert(file.clone(), "0".repeat(64));
        let why = agon_core::play::reopen(protocol, &opened(&brief)).unwrap_err().to_string();
        assert!(why.contains(&file), "{why}");
    }
}

#[test]
fn a_branch_copies_the_replies_and_costs_nothing_until_it_asks() {
    for (protocol, brief) in cases() {
        let whole = played(protocol, opened(&brief), 4);
        let first = Debate::from_records(&whole).unwrap();
        let branch_brief = Brief { id: "branch".into(), ..brief.clone() };
        let round = first.turns.first().map_or(0, |turn| turn.phase.round);
        let copied = agon_core::play::branch(protocol, &whole, branch_brief, round).unwrap();
        let branch = Debate::from_records(&copied).unwrap();
        assert_eq!(
            branch.turns.first().map(|turn| &turn.replies),
            first.turns.first().map(|turn| &turn.replies),
            "{}",
            protocol.info().name
        );
        assert_eq!(branch.spent().calls, 0);
        assert!(branch.turns.iter().all(|turn| !protocol.info().is_closing(&turn.phase.name)));
        let ended = Debate::from_records(&played(protocol, copied, 4)).unwrap();
        // Copied replies do not count against the branch's limits, so a branch with limits may get further.
        if brief.limits == DebateLimits::default() {
            let (ended, mut first) = (ended.outcome.clone().unwrap(), first.outcome.clone().unwrap());
            if protocol.info().is_rated {
                // A branch rates no agent and leaves no lesson, and a warning says so.
                assert!(ended.lesson.is_none(), "{}", protocol.info().name);
                first.lesson = None;
                first.verdict["ratings"] = serde_json::json!([]);
                let warning = ended.warnings.iter().find(|warning| warning.contains("a branch of"));
                first.warnings.insert(0, warning.unwrap().clone());
            }
            assert_eq!(ended, first, "the same answers lead to the same end");
        }
        assert!(brief.limits != DebateLimits::default() || ended.spent().calls < first.spent().calls);
    }
}

/// The replies that a branch copies are paid for, so the branch's own limits do not apply to them.
#[test]
fn limits_do_not_cut_the_replies_that_a_branch_copies() {
    for (protocol, brief) in cases().into_iter().filter(|(_, brief)| brief.limits == DebateLimits::default())
    {
        let whole = played(protocol, opened(&brief), 4);
        let first = Debate::from_records(&whole).unwrap();
        let is_closing = |turn: &&PhaseTurn| protocol.info().is_closing(&turn.phase.name);
        let phases = first.turns.iter().take_while(|turn| !is_closing(turn)).count();
        for limits in limits() {
            let branch_brief = Brief { limits, id: "branch".into(), ..brief.clone() };
            let copied = agon_core::play::branch(protocol, &whole, branch_brief, u32::MAX).unwrap();
            let branch = Debate::from_records(&copied).unwrap();
            assert_eq!(branch.turns.len(), phases, "{}", protocol.info().name);
            replay(protocol, &copied).unwrap();
        }
    }
}
