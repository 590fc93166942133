-- Calls of tests are left out of lists, and kept as long as their run.
ALTER TABLE calls ADD COLUMN is_test boolean NOT NULL DEFAULT false;
