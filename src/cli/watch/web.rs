//! The pages of `watch`: the report of each search, which grows while the search runs. For several searches there is
//! an overview.

use super::status_panel;
use crate::cli::failure::CommandFailure;
use crate::cli::http::{self, HTML, HttpResponse, HttpServer, RequestHandler, RequestTarget, TEXT};
use crate::cli::report;
use crate::cli::report_page::PageContext;
use crate::report::{PanelStatus, StatusPanel, overview};
use crate::session::DirectoryContents;
use hyper::body::Bytes;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A search with a page.
struct WatchedSearch {
    dir: PathBuf,
    /// The last page with the stamp of its panel. It is cached because a counterexample takes time to reconstruct.
    made: Mutex<Option<(String, Bytes)>>,
}

/// All searches with pages.
struct WatchSite(Vec<WatchedSearch>);

/// A requested resource.
enum WebRoute {
    Icon,
    Overview,
    /// The page of a search.
    Page(usize),
    /// The panel of the page, which is requested periodically.
    Live(usize),
    Nothing,
}

/// Starts a server at an address, on its own threads.
pub(super) fn serve(address: SocketAddr, dirs: &[PathBuf]) -> Result<HttpServer, CommandFailure> {
    let watched = |dir: &PathBuf| WatchedSearch { dir: dir.clone(), made: Mutex::default() };
    let site = Arc::new(WatchSite(dirs.iter().map(watched).collect()));
    HttpServer::serve(http::listen(address)?, site)
}

impl WatchSite {
    fn place(&self, path: &str) -> WebRoute {
        let number = |text: &str| {
            let number = text.parse::<usize>().ok()?.checked_sub(1)?;
            (number < self.0.len()).then_some(number)
        };
        let parts = path.strip_prefix('/').map(|it| it.split('/').collect::<Vec<_>>());
        let place = match parts.as_deref() {
            Some(["favicon.ico"]) => Some(WebRoute::Icon),
            Some([""]) => Some(WebRoute::Overview),
            Some([text]) => number(text).map(WebRoute::Page),
            Some([text, "live"]) => number(text).map(WebRoute::Live),
            _ => None,
        };
        place.unwrap_or(WebRoute::Nothing)
    }
}

impl RequestHandler for WatchSite {
    fn answer(&self, target: &RequestTarget) -> HttpResponse {
        let WatchSite(all) = self;
        match self.place(&target.path) {
            WebRoute::Icon => HttpResponse::new(204, TEXT, ""),
            WebRoute::Overview if all.len() > 1 => HttpResponse::new(200, HTML, overview_of(all)),
            WebRoute::Overview => redirected(),
            WebRoute::Page(number) => HttpResponse::new(200, HTML, all[number].page()),
            WebRoute::Live(number) => {
                HttpResponse::new(200, HTML, status_panel::read_panel(&all[number].dir).part())
            }
            WebRoute::Nothing => HttpResponse::new(404, TEXT, "not found; / lists all searches\n"),
        }
    }

    /// Returns the number of lanes. Each search has a lane for its page, which may take long, and one for its panel.
    fn lanes(&self) -> usize {
        1 + 2 * self.0.len()
    }

    fn lane(&self, path: &str) -> usize {
        match self.place(path) {
            WebRoute::Icon | WebRoute::Overview | WebRoute::Nothing => 0,
            WebRoute::Page(number) => 1 + number,
            WebRoute::Live(number) => 1 + self.0.len() + number,
        }
    }
}

/// Redirects to the page of the only search. There is no overview.
fn redirected() -> HttpResponse {
    let page = "<!DOCTYPE html><meta http-equiv=\"refresh\" content=\"0; url=/1\">";
    HttpResponse::new(200, HTML, page)
}

fn overview_of(all: &[WatchedSearch]) -> String {
    let each = all.iter().enumerate();
    let each = each.map(|(at, it)| (format!("/{}", at + 1), status_panel::read_panel(&it.dir)));
    overview(&each.collect::<Vec<_>>())
}

impl WatchedSearch {
    fn page(&self) -> Bytes {
        let glance = status_panel::read_panel(&self.dir);
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        match &*made {
            Some((stamp, html)) if *stamp == glance.stamp => html.clone(),
            _ => {
                let html = Bytes::from(page_of(&self.dir, &glance));
                made.insert((glance.stamp, html)).1.clone()
            }
        }
    }
}

/// Returns the page of the search in a directory, with a counterexample once the search has ended.
fn page_of(dir: &Path, glance: &StatusPanel) -> String {
    let is_brief = glance.status == PanelStatus::Running;
    let note = is_brief
        .then_some("The search is running: the numbers below are those of its last checkpoint.");
    let beside = PageContext { memory: None, note, live: Some(glance), is_brief };
    let page = DirectoryContents::read(dir).map_err(CommandFailure::from);
    let page = page.and_then(|contents| report::directory_page(dir, &contents, beside));
    page.unwrap_or_else(|failure| report::damaged_page(dir, &failure.message, Some(glance)))
}
