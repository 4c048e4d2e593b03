import { withoutTrailing } from '../../../kernel/trailing.js';

/** Where on the web the built-in tools find what they ask: addresses without a slash at the end. */
export abstract class WebEndpoints {
  abstract readonly brave: string;
  abstract readonly duckDuckGo: string;
  abstract readonly duckDuckGoHtml: string;
  abstract readonly ntfy: string;
  abstract readonly telegram: string;
  abstract readonly cryptoPrice: string;
}

/** As they are configured, with or without that slash. */
export const webEndpoints = (given: WebEndpoints): WebEndpoints =>
  Object.fromEntries(
    Object.entries(given).map(([name, url]) => [name, withoutTrailing(url as string, '/')]),
  ) as unknown as WebEndpoints;
