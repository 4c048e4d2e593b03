import { describe, expect, it } from '@jest/globals';
import { messageOf } from '../../../test/support/message.js';
import { turnPaused, waitingCall } from '../../../test/support/pauses.js';
import type { Frame } from './message.events.js';
import { pauseFrames } from './message.policy.js';
import { REVISION_MAX } from '../../kernel/event-sourcing/event-store.js';
import { cursorOf, statusOf } from './messages.http.js';

it.each([
  [undefined, -1],
  ['0', 0],
  [' 17 ', 17],
  [String(REVISION_MAX), REVISION_MAX - 1],
  ['9'.repeat(400), REVISION_MAX - 1],
])('the cursor %j is read as %d, which the store accepts', (given, cursor) => expect(cursorOf(given)).toBe(cursor));

it.each([' ', 'x', '-1', '1.5', '1e3', '0x10', '1,2', ['1', '2']])('%j is rejected as a cursor', (given) =>
  expect(() => cursorOf(given)).toThrow('last_event_id must be a whole number'),
);

describe('the status of a message', () => {
  const begun: Frame = { type: 'message_id', message_id: 'm', conversation_id: 'c', request_id: 'r' };
  const paused = pauseFrames(turnPaused({ conversationId: 'c', turnId: 'm' }, [waitingCall('k1')]).data);
  const answer: Frame = { type: 'answer', answer: 'So.' };
  const end: Frame = { type: 'end' };

  it.each<[string, Frame[], string]>([
    ['is pending before the first frame', [], 'pending'],
    ['is pending before the first text', [begun], 'pending'],
    ['is streaming once there is text', [begun, answer], 'streaming'],
    ['is complete after the end frame', [begun, answer, end], 'complete'],
    ['is failed after an error', [begun, answer, { type: 'error', error: 'No.' }, end], 'failed'],
    ['is complete when its user stopped it', [begun, answer, { type: 'error', error: 'Stopped.', code: 'stopped' }], 'complete'],
    ['is streaming while it is paused, although its run has ended', [begun, ...paused], 'streaming'],
    ['is streaming after it was resumed', [begun, answer, ...paused, begun], 'streaming'],
    ['is complete after the resumed run has ended', [begun, ...paused, begun, answer, end], 'complete'],
  ])('%s', (_, frames, status) => expect(statusOf(messageOf(frames.map((frame) => JSON.stringify(frame))))).toBe(status));
});
