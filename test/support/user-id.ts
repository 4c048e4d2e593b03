import { ownSubject, UserAccounts } from '../../src/resources/identity/accounts/user-accounts.port.js';
import type { TestService } from './service.js';

/** The id of the user that a token's `sub` names. */
export const userIdOf = ({ service }: Pick<TestService, 'service'>, subject: string): Promise<string> =>
  service.app.get(UserAccounts, { strict: false }).idOf(ownSubject(subject));
