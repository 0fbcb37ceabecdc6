//! The parameters of requests to the explorer.

use super::run_to::RunBounds;
use crate::report::{ExploredBreakpoints, RunWay};
use std::time::{Duration, Instant};

/// The default and the maximum number of states of a search from a state, and its maximum time.
const RUN_STATES: usize = 20_000;
const RUN_STATES_MAX: usize = 1_000_000;
const RUN_TIME: Duration = Duration::from_secs(30);

/// The parameters of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExplorerRequest {
    /// The expression that a search looks for. Empty if there is none.
    pub until: String,
    /// How a search finds a state.
    pub way: RunWay,
    /// The maximum number of states of a search.
    pub states: usize,
    /// The seed of random steps.
    pub seed: u64,
    /// The breakpoints.
    pub breakpoints: Vec<String>,
    /// The breakpoint that is to be set or deleted.
    pub toggled: Option<String>,
}

impl Default for ExplorerRequest {
    fn default() -> ExplorerRequest {
        ExplorerRequest {
            until: String::new(),
            way: RunWay::default(),
            states: RUN_STATES,
            seed: 1,
            breakpoints: Vec::new(),
            toggled: None,
        }
    }
}

impl ExplorerRequest {
    /// Reads the query of an address. Values that are no numbers are ignored.
    pub(super) fn of_query(query: &str) -> ExplorerRequest {
        let mut request = ExplorerRequest::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let text = value.trim();
            match &*name {
                "until" => text.clone_into(&mut request.until),
                "by" => request.way = RunWay::of_name(&value),
                "states" => value.parse().into_iter().for_each(|it| request.states = it),
                "seed" => value.parse().into_iter().for_each(|it| request.seed = it),
                ExploredBreakpoints::KEPT if !text.is_empty() => {
                    request.breakpoints.push(text.to_owned())
                }
                ExploredBreakpoints::TOGGLED if !text.is_empty() => {
                    request.toggled = Some(text.to_owned())
                }
                _ => {}
            }
        }
        request.states = request.states.clamp(1, RUN_STATES_MAX);
        request
    }

    pub(super) fn bounds(&self) -> RunBounds {
        RunBounds { states: self.states, deadline: Instant::now() + RUN_TIME }
    }
}

/// Returns the query of an address with breakpoints. Empty without any.
pub(super) fn query_of<'b>(breakpoints: impl Iterator<Item = &'b str>) -> String {
    let pairs = breakpoints.map(|it| (ExploredBreakpoints::KEPT, it));
    match form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish() {
        query if query.is_empty() => query,
        query => format!("?{query}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breakpoints_are_parsed_back() {
        let texts = ["12", "a b.inc:3", "x > 1 && y == \"<\"", "Sender: m!1"];
        let query = query_of(texts.into_iter());
        let read = ExplorerRequest::of_query(&query[1..]);
        assert_eq!(
            read,
            ExplorerRequest { breakpoints: texts.map(String::from).to_vec(), ..Default::default() }
        );
        assert_eq!(query_of(std::iter::empty()), "");
    }

    #[test]
    fn empty_and_invalid_values_are_ignored() {
        let read =
            ExplorerRequest::of_query("break=&toggle=+&states=many&seed=-1&until=+x+&other=1");
        let expected = ExplorerRequest { until: "x".to_owned(), ..Default::default() };
        assert_eq!(read, expected);
        assert_eq!(ExplorerRequest::of_query("states=0").states, 1);
    }
}
