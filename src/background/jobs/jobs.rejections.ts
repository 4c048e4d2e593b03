import type { Rejections } from '../../platform/http/rejections.js';

export const jobsRejections: Rejections = {
  'job-not-found': { status: 404 },
  'job-exists': { status: 409, code: 'job_exists' },
};
