import { afterAll, beforeAll } from 'vitest';

import { type GatewayOptions, sharedGateway, type TestGateway } from '../../../support/gateway.ts';
import { reservePort } from '../../../support/ports.ts';
import { type Line, type LineOptions, makeLine } from './line.ts';
import { receiveWebhooks, type WebhookReceiver } from './webhooks.ts';

/** The whole product in this process, and a webhook receiver. */
export interface Installation {
  readonly gateway: TestGateway;
  /** Port of its SIP server, UDP and TCP. */
  readonly sipPort: number;
  readonly webhooks: WebhookReceiver;
  makeLine(options: LineOptions): Promise<Line>;
  /** Runs this after the tests of the file, for what concurrent tests opened. */
  closeAfterTests(close: () => unknown): void;
}

/** One installation for all tests of a file; it must leave nothing behind. */
export async function phoneInstallation(env: GatewayOptions['env'] = {}): Promise<() => Installation> {
  let webhooks: WebhookReceiver | undefined;
  const closers: (() => unknown)[] = [];
  const sipPort = await reservePort();
  beforeAll(async () => {
    webhooks = await receiveWebhooks();
  });
  afterAll(() => webhooks?.close());
  const gateway = sharedGateway({
    env: {
      ROLES: 'api,worker,voice,media',
      SIP_PORT: String(sipPort),
      MEDIA_WORKERS: '1',
      ALLOW_INSECURE_WEBHOOKS: 'true',
      ...env,
    },
  });
  afterAll(async () => {
    await Promise.all(closers.map((close) => close()));
  });
  return () => {
    if (!webhooks) throw new Error('the webhook receiver runs only during tests');
    const receiver = webhooks;
    return {
      gateway: gateway(),
      sipPort,
      webhooks: receiver,
      makeLine: (options) => makeLine(gateway(), receiver, options),
      closeAfterTests: (close) => void closers.push(close),
    };
  };
}
