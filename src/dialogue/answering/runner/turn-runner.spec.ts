import { describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
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
import {
  type EventStore,
  type ExpectedRevision,
  type NewEvent,
  StoreUnavailable,
} from '../../../kernel/event-sourcing/event-store.js';
import type { Timing } from '../../../kernel/timing.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../../platform/system-timing.js';
import { ModelFailed } from '../../../resources/models/model/language-model.port.js';
import { DeleteConversation, DeleteConversationHandler } from '../../conversation/conversation.commands.js';
import { conversation, remove, requestStop, startTurn } from '../../conversation/conversation.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { stopSubject } from '../../conversation/turn.policy.js';
import { isTerminal, messageStream } from '../../journal/message.events.js';

const signals = () => new InProcessSignals();

describe('a turn that is run', () => {
  it('shows its answer, appends its outcome and then closes its stream', async () => {
    const store = new InMemoryEventStore();
    await askedTurn(store, 'c1', 't1');
    const { runner } = workerOver(store, signals(), scripted(deltas('Be', 'cause.')));
    await runner.run('c1', 't1');
    expect(await framesOf(store, 't1')).toEqual([
      { type: 'message_id', message_id: 't1', conversation_id: null, request_id: 'r1' },
      { type: 'answer', answer: 'Be' },
      { type: 'answer', answer: 'cause.' },
      { type: 'source', source: [] },
      { type: 'tool_calls', tool_calls: [] },
      { type: 'id', id: 'c1' },
      { type: 'end' },
    ]);
    const answered = (await eventsOf(store, conversationStream('c1'))).find((event) => event.type === 'TurnAnswered');
    const end = (await eventsOf(store, messageStream('t1'))).at(-1)!;
    expect(JSON.parse(answered!.data)).toMatchObject({ answer: 'Because.', modelId: 'scripted' });
    expect(answered!.position < end.position).toBe(true);
    await expectSealed(store);
  });

  it('runs once, although it is offered to eight runners', async () => {
    const store = new InMemoryEventStore();
    await askedTurn(store, 'c1', 't1');
    const workers = Array.from({ length: 8 }, () => workerOver(store, signals(), scripted(deltas('Because.'))));
    await Promise.all(workers.map(({ runner }) => runner.run('c1', 't1')));
    expect((await framesOf(store, 't1')).filter((frame) => frame['type'] === 'answer')).toHaveLength(1);
    expect(await outcomesOf(store)).toEqual(['TurnAnswered']);
  });

  it('is run by another runner if the first one dies between its first frame and its claim', async () => {
    class Dying extends InMemoryEventStore {
      dies = true;
      override async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]) {
        if (!stream.startsWith('conversation-') || !this.dies) return super.append(stream, expected, events);
        while ((await framesOf(this, 't1')).length === 0) await new Promise((resolve) => setImmediate(resolve));
        throw new Error('The process ends here.');
      }
    }
    const store = new Dying();
    store.dies = false;
    await askedTurn(store, 'c1', 't1');
    store.dies = true;
    await expect(workerOver(store, signals(), scripted(deltas('No.'))).runner.run('c1', 't1')).rejects.toThrow('ends here');
    expect((await framesOf(store, 't1')).map((frame) => frame['type'])).toEqual(['message_id']);
    store.dies = false;
    await workerOver(store, signals(), scripted(deltas('Because.'))).runner.run('c1', 't1');
    expect((await framesOf(store, 't1')).slice(0, 2)).toEqual([
      { type: 'message_id', message_id: 't1', conversation_id: null, request_id: 'r1' },
      { type: 'answer', answer: 'Because.' },
    ]);
    await expectSealed(store);
  });

  it('keeps the written text when the model fails, and shows only the error text meant for users', async () => {
    const store = new InMemoryEventStore();
    await askedTurn(store, 'c1', 't1');
    const { runner } = workerOver(
      store,
      signals(),
      scripted(async function* () {
        yield { type: 'text', text: 'Be' };
        throw new ModelFailed('overloaded', 'The model is busy.', true, { cause: new Error('secret-host:443') });
      }),
    );
    await runner.run('c1', 't1');
    expect((await framesOf(store, 't1')).slice(2)).toEqual([
      { type: 'error', error: 'The model is busy.', code: 'overloaded' },
      { type: 'id', id: 'c1' },
      { type: 'end' },
    ]);
    const failed = (await eventsOf(store, conversationStream('c1'))).find((event) => event.type === 'TurnFailed');
    expect(JSON.parse(failed!.data)).toMatchObject({ answer: 'Be', error: 'The model is busy.' });
    await expectSealed(store);
  });

  it('logs the cause of an unexpected failure and does not show it to the user', async () => {
    const store = new InMemoryEventStore();
    const told = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    await askedTurn(store, 'c1', 't1');
    const failing = scripted(async function* () {
      yield { type: 'text', text: 'Be' };
      throw new Error('secret-host:443');
    });
    await workerOver(store, signals(), failing).runner.run('c1', 't1');
    expect(JSON.stringify(await framesOf(store, 't1'))).not.toContain('secret-host');
    expect(told).toHaveBeenCalledWith('Turn t1 failed unexpectedly.', new Error('secret-host:443'));
    told.mockRestore();
    expect(await outcomesOf(store)).toEqual(['TurnFailed']);
  });

  it('sends one structured answer and no answer deltas if the agent has a schema', async () => {
    const store = new InMemoryEventStore();
    const schema = { type: 'object', properties: { why: { type: 'string' } }, required: ['why'] };
    await askedTurn(store, 'c1', 't1', { responseSchema: schema });
    const { runner } = workerOver(store, signals(), scripted(deltas('{"why":', '"because"}')));
    await runner.run('c1', 't1');
    expect((await framesOf(store, 't1')).map((frame) => frame['type'])).toEqual([
      'message_id',
      'source',
      'tool_calls',
      'structured_answer',
      'id',
      'end',
    ]);
  });

  it("fails if the model's answer does not fit the schema", async () => {
    const store = new InMemoryEventStore();
    await askedTurn(store, 'c1', 't1', { responseSchema: { type: 'object', required: ['why'] } });
    const { runner } = workerOver(store, signals(), scripted(deltas('{}')));
    await runner.run('c1', 't1');
    expect((await framesOf(store, 't1'))[1]).toMatchObject({ type: 'error', code: 'invalid_structured_answer' });
  });

  it('stops on request and ends with the frame of the stop', async () => {
    const store = new InMemoryEventStore();
    const bus = signals();
    await askedTurn(store, 'c1', 't1');
    const { runner, streams } = workerOver(
      store,
      bus,
      scripted(async function* (signal) {
        yield { type: 'text', text: 'Be' };
        await streams.transact(conversationStream('c1'), conversation, requestStop('t1'), cause);
        bus.publish(stopSubject('t1'), '');
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      }),
    );
    await runner.run('c1', 't1');
    expect((await framesOf(store, 't1')).at(-1)).toMatchObject({ type: 'error', code: 'stopped' });
    expect(await outcomesOf(store)).toEqual(['TurnStopped']);
    await expectSealed(store);
  });

  it.each(['TurnFailed', 'TurnStopped'])("records the model's usage when it ends as %s", async (end) => {
    const store = new InMemoryEventStore();
    await askedTurn(store, 'c1', 't1');
    const { runner, streams } = workerOver(
      store,
      signals(),
      scripted(async function* () {
        yield { type: 'usage', promptTokens: 30, completionTokens: 4 };
        yield { type: 'usage', promptTokens: 50, completionTokens: 6 };
        if (end === 'TurnFailed') throw new ModelFailed('overloaded', 'The model is busy.', true);
        await streams.transact(conversationStream('c1'), conversation, requestStop('t1'), cause);
      }),
    );
    await runner.run('c1', 't1');
    const ended = (await eventsOf(store, conversationStream('c1'))).find(({ type }) => type === end);
    expect(JSON.parse(ended!.data)).toMatchObject({ usage: { promptTokens: 80, completionTokens: 10 } });
  });

  it('is ended as interrupted by a process that shuts down before the answer is complete', async () => {
    const store = new InMemoryEventStore();
    await askedTurn(store, 'c1', 't1');
    const { runner } = workerOver(
      store,
      signals(),
      scripted(async function* (signal) {
        yield { type: 'text', text: 'Be' };
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      }),
    );
    const running = runner.run('c1', 't1');
    await runner.close(20);
    await running;
    expect((await framesOf(store, 't1')).slice(-3).map((frame) => frame['code'] ?? frame['type'])).toEqual([
      'interrupted',
      'id',
      'end',
    ]);
    await expectSealed(store);
  });
});

describe('a turn whose conversation is deleted', () => {
  it('is stopped by the signal of the deletion, without a check of the log', async () => {
    const store = new InMemoryEventStore();
    const bus = signals();
    await askedTurn(store, 'c1', 't1');
    const neverLooks = { ...systemTiming, every: () => () => undefined } as unknown as Timing;
    let begun = () => {};
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    const endless = scripted(async function* (stopped) {
      yield { type: 'text', text: 'Be' };
      begun();
      await new Promise((_, reject) => stopped.addEventListener('abort', () => reject(new Error('Stopped.'))));
    });
    const { runner, streams } = workerOver(store, bus, endless, undefined, neverLooks);
    const running = runner.run('c1', 't1');
    await hasBegun;
    await new DeleteConversationHandler(streams, bus).execute(new DeleteConversation('c1', 'alice', cause));
    await running;
    expect((await framesOf(store, 't1')).at(-1)).toMatchObject({ type: 'error', code: 'stopped' });
    expect((await eventsOf(store, conversationStream('c1'))).map(({ type }) => type).slice(-3)).toEqual([
      'TurnStopRequested',
      'ConversationDeleted',
      'TurnSealed',
    ]);
  });

  const STOPPED_ALONE = ['message_id', 'stopped'];
  const seen = async (store: EventStore) => (await framesOf(store, 't1')).map((frame) => frame['code'] ?? frame['type']);

  async function deletedAfter(events: 'TurnAsked' | 'TurnStarted') {
    const store = new InMemoryEventStore();
    await askedTurn(store, 'c1', 't1');
    const { runner, streams } = workerOver(store, signals(), scripted(deltas('Because.')));
    const stream = conversationStream('c1');
    if (events === 'TurnStarted') await streams.transact(stream, conversation, startTurn('t1', 'a dead producer'), cause);
    await streams.transact(stream, conversation, remove, cause);
    return { store, runner };
  }

  it('gets the end of its stream when the deletion comes before its first run', async () => {
    const { store, runner } = await deletedAfter('TurnAsked');
    await runner.run('c1', 't1');
    expect(await seen(store)).toEqual(STOPPED_ALONE);
    expect(await outcomesOf(store)).toEqual([]);
    await expectSealed(store);
  });

  it('gets the end of its stream, but no outcome, when the deletion comes after its producer died', async () => {
    const { store, runner } = await deletedAfter('TurnStarted');
    await runner.recover('c1', 't1');
    await runner.recover('c1', 't1');
    expect(await seen(store)).toEqual(STOPPED_ALONE);
    expect(await outcomesOf(store)).toEqual([]);
    await expectSealed(store);
  });
});

/** A log that is unavailable for one read or append. */
class AwayOnce extends InMemoryEventStore {
  calls = 0;
  awayAt = Infinity;

  override async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]) {
    this.mayBeAway();
    return super.append(stream, expected, events);
  }

  override async *read(...args: Parameters<InMemoryEventStore['read']>) {
    this.mayBeAway();
    yield* super.read(...args);
  }

  override async setRetention(...args: Parameters<InMemoryEventStore['setRetention']>) {
    this.mayBeAway();
    return super.setRetention(...args);
  }

  private mayBeAway(): void {
    if (this.calls++ === this.awayAt) throw new StoreUnavailable('The log is away.');
  }
}

it('a running turn ends normally although the log is unavailable once, at whichever step', async () => {
  for (let awayAt = 0, isReached = true; isReached; awayAt++) {
    const store = new AwayOnce();
    await askedTurn(store, 'c1', 't1');
    Object.assign(store, { calls: 0, awayAt });
    const { runner } = workerOver(store, signals(), scripted(deltas('Be', 'cause.')));
    await runner.run('c1', 't1');
    isReached = store.calls > awayAt;
    store.awayAt = Infinity;
    expect({ awayAt, outcomes: await outcomesOf(store) }).toEqual({ awayAt, outcomes: ['TurnAnswered'] });
    await expectSealed(store);
  }
});

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
    return { store, shown, next };
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
