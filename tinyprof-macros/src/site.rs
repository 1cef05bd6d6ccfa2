//! The `static` and the call that every region expands to.
//!
//! Everything emitted here has the span of the macro call with mixed-site hygiene: the user's names
//! and lints do not see it, and ours do not see theirs. No `cfg(feature = ...)` is emitted, because
//! it would ask for a feature of the user's crate.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote_spanned};

use crate::arguments::{Arguments, Mode};
use crate::split;

/// The construct that a region is in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegionKind {
    Function,
    Scope,
    Loop,
}

/// A region of the user's program, with everything that its `Site` holds.
pub(crate) struct Region {
    pub(crate) kind: RegionKind,
    pub(crate) name: String,
    /// The place of the region's name. Two functions made by one `macro_rules!` call differ here,
    /// in the column.
    pub(crate) at: Span,
    pub(crate) arguments: Arguments,
}

impl Region {
    /// Returns the values of its metrics, then a `let` of the guard, then a call for each metric.
    pub(crate) fn guard(&self) -> TokenStream {
        let (open, guard) = (self.open(), Ident::new("__guard", Span::mixed_site()));
        let varying = self.arguments.varying();
        let values = varying.values();
        let records = varying.records(
            &quote_spanned!(Span::mixed_site()=> Guard::record),
            &quote_spanned!(Span::mixed_site()=> &#guard,),
        );
        quote_spanned!(Span::mixed_site()=> #values let #guard = #open; #records)
    }

    /// Returns a block expression that holds the region's `static` and opens the region; its value
    /// is the guard.
    pub(crate) fn open(&self) -> TokenStream {
        let private = self.arguments.private();
        let enter = Ident::new(self.kind.enter(), Span::mixed_site());
        self.with_site(|site| quote_spanned!(Span::mixed_site()=> #private::#enter(#site)))
    }

    /// Returns an expression that holds the region's `static`. Its value is that of `tail`, applied
    /// to a reference to the site.
    ///
    /// With a key there are more sites than the `static`, and the site comes from a table beside
    /// it.
    pub(crate) fn with_site(&self, tail: impl Fn(&TokenStream) -> TokenStream) -> TokenStream {
        let Some(split) = &self.arguments.split else {
            return self.with_static(&tail(&quote_spanned!(Span::mixed_site()=> &SITE)));
        };
        let private = self.arguments.private();
        let key = Ident::new("__key", Span::mixed_site());
        let tail = tail(&quote_spanned!(Span::mixed_site()=> KEYS.site(#key)));
        let inside = self.with_static(&quote_spanned! {Span::mixed_site()=>
            static KEYS: #private::Keys = #private::Keys::new(&SITE);
            #tail
        });
        // The expression is outside of the braces that hold our statics, like those of metrics.
        let text = split::text(&private, split);
        quote_spanned!(Span::mixed_site()=> match #text { #key => #inside })
    }

    /// Returns a block expression that holds the region's `static SITE` and has the value of
    /// `tail`.
    ///
    /// The `static` has its own pair of braces, because mixed-site hygiene covers locals but not
    /// items: beside the user's code, our `SITE` would hide a `SITE` of theirs.
    fn with_static(&self, tail: &TokenStream) -> TokenStream {
        let Region { kind, name, at, arguments } = self;
        let private = arguments.private();
        let mode = word(arguments.mode.unwrap_or(kind.default_mode()));
        let rank_local =
            arguments.rank_local.then(|| quote_spanned!(Span::mixed_site()=> .with_rank_local()));
        let constants = arguments.constants().map(|(key, value)| {
            let key = key.to_string();
            quote_spanned!(Span::mixed_site()=> (#key, #value))
        });
        let constants: Vec<TokenStream> = constants.collect();
        let constants = (!constants.is_empty())
            .then(|| quote_spanned!(Span::mixed_site()=> .with_constants(&[#(#constants),*])));
        let kind = word(kind);
        let SourceLocation { file, line, column } = SourceLocation::of(*at);
        let (line, column) = (Literal::u32_suffixed(line), Literal::u32_suffixed(column));
        quote_spanned! {Span::mixed_site()=>
            {
                #[used]
                #[cfg_attr(target_os = "linux", unsafe(link_section = "tinyprof_sites"))]
                static SITE: #private::Site = #private::Site::new(
                    #name,
                    #private::module_path!(),
                    #file,
                    #line,
                    #column,
                    #private::RegionKind::#kind,
                    #private::Mode::#mode,
                ) #rank_local #constants;
                #tail
            }
        }
    }
}

impl RegionKind {
    fn default_mode(self) -> Mode {
        match self {
            RegionKind::Function | RegionKind::Scope => Mode::Total,
            RegionKind::Loop => Mode::Each,
        }
    }

    fn enter(self) -> &'static str {
        match self {
            RegionKind::Function | RegionKind::Scope => "enter",
            RegionKind::Loop => "enter_loop",
        }
    }
}

/// Returns the variant's name; the enum of the same name in `tinyprof::__private` has the same
/// variants.
fn word(variant: impl std::fmt::Debug) -> impl ToTokens {
    Ident::new(&format!("{variant:?}"), Span::mixed_site())
}

/// A place in the source: line and column count from 1.
///
/// All three values come from one span. `file!()` would give the file of the outermost macro call,
/// which is not always the file that the line belongs to.
struct SourceLocation {
    file: String,
    line: u32,
    column: u32,
}

impl SourceLocation {
    fn of(span: Span) -> SourceLocation {
        if !proc_macro::is_available() {
            // In a unit test: outside of the compiler a span has no place.
            return SourceLocation { file: String::new(), line: 0, column: 0 };
        }
        let span = span.unwrap();
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        SourceLocation {
            file: span.file(),
            line: number(span.line()),
            column: number(span.column()),
        }
    }
}
