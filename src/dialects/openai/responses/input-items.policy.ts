import { isAbsent, refused } from '../asking/refusals.policy.js';
import type { InputItem, ResponseCreated } from './response.events.js';

const ITEMS_LIMIT_DEFAULT = 20;
export const ITEMS_LIMIT_MAX = 100;

/** The parameters of the query for input items. */
export type ItemsQuery = Readonly<{ after?: string | undefined; limit?: string | undefined; order?: string | undefined }>;

const PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  function_call: 'fc',
  function_call_output: 'fco',
  reasoning: 'rs',
};

/** The id of an item is made of the response's id and the index of the item. */
const withId = (item: InputItem, responseId: string, index: number): InputItem & Readonly<{ id: string }> => ({
  id: `${PREFIXES[String(item['type'])]}_${responseId}_in_${index}`,
  ...item,
  status: 'completed',
});

/** A page of the input items of a response, by default the newest first. @throws Rejection invalid-request */
export function inputItemsOf({ responseId, input }: ResponseCreated['data'], { after, limit, order }: ItemsQuery): object {
  if (!isAbsent(order) && order !== 'asc' && order !== 'desc') throw refused('order', 'must be asc or desc.');
  const most = isAbsent(limit) ? ITEMS_LIMIT_DEFAULT : Number(limit);
  if (!Number.isInteger(most) || most < 1 || most > ITEMS_LIMIT_MAX)
    throw refused('limit', `must be a whole number from 1 to ${ITEMS_LIMIT_MAX}.`);
  const all = input.map((item, index) => withId(item, responseId, index));
  if (order !== 'asc') all.reverse();
  const cursor = isAbsent(after) ? -1 : all.findIndex(({ id }) => id === after);
  if (!isAbsent(after) && cursor < 0) throw refused('after', 'names no item of this response.');
  const data = all.slice(cursor + 1, cursor + 1 + most);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: cursor + 1 + data.length < all.length,
  };
}
