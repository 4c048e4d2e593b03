import { Rejection } from '../../kernel/rejection.js';
import type { AgentKeyDirectory } from './agent-key-directory.port.js';
import { AGENT_KEY_CHARACTERS_MAX, agentKeyHash, usableKey } from './agent-keys.policy.js';
import { isLinkToken, linkTokenHash } from '../../kernel/event-sourcing/link-tokens.js';
import {
  type AgentKeyCaller,
  type Caller,
  type DeviceCaller,
  keyIdOfLink,
  type LinkCaller,
  type SignedInUser,
} from './caller.js';
import type { AskingLinks } from './links/asking-links.port.js';

/** What `Identity` needs for looking up the caller. */
export type IdentityMeans = Readonly<{
  directory: () => AgentKeyDirectory;
  links: () => AskingLinks;
  /** @throws Rejection too-many-wrong-credentials */
  countWrong: () => Promise<void>;
  /** Called when the holder of a key or of a link has been identified. */
  letsIn: (holder: AgentKeyCaller | LinkCaller) => void;
  /** The `Origin` header, which browsers send. */
  origin: string | undefined;
}>;

/** The caller of one request. The user is known before the body is read. An agent key is looked up when it is first needed. */
export class Identity {
  private lookedUp: Promise<AgentKeyCaller | undefined> | undefined;
  private reader: Promise<LinkCaller> | undefined;
  private counted: Promise<void> | undefined;

  constructor(
    readonly requestId: string,
    /** Undefined if authentication is on and the request has no token. */
    readonly user: SignedInUser | undefined,
    private readonly presentedKey: () => string | undefined,
    private readonly means: IdentityMeans,
    /** Set only on the routes of devices, where there is no other caller. */
    readonly device?: DeviceCaller,
  ) {}

  /**
   * The holder of the key in the request. Undefined if it has no key.
   * @throws Rejection unknown-agent-key, origin-not-allowed, too-many-wrong-credentials
   */
  agentKey(): Promise<AgentKeyCaller | undefined> {
    return this.lettingIn(this.presented());
  }

  /**
   * The holder of the key, otherwise the user. The key has priority, because it selects the agent.
   * @throws Rejection as `agentKey`
   */
  async caller(): Promise<Caller | undefined> {
    return (await this.agentKey()) ?? this.user;
  }

  /** As `caller`, but also for readers of links, who send the link's token instead of a key. @throws Rejection as `agentKey` */
  async callerOrReader(): Promise<Caller | undefined> {
    const token = this.presentedKey();
    return token !== undefined && isLinkToken(token) ? this.lettingIn((this.reader ??= this.readerOf(token))) : this.caller();
  }

  /**
   * The holder of the key in the request, for routes that need only a session. An unknown key is ignored if a user is signed in.
   * @throws Rejection as `agentKey`
   */
  agentKeyBesideSession(): Promise<AgentKeyCaller | undefined> {
    return this.besideSession(this.presented());
  }

  /** As `agentKeyBesideSession`, for a key that only the route can read, such as a form field between uploaded files. */
  fieldKeyBesideSession(key: string): Promise<AgentKeyCaller | undefined> {
    return this.besideSession(this.holderOf(key));
  }

  private besideSession(holder: Promise<AgentKeyCaller | undefined>): Promise<AgentKeyCaller | undefined> {
    if (!this.user) return this.lettingIn(holder);
    return holder.catch((error: unknown) => {
      if (isUnknownKey(error)) return undefined;
      throw error;
    });
  }

  /** Reports the holder. Counts a wrong key only once per request, even if several parts of the code look it up. */
  private async lettingIn<Holder extends AgentKeyCaller | LinkCaller | undefined>(lookup: Promise<Holder>): Promise<Holder> {
    try {
      const holder = await lookup;
      if (holder) this.means.letsIn(holder);
      return holder;
    } catch (error) {
      if (isUnknownKey(error)) await (this.counted ??= this.means.countWrong());
      throw error;
    }
  }

  private async readerOf(token: string): Promise<LinkCaller> {
    const link = await this.means.links().byHash(linkTokenHash(token));
    if (!link) throw new Rejection('unknown-agent-key', 'Invalid API key');
    const { requestId } = this;
    const cause = {
      actor: keyIdOfLink(link.linkId),
      credential: 'link',
      correlationId: requestId,
      causationId: requestId,
    } as const;
    return { kind: 'link', ...link, signedIn: undefined, cause };
  }

  private presented(): Promise<AgentKeyCaller | undefined> {
    return (this.lookedUp ??= this.lookUpPresented());
  }

  private async lookUpPresented(): Promise<AgentKeyCaller | undefined> {
    const key = this.presentedKey();
    return key === undefined ? undefined : this.holderOf(key);
  }

  private async holderOf(key: string): Promise<AgentKeyCaller> {
    const { directory, origin } = this.means;
    const found = key.length <= AGENT_KEY_CHARACTERS_MAX ? await directory().byHash(agentKeyHash(key)) : undefined;
    const { agentId, ownerId, keyId } = usableKey(found, origin);
    const cause = {
      actor: `agent-key:${keyId}`,
      credential: 'agent-key',
      correlationId: this.requestId,
      causationId: this.requestId,
    } as const;
    return { kind: 'agent-key', agentId, ownerId, keyId, signedIn: this.user, cause };
  }
}

const isUnknownKey = (error: unknown): boolean => error instanceof Rejection && error.code === 'unknown-agent-key';

export const unauthenticated = (): Rejection => new Rejection('unauthenticated', 'Unauthorized');
