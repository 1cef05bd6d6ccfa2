//! Roles of functions: the tags that `functions.txt` gives them, and what follows from these.

use std::collections::BTreeMap;

use crate::Function;

/// A tag, the values that it may have, and the arguments of which a function has to have one for
/// each group.
struct Tag {
    name: &'static str,
    values: &'static [&'static str],
    needs: &'static [&'static [&'static str]],
}

const fn tag(
    name: &'static str,
    values: &'static [&'static str],
    needs: &'static [&'static [&'static str]],
) -> Tag {
    Tag { name, values, needs }
}

/// Every tag. The head of `functions.txt` says what they mean.
const TAGS: [Tag; 25] = [
    tag("accesses", &["put", "get", "get-accumulate", "one"], &[&["target_rank"], &["win"]]),
    tag("cancels", &[], &[&["request"]]),
    tag("collective", &[], &[&["comm"]]),
    tag("commits", &[], &[&["datatype"]]),
    tag("completes", &["one", "any", "some", "all"], &[&["request", "requests"]]),
    tag("cost", &["send", "receive", "start-receive", "complete", "other"], &[]),
    tag("creates-keyval", &[], &[]),
    tag("epoch", &["post", "start", "complete", "wait", "lock", "unlock"], &[&["win"]]),
    tag(
        "frees",
        &["request", "communicator", "window", "file", "datatype"],
        &[&["request", "comm", "win", "fh", "datatype"]],
    ),
    tag("hears", &[], &[]),
    tag("lifetime", &["begins", "ends", "aborts", "controls"], &[]),
    tag(
        "makes",
        &["communicator", "intercommunicator", "window", "file"],
        &[&["newcomm", "win", "fh"]],
    ),
    tag("matched", &[], &[&["message"]]),
    tag("meets", &["all", "some", "object"], &[&["comm", "win", "fh"]]),
    tag("posts", &[], &[&["source", "request", "requests", "message"]]),
    tag(
        "prepares",
        &["send", "receive", "partitioned-send", "partitioned-receive"],
        &[&["dest", "source"], &["request"]],
    ),
    tag("probes", &[], &[&["source"], &["tag"], &["status"]]),
    tag("reads", &["now", "later"], &[&["fh"], &["status", "request"]]),
    tag("receives", &[], &[&["source", "message"], &["status"]]),
    tag("sends", &[], &[&["dest"], &["sendtag", "tag"], &["datatype", "sendtype"]]),
    tag("shape", &SHAPES, &[]),
    tag("starts", &[], &[&["request", "requests"]]),
    tag("unfollowed", &[], &[]),
    tag("waits", &["source", "receiver", "somebody"], &[]),
    tag("writes", &[], &[&["fh"]]),
];

/// Who waits for whom in an operation of several ranks.
const SHAPES: [&str; 7] =
    ["barrier", "all-to-all", "from-root", "to-root", "scan", "neighbors", "fence"];

/// A role: its tags, with their values; empty for a tag without one.
pub(crate) struct Role<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Role<'a> {
    /// Parses the tags of a role.
    pub(crate) fn parse(line: &'a str, words: impl Iterator<Item = &'a str>) -> Self {
        let mut tags = BTreeMap::new();
        for word in words {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let tag = TAGS.iter().find(|tag| tag.name == name);
            let tag = tag.unwrap_or_else(|| panic!("functions.txt: no tag `{name}`: {line}"));
            let is_allowed =
                tag.values.contains(&value) || tag.values.is_empty() && value.is_empty();
            assert!(is_allowed, "functions.txt: no value of `{name}`: {line}");
            assert!(tags.insert(name, value).is_none(), "functions.txt: `{name}` twice: {line}");
        }
        Self(tags)
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns the value of a tag; empty if the role does not have it.
    fn value(&self, name: &str) -> &'a str {
        self.0.get(name).copied().unwrap_or("")
    }

    /// Panics if the function lacks an argument that its tags need.
    pub(crate) fn check(&self, function: &Function<'_>) {
        for tag in TAGS.iter().filter(|tag| self.has(tag.name)) {
            for group in tag.needs {
                let is_there = group.iter().any(|argument| function.has(argument));
                let Function { name, .. } = function;
                assert!(is_there, "functions.txt: {name}: `{}` needs one of {group:?}", tag.name);
            }
        }
        let is_rooted = ["from-root", "to-root"].contains(&self.value("shape"));
        assert_eq!(is_rooted, self.has("shape") && function.has("root"), "{}", function.name);
    }

    /// Returns what a call counts when it has returned, as text of Rust.
    pub(crate) fn counts(&self, function: &Function<'_>) -> String {
        let has = |name| self.has(name);
        if has("collective") {
            let form = if function.is_persistent() { "Persistent" } else { "Once" };
            let kind = camel(function.operation().unwrap_or(""));
            return format!("Counts::Collective(Collective::{kind}, Form::{form})");
        }
        let of = |counts: &str, tag| format!("{counts}::{}", camel(self.value(tag)));
        let plain = if has("sends") {
            match (has("receives"), has("posts")) {
                (true, _) => "Exchanged",
                (false, true) => "ExchangeStarted",
                (false, false) => "Sent",
            }
        } else if has("completes") {
            return format!("Counts::Completed({})", of("Completes", "completes"));
        } else if has("starts") {
            "Started"
        } else if has("receives") {
            if has("matched") { "MatchedReceived" } else { "Received" }
        } else if has("posts") {
            match (has("probes"), has("matched")) {
                (true, _) => "Matched",
                (false, true) => "MatchedReceiveStarted",
                (false, false) => "ReceiveStarted",
            }
        } else if has("prepares") {
            return format!("Counts::Prepared({})", of("Prepares", "prepares"));
        } else if has("accesses") {
            return format!("Counts::Accessed({})", of("Accesses", "accesses"));
        } else if has("cancels") {
            "Cancelled"
        } else if has("creates-keyval") {
            "KeyvalCreated"
        } else {
            match self.value("reads") {
                "now" => "FileRead",
                "later" => "FileReadStarted",
                _ if has("writes") => "FileWritten",
                _ => "Nothing",
            }
        };
        format!("Counts::{plain}")
    }

    /// Returns when arguments are looked at, and which before the call.
    pub(crate) fn looks(&self, counts: &str) -> &'static str {
        match (self.value("lifetime"), self.value("completes"), self.value("frees")) {
            ("ends" | "aborts" | "controls", ..) => "Steers",
            (_, "one", _) => "AtRequest",
            (_, "any" | "some" | "all", _) => "AtRequests",
            (.., "request" | "communicator" | "datatype") => "AtFreed",
            _ if self.has("matched") => "AtMessage",
            _ if self.has("receives") || self.value("reads") == "now" => "AtStatus",
            _ if self.has("probes") && self.has("posts") => "AtStatus",
            _ if counts == "Counts::Nothing" => "Never",
            _ => "After",
        }
    }

    /// Returns what is found out when a call has returned, at level `messages`.
    pub(crate) fn concludes(&self) -> &'static str {
        let has = |name| self.has(name);
        match (self.value("epoch"), has("receives"), has("matched")) {
            (_, true, true) => "MatchedReceive",
            (_, true, false) => "Receive",
            ("" | "unlock", ..) if has("accesses") => "Access",
            ("post" | "start" | "complete" | "wait" | "lock", ..) => "Access",
            _ if has("probes") => "Probe",
            _ if has("completes") => "Completion",
            _ if has("makes") => "New",
            _ if has("commits") => "Datatype",
            _ => "Nothing",
        }
    }

    /// Returns with whom a call meets.
    pub(crate) fn meets(&self, function: &Function<'_>) -> String {
        let shape = || match self.value("shape") {
            "neighbors" => "Shape::Neighbors".to_owned(),
            "fence" => "Shape::Fence".to_owned(),
            "" => "ALL_TO_ALL".to_owned(),
            shape => format!("Shape::Of(Pattern::{})", camel(shape)),
        };
        let needs_board = !self.has("collective") || function.has("request");
        match self.value("meets") {
            _ if function.is_persistent() => format!("Meets::AtStart({})", shape()),
            "all" => format!("Meets::All {{ shape: {}, needs_board: {needs_board} }}", shape()),
            "some" => "Meets::Some".to_owned(),
            "object" => format!("Meets::Object({})", shape()),
            _ => "Meets::Nobody".to_owned(),
        }
    }

    /// Returns the other facts, as fields of `Function`.
    pub(crate) fn other_facts(&self, function: &Function<'_>) -> String {
        let of = |tag, none: &str| match self.value(tag) {
            "" => none.to_owned(),
            value => camel(value),
        };
        let epoch = if self.has("accesses") { "Access".to_owned() } else { of("epoch", "None") };
        let makes =
            if function.is_persistent() { "Operation".to_owned() } else { of("makes", "Nothing") };
        let waits = if self.has("collective") && function.has("request") {
            "Nobody".to_owned()
        } else {
            of("waits", "Nobody")
        };
        // These work on what others wait for before MPI is called.
        let begins = self.has("meets")
            || self.has("starts")
            || ["post", "complete", "unlock"].contains(&self.value("epoch"))
            || ["window", "file"].contains(&self.value("frees"));
        format!(
            "lifetime: Lifetime::{}, waits: Waits::{waits}, cost: Cost::{}, makes: Makes::{makes}, \
             frees: Frees::{}, epoch: Epoch::{epoch}, begins: {begins}, sends: {}, posts: {}, \
             probes: {}, takes: {}, hears: {}, is_followed: {}",
            of("lifetime", "Within"),
            of("cost", "Plain"),
            of("frees", "Nothing"),
            self.has("sends"),
            self.has("posts"),
            self.has("probes"),
            self.has("receives") || self.has("completes"),
            self.has("hears"),
            !self.has("unfollowed"),
        )
    }
}

/// Returns `CamelCase` for `kebab-case`.
fn camel(words: &str) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    words.split('-').map(capital).collect()
}
