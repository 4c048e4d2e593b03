import { isNameable } from '../../../kernel/nameable.js';
import type { UserLabel } from '../accounts/user-accounts.port.js';

/** The claims of the ID token, and those of the userinfo endpoint if the ID token lacks a claim that is needed. */
export type Claims = Readonly<Record<string, unknown>>;

/** Longer values are ignored. */
const ID_CHARACTERS_MAX = 256;
const LABEL_CHARACTERS_MAX = 256;
const PICTURE_CHARACTERS_MAX = 2048;

/** The value that identifies the user. Undefined if it is missing or is an e-mail address that is not verified. */
export function userIdIn(claims: Claims, claim: string): string | undefined {
  // Some providers send the boolean as a string.
  if (claim === 'email' && String(claims['email_verified']).toLowerCase() === 'false') return undefined;
  const value = claims[claim];
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || text === '' || text.length > ID_CHARACTERS_MAX) return undefined;
  return isNameable(text) ? text : undefined;
}

/** The groups of the user. Undefined if the claim is missing. */
export function groupsIn(claims: Claims, claim: string): readonly string[] | undefined {
  const value = claims[claim];
  if (value === undefined || value === null) return undefined;
  return (Array.isArray(value) ? value : [value]).map(String);
}

/** Whether the user may sign in. If groups are required, a user whose groups are unknown may not. */
export const isAllowed = (groups: readonly string[] | undefined, allowed: readonly string[]): boolean =>
  allowed.length === 0 || isInOneOf(groups ?? [], allowed);

/** Whether the user is an administrator. Undefined if the groups are unknown, so that the stored value does not change. */
export const isAdmin = (groups: readonly string[] | undefined, adminGroups: readonly string[]): boolean | undefined =>
  groups === undefined || adminGroups.length === 0 ? undefined : isInOneOf(groups, adminGroups);

const isInOneOf = (groups: readonly string[], named: readonly string[]): boolean => groups.some((group) => named.includes(group));

export const labelIn = ({ email, name, picture }: Claims): UserLabel => ({
  email: textIn(email, LABEL_CHARACTERS_MAX),
  name: textIn(name, LABEL_CHARACTERS_MAX),
  picture: textIn(picture, PICTURE_CHARACTERS_MAX),
});

const textIn = (value: unknown, charactersMax: number): string | null =>
  typeof value === 'string' && value !== '' && value.length <= charactersMax && isNameable(value) ? value : null;
