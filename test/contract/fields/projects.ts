import { AGENTS_FIELDS } from './agents.ts';
import type { FieldTable } from './fieldTable.ts';

/** As on the agent. */
const SPEECH_ROWS = Object.fromEntries(
  AGENTS_FIELDS.flatMap(({ rows }) => Object.entries(rows)).filter(([field]) => field.startsWith('speech.')),
);
const SPOKEN =
  'api/routes/projects/providers.integration.test.ts › A preview says the text as speech wants it, else the agent';

export const PROJECTS_FIELDS: readonly FieldTable[] = [
  {
    name: 'project',
    places: [['/v1/projects'], ['/v1/projects/{projectId}']],
    rows: {
      name: 'api/routes/projects/projects.integration.test.ts › have defaults',
      sessionIdleMinutes:
        'infra/postgres/sessions/sessions.integration.test.ts › idle sessions are chat and web sessions beyond their project’s idle time',
      historyRetentionDays:
        'infra/postgres/retention.integration.test.ts › of sessions is historyRetentionDays, with all rows, and spares live ones',
      'retentionDays.sessions':
        'api/routes/projects/projects.integration.test.ts › keep what retentionDays says, of which historyRetentionDays is the older name of sessions',
      'retentionDays.recordings':
        'infra/postgres/retention.integration.test.ts › of recordings leaves the call, and the file to be removed',
      'retentionDays.deliveries':
        'infra/postgres/retention.integration.test.ts › of deliveries, with sessions for %s days and %j, is %i days',
      'retentionDays.traces': 'infra/postgres/retention.integration.test.ts › of traces leaves the call',
      'retentionDays.tests':
        'infra/postgres/retention.integration.test.ts › of test runs takes their sessions along, which outlive other ones: %j',
      reportUsage: 'api/chat/chatCompletions.test.ts › is reported when the project is set to',
      'callingHours.timezone': 'calls/setup/acceptCall.test.ts › refuses %s',
      'callingHours.windows[].days': {
        test: 'calls/hours/openHours.test.ts › The next opening: %s',
        as: 'days',
      },
      'callingHours.windows[].from': 'calls/hours/openHours.test.ts › The next opening: %s',
      'callingHours.windows[].to': 'calls/hours/openHours.test.ts › The next opening: %s',
      'callingHours.exceptDates': {
        test: 'calls/hours/openHours.test.ts › The next opening: %s',
        as: 'excepted',
      },
      'callingHours.appliesTo': 'calls/setup/acceptCall.test.ts › refuses %s',
      'reviewRules[].when': 'results/reviews/reviewReasons.test.ts › by what happened: %s',
      'reviewRules[].percent':
        'results/reviews/reviewReasons.test.ts › by its rule’s share, the same at each look, each rule for itself',
      'callLimits.allowedPrefixes': 'calls/limits/destinations.test.ts › %s',
      'callLimits.blockedPrefixes': 'calls/limits/destinations.test.ts › %s',
      'callLimits.allowedSipDomains': 'calls/limits/destinations.test.ts › A transfer to %s is %s',
      'callLimits.maxConcurrentCalls':
        'calls/limits/callLimiter.test.ts › takes a slot when the number of calls is limited',
      'callLimits.maxCallsPerMinute':
        'calls/limits/callLimiter.test.ts › counts the call against the limits that are set',
      'callLimits.maxCallsPerHour':
        'calls/limits/callLimiter.test.ts › counts the call against the limits that are set',
      'callLimits.maxCallMinutesPerDay':
        'calls/limits/callLimiter.test.ts › lets a call continue until the minutes are exhausted',
      'callLimits.rates[].prefix': 'calls/limits/projectUsage.test.ts › Call cost uses %s',
      'callLimits.rates[].perMinute':
        'calls/limits/callLimiter.test.ts › lets a call continue until the money is spent, each leg at its own rate',
      'callLimits.maxSpendingPerDay':
        'calls/limits/callLimiter.test.ts › lets a call continue until the money is spent, each leg at its own rate',
      'quotas.tools':
        'api/routes/projects/quotas.integration.test.ts › of %s, which hold for simultaneous requests and the admin too',
      'quotas.mcpServers': 'contract/mcpFields.integration.test.ts › A project has a quota of MCP servers',
      'quotas.trunks':
        'api/routes/projects/quotas.integration.test.ts › of %s, which hold for simultaneous requests and the admin too',
      'quotas.numbers':
        'api/routes/projects/quotas.integration.test.ts › of %s, which hold for simultaneous requests and the admin too',
      'quotas.testCases':
        'api/routes/projects/quotas.integration.test.ts › of %s, which hold for simultaneous requests and the admin too',
      'quotas.campaigns':
        'api/routes/projects/quotas.integration.test.ts › of %s, which hold for simultaneous requests and the admin too',
      'quotas.alerts':
        'api/routes/projects/quotas.integration.test.ts › of %s, which hold for simultaneous requests and the admin too',
      'quotas.testSuites':
        'api/routes/projects/quotas.integration.test.ts › of %s, which hold for simultaneous requests and the admin too',
      'quotas.apiKeys':
        'api/routes/projects/quotas.integration.test.ts › of API keys, fifty by default, whichever credential creates them',
      'quotas.widgetTokens':
        'api/routes/widget/widgetTokens.integration.test.ts › has a quota, and is given by no key that may not do what it opens',
      'quotas.pathwayVersions':
        'api/routes/projects/quotas.integration.test.ts › of pathway versions: the oldest go, but none that is published',
      'quotas.documents': 'api/routes/projects/quotas.integration.test.ts › of documents and their bytes',
      'quotas.mediaFiles':
        'api/routes/calls/mediaFiles.integration.test.ts › are limited in number by a quota',
      'quotas.storedBytes': 'api/routes/projects/quotas.integration.test.ts › of documents and their bytes',
      'quotas.scheduledCalls': 'app/calls.integration.test.ts › is refused over the quota of scheduled calls',
      'quotas.testRuns':
        'api/routes/agent/testRuns.integration.test.ts › is refused without cases, over the quota, and of other projects',
      'quotas.sessionsPerDay':
        'api/routes/projects/quotas.integration.test.ts › of sessions a day, by whichever route they begin',
      'quotas.tokensPerDay':
        'api/routes/projects/quotas.integration.test.ts › of tokens a day, which refuses what is new and lets sessions go on',
      'quotas.charactersPerDay':
        'api/routes/projects/quotas.integration.test.ts › of characters a day, by previews too',
      'quotas.recognitionMinutesPerDay':
        'agents/accounts/dayQuotas.test.ts › With quotas of %j and usage of %j, a session is refused by: %s',
      'callLimits.ownCountriesOnly': 'calls/limits/destinations.test.ts › %s',
      'callLimits.blockSpecialRates': 'calls/limits/destinations.test.ts › %s',
    },
  },
  {
    name: 'provider credentials',
    places: [['/v1/projects/{projectId}/providers/{name}']],
    rows: {
      apiKey:
        'api/routes/projects/providers.integration.test.ts › Provider credentials are stored with apiKey and baseUrl, and shown by a hint',
      baseUrl:
        'api/routes/projects/providers.integration.test.ts › Provider credentials are stored with apiKey and baseUrl, and shown by a hint',
    },
  },
  {
    name: 'rates',
    places: [['/v1/projects/{projectId}/rates'], ['/v1/rates']],
    rows: {
      currency: 'results/cost/costOf.test.ts › The cost of %s',
      'chat[].model': 'results/cost/costOf.test.ts › A million tokens of %s cost %j',
      'chat[].inputPerMillion': 'results/cost/costOf.test.ts › The cost of %s',
      'chat[].outputPerMillion': 'results/cost/costOf.test.ts › The cost of %s',
      'chat[].cachedInputPerMillion': 'results/cost/costOf.test.ts › The cost of %s',
      'recognition[].provider': 'results/cost/costOf.test.ts › The cost of %s',
      'recognition[].model': 'results/cost/costOf.test.ts › The cost of %s',
      'recognition[].perMinute': 'results/cost/costOf.test.ts › The cost of %s',
      'synthesis[].provider': 'results/cost/costOf.test.ts › The cost of %s',
      'synthesis[].model': 'results/cost/costOf.test.ts › The cost of %s',
      'synthesis[].perMillionCharacters': 'results/cost/costOf.test.ts › The cost of %s',
      'carrier[].prefix':
        'results/cost/costOf.test.ts › A leg to %s that talks for %i ms costs by the longest prefix',
      'carrier[].perMinute':
        'results/cost/costOf.test.ts › A leg to %s that talks for %i ms costs by the longest prefix',
    },
  },
  {
    name: 'speech preview',
    places: [['/v1/projects/{projectId}/speech/preview']],
    rows: {
      ...SPEECH_ROWS,
      text: SPOKEN,
      'speech.recognition.language': SPOKEN,
      'speech.synthesis.provider': SPOKEN,
      'speech.synthesis.voice': SPOKEN,
      'speech.synthesis.speed': SPOKEN,
      'speech.pronunciations[].word': SPOKEN,
      'speech.pronunciations[].say': SPOKEN,
    },
  },
  {
    name: 'console session',
    places: [['/console/session']],
    rows: {
      token:
        'api/plugins/accessControl.integration.test.ts › has the rights of its key, and changes something only with the console’s header',
    },
  },
  {
    name: 'widget token',
    places: [['/v1/projects/{projectId}/widget-tokens']],
    rows: {
      allowedOrigins:
        'api/routes/widget/widgetTokens.integration.test.ts › lets a WebSocket in from its origins alone',
      maxMinutesPerDay:
        'api/routes/widget/widgetTokens.integration.test.ts › has a limit of minutes a day, of which none are left with 0',
      requestsPerMinute:
        'api/routes/widget/widgetTokens.integration.test.ts › has a limit of requests a minute',
      maxConcurrent:
        'api/routes/widget/widgetTokens.integration.test.ts › has a share of the project’s concurrent calls, which a talk that ends leaves',
      expiresAt: 'api/routes/widget/widgetTokens.integration.test.ts › is refused once it has expired',
    },
  },
  {
    name: 'API key',
    places: [['/v1/projects/{projectId}/api-keys']],
    rows: {
      name: 'api/routes/projects/apiKeys.integration.test.ts › of kind %s with scopes %j are shown only once',
      kind: 'api/routes/projects/apiKeys.integration.test.ts › of kind %s with scopes %j are shown only once',
      scopes:
        'api/routes/projects/apiKeys.integration.test.ts › of kind %s with scopes %j are shown only once',
    },
  },
];
