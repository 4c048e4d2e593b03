import { withoutTrailing } from '../../../kernel/trailing.js';

/** The base URLs of the services that the web tools use, without a trailing slash. */
export abstract class WebEndpoints {
  abstract readonly brave: string;
  abstract readonly duckDuckGo: string;
  abstract readonly duckDuckGoHtml: string;
  abstract readonly ntfy: string;
  abstract readonly telegram: string;
  abstract readonly cryptoPrice: string;
}

/** The base URLs from the configuration, which may have a trailing slash. */
export const webEndpoints = (given: WebEndpoints): WebEndpoints =>
  Object.fromEntries(
    Object.entries(given).map(([name, url]) => [name, withoutTrailing(url as string, '/')]),
  ) as unknown as WebEndpoints;
