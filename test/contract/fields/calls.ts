import type { FieldTable } from './fieldTable.ts';

export const CALLS_FIELDS: readonly FieldTable[] = [
  {
    name: 'do-not-call list',
    places: [['/v1/projects/{projectId}/do-not-call'], ['/v1/do-not-call']],
    rows: {
      numbers:
        'app/callingRules.integration.test.ts › is added, found, listed and removed by keys of the project',
      reason:
        'app/callingRules.integration.test.ts › is added, found, listed and removed by keys of the project',
    },
  },
  {
    name: 'trunk',
    places: [['/v1/projects/{projectId}/trunks'], ['/v1/projects/{projectId}/trunks/{trunkId}']],
    rows: {
      name: 'app/calls.integration.test.ts › show no password and initially unknown health; changes are in the audit log',
      status: 'e2e/phone/signalling/trunkHealth.ts › registers, and unregisters when it becomes inactive',
      host: 'telephony/trunks/addressing.test.ts › The URI of %j is %s',
      port: 'telephony/trunks/addressing.test.ts › The URI of %j is %s',
      transport: 'telephony/trunks/addressing.test.ts › The URI of %j is %s',
      username:
        'e2e/phone/signalling/outcomes.ts › answers a digest challenge with the trunk’s password, which no trace shows',
      password:
        'e2e/phone/signalling/outcomes.ts › answers a digest challenge with the trunk’s password, which no trace shows',
      realm:
        'telephony/sip/authenticator.test.ts › Each realm is answered once, a stale nonce again, and earlier credentials are kept',
      fromDomain: 'telephony/trunks/addressing.test.ts › Our identity and Contact',
      outboundProxy: 'telephony/trunks/addressing.test.ts › The outbound proxy %s gives the route %s',
      register: 'e2e/phone/signalling/trunkHealth.ts › registers, and unregisters when it becomes inactive',
      registerExpires: 'telephony/trunks/registration.test.ts › Without an expiry of our Contact, %s is used',
      codecs:
        'telephony/sdp/session.test.ts › The trunk’s first common codec is chosen, with the payload types of the offer',
      dtmf: 'telephony/leg/inDialog/inDialogRequests.test.ts › Digits are sent as RFC 4733 events, else by INFO, whose rejection throws',
      srtp: 'telephony/sdp/session.test.ts › An offer that is %s is answered %s, which for us is %s',
      'media.latching': 'media/transport/sourceLatch.test.ts › takes only the signalled address when strict',
      transfer:
        'telephony/leg/inDialog/inDialogRequests.test.ts › A transfer succeeds by NOTIFY, and we hang up afterwards',
      maxChannels: 'e2e/phone/signalling/inbound.ts › on a trunk without a free channel gets 486',
      callsPerSecond: 'e2e/phone/signalling/outcomes.ts › calls start no faster than callsPerSecond',
      priority: 'calls/trunks/trunkSelection.test.ts › %s',
      numberFormat: 'telephony/trunks/addressing.test.ts › A number in local form is dialed %s as %s',
      responseTimeoutSeconds:
        'e2e/phone/signalling/outcomes.ts › ends after the trunk’s response timeout when the peer does not respond',
      optionsIntervalSeconds:
        'e2e/phone/signalling/trunkHealth.ts › whose host does not respond is not reachable',
      followRedirects:
        'telephony/leg/outbound.test.ts › A redirect is followed to the preferred Contact, if the trunk allows it',
      headers: 'telephony/leg/outbound.test.ts › The trunk’s headers are added',
      'headersToVariables[].header':
        'calls/trunks/trunkHeaders.test.ts › take the first header that has a value, cleaned and cut',
      'headersToVariables[].variable':
        'calls/trunks/trunkHeaders.test.ts › take the first header that has a value, cleaned and cut',
      'variablesToHeaders[].variable': 'calls/trunks/trunkHeaders.test.ts › carry %j as one line',
      'variablesToHeaders[].header': 'calls/trunks/trunkHeaders.test.ts › carry %j as one line',
      inboundCidrs: 'telephony/trunks/directory.test.ts › A call from %s belongs to %j',
    },
  },
  {
    name: 'phone number',
    places: [
      ['/v1/projects/{projectId}/phone-numbers'],
      ['/v1/projects/{projectId}/phone-numbers/{phoneNumberId}'],
    ],
    rows: {
      number: 'e2e/phone/signalling/inbound.ts › is greeted by the agent and sends all events',
      trunkIds: 'calls/trunks/trunkSelection.test.ts › %s',
      outboundStatus: 'calls/setup/acceptCall.test.ts › refuses %s',
      inboundEnabled: 'e2e/phone/signalling/inbound.ts › to %s gets 404',
      record: 'e2e/phone/signalling/inbound.ts › leaves no recording where %s',
      noiseSuppression:
        'calls/setup/acceptCall.test.ts › has the noise suppression of its number, which may leave it to the agent',
      'media.url': 'e2e/phone/signalling/inbound.ts › is connected to the number’s own bot',
      'media.dialect': 'e2e/phone/signalling/inbound.ts › is connected to the number’s own bot',
      'media.username':
        'streams/connectStream.test.ts › sends the headers, the credentials and Twilio’s signature to a user’s bot',
      'media.password':
        'streams/connectStream.test.ts › sends the headers, the credentials and Twilio’s signature to a user’s bot',
      'media.headers[].key':
        'streams/connectStream.test.ts › sends the headers, the credentials and Twilio’s signature to a user’s bot',
      'media.headers[].value':
        'streams/connectStream.test.ts › sends the headers, the credentials and Twilio’s signature to a user’s bot',
      startNodeId:
        'calls/setup/inboundCallHandler.test.ts › An inbound call that the agent rejects is rejected while it rings, with that status',
      variables:
        'calls/setup/inboundCallHandler.test.ts › An inbound call that the agent rejects is rejected while it rings, with that status',
    },
  },
  {
    name: 'number of the installation',
    places: [['/v1/numbers/{number}']],
    rows: {
      projectId:
        'app/numberOwnership.integration.test.ts › of a squatter goes to the project that the operator names',
      verified:
        'app/numberOwnership.integration.test.ts › is pending until the operator verifies it, and takes no calls before',
    },
  },
  {
    name: 'outbound call',
    places: [['/v1/calls/outbound'], ['/project/{projectId}/integration/phone/call/outbound']],
    rows: {
      projectId: 'app/calls.integration.test.ts › requires a key of the project in the body, with its scope',
      fromNumber: 'calls/setup/acceptCall.test.ts › locks the number, stores the call, and queues it',
      toNumber: 'calls/setup/acceptCall.test.ts › locks the number, stores the call, and queues it',
      dynamicVariables:
        'e2e/phone/signalling/whoIsCalling.ts › reaches the INVITE, the bot’s start message, the webhooks and the history',
      ringTimeoutSeconds: 'e2e/phone/signalling/outcomes.ts › is canceled after the ring timeout',
      maxDurationSeconds:
        'e2e/phone/signalling/outcomes.ts › ends at its maximum duration; without recording there is no recording event',
      record:
        'e2e/phone/signalling/outcomes.ts › ends at its maximum duration; without recording there is no recording event',
      'media.url': 'calls/setup/acceptCall.test.ts › takes the media target of the order, else of the number',
      'media.dialect':
        'calls/setup/acceptCall.test.ts › takes the media target of the order, else of the number',
      'media.username':
        'app/calls.integration.test.ts › keep the credentials of a bot sealed, and show none of them',
      'media.password':
        'app/calls.integration.test.ts › keep the credentials of a bot sealed, and show none of them',
      'media.headers[].key':
        'app/calls.integration.test.ts › keep the credentials of a bot sealed, and show none of them',
      'media.headers[].value':
        'app/calls.integration.test.ts › keep the credentials of a bot sealed, and show none of them',
      detectAnsweringMachine:
        'e2e/phone/signalling/whoIsCalling.ts › is detected where detectAnsweringMachine is %s: %s',
      externalId: 'calls/setup/acceptCall.test.ts › locks the number, stores the call, and queues it',
      metadata:
        'e2e/phone/signalling/whoIsCalling.ts › reaches the INVITE, the bot’s start message, the webhooks and the history',
      notBefore:
        'app/calls.integration.test.ts › leaves its number free until it is due, is listed by its status, and is canceled by its hangup',
    },
  },
  {
    name: 'media file',
    places: [['/v1/projects/{projectId}/media']],
    rows: {
      file: 'api/routes/calls/mediaFiles.integration.test.ts › are uploaded as a form or as they are, listed, read and deleted',
    },
  },
  {
    name: 'participant',
    places: [
      ['/v1/projects/{projectId}/calls/{callId}/participants'],
      ['/v1/projects/{projectId}/calls/{callId}/participants/{participantId}'],
    ],
    rows: {
      to: 'calls/runner/participants.test.ts › is dialed over the trunks of the call’s number, and joins the call on the answer',
      trunkId:
        'calls/runner/callControl.test.ts › A participant is called over the trunk that is named, if the project has it',
      muted:
        'e2e/phone/parties/participants.ts › hears caller and agent, is heard by both, whispered to, muted, held, recorded, and leaves with the caller',
      held: 'e2e/phone/parties/participants.ts › hears caller and agent, is heard by both, whispered to, muted, held, recorded, and leaves with the caller',
    },
  },
  {
    name: 'transfer',
    places: [['/v1/projects/{projectId}/calls/{callId}/transfer']],
    rows: {
      to: 'e2e/phone/parties/transfer.ts › rings, bridges both parties, records them, and ends for both',
      mode: 'calls/runner/callTransfer.test.ts › plays music while the agent tells the target, and joins both when it accepts',
      announce:
        'calls/runner/callTransfer.test.ts › plays music while the agent tells the target, and joins both when it accepts',
      acceptBy:
        'calls/runner/callTransfer.test.ts › plays music while the agent tells the target, and joins both when it accepts',
      acceptDigit:
        'calls/runner/callTransfer.test.ts › plays music while the agent tells the target, and joins both when it accepts',
      timeoutSeconds:
        'calls/runner/callTransfer.test.ts › gives up a target that does not accept in time, and dials the next one',
      'to.to': 'calls/runner/callControl.test.ts › A transfer %j is passed on to the node that runs the call',
      'to.trunkId':
        'calls/runner/callControl.test.ts › A transfer %j is passed on to the node that runs the call',
      'targets[].to':
        'calls/runner/callControl.test.ts › A transfer %j is passed on to the node that runs the call',
      'targets[].trunkId':
        'calls/runner/callControl.test.ts › A transfer %j is passed on to the node that runs the call',
      trunkId: 'calls/trunks/trunkSelection.test.ts › to %s, which names %s, is %j',
      targets:
        'calls/runner/callTransfer.test.ts › gives up a target that does not accept in time, and dials the next one',
      strategy:
        'calls/runner/callTransfer.test.ts › cancels the other targets when one accepts, and has both sides listened to',
      holdMusic:
        'calls/runner/callTransfer.test.ts › cancels the other targets when one accepts, and has both sides listened to',
      afterJoin:
        'calls/runner/callTransfer.test.ts › cancels the other targets when one accepts, and has both sides listened to',
      'holdMusic.mediaId':
        'calls/holdMusic/mediaFiles.test.ts › is a file of the project by its mediaId, shared by all calls that play it',
    },
  },
  {
    name: 'supervision',
    places: [['/v1/projects/{projectId}/calls/{callId}/supervise']],
    rows: {
      mode: 'e2e/phone/parties/supervision.ts › takes over from the agent and gives the call back, while another listens',
      participantId:
        'e2e/phone/parties/participants.ts › hears caller and agent, is heard by both, whispered to, muted, held, recorded, and leaves with the caller',
    },
  },
  {
    name: 'words of a supervisor',
    places: [['/v1/projects/{projectId}/calls/{callId}/say']],
    rows: {
      text: 'calls/runner/supervisedCall.test.ts › tells the agent, and its history, what a supervisor says and asks',
    },
  },
  {
    name: 'instruction of a supervisor',
    places: [['/v1/projects/{projectId}/calls/{callId}/instruct']],
    rows: {
      text: 'voice/session/supervision.test.ts › A supervisor’s instruction reaches the model from the next turn on, and is not said',
    },
  },
  {
    name: 'recording of a call in progress',
    places: [['/v1/projects/{projectId}/calls/{callId}/recording']],
    rows: {
      action: 'calls/runner/supervisedCall.test.ts › does nothing twice',
    },
  },
];
