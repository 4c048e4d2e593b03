import type { Blobs } from '../../../kernel/blobs.js';
import type { Clock } from '../../../kernel/clock.js';
import { Rejection } from '../../../kernel/rejection.js';
import type { Timing } from '../../../kernel/timing.js';
import {
  CredentialsMissing,
  CredentialsUnreadable,
  type CredentialVault,
} from '../../../platform/credentials/credential-vault.port.js';
import type { OutgoingHttp } from '../../../platform/outgoing/outgoing-http.port.js';
import type { SourceFile, StoreOrigin } from '../source/source.events.js';
import type { GatheredPages, GatheringProgress } from './gathering.js';
import type { RemoteLimits } from './remote-limits.js';
import { RemoteRequests } from './remote-requests.js';
import { FileGathering } from './file-gathering.js';
import type { FileStore } from './file-store.js';
import { type GithubAddresses, GithubRepository } from './github-repository.js';
import { S3Bucket } from './s3-bucket.js';

/** Reads the files of a repository or a bucket and stores their bytes, within the limits of one ingestion. */
export class RemoteFiles {
  constructor(
    private readonly parts: Readonly<{
      http: OutgoingHttp;
      blobs: Blobs;
      vault: CredentialVault;
      limits: RemoteLimits;
      github: GithubAddresses;
      clock: Clock;
      timing: Timing;
    }>,
  ) {}

  /** @throws Rejection `pages-not-fetched` if the credentials cannot be read any more */
  async gather(
    origin: StoreOrigin,
    ownerId: string,
    earlier: readonly SourceFile[],
    signal: AbortSignal,
    progress: GatheringProgress,
  ): Promise<GatheredPages> {
    const { http, blobs, limits } = this.parts;
    const secrets = await this.secretsOf(ownerId, origin.credentialsId);
    const store = this.storeOf(origin, secrets, new RemoteRequests(http, limits, signal));
    return new FileGathering({ store, blobs, limits, progress }, earlier).from(origin.urls[0]!);
  }

  private storeOf(origin: StoreOrigin, secrets: Readonly<Record<string, string>>, requests: RemoteRequests): FileStore {
    const { github: addresses, clock, timing } = this.parts;
    if (origin.kind === 'github') {
      return new GithubRepository({ requests, addresses, clock, timing }, origin, secrets['accessToken']);
    }
    const { accessKeyId = '', secretAccessKey = '' } = secrets;
    return new S3Bucket({ requests, clock }, origin, { accessKeyId, secretAccessKey });
  }

  private async secretsOf(ownerId: string, credentialsId: string | null): Promise<Readonly<Record<string, string>>> {
    if (credentialsId === null) return {};
    return this.parts.vault.reveal(ownerId, credentialsId).catch((error: unknown) => {
      if (!(error instanceof CredentialsMissing || error instanceof CredentialsUnreadable)) throw error;
      throw new Rejection('pages-not-fetched', 'The credentials of this source cannot be read any more: add the source again.');
    });
  }
}
