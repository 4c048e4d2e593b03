import { describe, expect, it } from '@jest/globals';
import { append } from '../../../test/support/accounts.js';
import { bellReactions, type Rang, rang } from '../../../test/support/bell-reactions.js';
import { eventually } from '../../../test/support/eventually.js';
import type { TestDatabase } from '../../../test/support/postgres-for-tests.js';
import { StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import type { Recorded } from '../../kernel/event-sourcing/events.js';
import { askToRetry } from './reaction-tables.js';

const bells = bellReactions();

/** The database, which loses its answer to a statement that contains a text: the nth one. */
function losing(text: string, nth: number): TestDatabase['sql'] {
  let count = 0;
  return new Proxy(bells.sql, {
    apply(sql, self, [strings, ...values]: [TemplateStringsArray, ...unknown[]]) {
      const query = Reflect.apply(sql, self, [strings, ...values]) as Promise<unknown>;
      if (!strings[0]?.includes(text) || ++count !== nth) return query;
      return query.then(() => Promise.reject(Object.assign(new Error('Lost.'), { code: 'CONNECTION_CLOSED' })));
    },
  });
}

describe('a reaction', () => {
  it('holds the events after a parked event of the same stream, and acts on them in order after a retry', async () => {
    let isUnlucky = true;
    const unlucky = async (event: Recorded<Rang>) => {
      if (isUnlucky && event.stream === 'bell-a' && event.data.times === 1) throw new Error('unlucky');
      await bells.listen(event);
    };
    await append(bells.store, 'bell-a', rang(1));
    await append(bells.store, 'bell-a', rang(2));
    await append(bells.store, 'bell-b', rang(1));
    const first = bells.start(unlucky);
    await eventually(async () => (await bells.parkedEvents()).length === 2);
    await first.stop();
    await append(bells.store, 'bell-a', rang(3));
    await append(bells.store, 'bell-b', rang(2));
    bells.start(unlucky);
    await eventually(async () => (await bells.parkedEvents()).length === 3);
    await eventually(() => bells.heard.includes('bell-b 2'));
    expect(bells.heard.filter((each) => each.startsWith('bell-a'))).toEqual([]);
    expect((await bells.parkedEvents()).map(({ error }) => error)).toEqual([
      'Error: unlucky',
      expect.stringContaining('An earlier event of bell-a is parked.'),
      expect.stringContaining('An earlier event of bell-a is parked.'),
    ]);
    isUnlucky = false;
    await askToRetry(bells.sql, 'answer-door');
    await append(bells.store, 'bell-a', rang(4));
    await eventually(() => bells.heard.includes('bell-a 4'));
    expect(bells.heard.filter((each) => each.startsWith('bell-a'))).toEqual(['bell-a 1', 'bell-a 2', 'bell-a 3', 'bell-a 4']);
    // An event is freed after it was acted on.
    await eventually(async () => (await bells.parkedEvents()).length === 0);
  });

  it('keeps the reason of a parked event when the event is delivered again', async () => {
    await append(bells.store, 'bell-b', rang(1));
    const last = await append(bells.store, 'bell-a', rang(1), rang(2));
    const act = async ({ stream }: Recorded<Rang>, signal: AbortSignal) => {
      if (stream === 'bell-a') throw new Error('unlucky');
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      signal.throwIfAborted();
    };
    const first = bells.start(act);
    await eventually(async () => (await bells.parkedEvents()).length === 2);
    const parked = await bells.parkedEvents();
    await first.stop();
    bells.start();
    // The unfinished event of bell B has held the checkpoint back, so all events are delivered again.
    await eventually(() => bells.isCheckpointAt(last));
    expect(bells.heard).toEqual(['bell-b 1']);
    expect(await bells.parkedEvents()).toEqual(parked);
  });

  it('parks an event that fails, continues with the others and tries it again on request', async () => {
    let broken = true;
    bells.start(async (event) => {
      if (event.data.times === 13 && broken) throw new Error('unlucky');
      await bells.listen(event);
    });
    await append(bells.store, 'bell-a', rang(13));
    const position = await append(bells.store, 'bell-b', rang(1));
    await eventually(() => bells.isCheckpointAt(position));
    expect(await bells.parkedEvents()).toMatchObject([{ reaction: 'answer-door', stream: 'bell-a', error: 'Error: unlucky' }]);
    broken = false;
    expect(await askToRetry(bells.sql, 'answer-door')).toBe(1);
    await eventually(() => bells.heard.includes('bell-a 13'));
    await eventually(async () => (await bells.parkedEvents()).length === 0);
  });

  it('refuses to retry the events of a reaction that has never run, and names those that have', async () => {
    bells.start();
    await eventually(() => bells.isCheckpointAt(-1n));
    await expect(askToRetry(bells.sql, 'answer-dor')).rejects.toThrow('There is no reaction answer-dor; there are answer-door.');
    expect(await askToRetry(bells.sql, 'answer-door')).toBe(0);
  });

  it('acts on a parked event only on request, also if the answer to its parking was lost', async () => {
    let tries = 0;
    const act = (event: Recorded<Rang>) => (++tries <= 6 ? Promise.reject(new Error('unlucky')) : bells.listen(event));
    bells.start(act, { sql: losing('insert into reactions.parked', 1) });
    const position = await append(bells.store, 'bell-a', rang(1));
    await eventually(() => bells.isCheckpointAt(position));
    expect([bells.heard, (await bells.parkedEvents()).length]).toEqual([[], 1]);
    await askToRetry(bells.sql, 'answer-door');
    await eventually(async () => (await bells.parkedEvents()).length === 0);
    expect(bells.heard).toEqual(['bell-a 1']);
  });

  it('acts on later events of a stream whose retry has freed its last parked event and then lost its connection', async () => {
    let isUnlucky = true;
    const act = (event: Recorded<Rang>) => (isUnlucky ? Promise.reject(new Error('unlucky')) : bells.listen(event));
    bells.start(act, { sql: losing('select revision, position::text from reactions.parked', 2) });
    await append(bells.store, 'bell-a', rang(1));
    await eventually(async () => (await bells.parkedEvents()).length === 1);
    isUnlucky = false;
    await askToRetry(bells.sql, 'answer-door');
    await eventually(async () => (await bells.parkedEvents()).length === 0);
    await append(bells.store, 'bell-a', rang(2));
    await eventually(async () => bells.heard.includes('bell-a 2') || (await bells.parkedEvents()).length > 0);
    expect([bells.heard, await bells.parkedEvents()]).toEqual([['bell-a 1', 'bell-a 2'], []]);
  });

  it('goes on with a requested retry after an outage of a dependency', async () => {
    let attempts = 0;
    bells.start(async (event) => {
      if (++attempts <= 6) throw new Error('unlucky');
      if (attempts === 7) throw new StoreUnavailable('away');
      await bells.listen(event);
    });
    await append(bells.store, 'bell-a', rang(1), rang(2));
    await eventually(async () => (await bells.parkedEvents()).length === 2);
    await askToRetry(bells.sql, 'answer-door');
    await eventually(async () => (await bells.parkedEvents()).length === 0);
    expect(bells.heard).toEqual(['bell-a 1', 'bell-a 2']);
  });

  it('keeps no copy of a parked event, and a retry skips events that were purged meanwhile', async () => {
    let isUnlucky = true;
    await append(bells.store, 'bell-a', rang(123456), rang(2), rang(3));
    bells.start(async (event) => {
      if (isUnlucky) throw new Error('unlucky');
      await bells.listen(event);
    });
    await eventually(async () => (await bells.parkedEvents()).length === 3);
    const kept = await bells.sql<{ text: string }[]>`select parked::text as text from reactions.parked`;
    expect(kept.filter(({ text }) => text.includes('123456'))).toEqual([]);
    await bells.store.setRetention('bell-a', { truncateBefore: 2 });
    isUnlucky = false;
    await askToRetry(bells.sql, 'answer-door');
    await eventually(async () => (await bells.parkedEvents()).length === 0);
    expect(bells.heard).toEqual(['bell-a 3']);
  });

  it('retries events that an earlier version of the program parked as copies', async () => {
    await append(bells.store, 'bell-a', rang(1), rang(2));
    const first = bells.start(() => Promise.reject(new Error('unlucky')));
    await eventually(async () => (await bells.parkedEvents()).length === 2);
    await first.stop();
    await bells.sql`alter table reactions.parked add column event text`;
    for (const revision of [0, 1]) {
      const event = JSON.stringify({ stream: 'bell-a', revision, data: '{"name":"\\u0000"}' });
      await bells.sql`update reactions.parked set event = ${event} where revision = ${revision}`;
    }
    await bells.sql`alter table reactions.parked drop column revision`;
    bells.start();
    await eventually(async () => {
      await askToRetry(bells.sql, 'answer-door');
      return (await bells.parkedEvents()).length === 0;
    });
    expect(bells.heard).toEqual(['bell-a 1', 'bell-a 2']);
  });

  it('parks and frees nothing after another process has taken over, also if it has not noticed yet', async () => {
    const takeOver = () => bells.sql`update reactions.reaction_checkpoint set epoch = epoch + 1`;
    let tries = 0;
    const first = bells.start(async () => {
      if (++tries === 6) await takeOver();
      throw new Error('unlucky');
    });
    await append(bells.store, 'bell-a', rang(1));
    await eventually(async () => tries > 6 || (await bells.parkedEvents()).length > 0);
    expect(await bells.parkedEvents()).toEqual([]);
    await first.stop();

    let isUnlucky = true;
    bells.start(async (event) => {
      if (isUnlucky) throw new Error('unlucky');
      await takeOver();
      await bells.listen(event);
    });
    await eventually(async () => (await bells.parkedEvents()).length === 1);
    isUnlucky = false;
    await askToRetry(bells.sql, 'answer-door');
    await eventually(async () => bells.heard.length > 1 || (await bells.parkedEvents()).length === 0);
    expect(await bells.parkedEvents()).toHaveLength(1);
  });
});
