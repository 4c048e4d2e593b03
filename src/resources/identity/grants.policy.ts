import type { Family, ResourceAction } from '../../kernel/access.js';

/** The access of a user to a resource that belongs to another user. */
export type Grant = Readonly<{
  level: 'viewer' | 'editor';
  /** The switches that the owner of the resource has set. The others have their defaults. */
  switches: Readonly<Record<string, boolean>>;
  /** Set if the user has access by the link of an agent and not by a team. */
  byLink?: true;
}>;

/** The access of a user who opened the link of an agent. */
export const BY_LINK: Grant = { level: 'viewer', switches: {}, byLink: true };

/** The switches of each family with their defaults. Each switch allows viewers or editors some actions. */
const SWITCHES: Readonly<Record<Family, Readonly<Record<string, boolean>>>> = {
  agents: {
    editors_can_share: false,
    editors_can_delete: false,
    editors_can_manage_access_details: true,
    viewers_can_see_logs: false,
  },
  sources: { editors_can_share: false, editors_can_delete: false, viewers_can_see_config: true },
  tools: { editors_can_change_credentials: true, editors_can_share: false, viewers_can_use_in_agents: true },
  prompts: { editors_can_share: false, viewers_can_duplicate: true },
  workflows: {},
};

/** An action that is always allowed, or one that needs a switch to be on. */
type Permission = ResourceAction | Readonly<{ action: ResourceAction; when: string }>;

const when = (name: string, action: ResourceAction): Permission => ({ action, when: name });

/**
 * What viewers and editors may do with a resource of each family. Editors may also do what viewers may. Owners may do everything.
 */
const PERMISSIONS: Readonly<Record<Family, Readonly<{ viewer: readonly Permission[]; editor: readonly Permission[] }>>> = {
  agents: {
    viewer: ['use', 'pin', when('viewers_can_see_logs', 'view_logs')],
    editor: [
      'view',
      'edit',
      'publish',
      'edit_policy',
      'view_logs',
      'manage_schedules',
      'export',
      when('editors_can_manage_access_details', 'manage_access_details'),
      when('editors_can_share', 'share'),
      when('editors_can_delete', 'delete'),
    ],
  },
  sources: {
    viewer: ['use', 'view', when('viewers_can_see_config', 'view_config')],
    editor: ['view_config', 'edit', when('editors_can_share', 'share'), when('editors_can_delete', 'delete')],
  },
  tools: {
    viewer: ['view', when('viewers_can_use_in_agents', 'use')],
    editor: ['use', 'edit', when('editors_can_change_credentials', 'change_credentials'), when('editors_can_share', 'share')],
  },
  // A user who may read the text of a prompt can copy it.
  prompts: {
    viewer: ['use', when('viewers_can_duplicate', 'view')],
    editor: ['view', 'edit', when('editors_can_share', 'share')],
  },
  workflows: { viewer: ['use', 'view'], editor: ['edit'] },
};

/** The current values of all switches of a family, in a fixed order. */
export const switchesOf = (family: Family, set: Readonly<Record<string, boolean>>): Readonly<Record<string, boolean>> =>
  Object.fromEntries(Object.entries(SWITCHES[family]).map(([name, initially]) => [name, set[name] ?? initially]));

/** The switches of a family with their defaults. */
export const switchDefaults = (family: Family): Readonly<Record<string, boolean>> => SWITCHES[family];

/** The actions that a grant allows, sorted. */
export function actionsOf(family: Family, { level, switches }: Grant): readonly ResourceAction[] {
  const { viewer, editor } = PERMISSIONS[family];
  const on = switchesOf(family, switches);
  const permissions = level === 'editor' ? [...viewer, ...editor] : viewer;
  const allowed = permissions.flatMap((each) => (typeof each === 'string' ? each : on[each.when] ? each.action : []));
  return [...new Set(allowed)].sort();
}

export const grantAllows = (family: Family, grant: Grant, action: ResourceAction): boolean =>
  actionsOf(family, grant).includes(action);

/** The grant of two for the same resource that allows more. */
export const wider = (one: Grant | undefined, other: Grant): Grant => (one?.level === 'editor' ? one : other);

/** The fields of listings that distinguish the user's own resources from those of teams. */
export const ownershipOf = (grant: Grant | undefined) =>
  grant && !grant.byLink ? { ownership: 'team', team_access: grant.level } : { ownership: 'user', team_access: null };

/** The position of a user in a team. `isAdmin`: the user is an administrator of the installation. */
export type TeamStanding = Readonly<{ role: 'team_admin' | 'team_member' | undefined; isOwner: boolean; isAdmin: boolean }>;

/** The position that an action in a team needs. */
export type NeededInTeam = 'member' | 'team_admin' | 'owner';

/**
 * Why a user may not act in a team. `unknown` if the user is not a member, because teams are hidden from others. Administrators
 * of the installation may do what owners may.
 */
export function lackingInTeam(
  { role, isOwner, isAdmin }: TeamStanding,
  needs: NeededInTeam,
): 'unknown' | 'forbidden' | undefined {
  if (needs === 'owner' && isAdmin) return undefined;
  if (!role) return 'unknown';
  const suffices = { member: true, team_admin: role === 'team_admin', owner: isOwner }[needs];
  return suffices ? undefined : 'forbidden';
}
