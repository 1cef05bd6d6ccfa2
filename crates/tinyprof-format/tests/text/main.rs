//! The paper's text format: texts of the authors, our own, and arbitrary ones.

mod authors;
mod damage;
mod round_trip;
mod sizes;
