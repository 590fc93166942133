-- What a project may call, and how much: all that its operator set, the rest is as the service has it.
ALTER TABLE projects ADD COLUMN call_limits jsonb NOT NULL DEFAULT '{}';
