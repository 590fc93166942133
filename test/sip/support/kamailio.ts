import { reservePort } from '../../support/ports.ts';
import { type Program, startProgram } from './program.ts';
import { waitUntilBound } from './sipp.ts';

export interface Kamailio extends Program {
  readonly port: number;
}

const CORE = (port: number) => `#!KAMAILIO
debug=1
log_stderror=yes
children=1
listen=udp:127.0.0.1:${port}
listen=tcp:127.0.0.1:${port}
auto_aliases=no
loadmodule "tm.so"
loadmodule "sl.so"
loadmodule "pv.so"
loadmodule "textops.so"
loadmodule "siputils.so"
`;

/** A carrier that requires digest and record-routes. Every password is "secret". */
const CARRIER = `
loadmodule "rr.so"
loadmodule "maxfwd.so"
loadmodule "usrloc.so"
loadmodule "registrar.so"
loadmodule "auth.so"
modparam("usrloc", "db_mode", 0)
request_route {
  if (!mf_process_maxfwd_header("10")) { sl_send_reply("483", "Too Many Hops"); exit; }
  if (is_method("CANCEL")) { if (t_check_trans()) t_relay(); exit; }
  if (has_totag()) {
    if (loose_route()) { t_relay(); exit; }
    if (is_method("ACK")) { if (t_check_trans()) t_relay(); exit; }
    sl_send_reply("404", "Not Here");
    exit;
  }
  if (is_method("REGISTER")) {
    if (!pv_www_authenticate("carrier.test", "secret", "0")) { www_challenge("carrier.test", "1"); exit; }
    save("location");
    exit;
  }
  if (!pv_proxy_authenticate("carrier.test", "secret", "0")) { proxy_challenge("carrier.test", "1"); exit; }
  consume_credentials();
  record_route();
  if (!lookup("location")) { sl_send_reply("404", "Not Found"); exit; }
  t_relay();
}
`;

/** Answers every INVITE and BYE, without dialogs. */
const ANSWERER = `
request_route {
  if (is_method("ACK")) { t_check_trans(); exit; }
  if (!t_newtran()) exit;
  if (is_method("INVITE")) {
    t_reply("180", "Ringing");
    append_to_reply("Contact: <sip:app@$Ri:$Rp>\\r\\n");
    set_reply_body("v=0\\r\\no=- 1 1 IN IP4 127.0.0.1\\r\\ns=-\\r\\nc=IN IP4 127.0.0.1\\r\\nt=0 0\\r\\nm=audio 40000 RTP/AVP 0\\r\\n", "application/sdp");
  }
  t_reply("200", "OK");
}
`;

/** Starts Kamailio on a free port. */
export async function startKamailio(as: 'carrier' | 'answerer'): Promise<Kamailio> {
  const port = await reservePort();
  const file = CORE(port) + (as === 'carrier' ? CARRIER : ANSWERER);
  const program = await startProgram('kamailio', { 'kamailio.cfg': file }, (folder) => [
    ...['-f', `${folder}/kamailio.cfg`, '-DD', '-E', '-Y', folder, '-w', folder, '-m', '128', '-M', '8'],
  ]);
  try {
    await waitUntilBound(port);
  } catch (error) {
    await program.close();
    throw new Error(`Kamailio did not start: ${program.output}`, { cause: error });
  }
  return {
    pid: program.pid,
    port,
    get output() {
      return program.output;
    },
    close: () => program.close(),
  };
}
