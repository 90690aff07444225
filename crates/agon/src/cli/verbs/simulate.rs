//! `agon simulate`: debates of simulated seats of which everything is known, to see what a protocol does to them.

use agon_experiments::simulate::{
    SimulatedAdversary, SimulatedPopulation, SimulationPlan, simulate, simulated_protocols, text,
};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command};

use super::{CliVerb, VerbGroup};
use crate::cli::errors::CliError;
use crate::cli::limits::whole_number;
use crate::cli::progress::TaskProgress;
use crate::cli::runtime::block_on;
use crate::cli::{arguments, output};

pub(super) const VERB: CliVerb = CliVerb { name: "simulate", group: VerbGroup::ManyDebates, command, run };

/// More seats than any protocol has.
const SEATS_MAX: u32 = 12;
const TRIALS_MAX: u32 = 100_000;
const ROUNDS_MAX: u32 = 9;

fn command(command: Command) -> Command {
    let names: Vec<&'static str> = simulated_protocols().map(|(protocol, _)| protocol.info().name).collect();
    let protocol = Arg::new("protocol")
        .long("protocol")
        .value_name("P")
        .value_parser(PossibleValuesParser::new(names))
        .help(format!("The protocol [default: {}]", SimulationPlan::default().protocol));
    let number =
        |name: &'static str, help: &'static str| Arg::new(name).long(name).value_name("N").help(help);
    command
        .about("Run debates between simulated seats with known properties, and measure what the protocol does")
        .after_help(
            "Whole debates run through the engine; no model is asked. What was planted is measured again from the logs alone, with 95% \
             intervals. --curve adds one persuasive adversary in N seats and prints what each protocol loses by it; these are thousands of \
             debates and take minutes. Evidence persuades for the right and the wrong side alike: seats that can be persuaded can be misled.",
        )
        .arg(protocol)
        .arg(
            number("trials", "How many debates [default: 300]")
                .value_parser(whole_number(1_u32, Some(TRIALS_MAX))),
        )
        .arg(
            number("rounds", "How often seats may change their mind [default: the protocol's]")
                .value_parser(whole_number(1_u32, Some(ROUNDS_MAX))),
        )
        .arg(number("seed", "The seed of everything random [default: 1]").value_parser(whole_number(0_u64, None)))
        .arg(arguments::switch("curve", "Also compare every protocol with one adversary in N and without"))
        .args(population_options())
        .arg(arguments::json())
}

/// What is planted in the seats.
fn population_options() -> Vec<Arg> {
    let share = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("SHARE").value_parser(parse_share).help(help)
    };
    let seats = Arg::new("seats")
        .long("seats")
        .value_name("N")
        .value_parser(whole_number(2_u32, Some(SEATS_MAX)))
        .help("How many seats hold positions [default: 5]");
    let options = [
        seats,
        share("accuracy", "How often a seat is right before it has read the others [default: 0.6]"),
        share("rho", "How strongly first errors are correlated [default: 0]"),
        share("flips", "How often a seat changes its mind for no reason [default: 0.05]"),
        share(
            "conformity",
            "How often a seat adopts the majority's view because it is the majority's [default: 0.2]",
        ),
        share("persuadable", "How often a seat adopts the other view because of the evidence [default: 0.3]"),
        share("position-bias", "How often a judge prefers what it is shown first [default: 0.2]"),
        share("drift", "How much more a right answer counts for seats that update by counting [default: 0]"),
        arguments::switch("neutral", "Seats update only by counting the answers they hear"),
        arguments::switch("adversary", "One seat is always wrong and shows made-up evidence"),
    ];
    options.map(|option| option.help_heading("Seats")).to_vec()
}

fn run(args: &ArgMatches) -> Result<u8, CliError> {
    let plan = simulation_plan(args);
    let progress = TaskProgress::counting("debates", plan.debates(), false);
    let findings = block_on(simulate(&plan, &|| progress.add_one()))?;
    drop(progress);
    let findings = findings.map_err(|why| CliError::input(why.to_string()))?;
    output::print_result(args.get_flag("json"), || &findings, || text(&findings))
}

fn simulation_plan(args: &ArgMatches) -> SimulationPlan {
    let default = SimulationPlan::default();
    let population = SimulatedPopulation::default();
    let share = |name: &str, otherwise: f64| args.get_one(name).copied().unwrap_or(otherwise);
    let whole = |name: &str| args.get_one::<u32>(name).and_then(|n| usize::try_from(*n).ok());
    SimulationPlan {
        protocol: args.get_one::<String>("protocol").cloned().unwrap_or(default.protocol),
        rounds: args.get_one("rounds").copied(),
        trials: whole("trials").unwrap_or(default.trials),
        seed: args.get_one("seed").copied().unwrap_or(default.seed),
        curve: args.get_flag("curve"),
        population: SimulatedPopulation {
            seats: whole("seats").unwrap_or(population.seats),
            accuracy: share("accuracy", population.accuracy),
            rho: share("rho", population.rho),
            flips: share("flips", population.flips),
            conformity: share("conformity", population.conformity),
            persuadable: share("persuadable", population.persuadable),
            position_bias: share("position-bias", population.position_bias),
            drift: share("drift", population.drift),
            neutral: args.get_flag("neutral"),
            adversary: args.get_flag("adversary").then(SimulatedAdversary::default),
        },
    }
}

fn parse_share(raw: &str) -> Result<f64, String> {
    match raw.trim().parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("it must be a number from 0 to 1".into()),
    }
}
