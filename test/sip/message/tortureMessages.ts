/**
 * The messages of RFC 4475, rebuilt from what each section says about them, with what this server does about each.
 *
 * `parse`: `ok`, or the code of the error. `answer`: the final status that its sender gets over UDP from a server
 * whose application answers 200 to whatever it is shown; 0 for nothing at all.
 */
export interface TortureMessage {
  readonly section: string;
  /** The RFC's own name for it. */
  readonly file: string;
  /** What the RFC wants of whom it reaches. */
  readonly asks: string;
  readonly name: string;
  readonly text: string;
  readonly parse: string;
  readonly answer: number;
}

const SDP =
  'v=0\r\no=mhandley 29739 7272939 IN IP4 192.0.2.3\r\ns=-\r\nc=IN IP4 192.0.2.4\r\nt=0 0\r\nm=audio 49217 RTP/AVP 0\r\n';

/** A plain request with the headers that every one has, `changes` put over them; `null` takes one out. */
function plain(
  method: string,
  changes: Record<string, string | null> = {},
  parts: { line?: string; extra?: string[]; body?: string } = {},
): string {
  plain.count += 1;
  const id = `${method}.${JSON.stringify([changes, parts]).length}.${plain.count}`;
  const headers: Record<string, string | null> = {
    To: '<sip:user@example.com>',
    From: '<sip:caller@example.net>;tag=323',
    'Max-Forwards': '70',
    'Call-ID': `${id.replace(/[^\w.]/g, '')}@example.net`,
    CSeq: `60 ${method}`,
    Via: `SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKkdjuw${plain.count}`,
    ...(method === 'INVITE' ? { Contact: '<sip:caller@host5.example.net>' } : {}),
    'Content-Length': String(parts.body?.length ?? 0),
    ...changes,
  };
  const lines = Object.entries(headers)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}: ${value}`);
  const start = parts.line ?? `${method} sip:user@example.com SIP/2.0`;
  return [start, ...lines, ...(parts.extra ?? []), '', parts.body ?? ''].join('\r\n');
}
plain.count = 0;

function response(line: string, changes: Record<string, string> = {}): string {
  return plain('INVITE', changes, { line });
}

const long = (word: string, times: number) => Array.from({ length: times }, () => word).join('');

export const tortureMessages: readonly TortureMessage[] = [
  {
    section: '3.1.1.1',
    file: 'wsinv',
    asks: 'well formed',
    name: 'a short torturous INVITE: folding, odd case, compact names, empty header, unknown parameters',
    text: [
      'INVITE sip:vivekg@chair-dnrc.example.com;unknownparam SIP/2.0',
      'TO :',
      ' sip:vivekg@chair-dnrc.example.com ;   tag    = 1918181833n',
      'from   : "J Rosenberg \\\\\\""       <sip:jdrosen@example.com>',
      '  ;',
      '  tag = 98asjd8',
      'MaX-fOrWaRdS: 0068',
      'Call-ID: wsinv.ndaksdj@192.0.2.1',
      'Content-Length   : 150',
      'cseq: 0009',
      '  INVITE',
      'Via  : SIP  /   2.0',
      ' /UDP',
      '    192.0.2.2;branch=390skdjuw',
      's :',
      'NewFangledHeader:   newfangled value',
      ' continued newfangled value',
      'UnknownHeaderWithUnusualValue: ;;,,;;,;',
      'Content-Type: application/sdp',
      'Route:',
      ' <sip:services.example.com;lr;unknownwith=value;unknown-no-value>',
      'v:  SIP  / 2.0  / TCP     spindle.example.com   ;',
      '  branch  =   z9hG4bK9ikj8  ,',
      ' SIP  /    2.0   / UDP  192.168.255.111   ; branch=',
      ' z9hG4bK30239',
      'm:"Quoted string \\"\\"" <sip:jdrosen@example.com> ; newparam =',
      '      newvalue ;',
      '  secondparam ; q = 0.33',
      '',
      SDP.padEnd(150, ' '),
    ].join('\r\n'),
    parse: 'ok',
    // Its To has a tag, and there is no such dialog.
    answer: 481,
  },
  {
    section: '3.1.1.2',
    file: 'intmeth',
    asks: 'well formed; 501 with Allow',
    name: 'every character that a method or header may contain',
    text: plain(
      "!interesting-Method0123456789_*+`.%indeed'~",
      {
        To: '"BEL:\x07 NUL:\\\x00 DEL:\\\x7f" <sip:1_unusual.URI~(to-be!sure)&isn\'t+it$/crazy?,/;;*@example.com>',
        From: "token1~` token2'+_ token3*%!.- <sip:mundane@example.com>;fromParam''~+*_!.-%=\"\xd1\x80\xd0\xb0\xd0\xb1\";tag=_token~1'+`*%!-.",
      },
      {
        line: "!interesting-Method0123456789_*+`.%indeed'~ sip:1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*:&it+has=1,weird!*pas$wo~d_too.(doesn't-it)@example.com SIP/2.0",
        extra: ["extensionHeader-!.%*+_`'~: \xef\xbb\xbf\xe5\xa4\xa7\xe5\x81\x9c\xe9\x9b\xbb"],
      },
    ),
    parse: 'ok',
    answer: 501,
  },
  {
    section: '3.1.1.3',
    file: 'esc01',
    asks: 'well formed',
    name: 'escapes where they are allowed',
    text: plain(
      'INVITE',
      { To: '<sip:%75se%72@example.com>', From: '<sip:I%20have%20spaces@example.net>;tag=938' },
      { line: 'INVITE sip:sips%3Auser%40example.com@example.net SIP/2.0' },
    ),
    parse: 'ok',
    answer: 200,
  },
  {
    section: '3.1.1.4',
    file: 'escnull',
    asks: 'well formed',
    name: 'escaped nulls in URIs',
    text: plain(
      'REGISTER',
      {
        To: '<sip:null-%00-null@example.com>',
        From: '<sip:null-%00-null@example.com>;tag=839923423',
        Contact: '<sip:%00@host5.example.com>',
      },
      { extra: ['Contact: <sip:%00%00@host5.example.com>'] },
    ),
    parse: 'ok',
    answer: 200,
  },
  {
    section: '3.1.1.5',
    file: 'esc02',
    asks: 'well formed; a method unknown',
    name: 'percent signs that are not escapes, in a method that is not REGISTER',
    text: plain('RE%47IST%45R', {
      Contact: '<sip:alias1@host1.example.com>, <sip:alias3@host3.example.com>',
    }),
    parse: 'ok',
    answer: 501,
  },
  {
    section: '3.1.1.6',
    file: 'lwsdisp',
    asks: 'well formed',
    name: 'no blank between display name and address',
    text: plain('OPTIONS', { From: 'caller<sip:caller@example.com>;tag=323' }),
    parse: 'ok',
    answer: 200,
  },
  {
    section: '3.1.1.7',
    file: 'longreq',
    asks: 'well formed',
    name: 'long values',
    text: plain(
      'INVITE',
      {
        To: `"I have a user name of ${long('extreme', 10)} proportion"<sip:user@example.com:6000;unknownparam1=very${long('long', 20)}value;longparam${long('name', 25)}=shortvalue;very${long('long', 25)}ParameterNameWithNoValue>`,
        From: `sip:${long('amazinglylongcallername', 5)}@example.net;tag=12${long('982', 50)}424;unknownheaderparam${long('name', 20)}=unknownheaderparam${long('value', 15)}`,
        'Call-ID': `longreq.one${long('really', 20)}longcallid`,
        [`Unknown-${long('Long', 20)}-Name`]: `unknown-${long('long', 20)}-value; unknown-${long('long', 20)}-parameter-name = unknown-${long('long', 20)}-parameter-value`,
      },
      { extra: Array.from({ length: 33 }, (_, hop) => `Via: SIP/2.0/TCP sip${33 - hop}.example.com`) },
    ),
    parse: 'ok',
    answer: 200,
  },
  {
    section: '3.1.1.8',
    file: 'dblreq',
    asks: 'the first request alone',
    name: 'another request after the end of the first in one datagram',
    text: `${plain('REGISTER')}${plain('INVITE')}`,
    parse: 'ok',
    answer: 200,
  },
  {
    section: '3.1.1.9',
    file: 'semiuri',
    asks: 'well formed',
    name: 'semicolons in the user part',
    text: plain('OPTIONS', {}, { line: 'OPTIONS sip:user;par=u%40example.net@example.com SIP/2.0' }),
    parse: 'ok',
    answer: 200,
  },
  {
    section: '3.1.1.10',
    file: 'transports',
    asks: 'well formed',
    name: 'transports of all kinds',
    text: plain(
      'OPTIONS',
      {},
      {
        extra: [
          'Via: SIP/2.0/SCTP t2.example.com;branch=z9hG4bKklasjdhf',
          'Via: SIP/2.0/TLS t3.example.com;branch=z9hG4bK2980unddj',
          'Via: SIP/2.0/UNKNOWN t4.example.com;branch=z9hG4bKasd0f3en',
          'Via: SIP/2.0/TCP t5.example.com;branch=z9hG4bK0a9idfnee',
        ],
      },
    ),
    parse: 'ok',
    answer: 200,
  },
  {
    section: '3.1.1.11',
    file: 'mpart01',
    asks: 'well formed',
    name: 'a multipart body with bytes of all kinds',
    text: plain(
      'MESSAGE',
      { 'Content-Type': 'multipart/mixed;boundary=7a9cbec02ceef655' },
      {
        body: '--7a9cbec02ceef655\r\nContent-Type: text/plain\r\n\r\nHello\r\n--7a9cbec02ceef655\r\nContent-Type: application/octet-stream\r\n\r\n0\x82\x01\x52\x06\x09*\x86H\x86\xf7\r\n--7a9cbec02ceef655--',
      },
    ),
    parse: 'ok',
    answer: 200,
  },
  {
    section: '3.1.1.12',
    file: 'unreason',
    asks: 'well formed',
    name: 'an unusual reason phrase',
    text: response(
      'SIP/2.0 200 = 2**3 * 5**2 \xd0\xbd\xd0\xbe \xd1\x81\xd1\x82\xd0\xbe - \xd0\xbf\xd1\x80\xd0\xbe\xd1\x81\xd1\x82\xd0\xbe\xd0\xb5',
    ),
    parse: 'ok',
    answer: 0,
  },
  {
    section: '3.1.1.13',
    file: 'noreason',
    asks: 'well formed',
    name: 'an empty reason phrase',
    text: response('SIP/2.0 100 '),
    parse: 'ok',
    answer: 0,
  },
  {
    section: '3.1.2.1',
    file: 'badinv01',
    asks: '400',
    name: 'too many separators',
    text: plain('INVITE', {
      Via: 'SIP/2.0/UDP 192.0.2.15;;,;,,',
      Contact: '"Joe" <sip:joe@example.org>;;;;',
    }),
    parse: 'ok',
    answer: 400,
  },
  {
    section: '3.1.2.2',
    file: 'clerr',
    asks: '400',
    name: 'a Content-Length beyond the end',
    text: plain('INVITE', { 'Content-Length': '9999' }, { body: SDP }),
    parse: 'incomplete',
    answer: 400,
  },
  {
    section: '3.1.2.3',
    file: 'ncl',
    asks: '400',
    name: 'a negative Content-Length',
    text: plain('INVITE', { 'Content-Length': '-999' }, { body: SDP }),
    parse: 'content_length',
    answer: 400,
  },
  {
    section: '3.1.2.4',
    file: 'scalar02',
    asks: '400',
    name: 'numbers out of range in a request',
    text: plain('REGISTER', {
      CSeq: '36893488147419103232 REGISTER',
      'Max-Forwards': '300',
      Expires: '10000000000000000000000000000000000',
      Contact: '<sip:user@host129.example.com>;expires=280297596632815',
    }),
    parse: 'ok',
    answer: 400,
  },
  {
    section: '3.1.2.5',
    file: 'scalarlg',
    asks: 'dropped',
    name: 'numbers out of range in a response',
    text: response('SIP/2.0 503 Service Unavailable', {
      CSeq: '9292394834772304023312 OPTIONS',
      'Retry-After': '949302838503028349304023988',
      Warning: '1812 overture "In Progress"',
    }),
    parse: 'ok',
    answer: 0,
  },
  {
    section: '3.1.2.6',
    file: 'quotbal',
    asks: '400',
    name: 'an unterminated quoted string',
    text: plain('INVITE', { To: '"Mr. J. User <sip:j.user@example.com>' }),
    parse: 'ok',
    answer: 200,
  },
  {
    section: '3.1.2.7',
    file: 'ltgtruri',
    asks: '400, or taken',
    name: 'a Request-URI in brackets',
    text: plain('INVITE', {}, { line: 'INVITE <sip:user@example.com> SIP/2.0' }),
    parse: 'ok',
    answer: 400,
  },
  {
    section: '3.1.2.8',
    file: 'lwsruri',
    asks: '400, or taken',
    name: 'blanks in the Request-URI',
    text: plain('INVITE', {}, { line: 'INVITE sip:user@example.com; lr SIP/2.0' }),
    parse: 'start_line',
    answer: 400,
  },
  {
    section: '3.1.2.9',
    file: 'lwsstart',
    asks: '400, or taken',
    name: 'two blanks between the parts of the request line',
    text: plain('INVITE', {}, { line: 'INVITE  sip:user@example.com  SIP/2.0' }),
    parse: 'start_line',
    answer: 400,
  },
  {
    section: '3.1.2.10',
    file: 'trws',
    asks: '400, or taken',
    name: 'blanks at the end of the request line',
    text: plain('OPTIONS', {}, { line: 'OPTIONS sip:remote-target@example.com SIP/2.0  ' }),
    parse: 'start_line',
    answer: 400,
  },
  {
    section: '3.1.2.11',
    file: 'escruri',
    asks: '400, or taken',
    name: 'headers in the Request-URI',
    text: plain('INVITE', {}, { line: 'INVITE sip:user@example.com?Route=%3Csip:example.com%3E SIP/2.0' }),
    parse: 'ok',
    answer: 400,
  },
  {
    section: '3.1.2.12',
    file: 'baddate',
    asks: '400, or taken',
    name: 'a Date that is not GMT',
    text: plain('INVITE', { Date: 'Fri, 01 Jan 2010 16:00:00 EST' }),
    parse: 'ok',
    answer: 200,
  },
  {
    section: '3.1.2.13',
    file: 'regbadct',
    asks: '400, or taken',
    name: 'a Contact without the brackets it needs',
    text: plain('REGISTER', { Contact: 'sip:user@example.com?Route=%3Csip:sip.example.com%3E' }),
    parse: 'ok',
    answer: 400,
  },
  {
    section: '3.1.2.14',
    file: 'badaspec',
    asks: '400, or taken',
    name: 'blanks inside the brackets',
    text: plain('OPTIONS', { To: '"Watson, Thomas" < sip:t.watson@example.org >' }),
    parse: 'ok',
    answer: 200,
  },
  {
    section: '3.1.2.15',
    file: 'baddn',
    asks: '400, or taken',
    name: 'a comma in a display name without quotes',
    text: plain('OPTIONS', { From: 'Bell, Alexander <sip:a.g.bell@example.com>;tag=43' }),
    parse: 'ok',
    answer: 200,
  },
  {
    section: '3.1.2.16',
    file: 'badvers',
    asks: '505',
    name: 'an unknown version',
    text: plain('OPTIONS', {}, { line: 'OPTIONS sip:t.watson@example.org SIP/7.0' }),
    parse: 'version',
    answer: 505,
  },
  {
    section: '3.1.2.17',
    file: 'mismatch01',
    asks: '400',
    name: 'CSeq names another method',
    text: plain('OPTIONS', { CSeq: '8 INVITE' }),
    parse: 'ok',
    answer: 400,
  },
  {
    section: '3.1.2.18',
    file: 'mismatch02',
    asks: '400, or 501',
    name: 'CSeq names another method than an unknown one',
    text: plain('NEWMETHOD', { CSeq: '8 INVITE' }),
    parse: 'ok',
    answer: 400,
  },
  {
    section: '3.1.2.19',
    file: 'bigcode',
    asks: 'dropped',
    name: 'an invalid status code',
    text: response('SIP/2.0 4294967301 better not break the receiver'),
    parse: 'start_line',
    answer: 0,
  },
  {
    section: '3.2.1',
    file: 'badbranch',
    asks: 'taken, matched as RFC 2543 does',
    name: 'a branch that is only the cookie',
    text: plain('OPTIONS', { Via: 'SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK' }),
    parse: 'ok',
    answer: 200,
  },
  {
    section: '3.3.1',
    file: 'insuf',
    asks: '400',
    name: 'no Call-ID, From or To',
    text: plain('INVITE', { 'Call-ID': null, From: null, To: null }),
    parse: 'ok',
    answer: 400,
  },
  {
    section: '3.3.2',
    file: 'unkscm',
    asks: '416',
    name: 'a Request-URI of an unknown scheme',
    text: plain('OPTIONS', {}, { line: 'OPTIONS nobodyKnowsThisScheme:totallyopaquecontent SIP/2.0' }),
    parse: 'ok',
    answer: 416,
  },
  {
    section: '3.3.3',
    file: 'novelsc',
    asks: '416',
    name: 'a Request-URI of a scheme that is not for SIP',
    text: plain('OPTIONS', {}, { line: 'OPTIONS soap.beep://192.0.2.103:3002 SIP/2.0' }),
    parse: 'ok',
    answer: 416,
  },
  // What such addresses mean is the application's business.
  {
    section: '3.3.4',
    file: 'unksm2',
    asks: 'well formed; 400 of a registrar',
    name: 'unknown URI schemes in headers',
    text: plain('REGISTER', {
      To: '<isbn:2983792873>',
      From: '<http://www.example.com>;tag=3234233',
      Contact: '<name:John_Smith>',
    }),
    parse: 'ok',
    answer: 200,
  },
  {
    section: '3.3.5',
    file: 'bext01',
    asks: '420',
    name: 'unsupported extensions',
    text: plain('OPTIONS', {
      Require: 'nothingSupportsThis, nothingSupportsThisEither',
      'Proxy-Require': 'noProxiesSupportThis, norDoAnyProxiesSupportThis',
    }),
    parse: 'ok',
    answer: 420,
  },
  // The application alone knows which bodies it understands.
  {
    section: '3.3.6',
    file: 'invut',
    asks: '415 of who does not know the type',
    name: 'a body of unknown type',
    text: plain(
      'INVITE',
      { 'Content-Type': 'application/unknownformat' },
      { body: '<audio><pcmu port="443"/></audio>' },
    ),
    parse: 'ok',
    answer: 200,
  },
  {
    section: '3.3.7',
    file: 'regaut01',
    asks: 'well formed; 401 of a registrar',
    name: 'an unknown authorization scheme',
    text: plain('REGISTER', { Authorization: 'NoOneKnowsThisScheme opaque-data=here' }),
    parse: 'ok',
    answer: 200,
  },
  {
    section: '3.3.8',
    file: 'multi01',
    asks: '400',
    name: 'headers that may occur only once, twice',
    text: plain(
      'INVITE',
      {},
      {
        extra: [
          'CSeq: 59 INVITE',
          'Call-ID: multi01.again',
          'From: <sip:other@example.net>;tag=9',
          'To: <sip:other@example.com>',
          'Max-Forwards: 5',
        ],
      },
    ),
    parse: 'ok',
    answer: 400,
  },
  {
    section: '3.3.9',
    file: 'mcl01',
    asks: '400',
    name: 'two Content-Lengths',
    text: plain(
      'OPTIONS',
      { 'Content-Length': '13' },
      { extra: ['Content-Length: 5'], body: 'There is no way to know how many octets' },
    ),
    parse: 'content_length',
    answer: 400,
  },
  {
    section: '3.3.10',
    file: 'bcast',
    asks: 'dropped',
    name: 'a response that would be forwarded to a broadcast address',
    text: response('SIP/2.0 200 OK', {
      Via: 'SIP/2.0/UDP 192.0.2.198;branch=z9hG4bK1324923, SIP/2.0/UDP 255.255.255.255;branch=z9hG4bK1saber23',
    }),
    parse: 'ok',
    answer: 0,
  },
  // For OPTIONS we are the end of the way, not a hop.
  {
    section: '3.3.11',
    file: 'zeromf',
    asks: '200 of whom it is for',
    name: 'Max-Forwards 0',
    text: plain('OPTIONS', { 'Max-Forwards': '0' }),
    parse: 'ok',
    answer: 200,
  },
  {
    section: '3.3.12',
    file: 'cparam01',
    asks: 'taken, the parameter is of the header',
    name: 'a Contact with a header parameter',
    text: plain('REGISTER', { Contact: 'sip:+19725552222@gw1.example.net;unknownparam' }),
    parse: 'ok',
    answer: 200,
  },
  {
    section: '3.3.13',
    file: 'cparam02',
    asks: 'taken, the parameter is of the URI',
    name: `a Contact whose URI has the parameter`,
    text: plain('REGISTER', { Contact: '<sip:+19725552222@gw1.example.net;unknownparam>' }),
    parse: 'ok',
    answer: 200,
  },
  {
    section: '3.3.14',
    file: 'regescrt',
    asks: 'taken',
    name: 'a Contact with an escaped header',
    text: plain('REGISTER', { Contact: '<sip:user@example.com?Route=%3Csip:sip.example.com%3E>' }),
    parse: 'ok',
    answer: 200,
  },
  {
    section: '3.3.15',
    file: 'sdp01',
    asks: '406, or taken',
    name: 'an Accept that cannot be satisfied',
    text: plain('INVITE', { Accept: 'text/nobodyKnowsThis' }),
    parse: 'ok',
    answer: 200,
  },
  // Without a Contact there would be no way to end the call; the 400 goes to port 5060, where a Via without port has it.
  {
    section: '3.4.1',
    file: 'inv2543',
    asks: 'understood',
    name: 'an INVITE of RFC 2543',
    text: plain('INVITE', {
      Via: 'SIP/2.0/UDP iftgw.example.com',
      From: '<sip:+13035551111@ift.client.example.net;user=phone>',
      To: 'sip:+16505552222@ss1.example.net;user=phone',
      'Max-Forwards': null,
      Contact: null,
      'Record-Route': '<sip:UserB@example.com;maddr=ss1.example.com>',
    }),
    parse: 'ok',
    answer: 0,
  },
];
