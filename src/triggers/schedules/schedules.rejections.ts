import type { Rejections } from '../../platform/http/rejections.js';

export const schedulesRejections: Rejections = {
  'invalid-schedule': { status: 400 },
  'schedule-not-found': { status: 404 },
  'schedule-run-not-found': { status: 404 },
  'schedule-cancelled': { status: 409, code: 'schedule_cancelled' },
  'schedule-elapsed': { status: 409, code: 'schedule_elapsed' },
  'schedule-run-in-flight': { status: 409, code: 'run_in_flight' },
  'schedule-run-started': { status: 409, code: 'run_started' },
  'schedule-terminal': { status: 409, code: 'schedule_terminal' },
  'too-many-schedules': { status: 429, retryAfterSeconds: 60 },
  'schedule-catching-up': { status: 503, retryAfterSeconds: 2 },
};
