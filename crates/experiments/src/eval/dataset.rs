//! Questions with gold answers, from lines of JSON.

use agon_core::{BriefFile, Invalid, event};
use agon_protocols::short_answers::{AnswerReader, ShortAnswer};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Choices are named by the letters A to Z.
const CHOICES_MAX: usize = 26;

/// Questions with gold answers.
#[derive(Debug, Clone)]
pub struct EvalDataset {
    /// The questions, in the order of the file.
    pub questions: Vec<EvalQuestion>,
}

/// A question with its gold answers.
#[derive(Debug, Clone)]
pub struct EvalQuestion {
    /// Its `id`, or the number of its line if it has none.
    pub id: String,
    /// What the seats are asked: the question, its choices, and how the answer should end.
    pub text: String,
    /// The gold answers, as written. An answer is right if it matches one of them.
    pub gold: Vec<String>,
    /// The paths of its files.
    pub paths: Vec<String>,
    /// Its files, once they are read.
    pub files: Vec<BriefFile>,
    reader: AnswerReader,
}

impl EvalQuestion {
    /// Whether an answer is one of the gold answers; `None` if arithmetic cannot tell.
    pub fn is_answered_by(&self, answer: &str) -> Option<bool> {
        let mut is_open = false;
        for gold in &self.gold {
            match self.reader.is_same(answer, gold) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => is_open = true,
            }
        }
        (!is_open).then_some(false)
    }
}

/// What a line begins with that gives the answer of a text. Every question asks for such a line.
const ANSWER_MARK: &str = "answer:";

/// The answer that a text gives in the line that the question asks for, or else the whole text.
pub fn stated_answer(text: &str) -> String {
    let text = agon_core::reply::without_thinking(text);
    let is_markup = |c: char| c.is_whitespace() || matches!(c, '*' | '#' | '>' | '`');
    let stated = text.lines().rev().map(|line| line.trim_matches(is_markup)).find_map(|line| {
        let mark = line.get(..ANSWER_MARK.len()).filter(|mark| mark.eq_ignore_ascii_case(ANSWER_MARK))?;
        let stated = line.get(mark.len()..)?.trim_matches(is_markup);
        (!stated.is_empty()).then(|| stated.to_owned())
    });
    stated.unwrap_or_else(|| text.trim().to_owned())
}

/// A line of the file. Other fields are ignored.
#[derive(Deserialize)]
struct DatasetLine {
    id: Option<Value>,
    question: Option<String>,
    answer: Option<Value>,
    choices: Option<Value>,
    #[serde(default)]
    files: Vec<String>,
}

impl EvalDataset {
    /// Reads lines of JSON: `{"question": "...", "answer": "..."}`. An error names the line.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let mut questions: Vec<(usize, EvalQuestion)> = Vec::new();
        for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
            if line.trim().is_empty() {
                continue;
            }
            let wrong = |why: String| Invalid(format!("line {number}: {why}"));
            let question = question(line, number).map_err(wrong)?;
            if let Some((first, _)) = questions.iter().find(|(_, other)| other.id == question.id) {
                let id = &question.id;
                return Err(wrong(format!("line {first} has the id {id:?} too: give each question its own")));
            }
            questions.push((number, question));
        }
        if questions.is_empty() {
            return Err(Invalid::new(
                "it has no questions: write one JSON object per line, {\"question\": \"...\", \"answer\": \"...\"}",
            ));
        }
        Ok(Self { questions: questions.into_iter().map(|(_, question)| question).collect() })
    }

    /// The first `count` questions.
    pub fn first(mut self, count: usize) -> Self {
        self.questions.truncate(count);
        self
    }

    /// Reads the files of all questions with `read`.
    pub fn with_files(mut self, read: &dyn Fn(&str) -> Result<String, Invalid>) -> Result<Self, Invalid> {
        for question in &mut self.questions {
            let files = question
                .paths
                .iter()
                .map(|path| Ok(BriefFile { path: path.clone(), text: read(path)?, part: None }));
            question.files = files.collect::<Result<_, Invalid>>()?;
        }
        Ok(self)
    }

    /// A hash of everything that decides how the questions are asked and graded.
    pub fn hash(&self) -> String {
        let rows = self.questions.iter().map(|question| {
            let files: Vec<(&str, &str)> =
                question.files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
            json!([question.id, question.text, question.gold, question.paths, files])
        });
        event::sha256(&Value::Array(rows.collect()).to_string())
    }
}

fn question(line: &str, number: usize) -> Result<EvalQuestion, String> {
    // Serde would accept an array and take its items for the fields.
    if !line.trim_start().starts_with('{') {
        return Err("it is not a JSON object: write {\"question\": \"...\", \"answer\": \"...\"}".into());
    }
    let raw: DatasetLine = serde_json::from_str(line).map_err(|why| json_sentence(&why))?;
    let asked = raw.question.unwrap_or_default();
    if asked.trim().is_empty() {
        return Err("it has no \"question\"".into());
    }
    let id = match raw.id {
        None | Some(Value::Null) => number.to_string(),
        Some(id) => {
            scalar(&id).filter(|id| !id.trim().is_empty()).ok_or("its \"id\" must be text or a number")?
        }
    };
    let choices =
        raw.choices.filter(|choices| !choices.is_null()).map(|choices| choice_list(&choices)).transpose()?;
    let text = full_question(asked.trim(), choices.as_deref().unwrap_or_default());
    let gold = gold(raw.answer.unwrap_or_default())?;
    let reader = AnswerReader::new(&text);
    for gold in &gold {
        let is_option = matches!(reader.read(gold), Some(ShortAnswer::Option(_)));
        if gold.trim().is_empty() {
            return Err("a gold answer is empty".into());
        }
        if choices.is_some() && !is_option {
            return Err(format!(
                "the gold answer {gold:?} is not one of the choices: write the letter or the words of one"
            ));
        }
    }
    Ok(EvalQuestion { id, text, gold, paths: raw.files, files: Vec::new(), reader })
}

/// The parser sees a single line, so its line number is left out.
fn json_sentence(why: &serde_json::Error) -> String {
    let text = why.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    format!("{text} (column {})", why.column())
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

fn gold(answer: Value) -> Result<Vec<String>, String> {
    const SHAPE: &str = "\"answer\" must be text, a number, true or false, or a list of these";
    match answer {
        Value::Null => Err("it has no \"answer\", the gold answer".into()),
        Value::Array(all) if all.is_empty() => Err("its \"answer\" is an empty list".into()),
        Value::Array(all) => all.iter().map(|one| scalar(one).ok_or_else(|| SHAPE.to_owned())).collect(),
        one => Ok(vec![scalar(&one).ok_or(SHAPE)?]),
    }
}

/// The choices in order, from a list or from an object with their letters as keys.
fn choice_list(choices: &Value) -> Result<Vec<String>, String> {
    const SHAPE: &str = "\"choices\" must be a list of 2 to 26 texts, or {\"A\": .., \"B\": ..}";
    let words = match choices {
        Value::Array(all) => all.iter().map(scalar).collect::<Option<Vec<_>>>(),
        Value::Object(map) => lettered(map),
        _ => None,
    };
    let words = words.filter(|words| (2..=CHOICES_MAX).contains(&words.len())).ok_or(SHAPE)?;
    let one_line = |words: &String| words.split_whitespace().collect::<Vec<_>>().join(" ");
    let words: Vec<String> = words.iter().map(one_line).collect();
    if words.iter().any(String::is_empty) { Err("one of its \"choices\" is empty".into()) } else { Ok(words) }
}

fn lettered(map: &Map<String, Value>) -> Option<Vec<String>> {
    let letters = ('A'..='Z').take(map.len());
    letters.map(|letter| scalar(map.get(&letter.to_string())?)).collect()
}

/// The question as every arm asks it: with its choices, and with an ending from which the answer can be read.
fn full_question(question: &str, choices: &[String]) -> String {
    let mut lines = vec![question.to_owned(), String::new()];
    if !choices.is_empty() {
        lines.extend(('A'..='Z').zip(choices).map(|(letter, words)| format!("{letter}) {words}")));
        lines.push(String::new());
    }
    let what = match choices.is_empty() {
        true => "the answer alone in as few words as it takes, a number in digits without separators",
        false => "the letter of the one choice that is right",
    };
    lines.push(format!("If you answer in free text, end with a line \"Answer: X\", where X is {what}."));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_asked_with_its_choices_and_the_form_of_the_answer() {
        let text = "\u{feff}{\"question\": \"Capital of France?\", \"choices\": [\"Lyon\", \"Paris\\n\"], \"answer\": \"Paris\", \"subject\": \"x\"}\r\n\r\n\
                    {\"id\": 7, \"question\": \"6 times 7?\", \"answer\": [42, \"forty-two\"]}\n\
                    {\"id\": \"c\", \"question\": \"Which?\", \"choices\": {\"B\": 2, \"A\": 1}, \"answer\": \"B\", \"files\": [\"a.md\"]}";
        let dataset = EvalDataset::parse(text).unwrap();
        let ids: Vec<&str> = dataset.questions.iter().map(|question| question.id.as_str()).collect();
        assert_eq!(ids, ["1", "7", "c"]);
        assert_eq!(
            dataset.questions[0].text,
            "Capital of France?\n\nA) Lyon\nB) Paris\n\nIf you answer in free text, end with a line \"Answer: X\", where X is the letter of the one choice that is right."
        );
        assert!(dataset.questions[2].text.contains("\nA) 1\nB) 2\n"));
        let met = |at: usize, said: &str| dataset.questions[at].is_answered_by(&stated_answer(said));
        for (at, said, expected) in [
            (0, "Much speaks for it.\n**Answer:** B", Some(true)),
            (0, "Paris", Some(true)),
            (0, "A", Some(false)),
            (0, "Rome", None),
            (1, "42.0", Some(true)),
            (1, "Answer: Forty-Two.", Some(true)),
            // A number is not the words "forty-two", so only a clerk can tell.
            (1, "43", None),
            (1, "42 apples", None),
            (2, "2", Some(true)),
            (2, "B)", Some(true)),
            (2, "A", Some(false)),
        ] {
            assert_eq!(met(at, said), expected, "{at} {said}");
        }
        let read = dataset.clone().with_files(&|path| Ok(format!("text of {path}"))).unwrap();
        assert_eq!(read.questions[2].files[0].text, "text of a.md");
        assert_ne!(read.hash(), dataset.hash());
        assert_eq!(dataset.clone().first(2).questions.len(), 2);
    }

    /// Every gold answer of the example matches itself.
    #[test]
    fn the_example_file_is_a_dataset() {
        let dataset = EvalDataset::parse(include_str!("../../../../examples/questions.jsonl")).unwrap();
        for question in &dataset.questions {
            for gold in &question.gold {
                let said = stated_answer(&format!("So it is.\n\nAnswer: {gold}"));
                assert_eq!(question.is_answered_by(&said), Some(true), "{}", question.id);
            }
        }
    }

    #[test]
    fn a_line_that_cannot_be_asked_or_graded_is_refused_by_its_number() {
        for (line, why) in [
            ("{", "column"),
            ("[1]", "not a JSON object"),
            ("{\"question\": \" \", \"answer\": 1}", "no \"question\""),
            ("{\"question\": \"Q?\"}", "no \"answer\""),
            ("{\"question\": \"Q?\", \"answer\": []}", "empty list"),
            ("{\"question\": \"Q?\", \"answer\": \" \"}", "empty"),
            ("{\"question\": \"Q?\", \"answer\": {\"a\": 1}}", "must be text"),
            (
                "{\"question\": \"Q?\", \"answer\": \"C\", \"choices\": [\"x\", \"y\"]}",
                "not one of the choices",
            ),
            ("{\"question\": \"Q?\", \"answer\": 0, \"choices\": [\"x\", \"y\"]}", "not one of the choices"),
            ("{\"question\": \"Q?\", \"answer\": \"A\", \"choices\": [\"x\"]}", "2 to 26"),
            (
                "{\"question\": \"Q?\", \"answer\": \"A\", \"choices\": {\"A\": \"x\", \"C\": \"y\"}}",
                "2 to 26",
            ),
            ("{\"question\": \"Q?\", \"answer\": \"A\", \"choices\": [\"x\", \" \"]}", "is empty"),
            ("{\"id\": [], \"question\": \"Q?\", \"answer\": 1}", "\"id\""),
            ("{\"id\": 1, \"question\": \"Q?\", \"answer\": 1}", "line 1 has the id \"1\" too"),
        ] {
            let text = format!("{{\"question\": \"First?\", \"answer\": 1}}\n\n{line}\n");
            let found = EvalDataset::parse(&text).unwrap_err().0;
            assert!(found.starts_with("line 3: ") && found.contains(why), "{line}: {found}");
        }
        assert!(EvalDataset::parse(" \n\n").unwrap_err().0.contains("no questions"));
    }
}
