import { EMAIL_INDEX, USER_ACCOUNT_TABLE } from './accounts/postgres-user-accounts.js';
import { SESSION_EXPIRY_INDEX, SESSION_TABLE } from './sessions/postgres-sessions.js';

/** The schema of users and sessions, and its migration steps in order. Steps are only appended. */
export const IDENTITY_SCHEMA = 'identity';
export const IDENTITY_STEPS = [USER_ACCOUNT_TABLE, SESSION_TABLE, SESSION_EXPIRY_INDEX, EMAIL_INDEX] as const;
