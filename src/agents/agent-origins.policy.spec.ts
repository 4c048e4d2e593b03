import { expect, it } from '@jest/globals';
import { refuseOrigin } from './agent-origins.policy.js';

const config = { restrict_origins: true, allowed_origins: ['https://shop.example'] };

it('lets in the origins that are named, those always trusted, and callers that are no page', () => {
  expect(() => refuseOrigin(config, 'https://shop.example')).not.toThrow();
  expect(() => refuseOrigin(config, 'https://console.example', ['https://console.example'])).not.toThrow();
  expect(() => refuseOrigin(config, undefined)).not.toThrow();
  expect(() => refuseOrigin({ allowed_origins: [] }, 'https://other.example')).not.toThrow();
});

it.each(['https://other.example', 'http://shop.example', 'https://shop.example.evil', 'null'])('keeps out %s', (origin) => {
  expect(() => refuseOrigin(config, origin)).toThrow(expect.objectContaining({ code: 'origin-not-allowed' }));
});
