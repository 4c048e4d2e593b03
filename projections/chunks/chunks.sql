-- Another read model may create an extension at the same time, which would fail.
select pg_advisory_xact_lock(hashtextextended('extensions', 0));
create extension if not exists unaccent schema public;
create extension if not exists pg_trgm schema public;
create extension if not exists btree_gin schema public;

-- English, without accents in both texts and questions.
create text search configuration question (copy = pg_catalog.english);
alter text search configuration question
  alter mapping for asciiword, word, hword, hword_part, hword_asciipart, asciihword, numword
  with public.unaccent, pg_catalog.english_stem;

create table source (
  source_id    text primary key,
  owner_id     text not null,
  name         text not null,
  -- The number of chunks for a question, if the source has its own.
  own_chunks   integer,
  -- The set of chunks that is being written, and the one that is searched.
  writing_id   text,
  live_id      text,
  live_chunks  integer not null default 0,
  -- The number of edits of the searched set.
  edits        integer not null default 0,
  -- ingesting, ready or failed
  status       text not null
);

create table chunk (
  chunks_id        text not null,
  ordinal          integer not null,
  source_id        text not null,
  filename         text not null,
  title            text not null,
  text             text not null,
  -- Parts of compound words, and pairs of characters of scripts without spaces.
  more_words       text not null,
  tokens           integer not null,
  embedding        bytea,
  embedding_model  text,
  words            tsvector not null generated always as (
    setweight(to_tsvector('question', title), 'A') ||
    setweight(to_tsvector('question', text), 'D') ||
    setweight(to_tsvector('question', more_words), 'D')
  ) stored,
  primary key (chunks_id, ordinal)
);
create index chunk_by_source on chunk (source_id);
create index chunk_by_words on chunk using gin (chunks_id, words);
