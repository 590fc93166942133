/** A drachtio-srf application in a process of its own, for `bench/sip.ts`: rings and answers every call. */
import { SDP } from '../../test/sip/support/phone.ts';
import { newApp } from '../../test/sip/support/srf.ts';

const app = newApp();
app.on('connect', () => process.send?.('connected'));
app.invite((req, res) => {
  res.send(180);
  // SIPp counts a caller that leaves before the ACK.
  app.createUAS(req, res, { localSdp: SDP }).catch(() => undefined);
});
app.connect({ host: '127.0.0.1', port: Number(process.argv[2]), secret: 'bench' });
process.on('message', () => {
  app.disconnect();
  process.disconnect();
});
