-- The beginning of the receiver's answer, where it is text.
ALTER TABLE webhook_deliveries ADD COLUMN answer text;
