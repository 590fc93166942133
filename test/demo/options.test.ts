import { expect, test } from 'vitest';
import { readOptions } from '../../src/demo/options.ts';
import type { WebhookReceiver } from '../../src/demo/receiver.ts';
import { showResults } from '../../src/demo/results.ts';
import { createScreen } from '../../src/demo/screen.ts';
import { demoConfig } from '../../src/demo/settings.ts';
import type { DemoProject } from '../../src/demo/setUp.ts';
import { unused } from '../support/unused.ts';

const trunk = ['--trunk-host', 'sip.example.com', '--from', '0223456789'];

test('The default is a simulated call with offline models', () => {
  expect(readOptions([], {})).toEqual({
    useOpenAi: false,
    isScripted: false,
    test: undefined,
    call: undefined,
    keep: false,
    stay: false,
    showsConsole: false,
  });
  expect(readOptions(['--help'], {})).toBeUndefined();
});

test('A real call takes its trunk from the command line and the environment', () => {
  const toNumber = '+886912345678';
  const plain = { host: 'sip.example.com', port: 5060, transport: 'udp', register: false };
  expect(readOptions(['--call', '0912345678', ...trunk], {})?.call).toEqual({
    toNumber,
    fromNumber: '+886223456789',
    trunk: plain,
  });
  const environment = {
    DEMO_TRUNK_HOST: 'sip.example.com',
    DEMO_TRUNK_TRANSPORT: 'tls',
    DEMO_TRUNK_USERNAME: 'luna',
    DEMO_TRUNK_PASSWORD: 'secret',
    DEMO_FROM_NUMBER: '+886223456789',
  };
  expect(readOptions(['--call', toNumber, '--trunk-register'], environment)?.call?.trunk).toEqual({
    ...plain,
    port: 5061,
    transport: 'tls',
    username: 'luna',
    password: 'secret',
    register: true,
  });
  expect(readOptions(['--call', toNumber, '--trunk-port', '5070'], environment)?.call?.trunk.port).toBe(5070);
});

test('--openai accepts a key or a base URL', () => {
  expect(readOptions(['--openai'], { OPENAI_API_KEY: 'sk' })?.useOpenAi).toBe(true);
  expect(readOptions(['--openai'], { OPENAI_BASE_URL: 'http://127.0.0.1:1' })?.useOpenAi).toBe(true);
});

test('--test takes an agent, and --phone its cases by phone', () => {
  expect(readOptions(['--test'], {})?.test).toEqual({ agent: 'restaurant', suite: 'suite' });
  expect(readOptions(['--test', 'clinic', '--phone'], {})?.test).toEqual({ agent: 'clinic', suite: 'phone' });
});

test.each<[string[], string]>([
  [['--test', 'bakery'], 'restaurant, clinic, order-line'],
  [['--test', 'clinic', 'restaurant'], 'one agent'],
  [['--test', '--speech', 'scripted'], 'leave out --call'],
  [['--phone'], '--phone is for --test'],
  [['--openai'], 'OPENAI_API_KEY'],
  [['--speech', 'real'], '--speech must be scripted'],
  [['--speech', 'scripted', '--openai'], '--speech scripted is a simulated call'],
  [['--speech', 'scripted', '--call', '0912345678', ...trunk], '--speech scripted is a simulated call'],
  [['--louder'], '--louder'],
  [['0912345678'], '0912345678'],
  [trunk, '--trunk-host is for a call over a real trunk: add --call'],
  [['--from', '0223456789'], '--from'],
  [['--call', '0912345678'], '--trunk-host'],
  [['--call', 'Ada', ...trunk], '--call requires a number'],
  [['--call', '0912345678', '--trunk-host', 'sip.example.com'], '--from requires a number'],
  [['--call', '0912345678', ...trunk, '--trunk-port', '0'], '--trunk-port'],
  [['--call', '0912345678', ...trunk, '--trunk-port', 'x'], '--trunk-port'],
  [['--call', '0912345678', ...trunk, '--trunk-transport', 'sctp'], '--trunk-transport'],
  [['--call', '0912345678', ...trunk, '--trunk-register'], '--trunk-username'],
  [['--call', '0912345678', ...trunk, '--trunk-password', 'p'], '--trunk-username'],
])('%j is rejected, and %s named', (args, named) => {
  expect(() => readOptions(args, { OPENAI_API_KEY: args.includes('scripted') ? 'sk' : ' ' })).toThrow(named);
});

test('The settings of a real call have the address towards its trunk, and scripted vendors those of the vendors', async () => {
  const service = { folder: '/tmp', adminToken: 'the-admin-token-of-the-demo' };
  const call = readOptions(['--call', '0912345678', ...trunk, '--trunk-host', '127.0.0.1'], {})?.call;
  const real = await demoConfig({ useOpenAi: false, call }, { OPENAI_API_KEY: 'sk' }, service);
  expect(real).toMatchObject({ SIP_HOST: '127.0.0.1', CHAT_PROVIDER: 'local', STT_PROVIDER: 'local' });
  const vendorsUrl = 'http://127.0.0.1:9';
  const scripted = { useOpenAi: false, call: undefined };
  expect(await demoConfig(scripted, {}, { ...service, vendorsUrl })).toMatchObject({
    OPENAI_BASE_URL: `${vendorsUrl}/v1`,
    CUSTOM_STT_BASE_URL: vendorsUrl,
    CUSTOM_TTS_BASE_URL: vendorsUrl,
    EMBEDDING_PROVIDER: 'local',
  });
});

test('A call that was not completed fails the demo with its reason', async () => {
  const call = { status: 'failed', endReason: 'unreachable', sip: null, durationMs: null };
  const history = { messages: [], call: { ...call, mediaFigures: null, recording: null } };
  const shown = showResults({
    history,
    receiver: unused<WebhookReceiver>('receiver', { events: [], refused: [] }),
    project: unused<DemoProject>('project', {
      api: { request: () => Promise.reject(), download: () => Promise.reject() },
    }),
    screen: createScreen({ write: () => undefined, hasColour: false }),
    folder: '/nowhere',
  });
  await expect(shown).rejects.toThrow('The call was not completed: failed, unreachable.');
});
