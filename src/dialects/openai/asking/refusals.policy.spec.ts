import { describe, expect, it } from '@jest/globals';
import { ONLY_VALUES, refuseUnread } from './refusals.policy.js';

const TOOLS = [{ type: 'function' }];
const check = (body: object) => () => refuseUnread(body as Record<string, unknown>, ['model', 'tools'], ONLY_VALUES);

describe('a field that the service does not read', () => {
  it.each([
    { model: 7 },
    { unknown: null },
    { prompt_cache_key: 'a', prompt_cache_retention: 'a', safety_identifier: 'a', user: 'a' },
    { service_tier: 'auto' },
    { service_tier: 'default' },
    { top_logprobs: 0 },
    { parallel_tool_calls: true, tool_choice: 'auto', tools: TOOLS },
    { parallel_tool_calls: false, tool_choice: 'none' },
    { parallel_tool_calls: false, tool_choice: 'none', tools: null },
    { parallel_tool_calls: false, tool_choice: 'none', tools: [] },
  ])('is accepted if it changes nothing: %j', (body) => expect(check(body)).not.toThrow());

  it.each<[string, object]>([
    ['unknown', { unknown: 7 }],
    ['toString', { toString: 'a' }],
    ['prompt_cache_key', { prompt_cache_key: 7 }],
    ['prompt_cache_retention', { prompt_cache_retention: 7 }],
    ['safety_identifier', { safety_identifier: 7 }],
    ['user', { user: 7 }],
    ['service_tier', { service_tier: 'flex' }],
    ['top_logprobs', { top_logprobs: 1 }],
    ['parallel_tool_calls', { parallel_tool_calls: false, tools: TOOLS }],
    ['parallel_tool_calls', { parallel_tool_calls: 'no' }],
    ['tool_choice', { tool_choice: 'none', tools: TOOLS }],
    ['tool_choice', { tool_choice: 'none', tools: 'all' }],
    ['tool_choice', { tool_choice: 'required' }],
    ['a', { model: 'm', a: 1, b: 1 }],
  ])('%s is refused in %j', (param, body) =>
    expect(check(body)).toThrow(
      expect.objectContaining({
        code: 'invalid-request',
        message: `${param} is not supported, or not with this value.`,
        details: { param },
      }),
    ),
  );
});
