import { newId } from '../../src/kernel/ids.js';
import { CredentialsMissing, CredentialVault } from '../../src/platform/credentials/credential-vault.port.js';

type Kept = Readonly<{ ownerId: string; secrets: Readonly<Record<string, string>> }>;

/** Secrets in memory, for tests. */
export class MemoryCredentialVault extends CredentialVault {
  readonly rows = new Map<string, Kept>();

  async keep(ownerId: string, secrets: Readonly<Record<string, string>>): Promise<string> {
    const id = newId();
    this.rows.set(id, { ownerId, secrets: { ...secrets } });
    return id;
  }

  async reveal(ownerId: string, credentialsId: string): Promise<Readonly<Record<string, string>>> {
    const kept = this.rows.get(credentialsId);
    if (kept?.ownerId !== ownerId) throw new CredentialsMissing(credentialsId);
    return kept.secrets;
  }

  async delete(ownerId: string, credentialsId: string): Promise<void> {
    if (this.rows.get(credentialsId)?.ownerId === ownerId) this.rows.delete(credentialsId);
  }
}
