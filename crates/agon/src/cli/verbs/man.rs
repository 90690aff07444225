//! `agon man`: the manual page, as `man -l -` reads it.

use clap::{Arg, ArgMatches, Command};
use clap_mangen::Man;

use super::{CliVerb, VerbGroup};
use crate::cli::errors::CliError;
use crate::cli::output;

pub(super) const VERB: CliVerb = CliVerb { name: "man", group: VerbGroup::Setup, command, run };

fn command(command: Command) -> Command {
    let verb = Arg::new("verb").value_name("VERB").help("Only this verb [default: all of agon]");
    command.about("Print the manual page: agon man | man -l -").arg(verb)
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let agon = crate::cli::command();
    let page = match args.get_one::<String>("verb") {
        Some(name) => {
            let verb = agon.find_subcommand(name).cloned();
            let unknown = || CliError::input(format!("there is no verb {name:?}: `agon --help` lists them"));
            verb_page(name, &verb.ok_or_else(unknown)?)?
        }
        None => whole_page(agon)?,
    };
    output::print(&page)?;
    Ok(0)
}

fn verb_page(name: &str, verb: &Command) -> Result<String, CliError> {
    let has_notes = verb.get_after_help().is_some();
    let man = verb_man(name, verb.clone());
    let mut page = rendered(|page| {
        man.render_title(page)?;
        man.render_name_section(page)?;
        man.render_synopsis_section(page)?;
        man.render_description_section(page)?;
        man.render_options_section(page)?;
        if has_notes { man.render_extra_section(page) } else { Ok(()) }
    })?;
    page.push_str(&subcommand_sections(name, verb)?);
    Ok(page)
}

/// One page for all verbs. There are no pages for single verbs to refer to, because nobody installs them.
fn whole_page(agon: Command) -> Result<String, CliError> {
    let verbs: Vec<Command> = agon.get_subcommands().cloned().collect();
    let man = Man::new(agon);
    let mut page = rendered(|page| {
        man.render_title(page)?;
        man.render_name_section(page)?;
        man.render_synopsis_section(page)?;
        man.render_options_section(page)?;
        man.render_extra_section(page)
    })?;
    page = page.replace("\n.SH EXTRA\n", "\n.SH EXAMPLES\n");
    for verb in verbs {
        page.push_str(&verb_section(verb.get_name(), &verb)?);
        page.push_str(&subcommand_sections(verb.get_name(), &verb)?);
    }
    page.push_str(&rendered(|page| man.render_version_section(page))?);
    Ok(page)
}

/// The subcommands of a verb, such as `models pull`.
fn subcommand_sections(name: &str, verb: &Command) -> Result<String, CliError> {
    let sections =
        verb.get_subcommands().map(|inner| verb_section(&format!("{name} {}", inner.get_name()), inner));
    sections.collect()
}

/// The sections of a verb, under a heading of its own.
fn verb_section(name: &str, verb: &Command) -> Result<String, CliError> {
    let has_notes = verb.get_after_help().is_some();
    let man = verb_man(name, verb.clone());
    let text = rendered(|page| {
        man.render_description_section(page)?;
        man.render_synopsis_section(page)?;
        man.render_options_section(page)?;
        if has_notes { man.render_extra_section(page) } else { Ok(()) }
    })?;
    // The description comes right under the heading.
    let text = text.replacen(".SH DESCRIPTION\n", "", 1).replace("\n.SH ", "\n.SS ");
    let text = text.replace("\n.SS EXTRA\n", "\n.SS NOTES\n");
    Ok(format!(".SH \"agon {name}\"\n{text}"))
}

fn verb_man(name: &str, verb: Command) -> Man {
    Man::new(verb.name(format!("agon-{}", name.replace(' ', "-"))).bin_name(format!("agon {name}")))
}

fn rendered(render: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> Result<String, CliError> {
    let mut page = Vec::new();
    render(&mut page).map_err(|why| CliError::System(format!("the page cannot be made: {why}")))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
