/**
 * What people say who want no more calls, by language. Each pattern is anchored by who calls whom: "stop calling me", not "stop
 * calling him"; a wish about the time alone ("don't call me before nine") is none.
 *
 * @see 47 CFR 64.1200(a)(10): consent may be revoked "in any reasonable manner".
 */
export function saysOptOut(text: string): boolean {
  const words = plain(text);
  return RULES.some(({ wish, unless }) =>
    [...words.matchAll(wish)].some((match) => !isLimited(words, match, unless)),
  );
}

interface Rule {
  readonly wish: RegExp;
  /** What follows or precedes a wish that means something else. */
  readonly unless: { readonly before: RegExp; readonly after: RegExp };
}

const ME =
  '(?:me|us|my (?:number|phone|cell|house|home|mobile|wife|husband|mother|father|mom|dad|family|office)|this (?:number|phone|house)|here)';
const LIST =
  '(?:(?:phone|call|calling|calls|contact|contacts|mailing|marketing|dialing|dialling|telemarketing|sales) )?(?:list|lists|database|system|records|file|files)';

const ENGLISH = {
  before:
    /(?:\b(?:i|you|they|we|he|she|it|people|somebody|why|when|if|unless|until|did|didn't|does|doesn't|who|whoever|not|never|don't|can't|cannot|couldn't|won't) )$/,
  after:
    /^ (?:before|after|until|till|unless|during|while|when|if|today|tomorrow|tonight|so|later|that|sir|ma'am|madam|names?|by|back|late|early|too|honey|sweetie|between|yet|right now|just yet|this (?:morning|afternoon|evening|week|month|late|early)|in the|in (?:an|a|two|three|ten|five)|on (?:mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|weekends?|holidays|the weekend|my (?:cell|mobile|work))|at (?:work|night|lunch|this (?:time|hour)|the office|dinner|\d+|one|two|three|four|five|six|seven|eight|nine|ten|noon|midnight)|from (?:work|\d+)|for (?:a (?:while|few|couple)|now|the next|an hour|that))\b/,
};
const NONE = { before: /(?!)/, after: /(?!)/ };

const english = (pattern: string, unless = ENGLISH): Rule => ({ wish: new RegExp(pattern, 'g'), unless });
const other = (pattern: RegExp, unless = NONE): Rule => ({ wish: pattern, unless });

/** "You" before these is an order: "will you stop calling me". */
const ORDERED = {
  ...ENGLISH,
  before:
    /\b(?:did you|didn't you|when you|if you|unless you|since you|not|never|don't|can't|cannot|couldn't|won't|ever|didn't|did they|they) $/,
};

/** "Can you take me off your list" is a wish too. */
const LISTED = { ...NONE, before: /\b(?:did you|have you|didn't you|don't|do not|never|not|who|they) $/ };

const SPANISH_AFTER = {
  before: /\b(?:por qué|si|cuando|él|ella|ellos|nunca|que) $/,
  after:
    /^ (?:antes|después|hasta|hoy|mañana|ahora|todavía|por la|en la|a las?|entre|los (?:lunes|martes|miércoles|jueves|viernes|sábados|domingos)|al trabajo|cuando|si|así|señora?|tan)(?=$|[^\p{L}])/u,
};
const GERMAN_AFTER = {
  before: /(?:^| )(?:warum|wieso|ob|dass)$/,
  after:
    /^ (?:vor|nach|bis|heute|morgen|jetzt|am|um|im|zwischen|so|bei der arbeit|während|wenn|bevor|erst)(?=$|[^\p{L}])/u,
};
const FRENCH_AFTER = {
  before: /(?:^| )(?:pourquoi|si|quand|ils|elle|il|on)$/,
  after:
    /^ (?:avant|après|jusqu|aujourd|demain|maintenant|ce (?:soir|matin)|le (?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|matin|soir)|au (?:travail|bureau)|entre|pendant|quand|si|à \d|madame|monsieur|comme ça|tout de suite|si tard)(?=$|[^\p{L}])/u,
};

const RULES: readonly Rule[] = [
  // English
  english(
    `\\b(?:stop|quit|cease) (?:all )?(?:calling|phoning|ringing|contacting|bothering|harassing|robocalling|telephoning)(?: ${ME})(?: (?:again|please|at all|already|immediately|now))?\\b`,
    ORDERED,
  ),
  english(`\\b(?:stop|quit) (?:calling|phoning|contacting)(?= (?:please|now|already)$|$)`, ORDERED),
  english(
    `\\b(?:don't|do not|never|don't ever) (?:ever )?(?:call|phone|ring|contact|telephone|bother)(?: ${ME})?(?: at this number| on this number)? (?:again|any ?more|ever)\\b`,
  ),
  english(
    `\\b(?:don't|do not|never) (?:ever )?(?:call|phone|contact) (?:me|us|this number)(?= (?:please|at all|at this number)$|$)`,
  ),
  english(
    `\\b(?:take|remove|delete|get|strike|drop|scratch) (?:me|us|my (?:phone |telephone |cell |mobile )?(?:number|name|details|information|info)|this number|our number) (?:off|from|out of|off of) (?:of )?(?:your|the|this|that|these|any|all|all your|all of your) (?:whole |stupid |damn |internal |company )?${LIST}\\b`,
    LISTED,
  ),
  english(`^(?:please )?(?:just )?(?:remove|delete) me(?: please)?$`, NONE),
  english(
    `(?:^|\\b(?:please|you|now|and|to) )(?:stop|end|cancel) all (?:of )?(?:these |your |the |future |further )?(?:phone |sales |marketing )?calls(?: (?:to (?:me|us|this number|my number)|please|now))*$`,
    NONE,
  ),
  english(
    `\\b(?:remove|delete|erase) (?:my|this|our) (?:phone |telephone |cell |mobile )?number(?= (?:please|now|immediately|right now|right away)$|$)`,
  ),
  english(
    `\\b(?:put|add|place) (?:me|us|my (?:phone )?number|this number) (?:on|to|onto) (?:your|the|a|that) (?:internal |company |national )?(?:do not call|don't call|no call)\\b`,
  ),
  english(
    `\\b(?:i want to be|i'd like to be|i would like to be|i should be) (?:put )?on (?:your|the) (?:\\w+ )?do not call\\b|\\bthis is (?:a|my) do not call request\\b`,
    NONE,
  ),
  english(
    `\\bi (?:don't|do not|no longer) (?:want|wish)(?: any| for)? (?:(?:you|you guys|you people|anyone|anybody|your company) (?:to (?:call|contact|phone|ring)|calling|contacting) (?:me|us)|to be (?:called|contacted|phoned)|(?:to (?:get|receive) )?(?:(?:any|anymore|these|your|further|more|future) ){1,4}(?:phone |sales |marketing )?calls)\\b`,
    { ...ENGLISH, before: /\bif $/ },
  ),
  english(
    `\\bno (?:more|further) (?:phone |sales |marketing )?calls(?= (?:please|from you|to (?:me|this number))|$)`,
    {
      before: /\b(?:have|are|is|had|were|got|expect|be) $/,
      after: /^ (?:today|tomorrow|after|before|until)/,
    },
  ),
  english(`\\blose (?:my|this) (?:phone )?number\\b`),
  english(`\\b(?:revoke|withdraw) (?:my|all) (?:consent|permission)\\b`, {
    ...NONE,
    before: /\b(?:don't|not|if i) $/,
  }),
  english(
    `(?:^|\\b(?:please|want to|like to|wish to|need to|let me|can i|could i|may i|i'll|i) )(?:opt (?:me )?out(?: of (?:these|your|all|the|all the|all your|future|any)(?: \\w+)? calls)?|unsubscribe(?: me)?(?: from (?:these|your|all|the)(?: \\w+)? (?:calls|list))?)(?= please$|$)`,
    NONE,
  ),
  // Spanish
  other(
    /\b(?:dejen|deje|deja|paren|pare|para|basta) (?:ya )?de (?:llamarme|llamarnos|llamar|molestarme|contactarme|marcarme)(?= ya| por favor|$| a este| más| nunca| de una)/g,
    { ...SPANISH_AFTER, before: /\bno $/ },
  ),
  other(
    /\b(?:no|nunca) (?:me |nos )?(?:vuelva|vuelvan|vuelvas) a (?:llamar|llamarme|llamarnos|contactar|contactarme|marcar|marcarme)(?:me|nos)?(?![\p{L}])/gu,
    SPANISH_AFTER,
  ),
  other(
    /\b(?:no|ya no) (?:me|nos) (?:llame|llamen|llames|contacten|contacte|marque|marquen)(?: (?:más|nunca más|otra vez|jamás|nunca)|(?= por favor$|$))/gu,
    SPANISH_AFTER,
  ),
  other(
    /\b(?:quítenme|quíteme|quítame|sáquenme|sáqueme|sácame|bórrenme|bórreme|bórrame|elimínenme|elimíneme|retírenme|retíreme) de (?:su|sus|la|las|esa|esta|tu) (?:lista|listas|base de datos)/gu,
  ),
  other(
    /\b(?:borren|borre|eliminen|elimine|quiten|quite|retiren|retire|saquen|saque) mi (?:número|teléfono|nombre)(?: de (?:su|sus|la|las|esta|esa) (?:lista|listas|base de datos)|(?= por favor$|$))/gu,
    { ...NONE, before: /\bno $/ },
  ),
  other(
    /\b(?:ya )?no quiero (?:que (?:me|nos) (?:llamen|llame|vuelvan a llamar|contacten)|recibir (?:más )?(?:sus |estas )?llamadas|más llamadas)(?![\p{L}])/gu,
    SPANISH_AFTER,
  ),
  // German
  other(
    /(?:^| )(?:hören sie|hör|hört) (?:bitte |endlich )?auf (?:mich |uns |hier )(?:ständig |immer |dauernd )?anzurufen/gu,
    NONE,
  ),
  other(
    /(?:^| )(?:rufen sie|ruf|ruft) (?:mich|uns|hier|diese nummer|bei mir|bei uns)(?: bitte)? (?:nicht (?:mehr|wieder|noch ?mal|nochmals|noch einmal)|nie (?:mehr|wieder)) an(?![\p{L}])/gu,
    GERMAN_AFTER,
  ),
  other(
    /(?:^| )(?:bitte )?(?:nicht (?:mehr|wieder)|nie (?:mehr|wieder)|keine) (?:anrufen|anrufe|kontaktieren)(?= bitte$|$| mehr)/gu,
    GERMAN_AFTER,
  ),
  other(
    /(?:^| )(?:streichen|nehmen|löschen|entfernen|streich|nimm|lösch) (?:sie )?(?:bitte )?(?:mich|uns|meine (?:telefon|handy)?nummer|meinen namen|diese nummer)(?: bitte)? (?:von|aus) (?:ihrer|ihren|der|dieser|eurer) (?:\p{L}+)?(?:liste|listen|datenbank|kartei|verteiler|system)/gu,
  ),
  other(
    /(?:^| )(?:löschen|streichen|entfernen) sie (?:bitte )?meine (?:telefon|handy)?nummer(?= bitte$|$)/gu,
  ),
  other(
    /(?:^| )ich (?:möchte|will|wünsche) (?:keine (?:weiteren )?(?:werbe)?anrufe(?: mehr)?(?: von ihnen)?(?= bitte$|$| mehr| bekommen| erhalten)|nicht (?:mehr|wieder|weiter) (?:angerufen|kontaktiert) werden)/gu,
    GERMAN_AFTER,
  ),
  // French
  other(
    /(?:^| )(?:arrêtez|arrête|cessez)(?: s'il vous plaît)? de (?:m'|nous |me )(?:appeler|téléphoner|contacter|harceler|déranger)(?![\p{L}])/gu,
    FRENCH_AFTER,
  ),
  other(/(?:^| )(?:ne )?m'appelez (?:plus|plus jamais|jamais plus)(?![\p{L}])/gu, FRENCH_AFTER),
  other(
    /(?:^| )(?:ne )?(?:me|nous) (?:rappelez|contactez|téléphonez|dérangez|appelez) (?:plus|plus jamais|jamais plus)(?![\p{L}])/gu,
    FRENCH_AFTER,
  ),
  other(
    /(?:^| )(?:retirez|enlevez|supprimez|effacez|rayez|ôtez)(?:[- ](?:moi|nous)| mon (?:numéro|nom)| ce numéro| mes coordonnées)(?: de téléphone)? (?:de|des) (?:votre |vos |la |cette |ces )?(?:liste|listes|fichier|fichiers|base de données|contacts)/gu,
  ),
  other(/(?:^| )(?:supprimez|effacez|retirez) mon numéro(?: de téléphone)?(?= s'il vous plaît$|$)/gu),
  other(
    /(?:^| )je (?:ne )?(?:veux|souhaite|désire) (?:plus|pas) (?:que vous m'appeliez|être (?:appelée?|rappelée?|contactée?|démarchée?)|(?:recevoir )?(?:de |d'|vos )?appels)(?![\p{L}])/gu,
    FRENCH_AFTER,
  ),
  // Chinese, in both scripts
  other(
    /(?:不要|别|別|不准|不许|不許|请勿|請勿|勿)(?:再|老是|一直|总是|總是)(?:给我|給我|跟我|向我)?(?:打电话|打電話|打来|打來|打给我|打給我|来电|來電|联系我|聯繫我|聯絡我|骚扰我|騷擾我|打扰我|打擾我|打)(?:给我|給我|过来|過來|来|來)?(?:电话|電話)?(?:了|啦|吧|,|，|$)?/gu,
    {
      before: /(?:他|她|叫|让他|让她|讓他|讓她|为什么|為什麼)$/,
      after: /^(?:错|錯|断|斷|游戏|遊戲|车|車|开|開)/,
    },
  ),
  other(/(?:不要|别|別|停止|请勿|請勿)(?:来|來)?(?:骚扰|騷擾)我(?:们|們)?/gu),
  other(/(?:停止|别|別|不要)(?:给我|給我)(?:打电话|打電話|来电|來電)了?(?=$|好吗|好嗎|谢谢|謝謝|,|，)/gu),
  other(
    /(?:把)?我(?:的)?(?:电话|電話|号码|號碼|手机号|手機號碼|电话号码|電話號碼|名字|资料|資料)?(?:从|從|自)?(?:你们|你們|您们|您們|贵公司|貴公司|你|您)?(?:的)?(?:拨打|撥打|电话|電話|客户|客戶|营销|行銷)?(?:名单|名單|列表|清单|清單|数据库|資料庫)(?:中|里|裡|上)?(?:删除|刪除|删掉|刪掉|移除|去掉|拿掉|除名)/gu,
  ),
  other(
    /(?:删除|刪除|删掉|刪掉|移除)(?:掉)?我的?(?:电话|電話|号码|號碼|电话号码|電話號碼|手机号|手機號碼)(?=$|吧|谢谢|謝謝|,|，)/gu,
    { ...NONE, before: /(?:不要|别|別)$/ },
  ),
  other(
    /我(?:不想|不要|不希望|不愿意|不願意)再(?:接到|收到|接|被)(?:你们的?|你們的?|您们的?|這種|这种|任何)?(?:电话|電話|来电|來電|打扰|打擾|骚扰|騷擾)/gu,
  ),
  other(
    /(?:加入|列入|放进|放進)(?:你们的?|你們的?)?(?:谢绝来电|謝絕來電|拒接|拒绝来电|拒絕來電|勿撥|勿拨)(?:名单|名單)?/gu,
  ),
  // Japanese
  other(
    /(?:もう|二度と|これ以上|今後は?|一切)(?:、|,)?(?:電話|でんわ|連絡|架電)(?:は|を|も)?(?:しない|かけない|掛けない|かけてこない|掛けてこない|してこない)(?:で|よう)/gu,
  ),
  other(/(?:電話|連絡)(?:を|は)?(?:かけて|掛けて|して)(?:くる|来る)?の?(?:を|は)?(?:やめ|止め)(?:て|ろ)/gu, {
    before: /(?:彼に|彼女に|友達に|母に)$/,
    after: /^(?:しまった)/,
  }),
  other(
    /(?:電話|連絡)(?:を|は)?(?:かける|掛ける|する|かけてくる|してくる)の(?:を|は)(?:やめ|止め)て(?:ください|下さい|くれ|もらえ|ほしい|欲しい|$)/gu,
  ),
  other(
    /(?:リスト|名簿|データベース)から(?:私|わたし|僕|俺|うち|この番号|私の番号)?(?:の番号|の名前)?(?:を|は)?(?:削除|外して|消して|除外|抜いて)/gu,
    { before: /(?:買い物|参加者|待ち|曲の?)$/, after: /(?!)/ },
  ),
  other(
    /(?:私|わたし|うち|この|こちら)の?(?:電話)?番号(?:を|は)(?:削除して|消して)(?:ください|下さい|くれ|ほしい|欲しい|もらえ|$)/gu,
  ),
  other(
    /(?:電話|連絡)は?(?:もう|二度と)(?:いりません|要りません|結構です|しないで|かけないで|けっこうです)/gu,
  ),
];

function isLimited(words: string, match: RegExpExecArray, { before, after }: Rule['unless']): boolean {
  const end = match.index + match[0].length;
  return before.test(words.slice(0, match.index)) || after.test(words.slice(end));
}

/** Lower case, plain apostrophes, and no other marks, which recognizers set as they like. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[’‘`´]/g, "'")
    .replaceAll(/[.!?¡¿…;:"“”()—–-]+/g, ' ')
    .replaceAll(/,/g, ' ')
    .replaceAll(/[。！？]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
