import { expect, it } from '@jest/globals';
import type { Commands } from '../../kernel/commands.js';
import { reachedReadModels, received } from '../../../test/support/deletion-reactions.js';
import type { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import type { MonitorQueries } from '../../../projections/monitors/monitors.queries.js';
import type { ConversationDeleted } from '../../dialogue/conversation/conversation.events.js';
import { CancelMonitorsOfConversation } from './cancel-monitors-of-conversation.reaction.js';
import type { MonitorCreated } from './monitor/monitor.events.js';

const made = (monitorId: string, conversationId: string) =>
  received<MonitorCreated>({ monitorId, conversationId } as MonitorCreated['data']);

/** Of the conversations c1 and c2, only c2 exists. */
function reaction() {
  const cancelled: string[] = [];
  const { awaited, freshness } = reachedReadModels();
  const commands = { execute: async ({ monitorId }: { monitorId: string }) => void cancelled.push(monitorId) };
  const monitors = { liveOfConversation: async (id: string) => (id === 'c1' ? ['m1', 'm2'] : []) };
  const conversations = { isThere: async (id: string) => id === 'c2' };
  const { on } = new CancelMonitorsOfConversation(
    commands as unknown as Commands,
    monitors as unknown as MonitorQueries,
    conversations as unknown as ConversationQueries,
    freshness,
  );
  return { on, cancelled, awaited };
}

it.each(['ConversationDeleted', 'ConversationPurged'] as const)(
  'the monitors of a conversation are cancelled at %s',
  async (type) => {
    const { on, cancelled, awaited } = reaction();
    const deletion = received<ConversationDeleted>({ conversationId: 'c1' }) as never;
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
