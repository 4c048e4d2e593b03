import { Injectable } from '@nestjs/common';
import { type CallArguments, filledAction, type FilledParameter, unknownAction } from '../toolbox/call-arguments.policy.js';
import { OutgoingHttp } from '../../../platform/outgoing/outgoing-http.port.js';
import type { ActionDefinition } from '../toolbox/tool.events.js';
import { type CallContext, ToolFailed, ToolKind, type UsedTool } from '../toolbox/tool-kind.port.js';
import { duckDuckGoResults } from './duckduckgo-results.js';
import { textOf } from '../../../platform/outgoing/response-text.policy.js';
import {
  givenText,
  oneOfTexts,
  optionalText,
  QUERY_CHARACTERS_MAX,
  resultCount,
  RESULTS,
  RESULTS_MAX,
} from './web-arguments.policy.js';
import { addressOf, ask, askForJson, failedStatus, type Json, recordsIn } from './web-call.js';
import { WebEndpoints } from './web-endpoints.js';

const SAFE_SEARCH = ['on', 'moderate', 'off'] as const;
const SAFE_SEARCH_CODES = { on: '1', moderate: '-1', off: '-2' } as const;
const TIME_LIMITS = ['d', 'w', 'm', 'y'] as const;

const PARAMETERS: Readonly<Record<string, FilledParameter>> = {
  query: { type: 'string', description: 'What to search for.' },
  max_results: {
    type: 'integer',
    description: `How many results, ${RESULTS} by default.`,
    minimum: 1,
    maximum: RESULTS_MAX,
    optional: true,
  },
  region: { type: 'string', description: 'Country and language, such as de-de; the whole world by default.', optional: true },
  safesearch: { type: 'string', description: 'How much to filter.', enum: SAFE_SEARCH, optional: true },
  timelimit: { type: 'string', description: 'No older than a day, week, month or year.', enum: TIME_LIMITS, optional: true },
};

/** Searches with DuckDuckGo, which needs no key. */
@Injectable()
export class DuckDuckGoTool extends ToolKind {
  readonly name = 'duckduckgo';
  readonly displayName = 'DuckDuckGo';
  readonly description = 'Searches the web, images and news with DuckDuckGo. Needs no key.';
  readonly configFields = {};
  readonly actions = [
    filledAction('ddg_web_search', 'Searches the web and gives title, address and description of pages.', 'read', PARAMETERS),
    filledAction('ddg_image_search', 'Searches images and gives title, page and address of each.', 'read', PARAMETERS),
    filledAction('ddg_news_search', 'Searches news and gives title, address, source and date of each.', 'read', PARAMETERS),
  ];

  constructor(
    private readonly http: OutgoingHttp,
    private readonly endpoints: WebEndpoints,
  ) {
    super();
  }

  async run({ name }: ActionDefinition, args: CallArguments, _tool: UsedTool, { signal }: CallContext): Promise<object> {
    const search: Search = {
      query: givenText(args, 'query', QUERY_CHARACTERS_MAX),
      region: optionalText(args, 'region') ?? 'wt-wt',
      safe: SAFE_SEARCH_CODES[oneOfTexts(args, 'safesearch', SAFE_SEARCH) ?? 'moderate'],
      since: oneOfTexts(args, 'timelimit', TIME_LIMITS),
      signal,
    };
    const count = resultCount(args, 'max_results');
    switch (name) {
      case 'ddg_web_search':
        return { results: (await this.pages(search)).slice(0, count) };
      case 'ddg_image_search':
        return { results: (await this.listed('/i.js', search)).slice(0, count).map(image) };
      case 'ddg_news_search':
        return { results: (await this.listed('/news.js', search)).slice(0, count).map(news) };
      default:
        throw unknownAction(name);
    }
  }

  private async pages({ query, region, safe, since, signal }: Search) {
    const url = addressOf(this.endpoints.duckDuckGoHtml, '/html/', { q: query, kl: region, kp: safe, df: since });
    const html = await this.page(url, signal);
    const results = await duckDuckGoResults(html);
    // A page with neither results nor the text for no results is a check for humans.
    if (results.length === 0 && !/class="[^"]*no-results/.test(html))
      throw new ToolFailed('DuckDuckGo refused an automated request. Try again later.');
    return results;
  }

  /** The results for images and news. They need a token from the page of the search. */
  private async listed(path: string, { query, region, safe, since, signal }: Search): Promise<readonly Json[]> {
    const html = await this.page(addressOf(this.endpoints.duckDuckGo, '/', { q: query }), signal);
    const vqd = /vqd=["']?([\w-]+)/.exec(html)?.[1];
    if (vqd === undefined) throw new ToolFailed('DuckDuckGo refused an automated request. Try again later.');
    const asked = {
      o: 'json',
      q: query,
      l: region,
      p: safe,
      vqd,
      ...(path === '/i.js' ? { f: ',,,,,' } : { noamp: '1', df: since }),
    };
    const url = addressOf(this.endpoints.duckDuckGo, path, asked);
    const headers = { referer: `${this.endpoints.duckDuckGo}/` };
    return recordsIn(await askForJson(this.http, { service: 'DuckDuckGo', url, headers, signal }), 'results');
  }

  private async page(url: URL, signal: AbortSignal): Promise<string> {
    const response = await ask(this.http, { service: 'DuckDuckGo', url, headers: { accept: 'text/html' }, signal });
    if (response.status >= 300) throw failedStatus('DuckDuckGo', response);
    return textOf(response);
  }
}

type Search = Readonly<{ query: string; region: string; safe: string; since: string | undefined; signal: AbortSignal }>;

const image = ({ title, url, image, source, width, height }: Json) => ({ title, url, image, source, width, height });

const news = ({ title, url, excerpt, source, date }: Json) => ({
  title,
  url,
  description: excerpt,
  source,
  ...(typeof date === 'number' && { date: new Date(date * 1000).toISOString() }),
});
