//! What a region costs, beside a bare pair of timestamp reads. The measurements are in `benches/benches`.
