import { describe, expect, it } from '@jest/globals';
import { waitingCall } from '../../../../test/support/pauses.js';
import type { AnswerParts, Source, Usage } from '../../conversation/conversation.events.js';
import type { Frame } from '../../journal/message.events.js';
import { recordOf } from '../../conversation/tool-call.policy.js';
import { ANSWER_BYTES_MAX, AnswerWriter } from './answer-writer.js';
import type { AnswerDelta } from '../loop/answer-delta.js';
import { SOURCES_BYTES_MAX } from '../loop/messages.policy.js';

const SCHEMA = { type: 'object', properties: { why: { type: 'string' } }, required: ['why'] };
const NOTHING: AnswerParts = { answer: '', thought: '', sources: [], toolCalls: [], structured: false };

/** A writer whose frames are collected, and a function that writes deltas to it. */
function writing(given: { schema?: object; parts?: Partial<AnswerParts>; usage?: Usage | null } = {}) {
  const frames: Frame[] = [];
  const journal = {
    write: (frame: Frame) => void frames.push(frame),
    room: () => Promise.resolve(),
    flush: () => Promise.resolve(),
  };
  const parts = { ...NOTHING, structured: given.schema !== undefined, ...given.parts };
  const writer = new AnswerWriter(journal, (given.schema ?? null) as never, { parts, usage: given.usage ?? null });
  const controller = new AbortController();
  const write = (...deltas: (AnswerDelta | (() => void))[]) => {
    async function* all(): AsyncGenerator<AnswerDelta> {
      for (const delta of deltas) {
        if (typeof delta === 'function') delta();
        else yield delta;
      }
    }
    return writer.write(all(), controller.signal);
  };
  const types = () => frames.map(({ type }) => type);
  return { writer, frames, types, controller, write };
}

async function* nothing(): AsyncGenerator<AnswerDelta> {}

const text = (words: string): AnswerDelta => ({ type: 'text', text: words });
const thought = (words: string): AnswerDelta => ({ type: 'thought', text: words });
const usage = (promptTokens: number, completionTokens: number): AnswerDelta => ({
  type: 'usage',
  promptTokens,
  completionTokens,
});
const call = waitingCall('k1');
const told = (...outcome: [Parameters<typeof recordOf>[1]]): AnswerDelta => ({
  type: 'tool-call',
  record: recordOf(call, ...outcome),
});
const source = (name: string, length = 1): Source => ({ text: 'x'.repeat(length), title: name, source: name, filename: name });

describe('an answer', () => {
  it('is journaled while it arrives, and its parts are added up', async () => {
    const { writer, frames, write } = writing();
    expect(await write({ type: 'notice', text: 'Slow today' }, thought('Hm'), text('Be'), text('cause.'))).toBeUndefined();
    expect(frames).toEqual([
      { type: 'notice', notice: 'Slow today' },
      { type: 'thought', thought: 'Hm' },
      { type: 'answer', answer: 'Be' },
      { type: 'answer', answer: 'cause.' },
    ]);
    expect(writer.progress.parts).toMatchObject({ answer: 'Because.', thought: 'Hm' });
  });

  it('adds up the usage of all rounds, including those before a pause', async () => {
    const { writer, write } = writing({ usage: { promptTokens: 1, completionTokens: 2 } });
    await write(usage(10, 20), text('.'), usage(100, 200));
    expect(writer.progress.usage).toEqual({ promptTokens: 111, completionTokens: 222 });
    const other = writing();
    await other.write(text('.'));
    expect(other.writer.progress.usage).toBeNull();
  });

  it('counts the usage of ready deltas although it was stopped before it began', async () => {
    const { writer, frames, controller } = writing();
    controller.abort('stopped');
    await writer.write(nothing(), controller.signal, [usage(10, 20), text('Because.'), usage(100, 200)]);
    expect([frames, writer.progress.usage]).toEqual([[], { promptTokens: 110, completionTokens: 220 }]);
  });

  it('ends with an error when answer and thoughts together exceed the size limit in bytes', async () => {
    const half = 'x'.repeat(ANSWER_BYTES_MAX / 2 - 10);
    expect(await writing().write(text(half), thought(half))).toBeUndefined();
    expect(await writing().write(text(half), thought(half), text('one more round'))).toMatchObject({ code: 'answer_too_long' });
    expect(await writing().write(text('\u0001'.repeat(ANSWER_BYTES_MAX / 6)))).toMatchObject({ code: 'answer_too_long' });
    expect(await writing({ parts: { answer: half, thought: half } }).write(text('and one more round'))).toMatchObject({
      code: 'answer_too_long',
    });
  });

  it.each(['x', '\u0001', '漢', '😀'])(
    'shows as much as fits of one delta that exceeds the size limit: %j',
    async (character) => {
      const { writer, frames, write } = writing();
      expect(await write(text('It is: '), text(character.repeat(ANSWER_BYTES_MAX)))).toMatchObject({ code: 'answer_too_long' });
      const { answer } = writer.progress.parts;
      expect(frames).toEqual([
        { type: 'answer', answer: 'It is: ' },
        { type: 'answer', answer: answer.slice('It is: '.length) },
      ]);
      expect(answer.isWellFormed()).toBe(true);
      const bytes = Buffer.byteLength(JSON.stringify(answer));
      expect(bytes).toBeLessThanOrEqual(ANSWER_BYTES_MAX);
      expect(bytes).toBeGreaterThan(ANSWER_BYTES_MAX - 16);
    },
  );

  it('keeps each found source once, as many as fit', async () => {
    const { writer, write } = writing();
    const large = (name: string) => source(name, SOURCES_BYTES_MAX / 2);
    await write({ type: 'sources', sources: [source('a')] }, { type: 'found', sources: [source('a'), source('b')] });
    expect(writer.progress.parts.sources.map(({ title }) => title)).toEqual(['a', 'b']);
    await write({ type: 'found', sources: [large('c'), large('d'), source('e')] });
    expect(writer.progress.parts.sources.map(({ title }) => title)).toEqual(['a', 'b', 'c', 'e']);
    expect(Buffer.byteLength(JSON.stringify(writer.progress.parts.sources))).toBeLessThanOrEqual(SOURCES_BYTES_MAX);
  });
});

describe('a structured answer', () => {
  it('is the text of the last round and is shown in one frame', async () => {
    const { writer, frames, write } = writing({ schema: SCHEMA });
    expect(await write(text('Let me see.'), { type: 'round-over' }, text('{"why":'), text('"so"}'))).toBeUndefined();
    writer.writeResult();
    expect(frames.at(-1)).toEqual({ type: 'structured_answer', answer: '{"why":"so"}', structured: true, schema: SCHEMA });
    expect(frames.some(({ type }) => type === 'answer')).toBe(false);
  });
  it('does not count the text of earlier rounds against the size limit', async () => {
    const half = 'x'.repeat(ANSWER_BYTES_MAX / 2);
    const { write } = writing({ schema: SCHEMA });
    const round: readonly AnswerDelta[] = [text(half), { type: 'round-over' }];
    expect(await write(...round, ...round, ...round, text('{"why":"so"}'))).toBeUndefined();
  });
  it.each(['```json\n{"why":"so"}\n```', ' ```\n{"why":"so"}```\n'])('is taken out of its code fence: %j', async (answer) => {
    const { writer, write } = writing({ schema: SCHEMA });
    expect(await write(text(answer))).toBeUndefined();
    expect(writer.progress.parts.answer).toBe('{"why":"so"}');
  });
  it.each(['{}', 'Because.', ''])('is refused if it does not fit its schema: %j', async (answer) => {
    expect(await writing({ schema: SCHEMA }).write(text(answer))).toMatchObject({ code: 'invalid_structured_answer' });
  });
  it('is not validated when the run ends in a pause', async () => {
    const { writer, write } = writing({ schema: SCHEMA });
    const pause: AnswerDelta = { type: 'pause', calls: [call], continuation: '{}' };
    expect(await write(text('Let me see.'), { type: 'round-over' }, pause)).toBeUndefined();
    expect(writer.pause).toEqual({ calls: [call], continuation: '{}' });
    expect(writer.progress.parts.answer).toBe('');
  });
  it('is replaced by the text of all rounds if there is no schema', async () => {
    const { writer, write } = writing();
    await write(text('Let me see. '), { type: 'round-over' }, text('Because.'));
    expect(writer.progress.parts.answer).toBe('Let me see. Because.');
  });
});

describe('a call', () => {
  it('is shown with each of its records and stored with the last one', async () => {
    const { writer, types, write } = writing();
    await write(told({ status: 'pending' }), told({ status: 'completed', result: '1' }));
    expect(types()).toEqual(['tool_call', 'tool_call']);
    expect(writer.progress.parts.toolCalls).toMatchObject([{ call_id: 'k1', status: 'completed', result: '1' }]);
  });
  it('is not shown again with the same record, nor as pending after it has ended', async () => {
    const ended = recordOf(call, { status: 'completed', result: '1' });
    const { writer, types, write } = writing({ parts: { toolCalls: [ended] } });
    await write(told({ status: 'pending' }), told({ status: 'completed', result: '1' }));
    expect(types()).toEqual([]);
    await write(told({ status: 'completed', result: '2' }));
    expect(types()).toEqual(['tool_call']);
    expect(writer.progress.parts.toolCalls).toMatchObject([{ result: '2' }]);
  });
  it('is shown as pending after it has waited for a decision', async () => {
    const { types, write } = writing({ parts: { toolCalls: [recordOf(call, { status: 'awaiting_approval' })] } });
    await write(told({ status: 'pending' }));
    expect(types()).toEqual(['tool_call']);
  });
  it('is recorded as interrupted or skipped once if it is running or waiting when the turn ends', async () => {
    const other = waitingCall('k2');
    const { writer, types } = writing({
      parts: { toolCalls: [recordOf(call, { status: 'pending' }), recordOf(other, { status: 'awaiting_approval' })] },
    });
    const none = { started: new Map(), finished: new Map() };
    writer.interruptCalls(none);
    writer.interruptCalls(none);
    expect(types()).toEqual(['tool_call', 'tool_call']);
    expect(writer.progress.parts.toolCalls).toMatchObject([
      { call_id: 'k1', status: 'error' },
      { call_id: 'k2', status: 'skipped' },
    ]);
  });
});

describe('an answer that is aborted', () => {
  it('ends, but still shows the result of the running call', async () => {
    const { writer, types, controller, write } = writing();
    const abort = () => controller.abort('stopped');
    const error = await write(told({ status: 'pending' }), abort, told({ status: 'completed' }), text('And'), text('more'));
    expect(error).toMatchObject({ code: 'interrupted' });
    expect(types()).toEqual(['tool_call', 'tool_call']);
    expect(writer.progress.parts).toMatchObject({ answer: '', toolCalls: [{ status: 'completed' }] });
  });
  it('still pauses if its pause has been reached', async () => {
    const { writer, controller, write } = writing();
    const abort = () => controller.abort('interrupted');
    expect(await write(abort, { type: 'pause', calls: [call], continuation: '{}' })).toBeUndefined();
    expect(writer.pause).toBeDefined();
  });
});
