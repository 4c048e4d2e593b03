import { Injectable } from '@nestjs/common';
import { ArtifactQueries } from '../../../projections/artifacts/artifacts.queries.js';
import { quotaExceeded } from './artifact.decider.js';
import { ArtifactsOptions } from './artifacts-options.js';

/**
 * The storage limits of a user. Usage is counted in the read model. Handlers wait for it after they store, so the steps of one run
 * count each other's artifacts. Two runs of a user that store at the same moment may together exceed a limit by what they store.
 */
@Injectable()
export class ArtifactQuota {
  constructor(
    private readonly artifacts: ArtifactQueries,
    private readonly options: ArtifactsOptions,
  ) {}

  /** @throws Rejection artifact-quota-exceeded */
  async require(ownerId: string, bytes: number, isNew: boolean): Promise<void> {
    const { versionBytesMax, perUserMax, bytesPerUserMax } = this.options.limits;
    if (isOver(bytes, versionBytesMax)) throw quotaExceeded(`A file may have ${versionBytesMax} bytes at most.`);
    if (perUserMax === 0 && bytesPerUserMax === 0) return;
    const kept = await this.artifacts.usageOf(ownerId);
    if (isNew && isOver(kept.artifacts + 1, perUserMax)) throw quotaExceeded(`A user may keep ${perUserMax} artifacts at most.`);
    if (isOver(kept.bytes + bytes, bytesPerUserMax)) {
      throw quotaExceeded(`The artifacts of a user may have ${bytesPerUserMax} bytes at most.`);
    }
  }
}

const isOver = (size: number, max: number): boolean => max > 0 && size > max;
