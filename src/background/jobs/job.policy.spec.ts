import { describe, expect, it } from '@jest/globals';
import type { JobEnd } from './job.events.js';
import { deliveryOf, followUpText, noteOn, statusAfter } from './job.policy.js';

const endOf = (type: JobEnd['type']) => ({ type }) as JobEnd;

it.each([
  [null, 'working'],
  [endOf('JobCompleted'), 'completed'],
  [endOf('JobFailed'), 'failed'],
  [endOf('JobCancelled'), 'cancelled'],
  [endOf('JobLost'), 'lost'],
] as const)('after %j a job is %s', (end, status) => expect(statusAfter(end)).toBe(status));

describe('the report of a job', () => {
  it.each([
    ['completed', true, null, 'pending'],
    ['failed', true, null, 'pending'],
    ['lost', true, null, 'pending'],
    // Whoever cancels a job knows of its end.
    ['cancelled', true, null, 'suppressed'],
    ['completed', false, null, 'suppressed'],
    ['completed', true, 'none', 'suppressed'],
    ['completed', true, 'follow-up', 'delivered'],
    ['cancelled', false, 'follow-up', 'delivered'],
    ['completed', true, 'model', 'seen'],
    ['cancelled', false, 'model', 'seen'],
  ] as const)('of status %s, with automatic answers %s, reported by %s, is %s', (status, autoResume, reportedBy, delivery) =>
    expect(deliveryOf(status, autoResume, reportedBy)).toBe(delivery),
  );
});

it.each([
  ['pending', 'pending'],
  ['claimed', 'pending'],
  ['delivered', 'delivered'],
  ['merged', 'delivered'],
  // The conversation had too many automatic turns in a row, is gone, or may not be continued.
  ['suppressed', 'suppressed'],
  ['superseded', 'suppressed'],
  ['failed', 'suppressed'],
  [undefined, 'delivered'],
] as const)('the report of a job whose follow-up is %s is %s', (followUp, delivery) =>
  expect(deliveryOf('completed', true, 'follow-up', followUp)).toBe(delivery),
);

describe('the note on a job', () => {
  it('says whether a running job was asked to stop', () => {
    expect(noteOn('working', true, false)).toBe('The job is still running.');
    expect(noteOn('working', true, true)).toMatch(/asked to stop/);
  });
  it.each(['failed', 'cancelled'] as const)('says of a %s job that its effects are unknown, if it may have some', (status) => {
    expect(noteOn(status, true, false)).toMatch(/what it changed, is not known/);
    expect(noteOn(status, false, false)).not.toMatch(/not known/);
  });
});

describe('the text of a follow-up', () => {
  const ended = {
    jobId: 'j1',
    toolName: 'Shop',
    actionName: 'order',
    status: 'completed',
    hasEffects: true,
    error: null,
  } as const;
  it('has the result', () =>
    expect(followUpText(ended, 'two tons').split('\n').slice(1)).toEqual(['The job is done.', 'Its result:', 'two tons']));
  it('has the error instead of a result', () =>
    expect(
      followUpText({ ...ended, status: 'failed', hasEffects: false, error: 'No ship.' }, 'half')
        .split('\n')
        .slice(1),
    ).toEqual(['The job failed.', 'Its error: No ship.']));
  it('says only how the job ended if there is neither', () => expect(followUpText(ended, null).split('\n')).toHaveLength(2));
});
