import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { Rejection } from '../../kernel/rejection.js';
import type { SignedInUser } from './caller.js';
import { identityOf, takes } from './identity.http.js';
import { unauthenticated } from './identity.js';

/** What those prove themselves with who sit at a client; while authentication is off, that is everybody. */
const CREDENTIALS_OF_SESSIONS: ReadonlySet<string> = new Set(['none', 'session-token']);

/** The user who is signed in with a session. @throws Rejection unauthenticated, not-available-to-tokens */
export function requireSession<User extends Readonly<{ credential: string }>>(user: User | undefined): User {
  if (!user) throw unauthenticated();
  if (CREDENTIALS_OF_SESSIONS.has(user.credential)) return user;
  throw new Rejection('not-available-to-tokens', 'This endpoint takes a session and no other token.');
}

/** The user of a session; 401 for everybody else, whatever key they hold, and 403 for the bearer of any other token. */
export const SessionUser = createParamDecorator(
  (_: unknown, context: ExecutionContext): SignedInUser => requireSession(identityOf(context).user),
  [takes('bearer')],
);
