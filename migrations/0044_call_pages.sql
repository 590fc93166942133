-- How a call's audio arrived over time. Not among the columns that lists read.
ALTER TABLE calls ADD COLUMN media_samples json;
-- The recording's waveform; computed when it is first asked for, removed with the recording.
ALTER TABLE calls ADD COLUMN recording_peaks json;
