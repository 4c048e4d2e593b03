import { expect, it } from '@jest/globals';
import { dependencyHosts } from './dependency-hosts.js';

it('are those of Postgres, EventStoreDB and NATS', () => {
  expect(
    dependencyHosts({
      databaseUrl: 'postgres://user:secret@db.internal:5432/verbatim',
      eventStore: 'esdb+discover://user:secret@one:2113,two:2113?tls=true',
      natsUrl: 'nats://user:secret@[fd00::7]:4222,nats.internal',
    }),
  ).toEqual(['db.internal', 'one', 'two', 'fd00::7', 'nats.internal']);
  expect(dependencyHosts({ databaseUrl: undefined, eventStore: 'postgres', natsUrl: undefined })).toEqual([]);
});
