import { describe, expect, it } from '@jest/globals';
import { codePolicy, CodeGuardrails, JudgingGuardrails } from '../../../../test/support/guardrails.js';
import { commandsOver } from '../../../../test/support/commands-over.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { turnSettings } from '../../../../test/support/turn-settings.js';
import { askedTurn } from '../../../../test/support/turns.js';
import { RenameConversation, RenameConversationHandler } from '../../conversation/conversation.commands.js';
import { cause, eventsOf } from '../../../../test/support/turns.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { ConversationGuard } from '../../conversation/conversation-guard.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { systemTiming } from '../../../platform/system-timing.js';
import type { GuardrailPolicy } from '../../../resources/guardrails/guardrail.policy.js';
import type { ResolvedQuestion } from './resolve-question.js';
import { InputGuard } from './input-guard.js';
import { WITHHELD } from '../../../resources/guardrails/guardrail.policy.js';

const SECRET = /CODE-[0-9]{4}/;

function guardOver(store = new InMemoryEventStore(), guardrails = new CodeGuardrails()) {
  const streams = new Streams(store, systemTiming);
  const conversations = new ConversationGuard(streams, guardrails);
  return { store, streams, conversations, inputs: new InputGuard(guardrails, conversations, commandsOver()) };
}

const asked = (guardrails: GuardrailPolicy | undefined): ResolvedQuestion => ({
  question: 'Is it CODE-1234?',
  ownerId: 'alice',
  agent: undefined,
  conversationId: undefined,
  index: null,
  visibility: 'listed',
  history: [{ prompt: 'And CODE-5678?', response: 'No.' }],
  sharedUsage: false,
  settings: turnSettings({ passthrough: { code: 'CODE-9999', n: 1 }, ...(guardrails && { guardrails }) }),
});

describe('a question', () => {
  it('is masked with its history and its passthrough values', async () => {
    const policy = codePolicy({ input: 'redact' });
    const question = await guardOver().inputs.question(asked(policy));
    expect(question).toMatchObject({
      question: 'Is it [CODE]?',
      history: [{ prompt: 'And [CODE]?', response: 'No.' }],
      settings: { passthrough: { code: '[CODE]', n: 1 }, guardrails: policy },
      checked: { decisions: [{ stage: 'input', check: 'secrets', action: 'redact', matchCount: 3 }] },
    });
  });

  it('is replaced by a marker if it is blocked', async () => {
    const question = await guardOver().inputs.question(asked(codePolicy({ input: 'block' })));
    expect(question).toMatchObject({
      question: WITHHELD,
      history: [],
      settings: { passthrough: {} },
      checked: { blockMessage: 'I cannot say that.' },
    });
    expect(JSON.stringify(question)).not.toMatch(SECRET);
  });

  it('does not change without guardrails or without a match', async () => {
    const { inputs } = guardOver();
    const unguarded = asked(undefined);
    expect(await inputs.question(unguarded)).toBe(unguarded);
    const harmless = { ...asked(codePolicy({ input: 'block' })), question: 'Why?', history: [], settings: turnSettings() };
    expect(await inputs.question(harmless)).toEqual(harmless);
  });

  it('is checked with the system prompt of its caller', async () => {
    const { inputs } = guardOver();
    const prompted = (policy: GuardrailPolicy, systemPrompt: string): ResolvedQuestion => ({
      ...asked(policy),
      question: 'Why?',
      history: [],
      settings: turnSettings({ guardrails: policy, systemPrompt }),
    });
    expect(await inputs.question(prompted(codePolicy({ input: 'redact' }), 'You know CODE-1234.'))).toMatchObject({
      question: 'Why?',
      settings: { systemPrompt: 'You know [CODE].' },
      checked: { decisions: [{ stage: 'input', action: 'redact', matchCount: 1 }] },
    });
    const blocked = await inputs.question(prompted(codePolicy({ input: 'block' }), 'You know CODE-1234.'));
    expect(blocked).toMatchObject({ question: WITHHELD, checked: { blockMessage: 'I cannot say that.' } });
    expect(blocked.settings).not.toHaveProperty('systemPrompt');
    const harmless = prompted(codePolicy({ input: 'block' }), 'You are a pirate.');
    expect(await inputs.question(harmless)).toEqual(harmless);
    expect((await inputs.question(asked(codePolicy({ input: 'redact' })))).settings).not.toHaveProperty('systemPrompt');
  });

  it('does not change if the policy only monitors, but its matches are recorded', async () => {
    const policy = codePolicy({ input: 'block' }, { mode: 'monitor_only' });
    expect(await guardOver().inputs.question(asked(policy))).toMatchObject({
      question: 'Is it CODE-1234?',
      checked: { decisions: [{ action: 'flag', matchCount: 3 }] },
    });
  });
});

describe('the answers to pending calls', () => {
  const answers = [
    { callId: 'k1', result: '{"it":"is CODE-1234"}' },
    { callId: 'k2', decision: 'denied', comment: 'No CODE-1234.' },
    { callId: 'k3', decision: 'approved' },
  ] as const;

  it('are masked, results at the stage of tool results and comments at the stage of input', async () => {
    const guarded = await guardOver().inputs.callAnswers(answers, codePolicy({ input: 'redact', tool_result: 'redact' }));
    expect(guarded.answers).toEqual([
      { callId: 'k1', result: '{"it":"is [CODE]"}' },
      { callId: 'k2', decision: 'denied', comment: 'No [CODE].' },
      { callId: 'k3', decision: 'approved' },
    ]);
    expect(guarded.checked.decisions.map(({ stage }) => stage).sort()).toEqual(['input', 'tool_result']);
  });

  it('are withheld if they are blocked', async () => {
    const guarded = await guardOver().inputs.callAnswers(answers, codePolicy({ input: 'block', tool_result: 'block' }));
    expect(JSON.stringify(guarded)).not.toMatch(SECRET);
    expect(guarded.answers[1]).toMatchObject({ decision: 'denied', comment: WITHHELD });
  });

  it('come with the usage of their checks', async () => {
    const { inputs } = guardOver(undefined, new JudgingGuardrails());
    const guarded = await inputs.callAnswers(answers, codePolicy({ input: 'redact', tool_result: 'redact' }));
    expect(guarded.checked.usage).toEqual({ promptTokens: 200, completionTokens: 20 });
  });
});

it('a check takes at most the given time or the timeout of the policy, whichever is shorter', async () => {
  const bounds: number[] = [];
  class Timed extends CodeGuardrails {
    override scan(...[policy, ...rest]: Parameters<CodeGuardrails['scan']>) {
      bounds.push(policy.timeoutMs);
      return super.scan(policy, ...rest);
    }
  }
  const { conversations } = guardOver();
  const inputs = new InputGuard(new Timed(), conversations, commandsOver());
  for (const timeoutMs of [60_000, 100]) await inputs.check(codePolicy({ input: 'block' }, { timeoutMs }), 'x', 5_000);
  expect(bounds).toEqual([5_000, 100]);
});

describe('outside of turns', () => {
  it('a result for a conversation is checked by the policy of its newest question', async () => {
    const { store, inputs } = guardOver();
    await askedTurn(store, 'c1', 't1', { guardrails: codePolicy({ tool_result: 'redact' }) });
    expect(await inputs.found('c1', ['CODE-1234'])).toMatchObject({ isBlocked: false, value: ['[CODE]'] });
    await askedTurn(store, 'c2', 't2');
    expect(await inputs.found('c2', 'CODE-1234')).toMatchObject({ isBlocked: false, value: 'CODE-1234' });
  });

  it('a new name is masked or refused before it is stored', async () => {
    const { store, streams, conversations } = guardOver();
    const rename = (id: string, ownerId = 'alice') =>
      new RenameConversationHandler(streams, conversations).execute(new RenameConversation(id, ownerId, 'On CODE-1234', cause));
    await askedTurn(store, 'c1', 't1', { guardrails: codePolicy({ input: 'redact' }) });
    await rename('c1');
    await askedTurn(store, 'c2', 't2', { guardrails: codePolicy({ input: 'block' }) });
    await expect(rename('c2')).rejects.toMatchObject({ code: 'guardrail-blocked', message: 'I cannot say that.' });
    await expect(rename('c2', 'bob')).rejects.toMatchObject({ code: 'conversation-not-found' });
    const last = (await eventsOf(store, conversationStream('c1'))).at(-1)!;
    expect(JSON.parse(last.data)).toMatchObject({ name: 'On [CODE]', by: 'owner' });
    expect((await eventsOf(store, conversationStream('c2'))).map(({ data }) => data).join('')).not.toMatch(SECRET);
  });
});
