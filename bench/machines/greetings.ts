/** What answers, by kind and language. A slash is a pause; Japanese has the reading that the voice needs behind a `=`. */
const LANGUAGES = ['en', 'zh', 'es', 'de', 'fr', 'ja'] as const;
export type Language = (typeof LANGUAGES)[number];

export const KINDS = {
  'short hello': 'human',
  'long greeting': 'human',
  noisy: 'human',
  'silent, then hello': 'human',
  'machine with beep': 'machine',
  'machine without beep': 'machine',
  'Apple screening': 'screening',
  'Google screening': 'screening',
  'other screening': 'screening',
  menu: 'unknown',
} as const;
export type Kind = keyof typeof KINDS;

export type Greetings = Readonly<Record<Said, Readonly<Partial<Record<Language, readonly string[]>>>>>;
type Said = 'hello' | 'business' | 'voicemail' | 'apple' | 'google' | 'screener' | 'menu';

export const GREETINGS: Greetings = {
  hello: {
    en: ['Hello?', 'Yes, hello.', 'This is Ann.', 'Hi, Peter here.', 'Hello, who is this?'],
    zh: ['喂', '您好', '喂，哪位', '喂，我是王小明'],
    es: ['¿Dígame?', '¿Sí?', 'Hola, soy Ana.'],
    de: ['Hallo?', 'Müller.', 'Ja, bitte?'],
    fr: ['Allô ?', 'Oui, allô.', 'Oui, bonjour.'],
    ja: ['もしもし=もしもし', 'はい、田中です=はい、たなかです'],
  },
  business: {
    en: [
      'Thank you for calling Smith and Sons, this is Anna speaking, how can I help you?',
      'Good morning, Riverside Dental Practice, you are speaking with Karen, what can I do for you today?',
      'Hello and welcome to the Grand Hotel front desk, my name is Robert, how may I direct your call?',
      'Just a second, I have to turn off the radio, it is so loud in here / okay, now I can hear you, hello?',
    ],
    zh: [
      '您好，這裡是大同診所，敝姓陳，請問有什麼可以幫您的嗎',
      '您好，这里是光明汽车服务中心，很高兴为您服务，请问您有什么需要',
    ],
    es: ['Buenos días, talleres García, le atiende Carmen, ¿en qué puedo ayudarle?'],
    de: ['Guten Tag, Praxis Doktor Müller, mein Name ist Sabine Vogel, was kann ich für Sie tun?'],
    fr: ['Cabinet du docteur Petit, bonjour, Sophie à votre écoute, que puis-je faire pour vous ?'],
    ja: [
      'お電話ありがとうございます、田中商店でございます=おでんわありがとうございます、たなかしょうてんでございます',
    ],
  },
  voicemail: {
    en: [
      'Hi, you have reached Ann. / I can not come to the phone right now. Please leave a message after the tone.',
      'Your call has been forwarded to an automated voice messaging system. / At the tone, please record your message.',
      'Hello, this is Dave, I am away from my desk. Leave your name, your number and the reason for your call and I will call you back.',
      'The person you are calling is not available. / Please leave a message.',
      'You have reached the office of Brown and Partners. Our office is closed. / Please leave your name and number after the beep.',
    ],
    zh: [
      '您的電話將轉接到語音信箱，嗶一聲後開始計費，如不留言請掛斷',
      '您好，您拨打的电话暂时无法接听，请在提示音后留言',
    ],
    es: [
      'Ha llamado al buzón de voz de Ana. / En este momento no puedo atender su llamada. Deje su mensaje después de la señal.',
    ],
    de: [
      'Sie sind verbunden mit der Mailbox von Anna. / Bitte hinterlassen Sie eine Nachricht nach dem Signalton.',
    ],
    fr: ['Bonjour, vous êtes bien sur la messagerie de Paul. / Laissez-moi un message après le bip, merci.'],
    ja: [
      'ただいま電話に出ることができません。発信音の後にお名前とご用件をお話しください=ただいまでんわにでることができません。はっしんおんのあとに、おなまえとごようけんをおはなしください',
    ],
  },
  apple: {
    en: ['Hi, if you record your name and reason for calling, I will see if this person is available.'],
    zh: [
      '请留下你的姓名和来电原因，我会帮你确认此人是否方便接听',
      '請留下你的姓名和來電原因，我會幫你確認此人是否方便接聽',
    ],
    es: ['Hola, si grabas tu nombre y el motivo de tu llamada, veré si esta persona está disponible.'],
    de: [
      'Hallo, wenn du deinen Namen und den Grund deines Anrufs nennst, prüfe ich, ob diese Person verfügbar ist.',
    ],
    fr: [
      'Bonjour, enregistrez votre nom et la raison de votre appel, et je verrai si cette personne est disponible.',
    ],
    ja: [
      'お名前と用件をお聞かせください。電話に出られるか確認します=おなまえとようけんをおきかせください。でんわにでられるかかくにんします',
    ],
  },
  google: {
    en: [
      'Hi, the person you are calling is using a screening service from Google, and will get a copy of this conversation. / Go ahead and say your name and why you are calling.',
      'Hi, I am Call Assist by Google, recording this call for the person you are trying to reach. / Before I try to connect you, can I ask what you are calling about?',
    ],
    es: [
      'La persona a la que llamas usa un servicio de filtrado de Google y recibirá una copia de esta conversación. / Di tu nombre y por qué llamas.',
    ],
    de: [
      'Die angerufene Person nutzt einen Anruffilter von Google und erhält eine Kopie dieses Gesprächs. / Bitte sag deinen Namen und warum du anrufst.',
    ],
    fr: [
      'La personne que vous appelez utilise un service de filtrage de Google et recevra une copie de cette conversation. / Dites votre nom et pourquoi vous appelez.',
    ],
  },
  screener: {
    en: [
      'Please state your name after the tone and we will try to connect you.',
      'This is Bixby, the assistant of the person you called. I will pass on what you say as text. / Please go ahead.',
      'The number you have dialed has call screening. / Please say your name and the reason for your call.',
    ],
    zh: ['您好，我是机主的智能语音助理，请问您有什么事情需要我转告'],
  },
  menu: {
    en: [
      'Thank you for calling Acme. / For sales, press 1. / For support, press 2. / To hear this again, press star.',
      'Welcome to City Bank. Please listen carefully, as our menu options have changed. / For accounts, press one.',
      'All of our agents are currently busy. / Please hold, your call will be answered in turn.',
    ],
    zh: ['您好，歡迎致電客服中心，國語服務請按1，台語服務請按2'],
    es: [
      'Bienvenido a nuestro servicio de atención al cliente. / Para ventas, marque uno. Para soporte, marque dos.',
    ],
    de: [
      'Willkommen bei der Stadtbank. / Für den Vertrieb drücken Sie die Eins, für den Kundendienst drücken Sie die Zwei.',
    ],
    fr: [
      'Bienvenue chez notre service client. / Pour le service commercial, tapez 1. Pour une réclamation, tapez 2.',
    ],
    ja: [
      'ご予約の方は1を、そのほかの方は2を押してください=ごよやくのかたはいちを、そのほかのかたはにをおしてください',
    ],
  },
};

/** What the held-out tenth says: no phrase and no length was chosen while looking at these words. */
export const HELD_OUT_GREETINGS: Greetings = {
  hello: {
    en: ['Good evening.', 'Speaking.', 'Hey, it is Tom.'],
    de: ['Schmidt, guten Abend.'],
    zh: ['喂，你好'],
  },
  business: {
    en: [
      'Lakeview Veterinary Clinic, good afternoon, Maria at the front desk, is this about an appointment for your pet?',
      'Thanks for calling Joe and Brothers Auto Repair over on Main Street, Joe here, what do you need?',
    ],
    fr: ['Boulangerie Martin bonjour, Claire à l’appareil, je vous écoute.'],
  },
  voicemail: {
    en: [
      'Hey, it is Laura, I am probably driving. / Say something nice and I will ring you when I am home.',
      'The Google subscriber you have called is not available. / Please leave a message after the tone.',
    ],
    es: ['Hola, soy Luis. Ahora no puedo contestar. / Déjame un mensaje y te llamo.'],
    de: ['Hallo, hier ist der Anrufbeantworter von Familie Weber. / Sprechen Sie bitte nach dem Piepton.'],
  },
  apple: {
    en: [
      'Hi. If you record your name and the reason for your call, I will check if this person is available.',
    ],
    es: ['Graba tu nombre y el motivo de la llamada y comprobaré si la persona está disponible.'],
  },
  google: {
    en: ['Hello, this call is being screened. / Please tell me who you are and why you are calling.'],
  },
  screener: { en: ['To complete this call, please record your name and the reason you are calling.'] },
  menu: {
    en: [
      'Hello, you have reached Northern Electric. / If you know your extension, dial it now. / For billing, press three.',
    ],
    de: ['Herzlich willkommen. / Wählen Sie bitte die 1 für Rechnungen und die 2 für alles andere.'],
  },
};
