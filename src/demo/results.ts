import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { parseWav } from '../media/wav.ts';
import { WEBHOOK_EVENT_NAMES } from '../webhooks/events.ts';
import { DemoError } from './demoError.ts';
import { endWords } from './follow.ts';
import { type History, latencyTable, transcriptText } from './history.ts';
import type { WebhookReceiver } from './receiver.ts';
import { type Screen, seconds } from './screen.ts';
import type { DemoProject } from './setUp.ts';

export interface ResultDeps {
  readonly history: History;
  readonly receiver: WebhookReceiver;
  readonly project: DemoProject;
  readonly screen: Screen;
  /** The folder for the transcript and the recording. */
  readonly folder: string;
}

/**
 * Shows the results of the call and verifies them.
 *
 * @throws {DemoError} When the call was not completed, a webhook is missing or out of order, or the recording is
 *   invalid.
 */
export async function showResults(deps: ResultDeps): Promise<void> {
  const { history, receiver, screen } = deps;
  if (history.call.status !== 'completed') {
    throw new DemoError(`The call was not completed: ${endWords(history)}.`);
  }
  showWebhooks(receiver, screen);
  showFigures(history, screen);
  screen.title('Results');
  await keepTranscript(deps);
  await keepRecording(deps);
}

function showWebhooks({ events, refused }: ResultDeps['receiver'], screen: Screen): void {
  screen.title('Webhooks in order of arrival');
  const order = events.map(({ event }) => event);
  for (const name of order) screen.step(name, 'signature verified');
  if (refused.length > 0) throw new DemoError(`Webhooks were rejected: ${refused.join('; ')}.`);
  if (order.join() !== WEBHOOK_EVENT_NAMES.join()) {
    throw new DemoError(`The webhooks must be ${WEBHOOK_EVENT_NAMES.join(', ')} in this order.`);
  }
}

function showFigures({ messages, call }: History, screen: Screen): void {
  screen.title('Latency of each agent turn in milliseconds');
  screen.table(latencyTable(messages));
  if (!call.mediaFigures) return;
  const { codec, packetsReceived, packetsLost, mos } = call.mediaFigures;
  const quality = mos === null ? '' : `, MOS ${mos.toFixed(1)}`;
  screen.note(`${codec}: ${packetsReceived} packets received, ${packetsLost} lost${quality}`);
}

async function keepTranscript({ history, screen, folder }: ResultDeps): Promise<void> {
  const file = join(folder, 'transcript.txt');
  await writeFile(file, transcriptText(history.messages));
  screen.step('transcript', file);
}

/** Downloads the recording from its signed URL. */
async function keepRecording({ history, project, screen, folder }: ResultDeps): Promise<void> {
  const { recording } = history.call;
  if (recording?.status !== 'ready' || recording.url === undefined) {
    throw new DemoError(`There is no recording: ${recording?.error ?? 'it was not completed'}.`);
  }
  const bytes = await project.api.download(recording.url);
  const { channels, sampleRateHz, samples } = parseWav(bytes);
  const durationMs = (samples.length * 1000) / channels / sampleRateHz;
  if (channels !== 2 || durationMs === 0) {
    throw new DemoError('The recording is not a stereo file with sound.');
  }
  const file = join(folder, 'call.wav');
  await writeFile(file, bytes);
  screen.step('recording', `${file} (${seconds(durationMs)}, callee left, agent right)`);
}
