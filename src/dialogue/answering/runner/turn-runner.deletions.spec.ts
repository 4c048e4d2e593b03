import { describe, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { expectSealed, outcomesOf } from '../../../../test/support/turn-ends.js';
import { askedTurn, cause, deltas, eventsOf, framesOf, scripted, workerOver } from '../../../../test/support/turns.js';
import type { EventStore } from '../../../kernel/event-sourcing/event-store.js';
import type { Timing } from '../../../kernel/timing.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../../platform/system-timing.js';
import { DeleteConversation, DeleteConversationHandler } from '../../conversation/conversation.commands.js';
import { conversation, remove } from '../../conversation/conversation.decider.js';
import { startTurn } from '../../conversation/turn.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';

const signals = () => new InProcessSignals();

describe('a turn whose conversation is deleted', () => {
  it('is stopped by the signal of the deletion, without a check of the log', async () => {
    const store = new InMemoryEventStore();
    const bus = signals();
    await askedTurn(store, 'c1', 't1');
    const neverLooks = { ...systemTiming, every: () => () => undefined } as unknown as Timing;
    let begun = () => {};
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    const endless = scripted(async function* (stopped) {
      yield { type: 'usage', promptTokens: 30, completionTokens: 4 };
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
    const events = await eventsOf(store, conversationStream('c1'));
    expect(events.map(({ type }) => type).slice(-4)).toEqual([
      'TurnStopRequested',
      'ConversationDeleted',
      'TurnStopped',
      'TurnSealed',
    ]);
    expect(JSON.parse(events.at(-2)!.data)).toMatchObject({ answer: '', usage: { promptTokens: 30, completionTokens: 4 } });
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
