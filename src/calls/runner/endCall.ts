import { rm } from 'node:fs/promises';

import type { MediaReport, RecordingReport } from '../../media/mediaSession.ts';
import { type Call, expectsRecording, type RecordingResult } from '../call.ts';
import type { RecordingStore } from '../recording/recordingStore.ts';
import type { CallFinisher } from './callFinisher.ts';
import type { CallResult } from './callResult.ts';

export interface EndCallDeps {
  readonly nodeId: string;
  readonly finisher: Pick<CallFinisher, 'finish' | 'completeRecording'>;
  readonly store: Pick<RecordingStore, 'save'>;
  readonly onError: (error: unknown, what: string) => void;
}

/** Puts a call away that this node has carried to its end, and then its recording. */
export function createCallEnder(deps: EndCallDeps) {
  return async (
    call: Call,
    result: CallResult,
    media: MediaReport | undefined,
    endedAt: string,
  ): Promise<void> => {
    const { status, ...end } = result;
    if (!isEnd(status)) throw new TypeError(`a call does not end ${status}`);
    const figures = media?.quality ?? null;
    const ended = await deps.finisher.finish(call, deps.nodeId, { ...end, status, endedAt, figures });
    if (!ended || !expectsRecording(ended)) return;
    const recording = await keepRecording(deps, call, media?.recording);
    await deps.finisher.completeRecording(call, recording);
  };
}

type EndStatus = 'completed' | 'busy' | 'no_answer' | 'failed' | 'canceled';

function isEnd(status: string): status is EndStatus {
  return ['completed', 'busy', 'no_answer', 'failed', 'canceled'].includes(status);
}

/** The name of a call's recording in the store. */
export const recordingKey = ({ projectId, id }: Pick<Call, 'projectId' | 'id'>): string =>
  `${projectId}/${id}.wav`;

async function keepRecording(
  { store, onError }: EndCallDeps,
  call: Call,
  report: RecordingReport | undefined,
): Promise<RecordingResult> {
  if (!report) return failed('The recording could not be begun');
  if (report.error !== undefined) {
    await rm(report.path, { force: true }).catch((error: unknown) =>
      onError(error, 'a broken recording stays'),
    );
    return failed('The recording could not be written to its end');
  }
  const key = recordingKey(call);
  try {
    await store.save(report.path, key);
    return { status: 'ready', key, durationMs: report.durationMs, error: null };
  } catch (error) {
    onError(error, 'a recording could not be stored');
    return failed('The recording could not be stored');
  }
}

function failed(error: string): RecordingResult {
  return { status: 'failed', key: null, durationMs: null, error };
}
