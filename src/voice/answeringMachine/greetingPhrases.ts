/**
 * What the words of a greeting tell of who answers. A `menu` offers keys or asks to hold: it is neither a person nor a
 * machine that records.
 */
export type GreetingKind = 'machine' | 'screening' | 'human' | 'menu';

/**
 * Tells who answers by the words of a greeting in English, Chinese, Spanish, German, French or Japanese.
 *
 * @param text - The utterance so far. More words may change the result.
 * @returns The kind, or undefined when the words do not tell.
 */
export function greetingKindOf(text: string): GreetingKind | undefined {
  const words = normalized(text);
  const says = (phrases: readonly RegExp[]) => phrases.some((phrase) => phrase.test(words));
  if (says(SCREENING)) return 'screening';
  if (says(TONE)) return 'machine';
  const isMenu = says(MENU);
  if (!isMenu && says(PERSON)) return 'human';
  if (says(VOICEMAIL)) return 'machine';
  if (says(NAME_AND_REASON)) return 'screening';
  if (isMenu) return 'menu';
  return says(SPEAKING) || /[?？]\s*$/.test(text) ? 'human' : undefined;
}

/** Whether only a recording says the text: the question of a screening service, or that one may speak after a tone. */
export function isRecorded(text: string): boolean {
  const words = normalized(text);
  return [...SCREENING, ...TONE].some((phrase) => phrase.test(words));
}

/** Words of a text; a Chinese or Japanese character counts as one. */
export function countWords(text: string): number {
  return (
    normalized(text).match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]|[\p{sc=Latin}\p{N}']+/gu)?.length ?? 0
  );
}

/** Lower case without accents and signs, and without blanks between Chinese or Japanese characters. */
function normalized(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .replaceAll('’', "'")
    .replace(/[^\p{L}\p{N}'ー]+/gu, ' ')
    .replace(
      /(?<=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー]) (?=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}])/gu,
      '',
    )
    .trim();
}

/** Call screening services, which ask who calls before they connect; Apple, Google, Samsung and the carriers have them. */
const SCREENING = [
  /\bsee if (?:this|the) person(?: is|'s) available\b/,
  /\bcall screen(?:ing|er)?\b|\bscreening (?:service|assistant)\b/,
  /\bscreen(?:s|ing) (?:this|your|my|his|her|their|all|incoming|unknown) calls?\b|\bcalls? (?:is|are|may|will) (?:be |being )*screened\b/,
  /\bcopy of this (?:conversation|call)\b|\bassist(?:ant)? by google\b|\bbixby\b|\btext call\b/,
  /\bfor the person you(?:'re| are) (?:calling|trying to reach)\b|\bbefore i (?:try to )?connect you\b/,
  /\bname\b.*\b(?:try to|will|i'll|and) connect you\b/,
  /^(?!.*\b(?:message|voice ?mail|mailbox|number)\b).*\b(?:say|state|record|announce|give) your (?:full )?name\b.*\b(?:reason|purpose|why)\b/,
  /\bservicio de filtrado\b|\bfiltr(?:o|ado|ando) (?:de )?(?:las |esta )?llamadas?\b/,
  /\b(?:si|que) (?:esta|la) persona (?:esta|se encuentra) disponible\b|\bcopia de esta conversacion\b/,
  /^(?!.*\bmensaje\b).*\b(?:tu|su) nombre y (?:el motivo|la razon|por que)\b/,
  /\banruf(?:filter|prufung|screening|assistent)\w*\b|\bob (?:diese|die) person (?:verfugbar|erreichbar|da) ist\b/,
  /\bkopie (?:dieses|des) gesprachs\b|^(?!.*\bnachricht\b).*\bnamen? und (?:den |ihren |deinen )?(?:grund|anliegen|zweck|warum)\b/,
  /\bfiltr(?:age|e|er) (?:d'|les |vos |des )?appels?\b|\bservice de filtrage\b/,
  /\bsi (?:cette|la) personne est disponible\b|\bcopie de cette conversation\b/,
  /^(?!.*\bmessage\b).*\bvotre nom (?:et|ainsi que) (?:la raison|le motif|l'objet|pourquoi)\b/,
  /(?:來電|来电|通話|通话|電話|电话)(?:過濾|过滤|篩選|筛选)|(?:智能|智慧|語音|语音|來電|来电)(?:助理|助手|秘書|秘书)/,
  /(?:此人|對方|对方|這個人|这个人|這位|这位|機主|机主|用戶|用户)\S{0,4}(?:是否|能否|方不方便)\S{0,2}(?:方便|有空|可以|能|接)/,
  /^(?!.*(?:提示音|聲後|声后)).*(?:姓名|名字|大名)\S{0,3}(?:來電|来电|致電|致电|打電話|打电话)\S{0,2}(?:原因|目的|理由|事由)/,
  /(?:通話|着信|電話)スクリーニング|(?:電話|通話)に(?:出られる|応答できる|対応できる)か|対応可能か/,
];

/** The tone after which a machine records. */
const TONE = [
  /\b(?:after|at|following|until|(?:wait|listen) for|hear) (?:the|a) (?:tone|beep)\b/,
  /\b(?:despues de(?:l| la)?|tras (?:el|la)|al (?:oir|escuchar) (?:el|la)) (?:tono|senal|bip|pitido)\b/,
  /\bnach dem (?:ton|signal|signalton|piep\w*|pfeifton)\b/,
  /\bapres (?:le|la) (?:bip|signal|tonalite)\b/,
  /(?:嗶|哔|滴|嘟)\S{0,2}[聲声]|提示音|信號音|信号音/,
  /発信音|ピー(?:っ|ッ)?と/,
];

/** Answering machines, mailboxes and announcements of carriers: nothing that a person says who answers for another one. */
const VOICEMAIL = [
  /(?<!\b(?:to|i|i'll|we|we'll|i can|we can|i could) )\bleave (?:(?:me|us|him|her|them) )?(?:an? |your |the )?(?:(?:short|brief|quick|detailed|voice) )*(?:message|name|number|voice ?mail)\b/,
  /\byou know what to do\b|\bfree to leave\b|\brecord (?:an? |your )(?:\w+ )?message\b|\bfinished recording\b/,
  /\b(?:this is|reached|forwarded|transferred|sent)\b.*\bvoice ?mail\b|\bvoice ?mail (?:of|for|box|system)\b|\bmailbox\b/,
  /\banswering (?:machine|service)\b|\bvoice messag(?:e|ing) (?:system|service)\b|\bnot accepting (?:calls|messages)\b/,
  /\b(?:person|customer|subscriber|party|user|extension|number|call)\b.*\b(?:(?:is|are) (?:currently )?(?:not (?:currently )?available|unavailable)|no longer|not in service|disconnected|switched off|cannot be completed)\b/,
  /(?<!\b(?:he|she|they) )\b(?:cannot|can't|can not|couldn't|could not|unable to) (?:take|answer|come to|get to|pick up) (?:your call|the phone|my phone|calls)\b/,
  /\b(?:get back to you|return your call) as soon as\b|\b(?:i|we)(?:'m sorry i|'re sorry we)? missed your call\b|\baway from (?:my|the) (?:desk|phone)\b/,
  /\b(?:deje|deja|dejar|dej[ea]nos|dej[ea]me) (?:su|un|tu|el) mensaje\b|\bgrab[ae] (?:su|tu|un) mensaje\b/,
  /\bbuzon\b|\bcontestador\w*\b|\bapagado o fuera\b|\bno (?:puedo|podemos) (?:atender|contestar|responder) (?:a )?(?:su|tu|la|el) (?:llamada|telefono)\b/,
  /\b(?:persona|numero|cliente|abonado|usuario|telefono)\b.*\bno (?:existe|(?:esta|se encuentra) (?:disponible|operativo))\b/,
  /\bhinterl(?:assen sie|asst|asse|ass)\b|\bsprechen sie (?:bitte )?(?:\w+ )?nachricht\b/,
  /\bkein anschluss unter\b|\bmailbox\b|\b(?:mobil|sprach|voice)box\b|\banrufbeantworter\b|\baußerhalb (?:unserer|der) \w*zeiten\b/,
  /\b(?:ich bin|wir sind|teilnehmer|rufnummer|gesprachspartner|anschluss|person)\b.*\bnicht (?:erreichbar|zu erreichen|verfugbar|vergeben)\b/,
  /\blaiss(?:ez|er|e) (?:moi |nous )?(?:un|votre|vos|le) (?:message|coordonnees)\b|\brappell?er(?:ai|ons) des que\b/,
  /\bmessagerie\b|\brepondeur\b|\bboite vocale\b|\b(?:correspondant|personne|numero|abonne)\b.*\bn'est pas (?:disponible|joignable|attribue)\b/,
  /留言|語音信箱|语音信箱|留話|[無无]法(?:接聽|接听|接通)|[暫暂][時时]不能接[聽听通]|[轉转]接到[語语]音/,
  /(?:電話|电话|號碼|号码|用戶|用户)\S{0,6}(?:[關关][機机]|未[開开][機机]|正忙|不在服[務务][區区]|空[號号]|正在通[話话]中|[無无]人接[聽听])/,
  /留守番|留守電|伝言メモ|メッセージを(?:お|どうぞ|残|録|入)|電話に出(?:ることができ|られ)ません/,
  /お(?:つなぎ|繋ぎ)できません|電波の届かない|電源が入っていない|使われておりません/,
];

/** Phrases that only a person says. */
const PERSON = [
  /\b(?:how|what) (?:can|may|could) (?:i|we) (?:help|assist|do for)\b|\bhow (?:may|can|should) i direct\b/,
  /\b(?:can|may|could) i (?:help you|take a message|tell (?:him|her|them)|ask who(?:'s| is) (?:calling|speaking))\b/,
  /\b(?:would|do) you (?:like|want) (?:to|me to) (?:leave|hold|speak|talk|take|put)\b/,
  /\bwho (?:am i|is this|is that|is it)\b|\bwho's (?:this|that|there)\b|\bhow did you get (?:my|this) number\b/,
  /\bis (?:this|that|it) (?:about|regarding)\b|\bwhat(?:'s| is) (?:this|that|it) (?:about|regarding)\b/,
  /\bi (?:just )?(?:got|heard|read) your (?:message|voice ?mail|email)\b|\bi was (?:waiting for|expecting) (?:your|this) call\b/,
  /\b(?:can|could|would) you (?:hear me|(?:call|ring|try)(?: me)? (?:back|again|later))\b|\bare you (?:still )?there\b/,
  /\ben que (?:le|te|lo|la|les)? ?(?:puedo|podemos|puede)\b|\b(?:con quien hablo|de parte de quien|quien (?:es|habla|llama))\b/,
  /\bquiere dejar\w* (?:un |algun )?(?:mensaje|recado)\b/,
  /\b(?:was|wie|womit) (?:kann|konnen|darf|durfen) (?:ich|wir) (?:fur (?:sie|dich)|ihnen|dir|sie)\b/,
  /\bmit wem spreche\b|\bwer (?:ist|spricht) (?:da|dort|denn)\b|\betwas ausrichten\b/,
  /\b(?:que|comment|en quoi) (?:puis je|pouvons nous|peut on)\b|\bde la part de qui\b|\bqui est a l'appareil\b/,
  /\bvoulez vous laisser\b/,
  /[要想](?:我)?(?:幫您|帮您)?留[言話话][嗎吗]|有什[麼么]\S{0,5}[幫帮為为]|[您你](?:是)?(?:哪位|哪[裡里]找|找[誰谁]|找哪位)|[為为]您服[務务]|有什[麼么](?:事|需要)/,
  /どのような(?:ご)?用件|どういった(?:ご)?用件|どちら様|どなた|(?:ご)?用件を(?:承|伺)/,
];

/** Questions for the caller's name, unless to leave a message. */
const NAME_AND_REASON = [
  /\b(?:say|state|record|announce) your name\b|\bwho(?:'s| is) calling\b.*\b(?:why|reason|regarding)\b/,
  /\b(?:reason|purpose) (?:for|of) (?:your|the|this) call\b|\breason for calling\b|\bwhy you(?:'re| are) calling\b/,
  /\b(?:motivo|razon) de (?:la|su|tu) llamada\b/,
  /\bgrund (?:ihres|deines|des) anruf(?:e?s)?\b|\bwarum (?:sie|du) anruf/,
  /\b(?:motif|raison|objet) de (?:votre|l')? ?appel\b/,
  /(?:來電|来电|致電|致电)\S{0,1}(?:原因|目的|理由)|請(?:說出|告知)(?:您的)?姓名|请(?:说出|告知)(?:您的)?姓名/,
  /(?:お名前|氏名)(?:と|や|、)?\S{0,4}(?:用件|理由|目的)|電話の(?:理由|目的)/,
];

/** Menus and queues. */
const MENU = [
  /\b(?:press|dial|push|enter|hit) (?:the )?(?:number |key )?(?:\d|zero|one|two|three|four|five|six|seven|eight|nine|star|pound|hash)\b/,
  /\benter (?:your|the) (?:party's )?extension\b|\byour party's extension\b|\bmarque la extension\b/,
  /\bmain menu\b|\bmenu options\b|\b(?:agents|operators|representatives|lines) are (?:currently |all )?busy\b|\bnext available\b|\bplease hold\b/,
  /\b(?:pulse|marque|oprima|presione) (?:el |la )?(?:tecla |numero )?(?:\d|cero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve)\b/,
  /\b(?:drucken|wahlen) sie (?:bitte )?(?:die )?(?:taste )?(?:\d|null|eins|zwei|drei|vier|funf|sechs|sieben|acht|neun)\b|\bwarteschleife\b/,
  /\b(?:tapez|faites|appuyez sur) (?:le |la )?(?:touche )?(?:\d|zero|un|deux|trois|quatre|cinq|six|sept|huit|neuf|etoile|diese)\b/,
  /按(?:[數数]字)?(?:[鍵键])? ?(?:\d|[零一二三四五六七八九]|[井米星])/,
  /(?:\d|[一二三四五六七八九]) ?(?:番)?を(?:押|プッシュ)|ボタンを押/,
];

/** How people introduce themselves. */
const SPEAKING = [
  /\bspeaking\b|\b(?:le|te) (?:atiende|habla)\b|\bal habla\b|\bmein name ist\b|\bam apparat\b|\bsie sprechen mit\b/,
  /\ba l'appareil\b|\ba votre ecoute\b|\bje vous ecoute\b|[我這这]是\S{1,8}(?:公司|中心|店)|でございます|と申します/,
];
