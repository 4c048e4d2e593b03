import { expect, it } from '@jest/globals';
import { fastify } from 'fastify';
import { checkTrustedProxies } from './trusted-proxies.js';

it.each(['10.0.0.1', '10.0.0.0/8', '::1', '2001:db8::/32', '::ffff:10.0.0.1', 'loopback', 'linklocal', 'uniquelocal'])(
  'accepts %s, as Fastify does',
  (proxy) => {
    checkTrustedProxies([proxy, '192.168.0.1']);
    expect(() => fastify({ trustProxy: [proxy, '192.168.0.1'] })).not.toThrow();
  },
);

it.each(['true', '*', '1', '10.0.0.0/33', '0.0.0.0/0', '::/0', 'proxy.example', '10.0.0.1:80', '10.1', '10.0.0.0/'])(
  'rejects %s',
  (proxy) => {
    expect(() => checkTrustedProxies(['10.0.0.1', proxy])).toThrow(`holds "${proxy}"`);
  },
);
