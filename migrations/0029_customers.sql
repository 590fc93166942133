-- The customer's id among a session's variables, as customerOf() reads it; null where there is none.
CREATE FUNCTION customer_id_of(variables json) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN json_typeof(variables->'customerId') IN ('string', 'number') THEN
    left(nullif(btrim(
      variables->>'customerId',
      E' \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'
    ), ''), 256)
  END
$$;

-- Customers whose data is being erased; the last batch removes the row.
CREATE TABLE customer_erasures (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  customer text NOT NULL,
  -- For the audit log, but for what was erased.
  entry jsonb NOT NULL,
  sessions integer NOT NULL DEFAULT 0,
  calls integer NOT NULL DEFAULT 0,
  recordings integer NOT NULL DEFAULT 0,
  PRIMARY KEY (project_id, customer)
);
