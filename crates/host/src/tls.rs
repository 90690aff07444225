//! The cryptography of HTTPS.

/// Chooses `ring` for all TLS connections of this process. Call it before an HTTP client is built; a second call does nothing.
pub fn install_tls() {
    // It fails only if a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_second_call_changes_nothing() {
        super::install_tls();
        super::install_tls();
        assert!(rustls::crypto::CryptoProvider::get_default().is_some());
    }
}
