//! `/new`: a form made from the protocols' options, with the models, files and an estimate.

use agon_core::wording::{heading, spoken};
use agon_core::{OptionKind, OptionSpec, ProtocolInfo};
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::demos::{demo_button, demo_request};
use super::frame::{SiteSection, page};
use crate::cli::targets::CONTEXT;
use crate::cli::verbs;
use crate::hosting::blocking;
use crate::serve::ServerState;
use crate::serve::api::ApiQuery;
use crate::serve::problem::Problem;

/// Which kind of debate.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ProtocolChoice {
    protocol: Option<String>,
}

/// The screen.
pub async fn new_screen(
    State(state): State<ServerState>,
    ApiQuery(choice): ApiQuery<ProtocolChoice>,
) -> Result<Response, Problem> {
    let named = choice.protocol.filter(|name| !name.is_empty());
    let protocol = match &named {
        Some(name) => agon_protocols::find(name),
        None => agon_protocols::all().next(),
    };
    let info = protocol.map(|protocol| protocol.info()).ok_or_else(|| {
        let known: Vec<&str> = agon_protocols::all().map(|protocol| protocol.info().name).collect();
        Problem::invalid(format!("there is no such kind of debate; there are: {}", known.join(", ")))
    })?;
    let host = state.host.clone();
    let models =
        blocking(move || Ok(verbs::models::listing_document(host.configuration(), host.catalogue()))).await?;
    let main = html! {
        h1 { "New debate" }
        (protocol_picker(info))
        form id="new-debate" data-protocol=(info.name) {
            div class="main-column" {
                (subject(info))
                (files(info))
                (seats(info))
                (options(info))
                (limits())
            }
            aside class="side" {
                section class="side-box" aria-labelledby="estimate-title" {
                    h2 id="estimate-title" { "What it would take" }
                    div data-estimate aria-live="polite" { p class="note" { "Write a question to see an estimate." } }
                    p class="refused" role="alert" data-message {}
                    button type="submit" { "Begin the debate" }
                }
                (known_models(&models))
            }
        }
        noscript { p { "Starting a debate needs JavaScript; reading does not." } }
    };
    Ok(page("New debate", SiteSection::New, "screen new", &main))
}

/// Whether the debate is about files.
fn is_about_files(info: &ProtocolInfo) -> bool {
    info.subject.contains("FILE") || info.subject.contains("TARGET")
}

fn protocol_picker(info: &ProtocolInfo) -> Markup {
    html! {
        div data-part="picker" {
            nav class="picker" aria-label="Kind of debate" {
                @for other in agon_protocols::all().map(|protocol| protocol.info()) {
                    a href={ "/new?protocol=" (other.name) } aria-current=[(other.name == info.name).then_some("true")] data-protocol=(other.name) {
                        strong { (other.name) }
                        span { (other.about) }
                    }
                }
            }
            @if let Some(request) = demo_request(info) {
                p class="demo-line" { "New here? A scripted debate of this kind needs no model and costs nothing. " (demo_button(&request)) }
            }
        }
    }
}

fn subject(info: &ProtocolInfo) -> Markup {
    let word = spoken(&info.subject.trim_end_matches('.').to_lowercase());
    html! {
        div data-part="subject" {
            @if is_about_files(info) {
                label { span { "Question or title " small { "(optional: this kind judges the texts below)" } } textarea name="question" rows="2" {} }
            } @else {
                label { span { (heading(&word)) } textarea name="question" rows="4" required {} }
            }
        }
    }
}

fn files(info: &ProtocolInfo) -> Markup {
    let parts = info.options.iter().filter(|option| option.kind == OptionKind::File);
    let parts: Vec<&OptionSpec> = parts.collect();
    let first = if is_about_files(info) { "what the debate is about" } else { "context" };
    html! {
        div data-part="files" {
            fieldset class="files" {
                legend { "Texts" }
                div data-files {}
                template data-file {
                    div class="file" {
                        label { span { "Name" } input name="path" value="text.md" autocomplete="off"; }
                        label {
                            span { "Used as" }
                            select name="part" {
                                option value="" { (first) }
                                @if is_about_files(info) { option value=(CONTEXT) { "context" } }
                                @for option in &parts { option value=(option.key) { (option.key) ": " (option.help) } }
                            }
                        }
                        label class="text" { span { "Text" } textarea name="text" rows="6" class="code" {} }
                        button type="button" class="quiet" data-remove-file { "Remove" }
                    }
                }
                p class="buttons" {
                    button type="button" class="quiet" data-add-file { "Paste a text" }
                    label class="button quiet" { "Choose files" input type="file" multiple data-pick class="hidden"; }
                }
            }
        }
    }
}

fn seats(info: &ProtocolInfo) -> Markup {
    html! {
        fieldset {
            legend { "Who sits at the table" }
            p class="note" { "One model per seat, repeated as needed. Without any, the server's own models sit down. " code { "human/NAME" } " is a person who answers here." }
            label { span { "Models, one per line" } textarea name="models" rows="3" class="code" autocomplete="off" spellcheck="false" {} }
            p class="buttons" { button type="button" class="quiet" data-model="human/me" { "Take a seat yourself" } }
            div data-part="roles" class="grid" {
                @for role in info.named_roles() {
                    label { span { (heading(role)) } input name=(role) data-role list="known-models" placeholder="as above" autocomplete="off"; }
                }
            }
        }
    }
}

fn options(info: &ProtocolInfo) -> Markup {
    let shown = info.options.iter().filter(|option| option.kind != OptionKind::File);
    html! {
        div data-part="options" {
            details class="fold" {
                summary { "Options" }
                div class="grid" { @for option in shown { (option_field(option)) } }
            }
        }
    }
}

fn option_field(option: &OptionSpec) -> Markup {
    let OptionSpec { key, default, help, .. } = option;
    let input = match option.kind {
        OptionKind::Int(low, high) => {
            html! { input type="number" name=(key) data-option step="1" min=(low) max=(high) placeholder=(default); }
        }
        OptionKind::Float(low, high) => {
            html! { input type="number" name=(key) data-option step="any" min=(low) max=(high) placeholder=(default); }
        }
        OptionKind::Choice(words) => html! {
            select name=(key) data-option {
                option value="" { @if default.is_empty() { "not set" } @else { (default) " (default)" } }
                @for word in words.iter().filter(|word| word != &default) { option value=(word) { (word) } }
            }
        },
        OptionKind::Flag => html! {
            select name=(key) data-option {
                @let (shown, other) = if *default == "true" { ("yes (default)", ("false", "no")) } else { ("no (default)", ("true", "yes")) };
                option value="" { (shown) }
                option value=(other.0) { (other.1) }
            }
        },
        OptionKind::Text | OptionKind::File | OptionKind::Model | OptionKind::Models => {
            html! { input type="text" name=(key) data-option placeholder=(default) autocomplete="off"; }
        }
    };
    html! { label { span { (heading(key)) } (input) small class="about" { (help) } } }
}

fn limits() -> Markup {
    let fields = [
        ("budget_usd", "Budget in US dollars", "any"),
        ("max_calls", "Most calls", "1"),
        ("timeout_s", "Seconds for one call", "any"),
        ("deadline_s", "Seconds for the debate", "any"),
    ];
    html! {
        details class="fold" {
            summary { "Limits" }
            div class="grid" {
                @for (name, label, step) in fields {
                    label { span { (label) } input type="number" name=(name) data-limit min="0" step=(step); }
                }
                label { span { "Seed" } input type="number" name="seed" min="0" step="1"; }
            }
        }
    }
}

/// What can be named, without asking any provider. The script then asks which of them answer.
fn known_models(models: &Value) -> Markup {
    let list = |key: &str| models.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let text =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    html! {
        section class="side-box models" aria-labelledby="models-title" data-models {
            h2 id="models-title" { "Models" }
            p class="note" data-probed { "Which providers answer is not known yet." }
            ul {
                @for model in list("embedded") {
                    @let name = text(model, "model");
                    @if !name.is_empty() && !name.starts_with("embeddings/") { li { (model_button(&name)) span class="note" { "runs on the server" } } }
                }
                @for agent in list("agents") { li { (model_button(&text(agent, "agent"))) span class="note" { (text(agent, "model")) } } }
                @for human in list("humans").iter().filter_map(Value::as_str) { li { (model_button(human)) span class="note" { "a person" } } }
                @for provider in list("providers") {
                    @let problem = text(provider, "problem");
                    li data-provider=(text(provider, "provider")) {
                        strong { (text(provider, "provider")) }
                        span class={ "reach " (if problem.is_empty() { "ready" } else { "unready" }) } title=[(!problem.is_empty()).then_some(&problem)] {
                            @if problem.is_empty() { "configured" } @else { "not configured" }
                        }
                        ul data-list {}
                    }
                }
            }
            datalist id="known-models" {}
        }
    }
}

fn model_button(name: &str) -> Markup {
    html! { button type="button" class="model" data-model=(name) { (name) } }
}
