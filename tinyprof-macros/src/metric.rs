//! Metrics: a text is a constant of the region, any other value is a number that is taken for every
//! visit.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::{ParseStream, Result};
use syn::{Error, Expr, LitStr, Token};

/// `key = value`.
#[derive(Clone)]
pub(crate) struct Metric {
    pub(crate) key: Ident,
    pub(crate) value: Value,
}

/// The value after the `=`.
#[derive(Clone)]
pub(crate) enum Value {
    /// A consistent metric: kept once, with the region.
    Constant(LitStr),
    /// A varying metric: an expression, as it was written.
    Varying(TokenStream),
}

impl Metric {
    /// Reads `= value` after a key.
    pub(crate) fn parse_value(key: Ident, input: ParseStream<'_>) -> Result<Metric> {
        if input.parse::<Option<Token![=]>>()?.is_none() || input.is_empty() {
            let message =
                format!("`{key}` needs a value: `{key} = \"a text\"` or `{key} = a_number`");
            return Err(Error::new(key.span(), message));
        }
        let ahead = input.fork();
        let is_text =
            ahead.parse::<LitStr>().is_ok() && (ahead.is_empty() || ahead.peek(Token![,]));
        let value = if is_text {
            Value::Constant(input.parse()?)
        } else {
            Value::Varying(parse_expression(input)?)
        };
        Ok(Metric { key, value })
    }

    /// Appends the metric as it would be written.
    pub(crate) fn to_tokens(&self, tokens: &mut TokenStream) {
        let key = &self.key;
        let value = match &self.value {
            Value::Constant(text) => text.to_token_stream(),
            Value::Varying(expression) => expression.clone(),
        };
        tokens.extend(quote!(#key = #value));
    }
}

/// Takes the tokens of one expression, unchanged. Nothing else about it is checked here.
pub(crate) fn parse_expression(input: ParseStream<'_>) -> Result<TokenStream> {
    let begin = input.cursor().token_stream();
    input.parse::<Expr>()?;
    let behind = input.cursor().token_stream().into_iter().count();
    let length = begin.clone().into_iter().count() - behind;
    Ok(begin.into_iter().take(length).collect())
}

/// The varying metrics of a region, and their expansion.
pub(crate) struct Varying<'a> {
    pub(crate) metrics: Vec<&'a Metric>,
    /// The path of the hidden module.
    pub(crate) private: TokenStream,
}

impl Varying<'_> {
    /// Returns one `let` for each value.
    ///
    /// The expressions are outside of all braces that hold a `static` of ours, which must not hide
    /// the user's own `SITE` or `METRIC`. From here on the value is a plain number. It borrows
    /// nothing and does not keep a future from moving to another thread.
    pub(crate) fn values(&self) -> TokenStream {
        let private = &self.private;
        self.numbered(|value, _, expression| {
            quote_spanned!(Span::mixed_site()=> let #value = #private::Number::to_f64(#expression);)
        })
    }

    /// Returns one `static` and one call of `function` for each value. `first` is the argument
    /// before the value, with a comma.
    pub(crate) fn records(&self, function: &TokenStream, first: &TokenStream) -> TokenStream {
        let private = &self.private;
        self.numbered(|value, key, _| {
            let key = key.to_string();
            quote_spanned! {Span::mixed_site()=>
                {
                    #[used]
                    #[cfg_attr(target_os = "linux", unsafe(link_section = "tinyprof_sites"))]
                    static METRIC: #private::Site = #private::Site::metric(#key);
                    #private::#function(#first &METRIC, #value)
                };
            }
        })
    }

    /// Returns code in which the values are type-checked but never computed.
    pub(crate) fn unmeasured(&self) -> TokenStream {
        let private = &self.private;
        let values = self.numbered(
            |_, _, expression| quote_spanned!(Span::mixed_site()=> #private::Number::to_f64(#expression);),
        );
        if values.is_empty() {
            return values;
        }
        quote_spanned!(Span::mixed_site()=> if false { #values })
    }

    fn numbered(&self, each: impl Fn(Ident, &Ident, &TokenStream) -> TokenStream) -> TokenStream {
        let metrics =
            self.metrics.iter().enumerate().filter_map(|(index, metric)| match &metric.value {
                Value::Varying(expression) => {
                    let value = format_ident!("__value{index}", span = Span::mixed_site());
                    Some(each(value, &metric.key, expression))
                }
                Value::Constant(_) => None,
            });
        metrics.collect()
    }
}
