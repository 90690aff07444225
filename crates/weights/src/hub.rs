//! A download from a model hub that goes on where it was cut.
//!
//! What has come is in `NAME.part`. The next attempt, in this pull or in the next, asks for what comes after it, on
//! condition that the server still has the same version. The sum at the end has the last word: a part that turns out
//! wrong is thrown away, and the download begins once more.

use std::error::Error as _;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use reqwest::header::{ACCEPT_ENCODING, IF_RANGE, RANGE};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use tokio::time::{sleep, timeout};

use crate::answer::{self, Answer};
use crate::aside::aside;
use crate::error::{Trouble, one_line};
use crate::keep;
use crate::known::{Known, KnownFile};
use crate::progress::{Progress, Report};
use crate::ways::{Patience, Ways};

/// So many attempts in a row that bring no byte end a download that had begun well.
const FRUITLESS_MAX: u32 = 3;
/// The hub sends to its stores, and they may send on.
const REDIRECTS_MAX: usize = 10;

/// Downloads the wanted files into the folder.
pub(crate) async fn fetch(
    known: &Known,
    wanted: &[KnownFile],
    folder: &Path,
    ways: &Ways,
    report: Report<'_>,
) -> Result<(), Trouble> {
    let client = client(ways).map_err(Trouble::Source)?;
    let total_bytes = wanted.iter().map(|file| file.bytes).sum();
    let mut before_bytes = 0;
    for file in wanted {
        let address = known.hub_address(&ways.hub, file);
        let patience = ways.patience;
        let download =
            Download { client: &client, address, file, folder, patience, report, before_bytes, total_bytes };
        download.run().await?;
        before_bytes += file.bytes;
    }
    Ok(())
}

fn client(ways: &Ways) -> Result<Client, String> {
    let mut builder = Client::builder()
        .connect_timeout(ways.patience.connect)
        .redirect(Policy::limited(REDIRECTS_MAX))
        // A compressed body has other bytes than the ones that ranges count.
        .no_gzip()
        .user_agent(concat!("agon/", env!("CARGO_PKG_VERSION")));
    if ways.hub.starts_with("http://") {
        // Plain servers are local ones: a proxy of the environment is not meant for them.
        builder = builder.no_proxy();
    } else if !ways.hub.starts_with("https://") {
        return Err("its address must begin with https://; see HF_ENDPOINT".into());
    }
    builder.build().map_err(|error| format!("the HTTP client cannot be made ({})", deepest(&error)))
}

struct Download<'a> {
    client: &'a Client,
    address: String,
    file: &'a KnownFile,
    folder: &'a Path,
    patience: Patience,
    report: Report<'a>,
    /// Of the files before this one.
    before_bytes: u64,
    /// Of all files.
    total_bytes: u64,
}

/// How an attempt ended that did not end it all.
enum Attempt {
    Whole,
    Cut { grown: bool, why: String },
    Unusable,
}

impl Download<'_> {
    async fn run(&self) -> Result<(), Trouble> {
        let mut wrong = None;
        for _ in 0..2 {
            self.complete().await?;
            let (folder, file) = (self.folder.to_owned(), *self.file);
            let part = keep::part(&folder, &file);
            let checked =
                aside(self.report, None, move |tell| keep::settle(&folder, &file, &part, tell)).await?;
            let Err(sum) = checked else { return Ok(()) };
            keep::drop_part(self.folder, self.file)?;
            wrong = Some(keep::wrong_sum(self.file, &sum));
        }
        Err(Trouble::Source(wrong.unwrap_or_default()))
    }

    /// Attempts until the part has all bytes.
    async fn complete(&self) -> Result<(), Trouble> {
        let (mut begun, mut fruitless, mut renewed) = (false, 0, false);
        loop {
            let have_bytes = self.have_bytes()?;
            self.tell(have_bytes);
            if have_bytes == self.file.bytes {
                return Ok(());
            }
            match self.attempt(have_bytes).await? {
                Attempt::Whole => return Ok(()),
                Attempt::Unusable if renewed => {
                    return Err(Trouble::Source("it does not send the file from its beginning".into()));
                }
                Attempt::Unusable => {
                    renewed = true;
                    keep::drop_part(self.folder, self.file)?;
                }
                Attempt::Cut { grown, why } => {
                    begun |= grown;
                    fruitless = if grown { 0 } else { fruitless + 1 };
                    // A server that never sent anything is not waited for: another source may be there.
                    if !begun || fruitless == FRUITLESS_MAX {
                        return Err(Trouble::Source(why));
                    }
                    sleep(self.patience.pause).await;
                }
            }
        }
    }

    /// The length of the part. One that is too long is thrown away.
    fn have_bytes(&self) -> Result<u64, Trouble> {
        let have_bytes = fs::metadata(keep::part(self.folder, self.file)).map_or(0, |part| part.len());
        if have_bytes <= self.file.bytes {
            return Ok(have_bytes);
        }
        keep::drop_part(self.folder, self.file).map(|()| 0)
    }

    async fn attempt(&self, have_bytes: u64) -> Result<Attempt, Trouble> {
        let mut request = self.client.get(&self.address).header(ACCEPT_ENCODING, "identity");
        if have_bytes > 0 {
            request = request.header(RANGE, format!("bytes={have_bytes}-"));
            if let Ok(etag) = fs::read_to_string(keep::etag(self.folder, self.file)) {
                request = request.header(IF_RANGE, etag);
            }
        }
        let cut = |why| Attempt::Cut { grown: false, why };
        let response = match timeout(self.patience.answer, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Ok(cut(unreached(&error, &self.patience))),
            Err(_) => return Ok(cut(format!("no answer within {:?}", self.patience.answer))),
        };
        let answer = answer::read(response.status(), response.headers(), have_bytes, self.file.bytes);
        match answer.map_err(Trouble::Source)? {
            Answer::Rest => self.receive(response, have_bytes).await,
            Answer::Whole { etag } => {
                keep::drop_part(self.folder, self.file)?;
                // Without it the next attempt asks for the rest all the same, and the sum decides.
                let _ = etag.map(|etag| fs::write(keep::etag(self.folder, self.file), etag));
                self.receive(response, 0).await
            }
            Answer::Unusable => Ok(Attempt::Unusable),
        }
    }

    /// Appends the body to the part.
    async fn receive(&self, mut response: Response, had_bytes: u64) -> Result<Attempt, Trouble> {
        let path = keep::part(self.folder, self.file);
        let shelf = Trouble::shelf(&path);
        // A plain write: it goes to the system's memory, and a dropped pull leaves none on its way.
        let mut part = File::options().create(true).append(true).open(&path).map_err(&shelf)?;
        let (mut have_bytes, bytes) = (had_bytes, self.file.bytes);
        let why = loop {
            match timeout(self.patience.silence, response.chunk()).await {
                Ok(Ok(Some(chunk))) => {
                    have_bytes += chunk.len() as u64;
                    if have_bytes > bytes {
                        keep::drop_part(self.folder, self.file)?;
                        return Err(Trouble::Source(format!("it sends more than {bytes} bytes")));
                    }
                    part.write_all(&chunk).map_err(&shelf)?;
                    self.tell(have_bytes);
                }
                Ok(Ok(None)) if have_bytes == bytes => return Ok(Attempt::Whole),
                Ok(Ok(None)) => break format!("it ended after {have_bytes} of {bytes} bytes"),
                Ok(Err(error)) => {
                    break format!(
                        "the connection broke off after {have_bytes} of {bytes} bytes ({})",
                        deepest(&error)
                    );
                }
                Err(_) => {
                    let silence = self.patience.silence;
                    break format!("no bytes for {silence:?}, after {have_bytes} of {bytes}");
                }
            }
        };
        Ok(Attempt::Cut { grown: have_bytes > had_bytes, why })
    }

    fn tell(&self, have_bytes: u64) {
        let done_bytes = self.before_bytes + have_bytes;
        (self.report)(Progress::Bytes { done_bytes, total_bytes: self.total_bytes });
    }
}

fn unreached(error: &reqwest::Error, patience: &Patience) -> String {
    if error.is_timeout() {
        format!("it cannot be reached within {:?}", patience.connect)
    } else if error.is_redirect() {
        "it sends from one place to the next without end".to_owned()
    } else {
        format!("it cannot be reached ({})", deepest(error))
    }
}

/// The innermost reason: the outer ones name the address, which may hold a signature, and say little.
fn deepest(error: &reqwest::Error) -> String {
    let mut reason = error.source();
    while let Some(inner) = reason.and_then(|reason| reason.source()) {
        reason = Some(inner);
    }
    one_line(&reason.map_or_else(|| "no reason is given".to_owned(), ToString::to_string))
}
