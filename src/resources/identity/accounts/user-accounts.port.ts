/** A person as an issuer of identities names them: the value of a claim. */
export type Subject = Readonly<{ issuer: string; claim: string; value: string }>;

/** What an issuer reports about a user, for display only. It does not identify the user. */
export type UserLabel = Readonly<{ email: string | null; name: string | null; picture: string | null }>;

export const NO_LABEL: UserLabel = { email: null, name: null, picture: null };

/** The issuer of tokens that are signed with the key of this installation. */
export const OWN_ISSUER = 'self';

export const ownSubject = (value: string): Subject => ({ issuer: OWN_ISSUER, claim: 'sub', value });

/** The users of this installation. Each subject gets an opaque id with its first request, which never changes. */
export abstract class UserAccounts {
  /** The id of the user. A new subject gets a new id, which is the same for concurrent requests in several processes. */
  abstract idOf(subject: Subject): Promise<string>;
  /** Stores what an issuer reports about a user now. Null removes the stored value. */
  abstract describe(userId: string, label: UserLabel): Promise<void>;
  /** The labels of those users that have one. */
  abstract labelsOf(userIds: readonly string[]): Promise<ReadonlyMap<string, UserLabel>>;
  /** The user with this id or e-mail address, ignoring case. Undefined if there is none, or if several have the address. */
  abstract find(by: Readonly<{ userId: string } | { email: string }>): Promise<string | undefined>;
}
