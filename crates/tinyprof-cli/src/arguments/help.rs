//! The text of `--help` and of the manual pages below the options: details, an example, and exit
//! codes, which mean the same for every command.

/// The exit codes of every command, below what a command has to say.
macro_rules! exit_codes {
    ($($above:literal)?) => {
        concat!(
            $($above, "\n",)?
            "Exit codes:
  0  done, even if the reader of the output left early (tinyprof report NAME.tprof | head)
  1  not done: the input could not be read, or does not have what was asked for (waits, timeline), or
     the output could not be written
  2  wrong arguments: nothing was done
  3  done, but the input is damaged or part of it was lost (check, import, push)
  4  done, and a callpath is above the limit (diff --fail-above)"
        )
    };
}

pub(crate) const EXIT_CODES: &str = exit_codes!();

pub(crate) const REPORT_HELP: &str = exit_codes!(
    "\
Examples:
  tinyprof report lu.tprof
  tinyprof report lu.tprof --by region
  tinyprof report lu.tprof --by peer --rank 0
  tinyprof report lu.tprof --path 'main<solve' --rank 0-15
  tinyprof report lu.tprof --metric exclusive --format csv > lu.csv
"
);

pub(crate) const TREE_HELP: &str = exit_codes!(
    "\
Example:
  tinyprof tree lu.tprof --path 'main<solve'
"
);

pub(crate) const TOP_HELP: &str = exit_codes!(
    "\
For a profile, prints the callpaths with the most exclusive time. For any other directory, or none,
watches a running job: the callpath tree, current hot spots, and the ranks of a callpath. It reads
the data that the job's threads keep on this host (TINYPROF_SEGMENT_DIR), without disturbing them, or
else the newest interim profile, NAME-interim-NNNN.tprof (TINYPROF_INTERVAL). It waits for a job that
has not started, and continues to show one that has ended. The key ? lists the other keys;
docs/live.md shows the screen.

Of a job on several hosts, it starts an agent on each, which reads what is there and ends with this
command: by srun for --job of Slurm, otherwise by ssh to --hosts. --json prints a document a line;
--until waits for a condition in CEL on efficiency, load_balance, communication, elapsed (s), ranks,
ranks_seen, still, missing, and, by region, share, now, imbalance and visits.

Examples:
  tinyprof top lu.tprof --by region -n 20
  tinyprof top
  tinyprof top --job lu --once
  tinyprof top --job 4711
  tinyprof top --iterations 5000
  tinyprof top --hosts n1,n2 --until 'efficiency < 0.5 || imbalance[\"solve\"] > 0.3'
"
);

#[cfg(feature = "top")]
pub(crate) const AGENT_HELP: &str = exit_codes!(
    "\
Sends pictures of the job to standard output, for tinyprof top, which starts this on each host of the job.
Ends when its input or output ends. It reads the data that the job's threads keep on this host, and
writes nothing.

Examples:
  sleep 5 | tinyprof agent --hosts n1 --job 4711 | wc -c
"
);

pub(crate) const MPI_HELP: &str = exit_codes!(
    "\
Prints three tables: MPI functions, their call sites, and messages between pairs of ranks, the costliest
first. Times, calls and bytes are sums over ranks; min to imbal compare ranks. The time is that of the
calls alone. Bytes out and in are those of messages, collective operations and files (out is written). A
non-blocking operation has its bytes where it is started or received, and its time where the rank waits.
In the last table, sent is the count of the first rank, received that of the second. Ranks are those of
MPI_COMM_WORLD; - is a rank outside of it.

Examples:
  tinyprof mpi lu.tprof
  tinyprof mpi lu.tprof --rank 0-3 -n 20
  tinyprof mpi lu.tprof --format csv > calls.csv
"
);

pub(crate) const WAITS_HELP: &str = exit_codes!(
    "\
For profiles of level messages (TINYPROF_MPI=messages). A line is a callpath in which ranks wait for a
callpath of other ranks, the longest first: waiting until the partner came, its share of the time of all
ranks, what it would have been without measurement (adjusted), and the transfer from then on. Times are sums
over ranks; count is the number of messages, or of operations in which it was known who came last. Of a
late sender, the part that is due to the order of receives is told beside it. docs/waits.md has the patterns
and formulas.

Examples:
  tinyprof waits lu.tprof
  tinyprof waits lu.tprof --by-rank --rank 0-3 -n 20
  tinyprof waits lu.tprof --json > waits.json
"
);

pub(crate) const EFFICIENCY_HELP: &str = exit_codes!(
    "\
A column for each run. A number is the product of those that are indented below it. Computation scalability compares
the useful time of all ranks together with that of the first run, which is to do the same work: 80% says that a run
takes a quarter more. Its factors need samples (-o sample=100 of tinyprof run) on systems that offer the processor's
counters. docs/efficiency.md defines the numbers.

Examples:
  tinyprof efficiency fft-4.tprof fft-8.tprof fft-16.tprof
  tinyprof efficiency fft-4.tprof fft-8.tprof --json | jq '.runs[1].computation'
"
);

pub(crate) const WHY_HELP: &str = exit_codes!(
    "\
The first line is the verdict: the costliest finding, with the ranks that are its cause, its place, and who waits
for it where. Then at most five findings: what would be gained, the cause and its parts, what to do. The last line
is the waiting by the ranks that are its cause. Most of it needs a profile of level messages (-o mpi=messages of
tinyprof run); without it, it is only known which ranks are busy longer than others. Findings below 5 % of the run
are not printed. docs/why.md explains the kinds.

Examples:
  tinyprof why halo.tprof
  tinyprof why halo.tprof --json | jq -r .verdict
  tinyprof why halo.tprof --rules site.toml
"
);

pub(crate) const RULES_HELP: &str = exit_codes!(
    "\
A rule is a condition over facts of a run, and what to say where it holds: TOML with expressions in CEL. Your own
rules are in ~/.config/tinyprof/rules/*.toml (XDG_CONFIG_HOME), or in files that --rules names. Check ends with
exit code 3 if a rule is wrong. docs/rules.md has the form, all facts, and an example step by step.

Examples:
  tinyprof rules list --facts
  tinyprof rules check site.toml
"
);

pub(crate) const CLASSES_HELP: &str = exit_codes!(
    "\
For profiles of level messages (TINYPROF_MPI=messages). Phases are loops, and the straight parts between
them. Ranks are in one class if they make the same calls, in the same order, equally often, with the same
partners, and take as long, within 2 % and what chance explains. Partners are relative to the rank where
that makes ranks alike: -1 is the rank before. For each class there are its calls, as the mean of a rank,
and where it differs from the class that is most like it. docs/structure.md has the rules.

Examples:
  tinyprof classes lu.tprof
  tinyprof classes lu.tprof --structure-only --json
"
);

pub(crate) const GRAPH_HELP: &str = exit_codes!(
    "\
For profiles of level messages (TINYPROF_MPI=messages). A node is a callpath that ends in an MPI call. Edges
are computations from call to call (flow), from the call that makes a request to the one that completes it
(completion), and messages, from the sender's call to the call that waited, with bytes, waiting and transfer.
An existing file is never overwritten.

Examples:
  tinyprof graph lu.tprof --to dot --ranks classes | dot -Tsvg > lu.svg
  tinyprof graph lu.tprof --to graphml -o lu.graphml
"
);

pub(crate) const RUN_HELP: &str = "\
Profiles MPI programs that were built without TinyProf, in C, C++, Fortran or Python. A preloaded library
(LD_PRELOAD) records every MPI call. Programs that never initialise MPI, such as mpiexec itself, are not
affected and write nothing. The keys of -o are those of the README's table of settings: -o interval=5s is
TINYPROF_INTERVAL=5s.

Examples:
  tinyprof run -- mpiexec -n 4 ./a.out
  tinyprof run --out lu -o report=off -- srun -n 64 ./lu
  tinyprof run -- mpiexec -n 4 python3 solve.py
  tinyprof run -o on='efficiency < 0.5: save' -- mpiexec -n 4 ./a.out

On several hosts, ranks are known to each other if this command starts the launcher (mpiexec, mpirun,
srun): it holds a roll call for as long as that runs, and lets Open MPI hand the variables on. Where ranks
cannot reach this host, or each of them is started by this command, TINYPROF_WORLD=all says that all ranks
have TinyProf.

A program with AddressSanitizer needs the launcher first:
  mpiexec -n 4 tinyprof run -- ./a.out

Exit codes: those of the command, which replaces this process; and
    1  not started: the library was not found
    2  wrong arguments: nothing was done
  126  the command is not executable
  127  the command was not found
";

pub(crate) const DIFF_HELP: &str = exit_codes!(
    "\
Compares by callpath the mean amount per rank and execution: of two runs, or of several runs on each side,
which separates noise from change. Callpaths are matched by the names of their regions. Regressions come
first:

  up, down   the difference is more than chance (Welch's t test; at most 5 % of these verdicts are
             expected to be wrong, by Benjamini and Hochberg)
  unclear    the difference may be chance
  unjudged   the samples do not vary, or a side has only one: chance cannot be estimated
  equal, new, gone

A sample is a run if a side has several runs, otherwise an execution, otherwise a rank. The interval around
a difference contains the true one in 95 % of cases; visible is the smallest change that could have been told
from chance; g is the difference in standard deviations (Hedges). Two single runs are compared in pairs of
executions or ranks, and show no change below 10 %. docs/diff.md has the details.

Examples:
  tinyprof diff before.tprof after.tprof
  tinyprof diff --base old-*.tprof --new new-*.tprof --fail-above 5%
"
);

pub(crate) const INFO_HELP: &str = exit_codes!(
    "\
Example:
  tinyprof info lu.tprof --json
"
);

pub(crate) const CHECK_HELP: &str = exit_codes!(
    "\
Verifies the length and the checksum of every file and every section, and that their contents are
consistent. Lists every damaged section with its offset and contents, not only the first.

With --salvage, all intact data becomes a new profile, marked as incomplete, which lists the losses. A
damaged section costs one callpath on the ranks of one part, and the callpaths whose sums are stored
relative to it. A missing part costs its ranks; without the dictionary, callpaths have numbers instead of
names. The damaged profile is not changed, and no existing profile is overwritten.

Examples:
  tinyprof check lu.tprof
  tinyprof check lu.tprof --salvage -o lu-salvaged
"
);

pub(crate) const EXPORT_HELP: &str = exit_codes!(
    "\
Times are whole nanoseconds wherever the format can hold them. Data that does not fit the format is listed
on standard error. Parquet and CubeX are binary and need -o FILE. An existing file is never overwritten.

In speedscope and chrome, a rank is a tab or a track. Beyond --max-ranks, they get the mean, minimum and
maximum, and representatives, each with the number of ranks that it represents.

Extra-P models how times grow over several profiles: name all of them, and with --parameter what differs.

Examples:
  tinyprof export lu.tprof --to parquet -o lu.parquet
  tinyprof export lu.tprof --to otf2 --rank 0-3 --window 2s-2.5s -o lu-trace
  tinyprof export p4.tprof p8.tprof p16.tprof --to extrap --parameter ranks -o scaling.json
  tinyprof export a.tprof b.tprof --to extrap --parameter ranks --parameter size=256,512 -o scaling.json

docs/exports.md describes the mapping and the losses of each format.
"
);

pub(crate) const HTML_HELP: &str = exit_codes!(
    "\
The page shows where time is spent, by rank, iteration and execution: a summary with hints, the callpath
tree and a flame graph; for two profiles also what became slower from the first to the second. It opens
from disk and loads nothing. In wide profiles neighbouring ranks share a column, and in deep ones only the
costliest callpaths have values by rank; the page marks both. An existing file is overwritten only with --force.

Examples:
  tinyprof html lu.tprof --open
  tinyprof html before.tprof after.tprof -o compare.html
"
);

pub(crate) const TIMELINE_HELP: &str = exit_codes!(
    "\
The profile needs events: TINYPROF_EVENTS=window, ring or thin. The page is that of tinyprof html and opens
with a lane for each rank and thread, from the whole run to a single visit. It has up to 300,000 visits one
by one: of more the shortest are added up, and --window or --rank shows them. It says what is not there.

Examples:
  tinyprof timeline lu.tprof --open
  tinyprof timeline lu.tprof --window 12s-12.5s --rank 0-3 -o solve.html
"
);

pub(crate) const IMPORT_HELP: &str = exit_codes!(
    "\
Reads the text format of the paper that TinyProf implements, even from damaged files: ranks without a
separator, broken numbers, missing columns, truncated files. Problems are listed with line and rank on
standard error. All readable values are kept, losses are counted, and the profile is then marked as
incomplete. A value whose rank is uncertain is dropped, never guessed. Regions in ids may be separated by
<, > or -. If the profile's name is taken, a number is added.

Example:
  tinyprof import fft_8.csv -o fft
"
);

pub(crate) const RECOVER_HELP: &str = exit_codes!(
    "\
A program that is killed, aborts or crashes writes no profile, but the records of its threads remain in
files in shared memory. This command makes a profile of them, marked as incomplete, and removes the files;
ranks of one job on this host become one profile. At most the last visit of each thread is missing. Files
of a running process, of another user, of an earlier boot or of another version of tinyprof are left alone,
and the reason is printed. Run it on the host of the program. If there is nothing to recover, the command
succeeds; if a profile cannot be written, the files stay. If there are several jobs, they are listed, and
nothing is written or removed until --job or --all says which ones to take.

Examples:
  tinyprof recover
  tinyprof recover --job lu -o lu-killed
  tinyprof recover --all
"
);

#[cfg(feature = "top")]
pub(crate) const SAVE_HELP: &str = exit_codes!(
    "\
Writes a profile of what the ranks of a job on this host have measured so far: sums, messages, waiting, and
with TINYPROF_EVENTS the events that are in memory, such as the last seconds of a ring. The program is not
stopped, and takes no notice: this command only reads the files of its threads in shared memory. Regions
that are open count with their time until now. The profile says that the run had not ended. Each one has a
name of its own, so that several show the phases of a run.

Examples:
  tinyprof save
  tinyprof save --job lu -o lu-after-an-hour
  tinyprof save --job 4711 --every 5m
"
);

#[cfg(feature = "top")]
pub(crate) const CTL_HELP: &str = exit_codes!(
    "\
Steers a job on this host that was started with TINYPROF_STEER=on, or hold to be held as well; without it a
program obeys nobody. A rank obeys where a region or call of MPI ends, and nobody waits for it: what has not
come yet is named. Commands are given by the job's own user, through the files of its threads in shared
memory; the program opens no connection. Record keeps every visit and message in the memory of
TINYPROF_EVENTS_MEMORY, the newest if there are more. A rank that is held waits in a region of its own,
[held], for at most a minute, and goes on as soon as this command ends. While measuring is off, regions and
calls of MPI are not counted, and that time is in no region: reports say how long it was. Who has given which
command when is in the profile. Reset needs interim profiles, as with -o interval=1000h: a part of the run ends at a
flush point on which all ranks agree, and is written as NAME-part-0001.tprof. Filter does the same, and from there
on patterns say which regions and functions of MPI are recorded; metrics does so for metrics. Subscribe only reads,
and prints the documents of tinyprof top --json, one a line, until the job ends or nobody reads them any more.

Examples:
  tinyprof ctl status
  tinyprof ctl record --for 5s -o solve.pftrace
  tinyprof ctl hold --for 30s
  tinyprof ctl on 'imbalance[\"solve\"] > 0.3' --do save,record
  tinyprof ctl reset
  tinyprof ctl filter '-*fields_at*'
  tinyprof ctl metrics '-alloc_bytes'
  tinyprof ctl off
  tinyprof ctl on
  tinyprof ctl subscribe --facts efficiency,activity
"
);

#[cfg(feature = "top")]
pub(crate) const LIVE_HELP: &str = exit_codes!(
    "\
Prints the address of a page that shows a running job as tinyprof top does, on this host or on others, and the
last ten minutes of it; gives it commands as tinyprof ctl does; and opens what they record. The page is served to
this host alone, and to whoever knows the random part of its address. Ends when it is interrupted.

Examples:
  tinyprof live
  tinyprof live --job 4711 --open
  from another machine: ssh -L 8400:127.0.0.1:8400 login tinyprof live --port 8400
"
);

#[cfg(feature = "top")]
pub(crate) const PLUG_HELP: &str = exit_codes!(
    "\
Starts PROGRAM beside a job that runs, on this host or on others as tinyprof top, and writes to its input the
documents of tinyprof top --json, one a line, until the job ends; the last has \"has_ended\": true. What it prints
are findings, one a line: {\"finding\": \"rank 3 computes 2.1 times as long as others\"}; they are shown with
its name. The job does not notice. A program that is too slow loses the oldest documents, which is told.

Examples:
  tinyprof plug ./stragglers.py
  tinyprof plug --job 4711 -- python3 energy.py --watts 250
"
);

#[cfg(feature = "top")]
pub(crate) const PUSH_HELP: &str = exit_codes!(
    "\
Watches a job as tinyprof top does, on this host or on others, and sends its numbers to a site's monitoring, all
ranks together: ranks that run, are lost or do not move, efficiency, time by activity, waiting by cause, and the
costliest callpaths. Ends with the job, after a last push. docs/live.md lists the metrics. The job does not
notice. A collector that is not there or does not answer loses the oldest, which is told; variables
OTEL_EXPORTER_OTLP_* (ENDPOINT, HEADERS, TIMEOUT, COMPRESSION), OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME mean
what OpenTelemetry says. For https, let a collector on this host forward: it is not spoken here.

Examples:
  tinyprof push --otlp
  tinyprof push --job 4711 --otlp=http://collector:4318
  tinyprof push --openmetrics /var/lib/node_exporter/tinyprof.prom --json heat.jsonl
"
);

pub(crate) const COMPLETIONS_HELP: &str = exit_codes!(
    "\
Examples:
  for bash, in ~/.bashrc:  source <(tinyprof completions bash)
  for zsh, in a directory of its fpath:  tinyprof completions zsh > _tinyprof
  for fish:  tinyprof completions fish > ~/.config/fish/completions/tinyprof.fish
"
);

pub(crate) const MAN_HELP: &str = exit_codes!(
    "\
Example:
  tinyprof man -o ~/.local/share/man/man1
"
);

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use crate::arguments::Arguments;

    #[test]
    fn every_command_has_an_example() {
        for command in Arguments::command().get_subcommands() {
            let name = command.get_name();
            let help = command.get_after_help().expect("every command has help").to_string();
            let (_, examples) = help.split_once("Example").expect(name);
            assert!(examples.contains(&format!("tinyprof {name}")), "{name}: {help}");
        }
    }
}
