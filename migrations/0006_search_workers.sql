-- What no index narrows down is read by more workers where the server has them to spare. The planner goes by the table's
-- size, and gives a scan of a hundred thousand sessions fewer than the work is worth; how many there are is the server's
-- own max_parallel_workers.
ALTER TABLE session_texts SET (parallel_workers = 4);
ALTER FUNCTION count_session_texts (uuid, text, text) SET max_parallel_workers_per_gather = 4;
ALTER FUNCTION find_session_texts (uuid, text, text) SET max_parallel_workers_per_gather = 4;
