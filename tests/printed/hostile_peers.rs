//! `watch --listen` with hostile peers: requests that are too long, too slow, or from other sites are closed or
//! rejected, and others are answered meanwhile.

use super::watch::stopped;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::time::{Duration, Instant};

/// Opens a connection and sends some bytes.
fn send_bytes(address: &str, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    // The server may close the connection early.
    let _ = stream.write_all(bytes);
    stream
}

/// The whole answer.
fn read_answer(mut stream: TcpStream) -> String {
    let (mut all, mut piece) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = stream.read(&mut piece) {
        all.extend_from_slice(&piece[..count]);
    }
    String::from_utf8_lossy(&all).into_owned()
}

const WELL: &[u8] = b"GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Asserts that a page is served without delay.
#[track_caller]
fn assert_serves(address: &str) {
    let begun = Instant::now();
    let page = read_answer(send_bytes(address, WELL));
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains("<title>"), "{page}");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[track_caller]
fn end_server(mut child: Child) {
    assert!(child.try_wait().unwrap().is_none(), "it goes on");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn announced_bodies_are_not_waited_for() {
    let folder = stopped();
    let (child, address) = folder.start_watch_server(&["d"]);
    let mut open = Vec::new();
    for _ in 0..20 {
        for length in ["1000000000000", "18446744073709551615", "1"] {
            let head =
                format!("POST /1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n");
            open.push(send_bytes(&address, head.as_bytes()));
        }
        let chunked = b"GET /1 HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n";
        drop(send_bytes(&address, chunked));
    }
    assert_serves(&address);
    for stream in open {
        let answer = read_answer(stream);
        let refused = ["HTTP/1.1 405 ", "HTTP/1.1 400 ", "HTTP/1.1 431 "];
        assert!(refused.iter().any(|it| answer.starts_with(it)), "{answer}");
    }
    let answer = read_answer(send_bytes(&address, b"PUT /1 HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    assert!(answer.contains("\r\nAllow: GET, HEAD\r\n"), "{answer}");
    end_server(child);
}

#[test]
fn slow_peers_do_not_delay_others() {
    let folder = stopped();
    let (child, address) = folder.start_watch_server(&["d"]);
    // More than the limit of open connections: the oldest are closed.
    let mut open: Vec<TcpStream> = Vec::new();
    for number in 0..300 {
        open.push(match number % 3 {
            0 => send_bytes(&address, b""),
            1 => send_bytes(&address, b"GET /1 HTTP/1.1\r\nHost: loc"),
            // The answer is never read.
            _ => send_bytes(&address, WELL),
        });
        if number % 60 == 59 {
            assert_serves(&address);
        }
    }
    // The head of a request may take ten seconds.
    let begun = Instant::now();
    let mut last = open.remove(298);
    let _ = last.read(&mut [0; 100]);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_serves(&address);
    end_server(child);
}

#[test]
fn heads_beyond_the_limit_are_rejected() {
    let folder = stopped();
    let (child, address) = folder.start_watch_server(&["d"]);
    let head_start = b"GET /1 HTTP/1.1\r\nHost: localhost\r\n";
    let line = b"X-Line: x\r\n".repeat(1 << 20);
    let name = [b"X-".as_slice(), &b"a".repeat(8 << 20)].concat();
    let path = [b"GET /".as_slice(), &b"a".repeat(8 << 20), b" HTTP/1.1\r\n"].concat();
    for head in
        [[head_start.as_slice(), &line].concat(), [head_start.as_slice(), &name].concat(), path]
    {
        for _ in 0..4 {
            let answer = read_answer(send_bytes(&address, &head));
            let is_refused = answer.is_empty()
                || ["431", "414", "400"]
                    .iter()
                    .any(|it| answer.starts_with(&format!("HTTP/1.1 {it} ")));
            assert!(is_refused, "{answer}");
        }
        assert_serves(&address);
    }
    #[cfg(target_os = "linux")]
    {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let peak = status.lines().find_map(|it| it.strip_prefix("VmHWM:")).unwrap();
        let kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        assert!(kib < 200 << 10, "{kib} KiB");
    }
    for nonsense in [&b"\0\0\0\0\r\n\r\n"[..], b"GET\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]
    {
        let answer = read_answer(send_bytes(&address, nonsense));
        assert!(!answer.contains("200 OK"), "{answer}");
    }
    assert_serves(&address);
    end_server(child);
}

#[test]
fn requests_from_other_sites_are_rejected() {
    let folder = stopped();
    let (child, address) = folder.start_watch_server(&["d"]);
    let send_lines = |lines: &str| {
        read_answer(send_bytes(&address, format!("GET /1 HTTP/1.1\r\n{lines}\r\n").as_bytes()))
    };
    for (lines, why) in [
        ("", "the request names no host\n"),
        ("Host: localhost\r\nHost: localhost\r\n", "the request names no host\n"),
        ("Host: example.org\r\n", "only requests from this machine are answered\n"),
        (
            "Host: localhost\r\nOrigin: http://example.org\r\n",
            "requests from pages of other sites are rejected\n",
        ),
        (
            "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n",
            "requests from pages of other sites are rejected\n",
        ),
    ] {
        let answer = send_lines(lines);
        assert!(
            answer.starts_with("HTTP/1.1 403 Forbidden\r\n") && answer.ends_with(why),
            "{answer}"
        );
    }
    let answer = send_lines("Host: localhost\r\nOrigin: http://localhost\r\n");
    for header in [
        "Content-Security-Policy: frame-ancestors 'none'",
        "Cross-Origin-Resource-Policy: same-origin",
        "X-Content-Type-Options: nosniff",
    ] {
        assert!(answer.contains(header), "{answer}");
    }
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    let head = read_answer(send_bytes(&address, b"HEAD /1 HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"), "{head}");
    end_server(child);
}
