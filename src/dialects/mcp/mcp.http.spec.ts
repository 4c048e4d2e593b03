import { expect, it } from '@jest/globals';
import { McpServer } from '@modelcontextprotocol/server';
import { Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { systemIds } from '../../platform/system-ids.js';
import type { Identity } from '../../resources/identity/identity.js';
import type { AgentTools } from './agent-tools.http.js';
import { McpController } from './mcp.http.js';
import { McpOptions } from './mcp-options.js';

Logger.overrideLogger(false);

/** The response to a body, from a client that has left or that waits. */
async function responseTo(body: unknown, serverFor: AgentTools['serverFor'], hasLeft: boolean): Promise<Response> {
  const controller = new McpController({ serverFor } as AgentTools, new McpOptions(1, 15_000, true), systemIds);
  const headers = { 'content-type': 'application/json' };
  const request = { method: 'POST', headers, url: '/mcp', protocol: 'http', host: 'a' } as unknown as FastifyRequest;
  let sent: Response | undefined;
  const reply = { raw: { destroyed: hasLeft, once: () => undefined }, send: async (response: Response) => (sent = response) };
  await controller.serve(body, { requestId: 'r' } as Identity, request, reply as unknown as FastifyReply);
  return sent!;
}

it('the wait of a client that left while its request was being accepted is over at once', async () => {
  let endings: readonly AbortSignal[] = [];
  const serverFor: AgentTools['serverFor'] = async (_, __, given) => {
    endings = given;
    throw new Error('Nobody is there.');
  };
  await responseTo({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }, serverFor, true);
  expect(endings.some(({ aborted }) => aborted)).toBe(true);
});

it('a response to a batch ends, also if the batch cancels its own requests', async () => {
  const batch = [
    { jsonrpc: '2.0', id: 1, method: 'ping' },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
  ];
  const response = await responseTo(batch, async () => new McpServer({ name: 'spec', version: '1' }), false);
  expect(await response.text()).toContain('"id":1');
});
