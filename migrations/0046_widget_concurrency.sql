-- Talks of a widget's visitors at once, so that they leave lines of the project free.
ALTER TABLE widget_tokens ADD COLUMN max_concurrent integer NOT NULL DEFAULT 5;
