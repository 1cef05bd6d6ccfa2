//! The rules of hints. Do not edit: `tinyprof-rules` translates its `hints.toml` to this.

use super::finding::{Certainty, FindingKind};
use super::hint::{Hint, HintScope, known, percent, plain, seconds, text};

/// All rules of hints. A rule can explain findings of those after it.
pub static HINTS: [Hint; 15] = [
    Hint {
        name: "straggler",
        kind: FindingKind::Straggler,
        certainty: Certainty::Estimated,
        scope: HintScope::Rank,
        when: |run, own| Some(run.number_of("ranks")? >= 3.0
            && own.number_of("compared_regions")? >= 3.0
            && own.number_of("slower_by")? >= 0.1
            && own.number_of("slow_regions")? >= (0.75 * own.number_of("compared_regions")?)),
        seconds: |_run, own| own.number_of("excess_seconds"),
        headline: |_run, own| format!(
            "Rank {}{} is slow everywhere",
            plain(own.number_of("number")),
            text(own.text_of("on_host")),
        ),
        evidence: |_run, own| format!(
            "It takes {} more time than the median rank, and is slower in {} of {} regions: {} in all.",
            percent(own.number_of("slower_by")),
            plain(own.number_of("slow_regions")),
            plain(own.number_of("compared_regions")),
            seconds(own.number_of("excess_seconds")),
        ),
        advice: |_run, _own| "Look at its host and at its part of the input.".to_owned(),
    },
    Hint {
        name: "too_small",
        kind: FindingKind::TooSmall,
        certainty: Certainty::Estimated,
        scope: HintScope::Callpath,
        when: |_run, own| Some(own.number_of("visit_seconds")? < 5e-7
            && own.number_of("measuring_share")? >= 0.01),
        seconds: |_run, own| own.number_of("measuring_seconds"),
        headline: |_run, own| format!(
            "{} is too small to be measured",
            text(own.text_of("name")),
        ),
        evidence: |_run, own| format!(
            "Its {} visits took {}{} each; measuring them took at least {} of the run.",
            plain(own.number_of("visits")),
            text(own.text_of("visit_mark")),
            seconds(own.number_of("visit_seconds_shown")),
            percent(own.number_of("measuring_share")),
        ),
        advice: |_run, _own| "Measure a region around it instead, or exclude it with TINYPROF_FILTER.".to_owned(),
    },
    Hint {
        name: "imbalance",
        kind: FindingKind::Imbalance,
        certainty: Certainty::Estimated,
        scope: HintScope::Callpath,
        when: |run, own| Some(run.number_of("ranks")? >= 2.0
            && own.number_of("share")? >= 0.01
            && own.text_of("activity")? != "communication"
            && own.number_of("excess_seconds")? >= (0.25 * own.number_of("mean_seconds")?)
            && own.number_of("excess_seconds")? >= (0.02 * run.number_of("seconds")?)),
        seconds: |_run, own| own.number_of("excess_seconds"),
        headline: |_run, own| format!(
            "{} is imbalanced: rank {}{} takes longest",
            text(own.text_of("name")),
            plain(own.number_of("slowest_rank")),
            text(own.text_of("on_host")),
        ),
        evidence: |_run, own| format!(
            "Its exclusive time is {} there and {} per rank {}; the others may wait {}.",
            seconds(own.number_of("max_seconds")),
            seconds(own.number_of("mean_seconds")),
            text(own.text_of("over")),
            seconds(own.number_of("excess_seconds")),
        ),
        advice: |_run, own| format!(
            "Give rank {} less of it.",
            plain(own.number_of("slowest_rank")),
        ),
    },
    Hint {
        name: "growth",
        kind: FindingKind::Growth,
        certainty: Certainty::Measured,
        scope: HintScope::Callpath,
        when: |_run, own| Some(own.number_of("share")? >= 0.01
            && own.number_of("late_seconds")? >= (1.2 * own.number_of("early_seconds")?)),
        seconds: |_run, own| own.number_of("growth_seconds"),
        headline: |_run, own| format!(
            "{} takes longer since iteration {}",
            text(own.text_of("name")),
            plain(own.number_of("since")),
        ),
        evidence: |_run, own| format!(
            "A visit takes {} in the first quarter and {} in the last, {} more; that cost {} per rank.",
            seconds(own.number_of("early_seconds")),
            seconds(own.number_of("late_seconds")),
            percent(known(|| Some((own.number_of("late_seconds")? / own.number_of("early_seconds")?) - 1.0))),
            seconds(own.number_of("growth_seconds")),
        ),
        advice: |_run, _own| "Look for data that grows with the iterations.".to_owned(),
    },
    Hint {
        name: "slow_first",
        kind: FindingKind::SlowFirst,
        certainty: Certainty::Measured,
        scope: HintScope::Callpath,
        when: |_run, own| Some(own.number_of("share")? >= 0.01
            && own.number_of("first_seconds")? >= (2.0 * own.number_of("median_seconds")?)),
        seconds: |_run, own| own.number_of("first_excess_seconds"),
        headline: |_run, own| format!(
            "{} of {} took much longer",
            text(own.text_of("first_iterations")),
            text(own.text_of("name")),
        ),
        evidence: |_run, own| format!(
            "A visit took {}, where the median of the others is {}: {} times as much.",
            seconds(own.number_of("first_seconds")),
            seconds(own.number_of("median_seconds")),
            plain(known(|| Some(own.number_of("first_seconds")? / own.number_of("median_seconds")?))),
        ),
        advice: |_run, _own| "Leave it out of comparisons, or do before the loop what only it has to do.".to_owned(),
    },
    Hint {
        name: "communication",
        kind: FindingKind::Communication,
        certainty: Certainty::AtMost,
        scope: HintScope::Run,
        when: |run, _own| Some((run.number_of("communication_efficiency")? < 0.8
            || (run.number_of("parallel_efficiency")? < 0.8
            && run.number_of("communication_efficiency")? <= run.number_of("load_balance")?))
            && run.number_of("communication_seconds")? >= run.number_of("io_seconds")?
            && run.text_of("communication_mostly")? != ""),
        seconds: |run, _own| Some((1.0 - run.number_of("communication_efficiency")?) * run.number_of("longest_seconds")?),
        headline: |run, _own| format!(
            "Communication takes {} of the time, {}",
            percent(run.number_of("communication_share")),
            text(run.text_of("communication_mostly")),
        ),
        evidence: |run, _own| format!(
            "A rank communicates for {} of {} on average.{}",
            seconds(run.number_of("communication_seconds")),
            seconds(run.number_of("seconds")),
            text(run.text_of("communication_waiting")),
        ),
        advice: |_run, _own| "Send fewer and larger messages, or compute while they travel: `tinyprof mpi` shows the sizes and partners of calls of MPI.".to_owned(),
    },
    Hint {
        name: "load_balance",
        kind: FindingKind::LoadBalance,
        certainty: Certainty::Estimated,
        scope: HintScope::Run,
        when: |run, _own| Some(run.number_of("load_balance")? < 0.8
            || (run.number_of("parallel_efficiency")? < 0.8
            && run.number_of("load_balance")? < run.number_of("communication_efficiency")?)),
        seconds: |run, _own| Some(run.number_of("busiest_seconds")? - run.number_of("useful_seconds")?),
        headline: |run, _own| format!(
            "Work is distributed unevenly: load balance {}, {} has the most",
            percent(run.number_of("load_balance")),
            text(run.text_of("busiest")),
        ),
        evidence: |run, _own| format!(
            "It computes for {} there and {} per rank on average; the others may wait {}.",
            seconds(run.number_of("busiest_seconds")),
            seconds(run.number_of("useful_seconds")),
            seconds(known(|| Some(run.number_of("busiest_seconds")? - run.number_of("useful_seconds")?))),
        ),
        advice: |_run, _own| "Give that rank less work, or use fewer ranks.".to_owned(),
    },
    Hint {
        name: "input_output",
        kind: FindingKind::InputOutput,
        certainty: Certainty::Measured,
        scope: HintScope::Run,
        when: |run, _own| Some((run.number_of("io_share")? >= 0.2
            || (run.number_of("parallel_efficiency")? < 0.8
            && run.number_of("io_seconds")? > run.number_of("communication_seconds")?))
            && run.text_of("io_mostly")? != ""),
        seconds: |run, _own| run.number_of("io_seconds"),
        headline: |run, _own| format!(
            "Input and output take {} of the time, {}",
            percent(run.number_of("io_share")),
            text(run.text_of("io_mostly")),
        ),
        evidence: |run, _own| format!(
            "A rank reads and writes for {} of {} on average.",
            seconds(run.number_of("io_seconds")),
            seconds(run.number_of("seconds")),
        ),
        advice: |_run, _own| "Write less often, in larger pieces, or from fewer ranks.".to_owned(),
    },
    Hint {
        name: "crowded",
        kind: FindingKind::Crowded,
        certainty: Certainty::Measured,
        scope: HintScope::Run,
        when: |run, _own| Some(run.number_of("no_processor_share")? >= 0.05),
        seconds: |run, _own| run.number_of("no_processor_seconds"),
        headline: |run, _own| format!(
            "Ranks wait for a CPU {} of the time{}",
            percent(run.number_of("no_processor_share")),
            text(run.text_of("crowded")),
        ),
        evidence: |run, _own| format!(
            "A rank was ready to run, but had no CPU, for {} of {} on average.{}",
            seconds(run.number_of("no_processor_seconds")),
            seconds(run.number_of("threads_seconds")),
            text(run.text_of("no_processor_useful")),
        ),
        advice: |run, _own| format!(
            "{}",
            text(run.text_of("crowded_advice")),
        ),
    },
    Hint {
        name: "short_run",
        kind: FindingKind::ShortRun,
        certainty: Certainty::Measured,
        scope: HintScope::Run,
        when: |run, _own| Some(run.number_of("seconds")? > 0.0
            && run.number_of("writing_seconds")? >= (0.1 * run.number_of("seconds")?)),
        seconds: |run, _own| run.number_of("writing_seconds"),
        headline: |_run, _own| "The run is too short to judge the overhead".to_owned(),
        evidence: |run, _own| format!(
            "It took {} per rank, and writing its profile {} more.",
            seconds(run.number_of("seconds")),
            seconds(run.number_of("writing_seconds")),
        ),
        advice: |_run, _own| "Measure a longer run.".to_owned(),
    },
    Hint {
        name: "late_sender",
        kind: FindingKind::LateSender,
        certainty: Certainty::Measured,
        scope: HintScope::Wait,
        when: |run, own| Some(own.text_of("pattern")? == "late sender"
            && own.number_of("share")? >= 0.05
            && !(own.number_of("for_count")? >= 1.0
            && own.number_of("for_count")? < 2.0
            && own.number_of("ranks_count")? >= 2.0
            && (2.0 * own.number_of("ranks_count")?) >= (run.number_of("ranks")? - 1.0))),
        seconds: |_run, own| own.number_of("seconds"),
        headline: |_run, own| format!(
            "{} waited for late senders",
            text(own.text_of("ranks_first")),
        ),
        evidence: |_run, own| format!(
            "In {} they wait {}, {} of the time of all ranks, for {} in {}.",
            text(own.text_of("call")),
            seconds(own.number_of("all_seconds")),
            percent(own.number_of("share")),
            text(own.text_of("for_ranks")),
            text(own.text_of("for_call")),
        ),
        advice: |_run, _own| "Send earlier, give the senders less to do before, or compute while the message travels: MPI_Irecv first, MPI_Wait where the data is needed. `tinyprof waits` has all.".to_owned(),
    },
    Hint {
        name: "wrong_order",
        kind: FindingKind::WrongOrder,
        certainty: Certainty::Measured,
        scope: HintScope::Wait,
        when: |_run, own| Some(own.number_of("order_share")? >= 0.05),
        seconds: |_run, own| own.number_of("order_seconds"),
        headline: |_run, own| format!(
            "{} received in the wrong order",
            text(own.text_of("order_ranks_first")),
        ),
        evidence: |_run, own| format!(
            "In {} they wait {}, {} of the time of all ranks, for {} in {}; during {} of that, messages that were sent earlier could have been received.",
            text(own.text_of("call")),
            seconds(own.number_of("all_seconds")),
            percent(own.number_of("share")),
            text(own.text_of("for_ranks")),
            text(own.text_of("for_call")),
            seconds(own.number_of("order_all_seconds")),
        ),
        advice: |_run, _own| "Receive them as they come: with MPI_Waitany, or from MPI_ANY_SOURCE.".to_owned(),
    },
    Hint {
        name: "root_bottleneck",
        kind: FindingKind::RootBottleneck,
        certainty: Certainty::Measured,
        scope: HintScope::Wait,
        when: |run, own| Some(own.number_of("share")? >= 0.05
            && (own.text_of("pattern")? == "late root"
            || (own.text_of("pattern")? == "late sender"
            && own.number_of("for_count")? >= 1.0
            && own.number_of("for_count")? < 2.0
            && own.number_of("ranks_count")? >= 2.0
            && (2.0 * own.number_of("ranks_count")?) >= (run.number_of("ranks")? - 1.0)))),
        seconds: |_run, own| own.number_of("seconds"),
        headline: |_run, own| format!(
            "{} is a bottleneck: {} waited for it",
            text(own.text_of("for_ranks_first")),
            text(own.text_of("ranks")),
        ),
        evidence: |_run, own| format!(
            "In {} they wait {}, {} of the time of all ranks, for {} in {}.",
            text(own.text_of("call")),
            seconds(own.number_of("all_seconds")),
            percent(own.number_of("share")),
            text(own.text_of("for_ranks")),
            text(own.text_of("for_call")),
        ),
        advice: |_run, _own| "Give the root less to do before it sends, or divide its work among the ranks.".to_owned(),
    },
    Hint {
        name: "waiting_root",
        kind: FindingKind::WaitingRoot,
        certainty: Certainty::Measured,
        scope: HintScope::Wait,
        when: |_run, own| Some(own.text_of("pattern")? == "early root"
            && own.number_of("share")? >= 0.05),
        seconds: |_run, own| own.number_of("seconds"),
        headline: |_run, own| format!(
            "{} waited for all others as their root",
            text(own.text_of("ranks_first")),
        ),
        evidence: |_run, own| format!(
            "In {} they wait {}, {} of the time of all ranks, for {} in {}.",
            text(own.text_of("call")),
            seconds(own.number_of("all_seconds")),
            percent(own.number_of("share")),
            text(own.text_of("for_ranks")),
            text(own.text_of("for_call")),
        ),
        advice: |_run, _own| "Collect the data later or less often, or let the root do something useful meanwhile: MPI_Ireduce, MPI_Igather.".to_owned(),
    },
    Hint {
        name: "barrier_first",
        kind: FindingKind::BarrierFirst,
        certainty: Certainty::Measured,
        scope: HintScope::Wait,
        when: |_run, own| Some(own.text_of("pattern")? == "barrier"
            && own.text_of("next_call")? != ""
            && (own.number_of("share")? + own.number_of("transfer_share")?) >= 0.05),
        seconds: |_run, own| own.number_of("seconds"),
        headline: |_run, own| format!(
            "{} is right before {}, which waits for all ranks itself",
            text(own.text_of("call")),
            text(own.text_of("next_call")),
        ),
        evidence: |_run, own| format!(
            "In the barrier ranks wait {}, and take {} more for the barrier alone.",
            seconds(own.number_of("all_seconds")),
            seconds(own.number_of("transfer_all_seconds")),
        ),
        advice: |_run, own| format!(
            "Leave the barrier out, unless it separates the measurement of {}.",
            text(own.text_of("next_call")),
        ),
    },
];
