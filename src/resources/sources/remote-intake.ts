import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import { credentialIdOf } from '../identity/access.policy.js';
import type { SignedInUser } from '../identity/caller.js';
import { IdempotencyKeys, type KeyUse } from '../../kernel/event-sourcing/idempotency.js';
import { newId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { CredentialVault } from '../../platform/credentials/credential-vault.port.js';
import { AddressRefused, OutgoingHttp } from '../../platform/outgoing/outgoing-http.port.js';
import { type AcceptedUpload, UploadKeyTtl } from './upload-intake.js';
import { AddRemoteSource } from './source/sync.commands.js';
import { PAGE_URL_CHARACTERS_MAX, RemoteOptions } from './remote/remote-limits.js';
import { s3EndpointOf } from './remote/s3-request.policy.js';
import type { RemoteOrigin } from './source/source.events.js';
import { type RemoteFields, type RemoteRequest, remoteRequestIn } from './remote/remote-request.policy.js';

type Ids = Readonly<{ sourceId: string; taskId: string }>;

/** Creates a source from web pages, a repository or a bucket. Refuses here what can be refused before fetching. */
@Injectable()
export class RemoteIntake {
  constructor(
    private readonly commands: Commands,
    private readonly keys: IdempotencyKeys,
    private readonly outgoing: OutgoingHttp,
    private readonly options: RemoteOptions,
    private readonly keyTtl: UploadKeyTtl,
    private readonly vault: CredentialVault,
  ) {}

  /** @throws Rejection invalid-request, idempotency-key-reused */
  async accept(fields: RemoteFields, user: SignedInUser, key: string | undefined): Promise<AcceptedUpload> {
    const request = remoteRequestIn(fields, {
      urlsMax: this.options.limits.pagesMax,
      urlCharactersMax: PAGE_URL_CHARACTERS_MAX,
      githubWebHost: this.options.githubWebHost,
    });
    await this.checkAddresses(addressesOf(request.origin));
    const { used, value } = await this.useKey(key, user, request);
    if (used === 'differently') {
      throw new Rejection('idempotency-key-reused', 'This Idempotency-Key was used for another source.');
    }
    const position = await this.add(request, value, user);
    return { ...value, config: request.config, again: used === 'again', position };
  }

  /**
   * Stores the credentials before the source that refers to them. A crash in between leaves sealed credentials without a source.
   * If the request is a repetition, the source already refers to other credentials, and the new ones are deleted.
   */
  private async add(request: RemoteRequest, { sourceId, taskId }: Ids, { userId: ownerId, cause }: SignedInUser) {
    const { name, config, origin, secrets, frequency } = request;
    const credentialsId = Object.keys(secrets).length > 0 ? await this.vault.keep(ownerId, secrets) : null;
    const remote = credentialsId === null ? origin : { ...origin, credentialsId };
    const created = { sourceId, ownerId, name, config, remote };
    const added = await this.commands.execute(new AddRemoteSource(created, taskId, frequency, cause));
    if (credentialsId !== null && added.credentialsId !== credentialsId) await this.vault.delete(ownerId, credentialsId);
    return added.position;
  }

  /** Checks one address of each host, because the check concerns the host's IP addresses. */
  private async checkAddresses(urls: readonly string[]): Promise<void> {
    const perHost = new Map(urls.map((url) => [new URL(url).origin, url]));
    const checked = await Promise.allSettled([...perHost.values()].map((url) => this.outgoing.check(url)));
    for (const outcome of checked) {
      if (outcome.status === 'fulfilled') continue;
      const { reason } = outcome as { reason: unknown };
      throw reason instanceof AddressRefused ? new Rejection('invalid-request', reason.message) : reason;
    }
    const named = urls.find((url) => new URL(url).username !== '' || new URL(url).password !== '');
    if (named !== undefined) throw new Rejection('invalid-request', 'A URL must not hold a user name or a password.');
  }

  /** The fingerprint leaves credentials out, so a repetition with another token counts as the same request. */
  private async useKey(key: string | undefined, user: SignedInUser, request: RemoteRequest): Promise<KeyUse<Ids>> {
    const ids = { sourceId: newId(), taskId: newId() };
    if (key === undefined) return { used: 'first', value: ids };
    const { name, origin, config, frequency } = request;
    const fingerprint = this.keys.fingerprintOf(name, origin, config, frequency);
    const used = { scope: 'remote', callerId: credentialIdOf(user), key, fingerprint, ttlMs: this.keyTtl.milliseconds };
    return this.keys.use(used, ids, user.cause);
  }
}

/** The addresses that the owner chose. GitHub's address is configured by the operator and needs no check. */
function addressesOf(origin: RemoteOrigin): readonly string[] {
  if (origin.kind === 'github') return [];
  return origin.kind === 's3' ? [s3EndpointOf(origin)] : origin.urls;
}
