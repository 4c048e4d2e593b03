import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { HISTORY_OFFSET_MAX } from '../../src/activity/history.policy.js';
import { KeyValue } from '../../src/kernel/key-value.js';
import { newId } from '../../src/kernel/ids.js';
import type { JobEvent } from '../../src/jobs/job.events.js';
import { jobStream } from '../../src/jobs/job.events.js';
import { SCHEDULER_KEPT_UP } from '../../src/schedules/kept-scheduler-pulse.js';
import { SCHEDULER_BEHIND_MAX_MS } from '../../src/schedules/scheduler-pulse.port.js';
import { runIdOf, type ScheduleEvent, scheduleStream, type ScheduleTiming } from '../../src/schedules/schedule.events.js';
import { nextSlot } from '../../src/schedules/slots.policy.js';
import { sourceStream } from '../../src/sources/source.events.js';
import { wakesStream, type WakesEvent } from '../../src/wakes/wakes.events.js';
import { monitorStream } from '../../src/monitors/monitor.events.js';
import { append } from '../support/accounts.js';
import type { MakeBacking } from '../support/backing.js';
import type { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { answerJson, LocalServer } from '../support/local-server.js';
import { call, hang, refuse } from '../support/scripted-model-server.js';
import { endOf, taskOf, webhookPath } from '../support/webhooks.js';
import { openWorld, replyOf, type World } from '../support/world.js';

type Fields = Record<string, unknown>;
type Planned = Readonly<{ events: Fields[]; monitors: Fields[]; truncated: string[] }>;
type History = Readonly<{ runs: Fields[]; has_more: boolean }>;
type Now = Readonly<{
  running: Fields[];
  needs_attention: Readonly<{ approvals: Fields[]; paused_schedules: Fields[] }>;
  up_next: Fields[];
  counts: Fields;
  conversations: Fields[];
}>;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const PAGE_ROWS = 7;

/** What a user has had done, has under way and has planned: every state and every field that is promised. */
export function activityStory(makeBacking: MakeBacking): void {
  let world: World;
  let post: LocalServer;
  let count = 0;

  beforeAll(async () => {
    post = await LocalServer.started((_request, response) => answerJson(response, {}));
    world = await openWorld({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', SCHEDULE_AUTOPAUSE_FAILURES: '1' }, makeBacking);
  });
  afterAll(async () => {
    await world.close();
    await post.close();
  });

  const somebody = async (): Promise<Readonly<{ name: string; client: Client }>> => {
    const name = `somebody-${count++}`;
    return { name, client: await world.as(name) };
  };
  const query = (fields: Fields) =>
    new URLSearchParams(Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)])).toString();
  const planned = (client: Client, fields: Fields = {}) => client.json<Planned>(`/api/activity/planned?${query(fields)}`);
  const history = (client: Client, fields: Fields = {}) => client.json<History>(`/api/activity/history?${query(fields)}`);
  const now = (client: Client) => client.json<Now>('/api/activity/now');
  const iso = (ms: number) => new Date(ms).toISOString();
  const given = (id: string, ...events: ScheduleEvent[]) => append(world.backing.store, scheduleStream(id), ...events);

  /** A schedule of somebody who has not been looked after since it was made. */
  async function scheduleOf(ownerId: string, timing: ScheduleTiming, createdAt: number, name: string | null = 'Report') {
    const scheduleId = newId();
    const terms = { name, instruction: ' Sum up.\nAll of it.', timing, toolAllowlist: [], modelId: null, tokenBudget: null };
    const origin = { agentId: 'agent-1', conversationId: null, createdVia: 'ui' } as const;
    const nextSlotAt = nextSlot(timing, new Date(createdAt))?.toISOString() ?? null;
    const data = { scheduleId, ownerId, origin, terms, createdAt: iso(createdAt), nextSlotAt };
    await given(scheduleId, { type: 'ScheduleCreated', data });
    return scheduleId;
  }
  const every = (cron: string, timezone = 'UTC'): ScheduleTiming => ({ kind: 'recurring', cron, timezone, endAt: null });
  const yearly = every('0 0 31 12 *');

  /** A slot with a run, and how that ended; the next slot is far away. */
  const ran = (scheduleId: string, slot: number, status?: 'success' | 'failed' | 'timeout'): ScheduleEvent[] => {
    const runId = runIdOf(scheduleId, iso(slot));
    const errorType = status === 'failed' ? 'agent_error' : status === 'timeout' ? 'timeout' : null;
    const decided = { scheduleId, slot: iso(slot), nextSlotAt: iso(Date.now() + 300 * DAY_MS) };
    const queued: ScheduleEvent = { type: 'ScheduleRunQueued', data: { ...decided, runId, queuedAt: iso(slot) } };
    const end = { scheduleId, runId, errorType, failuresInARow: 0, endedAt: iso(slot + 1000) } as const;
    return [queued, ...(status ? [{ type: 'ScheduleRunEnded', data: { ...end, status } } as const] : [])];
  };
  const shown = async (client: Client, fields: Fields, much: number): Promise<Planned> => {
    let seen: Planned | undefined;
    await eventually(async () => ((seen = await planned(client, fields)), seen.events.length >= much));
    return seen!;
  };

  describe('whoever asks', () => {
    it.each(['now', 'planned', 'history'])('%s needs a session', async (route) => {
      expect((await world.nobody.get(`/api/activity/${route}`)).status).toBe(401);
      const { key } = await world.agent();
      const keyed = await world.nobody.get(`/api/activity/${route}?api_key=${key}`);
      expect(keyed.status).toBe(401);
    });

    it('who has nothing sees that', async () => {
      const { client } = await somebody();
      expect(await planned(client)).toEqual({ events: [], monitors: [], truncated: [] });
      expect(await history(client)).toEqual({ runs: [], has_more: false });
      const none = { runs: 0, failed: 0 };
      expect(await now(client)).toEqual({
        running: [],
        needs_attention: { approvals: [], paused_schedules: [] },
        up_next: [],
        counts: { ...none, by_kind: { schedule: none, webhook: none, workflow: none, job: none, monitor: none } },
        conversations: [],
      });
    });
  });

  describe('the calendar', () => {
    it.each<[Fields, string]>([
      [{ tz: 'Mars/Olympus' }, 'unknown timezone'],
      [{ tz: '+02:00' }, 'unknown timezone'],
      [{ from: 'soon' }, 'invalid from'],
      [{ to: '2026-13-01' }, 'invalid to'],
      [{ from: '+275760-01-01T00:00:00Z' }, 'invalid from'],
      [{ from: '2026-02-02', to: '2026-02-01' }, 'to must not be before from'],
      [{ from: '2026-01-01', to: '2026-03-04T00:00:01' }, 'the window must not be longer than 62 days'],
    ])('does not open at %j', async (fields, message) => {
      const { status, body } = await replyOf(world.alice.get(`/api/activity/planned?${query(fields)}`));
      expect([status, body]).toEqual([400, { success: false, message }]);
    });

    it('shows 62 days at the most, also where the clocks change, and nothing in no time', async () => {
      for (const [from, to] of [
        ['2026-01-01', '2026-03-04'],
        ['2026-03-01', '2026-05-02'],
        ['2026-01-01', '2026-01-01'],
      ]) {
        expect((await world.alice.get(`/api/activity/planned?${query({ from, to, tz: 'Europe/Prague' })}`)).status).toBe(200);
      }
    });

    it('shows the coming slots of active schedules as planned and those of paused ones as paused, on the viewer’s clocks', async () => {
      const { name, client } = await somebody();
      const start = Date.now();
      const year = new Date(start).getUTCFullYear() + 1;
      const active = await scheduleOf(name, every('0 9 * * *', 'Europe/Prague'), start);
      const paused = await scheduleOf(name, every('30 9 1 2 *', 'Europe/Prague'), start, null);
      await given(paused, { type: 'SchedulePaused', data: { scheduleId: paused, pausedAt: iso(start) } });
      const runAt = `${year}-02-01T10:00:00.000Z`;
      const once = await scheduleOf(name, { kind: 'once', runAt, timezone: 'UTC' }, start, 'Once');
      const window = { from: `${year}-02-01T00:00:00`, to: `${year}-02-02T00:00:00`, tz: 'Europe/Prague' };
      const { events, truncated } = await shown(client, window, 3);
      const common = { kind: 'schedule', agent_id: 'agent-1' };
      expect(events).toEqual([
        { ...common, state: 'planned', at: `${year}-02-01T08:00:00.000Z`, schedule_id: active, name: 'Report' },
        { ...common, state: 'paused', at: `${year}-02-01T08:30:00.000Z`, schedule_id: paused, name: 'Sum up.' },
        { ...common, state: 'planned', at: runAt, schedule_id: once, name: 'Once' },
      ]);
      expect(truncated).toEqual([]);
      // The plus of an offset that was not encoded is read as one.
      const later = await replyOf(client.get(`/api/activity/planned?from=${year}-02-01T08:30:01+00:00&to=${year}-02-02`));
      expect((later.body as Planned).events.map(({ name: each }) => each)).toEqual(['Once']);
      expect((await planned(await world.as('a-stranger'), window)).events).toEqual([]);
    });

    it('shows each slot that has passed as the run it became, and runs that were asked for', async () => {
      const { name, client } = await somebody();
      const day = Math.floor(Date.now() / DAY_MS) * DAY_MS - 5 * DAY_MS;
      const id = await scheduleOf(name, yearly, day - DAY_MS);
      const [good, bad, late] = [day + HOUR_MS, day + 2 * HOUR_MS, day + 3 * HOUR_MS];
      const overlap = { scheduleId: id, slot: iso(day + 4 * HOUR_MS), nextSlotAt: iso(day + 300 * DAY_MS) };
      const asked = { scheduleId: id, runId: newId(), requestedAt: iso(day + 6 * HOUR_MS) };
      await given(id, ...ran(id, good, 'success'), ...ran(id, bad, 'failed'), ...ran(id, late, 'timeout'));
      await given(id, { type: 'ScheduleSlotSkipped', data: { ...overlap, reason: 'overlap' } });
      await given(id, { type: 'ScheduleRunRequested', data: asked });
      const { events } = await shown(client, { from: iso(day), to: iso(day + DAY_MS) }, 5);
      const run = (at: number, status: string, errorType: string | null, runId = runIdOf(id, iso(at))) => ({
        kind: 'schedule',
        status,
        run_id: runId,
        error_type: errorType,
        at: iso(at),
        schedule_id: id,
        agent_id: 'agent-1',
        name: 'Report',
      });
      expect(events.slice(0, 4)).toEqual([
        run(good, 'success', null),
        run(bad, 'failed', 'agent_error'),
        run(late, 'timeout', 'timeout'),
        run(day + 4 * HOUR_MS, 'skipped', 'overlap'),
      ]);
      // Nobody runs it, so it is given up in time.
      expect(events[4]).toMatchObject({ run_id: asked.runId, at: asked.requestedAt });
      expect(events[4]!['status']).toMatch(/^(pending|timeout)$/);
    });

    it('shows slots without a run as missed ten minutes later, since the schedule is as it is, and none of a paused one', async () => {
      const { name, client } = await somebody();
      const current = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
      const minutely = every('* * * * *');
      const id = await scheduleOf(name, minutely, current - 25 * MINUTE_MS);
      const window = { from: iso(current - HOUR_MS), to: iso(current - 10 * MINUTE_MS) };
      const missed = await shown(client, window, 14);
      expect(new Set(missed.events.map(({ state }) => state))).toEqual(new Set(['missed']));
      expect(missed.events[0]).toEqual({
        kind: 'schedule',
        state: 'missed',
        at: iso(current - 24 * MINUTE_MS),
        schedule_id: id,
        agent_id: 'agent-1',
        name: 'Report',
      });
      // Those that the ledger tells of and those it does not tell of yet are one row of slots.
      expect(new Set(missed.events.map(({ at }) => at)).size).toBe(missed.events.length);
      const since = await planned(client, { from: iso(current - 9 * MINUTE_MS), to: iso(Date.now()) });
      expect(since.events.filter(({ state }) => state === 'missed')).toEqual([]);
      const act = (action: string) => client.patch(`/api/schedules/${id}`, { action });
      expect((await act('pause')).status).toBe(200);
      expect((await planned(client, window)).events).toEqual([]);
      expect((await act('resume')).status).toBe(200);
      expect((await planned(client, window)).events).toEqual([]);
    });

    it('sums a frequent schedule by the day, and leaves what failed by itself', async () => {
      const { name, client } = await somebody();
      const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
      const quarterly = every('*/15 * * * *');
      const id = await scheduleOf(name, quarterly, Date.now());
      await given(id, ...ran(id, today - DAY_MS, 'success'), ...ran(id, today - DAY_MS + HOUR_MS, 'success'));
      await given(id, ...ran(id, today - DAY_MS + 2 * HOUR_MS, 'failed'), ...ran(id, today - DAY_MS + 3 * HOUR_MS, 'timeout'));
      await given(id, {
        type: 'ScheduleChanged',
        data: {
          scheduleId: id,
          changes: { timing: quarterly },
          changedAt: iso(Date.now()),
          nextSlotAt: nextSlot(quarterly, new Date())!.toISOString(),
        },
      });
      const window = { from: iso(today - DAY_MS), to: iso(today + 20 * DAY_MS) };
      await eventually(async () => {
        const { events: seen } = await planned(client, window);
        return seen.some(({ status }) => status === 'timeout') && seen.some(({ count: sum }) => sum === 96);
      });
      const { events, truncated } = await planned(client, window);
      expect(truncated).toEqual([]);
      const common = { kind: 'schedule', schedule_id: id, agent_id: 'agent-1', name: 'Report' };
      expect(events.slice(0, 3)).toEqual([
        { ...common, status: 'success', at: iso(today - DAY_MS), count: 2, until: iso(today - DAY_MS + HOUR_MS) },
        expect.objectContaining({ status: 'failed', run_id: expect.any(String), at: iso(today - DAY_MS + 2 * HOUR_MS) }),
        expect.objectContaining({ status: 'timeout', run_id: expect.any(String), at: iso(today - DAY_MS + 3 * HOUR_MS) }),
      ]);
      const days = events.filter(({ state, at }) => state === 'planned' && Date.parse(at as string) >= today + DAY_MS);
      expect(days).toEqual(
        Array.from({ length: 19 }, (_, index) => {
          const day = today + (index + 1) * DAY_MS;
          return { ...common, state: 'planned', at: iso(day), count: 96, until: iso(day + DAY_MS - 15 * MINUTE_MS) };
        }),
      );
      // Ten days have fewer than a thousand, so each is shown.
      const single = await planned(client, { from: iso(today + DAY_MS), to: iso(today + 11 * DAY_MS) });
      expect([single.events.length, single.events[0]!['count']]).toEqual([960, undefined]);
    });

    it('shows the coming syncs of sources while the scheduler keeps up, and the monitors that watch', async () => {
      const { name, client } = await somebody();
      const at = Date.now() + 2 * DAY_MS;
      const sources = ['Handbook', 'Blog'].map((title) => ({ id: newId(), name: title }));
      for (const source of sources) await synced(source.id, name, source.name, at);
      const monitorId = newId();
      const terms = { description: 'Prices', source: { type: 'webpage', url: 'https://a.example/' }, check: { type: 'changed' } };
      const more = { condition: null, onMatch: null, intervalSeconds: 900, wakesMax: 1, expiresAt: iso(at + DAY_MS) };
      const created = {
        type: 'MonitorCreated',
        data: {
          monitorId,
          ownerId: name,
          conversationId: newId(),
          agentId: null,
          terms: { ...terms, ...more },
          seen: { hash: '', items: [], holds: false, gist: '' },
          createdAt: iso(Date.now()),
          nextCheckAt: iso(at),
        },
      };
      await append(world.backing.store, monitorStream(monitorId), created);
      const { events, monitors } = await shown(client, {}, 1);
      expect(events).toEqual([{ kind: 'sync', at: iso(at), frequency: 'weekly', sources: expect.any(Array) }]);
      expect(events[0]!['sources']).toEqual(expect.arrayContaining(sources));
      expect(monitors).toEqual([
        expect.objectContaining({ monitor_id: monitorId, description: 'Prices', status: 'active', next_check_at: iso(at) }),
      ]);
      expect((await now(client)).up_next).toEqual([
        expect.objectContaining({ kind: 'monitor', at: iso(at), title: 'Prices', monitor_id: monitorId }),
      ]);
      await world.service.service.app
        .get(KeyValue, { strict: false })
        .put(SCHEDULER_KEPT_UP, iso(Date.now() - SCHEDULER_BEHIND_MAX_MS - 1));
      expect((await planned(client)).events).toEqual([]);
      await eventually(async () => (await planned(client)).events.length === 1);
    });

    async function synced(sourceId: string, ownerId: string, name: string, at: number): Promise<void> {
      const config = { chunking: { strategy: 'classic_chunk', max_tokens: 1250, min_tokens: 150, duplicate_headers: false } };
      const created = { type: 'SourceCreated', data: { sourceId, ownerId, name, config, files: [] } };
      const set = { type: 'SourceSyncFrequencySet', data: { sourceId, frequency: 'weekly', nextSyncAt: iso(at) } };
      await append(world.backing.store, sourceStream(sourceId), created, set);
    }
  });

  describe('now', () => {
    it('tells of answers, runs of schedules and webhooks that are under way, and forgets them once they are over', async () => {
      const { client } = await somebody();
      const agent = await world.agent({ name: 'Guide' }, client);
      world.model.always([hang]);
      const asking = client.post('/api/answer', { question: 'Why?', agent_id: agent.id }).catch(() => undefined);
      const hook = await webhookPath(client, agent.id);
      const taskId = await taskOf(world.nobody.post(hook, '{}'));
      const schedule = { instruction: 'Sum up.', cron: '0 0 31 12 *', name: 'Yearly' };
      const made = await replyOf(client.post(`/api/agents/${agent.id}/schedules`, schedule));
      const { id: scheduleId } = (made.body as { schedule: { id: string } }).schedule;
      await client.post(`/api/schedules/${scheduleId}/run`, {});
      let running: Fields[] = [];
      const isAllRunning = () => running.length === 3 && running.every(({ status }) => status === 'running');
      await eventually(async () => ((running = (await now(client)).running), isAllRunning()));
      const common = { status: 'running', since: expect.any(String), started_at: expect.any(String), agent_id: agent.id };
      const by: Record<string, Fields> = Object.fromEntries(running.map((each) => [each['kind'] as string, each]));
      expect(by['answer']).toMatchObject({ ...common, title: expect.any(String), message_id: by['answer']!['id'] });
      expect(by['answer']!['conversation_id']).toEqual(expect.any(String));
      expect(by['webhook']).toMatchObject({ ...common, title: 'Guide', task_id: taskId, run_id: taskId, id: taskId });
      expect(by['schedule']).toMatchObject({
        ...common,
        title: 'Yearly',
        schedule_id: scheduleId,
        run_id: by['schedule']!['id'],
      });
      expect((await now(await world.as('a-stranger'))).running).toEqual([]);
      expect((await now(client)).up_next).toEqual([
        { kind: 'schedule', at: expect.any(String), title: 'Yearly', schedule_id: scheduleId, agent_id: agent.id },
      ]);
      await client.post(`/api/messages/${String(by['answer']!['id'])}/cancel`, {});
      await asking;
      await eventually(async () => !(await now(client)).running.some(({ kind }) => kind === 'answer'));
      world.model.reset();
    });

    it('tells of approvals that are awaited and of chats that wait or failed, until somebody has looked', async () => {
      const { client } = await somebody();
      const action = { name: 'send', method: 'POST', url: `${post.url}/send`, description: 'Sends', active: true };
      const config = { actions: { send: { ...action, require_approval: true } } };
      const tool = { name: 'api_tool', displayName: 'Cards', description: 'Sends', config, status: true };
      const { id: toolId } = (await (await client.post('/api/create_tool', tool)).json()) as { id: string };
      const agent = await world.agent({ tools: [toolId] }, client);
      const ask = async () => {
        const reply = await replyOf(client.post('/api/answer', { question: 'Send?', agent_id: agent.id, visibility: 'listed' }));
        return (reply.body as { conversation_id: string }).conversation_id;
      };
      world.model.next([call('c1', 'send', { to: 'bob' })]);
      const waiting = await ask();
      const asked = Date.now();
      let seen: Now | undefined;
      await eventually(async () => ((seen = await now(client)), seen.needs_attention.approvals.length === 1));
      const [approval] = seen!.needs_attention.approvals;
      expect(approval).toEqual({
        conversation_id: waiting,
        message_id: expect.any(String),
        agent_id: agent.id,
        title: expect.any(String),
        calls: [{ call_id: 'c1', tool_name: 'api_tool', action_name: 'send', arguments: expect.any(Object) }],
        created_at: expect.any(String),
        expires_at: expect.any(String),
      });
      const left = Date.parse(approval!['expires_at'] as string) - asked;
      expect(left).toBeGreaterThan(29 * MINUTE_MS);
      expect(left).toBeLessThan(31 * MINUTE_MS);
      const chat = { name: expect.any(String), agent_id: agent.id, date: expect.any(String) };
      expect(seen!.conversations).toEqual([{ ...chat, conversation_id: waiting, mark: 'approval' }]);
      world.model.next([refuse(400)]);
      await ask();
      await eventually(async () => (await now(client)).conversations.length === 2);
      const chats = (await now(client)).conversations;
      expect(chats.map(({ mark }) => mark)).toEqual(['failed', 'approval']);
      await client.get(`/api/get_single_conversation?id=${String(chats[0]!['conversation_id'])}`);
      world.model.reset();
    });

    it('tells of schedules that are paused, first those that paused themselves, and counts the last day', async () => {
      const { name, client } = await somebody();
      const hour = Date.now() - HOUR_MS;
      const byOwner = await scheduleOf(name, yearly, hour, 'Mine');
      await given(byOwner, { type: 'SchedulePaused', data: { scheduleId: byOwner, pausedAt: iso(hour) } });
      const itself = await scheduleOf(name, yearly, hour - 2 * DAY_MS, 'Itself');
      const runId = runIdOf(itself, iso(hour));
      const paused = { scheduleId: itself, runId, failuresInARow: 3, pausedAt: iso(hour) };
      await given(itself, ...ran(itself, hour - 2 * DAY_MS, 'failed'), ...ran(itself, hour - 1000, 'success'));
      await given(itself, ...ran(itself, hour, 'failed').slice(0, 1));
      const end = { scheduleId: itself, runId, status: 'failed', errorType: 'agent_error', failuresInARow: 3 } as const;
      await given(itself, { type: 'ScheduleRunEnded', data: { ...end, endedAt: iso(hour) } });
      await given(itself, { type: 'ScheduleAutoPaused', data: paused });
      await eventually(async () => (await now(client)).needs_attention.paused_schedules.length === 2);
      const { needs_attention: attention, counts, up_next: next } = await now(client);
      const common = { agent_id: 'agent-1' };
      expect(attention.paused_schedules).toEqual([
        {
          ...common,
          schedule_id: itself,
          name: 'Itself',
          auto_paused: true,
          consecutive_failure_count: 3,
          last_run_at: iso(hour),
        },
        { ...common, schedule_id: byOwner, name: 'Mine', auto_paused: false, consecutive_failure_count: 0, last_run_at: null },
      ]);
      expect(next).toEqual([]);
      expect(counts).toMatchObject({ runs: 2, failed: 1, by_kind: { schedule: { runs: 2, failed: 1 } } });
      await client.patch(`/api/schedules/${itself}`, { action: 'resume' });
      expect((await now(client)).needs_attention.paused_schedules.map(({ name: each }) => each)).toEqual(['Mine']);
    });
  });

  describe('the history', () => {
    it.each<[Fields, string]>([
      [{ kind: 'sync' }, 'kind must be one of schedule, webhook, workflow, job, monitor'],
      [{ status: 'running' }, 'status must be one of success, failed, timeout, skipped, cancelled'],
    ])('does not know %j', async (fields, message) => {
      const { status, body } = await replyOf(world.alice.get(`/api/activity/history?${query(fields)}`));
      expect([status, body]).toEqual([400, { success: false, message }]);
    });

    it('has a row for each run of a schedule, by how it ended, what it is called and when it was', async () => {
      const { name, client } = await somebody();
      const start = Date.now() - 40 * DAY_MS;
      const percent = await scheduleOf(name, yearly, start - DAY_MS, '100%_sure');
      const plain = await scheduleOf(name, yearly, start - DAY_MS, '100 PER cent');
      await given(percent, ...ran(percent, start, 'success'), ...ran(percent, start + 20 * DAY_MS, 'failed'));
      await given(plain, ...ran(plain, start + 30 * DAY_MS, 'timeout'), ...ran(plain, start + 31 * DAY_MS, 'success'));
      const skipped = { scheduleId: plain, slot: iso(start + 32 * DAY_MS), nextSlotAt: null, reason: 'overlap' } as const;
      await given(plain, { type: 'ScheduleSlotSkipped', data: skipped });
      await eventually(async () => (await history(client, { days: 90 })).runs.length === 5);
      const found = async (fields: Fields) => (await history(client, fields)).runs.map(({ title, status }) => [title, status]);
      const [sure, cent] = ['100%_sure', '100 PER cent'];
      expect(await found({})).toEqual([[cent, 'skipped'], [cent, 'success'], [cent, 'timeout'], [sure, 'failed']]); // prettier-ignore
      expect(await found({ status: 'failed' })).toEqual([[cent, 'timeout'], [sure, 'failed']]); // prettier-ignore
      expect(await found({ status: 'timeout' })).toEqual([[cent, 'timeout']]);
      expect(await found({ status: 'cancelled' })).toEqual([]);
      expect(await found({ q: 'per', status: 'success' })).toEqual([[cent, 'success']]);
      expect(await found({ q: '%' })).toEqual([[sure, 'failed']]);
      expect(await found({ q: '0_s' })).toEqual([]);
      expect(await found({ days: 9 })).toEqual([[cent, 'skipped']]);
      expect(await found({ days: 1_000 })).toHaveLength(5);
      expect(await found({ days: 'many', kind: 'schedule' })).toHaveLength(4);
      expect(await found({ kind: 'workflow' })).toEqual([]);
      const at = start + 20 * DAY_MS;
      expect((await history(client, { q: '%' })).runs[0]).toEqual({
        kind: 'schedule',
        id: runIdOf(percent, iso(at)),
        title: sure,
        status: 'failed',
        at: iso(at),
        started_at: null,
        finished_at: iso(at + 1000),
        duration_ms: null,
        agent_id: 'agent-1',
        conversation_id: null,
        error: null,
        error_type: 'agent_error',
        run_id: runIdOf(percent, iso(at)),
        schedule_id: percent,
      });
      expect(await history(await world.as('a-stranger'))).toEqual({ runs: [], has_more: false });
    });

    it('has what webhooks set off, jobs and what monitors woke among them, each page once, the newest first', async () => {
      const { name, client } = await somebody();
      const agent = await world.agent({ name: 'Doorman' }, client);
      const hook = await webhookPath(client, agent.id);
      for (const body of ['{"n":1}', '{"n":2}']) await endOf(world.nobody, await taskOf(world.nobody.post(hook, body)));
      const asked = await replyOf(client.post('/api/answer', { question: 'Dig.' }));
      const chat = (asked.body as { conversation_id: string }).conversation_id;
      await jobs(name, chat);
      await wakes(name);
      const scheduleId = await scheduleOf(name, yearly, Date.now() - DAY_MS);
      await given(scheduleId, ...ran(scheduleId, Date.now() - HOUR_MS, 'success'), ...ran(scheduleId, Date.now(), 'success'));
      await eventually(async () => (await history(client)).runs.length === 2 + 2 + 2 + 2);
      const all = await history(client);
      const kinds = all.runs.map(({ kind }) => kind).sort();
      expect([kinds.join(' '), all.has_more]).toEqual(['job job monitor monitor schedule schedule webhook webhook', false]);
      const times = all.runs.map(({ at }) => at as string);
      expect(times).toEqual(times.toSorted().toReversed());
      const paged: Fields[] = [];
      for (let offset = 0, more = true; more; offset += 3) {
        const page = await history(client, { limit: 3, offset });
        paged.push(...page.runs);
        more = page.has_more;
      }
      expect(paged).toEqual(all.runs);
      expect((await history(client, { limit: PAGE_ROWS })).has_more).toBe(true);
      expect((await history(client, { limit: 0 })).runs).toHaveLength(1);
      expect((await history(client, { limit: 8, offset: -3 })).has_more).toBe(false);
      expect(await history(client, { offset: HISTORY_OFFSET_MAX * 2 })).toEqual({ runs: [], has_more: false });
      const one = async (fields: Fields) => (await history(client, fields)).runs[0]!;
      expect(await one({ kind: 'webhook', q: 'door' })).toMatchObject({
        title: 'Doorman',
        status: 'success',
        duration_ms: expect.any(Number),
        agent_id: agent.id,
        task_id: expect.any(String),
      });
      expect((await history(client, { kind: 'webhook', q: 'guide' })).runs).toEqual([]);
      expect(await one({ kind: 'job', status: 'failed' })).toMatchObject({
        title: 'api_tool: dig',
        status: 'timeout',
        error: 'Slow.',
      });
      expect(await one({ kind: 'job', q: 'DIG' })).toMatchObject({ job_id: expect.any(String), conversation_id: chat });
      expect(await one({ kind: 'monitor', status: 'success' })).toMatchObject({ title: 'Prices fell', monitor_id: 'monitor-1' });
      expect(await one({ kind: 'monitor', status: 'failed' })).toMatchObject({ title: 'Gone', error: 'No room.' });
      const { counts } = await now(client);
      const [two, oneFailed] = [{ runs: 2, failed: 0 }, { runs: 2, failed: 1 }]; // prettier-ignore
      const by = { schedule: two, webhook: two, job: oneFailed, monitor: oneFailed };
      expect(counts).toMatchObject({ runs: 8, failed: 2, by_kind: by });
    });

    async function jobs(ownerId: string, conversationId: string): Promise<void> {
      const start = (jobId: string): JobEvent => ({
        type: 'JobStarted',
        data: {
          jobId,
          conversationId,
          ownerId,
          turnId: 'turn',
          callId: jobId,
          agentId: null,
          toolId: 'tool',
          toolName: 'api_tool',
          actionName: 'dig',
          arguments: {},
          hasEffects: false,
          runner: 'nobody',
          begunAt: iso(Date.now() - MINUTE_MS),
          deadlineAt: iso(Date.now() + MINUTE_MS),
          autoResume: false,
        },
      });
      const [done, slow] = [newId(), newId()];
      const about = (jobId: string) => ({ jobId, conversationId, ownerId, endedAt: iso(Date.now()) });
      const result = { sha256: '0'.repeat(64), size: 1 };
      const { store } = world.backing;
      await append(store, jobStream(done), start(done), { type: 'JobCompleted', data: { ...about(done), result } });
      const failed = { type: 'JobFailed', data: { ...about(slow), error: 'Slow.', reason: 'timeout' } };
      await append(store, jobStream(slow), start(slow), failed);
    }

    async function wakes(ownerId: string): Promise<void> {
      const conversationId = newId();
      const requested = (wakeId: string, text: string): WakesEvent => ({
        type: 'WakeRequested',
        data: { wakeId, conversationId, ownerId, source: 'monitor', refId: 'monitor-1', dedupeKey: wakeId, text },
      });
      const [told, gone] = [newId(), newId()];
      await append(
        world.backing.store,
        wakesStream(conversationId),
        requested(told, 'Prices fell'),
        requested(gone, 'Gone'),
        { type: 'WakeDelivered', data: { conversationId, wakeId: told, turnId: 'turn' } },
        { type: 'WakeFailed', data: { conversationId, wakeId: gone, error: 'No room.' } },
      );
    }
  });
}
