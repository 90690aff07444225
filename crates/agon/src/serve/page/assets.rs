//! The style sheet, the script and the icon. Their names contain a hash of their content, so that browsers can keep them.

use std::sync::LazyLock;

use agon_core::event::sha256;
use agon_report::PAGE_STYLES;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::serve::problem::Problem;

/// Everything under this path is the same on every server, so nobody needs a token for it.
pub const ASSETS_PATH: &str = "/assets/";

/// The style sheet: that of exported pages, and what only this server's screens have.
pub static STYLES: LazyLock<PageAsset> = LazyLock::new(|| {
    PageAsset::new("css", "text/css; charset=utf-8", format!("{PAGE_STYLES}\n{}", include_str!("agon.css")))
});
/// The one script.
pub static SCRIPT: LazyLock<PageAsset> = LazyLock::new(|| {
    PageAsset::new("js", "text/javascript; charset=utf-8", include_str!("agon.js").to_owned())
});
/// The icon.
pub static ICON: LazyLock<PageAsset> =
    LazyLock::new(|| PageAsset::new("svg", "image/svg+xml", include_str!("icon.svg").to_owned()));

/// A file that is part of the program.
pub struct PageAsset {
    /// Its name, with a hash of its content.
    name: String,
    kind: &'static str,
    content: String,
}

impl PageAsset {
    fn new(ending: &str, kind: &'static str, content: String) -> Self {
        let hash: String = sha256(&content).chars().take(16).collect();
        Self { name: format!("agon-{hash}.{ending}"), kind, content }
    }

    /// Where it is.
    pub fn path(&self) -> String {
        format!("{ASSETS_PATH}{}", self.name)
    }
}

/// Sends an asset.
pub async fn asset(Path(name): Path<String>) -> Response {
    let all = [&*STYLES, &*SCRIPT, &*ICON];
    match all.into_iter().find(|asset| asset.name == name) {
        Some(asset) => {
            let headers = [
                (header::CONTENT_TYPE, asset.kind),
                (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
            ];
            (headers, asset.content.as_str()).into_response()
        }
        None => {
            let detail = "this file is of another version of Agon: load the page again";
            Problem::new(StatusCode::NOT_FOUND, detail).into_response()
        }
    }
}
