import { expect } from '@jest/globals';
import type { Sql } from 'postgres';
import type { Projection } from '../../projections/projection.js';
import { type Codec, currentVersion, encodeMetadata } from '../../src/kernel/event-sourcing/codec.js';
import type { StoredEvent } from '../../src/kernel/event-sourcing/event-store.js';
import type { Cause, Event } from '../../src/kernel/event-sourcing/events.js';
import { deterministicId } from '../../src/kernel/ids.js';
import { concerns } from '../../src/platform/projections/changes.js';
import { definitionOf } from '../../src/platform/projections/definition.js';
import { parkedIn } from '../../src/platform/projections/parking.js';
import { ProjectionWriter } from '../../src/platform/projections/projection-writer.js';
import { createSchema, dropSchema } from '../../src/platform/projections/schema.js';
import { firstDifference } from '../../src/platform/projections/comparison.js';

export type Circumstances = Readonly<{ at?: Date; cause?: Partial<Cause>; version?: number }>;

const POSITION_STEP = 3n;
const FIRST_AT = Date.parse('2026-01-01T00:00:00Z');

/** Events as a log would return them, a second apart and in their newest version unless given otherwise. */
export class EventsForTests {
  readonly events: StoredEvent[] = [];
  private readonly revisions = new Map<string, number>();

  constructor(private readonly codec: Codec = {}) {}

  add(stream: string, events: readonly Event[], { at, cause, version }: Circumstances = {}): readonly StoredEvent[] {
    const whole: Cause = {
      actor: 'user:ann',
      credential: 'session-token',
      correlationId: 'request',
      causationId: 'request',
      ...cause,
    };
    return events.map(({ type, data }) => {
      const revision = (this.revisions.get(stream) ?? -1) + 1;
      this.revisions.set(stream, revision);
      const stored: StoredEvent = {
        id: deterministicId(stream, revision),
        type,
        data: JSON.stringify(data),
        metadata: encodeMetadata(whole, version ?? currentVersion(this.codec, type)),
        stream,
        revision,
        position: POSITION_STEP * BigInt(this.events.length),
        at: at ?? new Date(FIRST_AT + 1000 * this.events.length),
      };
      this.events.push(stored);
      return stored;
    });
  }
}

/** A projection with its tables in a test database, fed by the test. */
export async function projecting(projection: Projection, sql: Sql) {
  const definition = await definitionOf(projection);
  const { schema } = definition;
  await dropSchema(sql, schema);
  await createSchema(sql, definition, schema);
  const log = new EventsForTests(projection.codec);
  const writer = await ProjectionWriter.open(sql, definition);
  const pageOf = (events: readonly StoredEvent[]) => ({ events, position: events.at(-1)?.position ?? -1n });

  return {
    /** Adds events to a stream. Resolves when the rows are written. */
    given: async (stream: string, events: readonly Event[], circumstances?: Circumstances): Promise<readonly StoredEvent[]> => {
      const stored = log.add(stream, events, circumstances);
      const page = pageOf(stored);
      // As in a service, the checkpoint moves past events that do not concern the projection with the next one that does.
      if (stored.some((event) => concerns(definition, event))) await writer.write(page);
      else writer.pass(page.position);
      return stored;
    },
    /** Writes all events again, as after a lost response. This must change nothing. */
    again: () => writer.write(pageOf(log.events)),
    parked: () => parkedIn(sql, schema),
    /**
     * Fails unless the same events (or those that `isLeft` keeps), in one page, give the same rows in another schema, and unless
     * no event is parked.
     */
    expectSameAfterRebuild: async (isLeft: (event: StoredEvent) => boolean = () => true) => {
      const rebuilt = `${schema}_again`;
      await dropSchema(sql, rebuilt);
      await createSchema(sql, definition, rebuilt);
      await (await ProjectionWriter.open(sql, definition, rebuilt)).write(pageOf(log.events.filter(isLeft)));
      expect(await firstDifference(sql, schema, rebuilt)).toBeUndefined();
      expect(await parkedIn(sql, schema)).toEqual([]);
    },
  };
}
