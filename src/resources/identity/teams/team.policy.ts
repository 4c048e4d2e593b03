import { Rejection } from '../../../kernel/rejection.js';
import { isAdmin, type SignedInUser } from '../caller.js';

const SLUG_CHARACTERS_MAX = 40;
const ID_CHARACTERS = 6;

/** A readable name of a team for URLs, made from its name. Part of its id distinguishes teams of the same name. */
export function slugOf(name: string, teamId: string): string {
  const words = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
    .join('-')
    .slice(0, SLUG_CHARACTERS_MAX);
  return [words || 'team', teamId.slice(0, ID_CHARACTERS)].join('-');
}

/** Converts the signed-in user to the actor of a team's decisions. */
export const actorOf = (user: SignedInUser): Readonly<{ userId: string; isAdmin: boolean }> => ({
  userId: user.userId,
  isAdmin: isAdmin(user),
});

/** Also the answer to a caller who may not know whether the team exists. */
export const teamNotFound = () => new Rejection('team-not-found', 'Not found');
export const teamForbidden = (message = 'Forbidden') => new Rejection('team-forbidden', message);
