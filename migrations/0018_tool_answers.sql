-- What a tool's answer sets, and what is said meanwhile.
ALTER TABLE tools ADD COLUMN result_mapping jsonb, ADD COLUMN speak_while jsonb;
