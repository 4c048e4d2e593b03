import { type CanActivate, createParamDecorator, type ExecutionContext, type ParamDecoratorEnhancer } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import type { Caller, SignedInUser } from './caller.js';
import { type Identity, unauthenticated } from './identity.js';

/** A request after the hook of the identity module has seen it. */
export type IdentifiedRequest = { identity: Identity };

export function identityOf(context: ExecutionContext): Identity {
  const { identity } = context.switchToHttp().getRequest<Partial<IdentifiedRequest>>();
  if (!identity) throw new Error('The identity module is not part of this application.');
  return identity;
}

/** Names the credentials of an operation in the reference; any one of them suffices. */
export const takes =
  (...schemes: readonly ('bearer' | 'agent-key')[]): ParamDecoratorEnhancer =>
  (controller, operation) => {
    const handler = Object.getOwnPropertyDescriptor(controller, operation!)!;
    for (const scheme of schemes) (ApiSecurity(scheme) as MethodDecorator)(controller, operation!, handler);
  };

/** The signed-in user; 401 for everybody else, whatever key they hold. */
export const CurrentUser = createParamDecorator(
  (_: unknown, context: ExecutionContext): SignedInUser => {
    const { user } = identityOf(context);
    if (!user) throw unauthenticated();
    return user;
  },
  [takes('bearer')],
);

/** A guard for routes whose interceptors read files: 401 before the first byte of them for everybody who is not signed in. */
export class SignedInOnly implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (!identityOf(context).user) throw unauthenticated();
    return true;
  }
}

/** The holder of the agent key that was sent, else the signed-in user; 401 when the key is unknown, and when there is neither. */
export const KnownCaller = createParamDecorator(
  async (_: unknown, context: ExecutionContext): Promise<Caller> => {
    const caller = await identityOf(context).caller();
    if (!caller) throw unauthenticated();
    return caller;
  },
  [takes('bearer', 'agent-key')],
);

/** The whole identity, for routes that decide themselves when a key is looked up. */
export const RequestIdentity = createParamDecorator(
  (_: unknown, context: ExecutionContext): Identity => identityOf(context),
  [takes('bearer', 'agent-key')],
);

/** The whole identity, for routes that take the key of an agent and no session. */
export const KeyIdentity = createParamDecorator(
  (_: unknown, context: ExecutionContext): Identity => identityOf(context),
  [takes('agent-key')],
);

/** The signed-in user if there is one, for routes that decide themselves what they refuse first. */
export const UserIfSignedIn = createParamDecorator(
  (_: unknown, context: ExecutionContext): SignedInUser | undefined => identityOf(context).user,
  [takes('bearer')],
);

/** Who makes facts happen in this request. 401 when there is none. An `api_key` that is no agent's does not matter to a user who is signed in. */
export const RequestCause = createParamDecorator(
  async (_: unknown, context: ExecutionContext): Promise<Cause> => {
    const identity = identityOf(context);
    const cause = ((await identity.agentKeyBesideSession()) ?? identity.user)?.cause;
    if (!cause) throw unauthenticated();
    return cause;
  },
  [takes('bearer', 'agent-key')],
);
