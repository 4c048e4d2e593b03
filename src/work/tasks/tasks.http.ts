import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { TaskQueries, type TaskRecord } from '../../../projections/tasks/tasks.queries.js';
import { Blobs } from '../../kernel/blobs.js';
import { isId } from '../../kernel/ids.js';
import { KeyValue } from '../../kernel/messaging/key-value.js';
import { Rejection } from '../../kernel/rejection.js';
import { loadResult } from './task-result.js';
import { isWorkerAlive } from './worker-presence.js';
import { Access } from '../../platform/http/access.js';

type TaskStatusBody = Readonly<{ status: string; result: unknown }>;

@ApiTags('Tasks')
@Controller('api')
export class TasksController {
  constructor(
    private readonly tasks: TaskQueries,
    private readonly blobs: Blobs,
    private readonly keyValue: KeyValue,
  ) {}

  @Access({ for: 'capability', action: 'describe', of: 'tasks', scopes: ['sources:read', 'sources:write', 'chat:run'] })
  @Get('task_status')
  @ApiOperation({ summary: 'The status of a background task, for every caller that knows its id' })
  @ApiQuery({ name: 'task_id', required: true })
  async status(@Query('task_id') taskId: unknown): Promise<TaskStatusBody> {
    if (typeof taskId !== 'string' || taskId === '') throw new Rejection('invalid-request', 'Task ID is required');
    const record = isId(taskId) ? await this.tasks.byId(taskId) : undefined;
    if (!record || record.status === 'queued') {
      await this.requireWorker();
      return { status: 'PENDING', result: null };
    }
    return { status: STATUSES[record.status], result: await this.resultOf(record) };
  }

  private resultOf({ status, percent, result, reason }: TaskRecord): unknown {
    if (status === 'progressed') return { current: percent };
    if (status === 'failed') return reason;
    return status === 'succeeded' && result ? loadResult(this.blobs, result) : null;
  }

  /** Refuses at once if no worker is alive to run pending tasks. */
  private async requireWorker(): Promise<void> {
    if (!(await isWorkerAlive(this.keyValue))) throw new Rejection('unavailable', 'Service unavailable');
  }
}

const STATUSES = {
  started: 'STARTED',
  progressed: 'PROGRESS',
  waiting: 'RETRY',
  succeeded: 'SUCCESS',
  failed: 'FAILURE',
} as const satisfies Partial<Record<TaskRecord['status'], string>>;
