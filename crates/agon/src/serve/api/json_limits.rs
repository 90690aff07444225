//! Bodies that are short, and would still take much memory as JSON.

use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;

use super::read_body;
use crate::serve::problem::Problem;

/// Refuses a body with too many values.
pub fn check_values(bytes: &[u8]) -> Result<(), Problem> {
    if agon_host::has_few_json_values(bytes) {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("the body has more than {} JSON values: send fewer", agon_host::JSON_VALUES_MAX),
    ))
}

/// The same check for a service that parses its bodies itself.
pub async fn bounded_json(request: Request, next: Next) -> Result<Response, Problem> {
    let (head, body) = request.into_parts();
    let bytes = read_body(Request::from_parts(head.clone(), body), &()).await?;
    check_values(&bytes)?;
    Ok(next.run(Request::from_parts(head, Body::from(bytes))).await)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_of_many_small_values_is_refused_before_it_is_parsed() {
        let many = format!("{{\"q\": [{}]}}", vec!["{}"; agon_host::JSON_VALUES_MAX].join(","));
        let refused = super::super::parse_body::<serde_json::Value>(many.as_bytes()).err().unwrap();
        assert!(refused.status == 413 && refused.detail.contains("JSON values"), "{refused:?}");
        assert!(check_values(br#"{"question": "a, [b], {c}"}"#).is_ok());
    }
}
