import { Injectable } from '@nestjs/common';
import { Blobs } from '../../../kernel/blobs.js';
import { OwnBlobs } from '../../../kernel/own-blobs.js';
import type { Findings, ResearchStepReported } from './research.events.js';

type Kept = ResearchStepReported['data']['findings'];

/** Stores the findings of research steps. */
@Injectable()
export class KeptFindings {
  private readonly own: OwnBlobs<Findings>;

  constructor(private readonly blobs: Blobs) {
    this.own = new OwnBlobs(blobs, 'findings');
  }

  /** @throws BlobsUnavailable */
  async keep(turnId: string, step: number, findings: Findings): Promise<Kept> {
    const kept = await this.own.keep({ turnId, step }, findings);
    return 'blob' in kept ? kept : findings;
  }

  /** Deletes the blob of findings whose report was refused, unless the recorded findings are in the same blob. */
  async dropUnless(kept: Kept, recorded: Kept | undefined): Promise<void> {
    if (!('blob' in kept)) return;
    const { sha256 } = kept.blob;
    const isRecorded = recorded !== undefined && 'blob' in recorded && recorded.blob.sha256 === sha256;
    if (!isRecorded) await this.blobs.delete(sha256);
  }

  /** @throws BlobMissing, BlobsUnavailable */
  async recall(kept: Kept): Promise<Findings> {
    return 'blob' in kept ? this.own.recall(kept.blob) : kept;
  }
}
