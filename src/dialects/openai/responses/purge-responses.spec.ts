import { expect, it } from '@jest/globals';
import type { ExpiringQueries, OldOutput } from '../../../../projections/expiring/expiring.queries.js';
import { commandsOver } from '../../../../test/support/commands-over.js';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { cause, eventsOf } from '../../../../test/support/turns.js';
import { VirtualTiming } from '../../../../test/support/virtual-timing.js';
import { decode } from '../../../kernel/event-sourcing/codec.js';
import { lastEvent } from '../../../kernel/event-sourcing/event-store.js';
import type { Recorded } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import { Purges } from '../../../work/retention/purges.js';
import { TruncatePurged } from '../../../work/retention/truncate-purged.reaction.js';
import { OpenAiOptions } from '../asking/openai-options.js';
import { PurgeResponses } from './purge-responses.js';
import { responseCodec } from './response.codec.js';
import { responseHandlers } from './response.commands.js';
import { create, storedResponse } from './response.decider.js';
import { type ResponseCreated, type ResponseExpired, responseStream } from './response.events.js';
import { responsePurges } from './response.purges.js';

const DAY_SECONDS = 86_400;

it('a response expires once at the age of its journal and loses its input, and a younger one stays', async () => {
  const store = new InMemoryEventStore();
  const streams = new Streams(store, new VirtualTiming());
  for (const responseId of ['old', 'young']) {
    const data = { responseId, turnId: responseId } as ResponseCreated['data'];
    await streams.transact(responseStream(responseId), storedResponse, create(data), cause);
  }
  const asked: unknown[] = [];
  const expiring = {
    responses: async (...page: unknown[]): Promise<readonly OldOutput[]> => {
      asked.push(page);
      return [{ id: 'old', since: new Date('2026-01-01T00:00:00Z') }];
    },
  } as unknown as ExpiringQueries;
  const handlers = responseHandlers.map((Handler) => new Handler(streams, new InProcessSignals()));
  const rule = new PurgeResponses(expiring, commandsOver(...handlers), new OpenAiOptions(1, 14 * DAY_SECONDS));
  const after = { id: 'older', since: new Date('2025-12-01T00:00:00Z') };
  const due = await rule.due(new Date('2026-02-01T00:00:00Z'), 10, after);
  expect(asked).toEqual([[new Date('2026-01-18T00:00:00Z'), 10, after]]);
  for (const time of ['once', 'again']) await rule.purge(due, { ...cause, causationId: time });
  const typesOf = async (id: string) => (await eventsOf(store, responseStream(id))).map(({ type }) => type);
  expect(await typesOf('old')).toEqual(['ResponseCreated', 'ResponseExpired']);
  const expired = decode<ResponseExpired>(responseCodec, (await lastEvent(store, responseStream('old')))!);
  const reaction = new TruncatePurged(store, new InMemoryBlobs(), new Purges(responsePurges));
  await reaction.on['ResponseExpired']!(expired as Recorded<ResponseExpired>, new AbortController().signal);
  expect(await typesOf('old')).toEqual(['ResponseExpired']);
  expect((await streams.fold(responseStream('old'), storedResponse)).state).toEqual({ status: 'deleted' });
  expect(await typesOf('young')).toEqual(['ResponseCreated']);
});
