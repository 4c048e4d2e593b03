import type { LogView } from '../world/log-view.js';
import type { World } from '../world/world.js';

/** Acknowledged events are in the log at their revisions, whichever node has led since, and no event is in it twice. */
export function* appends(log: LogView, { history }: Pick<World, 'history'>): Generator<string> {
  for (const { stream, lastRevision, ids } of history.acknowledged) {
    const facts = log.byStream.get(stream) ?? [];
    const isThere = ids.every((id, index) => facts[lastRevision - ids.length + 1 + index]?.stored.id === id);
    if (!isThere) yield `What was appended to ${stream} up to ${lastRevision} is not there.`;
  }
  for (const stream of history.begun) if (!log.byStream.has(stream)) yield `${stream} was accepted, and is not there.`;
  for (const [stream, facts] of log.byStream) {
    if (new Set(facts.map(({ stored }) => stored.id)).size !== facts.length) yield `${stream} has the same event twice.`;
  }
}
