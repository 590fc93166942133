/**
 * Vocabulary in English, Chinese, Japanese, Spanish, German and French, in the form of `normalize`: lower case, without
 * accents, contractions expanded.
 */

/** Answers that agree, or their start. */
export const YES_PHRASES: readonly string[] = phrases(
  'yes, yeah, yep, yup, sure, okay, ok, of course, certainly, absolutely, definitely',
  'that is right, that is correct, please do, that works, that suits, that is fine, that would be',
  'no problem, why not, sounds good, sounds great, go ahead, i agree, agreed, with pleasure, perfect',
  'i will take it, we will take it, i will take that, we will take that, book it, do it, see you, great',
  '好, 好的, 好啊, 可以, 沒問題, 没问题, 是, 是的, 對, 对, 對的, 行, 要, 嗯, 當然, 当然, 沒錯, 没错',
  'はい, ええ, うん, そうです, お願いします, 了解, もちろん, わかりました',
  'si, claro, vale, de acuerdo, por supuesto, correcto, desde luego',
  'ja, jawohl, gerne, klar, genau, in ordnung, naturlich, einverstanden',
  'oui, ouais, d accord, bien sur, volontiers, exact, entendu',
);

/** Answers that agree as a whole: longer ones begin with the same words and say something else. */
export const WHOLE_YES =
  /^(?:i do|i would|i am|we do|we would|we are|right|correct|exactly|fine|all right|alright)(?: (?:please|thanks|thank you|yes|yeah|sure|indeed|that is|with me|by me|for me|like that|like to|love to|go ahead|then))*$|^(?:i|we) (?:am|are|will|can)(?: still| be| both| all)* (?:there|come|coming|make it)\b/;
/** Matches words after a yes that take it back or postpone it. */
export const YES_HEDGE =
  /\b(?:but|except|though|although|first|before|after|once|when|until|as soon as|as long as|provided|only|however|question|questions|instead|other|another|different|cancel|change|i know|i see|agree that)\b/;
/** Matches answers that only sound like a yes: mockery, and a question that is asked again. */
export const NO_CONSENT =
  /^(?:(?:oh|well|yes|yeah|ha) )*(?:(?:yeah|yes|sure|ok|okay) (?:right|whatever)|as if|sure you (?:will|are|do|can)|you wish|dream on|whatever)(?: mate| then)?$|\b(?:am|are|was|were) (?:just |only |still )?asking\b|\b(?:i|we) (?:just |only )?asked\b(?! for)|\bmy question\b/;
/** Matches a deed that is put off to another time. */
export const PUT_OFF =
  /\b(?:let (?:us|s|me)|(?:i|we) (?:could|would|may|might)|(?:i|we) (?:will|can) (?:do|order|buy|pay|call|decide|book|place|think))\b.*\b(?:next (?:week|month|year|time)|tomorrow|tonight|another (?:day|time|week)|(?:some|any) ?(?:other )?(?:day|time)|sometime|in a (?:few|couple)|at the weekend|on (?:mon|tues|wednes|thurs|fri|satur|sun)day)\b/;
/** Words that agree, and refuse before a "not". */
export const EMPHATIC_NO =
  /^(?:absolutely|certainly|definitely|of course|probably|better|rather|i would rather|i think) not\b/;

/** Answers that decline, or their start. */
export const NO_PHRASES: readonly string[] = phrases(
  'no, nope, nah, never, not really, not at all, no thanks, no thank you, i do not, wrong, i disagree',
  'please do not, never mind',
  '不, 不要, 不是, 不行, 不用, 不可以, 不好, 不對, 不对, 沒有, 没有, 算了, 不了, 不想',
  'いいえ, いや, 違います, 結構です, けっこうです, だめ, いりません, 要りません',
  'nunca, para nada, tampoco, no gracias',
  'nein, nee, nicht, auf keinen fall, lieber nicht',
  'non, pas du tout, jamais, non merci',
);

/** Answers that resemble a yes or no and are neither. */
export const UNSURE_PHRASES: readonly string[] = phrases(
  'do not know, not sure, not really sure, not quite sure, no idea, do not understand',
  'did not understand, not hear, not certain',
  'no lo se, no se, weiss nicht, weiß nicht, nicht sicher, keine ahnung, ne sais pas, sais pas',
  '不知道, 不確定, 不确定, 不清楚, 聽不懂, 听不懂, 好不好, 是不是, 可不可以, わかりません, 分かりません',
);

/** The expressions of agreement that resemble a negation. */
export const FALSE_NEGATIONS: readonly string[] = phrases(
  'no problem, why not, not only, no worries, not bad, do not worry, kein problem, pas de probleme',
  '沒問題, 没问题, 沒關係, 没关系, 不錯, 不错, 沒錯, 没错, 不好意思, 對不起, 对不起, 問題ない, 差不多',
);

export const NEGATORS: ReadonlySet<string> = new Set(
  phrases(
    'not, no, never, none, nothing, neither, nor, without, cannot',
    'nunca, tampoco, nada, sin, nicht, kein, keine, keinen, nie, ohne, nein',
    'ne, n, pas, jamais, non, sans, declines, refuses, rejects, denies',
  ),
);
export const CJK_NEGATION = /[不沒没別别勿否未無无]|ない|ません|拒|断/u;

/** Words of edges that expect agreement. */
export const YES_CUES: ReadonlySet<string> = new Set(
  phrases(
    'yes, agrees, agree, agreed, accepts, accept, confirms, confirm, confirmed, affirms',
    'approves, consents, correct, affirmative, positive, okay, ok',
    'si, acepta, confirma, ja, zustimmt, bestatigt, akzeptiert, oui, accepte, confirme',
  ),
);
/** Matches answers that mean no to "anything else?". */
export const NOTHING_MORE = /\bnothing (?:more|else|further)\b/;
/** Words of edges that expect refusal. */
export const NO_CUES: ReadonlySet<string> = new Set(
  phrases(
    'no, declines, decline, declined, refuses, refuse, refused, rejects, reject, denies',
    'disagrees, negative, rechaza, niega, nein, ablehnt, lehnt, verneint, non, refuse',
  ),
);
export const CJK_YES_CUE =
  /同意|確認|确认|接受|答應|答应|肯定|說好|说好|說是|说是|願意|愿意|はい|承諾|賛成|了承/u;
export const CJK_NO_CUE =
  /不同意|不確認|拒絕|拒绝|否定|否認|說不|说不|不要|不想|不願|不愿|いいえ|断る|断り|拒否/u;
/** Words of edges that expect a wish, which a yes to a question about it confirms. */
export const WISH_CUES: ReadonlySet<string> = new Set(
  phrases(
    'wants, want, would, like, likes, wishes, interested, needs, need, has, have, is',
    'quiere, desea, mochte, will, veut, souhaite, voudrait',
  ),
);

/** Stop words. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  phrases(
    'a, an, the, and, or, of, to, in, on, at, for, from, by, with, about, as, is, are, was, were, be',
    'been, am, do, does, did, done, doing',
    'have, has, had, having, i, you, he, she, it, we, they, me, him, her, us, them, my, your, his, its',
    'our, their, this, that, these, those',
    'there, here, what, which, who, whom, when, where, why, how, if, then, than, so, too, very, just',
    'also, please, would, could, should',
    'can, may, might, will, shall, want, wants, wanted, like, likes, need, needs, get, got, give, gives',
    'gave, go, goes, going, let, us',
    'caller, callers, customer, customers, user, users, person, people, client, guest, says, say, said',
    'saying, asks, ask, asked, asking',
    'tells, tell, told, wishes, wish, something, anything, thing, things, some, any, all, one, no, not',
    'yes, yeah, ok, okay, hello, hi, thanks',
    'thank, well, um, uh, er, oh, s, t, d, ll, re, ve, m, n, interested, know, knows, whether, because',
    'but, many, possible, until, takes, report, reports, mentions, item, items, product',
    'el, la, los, las, un, una, de, del, en, y, o, que, por, para, con, su, sus, mi, me, lo, le, quiero',
    'quiere, quisiera, cliente, es, esta, si',
    'der, die, das, den, dem, ein, eine, einen, und, oder, zu, im, am, mit, fur, von, ich, sie, er, es',
    'mochte, will, wollen, kunde, anrufer, ist, ja, nein',
    'le, les, des, du, et, ou, je, vous, il, elle, un, une, au, aux, pour, avec, ce, cette, ma, mon, mes',
    'veut, veux, voudrais, souhaite, client, est, oui',
    '不, no, nicht, pas, ne, non, nunca',
  ),
);
/** Stop words in Chinese and Japanese. */
export const CJK_STOP =
  /來電者|来电者|客人|客戶|客户|顧客|顾客|使用者|用户|對方|对方|相手|想要|希望|需要|我們|我们|你們|您|我|你|他|她|的|了|想|要|請|请|是|嗎|吗|幫|帮|吧|呢|啊|說|说|問|问|不|沒|没|別|别|一下|可以|です|ます|ません|ない|ください|したい|たい|は|が|を|に|の|と|も|で|か/gu;

/** Synonyms of the first word of each line. */
const SYNONYMS: readonly (readonly string[])[] = [
  ['book', 'reserve', 'reservation', 'schedule'],
  ['price', 'prices', 'cost', 'costs', 'fee', 'fees', 'charge', 'charges', 'much', 'expensive', 'pricing'],
  ['human', 'agent', 'operator', 'representative', 'colleague', 'somebody', 'someone', 'staff', 'manager'],
  ['cancel', 'cancellation', 'cancelled', 'canceled', 'cancelling'],
  ['open', 'opening', 'hours', 'opens', 'closing', 'closes', 'close', 'closed'],
  ['delivery', 'deliver', 'delivered', 'delivering', 'shipping', 'shipped', 'shipment'],
  ['damaged', 'broken', 'broke', 'cracked', 'defective', 'faulty', 'torn'],
  ['state', 'status'],
  ['order', 'parcel', 'package'],
  ['appointment', 'visit', 'slot'],
  ['taxi', 'cab'],
  ['parking', 'park', 'garage'],
  ['refund', 'reimburse', 'reimbursement'],
  ['later', 'callback'],
  ['goodbye', 'bye', 'farewell'],
  ['repair', 'fix', 'mend'],
  ['exchange', 'swap', 'replacement'],
  ['results', 'lab'],
  ['internet', 'wifi', 'wi', 'online'],
  ['late', 'delayed', 'delay'],
  ['room', 'rooms', 'suite', 'double', 'single', 'twin'],
  ['stock', 'available', 'availability', 'sell'],
  ['complain', 'complaint', 'complaints'],
  ['insurance', 'insured', 'insurer', 'coverage'],
];
/** Phrases in the words that edges use, for {@link normalize}d texts. */
export const PARAPHRASES: readonly (readonly [RegExp, string])[] = [
  [
    /\b(?:human being|person|people|members? of (?:the )?staff|receptionists?|front desk|reception)\b/g,
    'human',
  ],
  [/\bcustomer (?:service|care|support)\b/g, 'human'],
  [/\b(?:real|live|actual) human\b/g, 'human'],
  [/\b(?:can|could|would|will) (?:some|any)(?:one|body) (?!talk|speak|call)/g, 'can you '],
  [/\b(?:some|any)(?:one|body)\b[^.,!?]*\b(?:speak|talk) (?:to|with)\b/g, 'human'],
  [
    /\b(?:speak|talk) (?:to|with) (?:(?:an?|the|your|one of (?:the|your)) (?:human\b)?|(?=human|some))/g,
    'human ',
  ],
  [/\bsee (?:a|an|the|my) (?:doctor|dentist|nurse)\b|\bcome in\b|\bcheck ?-?up\b/g, 'an appointment'],
  [/\b(?:anything|something) (?:free|available|open)\b|\b(?:free|open|available) slot\b/g, 'an appointment'],
  [/\bhow (?:long|soon|fast|quickly|many (?:minutes|hours|days|weeks))\b/g, 'when'],
  [/\b(?:check(?:ing)? (?:up )?on|track|any news (?:of|on|about))\b/g, 'state'],
  [/\bleave (?:the|my|our) car\b/g, 'parking'],
  [/\b(?:make|get|arrange) (an?|another) (?=appointment|booking|reservation)/g, 'book $1 '],
  [
    /\b(?:that is (?:all|it)|that (?:will|would) be all|(?:i|we) do not need anything (?:else|more)|(?:needs? )?nothing (?:else|more)|(?:am|is|are) (?:all )?(?:done|finished))\b/g,
    'goodbye',
  ],
  [/\bin charge\b/g, ''],
  [/\b(?:reschedule|postpone|shift|change (?:my|our|their|the|an|this|that))\b/g, 'move'],
  [/\border (?=(?:a|an|some|one|two|me|us)\b)/g, 'buy '],
  [
    /\b(?:has|is|was|did) (?:my|our|the) (\p{L}+) (?:been |already )*(?:shipped|ship|sent|delivered|dispatched|arrived?)\b/gu,
    'state $1',
  ],
  [/\b(?:send|bring|take) (.{1,30}?) back\b/g, 'return $1'],
  [/\bcheck(?:ing)? out\b/g, 'checkout'],
  [/\bmoney back\b/g, 'refund return'],
  [/\b(?:send|bring|take) back\b/g, 'return'],
  [
    /\bam (?:(?:very |so |really )?(?:unhappy|disappointed|dissatisfied|furious|angry)|not happy) (?:with|about|at)\b/g,
    'want to complain',
  ],
  [/\bcall(?:ing)? off\b/g, 'cancel'],
  [/\brefills?\b/g, 'renew prescription'],
  [
    /\b(?:running (?:a (?:bit|little) )?behind|stuck in|held up|not (?:be|make it) (?:there |here )?(?:on|in) time)\b/g,
    'late',
  ],
  [
    /\b(?:(?:another|(?:one|two|a few) (?:more|extra)|an? (?:extra|additional)) (?:night|day|week)s?|(?:extend|prolong)(?: (?:my|our|the) (?:stay|booking|reservation))?)\b/g,
    'stay longer',
  ],
  [
    /\bwhere (?:(?:is|are) (?:you|we|(?:the|your) (?:clinic|shop|store|hotel|office|practice|restaurant|branch))\b|(?:we|(?:the|your) (?:clinic|shop|store|hotel|office|practice|restaurant|branch)) (?:is|are)\b)|\bhow (?:do|can) (?:i|we) (?:get|come) (?:to you|there|here)\b|\b(?:directions?|located|location)\b/g,
    'address',
  ],
  [/\b(?:do you have|have you got)\b(?! (?:an?|any|some)\b)/g, 'stock'],
];

export const SYNONYM_OF: ReadonlyMap<string, string> = new Map(
  SYNONYMS.flatMap((group) => group.map((word) => [word, group[0] ?? word] as const)),
);

/** Matches the words at which the scope of a negation ends in a transcript without punctuation. */
export const CLAUSE_BREAK =
  /[.!?;,:，。！？；、…\n]+|\b(?=(?:but|however|instead|rather|please|pero|sino|aber|sondern|mais)\b)|(?<!\b(?:do|did|would|should|will|if|when|once|that|why|how|what|where|who|say|says|said|am|are) )\b(?=(?:i want|i need|i would|i am)\b)|(?=但|而是|我要|我想)/u;

/** Splits lines of phrases, which commas separate. */
function phrases(...lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split(', '));
}
