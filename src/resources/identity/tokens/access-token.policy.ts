import { createHash, randomBytes } from 'node:crypto';
import { FAMILIES, type Family, isScope, type Scope } from '../../../kernel/access.js';
import { isId } from '../../../kernel/ids.js';
import { isNameable } from '../../../kernel/nameable.js';
import { Rejection } from '../../../kernel/rejection.js';
import { ACCESS_TOKEN_PREFIX } from '../access-token-directory.port.js';
import type { IssuedSecret, TokenResources } from './access-tokens.events.js';
import { isLongerThan } from '../../text-length.policy.js';

const SECRET_BYTES = 32;
/** Number of the secret's first characters that listings show, so that the owner recognizes the token. */
const SHOWN_CHARACTERS = 6;
/** Longer texts are not looked up as tokens. */
const TOKEN_CHARACTERS_MAX = 128;
export const NAME_CHARACTERS_MAX = 100;
export const RESTRICTED_IDS_MAX = 200;
const DAY_MS = 86_400_000;

/** The lifetime of tokens, and their maximum number per user. */
export type TokenRules = Readonly<{
  enabled: boolean;
  defaultLifetimeDays: number;
  maxLifetimeDays: number;
  allowNonExpiring: boolean;
  maxPerUser: number;
}>;

/**
 * The hash of a token, which is stored. It needs no salt and no slow hash, because 256 random bits cannot be guessed. Undefined
 * if the text is too long for a token.
 */
export const accessTokenHash = (token: string): string | undefined =>
  token.length > TOKEN_CHARACTERS_MAX ? undefined : createHash('sha256').update(token).digest('hex');

/** A new token, which its owner sees once, with what the log stores of it. */
export function freshAccessToken(): Readonly<{ token: string; secret: IssuedSecret }> {
  const token = ACCESS_TOKEN_PREFIX + randomBytes(SECRET_BYTES).toString('base64url');
  return {
    token,
    secret: { hash: accessTokenHash(token)!, prefix: token.slice(0, ACCESS_TOKEN_PREFIX.length + SHOWN_CHARACTERS) },
  };
}

const invalid = (text: string) => new Rejection('invalid-request', text);

/** @throws Rejection invalid-request */
export function nameIn(given: unknown): string {
  const name = typeof given === 'string' ? given.trim() : '';
  if (name === '') throw invalid('name is required');
  if (!isNameable(name)) throw invalid('name is not text');
  if (isLongerThan(name, NAME_CHARACTERS_MAX)) throw invalid(`name must be at most ${NAME_CHARACTERS_MAX} characters`);
  return name;
}

/** @throws Rejection invalid-request */
export function scopesIn(given: unknown): readonly Scope[] {
  if (!Array.isArray(given) || given.length === 0) throw invalid('scopes must be a non-empty list');
  const unknown = given.filter((each) => !isScope(each)).map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
  if (unknown.length > 0) throw invalid(`Unknown scopes: ${unknown.join(', ')}`);
  return [...new Set(given as Scope[])].sort();
}

/**
 * The restrictions of a token. A family can be restricted only if the token has a scope in it, because a restriction without a
 * scope has no effect.
 * @throws Rejection invalid-request
 */
export function resourcesIn(given: unknown, scopes: readonly Scope[]): TokenResources {
  if (given === undefined || given === null) return {};
  if (typeof given !== 'object' || Array.isArray(given)) throw invalid('resource_filter must be an object');
  const restrictable = new Set(scopes.flatMap((scope) => (scope === 'chat:run' ? ['agents', 'sources'] : scope.split(':', 1))));
  const entries = Object.entries(given).map(([family, ids]) => {
    if (!FAMILIES.includes(family as Family)) throw invalid(`resource_filter supports only: ${FAMILIES.join(', ')}`);
    if (!restrictable.has(family)) throw invalid(`resource_filter.${family} needs a ${family} scope on the token`);
    return [family, idsIn(family, ids)] as const;
  });
  return Object.fromEntries(entries);
}

function idsIn(family: string, given: unknown): readonly string[] {
  if (!Array.isArray(given) || given.length === 0) throw invalid(`resource_filter.${family} must be a non-empty list of ids`);
  if (given.length > RESTRICTED_IDS_MAX) throw invalid(`resource_filter.${family} allows at most ${RESTRICTED_IDS_MAX} ids`);
  const ids = given.map((id) => (typeof id === 'string' ? id.toLowerCase() : id) as unknown);
  if (!ids.every(isId)) throw invalid(`resource_filter.${family} contains an invalid id`);
  return [...new Set(ids)].sort();
}

/**
 * The expiry of a token after the requested number of days, by default that of the rules. 0 requests a token that never expires.
 * @throws Rejection invalid-request
 */
export function expiryIn(given: unknown, rules: TokenRules, now: Date): string | null {
  const days = given ?? Math.min(rules.defaultLifetimeDays, rules.maxLifetimeDays);
  if (typeof days !== 'number' || !Number.isInteger(days)) throw invalid('expires_in_days must be an integer');
  if (days < 0) throw invalid('expires_in_days must be positive');
  if (days === 0 && !rules.allowNonExpiring) throw invalid('Non-expiring tokens are disabled on this server');
  if (days > rules.maxLifetimeDays) throw invalid(`expires_in_days must not exceed ${rules.maxLifetimeDays}`);
  return days === 0 ? null : new Date(now.getTime() + days * DAY_MS).toISOString();
}
