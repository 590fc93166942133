import { expect, test } from 'vitest';
import { readArguments } from '../../sip/cli.ts';

test('what is given is taken, the rest has defaults', () => {
  const options = readArguments(
    [
      '--port',
      '5070',
      '--control-port',
      '0',
      '--public-address',
      '198.51.100.7',
      '--trusted',
      '192.0.2.1,192.0.2.0/24',
    ],
    { CALLWAY_SIP_SECRET: 'from the environment' },
  );
  expect(options).toMatchObject({
    host: '127.0.0.1',
    port: 5070,
    publicAddress: '198.51.100.7',
    control: { host: '127.0.0.1', port: 0, secret: 'from the environment' },
    trusted: ['192.0.2.1', '192.0.2.0/24'],
  });
});

test.each([
  [[], '--secret'],
  [['--secret', 's', '--port', '70000'], '--port must be 0 to 65535, not "70000"'],
  [['--secret', 's', '--bogus'], '--bogus'],
])('%j is refused', (args, message) => {
  expect(() => readArguments(args, {})).toThrow(message);
});
