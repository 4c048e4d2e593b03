import { expect, it } from '@jest/globals';
import { cause } from '../../../test/support/turns.js';
import type { ConversationPurged } from '../../dialogue/conversation/conversation.events.js';
import type { Commands } from '../../kernel/commands.js';
import type { Recorded } from '../../kernel/event-sourcing/events.js';
import type { ExpireFollowUps } from './expired-follow-ups.commands.js';
import { PurgeFollowUpsOfConversation } from './purge-follow-ups-of-conversation.reaction.js';

it('all ended follow-ups of a purged conversation expire, whatever their age', async () => {
  const sent: ExpireFollowUps[] = [];
  const commands = { execute: async (command: ExpireFollowUps) => void sent.push(command) } as unknown as Commands;
  const event = { id: 'e', cause, data: { conversationId: 'c1' } } as unknown as Recorded<ConversationPurged>;
  await new PurgeFollowUpsOfConversation(commands).on.ConversationPurged(event);
  expect(sent).toMatchObject([{ conversationId: 'c1', cause: { actor: 'system:purge-follow-ups-of-conversation' } }]);
  expect(sent[0]!.settledBefore.getTime()).toBeGreaterThan(Date.parse('9999-12-31'));
});
