//! Errors as clients of OpenAI's format read them: `{"error": {"message", "type", "param", "code"}}`.

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::hosting::host_error::HostError;
use crate::serve::problem::Problem;

/// Official clients send a failed request again unless this header says `false`.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// An error under `/v1`.
#[derive(Debug, Clone)]
pub struct ChatError {
    status: StatusCode,
    code: &'static str,
    message: String,
    retry_after_s: Option<u64>,
    is_final: bool,
}

impl ChatError {
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), retry_after_s: None, is_final: false }
    }

    /// The request cannot be carried out as it is.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", message)
    }

    /// The same error for a request that must not be sent again: it would hold, and pay for, another debate.
    #[must_use]
    pub fn not_again(self) -> Self {
        Self { is_final: true, ..self }
    }

    /// The body of the answer.
    pub fn document(&self) -> Value {
        let kind = match self.status {
            StatusCode::UNAUTHORIZED => "authentication_error",
            StatusCode::FORBIDDEN => "permission_error",
            StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
            status if status.is_server_error() => "server_error",
            _ => "invalid_request_error",
        };
        json!({"error": {"message": self.message, "type": kind, "param": null, "code": self.code}})
    }
}

impl From<Problem> for ChatError {
    fn from(problem: Problem) -> Self {
        let (status, code) = match problem.status_code() {
            // Clients of this format know 400 for whatever is wrong with a request.
            StatusCode::UNPROCESSABLE_ENTITY | StatusCode::BAD_REQUEST => {
                (StatusCode::BAD_REQUEST, "invalid_request")
            }
            StatusCode::UNAUTHORIZED => (StatusCode::UNAUTHORIZED, "invalid_api_key"),
            StatusCode::FORBIDDEN => (StatusCode::FORBIDDEN, "forbidden"),
            StatusCode::NOT_FOUND => (StatusCode::NOT_FOUND, "not_found"),
            StatusCode::METHOD_NOT_ALLOWED => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            StatusCode::PAYLOAD_TOO_LARGE => (StatusCode::PAYLOAD_TOO_LARGE, "request_too_large"),
            StatusCode::UNSUPPORTED_MEDIA_TYPE => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type")
            }
            StatusCode::TOO_MANY_REQUESTS => (StatusCode::TOO_MANY_REQUESTS, "insufficient_quota"),
            StatusCode::SERVICE_UNAVAILABLE => (StatusCode::SERVICE_UNAVAILABLE, "overloaded"),
            StatusCode::CONFLICT => (StatusCode::CONFLICT, "conflict"),
            status => (status, "failed"),
        };
        Self { retry_after_s: problem.retry_after_s, ..Self::new(status, code, problem.detail) }
    }
}

impl From<HostError> for ChatError {
    fn from(error: HostError) -> Self {
        Problem::from(error).into()
    }
}

impl IntoResponse for ChatError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.document())).into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.is_final {
            headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// A problem document in this format. Any other answer stays as it is.
pub fn in_chat_format(response: Response) -> Response {
    match response.extensions().get::<Problem>() {
        Some(problem) => ChatError::from(problem.clone()).into_response(),
        None => response,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosting::host_error::HostErrorKind;

    #[test]
    fn every_problem_has_a_status_a_type_and_a_code_that_clients_know() {
        let host = |kind| Problem::from(HostError { kind, sentence: "Do this.".into() });
        let plain = |status| Problem::new(status, "Do this.");
        for (problem, status, kind, code) in [
            (host(HostErrorKind::Invalid), 400, "invalid_request_error", "invalid_request"),
            (host(HostErrorKind::UsedUp { retry_after_s: 7 }), 429, "rate_limit_error", "insufficient_quota"),
            (host(HostErrorKind::Busy { retry_after_s: 7 }), 503, "server_error", "overloaded"),
            (host(HostErrorKind::Failed), 500, "server_error", "failed"),
            (plain(StatusCode::UNAUTHORIZED), 401, "authentication_error", "invalid_api_key"),
            (plain(StatusCode::FORBIDDEN), 403, "permission_error", "forbidden"),
            (plain(StatusCode::NOT_FOUND), 404, "invalid_request_error", "not_found"),
        ] {
            let waits = problem.retry_after_s.map(|seconds| seconds.to_string());
            let error = ChatError::from(problem.clone());
            let error_body = error.document();
            assert_eq!(error_body["error"]["message"], "Do this.");
            assert_eq!(
                (&error_body["error"]["type"], &error_body["error"]["code"]),
                (&json!(kind), &json!(code))
            );
            let response = in_chat_format(problem.into_response());
            assert_eq!(response.status().as_u16(), status);
            assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
            let header = response.headers().get(header::RETRY_AFTER).map(|value| value.to_str().unwrap());
            assert_eq!(header, waits.as_deref());
        }
    }
}
