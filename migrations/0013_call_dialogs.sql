-- The SIP dialogs of calls in progress, so that another node can end them after a failure of theirs.
CREATE TABLE call_dialogs (
  dialog_id text PRIMARY KEY,
  call_id uuid NOT NULL,
  dialog jsonb NOT NULL
);
