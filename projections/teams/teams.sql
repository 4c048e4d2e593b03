create table team (
  team_id     text primary key,
  name        text not null,
  slug        text not null,
  description text not null,
  owner_id    text not null,
  created_at  timestamptz not null,
  updated_at  timestamptz not null
);
create table member (
  team_id    text not null,
  user_id    text not null,
  role       text not null,
  granted_by text not null,
  granted_at timestamptz not null,
  primary key (team_id, user_id)
);
create index member_by_user on member (user_id);
create table team_grant (
  grant_id       text primary key,
  team_id        text not null,
  family         text not null,
  resource_id    text not null,
  owner_id       text not null,
  level          text not null,
  -- The only member with whom it is shared. Null: all members.
  target_user_id text,
  granted_by     text not null,
  created_at     timestamptz not null
);
create index team_grant_by_team on team_grant (team_id, created_at);
create index team_grant_by_resource on team_grant (family, resource_id);
-- Switches of resources that their owners have changed from the default.
create table resource_switch (
  family      text not null,
  resource_id text not null,
  name        text not null,
  value       boolean not null,
  primary key (family, resource_id, name)
);
