// The selection: one callpath and one rank, in all views at once.

const listeners = [];
const current = { callpath: null, rank: null };

export function selection() {
  return current;
}

/** Selects what `change` names; null selects nothing. */
export function select(change) {
  Object.assign(current, change);
  listeners.forEach((listener) => listener(current));
}

export function onSelection(listener) {
  listeners.push(listener);
}
