CREATE EXTENSION IF NOT EXISTS vector;
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- The installation

-- Facts about this installation, such as the fingerprint of the key that its secrets are sealed with.
CREATE TABLE installation (
  name text PRIMARY KEY,
  value text NOT NULL
);

-- Heartbeats of the nodes that carry calls.
CREATE TABLE nodes (
  id text PRIMARY KEY,
  beat_at timestamptz NOT NULL
);

-- Files whose row was deleted, by any statement, until the files are deleted too.
CREATE TABLE file_removals (
  file_key text PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now()
);
CREATE FUNCTION note_file_removal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO file_removals (file_key) VALUES (OLD.file_key) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

-- Projects and access

CREATE TABLE projects (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  -- Null while it was not set: chats have a longer default than other sessions.
  session_idle_minutes integer,
  -- Null keeps sessions for ever; 0 keeps none.
  history_retention_days integer,
  -- The other retentionDays that were set; null keeps for ever.
  retention_days jsonb NOT NULL DEFAULT '{}',
  report_usage boolean NOT NULL,
  -- What the operator set; the settings of the service apply to the rest.
  call_limits jsonb NOT NULL DEFAULT '{}',
  quotas jsonb NOT NULL DEFAULT '{}',
  -- Null for calls at any hour.
  calling_hours jsonb,
  -- Which sessions are queued for review; null for none.
  review_rules json,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX projects_by_creation ON projects (created_at, id);

CREATE TABLE api_keys (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('secret', 'developer')),
  digest text NOT NULL UNIQUE,
  hint text NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz
);
CREATE INDEX api_keys_of_project ON api_keys (project_id, created_at);

-- Public tokens of the widget on web pages, with their limits.
CREATE TABLE widget_tokens (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  digest text NOT NULL UNIQUE,
  hint text NOT NULL,
  allowed_origins text[] NOT NULL,
  max_minutes_per_day integer NOT NULL,
  requests_per_minute integer NOT NULL,
  max_concurrent integer NOT NULL DEFAULT 5,
  -- Null for a token that does not expire.
  expires_at timestamptz,
  created_at timestamptz NOT NULL,
  -- Talk time of one UTC day; the time of an earlier day no longer counts.
  used_on date,
  used_ms bigint NOT NULL DEFAULT 0
);
CREATE INDEX widget_tokens_of_project ON widget_tokens (project_id, created_at, id);

-- Usage by UTC day.
CREATE TABLE project_usage (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  day date NOT NULL,
  kind text NOT NULL,
  amount bigint NOT NULL,
  PRIMARY KEY (project_id, day, kind)
);

-- What vendors bill. A change adds a row, so that a session keeps the rates of its end.
CREATE TABLE rates (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Null for those of the installation, which hold for the projects that have none of their own.
  project_id uuid REFERENCES projects ON DELETE CASCADE,
  valid_from timestamptz NOT NULL,
  -- Null: from then on the project has none of its own.
  rates json
);
CREATE INDEX rates_of_project ON rates (project_id, valid_from DESC, id DESC);

CREATE TABLE legacy_usage (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  route text NOT NULL,
  day date NOT NULL,
  requests bigint NOT NULL,
  PRIMARY KEY (project_id, day, route)
);

-- Outlives its project, so that it shows who deleted the project.
CREATE TABLE audit_log (
  id uuid PRIMARY KEY,
  project_id uuid,
  at timestamptz NOT NULL,
  actor jsonb NOT NULL,
  action text NOT NULL,
  target text,
  details jsonb NOT NULL,
  request_id text
);
CREATE INDEX audit_log_of_project ON audit_log (project_id, at DESC, id DESC);

-- Agents

CREATE TABLE agents (
  project_id uuid PRIMARY KEY REFERENCES projects ON DELETE CASCADE,
  config jsonb NOT NULL,
  -- The number of the release that callers get; null while nothing was published.
  live integer,
  -- The live events that the eventWebhook of the agent's current release subscribes to; null for none.
  event_types text[],
  updated_at timestamptz NOT NULL
);

-- What sessions run on, by the digest of its content. As json, which keeps the text: templates and prompts must not change.
CREATE TABLE agent_releases (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  id text NOT NULL,
  release json NOT NULL,
  -- When a session last asked for it. A release that was just kept may have no session yet.
  kept_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, id)
);

-- The numbered releases, which share their contents with sessions.
CREATE TABLE releases (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  number integer NOT NULL,
  release_id text NOT NULL,
  created_at timestamptz NOT NULL,
  created_by jsonb NOT NULL,
  note text,
  -- Made by an edit, while the agent was published.
  is_automatic boolean NOT NULL,
  PRIMARY KEY (project_id, number),
  FOREIGN KEY (project_id, release_id) REFERENCES agent_releases
);
CREATE INDEX releases_by_content ON releases (project_id, release_id);

-- New releases that a share of the people gets.
CREATE TABLE rollouts (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  release integer NOT NULL,
  previous_release integer NOT NULL,
  percent integer NOT NULL,
  guards json NOT NULL,
  decide_after json NOT NULL,
  on_bad text NOT NULL,
  on_good text NOT NULL,
  status text NOT NULL CHECK (status IN ('running', 'promoted', 'rolled_back', 'ended')),
  decision json,
  started_at timestamptz NOT NULL,
  ended_at timestamptz,
  -- The last event that was told of it.
  told text,
  next_at timestamptz,
  claim_id uuid
);
CREATE UNIQUE INDEX rollouts_one_running ON rollouts (project_id) WHERE status = 'running';
CREATE INDEX rollouts_of_project ON rollouts (project_id, started_at DESC, id DESC);
CREATE INDEX rollouts_due ON rollouts (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX rollouts_due_of_project ON rollouts (project_id, next_at) WHERE next_at IS NOT NULL;

CREATE TABLE pathways (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL UNIQUE REFERENCES projects ON DELETE CASCADE,
  version integer NOT NULL,
  graph jsonb NOT NULL,
  updated_at timestamptz NOT NULL
);

CREATE TABLE pathway_versions (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  version integer NOT NULL,
  graph jsonb NOT NULL,
  author jsonb NOT NULL,
  restored_from integer,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, version)
);

-- Servers whose tools a project uses over the Model Context Protocol.
CREATE TABLE mcp_servers (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  url text NOT NULL,
  headers jsonb NOT NULL,
  timeout_ms integer NOT NULL,
  listing jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX mcp_servers_name_in_project ON mcp_servers (project_id, name);

-- A tool is an HTTP request, or a tool of an MCP server.
CREATE TABLE tools (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  description text NOT NULL,
  parameters jsonb NOT NULL,
  http jsonb,
  mcp_server_id uuid REFERENCES mcp_servers ON DELETE CASCADE,
  mcp jsonb,
  -- The variables that its answer sets, and what the agent says meanwhile.
  result_mapping jsonb,
  speak_while jsonb,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT tools_name_in_project UNIQUE (project_id, name),
  CHECK (num_nonnulls(http, mcp) = 1)
);
CREATE INDEX tools_of_project ON tools (project_id, created_at, id);
CREATE INDEX tools_of_mcp_server ON tools (mcp_server_id) WHERE mcp_server_id IS NOT NULL;

-- A project's own keys for providers of speech and chat; `api_key` is sealed.
CREATE TABLE provider_credentials (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  api_key text NOT NULL,
  base_url text,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, name)
);

CREATE TABLE customer_memories (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  customer text NOT NULL,
  memory text NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, customer)
);
CREATE INDEX customer_memories_by_age ON customer_memories (updated_at);

-- Knowledge

CREATE TABLE knowledgebases (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  type text NOT NULL,
  -- The model that the user asked for, and the one that makes the vectors: they differ where the service embeds by itself.
  embedding_model_name text NOT NULL,
  encoder text NOT NULL,
  chunk_size integer NOT NULL,
  chunk_overlap integer NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT knowledgebases_one_per_project UNIQUE (project_id)
);

CREATE TABLE datasets (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL,
  knowledgebase_id uuid NOT NULL REFERENCES knowledgebases ON DELETE CASCADE,
  name text NOT NULL,
  mime_type text NOT NULL,
  bytes bigint NOT NULL,
  file_key text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'processing', 'ready', 'failed')),
  error text,
  -- How often an ingestion began. A file that crashes every process is given up.
  attempts integer NOT NULL DEFAULT 0,
  -- Since when attempts fail without progress; `error` has the reason.
  failing_since timestamptz,
  -- When its ingestion is due, or its claim ends; null when it is ready or failed.
  next_at timestamptz,
  claim_id uuid,
  -- Set when all chunks are stored; from then on only vectors are missing.
  parsed_at timestamptz,
  chunk_count integer NOT NULL DEFAULT 0,
  embedded_count integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL
);
CREATE INDEX datasets_of_knowledgebase ON datasets (knowledgebase_id, created_at, id);
CREATE INDEX datasets_due ON datasets (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX datasets_due_of_project ON datasets (project_id, next_at) WHERE next_at IS NOT NULL;
CREATE TRIGGER datasets_note_file_removal AFTER DELETE ON datasets
  FOR EACH ROW EXECUTE FUNCTION note_file_removal();

CREATE TABLE chunks (
  id uuid PRIMARY KEY,
  dataset_id uuid NOT NULL REFERENCES datasets ON DELETE CASCADE,
  knowledgebase_id uuid NOT NULL,
  position integer NOT NULL,
  content text NOT NULL,
  -- Its place in the document's cleaned text, in UTF-16 code units.
  start_offset integer NOT NULL,
  end_offset integer NOT NULL,
  is_enabled boolean NOT NULL DEFAULT true,
  -- English lexemes, and pairs of characters of the scripts without spaces between words.
  words tsvector NOT NULL,
  UNIQUE (dataset_id, position)
);
CREATE INDEX chunks_by_words ON chunks USING gin (words);

-- A table of its own, since vectors are stored after their chunks: updating a chunk would add it to each of its indexes again.
-- There is one column for each number of dimensions, since an index takes vectors of one length.
CREATE TABLE chunk_embeddings (
  chunk_id uuid PRIMARY KEY REFERENCES chunks ON DELETE CASCADE,
  knowledgebase_id uuid NOT NULL,
  encoder text NOT NULL,
  is_enabled boolean NOT NULL,
  vector_512 vector(512),
  vector_1536 vector(1536),
  -- 16 bits per number: an index over `vector` takes 2,000 dimensions at most.
  vector_3072 halfvec(3072),
  CHECK (num_nonnulls(vector_512, vector_1536, vector_3072) = 1)
);
CREATE INDEX chunk_embeddings_of_knowledgebase ON chunk_embeddings (knowledgebase_id);
-- One index for each encoder: the vectors of two encoders cannot be compared.
CREATE INDEX chunk_embeddings_local ON chunk_embeddings USING hnsw (vector_512 vector_cosine_ops)
  WHERE encoder = 'energetic-ai-embeddings-en';
CREATE INDEX chunk_embeddings_ada_002 ON chunk_embeddings USING hnsw (vector_1536 vector_cosine_ops)
  WHERE encoder = 'text-embedding-ada-002';
CREATE INDEX chunk_embeddings_3_small ON chunk_embeddings USING hnsw (vector_1536 vector_cosine_ops)
  WHERE encoder = 'text-embedding-3-small';
CREATE INDEX chunk_embeddings_3_large ON chunk_embeddings USING hnsw (vector_3072 halfvec_cosine_ops)
  WHERE encoder = 'text-embedding-3-large';

-- Vectors of a chunk's sentences, for the encoder whose vector of several sentences is near none of them. With 16 bits per
-- number a row fits its page.
CREATE TABLE sentence_embeddings (
  chunk_id uuid NOT NULL REFERENCES chunks ON DELETE CASCADE,
  position smallint NOT NULL,
  knowledgebase_id uuid NOT NULL,
  vector halfvec(512) NOT NULL,
  PRIMARY KEY (chunk_id, position)
);
CREATE INDEX sentence_embeddings_of_knowledgebase ON sentence_embeddings (knowledgebase_id);

-- Trunks and numbers

CREATE TABLE trunks (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  -- The settings without the password.
  definition jsonb NOT NULL,
  -- Sealed.
  password text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (project_id, id)
);
CREATE INDEX trunks_of_project ON trunks (project_id, created_at, id);
CREATE INDEX trunks_active ON trunks (id) WHERE definition->>'status' = 'active';

CREATE TABLE phone_numbers (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  -- E.164 with its plus sign.
  number text NOT NULL,
  outbound_status text NOT NULL CHECK (outbound_status IN ('active', 'inactive')),
  inbound_enabled boolean NOT NULL,
  media jsonb,
  -- An unverified claim takes no inbound calls.
  verified boolean NOT NULL,
  -- Where the agent begins on inbound calls, and the variables that it begins with.
  start_node_id text,
  variables jsonb NOT NULL DEFAULT '{}',
  -- Null leaves it to the agent.
  record boolean,
  noise_suppression boolean,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT phone_numbers_number_in_project UNIQUE (project_id, number),
  CONSTRAINT phone_numbers_one_holder UNIQUE (number)
);
CREATE INDEX phone_numbers_of_project ON phone_numbers (project_id, created_at, id);

-- In the order of trial. A trunk that a number names cannot be deleted, except with its project.
CREATE TABLE phone_number_trunks (
  phone_number_id uuid NOT NULL REFERENCES phone_numbers ON DELETE CASCADE,
  position smallint NOT NULL,
  project_id uuid NOT NULL,
  trunk_id uuid NOT NULL,
  PRIMARY KEY (phone_number_id, position),
  UNIQUE (phone_number_id, trunk_id),
  FOREIGN KEY (project_id, trunk_id) REFERENCES trunks (project_id, id) ON DELETE CASCADE
);
CREATE INDEX phone_number_trunks_of_trunk ON phone_number_trunks (trunk_id);

-- Music on hold. The file is in the document store.
CREATE TABLE media_files (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  bytes bigint NOT NULL,
  duration_ms integer NOT NULL,
  file_key text NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX media_files_of_project ON media_files (project_id, created_at, id);
CREATE TRIGGER media_files_note_file_removal AFTER DELETE ON media_files
  FOR EACH ROW EXECUTE FUNCTION note_file_removal();

-- Live sessions

-- The customer's id among a session's variables, as customerOf() reads it; null where there is none.
CREATE FUNCTION customer_id_of(variables json) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN json_typeof(variables->'customerId') IN ('string', 'number') THEN
    left(nullif(btrim(
      variables->>'customerId',
      E' \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'
    ), ''), 256)
  END
$$;

-- Sums the amounts of the same name; null where neither has any.
CREATE FUNCTION sum_of_amounts(one json, other json) RETURNS json LANGUAGE sql IMMUTABLE AS $$
  SELECT json_object_agg(key, amount) FROM (
    SELECT key, sum(value::numeric) AS amount FROM (
      SELECT key, value FROM json_each_text(one) UNION ALL SELECT key, value FROM json_each_text(other)
    ) AS amounts GROUP BY key
  ) AS sums
$$;

-- Live sessions only; the end deletes the row. What was said is in session_messages.
CREATE TABLE sessions (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  session_id text NOT NULL,
  instance_id uuid NOT NULL UNIQUE,
  channel text NOT NULL CHECK (channel IN ('chat', 'phone', 'web')),
  provider text,
  call_id text,
  pathway_id uuid NOT NULL,
  release_id text NOT NULL,
  -- The number of the release; null for the working copy.
  release integer,
  turn integer NOT NULL,
  state json NOT NULL,
  -- The session's data as the API shows it, as JSON text for searches, with a line break in place of its messages. Null in
  -- sessions of tests, which no search finds.
  data text,
  -- How many messages its turns have had.
  message_count integer NOT NULL DEFAULT 0,
  -- The conversation as its client has it; see ClientConversation. Null until the first turn of a chat.
  digest text,
  -- The agent's sessionIdleMinutes at the session's start.
  idle_minutes integer,
  started_at timestamptz NOT NULL,
  last_activity_at timestamptz NOT NULL,
  -- When the session's data changed; later with each turn.
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, session_id),
  FOREIGN KEY (project_id, release_id) REFERENCES agent_releases
);
-- A search reads the texts of its own project alone, and the whole pending list.
CREATE INDEX sessions_by_data ON sessions
  USING gin (project_id, data gin_trgm_ops) WITH (gin_pending_list_limit = 256);
CREATE INDEX sessions_of_release ON sessions (project_id, release_id);
CREATE INDEX sessions_by_activity ON sessions (last_activity_at) WHERE channel <> 'phone';
CREATE INDEX sessions_by_digest ON sessions (project_id, digest) WHERE digest IS NOT NULL;
CREATE INDEX sessions_of_customer ON sessions (project_id, customer_id_of(state->'variables'))
  WHERE customer_id_of(state->'variables') IS NOT NULL;

-- Session history

-- One row for each life of a session id, from its start until the project's retention ends.
CREATE TABLE session_history (
  instance_id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  session_id text NOT NULL,
  channel text NOT NULL,
  provider text,
  call_id text,
  -- The number of the release; null for the working copy.
  release integer,
  status text NOT NULL CHECK (status IN ('active', 'ended')),
  started_at timestamptz NOT NULL,
  ended_at timestamptz,
  end_reason text,
  -- Set by the end; before it they are in the session's state.
  variables json,
  evaluation json,
  -- As the agent's `analysis` asks; the next two are from it, for lists.
  analysis json,
  disposition text,
  success boolean,
  -- What the voice sessions heard of the caller; null where there was no speech.
  heard json,
  -- What was used, as amounts by name (src/agents/cost/usage.ts). Until the end without what the state of the session has.
  usage json,
  -- By the rates at the end; null before it, and where there were none.
  cost json,
  message_count integer NOT NULL DEFAULT 0,
  turns integer NOT NULL DEFAULT 0,
  -- What was sent to the history, in characters of JSON and some for each row. Beyond a limit nothing more is kept.
  message_characters integer NOT NULL DEFAULT 0,
  event_characters integer NOT NULL DEFAULT 0,
  -- Sessions of tests are left out of lists, and kept as long as their runs.
  is_test boolean NOT NULL DEFAULT false,
  -- The language of the conversation; set by the end.
  language text,
  -- What the insights have counted of the session, so that a change of it replaces that.
  counted json,
  -- Whether it is to be counted, or counted again.
  to_count boolean NOT NULL DEFAULT false,
  -- The project's rules at the session's end, why they have queued it for review, and a person's review.
  review_rules json,
  review_reasons json,
  review json
);
CREATE INDEX session_history_to_review ON session_history (project_id, started_at DESC, instance_id DESC)
  WHERE review_reasons IS NOT NULL AND review IS NULL;
CREATE INDEX session_history_reviewed ON session_history (project_id, started_at DESC, instance_id DESC)
  WHERE review IS NOT NULL;
CREATE INDEX session_history_to_count ON session_history (instance_id) WHERE to_count;
CREATE INDEX session_history_of_project ON session_history (project_id, started_at DESC, instance_id DESC);
CREATE INDEX session_history_of_release ON session_history (project_id, release, started_at DESC)
  WHERE release IS NOT NULL;
CREATE INDEX session_history_of_session ON session_history (project_id, session_id, started_at DESC);
CREATE INDEX session_history_by_end ON session_history (project_id, ended_at) WHERE status = 'ended';
CREATE INDEX session_history_of_disposition ON session_history (project_id, disposition, started_at DESC, instance_id DESC)
  WHERE disposition IS NOT NULL;
CREATE INDEX session_history_of_tests ON session_history (project_id, ended_at) WHERE is_test;
CREATE INDEX session_history_of_customer ON session_history (project_id, customer_id_of(variables))
  WHERE customer_id_of(variables) IS NOT NULL;

-- An ended session is counted after each change of what is counted.
CREATE FUNCTION count_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.to_count := true;
  RETURN NEW;
END
$$;
CREATE TRIGGER session_history_count
  BEFORE UPDATE OF status, turns, evaluation, analysis, disposition, success, cost, review ON session_history
  FOR EACH ROW WHEN (NEW.status = 'ended' AND NOT NEW.is_test) EXECUTE FUNCTION count_session();

-- The conversation, which a live session's turns read, and the transcript.
CREATE TABLE session_messages (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  instance_id uuid NOT NULL REFERENCES session_history ON DELETE CASCADE,
  project_id uuid NOT NULL,
  -- Its place in the conversation; null on a message that is in the transcript alone.
  position integer,
  message json NOT NULL,
  -- The message as the API shows it in a session's data, as JSON text for searches. Null on a message that is not in the
  -- transcript: only turns read it, and the session's end deletes it.
  text text,
  latency_ms integer
);
CREATE INDEX session_messages_of_session ON session_messages (instance_id, position);
CREATE INDEX session_messages_by_text ON session_messages
  USING gin (project_id, text gin_trgm_ops) WITH (gin_pending_list_limit = 256);

CREATE TABLE session_events (
  id bigint GENERATED ALWAYS AS IDENTITY,
  instance_id uuid NOT NULL REFERENCES session_history ON DELETE CASCADE,
  type text NOT NULL,
  at timestamptz NOT NULL,
  data json NOT NULL,
  PRIMARY KEY (instance_id, id)
);

-- Customers whose data is being erased; the last batch deletes the row.
CREATE TABLE customer_erasures (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  customer text NOT NULL,
  -- The entry of the audit log, without the counts.
  entry jsonb NOT NULL,
  sessions integer NOT NULL DEFAULT 0,
  calls integer NOT NULL DEFAULT 0,
  recordings integer NOT NULL DEFAULT 0,
  PRIMARY KEY (project_id, customer)
);

-- The answer to a POST, stored in the transaction that did what it answers.
CREATE TABLE idempotency_keys (
  scope text NOT NULL,
  key text NOT NULL,
  fingerprint text NOT NULL,
  status integer,
  body jsonb,
  -- The session whose words the answer has: they are deleted together.
  instance_id uuid REFERENCES session_history ON DELETE CASCADE,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (scope, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
CREATE INDEX idempotency_keys_of_session ON idempotency_keys (instance_id) WHERE instance_id IS NOT NULL;

-- Calls

-- Kept as long as the history of its session.
CREATE TABLE calls (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  session_id text NOT NULL,
  instance_id uuid NOT NULL UNIQUE REFERENCES session_history ON DELETE CASCADE,
  -- The number of the release; null for the working copy.
  release integer,
  -- The API client's own id of the call.
  external_id text,
  direction text NOT NULL CHECK (direction IN ('outbound', 'inbound')),
  status text NOT NULL CHECK (status IN (
    'scheduled', 'queued', 'dialing', 'ringing', 'in_progress', 'completed', 'busy', 'no_answer', 'failed', 'canceled'
  )),
  end_reason text,
  from_number text NOT NULL,
  to_number text NOT NULL,
  trunk_id uuid,
  sip_call_id text,
  sip json,
  q850_cause smallint,
  settings json NOT NULL,
  metadata json NOT NULL,
  -- Null while it is not known who answered, and where that is not detected.
  answering_machine text CHECK (answering_machine IN ('human', 'machine', 'screening', 'unknown')),
  -- The latest transfer.
  transfer json,
  -- What supervisors do with the call while it is in progress; null before the first control.
  supervision json,
  created_at timestamptz NOT NULL,
  -- When a scheduled call is to be placed.
  not_before timestamptz,
  -- When it is placed, or tried again, or its claim ends; null once it is queued.
  next_at timestamptz,
  claim_id uuid,
  -- Of the waiting calls, those with a lower one are dialed first.
  priority smallint NOT NULL,
  started_at timestamptz,
  answered_at timestamptz,
  ended_at timestamptz,
  figures json,
  -- The legs to transfer targets and participants, with their talk time. Lists do not read it.
  legs json,
  -- How the audio arrived over time. Lists do not read it.
  media_samples json,
  recording json,
  -- The recording's size, which counts in the project's quota; null without one.
  recording_bytes bigint,
  -- The recording's waveform: computed when it is first asked for, deleted with the recording.
  recording_peaks json,
  is_trace_removed boolean NOT NULL DEFAULT false,
  node_id text,
  hangup_requested boolean NOT NULL,
  -- Whether everything that follows the end is done: the session is ended, the events are stored.
  settled boolean NOT NULL DEFAULT false,
  -- Calls of tests are left out of lists, and kept as long as their run.
  is_test boolean NOT NULL DEFAULT false,
  -- The campaign and its contact that the call was placed for. No references: the call outlives them.
  campaign_id uuid,
  contact_id uuid,
  -- What the person has not heard whole in time of what the agent must say first; an array.
  disclosures json NOT NULL DEFAULT '[]'
);
CREATE INDEX calls_of_campaign ON calls (project_id, campaign_id, created_at DESC, id DESC) WHERE campaign_id IS NOT NULL;
CREATE INDEX calls_of_release ON calls (project_id, release, created_at DESC, id DESC) WHERE release IS NOT NULL;
CREATE INDEX calls_of_project ON calls (project_id, created_at DESC, id DESC);
CREATE INDEX calls_of_session ON calls (project_id, session_id);
CREATE INDEX calls_unsettled ON calls (id) WHERE NOT settled;
-- Protects against a second call to the number where its lock fails.
CREATE UNIQUE INDEX calls_one_live_outbound ON calls (project_id, to_number)
  WHERE direction = 'outbound' AND NOT is_test AND status IN ('queued', 'dialing', 'ringing', 'in_progress');
-- The calls that hold slots of their project and trunk, from which lost counts are rebuilt.
CREATE INDEX calls_live ON calls (project_id, trunk_id) WHERE status IN ('dialing', 'ringing', 'in_progress');
CREATE INDEX calls_queued_of_campaign ON calls (campaign_id) WHERE campaign_id IS NOT NULL AND status = 'queued';
CREATE INDEX calls_due ON calls (next_at) WHERE status = 'scheduled';
CREATE INDEX calls_due_of_project ON calls (project_id, next_at) WHERE status = 'scheduled';
CREATE INDEX calls_waiting ON calls (project_id, from_number, priority, id) WHERE status = 'queued' AND node_id IS NULL;
CREATE INDEX calls_scheduled_of_project ON calls (project_id, to_number) WHERE status = 'scheduled';
-- Carriers may send any text as a number, and an index takes no long ones.
CREATE INDEX calls_of_customer ON calls
  (project_id, left(CASE direction WHEN 'inbound' THEN from_number ELSE to_number END, 256));
CREATE INDEX calls_by_external_id ON calls (project_id, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX calls_by_metadata ON calls USING gin ((metadata::jsonb) jsonb_path_ops);
CREATE INDEX calls_with_recording ON calls (project_id) INCLUDE (recording_bytes) WHERE recording_bytes IS NOT NULL;
-- Recordings and traces may be deleted before their calls.
CREATE INDEX calls_recorded_by_end ON calls (project_id, ended_at) WHERE recording->>'key' IS NOT NULL;
CREATE INDEX calls_traced_by_end ON calls (project_id, ended_at) WHERE NOT is_trace_removed;

-- The projects with waiting calls, which share their trunks: however many wait, one row is claimed.
CREATE TABLE call_queues (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  project_id uuid NOT NULL UNIQUE REFERENCES projects ON DELETE CASCADE,
  -- When the project's calls are dialed, or tried again, or its claim ends.
  next_at timestamptz NOT NULL,
  claim_id uuid
);
CREATE INDEX call_queues_due ON call_queues (next_at);
CREATE INDEX call_queues_of_project ON call_queues (project_id, next_at);

-- A call that begins to wait has been due since its time. One that a node has put back waits a moment, as its project does.
CREATE FUNCTION queue_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO call_queues AS queue (project_id, next_at)
  VALUES (NEW.project_id, CASE
    WHEN OLD.node_id IS NULL THEN coalesce(NEW.not_before, NEW.created_at) ELSE now() + interval '500 ms' END)
  ON CONFLICT (project_id) DO UPDATE SET next_at = least(queue.next_at, excluded.next_at);
  RETURN NULL;
END
$$;
CREATE TRIGGER calls_queue AFTER INSERT OR UPDATE OF status, node_id ON calls
  FOR EACH ROW WHEN (NEW.status = 'queued' AND NEW.node_id IS NULL) EXECUTE FUNCTION queue_call();

-- Recordings whose call was deleted, by any statement, or which were deleted before their call, until the files are deleted.
CREATE TABLE recording_removals (
  key text PRIMARY KEY,
  since timestamptz NOT NULL DEFAULT now()
);
CREATE FUNCTION leave_recording() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO recording_removals (key) VALUES (OLD.recording->>'key') ON CONFLICT (key) DO NOTHING;
  RETURN NULL;
END
$$;
CREATE TRIGGER calls_leave_recording AFTER DELETE ON calls
  FOR EACH ROW WHEN (OLD.recording->>'key' IS NOT NULL) EXECUTE FUNCTION leave_recording();
CREATE TRIGGER calls_drop_recording AFTER UPDATE OF recording ON calls
  FOR EACH ROW WHEN (OLD.recording->>'key' IS NOT NULL AND NEW.recording IS NULL) EXECUTE FUNCTION leave_recording();

-- A session may end before its call.
CREATE FUNCTION count_session_of_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE session_history SET to_count = true
  WHERE instance_id = NEW.instance_id AND status = 'ended' AND NOT is_test AND NOT to_count;
  RETURN NULL;
END
$$;
CREATE TRIGGER calls_count AFTER UPDATE OF status, end_reason, ended_at ON calls
  FOR EACH ROW WHEN (NEW.ended_at IS NOT NULL) EXECUTE FUNCTION count_session_of_call();

CREATE TABLE sip_trace (
  call_id uuid NOT NULL REFERENCES calls ON DELETE CASCADE,
  id bigint GENERATED ALWAYS AS IDENTITY,
  at timestamptz NOT NULL,
  direction text NOT NULL CHECK (direction IN ('in', 'out')),
  transport text NOT NULL,
  remote text NOT NULL,
  text text NOT NULL,
  PRIMARY KEY (call_id, id)
);

-- Numbers that are not called.
CREATE TABLE do_not_call (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- Null for the installation's entries, which hold for every project.
  project_id uuid REFERENCES projects ON DELETE CASCADE,
  -- E.164; of an erased customer a keyed digest.
  number text NOT NULL,
  source text NOT NULL CHECK (source IN ('api', 'file', 'spoken', 'dtmf', 'tool')),
  reason text,
  call_id uuid,
  created_at timestamptz NOT NULL
);
-- Each order looks for its number.
CREATE UNIQUE INDEX do_not_call_by_number ON do_not_call (number, coalesce(project_id, '00000000-0000-0000-0000-000000000000'));
CREATE INDEX do_not_call_by_creation ON do_not_call (project_id, created_at DESC, id DESC);

-- The SIP dialogs of calls in progress, so that another node can end them when theirs fails.
CREATE TABLE call_dialogs (
  dialog_id text PRIMARY KEY,
  call_id uuid NOT NULL,
  dialog jsonb NOT NULL
);
CREATE INDEX call_dialogs_of_call ON call_dialogs (call_id);

-- Campaigns

-- Lists of people to call. The counts change in the transactions that change the contacts.
CREATE TABLE campaigns (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  description text,
  status text NOT NULL CHECK (status IN ('draft', 'running', 'paused', 'completed', 'canceled')),
  status_reason text,
  -- What its user has set beside name and description.
  settings json NOT NULL,
  -- Contacts by status.
  pending integer NOT NULL DEFAULT 0,
  calling integer NOT NULL DEFAULT 0,
  waiting integer NOT NULL DEFAULT 0,
  done integer NOT NULL DEFAULT 0,
  skipped integer NOT NULL DEFAULT 0,
  -- Contacts by the outcome of their last attempt that has ended.
  answered integer NOT NULL DEFAULT 0,
  machine integer NOT NULL DEFAULT 0,
  screening integer NOT NULL DEFAULT 0,
  busy integer NOT NULL DEFAULT 0,
  no_answer integer NOT NULL DEFAULT 0,
  declined integer NOT NULL DEFAULT 0,
  invalid_number integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  canceled integer NOT NULL DEFAULT 0,
  -- How many calls were placed; the next one's from number follows from it.
  placed bigint NOT NULL DEFAULT 0,
  -- When the pacing allows the next call; null before the first.
  paced_at timestamptz,
  -- A character for each attempt that ended since the last start or resume, f for a failed one.
  recent_outcomes text NOT NULL DEFAULT '',
  -- When the next contact may be called, or its claim ends; null while it is not running.
  next_at timestamptz,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  ended_at timestamptz
);
CREATE INDEX campaigns_of_project ON campaigns (project_id, created_at, id);
CREATE INDEX campaigns_due ON campaigns (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX campaigns_due_of_project ON campaigns (project_id, next_at) WHERE next_at IS NOT NULL;

-- The ids of contacts tell the order in which they came. Contacts that are left when their campaign ends keep their status
-- here, and are shown as skipped.
CREATE TABLE campaign_contacts (
  id uuid PRIMARY KEY,
  -- No reference: a million contacts are removed after their campaign.
  campaign_id uuid NOT NULL,
  project_id uuid NOT NULL,
  to_number text NOT NULL,
  external_id text,
  variables json NOT NULL,
  -- The contact's own time zone; null for those of the number.
  timezone text,
  -- The zones whose hours hold, sorted and separated by commas: contacts of one value are open at the same times.
  zones text NOT NULL,
  priority integer NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'calling', 'waiting', 'done', 'skipped')),
  skip_reason text,
  attempts json NOT NULL DEFAULT '[]',
  outcome text,
  -- The call of the attempt in progress.
  call_id uuid,
  -- Before then it is not called, whatever the hours; null once the time has come.
  not_before timestamptz,
  -- Whether the event contact.finished was published.
  is_announced boolean NOT NULL DEFAULT false,
  UNIQUE (campaign_id, to_number)
);
CREATE INDEX campaign_contacts_in_order ON campaign_contacts (campaign_id, id);
CREATE INDEX campaign_contacts_by_status ON campaign_contacts (campaign_id, status, id);
CREATE INDEX campaign_contacts_by_outcome ON campaign_contacts (campaign_id, outcome, id) WHERE outcome IS NOT NULL;
CREATE INDEX campaign_contacts_by_external_id ON campaign_contacts (campaign_id, external_id)
  WHERE external_id IS NOT NULL;
-- The contacts that wait for their hours alone, the next one of each zone first.
CREATE INDEX campaign_contacts_next ON campaign_contacts (campaign_id, zones, priority DESC, id)
  WHERE status IN ('pending', 'waiting') AND not_before IS NULL;
CREATE INDEX campaign_contacts_later ON campaign_contacts (campaign_id, not_before)
  WHERE status IN ('pending', 'waiting') AND not_before IS NOT NULL;
-- For the erasure of a customer.
CREATE INDEX campaign_contacts_of_number ON campaign_contacts (project_id, to_number);
CREATE INDEX campaign_contacts_of_customer ON campaign_contacts (project_id, customer_id_of(variables))
  WHERE customer_id_of(variables) IS NOT NULL;

-- Campaigns that were deleted, by any statement, until their contacts are removed.
CREATE TABLE campaign_removals (
  campaign_id uuid PRIMARY KEY,
  since timestamptz NOT NULL DEFAULT now()
);
CREATE FUNCTION leave_contacts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO campaign_removals (campaign_id) VALUES (OLD.id);
  RETURN NULL;
END
$$;
CREATE TRIGGER campaigns_leave_contacts AFTER DELETE ON campaigns
  FOR EACH ROW EXECUTE FUNCTION leave_contacts();

-- Files that are read into a campaign, or into a do-not-call list.
CREATE TABLE contact_imports (
  id uuid PRIMARY KEY,
  -- Null for the installation's do-not-call list.
  project_id uuid REFERENCES projects ON DELETE CASCADE,
  -- Null for a do-not-call list.
  campaign_id uuid REFERENCES campaigns ON DELETE CASCADE,
  file_key text NOT NULL,
  file_type text NOT NULL CHECK (file_type IN ('csv', 'xlsx')),
  -- The headers of the columns by what they are.
  mapping json NOT NULL,
  status text NOT NULL CHECK (status IN ('running', 'done', 'failed')),
  -- Why it failed.
  reason text,
  -- Rows that were read and taken or refused: an attempt after a crash passes over them.
  rows integer NOT NULL DEFAULT 0,
  accepted integer NOT NULL DEFAULT 0,
  skipped integer NOT NULL DEFAULT 0,
  -- How often it was begun since the last row that was read.
  attempts integer NOT NULL DEFAULT 0,
  -- Since when nodes have looked for its file; null while the last one has found it.
  missing_since timestamptz,
  -- When it is due, or its claim ends; null when it has ended.
  next_at timestamptz,
  claim_id uuid,
  created_at timestamptz NOT NULL,
  ended_at timestamptz
);
CREATE INDEX contact_imports_of_campaign ON contact_imports (campaign_id);
CREATE INDEX contact_imports_due ON contact_imports (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX contact_imports_due_of_project ON contact_imports (project_id, next_at) WHERE next_at IS NOT NULL;
CREATE TRIGGER contact_imports_note_file_removal AFTER DELETE ON contact_imports
  FOR EACH ROW EXECUTE FUNCTION note_file_removal();

CREATE TABLE contact_import_errors (
  import_id uuid NOT NULL REFERENCES contact_imports ON DELETE CASCADE,
  -- From 1, after the header.
  row integer NOT NULL,
  code text NOT NULL,
  message text NOT NULL,
  PRIMARY KEY (import_id, row)
);

-- Analyses that are made anew

CREATE TABLE analysis_jobs (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  -- The sessions that it had at its start; those that are left are below.
  total integer NOT NULL,
  failed integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL
);
CREATE INDEX analysis_jobs_of_project ON analysis_jobs (project_id, created_at);

-- A row for each session of a job that is left to do.
CREATE TABLE session_analyses (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  job_id uuid NOT NULL REFERENCES analysis_jobs ON DELETE CASCADE,
  project_id uuid NOT NULL,
  instance_id uuid NOT NULL REFERENCES session_history ON DELETE CASCADE,
  -- When it is due, or its claim ends.
  next_at timestamptz,
  claim_id uuid
);
CREATE INDEX session_analyses_of_job ON session_analyses (job_id);
CREATE INDEX session_analyses_of_session ON session_analyses (instance_id);
CREATE INDEX session_analyses_due ON session_analyses (next_at);
CREATE INDEX session_analyses_due_of_project ON session_analyses (project_id, next_at);

-- Webhooks

CREATE TABLE webhook_secrets (
  project_id uuid PRIMARY KEY REFERENCES projects ON DELETE CASCADE,
  -- Both are sealed. After a rotation the previous one signs too, for a while.
  secret text NOT NULL,
  previous text,
  rotated_at timestamptz NOT NULL
);

-- One row for each ended session whose webhooks are not finished; the transaction that ends the session inserts it.
CREATE TABLE webhook_outbox (
  instance_id uuid PRIMARY KEY REFERENCES session_history ON DELETE CASCADE,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  release_id text NOT NULL,
  finalize_by timestamptz NOT NULL,
  -- Whether session.finalized waits for an evaluation or an analysis.
  evaluating boolean NOT NULL,
  -- The analysis of a session whose own is not done when session.finalized is due; null where the agent asks for none.
  skipped_analysis json,
  -- When judging and remembering may begin, or begin again after their node has died; null when they are done.
  tasks_at timestamptz,
  task_attempts integer NOT NULL DEFAULT 0,
  -- When the row is due. The node that claims it first moves it on, so that others do not.
  next_at timestamptz NOT NULL,
  FOREIGN KEY (project_id, release_id) REFERENCES agent_releases
);
CREATE INDEX webhook_outbox_due ON webhook_outbox (next_at);
-- For claims that pass over the backlog of other projects.
CREATE INDEX webhook_outbox_of_project ON webhook_outbox (project_id, next_at);
CREATE INDEX webhook_outbox_of_release ON webhook_outbox (project_id, release_id);

-- The state of each event of an ended session, from which the gate decides what is sent when.
CREATE TABLE webhook_events (
  instance_id uuid NOT NULL REFERENCES webhook_outbox ON DELETE CASCADE,
  position smallint NOT NULL,
  event text NOT NULL,
  subscribed boolean NOT NULL,
  status text NOT NULL CHECK (status IN ('waiting', 'ready', 'sending', 'settled', 'expired')),
  outcome text CHECK (outcome IN ('delivered', 'failed', 'skipped', 'unknown')),
  attempt integer NOT NULL,
  delivery_id uuid,
  -- Until when its sender may still be sending.
  lease_until timestamptz,
  PRIMARY KEY (instance_id, event),
  CHECK ((status = 'settled') = (outcome IS NOT NULL))
);

-- Since when the content of an event is known; may precede the session's end.
CREATE TABLE webhook_facts (
  instance_id uuid NOT NULL REFERENCES session_history ON DELETE CASCADE,
  event text NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (instance_id, event)
);

-- Events for an eventWebhook, sent one after the other: those of a session, those of a project that belong to no session, or
-- one delivery that is repeated on request.
CREATE TABLE event_queues (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  lane text NOT NULL,
  -- When its first event is due; while a node works on it, when another may.
  next_at timestamptz NOT NULL,
  UNIQUE (project_id, lane)
);
CREATE INDEX event_queues_due ON event_queues (next_at);
CREATE INDEX event_queues_of_project ON event_queues (project_id, next_at);

CREATE TABLE queued_events (
  delivery_id uuid PRIMARY KEY,
  queue_id uuid NOT NULL REFERENCES event_queues ON DELETE CASCADE,
  project_id uuid NOT NULL,
  session_id text,
  -- Its place among the events of its queue.
  at_ms bigint NOT NULL,
  number bigint NOT NULL,
  event text NOT NULL,
  webhook text NOT NULL CHECK (webhook IN ('postSessionWebhook', 'eventWebhook', 'alertWebhook')),
  -- The alert whose webhook it is; it may be gone.
  alert_id uuid,
  body text NOT NULL,
  attempt integer NOT NULL,
  queued_at timestamptz NOT NULL
);
CREATE INDEX queued_events_in_order ON queued_events (queue_id, at_ms, number);
CREATE INDEX queued_events_of_session ON queued_events (project_id, session_id);

CREATE TABLE webhook_deliveries (
  id uuid NOT NULL,
  attempt integer NOT NULL,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  -- Null where an event belongs to no session.
  session_id text,
  webhook text NOT NULL DEFAULT 'postSessionWebhook',
  alert_id uuid,
  event text NOT NULL,
  url text NOT NULL,
  status integer,
  duration_ms double precision NOT NULL,
  error json,
  at timestamptz NOT NULL,
  -- Null in a project that keeps no history.
  body text,
  -- The beginning of the receiver's answer, where it is text.
  answer text,
  PRIMARY KEY (id, attempt)
);
CREATE INDEX webhook_deliveries_of_project ON webhook_deliveries (project_id, at DESC, id DESC);
CREATE INDEX webhook_deliveries_of_session ON webhook_deliveries (project_id, session_id, at DESC, id DESC);
-- Deliveries of eventWebhooks are many, and deleted earlier than others.
CREATE INDEX webhook_deliveries_of_events ON webhook_deliveries (project_id, at) WHERE webhook = 'eventWebhook';

-- Results

-- Sums over ended sessions, by the UTC hour and by the UTC day in which they began, which outlive the sessions. A row of
-- insight_dimensions is one combination of what sessions are grouped and filtered by; the others refer to its id.
CREATE TABLE insight_dimensions (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  id uuid NOT NULL,
  value jsonb NOT NULL,
  PRIMARY KEY (project_id, id)
);

CREATE TABLE insight_sessions (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  span text NOT NULL CHECK (span IN ('hour', 'day')),
  at timestamptz NOT NULL,
  dimensions uuid NOT NULL,
  sessions integer NOT NULL,
  calls integer NOT NULL,
  answered integer NOT NULL,
  call_ms bigint NOT NULL,
  -- Those whose duration counts, and its sum.
  timed integer NOT NULL,
  duration_ms bigint NOT NULL,
  turns integer NOT NULL,
  evaluated integer NOT NULL,
  passed integer NOT NULL,
  -- Sessions whose disposition says whether they succeeded, and those that did.
  analyzed integer NOT NULL,
  succeeded integer NOT NULL,
  tool_calls integer NOT NULL,
  tool_failures integer NOT NULL,
  interruptions integer NOT NULL,
  transferred integer NOT NULL,
  with_error integer NOT NULL,
  -- Sessions with a cost, and its sum in billionths.
  priced integer NOT NULL,
  cost_billionths numeric NOT NULL,
  PRIMARY KEY (project_id, span, at, dimensions)
);

-- Turns by latency, in buckets of LATENCY_BUCKETS: the whole and its parts without the outcomes of sessions, and the whole with
-- them, of which there are many more combinations.
CREATE TABLE insight_latencies (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  span text NOT NULL CHECK (span IN ('hour', 'day')),
  at timestamptz NOT NULL,
  dimensions uuid NOT NULL,
  part text NOT NULL,
  turns integer NOT NULL,
  buckets vector(96) NOT NULL,
  PRIMARY KEY (project_id, part, span, at, dimensions)
);

CREATE TABLE insight_outcome_latencies (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  span text NOT NULL CHECK (span IN ('hour', 'day')),
  at timestamptz NOT NULL,
  dimensions uuid NOT NULL,
  turns integer NOT NULL,
  buckets vector(96) NOT NULL,
  PRIMARY KEY (project_id, span, at, dimensions)
);

-- Criteria on which both the judge and a person gave a verdict: how many, on how many both agree, and how many are met as the
-- judge and as the person say.
CREATE TABLE insight_judgements (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  span text NOT NULL CHECK (span IN ('hour', 'day')),
  at timestamptz NOT NULL,
  dimensions uuid NOT NULL,
  criterion text NOT NULL,
  judged integer NOT NULL,
  agreed integer NOT NULL,
  judge_met integer NOT NULL,
  person_met integer NOT NULL,
  PRIMARY KEY (project_id, span, at, dimensions, criterion)
);

-- The way of sessions through the pathway, by day.
CREATE TABLE insight_nodes (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  at timestamptz NOT NULL,
  dimensions uuid NOT NULL,
  node_id text NOT NULL,
  entered integer NOT NULL,
  ended integer NOT NULL,
  -- Stays by duration, in buckets of STAY_BUCKETS.
  buckets vector(64) NOT NULL,
  PRIMARY KEY (project_id, at, dimensions, node_id)
);
CREATE TABLE insight_edges (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  at timestamptz NOT NULL,
  dimensions uuid NOT NULL,
  node_id text NOT NULL,
  edge_id text NOT NULL,
  to_node_id text NOT NULL,
  taken integer NOT NULL,
  PRIMARY KEY (project_id, at, dimensions, node_id, edge_id, to_node_id)
);
-- The sums of each arm of a rollout, by session, with their squares and products, for a test of the difference. Those of
-- latencyP95 are of turns slower than a bucket of LATENCY_BUCKETS.
CREATE TABLE insight_arms (
  rollout_id uuid NOT NULL REFERENCES rollouts ON DELETE CASCADE,
  release integer NOT NULL,
  metric text NOT NULL,
  bucket integer NOT NULL,
  sessions integer NOT NULL,
  x double precision NOT NULL,
  w double precision NOT NULL,
  xx double precision NOT NULL,
  xw double precision NOT NULL,
  ww double precision NOT NULL,
  PRIMARY KEY (rollout_id, release, metric, bucket)
);
-- The newest title that each node was entered with.
CREATE TABLE insight_titles (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  node_id text NOT NULL,
  title text NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (project_id, node_id)
);

-- What was counted of sessions that were deleted within a day of their end: alerts look at these too.
CREATE TABLE insight_removed (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  ended_at timestamptz NOT NULL,
  counted json NOT NULL
);
CREATE INDEX insight_removed_of_project ON insight_removed (project_id, ended_at);
CREATE FUNCTION keep_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A project that is deleted takes its sessions with it.
  INSERT INTO insight_removed (project_id, ended_at, counted)
  SELECT id, OLD.ended_at, OLD.counted FROM projects WHERE id = OLD.project_id;
  RETURN NULL;
END
$$;
CREATE TRIGGER session_history_removed AFTER DELETE ON session_history
  FOR EACH ROW WHEN (OLD.counted IS NOT NULL AND OLD.ended_at > now() - interval '1 day')
  EXECUTE FUNCTION keep_counted();

-- Metrics that are looked at once a minute.
CREATE TABLE alerts (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  settings json NOT NULL,
  -- The values of its headers are sealed.
  webhook jsonb,
  enabled boolean NOT NULL,
  state text NOT NULL CHECK (state IN ('ok', 'firing')),
  since timestamptz NOT NULL,
  -- At the last look.
  last_value double precision,
  calm_looks integer NOT NULL DEFAULT 0,
  -- When the next look is due, or its claim ends; null when it is disabled.
  next_at timestamptz,
  claim_id uuid,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX alerts_of_project ON alerts (project_id, created_at, id);
CREATE INDEX alerts_due ON alerts (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX alerts_due_of_project ON alerts (project_id, next_at) WHERE next_at IS NOT NULL;

-- Tests

CREATE TABLE test_cases (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  definition jsonb NOT NULL,
  -- The session that the case was made from, for the erasure of its customer.
  source_instance_id uuid,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX test_cases_of_project ON test_cases (project_id, created_at, id);
CREATE INDEX test_cases_of_source ON test_cases (source_instance_id) WHERE source_instance_id IS NOT NULL;

CREATE TABLE test_suites (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX test_suites_of_project ON test_suites (project_id, created_at, id);

CREATE TABLE test_suite_cases (
  test_suite_id uuid NOT NULL REFERENCES test_suites ON DELETE CASCADE,
  test_case_id uuid NOT NULL REFERENCES test_cases ON DELETE CASCADE,
  position integer NOT NULL,
  PRIMARY KEY (test_suite_id, test_case_id)
);
CREATE INDEX test_suite_cases_of_case ON test_suite_cases (test_case_id);

CREATE TABLE test_runs (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  -- No references: a run outlives its suite, its baseline and its session.
  test_suite_id uuid,
  baseline_run_id uuid,
  name text NOT NULL,
  status text NOT NULL CHECK (status IN ('queued', 'running', 'passed', 'failed', 'canceled', 'error')),
  version text NOT NULL,
  -- What the run uses instead of the agent's own; null for the agent's.
  mode text,
  model text,
  repeat integer NOT NULL,
  concurrency integer NOT NULL,
  seed bigint NOT NULL,
  release_id text NOT NULL,
  release integer,
  plays integer NOT NULL,
  -- The session that the run replays.
  source_instance_id uuid,
  replays_session_id text,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  ended_at timestamptz
);
CREATE INDEX test_runs_of_project ON test_runs (project_id, created_at DESC, id DESC);
CREATE INDEX test_runs_unfinished ON test_runs (created_at) WHERE ended_at IS NULL;
CREATE INDEX test_runs_of_source ON test_runs (source_instance_id) WHERE source_instance_id IS NOT NULL;

-- The cases as they were when the run was made.
CREATE TABLE test_run_cases (
  run_id uuid NOT NULL REFERENCES test_runs ON DELETE CASCADE,
  position integer NOT NULL,
  test_case_id uuid,
  -- The contact of a campaign that is rehearsed.
  contact_id uuid,
  name text NOT NULL,
  channel text NOT NULL,
  definition json NOT NULL,
  PRIMARY KEY (run_id, position)
);
CREATE INDEX test_run_cases_of_case ON test_run_cases (test_case_id);

CREATE TABLE test_plays (
  run_id uuid NOT NULL REFERENCES test_runs ON DELETE CASCADE,
  number integer NOT NULL,
  position integer NOT NULL,
  index integer NOT NULL,
  seed bigint NOT NULL,
  channel text NOT NULL,
  status text NOT NULL CHECK (status IN ('queued', 'running', 'passed', 'failed', 'error', 'canceled')),
  -- The lane that claimed it, and how often it was claimed: a result of an older claim is refused.
  lane uuid,
  attempt integer NOT NULL DEFAULT 0,
  -- The play's session in the history.
  instance_id uuid,
  result json,
  PRIMARY KEY (run_id, number)
);

-- Each plays one play of its run after the other; a run has as many for each channel as it plays at once.
CREATE TABLE test_lanes (
  id uuid PRIMARY KEY,
  run_id uuid NOT NULL REFERENCES test_runs ON DELETE CASCADE,
  project_id uuid NOT NULL,
  channel text NOT NULL,
  -- When it goes on, or its claim ends.
  next_at timestamptz,
  claim_id uuid
);
CREATE INDEX test_lanes_of_run ON test_lanes (run_id);
CREATE INDEX test_lanes_due ON test_lanes (next_at);
CREATE INDEX test_lanes_due_of_project ON test_lanes (project_id, next_at);

CREATE FUNCTION drop_test_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM session_history WHERE instance_id = OLD.instance_id AND is_test;
  RETURN NULL;
END $$;
CREATE TRIGGER test_plays_drop_session AFTER DELETE ON test_plays
  FOR EACH ROW WHEN (OLD.instance_id IS NOT NULL) EXECUTE FUNCTION drop_test_session();
