import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { HISTORY_OFFSET_MAX } from '../../src/views/activity/history.policy.js';
import { newId } from '../../src/kernel/ids.js';
import type { JobEvent } from '../../src/background/jobs/job.events.js';
import { jobStream } from '../../src/background/jobs/job.events.js';
import { runIdOf } from '../../src/triggers/schedules/schedule/schedule.events.js';
import { followUpsStream, type FollowUpsEvent } from '../../src/background/follow-ups/follow-ups.events.js';
import { append } from '../support/accounts.js';
import {
  type Fields,
  DAY_MS,
  given,
  history,
  HOUR_MS,
  iso,
  MINUTE_MS,
  now,
  query,
  ran,
  scheduledAgentOf,
  scheduleOf,
  somebody,
  YEARLY,
} from '../support/activity.js';
import type { MakeBacking } from '../support/backing.js';
import { eventually } from '../support/eventually.js';
import { endOf, taskOf, webhookPath } from '../support/webhooks.js';
import { openWorld, replyOf, type World } from '../support/world.js';

const PAGE_ROWS = 7;

/** The history of a user's runs of all kinds, with every filter, every page and every documented field. */
export function runHistoryStory(makeBacking: MakeBacking): void {
  let world: World;

  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
  });
  afterAll(async () => {
    await world.close();
  });

  describe('the history', () => {
    it.each<[Fields, string]>([
      [{ kind: 'sync' }, 'kind must be one of schedule, webhook, workflow, job, monitor'],
      [{ status: 'running' }, 'status must be one of success, failed, timeout, skipped, cancelled'],
    ])('refuses %j', async (fields, message) => {
      const { status, body } = await replyOf(world.alice.get(`/api/activity/history?${query(fields)}`));
      expect([status, body]).toEqual([400, { success: false, message }]);
    });

    it('has a row for each run of a schedule, filtered by status, name and time', async () => {
      const { name, client } = await somebody(world);
      const start = Date.now() - 40 * DAY_MS;
      const percent = await scheduleOf(world, name, YEARLY, start - DAY_MS, '100%_sure');
      const plain = await scheduleOf(world, name, YEARLY, start - DAY_MS, '100 PER cent');
      await given(world, percent, ...ran(percent, start, 'success'), ...ran(percent, start + 20 * DAY_MS, 'failed'));
      await given(world, plain, ...ran(plain, start + 30 * DAY_MS, 'timeout'), ...ran(plain, start + 31 * DAY_MS, 'success'));
      const skipped = { scheduleId: plain, slot: iso(start + 32 * DAY_MS), nextSlotAt: null, reason: 'overlap' } as const;
      await given(world, plain, { type: 'ScheduleSlotSkipped', data: skipped });
      await eventually(async () => (await history(client, { days: 90 })).runs.length === 5);
      const found = async (fields: Fields) => (await history(client, fields)).runs.map(({ title, status }) => [title, status]);
      const [sure, cent] = ['100%_sure', '100 PER cent'];
      expect(await found({})).toEqual([[cent, 'skipped'], [cent, 'success'], [cent, 'timeout'], [sure, 'failed']]); // oxfmt-ignore
      expect(await found({ status: 'failed' })).toEqual([[cent, 'timeout'], [sure, 'failed']]); // oxfmt-ignore
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
        agent_id: await scheduledAgentOf(world),
        conversation_id: null,
        error: null,
        error_type: 'agent_error',
        run_id: runIdOf(percent, iso(at)),
        schedule_id: percent,
      });
      expect(await history(await world.as('a-stranger'))).toEqual({ runs: [], has_more: false });
    });

    it('has runs of webhooks, jobs and follow-ups of monitors, each once over all pages, newest first', async () => {
      const { name, client } = await somebody(world);
      const agent = await world.agent({ name: 'Doorman' }, client);
      const hook = await webhookPath(client, agent.id);
      for (const body of ['{"n":1}', '{"n":2}']) await endOf(world.nobody, await taskOf(world.nobody.post(hook, body)));
      const asked = await replyOf(client.post('/api/answer', { question: 'Dig.' }));
      const chat = (asked.body as { conversation_id: string }).conversation_id;
      await jobs(await world.idOf(name), chat);
      await followUps(await world.idOf(name));
      const scheduleId = await scheduleOf(world, name, YEARLY, Date.now() - DAY_MS);
      await given(
        world,
        scheduleId,
        ...ran(scheduleId, Date.now() - HOUR_MS, 'success'),
        ...ran(scheduleId, Date.now(), 'success'),
      );
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
      const [time, text] = [{ started_at: expect.any(String), finished_at: expect.any(String), duration_ms: expect.any(Number) }, expect.any(String) as unknown]; // oxfmt-ignore
      const row = { id: text, at: text, ...time, agent_id: null, conversation_id: null, error: null };
      const delivered = await one({ kind: 'webhook', q: 'door' });
      const runId = delivered['id'];
      const ofWebhook = {
        kind: 'webhook',
        title: 'Doorman',
        status: 'success',
        agent_id: agent.id,
        run_id: runId,
        task_id: runId,
      };
      expect(delivered).toEqual({ ...row, ...ofWebhook });
      expect((await history(client, { kind: 'webhook', q: 'guide' })).runs).toEqual([]);
      const failed = await one({ kind: 'job', status: 'failed' });
      const ofJob = { kind: 'job', title: 'api_tool: dig', job_id: failed['id'], conversation_id: chat };
      expect(failed).toEqual({ ...row, ...ofJob, status: 'timeout', error: 'Slow.' });
      expect(await one({ kind: 'job', q: 'DIG' })).toMatchObject({ kind: 'job', conversation_id: chat });
      const ofMonitor = { kind: 'monitor', monitor_id: 'monitor-1', conversation_id: text };
      expect(await one({ kind: 'monitor', status: 'success' })).toEqual({
        ...row,
        ...ofMonitor,
        title: 'Prices fell',
        status: 'success',
        message_id: 'turn',
      });
      const inVain = await one({ kind: 'monitor', status: 'failed' });
      expect(inVain).toMatchObject({ ...ofMonitor, title: 'Gone', status: 'failed', error: 'No room.', message_id: null });
      const { counts } = await now(client);
      const [two, oneFailed] = [{ runs: 2, failed: 0 }, { runs: 2, failed: 1 }]; // oxfmt-ignore
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

    async function followUps(ownerId: string): Promise<void> {
      const conversationId = newId();
      const requested = (followUpId: string, text: string): FollowUpsEvent => ({
        type: 'FollowUpRequested',
        data: { followUpId, conversationId, ownerId, source: 'monitor', refId: 'monitor-1', dedupeKey: followUpId, text },
      });
      const [told, gone] = [newId(), newId()];
      await append(
        world.backing.store,
        followUpsStream(conversationId),
        requested(told, 'Prices fell'),
        requested(gone, 'Gone'),
        { type: 'FollowUpDelivered', data: { conversationId, followUpId: told, turnId: 'turn' } },
        { type: 'FollowUpFailed', data: { conversationId, followUpId: gone, error: 'No room.' } },
      );
    }
  });
}
