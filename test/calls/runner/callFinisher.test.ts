import { beforeEach, describe, expect, test } from 'vitest';

import type { Call, RecordingResult } from '../../../src/calls/call.ts';
import { isFinal } from '../../../src/calls/call.ts';
import {
  type CallEnd,
  type CallFinisherDeps,
  createCallFinisher,
} from '../../../src/calls/runner/callFinisher.ts';
import { AT, later, makeCall } from '../support/makeCall.ts';

const READY: RecordingResult = { status: 'ready', key: 'k', durationMs: 5, error: null };
const END: CallEnd = { status: 'completed', endReason: 'caller_hangup', endedAt: later(9) };

let row: Call | undefined;
let liveInstance: string | undefined;
let done: string[];
/** The step that fails once, as when the database goes away. */
let failing: string | undefined;
const step = async (name: string) => {
  if (failing === name) {
    failing = undefined;
    throw new Error(`${name} failed`);
  }
  done.push(name);
};

const deps: CallFinisherDeps = {
  calls: {
    find: async () => row,
    async update(_id, nodeId, change) {
      await step('row');
      if (!row || isFinal(row.status) || (nodeId !== null && nodeId !== row.nodeId)) return undefined;
      row = { ...row, ...change };
      return row;
    },
    async completeRecording(_id, recording) {
      if (row?.recording && row.recording.status !== 'recording') return undefined;
      if (row) row = { ...row, recording };
      return row;
    },
    markSettled: () => step('settled'),
  },
  conversations: {
    find: async () => (liveInstance === undefined ? undefined : ({ instanceId: liveInstance } as never)),
    async end(_projectId, _sessionId, reason) {
      await step(`session ${reason}`);
      liveInstance = undefined;
      return true;
    },
  },
  tell: (_instanceId, event, at) => step(`${event} ${at.toISOString()}`),
  lock: { release: (_projectId, number) => step(`lock ${number}`) },
  slots: { release: (trunkId) => step(`channel ${trunkId}`) },
  guard: { endCall: ({ id }) => step(`place of ${id}`) },
  onTold: () => undefined,
  keepLostWords: async () => {
    if (failing === 'words') await step('words');
  },
  now: () => Date.parse(later(20)),
  onError: (error) => void done.push(`warned: ${(error as Error).message}`),
};
const finisher = createCallFinisher(deps);

beforeEach(() => {
  [row, liveInstance, done, failing] = [makeCall({ recording: READY }), 'instance', [], undefined];
});

const PLACE = 'place of call';
const LETTING_GO = ['lock +886912345678', 'channel trunk', PLACE];
const ALL = [
  'row',
  ...LETTING_GO,
  'session call_ended',
  `call.ended ${later(9)}`,
  `recording.ready ${later(20)}`,
  'settled',
];

describe('the end of a call', () => {
  test('does all that is due, in order', async () => {
    expect(await finisher.finish(makeCall(), 'node', END)).toMatchObject(END);
    expect(done).toEqual(ALL);
  });

  test('is harmless when it comes twice', async () => {
    await finisher.finish(makeCall(), 'node', END);
    done = [];
    const again = { ...END, status: 'failed', endedAt: later(30) } as const;
    expect(await finisher.finish(makeCall(), 'node', again)).toMatchObject(END);
    expect(done).toEqual(ALL.filter((name) => name !== 'session call_ended'));
  });

  test.each(['session call_ended', `call.ended ${later(9)}`, `recording.ready ${later(20)}`, 'settled'])(
    'goes on after it failed at: %s',
    async (name) => {
      failing = name;
      await expect(finisher.finish(makeCall(), 'node', END)).rejects.toThrow('failed');
      expect(done).not.toContain(name);
      await finisher.settle(row ?? makeCall());
      for (const expected of ALL) expect(done).toContain(expected);
      expect(done.filter((one) => one === 'session call_ended')).toHaveLength(1);
    },
  );

  test('does not wait for Redis', async () => {
    failing = 'lock +886912345678';
    await finisher.finish(makeCall(), 'node', END);
    expect(done).toContain('warned: lock +886912345678 failed');
    expect(done.at(-1)).toBe('settled');
  });

  test('is not another node’s to tell of', async () => {
    expect(await finisher.finish(makeCall(), 'another', END)).toBeUndefined();
    expect(done).toEqual(['row']);
    row = undefined;
    expect(await finisher.finish(makeCall(), 'node', END)).toBeUndefined();
  });

  test('leaves another talk alone that has the session’s id by now', async () => {
    liveInstance = 'another';
    await finisher.finish(makeCall(), 'node', END);
    expect(done).not.toContain('session call_ended');
    expect(done.at(-1)).toBe('settled');
  });

  test.each([
    ['nobody answered', { answeredAt: null }],
    ['nothing was to be recorded', { settings: { ...makeCall().settings, record: false } }],
  ])('has no recording where %s', async (_what, change) => {
    row = makeCall(change);
    await finisher.finish(row, 'node', END);
    expect(done.some((name) => name.startsWith('recording.ready'))).toBe(false);
    expect(done.at(-1)).toBe('settled');
  });

  test('frees neither a channel nor a lock that was never taken', async () => {
    row = makeCall({ direction: 'inbound', trunkId: null, recording: READY });
    await finisher.finish(row, null, END);
    expect(done).toEqual(ALL.filter((name) => name === PLACE || !LETTING_GO.includes(name)));
  });
});

describe('a recording', () => {
  test('that is stored after the end settles the call', async () => {
    row = makeCall({ recording: { ...READY, status: 'recording' } });
    await finisher.finish(row, 'node', END);
    expect(done.at(-1)).toBe(`call.ended ${later(9)}`);
    await finisher.completeRecording(makeCall(), READY);
    expect(done.slice(-2)).toEqual([`recording.ready ${later(20)}`, 'settled']);
    expect(row?.recording).toEqual(READY);
  });

  test('that is stored before the end waits for it', async () => {
    row = makeCall();
    await finisher.completeRecording(row, READY);
    expect(done).toEqual([]);
    await finisher.finish(row, 'node', END);
    expect(done).toEqual(ALL);
  });

  test('keeps what became of it first', async () => {
    row = makeCall({ status: 'completed', endedAt: AT });
    await finisher.completeRecording(row, { ...READY, status: 'failed', error: 'disk full' });
    await finisher.completeRecording(row, READY);
    expect(row?.recording).toMatchObject({ status: 'failed', error: 'disk full' });
  });
});

test('a session ends also where what a lost node heard cannot be kept', async () => {
  failing = 'words';
  await finisher.settle(makeCall({ ...END, recording: READY }));
  expect(done).toContain('warned: words failed');
  expect(done).toContain('session call_ended');
});
