import { createReadStream } from 'node:fs';
import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import { Blobs } from '../../kernel/blobs.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Freshness, requireReached } from '../../kernel/event-sourcing/freshness.js';
import { deterministicId } from '../../kernel/ids.js';
import { DEFAULT_SOURCE_CONFIG } from './source/source-config.policy.js';
import type { SourceFile } from './source/source.events.js';
import { UploadSource } from './source/source.commands.js';

/** The id of the task that ingests a seeded source. */
export const seedingTask = (sourceId: string): string => deterministicId('seed', sourceId);

/** A source made by the service. Sections of fewer than `sectionTokensMin` tokens are joined with their neighbours. */
export type SeededSource = Readonly<{ sourceId: string; ownerId: string; name: string; sectionTokensMin: number }>;

/** Creates a source from files on disk. Does nothing if the id exists. */
@Injectable()
export class SeedSource {
  constructor(
    private readonly commands: Commands,
    private readonly blobs: Blobs,
    private readonly freshness: Freshness,
  ) {}

  async seed(
    { sourceId, ownerId, name, sectionTokensMin }: SeededSource,
    paths: readonly Readonly<{ path: string; filename: string }>[],
    cause: Cause,
  ): Promise<void> {
    const files: SourceFile[] = [];
    for (const { path, filename } of paths) files.push({ filename, ...(await this.blobs.put(createReadStream(path))) });
    const chunking = { ...DEFAULT_SOURCE_CONFIG.chunking, min_tokens: sectionTokensMin };
    const created = { sourceId, ownerId, name, config: { ...DEFAULT_SOURCE_CONFIG, chunking }, remote: null };
    const { position } = await this.commands.execute(new UploadSource(created, seedingTask(sourceId), files, cause));
    await requireReached(this.freshness, ['sources'], position!);
  }
}
