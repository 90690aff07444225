//! `script/demo`, played with the protocol that it was written for.

use std::collections::BTreeMap;

use agon_core::{
    Ask, Brief, Debate, DebateLimits, Fidelity, LOG_VERSION, Phase, Reply, Request, Termination, options,
    play,
};
use agon_engine::{CallMessage, MessageRole, Model, ModelCall};
use agon_models::ScriptModel;
use serde_json::{Map, Value};

fn brief(seed: u64, mode: &str) -> Brief {
    let protocol = agon_protocols::find("deep").unwrap();
    let options: Map<String, Value> =
        options::resolve(protocol.info().options, [("mode".to_owned(), mode.to_owned())]).unwrap();
    let question = "Should a small team write its new service in Rust or in Go?".to_owned();
    let request = Request {
        question: question.clone(),
        models: vec!["script/demo".into()],
        options: options.clone(),
        ..Request::default()
    };
    Brief {
        version: LOG_VERSION,
        id: "demo".into(),
        protocol: "deep".into(),
        question,
        files: Vec::new(),
        options,
        seats: protocol.seats(&request).unwrap(),
        seed,
        nonce: "nonce".into(),
        limits: DebateLimits::default(),
        templates: agon_core::protocol::template_hashes(protocol),
        written_by: String::new(),
        created_at: "2026-01-01T00:00:00Z".into(),
        parent: None,
    }
}

fn answer(demo: &ScriptModel, runtime: &tokio::runtime::Runtime, debate: &Debate, ask: &Ask) -> Reply {
    let turn = debate.turns.last().unwrap();
    let message = |role, text: &str| CallMessage::new(role, text);
    let call = ModelCall {
        debate: "demo".into(),
        seat: ask.seat.clone(),
        ask: ask.id,
        attempt: 1,
        phase: Phase::new(&turn.phase.name, turn.phase.round),
        label: ask.label.clone(),
        about: ask.about.clone(),
        messages: vec![
            message(MessageRole::System, &ask.prompt.system),
            message(MessageRole::User, &ask.prompt.user()),
        ],
        schema: ask.schema.clone(),
        max_output_tokens: 4096,
        seed: 1,
    };
    let completion = runtime.block_on(demo.call(&call, None)).unwrap();
    let value = ask.schema.as_ref().map(|schema| {
        let value: Value = serde_json::from_str(&completion.text).unwrap();
        let valid = jsonschema::validate(&schema.json, &value).map_err(|why| why.to_string());
        assert_eq!(valid, Ok(()), "{} {:?}", ask.seat, turn.phase);
        agon_protocols::find("deep").unwrap().check(debate, ask, &value).unwrap();
        value
    });
    Reply::Said {
        text: completion.text,
        value,
        model: completion.model,
        usage: completion.usage,
        cut_off: false,
        shortened: None,
    }
}

fn play_demo(seed: u64, mode: &str) -> Debate {
    let demo = ScriptModel::open("demo").unwrap();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let (_, opened) = Debate::open(brief(seed, mode)).unwrap();
    let protocol = agon_protocols::find("deep").unwrap();
    let mut answers = |debate: &Debate, ask: &Ask| answer(&demo, &runtime, debate, ask);
    let records = play::play(protocol, vec![opened], &mut answers, &mut |_| {}).unwrap();
    Debate::from_records(&records).unwrap()
}

#[test]
fn the_demo_converges_after_two_rounds_without_absences() {
    for (mode, rounds, termination) in [
        ("deep", 2, Termination::Converged),
        ("standard", 0, Termination::AllRoundsComplete),
        ("quick", 0, Termination::AllRoundsComplete),
    ] {
        let outcome = play_demo(7, mode).outcome.unwrap();
        assert_eq!((outcome.rounds_completed, outcome.termination), (rounds, termination), "{mode}");
        assert_eq!(outcome.fidelity, Fidelity::Full, "{mode}");
        assert!(outcome.verdict["answer"].as_str().unwrap().contains("Go"), "{mode}");
        assert_eq!(outcome.verdict["contested"].as_array().unwrap().len(), 1, "one point stays contested");
    }
}

#[test]
fn a_counterpoint_of_the_demo_targets_the_right_seat_for_every_seed() {
    let mut dealt = BTreeMap::new();
    for seed in 0..12 {
        let outcome = play_demo(seed, "deep").outcome.unwrap();
        *dealt.entry(outcome.labels.clone()).or_insert(0) += 1;
        let label_of =
            |seat: &str| outcome.labels.iter().find(|(_, other)| *other == seat).unwrap().0.clone();
        for round in outcome.verdict["rounds"].as_array().unwrap() {
            let stances = round["stances"].as_array().unwrap();
            let debater_1 =
                stances.iter().find(|stance| stance["debater"] == label_of("debater-1").as_str()).unwrap();
            let target = debater_1["counterpoints"][0]["target"].as_str().unwrap();
            assert_eq!(target, format!("Debater {}", label_of("debater-2")), "seed {seed}");
        }
    }
    assert!(dealt.len() > 2, "the seeds give different labels");
}
