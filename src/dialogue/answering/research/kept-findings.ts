import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { Blobs } from '../../../kernel/blobs.js';
import type { Findings, ResearchStepReported } from './research.events.js';

/** Maximum size of findings, as JSON, that an event contains. Larger findings are stored as a blob. */
const FINDINGS_INLINE_BYTES_MAX = 64 * 1024;

type Kept = ResearchStepReported['data']['findings'];
/** Contains the turn's id and the step, so that equal findings of two steps are different blobs and are deleted separately. */
type Own = Readonly<{ turnId: string; step: number; findings: Findings }>;

/** Stores the findings of research steps. */
@Injectable()
export class KeptFindings {
  constructor(private readonly blobs: Blobs) {}

  /** @throws BlobsUnavailable */
  async keep(turnId: string, step: number, findings: Findings): Promise<Kept> {
    if (Buffer.byteLength(JSON.stringify(findings)) <= FINDINGS_INLINE_BYTES_MAX) return findings;
    const own = JSON.stringify({ turnId, step, findings } satisfies Own);
    return { blob: await this.blobs.put(Readable.from([Buffer.from(own)])) };
  }

  /** @throws BlobMissing, BlobsUnavailable */
  async recall(kept: Kept): Promise<Findings> {
    if (!('blob' in kept)) return kept;
    return (JSON.parse(await textOf(await this.blobs.get(kept.blob.sha256))) as Own).findings;
  }
}
