import { isId } from '../../../kernel/ids.js';
import type { ResponsePlace } from './response.events.js';

/** The same for the same run of a turn: the first is called after the turn, one that goes on after a pause after its first frame as well. */
export const responseIdOf = ({ turnId, after }: Pick<ResponsePlace, 'turnId' | 'after'>): string =>
  after < 0 ? turnId : `${turnId}-${after + 1}`;

const PREFIX = 'resp_';

/** The id as clients have it. */
export const publicIdOf = (responseId: string): string => `${PREFIX}${responseId}`;

/** The id that such a text names; undefined where it names none. */
export function responseIdIn(text: string): string | undefined {
  const id = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : '';
  return isId(/^([0-9a-f-]{36})(-\d{1,9})?$/.exec(id)?.[1]) ? id : undefined;
}
