import { expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { askedTurn, cause, eventsOf, deltas, scripted, workerOver } from '../../../../test/support/turns.js';
import { conversation } from '../../conversation/conversation.decider.js';
import { requestStop } from '../../conversation/turn.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { isTerminal, messageStream } from '../../journal/message.events.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';

it('each of 1,000 races between a stop and the end of an answer leaves one outcome and one terminal frame', async () => {
  for (let race = 0; race < 1_000; race++) {
    const store = new InMemoryEventStore();
    await askedTurn(store, 'c1', 't1');
    const { runner, streams } = workerOver(store, new InProcessSignals(), scripted(deltas('Because.')));
    const delayed = async () => {
      for (let step = 0; step < race % 40; step++) await Promise.resolve();
      await streams.transact(conversationStream('c1'), conversation, requestStop('t1'), cause);
      return true;
    };
    const [promised] = await Promise.all([delayed().catch(() => false), runner.run('c1', 't1')]);
    const frames = (await eventsOf(store, messageStream('t1'))).map(({ data }) => data);
    expect(frames.filter(isTerminal)).toEqual([frames.at(-1)]);
    const types = (await eventsOf(store, conversationStream('c1'))).map(({ type }) => type);
    const outcomes = types.filter((type) => ['TurnAnswered', 'TurnFailed', 'TurnStopped'].includes(type));
    expect(outcomes).toEqual([promised ? 'TurnStopped' : 'TurnAnswered']);
  }
});
