import { expect, it } from '@jest/globals';
import type { Commands } from '../../kernel/commands.js';
import { cause } from '../../../test/support/turns.js';
import type { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import type { MonitorQueries } from '../../../projections/monitors/monitors.queries.js';
import type { ConversationDeleted } from '../../dialogue/conversation/conversation.events.js';
import type { Event, Recorded } from '../../kernel/event-sourcing/events.js';
import { CancelMonitorsOfConversation } from './cancel-monitors-of-conversation.reaction.js';
import type { MonitorCreated } from './monitor/monitor.events.js';

const told = <E extends Event>(data: E['data']) => ({ id: 'e', data, cause, position: 7n }) as unknown as Recorded<E>;

const made = (monitorId: string, conversationId: string) =>
  told<MonitorCreated>({ monitorId, conversationId } as MonitorCreated['data']);

/** Of the conversations c1 and c2, only c2 exists. */
function reaction() {
  const cancelled: string[] = [];
  const awaited: string[] = [];
  const commands = { execute: async ({ monitorId }: { monitorId: string }) => void cancelled.push(monitorId) };
  const monitors = { liveOfConversation: async (id: string) => (id === 'c1' ? ['m1', 'm2'] : []) };
  const conversations = { isThere: async (id: string) => id === 'c2' };
  const reached = async (names: readonly string[], position: bigint | undefined) => {
    awaited.push(`${names.join()} ${position}`);
    return true;
  };
  const whole = new CancelMonitorsOfConversation(
    commands as unknown as Commands,
    monitors as unknown as MonitorQueries,
    conversations as unknown as ConversationQueries,
    { reached },
  );
  return { on: whole.on, cancelled, awaited };
}

it.each(['ConversationDeleted', 'ConversationPurged'] as const)(
  'the monitors of a conversation are cancelled at %s',
  async (type) => {
    const { on, cancelled, awaited } = reaction();
    const deletion = told<ConversationDeleted>({ conversationId: 'c1' }) as never;
    await on[type](deletion);
    expect([cancelled, awaited]).toEqual([['m1', 'm2'], ['monitors 7']]);
  },
);

it('a monitor that is created in a deleted conversation is cancelled, others are kept', async () => {
  const { on, cancelled, awaited } = reaction();
  await on.MonitorCreated(made('m3', 'c2'));
  expect(cancelled).toEqual([]);
  await on.MonitorCreated(made('m4', 'c1'));
  expect([cancelled, awaited]).toEqual([['m4'], ['conversations 7', 'conversations 7']]);
});
