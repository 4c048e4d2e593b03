import { randomUUID } from 'node:crypto';

import {
  type EventStore,
  type ExpectedRevision,
  type NewEvent,
  type Retention,
  WrongRevision,
} from '../../../kernel/event-store.js';
import { appendSurely } from '../../../kernel/streams.js';
import { RETENTION_RACES_MAX } from './limits.js';

/** Where the server keeps what holds for a stream. */
export const metastreamOf = (stream: string): string => `$$${stream}`;

type Newest = () => Promise<{ revision: ExpectedRevision; json: Readonly<Record<string, unknown>> }>;

/**
 * Writes a stream's bounds, decided on what is there: access rules and whatever else somebody wrote stay. A stream has
 * no metadata before this as a rule, so that is tried first.
 */
export async function writeRetention(
  store: Pick<EventStore, 'append'>,
  stream: string,
  retention: Retention,
  newest: Newest,
): Promise<void> {
  const metastream = metastreamOf(stream);
  let present: Awaited<ReturnType<Newest>> = { revision: 'none', json: {} };
  for (let race = 1; ; race++) {
    const $tb = laterCut(present.json['$tb'], retention.truncateBefore);
    const bounds = { $maxAge: retention.maxAgeSeconds, $maxCount: retention.maxCount, $tb };
    if (present.revision !== 'none' && isBoundBy(present.json, bounds)) return;
    const event = metadataEvent({ ...present.json, ...bounds });
    try {
      await appendSurely(store as EventStore, metastream, present.revision, [event]);
      return;
    } catch (error) {
      if (!(error instanceof WrongRevision) || race === RETENTION_RACES_MAX) throw error;
      present = await newest();
    }
  }
}

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
