import type { Rejections } from '../../platform/http/rejections.js';

/** Rejections whose status or code differs in this dialect from the service's own API. */
export const openAiRejections: Rejections = {
  'openai-conversation-not-found': { status: 400, code: 'conversation_not_found' },
  'openai-model-not-found': { status: 404, code: 'model_not_found' },
  'response-not-found': { status: 404 },
  'previous-response-not-found': { status: 400, code: 'previous_response_not_found' },
};
