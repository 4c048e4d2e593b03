import { USER_ACCOUNT_TABLE } from './postgres-user-accounts.js';

/** The schema of users and sessions, and its steps in their order: only added to. */
export const IDENTITY_SCHEMA = 'identity';
export const IDENTITY_STEPS = [USER_ACCOUNT_TABLE] as const;
