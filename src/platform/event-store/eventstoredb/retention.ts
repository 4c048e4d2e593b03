import { randomUUID } from 'node:crypto';

import type { AppendRaces } from '../../../kernel/event-sourcing/append-races.js';
import type { EventStore, ExpectedRevision, NewEvent, Retention } from '../../../kernel/event-sourcing/event-store.js';
import { APPEND_PATIENCE_MS, appendWithRetry } from '../../../kernel/event-sourcing/append-with-retry.js';
import { systemTiming } from '../../system-timing.js';

/** The stream in which the server keeps the metadata of a stream. */
export const metastreamOf = (stream: string): string => `$$${stream}`;

type Metadata = Readonly<{ revision: ExpectedRevision; json: Readonly<Record<string, unknown>> }>;
type Newest = () => Promise<Metadata>;

const NOTHING: Metadata = { revision: 'none', json: {} };

/**
 * Writes the bounds of a stream into its metadata and keeps other entries, such as access rules. Most streams have no metadata
 * yet, so the first attempt assumes that.
 */
export async function writeRetention(
  store: Pick<EventStore, 'append' | 'lastRevision'>,
  races: AppendRaces,
  stream: string,
  retention: Retention,
  newest: Newest,
): Promise<void> {
  const metastream = metastreamOf(stream);
  return races.run(metastream, async (overtaken) => {
    const present = overtaken ? await newest() : NOTHING;
    if (isDeleted(present.json)) return;
    const $tb = laterCut(present.json['$tb'], retention.truncateBefore);
    const bounds = { $maxAge: retention.maxAgeSeconds, $maxCount: retention.maxCount, $tb };
    if (present.revision !== 'none' && isBoundBy(present.json, bounds)) return;
    const event = metadataEvent({ ...present.json, ...bounds });
    const append = () => store.append(metastream, present.revision, [event]);
    await appendWithRetry(store, systemTiming, APPEND_PATIENCE_MS, append);
  });
}

/**
 * Whether the stream was deleted. The server truncates a deleted stream before its largest number, which JavaScript rounds up, so
 * that the server could not read the bounds if they were written again.
 */
const isDeleted = ({ $tb }: Readonly<Record<string, unknown>>): boolean => Number($tb) > Number.MAX_SAFE_INTEGER;

const laterCut = (present: unknown, asked: number | undefined): number | undefined =>
  typeof present === 'number' ? Math.max(present, asked ?? 0) : asked;

const isBoundBy = (json: Readonly<Record<string, unknown>>, bounds: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(bounds).every(([name, value]) => json[name] === value);

const metadataEvent = (json: object): NewEvent => ({
  id: randomUUID(),
  type: '$metadata',
  data: JSON.stringify(json),
  metadata: '{}',
});
