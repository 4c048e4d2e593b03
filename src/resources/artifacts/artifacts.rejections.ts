import type { Rejections } from '../../platform/http/rejections.js';

export const artifactsRejections: Rejections = {
  'artifact-version-not-found': { status: 404 },
  'artifact-quota-exceeded': { status: 413, code: 'artifact_quota_exceeded' },
};
