import type { Rejections } from '../../platform/http/rejections.js';

export const agentsRejections: Rejections = {
  'invalid-agent-config': { status: 400 },
  'agent-not-publishable': { status: 400 },
  'image-not-accepted': { status: 400 },
  'invalid-json-schema': { status: 400 },
  'agent-not-found': { status: 404 },
  'folder-not-found': { status: 404 },
  'prompt-not-accessible': { status: 404 },
  'source-not-accessible': { status: 404 },
  'tool-not-accessible': { status: 404 },
  'agent-not-published': { status: 409, code: 'agent_not_published' },
  'webhook-unreadable': { status: 409, code: 'webhook_unreadable' },
  'agent-stale-write': { status: 409, code: 'stale_write' },
};
