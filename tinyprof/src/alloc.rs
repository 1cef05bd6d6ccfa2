//! Allocation counts for each callpath: feature `alloc`.
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: tinyprof::alloc::Counting = tinyprof::alloc::Counting::new();
//!
//! #[tinyprof::profile]
//! fn solve() -> Vec<f64> {
//!     vec![0.0; 1000]
//! }
//!
//! assert_eq!(solve().len(), 1000);
//! ```
//!
//! Each region that allocates has the varying metric `alloc_bytes`. Each value is one call of the
//! allocator while the region was the innermost open one, and the sum is the number of bytes
//! requested. A reallocation counts the bytes that it adds. Shrinking and freeing do not count.
//! Calls outside of all regions are not recorded.
//!
//! [`Counting::around`] wraps another allocator.
//!
//! # Cost
//! About 5 ns a call inside of a region, 1 ns outside.

pub use crate::record::Counting;
