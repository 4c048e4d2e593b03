import { purgeOf } from '../../kernel/event-sourcing/purge.js';
import { taskCodec } from './task.codec.js';
import type { TaskPurged } from './task.events.js';

export const taskPurges = [
  purgeOf<TaskPurged>({
    category: 'task',
    codec: taskCodec,
    type: 'TaskPurged',
    blobsOf: ({ data: { result } }) => (result ? [result.sha256] : []),
  }),
];
