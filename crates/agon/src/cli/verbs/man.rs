//! `agon man`: the manual, in the form that `man -l -` reads.

use clap::{Arg, ArgMatches, Command};
use clap_mangen::Man;

use super::{Group, Verb};
use crate::cli::failure::Failure;
use crate::cli::output;

pub(super) const VERB: Verb = Verb { name: "man", group: Group::Around, command, run };

fn command(command: Command) -> Command {
    let verb = Arg::new("verb").value_name("VERB").help("This verb alone [default: all of agon]");
    command.about("Print the manual page: agon man | man -l -").arg(verb)
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let page = page(args.get_one::<String>("verb").map(String::as_str))?;
    output::print(&page)?;
    Ok(0)
}

fn page(verb: Option<&str>) -> Result<String, Failure> {
    let agon = crate::cli::command();
    let Some(name) = verb else { return manual(agon) };
    let verb = agon.find_subcommand(name).cloned();
    let verb =
        verb.ok_or_else(|| Failure::input(format!("there is no verb {name:?}: `agon --help` lists them")))?;
    let has_more = verb.get_after_help().is_some();
    let man = named(name, verb.clone());
    let mut page = rendered(|page| {
        man.render_title(page)?;
        man.render_name_section(page)?;
        man.render_synopsis_section(page)?;
        man.render_description_section(page)?;
        man.render_options_section(page)?;
        if has_more { man.render_extra_section(page) } else { Ok(()) }
    })?;
    page.push_str(&below(name, &verb)?);
    Ok(page)
}

/// One page for all: nobody installs a page for each verb, so none may refer to one.
fn manual(agon: Command) -> Result<String, Failure> {
    let verbs: Vec<Command> = agon.get_subcommands().cloned().collect();
    let whole = Man::new(agon);
    let mut page = rendered(|page| {
        whole.render_title(page)?;
        whole.render_name_section(page)?;
        whole.render_synopsis_section(page)?;
        whole.render_options_section(page)?;
        whole.render_extra_section(page)
    })?;
    page = page.replace("\n.SH EXTRA\n", "\n.SH EXAMPLES\n");
    for verb in verbs {
        page.push_str(&section(verb.get_name(), &verb)?);
        page.push_str(&below(verb.get_name(), &verb)?);
    }
    page.push_str(&rendered(|page| whole.render_version_section(page))?);
    Ok(page)
}

/// The verbs below a verb, as `pull` is below `models`.
fn below(name: &str, verb: &Command) -> Result<String, Failure> {
    verb.get_subcommands().map(|inner| section(&format!("{name} {}", inner.get_name()), inner)).collect()
}

/// A verb's own sections, below a heading of its own.
fn section(name: &str, verb: &Command) -> Result<String, Failure> {
    let heading = format!(".SH \"agon {name}\"\n");
    let has_more = verb.get_after_help().is_some();
    let man = named(name, verb.clone());
    let text = rendered(|page| {
        man.render_description_section(page)?;
        man.render_synopsis_section(page)?;
        man.render_options_section(page)?;
        if has_more { man.render_extra_section(page) } else { Ok(()) }
    })?;
    // What it does stands right under its heading.
    let text = text.replacen(".SH DESCRIPTION\n", "", 1).replace("\n.SH ", "\n.SS ");
    let text = text.replace("\n.SS EXTRA\n", "\n.SS NOTES\n");
    Ok(heading + &text)
}

fn named(name: &str, verb: Command) -> Man {
    Man::new(verb.name(format!("agon-{}", name.replace(' ', "-"))).bin_name(format!("agon {name}")))
}

fn rendered(render: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> Result<String, Failure> {
    let mut page = Vec::new();
    render(&mut page).map_err(|why| Failure::System(format!("the page cannot be made: {why}")))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
