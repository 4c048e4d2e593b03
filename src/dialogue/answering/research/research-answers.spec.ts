import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { type InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import {
  completeResearch,
  END_FRAMES,
  frameOutline,
  TWO_STEP_FRAMES,
  usageChunk,
} from '../../../../test/support/research-turns.js';
import { queryOf, taskOf } from '../../../../test/support/researches.js';
import { offeredAction, roundOf, text, toolCall } from '../../../../test/support/tool-turns.js';
import { cause, eventsOf, framesOf } from '../../../../test/support/turns.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import type { Timing } from '../../../kernel/timing.js';
import { systemTiming } from '../../../platform/system-timing.js';
import { ModelFailed } from '../../../resources/models/model/language-model.port.js';
import { SNAPSHOT_EVERY_EVENTS } from '../../conversation/conversation-snapshot.policy.js';
import { ask, conversation, open, rename } from '../../conversation/conversation.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import type { Decide } from '../../conversation/turn.policy.js';
import { RESEARCH_MS_MAX, STEP_ROUNDS_MAX } from './research-plan.policy.js';
import { researchStream } from './research.events.js';

Logger.overrideLogger(false);

describe('a research', () => {
  it('plans, investigates step by step and answers, in the order of its frames', async () => {
    const { outline, frames, tasks, facts, models } = await completeResearch({ queries: ['q1', 'q2'] });
    expect(await outline()).toEqual(TWO_STEP_FRAMES);
    expect(tasks()).toEqual(['clarify', 'plan', 'q1', 'q2', 'answer']);
    expect(await facts()).toEqual(['ResearchPlanned', 'ResearchStepReported', 'ResearchStepReported']);
    const data = (await frames()).filter(({ type }) => String(type).startsWith('research')).map((frame) => frame['data']);
    const steps = ['q1', 'q2'].map((query) => ({ query, rationale: `Why ${query}` }));
    expect(data).toEqual([
      { status: 'planning' },
      { steps, complexity: 'moderate' },
      { status: 'researching', step: 1, total: 2, query: 'q1' },
      { status: 'complete', step: 1, total: 2, query: 'q1' },
      { status: 'researching', step: 2, total: 2, query: 'q2' },
      { status: 'complete', step: 2, total: 2, query: 'q2' },
      { status: 'synthesizing', elapsed_seconds: expect.any(Number), tokens_used: 0 },
    ]);
    const answered = models.requests.find((request) => taskOf(request) === 'answer')!;
    expect(JSON.stringify(answered.messages)).toContain('Report on q1.');
    expect(JSON.stringify(answered.messages)).toContain('Report on q2.');
    expect(answered.tools).toBeUndefined();
  });

  it.each([
    ['an empty plan', '{"steps": [], "complexity": "complex"}'],
    ['no JSON', 'I would look into it.'],
    ['steps without a query', '{"steps": [{"query": " "}, 7, null], "complexity": "moderate"}'],
  ])('of %s investigates the question itself', async (_, planned) => {
    const { frames, tasks } = await completeResearch({ more: { plan: () => [text(planned)] } });
    const plan = (await frames()).find(({ type }) => type === 'research_plan')!['data'];
    expect(plan).toEqual({ steps: [{ query: 'Why?', rationale: 'Direct investigation' }], complexity: 'simple' });
    expect(tasks()).toEqual(['clarify', 'plan', 'Why?', 'answer']);
  });

  it.each([
    ['simple', 2],
    ['moderate', 4],
    ['complex', 6],
    ['enormous', 6],
  ])('that is %s has at most %i steps', async (complexity, max) => {
    const queries = Array.from({ length: 9 }, (_, index) => `q${index + 1}`);
    const planned = JSON.stringify({ complexity, steps: queries.map((query) => ({ query, rationale: '' })) });
    const { tasks } = await completeResearch({ more: { plan: () => [text(planned)] } });
    expect(tasks()).toEqual(['clarify', 'plan', ...queries.slice(0, max), 'answer']);
  });

  it('waits for the long calls of a step, because it would report without their results', async () => {
    const { outcome, effects, models } = await completeResearch({
      queries: ['q1'],
      actions: [offeredAction('send', { access: 'write' })],
      more: {
        step: (request) => [roundOf(request) === 0 ? toolCall('k1', 'send') : text(request.messages.at(-1)!.content as string)],
      },
      calls: { run: () => Promise.resolve({ status: 'running', job_id: 'j1' }) },
    });
    expect(effects).toEqual(['send']);
    expect((await outcome()).toolCalls).toMatchObject([{ status: 'completed', result: '{"done":"send"}' }]);
    const answered = models.requests.find((request) => taskOf(request) === 'answer')!;
    expect(JSON.stringify(answered.messages)).not.toContain('running');
  });

  it('gives each step its documents and tools, and the answer all calls and distinct sources', async () => {
    const chunk = (source: string, title: string, words: string) =>
      ({ text: words, title, source, filename: '', sourceId: 's1', score: 1, tokens: 5 }) as const;
    const { outcome, frames, models } = await completeResearch({
      settings: { sources: [{ id: 's1' }], chunks: 4 },
      search: ({ question }) => ({
        chunks: [chunk('Handbook', 'Returns', `For ${question}`), chunk('Handbook', `Only ${question}`, 'more')],
        failedSources: ['gone'],
      }),
      actions: [offeredAction('look_up')],
      more: {
        step: (request) => (roundOf(request) === 0 ? [toolCall(`call-${queryOf(request)}`, 'look_up')] : [text('Found.')]),
      },
    });
    const { sources, toolCalls } = await outcome();
    expect(sources.map(({ title, text: words }) => [title, words])).toEqual([
      ['Returns', 'For q1'],
      ['Only q1', 'more'],
      ['Only q2', 'more'],
    ]);
    expect(toolCalls.map((call) => [call['call_id'], call['status']])).toEqual([
      ['call-q1', 'completed'],
      ['call-q2', 'completed'],
    ]);
    const shown = await frames();
    expect(shown.filter(({ type }) => type === 'tool_call')).toEqual([]);
    expect(shown.find(({ type }) => type === 'tool_calls')!['tool_calls']).toEqual(toolCalls);
    // The notice of the failed source appears once, not with every step.
    expect(shown.filter(({ type }) => type === 'notice')).toHaveLength(1);
    expect(JSON.stringify(models.requests.find((request) => queryOf(request) === 'q2')!.messages)).toContain('For q2');
  });

  it('limits a step to STEP_ROUNDS_MAX rounds with tools before its report', async () => {
    let call = 0;
    const { models, outcome } = await completeResearch({
      queries: ['q1'],
      actions: [offeredAction('look_up')],
      more: { step: ({ tools }) => (tools ? [toolCall(`k${++call}`, 'look_up')] : [text('At last.')]) },
    });
    const rounds = models.requests.filter((request) => taskOf(request) === 'step');
    expect(rounds.map(({ tools }) => tools !== undefined)).toEqual([...Array<boolean>(STEP_ROUNDS_MAX).fill(true), false]);
    expect((await outcome()).toolCalls).toHaveLength(STEP_ROUNDS_MAX);
  });

  it('continues if the model fails in a step, and reports the failure to the model that answers', async () => {
    const { outline, models } = await completeResearch({
      more: {
        step: (request) => {
          if (queryOf(request) === 'q1') throw new ModelFailed('overloaded', 'The model is busy.', true);
          return [text('Found.')];
        },
      },
    });
    expect(await outline()).toEqual(TWO_STEP_FRAMES);
    expect(JSON.stringify(models.requests.at(-1)!.messages)).toContain('could not be investigated. The model is busy.');
  });

  it('answers in the schema of its agent', async () => {
    const responseSchema = { type: 'object', properties: { days: { type: 'integer' } }, required: ['days'] };
    const { outline, tasks, frames } = await completeResearch({
      queries: ['q1'],
      settings: { responseSchema },
      more: { answer: () => [text('{"days": 30}')] },
    });
    expect(tasks()).toEqual(['plan', 'q1', 'answer']);
    expect((await outline()).slice(-5)).toEqual(['source', 'tool_calls', 'structured_answer', 'id', 'end']);
    expect((await frames()).at(-3)!['answer']).toBe('{"days": 30}');
  });
});

describe('an unclear question', () => {
  const UNCLEAR = { clarify: () => [text('{"needs_clarification": true, "question": "Which returns?"}')] };

  it('is answered by a clarification question without a plan', async () => {
    const { outline, outcome, tasks, facts } = await completeResearch({ more: UNCLEAR });
    expect(await outline()).toEqual(['message_id', 'answer', ...END_FRAMES]);
    expect(await outcome()).toMatchObject({ answer: 'Which returns?', sources: [], toolCalls: [] });
    expect([tasks(), await facts()]).toEqual([['clarify'], ['ResearchClarificationAsked']]);
  });

  /** Asks a second question after the given number of renamings. */
  async function asksAgain(index: number | null, renamings = 0) {
    const research = await completeResearch({ more: UNCLEAR });
    const { log } = research;
    const next = { ...(await settingsOf(log)), question: 'Those of the shops.', turnId: 't2', index };
    const happens = (decide: Decide) =>
      new Streams(log, systemTiming).transact(conversationStream('c1'), conversation, decide, cause);
    await happens(open);
    for (let count = 0; count < renamings; count++) await happens(rename(`Name ${count}`));
    const { state } = await happens(ask(next, null));
    await research.process().run('c1', 't2');
    return { ...research, isKnown: state.turns.has('t1') };
  }

  it.each([
    ['no snapshot', 0],
    ['a snapshot', SNAPSHOT_EVERY_EVENTS],
  ])('is not asked back about twice in a row, with %s between', async (_, renamings) => {
    const { log, tasks, isKnown } = await asksAgain(null, renamings);
    expect(isKnown).toBe(renamings === 0);
    expect(tasks()).toEqual(['clarify', 'plan', 'q1', 'q2', 'answer']);
    expect((await framesOf(log, 't2')).map(frameOutline)).toEqual(TWO_STEP_FRAMES);
  });

  it('is asked back about again if it replaces the question that was asked back about', async () => {
    const { tasks } = await asksAgain(0);
    expect(tasks()).toEqual(['clarify', 'clarify']);
  });
});

async function settingsOf(log: InMemoryEventStore) {
  const stored = (await eventsOf(log, conversationStream('c1'))).find(({ type }) => type === 'TurnAsked')!;
  return JSON.parse(stored.data) as Parameters<typeof ask>[0];
}

describe('the budget of a research', () => {
  it('of tokens ends the research after the finished steps and reports the usage', async () => {
    const { outline, frames, tasks, outcome } = await completeResearch({
      queries: ['q1', 'q2', 'q3'],
      more: { step: () => [text('Found.'), usageChunk(60_000)] },
    });
    expect(await outline()).toEqual(TWO_STEP_FRAMES);
    expect(tasks()).toEqual(['clarify', 'plan', 'q1', 'q2', 'answer']);
    const { data } = (await frames()).find((frame) => frameOutline(frame) === 'research_progress synthesizing') as {
      data: object;
    };
    expect(data).toMatchObject({ tokens_used: 120_000 });
    expect((await outcome()).usage).toEqual({ promptTokens: 120_000, completionTokens: 0 });
  });

  it('of time ends the research after the finished steps', async () => {
    let elapsed = 0;
    const timing = Object.assign(Object.create(systemTiming) as Timing, { elapsedMs: () => elapsed });
    const { outline, frames } = await completeResearch({
      queries: ['q1', 'q2', 'q3'],
      timing,
      more: {
        step: () => {
          elapsed += RESEARCH_MS_MAX / 2;
          return [text('Found.')];
        },
      },
    });
    expect(await outline()).toEqual(TWO_STEP_FRAMES);
    const { data } = (await frames()).find((frame) => frameOutline(frame) === 'research_progress synthesizing') as {
      data: object;
    };
    expect(data).toMatchObject({ elapsed_seconds: 300 });
  });

  it('also ends the rounds within a step', async () => {
    let call = 0;
    const { models } = await completeResearch({
      queries: ['q1'],
      actions: [offeredAction('look_up')],
      more: { step: ({ tools }) => (tools ? [toolCall(`k${++call}`, 'look_up'), usageChunk(60_000)] : [text('At last.')]) },
    });
    expect(models.requests.filter((request) => taskOf(request) === 'step')).toHaveLength(3);
  });
});

it('large findings are stored as a blob', async () => {
  const long = 'x'.repeat(39_000);
  const many = Array.from({ length: 40 }, (_, index) => ({
    ...{ text: `${index} ${'y'.repeat(2_000)}`, title: `T${index}`, source: 'Handbook', filename: '', sourceId: 's1' },
    ...{ score: 1, tokens: 500 },
  }));
  const research = await completeResearch({
    queries: ['q1'],
    settings: { sources: [{ id: 's1' }], chunks: 40 },
    search: () => ({ chunks: many, failedSources: [] }),
    more: { step: () => [text(long)] },
  });
  const [, reported] = await eventsOf(research.log, researchStream('t1'));
  expect(JSON.parse(reported!.data)).toMatchObject({ findings: { blob: { sha256: expect.any(String) } } });
  expect((await research.outcome()).sources).toHaveLength(40);
});
