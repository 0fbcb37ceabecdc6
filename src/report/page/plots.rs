//! The course of a search as plots.

use crate::search::events::{CompletedLevels, ProgressSample, SearchEvent, completed_levels};
use maud::{Markup, PreEscaped, html};
use plotters::prelude::*;

/// The approximate maximum number of points of a line.
const POINTS_MAX: usize = 1000;

const SIZE: (u32, u32) = (640, 300);
/// The colours of lines, by number in the palette. They are readable on white and, inverted, on black.
const COLORS: [usize; 3] = [0, 1, 3];

const MIB: f64 = (1 << 20) as f64;

/// A line: its name and its points.
type PlotSeries = (&'static str, Vec<(f64, f64)>);

/// A plot of some lines. It renders as nothing if there are no points.
struct LinePlot {
    title: &'static str,
    across: &'static str,
    lines: Vec<PlotSeries>,
    is_logarithmic: bool,
}

/// Renders all plots of a search.
pub(super) fn all(levels: &[u64], events: &[SearchEvent]) -> Markup {
    let mut plots = vec![of_levels(levels, events)];
    let samples = samples(events);
    let line = |what, of: &dyn Fn(&ProgressSample) -> f64| -> PlotSeries {
        (what, thin_points(samples.iter().map(|(at, it)| (*at, of(it))).collect()))
    };
    plots.push(LinePlot {
        title: "States found over time",
        across: "seconds of searching",
        lines: vec![line("states", &|it| it.states as f64)],
        is_logarithmic: false,
    });
    let budget = budgets(events, &samples);
    plots.push(LinePlot {
        title: "Memory and disk over time, in MiB",
        across: "seconds of searching",
        lines: vec![
            line("resident", &|it| it.memory as f64 / MIB),
            ("memory budget", budget),
            line("disk", &|it| it.disk as f64 / MIB),
        ],
        is_logarithmic: false,
    });
    plots.push(LinePlot {
        title: "Bytes on disk per state",
        across: "seconds of searching",
        lines: vec![line("bytes per state", &|it| it.disk as f64 / it.states.max(1) as f64)],
        is_logarithmic: false,
    });
    html! {
        div.plots { @for plot in &plots { @if let Some(svg) = plot.draw_svg() { (PreEscaped(svg)) } } }
        @if samples.is_empty() {
            p.note { "The progress over time is not on record." }
        }
    }
}

/// Plots the states, candidates and duplicates of each level, as far as they are recorded.
fn of_levels(levels: &[u64], events: &[SearchEvent]) -> LinePlot {
    let states: Vec<(f64, f64)> =
        levels.iter().enumerate().map(|(at, &it)| (at as f64, it as f64)).collect();
    let told = completed_levels(events);
    let each = |it: &CompletedLevels, sum: u64| {
        let levels = (it.last - it.first + 1) as f64;
        [(it.first as f64, sum as f64 / levels), (it.last as f64, sum as f64 / levels)]
    };
    let candidates = told.iter().flat_map(|it| each(it, it.transitions)).collect();
    // For each level: the number of states of all earlier levels.
    let before: Vec<u64> = std::iter::once(0)
        .chain(levels.iter().scan(0, |sum: &mut u64, it| {
            *sum = sum.saturating_add(*it);
            Some(*sum)
        }))
        .collect();
    let until = |level: u64| before[(level as usize).min(levels.len())];
    let duplicates = told.iter().flat_map(|it| {
        let new = until(it.last + 2) - until(it.first + 1);
        each(it, it.transitions.saturating_sub(new))
    });
    LinePlot {
        title: "States, candidates and duplicates per level",
        across: "level",
        lines: vec![
            ("states", thin_points(states)),
            ("candidates", thin_points(candidates)),
            ("duplicates", thin_points(duplicates.collect())),
        ],
        is_logarithmic: true,
    }
}

/// Returns the progress samples, with the seconds of searching in all sessions.
fn samples(events: &[SearchEvent]) -> Vec<(f64, &ProgressSample)> {
    let (mut before, mut all) = (0.0, Vec::new());
    for event in events {
        match event {
            SearchEvent::Sitting { before: seconds, .. } => before = *seconds,
            SearchEvent::Progress(sample) => all.push((before + sample.seconds, sample)),
            SearchEvent::Levels(_) | SearchEvent::Ended { .. } => {}
        }
    }
    all
}

/// Returns the memory budget over time.
fn budgets(events: &[SearchEvent], samples: &[(f64, &ProgressSample)]) -> Vec<(f64, f64)> {
    let (mut line, mut last) = (Vec::new(), None);
    for event in events {
        if let SearchEvent::Sitting { before, budget, .. } = event {
            let budget = *budget as f64 / MIB;
            line.extend(last.map(|last| (*before, last)));
            line.push((*before, budget));
            last = Some(budget);
        }
    }
    line.extend(samples.last().zip(last).map(|((at, _), budget)| (*at, budget)));
    line
}

/// Reduces the number of points. Each new point is the maximum of a group.
fn thin_points(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let each = points.len().div_ceil(POINTS_MAX).max(1);
    let highest =
        |it: &[(f64, f64)]| it.iter().copied().max_by(|one, other| one.1.total_cmp(&other.1));
    points.chunks(each).filter_map(highest).collect()
}

impl LinePlot {
    fn draw_svg(&self) -> Option<String> {
        let points = || self.lines.iter().flat_map(|it| it.1.iter());
        let right = points().map(|it| it.0).fold(0.0, f64::max);
        let top = points().map(|it| it.1).fold(0.0, f64::max);
        if self.lines[0].1.len() < 2 || right <= 0.0 || top <= 0.0 {
            return None;
        }
        let mut svg = String::new();
        // Drawing to memory does not fail. A failure would leave out the plot.
        let drawn = match self.is_logarithmic {
            true => self.draw(&mut svg, right, top, (0.8..top * 1.3).log_scale()),
            false => self.draw(&mut svg, right, top, 0.0..top * 1.08),
        };
        drawn?;
        let label = format!("<svg class=\"plot\" role=\"img\" aria-label=\"{}\" ", self.title);
        Some(svg.replacen("<svg ", &label, 1))
    }

    fn draw<Y>(&self, svg: &mut String, right: f64, top: f64, up: Y) -> Option<()>
    where
        Y: plotters::coord::ranged1d::AsRangedCoord<Value = f64>,
        Y::CoordDescType: plotters::coord::ranged1d::ValueFormatter<f64>,
    {
        let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .caption(self.title, ("sans-serif", 15))
            .margin(8)
            .x_label_area_size(34)
            .y_label_area_size(64)
            .build_cartesian_2d(0.0..right, up)
            .ok()?;
        chart
            .configure_mesh()
            .x_desc(self.across)
            .x_labels(8)
            .y_labels(6)
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.12))
            .y_label_formatter(&|it| short(*it, top / 5.0))
            .x_label_formatter(&|it| short(*it, right / 7.0))
            .draw()
            .ok()?;
        for (number, (what, points)) in self.lines.iter().enumerate() {
            let color = Palette99::pick(COLORS[number % COLORS.len()]);
            let style = color.stroke_width(2);
            let line = LineSeries::new(points.iter().copied(), style);
            let drawn = chart.draw_series(line).ok()?.label(*what);
            drawn.legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
        }
        chart
            .configure_series_labels()
            .background_style(WHITE.mix(0.8))
            .position(SeriesLabelPosition::UpperLeft)
            .draw()
            .ok()?;
        area.present().ok()
    }
}

/// Formats a number of an axis with few characters. `apart` is the distance of labels; the error is at most a
/// twentieth of it.
fn short(number: f64, apart: f64) -> String {
    let (scale, unit) = match number.abs() {
        it if it >= 1e9 => (1e9, "G"),
        it if it >= 1e6 => (1e6, "M"),
        it if it >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    };
    let decimals = (-(apart / 20.0 / scale).log10()).ceil().clamp(0.0, 9.0);
    let text = format!("{:.*}", decimals as usize, number / scale);
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    text.to_owned() + unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_an_axis_are_distinct() {
        let axis =
            |apart: f64| (0..8).map(|it| short(f64::from(it) * apart, apart)).collect::<Vec<_>>();
        assert_eq!(axis(0.05), ["0", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3", "0.35"]);
        assert_eq!(axis(2.0)[..4], ["0", "2", "4", "6"]);
        assert_eq!(axis(2500.0)[3..6], ["7500", "10k", "12.5k"]);
        assert_eq!(axis(1e9)[..3], ["0", "1G", "2G"]);
        for apart in [0.002, 0.03, 0.1, 0.7, 3.0, 40.0, 1250.0, 30_000.0, 2e6, 5e8] {
            let labels = axis(apart);
            let mut told = labels.clone();
            told.dedup();
            assert_eq!(told, labels);
            assert!(labels.iter().all(|it| it.len() < 8), "{labels:?}");
        }
    }
}
