//! The paper's text format: what the authors wrote, what we write, and whatever else may come.

mod authors;
mod damage;
mod round_trip;
mod sizes;
