//! `--tools`: what the seats of a debate may have looked up.
//!
//! Only the command line names tools, and only the user's own configuration describes them: an `agon.toml` that was found in the
//! working directory can do neither.

use agon_context::ToolOffers;
use agon_core::tools::{DEBATE_REQUESTS_DEFAULT, ITEM_TOKENS_DEFAULT, ROUND_REQUESTS_MAX, SEAT_REQUESTS_MAX};
use agon_core::wording::joined;
use agon_core::{BriefFile, TableTools};
use clap::{Arg, ArgMatches};

use super::app::App;
use super::errors::CliError;
use super::limits::whole_number;
use super::output;
use super::runtime::block_on;

/// How many tools that are left out are named.
const NAMED_MAX: usize = 8;

/// `--tools`, `--tool-calls` and `--tool-tokens`.
pub fn arguments() -> [Arg; 3] {
    let tools = format!(
        "What the seats may have looked up between phases: files (under this folder), fetch, or a server of [tools] in your agon.toml. At \
         most {SEAT_REQUESTS_MAX} requests of one reply and {ROUND_REQUESTS_MAX} of one round are run"
    );
    let calls = format!("The most requests that are run in the debate [default: {DEBATE_REQUESTS_DEFAULT}]");
    let tokens = format!(
        "How many tokens all that is looked up may have; what does not fit is left out as a whole [default: {ITEM_TOKENS_DEFAULT}]"
    );
    [
        Arg::new("tools").long("tools").value_name("NAME,..").value_delimiter(',').help(tools),
        Arg::new("tool-calls")
            .long("tool-calls")
            .value_name("N")
            .requires("tools")
            .value_parser(whole_number(0_u32, None))
            .help(calls),
        Arg::new("tool-tokens")
            .long("tool-tokens")
            .value_name("N")
            .requires("tools")
            .value_parser(whole_number(0_u64, None))
            .help(tokens),
    ]
    .map(|arg| arg.help_heading("Tools"))
}

/// The tools as a file of the brief; `None` without `--tools`. Servers are asked what they offer, so that the prompts of the debate
/// follow from its log.
pub fn read(args: &ArgMatches, app: &App<'_>) -> Result<Option<BriefFile>, CliError> {
    let named = args.get_many::<String>("tools").into_iter().flatten().map(|name| name.trim().to_owned());
    let mut names: Vec<String> = Vec::new();
    for name in named.filter(|name| !name.is_empty()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return Ok(None);
    }
    let toolbox = app.toolbox()?;
    let ToolOffers { offers, left_out } = block_on(toolbox.offers(&names))??;
    if !left_out.is_empty() && !app.flag("quiet") {
        let more = left_out.len().saturating_sub(NAMED_MAX);
        let mut named: Vec<String> = left_out.into_iter().take(NAMED_MAX).collect();
        named.extend((more > 0).then(|| format!("{more} more")));
        output::note(&format!(
            "note: the seats are not told of {}: they are told of 40 tools of a server, and of 32 KB of all servers together",
            joined(&named)
        ));
    }
    let reads_files = names.iter().any(|name| name == agon_context::tools::files::NAME);
    let tools = TableTools {
        offers,
        calls: args.get_one("tool-calls").copied().unwrap_or(DEBATE_REQUESTS_DEFAULT),
        tokens: args.get_one("tool-tokens").copied().unwrap_or(ITEM_TOKENS_DEFAULT),
        folder: reads_files.then(|| toolbox.folder()).transpose()?,
    };
    let file = tools.file();
    file.map(Some).map_err(|why| CliError::System(format!("the tools cannot be written: {why}")))
}
