import { Injectable } from '@nestjs/common';
import { Ids, isId } from '../../kernel/ids.js';
import { KeyValue } from '../../kernel/messaging/key-value.js';
import { Rejection } from '../../kernel/rejection.js';
import { Seals } from '../../platform/credentials/seals.port.js';
import { LIVE_CHARACTERS_MAX, type LiveTranscript, transcriptTooLong } from './live-transcript.policy.js';

/** A session expires this long after its latest chunk. */
const SESSION_MS = 15 * 60 * 1000;

type Kept = Readonly<{ transcript: LiveTranscript; revision: number }>;

const notFound = () => new Rejection('live-transcript-not-found', 'Live transcription session not found');

/**
 * Stores the transcripts of users who are speaking. They are sealed and in the store that all processes share, because each chunk
 * may reach another process.
 */
@Injectable()
export class LiveTranscripts {
  constructor(
    private readonly keyValue: KeyValue,
    private readonly seals: Seals,
    private readonly ids: Ids,
  ) {}

  async begin(userId: string, language: string | null): Promise<Readonly<{ sessionId: string; transcript: LiveTranscript }>> {
    const sessionId = this.ids.next();
    const transcript: LiveTranscript = { language, committed: '', mutable: '', lastChunk: -1 };
    const key = keyOf(userId, sessionId);
    await this.keyValue.create(key, this.sealed(key, transcript), { ttlMs: SESSION_MS });
    return { sessionId, transcript };
  }

  /** @throws Rejection live-transcript-not-found, also for another user's session */
  async recall(userId: string, sessionId: unknown): Promise<Kept> {
    if (!isId(sessionId)) throw notFound();
    const key = keyOf(userId, sessionId);
    const entry = await this.keyValue.get(key);
    if (!entry) throw notFound();
    const transcript = JSON.parse(this.seals.open(Buffer.from(entry.value, 'base64'), [key])) as LiveTranscript;
    return { transcript, revision: entry.revision };
  }

  /** @throws Rejection live-chunk-invalid if another chunk has been stored since `revision` was read; too-large */
  async keep(userId: string, sessionId: string, transcript: LiveTranscript, revision: number): Promise<void> {
    if (transcript.committed.length + transcript.mutable.length > LIVE_CHARACTERS_MAX) throw transcriptTooLong();
    const key = keyOf(userId, sessionId);
    if (!(await this.keyValue.update(key, this.sealed(key, transcript), revision, { ttlMs: SESSION_MS }))) throw chunkInvalid();
  }

  async end(userId: string, sessionId: string): Promise<void> {
    await this.keyValue.delete(keyOf(userId, sessionId));
  }

  private sealed(key: string, transcript: LiveTranscript): string {
    return this.seals.seal(JSON.stringify(transcript), [key]).toString('base64');
  }
}

export const chunkInvalid = () => new Rejection('live-chunk-invalid', 'Invalid live transcription chunk');

const keyOf = (userId: string, sessionId: string): string =>
  `live-transcript.${Buffer.from(userId).toString('base64url')}.${sessionId}`;
