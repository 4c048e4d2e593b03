import type { Exchange } from '../../conversation/conversation.events.js';
import type { Exchanges } from '../loop/past-exchanges.js';

/** Maximum length of the chat history that the nodes of a run can read. */
const CHARACTERS_MAX = 1_000_000;

/**
 * Reads the chat history once, when the first node of a run requests it. Each node gets the newest exchanges that fit its limit.
 */
export function sharedHistory(exchanges: Exchanges): Exchanges {
  let all: Promise<readonly Exchange[]> | undefined;
  return async (charactersMax) => newestWithin(await (all ??= exchanges(CHARACTERS_MAX)), charactersMax);
}

function newestWithin(exchanges: readonly Exchange[], charactersMax: number): readonly Exchange[] {
  let characters = 0;
  const first = exchanges.findLastIndex(
    ({ prompt, response }) => (characters += prompt.length + response.length) > charactersMax,
  );
  return exchanges.slice(first + 1);
}
