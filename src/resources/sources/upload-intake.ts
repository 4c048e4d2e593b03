import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import { credentialIdOf } from '../identity/access.policy.js';
import type { SignedInUser } from '../identity/caller.js';
import { Blobs } from '../../kernel/blobs.js';
import { IdempotencyKeys, type KeyUse } from '../../kernel/event-sourcing/idempotency.js';
import { newId } from '../../kernel/ids.js';
import { sourceNameIn } from './source/source-name.policy.js';
import { Rejection } from '../../kernel/rejection.js';
import { isArchiveName } from '../documents/archive-name.policy.js';
import { Archives } from '../documents/archive.port.js';
import { Documents } from '../documents/document.port.js';
import { parseSourceConfig, type SourceConfig } from './source/source-config.policy.js';
import type { SourceFile } from './source/source.events.js';
import { UploadSource } from './source/source.commands.js';
import type { ReceivedUpload, StagedFile } from '../../platform/blobs/upload-staging.port.js';

/** How long an `Idempotency-Key` refers to its first upload. */
export abstract class UploadKeyTtl {
  abstract readonly milliseconds: number;
}

export type AcceptedUpload = Readonly<{
  sourceId: string;
  taskId: string;
  config: SourceConfig;
  again: boolean;
  position: bigint | undefined;
}>;

type Ids = Readonly<{ sourceId: string; taskId: string }>;

/** Creates a source from a completely received form. Validates everything before it stores anything. */
@Injectable()
export class UploadIntake {
  constructor(
    private readonly commands: Commands,
    private readonly keys: IdempotencyKeys,
    private readonly blobs: Blobs,
    private readonly documents: Documents,
    private readonly archives: Archives,
    private readonly keyTtl: UploadKeyTtl,
  ) {}

  /** @throws Rejection invalid-request, document-…, idempotency-key-invalid, idempotency-key-reused */
  async accept({ fields, files }: ReceivedUpload, user: SignedInUser, key: string | undefined): Promise<AcceptedUpload> {
    const name = sourceNameIn(fields.get('name'));
    if (name === '' || files.length === 0) throw new Rejection('invalid-request', 'Missing required fields or files');
    const config = parseSourceConfig(fields.get('config'));
    for (const file of files) await this.check(file);
    const { used, value } = await this.useKey(key, user, name, config, files);
    if (used === 'differently') {
      throw new Rejection('idempotency-key-reused', 'This Idempotency-Key was used for another upload.');
    }
    const created = { sourceId: value.sourceId, ownerId: user.userId, name, config, remote: null };
    const upload = new UploadSource(created, value.taskId, await this.keep(files), user.cause);
    const { position } = await this.commands.execute(upload);
    return { ...value, config, again: used === 'again', position };
  }

  private check({ filename, path }: StagedFile): Promise<void> {
    return isArchiveName(filename) ? this.archives.check(filename, path) : this.documents.check(filename, path);
  }

  private async useKey(
    key: string | undefined,
    user: SignedInUser,
    name: string,
    config: SourceConfig,
    files: readonly StagedFile[],
  ): Promise<KeyUse<Ids>> {
    const ids = { sourceId: newId(), taskId: newId() };
    if (key === undefined) return { used: 'first', value: ids };
    const fingerprint = this.keys.fingerprintOf(
      name,
      config,
      files.map(({ filename, sha256 }) => [filename, sha256]),
    );
    const used = { scope: 'upload', callerId: credentialIdOf(user), key, fingerprint, ttlMs: this.keyTtl.milliseconds };
    return this.keys.use(used, ids, user.cause);
  }

  private async keep(files: readonly StagedFile[]): Promise<readonly SourceFile[]> {
    const kept: SourceFile[] = [];
    for (const { filename, open } of files) kept.push({ filename, ...(await this.blobs.put(open())) });
    return kept;
  }
}
