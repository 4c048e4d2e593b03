import { expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { answeringOptions, askedTurn, framesOf, scripted, workerOver } from '../../../../test/support/turns.js';
import { isHeld } from '../../../kernel/messaging/lease.js';
import { InProcessKeyValue } from '../../../platform/messaging/key-value/in-process-key-value.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import { systemIds } from '../../../platform/system-ids.js';
import { systemTiming } from '../../../platform/system-timing.js';
import { InProcessWorkQueue } from '../../../platform/messaging/work-queue/in-process-work-queue.js';
import { TURNS_QUEUE } from '../intake/turns-queue.js';
import { producerKey } from './sweep-turns.ticker.js';
import { TurnsWorker } from './turns-worker.js';

it('a worker that shuts down finishes its running turn while it holds its lease, and starts no other turn', async () => {
  const store = new InMemoryEventStore();
  await askedTurn(store, 'c1', 't1');
  await askedTurn(store, 'c2', 't2');
  let finish = () => {};
  const held = new Promise<void>((resolve) => (finish = resolve));
  const { runner } = workerOver(
    store,
    new InProcessSignals(),
    scripted(async function* () {
      yield { type: 'text', text: 'Be' };
      await held;
      yield { type: 'text', text: 'cause.' };
    }),
  );
  const keyValue = new InProcessKeyValue();
  const queue = new InProcessWorkQueue();
  const worker = new TurnsWorker(queue, keyValue, runner, systemTiming, systemIds, answeringOptions);
  const isPresent = () => isHeld(keyValue, producerKey(runner.producer));
  worker.onApplicationBootstrap();
  await queue.enqueue(TURNS_QUEUE, 't1', JSON.stringify({ conversationId: 'c1', turnId: 't1' }));
  while ((await framesOf(store, 't1')).length < 2) await new Promise((resolve) => setImmediate(resolve));

  const closing = worker.beforeApplicationShutdown();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await isPresent()).toBe(true);
  await runner.run('c2', 't2');
  expect(() => worker.seat('t3')).toThrow(expect.objectContaining({ code: 'shutting-down' }));
  finish();
  await closing;
  expect((await framesOf(store, 't1')).at(-1)).toEqual({ type: 'end' });
  expect(await framesOf(store, 't2')).toEqual([]);
  expect(await isPresent()).toBe(false);
});

it('a worker counts a turn as running, but does not run it, until the append of its question has an outcome', async () => {
  const store = new InMemoryEventStore();
  const { runner } = workerOver(
    store,
    new InProcessSignals(),
    scripted(async function* () {
      yield { type: 'text', text: 'So.' };
    }),
  );
  const worker = new TurnsWorker(
    new InProcessWorkQueue(),
    new InProcessKeyValue(),
    runner,
    systemTiming,
    systemIds,
    answeringOptions,
  );
  worker.onApplicationBootstrap();
  const seat = worker.seat('t1')!;
  await askedTurn(store, 'c1', 't1');
  const run = runner.run('c1', 't1');
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([runner.running, await framesOf(store, 't1')]).toEqual([['t1'], []]);
  seat.leave();
  await run;
  expect((await framesOf(store, 't1')).at(-1)).toEqual({ type: 'end' });
  await worker.beforeApplicationShutdown();
});

it('a worker that shuts down does not wait for the append of a question', async () => {
  const { runner } = workerOver(
    new InMemoryEventStore(),
    new InProcessSignals(),
    scripted(async function* () {}),
  );
  const options = { settings: { ...answeringOptions.settings, shutdownMs: 0 } };
  const worker = new TurnsWorker(new InProcessWorkQueue(), new InProcessKeyValue(), runner, systemTiming, systemIds, options);
  worker.onApplicationBootstrap();
  worker.seat('t1');
  await worker.beforeApplicationShutdown();
  expect(runner.running).toEqual([]);
});
