//! Values of every setting, accepted and refused.

use super::*;
use crate::parse::NO_PROFILE;

fn read(variables: &[(&str, &str)]) -> Settings {
    let lookup =
        |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).into());
    Settings::read(lookup, |_, _| ())
}

#[test]
fn nothing_set_means_record_and_report() {
    let settings = read(&[]);
    assert_eq!(settings, Settings::NONE);
    assert!(settings.is_recording());
    assert_eq!(settings.deadline(), DEADLINE_DEFAULT);
    assert_eq!(read(&[("TINYPROF_OUT", "")]).out, None);
}

#[test]
fn what_is_refused_is_told_except_an_empty_path() {
    let told = |variable: &'static str, text: &str| {
        let mut told = Vec::new();
        let lookup = |name: &str| (name == variable).then(|| text.into());
        let settings =
            Settings::read(lookup, |setting, _| told.push((setting.variable, setting.expected)));
        assert_eq!(settings, Settings::NONE);
        told
    };
    assert_eq!(told("TINYPROF", "perhaps"), [("TINYPROF", "on or off")]);
    assert_eq!(told("TINYPROF_REPORT", "").len(), 1);
    assert_eq!((told("TINYPROF_OUT", "").len(), told("TINYPROF_SEGMENT_DIR", "").len()), (0, 0));
}

#[test]
fn every_setting_has_a_key_and_a_variable_of_its_own() {
    for (number, setting) in SETTINGS.iter().enumerate() {
        assert_eq!(
            Setting::of_key(setting.key).map(|found| found.variable),
            Some(setting.variable)
        );
        let same = SETTINGS.iter().position(|other| other.variable == setting.variable);
        assert_eq!(same, Some(number));
        // The key is the variable's end, so that users need to know one of them.
        let end = setting.variable.strip_prefix("TINYPROF_").unwrap_or("RECORDING");
        assert_eq!(setting.key.to_ascii_uppercase().replace('-', "_"), end);
        // The first of the short values, or the example, is accepted.
        let first = setting.values.split('|').next().unwrap_or_default();
        assert!(setting.accepts(first.as_ref()), "{setting:?}");
        assert!(!setting.accepts("".as_ref()), "{setting:?}");
    }
    assert!(Setting::of_key("intervall").is_none());
}

#[test]
fn the_environment_wins_over_the_program() {
    let environment = read(&[("TINYPROF_KEEP", "3"), ("TINYPROF_REPORT", "off")]);
    let program = Settings { report: Some(true), budget: Some(0.5), ..Settings::NONE };
    let expected = Settings {
        report: Some(false),
        budget: Some(0.5),
        interim_profiles_kept: Some(3),
        ..Settings::NONE
    };
    assert_eq!(environment.or(program), expected);
}

#[test]
fn switches_are_read_and_nonsense_is_the_default() {
    assert!(!read(&[("TINYPROF", "off")]).is_recording());
    assert!(!read(&[("TINYPROF", " OFF ")]).is_recording());
    assert!(read(&[("TINYPROF", "perhaps")]).is_recording());
    assert_eq!(read(&[("TINYPROF_REPORT", "0")]).report, Some(false));
    assert_eq!(read(&[("TINYPROF_REPORT", "")]).report, None);
    assert_eq!(read(&[("TINYPROF_BUDGET", "0.5 %")]).budget, Some(0.005));
    assert_eq!(read(&[("TINYPROF_BUDGET", "off")]).budget, Some(1.0));
    for nonsense in ["1", "0%", "-1%", "101%", "NaN%", "1e-300%"] {
        assert_eq!(read(&[("TINYPROF_BUDGET", nonsense)]).budget, None);
    }
    assert_eq!(read(&[("TINYPROF_FORMAT", "CSV")]).format, Some(OutputFormat::Csv));
    assert_eq!(read(&[("TINYPROF_FORMAT", "xml")]).format, None);
    assert_eq!(read(&[("TINYPROF_OUT", "a/b")]).out, Some("a/b".into()));
}

#[test]
fn an_interval_is_a_time_with_its_unit() {
    let interval = |text| read(&[("TINYPROF_INTERVAL", text)]).interim_interval;
    assert_eq!(interval("5s"), Some(Duration::from_secs(5)));
    assert_eq!(interval(" 250 ms "), Some(Duration::from_millis(250)));
    assert_eq!(interval("Off"), Some(Duration::ZERO));
    assert_eq!((interval(""), interval("5"), interval("0s")), (None, None, None));
    let kept = |text| read(&[("TINYPROF_KEEP", text)]).interim_profiles_kept;
    assert_eq!((kept("all"), kept("3")), (Some(ALL_INTERIM_PROFILES), Some(3)));
    assert_eq!((kept("0"), kept("-1"), kept("some")), (None, None, None));
}

#[test]
fn a_filter_is_kept_as_it_is_written() {
    let filter = |text| read(&[("TINYPROF_FILTER", text)]).filter;
    assert_eq!(filter(" -*fields_at*, +main "), Some("-*fields_at*, +main".to_owned()));
    assert_eq!((filter("-a,,b"), filter("-"), filter("")), (None, None, None));
}

#[test]
fn a_precision_is_exact_or_of_eight_bits() {
    let precision = |text| read(&[("TINYPROF_PRECISION", text)]).precision;
    assert_eq!(
        (precision("exact"), precision(" 8Bit ")),
        (Some(Precision::Exact), Some(Precision::EightBit))
    );
    assert_eq!((precision("8"), precision("")), (None, None));
}

#[test]
fn a_profile_is_private_unless_the_umask_is_asked_for() {
    let permissions = |text| read(&[("TINYPROF_PERMISSIONS", text)]).permissions;
    assert_eq!(permissions("umask"), Some(Permissions::Umask));
    assert_eq!(permissions(" UMASK "), Some(Permissions::Umask));
    assert_eq!(permissions("private"), Some(Permissions::Private));
    assert_eq!((permissions("0644"), permissions("")), (None, None));
}

#[test]
fn a_signal_is_asked_for_by_its_name() {
    let signal = |text| read(&[("TINYPROF_SIGNAL", text)]).report_on_signal;
    assert_eq!(
        (signal(" USR1 "), signal("sigusr2"), signal("off")),
        (Some(ReportSignal::Usr1), Some(ReportSignal::Usr2), Some(ReportSignal::Off))
    );
    assert_eq!((signal("hup"), signal("on"), signal("")), (None, None, None));
}

#[test]
fn a_clock_is_chosen_by_its_name() {
    for (text, clock) in [
        ("auto", Some(ClockChoice::Auto)),
        ("Monotonic", Some(ClockChoice::Monotonic)),
        (" fenced ", Some(ClockChoice::Fenced)),
        ("sundial", None),
    ] {
        assert_eq!(read(&[("TINYPROF_CLOCK", text)]).clock, clock, "{text}");
    }
}

#[test]
fn aggregators_are_read_and_nonsense_is_the_default() {
    let aggregators = |text| read(&[("TINYPROF_AGGREGATORS", text)]).aggregators;
    assert_eq!(aggregators("auto"), Some(Aggregators::Auto));
    assert_eq!(aggregators("4"), Some(Aggregators::Count(4)));
    assert_eq!(aggregators("node"), Some(Aggregators::PerNode));
    assert_eq!((aggregators("0"), aggregators("-1"), aggregators("many")), (None, None, None));
}

#[test]
fn ways_to_gather_series_are_read_and_nonsense_is_the_default() {
    let series = |text| read(&[("TINYPROF_SERIES", text)]).series;
    assert_eq!(series("padded"), Some(SeriesGather::Padded));
    assert_eq!(series("counts"), Some(SeriesGather::Counts));
    assert_eq!((series("auto"), series("x")), (Some(SeriesGather::Auto), None));
}

#[test]
fn a_world_and_the_data_about_mpi_are_named() {
    let world = |text| read(&[("TINYPROF_WORLD", text)]).world;
    assert_eq!((world("All"), world("auto")), (Some(World::All), Some(World::Auto)));
    assert_eq!((world("some"), world("")), (None, None));
    let level = |text| read(&[("TINYPROF_MPI", text)]).mpi;
    assert_eq!((level("off"), level("Calls")), (Some(MpiLevel::Off), Some(MpiLevel::Calls)));
    assert_eq!((level("on"), level("")), (None, None));
    assert_eq!(MpiLevel::default(), MpiLevel::Calls);
    let order = |text| read(&[("TINYPROF_ORDER", text)]).order;
    assert_eq!(order("observe"), Some(MessageOrder::Observe));
    assert_eq!((order("Enforce"), order("always")), (Some(MessageOrder::Enforce), None));
}

#[test]
fn absurd_values_count_as_not_set() {
    let deadline = |text| read(&[("TINYPROF_DEADLINE", text)]).deadline;
    assert_eq!(
        (deadline("1ms"), deadline("24h").is_some()),
        (Some(Duration::from_millis(1)), true)
    );
    for absurd in ["0", "0s", "-1s", "0.1ms", "25h", "1e9h"] {
        assert_eq!(deadline(absurd), None, "{absurd}");
    }
    let interval = |text| read(&[("TINYPROF_INTERVAL", text)]).interim_interval;
    assert!(interval("1000h").is_some() && interval("1001h").is_none());
    assert_eq!((interval("1e-9s"), interval("-5s")), (None, None));
    let aggregators = |text| read(&[("TINYPROF_AGGREGATORS", text)]).aggregators;
    assert_eq!((aggregators("4294967295"), aggregators("99999999999")), (None, None));
    assert_eq!(read(&[("TINYPROF_KEEP", "4294967295")]).interim_profiles_kept, None);
}

#[test]
fn a_profile_has_a_name_that_can_be_a_directory() {
    let out = |text| read(&[("TINYPROF_OUT", text)]).out;
    for name in ["a", "a/b/", "./a", "../a", "/dev/shm/a", NO_PROFILE] {
        assert_eq!(out(name), Some(name.into()));
    }
    for none in [".", "..", "/", "a/..", "/dev/stderr", "/dev/fd/1", "/dev"] {
        assert_eq!(out(none), None, "{none}");
    }
}
