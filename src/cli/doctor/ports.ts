import { sipPorts, type Transport, type TryPort } from '../../app/node/freePorts.ts';
import type { Config } from '../../app/settings/config.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** Number of ports of the range that are tried. */
const RTP_SAMPLE = 50;

type Settings = Pick<
  Config,
  | 'HOST'
  | 'PORT'
  | 'SIP_HOST'
  | 'SIP_PORT'
  | 'SIP_TLS_PORT'
  | 'RTP_PORT_MIN'
  | 'RTP_PORT_MAX'
  | 'DRACHTIO_URL'
>;

/** Checks that the service's ports are free. Only useful while the service does not run. */
export async function checkPorts(config: Settings, tryPort: TryPort): Promise<Finding[]> {
  return await Promise.all([
    checkPort(tryPort, 'PORT', 'tcp', config.HOST, config.PORT),
    ...sipPorts(config).map(([setting, transport, port]) =>
      checkPort(tryPort, setting, transport, config.SIP_HOST, port),
    ),
    checkRtpPorts(config, tryPort),
  ]);
}

async function checkPort(
  tryPort: TryPort,
  setting: string,
  transport: Transport,
  host: string,
  port: number,
): Promise<Finding> {
  const name = `${setting} ${transport}`;
  if (port === 0) return ok(name, 'any free port');
  const code = await tryPort(transport, host, port);
  if (code === undefined) return ok(name, `${host}:${port} is free`);
  return fail(name, `${host}:${port} cannot be bound (${code})`, remedyFor(code, setting));
}

async function checkRtpPorts(config: Settings, tryPort: TryPort): Promise<Finding> {
  const { RTP_PORT_MIN: first, RTP_PORT_MAX: last } = config;
  const name = 'RTP ports';
  const count = Math.min(RTP_SAMPLE, last - first + 1);
  const ports = Array.from({ length: count }, (_, index) =>
    Math.round(first + (index * (last - first)) / Math.max(1, count - 1)),
  );
  const codes = await Promise.all(ports.map((port) => tryPort('udp', '0.0.0.0', port)));
  const taken = codes.filter((code) => code !== undefined).length;
  const range = `${first} to ${last}`;
  if (taken === 0) return ok(name, `${range}: ${count} tried, all free`);
  const message = `${range}: ${taken} of ${count} tried cannot be bound`;
  const remedy = 'Choose another range with RTP_PORT_MIN and RTP_PORT_MAX, outside of ip_local_port_range.';
  return taken === count ? fail(name, message, remedy) : warn(name, message, remedy);
}

function remedyFor(code: string, setting: string): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Stop the process that uses the port, or set ${setting} to another one.`;
    case 'EACCES':
      return `Ports below 1024 need additional permissions; set ${setting} to a higher one.`;
    case 'EADDRNOTAVAIL':
      return `This machine has no such address: correct ${setting === 'PORT' ? 'HOST' : 'SIP_HOST'}.`;
    default:
      return `Set ${setting} to another port.`;
  }
}
