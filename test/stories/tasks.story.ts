import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import { failAttempt, failForGood, progress, queueTask, startTask, task } from '../../src/work/tasks/task.decider.js';
import { taskStream } from '../../src/work/tasks/task.events.js';
import { TasksModule } from '../../src/work/tasks/tasks.module.js';
import type { MakeBacking } from '../support/backing.js';
import { eventually } from '../support/eventually.js';
import { endOf, statusOf, taskOf, webhookPath } from '../support/webhooks.js';
import { openWorld, replyOf, type World } from '../support/world.js';
import { systemTiming } from '../../src/platform/system-timing.js';

/** Background tasks, as a client that waits for one sees them. */
export function tasksStory(makeBacking: MakeBacking): void {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
  });
  afterAll(() => world.close());

  it('reports its states: pending, started, waiting for a retry, started again, failed', async () => {
    const taskId = newId();
    const streams = new Streams(world.backing.store, systemTiming);
    const cause = { actor: 'system:test', credential: 'system', correlationId: taskId, causationId: taskId } as const;
    const told: unknown[] = [];
    // There is no runner for this kind, so no process changes its state.
    for (const [decision, status] of [
      [queueTask({ taskId, kind: 'of-no-runner', ownerId: 'alice', input: {} }), 'PENDING'],
      [startTask(taskId, 'one', new Date()), 'STARTED'],
      [failAttempt(taskId, 1, 'No luck.', new Date(Date.now() + 60_000)), 'RETRY'],
      [startTask(taskId, 'two', new Date(Date.now() + 120_000)), 'STARTED'],
      [progress(taskId, 2, 40), 'PROGRESS'],
      [failForGood(taskId, 2, 'No luck again.'), 'FAILURE'],
    ] as const) {
      await streams.transact(taskStream(taskId), task, decision, cause);
      await eventually(async () => (await statusOf(world.nobody, taskId)).status === status);
      told.push((await statusOf(world.nobody, taskId)).result);
    }
    expect(told).toEqual([null, null, null, null, { current: 40 }, 'No luck again.']);
  });

  it('that is unknown is pending, whatever its id', async () => {
    for (const id of [newId(), 'deduplicated', 'x'.repeat(500), '..%2F..', newId().toUpperCase()]) {
      const { status, body } = await replyOf(world.nobody.get(`/api/task_status?task_id=${id}`));
      expect({ id, status, body }).toEqual({ id, status: 200, body: { status: 'PENDING', result: null } });
    }
  });

  it('must be named', async () => {
    for (const query of ['', '?task_id=', '?task_id=a&task_id=b', '?task_id[]=a', '?task=a']) {
      const { status, body } = await replyOf(world.nobody.get(`/api/task_status${query}`));
      expect({ query, status, body }).toEqual({ query, status: 400, body: { success: false, message: 'Task ID is required' } });
    }
  });

  it('that is pending is reported as unavailable while there is no worker, but one that has ended is shown', async () => {
    const { id } = await world.agent();
    const hook = await webhookPath(world.alice, id);
    const ended = await taskOf(world.nobody.post(hook, {}));
    const end = await endOf(world.nobody, ended);
    // Its worker stops, and the rest of the process continues.
    await world.service.service.app.get(TasksModule, { strict: false }).beforeApplicationShutdown();
    const pending = await taskOf(world.nobody.post(hook, {}));
    for (const taskId of [pending, newId()]) {
      const { status, body, headers } = await replyOf(world.nobody.get(`/api/task_status?task_id=${taskId}`));
      expect([status, body]).toEqual([503, { success: false, message: 'Service unavailable', error: 'unavailable' }]);
      expect(headers.get('retry-after')).toMatch(/^\d+$/);
    }
    expect(await statusOf(world.nobody, ended)).toEqual(end);
    await world.service.restart();
    expect(await endOf(world.nobody, pending)).toMatchObject({ status: 'SUCCESS' });
  });
}
