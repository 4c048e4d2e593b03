import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../../kernel/clock.js';
import { Command, type Handler } from '../../../../kernel/commands.js';
import type { Cause } from '../../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../../kernel/event-sourcing/streams.js';
import {
  awaitSignIn,
  fail,
  failOverdue,
  grant,
  lose,
  type NewHandshake,
  type OAuthGrant,
  oauthGrant,
  refresh,
  start,
  takeState,
} from './oauth.decider.js';
import { type GrantedTool, oauthStream } from './oauth.events.js';

/** Starts a handshake with an authorization server. The caller chooses the id, so the command may be repeated. */
export class StartHandshake extends Command {
  constructor(
    readonly handshake: Omit<NewHandshake, 'now'>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(StartHandshake)
export class StartHandshakeHandler implements Handler<StartHandshake> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ handshake, cause }: StartHandshake): Promise<void> {
    const decision = start({ ...handshake, now: this.clock.now() });
    await this.streams.transact(oauthStream(handshake.handshakeId), oauthGrant, decision, cause);
  }
}

/** Records that the owner is asked to sign in. Returns the handshake. */
export class AwaitSignIn extends Command<OAuthGrant> {
  constructor(
    readonly handshakeId: string,
    readonly signIn: Parameters<typeof awaitSignIn>[0],
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(AwaitSignIn)
export class AwaitSignInHandler implements Handler<AwaitSignIn> {
  constructor(private readonly streams: Streams) {}

  async execute({ handshakeId, signIn, cause }: AwaitSignIn): Promise<OAuthGrant> {
    return (await this.streams.transact(oauthStream(handshakeId), oauthGrant, awaitSignIn(signIn), cause)).state;
  }
}

/** Uses the state with which the owner returned; it works once. Returns the handshake. */
export class TakeSignInState extends Command<OAuthGrant> {
  constructor(
    readonly handshakeId: string,
    readonly stateHash: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(TakeSignInState)
export class TakeSignInStateHandler implements Handler<TakeSignInState> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ handshakeId, stateHash, cause }: TakeSignInState): Promise<OAuthGrant> {
    const decision = takeState(stateHash, this.clock.now());
    return (await this.streams.transact(oauthStream(handshakeId), oauthGrant, decision, cause)).state;
  }
}

/** Records the grant. Its tokens are in the vault. Returns the handshake. */
export class GrantSignIn extends Command<OAuthGrant> {
  constructor(
    readonly handshakeId: string,
    readonly credentialsId: string,
    readonly tools: readonly GrantedTool[],
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(GrantSignIn)
export class GrantSignInHandler implements Handler<GrantSignIn> {
  constructor(private readonly streams: Streams) {}

  async execute({ handshakeId, credentialsId, tools, cause }: GrantSignIn): Promise<OAuthGrant> {
    return (await this.streams.transact(oauthStream(handshakeId), oauthGrant, grant(credentialsId, tools), cause)).state;
  }
}

/** Records that a sign-in failed. Returns the handshake. */
export class FailSignIn extends Command<OAuthGrant> {
  constructor(
    readonly handshakeId: string,
    readonly reason: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(FailSignIn)
export class FailSignInHandler implements Handler<FailSignIn> {
  constructor(private readonly streams: Streams) {}

  async execute({ handshakeId, reason, cause }: FailSignIn): Promise<OAuthGrant> {
    return (await this.streams.transact(oauthStream(handshakeId), oauthGrant, fail(reason), cause)).state;
  }
}

/** Fails a sign-in that is still open and expired before `by`. */
export class FailOverdueSignIn extends Command {
  constructor(
    readonly handshakeId: string,
    readonly by: Date,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(FailOverdueSignIn)
export class FailOverdueSignInHandler implements Handler<FailOverdueSignIn> {
  constructor(private readonly streams: Streams) {}

  async execute({ handshakeId, by, cause }: FailOverdueSignIn): Promise<void> {
    await this.streams.transact(oauthStream(handshakeId), oauthGrant, failOverdue(by), cause);
  }
}

/** Replaces the tokens of a grant by new ones, which are in the vault. */
export class RefreshTokens extends Command {
  constructor(
    readonly grantId: string,
    readonly before: string,
    readonly credentialsId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(RefreshTokens)
export class RefreshTokensHandler implements Handler<RefreshTokens> {
  constructor(private readonly streams: Streams) {}

  async execute({ grantId, before, credentialsId, cause }: RefreshTokens): Promise<void> {
    await this.streams.transact(oauthStream(grantId), oauthGrant, refresh(before, credentialsId), cause);
  }
}

/** Records that the authorization server no longer accepts the tokens of a grant. */
export class MarkGrantLost extends Command {
  constructor(
    readonly grantId: string,
    readonly before: string,
    readonly reason: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(MarkGrantLost)
export class MarkGrantLostHandler implements Handler<MarkGrantLost> {
  constructor(private readonly streams: Streams) {}

  async execute({ grantId, before, reason, cause }: MarkGrantLost): Promise<void> {
    await this.streams.transact(oauthStream(grantId), oauthGrant, lose(before, reason), cause);
  }
}

export const oauthHandlers = [
  AwaitSignInHandler,
  FailOverdueSignInHandler,
  FailSignInHandler,
  GrantSignInHandler,
  MarkGrantLostHandler,
  RefreshTokensHandler,
  StartHandshakeHandler,
  TakeSignInStateHandler,
];
