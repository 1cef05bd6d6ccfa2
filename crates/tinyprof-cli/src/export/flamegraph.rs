//! A flame graph of all ranks as SVG, drawn by the crate `inferno`.

use std::error::Error;
use std::io::Write;

use inferno::flamegraph::{Options, from_lines};

use super::exporter::{Exporter, Notes, Request};
use super::folded::stacks;
use super::names::shown;

pub(super) struct FlameGraph;

impl Exporter for FlameGraph {
    fn export(
        &self,
        request: &Request<'_>,
        out: &mut (dyn Write + Send),
    ) -> Result<Notes, Box<dyn Error>> {
        let source = request.source()?;
        let stacks = stacks(&source)?;
        if stacks.is_empty() {
            return Err("the profile holds no time: there is no flame graph to draw".into());
        }
        let total_ns = stacks.iter().fold(0_u128, |sum, (_, ns)| sum.saturating_add(*ns));
        if usize::try_from(total_ns).is_err() {
            return Err(
                "all times together are more than 2^64 nanoseconds: choose ranks with --rank"
                    .into(),
            );
        }
        let lines: Vec<String> =
            stacks.into_iter().map(|(stack, ns)| format!("{stack} {ns}")).collect();
        let mut options = Options::default();
        options.title = format!("{}: time on {} ranks", shown(&source.name), source.ranks.len());
        options.subtitle = source.rounded().map(str::to_owned);
        options.count_name = "ns".to_owned();
        options.name_type = "Callpath:".to_owned();
        // Equal profiles must give equal pictures.
        options.deterministic = true;
        from_lines(&mut options, lines.iter().map(String::as_str), out)?;
        Ok(Notes::new())
    }
}
