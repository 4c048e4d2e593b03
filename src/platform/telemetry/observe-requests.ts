import type { FastifyInstance } from 'fastify';
import type { PrometheusMeasurements } from './prometheus-measurements.js';

/** Measures every request under the route it matched, so that ids in paths do not make a series each. */
export function observeRequests(fastify: FastifyInstance, { requestSeconds, openRequests }: PrometheusMeasurements): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const startedAt = performance.now();
    openRequests.inc();
    // A hijacked reply, as every stream is, never reaches Fastify's own end; the socket's answer always does.
    reply.raw.once('close', () => {
      openRequests.dec();
      const labels = { method: request.method, route: request.routeOptions.url ?? 'none', status: reply.raw.statusCode };
      requestSeconds.observe(labels, (performance.now() - startedAt) / 1000);
    });
    done();
  });
}
