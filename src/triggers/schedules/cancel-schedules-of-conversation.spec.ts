import { expect, it } from '@jest/globals';
import { reachedReadModels, received } from '../../../test/support/deletion-reactions.js';
import type { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import type { ScheduleQueries } from '../../../projections/schedules/schedules.queries.js';
import type { ConversationDeleted } from '../../dialogue/conversation/conversation.events.js';
import type { Commands } from '../../kernel/commands.js';
import { Rejection } from '../../kernel/rejection.js';
import { CancelSchedulesOfConversation } from './cancel-schedules-of-conversation.reaction.js';
import type { CancelSchedule } from './schedule/schedule.commands.js';
import type { ScheduleCreated, ScheduleOrigin } from './schedule/schedule.events.js';

const made = (scheduleId: string, origin: Omit<ScheduleOrigin, 'createdVia'>) =>
  received<ScheduleCreated>({ scheduleId, ownerId: 'ann', origin: { ...origin, createdVia: 'chat' } } as ScheduleCreated['data']);

/** Of the conversations c1 and c2, only c2 exists. Of the schedules of c1, the first is already deleted. */
function reaction() {
  const cancelled: string[] = [];
  const { awaited, freshness } = reachedReadModels();
  const commands = {
    execute: async ({ scheduleId, ownerId }: CancelSchedule) => {
      if (scheduleId === 's1') throw new Rejection('schedule-not-found', 'schedule not found');
      cancelled.push(`${scheduleId} of ${ownerId}`);
    },
  };
  const open = ['s1', 's2'].map((id) => ({ id, ownerId: 'ann' }));
  const schedules = { openOfChat: async (id: string) => (id === 'c1' ? open : []) };
  const conversations = { isThere: async (id: string) => id === 'c2' };
  const { on } = new CancelSchedulesOfConversation(
    commands as unknown as Commands,
    schedules as unknown as ScheduleQueries,
    conversations as unknown as ConversationQueries,
    freshness,
  );
  return { on, cancelled, awaited };
}

it.each(['ConversationDeleted', 'ConversationPurged'] as const)(
  'the tasks of a chat without an agent are cancelled at %s, even if one is already deleted',
  async (type) => {
    const { on, cancelled, awaited } = reaction();
    await on[type](received<ConversationDeleted>({ conversationId: 'c1' }) as never);
    expect([cancelled, awaited]).toEqual([['s2 of ann'], ['schedules 7']]);
  },
);

it('a task that is created in a deleted chat is cancelled', async () => {
  const { on, cancelled, awaited } = reaction();
  await on.ScheduleCreated(made('s3', { agentId: null, conversationId: 'c1' }));
  expect([cancelled, awaited]).toEqual([['s3 of ann'], ['conversations 7']]);
});

it.each([
  ['an existing chat', { agentId: null, conversationId: 'c2' }],
  ['a chat with an agent', { agentId: 'a1', conversationId: 'c1' }],
  ['no chat', { agentId: 'a1', conversationId: null }],
])('a schedule that is created in %s is kept', async (_, origin) => {
  const { on, cancelled } = reaction();
  await on.ScheduleCreated(made('s3', origin));
  expect(cancelled).toEqual([]);
});
