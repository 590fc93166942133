-- A number belongs to one project of the installation. An unverified claim takes no inbound calls.
ALTER TABLE phone_numbers
  ADD COLUMN verified boolean NOT NULL DEFAULT true,
  -- Older releases let several projects claim a number. Of those, one keeps it; the operator decides about the others.
  ADD COLUMN is_duplicate boolean NOT NULL DEFAULT false;

-- The claim with calls keeps the number, of several the oldest.
UPDATE phone_numbers SET verified = false, is_duplicate = true
FROM (
  SELECT id, row_number() OVER (PARTITION BY number ORDER BY has_calls DESC, created_at, id) AS rank
  FROM (
    SELECT claims.id, number, created_at, EXISTS (
      SELECT FROM calls
      WHERE calls.project_id = claims.project_id
        AND (direction = 'inbound' AND to_number = number OR direction = 'outbound' AND from_number = number)
    ) AS has_calls
    FROM phone_numbers AS claims
    WHERE number IN (SELECT number FROM phone_numbers GROUP BY number HAVING count(*) > 1)
  ) AS contested
) AS ranked
WHERE ranked.id = phone_numbers.id AND rank > 1;

CREATE UNIQUE INDEX phone_numbers_one_holder ON phone_numbers (number) WHERE NOT is_duplicate;
