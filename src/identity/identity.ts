import { Rejection } from '../kernel/rejection.js';
import type { AgentKeyDirectory } from './agent-key-directory.port.js';
import { AGENT_KEY_CHARACTERS_MAX, agentKeyHash, usableKey } from './agent-keys.policy.js';
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
    /** The page that sends the request, where a browser tells. */
    private readonly origin: string | undefined,
  ) {}

  /** The holder of the key that was sent, undefined when none was. @throws Rejection unknown-agent-key, origin-not-allowed */
  agentKey(): Promise<AgentKeyCaller | undefined> {
    return (this.lookedUp ??= this.lookUpPresented());
  }

  /** A key goes before a token: what is asked with a key is asked of its agent. @throws Rejection unknown-agent-key, origin-not-allowed */
  async caller(): Promise<Caller | undefined> {
    return (await this.agentKey()) ?? this.user;
  }

  /**
   * The holder of a key where a session suffices: to somebody signed in, a key that is no agent's does not matter. By default of
   * the key that was sent. @throws Rejection unknown-agent-key, origin-not-allowed
   */
  async agentKeyBesideSession(
    holder: Promise<AgentKeyCaller | undefined> = this.agentKey(),
  ): Promise<AgentKeyCaller | undefined> {
    return holder.catch((error: unknown) => {
      if (error instanceof Rejection && error.code === 'unknown-agent-key' && this.user) return undefined;
      throw error;
    });
  }

  private async lookUpPresented(): Promise<AgentKeyCaller | undefined> {
    const key = this.presentedKey();
    return key === undefined ? undefined : this.holderOf(key);
  }

  /**
   * The holder of a key that came where only the route looks, as in a field between uploaded files.
   * @throws Rejection unknown-agent-key, origin-not-allowed
   */
  async holderOf(key: string): Promise<AgentKeyCaller> {
    const found = key.length <= AGENT_KEY_CHARACTERS_MAX ? await this.directory().byHash(agentKeyHash(key)) : undefined;
    const { agentId, ownerId, keyId } = usableKey(found, this.origin);
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
