import { describe, expect, it } from '@jest/globals';
import {
  capabilitiesIn,
  checkedBaseUrl,
  checkedChanges,
  checkedKey,
  checkedModel,
  descriptionOf,
} from './custom-model.policy.js';

const GIVEN = {
  displayName: 'Mine',
  upstreamModelId: 'm-1',
  description: '',
  baseUrl: 'https://example.com/v1',
  apiKey: 'key',
  capabilities: {},
  enabled: true,
};
const refusal = (message: string) => expect.objectContaining({ code: 'invalid-request', message });

describe('the fields of a custom model', () => {
  it('are kept if they are valid', () => expect(checkedModel(GIVEN)).toEqual(GIVEN));

  it('are changed only if they are given', () => {
    expect(checkedChanges({})).toStrictEqual({});
    expect(checkedChanges({ enabled: false, description: '' })).toStrictEqual({ enabled: false, description: '' });
  });

  it.each([
    ['displayName', 'display_name', 200],
    ['upstreamModelId', 'upstream_model_id', 200],
    ['description', 'description', 2_000],
    ['apiKey', 'api_key', 4_000],
  ])('%s have a limited length', (field, shown, max) => {
    expect(checkedChanges({ [field]: 'x'.repeat(max) })).toEqual({ [field]: 'x'.repeat(max) });
    expect(() => checkedChanges({ [field]: 'x'.repeat(max + 1) })).toThrow(
      refusal(`${shown} must be shorter than or equal to ${max} characters`),
    );
  });

  it.each([
    ['displayName', 'display_name'],
    ['upstreamModelId', 'upstream_model_id'],
    ['baseUrl', 'base_url'],
    ['apiKey', 'api_key'],
  ])('%s must not be blank', (field, shown) =>
    expect(() => checkedChanges({ [field]: ' ' })).toThrow(refusal(`'${shown}' must be a non-empty string`)),
  );

  it.each(['a\0', '\ud800'])('can be stored, which %j cannot', (text) =>
    expect(() => checkedChanges({ description: text })).toThrow(
      refusal('description must not hold NUL or half of a surrogate pair'),
    ),
  );
});

describe('a base URL', () => {
  it('has at most 2000 characters', () => {
    const url = `https://example.com/${'x'.repeat(1_980)}`;
    expect(checkedBaseUrl(url)).toBe(url);
    expect(() => checkedBaseUrl(`${url}x`)).toThrow(refusal('base_url must be shorter than or equal to 2000 characters'));
  });
  it.each([
    ['example.com', 'base_url must be a URL'],
    ['https://example.com?a', 'base_url must have no query and no fragment'],
    ['https://example.com#a', 'base_url must have no query and no fragment'],
  ])('%s is refused', (url, message) => expect(() => checkedBaseUrl(url)).toThrow(refusal(message)));
});

describe('a key', () => {
  it('is trimmed', () => expect(checkedKey(' a-key~!\n')).toBe('a-key~!'));
  it.each(['a key', 'schlüssel', 'a\x7f'])('cannot be %j', (key) =>
    expect(() => checkedKey(key)).toThrow(refusal('api_key must hold printable ASCII characters without spaces')),
  );
});

describe('the capabilities of a model', () => {
  it.each<[unknown, object]>([
    [null, {}],
    [{ supports_tools: null, attachments: null, context_window: null, api_flavor: null, reasoning_effort: null }, {}],
    [{ supports_video: true }, {}],
    [
      { supports_tools: false, supports_structured_output: true },
      { supports_tools: false, supports_structured_output: true },
    ],
    [{ supports_streaming: false }, { supports_streaming: false }],
    [{ attachments: ['image', 'text/*'] }, { attachments: ['image', 'text/*'] }],
    [{ context_window: 1_000 }, { context_window: 1_000 }],
    [{ context_window: 10_000_000 }, { context_window: 10_000_000 }],
    [{ context_window: '32000' }, { context_window: 32_000 }],
    [{ api_flavor: 'chat_completions' }, { api_flavor: 'chat_completions' }],
    [{ reasoning_effort: 'xhigh' }, { reasoning_effort: 'xhigh' }],
  ])('%j are kept as %j', (given, kept) => expect(capabilitiesIn(given)).toStrictEqual(kept));

  const BETWEEN = "'capabilities.context_window' must be between 1000 and 10000000";
  const MIME_TYPES = "'capabilities.attachments' must hold MIME types such as image/png, or image, pdf, audio";
  it.each<[unknown, string]>([
    ['all', "'capabilities' must be an object"],
    [[], "'capabilities' must be an object"],
    [{ supports_tools: 'yes' }, "'capabilities.supports_tools' must be true or false"],
    [{ supports_structured_output: 1 }, "'capabilities.supports_structured_output' must be true or false"],
    [{ supports_streaming: 1 }, "'capabilities.supports_streaming' must be true or false"],
    [{ attachments: 'image' }, "'capabilities.attachments' must be a list"],
    [{ attachments: [7] }, MIME_TYPES],
    [{ attachments: ['toString'] }, MIME_TYPES],
    [{ context_window: 999 }, BETWEEN],
    [{ context_window: 10_000_001 }, BETWEEN],
    [{ context_window: '123456789' }, "'capabilities.context_window' must be an integer"],
    [{ context_window: 1_000.5 }, "'capabilities.context_window' must be an integer"],
    [{ api_flavor: 'responses' }, "'capabilities.api_flavor' must be one of [chat_completions]"],
    [{ reasoning_effort: 'max' }, "'capabilities.reasoning_effort' must be one of [none, minimal, low, medium, high, xhigh]"],
  ])('%j are refused', (given, message) => expect(() => capabilitiesIn(given)).toThrow(refusal(message)));

  it('name at most 50 types of attachments', () => {
    const entries = Array<string>(50).fill('pdf');
    expect(capabilitiesIn({ attachments: entries })).toEqual({ attachments: entries });
    expect(() => capabilitiesIn({ attachments: [...entries, 'pdf'] })).toThrow(
      refusal("'capabilities.attachments' must hold at most 50 entries"),
    );
  });
});

describe('the description of a custom model', () => {
  const described = (capabilities: object) =>
    descriptionOf('id', { ...checkedModel(GIVEN), credentialsId: 'c', capabilities: capabilitiesIn(capabilities) });

  it('has the defaults of an endpoint', () =>
    expect(described({})).toEqual({
      id: 'id',
      provider: 'openai_compatible',
      displayName: 'Mine',
      description: '',
      attachmentTypes: [],
      tools: true,
      structuredOutput: true,
      streaming: true,
      contextWindow: 128_000,
      reasoningEffort: null,
      baseUrl: 'https://example.com/v1',
      isCustom: true,
    }));

  it('has what its owner states', () =>
    expect(
      described({
        attachments: ['pdf', 'application/pdf', 'text/plain'],
        supports_tools: false,
        supports_structured_output: false,
        supports_streaming: false,
        context_window: 4_000,
        reasoning_effort: 'low',
      }),
    ).toMatchObject({
      attachmentTypes: ['application/pdf', 'text/plain'],
      tools: false,
      structuredOutput: false,
      streaming: false,
      contextWindow: 4_000,
      reasoningEffort: 'low',
    }));
});
