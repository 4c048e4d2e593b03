import { newId } from '../../src/kernel/ids.js';
import { CredentialsMissing, CredentialVault } from '../../src/tools/credential-vault.port.js';

type Secrets = Readonly<Record<string, string>>;

/** Secrets in a map, for unit tests. */
export class InMemoryCredentialVault extends CredentialVault {
  readonly kept = new Map<string, Readonly<{ ownerId: string; secrets: Secrets }>>();

  async keep(ownerId: string, secrets: Secrets): Promise<string> {
    const id = newId();
    this.kept.set(id, { ownerId, secrets });
    return id;
  }

  async reveal(ownerId: string, credentialsId: string): Promise<Secrets> {
    const kept = this.kept.get(credentialsId);
    if (kept?.ownerId !== ownerId) throw new CredentialsMissing('The credentials are gone.');
    return kept.secrets;
  }

  async forget(ownerId: string, credentialsId: string): Promise<void> {
    if (this.kept.get(credentialsId)?.ownerId === ownerId) this.kept.delete(credentialsId);
  }
}
