import type { Rejections } from '../../platform/http/rejections.js';

export const workflowsRejections: Rejections = {
  'workflow-not-valid': { status: 400 },
  'workflow-not-found': { status: 404 },
  'workflow-in-use': { status: 409 },
};
