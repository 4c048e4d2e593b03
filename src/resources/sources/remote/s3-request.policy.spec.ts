import { expect, it } from '@jest/globals';
import { s3EndpointOf, s3RequestIn } from './s3-request.policy.js';

const keys = { aws_access_key_id: 'AKIA1', aws_secret_access_key: 's3/cr+et' };
const originOf = (data: object) => {
  const request = s3RequestIn({ ...keys, bucket: 'docs', ...data });
  if ('refused' in request) throw new Error(request.refused);
  return request.origin;
};

it('accepts the fields of a form', () => {
  expect(originOf({ prefix: '/guide/', region: 'EU-West-1', endpoint_url: 'minio.example.com:9000/' })).toEqual({
    kind: 's3',
    urls: ['s3://docs/guide/'],
    bucket: 'docs',
    prefix: 'guide/',
    region: 'eu-west-1',
    endpointUrl: 'https://minio.example.com:9000',
    credentialsId: null,
  });
});

it.each([
  [{}, 'https://s3.us-east-1.amazonaws.com'],
  [{ region: 'eu-west-1' }, 'https://s3.eu-west-1.amazonaws.com'],
  [{ endpoint_url: 'http://127.0.0.1:9000' }, 'http://127.0.0.1:9000'],
  [{ endpoint_url: 'https://nas.example.com/s3/' }, 'https://nas.example.com/s3'],
  [{ endpoint_url: 'https://docs.nyc3.digitaloceanspaces.com' }, 'https://nyc3.digitaloceanspaces.com'],
])('has, for %j, the endpoint %s', (data, address) => {
  expect(s3EndpointOf(originOf(data))).toBe(address);
});

it.each([
  [{ bucket: '' }, 'Missing required fields: bucket in data'],
  [{ bucket: '../other' }, 'bucket is not a valid bucket name'],
  [{ bucket: 'a..b' }, 'bucket is not a valid bucket name'],
  [{ region: 'x.evil.example/' }, 'region is not a valid region name'],
  [{ prefix: 'x'.repeat(1_025) }, 'prefix has more than 1024 characters'],
  [{ endpoint_url: 'ftp://a.example' }, 'endpoint_url must be'],
  [{ endpoint_url: 'https://me:pass@a.example' }, 'endpoint_url must be'],
  [{ endpoint_url: 'https://a.example/?x=1' }, 'endpoint_url must be'],
  [{ aws_secret_access_key: 'a\r\nb' }, 'characters that no key has'],
])('refuses %j', (data, reason) => {
  expect(() => originOf(data)).toThrow(reason);
});
