/** Nothing is kept under that id any more, or it is not this owner's. */
export class CredentialsMissing extends Error {
  override readonly name = 'CredentialsMissing';
}

/** Where secrets of tools are kept, encrypted. What is stored never changes: other secrets get another id. */
export abstract class CredentialVault {
  /** Resolves to the id under which they are kept. */
  abstract keep(ownerId: string, secrets: Readonly<Record<string, string>>): Promise<string>;
  /** @throws CredentialsMissing */
  abstract reveal(ownerId: string, credentialsId: string): Promise<Readonly<Record<string, string>>>;
  /** Harmless when they are gone already. */
  abstract forget(ownerId: string, credentialsId: string): Promise<void>;
}
