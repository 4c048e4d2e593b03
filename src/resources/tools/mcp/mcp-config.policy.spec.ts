import { expect, it } from '@jest/globals';
import { mcpSettings, signInHeaders } from './mcp-config.policy.js';

const URL = 'https://tools.example/';
const scopes = (count: number) => Array.from({ length: count }, (_, at) => `s${at}`);
const key = (length: number) =>
  signInHeaders(mcpSettings({ server_url: URL, auth_type: 'bearer' }), { bearer_token: 'k'.repeat(length) });

it('accepts an address, scopes and a credential at their limits, and refuses more', () => {
  expect(mcpSettings({ server_url: URL.padEnd(2_048, 'x') }).serverUrl).toHaveLength(2_048);
  expect(() => mcpSettings({ server_url: URL.padEnd(2_049, 'x') })).toThrow('server_url must be an http or https URL.');
  expect(mcpSettings({ server_url: URL, oauth_scopes: scopes(50) }).scopes).toHaveLength(50);
  expect(() => mcpSettings({ server_url: URL, oauth_scopes: scopes(51) })).toThrow('at most 50 words');
  expect(key(8_192)).toEqual({ Authorization: expect.stringMatching(/^Bearer k+$/) });
  expect(() => key(8_193)).toThrow('bearer_token cannot be sent as it is.');
});
