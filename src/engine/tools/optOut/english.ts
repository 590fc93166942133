import { NONE, type OptOutRule, rule } from './rule.ts';

const ME =
  '(?:me|us|my (?:(?:cell |mobile |home )?(?:phone|number)|cell|house|home|mobile|wife|husband|mother|father|mom|dad|family|office)|this (?:number|phone|house)|here)';
const AGAIN = '(?:again|any ?more|ever|any (?:further|longer))';
const LIST =
  '(?:(?:phone|call|calling|calls|contact|contacts|mailing|marketing|dialing|dialling|telemarketing|sales) )?(?:list|lists|database|system|records|file|files)';

const LIMITS = {
  before:
    /(?:\b(?:i|you|they|we|he|she|it|people|somebody|why|when|if|unless|until|did|didn't|does|doesn't|who|whoever|not|never|don't|can't|cannot|couldn't|won't) )$/,
  after:
    /^ (?:before|after|until|till|unless|during|while|when|if|today|tomorrow|tonight|so|later|that|sir|ma'am|madam|names?|by|back|late|early|too|honey|sweetie|between|yet|right now|just yet|this (?:morning|afternoon|evening|week|month|late|early)|in the|in (?:an|a|two|three|ten|five)|on (?:mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|weekends?|holidays|the weekend|my (?:cell|mobile|work))|at (?:work|night|lunch|this (?:time|hour)|the office|dinner|\d+|one|two|three|four|five|six|seven|eight|nine|ten|noon|midnight)|from (?:work|\d+)|for (?:a (?:while|few|couple)|now|the next|an hour|that))\b/,
};
const WANT_NO = "\\bi (?:don't|do not|no longer) (?:want|wish)(?: for)?";
const CALLERS = '(?:you|you guys|you people|anyone|anybody|your company)';
const MORE = '(?:(?:any|anymore|these|your|further|more|future) )';
/** A sentence that ends or goes on so does not limit the wish before it. */
const GOING_ON = "(?:please|at|on|about|for|and|i|i'm|so|or|because|unless|if|but|any|no)";
const UNLESS_IF = { ...LIMITS, before: /\bif $/ };

/** "You" before these is an order: "will you stop calling me". What others were told is none. */
const ORDERED = {
  ...LIMITS,
  before:
    /\b(?:(?:told|asked|begged|warned|want|wanted|got) (?!you\b|your\b|this\b|these\b|all\b)(?:\S+ ){1,3}to|(?:didn't|don't|not|never) (?:ask|tell|want|need)(?:ed)? you to|did you|didn't you|when you|if you|unless you|since you|not|never|don't|can't|cannot|couldn't|won't|ever|didn't|did they|they) $/,
};

/** "Can you take me off your list" is a wish too. */
const LISTED = { ...NONE, before: /\b(?:did you|have you|didn't you|don't|do not|never|not|who|they) $/ };

const english = (pattern: string, unless = LIMITS): OptOutRule => rule(new RegExp(pattern, 'g'), unless);

export const ENGLISH_RULES: readonly OptOutRule[] = [
  // "stop calling me"
  english(
    `\\b(?:stop|quit|cease(?: and desist)?(?: from)?|discontinue) (?:all )?(?:calling|phoning|ringing|contacting|bothering|harassing|robocalling|telephoning)(?: ${ME})(?: (?:again|please|at all|already|immediately|now))?\\b`,
    ORDERED,
  ),
  // "please stop calling"
  english(`\\b(?:stop|quit) (?:calling|phoning|contacting)(?= (?:please|now|already)$|$)`, ORDERED),
  // "don't ever call me again"
  english(
    `\\b(?:don't|do not|never|don't ever|don't you(?: dare)?|(?:can|could|would|will) you (?:please )?not) (?:ever )?(?:(?:call|phone|ring|contact|telephone|bother)(?: ${ME})?(?: at this number| on this number)?|bother calling(?: ${ME})?) ${AGAIN}\\b`,
  ),
  // "do not call this number please"
  english(
    `\\b(?:don't|do not|never) (?:ever )?(?:call|phone|contact) (?:me|us|this (?:number|phone)|here|my (?:cell |mobile |home )?(?:phone|number|cell))(?= (?:please|at all|at this number)$|$)`,
  ),
  // "don't call me back"
  english(
    `\\b(?:don't|do not|never) (?:ever )?(?:call|phone|ring)(?: ${ME})? back(?= (?:please|${AGAIN})\\b|$)`,
  ),
  // "I've told you not to call me"
  english(
    `\\bi(?:'ve| have)? (?:already )?(?:asked|told) (?:you|your \\w+)(?: guys| people| folks| all)?(?: already| before)? (?:not to|never to) (?:ever )?(?:call|contact|phone|ring|bother)(?: ${ME})?(?= (?:${AGAIN}|and|but|so|please|already)\\b|$)`,
  ),
  // "you're not allowed to call again"
  english(
    `\\byou(?:'re| are) not (?:allowed|permitted|authorized) to (?:call|contact)(?: ${ME})?(?= ${AGAIN}|$)|\\b(?:you (?:don't|do not|no longer) have my|i (?:don't|do not) give you (?:my |any )?) ?(?:permission|consent) to (?:call|contact)\\b`,
  ),
  // "if you call again I'll sue"
  english(
    `\\bif you (?:ever )?(?:call|contact)(?: ${ME})? again(?: and)? (?:i'll|i will|i'm going to|i am going to) (?:sue|report|press|call (?:the police|my lawyer|the cops))\\b|\\b(?:sue|report) you if you (?:ever )?call(?: ${ME})? again\\b`,
    NONE,
  ),
  // "I never want to hear from you again"
  english(
    `\\bi (?:never|don't ever|don't|do not)(?: ever)? want to hear from you(?: guys| people)? (?:again|any ?more|ever)\\b|\\bi want off (?:of )?(?:your|this|the) (?:\\w+ )?${LIST}\\b|\\b(?:make a note|please note|mind) not (?:to call|calling)(?: ${ME})?(?= (?:${AGAIN}|please)\\b|$)`,
    { ...LIMITS, before: NONE.before },
  ),
  // "make sure I don't get any more calls"
  english(
    `\\b(?:make sure|ensure)(?: that)? i (?:don't|do not|never) (?:get|receive)(?: any(?: more| further)?| these| your| more)? (?:phone |sales |marketing )?calls(?= from you| ${AGAIN}|$)`,
  ),
  // "I want to be removed from your list"
  english(
    `\\b(?:want|like|wish|need|ask|asking|asked)(?: to be| my (?:phone )?(?:number|name|information|info)(?: to be)?) (?:removed|deleted|taken|erased)(?: (?:off|from|out of)(?: of)? (?:your|the|this|these|any|all|all your) (?:\\w+ )?${LIST}\\b|(?= please$|$))`,
    { ...NONE, before: /\b(?:don't|do not|didn't|not) $/ },
  ),
  // "take me off your calling list"
  english(
    `\\b(?:take|remove|delete|get|strike|drop|scratch) (?:me|us|my (?:phone |telephone |cell |mobile )?(?:number|name|details|information|info)|my name and (?:my )?number|this number|our number) (?:off|from|out of|off of) (?:of )?(?:your|the|this|that|these|any|all|all your|all of your) (?:whole |stupid |damn |internal |company )?${LIST}\\b`,
    LISTED,
  ),
  // "please remove me"
  english(`^(?:please )?(?:just )?(?:remove|delete) me(?: please)?$`, NONE),
  // "please stop all calls"
  english(
    `(?:^|\\b(?:please|you|now|and|to) )(?:stop|end|cancel|discontinue) (?:all (?:of )?(?:these |your |the |future |further )?|(?:these|your|future|further) )(?:phone |sales |marketing )?calls(?: (?:to (?:me|us|this number|my number)|please|now))*$`,
    NONE,
  ),
  // "delete my phone number"
  english(
    `\\b(?:remove|delete|erase) (?:my|this|our) (?:phone |telephone |cell |mobile )?number(?= (?:please|now|immediately|right now|right away)$|$)`,
  ),
  // "put me down as do not call"
  english(
    `\\bput (?:me|us) down as (?:a )?(?:do not call|no call)\\b|\\b(?:put|add|place) (?:me|us|my (?:phone )?number|this number) (?:on|to|onto) (?:your|the|a|that) (?:internal |company |national )?(?:do not call|don't call|no call)\\b`,
  ),
  // "this is a do not call request"
  english(
    `\\b(?:i want to be|i'd like to be|i would like to be|i should be) (?:put )?on (?:your|the) (?:\\w+ )?do not call\\b|\\bthis is (?:a|my) do not call request\\b`,
    NONE,
  ),
  // "I don't want you to call me"; with a day or a place behind it, it is none.
  english(
    `${WANT_NO} ${CALLERS} (?:to (?:call|contact|phone|ring)|calling|contacting) (?:me|us)(?= (?:${AGAIN}|${GOING_ON})\\b|$)`,
    UNLESS_IF,
  ),
  // "I don't want to be called"
  english(`${WANT_NO} to be (?:called|contacted|phoned)\\b`, UNLESS_IF),
  // "I don't want any more sales calls"
  english(`${WANT_NO} (?:to (?:get|receive) )?${MORE}{1,4}(?:phone |sales |marketing )?calls\\b`, UNLESS_IF),
  // "no more calls please"
  english(
    `\\bno (?:more|further) (?:phone |sales |marketing )?calls(?= (?:please|from you|to (?:me|this number))|$)`,
    {
      before: /\b(?:have|are|is|had|were|got|expect|be) $/,
      after: /^ (?:today|tomorrow|after|before|until)/,
    },
  ),
  // "lose my number"
  english(`\\blose (?:my|this) (?:phone )?number\\b`),
  // "I revoke my consent"
  english(`\\b(?:revoke|withdraw) (?:my|all) (?:consent|permission)\\b`, {
    ...NONE,
    before: /\b(?:don't|not|if i) $/,
  }),
  // "I want to opt out of these calls"
  english(
    `(?:^|\\b(?:please|want to|like to|wish to|need to|let me|can i|could i|may i|i'll|i) )(?:opt (?:me )?out(?: of (?:these|your|all|the|all the|all your|future|any)(?: \\w+)? calls)?|unsubscribe(?: me)?(?: from (?:these|your|all|the)(?: \\w+)? (?:calls|list))?)(?= please$|$)`,
    { ...NONE, before: /\b(?:if|when|unless|until|after|before) $/ },
  ),
  // "do not call list please"
  english(`^(?:do not call|don't call|no call) (?:list|registry)(?: please)?$`, NONE),
];
