import { isNameable } from '../../../kernel/nameable.js';
import { Rejection } from '../../../kernel/rejection.js';
import { isLongerThan } from '../../text-length.policy.js';

export const NAME_CHARACTERS_MAX = 255;

/** The name of a new source; empty if none is given. @throws Rejection invalid-request */
export function sourceNameIn(given: string | undefined): string {
  const name = given?.trim() ?? '';
  if (!isNameable(name)) throw new Rejection('invalid-request', 'name must not hold NUL or half of a surrogate pair');
  if (isLongerThan(name, NAME_CHARACTERS_MAX))
    throw new Rejection('invalid-request', `name has more than ${NAME_CHARACTERS_MAX} characters`);
  return name;
}
