//! The address of a server, TLS, and opening connections.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use postgres::config::SslMode;
use postgres::{Config, NoTls};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::PostgresConnection;
use crate::sql::SqlFault;
use crate::store_fault::StoreFault;

/// A process that was not seen for this long has lost its debates.
const TAKEOVER_AFTER: Duration = Duration::from_secs(30);

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A `postgres://` address.
#[derive(Clone)]
pub struct PostgresAddress {
    config: Config,
    verification: CertificateCheck,
    shown: String,
    takeover_after: Duration,
}

/// Whether the server's certificate is checked.
#[derive(Debug, Clone, PartialEq)]
enum CertificateCheck {
    /// `sslmode` is `prefer` or `require`: the connection is encrypted, whoever answers.
    None,
    /// `verify-ca` or `verify-full`: the system's roots and the host's name.
    SystemRoots,
    /// The same with the certificates in this file (`sslrootcert`).
    RootsIn(PathBuf),
}

impl PostgresAddress {
    /// Whether a text is an address, and not the name of a file.
    pub(crate) fn is_one(text: &str) -> bool {
        text.starts_with("postgres://") || text.starts_with("postgresql://")
    }

    /// Reads an address. The error is a sentence without the password.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let shown = without_password(text);
        let (plain, mode, roots) = take_certificate_options(text);
        let mut config: Config = plain.parse().map_err(|error| {
            format!("this address cannot be read ({error}): write postgres://USER@HOST/NAME")
        })?;
        let verified = match mode.as_deref() {
            Some("verify-ca" | "verify-full") => {
                config.ssl_mode(SslMode::Require);
                true
            }
            Some("disable") => {
                config.ssl_mode(SslMode::Disable);
                false
            }
            Some("require") => {
                config.ssl_mode(SslMode::Require);
                false
            }
            Some("prefer") | None => false,
            Some(_) => {
                return Err("its sslmode is unknown: use disable, prefer, require or verify-full".into());
            }
        };
        let verification = match roots {
            Some(roots) => CertificateCheck::RootsIn(roots.into()),
            None if verified => CertificateCheck::SystemRoots,
            None => CertificateCheck::None,
        };
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name("agon");
        }
        config.keepalives_idle(Duration::from_secs(30));
        Ok(Self { config, verification, shown, takeover_after: TAKEOVER_AFTER })
    }

    /// Uses this password if the address has none.
    pub(crate) fn set_password(&mut self, password: &str) {
        if self.config.get_password().is_none() {
            self.config.password(password);
        }
    }

    pub(crate) fn set_takeover_after(&mut self, takeover_after: Duration) {
        self.takeover_after = takeover_after;
    }

    /// The address without its password.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresAddress").field(&self.shown).finish()
    }
}

/// An address with everything that is needed to connect to it.
#[derive(Clone)]
pub(crate) struct PostgresServer {
    address: PostgresAddress,
    tls: MakeRustlsConnect,
}

impl PostgresServer {
    pub(crate) fn new(address: PostgresAddress) -> Result<Self, StoreFault> {
        let tls = MakeRustlsConnect::new(tls_settings(&address.verification).map_err(StoreFault::Failed)?);
        Ok(Self { address, tls })
    }

    /// Opens a connection. It must not be called, and the connection must not be dropped, where a runtime runs futures.
    pub(crate) fn connect(&self) -> Result<PostgresConnection, SqlFault> {
        let config = &self.address.config;
        let mut client = match config.get_ssl_mode() {
            SslMode::Disable => config.connect(NoTls)?,
            _ => config.connect(self.tls.clone())?,
        };
        // A process that is stopped in the middle of a transaction must not hold up the others for ever.
        client.batch_execute(&format!(
            "SET idle_in_transaction_session_timeout = {}; SET tcp_keepalives_idle = 30;
             SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
            self.takeover_after().as_millis()
        ))?;
        Ok(PostgresConnection::new(client))
    }

    pub(crate) fn takeover_after(&self) -> Duration {
        self.address.takeover_after
    }

    pub(crate) fn shown(&self) -> &str {
        self.address.shown()
    }
}

impl fmt::Debug for PostgresServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(f)
    }
}

/// Takes out the options that say how certificates are checked: the client knows none of them.
fn take_certificate_options(text: &str) -> (String, Option<String>, Option<String>) {
    let (mut mode, mut roots) = (None, None);
    let plain = filter_options(text, |name, value| match name {
        "sslmode" => {
            mode = Some(value.to_owned());
            false
        }
        "sslrootcert" => {
            roots = Some(value.replace("%2F", "/").replace("%2f", "/"));
            false
        }
        _ => true,
    });
    (plain, mode, roots)
}

/// The address without a password, which may be before the host or among the options.
fn without_password(text: &str) -> String {
    let plain = filter_options(text, |name, _| name != "password");
    let Some((scheme, rest)) = plain.split_once("://") else { return plain };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let Some((user, host)) = authority.rsplit_once('@') else { return plain };
    let user = user.split_once(':').map_or(user, |(user, _)| user);
    format!("{scheme}://{user}@{host}{path}")
}

/// The address with only those of its options that `keep` accepts.
fn filter_options(text: &str, mut keep: impl FnMut(&str, &str) -> bool) -> String {
    let Some((address, options)) = text.split_once('?') else { return text.to_owned() };
    let kept: Vec<&str> = options
        .split('&')
        .filter(|option| {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            keep(name, value)
        })
        .collect();
    if kept.is_empty() { address.to_owned() } else { format!("{address}?{}", kept.join("&")) }
}

fn tls_settings(verification: &CertificateCheck) -> Result<ClientConfig, String> {
    agon_host::install_tls();
    let failed = |error: &dyn fmt::Display| format!("TLS cannot be set up ({error}): check sslrootcert");
    let builder = ClientConfig::builder();
    let settings = match verification {
        CertificateCheck::None => {
            let provider = builder.crypto_provider().clone();
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        }
        CertificateCheck::SystemRoots => builder.with_platform_verifier().map_err(|error| failed(&error))?,
        CertificateCheck::RootsIn(file) => {
            let roots = Arc::new(read_roots(file).map_err(|error| failed(&error))?);
            let verifier = WebPkiServerVerifier::builder(roots).build().map_err(|error| failed(&error))?;
            builder.with_webpki_verifier(verifier)
        }
    };
    Ok(settings.with_no_client_auth())
}

fn read_roots(file: &Path) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| error.to_string())? {
        let certificate = certificate.map_err(|error| error.to_string())?;
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    Ok(roots)
}

/// Accepts every certificate, as `sslmode=require` does everywhere: the connection is encrypted, and nothing more.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (address, shown) in [
            ("postgres://me@host/agon", "postgres://me@host/agon"),
            ("postgres://me:se:cret@host:5433/agon", "postgres://me@host:5433/agon"),
            ("postgresql://me:s%40e@host/agon?sslmode=require", "postgresql://me@host/agon?sslmode=require"),
            (
                "postgres://me@host/agon?password=secret&sslmode=disable",
                "postgres://me@host/agon?sslmode=disable",
            ),
            ("postgres://me@host/agon?password=secret", "postgres://me@host/agon"),
            ("postgres:///agon?host=/tmp&user=me", "postgres:///agon?host=/tmp&user=me"),
        ] {
            let parsed = PostgresAddress::parse(address).unwrap();
            assert_eq!(parsed.shown(), shown);
            assert!(!format!("{parsed:?}").contains("sec"), "{parsed:?}");
        }
    }

    #[test]
    fn the_mode_says_whether_the_connection_is_encrypted_and_the_certificate_is_checked() {
        let parse = |options: &str| PostgresAddress::parse(&format!("postgres://me@host/agon{options}"));
        for (options, mode, check) in [
            ("", SslMode::Prefer, CertificateCheck::None),
            ("?sslmode=disable", SslMode::Disable, CertificateCheck::None),
            ("?sslmode=require", SslMode::Require, CertificateCheck::None),
            ("?sslmode=verify-full", SslMode::Require, CertificateCheck::SystemRoots),
            (
                "?sslmode=verify-full&sslrootcert=%2Fca.pem",
                SslMode::Require,
                CertificateCheck::RootsIn("/ca.pem".into()),
            ),
        ] {
            let address = parse(options).unwrap();
            assert_eq!((address.config.get_ssl_mode(), address.verification), (mode, check), "{options}");
        }
        assert!(parse("?sslmode=maybe").unwrap_err().contains("use disable, prefer, require or verify-full"));
        assert!(parse("?colour=red").is_err());
    }
}
