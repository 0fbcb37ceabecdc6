//! CPU time as a measurement: on a shared machine, wall time varies too much.

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use std::time::{Duration, Instant};

/// CPU time of this thread, or wall time if the system does not report CPU time.
pub struct CpuTime;

/// The start of a measurement.
pub enum StartTime {
    Cpu(Duration),
    Wall(Instant),
}

fn thread_cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

impl Measurement for CpuTime {
    type Intermediate = StartTime;
    type Value = Duration;

    fn start(&self) -> StartTime {
        thread_cpu_time().map_or_else(|| StartTime::Wall(Instant::now()), StartTime::Cpu)
    }

    fn end(&self, start: StartTime) -> Duration {
        match start {
            StartTime::Cpu(start) => thread_cpu_time().unwrap_or_default().saturating_sub(start),
            StartTime::Wall(start) => start.elapsed(),
        }
        // Criterion divides by the duration.
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
