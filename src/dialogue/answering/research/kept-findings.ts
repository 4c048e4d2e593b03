import { Injectable } from '@nestjs/common';
import { Blobs } from '../../../kernel/blobs.js';
import { OwnBlobs } from '../../../kernel/own-blobs.js';
import type { Findings, ResearchStepReported } from './research.events.js';

type Kept = ResearchStepReported['data']['findings'];

/** Stores the findings of research steps. */
@Injectable()
export class KeptFindings {
  private readonly own: OwnBlobs<Findings>;

  constructor(blobs: Blobs) {
    this.own = new OwnBlobs(blobs, 'findings');
  }

  /** @throws BlobsUnavailable */
  async keep(turnId: string, step: number, findings: Findings): Promise<Kept> {
    const kept = await this.own.keep({ turnId, step }, findings);
    return 'blob' in kept ? kept : findings;
  }

  /** @throws BlobMissing, BlobsUnavailable */
  async recall(kept: Kept): Promise<Findings> {
    return 'blob' in kept ? this.own.recall(kept.blob) : kept;
  }
}
