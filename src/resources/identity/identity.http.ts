import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import type { Caller, DeviceCaller, SignedInUser } from './caller.js';
import { type Identity, unauthenticated } from './identity.js';

/** A request after the hook of the identity module. */
export type IdentifiedRequest = { identity: Identity };

export function identityOf(context: ExecutionContext): Identity {
  const { identity } = context.switchToHttp().getRequest<Partial<IdentifiedRequest>>();
  if (!identity) throw new Error('The identity module is not part of this application.');
  return identity;
}

/** The signed-in user. 401 for all other callers, even with an agent's key. */
export const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext): SignedInUser => {
  const { user } = identityOf(context);
  if (!user) throw unauthenticated();
  return user;
});

/** The device that calls. 401 for all other callers. */
export const CurrentDevice = createParamDecorator((_: unknown, context: ExecutionContext): DeviceCaller => {
  const { device } = identityOf(context);
  if (!device) throw unauthenticated();
  return device;
});

/** The holder of the agent key in the request, otherwise the signed-in user. 401 if the key is unknown or there is neither. */
export const KnownCaller = createParamDecorator(async (_: unknown, context: ExecutionContext): Promise<Caller> => {
  const caller = await identityOf(context).caller();
  if (!caller) throw unauthenticated();
  return caller;
});

/** The identity, for routes that decide themselves when a key is looked up. */
export const RequestIdentity = createParamDecorator((_: unknown, context: ExecutionContext): Identity => identityOf(context));

/** The identity, for routes that accept an agent's key but no session. */
export const KeyIdentity = createParamDecorator((_: unknown, context: ExecutionContext): Identity => identityOf(context));

/** The signed-in user, if any, for routes that decide themselves what they refuse first. */
export const UserIfSignedIn = createParamDecorator(
  (_: unknown, context: ExecutionContext): SignedInUser | undefined => identityOf(context).user,
);

/** The cause of the events of this request. 401 without a credential. An unknown `api_key` is ignored if a user is signed in. */
export const RequestCause = createParamDecorator(async (_: unknown, context: ExecutionContext): Promise<Cause> => {
  const identity = identityOf(context);
  const cause = ((await identity.agentKeyBesideSession()) ?? identity.user)?.cause;
  if (!cause) throw unauthenticated();
  return cause;
});
