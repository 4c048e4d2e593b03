import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { SseStream, SseStreams } from '../../platform/http/sse.js';
import type { AgentKeyDirectory } from './agent-key-directory.port.js';
import type { Caller } from './caller.js';
import type { Identity } from './identity.js';
import type { AccessTokenDirectory } from './access-token-directory.port.js';
import { accessTokenSubject, agentKeySubject, type RevocableCredential } from './revocation/revocable-credential.js';
import type { RevocationWatch } from './revocation/revocation-watch.js';

/** What tells whether credentials still stand. */
export type CredentialDirectories = Readonly<{ tokens: () => AccessTokenDirectory; keys: () => AgentKeyDirectory }>;

/** Every event stream of this process ends when a credential ends with which it was asked for: none is left out. */
@Injectable()
export class CredentialStreams {
  private readonly identities = new WeakMap<IncomingMessage, Identity>();

  constructor(
    private readonly watch: RevocationWatch,
    private readonly directories: CredentialDirectories,
  ) {}

  over(streams: SseStreams): void {
    streams.onStart((request, stream) => {
      const identity = this.identities.get(request);
      if (identity) void this.follow(identity, stream);
    });
  }

  /** Who is behind a request whose response may become a stream. */
  note(request: IncomingMessage, identity: Identity): void {
    this.identities.set(request, identity);
  }

  private async follow(identity: Identity, stream: SseStream): Promise<void> {
    const callers = await identity.shown();
    if (stream.signal.aborted) return;
    for (const credential of callers.flatMap((caller) => this.revocable(caller))) {
      // What was written before is sent; nothing is written after.
      const leave = this.watch.watch(credential, () => stream.end());
      stream.signal.addEventListener('abort', leave, { once: true });
    }
  }

  private revocable(caller: Caller): readonly RevocableCredential[] {
    if (caller.kind === 'agent-key') {
      const { agentId, keyId } = caller;
      const subject = agentKeySubject(keyId);
      return [{ id: subject, subject, isValid: () => this.directories.keys().isCurrent(agentId, keyId) }];
    }
    const { userId, token: grant } = caller;
    if (!grant) return [];
    const subject = accessTokenSubject(grant.id);
    return [
      { id: `${subject}.${grant.generation}`, subject, isValid: () => this.directories.tokens().isValid({ userId, grant }) },
    ];
  }
}
