import {
  NO_LABEL,
  OWN_ISSUER,
  type Subject,
  UserAccounts,
  type UserLabel,
} from '../../src/resources/identity/accounts/user-accounts.port.js';

/** Accounts whose user ids are readable in tests: the subject itself for users of this installation. */
export class ReadableAccounts extends UserAccounts {
  private readonly labels = new Map<string, UserLabel>();

  async idOf({ issuer, claim, value }: Subject): Promise<string> {
    return issuer === OWN_ISSUER ? value : `${value} (${claim} of ${issuer})`;
  }

  async describe(userId: string, label: UserLabel): Promise<void> {
    this.labels.set(userId, label);
  }

  async labelsOf(userIds: readonly string[]): Promise<ReadonlyMap<string, UserLabel>> {
    return new Map(userIds.filter((id) => this.labels.has(id)).map((id) => [id, this.labels.get(id) ?? NO_LABEL]));
  }

  /** Every user id exists. An email address is found only if it was described. */
  async find(by: Readonly<{ userId: string } | { email: string }>): Promise<string | undefined> {
    if ('userId' in by) return by.userId;
    return [...this.labels].find(([, { email }]) => email === by.email)?.[0];
  }
}
