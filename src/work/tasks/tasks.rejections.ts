import type { Rejections } from '../../platform/http/rejections.js';

export const tasksRejections: Rejections = {
  'task-unknown': { status: 404 },
  'task-over': { status: 409, code: 'task_over' },
  'task-not-due': { status: 409, code: 'task_not_due' },
  'task-attempt-superseded': { status: 409, code: 'task_attempt_superseded' },
};
