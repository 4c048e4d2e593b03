import type { Rejections } from '../../platform/http/rejections.js';

export const conversationRejections: Rejections = {
  'index-out-of-range': { status: 400, json: true },
  'conversation-not-found': { status: 404 },
  'message-not-found': { status: 404 },
  'message-not-running': { status: 409, code: 'message_not_running' },
  'turn-taken': { status: 409, code: 'turn_taken' },
  'turn-stopping': { status: 409, code: 'turn_stopping' },
  'resume-in-progress': { status: 409, code: 'resume_in_progress' },
  'guardrail-blocked': { status: 400, json: true },
  'tool-call-not-pending': { status: 409, code: 'tool_call_not_pending' },
};
