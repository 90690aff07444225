//! The form for a person's answer: what is filled in for any schema of any protocol is read back as the same JSON.

use agon::serve::page::answer_form::answer_form;
use agon_core::play::{invent, play};
use agon_core::{
    Ask, Brief, BriefFile, Debate, DebateLimits, LOG_VERSION, Protocol, Request, options, protocol,
};
use serde_json::{Value, json};

use crate::server::Server;
use crate::window::browser;

/// Fills in a form as a person would. Fields that the value does not have stay empty.
const FILL: &str = "(value, wanted) => {
  const fill = (value, wanted) => {
    if (wanted === undefined || wanted === null) return;
    if (value.dataset.kind === 'object') {
      for (const field of value.querySelectorAll(':scope > .field')) fill(field.querySelector(':scope > .value'), wanted[field.dataset.field]);
    } else if (value.dataset.kind === 'list') {
      const entries = () => [...value.querySelectorAll(':scope > .entry')];
      while (entries().length < wanted.length) value.querySelector(':scope > [data-add]').click();
      entries().forEach((entry, place) => fill(entry.querySelector(':scope > .value'), wanted[place]));
    } else {
      const field = value.querySelector('input, select, textarea');
      field.value = value.dataset.kind === 'json' ? JSON.stringify(wanted) : wanted;
    }
  };
  fill(value, wanted);
}";

fn brief(protocol: &dyn Protocol) -> Brief {
    let request = Request {
        question: "Should the team adopt the queue?".into(),
        files: vec![BriefFile { path: "plan.md".into(), text: "Adopt the queue.".into(), part: None }],
        models: ["human/a", "human/b", "human/c"].map(String::from).to_vec(),
        options: options::resolve(protocol.info().options, []).unwrap(),
        seed: 7,
        ..Request::default()
    };
    Brief {
        version: LOG_VERSION,
        id: "test".into(),
        protocol: protocol.info().name.into(),
        seats: protocol.seats(&request).unwrap(),
        question: request.question,
        files: request.files,
        options: request.options,
        seed: 3,
        nonce: "nonce".into(),
        limits: DebateLimits::default(),
        templates: protocol::template_hashes(protocol),
        written_by: String::new(),
        created_at: "2026-01-01T00:00:00Z".into(),
        parent: None,
    }
}

/// Every schema that a seat is asked with in invented debates of every protocol, each with an answer.
fn asked_schemas() -> Vec<(String, Value, Value)> {
    let mut found: Vec<(String, Value, Value)> = Vec::new();
    for protocol in agon_protocols::all() {
        for seed in 0..4 {
            let mut answer = |debate: &Debate, ask: &Ask| {
                let reply = invent(protocol, debate, ask, seed);
                if let (Some(schema), Some(value)) = (&ask.schema, reply.value()) {
                    let name = format!("{} {}", protocol.info().name, schema.name);
                    if found.iter().filter(|(known, ..)| *known == name).count() < 3 {
                        found.push((name, schema.json.clone(), value.clone()));
                    }
                }
                reply
            };
            play(protocol, vec![Debate::open(brief(protocol)).unwrap().1], &mut answer, &mut |_| {}).unwrap();
        }
    }
    found
}

/// `null` and an absent field say the same in a form, an entry without anything in it is none, and 1 is 1.0.
fn as_entered(value: &Value) -> Value {
    let is_entry = |value: &Value| !value.as_array().is_some_and(Vec::is_empty);
    match value {
        Value::Object(fields) => {
            let entered = fields.iter().filter(|(_, value)| !value.is_null());
            entered.map(|(key, value)| (key.clone(), as_entered(value))).collect()
        }
        Value::Array(items) => items.iter().filter(|item| is_entry(item)).map(as_entered).collect(),
        Value::Number(number) => json!(number.as_f64()),
        value => value.clone(),
    }
}

#[test]
fn every_schema_that_a_seat_is_asked_with_can_be_answered_in_a_form() {
    let Some(mut browser) = browser() else { return };
    let server = Server::start();
    browser.open_url(&server.url("/ratings"), 1280, "light");
    let schemas = asked_schemas();
    assert!(schemas.len() > 20, "{} schemas", schemas.len());
    for (name, schema, wanted) in schemas {
        let form = answer_form(Some(&schema)).into_string();
        let read = browser.awaited(&format!(
            "(async () => {{ const {{ answerForm, readValue }} = await import(document.querySelector('script[src]').src); \
             const form = document.createElement('form'); form.innerHTML = {} + '<p data-message></p>'; document.querySelector('main').replaceChildren(form); \
             answerForm(form, '', () => {{}}); const value = form.querySelector('[data-root] > .value'); ({FILL})(value, {wanted}); return readValue(value) }})()",
            json!(form)
        ));
        assert_eq!(as_entered(&read), as_entered(&wanted), "{name}: {schema}");
    }
}
