import type { FieldTable } from './fieldTable.ts';

export const WEBHOOKS_FIELDS: readonly FieldTable[] = [
  {
    name: 'webhook',
    places: [['session.ended'], ['call.ended'], ['recording.ready'], ['session.finalized']],
    rows: {
      event:
        'webhooks/dispatcher.integration.test.ts › sends the four events of a call in order, for any order of their facts',
      sessionId:
        'webhooks/dispatcher.integration.test.ts › sends the four events of a call in order, for any order of their facts',
      projectId:
        'webhooks/dispatcher.integration.test.ts › sends the four events of a call in order, for any order of their facts',
      release:
        'webhooks/dispatcher.integration.test.ts › sends the two events of a chat, signed, and logs both',
      channel:
        'webhooks/dispatcher.integration.test.ts › sends the four events of a call in order, for any order of their facts',
      occurredAt:
        'contract/webhookFields.integration.test.ts › session.finalized tells the session, its variables and each message with its node and tool calls',
      deliveryId:
        'webhooks/dispatcher.integration.test.ts › sends the four events of a call in order, for any order of their facts',
      recordingUrl: 'webhooks/callReport.test.ts › has the recording and its URL once it is stored',
      'recording.status': 'webhooks/callReport.test.ts › has the recording and its URL once it is stored',
      'recording.durationMs': 'webhooks/callReport.test.ts › has the recording and its URL once it is stored',
      'recording.error':
        'webhooks/callReport.test.ts › reports a failed recording, and none that is still being stored',
      status:
        'webhooks/dispatcher.integration.test.ts › sends the two events of a chat, signed, and logs both',
      endReason:
        'webhooks/dispatcher.integration.test.ts › sends the two events of a chat, signed, and logs both',
      startedAt:
        'contract/webhookFields.integration.test.ts › session.finalized tells the session, its variables and each message with its node and tool calls',
      endedAt:
        'contract/webhookFields.integration.test.ts › session.finalized tells the session, its variables and each message with its node and tool calls',
      durationMs:
        'webhooks/dispatcher.integration.test.ts › sends the two events of a chat, signed, and logs both',
      variables:
        'webhooks/dispatcher.integration.test.ts › sends the two events of a chat, signed, and logs both',
      missingVariables:
        'contract/webhookFields.integration.test.ts › session.finalized names required variables that are missing as missingVariables',
      'messages[].role': 'api/chat/chatCompletions.test.ts › return whole calls and take their results',
      'messages[].generatedText':
        'voice/session/interruption.test.ts › An interruption stops the agent within a frame, and the history keeps what was heard',
      'messages[].interrupted':
        'voice/session/interruption.test.ts › An interruption stops the agent within a frame, and the history keeps what was heard',
      'messages[].heard':
        'voice/session/interruption.test.ts › A message says that what was heard is estimated where the peer reports nothing',
      'messages[].content':
        'voice/session/interruption.test.ts › An interruption stops the agent within a frame, and the history keeps what was heard',
      'messages[].latencyMs':
        'voice/session/conversation.test.ts › Turn latency equals what the recorded channels show, and its parts are what each step took',
      'messages[].latencyParts':
        'voice/session/conversation.test.ts › Turn latency equals what the recorded channels show, and its parts are what each step took',
      'messages[].latencyDetails':
        'voice/session/conversation.test.ts › Turn latency equals what the recorded channels show, and its parts are what each step took',
      'messages[].spoken.from':
        'e2e/phone/signalling/inbound.ts › is greeted by the agent and sends all events',
      'messages[].spoken.to':
        'e2e/phone/signalling/inbound.ts › is greeted by the agent and sends all events',
      'messages[].speech.recognition':
        'voice/session/speechProviders.test.ts › A message names the provider of its recognition or synthesis, digits name none',
      'messages[].speech.synthesis':
        'voice/session/speechProviders.test.ts › A message names the provider of its recognition or synthesis, digits name none',
      'evaluation.criteria[].name':
        'contract/agentFields.integration.test.ts › postEvaluationConfig judges a session by its criteria, each with name and description',
      'evaluation.criteria[].passed':
        'contract/agentFields.integration.test.ts › postEvaluationConfig judges a session by its criteria, each with name and description',
      'evaluation.criteria[].reason':
        'contract/agentFields.integration.test.ts › postEvaluationConfig judges a session by its criteria, each with name and description',
      'evaluation.criteria[].type':
        'contract/agentFields.integration.test.ts › A criterion of type score gets a score from 1 to 5',
      'evaluation.criteria[].score':
        'contract/agentFields.integration.test.ts › A criterion of type score gets a score from 1 to 5',
      'analysis.status':
        'contract/agentFields.integration.test.ts › analysis tells the model its dispositions, data and instructions, and what it answers is in history and webhook',
      'analysis.summary':
        'contract/agentFields.integration.test.ts › analysis tells the model its dispositions, data and instructions, and what it answers is in history and webhook',
      'analysis.disposition':
        'contract/agentFields.integration.test.ts › analysis tells the model its dispositions, data and instructions, and what it answers is in history and webhook',
      'analysis.success':
        'contract/agentFields.integration.test.ts › analysis tells the model its dispositions, data and instructions, and what it answers is in history and webhook',
      'analysis.data':
        'contract/agentFields.integration.test.ts › analysis tells the model its dispositions, data and instructions, and what it answers is in history and webhook',
      'analysis.model':
        'contract/agentFields.integration.test.ts › analysis tells the model its dispositions, data and instructions, and what it answers is in history and webhook',
      'analysis.reason':
        'infra/postgres/webhooks/webhookOutbox.integration.test.ts › is finalized in time without it, and keeps what comes later',
      'call.callId': 'webhooks/callReport.test.ts › has the recording and its URL once it is stored',
      'call.direction': 'webhooks/callReport.test.ts › has the recording and its URL once it is stored',
      'call.fromNumber': 'webhooks/callReport.test.ts › has the recording and its URL once it is stored',
      'call.toNumber': 'webhooks/callReport.test.ts › has the recording and its URL once it is stored',
      'call.status': 'webhooks/callReport.test.ts › has the recording and its URL once it is stored',
      'call.endReason': 'webhooks/callReport.test.ts › has the recording and its URL once it is stored',
      'call.durationMs': 'webhooks/callReport.test.ts › has the recording and its URL once it is stored',
      'call.sip.code': 'webhooks/callReport.test.ts › has the recording and its URL once it is stored',
      'call.sip.reason': 'webhooks/callReport.test.ts › has the recording and its URL once it is stored',
      'call.answeringMachine':
        'webhooks/callReport.test.ts › has the recording and its URL once it is stored',
      'call.metadata': 'webhooks/callReport.test.ts › has the recording and its URL once it is stored',
      'call.externalId': 'webhooks/callReport.test.ts › has the recording and its URL once it is stored',
      'call.campaignId': 'webhooks/callReport.test.ts › has the recording and its URL once it is stored',
      'call.contactId': 'webhooks/callReport.test.ts › has the recording and its URL once it is stored',
      'call.violations[].kind':
        'webhooks/callReport.test.ts › has the recording and its URL once it is stored',
      'call.violations[].id': 'webhooks/callReport.test.ts › has the recording and its URL once it is stored',
      'call.dynamicVariables':
        'webhooks/callReport.test.ts › has the recording and its URL once it is stored',
      'messages[].usage[].model':
        'contract/rates.integration.test.ts › A chat is priced by the rates of its project, in its history, in its turns and in session.finalized',
      'messages[].usage[].inputTokens':
        'contract/rates.integration.test.ts › A chat is priced by the rates of its project, in its history, in its turns and in session.finalized',
      'messages[].usage[].outputTokens':
        'contract/rates.integration.test.ts › A chat is priced by the rates of its project, in its history, in its turns and in session.finalized',
      'messages[].usage[].cachedInputTokens':
        'contract/rates.integration.test.ts › A chat is priced by the rates of its project, in its history, in its turns and in session.finalized',
      'usage.inputTokens':
        'contract/rates.integration.test.ts › A chat is priced by the rates of its project, in its history, in its turns and in session.finalized',
      'usage.outputTokens':
        'contract/rates.integration.test.ts › A chat is priced by the rates of its project, in its history, in its turns and in session.finalized',
      'usage.cachedInputTokens':
        'contract/rates.integration.test.ts › A chat is priced by the rates of its project, in its history, in its turns and in session.finalized',
      'usage.chat[].model':
        'contract/rates.integration.test.ts › A chat is priced by the rates of its project, in its history, in its turns and in session.finalized',
      'usage.chat[].inputTokens':
        'contract/rates.integration.test.ts › A chat is priced by the rates of its project, in its history, in its turns and in session.finalized',
      'usage.chat[].outputTokens':
        'contract/rates.integration.test.ts › A chat is priced by the rates of its project, in its history, in its turns and in session.finalized',
      'usage.chat[].cachedInputTokens':
        'contract/rates.integration.test.ts › A chat is priced by the rates of its project, in its history, in its turns and in session.finalized',
      'usage.recognitionSeconds': 'agents/cost/usage.test.ts › Usage is told by source, and as sums',
      'usage.synthesisCharacters': 'agents/cost/usage.test.ts › Usage is told by source, and as sums',
      'usage.callSeconds': 'agents/cost/usage.test.ts › Usage is told by source, and as sums',
      'usage.recognition[].provider': 'agents/cost/usage.test.ts › Usage is told by source, and as sums',
      'usage.recognition[].model': 'agents/cost/usage.test.ts › Usage is told by source, and as sums',
      'usage.recognition[].seconds': 'agents/cost/usage.test.ts › Usage is told by source, and as sums',
      'usage.synthesis[].provider': 'agents/cost/usage.test.ts › Usage is told by source, and as sums',
      'usage.synthesis[].model': 'agents/cost/usage.test.ts › Usage is told by source, and as sums',
      'usage.synthesis[].characters': 'agents/cost/usage.test.ts › Usage is told by source, and as sums',
      'usage.afterwards.inputTokens': 'agents/cost/usage.test.ts › Usage is told by source, and as sums',
      'usage.afterwards.outputTokens': 'agents/cost/usage.test.ts › Usage is told by source, and as sums',
      'usage.afterwards.cachedInputTokens':
        'agents/cost/usage.test.ts › Usage is told by source, and as sums',
      'usage.afterwards.chat[].model': 'agents/cost/usage.test.ts › Usage is told by source, and as sums',
      'usage.afterwards.chat[].inputTokens':
        'agents/cost/usage.test.ts › Usage is told by source, and as sums',
      'usage.afterwards.chat[].outputTokens':
        'agents/cost/usage.test.ts › Usage is told by source, and as sums',
      'usage.afterwards.chat[].cachedInputTokens':
        'agents/cost/usage.test.ts › Usage is told by source, and as sums',
      'cost.total':
        'contract/rates.integration.test.ts › A chat is priced by the rates of its project, in its history, in its turns and in session.finalized',
      'cost.chat':
        'contract/rates.integration.test.ts › A chat is priced by the rates of its project, in its history, in its turns and in session.finalized',
      'cost.recognition':
        'contract/rates.integration.test.ts › A chat is priced by the rates of its project, in its history, in its turns and in session.finalized',
      'cost.synthesis':
        'contract/rates.integration.test.ts › A chat is priced by the rates of its project, in its history, in its turns and in session.finalized',
      'cost.carrier':
        'results/cost/costOf.test.ts › A leg to %s that talks for %i ms costs by the longest prefix',
      'cost.afterwards':
        'contract/rates.integration.test.ts › A chat is priced by the rates of its project, in its history, in its turns and in session.finalized',
      'cost.currency':
        'contract/rates.integration.test.ts › A chat is priced by the rates of its project, in its history, in its turns and in session.finalized',
      'cost.unpriced':
        'contract/rates.integration.test.ts › A chat is priced by the rates of its project, in its history, in its turns and in session.finalized',
      'messages[].at':
        'contract/webhookFields.integration.test.ts › session.finalized tells the session, its variables and each message with its node and tool calls',
      'messages[].nodeId':
        'contract/webhookFields.integration.test.ts › session.finalized tells the session, its variables and each message with its node and tool calls',
      'messages[].tool_calls[].id':
        'contract/webhookFields.integration.test.ts › session.finalized tells the session, its variables and each message with its node and tool calls',
      'messages[].tool_calls[].type':
        'contract/webhookFields.integration.test.ts › session.finalized tells the session, its variables and each message with its node and tool calls',
      'messages[].tool_calls[].function.name':
        'contract/webhookFields.integration.test.ts › session.finalized tells the session, its variables and each message with its node and tool calls',
      'messages[].tool_calls[].function.arguments':
        'contract/webhookFields.integration.test.ts › session.finalized tells the session, its variables and each message with its node and tool calls',
      'messages[].tool_call_id':
        'contract/webhookFields.integration.test.ts › session.finalized tells the session, its variables and each message with its node and tool calls',
      'messages[].name':
        'contract/webhookFields.integration.test.ts › session.finalized tells the session, its variables and each message with its node and tool calls',
    },
  },
];
