//! `agon simulate`: debates of made-up people of whom everything is known, to see what a protocol does to them.

use agon_experiments::simulate::{Adversary, Plan, Population, simulate};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command};

use super::{Group, Verb};
use crate::cli::failure::Failure;
use crate::cli::limits::whole;
use crate::cli::{args, output};

pub(super) const VERB: Verb = Verb { name: "simulate", group: Group::Many, command, run };

/// More seats than any protocol has.
const SEATS_MAX: u32 = 12;
const TRIALS_MAX: u32 = 100_000;

fn command(command: Command) -> Command {
    let names: Vec<&'static str> = agon_protocols::PROTOCOLS.iter().map(|protocol| protocol.name()).collect();
    let number =
        |name: &'static str, help: &'static str| Arg::new(name).long(name).value_name("N").help(help);
    let share = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("SHARE").value_parser(share).help(help).help_heading("Who sits")
    };
    command
        .about("Hold debates of made-up seats of whom everything is known: what does a protocol do to them?")
        .after_help(
            "Whole debates run through the engine; no model is asked. What was planted is found again from the logs alone, with 95%\n\
             intervals. --curve seats one persuasive adversary in N and prints what each protocol loses by it: that is thousands of debates, and\n\
             takes minutes. Evidence persuades on the right side and the wrong one alike: seats that can be persuaded can be misled.",
        )
        .arg(
            Arg::new("protocol")
                .long("protocol")
                .value_name("P")
                .value_parser(PossibleValuesParser::new(names))
                .help("The protocol [default: deep]"),
        )
        .arg(number("trials", "How many debates [default: 300]").value_parser(whole(1_u32, Some(TRIALS_MAX))))
        .arg(number("rounds", "How often seats may change their mind [default: the protocol's]").value_parser(whole(1_u32, Some(9))))
        .arg(number("seed", "Where all chance comes from [default: 1]").value_parser(whole(0_u64, None)))
        .arg(args::switch("curve", "Also every protocol with one adversary in N, against the same without"))
        .arg(
            number("seats", "How many hold positions [default: 5]")
                .value_parser(whole(2_u32, Some(SEATS_MAX)))
                .help_heading("Who sits"),
        )
        .arg(share("accuracy", "How often a seat is right before it has read anybody [default: 0.6]"))
        .arg(share("rho", "How far first errors go together [default: 0]"))
        .arg(share("flips", "How often a seat changes its view for no reason [default: 0.05]"))
        .arg(share("conformity", "How often a seat takes over what most hold, because they do [default: 0.2]"))
        .arg(share("persuadable", "How often a seat takes over the other view for the evidence [default: 0.3]"))
        .arg(share("position-bias", "How often a judge prefers what it is shown first [default: 0.2]"))
        .arg(share("drift", "How much more a right answer weighs for those who update by counting [default: 0]"))
        .arg(args::switch("neutral", "Seats update by counting what they hear, and by nothing else").help_heading("Who sits"))
        .arg(args::switch("adversary", "One seat is always wrong, and shows made-up evidence").help_heading("Who sits"))
        .arg(args::json())
}

fn run(args: &ArgMatches) -> Result<u8, Failure> {
    let plan = plan(args);
    let findings = simulate(&plan).map_err(|why| Failure::input(why.to_string()))?;
    if args.get_flag("json") {
        let document = serde_json::to_value(&findings)
            .map_err(|why| Failure::System(format!("the findings cannot be written: {why}")))?;
        output::print_json(&document)?;
        return Ok(0);
    }
    output::print(&agon_experiments::simulate::text::text(&findings))?;
    Ok(0)
}

fn plan(args: &ArgMatches) -> Plan {
    let default = Plan::default();
    let people = Population::default();
    let share = |name: &str, otherwise: f64| args.get_one(name).copied().unwrap_or(otherwise);
    let whole = |name: &str| args.get_one::<u32>(name).and_then(|n| usize::try_from(*n).ok());
    Plan {
        protocol: args.get_one::<String>("protocol").cloned().unwrap_or(default.protocol),
        rounds: args.get_one("rounds").copied(),
        trials: whole("trials").unwrap_or(default.trials),
        seed: args.get_one("seed").copied().unwrap_or(default.seed),
        curve: args.get_flag("curve"),
        population: Population {
            seats: whole("seats").unwrap_or(people.seats),
            accuracy: share("accuracy", people.accuracy),
            rho: share("rho", people.rho),
            flips: share("flips", people.flips),
            conformity: share("conformity", people.conformity),
            persuadable: share("persuadable", people.persuadable),
            position_bias: share("position-bias", people.position_bias),
            drift: share("drift", people.drift),
            neutral: args.get_flag("neutral"),
            adversary: args.get_flag("adversary").then(Adversary::default),
        },
    }
}

fn share(raw: &str) -> Result<f64, String> {
    match raw.trim().parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("a share is a number from 0 to 1".into()),
    }
}
