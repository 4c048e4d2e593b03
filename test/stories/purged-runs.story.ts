import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type RunPurged, runStream } from '../../src/background/runs/run.events.js';
import { scheduledRunStream } from '../../src/triggers/schedules/runs/scheduled-run.events.js';
import { taskStream } from '../../src/work/tasks/task.events.js';
import type { MakeBacking } from '../support/backing.js';
import type { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { say } from '../support/scripted-model-server.js';
import { endOf, statusOf, taskOf, webhookPath } from '../support/webhooks.js';
import { openWorld, replyOf, type World } from '../support/world.js';

const RETENTION_SECONDS = 10;
const IN_DAYS = String(RETENTION_SECONDS / 86_400);
const SETTINGS = {
  TRACES_RETENTION_DAYS: IN_DAYS,
  SCHEDULE_RUN_OUTPUT_RETENTION_DAYS: IN_DAYS,
  IDEMPOTENCY_TTL_SECONDS: '2',
  RETENTION_EVERY_SECONDS: '0.2',
};
const SECRET = 'The secret of the run.';

type Fields = Record<string, unknown>;

/** Headless runs after their retention period: what is deleted, what remains, and who can see that. */
export function purgedRunsStory(makeBacking: MakeBacking): void {
  let world: World;
  let auditor: Client;
  let agentId: string;
  beforeAll(async () => {
    world = await openWorld(SETTINGS, makeBacking);
    auditor = await world.as('auditor', { roles: ['admin'] });
    agentId = (await world.agent()).id;
  });
  afterAll(() => world.close());
  beforeEach(() => {
    world.model.reset();
    world.model.next(say(SECRET));
  });

  const typesOf = async (stream: string) => {
    const types: string[] = [];
    for await (const page of world.backing.store.read(stream)) types.push(...page.map(({ type }) => type));
    return types;
  };
  const isPurged = (runId: string) =>
    eventually(async () => {
      const [run, task] = await Promise.all([typesOf(runStream(runId)), typesOf(taskStream(runId))]);
      return run.join() === 'RunPurged' && task.join() === 'TaskPurged';
    });
  const deliveryOf = async (runId: string) => {
    for await (const [purge] of world.backing.store.read(runStream(runId)))
      return (JSON.parse(purge!.data) as RunPurged['data']).delivery!.stream;
    throw new Error(`Run ${runId} is unknown.`);
  };
  /** Expects that an auditor sees only that the run was purged. */
  const expectOnlyPurged = async (streams: readonly string[], types: readonly string[]) => {
    let found: Fields[] = [];
    await eventually(async () => {
      found = [];
      for (const stream of streams) {
        const { events } = await auditor.json<{ events: Fields[] }>(`/api/audit/events?stream=${stream}`);
        found.push(...events);
      }
      return found.map(({ type }) => type).join() === types.join();
    });
    expect(JSON.stringify(found)).not.toContain(SECRET);
    expect(found.every(({ actor }) => String(actor).startsWith('system:'))).toBe(true);
  };

  describe('a run of a webhook', () => {
    it('is shown until its retention ends and then unknown, and its key starts a new run', async () => {
      const hook = await webhookPath(world.alice, agentId);
      const key = { 'idempotency-key': 'once' };
      const begun = Date.now();
      const runId = await taskOf(world.nobody.post(hook, JSON.stringify({ text: SECRET }), key));
      expect(await endOf(world.nobody, runId)).toMatchObject({ status: 'SUCCESS' });
      await isPurged(runId);
      expect(Date.now() - begun).toBeGreaterThanOrEqual(RETENTION_SECONDS * 1000);
      await eventually(async () => (await statusOf(world.nobody, runId)).status === 'PENDING');
      const delivery = await deliveryOf(runId);
      const streams = [runStream(runId), taskStream(runId), delivery];
      await expectOnlyPurged(streams, ['RunPurged', 'TaskPurged', 'DeliveriesPurged']);
      await eventually(async () => (await typesOf(delivery)).join() === 'DeliveriesPurged');
      // The purge is recorded once, however often the ticker runs.
      const ends = () => Promise.all([runStream(runId), taskStream(runId)].map((each) => world.backing.store.lastRevision(each)));
      const purged = await ends();
      await new Promise((resolve) => setTimeout(resolve, 600));
      expect(await ends()).toEqual(purged);

      const again = await taskOf(world.nobody.post(hook, JSON.stringify({ text: 'again' }), key));
      expect(again).not.toBe(runId);
      expect(await endOf(world.nobody, again)).toMatchObject({ status: 'SUCCESS' });
    });
  });

  describe('the result of a scheduled run', () => {
    const runsOf = async (id: string) => (await world.alice.json<{ runs: Fields[] }>(`/api/schedules/${id}/runs`)).runs;

    it('remains for the newest runs, and is deleted with its schedule after the retention period', async () => {
      const created = await replyOf(
        world.alice.post(`/api/agents/${agentId}/schedules`, { instruction: 'Sum up.', cron: '0 9 31 12 *', timezone: 'UTC' }),
      );
      const { id } = (created.body as { schedule: { id: string } }).schedule;
      await world.alice.post(`/api/schedules/${id}/run`, {});
      await eventually(async () => (await runsOf(id))[0]?.['status'] === 'success');
      const [run] = await runsOf(id);
      const runId = String(run!['id']);
      await new Promise((resolve) => setTimeout(resolve, 1000 * RETENTION_SECONDS + 1_000));
      expect((await runsOf(id))[0]).toEqual(run);
      expect(await statusOf(world.nobody, runId)).toMatchObject({ status: 'SUCCESS' });

      await world.alice.delete(`/api/schedules/${id}`);
      await isPurged(runId);
      const streams = [scheduledRunStream(runId), runStream(runId), taskStream(runId)];
      await eventually(async () => (await statusOf(world.nobody, runId)).status === 'PENDING');
      await expectOnlyPurged(streams, ['ScheduledRunOutputPurged', 'RunPurged', 'TaskPurged']);
    });
  });
}
