//! `watch` during a search: once, on a terminal, and as a page.

use super::{PATIENCE, kill_search, resize, terminal, wait_until};
use crate::Bench;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::Instant;

#[test]
fn watch_shows_a_running_search_and_its_end() {
    let bench = Bench::new();
    let search = bench.start_endless_search(&["--dir", "d"]);
    wait_until("a checkpoint", || bench.path("d/manifest").exists());
    wait_until("a rate", || bench.status("d")["now"]["rate"].is_f64());
    let text = bench.run(&["watch", "d"]).out;
    for part in
        ["m.dve: running for 0:0", "  found    ", "  speed    ", "/s, 1 thread; ", "/64 MiB\n"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }

    let mut watch = bench.command(&["watch", "d", "--listen", "0"]);
    let mut watch = watch.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(watch.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.strip_prefix("http://").and_then(|it| it.split('/').next()).unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let host = format!("Host: {address}\r\nConnection: close\r\n\r\n");
    write!(stream, "GET /1 HTTP/1.1\r\n{host}").unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    let note = "The search is running: the numbers below are those of its last checkpoint.";
    assert!(page.contains(note) && page.contains("class=\"live running\""), "{page}");
    watch.kill().unwrap();
    watch.wait().unwrap();

    let (mut controller, device) = terminal();
    resize(&controller, 60);
    let mut watch = bench.command(&["watch", "d"]);
    watch.env("TERM", "xterm").stdout(Stdio::from(device)).stderr(Stdio::null());
    let mut child = watch.spawn().unwrap();
    drop(watch);
    let (mut text, begun) = (String::new(), Instant::now());
    let mut wait_for = |words: &str| {
        while !text.contains(words) {
            assert!(begun.elapsed() < PATIENCE, "{text}");
            let mut piece = [0; 4096];
            let count = controller.read(&mut piece).unwrap();
            text += std::str::from_utf8(&piece[..count]).unwrap();
        }
    };
    wait_for("running for 0:0");
    wait_for("\x1b[J");
    kill_search(search);
    // `watch` ends with the search.
    wait_for("killed, or the machine went down");
    wait_for("\x1b[J");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    for line in text.split("\x1b[K\r\n") {
        let line = line.trim_start_matches("\x1b[2J").trim_start_matches("\x1b[H");
        let line = line.trim_start_matches("\x1b[J").trim_start_matches("\x1b[H");
        assert!(line.chars().count() <= 60, "{line:?}");
    }
}
