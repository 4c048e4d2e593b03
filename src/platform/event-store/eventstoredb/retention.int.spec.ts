import { EventStoreDBClient } from '@eventstore/db-client';
import { expect, it } from '@jest/globals';

import { eventsOf, newEvents, newStream, revisions } from '../../../../test/contracts/event-store.subject.js';
import { onDouble } from '../../../../test/support/eventstoredb-double/on-double.js';

const on = onDouble();

it('setting retention does not restore a stream that an operator has deleted', async () => {
  const stream = newStream();
  await on.store.append(stream, 'none', newEvents(3));
  const client = EventStoreDBClient.connectionString(on.double.connectionString);
  await client.deleteStream(stream);
  await client.dispose();
  await on.store.setRetention(stream, { maxAgeSeconds: 3600 });
  await on.store.setRetention(stream, { truncateBefore: 1 });
  expect(await eventsOf(on.store.read(stream))).toEqual([]);
  await on.store.append(stream, 'none', newEvents(1));
  expect(revisions(await eventsOf(on.store.read(stream)))).toEqual([3]);
});
