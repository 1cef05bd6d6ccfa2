//! Faults of programs in Rust, for the suite of `tinyprof why`: see why.c. A comment `place: NAME`
//! marks the line that a finding has to name. The functions of MPI are those of C.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::time::Duration;

#[cfg(mpich)]
mod handles {
    pub type Handle = std::ffi::c_int;
    pub fn world() -> Handle {
        0x4400_0000
    }
    pub fn double() -> Handle {
        0x4c00_080b
    }
    pub fn sum() -> Handle {
        0x5800_0003
    }
}

#[cfg(not(mpich))]
mod handles {
    pub type Handle = *const std::ffi::c_void;
    unsafe extern "C" {
        static ompi_mpi_comm_world: u8;
        static ompi_mpi_double: u8;
        static ompi_mpi_op_sum: u8;
    }
    pub fn world() -> Handle {
        (&raw const ompi_mpi_comm_world).cast()
    }
    pub fn double() -> Handle {
        (&raw const ompi_mpi_double).cast()
    }
    pub fn sum() -> Handle {
        (&raw const ompi_mpi_op_sum).cast()
    }
}

use handles::{Handle, double, sum, world};

#[rustfmt::skip]
unsafe extern "C" {
    fn MPI_Init(count: *mut c_int, arguments: *mut c_void) -> c_int;
    fn MPI_Finalize() -> c_int;
    fn MPI_Barrier(on: Handle) -> c_int;
    fn MPI_Comm_rank(on: Handle, rank: *mut c_int) -> c_int;
    fn MPI_Comm_size(on: Handle, size: *mut c_int) -> c_int;
    fn MPI_Allreduce(from: *const f64, to: *mut f64, n: c_int, of: Handle, by: Handle, on: Handle) -> c_int;
    fn MPI_Send(from: *const f64, n: c_int, of: Handle, to: c_int, tag: c_int, on: Handle) -> c_int;
    fn MPI_Recv(to: *mut f64, n: c_int, of: Handle, from: c_int, tag: c_int, on: Handle, status: *mut c_void) -> c_int;
}

struct Job {
    rank: c_int,
    ranks: c_int,
    step: u64,
}

fn work(units: u64) {
    std::thread::sleep(Duration::from_millis(4 * units));
}

fn reduce() {
    let (from, mut to) = (1.0, 0.0);
    unsafe { MPI_Allreduce(&from, &mut to, 1, double(), sum(), world()) }; // place: rust_growth
}

#[inline(never)]
fn growth(job: &Job) {
    work(if job.rank == 1 { 1 + job.step } else { 1 });
    reduce();
}

#[inline(never)]
fn sender(job: &Job) {
    let mut value = 1.0;
    // Large enough for any status.
    let mut status = [0_u64; 16];
    if job.rank == 0 {
        work(5);
        for to in 1..job.ranks {
            unsafe { MPI_Send(&value, 1, double(), to, 3, world()) }; // place: rust_sender
        }
    } else {
        work(1);
        let status = status.as_mut_ptr().cast();
        unsafe { MPI_Recv(&mut value, 1, double(), 0, 3, world(), status) };
    }
    unsafe { MPI_Barrier(world()) };
}

/// Four threads with a quarter of the steps each; on rank 1, the first has most of them.
#[inline(never)]
fn threads(job: &Job) {
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || work(if job.rank == 1 && thread == 0 { 5 } else { 1 }));
        }
    });
    let (from, mut to) = (1.0, 0.0);
    unsafe { MPI_Allreduce(&from, &mut to, 1, double(), sum(), world()) }; // place: rust_threads
}

/// Four threads that work at the same time; on rank 2, one after another, as they hold a lock.
#[inline(never)]
fn mutex(job: &Job) {
    let lock = std::sync::Mutex::new(());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let _held = (job.rank == 2).then(|| lock.lock());
                work(1);
            });
        }
    });
    let (from, mut to) = (1.0, 0.0);
    unsafe { MPI_Allreduce(&from, &mut to, 1, double(), sum(), world()) }; // place: rust_mutex
}

/// As much work of rayon's threads on all ranks; on rank 1, one of its pieces has most of it.
#[cfg(rayon)]
#[inline(never)]
fn pieces(job: &Job) {
    use rayon::prelude::*;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().expect("threads can be made");
    pool.install(|| {
        (0..8).into_par_iter().with_max_len(1).for_each(|piece| {
            work(if job.rank == 1 && piece == 0 { 6 } else { 1 });
        });
    });
    let (from, mut to) = (1.0, 0.0);
    unsafe { MPI_Allreduce(&from, &mut to, 1, double(), sum(), world()) }; // place: rust_rayon
}

#[cfg(not(rayon))]
fn pieces(_: &Job) {
    unreachable!("it was compiled without rayon");
}

fn healthy() {
    work(8);
    reduce();
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().expect("a name");
    let steps: u64 = arguments.next().expect("a number").parse().expect("a number");
    let mut job = Job { rank: 0, ranks: 0, step: 0 };
    unsafe {
        MPI_Init(null_mut(), null_mut());
        MPI_Comm_rank(world(), &mut job.rank);
        MPI_Comm_size(world(), &mut job.ranks);
        MPI_Barrier(world());
    }
    for step in 0..steps {
        job.step = step;
        match name.as_str() {
            "rust_growth" => growth(&job),
            "rust_sender" => sender(&job),
            "rust_threads" => threads(&job),
            "rust_mutex" => mutex(&job),
            "rust_rayon" => pieces(&job),
            _ => healthy(),
        }
    }
    unsafe { MPI_Finalize() };
}
