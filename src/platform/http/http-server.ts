import {
  type DynamicModule,
  type NestApplicationOptions,
  NotFoundException,
  type SecurityHeadersOptions,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { newId } from '../../kernel/ids.js';
import { Rejection, shuttingDown } from '../../kernel/rejection.js';
import { descriptorsMax } from '../descriptors.js';
import { connectionsWithin, limitConnections } from './connections/connection-limit.js';
import { closeQueuedResponses } from './connections/queued-responses.js';
import { endStalledResponses } from './connections/stalled-responses.js';
import { renderError } from './error-bodies.js';
import { ErrorFilter } from './error-filter.js';
import { failureOf } from './errors.js';
import { FORM_FIELDS_MAX } from './form-body.js';
import { ANY_JSON_PATH, type BodyLimits, isAcceptedEncoding, parseBodies } from './body-parsers.js';
import { KnownRoutes } from './known-routes.js';
import { AFTER_POSITION_HEADER, AfterPosition, POSITION_HEADER } from './positions.js';
import { refuseUnreadableHost, refuseUnreadableUrl } from './readable-url.js';
import { COMMON_REJECTIONS, type Rejections } from './rejections.js';
import { endStalledBodies } from './bodies/stalled-bodies.js';
import { endUnreadBodies } from './bodies/unread-bodies.js';
import { refuseUnreadableRequest } from './unreadable-requests.js';
import { RequestValidation } from './validation.js';

export type HttpOptions = BodyLimits &
  Readonly<{
    uploadRequestBytesMax: number;
    uploadFileBytesMax: number;
    uploadFilesMax: number;
    /** Allowed CORS origins. An empty list allows all. */
    allowedOrigins: readonly string[];
    /** Proxies whose `X-Forwarded-…` headers are trusted: address, host and protocol of the client. */
    trustedProxies: readonly string[];
    /** How long running requests may take after the server starts to close. */
    shutdownMs: number;
    /** How long the reader of an event stream may accept nothing. */
    sseStallMs: number;
    /** Maximum number of client connections. Unset: as many as the descriptors allow. */
    connectionsMax: number | undefined;
    databasePoolMax: number;
    /** The read models that `X-After-Position` waits for. */
    readModels: readonly string[];
    /** The rejection codes of the rooms, beside the common ones. */
    rejections?: Rejections;
    /** Whether a full disk keeps a dependency down. */
    isDownForSpace?: () => boolean;
  }>;

const REQUEST_ID_HEADER = 'X-Request-Id';
/** How long a request may take to arrive. */
const REQUEST_ARRIVES_MS_MAX = 600_000;
/** How long a request body may stall, and how long a client may accept nothing of its response. */
const STALL_MS_MAX = 60_000;
/** Maximum length of a path parameter, in characters. */
export const PARAMETER_CHARACTERS_MAX = 512;
const FORM_FIELD_BYTES_MAX = 1024 * 1024;
const IDLE_SWEEP_MS = 50;
/** A streamed file has eleven listeners for `close`, and Node warns of a leak if there are more than ten. */
const RESPONSE_LISTENERS_MAX = 20;

const ALLOWED_HEADERS = [
  'Authorization',
  'Content-Type',
  'Last-Event-ID',
  'Idempotency-Key',
  'X-API-Key',
  AFTER_POSITION_HEADER,
  'Mcp-Session-Id',
  'Mcp-Protocol-Version',
  'Mcp-Method',
  'Mcp-Name',
  'X-DocsGPT-Conversation-Id',
  'X-DocsGPT-Session-Id',
  'X-Session-Id',
  'X-Session-Affinity',
  // OpenAI's client sends these with every request, and browsers ask for each of them.
  'OpenAI-Organization',
  'OpenAI-Project',
  'User-Agent',
  'X-Stainless-Arch',
  'X-Stainless-Helper-Method',
  'X-Stainless-Lang',
  'X-Stainless-OS',
  'X-Stainless-Package-Version',
  'X-Stainless-Retry-Count',
  'X-Stainless-Runtime',
  'X-Stainless-Runtime-Version',
  'X-Stainless-Timeout',
];
const EXPOSED_HEADERS = [
  REQUEST_ID_HEADER,
  POSITION_HEADER,
  'X-Partial',
  'Idempotent-Replayed',
  'X-Ignored-Parameters',
  'Retry-After',
  'Content-Disposition',
  'Mcp-Session-Id',
];

/** Pages of other origins may load responses. The interactive reference needs inline styles. TLS is terminated by a proxy. */
const SECURITY_HEADERS: SecurityHeadersOptions = {
  contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } },
  crossOriginResourcePolicy: { policy: 'cross-origin' },
  strictTransportSecurity: false,
};

/** The Fastify adapter. It notices the start of Nest's shutdown, which precedes Fastify's. */
class HttpAdapter extends FastifyAdapter {
  draining = false;

  constructor(options: HttpOptions) {
    super({
      bodyLimit: options.bodyBytesMax,
      requestTimeout: REQUEST_ARRIVES_MS_MAX,
      // On a stalled machine, the start takes long but does not fail.
      pluginTimeout: 0,
      genReqId: newId,
      ...(options.trustedProxies.length > 0 && { trustProxy: [...options.trustedProxies] }),
      requestIdHeader: false,
      // Fastify would send its own error body.
      return503OnClosing: false,
      routerOptions: { ignoreTrailingSlash: true, maxParamLength: PARAMETER_CHARACTERS_MAX },
      skipMiddie: true,
      frameworkErrors: refuseUnroutable,
      clientErrorHandler: refuseUnreadableRequest,
      multipart: {
        limits: {
          fileSize: options.uploadFileBytesMax,
          files: options.uploadFilesMax,
          fields: FORM_FIELDS_MAX,
          fieldSize: FORM_FIELD_BYTES_MAX,
        },
      },
    });
  }

  /** Disables Nest's parsers, because the service registers its own. */
  override registerParserMiddleware(): void {}

  override beforeClose() {
    this.draining = true;
    super.beforeClose();
  }
}

/** Refuses a path that the router cannot parse. No hook runs for it. */
function refuseUnroutable(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
  const { headers, body } = renderError(request.url, failureOf(error, request.id));
  void reply
    .status(error.statusCode ?? 400)
    .headers(headers)
    .send(body);
}

/** Creates the application with HTTP configured. It does not listen yet. */
export async function createHttpApp(
  module: Type | DynamicModule,
  options: HttpOptions,
  nest: NestApplicationOptions = {},
): Promise<NestFastifyApplication> {
  const app = await NestFactory.create<NestFastifyApplication>(module, new HttpAdapter(options), nest);
  configureHttp(app, options);
  return app;
}

/** Configures an application that was created with an `HttpAdapter`. Call it before `init`. */
function configureHttp(app: NestFastifyApplication, options: HttpOptions): void {
  const adapter = app.getHttpAdapter() as unknown as HttpAdapter;
  const fastify = adapter.getInstance<FastifyInstance>();
  const routes = new KnownRoutes();
  fastify.addHook('onRoute', ({ method, url }) => routes.add(method, url));
  app.enableCors({
    origin: options.allowedOrigins.length > 0 ? [...options.allowedOrigins] : '*',
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    allowedHeaders: ALLOWED_HEADERS,
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: 3600,
    // Otherwise OPTIONS without the headers of a preflight gets a 400 in plain text.
    strictPreflight: false,
  });
  app.useSecurityHeaders(SECURITY_HEADERS);
  limitConnections(fastify.server, connectionsWithin(descriptorsMax(), options));
  closeQueuedResponses(fastify.server);
  receiveRequests(fastify, adapter, options);
  endUnreadBodies(fastify, () => adapter.draining);
  endStalledBodies(fastify.server, STALL_MS_MAX);
  endStalledResponses(fastify.server, Math.max(STALL_MS_MAX, options.sseStallMs));
  parseBodies(fastify, options);
  closeWithinBounds(fastify, options);
  app.useGlobalFilters(new ErrorFilter(routes, { ...COMMON_REJECTIONS, ...options.rejections }, options.isDownForSpace));
  app.useGlobalPipes(new RequestValidation());
  app.useGlobalGuards(new AfterPosition(() => app.get(Freshness, { strict: false }), options.readModels));
}

const MULTIPART = /^\s*multipart\//i;

/** Adds the request id, and refuses uploads that are too large, and requests that arrive during the shutdown. */
function receiveRequests(fastify: FastifyInstance, adapter: HttpAdapter, { uploadRequestBytesMax }: HttpOptions) {
  fastify.addHook('onRequest', (request, reply, done) => {
    reply.raw.setMaxListeners(RESPONSE_LISTENERS_MAX);
    void reply.header(REQUEST_ID_HEADER, request.id);
    if (adapter.draining) {
      void reply.header('Connection', 'close');
      return done(shuttingDown());
    }
    refuseUnreadableHost(request.host);
    refuseUnreadableUrl(request.url, ANY_JSON_PATH.test(request.url));
    if (request.is404) return done();
    const { 'content-length': length = 0, 'content-type': type = '' } = request.headers;
    if (MULTIPART.test(type) && Number(length) > uploadRequestBytesMax) {
      return done(new Rejection('too-large', `Request exceeds the ${uploadRequestBytesMax}-byte upload limit`));
    }
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && !isAcceptedEncoding(encoding.trim().toLowerCase(), request.url)) {
      return done(new Rejection('media-type-not-accepted', `A request body with Content-Encoding: ${encoding} is not accepted.`));
    }
    done();
  });
  // The body of a request to an unknown path does not matter, so it is not read.
  fastify.addHook('preParsing', (request, _reply, payload, done) =>
    request.is404 ? done(new NotFoundException(`Cannot ${request.method} ${request.url}`)) : done(null, payload),
  );
}

/** During the shutdown, closes idle connections, and all connections after `shutdownMs`. */
function closeWithinBounds(fastify: FastifyInstance, { shutdownMs }: HttpOptions) {
  fastify.addHook('preClose', (done) => {
    const sweep = setInterval(() => fastify.server.closeIdleConnections(), IDLE_SWEEP_MS);
    const deadline = setTimeout(() => fastify.server.closeAllConnections(), shutdownMs);
    fastify.server.once('close', () => {
      clearInterval(sweep);
      clearTimeout(deadline);
    });
    sweep.unref();
    deadline.unref();
    done();
  });
}
