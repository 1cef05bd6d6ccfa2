//! The arguments of a call, read as its language passes them.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::AtomicPtr;

use crate::abi::{Handle, Interface};
use crate::function::Positions;
use crate::library::Mpi;
use crate::words::{Words, binding};

/// The kinds of handles that the wrappers look at.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Communicator,
    Datatype,
    Request,
    Message,
    Operator,
    Group,
    Window,
    File,
}

/// The arguments of one call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arguments {
    pub(crate) words: Words,
    pub(crate) is_fortran: bool,
    is_large: bool,
    pub(crate) mpi: &'static Mpi,
}

impl Arguments {
    /// Returns the arguments in `words`.
    ///
    /// # Safety
    /// `words` are those of an entry point, of a function whose positions are passed to the methods
    /// of the result, in a call that is under way.
    pub(crate) unsafe fn new(words: Words, called: u32, is_large: bool, mpi: &'static Mpi) -> Self {
        Self { words, is_fortran: called != binding::C, is_large, mpi }
    }

    /// Returns the arguments of a call of C, as which they are read faster.
    #[inline(always)]
    pub(crate) fn of_c(&self) -> Self {
        debug_assert!(!self.is_fortran, "the callers know");
        Self { is_fortran: false, ..*self }
    }

    fn place(&self, position: u8) -> *mut usize {
        self.words.wrapping_add(usize::from(position))
    }

    /// Returns the argument as a word.
    #[inline(always)]
    pub(crate) fn word(&self, position: u8) -> usize {
        debug_assert_ne!(position, Positions::NO, "the function has no such argument");
        // SAFETY: the position is one of the function's arguments, see `new`.
        unsafe { *self.place(position) }
    }

    /// Replaces an argument: from now on the function gets the address `word`.
    pub(crate) fn replace(&self, position: u8, word: usize) {
        // SAFETY: as in `word`. The words are the entry point's own, and a callee may change its
        // arguments on the stack.
        unsafe { *self.place(position) = word }
    }

    /// Returns an `int`.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "an int fills half of the register")]
    pub(crate) fn int(&self, position: u8) -> c_int {
        let word = self.word(position);
        if self.is_fortran { read(word, 0).unwrap_or(0) } else { word as c_int }
    }

    /// Returns a count: an `int`, or an `MPI_Count` in functions for large counts.
    #[inline(always)]
    pub(crate) fn count(&self, position: u8) -> u64 {
        let word = self.word(position);
        let count = match (self.is_large, self.is_fortran) {
            (false, _) => i64::from(self.int(position)),
            (true, false) => word as i64,
            (true, true) => read(word, 0).unwrap_or(0),
        };
        u64::try_from(count).unwrap_or(0)
    }

    /// Returns element `index` of an array of counts.
    pub(crate) fn count_at(&self, position: u8, index: usize) -> u64 {
        let array = self.word(position);
        let count = if self.is_large {
            read::<i64>(array, index)
        } else {
            read::<c_int>(array, index).map(i64::from)
        };
        count.and_then(|count| u64::try_from(count).ok()).unwrap_or(0)
    }

    /// Returns element `index` of an array of `int`s.
    pub(crate) fn int_at(&self, position: u8, index: usize) -> c_int {
        read(self.word(position), index).unwrap_or(0)
    }

    /// Returns a handle that is passed by value.
    #[inline(always)]
    pub(crate) fn handle(&self, position: u8, kind: Kind) -> Handle {
        if self.is_fortran {
            return self.handle_at(position, 0, kind);
        }
        if matches!(kind, Kind::File) {
            // A pointer everywhere.
            return Handle(self.word(position));
        }
        self.mpi.abi.handle(self.word(position))
    }

    /// Returns element `index` of an array of handles; index 0 is a handle passed by its address.
    #[inline(always)]
    pub(crate) fn handle_at(&self, position: u8, index: usize, kind: Kind) -> Handle {
        let array = self.word(position);
        let null = Handle(0);
        if !self.is_fortran {
            if self.mpi.abi.handle_bytes() == 4 && !matches!(kind, Kind::File) {
                return read::<u32>(array, index).map_or(null, |handle| Handle(handle as usize));
            }
            return read(array, index).map_or(null, Handle);
        }
        let Some(fortran) = read::<c_int>(array, index) else { return null };
        if self.mpi.abi.interface == Interface::Mpich && !matches!(kind, Kind::File) {
            return self.mpi.abi.handle(fortran.cast_unsigned() as usize);
        }
        self.of_fortran(fortran, kind).unwrap_or(null)
    }

    fn of_fortran(&self, fortran: c_int, kind: Kind) -> Option<Handle> {
        static FOUND: [AtomicPtr<c_void>; 8] = [const { AtomicPtr::new(ptr::null_mut()) }; 8];
        let (convert, found) = match kind {
            Kind::Communicator => (c"PMPI_Comm_f2c", &FOUND[0]),
            Kind::Datatype => (c"PMPI_Type_f2c", &FOUND[1]),
            Kind::Request => (c"PMPI_Request_f2c", &FOUND[2]),
            Kind::Message => (c"PMPI_Message_f2c", &FOUND[3]),
            Kind::Operator => (c"PMPI_Op_f2c", &FOUND[4]),
            Kind::Group => (c"PMPI_Group_f2c", &FOUND[5]),
            Kind::Window => (c"PMPI_Win_f2c", &FOUND[6]),
            Kind::File => (c"PMPI_File_f2c", &FOUND[7]),
        };
        self.mpi.of_fortran(fortran, convert, found)
    }

    /// Returns whether a buffer is `MPI_IN_PLACE`.
    pub(crate) fn is_in_place(&self, position: u8) -> bool {
        let word = self.word(position);
        if self.is_fortran {
            return sentinel::is(word, &sentinel::IN_PLACE);
        }
        word == self.mpi.abi.in_place
    }

    /// Returns whether a status, or an array of them, is `MPI_STATUS_IGNORE`.
    #[inline(always)]
    pub(crate) fn is_ignored(&self, position: u8) -> bool {
        let word = self.word(position);
        if self.is_fortran {
            return word == 0
                || sentinel::is(word, &sentinel::STATUS)
                || sentinel::is(word, &sentinel::STATUSES);
        }
        word == self.mpi.abi.status_ignore
    }

    /// Returns the result of a flag or an output `int`, after the call.
    pub(crate) fn output(&self, position: u8) -> c_int {
        read(self.word(position), 0).unwrap_or(0)
    }
}

/// Reads element `index` of the program's array at `address`, unless that is null.
#[inline]
fn read<T: Copy>(address: usize, index: usize) -> Option<T> {
    let array = ptr::with_exposed_provenance::<T>(address);
    // SAFETY: the program passes the array to MPI, which reads as many elements. It need not be
    // aligned for this type: `MPI_Count` in Fortran may not be.
    (address != 0).then(|| unsafe { array.wrapping_add(index).read_unaligned() })
}

/// Addresses that stand for something in Fortran: variables of the MPI library.
mod sentinel {
    use std::ffi::CStr;
    use std::sync::OnceLock;

    use crate::loaded::symbol;

    /// The possible names of a variable. `true`: the variable holds the address.
    type Names = [(&'static CStr, bool)];

    pub(super) struct Sentinel {
        names: &'static Names,
        found: OnceLock<[usize; 4]>,
    }

    pub(super) static IN_PLACE: Sentinel = Sentinel::new(&[
        (c"mpi_fortran_in_place_", false),
        (c"mpi_fortran_in_place", false),
        (c"MPIR_F_MPI_IN_PLACE", true),
        (c"MPIR_F08_MPI_IN_PLACE", true),
    ]);
    pub(super) static STATUS: Sentinel = Sentinel::new(&[
        (c"mpi_fortran_status_ignore_", false),
        (c"mpi_fortran_status_ignore", false),
        (c"MPI_F_STATUS_IGNORE", true),
        (c"MPI_F08_STATUS_IGNORE", true),
    ]);
    pub(super) static STATUSES: Sentinel = Sentinel::new(&[
        (c"mpi_fortran_statuses_ignore_", false),
        (c"mpi_fortran_statuses_ignore", false),
        (c"MPI_F_STATUSES_IGNORE", true),
        (c"MPI_F08_STATUSES_IGNORE", true),
    ]);

    impl Sentinel {
        const fn new(names: &'static Names) -> Self {
            Self { names, found: OnceLock::new() }
        }
    }

    /// Returns whether an address is that of the variable.
    pub(super) fn is(address: usize, sentinel: &Sentinel) -> bool {
        let found = sentinel.found.get_or_init(|| {
            let mut found = [0; 4];
            for (place, &(name, is_pointer)) in found.iter_mut().zip(sentinel.names) {
                let Some(variable) = symbol(name) else { continue };
                *place = if is_pointer {
                    // SAFETY: the variable of this name is a pointer, see the table.
                    unsafe { *variable.cast::<usize>() }
                } else {
                    variable.addr()
                };
            }
            found
        });
        address != 0 && found.contains(&address)
    }
}
