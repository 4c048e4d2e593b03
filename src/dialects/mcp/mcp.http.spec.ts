import { expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { systemIds } from '../../platform/system-ids.js';
import type { Identity } from '../../resources/identity/identity.js';
import type { AgentTools } from './agent-tools.http.js';
import { McpController } from './mcp.http.js';
import { McpOptions } from './mcp-options.js';

Logger.overrideLogger(false);

it('the wait of a client that left while its request was being accepted is over at once', async () => {
  let endings: readonly AbortSignal[] = [];
  const tools = {
    serverFor: async (_: Identity, __: boolean, given: readonly AbortSignal[]) => {
      endings = given;
      throw new Error('Nobody is there.');
    },
  } as unknown as AgentTools;
  const controller = new McpController(tools, new McpOptions(1, 15_000, true), systemIds);
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, url: '/mcp', protocol: 'http', host: 'a' };
  const reply = { raw: { destroyed: true, once: () => undefined }, send: async () => undefined };
  await controller.serve(
    body,
    { requestId: 'r' } as Identity,
    request as unknown as FastifyRequest,
    reply as unknown as FastifyReply,
  );
  expect(endings.some(({ aborted }) => aborted)).toBe(true);
});
