import { describe, expect, it } from '@jest/globals';
import { given } from '../../../../test/support/given.js';
import { askClarification, purge, recordPlan, recordReport, research } from './research.decider.js';
import type { ResearchEvent, ResearchStepReported } from './research.events.js';

const USED = { elapsedMs: 10, promptTokens: 1, completionTokens: 1 };
const PLAN = {
  turnId: 't1',
  steps: ['q1', 'q2'].map((query) => ({ query, rationale: '' })),
  complexity: 'simple',
  used: USED,
} as const;
const planned: ResearchEvent = { type: 'ResearchPlanned', data: PLAN };
const report = (step: number, sha256?: string): ResearchStepReported => ({
  type: 'ResearchStepReported',
  data: {
    turnId: 't1',
    step,
    findings: sha256 ? { blob: { sha256, size: 1 } } : { report: 'Found.', sources: [], toolCalls: [] },
    used: { ...USED, elapsedMs: 10 * (step + 1) },
  },
});
const clarified: ResearchEvent = { type: 'ResearchClarificationAsked', data: { turnId: 't1', text: 'Which?' } };
const purged = (...blobs: string[]): ResearchEvent => ({ type: 'ResearchPurged', data: { turnId: 't1', blobs } });

describe('a research', () => {
  it('is planned once, and not after it asked back or was purged', () => {
    given(research, []).when(recordPlan(PLAN)).then([planned]);
    for (const before of [planned, clarified, purged()]) given(research, [before]).when(recordPlan(PLAN)).thenNothing();
  });

  it('asks back only once and only before it has a plan', () => {
    given(research, []).when(askClarification('t1', 'Which?')).then([clarified]);
    for (const before of [planned, clarified]) given(research, [before]).when(askClarification('t1', 'Who?')).thenNothing();
  });

  it('reports its steps in order, each once', () => {
    given(research, [planned])
      .when(recordReport(report(1).data))
      .then([report(1)]);
    given(research, [planned])
      .when(recordReport(report(2).data))
      .thenNothing();
    given(research, [planned, report(1)])
      .when(recordReport(report(1).data))
      .thenNothing();
    given(research, [planned, report(1), report(2)])
      .when(recordReport(report(3).data))
      .thenNothing();
    given(research, [])
      .when(recordReport(report(1).data))
      .thenNothing();
  });

  it('has the usage of its last event', () => {
    const state = [planned, report(1)].reduce(research.evolve, research.initial);
    expect(state.used).toEqual(report(1).data.used);
  });

  it('is purged once, with its blobs', () => {
    given(research, [planned, report(1), report(2, 'abc')])
      .when(purge('t1'))
      .then([purged('abc')]);
    given(research, [purged('abc')])
      .when(purge('t1'))
      .thenNothing();
  });
});
