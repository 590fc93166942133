-- Whether calls of the number are recorded; null leaves it to the agent.
ALTER TABLE phone_numbers ADD COLUMN record boolean;
