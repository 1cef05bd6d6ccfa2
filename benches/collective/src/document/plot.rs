//! Lines over two axes, as an SVG file.

use std::error::Error;
use std::path::Path;

use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

/// A line with its name.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Its points, in order of the first number.
    pub points: Vec<(f64, f64)>,
}

/// The texts around the lines.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// Title above the lines.
    pub title: &'a str,
    /// Label of the x axis.
    pub x: &'a str,
    /// Label of the y axis.
    pub y: &'a str,
    /// True if the names of the lines go to the middle of the right side, because lines occupy the
    /// upper corner.
    pub names_in_the_middle: bool,
}

/// Colours that can be told apart with colour blindness, too (Okabe and Ito).
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(0, 0, 0),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
];

/// Draws the lines over logarithmic axes, without points that these cannot show. Draws nothing if
/// there are no points.
///
/// # Errors
/// Fails if the file cannot be written.
pub fn draw(path: &Path, words: &Words<'_>, lines: &[Line]) -> Result<(), String> {
    let is_shown = |(x, y): &(f64, f64)| *x > 0.0 && *y > 0.0;
    let lines: Vec<Line> = lines
        .iter()
        .map(|line| Line {
            name: line.name.clone(),
            points: line.points.iter().copied().filter(is_shown).collect(),
        })
        .collect();
    let Some([x, y]) = extent(&lines) else { return Ok(()) };
    // Leaves room for the names to the right of the lines.
    let x = (x[0] * 0.8..x[1] * 1.25 * (x[1] / x[0]).powf(0.5)).log_scale();
    let y = (y[0] * 0.7..y[1] * 1.4).log_scale();
    told(path, drawn(path, words, &lines, x, y))
}

/// Draws the lines over linear axes that begin at zero. Draws nothing if there are no points.
///
/// # Errors
/// Fails if the file cannot be written.
pub fn draw_even(path: &Path, words: &Words<'_>, lines: &[Line]) -> Result<(), String> {
    let Some([x, y]) = extent(lines) else { return Ok(()) };
    let end = |most: f64| if most > 0.0 { most } else { 1.0 };
    // Leaves room for the names above the lines.
    let names = lines.iter().fold(0.1, |room, _| room + 0.1);
    let (x, y) = (0.0..end(x[1]) * 1.02, 0.0..end(y[1]) * (1.0 + names));
    told(path, drawn::<_, _, RangedCoordf64, RangedCoordf64>(path, words, lines, x, y))
}

/// Returns minimum and maximum of either coordinate over all points, or `None` without points.
fn extent(lines: &[Line]) -> Option<[[f64; 2]; 2]> {
    lines.iter().flat_map(|line| &line.points).fold(None, |extent, &(x, y)| {
        let [[x0, x1], [y0, y1]] = extent.unwrap_or([[x, x], [y, y]]);
        Some([[x0.min(x), x1.max(x)], [y0.min(y), y1.max(y)]])
    })
}

fn told(path: &Path, drawn: Result<(), Box<dyn Error>>) -> Result<(), String> {
    drawn.map_err(|error| format!("cannot draw {}: {error}", path.display()))
}

fn drawn<X, Y, XCoord, YCoord>(
    path: &Path,
    words: &Words<'_>,
    lines: &[Line],
    x: X,
    y: Y,
) -> Result<(), Box<dyn Error>>
where
    X: AsRangedCoord<CoordDescType = XCoord, Value = f64>,
    Y: AsRangedCoord<CoordDescType = YCoord, Value = f64>,
    XCoord: Ranged<ValueType = f64> + ValueFormatter<f64>,
    YCoord: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let position = if words.names_in_the_middle {
        SeriesLabelPosition::MiddleRight
    } else {
        SeriesLabelPosition::UpperRight
    };
    let root = SVGBackend::new(path, (760, 440)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(words.title, ("sans-serif", 17))
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(64)
        .build_cartesian_2d(x, y)?;
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
        chart
            .draw_series(LineSeries::new(line.points.clone(), colour.stroke_width(2)))?
            .label(&line.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        chart
            .draw_series(line.points.iter().map(|&point| Circle::new(point, 3, colour.filled())))?;
    }
    chart
        .configure_series_labels()
        .position(position)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    root.present()?;
    Ok(())
}

/// Formats a number for an axis, without an exponent if possible.
fn number(value: f64) -> String {
    if value.abs() < 1e-12 {
        "0".to_owned()
    } else if (0.01..1e7).contains(&value) {
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
        let words =
            Words { title: "time of what", x: "aggregators", y: "ms", names_in_the_middle: false };
        for (name, draw) in
            [("log.svg", draw as fn(&Path, &Words<'_>, &[Line]) -> _), ("even.svg", draw_even)]
        {
            let path = scratch.path().join(name);
            draw(&path, &words, &[]).unwrap();
            assert!(!path.exists());
            let line =
                Line { name: "16 ranks".into(), points: vec![(0.0, 3.0), (1.0, 5.0), (16.0, 0.5)] };
            draw(&path, &words, &[line]).unwrap();
            let svg = std::fs::read_to_string(&path).unwrap();
            assert!(
                ["time of what", "aggregators", "16 ranks"].iter().all(|text| svg.contains(text)),
                "{svg}"
            );
        }
    }
}
