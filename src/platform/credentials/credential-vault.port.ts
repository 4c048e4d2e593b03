/** No secrets exist under this id, or they belong to another owner. */
export class CredentialsMissing extends Error {
  override readonly name = 'CredentialsMissing';
}

/** The secrets were encrypted with another key, or have been altered. */
export class CredentialsUnreadable extends Error {
  override readonly name = 'CredentialsUnreadable';
}

/** Stores the secrets of tools, encrypted. A stored entry never changes: new secrets get a new id. */
export abstract class CredentialVault {
  /** Stores secrets and returns their id. */
  abstract keep(ownerId: string, secrets: Readonly<Record<string, string>>): Promise<string>;
  /** @throws CredentialsMissing, CredentialsUnreadable */
  abstract reveal(ownerId: string, credentialsId: string): Promise<Readonly<Record<string, string>>>;
  /** Deletes secrets. Does nothing if they do not exist. */
  abstract delete(ownerId: string, credentialsId: string): Promise<void>;
}
