import type { DialectServer, GatewayMessageHandler } from '../dialects/dialect.ts';
import { streamResampler } from '../dialects/wire/streamResampler.ts';
import type { MarkReport, PlayoutPosition } from '../media/agentStream/streamClient.ts';
import { atRate } from '../media/resample/resampler.ts';

const WIRE_RATE_HZ = 48_000;
/** The highest rate of a voice session. */
const VOICE_RATE_HZ = 24_000;
const FACTOR = WIRE_RATE_HZ / VOICE_RATE_HZ;

/** @returns What voice sessions are given a stream with, which may have a rate above theirs. */
export function atVoiceRate(
  dialect: DialectServer,
  sampleRateHz: number,
): { readonly dialect: DialectServer; readonly sampleRateHz: number } {
  if (sampleRateHz !== WIRE_RATE_HZ) return { dialect, sampleRateHz };
  return { dialect: halfRate(dialect), sampleRateHz: VOICE_RATE_HZ };
}

/** A server at 48 kHz as one at 24 kHz. */
function halfRate(dialect: DialectServer): DialectServer {
  const down = streamResampler(WIRE_RATE_HZ, VOICE_RATE_HZ);
  const up = streamResampler(VOICE_RATE_HZ, WIRE_RATE_HZ);
  return {
    confirmsClear: dialect.confirmsClear,
    endsByClose: dialect.endsByClose,
    readStart: (message) => dialect.readStart(message),
    read: (message, gateway) => dialect.read(message, halved(gateway, down)),
    play: (samples) => dialect.play(up(samples)),
    mark: (name) => dialect.mark(name),
    clear: () => dialect.clear(),
    command: (command) => dialect.command(command),
    caption: (caption) => dialect.caption?.(caption),
    setFailoverPrompts: ({ waiting, apology }) =>
      dialect.setFailoverPrompts?.({
        waiting: atRate(waiting, VOICE_RATE_HZ, WIRE_RATE_HZ),
        apology: atRate(apology, VOICE_RATE_HZ, WIRE_RATE_HZ),
      }),
  };
}

function halved(
  gateway: GatewayMessageHandler,
  down: (samples: Int16Array) => Int16Array,
): GatewayMessageHandler {
  return {
    ...gateway,
    audio: (samples) => gateway.audio(down(samples)),
    mark(name, { outcome, position }: Partial<MarkReport> & { position?: PlayoutPosition } = {}) {
      gateway.mark(name, { outcome, position: position && halfOf(position) });
    },
    cleared: (position) => gateway.cleared(halfOf(position)),
  };
}

function halfOf({ playedSamples, receivedSamples, bufferDelayMs }: PlayoutPosition): PlayoutPosition {
  return {
    playedSamples: Math.round(playedSamples / FACTOR),
    receivedSamples: Math.round(receivedSamples / FACTOR),
    bufferDelayMs,
  };
}
