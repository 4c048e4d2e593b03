import { expect, it } from '@jest/globals';
import { userEventText } from './user-event.policy.js';

it('an event is one line, also for readers that split lines at other characters than the protocol does', () => {
  const name = 'one\u0085two\u2028three\u2029four';
  const notification = { type: 'schedule.resumed', scope: { kind: 'schedule', id: 's' }, payload: { name } } as const;
  const text = userEventText(notification, 'ann', { millis: 5, revision: 1 });
  expect(text).not.toMatch(/[\x85\u2028\u2029]/);
  expect(JSON.parse(text)).toMatchObject({ payload: { name } });
});
