//! `agon serve --check` and `agon worker --check`: whether a running process is ready. An image has no other program that could ask.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::time::Duration;

use clap::Arg;
use reqwest::Client;

use super::errors::CliError;
use super::runtime::block_on;
use super::{arguments, output};

/// How long a process may take to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(3);
/// The exit status if the process is not ready.
const EXIT_NOT_READY: u8 = 1;

/// What listens at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckedProcess {
    Server,
    Worker,
}

/// The option `--check`.
pub fn check_option() -> Arg {
    arguments::switch(
        "check",
        "Start nothing; ask the process that listens there whether it is ready: exit status 0 or 1",
    )
}

/// Asks the process that listens at `listen`, and returns the exit status.
pub fn check_process(listen: &str, process: CheckedProcess) -> Result<u8, CliError> {
    let address = reachable_address(listen)?;
    match block_on(ask_process(address, process))? {
        Ok(()) => {
            output::print("ready\n")?;
            Ok(0)
        }
        Err(reason) => {
            output::note(&format!("not ready: {reason}"));
            Ok(EXIT_NOT_READY)
        }
    }
}

/// A process that listens on all networks is asked on this machine's own.
fn reachable_address(listen: &str) -> Result<SocketAddr, CliError> {
    let found = listen.to_socket_addrs().ok().and_then(|mut addresses| addresses.next());
    let mut address = found.ok_or_else(|| {
        CliError::input(format!("{listen:?} is no address")).with_help("write --listen ADDRESS:PORT")
    })?;
    match address.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    Ok(address)
}

async fn ask_process(address: SocketAddr, process: CheckedProcess) -> Result<(), String> {
    agon_host::install_tls();
    let client = Client::builder().no_proxy().timeout(ANSWER_WITHIN);
    let (client, path) = match process {
        CheckedProcess::Server => (client, "/readyz"),
        // Restate speaks nothing else with it.
        CheckedProcess::Worker => (client.http2_prior_knowledge(), "/health"),
    };
    let client = client.build().map_err(|why| why.to_string())?;
    let answer = client.get(format!("http://{address}{path}")).send().await;
    match answer {
        Ok(answer) if answer.status().is_success() => Ok(()),
        Ok(answer) => Err(format!("{address} answers {}", answer.status())),
        Err(why) if why.is_connect() => Err(format!("nobody listens at {address}")),
        Err(why) if why.is_timeout() => {
            Err(format!("{address} does not answer within {} s", ANSWER_WITHIN.as_secs()))
        }
        Err(why) => Err(format!("{address} gives no answer that can be read: {why}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_on_all_networks_is_asked_on_this_machine() {
        for (listen, asked) in [
            ("0.0.0.0:7717", "127.0.0.1:7717"),
            ("[::]:7717", "[::1]:7717"),
            ("127.0.0.1:9080", "127.0.0.1:9080"),
        ] {
            assert_eq!(reachable_address(listen).unwrap().to_string(), asked);
        }
        assert!(reachable_address("7717").is_err());
    }
}
