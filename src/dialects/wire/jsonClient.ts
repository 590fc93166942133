import type { MarkReport } from '../../media/agentStream/streamClient.ts';
import type { SampleRateHz } from '../../media/resample/resampler.ts';
import type { AgentReader, DialectClient, DialectConnection } from '../dialect.ts';
import { type AudioEncoding, decodeBase64, encodeBase64 } from './audio.ts';
import { type Fields, fieldsOf, nameOf, parseJson } from './json.ts';

/** The messages of our gateway in the role of a carrier whose every message is JSON, and its audio base64. */
export interface JsonClientMessages {
  readonly sampleRateHz: SampleRateHz;
  readonly encoding: AudioEncoding;
  /** Sent before the audio. */
  readonly opening: readonly object[];
  /** Writes the message as text: each call sends fifty of these a second, and base64 needs no escaping. @param chunk - From 1. */
  media(payload: string, chunk: number, positionMs: number): string;
  dtmf(digit: string): object;
  /** @returns Undefined where the carrier says nothing about a mark that was cleared. */
  mark(name: string, outcome: MarkReport['outcome']): object | undefined;
  /** Absent where the carrier does not answer a clear. */
  cleared?(): object;
  /** Absent where the carrier only closes the connection. */
  stop?(): object;
  /** The event with the agent's audio. */
  readonly audioEvent: string;
  /** Reads every other message. @returns False when it cannot be read. */
  readAgent(message: Fields, agent: AgentReader): boolean;
}

export function openJsonClient(connection: DialectConnection, messages: JsonClientMessages): DialectClient {
  const { sampleRateHz, encoding, audioEvent, cleared, stop } = messages;
  const send = (message: object) => connection.send(JSON.stringify(message));
  let chunk = 0;
  for (const message of messages.opening) send(message);
  return {
    sampleRateHz,
    agentClosesAfterStop: false,
    audio(samples, position) {
      chunk++;
      const positionMs = Math.round((position * 1000) / sampleRateHz);
      connection.send(messages.media(encodeBase64(encoding, samples), chunk, positionMs));
    },
    dtmf: (digit) => send(messages.dtmf(digit)),
    mark({ name, outcome }) {
      const answer = messages.mark(name, outcome);
      if (answer !== undefined) send(answer);
    },
    ...(cleared && { cleared: () => send(cleared()) }),
    read(message, agent) {
      const fields = parseJson(message);
      const audio =
        fields?.event === audioEvent ? decodeBase64(encoding, fieldsOf(fields.media)?.payload) : undefined;
      if (audio !== undefined) agent.audio(audio);
      else if (fields === undefined || !messages.readAgent(fields, agent)) agent.malformed();
    },
    stop: () => stop && send(stop()),
  };
}

/** Reads an agent's mark. @returns False when it has no name. */
export function readMark(name: unknown, agent: AgentReader): boolean {
  const text = nameOf(name);
  if (text !== undefined) agent.mark(text);
  return text !== undefined;
}
