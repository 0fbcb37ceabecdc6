//! CPU time as a measurement: on a shared machine, wall time varies too much.

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use std::time::{Duration, Instant};

/// CPU time of this thread, or wall time if the system does not report CPU time.
pub struct CpuTime;

/// The start of a measurement.
pub enum Begun {
    Cpu(Duration),
    Wall(Instant),
}

fn on_cpu() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

impl Measurement for CpuTime {
    type Intermediate = Begun;
    type Value = Duration;

    fn start(&self) -> Begun {
        on_cpu().map_or_else(|| Begun::Wall(Instant::now()), Begun::Cpu)
    }

    fn end(&self, begun: Begun) -> Duration {
        match begun {
            Begun::Cpu(begun) => on_cpu().unwrap_or_default().saturating_sub(begun),
            Begun::Wall(begun) => begun.elapsed(),
        }
        // Criterion divides by it.
        .max(Duration::from_nanos(1))
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, time: &Duration) -> f64 {
        time.as_nanos() as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}
