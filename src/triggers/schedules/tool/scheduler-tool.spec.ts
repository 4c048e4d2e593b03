import { beforeEach, describe, expect, it } from '@jest/globals';
import { callContext, callTool } from '../../../../test/support/tool-calls.js';
import { Rejection } from '../../../kernel/rejection.js';
import { type Chat, ChatSchedules, type ChatTask } from './chat-schedules.port.js';
import type { TaskRequest } from '../schedule/task-definition.policy.js';
import type { CallArguments } from '../../../resources/tools/toolbox/call-arguments.policy.js';
import { builtInToolId } from '../../../resources/tools/defaults/default-tools.policy.js';
import type { CallContext } from '../../../resources/tools/toolbox/tool-kind.port.js';
import { SchedulerTool } from './scheduler-tool.js';

const TASK_ID = '6d1e8f2a-3b4c-8d5e-9f60-718293a4b5c6';

class SchedulesForTests extends ChatSchedules {
  readonly asked: Readonly<{ id: string; chat: Chat; asked?: TaskRequest }>[] = [];
  refusal: Error | undefined;
  override async schedule(id: string, chat: Chat, asked: TaskRequest): Promise<ChatTask> {
    this.note({ id, chat, asked });
    return { ...task, id };
  }
  override async pending(chat: Chat): Promise<readonly ChatTask[]> {
    this.note({ id: '', chat });
    return [task];
  }
  override async cancel(id: string, chat: Chat): Promise<void> {
    this.note({ id, chat });
  }
  private note(asked: (typeof this.asked)[number]): void {
    if (this.refusal) throw this.refusal;
    this.asked.push(asked);
  }
}
const task: ChatTask = {
  id: TASK_ID,
  name: 'Look.',
  instruction: 'Look.\nThen tell.',
  runAt: '2026-01-01T10:00:00.000Z',
  timezone: 'UTC',
  status: 'active',
};

let schedules: SchedulesForTests;
let tool: SchedulerTool;
beforeEach(() => {
  schedules = new SchedulesForTests();
  tool = new SchedulerTool(schedules);
});
const call = (name: string, args: CallArguments = {}, more: Partial<CallContext> = {}) =>
  callTool(tool, name, args, { context: callContext(more) });
const chat = { ownerId: 'alice', agentId: null, conversationId: 'c1' };

describe('the scheduler tool', () => {
  it('schedules a task for its chat, with the tools that need no approval', async () => {
    const args = { instruction: 'Look.', delay: '2h' };
    const ungatedTools = ['t1', builtInToolId('think'), 't2'];
    const { task_id: id, ...result } = (await call('schedule_task', args, { ungatedTools })) as { task_id: string };
    expect(result).toEqual({
      resolved_run_at: task.runAt,
      timezone: 'UTC',
      instruction: 'Look.\nThen tell.',
      name: 'Look.',
    });
    expect(schedules.asked).toEqual([{ id, chat, asked: { ...args, toolAllowlist: ['t1', 't2'] } }]);
  });

  it('derives the task’s id from the call, so that a repeated call finds the same task', async () => {
    const args = { instruction: 'Look.', delay: '2h' };
    await call('schedule_task', args, { callId: 'call-7' });
    await call('schedule_task', args, { callId: 'call-7' });
    await call('schedule_task', args, { callId: 'another' });
    const [first, again, another] = schedules.asked.map(({ id }) => id);
    expect(again).toBe(first);
    expect(another).not.toBe(first);
    expect(tool.actions.map(({ name, idempotent }) => [name, idempotent])).toEqual([
      ['schedule_task', true],
      ['list_scheduled_tasks', true],
      ['cancel_scheduled_task', true],
    ]);
  });

  it('lists the tasks that have not run yet', async () =>
    expect(await call('list_scheduled_tasks', {}, { agentId: 'a1' })).toEqual({
      tasks: [
        {
          task_id: TASK_ID,
          instruction: 'Look.\nThen tell.',
          name: 'Look.',
          resolved_run_at: task.runAt,
          timezone: 'UTC',
          status: 'active',
        },
      ],
    }));

  it('cancels a task', async () => {
    expect(await call('cancel_scheduled_task', { task_id: TASK_ID })).toEqual({ task_id: TASK_ID, status: 'cancelled' });
    expect(schedules.asked).toEqual([{ id: TASK_ID, chat }]);
  });

  it.each([
    ['invalid-schedule', 'delay must be positive.', 'Error: delay must be positive.'],
    ['too-many-schedules', 'max schedules per user reached', 'Error: you have reached the maximum number of active schedules.'],
    ['schedule-not-found', 'schedule not found', 'Error: scheduled task not found or already terminal.'],
    ['schedule-terminal', 'schedule is terminal', 'Error: scheduled task not found or already terminal.'],
  ])('reports %s with the known message', async (code, message, told) => {
    schedules.refusal = new Rejection(code, message);
    expect(await call('cancel_scheduled_task', { task_id: TASK_ID })).toBe(told);
    expect(await call('schedule_task', { instruction: 'Look.', delay: '0s' })).toBe(told);
  });

  it('refuses an invalid id without a lookup', async () => {
    for (const taskId of ['', '7', undefined]) {
      expect(await call('cancel_scheduled_task', { task_id: taskId })).toBe('Error: task_id must be a valid id.');
    }
    expect(schedules.asked).toEqual([]);
  });

  it('passes on errors of the service', async () => {
    schedules.refusal = new Error('The store is gone.');
    await expect(call('list_scheduled_tasks')).rejects.toThrow('The store is gone.');
  });
});
