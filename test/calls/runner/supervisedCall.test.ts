import { describe, expect, test } from 'vitest';
import type { CallRequest, SupervisorControl } from '../../../src/calls/nodes/callRequest.ts';
import {
  answerCall,
  CALL,
  END,
  leg,
  loseStream,
  settle,
  t,
  transfer,
  trunk,
  useRunner,
} from './support/runnerRig.ts';

useRunner();

const perform = (request: CallRequest) => t.runner.perform('call', request);
const codeOf = async (request: CallRequest) =>
  await perform(request)?.then(
    () => undefined,
    ({ code }) => code as string,
  );
const control = (argument: SupervisorControl) => perform({ name: 'control_agent', argument });
const told = () =>
  t.log.flatMap((entry) => (String(entry).startsWith('tell') ? [(entry as [string, unknown])[1]] : []));
/** A supervisor's WebSocket takes the call over, or gives it back. */
function takeover(status: 'joined' | 'left'): void {
  leg().mediaEvents.emit('supervisor', { supervisorId: 'id', mode: 'takeover', status });
}
/** The caller is connected to another person by a second leg. */
async function bridge(): Promise<void> {
  void transfer('sip:second');
  await settle();
  await leg(1).tells('answered', { atMs: 0 });
  t.log.length = 0;
}

describe('A supervised call', () => {
  test('tells the agent, and its history, what a supervisor says and asks', async () => {
    await answerCall();
    await control({ kind: 'say', text: 'Hello.' });
    await control({ kind: 'instruct', text: 'Be brief.' });
    expect(await control({ kind: 'pause', isPaused: true })).toEqual({
      agentPaused: true,
      recordingPaused: false,
      supervisors: 0,
    });
    expect(told()).toEqual([
      { kind: 'say', text: 'Hello.', number: 1 },
      { kind: 'instruct', text: 'Be brief.', number: 2 },
      { kind: 'pause', isPaused: true },
    ]);
    expect(t.log).toContainEqual(['mute', true]);
    expect(t.stored.supervision).toMatchObject({ agentPaused: true });
    expect(t.changeEvents).toMatchObject([
      { type: 'supervision', data: { action: 'say', text: 'Hello.' } },
      { type: 'supervision', data: { action: 'instruct', text: 'Be brief.' } },
      { type: 'supervision', data: { action: 'pause_agent' } },
    ]);
  });

  test('does nothing twice', async () => {
    await answerCall();
    const pause = { name: 'pause_recording', argument: { isPaused: true } } as const;
    const resume = { name: 'pause_recording', argument: { isPaused: false } } as const;
    await Promise.all([perform(resume), perform(pause), perform(pause), perform(resume)]);
    expect(t.log.filter((entry) => String(entry).startsWith('pause'))).toEqual([
      ['pause recording', true],
      ['pause recording', false],
    ]);
    expect(t.changeEvents).toMatchObject([
      { type: 'recording', data: { action: 'pause' } },
      { type: 'recording', data: { action: 'resume' } },
    ]);
  });

  test('names the address of a supervisor, and shows how many there are', async () => {
    await answerCall();
    expect(await perform({ name: 'supervise', argument: { mode: 'listen' } })).toBe('ws://node:4100/ticket');
    const change = { supervisorId: 'id', mode: 'listen' } as const;
    await leg().mediaTells('supervisor', { ...change, status: 'joined' });
    expect(t.stored.supervision?.supervisors).toBe(1);
    await leg().mediaTells('supervisor', { ...change, status: 'left' });
    expect(t.stored.supervision?.supervisors).toBe(0);
    expect(t.changeEvents).toMatchObject([
      { type: 'supervision', data: { action: 'joined', mode: 'listen' } },
      { type: 'supervision', data: { action: 'left', mode: 'listen' } },
    ]);
  });

  test('refuses what its moment does not allow', async () => {
    t.runner.dial(CALL, [trunk('a')]);
    const say = { name: 'control_agent', argument: { kind: 'say', text: 'Hello.' } } as const;
    expect(await codeOf(say)).toBe('call_not_in_progress');
    expect(t.runner.perform('another call', say)).toBeUndefined();
  });

  test('has somebody to whisper to only once the caller was transferred, and then no agent', async () => {
    await answerCall();
    const whisper = { name: 'supervise', argument: { mode: 'whisper' } } as const;
    expect(await codeOf(whisper)).toBe('no_human_party');
    await bridge();
    expect(await codeOf(whisper)).toBeUndefined();
    expect(await codeOf({ name: 'supervise', argument: { mode: 'takeover' } })).toBe('agent_not_in_call');
    expect(await codeOf({ name: 'control_agent', argument: { kind: 'say', text: 'Hello.' } })).toBe(
      'agent_not_in_call',
    );
    expect(await codeOf({ name: 'control_agent', argument: { kind: 'pause', isPaused: true } })).toBe(
      'agent_not_in_call',
    );
  });

  test('without a recording has none to pause, and no words for a bot of the project', async () => {
    const settings = {
      ...CALL.settings,
      record: false,
      media: { url: 'wss://bot.example/', dialect: 'callway' } as const,
    };
    t.runner.dial({ ...CALL, settings }, [trunk('a')]);
    await settle();
    await leg().tells('answered', { atMs: 0 });
    expect(await codeOf({ name: 'pause_recording', argument: { isPaused: true } })).toBe('call_not_recorded');
    expect(await codeOf({ name: 'control_agent', argument: { kind: 'instruct', text: 'Be brief.' } })).toBe(
      'agent_not_in_call',
    );
    expect(
      await codeOf({ name: 'control_agent', argument: { kind: 'pause', isPaused: true } }),
    ).toBeUndefined();
  });

  test.each([
    ['hangs up', () => leg().mediaEvents.emit('command', { kind: 'hangup' })],
    ['leaves', () => leg().mediaEvents.emit('streamClosed', { how: 'stopped', code: 1000, reason: '' })],
  ])('goes on when the agent %s during a takeover, and ends with it', async (_what, leave) => {
    await answerCall();
    takeover('joined');
    leave();
    await settle();
    expect(t.log).not.toContainEqual(['hangup', 'a']);
    takeover('left');
    await settle();
    expect(t.log).toContainEqual(['hangup', 'a']);
    await leg().tells('ended', END);
    expect(t.finished).toMatchObject([{ endReason: 'agent_hangup' }]);
  });
});

describe('An agent that takes the call over', () => {
  const say = (text: string) => control({ kind: 'say', text });

  test('is told the pause and the words that were not begun, and what was asked while its stream opened, once', async () => {
    await answerCall();
    for (const text of ['One.', 'Two.']) await say(text);
    leg().mediaEvents.emit('command', { kind: 'said', number: 1 });
    await control({ kind: 'pause', isPaused: true });
    let open = () => {};
    t.connecting = new Promise((resolve) => {
      open = resolve;
    });
    t.log.length = 0;
    loseStream();
    await settle();
    const opening = [
      { kind: 'say', text: 'Two.', number: 2 },
      { kind: 'pause', isPaused: true },
    ];
    expect(told()).toEqual(opening);
    await control({ kind: 'instruct', text: 'Be kind.' });
    await control({ kind: 'pause', isPaused: false });
    await expect(say('Three.')).rejects.toMatchObject({ code: 'engine_unavailable' });
    expect(told()).toEqual(opening);
    open();
    await settle();
    expect(told()).toEqual([
      ...opening,
      { kind: 'instruct', text: 'Be kind.', number: 3 },
      { kind: 'pause', isPaused: false },
    ]);
  });

  test('is told a takeover, and no words of before it', async () => {
    await answerCall();
    await say('One.');
    takeover('joined');
    loseStream();
    await settle();
    const takenOver = { kind: 'takeover', isTakenOver: true };
    expect(told()).toEqual([{ kind: 'say', text: 'One.', number: 1 }, takenOver, takenOver]);
    takeover('left');
    expect(told().at(-1)).toEqual({ kind: 'takeover', isTakenOver: false });
  });
});

test('At most 20 texts wait to be said', async () => {
  await answerCall();
  for (let index = 1; index <= 20; index += 1) await control({ kind: 'say', text: `${index}` });
  const more = { kind: 'say', text: 'one more' } as const;
  expect(await codeOf({ name: 'control_agent', argument: more })).toBe('say_queue_full');
  leg().mediaEvents.emit('command', { kind: 'said', number: 1 });
  await control(more);
  expect(told()).toHaveLength(21);
});
