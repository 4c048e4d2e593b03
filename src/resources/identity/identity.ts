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

/** What the identity of a request is found out with. */
export type IdentityMeans = Readonly<{
  directory: () => AgentKeyDirectory;
  links: () => AskingLinks;
  /** @throws Rejection too-many-wrong-credentials */
  countWrong: () => Promise<void>;
  /** A key, or a link, has let its holder in. */
  letsIn: (holder: AgentKeyCaller | LinkCaller) => void;
  /** The page that sends the request, where a browser tells. */
  origin: string | undefined;
}>;

/** Who is behind one request. The bearer is settled before the body is read; an agent key is looked up when first asked for. */
export class Identity {
  private lookedUp: Promise<AgentKeyCaller | undefined> | undefined;
  private reader: Promise<LinkCaller> | undefined;
  private counted: Promise<void> | undefined;

  constructor(
    readonly requestId: string,
    /** Undefined when authentication is on and no token was sent. */
    readonly user: SignedInUser | undefined,
    private readonly presentedKey: () => string | undefined,
    private readonly means: IdentityMeans,
    /** There at the routes of devices alone, and then nobody else is. */
    readonly device?: DeviceCaller,
  ) {}

  /**
   * The holder of the key that was sent, undefined when none was.
   * @throws Rejection unknown-agent-key, origin-not-allowed, too-many-wrong-credentials
   */
  agentKey(): Promise<AgentKeyCaller | undefined> {
    return this.lettingIn(this.presented());
  }

  /** A key goes before a token: what is asked with a key is asked of its agent. @throws Rejection as `agentKey` */
  async caller(): Promise<Caller | undefined> {
    return (await this.agentKey()) ?? this.user;
  }

  /** As `caller`, where readers of links may ask as well: they send the link's token in the place of a key. @throws Rejection as `agentKey` */
  async callerOrReader(): Promise<Caller | undefined> {
    const token = this.presentedKey();
    return token !== undefined && isLinkToken(token) ? this.lettingIn((this.reader ??= this.readerOf(token))) : this.caller();
  }

  /**
   * The holder of the key that was sent, where a session suffices: to somebody signed in, a key that is no agent's does not
   * matter. @throws Rejection as `agentKey`
   */
  agentKeyBesideSession(): Promise<AgentKeyCaller | undefined> {
    return this.besideSession(this.presented());
  }

  /** As `agentKeyBesideSession` for a key that only the route finds, as in a field between uploaded files. */
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

  /** A request is refused for one wrong key, however many of its parts ask for the key's holder. */
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
