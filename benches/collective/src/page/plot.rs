//! Lines over two logarithmic axes, as an SVG file.

use std::path::Path;

use plotters::prelude::*;

/// A line with its name.
pub(super) struct Line {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
}

/// What stands around the lines.
pub(super) struct Words<'a> {
    pub(super) title: &'a str,
    pub(super) x: &'a str,
    pub(super) y: &'a str,
    /// Whether the names of the lines go to the middle of the right side, because there are lines in the corner above.
    pub(super) names_in_the_middle: bool,
}

/// Told apart by those who do not see all colours, too (Okabe and Ito).
const COLOURS: [RGBColor; 5] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(0, 0, 0),
    RGBColor(204, 121, 167),
];

/// Draws the lines; nothing if there are none.
pub(super) fn draw(path: &Path, words: &Words<'_>, lines: &[Line]) -> Result<(), String> {
    let points = || lines.iter().flat_map(|line| &line.points).filter(|(x, y)| *x > 0.0 && *y > 0.0);
    if points().next().is_none() {
        return Ok(());
    }
    let least = |of: fn(&(f64, f64)) -> f64| points().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: fn(&(f64, f64)) -> f64| points().map(of).fold(0.0, f64::max);
    let x = least(|p| p.0) * 0.8..most(|p| p.0) * 1.25;
    let y = least(|p| p.1) * 0.7..most(|p| p.1) * 1.4;
    let position = if words.names_in_the_middle {
        SeriesLabelPosition::MiddleRight
    } else {
        SeriesLabelPosition::UpperRight
    };
    let drawn = move || -> Result<(), Box<dyn std::error::Error>> {
        let root = SVGBackend::new(path, (760, 440)).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .caption(words.title, ("sans-serif", 17))
            .margin(12)
            .x_label_area_size(42)
            .y_label_area_size(64)
            .build_cartesian_2d(x.log_scale(), y.log_scale())?;
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .x_labels(5)
            .x_desc(words.x)
            .y_desc(words.y)
            .x_label_formatter(&|x| number(*x))
            .y_label_formatter(&|y| number(*y))
            .draw()?;
        for (at, line) in lines.iter().enumerate() {
            let colour = COLOURS[at % COLOURS.len()].to_rgba();
            let visible: Vec<(f64, f64)> =
                line.points.iter().copied().filter(|p| p.0 > 0.0 && p.1 > 0.0).collect();
            chart
                .draw_series(LineSeries::new(visible.clone(), colour.stroke_width(2)))?
                .label(&line.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
            chart.draw_series(visible.into_iter().map(|point| Circle::new(point, 3, colour.filled())))?;
        }
        chart
            .configure_series_labels()
            .position(position)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .draw()?;
        root.present()?;
        Ok(())
    };
    drawn().map_err(|error| format!("cannot draw {}: {error}", path.display()))
}

/// A number on an axis, without an exponent where it can be.
fn number(value: f64) -> String {
    if (0.01..1e7).contains(&value) {
        let text = format!("{value:.2}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_drawn_with_their_names_and_nothing_is_drawn_of_nothing() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("plot.svg");
        let words = Words { title: "time of what", x: "aggregators", y: "ms", names_in_the_middle: false };
        draw(&path, &words, &[]).unwrap();
        assert!(!path.exists());
        let line = Line { name: "16 ranks".into(), points: vec![(1.0, 5.0), (16.0, 0.5)] };
        draw(&path, &words, &[line]).unwrap();
        let svg = std::fs::read_to_string(&path).unwrap();
        assert!(["time of what", "aggregators", "16 ranks"].iter().all(|text| svg.contains(text)), "{svg}");
    }
}
