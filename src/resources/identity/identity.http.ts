import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import type { Caller, DeviceCaller, SignedInUser } from './caller.js';
import { type Identity, unauthenticated } from './identity.js';

/** A request after the hook of the identity module has seen it. */
export type IdentifiedRequest = { identity: Identity };

export function identityOf(context: ExecutionContext): Identity {
  const { identity } = context.switchToHttp().getRequest<Partial<IdentifiedRequest>>();
  if (!identity) throw new Error('The identity module is not part of this application.');
  return identity;
}

/** The signed-in user; 401 for everybody else, whatever key they hold. */
export const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext): SignedInUser => {
  const { user } = identityOf(context);
  if (!user) throw unauthenticated();
  return user;
});

/** The device that calls; 401 for everybody else. */
export const CurrentDevice = createParamDecorator((_: unknown, context: ExecutionContext): DeviceCaller => {
  const { device } = identityOf(context);
  if (!device) throw unauthenticated();
  return device;
});

/** The holder of the agent key that was sent, else the signed-in user; 401 when the key is unknown, and when there is neither. */
export const KnownCaller = createParamDecorator(async (_: unknown, context: ExecutionContext): Promise<Caller> => {
  const caller = await identityOf(context).caller();
  if (!caller) throw unauthenticated();
  return caller;
});

/** The whole identity, for routes that decide themselves when a key is looked up. */
export const RequestIdentity = createParamDecorator((_: unknown, context: ExecutionContext): Identity => identityOf(context));

/** The whole identity, for routes that take the key of an agent and no session. */
export const KeyIdentity = createParamDecorator((_: unknown, context: ExecutionContext): Identity => identityOf(context));

/** The signed-in user if there is one, for routes that decide themselves what they refuse first. */
export const UserIfSignedIn = createParamDecorator(
  (_: unknown, context: ExecutionContext): SignedInUser | undefined => identityOf(context).user,
);

/** Who makes facts happen in this request. 401 when there is none. An `api_key` that is no agent's does not matter to a user who is signed in. */
export const RequestCause = createParamDecorator(async (_: unknown, context: ExecutionContext): Promise<Cause> => {
  const identity = identityOf(context);
  const cause = ((await identity.agentKeyBesideSession()) ?? identity.user)?.cause;
  if (!cause) throw unauthenticated();
  return cause;
});
