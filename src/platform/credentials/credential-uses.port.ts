/** The time and address of the last use of a credential. */
export type CredentialUse = Readonly<{ usedAt: Date; address: string }>;

/** Stores the last use of credentials. It is not in the log, because the next use overwrites it. */
export abstract class CredentialUses {
  abstract note(credentialId: string, usedAt: Date, address: string): Promise<void>;
  abstract of(credentialIds: readonly string[]): Promise<ReadonlyMap<string, CredentialUse>>;
  /** Deletes the last use of a credential that has ended. */
  abstract forget(credentialId: string): Promise<void>;
}
