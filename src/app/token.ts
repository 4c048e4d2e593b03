import { Command, InvalidArgumentError } from 'commander';
import type { Role } from '../resources/identity/caller.js';
import { isSubject, SessionTokens, SUBJECT_CHARACTERS_MAX } from '../resources/identity/session-tokens.js';
import { configOrExit } from '../platform/config/load-config.js';

/** Prints a session token for a user, signed with the secret of this installation. */
const ROLES: readonly Role[] = ['user', 'admin'];

const subject = (text: string): string => {
  if (!isSubject(text)) throw new InvalidArgumentError(`It must have 1 to ${SUBJECT_CHARACTERS_MAX} characters.`);
  return text;
};

const roles = (text: string): readonly Role[] =>
  text.split(',').map((part) => {
    const role = ROLES.find((known) => known === part.trim());
    if (!role) throw new InvalidArgumentError(`Roles are ${ROLES.join(', ')}.`);
    return role;
  });

const seconds = (text: string): number => {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('It must be a whole number of seconds.');
  return Number(text);
};

const {
  user,
  roles: granted,
  expiresIn,
} = new Command('token')
  .description('Prints a session token.')
  .requiredOption('--user <id>', 'whose it is', subject)
  .option('--roles <list>', 'roles, separated by commas: user, admin', roles, [] as readonly Role[])
  .option('--expires-in <seconds>', 'the seconds after which the token expires; without this option it never does', seconds)
  .parse()
  .opts<{ user: string; roles: readonly Role[]; expiresIn?: number }>();

const tokens = new SessionTokens(configOrExit().jwtSecretKey);
void tokens.issue({ subject: user, roles: granted }, expiresIn).then((token) => process.stdout.write(`${token}\n`));
