import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { load, YAML11_SCHEMA } from 'js-yaml';
import { ROLES, settings } from '../../src/platform/config/settings.js';

type Service = Readonly<{
  image: string;
  build?: string;
  pull_policy?: string;
  environment: Readonly<Record<string, string | number | null>>;
  stop_grace_period?: string;
  depends_on?: Readonly<Record<string, Readonly<{ condition: string }>>>;
  healthcheck?: Readonly<{ test: readonly string[] }>;
}>;

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
// Parsed like Compose does, with merge keys.
const { services } = load(read('docker-compose.yml'), { schema: YAML11_SCHEMA }) as { services: Record<string, Service> };
const ours = Object.entries(services).filter(([, { image }]) => image === 'verbatim');
const inRole = (role: string) => ours.filter(([, { environment }]) => String(environment['ROLES']).split(',').includes(role));
const example = Object.keys(parseEnv(read('.env.example').replaceAll(/^#(?=[A-Z_]+=)/gm, '')));

/** The image and the file set these: a container has its own network and disk, and each service its role. */
const FIXED = ['HOST', 'PORT', 'DATA_DIR', 'ROLES'];

describe('docker-compose.yml', () => {
  it('builds the image in one service, which the others wait for, and pulls it in none', () => {
    const builders = ours.filter(([, { build }]) => build !== undefined);
    expect(builders).toMatchObject([[expect.any(String), { build: '.', image: 'verbatim' }]]);
    const [builder] = builders[0]!;
    for (const [name, { pull_policy: policy, depends_on: dependsOn }] of ours) {
      expect({ name, policy }).toEqual({ name, policy: 'never' });
      if (name !== builder) expect(dependsOn).toMatchObject({ [builder]: { condition: 'service_healthy' } });
    }
  });

  it('has every role, with two processes that accept requests and two workers', () => {
    for (const role of ROLES) expect([role, inRole(role).length > 0]).toEqual([role, true]);
    expect([inRole('api').length, inRole('worker').length]).toEqual([2, 2]);
  });

  it.each(ours)('passes every setting of .env.example to %s, and no other', (_, { environment }) => {
    expect(Object.keys(environment).sort()).toEqual([...example].sort());
    for (const name of example.filter((each) => !FIXED.includes(each))) {
      const value = environment[name];
      const isPassedOn = value === null || (typeof value === 'string' && value.startsWith(`\${${name}:-`) && value.endsWith('}'));
      expect({ name, value, isPassedOn }).toMatchObject({ name, isPassedOn: true });
    }
  });

  it('starts no service before the stores it depends on are healthy', () => {
    for (const [, { depends_on: dependsOn }] of ours) {
      for (const store of ['eventstoredb', 'postgres', 'nats']) {
        expect(dependsOn).toMatchObject({ [store]: { condition: 'service_healthy' } });
        expect(services[store]!.healthcheck!.test.length).toBeGreaterThan(1);
      }
    }
  });

  it('gives a process time to end before it is killed', () => {
    for (const [, { stop_grace_period: grace }] of ours)
      expect(Number.parseInt(grace!, 10)).toBeGreaterThan(Number(settings.shutdownMs.fallback));
  });
});
