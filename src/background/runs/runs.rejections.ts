import type { Rejections } from '../../platform/http/rejections.js';

export const runsRejections: Rejections = {
  'run-unknown': { status: 404 },
  'run-failed': { status: 409, code: 'run_failed' },
  'run-timed-out': { status: 409, code: 'run_timed_out' },
  'run-over': { status: 409, code: 'run_over' },
  'run-attempt-superseded': { status: 409, code: 'run_attempt_superseded' },
};
