//! The names of functions as their users write them.

/// Returns the name of a function as in the source: without the parameters of C++, and without what
/// Fortran's compilers put around names, from a demangled name.
pub(super) fn plain(name: &str) -> String {
    if let Some((module, procedure)) =
        name.strip_prefix("__").and_then(|name| name.split_once("_MOD_"))
    {
        return format!("{module}::{procedure}");
    }
    if name == "MAIN__" {
        return "main program".to_owned();
    }
    let name = without_return_type(without_parameters(name));
    let is_plain =
        name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    // Names of Fortran have no capitals, and end with an underscore.
    let name = if is_plain { name.strip_suffix('_').unwrap_or(name) } else { name };
    name.to_owned()
}

/// Replaces the characters that separate the regions of a callpath.
pub(super) fn without_separators(name: &str) -> String {
    name.replace('<', "(").replace('>', ")")
}

/// Returns the name up to its parameters: of `(anonymous namespace)::f(int) const` what is before
/// the last list in parentheses.
fn without_parameters(name: &str) -> &str {
    let qualifiers = [" const", " volatile", " &", " &&", " noexcept"];
    let mut end = name;
    while let Some(rest) = qualifiers.iter().find_map(|word| end.strip_suffix(word)) {
        end = rest;
    }
    if !end.ends_with(')') {
        return name;
    }
    let mut depth = 0_usize;
    for (index, byte) in end.bytes().enumerate().rev() {
        match byte {
            b')' => depth += 1,
            b'(' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            let before = &end[..index];
            let is_operator = before.ends_with("operator");
            let is_name = before.is_empty() || before.ends_with("::") || is_operator;
            return if is_name { name } else { before };
        }
    }
    name
}

/// Returns the name without the type before it, which that of a template has: `void f<int>`.
fn without_return_type(name: &str) -> &str {
    if name.contains("operator") || name.starts_with('<') || name.contains(" as ") {
        return name;
    }
    let mut depth = 0_usize;
    let mut start = 0;
    for (index, byte) in name.bytes().enumerate() {
        match byte {
            b'(' | b'<' | b'{' | b'[' => depth += 1,
            b')' | b'>' | b'}' | b']' => depth = depth.saturating_sub(1),
            b' ' if depth == 0 => start = index + 1,
            _ => {}
        }
    }
    &name[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_as_its_users_write_it() {
        for (demangled, name) in [
            ("exchange", "exchange"),
            ("exchange_halo_", "exchange_halo"),
            ("__halo_MOD_exchange", "halo::exchange"),
            ("MAIN__", "main program"),
            ("Solver::step(int, double)", "Solver::step"),
            ("Solver::step(void (*)(int)) const", "Solver::step"),
            ("(anonymous namespace)::step(int)", "(anonymous namespace)::step"),
            ("Solver::operator()(int) const", "Solver::operator()"),
            ("void step<int>(int)", "step<int>"),
            ("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"),
            ("fft::exchange::{{closure}}", "fft::exchange::{{closure}}"),
            ("<fft::Grid as fft::Field>::step", "<fft::Grid as fft::Field>::step"),
            ("Exchange_", "Exchange_"),
            ("", ""),
        ] {
            assert_eq!(plain(demangled), name, "{demangled}");
        }
    }
}
