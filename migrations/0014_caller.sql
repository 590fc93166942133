-- Where the agent begins, and what it knows, on calls to this number.
ALTER TABLE phone_numbers ADD COLUMN start_node_id text;
ALTER TABLE phone_numbers ADD COLUMN variables jsonb NOT NULL DEFAULT '{}';

-- Who answered an outbound call; null while it is not known, and where it is not detected.
ALTER TABLE calls ADD COLUMN answering_machine text
  CHECK (answering_machine IN ('human', 'machine', 'screening', 'unknown'));
