create table access_token (
  token_id    text primary key,
  owner_id    text not null,
  name        text not null,
  hash        text not null,
  prefix      text not null,
  scopes      json not null,
  resources   json not null,
  created_at  timestamptz not null,
  expires_at  timestamptz
);
create unique index access_token_by_hash on access_token (hash);
create index access_token_by_owner on access_token (owner_id, created_at);
