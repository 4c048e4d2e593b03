import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type CallToolResult, Client, InMemoryTransport } from '@modelcontextprotocol/client';
import type { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { tracesIn } from '../../../test/support/traces.js';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import { SseStreams } from '../../platform/http/sse.js';
import type { Identity } from '../../resources/identity/identity.js';
import type { AgentSearch } from '../../resources/sources/chunks/agent-search.port.js';
import type { AgentAnswers, AskedAgent } from './agent-answers.js';
import { AgentTools } from './agent-tools.http.js';
import { McpOptions } from './mcp-options.js';

const STREAMS_MAX = 2;

const streams = new SseStreams({ keepaliveMs: 15_000, stallMs: 30_000, bufferedBytesMax: 1024 });
/** The pending questions. Each waits until the test answers it or lets it fail. */
let asked: Readonly<{ question: string; answer: () => void; fail: () => void }>[];
let client: Client;
let closing: AbortSignal;
beforeEach(async () => {
  asked = [];
  const answers = {
    ask: ({ question }: AskedAgent) =>
      new Promise((resolve, reject) => {
        const answer = () => resolve({ answer: `To ${question}`, conversation_id: 'c', sources: [] });
        asked.push({ question, answer, fail: () => reject(new Error('The model is away.')) });
      }),
  };
  const tools = new AgentTools(
    {} as AgentSearch,
    answers as unknown as AgentAnswers,
    { byId: async () => ({ configuration: { mcpAsk: true } }) } as unknown as AgentQueries,
    streams,
    new VirtualTiming(),
    new McpOptions(STREAMS_MAX, 15_000, true),
  );
  const identity = { requestId: 'r', agentKey: async () => ({ kind: 'agent-key', agentId: 'a', ownerId: 'ann' }) };
  closing = new AbortController().signal;
  const server = await tools.serverFor(identity as unknown as Identity, true, [closing]);
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  client = new Client({ name: 'spec', version: '1' });
  await Promise.all([server.connect(ours), client.connect(theirs)]);
});
afterEach(() => client.close());

const ask = (question: string) => client.callTool({ name: 'ask', arguments: { question } });
const textOf = ({ content: [first] }: CallToolResult) => (first?.type === 'text' ? first.text : undefined);
const REFUSED = { isError: true, content: [{ type: 'text', text: 'Too many concurrent streams' }] };

it('ask refuses a question above the limit of streams until another question has ended, also by a failure', async () => {
  const first = ask('1');
  const second = ask('2');
  expect(await ask('3')).toMatchObject(REFUSED);
  expect(asked.map(({ question }) => question)).toEqual(['1', '2']);
  asked[0]!.answer();
  expect(textOf(await first)).toBe('To 1');
  const fourth = ask('4');
  expect(await ask('5')).toMatchObject(REFUSED);
  asked[1]!.fail();
  expect((await second).isError).toBe(true);
  const sixth = ask('6');
  expect(await ask('7')).toMatchObject(REFUSED);
  for (const { answer } of asked) answer();
  expect([textOf(await fourth), textOf(await sixth)]).toEqual(['To 4', 'To 6']);
  expect(streams.size).toBe(0);
  expect(tracesIn(closing)).toBe(0);
});

it('ask shares the limit with the open streams of the process', async () => {
  const releases = [streams.reserve(STREAMS_MAX)!, streams.reserve(STREAMS_MAX)!];
  expect(await ask('1')).toMatchObject(REFUSED);
  releases[0]!();
  const answered = ask('2');
  expect(await ask('3')).toMatchObject(REFUSED);
  asked[0]!.answer();
  expect(textOf(await answered)).toBe('To 2');
  releases[1]!();
});
