//! Functions that do no more than call one of MPI's: bindings, and the stubs through which most
//! large codes call MPI.
//!
//! What calls such a wrapper is the place that a user looks for. A wrapper is known by its name.

mod words;

use std::iter;
use std::ops::Range;

use crate::pattern::matches;
use words::{ACROSS, ACROSS_SHORT, AFFIXES, REDUCING};

/// The user's names of further wrappers.
///
/// ```
/// use tinyprof_settings::Wrappers;
///
/// let wrappers = Wrappers::new("*Parallel,comm::push");
/// assert!(wrappers.is_wrapper("addIntParallel", "MPI_Allreduce"));
/// assert!(wrappers.is_wrapper("hypre_MPI_Isend", "MPI_Isend"), "is known by itself");
/// assert!(!wrappers.is_wrapper("exchange_halo", "MPI_Isend"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wrappers {
    patterns: Vec<String>,
}

impl Wrappers {
    /// Returns the wrappers of a list of names, or patterns with `*`, with a comma between them.
    #[must_use]
    pub fn new(list: &str) -> Self {
        let patterns = list.split(',').map(str::trim).filter(|pattern| !pattern.is_empty());
        Self { patterns: patterns.map(str::to_owned).collect() }
    }

    /// Returns whether the function with this name does no more than call `called`, such as
    /// `MPI_Send`. The name may be that of a symbol (mangled), or as in the source.
    ///
    /// # Cost
    /// A few microseconds.
    #[must_use]
    pub fn is_wrapper(&self, name: &str, called: &str) -> bool {
        let path = path(name);
        let Some((last, around)) = path.split_last() else { return false };
        let module = around.last().filter(|_| name.contains("_MOD_"));
        let of_module = module.map_or_else(Vec::new, |module| words(module));
        is_of_bindings(name, around)
            || is_named_like(last, &of_module, called)
            || self
                .patterns
                .iter()
                .any(|pattern| is_match(pattern, last) || is_match(pattern, &path.join("::")))
    }
}

/// Returns whether a function is of a language's binding to MPI: a class or a module of that name.
fn is_of_bindings(name: &str, around: &[&str]) -> bool {
    let is_rust = name.starts_with("_R") && name.contains("_3mpi");
    let of_type = |part: &str| part.strip_prefix("_$LT$").unwrap_or(part).starts_with("mpi..");
    is_rust || around.iter().any(|part| matches!(*part, "mpi" | "MPI" | "mpl") || of_type(part))
}

/// Returns whether a function's own name has that of MPI's function, such as `hypre_MPI_Send`,
/// `mpiSend`, `comm_send_real` or `Communicator::send`. Procedures of Fortran may begin with a word
/// of their module: `clover_min` of `clover_module`.
fn is_named_like(name: &str, of_module: &[String], called: &str) -> bool {
    let called = called.trim_start_matches("MPI_").to_ascii_lowercase().replace('_', "");
    let mut words = words(name);
    let joined: String = words.concat();
    if joined.find("mpi").is_some_and(|at| joined[at + 3..].starts_with(&called))
        || is_prefixed(name, &called)
        // All of its words may be such that say how a call is passed on: `comm_rank`.
        || joined == called
    {
        return true;
    }
    remove_library(&mut words);
    // How it is done does not matter: `wait_with_timeout`.
    if let Some(at) = words.iter().position(|word| word == "with") {
        words.truncate(at);
    }
    let is_affix = |word: &String| {
        is_number(word) || AFFIXES.contains(&word.as_str()) || of_module.contains(word)
    };
    let first = words.iter().position(|word| !is_affix(word)).unwrap_or(words.len());
    let last = words.iter().rposition(|word| !is_affix(word)).map_or(first, |last| last + 1);
    let plain = words[first..last].concat();
    if is_reduction(&words, of_module) && called.contains("reduce") {
        return true;
    }
    is_name_of(&plain, &called)
}

/// Returns whether a name in lower case is that of MPI's function, as libraries name their own:
/// `tests` and `psend`, or `send` for all modes of sending.
fn is_name_of(plain: &str, called: &str) -> bool {
    let shortened = ["replace", "v", "w", "init"].map(|end| called.strip_suffix(end));
    // Of one request or several: `comm_wait` of an array.
    let of_several = ["all", "any", "some"].map(|end| called.strip_suffix(end));
    let of_several =
        of_several.map(|called| called.filter(|called| matches!(*called, "wait" | "test")));
    let without_mode = ["bsend", "rsend", "ssend"].into_iter().find_map(|sending| {
        let before = called.strip_suffix(sending)?;
        Some(format!("{before}send"))
    });
    let is_plain = |called: &str| {
        let forms = [Some(plain), plain.strip_suffix('s'), plain.strip_prefix('p')];
        forms.into_iter().flatten().any(|plain| plain == called)
    };
    let names = [Some(called), without_mode.as_deref()].into_iter().chain(shortened);
    names.chain(of_several).flatten().any(is_plain)
}

/// Returns whether a name is MPI's with the capitals of a library before it: `MCP_Test`.
fn is_prefixed(name: &str, called: &str) -> bool {
    name.split_once('_').is_some_and(|(prefix, rest)| {
        (2..=5).contains(&prefix.len())
            && prefix.bytes().all(|byte| byte.is_ascii_uppercase())
            && rest.replace('_', "").eq_ignore_ascii_case(called)
    })
}

/// Removes the short name of a library before a word that says that it is about communication:
/// `jl_comm_allreduce`.
fn remove_library(words: &mut Vec<String>) {
    if let [library, comm, _, ..] = &words[..]
        && library.len() <= 3
        && comm == "comm"
    {
        words.remove(0);
    }
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether a name only says that values of all ranks are put together, such as
/// `addIntParallel`, `global_sum`, or `glmax`; or `clover_min` of the module `clover_module`.
fn is_reduction(words: &[String], of_module: &[String]) -> bool {
    let short = |word: &str| {
        let prefixes = ACROSS_SHORT.into_iter();
        prefixes.filter_map(|prefix| word.strip_prefix(prefix)).any(|rest| REDUCING.contains(&rest))
    };
    let is_reducing = |word: &String| REDUCING.contains(&word.as_str()) || short(word);
    let is_across =
        |word: &String| ACROSS.contains(&word.as_str()) || short(word) || of_module.contains(word);
    let is_known = |word: &String| {
        is_number(word) || AFFIXES.contains(&word.as_str()) || is_reducing(word) || is_across(word)
    };
    words.iter().any(is_reducing) && words.iter().any(is_across) && words.iter().all(is_known)
}

/// Returns the words of a name, in lower case, with the field's short forms: of `AllReduce_sum`
/// these are `all`, `reduce` and `sum`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last = '_';
    for letter in name.chars() {
        let is_new = last.is_ascii_digit() != letter.is_ascii_digit()
            || letter.is_uppercase() && !last.is_uppercase();
        if letter.is_alphanumeric() {
            match words.last_mut().filter(|_| last.is_alphanumeric() && !is_new) {
                Some(word) => word.extend(letter.to_lowercase()),
                None => words.push(letter.to_lowercase().collect()),
            }
        }
        last = letter;
    }
    for word in &mut words {
        *word = word.replace("receive", "recv").replace("broadcast", "bcast");
    }
    words
}

/// Returns the modules, classes and the name of a function, without parameters: of a symbol, of a
/// name of C++ or Rust, or of a Fortran procedure.
fn path(name: &str) -> Vec<&str> {
    // What the compiler has split off a function, or has cloned.
    let name = name.split('.').next().filter(|_| !name.starts_with("_ZN")).unwrap_or(name);
    if let Some(mangled) = name.strip_prefix("_Z") {
        return mangled_path(mangled);
    }
    if let Some((module, procedure)) =
        name.strip_prefix("__").and_then(|name| name.split_once("_MOD_"))
    {
        return vec![module, procedure];
    }
    let end = name.find('(').filter(|&end| end > 0).unwrap_or(name.len());
    let name = without_result(&name[..end]);
    let end = name.len();
    let mut depth = 0_usize;
    let mut parts: Vec<Range<usize>> = iter::once(0..0).collect();
    for (index, byte) in name[..end].bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' => depth = depth.saturating_sub(1),
            b':' if depth == 0 => parts.push(index + 1..index + 1),
            _ if depth == 0 => {
                if let Some(part) = parts.last_mut() {
                    part.end = index + 1;
                }
            }
            _ => {}
        }
    }
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.map(|part| name[part].trim_matches(['_', ' '])).collect()
}

/// Returns a name of C++ without the type of the result, which those of templates have: of
/// `mpl::pool update<2, std::pair<int, int> >` the last part. It is the class of no function.
fn without_result(name: &str) -> &str {
    let mut depth = 0_usize;
    let mut start = 0;
    for (index, byte) in name.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' => depth = depth.saturating_sub(1),
            b' ' if depth == 0 && !name[..index].ends_with("operator") => start = index + 1,
            _ => {}
        }
    }
    &name[start..]
}

/// Returns the identifiers of a symbol of C++, or of Rust's old form: each with its length.
fn mangled_path(mangled: &str) -> Vec<&str> {
    let mut rest = mangled.trim_start_matches(['N', 'K', 'V', 'L']);
    let mut parts = Vec::new();
    loop {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let Ok(length) = rest[..digits].parse::<usize>() else { return parts };
        let Some(part) = rest.get(digits..digits + length) else { return parts };
        let is_hash = length == 17 && part.starts_with('h') && !parts.is_empty();
        if !is_hash {
            parts.push(part);
        }
        rest = &rest[digits + length..];
    }
}

fn is_match(pattern: &str, name: &str) -> bool {
    matches(pattern.as_bytes(), &|at| name.as_bytes().get(at).copied())
}

#[cfg(test)]
mod tests;
