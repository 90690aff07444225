//! A download from a model hub that resumes where it was interrupted.
//!
//! The bytes so far are in `NAME.part`. The next attempt, in this pull or a later one, asks for the rest, on the
//! condition that the server still has the same version. The sum decides in the end: if it is wrong, the part is removed
//! and the download starts once more from the beginning.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use agon_host::innermost_reason;
use reqwest::header::{
    ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderMap, HeaderName, IF_RANGE, RANGE,
};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode};
use tokio::time::{sleep, timeout};

use super::background_work::run_in_background;
use super::file_checks;
use super::known_models::{KnownFile, KnownModel};
use super::pull_error::SourceFailure;
use super::pull_progress::{ProgressReport, PullProgress};
use super::pull_settings::{PullSettings, PullTimeouts};

/// A download that has begun gives up after this many attempts in a row without a new byte.
const EMPTY_ATTEMPTS_MAX: u32 = 3;
const REDIRECTS_MAX: usize = 10;

/// Downloads the wanted files into the folder.
pub(super) async fn download_from_hub(
    model: &KnownModel,
    wanted: &[KnownFile],
    folder: &Path,
    settings: &PullSettings,
    report: ProgressReport<'_>,
) -> Result<(), SourceFailure> {
    let client = http_client(settings).map_err(SourceFailure::Source)?;
    let total_bytes = wanted.iter().map(|file| file.bytes).sum();
    let mut earlier_bytes = 0;
    for file in wanted {
        let address = model.hub_address(&settings.hub, file);
        let timeouts = settings.timeouts;
        let download = FileDownload {
            client: &client,
            address,
            file,
            folder,
            timeouts,
            report,
            earlier_bytes,
            total_bytes,
        };
        download.run().await?;
        earlier_bytes += file.bytes;
    }
    Ok(())
}

fn http_client(settings: &PullSettings) -> Result<Client, String> {
    agon_host::install_tls();
    let mut builder = Client::builder()
        .connect_timeout(settings.timeouts.connect)
        .redirect(Policy::limited(REDIRECTS_MAX))
        // Ranges count the bytes of the file, not those of a compressed body.
        .no_gzip()
        .user_agent(concat!("agon/", env!("CARGO_PKG_VERSION")));
    if settings.hub.starts_with("http://") {
        // Servers without TLS are local ones, which a proxy from the environment is not meant for.
        builder = builder.no_proxy();
    } else if !settings.hub.starts_with("https://") {
        return Err("its address must begin with https://; see HF_ENDPOINT".into());
    }
    builder.build().map_err(|error| format!("the HTTP client cannot be built ({})", innermost_reason(&error)))
}

struct FileDownload<'a> {
    client: &'a Client,
    address: String,
    file: &'a KnownFile,
    folder: &'a Path,
    timeouts: PullTimeouts,
    report: ProgressReport<'a>,
    /// The size of the files before this one.
    earlier_bytes: u64,
    /// The size of all files.
    total_bytes: u64,
}

/// How one request ended.
enum DownloadAttempt {
    Complete,
    Interrupted {
        received_bytes: bool,
        why: String,
    },
    /// The part on the disk cannot be continued.
    PartUnusable,
}

impl FileDownload<'_> {
    async fn run(&self) -> Result<(), SourceFailure> {
        let mut wrong = None;
        for _ in 0..2 {
            self.complete_part().await?;
            let (folder, file) = (self.folder.to_owned(), *self.file);
            let check = move |progress: &_| file_checks::keep_download(&folder, &file, progress);
            let Err(sum) = run_in_background(self.report, None, check).await? else { return Ok(()) };
            file_checks::remove_part(self.folder, self.file)?;
            wrong = Some(file_checks::wrong_sum_sentence(self.file, &sum));
        }
        Err(SourceFailure::Source(wrong.unwrap_or_default()))
    }

    /// Sends requests until the part has all bytes.
    async fn complete_part(&self) -> Result<(), SourceFailure> {
        let (mut begun, mut empty_attempts, mut restarted) = (false, 0, false);
        loop {
            let part_bytes = self.part_bytes()?;
            self.report_bytes(part_bytes);
            if part_bytes == self.file.bytes {
                return Ok(());
            }
            match self.attempt(part_bytes).await? {
                DownloadAttempt::Complete => return Ok(()),
                DownloadAttempt::PartUnusable if restarted => {
                    return Err(SourceFailure::Source("it does not send the file from its beginning".into()));
                }
                DownloadAttempt::PartUnusable => {
                    restarted = true;
                    file_checks::remove_part(self.folder, self.file)?;
                }
                DownloadAttempt::Interrupted { received_bytes, why } => {
                    begun |= received_bytes;
                    empty_attempts = if received_bytes { 0 } else { empty_attempts + 1 };
                    // A server that never sent anything gets no second chance: another source may work.
                    if !begun || empty_attempts == EMPTY_ATTEMPTS_MAX {
                        return Err(SourceFailure::Source(why));
                    }
                    sleep(self.timeouts.pause).await;
                }
            }
        }
    }

    /// The length of the part. A part that is too long is removed.
    fn part_bytes(&self) -> Result<u64, SourceFailure> {
        let path = file_checks::part_path(self.folder, self.file);
        let part_bytes = fs::metadata(path).map_or(0, |part| part.len());
        if part_bytes <= self.file.bytes {
            return Ok(part_bytes);
        }
        file_checks::remove_part(self.folder, self.file).map(|()| 0)
    }

    async fn attempt(&self, part_bytes: u64) -> Result<DownloadAttempt, SourceFailure> {
        let etag_path = file_checks::etag_path(self.folder, self.file);
        let mut request = self.client.get(&self.address).header(ACCEPT_ENCODING, "identity");
        if part_bytes > 0 {
            request = request.header(RANGE, format!("bytes={part_bytes}-"));
            if let Ok(etag) = fs::read_to_string(&etag_path) {
                request = request.header(IF_RANGE, etag);
            }
        }
        let failed = |why| DownloadAttempt::Interrupted { received_bytes: false, why };
        let response = match timeout(self.timeouts.answer, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Ok(failed(unreachable_sentence(&error, &self.timeouts))),
            Err(_) => return Ok(failed(format!("no answer within {:?}", self.timeouts.answer))),
        };
        let meaning = ResponseMeaning::of(response.status(), response.headers(), part_bytes, self.file.bytes);
        match meaning.map_err(SourceFailure::Source)? {
            ResponseMeaning::Rest => self.receive(response, part_bytes).await,
            ResponseMeaning::Whole { etag } => {
                file_checks::remove_part(self.folder, self.file)?;
                // Without the tag, the next attempt still asks for the rest, and the sum decides.
                let _ = etag.map(|etag| fs::write(&etag_path, etag));
                self.receive(response, 0).await
            }
            ResponseMeaning::PartUnusable => Ok(DownloadAttempt::PartUnusable),
        }
    }

    /// Appends the body to the part.
    async fn receive(
        &self,
        mut response: Response,
        begin_bytes: u64,
    ) -> Result<DownloadAttempt, SourceFailure> {
        let path = file_checks::part_path(self.folder, self.file);
        let store = SourceFailure::store(&path);
        // A blocking write only goes to the system's cache, and a dropped pull leaves no write under way.
        let mut part = File::options().create(true).append(true).open(&path).map_err(&store)?;
        let (mut part_bytes, bytes) = (begin_bytes, self.file.bytes);
        let why = loop {
            match timeout(self.timeouts.silence, response.chunk()).await {
                Ok(Ok(Some(chunk))) => {
                    part_bytes += chunk.len() as u64;
                    if part_bytes > bytes {
                        file_checks::remove_part(self.folder, self.file)?;
                        return Err(SourceFailure::Source(format!("it sends more than {bytes} bytes")));
                    }
                    part.write_all(&chunk).map_err(&store)?;
                    self.report_bytes(part_bytes);
                }
                Ok(Ok(None)) if part_bytes == bytes => return Ok(DownloadAttempt::Complete),
                Ok(Ok(None)) => break format!("it ended after {part_bytes} of {bytes} bytes"),
                Ok(Err(error)) => {
                    let reason = innermost_reason(&error);
                    break format!("the connection broke after {part_bytes} of {bytes} bytes ({reason})");
                }
                Err(_) => {
                    let silence = self.timeouts.silence;
                    break format!("no bytes for {silence:?}, after {part_bytes} of {bytes}");
                }
            }
        };
        Ok(DownloadAttempt::Interrupted { received_bytes: part_bytes > begin_bytes, why })
    }

    fn report_bytes(&self, part_bytes: u64) {
        let done_bytes = self.earlier_bytes + part_bytes;
        (self.report)(PullProgress::Bytes { done_bytes, total_bytes: self.total_bytes });
    }
}

fn unreachable_sentence(error: &reqwest::Error, timeouts: &PullTimeouts) -> String {
    if error.is_timeout() {
        format!("it cannot be reached within {:?}", timeouts.connect)
    } else if error.is_redirect() {
        "it redirects without end".to_owned()
    } else {
        format!("it cannot be reached ({})", innermost_reason(error))
    }
}

/// What a server's answer means for a download that may have begun earlier.
#[derive(Debug, PartialEq, Eq)]
enum ResponseMeaning {
    /// The body is the rest: append it.
    Rest,
    /// The body is the whole file: start again with it.
    Whole {
        /// The server's version tag, if it guarantees equal bytes.
        etag: Option<String>,
    },
    /// The part cannot be continued: remove it and ask for the whole file.
    PartUnusable,
}

impl ResponseMeaning {
    /// Reads the answer to a request for what follows the first `part_bytes` of a file of `bytes`.
    fn of(status: StatusCode, headers: &HeaderMap, part_bytes: u64, bytes: u64) -> Result<Self, String> {
        let other_size = |actual: u64| format!("it sends a file of {actual} bytes instead of {bytes}");
        match status {
            StatusCode::PARTIAL_CONTENT => match content_range(headers) {
                Some((_, Some(total))) if total != bytes => Err(other_size(total)),
                Some((start, _)) if start == part_bytes => Ok(Self::Rest),
                _ => Ok(Self::PartUnusable),
            },
            StatusCode::RANGE_NOT_SATISFIABLE => Ok(Self::PartUnusable),
            StatusCode::OK => match header(headers, CONTENT_LENGTH).and_then(|length| length.parse().ok()) {
                Some(length) if length != bytes => Err(other_size(length)),
                _ => Ok(Self::Whole { etag: strong_etag(headers) }),
            },
            status => Err(refusal_sentence(status)),
        }
    }
}

fn refusal_sentence(status: StatusCode) -> String {
    let code = status.as_u16();
    match code {
        404 | 410 => format!("it does not have the file (HTTP {code})"),
        401 | 403 => format!("it does not allow access to the file (HTTP {code})"),
        407 => format!("the proxy requires a password (HTTP {code})"),
        429 => format!("it accepts no more requests for now (HTTP {code}): try again later"),
        500..=599 => format!("it failed (HTTP {code}): try again later"),
        _ => format!("it answers with HTTP {code} instead of the file"),
    }
}

/// The start and the total length, from `bytes 10-99/100` or `bytes 10-99/*`.
fn content_range(headers: &HeaderMap) -> Option<(u64, Option<u64>)> {
    let (range, total) = header(headers, CONTENT_RANGE)?.strip_prefix("bytes ")?.split_once('/')?;
    let (start, _) = range.split_once('-')?;
    Some((start.trim().parse().ok()?, total.trim().parse().ok()))
}

/// A weak tag says that two versions are equivalent, not that their bytes are equal.
fn strong_etag(headers: &HeaderMap) -> Option<String> {
    header(headers, ETAG).filter(|etag| etag.starts_with('"')).map(str::to_owned)
}

fn header(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Headers = &'static [(&'static str, &'static str)];

    fn meaning(status: u16, headers: Headers) -> Result<ResponseMeaning, String> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
        }
        ResponseMeaning::of(StatusCode::from_u16(status).unwrap(), &map, 40, 100)
    }

    #[test]
    fn every_kind_of_answer_to_a_request_for_the_rest_is_understood() {
        let whole = |etag: Option<&str>| Ok(ResponseMeaning::Whole { etag: etag.map(str::to_owned) });
        assert_eq!(meaning(206, &[("content-range", "bytes 40-99/100")]), Ok(ResponseMeaning::Rest));
        assert_eq!(meaning(206, &[("content-range", "bytes 40-99/*")]), Ok(ResponseMeaning::Rest));
        assert_eq!(meaning(206, &[("content-range", "bytes 0-99/100")]), Ok(ResponseMeaning::PartUnusable));
        assert_eq!(meaning(206, &[]), Ok(ResponseMeaning::PartUnusable));
        assert_eq!(meaning(416, &[]), Ok(ResponseMeaning::PartUnusable));
        assert_eq!(meaning(200, &[("content-length", "100"), ("etag", "\"a\"")]), whole(Some("\"a\"")));
        assert_eq!(meaning(200, &[("etag", "W/\"a\"")]), whole(None));
    }

    #[test]
    fn an_answer_that_cannot_be_the_file_is_refused_before_its_body_is_read() {
        let cases: [(u16, Headers, &str); 8] = [
            (200, &[("content-length", "7")], "7 bytes instead of 100"),
            (206, &[("content-range", "bytes 40-89/90")], "90 bytes instead of 100"),
            (404, &[], "does not have the file"),
            (403, &[], "does not allow access"),
            (407, &[], "proxy"),
            (429, &[], "no more requests"),
            (503, &[], "try again later"),
            (304, &[], "HTTP 304"),
        ];
        for (status, headers, part) in cases {
            let why = meaning(status, headers).unwrap_err();
            assert!(why.contains(part), "{status}: {why}");
        }
    }
}
