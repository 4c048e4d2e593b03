import type { Codec } from '../kernel/codec.js';
import { causedBy } from '../kernel/events.js';
import type { Reaction } from '../kernel/reaction.js';
import type { Streams } from '../kernel/streams.js';
import { task } from './task.decider.js';
import { type TaskFailed, taskStream } from './task.events.js';
import type { TaskRunners } from './task-runner.port.js';

/**
 * A task that failed for good may have left something open: its runner is told. One step; a crash before the checkpoint
 * tells it again, and the runner makes nothing of that.
 */
export const tellOfFailedTasks = (streams: Streams, runners: TaskRunners): Reaction<TaskFailed> => ({
  name: 'tell-of-failed-tasks',
  categories: ['task'],
  codec: { TaskFailed: [] } satisfies Codec<TaskFailed>,
  on: {
    TaskFailed: async (event) => {
      const { taskId, reason } = event.data;
      const { state } = await streams.fold(taskStream(taskId), task);
      await runners.of(state.kind)?.failed?.(taskId, state.input, reason, causedBy(event, 'system:tell-of-failed-tasks'));
    },
  },
});
