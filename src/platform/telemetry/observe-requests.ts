import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { PrometheusMeasurements } from './prometheus-measurements.js';

/** Measures every request under the route it matched, so that ids in paths do not make a series each. */
export function observeRequests(fastify: FastifyInstance, { requestSeconds, openRequests }: PrometheusMeasurements): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const startedAt = performance.now();
    // An answer may take hours: of its request no more is kept than this.
    const { method } = request;
    const route = request.routeOptions.url ?? 'none';
    openRequests.inc();
    // A hijacked reply, as every stream is, never reaches Fastify's own end; the socket's answer always does.
    reply.raw.once('close', function (this: ServerResponse) {
      openRequests.dec();
      requestSeconds.observe({ method, route, status: this.statusCode }, (performance.now() - startedAt) / 1000);
    });
    done();
  });
}
