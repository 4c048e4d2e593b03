import type { LogRecord } from './log.js';

/** The visible events from a revision on. Visible events have no gaps. */
export function since(visible: readonly LogRecord[], revision: number): readonly LogRecord[] {
  const first = visible[0]?.revision ?? 0;
  return revision <= first ? visible : visible.slice(revision - first);
}

/** The newest `count` events up to a revision, newest first. */
export function upTo(visible: readonly LogRecord[], revision: number, count: number): readonly LogRecord[] {
  const first = visible[0]?.revision ?? 0;
  const end = Math.min(visible.length, revision - first + 1);
  return end <= 0 ? [] : visible.slice(Math.max(0, end - count), end).reverse();
}
