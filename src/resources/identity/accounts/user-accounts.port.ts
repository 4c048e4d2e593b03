/** Somebody as the party that vouches for them names them. */
export type Subject = Readonly<{ issuer: string; claim: string; value: string }>;

/** What an issuer says of a user, for people to read. It names nothing. */
export type UserLabel = Readonly<{ email: string | null; name: string | null; picture: string | null }>;

export const NO_LABEL: UserLabel = { email: null, name: null, picture: null };

/** The issuer of tokens that are signed with the key of this installation. */
export const OWN_ISSUER = 'self';

export const ownSubject = (value: string): Subject => ({ issuer: OWN_ISSUER, claim: 'sub', value });

/** The users of this installation: an opaque id for each subject, that of its first request for ever. */
export abstract class UserAccounts {
  /** The id of the user; a new one for a subject that was never seen. Of requests at once in several processes all get the same. */
  abstract idOf(subject: Subject): Promise<string>;
  /** Keeps what an issuer says of a user now. What it does not say any more is gone. */
  abstract describe(userId: string, label: UserLabel): Promise<void>;
  /** The labels of those users that have one. */
  abstract labelsOf(userIds: readonly string[]): Promise<ReadonlyMap<string, UserLabel>>;
  /** The user with this id, or with this e-mail address, whatever its case; undefined: there is none, or there are several. */
  abstract find(by: Readonly<{ userId: string } | { email: string }>): Promise<string | undefined>;
}
