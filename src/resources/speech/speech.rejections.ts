import type { Rejections } from '../../platform/http/rejections.js';

export const speechRejections: Rejections = {
  'speech-not-configured': { status: 501, code: 'not_configured' },
  'recording-not-accepted': { status: 400 },
  'live-transcript-not-found': { status: 404 },
  'live-chunk-invalid': { status: 409, code: 'live_chunk_invalid' },
};
