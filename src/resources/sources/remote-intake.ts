import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import { credentialIdOf } from '../identity/access.policy.js';
import type { SignedInUser } from '../identity/caller.js';
import { IdempotencyKeys, type KeyUse } from '../../kernel/event-sourcing/idempotency.js';
import { newId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { AddressRefused, OutgoingHttp } from '../../platform/outgoing/outgoing-http.port.js';
import { type AcceptedUpload, NAME_CHARACTERS_MAX, UploadKeyTtl } from './upload-intake.js';
import { AddRemoteSource } from './source/source.commands.js';
import { PAGE_URL_CHARACTERS_MAX, RemoteOptions } from './remote/remote-limits.js';
import { type RemoteFields, type RemoteRequest, remoteRequestIn } from './remote/remote-request.policy.js';

type Ids = Readonly<{ sourceId: string; taskId: string }>;

/** Makes a source of pages on the web. Everything that can be refused before they are fetched is refused here. */
@Injectable()
export class RemoteIntake {
  constructor(
    private readonly commands: Commands,
    private readonly keys: IdempotencyKeys,
    private readonly outgoing: OutgoingHttp,
    private readonly options: RemoteOptions,
    private readonly keyTtl: UploadKeyTtl,
  ) {}

  /** @throws Rejection invalid-request, idempotency-key-reused */
  async accept(fields: RemoteFields, user: SignedInUser, key: string | undefined): Promise<AcceptedUpload> {
    const request = remoteRequestIn(fields, {
      urlsMax: this.options.limits.pagesMax,
      urlCharactersMax: PAGE_URL_CHARACTERS_MAX,
      nameCharactersMax: NAME_CHARACTERS_MAX,
    });
    await this.checkAddresses(request.origin.urls);
    const { used, value } = await this.useKey(key, user, request);
    if (used === 'differently') {
      throw new Rejection('idempotency-key-reused', 'This Idempotency-Key was used for another source.');
    }
    const { name, config, origin, frequency } = request;
    const created = { sourceId: value.sourceId, ownerId: user.userId, name, config, remote: origin };
    const { position } = await this.commands.execute(new AddRemoteSource(created, value.taskId, frequency, user.cause));
    return { ...value, config, again: used === 'again', position };
  }

  /** Each host once: where it leads is what is checked. */
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

  private async useKey(key: string | undefined, user: SignedInUser, request: RemoteRequest): Promise<KeyUse<Ids>> {
    const ids = { sourceId: newId(), taskId: newId() };
    if (key === undefined) return { used: 'first', value: ids };
    const { name, origin, config, frequency } = request;
    const fingerprint = this.keys.fingerprintOf(name, origin, config, frequency);
    const used = { scope: 'remote', callerId: credentialIdOf(user), key, fingerprint, ttlMs: this.keyTtl.milliseconds };
    return this.keys.use(used, ids, user.cause);
  }
}
