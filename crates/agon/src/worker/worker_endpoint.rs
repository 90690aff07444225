//! Where a worker listens for Restate, and how Restate learns of it.
//!
//! Workers on one machine that listen at the same address share it: the kernel spreads connections over them, and if one dies, the others
//! get its debates. Restate opens another connection when one has [`STREAMS_PER_CONNECTION`] debates, so that the load spreads.
//!
//! A worker with an address of its own looks whether the addresses of others still answer. If one does not, its debates are sent here.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use restate_sdk::endpoint::Endpoint;
use restate_sdk::hyper::HyperEndpoint;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};

use super::debate_workflow::DebateWorkflow;
use super::restate_client::RestateClient;
use crate::cli::errors::CliError;
use crate::cli::output;

/// How many debates run over one connection.
const STREAMS_PER_CONNECTION: u32 = 32;
/// How many connections may wait to be accepted.
const BACKLOG: i32 = 1_024;
const LOOK_EVERY: Duration = Duration::from_secs(2);
const ANSWER_WITHIN: Duration = Duration::from_secs(1);
/// How often in a row an address must not answer before its debates are taken.
const SILENT_LOOKS: u32 = 3;

/// A worker that listens.
pub struct WorkerEndpoint {
    listener: TcpListener,
    pub address: SocketAddr,
}

impl WorkerEndpoint {
    /// Listens at this address, together with others that already do.
    pub fn bind(listen: &str) -> Result<Self, CliError> {
        let failed = |why: io::Error| {
            CliError::input(format!("it is not possible to listen at {listen}: {why}"))
                .with_help("name a free address with --listen ADDRESS:PORT")
        };
        let address = listen.to_socket_addrs().map_err(failed)?.next();
        let address = address.ok_or_else(|| failed(io::Error::other("it has no address")))?;
        let listener = shared_listener(address).and_then(TcpListener::from_std).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address })
    }

    /// Serves Restate until the future `stopped` completes.
    pub async fn serve(self, workflow: DebateWorkflow, stopped: impl Future<Output = ()>) {
        let endpoint = HyperEndpoint::new(Endpoint::builder().bind(workflow).build());
        let accept = async {
            loop {
                match self.listener.accept().await {
                    Ok((stream, _)) => drop(tokio::spawn(serve_connection(stream, endpoint.clone()))),
                    // Too many open files, for instance. Others may close theirs.
                    Err(_) => tokio::time::sleep(ANSWER_WITHIN).await,
                }
            }
        };
        tokio::select! {
            () = accept => {}
            () = stopped => {}
        }
    }
}

async fn serve_connection(stream: TcpStream, endpoint: HyperEndpoint) {
    // Small messages go back and forth.
    let _ = stream.set_nodelay(true);
    let mut server = http2::Builder::new(TokioExecutor::new());
    server.max_concurrent_streams(STREAMS_PER_CONNECTION);
    // Restate reports a connection that breaks and tries again.
    let _ = server.serve_connection(TokioIo::new(stream), endpoint).await;
}

fn shared_listener(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    #[cfg(unix)]
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Sends the debates of addresses that do not answer any more to `own`. Never returns.
pub async fn take_over_silent(client: &RestateClient, own: &str) {
    let mut silent: BTreeMap<String, u32> = BTreeMap::new();
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        // A server that is away is asked again at the next look.
        let Ok(deployments) = client.deployments().await else { continue };
        for deployment in deployments {
            if same_address(&deployment.uri, own) || answers(&deployment.uri).await {
                silent.remove(&deployment.id);
                continue;
            }
            let looks = silent.entry(deployment.id.clone()).or_default();
            *looks += 1;
            if *looks >= SILENT_LOOKS && client.redirect(&deployment.id, own).await.is_ok() {
                output::note(&format!("nobody answers at {}: its debates run here now", deployment.uri));
                silent.remove(&deployment.id);
            }
        }
    }
}

fn same_address(a: &str, b: &str) -> bool {
    a.trim_end_matches('/') == b.trim_end_matches('/')
}

async fn answers(uri: &str) -> bool {
    let Some((host, port)) = reqwest::Url::parse(uri).ok().and_then(|uri| {
        let host = uri.host_str()?.trim_matches(['[', ']']).to_owned();
        Some((host, uri.port_or_known_default()?))
    }) else {
        // What cannot be understood is left alone.
        return true;
    };
    let connected = tokio::time::timeout(ANSWER_WITHIN, TcpStream::connect((host, port))).await;
    matches!(connected, Ok(Ok(_)))
}
