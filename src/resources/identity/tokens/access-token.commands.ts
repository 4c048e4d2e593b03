import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { newId } from '../../../kernel/ids.js';
import { Signals } from '../../../kernel/messaging/signals.js';
import { expiryIn, freshAccessToken, type TokenRules } from './access-token.policy.js';
import { accessTokens, create, regenerate, revoke, type TokenWish } from './access-tokens.decider.js';
import { type AccessTokenId, accessTokensStream } from './access-tokens.events.js';
import { CREDENTIAL_ENDED } from '../caller.js';

/** A token with its secret, which cannot be read again later. */
export type IssuedToken = Readonly<{ tokenId: AccessTokenId; token: string; position: bigint | undefined }>;

/** The operator's rules for tokens. */
export class AccessTokenRules {
  constructor(readonly rules: TokenRules) {}
}

/** Creates a personal access token. */
export class CreateAccessToken extends Command<IssuedToken> {
  constructor(
    readonly ownerId: string,
    readonly wish: Omit<TokenWish, 'expiresAt'> & Readonly<{ expiresInDays: unknown }>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(CreateAccessToken)
class CreateAccessTokenHandler implements Handler<CreateAccessToken> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly options: AccessTokenRules,
  ) {}

  async execute({ ownerId, wish: { expiresInDays, ...wish }, cause }: CreateAccessToken): Promise<IssuedToken> {
    const { rules } = this.options;
    const now = this.clock.now();
    const tokenId = newId();
    const { token, secret } = freshAccessToken();
    const whole = { ...wish, expiresAt: expiryIn(expiresInDays, rules, now) };
    const decision = create(tokenId, ownerId, whole, secret, rules.maxPerUser, now);
    const { position } = await this.streams.transact(accessTokensStream(ownerId), accessTokens, decision, cause);
    return { tokenId, token, position };
  }
}

/** Gives a token a new secret. The previous secret becomes invalid, and the responses that it opened are ended. */
export class RegenerateAccessToken extends Command<IssuedToken> {
  constructor(
    readonly tokenId: AccessTokenId,
    readonly ownerId: string,
    readonly expiresInDays: unknown,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(RegenerateAccessToken)
class RegenerateAccessTokenHandler implements Handler<RegenerateAccessToken> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly signals: Signals,
    private readonly options: AccessTokenRules,
  ) {}

  async execute({ tokenId, ownerId, expiresInDays, cause }: RegenerateAccessToken): Promise<IssuedToken> {
    const { rules } = this.options;
    const now = this.clock.now();
    const { token, secret } = freshAccessToken();
    const decision = regenerate(tokenId, secret, expiryIn(expiresInDays, rules, now), rules.maxPerUser, now);
    const { position } = await this.streams.transact(accessTokensStream(ownerId), accessTokens, decision, cause);
    this.signals.publish(CREDENTIAL_ENDED, tokenId);
    return { tokenId, token, position };
  }
}

/** Revokes a token. The responses that it opened are ended. */
export class RevokeAccessToken extends Command<bigint | undefined> {
  constructor(
    readonly tokenId: AccessTokenId,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(RevokeAccessToken)
class RevokeAccessTokenHandler implements Handler<RevokeAccessToken> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly signals: Signals,
  ) {}

  async execute({ tokenId, ownerId, cause }: RevokeAccessToken): Promise<bigint | undefined> {
    const decision = revoke(tokenId, this.clock.now());
    const { position } = await this.streams.transact(accessTokensStream(ownerId), accessTokens, decision, cause);
    this.signals.publish(CREDENTIAL_ENDED, tokenId);
    return position;
  }
}

export const accessTokenHandlers = [CreateAccessTokenHandler, RegenerateAccessTokenHandler, RevokeAccessTokenHandler];
