import { timingSafeEqual } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { AccessTokenQueries } from '../../../../projections/access-tokens/access-tokens.queries.js';
import { Clock } from '../../../kernel/clock.js';
import { type Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import { CredentialUses } from '../../../platform/credentials/credential-uses.port.js';
import { AccessTokenRules } from './access-token.commands.js';
import { AccessTokenDirectory, type AccessTokenHolder } from '../access-token-directory.port.js';
import { invalidToken, tokenExpired } from '../identity.rejections.js';
import { accessTokenHash } from './access-token.policy.js';
import { type AccessToken, type AccessTokens, accessTokens, isExpired } from './access-tokens.decider.js';
import { accessTokensStream } from './access-tokens.events.js';

const NOTED_EVERY_MS = 60_000;
const NOTED_TOKENS_MAX = 10_000;
const FOLDED_STREAMS_MAX = 1_000;

/**
 * Looks up the tokens of all users. The read model finds the owner of a hash. Whether the token is valid is decided on the log,
 * so that every process refuses a revoked token at once, even if its read model is behind.
 */
@Injectable()
export class StoredAccessTokens extends AccessTokenDirectory {
  private readonly logger = new Logger(StoredAccessTokens.name);
  /** The time of the last recorded use, by the id of the token. */
  private readonly noted = new LRUCache<string, number>({ max: NOTED_TOKENS_MAX });
  /** Folded states of streams. Each request reads only the events after the cached state, which are usually none. */
  private readonly folded = new LRUCache<string, Folded<AccessTokens>>({ max: FOLDED_STREAMS_MAX });

  constructor(
    private readonly tokens: AccessTokenQueries,
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly uses: CredentialUses,
    private readonly options: AccessTokenRules,
  ) {
    super();
  }

  async holderOf(token: string): Promise<AccessTokenHolder> {
    const hash = this.options.rules.enabled ? accessTokenHash(token) : undefined;
    const found = hash === undefined ? undefined : await this.tokens.byHash(hash);
    const stands = found && (await this.active(found.ownerId, found.id));
    if (!stands || !same(stands.hash, hash!)) throw invalidToken();
    // An expired token is not counted as wrong: it was valid once, so it was not guessed.
    if (isExpired(stands, this.clock.now())) throw tokenExpired();
    const { id, name, generation, scopes, resources } = stands;
    return { userId: stands.ownerId, grant: { id, name, generation, scopes, resources } };
  }

  async isValid({ userId, grant }: AccessTokenHolder): Promise<boolean> {
    const stands = await this.active(userId, grant.id);
    return stands?.generation === grant.generation && !isExpired(stands, this.clock.now());
  }

  noteUse(tokenId: string, address: string): void {
    const now = this.clock.now();
    if (now.getTime() - (this.noted.get(tokenId) ?? -Infinity) < NOTED_EVERY_MS) return;
    this.noted.set(tokenId, now.getTime());
    this.uses.note(tokenId, now, address).catch((error: unknown) => this.logger.warn(error));
  }

  private async active(ownerId: string, tokenId: string): Promise<AccessToken | undefined> {
    const stream = accessTokensStream(ownerId);
    const known = await this.streams.fold(stream, accessTokens, this.folded.get(stream));
    this.folded.set(stream, known);
    return known.state.tokens.get(tokenId);
  }
}

const same = (a: string, b: string) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
