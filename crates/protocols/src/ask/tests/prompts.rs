//! What the seats read before the debate.

use super::*;

#[test]
fn an_interjection_reaches_every_seat() {
    let (mut debate, _) = Debate::open(brief(&["a/x", "b/y"], &[])).unwrap();
    let interjection =
        agon_core::Event::Interjected { by: "human".into(), text: "Memory is cheap here.".into() };
    debate.push(interjection, 0).unwrap();
    let Step::Ask(_, asks) = Ask.next(&debate).unwrap() else { panic!("the first step is an ask") };
    assert!(asks.iter().all(|ask| ask.prompt.user().contains("Memory is cheap here.")));
}

/// "templates: own + deep's + panel's", and the rubric.
#[test]
fn the_templates_include_those_of_the_debate_and_the_panel() {
    let files: Vec<&str> = Ask.info().templates.iter().map(|template| template.file).collect();
    for file in ["ask/answer.hbs", "ask/rubric.toml", "deep/debater.hbs", "panel/final.hbs"] {
        assert!(files.contains(&file), "{file}");
    }
    assert_eq!(files.len(), OWN_TEMPLATES.len() + Deep.info().templates.len() + Panel.info().templates.len());
}

/// "The schema is sent once" by the engine, and "the person's words are instructions".
#[test]
fn no_prompt_states_its_schema_and_the_question_is_not_quoted() {
    run(&["a/x", "b/y"], &[], &|ask, phase, round| {
        let prompt = ask.prompt.user();
        assert!(!prompt.contains("\"properties\""), "{phase}");
        if phase == "answer" {
            assert!(agon_core::quotations(&prompt).is_empty() && prompt.contains(QUESTION));
        }
        SCRIPT.reply(ask, phase, round)
    });
}
