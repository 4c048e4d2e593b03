import { expect, it } from '@jest/globals';
import type { JobProgress } from './job.events.js';
import { MESSAGE_CHARACTERS_MAX, OUTPUT_TAIL_CHARACTERS, progressAfter } from './job-progress.policy.js';
import type { ToolReport } from '../../resources/tools/toolbox/tool-kind.port.js';

const after = (...reports: readonly ToolReport[]) => reports.reduce<JobProgress | null>(progressAfter, null);

it('the newest report counts, and the messages of all reports are collected in order', () => {
  expect(after({ progress: 1 })).toEqual({ report: { progress: 1 }, outputTail: null });
  expect(after({ progress: 1, total: 3, message: 'Reading. ' }, { progress: 2, total: 3, message: 'Sorting.' })).toEqual({
    report: { progress: 2, total: 3, message: 'Sorting.' },
    outputTail: 'Reading.\nSorting.',
  });
  expect(after({ progress: 1, message: 'Reading.' }, { progress: 2 })).toEqual({
    report: { progress: 2 },
    outputTail: 'Reading.',
  });
});

it('a report without a finite progress is ignored, and so is a total that is not finite', () => {
  expect(after({ progress: Number.NaN, message: 'x' })).toBeNull();
  expect(after({ progress: 1, total: Infinity })).toEqual({ report: { progress: 1 }, outputTail: null });
});

it('long messages are truncated, and only the end of all messages is kept', () => {
  const long = after({ progress: 1, message: 'x'.repeat(MESSAGE_CHARACTERS_MAX + 1) })!;
  expect(long.report.message).toHaveLength(MESSAGE_CHARACTERS_MAX);
  const reports = Array.from({ length: 10 }, (_, count) => ({ progress: count, message: String(count).repeat(400) }));
  const { outputTail } = after(...reports)!;
  expect(outputTail).toHaveLength(OUTPUT_TAIL_CHARACTERS);
  expect(outputTail!.endsWith('9'.repeat(400))).toBe(true);
});
