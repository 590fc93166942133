import { type AudioEncoding, aLaw, littleEndian, muLaw } from '../wire/audio.ts';
import { type Fields, fieldsOf } from '../wire/json.ts';

/** The audio of one direction. */
export interface RealtimeFormat {
  readonly type: string;
  readonly sampleRateHz: 8000 | 24_000;
  readonly encoding: AudioEncoding;
}

/** What a client may change of its session. */
export interface RealtimeSession {
  readonly input: RealtimeFormat;
  readonly output: RealtimeFormat;
  /** The caller's turn ends when the client commits its audio; otherwise by turn detection. */
  readonly isManual: boolean;
  readonly modality: 'audio' | 'text';
}

/** The fields of an `error` event. */
export interface RealtimeProblem {
  readonly code: string;
  readonly message: string;
  readonly param?: string;
}

const PCM: RealtimeFormat = { type: 'audio/pcm', sampleRateHz: 24_000, encoding: littleEndian };
const PCMU: RealtimeFormat = { type: 'audio/pcmu', sampleRateHz: 8000, encoding: muLaw };
const PCMA: RealtimeFormat = { type: 'audio/pcma', sampleRateHz: 8000, encoding: aLaw };
/** With the names that the interface had before its general availability. */
const FORMATS: ReadonlyMap<unknown, RealtimeFormat> = new Map([
  ['audio/pcm', PCM],
  ['audio/pcmu', PCMU],
  ['audio/pcma', PCMA],
  ['pcm16', PCM],
  ['g711_ulaw', PCMU],
  ['g711_alaw', PCMA],
]);
const TURN_DETECTIONS: ReadonlySet<unknown> = new Set(['server_vad', 'semantic_vad']);
export const MODEL = 'callway';

export const INITIAL_SESSION: RealtimeSession = {
  input: PCM,
  output: PCM,
  isManual: false,
  modality: 'audio',
};

/** @returns The session with the changes of a `session.update`; a problem changes nothing. */
export function updatedSession(session: RealtimeSession, changes: Fields): RealtimeSession | RealtimeProblem {
  const audio = fieldsOf(changes.audio);
  const input = fieldsOf(audio?.input);
  const output = fieldsOf(audio?.output);
  const inputFormat = formatOf(input?.format ?? changes.input_audio_format, session.input);
  if (!inputFormat) return badFormat('session.audio.input.format');
  const outputFormat = formatOf(output?.format ?? changes.output_audio_format, session.output);
  if (!outputFormat) return badFormat('session.audio.output.format');
  const turns = input && 'turn_detection' in input ? input.turn_detection : changes.turn_detection;
  if (turns !== undefined && turns !== null && !TURN_DETECTIONS.has(fieldsOf(turns)?.type)) {
    const param = 'session.audio.input.turn_detection';
    return problem('invalid_value', 'Turn detection is null, server_vad or semantic_vad.', param);
  }
  const modality = modalityOf(changes.output_modalities ?? changes.modalities, session.modality);
  if (!modality)
    return problem(
      'invalid_value',
      "Output modalities are ['audio'] or ['text'].",
      'session.output_modalities',
    );
  const isManual = turns === undefined ? session.isManual : turns === null;
  return { input: inputFormat, output: outputFormat, isManual, modality };
}

/** The session as events show it. What the agent's pathway decides is shown as its own. */
export function shownSession(id: string, session: RealtimeSession): object {
  const { input, output, isManual, modality } = session;
  const turnDetection = {
    type: 'server_vad',
    threshold: 0.5,
    prefix_padding_ms: 300,
    silence_duration_ms: 500,
    create_response: true,
    interrupt_response: true,
    idle_timeout_ms: null,
  };
  return {
    type: 'realtime',
    object: 'realtime.session',
    id,
    model: MODEL,
    output_modalities: [modality],
    instructions: '',
    tools: [],
    tool_choice: 'auto',
    max_output_tokens: 'inf',
    tracing: null,
    prompt: null,
    truncation: 'auto',
    include: null,
    audio: {
      input: {
        format: shownFormat(input),
        transcription: { model: MODEL },
        noise_reduction: null,
        turn_detection: isManual ? null : turnDetection,
      },
      output: { format: shownFormat(output), voice: MODEL, speed: 1 },
    },
  };
}

export function shownFormat({ type }: RealtimeFormat): object {
  return type === PCM.type ? { type, rate: PCM.sampleRateHz } : { type };
}

export function problem(code: string, message: string, param?: string): RealtimeProblem {
  return { code, message, param };
}

function formatOf(given: unknown, current: RealtimeFormat): RealtimeFormat | undefined {
  if (given === undefined || given === null) return current;
  const fields = fieldsOf(given);
  const format = FORMATS.get(fields?.type ?? given);
  const rate = fields?.rate ?? format?.sampleRateHz;
  return format?.sampleRateHz === rate ? format : undefined;
}

function badFormat(param: string): RealtimeProblem {
  const message = 'Audio formats are audio/pcm at 24000 Hz, audio/pcmu and audio/pcma.';
  return problem('invalid_value', message, param);
}

function modalityOf(
  given: unknown,
  current: RealtimeSession['modality'],
): RealtimeSession['modality'] | undefined {
  if (given === undefined || given === null) return current;
  if (!Array.isArray(given)) return undefined;
  if (given.includes('audio')) return 'audio';
  return given.length === 1 && given[0] === 'text' ? 'text' : undefined;
}
