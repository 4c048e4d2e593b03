import type { Rejections } from '../../platform/http/rejections.js';

/** What clients of this dialect read otherwise than those of our own. */
export const openAiRejections: Rejections = {
  'openai-conversation-not-found': { status: 400, code: 'conversation_not_found' },
  'response-not-found': { status: 404 },
  'previous-response-not-found': { status: 400, code: 'previous_response_not_found' },
};
