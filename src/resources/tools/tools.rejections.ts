import type { Rejections } from '../../platform/http/rejections.js';

export const toolsRejections: Rejections = {
  'tool-call-refused': { status: 400 },
  'tool-invalid': { status: 400 },
  'tool-not-editable': { status: 400 },
  'tool-server-refused': { status: 400 },
  'tool-server-unreachable': { status: 400, code: 'tool_server_unreachable' },
  'oauth-not-granted': { status: 400, code: 'oauth_not_granted' },
  'oauth-state-expired': { status: 400 },
  'oauth-state-used': { status: 400 },
  'too-many-tools': { status: 400 },
  'artifact-not-found': { status: 404 },
  'oauth-handshake-not-found': { status: 404 },
  'tool-not-found': { status: 404 },
  'tool-changed-meanwhile': { status: 409, code: 'conflict' },
  'tool-too-large': { status: 413 },
};
