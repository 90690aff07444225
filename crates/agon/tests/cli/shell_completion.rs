//! Completion: what `agon` answers, and what three real shells make of it.

use std::process::{Command, Stdio};

use crate::support::{Home, Said, said};

/// What is answered for the last of these words.
fn answer(home: &Home, shell: &str, words: &[&str]) -> Said {
    let line = [&["--", "agon"], words].concat();
    let said = home.agon_in(&[("AGON_COMPLETE", shell), ("ANTHROPIC_API_KEY", "sk-secret")], &line);
    assert_eq!((said.status, said.err.as_str()), (Some(0), ""), "{said:?}");
    said
}

fn values(home: &Home, words: &[&str]) -> Vec<String> {
    answer(home, "bash", words).out.lines().map(str::to_owned).collect()
}

fn contains(home: &Home, words: &[&str], wanted: &[&str]) {
    let found = values(home, words);
    for value in wanted {
        assert!(found.iter().any(|one| one == value), "{value} is not among {found:?}");
    }
}

#[test]
fn verbs_options_and_their_values_come_from_the_tables() {
    let home = Home::new();
    contains(&home, &[""], &["deep", "demo", "doctor", "completions", "--help"]);
    assert_eq!(values(&home, &["dem"]), ["demo"]);
    for info in agon_protocols::all().map(|protocol| protocol.info()) {
        let found = values(&home, &[info.name, "--"]);
        for option in info.options.iter().filter(|option| !option.key.contains('.')) {
            let flag = format!("--{}", option.key.replace('_', "-"));
            assert!(found.contains(&flag), "{} {flag}: {found:?}", info.name);
        }
    }
    assert_eq!(values(&home, &["deep", "--mode", ""]), ["deep", "standard", "quick"]);
    assert_eq!(values(&home, &["deep", "--mode=st"]), ["--mode=standard"]);
    contains(&home, &["deep", "--set", "weights."], &["weights.clarity="]);
    contains(&home, &["models", "pull", ""], &["smollm2", "minilm"]);
    contains(&home, &["help", "sec"], &["security"]);
    contains(&home, &["export", "x", "--format", ""], &["html", "json"]);
    contains(&home, &["batch", "tab"], &["tabs.yaml"]);
    assert!(!home.path("home").exists(), "pressing Tab creates nothing");
}

#[test]
fn models_come_from_the_configuration_the_environment_and_this_machine() {
    let home = Home::new();
    home.write(
        "home/agon.toml",
        "[commands.critic]\ncommand = [\"/bin/sh\"]\n[humans.anna]\n[agents.ben]\nmodel = \"own/a\"\n\
         [providers.own]\nbase_url = \"http://127.0.0.1:1/v1\"\n[prices]\n\"own/a:7b\" = { input = 1, output = 2 }\n",
    );
    contains(
        &home,
        &["deep", "q", "--models", ""],
        &[
            "embedded/smollm2",
            "script/demo",
            "script/demo-review",
            "command/critic",
            "human/anna",
            "agent/ben",
            "own/",
            "anthropic/",
        ],
    );
    assert!(!values(&home, &["deep", "q", "--models", ""]).contains(&"openai/".to_owned()), "it has no key");
    assert_eq!(values(&home, &["deep", "q", "--chair", "own/"]), ["own/a:7b"]);
    assert_eq!(values(&home, &["deep", "q", "--models", "human/anna,own/"]), ["human/anna,own/a:7b"]);
    contains(&home, &["deep", "q", "--models", "script/"], &["script/tabs.yaml", "script/demo-arena"]);
    contains(&home, &["review", "x", "--mixed", "anna|own/"], &["anna|own/a:7b"]);
    assert_eq!(values(&home, &["deep", "q", "--no-config", "--models", "human/"]), Vec::<String>::new());
}

#[test]
fn debates_are_completed_newest_first_with_their_question() {
    let home = Home::new();
    assert_eq!(values(&home, &["show", "l"]), Vec::<String>::new(), "there is no debate yet");
    let first = home.debate()["id"].as_str().unwrap().to_owned();
    let args = ["poll", "Tabs: or\nspaces?", "--models", "script/demo-poll", "--json"];
    let second = home.agon(&args).json()["id"].as_str().unwrap().to_owned();
    let found = answer(&home, "fish", &["show", ""]).out;
    let lines: Vec<&str> = found.lines().take(3).collect();
    assert_eq!(lines[0], "last\tthe newest debate");
    assert_eq!(lines[1], format!("{second}\tpoll, complete: Tabs: or spaces?"));
    assert_eq!(lines[2], format!("{first}\tdeep, complete: Tabs or spaces?"));
    assert!(answer(&home, "zsh", &["show", &second]).out.starts_with(&format!("{second}:poll, complete: ")));
    assert_eq!(values(&home, &["show", &second]), std::slice::from_ref(&second));
    assert_eq!(values(&home, &["resume", "1"]), Vec::<String>::new(), "both are over");
    contains(&home, &["verify", ""], &[&first, "tabs.yaml"]);
    contains(&home, &["show", "--db", "home/agon.db", "1"], &[&first]);
}

/// A broken store or configuration, an unknown shell, no words: no candidates, and not a word about it.
#[test]
fn it_never_fails_loudly() {
    let home = Home::new();
    home.write("home/agon.toml", "modles = []\n");
    home.write("home/agon.db", "not a database\n".repeat(100));
    let before = home.files();
    contains(&home, &["show", ""], &["--json"]);
    contains(&home, &["deep", "--models", "script/demo-a"], &["script/demo-arena", "script/demo-ask"]);
    for shell in ["bash", "nonsense", "1"] {
        assert_eq!(home.agon_in(&[("AGON_COMPLETE", shell)], &["--"]).ok().out, "");
        assert_eq!(home.agon_in(&[("AGON_COMPLETE", shell)], &["show"]).ok().out, "");
    }
    assert_eq!(home.files(), before);
}

/// Runs a script in a shell in which `agon` is the program under test. `None` if there is no such shell.
fn in_shell(home: &Home, shell: &str, args: &[&str], script: &str) -> Option<String> {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_agon")).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(folder.to_owned()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let mut command = Command::new(shell);
    command.args(args).arg(script).current_dir(home.path("")).env_clear().env("PATH", path.unwrap());
    command.env("AGON_HOME", home.path("home")).env("HOME", home.path("")).env("TERM", "xterm");
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(child) = child else {
        println!("skipped: there is no {shell}");
        return None;
    };
    let said = said(child);
    assert_eq!(said.err, "", "{said:?}");
    Some(said.out)
}

/// A home with a debate and a model with a colon in its name.
fn home_with_debate() -> (Home, String) {
    let home = Home::new();
    let id = home.debate()["id"].as_str().unwrap().to_owned();
    home.write("home/agon.toml", "[prices]\n\"ollama/llama3:8b\" = { input = 0, output = 0 }\n\"ollama/llama3:70b\" = { input = 0, output = 0 }\n");
    home.write("my plan.md", "# Plan\n");
    (home, id)
}

#[test]
fn bash_completes() {
    let (home, id) = home_with_debate();
    // What bash does when Tab is pressed at the end of the line, with its words as bash splits them.
    let press = |words: &str, line: &str| {
        let script = format!(
            "source <(agon completions bash)\nCOMP_LINE={line:?}\nCOMP_POINT=${{#COMP_LINE}}\nCOMP_WORDS=({words})\n\
             COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n_agon_complete agon \"${{COMP_WORDS[COMP_CWORD]}}\" x\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
        );
        in_shell(&home, "bash", &["-c"], &script)
            .map(|out| out.lines().map(str::to_owned).collect::<Vec<_>>())
    };
    let Some(shown) = press("agon show ''", "agon show ") else { return };
    assert_eq!(shown[..2], ["last".to_owned(), id]);
    assert_eq!(press("agon dee", "agon dee").unwrap(), ["deep"]);
    assert_eq!(press("agon deep q --mode st", "agon deep q --mode st").unwrap(), ["standard"]);
    assert_eq!(
        press("agon deep q --mode = st", "agon deep q --mode=st").unwrap(),
        ["standard"],
        "split at ="
    );
    let models =
        press("agon deep q --models x/y,ollama/llama3 : ''", "agon deep q --models x/y,ollama/llama3:");
    assert_eq!(models.unwrap(), ["70b", "8b"], "split at :");
    assert_eq!(press("agon panel my", "agon panel my").unwrap(), ["my\\ plan.md"]);
    // A name of a stranger's file is one word, whatever is in it.
    let mut quoted = Vec::new();
    for (place, c) in "|!&;(<>`$'\"*?[{#~^\\".chars().enumerate() {
        home.write(&format!("odd{place}-{c}make"), "x\n");
        let (line, words) = (format!("agon panel odd{place}-"), format!("agon panel odd{place}-"));
        quoted.push((format!("odd{place}-{c}make"), press(&words, &line).unwrap().join(" ")));
    }
    home.write("line\nbreak\u{1b}|make", "x\n");
    assert_eq!(press("agon panel line", "agon panel line").unwrap(), [""]);
    for (name, shown) in quoted {
        let script = format!("set -- {shown}\nprintf '%s %s' \"$#\" \"$1\"\n");
        assert_eq!(in_shell(&home, "bash", &["-c"], &script).unwrap(), format!("1 {name}"), "{shown}");
    }
    // In quotes that are open, a name that could end them is not offered.
    home.write("quo'te;make", "x\n");
    assert_eq!(press("agon panel \\'quo", "agon panel 'quo").unwrap(), [""]);
    assert_eq!(press("agon panel \\'my", "agon panel 'my").unwrap(), ["my plan.md"]);
}

#[test]
fn fish_completes() {
    let (home, id) = home_with_debate();
    let press = |line: &str| {
        let script = format!("agon completions fish | source; complete --do-complete {line:?}");
        in_shell(&home, "fish", &["--no-config", "-c"], &script)
    };
    let Some(shown) = press("agon show ") else { return };
    assert!(shown.contains(&format!("{id}\tdeep, complete: Tabs or spaces?\n")), "{shown}");
    assert_eq!(press("agon deep q --mode s").unwrap(), "standard\n");
    assert!(press("agon deep q --models x/y,ollama/").unwrap().contains("x/y,ollama/llama3:8b"));
    assert!(press("agon dem").unwrap().starts_with("demo\tPlay scripted debates"));
}

#[test]
fn zsh_completes() {
    let (home, id) = home_with_debate();
    // What zsh calls when Tab is pressed at the end of the line, with a stand-in for what lists the candidates.
    let press = |words: &str, prefix: &str| {
        let script = format!(
            "compdef() {{ }}\nsource <(agon completions zsh)\n_describe() {{ print -rl -- \"${{(@P)3}}\" \"(${{*[4,-1]}})\" }}\n\
             words=({words})\nCURRENT=$#words\nPREFIX={prefix:?}\n_agon\n"
        );
        in_shell(&home, "zsh", &["-f", "-c"], &script)
            .map(|out| out.lines().map(str::to_owned).collect::<Vec<_>>())
    };
    let Some(shown) = press("agon show ''", "") else { return };
    assert_eq!(
        shown[..2],
        ["last:the newest debate".to_owned(), format!("{id}:deep, complete: Tabs or spaces?")]
    );
    assert_eq!(press("agon deep q --mode st", "st").unwrap(), ["standard", "()"]);
    let models = press("agon deep q --models ollama/ll", "ollama/ll").unwrap();
    assert_eq!(models[..2], ["ollama/llama3\\:70b:free".to_owned(), "ollama/llama3\\:8b:free".to_owned()]);
    let folder = press("agon panel ho", "ho").unwrap();
    assert_eq!(folder, ["home/", "(-S )"], "no space follows a folder");
}
