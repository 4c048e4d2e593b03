import { expect, it } from '@jest/globals';
import type { Type } from '@nestjs/common';
import { olderQuestionIn } from '../dialects/older/older-question.policy.js';
import { samplingOf } from '../dialogue/answering/intake/llm-params.policy.js';
import { searchedSources } from '../dialogue/answering/intake/question.policy.js';
import { ConversationName, Feedback } from '../dialogue/conversation/conversations.dto.js';
import type { Rejection } from '../kernel/rejection.js';
import { RequestValidation } from '../platform/http/validation.js';
import { AgentFields, changesIn } from '../resources/agents/agent-fields.http.js';
import { BLANK_AGENT, normalPolicy } from '../resources/agents/agent.policy.js';
import { GuardrailEventsQuery, GuardrailSummaryQuery } from '../resources/guardrails/guardrails.dto.js';
import { NewMember, NewTeamBody } from '../resources/identity/teams/teams.dto.js';
import { resourcesIn } from '../resources/identity/tokens/access-token.policy.js';
import { normalSchema } from '../resources/models/model/response-schema.policy.js';
import { PromptText } from '../resources/prompts/prompts.http.js';
import { fileChangeIn } from '../resources/sources/files/file-change-request.policy.js';
import { mcpSettings, signInHeaders } from '../resources/tools/mcp/mcp-config.policy.js';
import { checked, readChoices } from '../resources/tools/toolbox/definition.policy.js';
import { NewTool } from '../resources/tools/tools.dto.js';
import { capProblems } from '../resources/workflows/graph-structure.policy.js';
import { readNodeConfig } from '../resources/workflows/node-config.policy.js';
import { readGraph } from '../resources/workflows/read-graph.policy.js';
import { WorkflowBody } from '../resources/workflows/workflows.http.js';
import { slotsOf } from '../triggers/schedules/schedule/slots.policy.js';
import { checkIn } from '../triggers/monitors/monitor/check-arguments.policy.js';
import { AuditEventsQuery } from '../views/audit/audit.dto.js';

const ID = '00000000-0000-4000-8000-000000000000';
const x = (count: number) => 'x'.repeat(count);
const texts = (count: number) => Array.from({ length: count }, (_, at) => `t${at}`);
const ids = (count: number) => texts(count).map((_, at) => `${String(at).padStart(8, '0')}${ID.slice(8)}`);

const body = (dto: Type, given: object) => new RequestValidation().transform(given, { type: 'body', metatype: dto });
const config = (type: string, data: object) => readNodeConfig({ type, data: data as Record<string, unknown> }).problems;
const node = { title: '', description: '', type: 'end' };
const change = (fields: Readonly<Record<string, unknown>>) => fileChangeIn((name) => fields[name]);
const toolOf = (...actions: readonly object[]) => ({
  actions: actions.map((each) => ({ ...each, parameters: { type: 'object', properties: {} } })),
});
const tool = (...actions: readonly object[]) => void checked(toolOf(...actions) as never, {});
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/** Midnight, in this number of characters. */
const cronOf = (characters: number) =>
  `0${'0'.repeat((characters + 1) % 2)}${',0'.repeat(Math.floor((characters - 9) / 2))} 0 * * *`;

type Limited = readonly [
  what: string,
  max: number,
  /** Takes a value with this number of characters, entries, or whatever is limited. Throws or returns the problems of a value. */
  take: (n: number) => unknown,
  says: string,
];

/** The maximum of each field, as a number of its own, so that a change of the limit is noticed. */
const LIMITED: readonly Limited[] = [
  ['nodes of a workflow', 200, (n) => capProblems(texts(n), []), 'Too many workflow nodes (max 200)'],
  ['edges of a workflow', 400, (n) => capProblems([], texts(n)), 'Too many workflow edges (max 400)'],
  ['characters of the id of a node', 200, (n) => readGraph([{ ...node, id: x(n) }], []).problems, 'Node 1: id must have at most 200 characters'], // oxfmt-ignore
  ['tools of a node', 200, (n) => config('agent', { tools: texts(n) }), 'tools must hold at most 200 entries'],
  ['characters of the prompt of a node', 100_000, (n) => config('agent', { system_prompt: x(n) }), 'system_prompt must have at most 100000 characters'], // oxfmt-ignore
  ['chunks of a node', 500, (chunks) => config('agent', { chunks }), 'chunks must be a whole number between 0 and 500'],
  ['operations of a node', 50, (n) => config('state', { operations: texts(n).map(() => ({})) }), 'operations must hold at most 50 entries'], // oxfmt-ignore
  ['cases of a node', 50, (n) => config('condition', { cases: texts(n).map((sourceHandle) => ({ sourceHandle })) }), 'cases must hold at most 50 entries'], // oxfmt-ignore
  ['characters of the expression of a node', 10_000, (n) => config('condition', { cases: [{ sourceHandle: 'a', expression: x(n) }] }), 'expression must have at most 10000 characters'], // oxfmt-ignore
  ['removed files of a source', 1_000, (n) => change({ operation: 'remove', file_paths: texts(n) }), 'file_paths holds more than 1000 paths'], // oxfmt-ignore
  ['characters of the path of a file', 1_024, (n) => change({ operation: 'remove', file_paths: [x(n)] }), 'file_paths has more than 1024 characters'], // oxfmt-ignore
  ['sources of a question', 200, (n) => void searchedSources(texts(n)), 'active_docs must name at most 200 sources'], // oxfmt-ignore
  ['sources of a question of an older client', 100, (n) => olderQuestionIn({ question: 'Why?', active_docs: ids(n) }), 'active_docs must name at most 100 sources'], // oxfmt-ignore
  ['characters of the name of a source in a question of an older client', 2_000, (n) => olderQuestionIn({ question: 'Why?', active_docs: x(n) }), 'each with at most 2000 characters'], // oxfmt-ignore
  ['texts that end an answer', 4, (n) => samplingOf({ stop: texts(n) }), 'llm_params.stop must be a text, or at most 4 texts, of at most 256 characters each.'], // oxfmt-ignore
  ['characters of a text that ends an answer', 256, (n) => samplingOf({ stop: x(n) }), 'llm_params.stop must be a text, or at most 4 texts, of at most 256 characters each.'], // oxfmt-ignore
  ['writing actions of an agent', 200, (n) => normalPolicy({ api_write_allowlist: ids(n).map((id) => `${id}:a`) }, new Set()), 'Invalid config: config.api_write_allowlist must hold at most 200 entries.'], // oxfmt-ignore
  ['origins of an agent', 100, (n) => normalPolicy({ allowed_origins: texts(n).map((t) => `https://${t}.example`) }, new Set()), 'Invalid config: config.allowed_origins must hold at most 100 entries.'], // oxfmt-ignore
  ['agents of a token', 200, (n) => resourcesIn({ agents: ids(n) }, ['agents:read']), 'resource_filter.agents allows at most 200 ids'], // oxfmt-ignore
  ['characters of a response schema', 64 * 1024, (n) => normalSchema({ type: 'object', description: x(n - '{"type":"object","description":""}'.length) }), 'it is longer than 65536 characters.'], // oxfmt-ignore
  ['OAuth scopes of a tool', 50, (n) => mcpSettings({ server_url: 'https://a.example', oauth_scopes: texts(n) }), 'oauth_scopes must be at most 50 words.'], // oxfmt-ignore
  ['seconds of the timeout of a tool', 300, (timeout) => mcpSettings({ server_url: 'https://a.example', timeout }), 'timeout must be 1 to 300 seconds.'], // oxfmt-ignore
  ['characters of the address of a tool', 2_048, (n) => mcpSettings({ server_url: `https://a/${x(n - 10)}` }), 'server_url must be an http or https URL.'], // oxfmt-ignore
  ['actions of a tool', 200, (n) => tool(...texts(n).map((name) => ({ name }))), 'A tool may have at most 200 actions'],
  ['characters of the name of an action', 128, (n) => tool({ name: x(n) }), 'An action has a name that cannot be used'],
  ['bytes of a tool', 256 * 1024, (n) => tool({ name: 'a', title: x(n - bytesOf(toolOf({ name: 'a', title: '' }))) }), 'A tool may take at most 262144 bytes'], // oxfmt-ignore
  ['characters of the rule of a schedule', 200, (n) => slotsOf({ cron: cronOf(n), timezone: 'UTC' }, new Date(0)).next(), 'invalid cron: it needs 5 fields'], // oxfmt-ignore
  ['characters of a state that ends a monitor', 100, (n) => checkIn({ type: 'status', terminal: [x(n)] }), 'check.terminal must list 1 to 20 states, of at most 100 characters each'], // oxfmt-ignore
  ['states that end a monitor', 20, (n) => checkIn({ type: 'status', terminal: texts(n) }), 'check.terminal must list 1 to 20 states, of at most 100 characters each'], // oxfmt-ignore
  ['characters of the pattern of a monitor', 500, (n) => checkIn({ type: 'regex', pattern: x(n) }), 'check.pattern must have at most 500 characters'], // oxfmt-ignore
  ['events of a page of guardrails', 500, (limit) => body(GuardrailEventsQuery, { limit }), 'limit must not be greater than 500'],
  ['days of a summary of guardrails', 365, (days) => body(GuardrailSummaryQuery, { days }), 'days must not be greater than 365'],
  ['tools of an agent', 200, (n) => changesIn({ tools: ids(n) }, BLANK_AGENT, new Set()), 'tools must hold at most 200 entries'],
  ['characters of a credential of a tool', 8_192, (n) => signInHeaders(mcpSettings({ server_url: 'https://a.example', auth_type: 'bearer' }), { bearer_token: x(n) }), 'bearer_token cannot be sent as it is.'], // oxfmt-ignore
  ['characters of the description of an action', 10_000, (n) => void readChoices([{ name: 'a', description: x(n) }], [{ name: 'a' }] as never), 'description must be a text of at most 10000 characters'], // oxfmt-ignore
  ['events of a page of the audit', 1_000, (limit) => body(AuditEventsQuery, { limit }), 'limit must not be greater than 1000'],
];

/** The reason why a value is refused; undefined if it is accepted. */
async function refusalOf(take: Limited[2], n: number): Promise<string | undefined> {
  try {
    const problems = await take(n);
    return Array.isArray(problems) && problems.length > 0 ? problems.join('; ') : undefined;
  } catch (error) {
    const { message, details } = error as Rejection;
    return `${message} ${JSON.stringify(details)}`;
  }
}

it.each(LIMITED)('%s: %i are accepted, and one more is refused', async (_, max, take, says) => {
  expect(await refusalOf(take, max)).toBeUndefined();
  expect(await refusalOf(take, max + 1)).toContain(says);
});

/** The texts that are limited by the class of a body or of a query, and the other fields that it needs. */
const TEXTS: readonly (readonly [dto: Type, field: string, max: number, others: object])[] = [
  [AgentFields, 'name', 200, {}],
  [AgentFields, 'description', 10_000, {}],
  [AuditEventsQuery, 'stream', 500, {}],
  [ConversationName, 'name', 500, { id: ID }],
  [Feedback, 'feedback', 2_000, { conversation_id: ID, question_index: 0 }],
  [NewTeamBody, 'name', 200, {}],
  [NewTeamBody, 'description', 2_000, { name: 'a' }],
  [NewMember, 'user_id', 256, {}],
  [NewTool, 'displayName', 200, { name: 'a', description: '', config: {}, status: true }],
  [NewTool, 'description', 10_000, { name: 'a', displayName: 'a', config: {}, status: true }],
  [PromptText, 'name', 200, { content: 'a' }],
  [PromptText, 'content', 100_000, { name: 'a' }],
  [WorkflowBody, 'name', 200, {}],
  [WorkflowBody, 'description', 10_000, { name: 'a' }],
];

const NAMED = TEXTS.map(([dto, field, max, others]) => [`${dto.name}.${field}`, max, dto, field, others] as const);

it.each(NAMED)('%s may have %i characters, and no more', async (_, max, dto, field, others) => {
  const take = (n: number) => body(dto, { ...others, [field]: x(n) });
  expect(await refusalOf(take, max)).toBeUndefined();
  expect(await refusalOf(take, max + 1)).toContain(`${field} must be shorter than or equal to ${max} characters`);
});
