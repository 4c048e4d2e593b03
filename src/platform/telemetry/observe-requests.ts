import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { PrometheusMeasurements } from './prometheus-measurements.js';

/** Measures every request by its route pattern, so that ids in paths do not create series. */
export function observeRequests(fastify: FastifyInstance, { requestSeconds, openRequests }: PrometheusMeasurements): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const startedAt = performance.now();
    // A response may take hours, so only these values of its request are kept.
    const { method } = request;
    const route = request.routeOptions.url ?? 'none';
    openRequests.inc();
    // Fastify's own hooks do not run for hijacked replies, such as streams. The `close` event always fires.
    reply.raw.once('close', function (this: ServerResponse) {
      openRequests.dec();
      requestSeconds.observe({ method, route, status: this.statusCode }, (performance.now() - startedAt) / 1000);
    });
    done();
  });
}
