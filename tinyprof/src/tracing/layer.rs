//! A layer of `tracing-subscriber` that records spans, beside layers that use them otherwise.

use std::any::TypeId;
use std::fmt;
use std::ptr;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use tracing_core::span::{Attributes, Id};
use tracing_core::subscriber::Interest;
use tracing_core::{Event, LevelFilter, Metadata};
use tracing_subscriber::filter::Filtered;
use tracing_subscriber::layer::{self, Context, Identity};
use tracing_subscriber::registry::LookupSpan;

use super::entries;
use super::sites::{place_of, site_at};
use super::spans::Spans;
use crate::record::thread;

/// Returns a layer that records all spans as regions, and no events.
///
/// ```
/// use tracing_subscriber::prelude::*;
///
/// tracing_subscriber::registry()
///     .with(tracing_subscriber::fmt::layer())
///     .with(tinyprof::tracing::layer().with_max_level(tracing::Level::DEBUG))
///     .init();
/// let span = tracing::info_span!("solve");
/// span.in_scope(|| tracing::info!("logged, inside of a visit of the region `solve`"));
/// ```
#[must_use = "a layer that no subscriber has records nothing"]
pub fn layer<S>() -> Layer<S> {
    static LAYERS: AtomicU32 = AtomicU32::new(0);
    Layer {
        chosen: Filtered::new(Identity::new(), Spans::default()),
        number: LAYERS.fetch_add(1, Relaxed),
    }
}

/// A layer that records spans as regions; [`layer()`] creates it.
///
/// It asks for no events, and for nothing on behalf of other layers: a span or event that no layer
/// takes costs the same as without this layer. Filters of `tracing-subscriber` work as well:
///
/// ```
/// use tracing_subscriber::filter::Targets;
/// use tracing_subscriber::prelude::*;
///
/// let filter = Targets::new().with_target("solver", tracing::Level::DEBUG);
/// tracing_subscriber::registry().with(tinyprof::tracing::layer().with_filter(filter)).init();
/// ```
///
/// A filter that is a layer itself (`.with(EnvFilter::..)`) decides for all layers, including this
/// one. To have fewer logs than regions, put the filter on the layer of the logs.
///
/// # Cost
/// About 40 ns an entry more than [`Subscriber`](super::Subscriber), in addition to the cost of the
/// registry: `docs/cost.md` has the measurements. A filter around the layer costs twice that.
/// [`with_max_level`](Self::with_max_level) and
/// [`with_target_prefixes`](Self::with_target_prefixes) cost next to nothing.
pub struct Layer<S> {
    /// The filter that chooses what is recorded; it does nothing else.
    chosen: Filtered<Identity, Spans, S>,
    number: u32,
}

impl<S> Layer<S> {
    /// Excludes spans that are more verbose than `level`.
    #[must_use = "returns the layer with this level"]
    pub fn with_max_level(mut self, level: impl Into<LevelFilter>) -> Self {
        self.chosen.filter_mut().max_level = level.into();
        self
    }

    /// Excludes spans whose target begins with none of `prefixes`. The target is the module, unless
    /// the span names another one.
    #[must_use = "returns the layer with these prefixes"]
    pub fn with_target_prefixes<P: Into<String>>(
        mut self,
        prefixes: impl IntoIterator<Item = P>,
    ) -> Self {
        self.chosen.filter_mut().targets = prefixes.into_iter().map(Into::into).collect();
        self
    }
}

impl<S> fmt::Debug for Layer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layer").field("spans", self.chosen.filter()).finish_non_exhaustive()
    }
}

/// Calls that concern filtering go to `chosen`: in this way a layer declares that it does not
/// decide for others. Entries do not go there, because `Filtered` would look up each span two more
/// times.
impl<S> layer::Layer<S> for Layer<S>
where
    S: tracing_core::Subscriber + for<'span> LookupSpan<'span>,
{
    fn on_layer(&mut self, subscriber: &mut S) {
        self.chosen.on_layer(subscriber);
    }

    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        self.chosen.register_callsite(metadata)
    }

    fn enabled(&self, metadata: &Metadata<'_>, context: Context<'_, S>) -> bool {
        self.chosen.enabled(metadata, context)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        self.chosen.max_level_hint()
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        self.chosen.on_new_span(attributes, id, context);
    }

    fn event_enabled(&self, event: &Event<'_>, context: Context<'_, S>) -> bool {
        self.chosen.event_enabled(event, context)
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        self.chosen.on_event(event, context);
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if thread::current().is_off() {
            return;
        }
        let taken = context.metadata(id).filter(|metadata| self.chosen.filter().take(metadata));
        let site = taken.and_then(|metadata| site_at(place_of(metadata)));
        entries::enter(self.number, id.into_u64(), site);
    }

    fn on_exit(&self, id: &Id, _: Context<'_, S>) {
        entries::exit(self.number, id.into_u64());
    }

    /// Shows `chosen` to a subscriber, which learns from it that this layer does not decide for
    /// others.
    unsafe fn downcast_raw(&self, id: TypeId) -> Option<*const ()> {
        if id == TypeId::of::<Self>() {
            return Some(ptr::from_ref(self).cast());
        }
        // SAFETY: the pointer is used as long as `self` is borrowed, and `chosen` lives as long.
        unsafe { self.chosen.downcast_raw(id) }
    }
}
