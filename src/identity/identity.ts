import { Rejection } from '../kernel/rejection.js';
import type { AgentKeyDirectory } from './agent-key-directory.port.js';
import { AGENT_KEY_CHARACTERS_MAX, agentKeyHash } from './agent-keys.policy.js';
import type { AgentKeyCaller, Caller, SignedInUser } from './caller.js';

/** Who is behind one request. The bearer is settled before the body is read; an agent key is looked up when first asked for. */
export class Identity {
  private lookedUp: Promise<AgentKeyCaller | undefined> | undefined;

  constructor(
    readonly requestId: string,
    /** Undefined when authentication is on and no token was sent. */
    readonly user: SignedInUser | undefined,
    private readonly presentedKey: () => string | undefined,
    private readonly directory: () => AgentKeyDirectory,
  ) {}

  /** The holder of the key that was sent, undefined when none was. @throws Rejection unknown-agent-key */
  agentKey(): Promise<AgentKeyCaller | undefined> {
    return (this.lookedUp ??= this.lookUpPresented());
  }

  /** A key goes before a token: what is asked with a key is asked of its agent. @throws Rejection unknown-agent-key */
  async caller(): Promise<Caller | undefined> {
    return (await this.agentKey()) ?? this.user;
  }

  private async lookUpPresented(): Promise<AgentKeyCaller | undefined> {
    const key = this.presentedKey();
    return key === undefined ? undefined : this.holderOf(key);
  }

  /** The holder of a key that came where only the route looks, as in a field between uploaded files. @throws Rejection unknown-agent-key */
  async holderOf(key: string): Promise<AgentKeyCaller> {
    const holder = key.length <= AGENT_KEY_CHARACTERS_MAX ? await this.directory().byHash(agentKeyHash(key)) : undefined;
    if (!holder) throw new Rejection('unknown-agent-key', 'Invalid API key');
    const { agentId, ownerId, keyId } = holder;
    const cause = {
      actor: `agent-key:${keyId}`,
      credential: 'agent-key',
      correlationId: this.requestId,
      causationId: this.requestId,
    } as const;
    return { kind: 'agent-key', agentId, ownerId, keyId, signedIn: this.user, cause };
  }
}

export const unauthenticated = (): Rejection => new Rejection('unauthenticated', 'Unauthorized');
