CREATE TABLE trunks (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  -- All that its user set, but for the password.
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
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT phone_numbers_number_in_project UNIQUE (project_id, number)
);
CREATE INDEX phone_numbers_of_project ON phone_numbers (project_id, created_at, id);

-- In the order of trial. A trunk that a number names is kept; it goes with its project only.
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

-- Kept as long as the history of its session.
CREATE TABLE calls (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  session_id text NOT NULL,
  instance_id uuid NOT NULL UNIQUE REFERENCES session_history ON DELETE CASCADE,
  direction text NOT NULL CHECK (direction IN ('outbound', 'inbound')),
  status text NOT NULL CHECK (status IN (
    'queued', 'dialing', 'ringing', 'in_progress', 'completed', 'busy', 'no_answer', 'failed', 'canceled'
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
  created_at timestamptz NOT NULL,
  -- When a node took it out of the queue; null while it waits there.
  claimed_at timestamptz,
  started_at timestamptz,
  answered_at timestamptz,
  ended_at timestamptz,
  figures json,
  recording json,
  node_id text,
  hangup_requested boolean NOT NULL,
  -- Whether all that its end makes due was done: its session ended, its events told.
  settled boolean NOT NULL DEFAULT false
);
CREATE INDEX calls_of_project ON calls (project_id, created_at DESC, id DESC);
CREATE INDEX calls_of_session ON calls (project_id, session_id);
CREATE INDEX calls_unsettled ON calls (id) WHERE NOT settled;
-- The second line of defence behind the number's lock.
CREATE UNIQUE INDEX calls_one_live_outbound ON calls (project_id, to_number)
  WHERE direction = 'outbound' AND status IN ('queued', 'dialing', 'ringing', 'in_progress');

-- Signs of life of those that carry calls.
CREATE TABLE nodes (
  id text PRIMARY KEY,
  beat_at timestamptz NOT NULL
);

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

-- Recordings whose call is gone, for whoever removes files; written by whatever removes the call.
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
