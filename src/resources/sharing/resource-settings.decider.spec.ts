import { expect, it } from '@jest/globals';
import { given } from '../../../test/support/given.js';
import { switchDefaults } from '../identity/grants.policy.js';
import { change, resourceSettings } from './resource-settings.decider.js';
import type { ResourceSettingsChanged } from './resource-settings.events.js';

const agent = { family: 'agents', resourceId: 'a1' } as const;
const now = new Date('2026-01-01T00:00:00Z');
const [name, initially] = Object.entries(switchDefaults('agents'))[0]!;
const [other] = Object.keys(switchDefaults('agents')).slice(1);
const changed = (switches: Readonly<Record<string, boolean>>): ResourceSettingsChanged => ({
  type: 'ResourceSettingsChanged',
  data: { ...agent, switches, changedAt: now.toISOString() },
});

it('only the switches whose values differ are recorded', () => {
  const wanted = { ...switchDefaults('agents'), [name]: !initially };
  expect(Object.keys(wanted).length).toBeGreaterThan(1);
  given(resourceSettings, [])
    .when(change(agent, wanted, now))
    .then([changed({ [name]: !initially })]);
  given(resourceSettings, [changed({ [name]: !initially })])
    .when(change(agent, wanted, now))
    .thenNothing();
});

it('a switch that has its default value needs no event', () =>
  given(resourceSettings, [])
    .when(change(agent, { [name]: initially }, now))
    .thenNothing());

it('a switch keeps its value when another one changes', () =>
  given(resourceSettings, [changed({ [name]: !initially }), changed({ [other!]: !switchDefaults('agents')[other!] })])
    .when(change(agent, { [name]: initially }, now))
    .then([changed({ [name]: initially })]));
