import { expect, test } from 'vitest';
import { readArguments } from '../../sip/cli.ts';

test('Arguments are read, and the others have defaults', () => {
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
  [['--secret', 's', '--host', 'here'], '--host must be an IP address, not "here"'],
  [
    ['--secret', 's', '--public-address', 'a b'],
    '--public-address must be an IP address or a host name, not "a b"',
  ],
  [['--secret', 's', '--trusted', '10.0.0.1,x'], '--trusted: trusted source "x" is not an address'],
  [
    ['--secret', 's', '--trusted', '10.0.0.0/33'],
    '--trusted: trusted source "10.0.0.0/33" is not an address',
  ],
  [['--secret', 's', '--tls-port', '5061'], '--tls-port, --tls-cert and --tls-key belong together'],
  [
    ['--secret', 's', '--tls-cert', 'package.json', '--tls-key', 'package.json'],
    '--tls-cert, --tls-key and --tls-ca must be matching PEM files',
  ],
])('%j is a usage error', (args, message) => {
  expect(() => readArguments(args, {})).toThrow(message);
});
