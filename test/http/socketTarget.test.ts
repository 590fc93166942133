import { expect, test } from 'vitest';

import { checkSocketTarget, checkTcpTarget } from '../../src/http/target.ts';

const strict = { allowInsecureLoopback: false };
const lenient = { allowInsecureLoopback: true };

test.each([
  ['wss://bot.example.com/audio?key=1', strict, undefined],
  ['WSS://bot.example.com/', strict, undefined],
  ['ws://bot.example.com/', strict, 'target_not_https'],
  ['ws://bot.example.com/', lenient, 'target_not_https'],
  ['ws+unix:/tmp/voice.sock:/x', lenient, 'target_not_https'],
  ['ws+unix://127.0.0.1/tmp/voice.sock:/x', lenient, 'target_not_https'],
  ['https://bot.example.com/', strict, 'target_not_https'],
  ['ws://127.0.0.1:8080/', strict, 'target_not_https'],
  ['ws://127.0.0.1:8080/', lenient, undefined],
  ['wss://localhost/', lenient, undefined],
  ['wss://127.0.0.1/', strict, 'target_private_address'],
  ['wss://10.0.0.1/', lenient, 'target_private_address'],
  ['wss://[::1]/', strict, 'target_private_address'],
  ['wss://user:pw@bot.example.com/', strict, 'target_has_credentials'],
  ['wss://bot.example.com/{{ a }}', strict, 'target_invalid_url'],
  ['wss://', strict, 'target_invalid_url'],
  ['', strict, 'target_not_https'],
])('%s under %j: %s', (url, policy, code) => {
  expect(checkSocketTarget(url, policy)?.code).toBe(code);
});

test.each([
  ['tcp://bot.example.com:9092', undefined],
  ['tcp://[2606:4700::1]:9092', undefined],
  ['tcp://bot.example.com', 'target_invalid_url'],
  ['tcp://bot.example.com:0', 'target_invalid_url'],
  ['tcp://127.0.0.1:0', 'target_invalid_url'],
  ['tcp://bot.example.com:65536', 'target_invalid_url'],
  ['tcp://a bot:9092', 'target_invalid_url'],
  ['tcp://1.2.3.4.5:9092', 'target_invalid_url'],
  ['tcp://bot.example.com:9092/path', 'target_invalid_url'],
  ['tcp://127.0.0.1:9092', 'target_private_address'],
])('%s: %s', (url, code) => {
  expect(checkTcpTarget(url, strict)?.code).toBe(code);
});

test('the message names the right scheme', () => {
  expect(checkSocketTarget('http://example.com/', strict)?.message).toBe('the URL must begin with wss://');
  expect(checkSocketTarget('ws://example.com/', lenient)?.message).toContain(
    'plain ws is allowed for loopback',
  );
});
