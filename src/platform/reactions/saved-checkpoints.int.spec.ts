import { expect, it } from '@jest/globals';
import { pino } from 'pino';
import postgres from 'postgres';
import { append } from '../../../test/support/accounts.js';
import { eventually } from '../../../test/support/eventually.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { testDatabase } from '../../../test/support/postgres-for-tests.js';
import type { Event } from '../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import type { Timing } from '../../kernel/timing.js';
import { systemTiming } from '../system-timing.js';
import { CHECKPOINT_EVERY_MS } from './reaction-runner.js';
import { Reactions } from './reactions.js';

type Rang = Event<'BellRang', Record<string, never>>;
const rang: Rang = { type: 'BellRang', data: {} };

it('reactions that act at different times save their checkpoints together', async () => {
  const database = await testDatabase();
  const saves: string[] = [];
  const sql = postgres(database.url, { debug: (_, text) => void (text.includes('synchronous_commit') && saves.push(text)) });
  const dues: (() => void)[] = [];
  const after: Timing['after'] = (ms, work, ...rest) => {
    if (ms !== CHECKPOINT_EVERY_MS) return systemTiming.after(ms, work, ...rest);
    dues.push(work);
    return () => undefined;
  };
  const timing = Object.assign(Object.create(systemTiming) as Timing, { after });
  const heard: string[] = [];
  const names = ['bell', 'gong', 'horn'];
  const all = names.map((name): Reaction<Rang> => {
    return { name, categories: [name], codec: { BellRang: [] }, on: { BellRang: async () => void heard.push(name) } };
  });
  const store = new InMemoryEventStore();
  const reactions = new Reactions({ sql, store, timing, log: pino({ level: 'silent' }) }, all);
  reactions.start();
  const positions = new Map<string, bigint>();
  for (const name of names) {
    positions.set(name, await append(store, `${name}-1`, rang));
    await eventually(() => heard.includes(name));
  }
  expect(dues).toHaveLength(1);
  dues[0]!();
  await eventually(async () => {
    const rows = await database.sql<{ reaction: string; position: string }[]>`
      select reaction, position::text from reactions.reaction_checkpoint`;
    return rows.every(({ reaction, position }) => BigInt(position) >= positions.get(reaction)!);
  });
  expect(saves).toHaveLength(1);
  await reactions.stop();
  await sql.end();
  await database.close();
});
