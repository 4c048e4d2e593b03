import type { Rejections } from '../../../platform/http/rejections.js';

export const workflowRunsRejections: Rejections = {
  'workflow-run-not-found': { status: 404 },
  'workflow-run-over': { status: 409, code: 'workflow_run_over' },
  'workflow-step-superseded': { status: 409, code: 'workflow_step_superseded' },
};
