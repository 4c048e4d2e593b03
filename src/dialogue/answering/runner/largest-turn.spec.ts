import { expect, it } from '@jest/globals';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import {
  composerOver,
  offeredAction,
  roundOf,
  ScriptedModels,
  toolCall,
  ToolsForTests,
} from '../../../../test/support/tool-turns.js';
import { askedTurn, cause, eventsOf, settings, workerOver } from '../../../../test/support/turns.js';
import { ask, conversation } from '../../conversation/conversation.decider.js';
import { type AnswerParts, conversationStream, type TurnPaused } from '../../conversation/conversation.events.js';
import { type CallAnswer, expire, resume } from '../../conversation/pause.decider.js';
import type { Decide } from '../../conversation/turn.policy.js';
import { APPEND_BYTES_MAX, appendBytes } from '../../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import type { ModelChunk } from '../../../resources/models/model/language-model.port.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import { CALL_ID_CHARACTERS_MAX, CALLS_PER_ROUND_MAX } from '../loop/agent-loop.js';
import { ANSWER_BYTES_MAX } from './answer-writer.js';
import { INLINE_BYTES_MAX } from '../../../kernel/own-blobs.js';
import { SOURCES_BYTES_MAX } from '../loop/messages.policy.js';
import { TOOL_NAME_CHARACTERS_MAX } from '../loop/offered-tools.js';
import { answersOf, RESULTS_BYTES_MAX } from '../intake/tool-actions.policy.js';
import { RECORDS_BYTES_MAX } from '../loop/tool-call-gate.js';
import { systemTiming } from '../../../platform/system-timing.js';

/** A character that takes six bytes as JSON, and seven as JSON within JSON. */
const BAD = '\u0001';
const stream = conversationStream('c1');
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const longId = (index: number) => `${index}`.padStart(CALL_ID_CHARACTERS_MAX, 'k');
const skippable = { a: 'x'.repeat(30_000) };
const SEARCH = offeredAction('search', { toolName: 'internal_search' });
const ACTIONS = [SEARCH, offeredAction('write_it', { access: 'write' }), offeredAction('ask_first', { requiresApproval: true })];

/** Chunks of a model that fill every part of a turn up to its limit, in the worst encoding. */
function* mostOf(round: number): Generator<ModelChunk> {
  if (round === 0) {
    for (let piece = 0; piece < 40; piece++) yield { type: piece % 2 === 0 ? 'text' : 'thought', text: BAD.repeat(1_060) };
    yield toolCall('search', 'search');
    return;
  }
  if (round === 1) {
    const args = { a: BAD.repeat(500) };
    for (let index = 0; index < CALLS_PER_ROUND_MAX; index++) {
      if (index < 20) yield toolCall(longId(index), 'write_it', args);
      else if (index < 35) yield toolCall(longId(index), 'ask_first', args);
      else if (index < 37) yield toolCall(longId(index), BAD.repeat(10_000), args);
      else yield toolCall(longId(index), BAD.repeat(2 * TOOL_NAME_CHARACTERS_MAX), skippable);
    }
    return;
  }
  yield { type: 'text', text: '.' };
}

async function paused() {
  const log = new InMemoryEventStore();
  const streams = new Streams(log, systemTiming);
  const blobs = new InMemoryBlobs();
  const sources = Array.from({ length: 70 }, (_, index) => ({
    text: BAD.repeat(1_000),
    title: `${index}`,
    source: 's1',
    filename: BAD,
  }));
  const tools = new ToolsForTests(ACTIONS, ({ name }) => (name === 'search' ? { sources } : BAD.repeat(100_000)));
  const models = new ScriptedModels((request) => mostOf(roundOf(request)));
  const { runner } = workerOver(log, new InProcessSignals(), composerOver(models, tools, blobs), blobs);
  await askedTurn(log, 'c1', 't1', { tools: [{ toolId: 'tool-1', revision: 0 }] });
  await runner.run('c1', 't1');
  const decide = (decision: Decide) => streams.transact(stream, conversation, decision, cause);
  const last = async () => (await eventsOf(log, stream)).at(-1)!;
  const event = await last();
  expect(event.type).toBe('TurnPaused');
  const data = JSON.parse(event.data) as TurnPaused['data'];
  return { log, runner, decide, event, data };
}

it('the pause of a turn with the maximum of all its parts and its continuation fits one append', async () => {
  const { event, data } = await paused();
  expect(bytesOf(data.answer) + bytesOf(data.thought)).toBeGreaterThan(0.9 * ANSWER_BYTES_MAX);
  expect(bytesOf(data.sources)).toBeGreaterThan(0.9 * SOURCES_BYTES_MAX);
  // For waiting calls the limit reserves room for their results.
  expect(bytesOf(data.toolCalls) + bytesOf(data.calls)).toBeGreaterThan(0.7 * RECORDS_BYTES_MAX);
  expect(data.toolCalls.filter(({ status }) => status === 'skipped').length).toBeGreaterThan(20);
  expect(data.calls).toHaveLength(15);
  expect(appendBytes([event]) - bytesOf(data.continuation) + INLINE_BYTES_MAX).toBeLessThan(APPEND_BYTES_MAX);
});

it('the limits leave room for a round of skipped calls and for the surrounding data', () => {
  const skippedBytes = CALLS_PER_ROUND_MAX * (CALL_ID_CHARACTERS_MAX + TOOL_NAME_CHARACTERS_MAX + 256);
  const all = ANSWER_BYTES_MAX + SOURCES_BYTES_MAX + RECORDS_BYTES_MAX + INLINE_BYTES_MAX + skippedBytes;
  expect(all).toBeLessThan(APPEND_BYTES_MAX - 8 * 1024);
});

it('such a turn can be sealed after its pause expires and after the conversation continues', async () => {
  const next = { conversationId: 'c1', turnId: 't2', index: null, question: 'And?', requestId: 'r2', settings };
  for (const decision of [expire('t1', new Date('2100-01-01')), ask(next, null)]) {
    const { log, runner, decide } = await paused();
    await decide(decision);
    await runner.run('c1', 't1');
    expect((await eventsOf(log, stream)).at(-1)!.type).toBe('TurnSealed');
  }
});

const answers: readonly (readonly [string, (callIds: readonly string[]) => unknown[]])[] = [
  ['approved', (ids) => ids.map((id) => ({ call_id: id, decision: 'approved' }))],
  ['denied at length', (ids) => ids.map((id) => ({ call_id: id, decision: 'denied', comment: BAD.repeat(4_000) }))],
];
it.each(answers)('such a turn can be answered and sealed after its calls are %s', async (how, answering) => {
  const { log, runner, decide, data } = await paused();
  const given = answersOf(answering(data.calls.map(({ callId }) => callId)));
  await decide(resume(given, { userId: 'alice' }, new Date()));
  await runner.run('c1', 't1');
  const [answered, sealed] = (await eventsOf(log, stream)).slice(-2);
  expect([answered!.type, sealed!.type]).toEqual(['TurnAnswered', 'TurnSealed']);
  const { toolCalls } = JSON.parse(answered!.data) as AnswerParts;
  expect(toolCalls).toHaveLength(CALLS_PER_ROUND_MAX + 1);
  if (how === 'approved') expect(bytesOf(toolCalls)).toBeGreaterThan(0.9 * RECORDS_BYTES_MAX);
});

it('the decisions on many calls at once fit one append', () => {
  const about = { conversationId: 'c1', turnId: 't1' };
  const given: CallAnswer[] = [{ callId: 'k', result: '"'.repeat(RESULTS_BYTES_MAX / 2 - 100) }];
  expect(bytesOf(given)).toBeGreaterThan(0.9 * RESULTS_BYTES_MAX);
  const others = Array.from({ length: CALLS_PER_ROUND_MAX }, (_, index) => ({
    id: '',
    type: 'ToolCallDenied',
    data: JSON.stringify({ ...about, callId: longId(index), comment: null, notRun: 'no_response' }),
    metadata: 'x'.repeat(1_000),
  }));
  expect(RESULTS_BYTES_MAX + appendBytes(others)).toBeLessThan(APPEND_BYTES_MAX);
});
