import type { Rejections } from '../../platform/http/rejections.js';

export const answeringRejections: Rejections = {
  'answer-failed': { status: 400 },
  'model-not-found': { status: 400 },
  'agent-without-workflow': { status: 409, code: 'agent_without_workflow' },
};
