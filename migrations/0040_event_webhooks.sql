-- The live events that the agent's eventWebhook wants, by the agent that callers get; null for none.
ALTER TABLE agents ADD COLUMN event_types text[];

-- Events on their way to an eventWebhook, sent one after the other: those of a session, those of a project that belong to
-- no session, or one delivery that is repeated on request.
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
  -- Place among the events of its queue.
  at_ms bigint NOT NULL,
  number bigint NOT NULL,
  event text NOT NULL,
  webhook text NOT NULL CHECK (webhook IN ('postSessionWebhook', 'eventWebhook')),
  body text NOT NULL,
  attempt integer NOT NULL,
  queued_at timestamptz NOT NULL
);
CREATE INDEX queued_events_in_order ON queued_events (queue_id, at_ms, number);
CREATE INDEX queued_events_of_session ON queued_events (project_id, session_id);

-- Its session_id is empty where an event belongs to no session: nodes of the previous version show it as a text.
ALTER TABLE webhook_deliveries ADD COLUMN webhook text NOT NULL DEFAULT 'postSessionWebhook';
