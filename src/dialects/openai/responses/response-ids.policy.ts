import { isId } from '../../../kernel/ids.js';
import type { ResponsePlace } from './response.events.js';

/**
 * The id of a response, which is the same for the same run of a turn: the turn's id and, for a run after a pause, its first
 * frame.
 */
export const responseIdOf = ({ turnId, after }: Pick<ResponsePlace, 'turnId' | 'after'>): string =>
  after < 0 ? turnId : `${turnId}-${after + 1}`;

const PREFIX = 'resp_';

/** The id of a response for clients. */
export const publicIdOf = (responseId: string): string => `${PREFIX}${responseId}`;

/** The id of a response from its id for clients. Undefined if the text is not such an id. */
export function responseIdIn(text: string): string | undefined {
  const id = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : '';
  return isId(/^([0-9a-f-]{36})(-\d{1,9})?$/.exec(id)?.[1]) ? id : undefined;
}
