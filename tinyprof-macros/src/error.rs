//! An error beside the program as it was written: one mistake gives one error, and no second one
//! follows from a missing item.

use proc_macro2::TokenStream;

/// Returns the error, then `untouched`.
pub(crate) fn beside(error: &syn::Error, untouched: TokenStream) -> TokenStream {
    let mut tokens = error.to_compile_error();
    tokens.extend(untouched);
    tokens
}
