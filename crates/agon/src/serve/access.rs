//! Who may use the server: names, origins, tokens and sessions of browsers.
//!
//! A page on the web can make the user's browser send requests to this machine. So a request must name this server as its host, must
//! not come from another origin, and must carry JSON. Off loopback it must carry the token, too.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use sha2::{Digest, Sha256};

use super::page::assets::ASSETS_PATH;
use super::problem::Problem;
use crate::cli::debate_ids::new_nonce;
use crate::cli::errors::CliError;
use crate::cli::input;

/// The cookie of a browser's session.
const SESSION_COOKIE: &str = "agon_session";
/// The path that exchanges a one-time link for a session.
pub const LOGIN_PATH: &str = "/login";
/// What may be asked for without a token.
const OPEN_PATHS: [&str; 3] = ["/healthz", "/readyz", LOGIN_PATH];
const TOKEN_FILE_BYTES_MAX: u64 = 64 * 1024;
const TOKEN_CHARS_MIN: usize = 16;
/// Links that were never used are forgotten when there are more.
const LINKS_MAX: usize = 64;
const SESSIONS_MAX: usize = 10_000;

/// A hash stands for a token or a session, so that a comparison takes the same time wherever two of them differ.
type SecretHash = [u8; 32];

/// The server's own rules on who may use it.
pub struct AccessRules {
    /// Names besides `localhost` and addresses.
    hosts: BTreeSet<String>,
    /// Whether other machines can reach it.
    is_public: bool,
    tokens: TokenSource,
    links: Mutex<Vec<SecretHash>>,
    sessions: Mutex<Vec<SecretHash>>,
}

/// Where the tokens come from.
enum TokenSource {
    /// No token is needed.
    Nothing,
    Fixed(SecretHash),
    /// One token per line. The file is read again when it changes, so that tokens can be rotated.
    File {
        path: PathBuf,
        read: Mutex<TokenFile>,
    },
}

#[derive(Default)]
struct TokenFile {
    /// When it changed, and its size, because two changes may have the same time.
    state: Option<(SystemTime, u64)>,
    tokens: Vec<SecretHash>,
}

impl AccessRules {
    /// The rules of a server that listens on `address`.
    pub fn new(
        address: IpAddr,
        hosts: &[String],
        token: Option<String>,
        token_file: Option<PathBuf>,
    ) -> Result<Self, CliError> {
        let tokens = match (token_file, token.filter(|token| !token.trim().is_empty())) {
            (Some(path), _) => {
                let file = TokenFile::read(&path)?;
                TokenSource::File { path, read: Mutex::new(file) }
            }
            (None, Some(token)) => {
                check_token(&token)?;
                TokenSource::Fixed(secret_hash(token.trim()))
            }
            (None, None) => TokenSource::Nothing,
        };
        let is_public = !address.is_loopback();
        if is_public && matches!(tokens, TokenSource::Nothing) {
            return Err(CliError::input(format!(
                "{address} can be reached from other machines, so a token is needed: set AGON_TOKEN or use --token-file"
            ))
            .with_help("to serve only this machine: --listen 127.0.0.1:7717"));
        }
        Ok(Self {
            hosts: hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
            is_public,
            tokens,
            links: Mutex::default(),
            sessions: Mutex::default(),
        })
    }

    /// Whether a token is needed.
    pub fn needs_token(&self) -> bool {
        !matches!(self.tokens, TokenSource::Nothing)
    }

    /// Whether this request may go on.
    pub fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        self.refresh_tokens();
        let host = self.check_host(uri, headers)?;
        check_origin(headers, &host)?;
        check_fetch_site(method, headers)?;
        check_content_type(method, headers)?;
        self.check_token(uri.path(), headers)
    }

    /// A name that resolves to this machine could be anybody's. Only names of this server count.
    fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<String, Problem> {
        let given: Vec<&str> =
            headers.get_all(header::HOST).iter().map(|host| host.to_str().unwrap_or_default()).collect();
        // With two names, a proxy may have checked the other one.
        let host = match (given.as_slice(), uri.authority().map(|authority| authority.as_str())) {
            ([host], Some(authority)) if !host.eq_ignore_ascii_case(authority) => "",
            ([host], _) => host,
            ([], Some(authority)) => authority,
            _ => "",
        };
        let host = host.to_ascii_lowercase();
        let name = host_name(&host);
        let address = name.trim_matches(['[', ']']).parse::<IpAddr>().ok();
        let is_known = name == "localhost"
            || address.is_some_and(|address| address.is_loopback() || self.is_public)
            || self.hosts.contains(name)
            || self.hosts.contains(&host);
        match is_known {
            true => Ok(host),
            false => Err(Problem::new(
                StatusCode::FORBIDDEN,
                "this server does not go by the name in the Host header: use its address, or add the name to `hosts` in [serve]",
            )),
        }
    }

    fn check_token(&self, path: &str, headers: &HeaderMap) -> Result<(), Problem> {
        if !self.needs_token() || OPEN_PATHS.contains(&path) || path.starts_with(ASSETS_PATH) {
            return Ok(());
        }
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = bearer.and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
        });
        let is_right = match bearer {
            Some(token) => self.is_token(token),
            None => cookie(headers, SESSION_COOKIE).is_some_and(|session| self.is_session(session)),
        };
        match is_right {
            true => Ok(()),
            false => Err(Problem::new(
                StatusCode::UNAUTHORIZED,
                "send the token as `Authorization: Bearer TOKEN`; in a browser, open the link that `agon serve` printed when it started",
            )),
        }
    }

    fn is_token(&self, token: &str) -> bool {
        let given = secret_hash(token);
        match &self.tokens {
            TokenSource::Nothing => true,
            TokenSource::Fixed(known) => is_same_secret(known, &given),
            TokenSource::File { read, .. } => {
                contains_secret(&read.lock().unwrap_or_else(PoisonError::into_inner).tokens, &given)
            }
        }
    }

    /// Reads the file of tokens again if it has changed. If a token is gone, nobody knows which browsers came with it, so all must log
    /// in anew.
    fn refresh_tokens(&self) {
        let TokenSource::File { path, read } = &self.tokens else { return };
        let mut file = read.lock().unwrap_or_else(PoisonError::into_inner);
        if !file.has_changed(path) {
            return;
        }
        // A file that cannot be read has no token in it.
        let before = std::mem::replace(&mut *file, TokenFile::read(path).unwrap_or_default());
        if !before.tokens.iter().all(|token| contains_secret(&file.tokens, token)) {
            self.links.lock().unwrap_or_else(PoisonError::into_inner).clear();
            self.sessions.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }

    /// The path of a new link that works once.
    pub fn new_link(&self) -> Result<String, CliError> {
        let code = new_nonce()?;
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        if links.len() >= LINKS_MAX {
            links.remove(0);
        }
        links.push(secret_hash(&code));
        Ok(format!("{LOGIN_PATH}?code={code}"))
    }

    /// Exchanges the code of a link for a session: the value of a `Set-Cookie` header. `None` if the link was used before.
    pub fn open_session(&self, code: &str) -> Option<String> {
        let given = secret_hash(code);
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let place = links.iter().position(|known| is_same_secret(known, &given))?;
        links.remove(place);
        drop(links);
        let session = new_nonce().ok()?;
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() >= SESSIONS_MAX {
            sessions.remove(0);
        }
        sessions.push(secret_hash(&session));
        Some(format!("{SESSION_COOKIE}={session}; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000"))
    }

    fn is_session(&self, session: &str) -> bool {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        contains_secret(&sessions, &secret_hash(session))
    }
}

/// A request that another page made the browser send.
fn check_origin(headers: &HeaderMap, host: &str) -> Result<(), Problem> {
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().unwrap_or_default().to_ascii_lowercase();
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    match authority == Some(host) {
        true => Ok(()),
        false => Err(foreign_request()),
    }
}

/// A browser says where a request comes from, also for pictures and scripts, which have no origin. Only following a link, which shows
/// the page to the user, may come from elsewhere.
fn check_fetch_site(method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    let says = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let is_own = matches!(says("sec-fetch-site"), None | Some("same-origin" | "none"));
    let is_link = *method == Method::GET
        && says("sec-fetch-mode") == Some("navigate")
        && says("sec-fetch-dest") == Some("document");
    match is_own || is_link {
        true => Ok(()),
        false => Err(foreign_request()),
    }
}

fn foreign_request() -> Problem {
    Problem::new(
        StatusCode::FORBIDDEN,
        "this request comes from another page: open the server's own page instead",
    )
}

/// A form of another page cannot send JSON.
fn check_content_type(method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    if !matches!(*method, Method::POST | Method::PUT | Method::PATCH) {
        return Ok(());
    }
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_empty = headers.get(header::CONTENT_LENGTH).is_some_and(|length| length == "0")
        || (headers.get(header::CONTENT_LENGTH).is_none()
            && headers.get(header::TRANSFER_ENCODING).is_none());
    match kind == "application/json" || (kind.is_empty() && is_empty) {
        true => Ok(()),
        false => Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "send JSON with the header `Content-Type: application/json`",
        )),
    }
}

/// A host without its port.
fn host_name(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !name.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

fn secret_hash(secret: &str) -> SecretHash {
    Sha256::digest(secret.as_bytes()).into()
}

/// Compares every byte, whether or not an earlier one differs.
fn is_same_secret(one: &SecretHash, other: &SecretHash) -> bool {
    one.iter().zip(other).fold(0, |difference, (one, other)| difference | (one ^ other)) == 0
}

/// Looks at every secret, whether or not an earlier one is the same.
fn contains_secret(known: &[SecretHash], given: &SecretHash) -> bool {
    known.iter().fold(false, |found, known| found | is_same_secret(known, given))
}

fn check_token(token: &str) -> Result<(), CliError> {
    match token.trim().chars().count() {
        TOKEN_CHARS_MIN.. => Ok(()),
        _ => Err(CliError::input(format!(
            "a token needs at least {TOKEN_CHARS_MIN} characters, because it can be guessed otherwise: \
             `openssl rand -hex 32` makes one"
        ))),
    }
}

impl TokenFile {
    fn read(path: &PathBuf) -> Result<Self, CliError> {
        // Looked at first: a change while it is read is noticed at the next request.
        let state = file_state(path);
        let text = input::read_text(path, TOKEN_FILE_BYTES_MAX)?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let lines: Vec<&str> = lines.collect();
        if lines.is_empty() {
            return Err(CliError::file(path, "there is no token in it: write one per line"));
        }
        lines.iter().try_for_each(|line| check_token(line))?;
        Ok(Self { state, tokens: lines.into_iter().map(secret_hash).collect() })
    }

    fn has_changed(&self, path: &PathBuf) -> bool {
        file_state(path) != self.state
    }
}

fn file_state(path: &PathBuf) -> Option<(SystemTime, u64)> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            (header::HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    fn status(rules: &AccessRules, method: &str, path: &str, pairs: &[(&'static str, &str)]) -> u16 {
        let (method, uri) = (method.parse().unwrap(), path.parse().unwrap());
        rules.check(&method, &uri, &headers(pairs)).map_or_else(|problem| problem.status, |()| 200)
    }

    fn rules(address: &str, token: Option<&str>) -> Result<AccessRules, CliError> {
        let hosts = ["agon.example".to_owned()];
        AccessRules::new(address.parse().unwrap(), &hosts, token.map(str::to_owned), None)
    }

    const TOKEN: &str = "0123456789abcdef0123";

    /// "Off loopback it refuses to start without a token."
    #[test]
    fn off_loopback_a_token_is_needed() {
        assert!(rules("127.0.0.1", None).is_ok() && rules("::1", None).is_ok());
        for address in ["0.0.0.0", "::", "192.0.2.1"] {
            let error = rules(address, None).err().unwrap().to_string();
            assert!(error.contains("AGON_TOKEN"), "{error}");
            assert!(rules(address, Some(TOKEN)).is_ok());
        }
        assert!(rules("0.0.0.0", Some("short")).is_err());
    }

    #[test]
    fn a_host_must_be_one_of_the_servers_names() {
        let local = rules("127.0.0.1", None).unwrap();
        let public = rules("0.0.0.0", Some(TOKEN)).unwrap();
        let bearer = ("authorization", "Bearer 0123456789abcdef0123");
        for (host, here, there) in [
            ("localhost", 200, 200),
            ("LOCALHOST:7717", 200, 200),
            ("127.0.0.1:80", 200, 200),
            ("[::1]:7717", 200, 200),
            ("agon.example", 200, 200),
            ("192.0.2.1:7717", 403, 200),
            ("evil.example", 403, 403),
            ("localhost.evil.example", 403, 403),
            ("evil.example:7717", 403, 403),
            ("127.0.0.1.evil.example", 403, 403),
            ("", 403, 403),
            ("user@localhost", 403, 403),
            ("localhost.", 403, 403),
            ("2130706433", 403, 403),
            ("[::ffff:127.0.0.1]", 403, 200),
        ] {
            assert_eq!(status(&local, "GET", "/", &[("host", host)]), here, "{host}");
            assert_eq!(status(&public, "GET", "/", &[("host", host), bearer]), there, "{host}");
        }
    }

    #[test]
    fn a_request_with_two_names_is_refused() {
        let local = rules("127.0.0.1", None).unwrap();
        let mut two = headers(&[("host", "localhost")]);
        two.append("host", HeaderValue::from_static("evil.example"));
        assert!(local.check(&Method::GET, &Uri::from_static("/"), &two).is_err());
        let one = headers(&[("host", "localhost")]);
        assert!(local.check(&Method::GET, &Uri::from_static("http://localhost/"), &one).is_ok());
        assert!(local.check(&Method::GET, &Uri::from_static("http://evil.example/"), &one).is_err());
    }

    #[test]
    fn a_request_of_another_page_is_refused() {
        let local = rules("127.0.0.1", None).unwrap();
        for (origin, want) in [
            ("http://localhost:7717", 200),
            ("https://localhost:7717", 200),
            ("http://localhost:1", 403),
            ("http://evil.example", 403),
            ("null", 403),
            ("", 403),
        ] {
            let pairs = [("host", "localhost:7717"), ("origin", origin)];
            assert_eq!(status(&local, "GET", "/", &pairs), want, "{origin}");
        }
        for (site, mode, dest, want) in [
            ("same-origin", "cors", "empty", 200),
            ("none", "navigate", "document", 200),
            ("cross-site", "navigate", "document", 200),
            ("cross-site", "navigate", "iframe", 403),
            ("cross-site", "no-cors", "image", 403),
            ("same-site", "no-cors", "script", 403),
            ("same-site", "cors", "empty", 403),
        ] {
            let pairs = [
                ("host", "localhost"),
                ("sec-fetch-site", site),
                ("sec-fetch-mode", mode),
                ("sec-fetch-dest", dest),
            ];
            assert_eq!(status(&local, "GET", "/", &pairs), want, "{site} {mode} {dest}");
        }
        for (kind, want) in [
            ("application/json", 200),
            ("Application/JSON; charset=utf-8", 200),
            ("text/plain", 415),
            ("application/x-www-form-urlencoded", 415),
            ("application/jsonp", 415),
        ] {
            let pairs = [("host", "localhost"), ("content-type", kind), ("content-length", "2")];
            assert_eq!(status(&local, "POST", "/", &pairs), want, "{kind}");
        }
        assert_eq!(status(&local, "POST", "/", &[("host", "localhost"), ("content-length", "0")]), 200);
        assert_eq!(status(&local, "POST", "/", &[("host", "localhost"), ("content-length", "9")]), 415);
    }

    #[test]
    fn a_token_is_needed_everywhere_but_for_health_and_login() {
        let public = rules("0.0.0.0", Some(TOKEN)).unwrap();
        let host = ("host", "localhost");
        for (path, want) in [("/", 401), ("/api/v1/debates", 401), ("/healthz", 200), ("/healthz/x", 401)] {
            assert_eq!(status(&public, "GET", path, &[host]), want, "{path}");
            let wrong = ("authorization", "Bearer 0123456789abcdef0124");
            assert_eq!(status(&public, "GET", path, &[host, wrong]), want, "{path}");
            let right = ("authorization", "bearer 0123456789abcdef0123");
            assert_eq!(status(&public, "GET", path, &[host, right]), 200, "{path}");
        }
    }

    #[test]
    fn a_link_works_once_and_its_session_stays() {
        let public = rules("0.0.0.0", Some(TOKEN)).unwrap();
        let link = public.new_link().unwrap();
        let code = link.split_once('=').unwrap().1;
        assert!(public.open_session("wrong").is_none());
        let cookie = public.open_session(code).unwrap();
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
        assert!(public.open_session(code).is_none());
        let session = cookie.split(';').next().unwrap();
        assert_eq!(status(&public, "GET", "/", &[("host", "localhost"), ("cookie", session)]), 200);
        let forged = format!("{SESSION_COOKIE}=0");
        assert_eq!(status(&public, "GET", "/", &[("host", "localhost"), ("cookie", &forged)]), 401);
    }

    #[test]
    fn a_token_file_is_read_again_when_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        std::fs::write(&path, "# old\nold-token-of-the-team\n").unwrap();
        let address = "0.0.0.0".parse().unwrap();
        let rules = AccessRules::new(address, &[], None, Some(path.clone())).unwrap();
        let asked = |headers: &[(&'static str, &str)]| {
            status(&rules, "GET", "/", &[&[("host", "localhost")], headers].concat())
        };
        let (old, new) = (
            ("authorization", "Bearer old-token-of-the-team"),
            ("authorization", "Bearer new-token-of-the-team"),
        );
        assert_eq!((asked(&[old]), asked(&[new])), (200, 401));
        let link = rules.new_link().unwrap();
        let cookie = rules.open_session(link.split_once('=').unwrap().1).unwrap();
        let session = [("cookie", cookie.split(';').next().unwrap())];
        assert_eq!(asked(&session), 200);
        std::fs::write(&path, "new-token-of-the-team\nold-token-of-the-team\n").unwrap();
        assert_eq!((asked(&[old]), asked(&[new]), asked(&session)), (200, 200, 200));
        let unused = rules.new_link().unwrap();
        std::fs::write(&path, "new-token-of-the-team\n").unwrap();
        let later = SystemTime::now() + std::time::Duration::from_secs(5);
        std::fs::File::options().append(true).open(&path).unwrap().set_modified(later).unwrap();
        assert_eq!((asked(&[old]), asked(&[new])), (401, 200));
        assert_eq!(asked(&session), 401, "who came with the old token must log in anew");
        assert!(rules.open_session(unused.split_once('=').unwrap().1).is_none());
    }
}
