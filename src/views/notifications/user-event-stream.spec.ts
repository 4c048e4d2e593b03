import { expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { userEventsOptions } from '../../../test/support/user-events.js';
import { newId } from '../../kernel/ids.js';
import { InProcessSignals } from '../../platform/messaging/signals/in-process-signals.js';
import type { SseStream } from '../../platform/http/reader-stream.js';
import { systemTiming } from '../../platform/system-timing.js';
import { UserEventStream } from './user-event-stream.js';
import { userEventText } from './user-event.policy.js';
import { USER_EVENT, userStream } from './user.events.js';
import { UserFeed, userSubject } from './user-feed.js';

const stream = userStream('ann');
const notification = {
  type: 'conversation.mark',
  scope: { kind: 'conversation', id: 'c' },
  payload: { conversation_id: 'c', mark: null },
} as const;
const event = (revision: number) => ({
  id: newId(),
  type: USER_EVENT,
  data: userEventText(notification, 'ann', { millis: 5, revision }),
  metadata: '{}',
});

it('reports to a slow reader that events were trimmed before they were sent', async () => {
  const store = new InMemoryEventStore();
  const signals = new InProcessSignals();
  const sender = new UserEventStream(new UserFeed(store, signals, systemTiming), { now: () => new Date(9) }, userEventsOptions());
  const gone = new AbortController();
  let text = '';
  let takes: () => void = () => {};
  const sse: SseStream = {
    signal: gone.signal,
    write: async (bytes) => {
      text += bytes;
      if (bytes.includes('id: 5-0\n')) await new Promise<void>((resolve) => (takes = resolve));
      if (bytes.includes('id: 5-9\n')) gone.abort();
      return true;
    },
    comment: async () => true,
    end: () => {},
  };
  await store.append(stream, 'none', [event(0)]);
  await store.setRetention(stream, { maxCount: 3 });
  const over = sender.send('ann', { after: -1, head: 0 }, sse);
  await new Promise((resolve) => setImmediate(resolve));
  for (let revision = 1; revision < 10; revision++) await store.append(stream, revision - 1, [event(revision)]);
  signals.publish(userSubject(stream), '9');
  takes();
  await over;
  expect([...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id)).toEqual(['5-0', '5-6', '5-7', '5-8', '5-9']);
  expect(text).toContain(
    'id: 5-6\ndata: {"type":"backlog.truncated","ts":"1970-01-01T00:00:00.009Z","user_id":"ann","topic":"user:ann",' +
      '"scope":{},"payload":{"oldest_retained_id":"5-7"},"id":"5-6"}\n\n',
  );
});
