ALTER TABLE sessions
  -- The conversation as its client has it; see ClientConversation. Null until the first turn of a chat.
  ADD COLUMN digest text,
  -- The agent's sessionIdleMinutes at the session's start.
  ADD COLUMN idle_minutes integer;

-- The project's sessionIdleMinutes where somebody has set it; chats without it stay longer than other sessions.
ALTER TABLE projects ADD COLUMN chat_idle_minutes integer;
UPDATE projects SET chat_idle_minutes = session_idle_minutes WHERE session_idle_minutes <> 30;
