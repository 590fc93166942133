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
  '(?:me|us|my (?:(?:cell |mobile |home )?(?:phone|number)|cell|house|home|mobile|wife|husband|mother|father|mom|dad|family|office)|this (?:number|phone|house)|here)';
const AGAIN = '(?:again|any ?more|ever|any (?:further|longer))';
const LIST =
  '(?:(?:phone|call|calling|calls|contact|contacts|mailing|marketing|dialing|dialling|telemarketing|sales) )?(?:list|lists|database|system|records|file|files)';

const ENGLISH = {
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
const UNLESS_IF = { ...ENGLISH, before: /\bif $/ };
const NONE = { before: /(?!)/, after: /(?!)/ };

const english = (pattern: string, unless = ENGLISH): Rule => ({ wish: new RegExp(pattern, 'g'), unless });
const other = (pattern: RegExp, unless = NONE): Rule => ({ wish: pattern, unless });

/** "You" before these is an order: "will you stop calling me". What others were told is none. */
const ORDERED = {
  ...ENGLISH,
  before:
    /\b(?:(?:told|asked|begged|warned|want|wanted|got) (?!you\b|your\b|this\b|these\b|all\b)(?:\S+ ){1,3}to|(?:didn't|don't|not|never) (?:ask|tell|want|need)(?:ed)? you to|did you|didn't you|when you|if you|unless you|since you|not|never|don't|can't|cannot|couldn't|won't|ever|didn't|did they|they) $/,
};

/** "Can you take me off your list" is a wish too. */
const LISTED = { ...NONE, before: /\b(?:did you|have you|didn't you|don't|do not|never|not|who|they) $/ };

const SPANISH_AFTER = {
  before: /\b(?:por qué|si|cuando|él|ella|ellos|nunca|(?<!(?:pido|quiero|exijo|solicito|ruego|deseo) )que) $/,
  after:
    /^ (?:antes|después|hasta|hoy|mañana|ahora|todavía|por la|en la|a las?|entre|los (?:lunes|martes|miércoles|jueves|viernes|sábados|domingos)|al trabajo|cuando|si|así|señora?|tan)(?=$|[^\p{L}])/u,
};
const GERMAN_AFTER = {
  before: /(?:^| )(?:warum|wieso|ob|dass)$/,
  after:
    /^ (?:vor|nach|bis|heute|morgen|jetzt|am|um|im|zwischen|so|bei der arbeit|während|wenn|bevor|erst)(?=$|[^\p{L}])/u,
};
const FRENCH_AFTER = {
  before: /(?:^| )(?:pourquoi|si|quand|ils|elle|il|on|vous)(?: ne)?$/,
  after:
    /^ (?:avant|après|jusqu|aujourd|demain|maintenant|ce (?:soir|matin)|le (?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|matin|soir)|au (?:travail|bureau)|entre|pendant|quand|si|à \d|madame|monsieur|comme ça|tout de suite|si tard)(?=$|[^\p{L}])/u,
};

const RULES: readonly Rule[] = [
  // English
  english(
    `\\b(?:stop|quit|cease(?: and desist)?(?: from)?|discontinue) (?:all )?(?:calling|phoning|ringing|contacting|bothering|harassing|robocalling|telephoning)(?: ${ME})(?: (?:again|please|at all|already|immediately|now))?\\b`,
    ORDERED,
  ),
  english(`\\b(?:stop|quit) (?:calling|phoning|contacting)(?= (?:please|now|already)$|$)`, ORDERED),
  english(
    `\\b(?:don't|do not|never|don't ever|don't you(?: dare)?|(?:can|could|would|will) you (?:please )?not) (?:ever )?(?:(?:call|phone|ring|contact|telephone|bother)(?: ${ME})?(?: at this number| on this number)?|bother calling(?: ${ME})?) ${AGAIN}\\b`,
  ),
  english(
    `\\b(?:don't|do not|never) (?:ever )?(?:call|phone|contact) (?:me|us|this (?:number|phone)|here|my (?:cell |mobile |home )?(?:phone|number|cell))(?= (?:please|at all|at this number)$|$)`,
  ),
  english(
    `\\b(?:don't|do not|never) (?:ever )?(?:call|phone|ring)(?: ${ME})? back(?= (?:please|${AGAIN})\\b|$)`,
  ),
  english(
    `\\bi(?:'ve| have)? (?:already )?(?:asked|told) (?:you|your \\w+)(?: guys| people| folks| all)?(?: already| before)? (?:not to|never to) (?:ever )?(?:call|contact|phone|ring|bother)(?: ${ME})?(?= (?:${AGAIN}|and|but|so|please|already)\\b|$)`,
  ),
  english(
    `\\byou(?:'re| are) not (?:allowed|permitted|authorized) to (?:call|contact)(?: ${ME})?(?= ${AGAIN}|$)|\\b(?:you (?:don't|do not|no longer) have my|i (?:don't|do not) give you (?:my |any )?) ?(?:permission|consent) to (?:call|contact)\\b`,
  ),
  english(
    `\\bif you (?:ever )?(?:call|contact)(?: ${ME})? again(?: and)? (?:i'll|i will|i'm going to|i am going to) (?:sue|report|press|call (?:the police|my lawyer|the cops))\\b|\\b(?:sue|report) you if you (?:ever )?call(?: ${ME})? again\\b`,
    NONE,
  ),
  english(
    `\\bi (?:never|don't ever|don't|do not)(?: ever)? want to hear from you(?: guys| people)? (?:again|any ?more|ever)\\b|\\bi want off (?:of )?(?:your|this|the) (?:\\w+ )?${LIST}\\b|\\b(?:make a note|please note|mind) not (?:to call|calling)(?: ${ME})?(?= (?:${AGAIN}|please)\\b|$)`,
    { ...ENGLISH, before: NONE.before },
  ),
  english(
    `\\b(?:make sure|ensure)(?: that)? i (?:don't|do not|never) (?:get|receive)(?: any(?: more| further)?| these| your| more)? (?:phone |sales |marketing )?calls(?= from you| ${AGAIN}|$)`,
  ),
  english(
    `\\b(?:want|like|wish|need|ask|asking|asked)(?: to be| my (?:phone )?(?:number|name|information|info)(?: to be)?) (?:removed|deleted|taken|erased)(?: (?:off|from|out of)(?: of)? (?:your|the|this|these|any|all|all your) (?:\\w+ )?${LIST}\\b|(?= please$|$))`,
    { ...NONE, before: /\b(?:don't|do not|didn't|not) $/ },
  ),
  english(
    `\\b(?:take|remove|delete|get|strike|drop|scratch) (?:me|us|my (?:phone |telephone |cell |mobile )?(?:number|name|details|information|info)|my name and (?:my )?number|this number|our number) (?:off|from|out of|off of) (?:of )?(?:your|the|this|that|these|any|all|all your|all of your) (?:whole |stupid |damn |internal |company )?${LIST}\\b`,
    LISTED,
  ),
  english(`^(?:please )?(?:just )?(?:remove|delete) me(?: please)?$`, NONE),
  english(
    `(?:^|\\b(?:please|you|now|and|to) )(?:stop|end|cancel|discontinue) (?:all (?:of )?(?:these |your |the |future |further )?|(?:these|your|future|further) )(?:phone |sales |marketing )?calls(?: (?:to (?:me|us|this number|my number)|please|now))*$`,
    NONE,
  ),
  english(
    `\\b(?:remove|delete|erase) (?:my|this|our) (?:phone |telephone |cell |mobile )?number(?= (?:please|now|immediately|right now|right away)$|$)`,
  ),
  english(
    `\\bput (?:me|us) down as (?:a )?(?:do not call|no call)\\b|\\b(?:put|add|place) (?:me|us|my (?:phone )?number|this number) (?:on|to|onto) (?:your|the|a|that) (?:internal |company |national )?(?:do not call|don't call|no call)\\b`,
  ),
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
    { ...NONE, before: /\b(?:if|when|unless|until|after|before) $/ },
  ),
  english(`^(?:do not call|don't call|no call) (?:list|registry)(?: please)?$`, NONE),
  // Spanish
  other(
    /\b(?:dejen|deje|deja|dejad|paren|pare|para|parad|basta) (?:ya )?de (?:llamarme|llamarnos|llamar|molestarme|contactarme|marcarme)(?= ya| por favor|$| a este| más| nunca| de una| con )/g,
    { ...SPANISH_AFTER, before: /\bno $/ },
  ),
  other(
    /\b(?:no|nunca) (?:me |nos )?(?:vuelva|vuelvan|vuelvas|volváis) a (?:llamar|llamarme|llamarnos|contactar|contactarme|marcar|marcarme)(?:me|nos)?(?![\p{L}])/gu,
    SPANISH_AFTER,
  ),
  other(
    /\b(?:no|ya no) (?:me|nos) (?:llame|llamen|llames|llaméis|contacten|contacte|contactéis|marque|marquen|moleste|molesten|molestéis)(?: (?:más|nunca más|otra vez|jamás|nunca)|(?= por favor$|$))/gu,
    SPANISH_AFTER,
  ),
  other(/\bno (?:llame|llamen|llaméis) (?:más|nunca más)(?= (?:a este|aquí|por favor)|$)/gu, SPANISH_AFTER),
  other(
    /\b(?:quítenme|quíteme|quítame|sáquenme|sáqueme|sácame|bórrenme|bórreme|bórrame|elimínenme|elimíneme|eliminadme|quitadme|borradme|sacadme|retírenme|retíreme) de (?:su|sus|vuestra|vuestras|la|las|esa|esta|tu) (?:lista|listas|base de datos)/gu,
  ),
  other(
    /\b(?:borren|borre|borrad|borréis|eliminen|elimine|eliminad|eliminéis|quiten|quite|quitad|quitéis|retiren|retire|saquen|saque) (?:mi (?:número|teléfono|nombre)|mis datos)(?: de (?:su|sus|vuestra|vuestras|la|las|esta|esa) (?:lista|listas|base de datos)|(?= por favor$|$))/gu,
    { ...NONE, before: /\bno $/ },
  ),
  other(
    /\b(?:no autorizo (?:a )?que me llamen|(?:retiro|revoco) mi consentimiento|(?:darme|quiero la|denme|dadme) de baja de (?:las|sus|estas) llamadas)(?![\p{L}])/gu,
  ),
  other(
    /\b(?:ya )?no quiero (?:que (?:me|nos) (?:llamen|llame|vuelvan a llamar|contacten)|recibir (?:más )?(?:sus |estas )?llamadas|más llamadas)(?![\p{L}])/gu,
    SPANISH_AFTER,
  ),
  // German
  other(
    /(?:^| )(?:hören sie|hör|hört) (?:bitte |endlich )?auf (?:mich |uns |hier )?(?:ständig |immer |dauernd )?anzurufen/gu,
    NONE,
  ),
  other(
    /(?:^| )(?:rufen sie|(?:rufen sie|ruf|ruft) (?:mich|uns|hier|diese nummer|bei mir|bei uns))(?: bitte)? (?:nicht (?:mehr|wieder|noch ?mal|nochmals|noch einmal)|nie (?:mehr|wieder)) an(?![\p{L}])/gu,
    GERMAN_AFTER,
  ),
  other(
    /(?:^| )(?:bitte )?(?:nicht (?:mehr|wieder)|nie (?:mehr|wieder)|keine) (?:anrufen|anrufe|kontaktieren)(?= bitte$|$| mehr)/gu,
    {
      ...GERMAN_AFTER,
      before:
        /(?:^| )(?:warum|(?:ich|wir|er|sie|man) (?:kann|können|konnten?|habe|haben|hatten?|bekommen?|werden?|darf)(?: (?:sie|ihn|euch|dich|dort|da|seitdem|gar|jetzt))*)$/,
    },
  ),
  other(
    /(?:^| )(?:löschen|entfernen) sie (?:bitte )?(?:alle )?(?:meine (?:\p{L}+ )?daten(?= bitte$|$| aus)|(?:\p{L}+ ){0,2}daten von mir)/gu,
  ),
  other(
    /(?:^| )ich (?:widerrufe (?:hiermit )?meine (?:einwilligung|zustimmung)|widerspreche (?:hiermit )?(?:der nutzung meiner daten|weiteren anrufen|werbeanrufen))(?![\p{L}])/gu,
  ),
  other(
    /(?:^| )ich (?:(?:möchte|will) nicht(?: mehr)? dass sie (?:mich|uns|hier) (?:noch ?(?:ein)?mal |(?:je )?wieder |weiter(?:hin)? )?(?:anrufen|kontaktieren)|(?:verbiete|untersage) ihnen (?:mich anzurufen|weitere anrufe|jeden anruf))(?![\p{L}])/gu,
    GERMAN_AFTER,
  ),
  other(/(?:^| )unterlassen sie (?:bitte )?(?:diese|weitere|ihre|solche) (?:\p{L}*)anrufe(?![\p{L}])/gu),
  other(
    /(?:^| )(?:streichen|nehmen|löschen|entfernen|streich|nimm|lösch) (?:sie )?(?:bitte )?(?:mich|uns|meine (?:telefon|handy)?nummer|meinen namen|diese nummer)(?: bitte)? (?:von|aus) (?:ihrer|ihren|ihrem|der|dem|dieser|eurer) (?:\p{L}+)?(?:liste|listen|datenbank|kartei|verteiler|system)/gu,
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
    /(?:^| )(?:arrêtez|arrête|cessez)(?: s'il vous plaît)? (?:de (?:m'|nous |me )|d'|de )(?:appeler|téléphoner|contacter|harceler|déranger)(?= (?:plus|encore|ici|sans|tout|tous|toutes|s'il|merci|et|je|c'est|constamment|maintenant|à ce|sur ce)(?![\p{L}])|$)/gu,
    FRENCH_AFTER,
  ),
  other(/(?:^| )(?:ne )?m'appelez (?:plus|plus jamais|jamais plus)(?![\p{L}])/gu, FRENCH_AFTER),
  other(
    /(?:^| )(?:ne )?(?:me|nous) (?:rappelez|contactez|téléphonez|dérangez|appelez) (?:pas(?= s'il vous plaît$|$)|plus|plus jamais|jamais plus)(?![\p{L}])/gu,
    FRENCH_AFTER,
  ),
  other(
    /(?:^| )(?:retirez|enlevez|supprimez|effacez|rayez|ôtez)(?:[- ](?:moi|nous)| mon (?:numéro|nom)| ce numéro| mes coordonnées)(?: de téléphone)? (?:de|des) (?:votre |vos |la |cette |ces )?(?:liste|listes|fichier|fichiers|base de données|contacts)/gu,
  ),
  other(
    /(?:^| )(?:supprimez|effacez|retirez|(?:demande|prie|veuillez|merci) (?:de )?(?:supprimer|effacer|retirer)) (?:mon numéro(?: de téléphone)?|mes (?:coordonnées|données)(?: personnelles)?)(?= s'il vous plaît$|$| de (?:vo|la|ce))/gu,
  ),
  other(
    /(?:^| )(?:de ne (?:plus|pas|jamais) (?:m'appeler|nous appeler|me (?:contacter|rappeler|déranger|téléphoner)|appeler|rappeler)|ne rappelez (?:plus|pas|jamais)|inutile de (?:me |nous )?rappeler)(?= (?:s'il|merci|à ce|sur ce)(?![\p{L}])|$)/gu,
    { ...FRENCH_AFTER, before: /(?:^| )(?:m'a dit|décidé|promis|demandé à \p{L}+)$/u },
  ),
  other(
    /(?:^| )(?:veuillez|merci de|pouvez-vous|pourriez-vous|je veux que vous) me (?:retirer|supprimer|enlever|rayer|retiriez|supprimiez) de (?:votre|vos|la|cette|ces) (?:liste|listes|fichier|fichiers|base de données)/gu,
  ),
  other(
    /(?:^| )je (?:souhaite|veux|voudrais|désire|demande à) être (?:retirée?|supprimée?|enlevée?|rayée?) de (?:votre|vos|la|cette|ces) (?:liste|listes|fichier|fichiers)/gu,
  ),
  other(/(?:^| )je m'oppose (?:au démarchage|à (?:tout|ces|vos|être|ce))(?![\p{L}])/gu),
  other(
    /(?:^| )je (?:ne )?(?:veux|souhaite|désire) (?:plus|pas) (?:que vous m'appeliez|être (?:appelée?|rappelée?|contactée?|démarchée?)|(?:recevoir )?(?:de |d'|vos )?appels)(?![\p{L}])/gu,
    FRENCH_AFTER,
  ),
  // Chinese, in both scripts
  other(
    /(?:不要|别|別|不准|不许|不許|请勿|請勿|勿)(?:再|老是|一直|总是|總是)(?:给我|給我|跟我|向我)?(?:打电话|打電話|打来|打來|打给我|打給我|来电|來電|联系我|联络我|聯繫我|聯絡我|骚扰我|騷擾我|打扰我|打擾我|打)(?:给我|給我|过来|過來|来|來)?(?:电话|電話)?(?:了|啦|吧|,|，|$)?/gu,
    {
      before: /(?:他|她|他说|她说|他說|她說|叫|让他|让她|讓他|讓她|为什么|為什麼)$/,
      after: /^(?:错|錯|断|斷|游戏|遊戲|车|車|开|開)/,
    },
  ),
  other(/(?:不要|别|別|停止|请勿|請勿)(?:来|來)?(?:骚扰|騷擾)我(?:们|們)?/gu),
  other(/(?:别|別|不要)打了(?=$|,|，|谢谢|謝謝|好吗|好嗎| )/gu, {
    before: /(?:今天|今晚|现在|現在|晚上|中午|早上|先|车|車)$/,
    after: /^[,， ]?(?:明天|改天|晚点|晚點|等|我们用|我們用)/,
  }),
  other(
    /再(?:打|来电|來電|騷擾|骚扰)(?:电话|電話)?(?:来|來|过来|過來|给我|給我)?我?就(?:报警|報警|投诉|投訴|告你|舉報|举报|檢舉)/gu,
  ),
  other(
    /把我的?(?:(?:电话|電話|号码|號碼|手机号|手機號碼|电话号码|電話號碼|名字|资料|資料)(?:给|給|都|全部)?(?:删|刪|移除|去掉|拿掉)|(?:号码|號碼)?(?:拉黑|加入黑名单|加入黑名單))/gu,
    { ...NONE, before: /(?:不要|别|別)$/ },
  ),
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
    /(?:もう|二度と|これ以上|今後(?:は|一切)?|(?:電話|連絡)(?:を|は)?)(?:電話|連絡)?(?:を|は)?(?:かけて|掛けて|して)(?:こ|来)ないで/gu,
  ),
  other(
    /今後(?:の|は)?(?:、)?お?(?:電話|連絡)(?:は|を)?(?:ご遠慮|お控え|不要|必要ありません|いりません|結構)|(?:営業|勧誘|セールス)の?お?電話は?(?:一切)?(?:お断り|断って|結構|いりません|不要)/gu,
  ),
  other(
    /(?:もう|二度と)(?:電話を?|連絡を?)?(?:かけ|掛け)ないで(?:ください|下さい|くれ|ね|$)|(?:電話|連絡)を?(?:やめ|止め)て(?:ください|下さい|くれ|ほしい|欲しい|$)/gu,
  ),
  other(/結構です(?:から|ので)?(?:、)?(?:電話|連絡)(?:は|を)?(?:しないで|かけないで)/gu),
  other(/^お?(?:電話)?番号(?:を|は)(?:削除|消)して(?:ください|下さい|くれ|ほしい|欲しい|もらえ|$)/gu),
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
