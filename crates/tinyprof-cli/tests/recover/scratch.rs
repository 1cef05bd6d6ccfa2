//! Segments that programs have left, and a directory of them.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tinyprof_format::file::read_profile;
use tinyprof_format::model::{Profile, RunMetadata};
use tinyprof_format::segment::{ProcessDescription, parse_boot_id};
use tinyprof_segment::layout::{LINE_WORDS, MAGIC, VERSION, clock, header, node, site};

/// The first free line, which holds the only node. The site and the description follow.
const NODE: usize = 4;
const SITE: usize = 6;
const DESCRIPTION: usize = 8;

/// Returns the words of a segment left by a process of this machine, with one callpath, `work`, of
/// 7 visits of 20 ns each on average.
pub(super) fn segment(process_id: u32, start_time: u64) -> Vec<u64> {
    let boot_id = fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("Linux has it");
    let boot_id = parse_boot_id(&boot_id).expect("a number");
    let namespace = fs::metadata("/proc/self/ns/pid").expect("Linux has it").ino();
    let user = fs::metadata("/proc/self").expect("Linux has it").uid();
    let mut words = vec![0; 4096];
    for (word, value) in [
        (header::MAGIC, MAGIC),
        (header::VERSION, VERSION),
        (header::PROCESS, u64::from(user) << 32 | u64::from(process_id)),
        (header::START_TIME, start_time),
        (header::BOOT_ID, u64::try_from(boot_id & u128::from(u64::MAX)).expect("half")),
        (header::BOOT_ID + 1, u64::try_from(boot_id >> 64).expect("half")),
        (header::THREAD, u64::from(clock::MONOTONIC) << 32),
        (header::NAMESPACE, namespace),
        (header::LAST_NODE, NODE as u64),
        (header::LAST_SITE, SITE as u64),
    ] {
        words[word] = value;
    }
    for (word, value) in [
        (node::SITE, 0x1000),
        (node::VISITS, 7),
        (node::SUM, 140),
        (node::MIN, 10),
        (node::MAX, 30),
        (node::SQUARES, 3000),
    ] {
        words[NODE * LINE_WORDS + word] = value;
    }
    let name = [&[site::NAME, 4, 0, 0, 0][..], b"work"].concat();
    for (word, value) in [(site::ADDRESS, 0x1000), (site::ID, 11), (site::KIND, name.len() as u64)]
    {
        words[SITE * LINE_WORDS + word] = value;
    }
    put(&mut words, SITE * LINE_WORDS + site::FIELDS, &name);
    let metadata = RunMetadata { executable: "/bin/run".to_owned(), ..RunMetadata::default() };
    let description = ProcessDescription {
        profile: "/far/away/run.tprof".to_owned(),
        job: "run 1".to_owned(),
        host: "here".to_owned(),
        metadata,
    }
    .to_json();
    put(&mut words, DESCRIPTION * LINE_WORDS, description.as_bytes());
    words[header::DESCRIPTION] = (description.len() as u64) << 32 | DESCRIPTION as u64;
    words
}

fn put(words: &mut [u64], at: usize, bytes: &[u8]) {
    for (word, chunk) in words[at..].iter_mut().zip(bytes.chunks(8)) {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        *word = u64::from_le_bytes(bytes);
    }
}

/// A directory that contains a directory of segments.
pub(super) struct Scratch(pub(super) tempfile::TempDir);

impl Scratch {
    pub(super) fn new() -> Self {
        let place = tempfile::tempdir().expect("a temporary directory");
        let segments = place.path().join("segments");
        fs::create_dir(&segments).expect("a directory");
        // Programs do not record into a directory that others may read.
        fs::set_permissions(&segments, fs::Permissions::from_mode(0o700)).expect("it is ours");
        Self(place)
    }

    pub(super) fn segments(&self) -> PathBuf {
        self.0.path().join("segments")
    }

    pub(super) fn leave(&self, name: &str, words: &[u64]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        fs::write(self.segments().join(name), bytes).expect("it is written");
    }

    pub(super) fn run(&self, arguments: &[&str]) -> (Output, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
        command.args(arguments).current_dir(self.0.path()).env_remove("TINYPROF_SEGMENT_DIR");
        let output = command.output().expect("tinyprof starts");
        let text = String::from_utf8(output.stdout.clone()).expect("text");
        (output, text)
    }

    pub(super) fn recover(&self) -> String {
        self.recover_with(&[])
    }

    pub(super) fn recover_with(&self, options: &[&str]) -> String {
        let (output, text) = self.run(&[&["recover", "segments"][..], options].concat());
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{text}");
        text
    }

    pub(super) fn left(&self) -> Vec<String> {
        names(&self.segments())
    }

    pub(super) fn read(&self, name: &str) -> Profile {
        read_profile(&self.0.path().join(name)).expect("a profile")
    }
}

pub(super) fn names(directory: &Path) -> Vec<String> {
    let entries =
        fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry"));
    let mut names: Vec<String> =
        entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A process id that no process of this machine has.
pub(super) const NOBODY: u32 = 4_194_305;
