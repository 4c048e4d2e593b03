import { expect, it } from '@jest/globals';
import { clientOf } from './client-address.js';

const client = (ip: string, remoteAddress?: string) => clientOf({ ip, socket: { remoteAddress } });

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:0:7::1', '2001:db8:0:7::/64'],
  ['2001:db8:0:7:ffff:ffff:ffff:ffff', '2001:db8:0:7::/64'],
  ['2001:db8:0:8::1', '2001:db8:0:8::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
])('%s counts as %s', (address, counted) => {
  expect(client(address)).toBe(counted);
});

it.each(['', 'unknown', '203.0.113.7:5000', '1', '_hidden', '203.0.113.7, 10.0.0.1'])(
  'the address of the proxy counts if it reports the client as "%s"',
  (named) => {
    expect(client(named, '10.0.0.1')).toBe('10.0.0.1');
    expect(client(named)).toBe('unknown');
  },
);
