import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { JSON_DEPTH_MAX, JSON_ESCAPES_MAX, JSON_KEY_BYTES_MAX } from '../../kernel/bounded-json.js';
import { renderError } from './error-bodies.js';
import { DISK_FULL } from './errors.js';

const DESCRIPTION = `Asks agents, streams their answers and replays them byte for byte.

A JSON body has at most \`BODY_MAX_BYTES\` bytes (10 MiB unless set) and \`BODY_MAX_ENTRIES\` fields and elements, on all levels
together (20,000 unless set); its keys have at most ${JSON_KEY_BYTES_MAX} bytes, and at most ${JSON_ESCAPES_MAX} of its characters are
escaped: what has more is answered 413. It is nested at most ${JSON_DEPTH_MAX} levels deep, else 400. A webhook takes JSON of any shape
within \`WEBHOOK_BODY_MAX_BYTES\` and that depth. A request may be answered before all of its body has come in.

A wrong bearer is 401 on every route, and so is a wrong agent key on those that take one; a wrong token of a webhook is 404. After
\`WRONG_CREDENTIALS_MAX_PER_MINUTE\` of them within a minute (100 unless set) an address gets 429 for wrong ones, with \`Retry-After\`; right
ones are answered as ever.

Programs show a personal access token of a user as bearer (\`POST /api/user/tokens\`). It is taken under every \`AUTH_TYPE\`, opens the routes that
name one of its scopes (\`x-token-scopes\`), and no others: \`not_available_to_tokens\`, \`insufficient_scope\` and \`resource_not_allowed\` are 403.`;

const BEARER = 'A session token, or a personal access token (`dgpt_pat_…`) where the operation names `x-token-scopes`.';

const UNAUTHORIZED = { status: 401, description: 'The credential is missing, wrong or expired.' };

const TOO_MANY = {
  status: 429,
  description:
    'Too many wrong credentials came from this address (`too_many_wrong_credentials`), or a limit that the route names is reached.',
  headers: { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' as const, minimum: 1 } } },
};

/** The interactive reference at `/api/docs`, its document at `/api/openapi.json`. */
export function serveApiReference(app: NestFastifyApplication, version: string): void {
  const description = new DocumentBuilder()
    .setTitle('Verbatim')
    .setDescription(DESCRIPTION)
    .setVersion(version)
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: BEARER })
    .addGlobalResponse(UNAUTHORIZED, TOO_MANY)
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-API-Key' }, 'agent-key')
    .addApiKey({ type: 'apiKey', in: 'query', name: 'share_token', description: SHARE_TOKEN }, 'share-token')
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'The token that a device got when it was paired.' }, 'device')
    .build();
  const document = () => withSecurity(withUnavailability(SwaggerModule.createDocument(app, description)));
  SwaggerModule.setup('api/docs', app, document, { jsonDocumentUrl: 'api/openapi.json' });
}

const SHARE_TOKEN = 'The `identifier` of a link to a conversation: it opens what the link shows.';

/** Routes of these need nothing that can be full or away, or tell of it in their own words. */
const TAGS_ALWAYS_ANSWERED = ['Operations', 'StartUp', 'EmptyLists'];

const UNAVAILABLE = `\`Retry-After\` says in how many seconds to ask again, the code why. \`disk_full\`: there is no space left to store
anything, on a disk of the service or of its database, or a quota is used up. \`unavailable\`: something that the service needs does
not answer. \`shutting_down\`: this process is about to end.`;

type PathItem = OpenAPIObject['paths'][string];

function withUnavailability(document: OpenAPIObject): OpenAPIObject {
  for (const [path, item] of Object.entries(document.paths)) {
    for (const operation of operationsOf(item)) {
      if (operation.tags?.some((tag) => TAGS_ALWAYS_ANSWERED.includes(tag))) continue;
      operation.responses['503'] ??= unavailableAt(path);
    }
  }
  return document;
}

/** Each operation says which credentials it takes, also where it takes none. */
function withSecurity(document: OpenAPIObject): OpenAPIObject {
  for (const operation of Object.values(document.paths).flatMap(operationsOf)) {
    const schemes = new Set((operation.security ?? []).flatMap((requirement) => Object.keys(requirement)));
    operation.security = [...schemes].map((scheme) => ({ [scheme]: [] }));
  }
  return document;
}

const operationsOf = ({ get, put, post, patch, delete: remove }: PathItem) =>
  [get, put, post, patch, remove].filter((operation) => operation !== undefined);

function unavailableAt(path: string) {
  const { contentType, body } = renderError(path, DISK_FULL);
  const isJson = contentType.startsWith('application/json');
  const example: unknown = isJson ? JSON.parse(body) : body;
  return {
    description: UNAVAILABLE,
    headers: { 'Retry-After': { schema: { type: 'integer' }, example: DISK_FULL.retryAfterSeconds } },
    content: { [contentType.split(';', 1)[0]!]: { schema: { type: isJson ? 'object' : 'string' }, example } },
  };
}
