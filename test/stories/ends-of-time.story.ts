import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { given, HOUR_MS, iso, planned, ran, scheduleOf, shown, somebody } from '../support/activity.js';
import type { MakeBacking } from '../support/backing.js';
import { type Made, ScheduleCalls } from '../support/schedules.js';
import { openWorld, replyOf, type World } from '../support/world.js';

/** Dates that clients can send and that a database cannot read in this form, or cannot store. */
const FAR_OFF = [
  '+010000-01-01T00:00:00.000Z',
  '+275760-09-13T00:00:00.000Z',
  '0000-01-01T00:00:00.000Z',
  '-000001-12-31T00:00:00.000Z',
  '-271821-04-20T00:00:00.000Z',
];
/** Valid ISO 8601 that JavaScript does not parse. */
const UNREADABLE = ['2026-W05', '2026-366', '-0001-01-01', 'infinity'];

/** Extreme dates are accepted, refused, or match nothing. No request fails because of them. */
export function endsOfTimeStory(makeBacking: MakeBacking): void {
  let world: World;
  let calls: ScheduleCalls;
  beforeAll(async () => {
    world = await openWorld({ SCHEDULE_MIN_INTERVAL: '60' }, makeBacking);
    calls = await ScheduleCalls.of(world);
  });
  afterAll(() => world.close());

  describe('the calendar', () => {
    it('shows the run of a completed schedule', async () => {
      const { name, client } = await somebody(world);
      const at = Date.now() - HOUR_MS;
      const id = await scheduleOf(world, name, { kind: 'once', runAt: iso(at), timezone: 'UTC' }, at - HOUR_MS, 'Once');
      const completed = { type: 'ScheduleCompleted', data: { scheduleId: id, completedAt: iso(at) } } as const;
      await given(world, id, ...ran(id, at, 'success'), completed);
      const { events } = await shown(client, { from: iso(at - HOUR_MS), to: iso(at + HOUR_MS) }, 1);
      expect(events).toMatchObject([{ status: 'success', at: iso(at), schedule_id: id, name: 'Once' }]);
    });
  });

  it.each([...FAR_OFF, ...UNREADABLE])('the list of conversations refuses to start before %s', async (date) => {
    const { status, body } = await replyOf(world.alice.get(`/api/get_conversations?before=${encodeURIComponent(date)}`));
    expect([status, body]).toEqual([400, { success: false, message: expect.stringContaining('before') }]);
  });

  it.each([...FAR_OFF, ...UNREADABLE])('the audit log refuses to start or end at %s', async (date) => {
    for (const bound of ['from', 'to']) {
      const { status, body } = await replyOf(world.alice.get(`/api/audit/events?${bound}=${encodeURIComponent(date)}`));
      expect([status, body]).toEqual([400, { success: false, message: expect.stringContaining(bound) }]);
    }
  });

  it('the audit log has nothing after the last possible position', async () => {
    const { status, body } = await replyOf(world.alice.get('/api/audit/events?after=9999999999999999999'));
    expect([status, body]).toEqual([200, { success: true, events: [], next: null }]);
  });

  describe('a schedule', () => {
    let made: Made;
    beforeAll(async () => {
      const { id } = await world.agent();
      made = await calls.create(id, { end_at: '9999-12-31T23:59:59.999Z' });
    });

    it.each(FAR_OFF)('refuses to end at %s, and remains unchanged', async (date) => {
      const agentId = String(made['agent_id']);
      const replies = [await calls.createReply(agentId, { end_at: date }), await calls.change(made.id, { end_at: date })];
      for (const { status, body } of replies) expect([status, body]).toMatchObject([400, { message: 'invalid end_at' }]);
      expect(await calls.scheduleOf(made.id)).toMatchObject({ end_at: '9999-12-31T23:59:59.999Z' });
    });

    it('that ends with the calendar is shown in it', async () => {
      const { truncated } = await planned(world.alice, { from: '9998-12-01', to: '9998-12-31' });
      expect(truncated).toEqual([]);
    });
  });
}
