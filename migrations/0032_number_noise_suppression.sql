-- Whether calls of the number have noise suppression; null leaves it to the agent.
ALTER TABLE phone_numbers ADD COLUMN noise_suppression boolean;
