import { describe, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { expectSealed, outcomesOf } from '../../../../test/support/turn-ends.js';
import {
  askedTurn,
  bringFurther,
  cause,
  deltas,
  eventsOf,
  framesOf,
  scripted,
  workerOver,
} from '../../../../test/support/turns.js';
import type { ExpectedRevision, NewEvent } from '../../../kernel/event-sourcing/event-store.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import { conversation } from '../../conversation/conversation.decider.js';
import { requestStop } from '../../conversation/turn.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { isTerminal, messageStream } from '../../journal/message.events.js';

const signals = () => new InProcessSignals();

/** The store of a process that dies: after `left` appends all further ones fail. */
class DyingStore extends InMemoryEventStore {
  left = Infinity;

  override async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]) {
    if (this.left-- <= 0) throw new Error('The process is dead.');
    return super.append(stream, expected, events);
  }
}

describe('a turn whose process died', () => {
  const DEATHS = Array.from({ length: 9 }, (_, appends) => appends);

  async function diedAfter(appends: number, stopped: boolean) {
    const store = new DyingStore();
    await askedTurn(store, 'c1', 't1');
    const dying = workerOver(store, signals(), scripted(deltas('Be', 'cause.')));
    if (stopped) await dying.streams.transact(conversationStream('c1'), conversation, requestStop('t1'), cause);
    store.left = appends;
    await dying.runner.run('c1', 't1').catch(() => undefined);
    const shown = await eventsOf(store, messageStream('t1'));
    store.left = Infinity;
    const next = workerOver(store, signals(), scripted(deltas('Something', ' else.')));
    return { store, shown, dying, next };
  }

  it.each(DEATHS)('after %i appends is ended once by another process, which changes no shown frame', async (appends) => {
    const { store, shown, next } = await diedAfter(appends, false);
    await next.runner.run('c1', 't1');
    await bringFurther(next.runner, 'c1', 't1');
    await bringFurther(next.runner, 'c1', 't1');
    const frames = await eventsOf(store, messageStream('t1'));
    expect(frames.slice(0, shown.length)).toEqual(shown);
    // If nothing of the answer was shown, the next process answers the turn.
    if (shown.length <= 1) expect(await outcomesOf(store)).toEqual(['TurnAnswered']);
    expect(frames.filter(({ data }) => isTerminal(data))).toEqual([frames.at(-1)]);
    expect(await outcomesOf(store)).toHaveLength(1);
    await expectSealed(store);
  });

  it.each(DEATHS)('after %i appends of a run that only failed is ended once by the same process', async (appends) => {
    const { store, shown, dying } = await diedAfter(appends, false);
    await dying.runner.run('c1', 't1');
    await bringFurther(dying.runner, 'c1', 't1');
    await bringFurther(dying.runner, 'c1', 't1');
    expect((await eventsOf(store, messageStream('t1'))).slice(0, shown.length)).toEqual(shown);
    expect(await outcomesOf(store)).toHaveLength(1);
    await expectSealed(store);
  });

  it.each(DEATHS)('after %i appends and after a stop was accepted, ends stopped', async (appends) => {
    const { store, shown, next } = await diedAfter(appends, true);
    await next.runner.run('c1', 't1');
    await next.runner.recover('c1', 't1');
    const frames = await eventsOf(store, messageStream('t1'));
    expect(frames.slice(0, shown.length)).toEqual(shown);
    expect(frames.filter(({ data }) => isTerminal(data))).toEqual([frames.at(-1)]);
    expect(await outcomesOf(store)).toEqual(['TurnStopped']);
    await expectSealed(store);
  });

  it("ends once, even if the process is still alive: its successor's first frame fences it out", async () => {
    const store = new InMemoryEventStore();
    await askedTurn(store, 'c1', 't1');
    let go = () => {};
    const held = new Promise<void>((resolve) => (go = resolve));
    const zombie = workerOver(
      store,
      signals(),
      scripted(async function* () {
        yield { type: 'text', text: 'Be' };
        await held;
        yield { type: 'text', text: 'cause.' };
      }),
    );
    const running = zombie.runner.run('c1', 't1');
    while ((await framesOf(store, 't1')).length < 2) await new Promise((resolve) => setImmediate(resolve));
    await workerOver(store, signals(), scripted(deltas())).runner.recover('c1', 't1');
    go();
    await running;
    expect((await framesOf(store, 't1')).map((frame) => frame['code'] ?? frame['type'])).toEqual([
      'message_id',
      'answer',
      'interrupted',
      'id',
      'end',
    ]);
    expect(await outcomesOf(store)).toEqual(['TurnFailed']);
    await expectSealed(store);
  });
});
