-- What supervisors do with a call in progress; null before the first.
ALTER TABLE calls ADD COLUMN supervision json;
