import { purgeOf } from '../../kernel/event-sourcing/purge.js';
import { taskCodec } from './task.codec.js';
import type { TaskForgotten } from './task.events.js';

export const taskPurges = [
  purgeOf<TaskForgotten>({
    category: 'task',
    codec: taskCodec,
    type: 'TaskForgotten',
    blobsOf: ({ data: { result } }) => (result ? [result.sha256] : []),
  }),
];
