import { describe, it } from '@jest/globals';
import { given } from '../../../test/support/given.js';
import type { GuardrailDecision } from './guardrail-decisions.policy.js';
import { guardrailRecord, purgeRecord, record } from './guardrail-record.decider.js';
import type { GuardrailRecordEvent } from './guardrail-record.events.js';

const now = new Date('2026-01-02T00:00:00.000Z');
const subject = { recordId: 'm1', ownerId: 'ann', agentId: null, messageId: 'm1', requestId: null };
const masked: GuardrailDecision = {
  ...{ stage: 'output', check: 'pii', detector: 'pattern', action: 'redact', outcome: 'triggered' },
  ...{ category: 'EMAIL', score: null, matchCount: 2 },
};
const missed: GuardrailDecision = { ...masked, outcome: 'not_evaluated', category: null, matchCount: 0 };
const recorded = (...decisions: GuardrailDecision[]): GuardrailRecordEvent => ({
  type: 'GuardrailDecisionsRecorded',
  data: { ...subject, decisions, recordedAt: now.toISOString() },
});
const purged: GuardrailRecordEvent = { type: 'GuardrailRecordPurged', data: { recordId: 'm1' } };
const saying = (...decisions: GuardrailDecision[]) => record(subject, decisions, now);

describe('the record of guardrail decisions', () => {
  it('holds one decision per control', () =>
    given(guardrailRecord, [])
      .when(saying(masked, { ...masked, matchCount: 3 }, { ...masked, stage: 'input' }))
      .then([recorded({ ...masked, matchCount: 5 }, { ...masked, stage: 'input' })]));

  it.each([
    ['the same decision', masked],
    ['a decision with fewer matches', { ...masked, matchCount: 1 }],
    ['a control that was not evaluated', missed],
  ])('does not change for %s', (_, decision) =>
    given(guardrailRecord, [recorded(masked)])
      .when(saying(decision))
      .thenNothing(),
  );

  it.each([
    ['a decision with more matches', recorded(masked), { ...masked, matchCount: 3 }],
    ['a match of a control that was not evaluated before', recorded(missed), masked],
  ])('changes for %s', (_, before, decision) =>
    given(guardrailRecord, [before])
      .when(saying(decision))
      .then([recorded(decision)]),
  );

  it('is purged once after its retention and then never changes', () => {
    given(guardrailRecord, [recorded(masked)])
      .when(purgeRecord('m1', now))
      .thenNothing();
    given(guardrailRecord, [recorded(masked)])
      .when(purgeRecord('m1', new Date(now.getTime() + 1)))
      .then([purged]);
    given(guardrailRecord, [recorded(masked), purged])
      .when(purgeRecord('m1', new Date(8e15)))
      .thenNothing();
    given(guardrailRecord, [recorded(masked), purged])
      .when(saying(masked))
      .thenNothing();
  });
});
