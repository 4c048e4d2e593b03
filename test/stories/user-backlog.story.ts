import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MakeBacking } from '../support/backing.js';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { serviceForTests, TEST_SETTINGS, type TestService } from '../support/service.js';
import { TabForTests } from '../support/tab.js';
import { SessionTokens } from '../../src/resources/identity/session-tokens.js';
import { newId } from '../../src/kernel/ids.js';
import { userEventText } from '../../src/views/notifications/user-event.policy.js';
import { USER_EVENT, userStream } from '../../src/views/notifications/user.events.js';
import { userIdOf } from '../support/user-id.js';

const EVENTS = 2_000;
const KEPT = 1_000;
const PAGE = 200;
const DAY_MS = 24 * 60 * 60 * 1_000;

const tokens = new SessionTokens(TEST_SETTINGS.JWT_SECRET_KEY);
/** Cursors: stored user events are read page by page, followed by new ones. */
export function userBacklogStory(makeBacking: MakeBacking): void {
  let service: TestService;
  const begunAt = Date.now() - EVENTS;

  const signedIn = async (userId: string): Promise<Client> =>
    new Client(service.url, { authorization: `Bearer ${await tokens.issue({ subject: userId, roles: [] })}` });

  const idAt = (revision: number) => `${begunAt + revision}-${revision}`;

  /** Writes events like the reaction, a millisecond apart. */
  async function write(subject: string, from: number, count: number, ageMs = 0): Promise<void> {
    const userId = await userIdOf(service, subject);
    const events = Array.from({ length: count }, (_, index) => {
      const id = String(from + index);
      const announcement = {
        type: 'conversation.mark',
        scope: { kind: 'conversation', id },
        payload: { conversation_id: id, mark: 'running' },
      } as const;
      const place = { millis: begunAt + from + index - ageMs, revision: from + index };
      return { id: newId(), type: USER_EVENT, data: userEventText(announcement, userId, place), metadata: '{}' };
    });
    const { store } = service.backing;
    for (let at = 0; at < count; at += 100)
      await store.append(userStream(userId), from + at === 0 ? 'none' : from + at - 1, events.slice(at, at + 100));
  }

  /** Everything that a connection is sent until the service closes it. */
  async function page(client: Client, cursor: string): Promise<TabForTests> {
    const tab = await TabForTests.open(client, cursor);
    await tab.closed;
    return tab;
  }

  beforeAll(async () => {
    service = await serviceForTests(
      {
        AUTH_TYPE: 'session_jwt',
        SSE_MAX_CONCURRENT_PER_USER: '0',
        EVENTS_REPLAY_BUDGET_REQUESTS_PER_WINDOW: '0',
      },
      makeBacking,
    );
    await service.backing.store.setRetention(userStream(await userIdOf(service, 'ann')), { maxCount: KEPT });
    await write('ann', 0, EVENTS);
  });
  afterAll(() => service.close());

  const OLDEST = EVENTS - KEPT;
  const revisions = (from: number, count: number) => Array.from({ length: count }, (_, index) => idAt(from + index));

  describe(`a backlog of ${EVENTS} events, ${KEPT} of which are kept`, () => {
    it('is not sent to a connection without a cursor, which gets only new events', async () => {
      await write('kim', 0, 3);
      const tab = await TabForTests.open(await signedIn('kim'));
      await write('kim', 3, 1);
      await eventually(() => tab.ids.length > 0);
      expect(tab.text).toMatch(new RegExp(`^: connected\n\nid: ${idAt(3)}\ndata: {.*}\n\n$`));
      await tab.close();
    });

    it.each(['0-0', '0', '0-99999999999', idAt(0), idAt(OLDEST - 2)])(
      'reports a cursor before it, such as %s, as truncated, and where it begins',
      async (cursor) => {
        const ann = await signedIn('ann');
        const tab = await page(ann, cursor);
        const resumeAt = `${begunAt + OLDEST}-${OLDEST - 1}`;
        const [truncated, ...events] = tab.events;
        expect(truncated).toEqual({
          type: 'backlog.truncated',
          ts: expect.any(String),
          user_id: await userIdOf(service, 'ann'),
          topic: `user:${await userIdOf(service, 'ann')}`,
          scope: {},
          payload: { oldest_retained_id: idAt(OLDEST) },
          id: resumeAt,
        });
        expect(tab.ids).toEqual([resumeAt, ...revisions(OLDEST, PAGE)]);
        expect(events.map(({ id }) => id)).toEqual(revisions(OLDEST, PAGE));
        expect(tab.text.endsWith('\n\n: page-full\n\n')).toBe(true);
        expect((await page(ann, resumeAt)).ids).toEqual(revisions(OLDEST, PAGE));
      },
    );

    it.each([
      ['the last trimmed event', OLDEST - 1],
      ['the oldest event', OLDEST],
      ['an event in between', OLDEST + 321],
    ])('is sent as a full page after a cursor on %s', async (_, revision) => {
      const tab = await page(await signedIn('ann'), idAt(revision));
      expect(tab.ids).toEqual(revisions(revision + 1, PAGE));
      expect(tab.text.endsWith('\n\n: page-full\n\n')).toBe(true);
    });

    it.each([
      ['the query', '', `?last_event_id=${idAt(EVENTS - 2)}`],
      ['the header', idAt(EVENTS - 2), ''],
      ['the header before the query', idAt(EVENTS - 2), '?last_event_id=0-0'],
    ])('accepts a cursor from %s', async (_, header, query) => {
      const leaving = new AbortController();
      const ann = await signedIn('ann');
      const response = await ann.get(`/api/events${query}`, header ? { 'last-event-id': header } : {}, leaving.signal);
      let text = '';
      for await (const bytes of response.body!) {
        text += new TextDecoder().decode(bytes as Uint8Array);
        if (text.includes(idAt(EVENTS - 1))) break;
      }
      leaving.abort();
      expect(text.match(/^id: .*$/gm)).toEqual([`id: ${idAt(EVENTS - 1)}`]);
    });

    it.each(['x', '-1', '1-2-3', '1.5', `${idAt(1)};`])('refuses %j as a cursor', async (cursor) => {
      const ann = await signedIn('ann');
      for (const response of [
        await ann.get('/api/events', { 'last-event-id': cursor }),
        await ann.get(`/api/events?last_event_id=${encodeURIComponent(cursor)}`),
        await ann.get(`/api/events?last_event_id=${idAt(1)}&last_event_id=${idAt(1)}`),
      ]) {
        expect(response.status).toBe(400);
        expect(await response.json()).toEqual({ success: false, message: expect.stringContaining('last_event_id') });
      }
    });

    it('keeps the connection open after the last page', async () => {
      const tab = await TabForTests.open(await signedIn('ann'), idAt(EVENTS - 1 - PAGE));
      await eventually(() => tab.ids.length === PAGE);
      expect(tab.ids).toEqual(revisions(EVENTS - PAGE, PAGE));
      expect(tab.text).not.toContain('page-full');
      await tab.close();
    });
  });

  it.each([
    ['the newest event', 'pat', 3, 2],
    ['an event that never existed', 'quin', 0, 99],
  ])('a cursor on %s is followed only by new events', async (_, userId, before, cursor) => {
    await write(userId, 0, before);
    const tab = await TabForTests.open(await signedIn(userId), idAt(cursor));
    await write(userId, before, 2);
    await eventually(() => tab.ids.length === 2);
    expect(tab.ids).toEqual(revisions(before, 2));
    await tab.close();
  });

  it('an empty cursor counts as absent', async () => {
    await write('ruth', 0, 3);
    const tab = await TabForTests.open(await signedIn('ruth'), '');
    await write('ruth', 3, 1);
    await eventually(() => tab.ids.length > 0);
    expect(tab.ids).toEqual(revisions(3, 1));
    await tab.close();
  });

  it('a client that reads page by page misses nothing and gets nothing twice while new events arrive', async () => {
    await write('lea', 0, 1);
    const lea = await signedIn('lea');
    const live = await TabForTests.open(lea, idAt(0));
    let written = 1;
    const writing = (async () => {
      for (; written < EVENTS; written += 50) await write('lea', written, Math.min(50, EVENTS - written));
    })();
    await eventually(() => written > 3 * PAGE);
    const seen: string[] = [];
    let pages = 0;
    for (let last = '0-0'; seen.length < EVENTS; pages++) {
      const tab = await TabForTests.open(lea, last);
      await Promise.race([tab.closed, tab.has(() => seen.length + tab.ids.length >= EVENTS)]);
      seen.push(...tab.ids);
      last = seen.at(-1)!;
      await tab.close();
    }
    await writing;
    expect(pages).toBeGreaterThanOrEqual(3);
    expect(seen).toEqual(revisions(0, EVENTS));
    await eventually(() => live.ids.length >= EVENTS - 1);
    expect(live.ids).toEqual(revisions(1, EVENTS - 1));
    await live.close();
  });

  it('a cursor in the future is followed only by new events', async () => {
    await write('max', 0, 3);
    const tab = await TabForTests.open(await signedIn('max'), `${begunAt + DAY_MS}-77`);
    await write('max', 3, 2);
    await eventually(() => tab.ids.length === 2);
    expect(tab.ids).toEqual(revisions(3, 2));
    await tab.close();
  });

  it('events older than two days are not replayed, and the client is notified', async () => {
    await write('ned', 0, 3, 3 * DAY_MS);
    await write('ned', 3, 1);
    const tab = await TabForTests.open(await signedIn('ned'), '0-0');
    await eventually(() => tab.ids.length === 2);
    expect(tab.events.map(({ type }) => type)).toEqual(['backlog.truncated', 'conversation.mark']);
    expect(tab.events[0]!.payload['oldest_retained_id']).toBe(tab.ids[1]);
    await tab.close();
  });

  it('a client continues from its cursor after the service has restarted', async () => {
    await write('ola', 0, 2);
    const ola = await signedIn('ola');
    const tab = await TabForTests.open(ola, idAt(0));
    await eventually(() => tab.ids.length === 1);
    await service.restart();
    await tab.closed;
    await write('ola', 2, 2);
    const next = await TabForTests.open(ola, tab.ids.at(-1));
    await eventually(() => next.ids.length === 2);
    expect(next.ids).toEqual(revisions(2, 2));
    await next.close();
  });
}
