//! What a model answers to a call.

use agon_core::Usage;
use agon_core::quotations;
use agon_core::seed::Draw;
use agon_engine::{Call, Completion, Finish, Message, Role};

use crate::Broken;
use crate::fields::fill;
use crate::model::{Settings, Structured};
use crate::sample::Taste;
use crate::script::{Script, Style};
use crate::sentence;
use crate::speaker::{Loaded, REMINDER_TOKENS, Speaker, Stop, Tally};

/// A model with fewer weights than this is asked field by field. In between lie models that nobody has tried here.
const SMALL_BELOW: u64 = 1_000_000_000;
/// A small model's sentence that is longer than this has no end.
const SENTENCE_TOKENS: usize = 72;
/// What a small model says in one go.
const SPEECH_SENTENCES: usize = 4;
const SPEECH_TOKENS: usize = 200;
/// What stands between the transcript and an answer when fields are asked for: the question, whose words it is about, and what was
/// said so far.
const FIELD_TOKENS: usize = 2 * REMINDER_TOKENS + 320;
/// The rules of the house, and what the template writes round them.
const HOUSE_TOKENS: usize = 40;
/// The rules of the house, for a model that cannot keep more in mind.
const HOUSE: &str = "You are an expert with an opinion of your own. You answer plainly and give reasons.";

/// Cautious enough to keep the thread, daring enough that three seats do not say the same.
const SMALL: Taste = Taste { temperature: 0.3, top: 0.9, penalty: 1.1 };
const LARGE: Taste = Taste { temperature: 0.6, top: 0.95, penalty: 1.0 };

/// The answer, without the name of the model.
pub(crate) fn answer(
    loaded: &mut Loaded,
    call: &Call,
    settings: &Settings,
    go_on: &dyn Fn() -> bool,
    heard: &dyn Fn(&str),
) -> Result<Completion, Broken> {
    let small = loaded.llama.shape().weights < SMALL_BELOW;
    let by = settings.structured.unwrap_or(if small { Structured::Fields } else { Structured::Schema });
    let style = match &call.schema {
        Some(_) if by == Structured::Schema => Style::Whole,
        _ if !small => Style::Whole,
        schema => Style::Plain { told: schema.is_none() },
    };
    let most = usize::try_from(call.max_output_tokens).unwrap_or(usize::MAX);
    let room = loaded.llama.shape().context;
    let reserve = match style {
        Style::Whole => most.min(room / 2),
        Style::Plain { told: true } => SPEECH_TOKENS + HOUSE_TOKENS,
        Style::Plain { told: false } => FIELD_TOKENS + HOUSE_TOKENS,
    };
    let script = Script::new(asked(&call.messages, style), style);
    let (messages, shortened) = script.fit(room, reserve.min(room / 2), &|messages| {
        Ok(loaded.template.tokens(messages, &loaded.vocabulary)?.len())
    })?;
    let messages = if style == Style::Whole { messages } else { in_the_house(messages) };
    let before = loaded.llama.computed();
    // An ask that was lost and is asked again says what it would have said; a repair, which reads something else, does not.
    let read = call.messages.last().map(|message| message.text.as_str()).unwrap_or_default();
    let draw = Draw::new(call.seed, &format!("embedded {read}"));
    let taste = if small { SMALL } else { LARGE };
    let tally = Tally::default();
    let most_tokens = SENTENCE_TOKENS.min(most);
    let mut speaker = Speaker {
        loaded,
        script: &script,
        messages,
        said: Vec::new(),
        draw,
        taste,
        most_tokens,
        go_on,
        heard,
        tally,
    };
    let (text, stop) = match (&call.schema, style) {
        (Some(schema), Style::Plain { .. }) => (fill(&schema.json, &mut speaker)?.to_string(), Stop::Done),
        (Some(schema), Style::Whole) => speaker.write(&schema.json, most)?,
        (None, Style::Plain { .. }) => {
            let messages = speaker.messages.clone();
            let (said, stop) = speaker.speak(&messages, SPEECH_SENTENCES, SPEECH_TOKENS.min(most))?;
            // Its own bound is a matter of taste; only the debate's cuts an answer off.
            let stop = if most < SPEECH_TOKENS { stop } else { Stop::Done };
            (sentence::tidy(&said, SPEECH_SENTENCES), stop)
        }
        (None, Style::Whole) => {
            let messages = speaker.messages.clone();
            speaker.speak(&messages, usize::MAX, most)?
        }
    };
    let Tally { read, said } = speaker.tally;
    let computed = loaded.llama.computed().saturating_sub(before).saturating_sub(said);
    Ok(Completion {
        text,
        model: String::new(),
        usage: Usage {
            input_tokens: read,
            cached_input_tokens: read.saturating_sub(computed),
            output_tokens: said,
            ..Usage::default()
        },
        finish: if stop == Stop::Length { Finish::Length } else { Finish::End },
        shortened,
    })
}

/// The conversation up to the ask itself: one who is asked field by field has no use for the JSON that was wrong before.
fn asked(messages: &[Message], style: Style) -> &[Message] {
    if style != (Style::Plain { told: false }) {
        return messages;
    }
    let quotes = |message: &Message| message.role == Role::User && !quotations(&message.text).is_empty();
    let last = messages.iter().rposition(quotes).map_or(messages.len(), |place| place + 1);
    messages.get(..last).unwrap_or(messages)
}

/// The conversation under the rules that a small model can keep.
fn in_the_house(messages: Vec<Message>) -> Vec<Message> {
    let others = messages.into_iter().filter(|message| message.role != Role::System);
    std::iter::once(Message::new(Role::System, HOUSE)).chain(others).collect()
}
