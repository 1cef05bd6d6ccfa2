//! A small executor: tasks on several threads, where any thread may run any task at any poll.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

#[derive(Default)]
struct Queue {
    /// The tasks ready to be polled, and the number of tasks that have not ended.
    ready: Mutex<(VecDeque<Arc<Task>>, usize)>,
    changed: Condvar,
}

struct Task {
    future: Mutex<Boxed>,
    queue: Arc<Queue>,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let queue = self.queue.clone();
        queue.ready.lock().unwrap().0.push_back(self);
        queue.changed.notify_one();
    }
}

impl Queue {
    /// Returns the next task; `None` if all have ended.
    fn next(&self) -> Option<Arc<Task>> {
        let ready = self.ready.lock().unwrap();
        self.changed
            .wait_while(ready, |(tasks, left)| tasks.is_empty() && *left > 0)
            .unwrap()
            .0
            .pop_front()
    }

    fn work(&self) {
        while let Some(task) = self.next() {
            let poll = task
                .future
                .lock()
                .unwrap()
                .as_mut()
                .poll(&mut Context::from_waker(&task.clone().into()));
            if poll.is_ready() {
                self.ready.lock().unwrap().1 -= 1;
                self.changed.notify_all();
            }
        }
    }
}

/// Runs all tasks to their end on this many threads.
pub(crate) fn run(threads: usize, tasks: impl Iterator<Item = Boxed>) {
    let queue = Arc::new(Queue::default());
    for future in tasks {
        queue.ready.lock().unwrap().1 += 1;
        Arc::new(Task { future: Mutex::new(future), queue: queue.clone() }).wake();
    }
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(|| queue.work()))));
}

/// Lets the other tasks run first.
pub(crate) fn give_way() -> impl Future<Output = ()> + Send {
    let mut given = false;
    poll_fn(move |context| {
        if given {
            return Poll::Ready(());
        }
        given = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
}

/// Polls once. Returns whether the future has ended.
pub(crate) fn poll_once<T>(future: &mut Pin<Box<dyn Future<Output = T> + Send + '_>>) -> bool {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
}
