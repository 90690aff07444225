//! Which addresses anybody on the internet can reach, and a client that connects to no others.
//!
//! Whoever chooses a name also chooses what it resolves to. So names are resolved here, and the connection goes to an address that was
//! checked.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use agon_host::innermost_reason;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A client whose connections by name go only to addresses that a rule allows; it follows no redirects. An address that is written as a
/// number is not resolved, so whoever uses the client checks it. Made on a blocking thread, because it reads the system's certificates.
pub(crate) async fn checked_client(
    may_reach: impl Fn(&str, IpAddr) -> bool + Send + Sync + 'static,
) -> Result<Client, String> {
    let resolver = CheckedResolver(Arc::new(may_reach));
    let build = tokio::task::spawn_blocking(move || {
        agon_host::install_tls();
        Client::builder()
            .redirect(Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            // A proxy would resolve the name itself.
            .no_proxy()
            .dns_resolver(Arc::new(resolver))
            .user_agent(concat!("agon/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|why| innermost_reason(&why))
    });
    build
        .await
        .unwrap_or_else(|_| Err("the thread failed".into()))
        .map_err(|why| format!("there is no HTTP client ({why})"))
}

/// The host of an address, as it is compared: without the dot that a whole name may end with.
pub(crate) fn host_of(url: &Url) -> String {
    url.host_str().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase()
}

pub(crate) fn ip_address(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// Whether anybody on the internet can reach an address. What is not known to be public is private.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(v4: Ipv4Addr) -> bool {
    let [a, b, c, _] = v4.octets();
    let is_shared = a == 100 && (64..128).contains(&b);
    let is_benchmark = a == 198 && (b == 18 || b == 19);
    let is_protocol = a == 192 && b == 0 && (c == 0 || c == 2);
    !(v4.is_private()
        || v4.is_loopback()
        || v4.is_link_local()
        || v4.is_broadcast()
        || v4.is_documentation()
        || v4.is_multicast()
        || is_shared
        || is_benchmark
        || is_protocol
        || a == 0
        || a >= 240)
}

fn is_public_v6(v6: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, g, h] = v6.segments();
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match (a, b, c, d, e, f) {
        // IPv4 addresses in another form: mapped, translated (NAT64) and tunnelled (6to4).
        (0, 0, 0, 0, 0, 0xffff) | (0x64, 0xff9b, 0, 0, 0, 0) => v4(g, h),
        (0x2002, ..) => v4(b, c),
        // 2001::/23 is for protocols, such as Teredo, which hides its addresses; the others are for documentation.
        (0x2001, 0..0x200 | 0xdb8, ..) | (0x3fff, 0..0x1000, ..) => false,
        // All global addresses begin with the bits 001.
        _ => a & 0xe000 == 0x2000,
    }
}

/// Whether a host may be reached at an address.
type AddressRule = dyn Fn(&str, IpAddr) -> bool + Send + Sync;

/// Resolves names, and gives only addresses that may be reached.
struct CheckedResolver(Arc<AddressRule>);

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let may_reach = Arc::clone(&self.0);
        Box::pin(async move {
            let host = name.as_str().trim_end_matches('.').to_ascii_lowercase();
            let all: Vec<SocketAddr> = tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            let allowed: Vec<SocketAddr> =
                all.into_iter().filter(|address| may_reach(&host, address.ip())).collect();
            if allowed.is_empty() {
                let why: Box<dyn Error + Send + Sync> = "its host has a private address".into();
                return Err(why);
            }
            let addresses: Addrs = Box::new(allowed.into_iter());
            Ok(addresses)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_to_be_public_is_private() {
        for address in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "192.0.0.8",
            "192.168.1.1",
            "198.18.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "fd00::1",
            "ff02::1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "2002:a00:1::",
            "2001:db8::1",
            "2001::1",
            "2001:2::1",
            "2001:20::1",
            "3fff::1",
            "64:ff9b:1::1",
            "5f00::1",
            "::ffff:0:10.0.0.1",
            "::10.0.0.1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        for address in ["1.1.1.1", "100.128.0.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }
}
