import type { UserLabel } from '../accounts/user-accounts.port.js';

/** What a provider says of its user: of the id token, and of the userinfo where the id token leaves something out. */
export type Claims = Readonly<Record<string, unknown>>;

/** Longer values name nobody, and describe nobody. */
const ID_CHARACTERS_MAX = 256;
const LABEL_CHARACTERS_MAX = 256;
const PICTURE_CHARACTERS_MAX = 2048;

/** The value that names the user; undefined where there is none, or one that the user may have chosen freely. */
export function userIdIn(claims: Claims, claim: string): string | undefined {
  // Some providers send the boolean as text.
  if (claim === 'email' && String(claims['email_verified']).toLowerCase() === 'false') return undefined;
  const value = claims[claim];
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || text === '' || text.length > ID_CHARACTERS_MAX) return undefined;
  return text.isWellFormed() && !text.includes('\0') ? text : undefined;
}

/** The groups of the user; undefined where the provider says nothing of groups. */
export function groupsIn(claims: Claims, claim: string): readonly string[] | undefined {
  const value = claims[claim];
  if (value === undefined || value === null) return undefined;
  return (Array.isArray(value) ? value : [value]).map(String);
}

/** Where groups are demanded, an unknown membership is none. */
export const isAllowed = (groups: readonly string[] | undefined, allowed: readonly string[]): boolean =>
  allowed.length === 0 || isInOneOf(groups ?? [], allowed);

/** Undefined: nothing is known, so that nothing changes. */
export const isAdmin = (groups: readonly string[] | undefined, adminGroups: readonly string[]): boolean | undefined =>
  groups === undefined || adminGroups.length === 0 ? undefined : isInOneOf(groups, adminGroups);

const isInOneOf = (groups: readonly string[], named: readonly string[]): boolean => groups.some((group) => named.includes(group));

export const labelIn = ({ email, name, picture }: Claims): UserLabel => ({
  email: textIn(email, LABEL_CHARACTERS_MAX),
  name: textIn(name, LABEL_CHARACTERS_MAX),
  picture: textIn(picture, PICTURE_CHARACTERS_MAX),
});

const textIn = (value: unknown, charactersMax: number): string | null =>
  typeof value === 'string' && value !== '' && value.length <= charactersMax && value.isWellFormed() && !value.includes('\0')
    ? value
    : null;
