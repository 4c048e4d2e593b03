import { describe, expect, it } from '@jest/globals';
import { FAMILIES } from '../../kernel/access.js';
import { actionsOf, lackingInTeam, switchDefaults, switchesOf, wider } from './grants.policy.js';

const viewer = (switches = {}) => ({ level: 'viewer', switches }) as const;
const editor = (switches = {}) => ({ level: 'editor', switches }) as const;

it.each([
  ['agents', ['pin', 'use']],
  ['sources', ['use', 'view', 'view_config']],
  ['tools', ['use', 'view']],
  ['prompts', ['use', 'view']],
  ['workflows', ['use', 'view']],
] as const)('a viewer of %s may %j', (family, actions) => {
  expect(actionsOf(family, viewer())).toEqual(actions);
});

it('an editor of an agent changes it, and neither shares, deletes nor moves it', () => {
  const actions = ['edit', 'edit_policy', 'export', 'manage_access_details', 'manage_schedules', 'pin', 'publish', 'use', 'view'];
  expect(actionsOf('agents', editor())).toEqual([...actions, 'view_logs']);
});

it.each(FAMILIES)('an editor of %s may do everything that a viewer may', (family) => {
  expect(actionsOf(family, editor())).toEqual(expect.arrayContaining([...actionsOf(family, viewer())]));
});

describe('a switch', () => {
  const cases = FAMILIES.flatMap((family) => Object.entries(switchDefaults(family)).map(([name, on]) => ({ family, name, on })));

  it.each(cases)('of $family, $name, allows one more action when it is on', ({ family, name }) => {
    const holder = name.startsWith('viewers') ? viewer : editor;
    const [off, on] = [false, true].map((value) => actionsOf(family, holder({ [name]: value })));
    expect(on!.length).toBe(off!.length + 1);
  });

  it.each(cases)('of $family, $name, is $on until the owner changes it', ({ family, name, on }) => {
    expect(switchesOf(family, {})[name]).toBe(on);
    expect(switchesOf(family, { [name]: !on, unknown: true })).toEqual({ ...switchDefaults(family), [name]: !on });
  });
});

it('an editor’s grant takes precedence over a viewer’s', () => {
  expect(wider(undefined, viewer())).toEqual(viewer());
  expect(wider(viewer(), editor())).toEqual(editor());
  expect(wider(editor(), viewer())).toEqual(editor());
});

it.each([
  [{ role: undefined, isOwner: false, isAdmin: false }, ['unknown', 'unknown', 'unknown']],
  [{ role: undefined, isOwner: false, isAdmin: true }, ['unknown', 'unknown', undefined]],
  [{ role: 'team_member', isOwner: false, isAdmin: false }, [undefined, 'forbidden', 'forbidden']],
  [{ role: 'team_admin', isOwner: false, isAdmin: false }, [undefined, undefined, 'forbidden']],
  [{ role: 'team_admin', isOwner: true, isAdmin: false }, [undefined, undefined, undefined]],
] as const)('%j lacks, as member, administrator, owner: %j', (standing, lacking) => {
  expect((['member', 'team_admin', 'owner'] as const).map((needs) => lackingInTeam(standing, needs))).toEqual(lacking);
});
