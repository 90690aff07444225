//! Errors as RFC 9457 problem documents. Their `detail` says what to do.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::hosting::host_error::{HostError, HostErrorKind};

/// The detail of a problem with a path that no route has.
pub const NO_SUCH_PATH: &str = "there is no such path: /openapi.json lists what there is";

/// An error of the API.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct Problem {
    /// Always `about:blank`: the status says what kind of problem it is.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The status in words.
    pub title: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// What is wrong, and what to do.
    pub detail: String,
    #[serde(skip)]
    pub retry_after_s: Option<u64>,
}

impl Problem {
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            detail: detail.into(),
            retry_after_s: None,
        }
    }

    /// The request is understood but cannot be carried out.
    pub fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, detail)
    }

    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after_s: Some(seconds), ..self }
    }

    /// The HTTP status.
    pub fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl From<HostError> for Problem {
    fn from(error: HostError) -> Self {
        let (status, retry_after_s) = match error.kind {
            HostErrorKind::Invalid => (StatusCode::UNPROCESSABLE_ENTITY, None),
            HostErrorKind::NotFound => (StatusCode::NOT_FOUND, None),
            HostErrorKind::Conflict | HostErrorKind::Elsewhere => (StatusCode::CONFLICT, None),
            HostErrorKind::Busy { retry_after_s } => (StatusCode::SERVICE_UNAVAILABLE, Some(retry_after_s)),
            HostErrorKind::UsedUp { retry_after_s } => (StatusCode::TOO_MANY_REQUESTS, Some(retry_after_s)),
            HostErrorKind::Failed => (StatusCode::INTERNAL_SERVER_ERROR, None),
        };
        Self { retry_after_s, ..Self::new(status, error.sentence) }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (self.status_code(), body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED.as_u16() {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        // A chat program and a browser get it in another form.
        response.extensions_mut().insert(self);
        response
    }
}
