import type { Exchange } from '../../conversation/conversation.events.js';
import type { Exchanges } from '../loop/past-exchanges.js';

/** As much as all nodes of a run together read of the chat history. */
const CHARACTERS_MAX = 1_000_000;

/** Reads the chat history once for all nodes of a run, when the first of them asks for it; each gets the newest that it has room for. */
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
