import { describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { expectSealed, outcomesOf } from '../../../../test/support/turn-ends.js';
import { askedTurn, cause, deltas, eventsOf, framesOf, scripted, workerOver } from '../../../../test/support/turns.js';
import { type ExpectedRevision, type NewEvent, StoreUnavailable } from '../../../kernel/event-sourcing/event-store.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import { ModelFailed } from '../../../resources/models/model/language-model.port.js';
import { conversation } from '../../conversation/conversation.decider.js';
import { requestStop } from '../../conversation/turn.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { stopSubject } from '../../conversation/turn.policy.js';
import { messageStream } from '../../journal/message.events.js';

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

  it('does not keep a process from shutting down while the append of its question is not answered', async () => {
    const { runner } = workerOver(new InMemoryEventStore(), signals(), scripted(deltas()));
    const { done } = runner.expect('t1');
    expect(runner.running).toEqual(['t1']);
    await runner.close(1);
    await done;
    expect(runner.running).toEqual([]);
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
