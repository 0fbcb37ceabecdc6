//! `explore` in a browser driven by WebDriver, if `SPILLWAY_BROWSER` is set and Chromium with its driver is installed.
//! `SPILLWAY_BROWSER=FOLDER` also saves a screenshot of each page there, in three widths.

use super::Folder;
use super::explorer::{CHANNEL, ExplorerServer, HOSTILE};
use super::report_page::browser;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The widths of the screenshots: of a phone, a tablet and a desktop.
const WIDTHS: [u32; 3] = [390, 820, 1400];

/// The key of an element in WebDriver's answers.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser with its driver.
struct DrivenBrowser {
    driver: Child,
    address: String,
    session: String,
    pictures: Option<PathBuf>,
}

/// Sends a request with a JSON body, and returns the member `value` of the answer.
#[track_caller]
fn request(address: &str, method: &str, path: &str, body: &Value) -> Value {
    let body = if method == "POST" { body.to_string() } else { String::new() };
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .unwrap();
    // The driver keeps the connection open.
    let (mut reader, mut head, mut length) = (BufReader::new(stream), String::new(), 0);
    while reader.read_line(&mut head).unwrap() > 2 {
        let last = head.lines().last().unwrap().to_ascii_lowercase();
        length =
            last.strip_prefix("content-length:").map_or(length, |it| it.trim().parse().unwrap());
    }
    let mut text = vec![0; length];
    reader.read_exact(&mut text).unwrap();
    let text = std::str::from_utf8(&text).unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{method} {path} {body}: {text}");
    serde_json::from_str::<Value>(text).unwrap()["value"].clone()
}

impl DrivenBrowser {
    /// Starts a browser. `None` without the variable, or without a browser.
    fn start(folder: &Folder) -> Option<DrivenBrowser> {
        let Some(pictures) = std::env::var_os("SPILLWAY_BROWSER") else {
            eprintln!("skipped: SPILLWAY_BROWSER is not set");
            return None;
        };
        let has_driver = Command::new("chromedriver").arg("--version").output().is_ok();
        let Some(program) = browser().filter(|_| has_driver) else {
            eprintln!("skipped: there is no Chromium with a driver");
            return None;
        };
        let mut driver = Command::new("chromedriver");
        let mut driver = driver.arg("--port=0").stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines.map_while(Result::ok).find_map(|it| {
            let port = it.split("successfully on port ").nth(1)?.trim_end_matches('.');
            port.parse::<u16>().ok()
        });
        let address = format!("127.0.0.1:{}", port.unwrap());
        let profile = format!("--user-data-dir={}", folder.path("profile").display());
        let args = ["--headless=new", "--no-sandbox", "--disable-gpu", &profile];
        let program = Command::new("which").arg(program).output().unwrap().stdout;
        let options = json!({ "binary": String::from_utf8(program).unwrap().trim(), "args": args });
        let wanted =
            json!({ "capabilities": { "alwaysMatch": { "goog:chromeOptions": options } } });
        let session = request(&address, "POST", "/session", &wanted)["sessionId"].clone();
        let session = session.as_str().unwrap().to_owned();
        let pictures = Some(PathBuf::from(pictures)).filter(|it| it.is_dir());
        Some(DrivenBrowser { driver, address, session, pictures })
    }

    #[track_caller]
    fn post(&self, path: &str, body: &Value) -> Value {
        request(&self.address, "POST", &format!("/session/{}{path}", self.session), body)
    }

    #[track_caller]
    fn get(&self, path: &str) -> Value {
        request(&self.address, "GET", &format!("/session/{}{path}", self.session), &Value::Null)
    }

    #[track_caller]
    fn open(&self, explorer: &ExplorerServer, path: &str) {
        self.post("/url", &json!({ "url": format!("http://{}{path}", explorer.address) }));
    }

    /// The address of the page, without the server.
    fn at(&self) -> String {
        let at = self.get("/url").as_str().unwrap().to_owned();
        format!("/{}", at.splitn(4, '/').nth(3).unwrap())
    }

    /// The value of an expression in the page.
    #[track_caller]
    fn value(&self, script: &str) -> Value {
        let script = format!("return {script}");
        self.post("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    #[track_caller]
    fn text(&self, selector: &str) -> String {
        let text = self.value(&format!("document.querySelector({selector:?}).innerText"));
        text.as_str().unwrap().to_owned()
    }

    /// Finds an element by an XPath expression.
    #[track_caller]
    fn element(&self, path: &str) -> String {
        let found = self.post("/element", &json!({ "using": "xpath", "value": path }));
        format!("/element/{}", found[ELEMENT].as_str().unwrap())
    }

    #[track_caller]
    fn click(&self, path: &str) {
        let element = self.element(path);
        self.post(&format!("{element}/click"), &json!({}));
    }

    #[track_caller]
    fn write(&self, path: &str, text: &str) {
        let element = self.element(path);
        self.post(&format!("{element}/clear"), &json!({}));
        self.post(&format!("{element}/value"), &json!({ "text": text }));
    }

    /// Saves screenshots of the page, and asserts that it is no wider than its window.
    #[track_caller]
    fn photograph(&self, name: &str) {
        for width in WIDTHS {
            let size = json!({ "width": width, "height": 1400 });
            self.post("/window/rect", &size);
            let wide = self.value(
                "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
            );
            assert!(wide[0].as_u64() <= wide[1].as_u64(), "{name} at {width}: {wide}");
            if let Some(folder) = &self.pictures {
                let picture = self.get("/screenshot").as_str().unwrap().to_owned();
                save(&folder.join(format!("{name}-{width}.png")), &picture);
            }
        }
    }
}

/// Saves data that is encoded in Base64.
fn save(path: &Path, text: &str) {
    let mut child = Command::new("base64");
    let file = std::fs::File::create(path).unwrap();
    let mut child = child.arg("-d").stdin(Stdio::piped()).stdout(file).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

impl Drop for DrivenBrowser {
    fn drop(&mut self) {
        let path = format!("/session/{}", self.session);
        if !std::thread::panicking() {
            request(&self.address, "DELETE", &path, &Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

#[test]
fn a_browser_walks_a_counterexample_by_mouse_and_keyboard() {
    let folder = Folder::with("c.pml", CHANNEL);
    let Some(browser) = DrivenBrowser::start(&folder) else { return };
    assert_eq!(folder.run(&["check", "c.pml", "--dir", "d", "--no-trace"]).code, 1);
    let explorer = ExplorerServer::of(&folder, &["d"]);
    browser.open(&explorer, "/");
    assert!(browser.text(".verdict").contains(" of the counterexample to "));
    browser.photograph("end");
    // Along the counterexample from its start, by keyboard.
    let end = browser.at();
    browser.open(&explorer, "/at/0");
    for step in 1.. {
        let body = browser.element("//body");
        browser.post(&format!("{body}/value"), &json!({ "text": "n" }));
        if browser.at() == end {
            break;
        }
        assert!(browser.text(".verdict").starts_with(&format!("after step {step} of the")));
    }
    // A click on the number of a line sets a breakpoint there.
    browser.open(&explorer, "/at/0");
    browser.click("//tr[@id='l0-4']//button");
    assert_eq!(browser.at(), "/at/0?break=4#l0-4");
    assert_eq!(browser.text("#l0-4 button.line[aria-pressed=true]"), "4");
    // The input field sets a breakpoint, too.
    browser.write("//section[@id='breakpoints']//input[@name='toggle']", "n == 1\n");
    assert!(browser.text("#breakpoints table").contains("expression"));
    browser.photograph("breakpoints");
    // A run stops at the breakpoint.
    browser.click("//section[@id='run']//button");
    assert!(browser.text("#breakpoints tr.now").contains("the last step stops here"));
    let first = browser.at();
    browser.click("//section[@id='run']//button");
    assert_ne!(browser.at(), first);
    browser.photograph("stopped");
    // Another click deletes the breakpoint.
    browser.click("//tr[@id='l0-4']//button");
    assert!(!browser.at().contains("break=4"), "{}", browser.at());
}

#[test]
fn a_browser_jumps_to_a_state_by_a_shared_address() {
    let folder = Folder::with("c.pml", CHANNEL);
    let Some(browser) = DrivenBrowser::start(&folder) else { return };
    let one = ExplorerServer::of(&folder, &["c.pml"]);
    browser.open(&one, "/at/");
    browser.write("//input[@id='until']", "n == 1\n");
    assert!(browser.text("#state").contains("n\t1 was 0"), "{}", browser.text("#state"));
    let (shared, shown) = (browser.at(), browser.text("#state"));
    let other = ExplorerServer::of(&folder, &["c.pml"]);
    browser.open(&other, &shared);
    assert_eq!(browser.text("#state"), shown);
    // The page has the path, the chart and the graph, and the graph has links.
    assert!(browser.value("document.querySelectorAll('#around a').length").as_u64() > Some(1));
    browser.click("//section[@id='path']//a[1]");
    assert_eq!(browser.at(), "/at/0");
}

#[test]
fn a_browser_shows_hostile_text_as_text() {
    let folder = Folder::with("h.m", HOSTILE);
    let Some(browser) = DrivenBrowser::start(&folder) else { return };
    let explorer = ExplorerServer::of(&folder, &["h.m"]);
    let hostile = "/at/0.0?break=%22onerror%3D%3Cscript%3Ealert(1)%3C%2Fscript%3E";
    for path in ["/at/", "/at/0", "/at/0.0x3", hostile] {
        browser.open(&explorer, path);
        // The page has only its own script and no image. An open dialog would fail each of these commands.
        assert_eq!(browser.value("document.scripts.length"), 1, "{path}");
        assert_eq!(browser.value("document.images.length"), 0, "{path}");
    }
    browser.open(&explorer, "/at/0.0x3");
    assert!(browser.text("#model").contains("<script>alert(3)</script>"));
    browser.photograph("hostile");
}
