/** When a credential was used last, and from where. */
export type CredentialUse = Readonly<{ usedAt: Date; address: string }>;

/** Remembers when credentials were used last. That is no fact of the log: the next use overwrites it. */
export abstract class CredentialUses {
  abstract note(credentialId: string, usedAt: Date, address: string): Promise<void>;
  abstract of(credentialIds: readonly string[]): Promise<ReadonlyMap<string, CredentialUse>>;
  /** The credential has ended. */
  abstract forget(credentialId: string): Promise<void>;
}
