import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { load, YAML11_SCHEMA } from 'js-yaml';
import { connectionTarget } from '../../src/platform/event-store/eventstoredb/connection-string.js';
import { TESTED_LINE } from '../../src/platform/event-store/eventstoredb/server-version.js';

type Service = Readonly<{
  image?: string;
  user?: string;
  entrypoint?: readonly string[];
  command?: readonly string[];
  restart?: string;
  environment?: Readonly<Record<string, string | number>>;
  volumes?: readonly string[];
  depends_on?: Readonly<Record<string, Readonly<{ condition: string }>>>;
  healthcheck?: Readonly<{ test: readonly string[]; retries: number; start_period: string }>;
}>;
type File = Readonly<{ services: Record<string, Service>; volumes: Record<string, null> }>;

const read = (name: string) =>
  load(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'), { schema: YAML11_SCHEMA }) as File;
const single = read('docker-compose.yml');
const cluster = read('docker-compose.cluster.yml');

/** The relevant fields of both files, merged like Compose does. */
const merged = (name: string): Service => ({
  ...single.services[name],
  ...cluster.services[name],
  environment: { ...single.services[name]?.environment, ...cluster.services[name]?.environment },
  volumes: [...(single.services[name]?.volumes ?? []), ...(cluster.services[name]?.volumes ?? [])],
  depends_on: { ...single.services[name]?.depends_on, ...cluster.services[name]?.depends_on },
});
const ours = Object.entries(single.services)
  .filter(([, { image }]) => image === 'verbatim')
  .map(([name]) => name);
const NODES = ['eventstoredb', 'eventstoredb-2', 'eventstoredb-3'];
const sourceOf = (service: Service, target: string) =>
  service.volumes!.find((volume) => volume.split(':')[1] === target)?.split(':')[0];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cluster-'));
  writeFileSync(join(folder, 'ca.crt'), 'a certificate');
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('both files', () => {
  it.each(NODES)('run the tested release line of the server, and restart %s when it ends', (name) => {
    expect(merged(name)).toMatchObject({
      image: expect.stringMatching(
        new RegExp(`^eventstore/eventstore:${TESTED_LINE.replace('.', '\\.')}\\.\\d+-jammy$`),
      ) as unknown,
      restart: 'unless-stopped',
    });
  });

  it('call a node healthy when it accepts appends: as the leader, or as a follower of one', () => {
    const stateOf = ({ healthcheck }: Service) => /\/info \| grep -Eq '"state": \*"(.+)"'$/.exec(healthcheck!.test[1]!)?.[1];
    expect(stateOf(single.services['eventstoredb']!)).toBe('leader');
    for (const name of NODES) expect([name, stateOf(merged(name))]).toEqual([name, '(leader|follower)']);
  });
});

describe('docker-compose.cluster.yml', () => {
  it.each(NODES)('makes %s one of three, each with a separate log and certificate, over TLS', (name) => {
    const { environment, volumes, depends_on: dependsOn } = merged(name);
    expect(environment).toMatchObject({
      EVENTSTORE_CLUSTER_SIZE: 3,
      EVENTSTORE_INSECURE: 'false',
      EVENTSTORE_NODE_HOST_ADVERTISE_AS: name,
      EVENTSTORE_REPLICATION_HOST_ADVERTISE_AS: name,
      EVENTSTORE_TRUSTED_ROOT_CERTIFICATES_PATH: '/authority',
    });
    const others = NODES.filter((other) => other !== name).map((other) => `${other}:2113`);
    expect(String(environment!['EVENTSTORE_GOSSIP_SEED']).split(',')).toEqual(others);
    expect(sourceOf(merged(name), '/var/lib/eventstore')).toBe(name);
    expect(sourceOf(merged(name), '/certificate')).toBe(`${name}-certificate`);
    expect(volumes).toContain('authority:/authority:ro');
    expect(dependsOn).toMatchObject({ certificates: { condition: 'service_completed_successfully' } });
  });

  it('creates the certificates for the names of the nodes, and does not expose the key of the authority', () => {
    const { command, volumes, restart } = cluster.services['certificates']!;
    const script = command!.join('\n');
    expect(script).toContain(`for node in ${NODES.join(' ')};`);
    expect(script).toContain('-dns-names $$node,localhost');
    for (const name of NODES) expect(volumes).toContain(`${name}-certificate:/nodes/${name}`);
    expect(restart).toBeUndefined();
    for (const name of [...ours, ...NODES]) expect(sourceOf(merged(name), '/keys')).toBeUndefined();
    expect(ours.flatMap((name) => merged(name).volumes!).filter((volume) => volume.includes('certificate'))).toEqual([]);
  });

  it('points every process of the service at all three, with the password of the nodes', () => {
    expect(ours.length).toBeGreaterThan(4);
    for (const name of ours) {
      const { environment, volumes } = merged(name);
      const text = String(environment!['EVENT_STORE'])
        .replace(/\$\{EVENTSTORE_ADMIN_PASSWORD:\?[^}]+\}/, 'a-password')
        .replace('/authority', folder);
      expect(connectionTarget(text)).toMatchObject({
        endpoints: NODES.map((address) => ({ address, port: 2113 })),
        discovers: true,
        tls: true,
        credentials: { username: 'admin', password: 'a-password' },
      });
      expect(volumes).toEqual(['service:/data', 'authority:/authority:ro']);
    }
    for (const name of NODES)
      expect(merged(name).environment!['EVENTSTORE_DEFAULT_ADMIN_PASSWORD']).toMatch(/^\$\{EVENTSTORE_ADMIN_PASSWORD:\?/);
  });

  it('declares every volume that it uses', () => {
    const named = Object.values(cluster.services).flatMap(({ volumes }) => (volumes ?? []).map((each) => each.split(':')[0]!));
    expect([...new Set(named)].filter((name) => !(name in cluster.volumes) && !(name in single.volumes))).toEqual([]);
  });
});
