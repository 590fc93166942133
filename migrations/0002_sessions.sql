CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- What sessions run on, by the digest of its content. Text as it was, since templates and prompts must not change.
CREATE TABLE agent_releases (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  id text NOT NULL,
  release json NOT NULL,
  -- When a session last asked for it; one that was kept just now may have no session yet.
  kept_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, id)
);

-- Live sessions only; the end removes the row.
CREATE TABLE sessions (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  session_id text NOT NULL,
  instance_id uuid NOT NULL UNIQUE,
  channel text NOT NULL CHECK (channel IN ('chat', 'phone', 'web')),
  provider text,
  call_id text,
  pathway_id uuid NOT NULL,
  release_id text NOT NULL,
  turn integer NOT NULL,
  state json NOT NULL,
  started_at timestamptz NOT NULL,
  last_activity_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, session_id),
  FOREIGN KEY (project_id, release_id) REFERENCES agent_releases
);
CREATE INDEX sessions_of_release ON sessions (project_id, release_id);
CREATE INDEX sessions_by_activity ON sessions (last_activity_at) WHERE channel <> 'phone';

-- What the API shows of each live session, as JSON text, to be searched. Apart from the state, and not compressed as
-- long as it fits a page: what no index narrows down is read from one end to the other.
CREATE TABLE session_texts (
  instance_id uuid PRIMARY KEY REFERENCES sessions (instance_id) ON DELETE CASCADE,
  project_id uuid NOT NULL,
  session_id text NOT NULL,
  data text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
) WITH (toast_tuple_target = 8160);
ALTER TABLE session_texts ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE INDEX session_texts_by_update ON session_texts (project_id, updated_at DESC, session_id);
CREATE INDEX session_texts_trigrams ON session_texts USING gin (data gin_trgm_ops);

-- One row for each life of a session id, from its begin until its project keeps it no longer.
CREATE TABLE session_history (
  instance_id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  session_id text NOT NULL,
  channel text NOT NULL,
  provider text,
  call_id text,
  status text NOT NULL CHECK (status IN ('active', 'ended')),
  started_at timestamptz NOT NULL,
  ended_at timestamptz,
  end_reason text,
  -- Set by the end; before it they stand in the session's state.
  variables json,
  evaluation json,
  message_count integer NOT NULL DEFAULT 0,
  turns integer NOT NULL DEFAULT 0
);
CREATE INDEX session_history_of_project ON session_history (project_id, started_at DESC, instance_id DESC);
CREATE INDEX session_history_of_session ON session_history (project_id, session_id, started_at DESC);
CREATE INDEX session_history_by_end ON session_history (project_id, ended_at) WHERE status = 'ended';

CREATE TABLE session_messages (
  id bigint GENERATED ALWAYS AS IDENTITY,
  instance_id uuid NOT NULL REFERENCES session_history ON DELETE CASCADE,
  message json NOT NULL,
  -- Drawn from the message, to be searched and counted.
  content text,
  latency_ms integer,
  PRIMARY KEY (instance_id, id)
);
CREATE INDEX session_messages_trigrams ON session_messages USING gin (content gin_trgm_ops);

CREATE TABLE session_events (
  id bigint GENERATED ALWAYS AS IDENTITY,
  instance_id uuid NOT NULL REFERENCES session_history ON DELETE CASCADE,
  type text NOT NULL,
  at timestamptz NOT NULL,
  data json NOT NULL,
  PRIMARY KEY (instance_id, id)
);

CREATE TABLE customer_memories (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  customer text NOT NULL,
  memory text NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, customer)
);

-- One row for each ended session whose webhooks are not finished; written by the end's own transaction.
CREATE TABLE webhook_outbox (
  instance_id uuid PRIMARY KEY REFERENCES session_history ON DELETE CASCADE,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  release_id text NOT NULL,
  finalize_by timestamptz NOT NULL,
  -- Whether session.finalized waits for an evaluation.
  evaluating boolean NOT NULL,
  -- When evaluation and remembering may be begun, or begun anew after their node has died; null when they are over.
  afterwards_at timestamptz,
  afterwards_attempts integer NOT NULL DEFAULT 0,
  -- When somebody should look at it next; whoever does moves it on first, so that others do not.
  next_at timestamptz NOT NULL,
  FOREIGN KEY (project_id, release_id) REFERENCES agent_releases
);
CREATE INDEX webhook_outbox_due ON webhook_outbox (next_at);
CREATE INDEX webhook_outbox_of_release ON webhook_outbox (project_id, release_id);

-- The rows of the gate that decides what is sent when.
CREATE TABLE webhook_events (
  instance_id uuid NOT NULL REFERENCES webhook_outbox ON DELETE CASCADE,
  position smallint NOT NULL,
  event text NOT NULL,
  subscribed boolean NOT NULL,
  status text NOT NULL CHECK (status IN ('waiting', 'ready', 'sending', 'settled', 'expired')),
  outcome text CHECK (outcome IN ('delivered', 'failed', 'skipped', 'unknown')),
  attempt integer NOT NULL,
  delivery_id uuid,
  -- Until when a sender may still be at it.
  lease_until timestamptz,
  PRIMARY KEY (instance_id, event),
  CHECK ((status = 'settled') = (outcome IS NOT NULL))
);

-- What an event reports is known since then; may come before the session's end.
CREATE TABLE webhook_facts (
  instance_id uuid NOT NULL REFERENCES session_history ON DELETE CASCADE,
  event text NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (instance_id, event)
);

CREATE TABLE webhook_deliveries (
  id uuid NOT NULL,
  attempt integer NOT NULL,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  session_id text NOT NULL,
  event text NOT NULL,
  url text NOT NULL,
  status integer,
  duration_ms double precision NOT NULL,
  error json,
  at timestamptz NOT NULL,
  -- Its beginning, for support; null in a project that keeps no history.
  body text,
  PRIMARY KEY (id, attempt)
);
CREATE INDEX webhook_deliveries_of_project ON webhook_deliveries (project_id, at DESC, id DESC);

CREATE TABLE webhook_secrets (
  project_id uuid PRIMARY KEY REFERENCES projects ON DELETE CASCADE,
  -- Sealed, as is the one before, which signs beside it for a while after a rotation.
  secret text NOT NULL,
  previous text,
  rotated_at timestamptz NOT NULL
);
