import { isTerminal } from './message.events.js';
import { renderFrames } from './message.policy.js';

/** Approximate maximum size of a batch for a reader. */
const BATCH_CHARACTERS_MAX = 48 * 1024;
/** Consecutive rendered frames of a message. */
export type FrameBatch = Readonly<{ first: number; last: number; text: string; terminal: boolean; data: readonly string[] }>;

export const batchOf = (first: number, data: readonly string[]): FrameBatch => ({
  first,
  last: first + data.length - 1,
  text: renderFrames(first, data),
  terminal: isTerminal(data.at(-1)!),
  data,
});

/** Splits frames of the log into batches, so that the progress of a slow reader is visible. */
export function* batchesOf(first: number, data: readonly string[]): Generator<FrameBatch> {
  let from = 0;
  let characters = 0;
  for (let at = 0; at < data.length; at++) {
    characters += data[at]!.length;
    if (characters < BATCH_CHARACTERS_MAX && at < data.length - 1) continue;
    yield batchOf(first + from, data.slice(from, at + 1));
    from = at + 1;
    characters = 0;
  }
}
