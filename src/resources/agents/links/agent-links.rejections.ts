import type { Rejections } from '../../../platform/http/rejections.js';

export const agentLinksRejections: Rejections = {
  'shared-agent-not-found': { status: 404 },
  'too-many-kept-agents': { status: 409, code: 'too_many_kept_agents' },
};
