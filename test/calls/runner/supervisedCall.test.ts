import { describe, expect, test } from 'vitest';
import type { SupervisionRequest } from '../../../src/calls/runner/supervisedCall.ts';
import { answerCall, CALL, END, leg, settle, t, transfer, trunk, useRunner } from './support/runnerRig.ts';

useRunner();

const perform = (request: SupervisionRequest) => t.runner.perform('call', request);
const codeOf = async (request: SupervisionRequest) =>
  await perform(request)?.then(
    () => undefined,
    ({ code }) => code as string,
  );
/** The caller is connected to another person by a second leg. */
async function bridge(): Promise<void> {
  void transfer('sip:second');
  await settle();
  leg(1).legEvents.emit('answered', { atMs: 0 });
  await settle();
  t.log.length = 0;
}

describe('A supervised call', () => {
  test('tells the agent, and its history, what a supervisor says and asks', async () => {
    await answerCall();
    await perform({ name: 'say', argument: { text: 'Hello.' } });
    await perform({ name: 'instruct', argument: { text: 'Be brief.' } });
    expect(await perform({ name: 'pause_agent', argument: { isPaused: true } })).toEqual({
      agentPaused: true,
      recordingPaused: false,
      supervisors: 0,
    });
    const told = t.log.filter((entry) => String(entry).startsWith('control'));
    expect(told).toEqual([
      ['control', { kind: 'say', text: 'Hello.' }],
      ['control', { kind: 'instruct', text: 'Be brief.' }],
      ['control', { kind: 'pause', isPaused: true }],
    ]);
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
    leg().mediaEvents.emit('supervisor', { ...change, status: 'joined' });
    await settle();
    expect(t.stored.supervision?.supervisors).toBe(1);
    leg().mediaEvents.emit('supervisor', { ...change, status: 'left' });
    await settle();
    expect(t.stored.supervision?.supervisors).toBe(0);
    expect(t.changeEvents).toMatchObject([
      { type: 'supervision', data: { action: 'joined', mode: 'listen' } },
      { type: 'supervision', data: { action: 'left', mode: 'listen' } },
    ]);
  });

  test('refuses what its moment does not allow', async () => {
    t.runner.dial(CALL, [trunk('a')]);
    const say = { name: 'say', argument: { text: 'Hello.' } } as const;
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
    expect(await codeOf({ name: 'say', argument: { text: 'Hello.' } })).toBe('agent_not_in_call');
    expect(await codeOf({ name: 'pause_agent', argument: { isPaused: true } })).toBe('agent_not_in_call');
  });

  test('without a recording has none to pause, and no words for a bot of the project', async () => {
    const settings = {
      ...CALL.settings,
      record: false,
      media: { url: 'wss://bot.example/', dialect: 'callway' } as const,
    };
    t.runner.dial({ ...CALL, settings }, [trunk('a')]);
    await settle();
    leg().legEvents.emit('answered', { atMs: 0 });
    await settle();
    expect(await codeOf({ name: 'pause_recording', argument: { isPaused: true } })).toBe('call_not_recorded');
    expect(await codeOf({ name: 'instruct', argument: { text: 'Be brief.' } })).toBe('agent_not_in_call');
    expect(await codeOf({ name: 'pause_agent', argument: { isPaused: true } })).toBeUndefined();
  });

  test.each([
    ['hangs up', () => leg().mediaEvents.emit('command', { kind: 'hangup' })],
    ['leaves', () => leg().mediaEvents.emit('streamClosed', { how: 'stopped', code: 1000, reason: '' })],
  ])('goes on when the agent %s during a takeover, and ends with it', async (_what, leave) => {
    await answerCall();
    const change = { supervisorId: 'id', mode: 'takeover' } as const;
    leg().mediaEvents.emit('supervisor', { ...change, status: 'joined' });
    leave();
    await settle();
    expect(t.log).not.toContainEqual(['hangup', 'a']);
    leg().mediaEvents.emit('supervisor', { ...change, status: 'left' });
    await settle();
    expect(t.log).toContainEqual(['hangup', 'a']);
    leg().legEvents.emit('ended', END);
    await settle();
    expect(t.finished).toMatchObject([{ endReason: 'agent_hangup' }]);
  });
});
