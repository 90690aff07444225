//! What a person sees. These snapshots are to be read as a manual.

use insta::assert_snapshot;

use crate::support::Home;

#[test]
#[allow(clippy::too_many_lines, reason = "a report is as long as it is")]
fn agon_help_is_worth_reading() {
    let help = Home::new().agon(&["--help"]).ok().shown();
    let (verbs, examples) = help.split_once("Examples:\n").unwrap();
    let (examples, notes) = examples.split_once("\n\n").unwrap();
    assert!(examples.contains(" --models script/demo\n      watch a scripted debate"), "{examples}");
    for info in agon_protocols::all().map(|protocol| protocol.info()) {
        if let Some((line, _)) = info.example {
            assert!(examples.contains(&format!("  agon {} {line}\n", info.name)), "{examples}");
        }
    }
    assert_snapshot!(format!("{verbs}Examples: ...\n\n{notes}"), @"
    Structured debate between language models

    Usage: agon <VERB> [OPTIONS]

    Debates:
      deep         Anonymous debaters argue a question, a moderator measures
                   convergence, a chair writes the answer
      panel        Judges with stances score files on a rubric, rebut each other,
                   and reach consensus or a majority with dissent
      council      Councillors with roles cross-examine each other, exchange
                   messages, a moderator intervenes, and they vote
      arena        Agents propose, critique, revise and vote in nine rounds, a judge
                   scores them, and ratings and memory remain
      review       Judges rule PASS, WARN or FAIL on files, a text or a diff, and
                   may revise after reading each other
      poll         Every seat answers once, alone, and the answer that most of them
                   give is the answer
      ask          Two different models answer; only if they differ there is a
                   debate, then judges on what still divides

    To learn:
      demo         Play scripted debates, one of each kind; no model is needed
      help         Show the help of a verb, or a chapter of the book; `agon help
                   topics` lists the chapters

    Stored debates:
      list         List debates, the newest first
      show         Print the report of a debate again, or a part of it
      search       Find debates by what was asked, said or decided
      export       Write a debate as Markdown, HTML, JSON or YAML, a gate's verdict
                   for a pipeline, or a trace
      resume       Continue an interrupted debate; answers that it has are not asked
                   for again
      replay       Check every step of a debate against its protocol, without any
                   call, and print the report
      branch       Start a new debate from the first rounds of another, and continue
                   differently
      verify       Check that a debate's log, or a receipt, was not changed since it
                   was written
      resolve      Record how a debate turned out, so that forecasts are scored
      ratings      Show how agents are rated: rating, uncertainty, calibration and
                   history
      knowledge    Show and edit what debates decided and users added; later debates
                   can read what is relevant
      memory       Show and delete what agents remember of their debates

    For browsers and programs:
      serve        Serve debates over HTTP: a page to watch and join them, an API,
                   and debates as models of chat programs
      mcp          Serve debates as tools to a coding agent on stdin and stdout
                   (Model Context Protocol)
      worker       Run the debates that others submit to a Restate server, together
                   with other workers

    Many debates:
      batch        Run many debates: one JSON object per line in, one outcome per
                   line out, each as it ends
      eval         Try protocols on questions with known answers: accuracy against
                   cost, with intervals and paired tests
      simulate     Run debates between simulated seats with known properties, and
                   measure what the protocol does
      audit        Measure a table of answers or rulings: independence, what a vote
                   gains, whether order matters

    Setup:
      protocols    List the kinds of debate and their options
      models       List the models that you can name; pull or verify the files of
                   embedded ones
      deliver      Send results that have not arrived yet
      store        Remove old debates, make the store smaller, or copy it
      keys         Show, renew or trust the keys that sign receipts
      doctor       Check the configuration, the store, the providers and the files
                   of embedded models
      init         Write a commented agon.toml into this directory
      completions  Print a script that completes verbs, options, models and debates
                   in a shell
      man          Print the manual page: agon man | man -l -

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Examples: ...

    A model is provider/model. `agon doctor` shows the providers,
    `agon VERB --help` the options of a verb, `agon help topics` the book.

    Exit status: 0 a verdict, 1 a negative verdict, 2 bad usage or input,
    3 could not complete, 130 interrupted.
    ");
}

#[test]
fn agon_demo_shows_each_kind_of_debate() {
    assert_snapshot!(Home::new().agon(&["demo", "--help"]).ok().shown(), @r#"
    Play scripted debates, one of each kind; no model is needed

    Usage: agon demo [OPTIONS] [NAME]...

    Arguments:
      [NAME]...  The kinds of debate to show [default: all] [possible values: deep, panel, council,
                 arena, review, poll, ask]

    Options:
          --json   Print one JSON document on stdout and nothing else there: {"debates": [..]}
          --quiet  Print nothing but the reports
      -h, --help   Print help

    Files:
          --db <STORE>  The store: a file, or postgres://USER@HOST/NAME [default: AGON_DB, else agon.db
                        in AGON_HOME or in the data folder]

    On a terminal there is a pause before the next demo, and a key skips it. The debates are stored, so
    `agon list` shows them, but ratings and knowledge are left alone.
    Exit status: 0 if every demo came to its end, whatever its verdict.
    "#);
    let said = Home::new().agon(&["demo", "poll"]).ok();
    let (heading, _) = said.err.split_once("\n\n").unwrap();
    assert_snapshot!(heading, @"
    Demo 1 of 1: poll
    Every seat answers once, alone, and the answer that most of them give is the
      answer
    agon poll 'Should a new web service start as one application or as microservices?' --models script/demo-poll
    ");
    assert!(said.err.ends_with("agon show ID shows one again.\n"), "{said:?}");
}

#[test]
fn doctor_offers_what_it_can_fix() {
    let help = Home::new().agon(&["doctor", "--help"]).ok().shown();
    let (help, _) = help.split_once("\nFiles:").unwrap();
    assert_snapshot!(help, @"
    Check the configuration, the store, the providers and the files of embedded models

    Usage: agon doctor [OPTIONS]

    Options:
          --offline            Ask no provider; only look at this machine
          --fix                Offer to fix what can be fixed
          --yes                Do everything that --fix offers
          --token-file <FILE>  Also look at this file of tokens of `agon serve`
          --json               Print one JSON document on stdout and nothing else there
      -h, --help               Print help
    ");
}

#[test]
fn help_is_a_verb_too() {
    let home = Home::new();
    assert_eq!(home.agon(&["help"]).ok(), home.agon(&["--help"]));
    assert_eq!(home.agon(&["help", "branch"]).ok(), home.agon(&["branch", "--help"]));
}

#[test]
fn a_protocols_verb_has_its_options_as_flags() {
    let help = Home::new().agon(&["deep", "--help"]).ok().shown();
    // The line that names the chapter is there as soon as the book has one.
    let help = help.split_once("\n\nThe book has a chapter: ").map_or(help.as_str(), |(help, _)| help);
    assert_snapshot!(help, @"
    Anonymous debaters argue a question, a moderator measures convergence, a chair writes the answer

    Usage: agon deep [OPTIONS] [QUESTION]

    Arguments:
      [QUESTION]  The question, in quotes; without it, or with `-`, it is read from stdin

    Options:
          --context <FILE>  A text that the seats may use and cite; `-` is stdin; may be repeated
          --dry-run         Show seats, calls, tokens and price; make no call and store nothing
      -h, --help            Print help

    Seats:
          --models <A,B,C>     The models, one per seat, repeated as needed: provider/model, or a
                               fallback chain A|B
          --seed <N>           The source of every shuffle and draw [default: random]
          --moderator <MODEL>  The moderator's model
          --chair <MODEL>      The chair's model

    Protocol:
          --mode <WORD>           The stages: answers, debate and synthesis (deep); answers, mutual
                                  evaluation and synthesis (standard); answers and synthesis (quick)
                                  [default: deep] [possible values: deep, standard, quick]
          --min-rounds <N>        The debate cannot converge before this round [default: 2]
          --max-rounds <N>        The debate ends after this round [default: 3]
          --agreement-score <X>   The debate converges at this agreement or more [default: 0.8]
          --new-points-ratio <X>  The debate converges at this share of new points or less [default:
                                  0.15]
          --strict[=<BOOL>]       Stop without a synthesis when the time or money runs out
          --ratify[=<BOOL>]       Ask every debater at the end whether it signs the answer
          --set <key=value>       Set an option of the protocol by its key; `agon protocols` lists them

    Limits:
          --timeout <SECONDS>   How long one call may take, `execution.timeout.per_llm_call` [default:
                                120]
          --deadline <SECONDS>  How long the debate may take
          --budget-usd <X>      The most US dollars that the debate may cost
          --max-calls <N>       The most calls, counting every attempt
          --max-tokens <N>      The most tokens, input and output together

    Tools:
          --tools <NAME,..>  What the seats may have looked up between phases: files (under this
                             folder), fetch, or a server of [tools] in your agon.toml. At most 3
                             requests of one reply and 12 of one round are run
          --tool-calls <N>   The most requests that are run in the debate [default: 24]
          --tool-tokens <N>  How many tokens all that is looked up may have; what does not fit is left
                             out as a whole [default: 24000]

    Workers:
          --restate <URL>        Run on the workers of this Restate server instead of in this process,
                                 for instance http://HOST:8080
          --restate-admin <URL>  Where that server is administered, if not on port 9070 of the same host

    Output:
          --json          Print one JSON document on stdout and nothing else there
          --events        Print the log on stdout as it happens, one JSON event per line
          --quiet         Print nothing but the result
          --save [<DIR>]  Also write report.md, outcome.json, log.ndjson and the protocol's own records
                          into DIR/ID
          --to <WHERE>    Also send the result to file:PATH, https://..., slack:URL, discord:URL, or
                          NAME of [destinations.NAME]

    Files:
          --config <FILE>  The configuration [default: agon.toml in AGON_HOME or in the configuration
                           folder]
          --no-config      Use no configuration file
          --db <STORE>     The store: a file, or postgres://USER@HOST/NAME [default: AGON_DB, else
                           agon.db in AGON_HOME or in the data folder]
    ");
}

#[test]
fn protocols_lists_the_kinds_of_debate() {
    let shown = Home::new().agon(&["protocols"]).ok().shown();
    let (deep, _) = shown.split_once("\npanel: ").unwrap();
    assert_snapshot!(deep, @"
    deep: Anonymous debaters argue a question, a moderator measures convergence, a
    chair writes the answer
      models for single roles: --moderator, --chair
      mode = deep   (deep, standard, quick)
          the stages: answers, debate and synthesis (deep); answers, mutual
          evaluation and synthesis (standard); answers and synthesis (quick)
      min_rounds = 2   (1 to 20)
          the debate cannot converge before this round
      max_rounds = 3   (1 to 20)
          the debate ends after this round
      agreement_score = 0.8   (0.0 to 1.0)
          the debate converges at this agreement or more
      new_points_ratio = 0.15   (0.0 to 1.0)
          the debate converges at this share of new points or less
      strict = false   (true, false)
          stop without a synthesis when the time or money runs out
      ratify = false   (true, false)
          ask every debater at the end whether it signs the answer
      weights.accuracy = 30   (0.0 to 100.0)
          weight in standard mode; the six sum to 100
      weights.completeness = 15   (0.0 to 100.0)
          weight in standard mode; the six sum to 100
      weights.verifiability = 20   (0.0 to 100.0)
          weight in standard mode; the six sum to 100
      weights.reasoning = 15   (0.0 to 100.0)
          weight in standard mode; the six sum to 100
      weights.clarity = 10   (0.0 to 100.0)
          weight in standard mode; the six sum to 100
      weights.usefulness = 10   (0.0 to 100.0)
          weight in standard mode; the six sum to 100
    ");
    for (name, option) in
        [("panel", "rubric = not set   (a file)"), ("review", "mixed = not set   (models, with commas)")]
    {
        assert!(shown.contains(&format!("\n{name}: ")) && shown.contains(option), "{shown}");
    }
}

#[test]
#[allow(clippy::too_many_lines, reason = "a report is as long as it is")]
fn a_debate_in_a_pipe_is_plain_lines_on_stderr_and_a_report_on_stdout() {
    let args = ["deep", "Tabs or spaces?", "--models", "script/tabs.yaml", "--seed", "7"];
    assert_snapshot!(Home::new().agon(&args).ok().shown(), @r#"
    Tabs or spaces?
    The debaters do not agree: they hold 2 positions. The debate converged after 2
    rounds.
    deep · 3 debaters · 2 rounds · 0.0 s

    Answer
      Let a formatter decide, and take its default.

    Why
      The width is a matter of taste, and an argument about it is not worth its
      time.

    What the debate did
      Debater B changed position in round 2. Debater C revised the text in round 2.
      A plain vote on the first positions is tied; the answer states one of the tied
      positions. Nobody changed position in round 1. How independent the debaters
      are is not known; Debater C, Debater B and Debater A share the model
      script/tabs.yaml.

                 start  R1     R2
      Debater C  #1     #1     #1'
      Debater B  #2     #2     #3'*
      Debater A  #3     #3     #3
      #1   Tabs.
      #1'  Tabs to indent. (Debater C, last)
      #2   Spaces.
      #3   A formatter decides.
      #3'  Whatever the formatter writes. (Debater B, last)
      * changed, naming a point or evidence; ' in other words
      • Debater B: changed position in round 2, naming [A0] of Debater A: "Let a
        formatter decide"

    Strongest points of each last argument
      • Debater A: One of the others has come round
      • Debater B: A formatter makes it moot
      • Debater C: Alignment needs spaces

    What was contested
      • Whether tabs are easier to read

    Dissent
      • Debater C (debater-1): Tabs to indent, spaces to align.
        Rejected by the chair: A formatter may write spaces. Its holder's reason:
        Alignment needs spaces

    Warnings
      • Round 2: the moderator scores the agreement 0.90, but the debaters hold 2
        positions

    Round by round
      Round  Pairs that agree  Moderator's score  New points, by the moderator
      1      0.00              0.50               1.00
      2      0.33              0.90               0.10
      What each debater did:
      Round  Debater  Stance           Revision        Confidence
      1      A        maintain         no change       0.95
      1      B        maintain         no change       0.90
      1      C        maintain         no change       0.80
      2      A        maintain         no change       0.95
      2      B        concede          major revision  0.80
      2      C        partial concede  minor update    0.70

    Seats
      Debater A: debater-3, script/tabs.yaml
      Debater B: debater-2, script/tabs.yaml
      Debater C: debater-1, script/tabs.yaml
      Moderator: script/tabs.yaml
      Chair: script/tabs.yaml

    Cost
      12 calls, 0 tokens in, 0 out, $0.00

    Debate (twelve-id.)
      agon show (twelve-id.)
      agon export (twelve-id.) --format html
    -- stderr
    Tabs or spaces?
    deep · 3 debaters, moderator, chair · (twelve-id.)

    3 debaters answer, each on its own
      ✓ debater-1   0.0 s  Tabs. Everybody sees the width they like.
      ✓ debater-2   0.0 s  Spaces. A file looks the same everywhere.
      ✓ debater-3   0.0 s  Let a formatter decide.

    Round 1 of 3 - 3 debaters argue
      ✓ Debater C   0.0 s  A tab is one keystroke and any width
      ✓ Debater B   0.0 s  Review tools show tabs too wide
      ✓ Debater A   0.0 s  The question costs more than either answer

    Round 1 of 3 - the moderator measures how far they agree
      ✓ Moderator   0.0 s  What a formatter leaves open
        Round 1 of 3, agreement 0.50, new points 1.00
        Debater  Stance    Revision   Confidence
        A        maintain  no change  0.95
        B        maintain  no change  0.90
        C        maintain  no change  0.80

    Round 2 of 3 - 3 debaters argue
      ✓ Debater C   0.0 s  Tabs to indent, spaces to align
      ✓ Debater B   0.0 s  Whatever the formatter writes
      ✓ Debater A   0.0 s  One of the others has come round

    Round 2 of 3 - the moderator measures how far they agree
      ✓ Moderator   0.0 s  Let a formatter decide
        Round 2 of 3, agreement 0.90, new points 0.10: converged
        Debater  Stance           Revision        Confidence
        A        maintain         no change       0.95
        B        concede          major revision  0.80
        C        partial concede  minor update    0.70

    The chair writes the verdict
      ✓ Chair   0.0 s  Let a formatter decide, and take its default
    "#);
}

#[test]
fn list_show_and_search_find_a_debate_again() {
    let home = Home::new();
    assert_snapshot!(home.agon(&["list"]).ok().shown(), @r#"
    -- stderr
    there are no debates yet: `agon --help` shows how to start one
    "#);
    home.debate();
    assert_snapshot!(home.agon(&["list"]).ok().shown(), @r#"
    id            opened            protocol  status    question
    (twelve-id.)  (date)..........  deep      complete  Tabs or spaces?
    "#);
    assert_snapshot!(home.agon(&["search", "formatter"]).ok().shown(), @"
    (twelve-id.)  deep, complete: Tabs or spaces?
        Let a formatter decide, and take its default. The width is a matter of taste, and an argument about it…
    ");
    assert_snapshot!(home.agon(&["search", "semicolons"]).ok().shown(), @r#"
    -- stderr
    no debate has these words
    "#);
    assert_snapshot!(home.agon(&["verify", "last"]).ok().shown(), @"(twelve-id.): the hash chain is intact and replayed; 32 events, head (hash)");
    let report = home.agon(&["show", "last"]).ok();
    assert!(report.out.contains("Let a formatter decide, and take its default."), "{report:?}");
    assert_eq!(report.out, home.agon(&["replay", "last"]).out);
}

#[test]
fn a_dry_run_says_what_a_debate_would_take() {
    let home = Home::new();
    let args = ["deep", "Tabs or spaces?", "--models", "script/tabs.yaml", "--dry-run", "--seed", "7"];
    // How many tokens depends on the templates' words, which may change.
    let figures = |char: char| char.is_ascii_digit() || char == ',';
    let tokens = |line: &str| match line.contains(" tokens") {
        true => line.split(figures).filter(|piece| !piece.is_empty()).collect::<Vec<_>>().join("N"),
        false => line.to_owned(),
    };
    let shown: Vec<String> = home.agon(&args).ok().shown().lines().map(tokens).collect();
    assert_snapshot!(shown.join("\n"), @r#"
    A dry run of deep: nothing is asked and nothing is stored
    seat       role       model             price
    debater-1  debater    script/tabs.yaml  free
    debater-2  debater    script/tabs.yaml  free
    debater-3  debater    script/tabs.yaml  free
    moderator  moderator  script/tabs.yaml  free
    chair      chair      script/tabs.yaml  free

      calls   12 to 16, not counting repairs and retries
      input   about N to at most about N tokens
      output  about N to at most about N tokens
      price   nothing: every model is free
    "#);
    assert!(!home.path("home").exists(), "nothing is stored");
}

#[test]
fn completion_scripts_are_small_because_they_ask_agon() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = home.agon(&["completions", shell]).ok().out;
        assert!(script.contains("AGON_COMPLETE") && script.len() < 3_000, "{shell}");
    }
    assert_snapshot!(home.agon(&["completions", "--help"]).ok().shown(), @"
    Print a script that completes verbs, options, models and debates in a shell

    Usage: agon completions <SHELL>

    Arguments:
      <SHELL>  The shell [possible values: bash, elvish, fish, powershell, zsh]

    Options:
      -h, --help  Print help

    bash: put `source <(agon completions bash)` into ~/.bashrc
    zsh:  put `source <(agon completions zsh)` into ~/.zshrc
    fish: put `agon completions fish | source` into ~/.config/fish/config.fish
    ");
}

#[test]
fn the_man_page_comes_from_the_same_table() {
    let home = Home::new();
    let page = home.agon(&["man"]).ok().out;
    assert!(page.starts_with(".ie") && page.contains("agon"), "{page}");
    for verb in ["deep", "branch", "verify", "doctor", "models", "models pull"] {
        assert!(page.contains(&format!(".SH \"agon {verb}\"\n")), "{verb}");
    }
    assert!(page.contains("max\\-rounds") && page.contains("\\-\\-concurrency"));
    assert!(!page.contains("(1)"), "it refers to no page that is not there");
    assert!(home.agon(&["man", "deep"]).ok().out.contains("max\\-rounds"));
    let models = home.agon(&["man", "models"]).ok().out;
    assert!(models.contains(".SH \"agon models pull\"\n") && !models.contains("(1)"), "{models}");
}

#[test]
fn init_writes_a_configuration_and_overwrites_nothing() {
    let home = Home::new();
    home.agon(&["init"]).ok();
    let written = home.read("agon.toml");
    home.write("agon.toml", "models = [\"script/tabs.yaml\"]\n");
    assert_snapshot!(home.agon(&["init"]).shown(), @r#"
    -- stderr
    error: agon.toml exists already: edit it, or overwrite it with `agon init --force`
    -- exit status Some(2)
    "#);
    assert_eq!(
        home.agon(&["deep", "Tabs or spaces?", "--json", "--config", "agon.toml"]).json()["status"],
        "complete"
    );
    home.agon(&["init", "--force"]).ok();
    assert_eq!(home.read("agon.toml"), written);
}
