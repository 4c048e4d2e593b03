import { expect, it } from '@jest/globals';
import type { RunFinished } from '../../../background/runs/run.events.js';
import { ERROR_CHARACTERS_MAX, outcomeOf, OUTPUT_CHARACTERS_MAX } from './run-outcome.policy.js';

const finished = (more: Partial<RunFinished['data']> = {}): RunFinished => ({
  type: 'RunFinished',
  data: {
    runId: 'r',
    attempt: 1,
    answer: 'Done.',
    thought: '',
    sources: [],
    toolCalls: [],
    structured: false,
    modelId: 'm',
    usage: { promptTokens: 10, completionTokens: 2 },
    error: null,
    ...more,
  },
});

it('a run succeeds if it answered, called a tool or generated tokens', () => {
  expect(outcomeOf(finished())).toEqual({
    ending: { status: 'success', errorType: null, tokens: 12 },
    report: { output: 'Done.', isOutputTruncated: false, error: null, promptTokens: 10, generatedTokens: 2 },
  });
  expect(outcomeOf(finished({ answer: '', toolCalls: [{}], usage: null })).ending.status).toBe('success');
  expect(outcomeOf(finished({ answer: ' ' })).ending.status).toBe('success');
});

it('a run fails if it produced nothing', () =>
  expect(outcomeOf(finished({ answer: ' ', usage: null })).ending).toEqual({
    status: 'failed',
    errorType: 'empty_output',
    tokens: 0,
  }));

it('a run fails if the model failed, and keeps the partial answer', () => {
  const { ending, report } = outcomeOf(finished({ error: { text: 'No more.', code: null } }));
  expect([ending, report.output, report.error]).toEqual([
    { status: 'failed', errorType: 'agent_error', tokens: 12 },
    'Done.',
    'No more.',
  ]);
});

it.each([
  [{ type: 'RunRefused', data: { runId: 'r', reason: 'quota_exceeded', error: 'No room.' } }, 'failed', 'budget_exceeded'],
  [{ type: 'RunFailed', data: { runId: 'r', error: 'No agent.' } }, 'failed', 'internal'],
  [{ type: 'RunFailed', data: { runId: 'r', error: 'Too long.', reason: 'timeout' } }, 'timeout', 'timeout'],
] as const)('%j ends as %s with the error %s', (event, status, errorType) => {
  expect(outcomeOf(event)).toMatchObject({
    ending: { status, errorType, tokens: 0 },
    report: { error: event.data.error, output: null },
  });
});

it('long answers and errors are truncated', () => {
  const { report } = outcomeOf(finished({ answer: `${'x'.repeat(OUTPUT_CHARACTERS_MAX - 1)}😀` }));
  expect([report.output!.length, report.isOutputTruncated, report.output!.isWellFormed()]).toEqual([
    OUTPUT_CHARACTERS_MAX,
    true,
    true,
  ]);
  const error = { text: 'x'.repeat(ERROR_CHARACTERS_MAX + 1), code: null };
  expect(outcomeOf(finished({ error })).report.error).toHaveLength(ERROR_CHARACTERS_MAX);
});
