import type { FieldTable } from './fieldTable.ts';

const REVIEWED =
  'api/routes/results/reviews.integration.test.ts › is asked for by a rule, given by a person, replaced, and shown in the history';

export const SESSIONS_FIELDS: readonly FieldTable[] = [
  {
    name: 'analysis of past sessions',
    places: [['/v1/projects/{projectId}/session-history/analyze']],
    rows: {
      from: 'infra/postgres/results/analyses.integration.test.ts › A job has the ended sessions of its span that pass its filters',
      to: 'infra/postgres/results/analyses.integration.test.ts › A job has the ended sessions of its span that pass its filters',
      release:
        'infra/postgres/results/analyses.integration.test.ts › A job has the ended sessions of its span that pass its filters',
      disposition:
        'infra/postgres/results/analyses.integration.test.ts › A job has the ended sessions of its span that pass its filters',
      success:
        'infra/postgres/results/analyses.integration.test.ts › A job has the ended sessions of its span that pass its filters',
      channel:
        'infra/postgres/results/analyses.integration.test.ts › A job has the ended sessions of its span that pass its filters',
      direction:
        'infra/postgres/results/analyses.integration.test.ts › A job has the ended sessions of its span that pass its filters',
      endReason:
        'infra/postgres/results/analyses.integration.test.ts › A job has the ended sessions of its span that pass its filters',
      trunkId:
        'infra/postgres/results/analyses.integration.test.ts › A job has the ended sessions of its span that pass its filters',
      campaignId:
        'infra/postgres/results/analyses.integration.test.ts › A job has the ended sessions of its span that pass its filters',
      agentId:
        'infra/postgres/results/analyses.integration.test.ts › A job has the ended sessions of its span that pass its filters',
      language:
        'infra/postgres/results/analyses.integration.test.ts › A job has the ended sessions of its span that pass its filters',
      node: 'infra/postgres/results/sessionConditions.integration.test.ts › The list and the analyses of past sessions choose exactly those that insights count, by each dimension',
      provider:
        'infra/postgres/results/sessionConditions.integration.test.ts › The list and the analyses of past sessions choose exactly those that insights count, by each dimension',
    },
  },
  {
    name: 'chat completion',
    places: [
      ['/v1/projects/{projectId}/chat/completions'],
      ['/project/{projectId}/chat/completions'],
      ['/v1/projects/{projectId}/openai/v1/chat/completions'],
    ],
    rows: {
      'messages[].role': 'api/chat/chatCompletions.test.ts › return whole calls and take their results',
      'messages[].content': 'api/chat/chatCompletions.test.ts › return whole calls and take their results',
      'messages[].tool_calls[].id':
        'api/chat/chatCompletions.test.ts › return whole calls and take their results',
      'messages[].tool_calls[].type':
        'api/chat/chatCompletions.test.ts › return whole calls and take their results',
      'messages[].tool_calls[].function.name':
        'api/chat/chatCompletions.test.ts › return whole calls and take their results',
      'messages[].tool_calls[].function.arguments':
        'api/chat/chatCompletions.test.ts › return whole calls and take their results',
      'messages[].tool_call_id':
        'api/chat/chatCompletions.test.ts › return whole calls and take their results',
      'messages[].name': 'api/chat/chatCompletions.test.ts › return whole calls and take their results',
      'tools[].type': 'api/chat/chatCompletions.test.ts › return whole calls and take their results',
      'tools[].function.name': 'api/chat/chatCompletions.test.ts › return whole calls and take their results',
      'tools[].function.description':
        'api/chat/chatCompletions.test.ts › return whole calls and take their results',
      'tools[].function.parameters':
        'api/chat/chatCompletions.test.ts › return whole calls and take their results',
      'messages[].content[].type':
        'api/chat/chatCompletions.test.ts › return whole calls and take their results',
      'messages[].content[].text':
        'api/chat/chatCompletions.test.ts › return whole calls and take their results',
      'messages[].content[].refusal':
        'api/chat/chatRequests.test.ts › Messages of older clients and refusals are part of the conversation',
      'messages[].refusal':
        'api/chat/chatRequests.test.ts › Messages of older clients and refusals are part of the conversation',
      'messages[].function_call.name':
        'api/chat/chatRequests.test.ts › Messages of older clients and refusals are part of the conversation',
      'messages[].function_call.arguments':
        'api/chat/chatRequests.test.ts › Messages of older clients and refusals are part of the conversation',
      'tool_choice.allowed_tools.mode': 'api/chat/chatRequests.test.ts › Only the allowed tools are offered',
      'tool_choice.allowed_tools.tools[].type':
        'api/chat/chatRequests.test.ts › Only the allowed tools are offered',
      'tool_choice.allowed_tools.tools[].function.name':
        'api/chat/chatRequests.test.ts › Only the allowed tools are offered',
      stream: 'api/chat/chatCompletions.test.ts › stream the answer',
      session_id: 'api/chat/chatRequests.test.ts › can have an id of 255 emoji',
      tool_choice: 'api/chat/chatCompletions.test.ts › pass tool_choice %j to the turn',
      'tool_choice.type': 'api/chat/chatCompletions.test.ts › pass tool_choice %j to the turn',
      'tool_choice.function.name': 'api/chat/chatCompletions.test.ts › pass tool_choice %j to the turn',
      'stream_options.include_usage':
        'api/chat/chatCompletions.test.ts › is reported when the request asks for it',
      parallel_tool_calls:
        'api/chat/chatRequests.test.ts › Model parameters are passed to the turn; unknown and null fields are ignored',
      'response_format.type': 'api/chat/chatRequests.test.ts › A response_format of %s is passed to the turn',
      'response_format.json_schema.name':
        'api/chat/chatRequests.test.ts › A response_format of %s is passed to the turn',
      'response_format.json_schema.description':
        'api/chat/chatRequests.test.ts › A response_format of %s is passed to the turn',
      'response_format.json_schema.schema':
        'api/chat/chatRequests.test.ts › A response_format of %s is passed to the turn',
      'response_format.json_schema.strict':
        'api/chat/chatRequests.test.ts › A response_format of %s is passed to the turn',
      model: 'api/chat/openaiShapes.test.ts › selects with the model %s the mode %s',
      n: 'api/chat/chatRequests.test.ts › Model parameters are passed to the turn; unknown and null fields are ignored',
      temperature:
        'api/chat/chatRequests.test.ts › Model parameters are passed to the turn; unknown and null fields are ignored',
      max_tokens:
        'api/chat/chatRequests.test.ts › Model parameters are passed to the turn; unknown and null fields are ignored',
      max_completion_tokens:
        'api/chat/chatRequests.test.ts › Model parameters are passed to the turn; unknown and null fields are ignored',
      user: 'api/chat/chatRequests.test.ts › Model parameters are passed to the turn; unknown and null fields are ignored',
      seed: 'api/chat/chatRequests.test.ts › Model parameters are passed to the turn; unknown and null fields are ignored',
      stop: 'api/chat/chatRequests.test.ts › Model parameters are passed to the turn; unknown and null fields are ignored',
      top_p:
        'api/chat/chatRequests.test.ts › Model parameters are passed to the turn; unknown and null fields are ignored',
      presence_penalty:
        'api/chat/chatRequests.test.ts › Model parameters are passed to the turn; unknown and null fields are ignored',
      frequency_penalty:
        'api/chat/chatRequests.test.ts › Model parameters are passed to the turn; unknown and null fields are ignored',
      logit_bias:
        'api/chat/chatRequests.test.ts › Model parameters are passed to the turn; unknown and null fields are ignored',
      metadata:
        'api/chat/chatRequests.test.ts › Model parameters are passed to the turn; unknown and null fields are ignored',
      reasoning_effort:
        'api/chat/chatRequests.test.ts › Model parameters are passed to the turn; unknown and null fields are ignored',
      service_tier:
        'api/chat/chatRequests.test.ts › Model parameters are passed to the turn; unknown and null fields are ignored',
    },
  },
  {
    name: 'session',
    places: [['/v1/projects/{projectId}/sessions'], ['/project/{projectId}/session']],
    rows: {
      session_id: 'api/routes/sessions/sessions.test.ts › create, read and end a session',
      variables: 'api/routes/sessions/sessions.test.ts › create, read and end a session',
      provider: 'api/routes/sessions/sessions.test.ts › create, read and end a session',
    },
  },
  {
    name: 'session search',
    places: [['/v1/projects/{projectId}/sessions/search'], ['/project/{projectId}/session/search']],
    rows: {
      search_string: 'api/routes/sessions/sessions.test.ts › search sessions',
      limit: 'api/routes/sessions/sessions.test.ts › search sessions',
      offset: 'api/routes/sessions/sessions.test.ts › search sessions',
      cursor: 'api/cursors.integration.test.ts › for %s by cursor is the same list',
    },
  },
  {
    name: 'review',
    places: [['/v1/projects/{projectId}/session-history/{sessionId}/review']],
    rows: {
      verdict: REVIEWED,
      note: REVIEWED,
      labels: REVIEWED,
      criteria:
        'infra/postgres/results/reviews.integration.test.ts › are compared with the judge’s verdicts, and what was counted outlives them',
    },
  },
  {
    name: 'termination',
    places: [['/v1/projects/{projectId}/sessions/terminate']],
    rows: {
      session_id: 'api/routes/sessions/sessions.test.ts › ends the session',
    },
  },
];
