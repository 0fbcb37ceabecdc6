//! The page of `watch`: what a report has, growing while the search runs; of several searches, one more with all of them.

use super::glance;
use crate::cli::failure::Failure;
use crate::cli::http::{Answer, HTML, Server, Site, TEXT};
use crate::cli::page::Beside;
use crate::cli::report;
use crate::report::{Glance, Seen, overview};
use crate::session::Contents;
use hyper::body::Bytes;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A search whose page is shown.
struct Watched {
    dir: PathBuf,
    /// The page made last, with the stamp of the glance that it has: the way to a violation takes time to find.
    made: Mutex<Option<(String, Bytes)>>,
}

/// All searches whose pages are shown.
struct Watches(Vec<Watched>);

/// What is asked for.
enum Place {
    Icon,
    All,
    /// The page of a search.
    Page(usize),
    /// The part of it that is asked for anew.
    Live(usize),
    Nothing,
}

/// Answers at an address, in threads of its own.
pub(super) fn serve(address: SocketAddr, dirs: &[PathBuf]) -> Result<Server, Failure> {
    let watched = |dir: &PathBuf| Watched { dir: dir.clone(), made: Mutex::default() };
    let site = Arc::new(Watches(dirs.iter().map(watched).collect()));
    let server = Server::start(address, site).map_err(|error| {
        let help = "another port, or 0 for any that is free, may do";
        Failure::wrong(format!("cannot listen to {address}: {error}\n  help: {help}"))
    })?;
    super::say_where(server.address);
    Ok(server)
}

impl Watches {
    fn place(&self, path: &str) -> Place {
        let number = |text: &str| {
            let number = text.parse::<usize>().ok()?.checked_sub(1)?;
            (number < self.0.len()).then_some(number)
        };
        let parts = path.strip_prefix('/').map(|it| it.split('/').collect::<Vec<_>>());
        let place = match parts.as_deref() {
            Some(["favicon.ico"]) => Some(Place::Icon),
            Some([""]) => Some(Place::All),
            Some([text]) => number(text).map(Place::Page),
            Some([text, "live"]) => number(text).map(Place::Live),
            _ => None,
        };
        place.unwrap_or(Place::Nothing)
    }
}

impl Site for Watches {
    fn answer(&self, path: &str) -> Answer {
        let Watches(all) = self;
        match self.place(path) {
            Place::Icon => Answer::new(204, TEXT, ""),
            Place::All if all.len() > 1 => Answer::new(200, HTML, overview_of(all)),
            Place::All => redirected(),
            Place::Page(number) => Answer::new(200, HTML, all[number].page()),
            Place::Live(number) => Answer::new(200, HTML, glance::at(&all[number].dir).part()),
            Place::Nothing => Answer::new(404, TEXT, "there is nothing here; / has all searches\n"),
        }
    }

    /// A page may take long to be made, of each search; what is asked for every second does not wait for it.
    fn lanes(&self) -> usize {
        1 + 2 * self.0.len()
    }

    fn lane(&self, path: &str) -> usize {
        match self.place(path) {
            Place::Icon | Place::All | Place::Nothing => 0,
            Place::Page(number) => 1 + number,
            Place::Live(number) => 1 + self.0.len() + number,
        }
    }
}

/// Of one search there is no page with all of them.
fn redirected() -> Answer {
    let page = "<!DOCTYPE html><meta http-equiv=\"refresh\" content=\"0; url=/1\">";
    Answer::new(200, HTML, page)
}

fn overview_of(all: &[Watched]) -> String {
    let each = all.iter().enumerate();
    let each = each.map(|(at, it)| (format!("/{}", at + 1), glance::at(&it.dir)));
    overview(&each.collect::<Vec<_>>())
}

impl Watched {
    fn page(&self) -> Bytes {
        let glance = glance::at(&self.dir);
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

/// The page of the search in a directory; with a counterexample once the search has ended.
fn page_of(dir: &Path, glance: &Glance) -> String {
    let is_brief = glance.seen == Seen::Running;
    let note =
        is_brief.then_some("The search is running: what is below is as of its last checkpoint.");
    let beside = Beside { memory: None, note, live: Some(glance), is_brief };
    let page = Contents::read(dir).map_err(Failure::from);
    let page = page.and_then(|contents| report::of_directory(dir, &contents, beside));
    page.unwrap_or_else(|failure| report::of_damaged(dir, &failure.message, Some(glance)))
}
