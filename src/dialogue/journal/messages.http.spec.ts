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
])('the cursor %j is one that a store can be asked with', (given, cursor) => expect(cursorOf(given)).toBe(cursor));

it.each([' ', 'x', '-1', '1.5', '1e3', '0x10', '1,2', ['1', '2']])('%j is no cursor', (given) =>
  expect(() => cursorOf(given)).toThrow('last_event_id must be a whole number'),
);

describe('the status of a message, by its frames', () => {
  const begun: Frame = { type: 'message_id', message_id: 'm', conversation_id: 'c', request_id: 'r' };
  const paused = pauseFrames(turnPaused({ conversationId: 'c', turnId: 'm' }, [waitingCall('k1')]).data);
  const answer: Frame = { type: 'answer', answer: 'So.' };
  const end: Frame = { type: 'end' };

  it.each<[string, Frame[], string]>([
    ['before there is anything', [], 'pending'],
    ['with no text yet', [begun], 'pending'],
    ['with text', [begun, answer], 'streaming'],
    ['at its end', [begun, answer, end], 'complete'],
    ['after an error', [begun, answer, { type: 'error', error: 'No.' }, end], 'failed'],
    ['that its user stopped', [begun, answer, { type: 'error', error: 'Stopped.', code: 'stopped' }], 'complete'],
    ['that waits for somebody, though its run has ended', [begun, ...paused], 'streaming'],
    ['that was resumed', [begun, answer, ...paused, begun], 'streaming'],
    ['that was resumed and ended', [begun, ...paused, begun, answer, end], 'complete'],
  ])('%s', (_, frames, status) => expect(statusOf(messageOf(frames.map((frame) => JSON.stringify(frame))))).toBe(status));
});
