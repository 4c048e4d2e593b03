import { type LiveTranscript, wholeText } from './live-transcript.policy.js';

const text = { type: 'string' };
const success = { type: 'boolean' };

export const SPOKEN_SCHEMA = {
  type: 'object',
  properties: { success, audio_base64: { type: 'string', format: 'byte', description: 'An MP3 recording.' } },
};

export const TRANSCRIPT_SCHEMA = {
  type: 'object',
  properties: {
    success,
    text,
    language: { type: 'string', nullable: true },
    duration_s: { type: 'number', nullable: true },
    segments: { type: 'array', items: { type: 'object' } },
    provider: text,
  },
};

export const LIVE_SCHEMA = {
  type: 'object',
  properties: {
    success,
    session_id: text,
    language: { type: 'string', nullable: true },
    committed_text: { type: 'string', description: 'The text that does not change any more.' },
    mutable_text: { type: 'string', description: 'The text that the next chunk may change.' },
    finalized_text: { type: 'string', description: 'The same as `committed_text`.' },
    pending_text: { type: 'string', description: 'The same as `mutable_text`.' },
    transcript_text: { type: 'string', description: 'The committed and the mutable text.' },
    chunk_index: { type: 'integer' },
    is_silence: { type: 'boolean' },
    text: { type: 'string', description: 'Only at the end: the whole text.' },
  },
};

/** A live transcript as clients read it. */
export const liveRecord = (sessionId: string, transcript: LiveTranscript) => ({
  success: true,
  session_id: sessionId,
  language: transcript.language,
  committed_text: transcript.committed,
  mutable_text: transcript.mutable,
  finalized_text: transcript.committed,
  pending_text: transcript.mutable,
  transcript_text: wholeText(transcript),
});
