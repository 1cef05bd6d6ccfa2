//! What `--help` and the manual pages say below the options. Exit codes mean the same for every
//! command.

/// The exit codes of every command.
macro_rules! exit_codes {
    ($($above:literal)?) => {
        concat!(
            $($above, "\n",)?
            "Exit codes:
  0  done, also where the reader of the output left early (tinyprof report NAME.tprof | head)
  1  not done: the input could not be read, or the output not be written
  2  wrong arguments: nothing was done
  3  done, but the input is damaged or something of it was lost (check, import)
  4  done, and a callpath is above the limit (diff --fail-above)"
        )
    };
}

pub(crate) const EXIT_CODES: &str = exit_codes!();

pub(crate) const MPI_HELP: &str = exit_codes!(
    "\
Three tables: MPI functions, their call sites, and the messages between pairs of ranks, the costliest first;
times, calls and bytes are those of all ranks together, min to imbal compare ranks. The time is that of the
calls alone. Bytes out and in are those of messages, collective operations and files (out is written). A
non-blocking operation has its bytes where it is started, or received, and its time where the rank waits.
In the last table, sent is what the first rank counts, received what the second does; ranks are those of
MPI_COMM_WORLD, and - one that is not in it. For example:
  tinyprof mpi lu.tprof
  tinyprof mpi lu.tprof --rank 0-3 -n 20
  tinyprof mpi lu.tprof --format csv > calls.csv
"
);

pub(crate) const RUN_HELP: &str = "\
Profiles programs that use MPI and were built without TinyProf, in C, C++, Fortran or Python: a library is
preloaded (LD_PRELOAD) that records every MPI call. Programs that never initialise MPI, such as mpiexec
itself, are not touched and write nothing. The keys of -o are those of the table of settings in the README:
-o interval=5s is TINYPROF_INTERVAL=5s. For example:
  tinyprof run -- mpiexec -n 4 ./a.out
  tinyprof run --out lu -o report=off -- srun -n 64 ./lu
  tinyprof run -- mpiexec -n 4 python3 solve.py

On several hosts, srun and MPICH's mpiexec pass the environment on. Open MPI passes on what it is told to:
  tinyprof run --out lu -- mpiexec -x LD_PRELOAD -x TINYPROF_OUT -n 64 ./lu

Exit codes: those of the command, which takes the place of this process; and
    1  not started: the library was not found
    2  wrong arguments: nothing was done
  126  the command is not executable
  127  the command was not found
";

pub(crate) const DIFF_HELP: &str = exit_codes!(
    "\
Compares by callpath what a rank takes for an execution, on average: of two runs, or of several against
several (--base A1 A2 A3 --new B1 B2 B3), which tells noise from change. Callpaths are the same if the names
of their regions are. Regressions come first:

  up, down   the difference is more than chance (Welch's t test; at most 5 % of such marks are expected to
             be wrong, by Benjamini and Hochberg)
  unclear    no more than chance may do
  unjudged   there is nothing to tell chance by: one value on a side, or none that differs
  equal, new, gone

A value of the samples is a run where a side has several runs, else an execution, else a rank. The interval
around a difference holds the true one in 95 % of cases; g is the difference in standard deviations
(Hedges). docs/diff.md tells all this at length.
"
);

pub(crate) const RECOVER_HELP: &str = exit_codes!(
    "\
A program that is killed, that aborts or crashes writes no profile, but what its threads have
recorded lies in files in shared memory. This makes a profile of it, marked as incomplete, and removes
the files; ranks of one job on this host become one profile. At most the last visit of each thread
is missing. What belongs to a process that still runs, to another user, boot or version of
tinyprof is left alone, with a line that says why. Run it on the host of the program. To have had
nothing to recover is to be done; where a profile could not be written the files are still there.
"
);

pub(crate) const CHECK_HELP: &str = exit_codes!(
    "\
Verifies the length and the checksum of every file and every section, and that what they hold fits
together. Every damaged section is listed with its offset and what it holds, not only the first.

With --salvage, what is whole becomes a profile of its own, marked as incomplete, which says what was
lost. A damaged section costs one callpath on the ranks of one part, and the callpaths whose sums are
stored without its own; a missing part costs its ranks; without the dictionary callpaths have numbers
for names. The damaged profile is not changed, and no name that is taken is used.
"
);

pub(crate) const EXPORT_HELP: &str = exit_codes!(
    "\
Times are whole nanoseconds wherever the format can hold them. What a format has no place for is named
on standard error. Parquet and CubeX are no text: they need -o FILE. An existing file is never overwritten.

In speedscope and chrome a rank is a tab or a track. Of more ranks than --max-ranks they get the
mean, minimum and maximum, and as many representatives, each named with how many ranks it stands for.

Extra-P models how times grow over several profiles: name them all, and say with --parameter what
differs, as in
  tinyprof export p4.tprof p8.tprof p16.tprof --to extrap --parameter ranks -o scaling.json
  tinyprof export a.tprof b.tprof --to extrap --parameter ranks --parameter size=256,512 -o scaling.json

docs/exports.md says for each format what maps to what, and what is lost.
"
);

pub(crate) const HTML_HELP: &str = exit_codes!(
    "\
The page shows where the time goes, on which rank, in which iteration and since when: a summary with
hints, the callpath tree and a flame graph, ranks, iterations and executions; of two profiles also what
became slower from the first to the second. It opens from disk and loads nothing. Of wide profiles
neighbouring ranks share a column, of deep ones the costliest callpaths have values by rank; the page
says so. An existing file is never overwritten.
"
);

pub(crate) const IMPORT_HELP: &str = exit_codes!(
    "\
Reads the text format of the paper that TinyProf implements, also from damaged files: ranks that ran
together, broken numbers, missing columns, a file that was cut off. Each problem is named with line and
rank on standard error; what can be read is kept, what was lost is counted, and the profile is then
marked as incomplete. A value whose rank is not certain is lost, never guessed. Ids may be
joined by <, > or -. A profile's name that is taken is never used again: a number is added.
"
);

pub(crate) const COMPLETIONS_HELP: &str = exit_codes!(
    "\
For bash, in ~/.bashrc:  source <(tinyprof completions bash)
For zsh, in a directory of its fpath:  tinyprof completions zsh > _tinyprof
For fish:  tinyprof completions fish > ~/.config/fish/completions/tinyprof.fish
"
);

pub(crate) const TOP_HELP: &str = exit_codes!(
    "\
Of a profile it prints the callpaths that take the most time themselves. Of any other directory, or of
none, it shows a job that runs: the tree, what is hot now, the ranks of a callpath. It reads what the job's threads
record on this host (TINYPROF_SEGMENT_DIR), and disturbs none of them; or else the newest interim profile,
NAME-interim-NNNN.tprof (TINYPROF_INTERVAL). It waits for a job that has not begun, and stays when it
has ended. The key ? tells the others; docs/live.md shows the screen.
"
);
