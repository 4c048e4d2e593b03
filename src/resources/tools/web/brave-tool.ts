import { Injectable } from '@nestjs/common';
import { type CallArguments, filledAction, unknownAction } from '../toolbox/call-arguments.policy.js';
import { OutgoingHttp } from '../../../platform/outgoing/outgoing-http.port.js';
import type { ActionDefinition } from '../toolbox/tool.events.js';
import { type CallContext, type ConfigField, ToolKind, type UsedTool } from '../toolbox/tool-kind.port.js';
import {
  givenText,
  oneOfTexts,
  optionalText,
  QUERY_CHARACTERS_MAX,
  resultCount,
  RESULTS,
  RESULTS_MAX,
} from './web-arguments.policy.js';
import { addressOf, askForJson, recordsIn } from './web-call.js';
import { WebEndpoints } from './web-endpoints.js';

const SAFE_SEARCH = ['off', 'moderate', 'strict'] as const;
const FRESHNESS = ['pd', 'pw', 'pm', 'py'] as const;

const QUERY = { type: 'string', description: 'What to search for.' };
const COUNTRY = {
  type: 'string',
  description: 'Two letters of the country to search from, such as DE.',
  optional: true,
} as const;
const COUNT = {
  type: 'integer',
  description: `How many results, ${RESULTS} by default.`,
  minimum: 1,
  maximum: RESULTS_MAX,
  optional: true,
} as const;
const SAFE = { type: 'string', description: 'How much to filter.', enum: SAFE_SEARCH, optional: true } as const;

/** Searches with Brave, using the owner's API key. */
@Injectable()
export class BraveTool extends ToolKind {
  readonly name = 'brave';
  readonly displayName = 'Brave Search';
  readonly description = 'Searches the web and images with Brave. Needs an API key.';
  readonly configFields: Readonly<Record<string, ConfigField>> = {
    token: {
      type: 'string',
      label: 'API key',
      description: 'A key of the Brave Search API.',
      required: true,
      secret: true,
      order: 1,
    },
  };
  readonly actions = [
    filledAction('brave_web_search', 'Searches the web and gives title, address and description of pages.', 'read', {
      query: QUERY,
      country: COUNTRY,
      search_lang: { type: 'string', description: 'Language of the results, such as de.', optional: true },
      count: COUNT,
      offset: { type: 'integer', description: 'How many pages of results to skip, 0 to 9.', optional: true },
      safesearch: SAFE,
      freshness: { type: 'string', description: 'No older than a day, week, month or year.', enum: FRESHNESS, optional: true },
    }),
    filledAction('brave_image_search', 'Searches images and gives title, page and address of each.', 'read', {
      query: QUERY,
      country: COUNTRY,
      count: COUNT,
      safesearch: { ...SAFE, enum: ['off', 'strict'] },
    }),
  ];

  constructor(
    private readonly http: OutgoingHttp,
    private readonly endpoints: WebEndpoints,
  ) {
    super();
  }

  async run({ name }: ActionDefinition, args: CallArguments, tool: UsedTool, { signal }: CallContext): Promise<object> {
    const kind = name === 'brave_web_search' ? 'web' : name === 'brave_image_search' ? 'images' : undefined;
    if (kind === undefined) throw unknownAction(name);
    const query = {
      q: givenText(args, 'query', QUERY_CHARACTERS_MAX),
      country: optionalText(args, 'country'),
      count: resultCount(args, 'count'),
      safesearch: oneOfTexts(args, 'safesearch', SAFE_SEARCH),
      ...(kind === 'web' && {
        search_lang: optionalText(args, 'search_lang'),
        offset: optionalOffset(args),
        freshness: oneOfTexts(args, 'freshness', FRESHNESS),
      }),
    };
    const answer = await askForJson(this.http, {
      service: 'Brave',
      url: addressOf(this.endpoints.brave, `/res/v1/${kind}/search`, query),
      headers: { 'x-subscription-token': tool.secrets['token'] ?? '' },
      signal,
    });
    return { results: kind === 'web' ? recordsIn(answer, 'web', 'results').map(page) : recordsIn(answer, 'results').map(image) };
  }
}

const OFFSET_MAX = 9;

const optionalOffset = (args: CallArguments): number | undefined =>
  args['offset'] === undefined || args['offset'] === null
    ? undefined
    : Math.min(Math.max(Math.trunc(Number(args['offset'])) || 0, 0), OFFSET_MAX);

type Found = Readonly<Record<string, unknown>>;

const page = ({ title, url, description, age }: Found) => ({ title, url, description, ...(age !== undefined && { age }) });

const image = ({ title, url, source, properties, thumbnail }: Found) => ({
  title,
  url,
  source,
  image: (properties as Found | undefined)?.['url'] ?? (thumbnail as Found | undefined)?.['src'],
});
