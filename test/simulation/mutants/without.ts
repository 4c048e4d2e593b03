import type { Ticker } from '../../../src/kernel/event-sourcing/ticker.js';
import type { Roles } from '../world/roles.js';

/** Runs all tickers except one. */
export const withoutTicker = (name: string) => (ticker: Ticker) => ticker.name !== name;

/** Runs all reactions except one. */
export const withoutReaction = (name: string) => (roles: Roles) => {
  const at = roles.reactions.findIndex((reaction) => reaction.name === name);
  if (at !== -1) roles.reactions.splice(at, 1);
};
