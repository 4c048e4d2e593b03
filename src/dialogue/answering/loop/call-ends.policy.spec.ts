import { describe, expect, it } from '@jest/globals';
import { waitingCall } from '../../../../test/support/pauses.js';
import type { ToolCallFinished } from '../../conversation/conversation.events.js';
import { recordOf, type ToolCallStatus } from '../../conversation/tool-call.policy.js';
import { interruptedCalls, failureOf, finishedAs, outcomeOf } from './call-ends.policy.js';
import { SHOWN_RESULT_BYTES_MAX } from './tool-result.policy.js';

const call = waitingCall('k1');
const finished = (result: string, status: 'completed' | 'error' = 'completed'): ToolCallFinished['data'] => ({
  conversationId: 'c1',
  turnId: 't1',
  callId: 'k1',
  status,
  result,
});

describe('the end of a call', () => {
  it('has its result in the record and as text for the model', () => {
    expect(outcomeOf(call, { id: 7 })).toEqual({
      record: recordOf(call, { status: 'completed', result: '{"id":7}', artifact_id: null }),
      text: '{"id":7}',
    });
    expect(outcomeOf(call, { error: 'no' }).record.status).toBe('error');
  });
  it('contains a valid artifact id of the result and no other value', () => {
    expect(outcomeOf(call, { artifact_id: 'n1' }).record.artifact_id).toBe('n1');
    for (const artifact of ['x'.repeat(65), 7, null]) {
      expect(outcomeOf(call, { artifact_id: artifact }).record.artifact_id).toBeNull();
    }
  });
  it('has a shortened record if its text is long, also for a failure', () => {
    const { record, text } = failureOf(call, 'x'.repeat(100_000));
    expect(Buffer.byteLength(record.error!)).toBeLessThanOrEqual(SHOWN_RESULT_BYTES_MAX);
    expect(text).toHaveLength(100_000);
  });
  it.each([[{ id: 7 }], ['sent'], ['{ "id": 1234567890123456789 }'], [[1, 2]], [null], [{ error: 'no such card' }]])(
    'is the same when it is rebuilt from the log: %j',
    (result) => {
      const end = outcomeOf(call, result);
      expect(finishedAs(call, finished(end.text, end.record.status as 'completed'))).toEqual(end);
    },
  );
  it('is the same when a failure is rebuilt from the log', () => {
    const end = failureOf(call, 'Error executing tool: no card');
    expect(finishedAs(call, finished(end.text, 'error'))).toEqual(end);
  });
});

describe('the calls of a turn that ends', () => {
  const none = { started: new Map(), finished: new Map() };
  const started = new Map([['k1', call]]);
  const shown = (status: ToolCallStatus) => [recordOf(call, { status })];
  it.each(['completed', 'error', 'denied', 'skipped'] as const)('do not change if they are %s', (status) => {
    expect(interruptedCalls(shown(status), none)).toEqual([]);
    expect(interruptedCalls(shown(status), { started, finished: new Map() })).toEqual([]);
  });
  it('are recorded as interrupted if they were running', () => {
    expect(interruptedCalls(shown('pending'), none)).toEqual([
      recordOf(call, { status: 'error', error: 'The call was interrupted.' }),
    ]);
  });
  it.each(['awaiting_approval', 'requires_client_execution'] as const)('are recorded as skipped if they were %s', (status) => {
    expect(interruptedCalls(shown(status), none)).toMatchObject([{ call_id: 'k1', status: 'skipped' }]);
  });
  it.each([['pending'], ['awaiting_approval'], [undefined]] as const)(
    'with effects get their recorded end or an unknown outcome if they were shown as %p',
    (status) => {
      const records = status ? shown(status) : [];
      expect(interruptedCalls(records, { started, finished: new Map() })).toMatchObject([
        { call_id: 'k1', error_type: 'outcome_unknown' },
      ]);
      const ended = new Map([['k1', finished('{"id":7}')]]);
      expect(interruptedCalls(records, { started, finished: ended })).toEqual([outcomeOf(call, { id: 7 }).record]);
    },
  );
});
