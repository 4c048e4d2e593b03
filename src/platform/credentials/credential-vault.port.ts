/** Nothing is kept under that id any more, or it is not this owner's. */
export class CredentialsMissing extends Error {
  override readonly name = 'CredentialsMissing';
}

/** They are there, but not as they were kept: sealed with another key, or altered since. */
export class CredentialsUnreadable extends Error {
  override readonly name = 'CredentialsUnreadable';
}

/** Where secrets of tools are kept, encrypted. What is stored never changes: other secrets get another id. */
export abstract class CredentialVault {
  /** Resolves to the id under which they are kept. */
  abstract keep(ownerId: string, secrets: Readonly<Record<string, string>>): Promise<string>;
  /** @throws CredentialsMissing, CredentialsUnreadable */
  abstract reveal(ownerId: string, credentialsId: string): Promise<Readonly<Record<string, string>>>;
  /** Harmless when they are gone already. */
  abstract delete(ownerId: string, credentialsId: string): Promise<void>;
}
