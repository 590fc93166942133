import { expect, test } from 'vitest';
import { eventsOf, GREETING, greeted, nodeWith, simulatedCall, soundMs } from '../support/simulatedCall.ts';

const withTool = (name: string, args: object = {}) => ({
  text: 'Goodbye then.',
  calls: [{ name, arguments: args }],
});

test('end_call hangs up after the last word', async () => {
  const call = simulatedCall({
    answer: (index) => [GREETING, withTool('end_call')][index] ?? {},
    pathway: nodeWith({ tools: ['end_call'] }),
  });
  await greeted(call);
  await call.say('That was all.', 600);
  await call.stream.until(() => call.stream.commands.length > 0);
  expect(call.stream.commands).toEqual([{ kind: 'hangup' }]);
  expect(soundMs(call.stream.agentAudio())).toBeCloseTo(9 * 300, -2);
  await call.say('Wait, one more thing.', 900);
  await call.stream.advance(2000);
  expect(call.model.requests).toHaveLength(2);
  await call.stream.hangUp();
  expect((await call.report).outcome).toBe('hung_up');
  expect(call.memory.endings[0]?.reason).toBe('end_call_tool');
});

test('transfer_call transfers the call after the last word', async () => {
  const call = simulatedCall({
    answer: (index) => [GREETING, withTool('transfer_call', { to: '+886212345678' })][index] ?? {},
    pathway: nodeWith({ tools: ['transfer_call'] }),
  });
  await greeted(call);
  await call.say('A person please.', 600);
  await call.agentSpeaks();
  expect(call.stream.commands).toEqual([]);
  await call.stream.until(() => call.stream.commands.length > 0);
  await call.stream.advance(20);
  expect(call.isAgentSpeaking()).toBe(false);
  expect(call.stream.commands).toEqual([{ kind: 'transfer', to: '+886212345678' }]);
  expect(eventsOf(call, 'transfer').length).toBe(1);
  await call.stream.hangUp();
  expect((await call.report).outcome).toBe('transferred');
});

test('A transfer without a status leads to the apology after 45 s', async () => {
  const call = simulatedCall({
    answer: (index) => [GREETING, withTool('transfer_call', { to: '+886212345678' })][index] ?? {},
    pathway: nodeWith({ tools: ['transfer_call'] }),
  });
  await greeted(call);
  await call.say('A person please.', 600);
  await call.stream.until(() => call.stream.commands.length > 0);
  await call.say('Hello? Anybody?', 2000);
  await call.stream.advance(40_000);
  expect(call.model.requests.length).toBe(2);
  await call.stream.until(() => call.stream.commands.length > 1);
  expect(call.voice.texts.join(' ')).toContain('something is not working');
  expect(call.stream.commands.at(-1)).toEqual({ kind: 'hangup', reason: 'error' });
  await call.stream.hangUp();
  expect((await call.report).outcome).toBe('failed');
});

test('A failed transfer returns the call to the agent, who says so', async () => {
  const call = simulatedCall({
    answer: (index) => [GREETING, withTool('transfer_call', { to: '+886212345678' })][index] ?? GREETING,
    pathway: nodeWith({ tools: ['transfer_call'] }),
  });
  await greeted(call);
  await call.say('A person please.', 600);
  await call.stream.until(() => call.stream.commands.length > 0);
  call.stream.reportTransfer({ status: 'begun', to: '+886212345678' });
  // Phones may ring for long.
  await call.stream.advance(60_000);
  expect(call.isAgentSpeaking()).toBe(false);
  const reason = 'busy: 486 Busy Here';
  call.stream.reportTransfer({ status: 'failed', to: '+886212345678', outcome: 'busy', reason });
  await call.agentSpeaks();
  await call.agentFallsSilent();
  expect(call.voice.texts.join(' ')).toContain('could not reach anyone');
  await call.say('Then tell me the hours.', 600);
  await greeted(call);
  const [request] = call.model.requests.slice(-1);
  expect(JSON.stringify(request?.messages)).toContain('The transfer to +886212345678 failed');
  expect(eventsOf(call, 'tool_result').at(-1)).toEqual({
    name: 'transfer_call',
    ok: false,
    result: 'busy: 486 Busy Here',
    to: '+886212345678',
    outcome: 'busy',
  });
  await call.stream.hangUp();
  expect((await call.report).outcome).toBe('closed');
});

test('A failed transfer of a transfer node follows its failure edge', async () => {
  const call = simulatedCall({
    answer: () => ({}),
    pathway: {
      nodes: [
        { id: 'start', type: 'start', data: { title: 'Start', prompt: '' } },
        { id: 'desk', type: 'transfer', data: { title: 'Desk', prompt: '', to: '+886212345678' } },
        { id: 'sorry', type: 'say', data: { title: 'Sorry', prompt: 'They are all busy. Goodbye.' } },
        { id: 'end', type: 'end', data: { title: 'End' } },
      ],
      edges: [
        { id: 'e0', source: 'start', target: 'desk' },
        {
          id: 'e1',
          source: 'desk',
          target: 'sorry',
          data: { condition: { event: 'tool_result', ok: false } },
        },
        { id: 'e2', source: 'sorry', target: 'end' },
      ],
    },
  });
  await call.stream.until(() => call.stream.commands.length > 0);
  call.stream.reportTransfer({ status: 'begun', to: '+886212345678' });
  call.stream.reportTransfer({ status: 'failed', to: '+886212345678', reason: 'no_answer' });
  await call.stream.until(() => call.stream.commands.length > 1);
  expect(call.voice.texts).toEqual(['They are all busy.', 'Goodbye.']);
  expect(call.stream.commands.at(-1)).toEqual({ kind: 'hangup' });
  await call.hangUp();
});

test('A caller who waits for a transfer hears how far it is, and the agent takes no turn', async () => {
  const call = simulatedCall({ answer: () => GREETING });
  await greeted(call);
  const to = '+886212345678';
  call.stream.reportTransfer({ status: 'begun', to });
  call.stream.reportTransfer({ status: 'waiting', to });
  await call.agentSpeaks();
  await call.agentFallsSilent();
  call.stream.reportTransfer({ status: 'answered', to });
  await call.agentSpeaks();
  await call.agentFallsSilent();
  expect(call.voice.texts.join(' ')).toMatch(/still trying.*has answered/);
  await call.say('Hello? Who is there?', 1000);
  await call.stream.advance(5000);
  expect([call.isAgentSpeaking(), call.model.requests.length]).toEqual([false, 1]);
  await call.stream.hangUp();
  expect((await call.report).outcome).toBe('transferred');
});

test('A transfer over the API stops the agent within a word', async () => {
  const call = simulatedCall({ answer: () => GREETING });
  await call.agentSpeaks();
  call.stream.reportTransfer({ status: 'begun', to: '+886212345678' });
  await call.stream.advance(40);
  expect(call.isAgentSpeaking()).toBe(false);
  await call.say('Hello? Who is there?', 1000);
  await call.stream.advance(5000);
  expect([call.isAgentSpeaking(), call.model.requests.length]).toEqual([false, 1]);
  expect(await call.hangUp()).toMatchObject({ outcome: 'transferred', interruptions: 0 });
});

test('A session that was ended over the API makes the agent hang up', async () => {
  const call = simulatedCall({ answer: () => GREETING });
  await greeted(call);
  await call.say('Who are you?', 600);
  await greeted(call);
  await call.memory.engine.end('project-1', 's', 'api_end');
  await call.say('Are you there?', 600);
  await call.stream.until(() => call.stream.commands.length > 0);
  expect(call.stream.commands).toEqual([{ kind: 'hangup' }]);
  expect([call.memory.sessions.size, call.model.requests.length]).toEqual([0, 2]);
  await call.stream.hangUp();
  expect((await call.report).outcome).toBe('hung_up');
});

test('A stream without audio for 30 s is closed', async () => {
  const call = simulatedCall({ answer: () => GREETING });
  await greeted(call);
  call.clock.advance(29_000);
  expect(call.stream.isClosed()).toBe(false);
  call.clock.advance(2000);
  expect(call.stream.isClosed()).toBe(true);
  expect((await call.report).outcome).toBe('closed');
  expect(call.clock.pendingTimers()).toBe(0);
});

test('A stream that the peer keeps open after the hang-up is closed', async () => {
  const call = simulatedCall({
    answer: () => withTool('end_call'),
    pathway: nodeWith({ tools: ['end_call'] }),
  });
  await call.stream.until(() => call.stream.isClosed(), 20_000);
  expect((await call.report).outcome).toBe('hung_up');
});
