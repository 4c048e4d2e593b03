import { expect, it } from '@jest/globals';
import { commandsOver } from '../../../test/support/commands-over.js';
import { codePolicy, CodeGuardrails } from '../../../test/support/guardrails.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { ScriptedModels, text } from '../../../test/support/tool-turns.js';
import { tracesIn } from '../../../test/support/traces.js';
import { answeringOptions, askedTurn, cause, eventsOf } from '../../../test/support/turns.js';
import { EntitleConversationHandler } from '../conversation/conversation.commands.js';
import { conversation, remove } from '../conversation/conversation.decider.js';
import { conclude, startTurn } from '../conversation/turn.decider.js';
import { type ConversationEvent, conversationStream } from '../conversation/conversation.events.js';
import { ConversationGuard } from '../conversation/conversation-guard.js';
import type { Recorded } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { systemTiming } from '../../platform/system-timing.js';
import type { GuardrailPolicy } from '../../resources/guardrails/guardrail.policy.js';
import { TitleConversation } from './title-conversation.reaction.js';

/** The signal of the process that runs the reaction. */
const { signal } = new AbortController();

/** The name that the reaction gives a conversation whose first turn has this policy, if a model answers with this title. */
async function named(guardrails: GuardrailPolicy | undefined, title: string, isDeleted = false): Promise<string | undefined> {
  const store = new InMemoryEventStore();
  const streams = new Streams(store, systemTiming);
  await askedTurn(store, 'c1', 't1', guardrails && { guardrails });
  const stream = conversationStream('c1');
  await streams.transact(stream, conversation, startTurn('t1', 'p'), cause);
  const parts = { answer: 'So.', thought: '', sources: [], toolCalls: [], structured: false };
  const data = { conversationId: 'c1', turnId: 't1', ...parts, modelId: 'scripted', usage: null };
  const answered = await streams.transact(stream, conversation, conclude({ type: 'TurnAnswered', data }), cause);
  if (isDeleted) await streams.transact(stream, conversation, remove, cause);
  const models = new ScriptedModels(() => {
    if (isDeleted) throw new Error("What was deleted is nobody's to read.");
    return [text(title)];
  });
  const guard = new ConversationGuard(streams, new CodeGuardrails());
  const commands = commandsOver(new EntitleConversationHandler(streams));
  const reaction = new TitleConversation(streams, commands, models, systemTiming, answeringOptions, guard);
  const event = { ...answered.events[0]!, id: 'e', at: new Date(), cause, stream, revision: 2, position: 3n };
  await reaction.on.TurnAnswered!(event as unknown as Recorded<Extract<ConversationEvent, { type: 'TurnAnswered' }>>, signal);
  const last = (await eventsOf(store, stream)).at(-1)!;
  return last.type === 'ConversationRenamed' ? (JSON.parse(last.data) as { name: string }).name : undefined;
}

it('a title of a model is checked like its answers', async () => {
  expect(await named(undefined, 'On CODE-1234')).toBe('On CODE-1234');
  expect(await named(codePolicy({ output: 'redact' }), 'On CODE-1234')).toBe('On [CODE]');
  expect(await named(codePolicy({ output: 'block' }), 'On CODE-1234')).toBeUndefined();
  expect(await named(codePolicy({ output: 'block' }), 'On codes')).toBe('On codes');
  expect(tracesIn(signal)).toBe(0);
});

it('a long title is cut, but not within a character', async () => {
  expect(await named(undefined, `${'x'.repeat(79)}😀`)).toBe('x'.repeat(79));
  expect(await named(undefined, `${'x'.repeat(78)}😀!`)).toBe(`${'x'.repeat(78)}😀`);
});

it('no model reads a conversation that was deleted before the reaction titles it', async () => {
  expect(await named(undefined, 'On CODE-1234', true)).toBeUndefined();
});
