//! As much of a websocket as a browser on this machine needs.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A browser that says nothing for so long hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Socket {
    stream: BufReader<TcpStream>,
}

impl Socket {
    /// Connects to `HOST:PORT/PATH`.
    pub(crate) fn open(address: &str) -> Self {
        let (host, path) = address.split_once('/').unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let asked = format!(
            "GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: YWdvbi1icm93c2VyLWtleQ==\r\n\r\n"
        );
        stream.write_all(asked.as_bytes()).unwrap();
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        assert!(line.contains(" 101 "), "the browser does not take the connection: {line}");
        while line.trim() != "" {
            line.clear();
            stream.read_line(&mut line).unwrap();
        }
        Self { stream }
    }

    /// Sends a text. A mask of zeros is a mask: it hides nothing, and nothing is to be hidden.
    pub(crate) fn send(&mut self, text: &str) {
        let mut frame = vec![0x81];
        match text.len() {
            short @ ..126 => frame.push(0x80 | short as u8),
            long => {
                frame.push(0x80 | 127);
                frame.extend((long as u64).to_be_bytes());
            }
        }
        frame.extend([0; 4]);
        frame.extend(text.as_bytes());
        self.stream.get_mut().write_all(&frame).unwrap();
    }

    /// The next text, put together from its pieces.
    pub(crate) fn read(&mut self) -> String {
        let mut text = Vec::new();
        loop {
            let [first, second] = self.bytes();
            let length = match second & 0x7f {
                126 => u64::from(u16::from_be_bytes(self.bytes())),
                127 => u64::from_be_bytes(self.bytes()),
                short => u64::from(short),
            };
            let mut piece = vec![0; usize::try_from(length).unwrap()];
            self.stream.read_exact(&mut piece).unwrap();
            match first & 0x0f {
                // A piece of a text, or the first one.
                0 | 1 => text.extend(piece),
                8 => panic!("the browser has closed the connection"),
                _ => continue,
            }
            if first & 0x80 != 0 {
                return String::from_utf8(text).unwrap();
            }
        }
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.stream.read_exact(&mut bytes).unwrap();
        bytes
    }
}
