import { expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { cause } from '../../../../test/support/turns.js';
import { VirtualTiming } from '../../../../test/support/virtual-timing.js';
import type { Commands } from '../../../kernel/commands.js';
import { StoreUnavailable } from '../../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { RunBook } from './run-book.js';

it('the end of a run is recorded after an outage of the event store that one append does not outlast', async () => {
  const sent: unknown[] = [];
  const execute = async (command: unknown) => {
    if (sent.push(command) < 3) throw new StoreUnavailable('away');
  };
  const streams = new Streams(new InMemoryEventStore(), new VirtualTiming());
  const book = await RunBook.open(streams, { execute } as unknown as Commands, 'run', 1, cause);
  await book.finish('interrupted', 'The answer ended.');
  expect(sent).toHaveLength(3);
});
