//! One client on stdin and stdout. stdout carries nothing but the protocol.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::io::stdio_pipes;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::watch;

use super::McpServer;
use super::settings::{CloseAction, McpSettings};
use crate::cli::errors::CliError;
use crate::cli::signals;
use crate::hosting::DebateHost;

/// Serves the client until it closes stdin or the process is asked to end. Then its debates are finished or left in order.
pub async fn serve_stdio(host: DebateHost, settings: &McpSettings) -> Result<(), CliError> {
    let (closing, is_closing) = watch::channel(false);
    let server = McpServer::new(host.clone(), host.rights().clone(), is_closing).await;
    if settings.resume {
        let host = host.clone();
        tokio::spawn(async move { host.resume_all().await });
    }
    let (input, output) = stdio_pipes();
    let input = ClosingInput { input, closing: closing.clone() };
    let ended = tokio::select! {
        ended = converse(server, input, output) => ended,
        Ok(_) = signals::end_requested() => {
            closing.send_replace(true);
            host.shut_down().await;
            return Ok(());
        }
    };
    tokio::select! {
        () = close_debates(&host, settings.on_close) => {}
        Ok(_) = signals::end_requested() => host.shut_down().await,
    }
    ended
}

async fn converse(
    server: McpServer,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl tokio::io::AsyncWrite + Send + Unpin + 'static,
) -> Result<(), CliError> {
    let broken = |why: String| CliError::System(format!("the connection broke off: {why}"));
    let running = match server.serve((input, output)).await {
        // A client that looks and goes.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        running => running.map_err(|why| broken(why.to_string()))?,
    };
    running.waiting().await.map(drop).map_err(|why| broken(why.to_string()))
}

async fn close_debates(host: &DebateHost, action: CloseAction) {
    match action {
        CloseAction::Finish => host.finish_all().await,
        CloseAction::Stop => host.shut_down().await,
    }
}

/// An input that tells when it ends, so that calls stop waiting at once and can still be answered.
struct ClosingInput<R> {
    input: R,
    closing: watch::Sender<bool>,
}

impl<R: AsyncRead + Unpin> AsyncRead for ClosingInput<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.input).poll_read(context, buffer);
        let has_ended = match &polled {
            Poll::Ready(Ok(())) => buffer.filled().len() == before && buffer.remaining() > 0,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if has_ended {
            self.closing.send_replace(true);
        }
        polled
    }
}
