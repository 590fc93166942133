import { expect, test } from 'vitest';
import { greetingKindOf } from '../../../src/voice/answeringMachine/greetingPhrases.ts';

test.each([
  ['Hi, you have reached Ann. Please leave a message after the tone.', 'machine'],
  [
    'Your call has been forwarded to an automated voice messaging system. At the tone, please record your message.',
    'machine',
  ],
  [
    'Hi, this is Dave. I’m away from my phone. Leave your name, your number and the reason for your call.',
    'machine',
  ],
  ['The person you are calling is not available.', 'machine'],
  ['The number you have dialed is no longer in service.', 'machine'],
  ['Hi, it’s Bob, you know what to do.', 'machine'],
  ['El número marcado no existe.', 'machine'],
  ['Kein Anschluss unter dieser Nummer.', 'machine'],
  ['您撥的電話未開機，請稍後再撥。', 'machine'],
  ['您拨打的用户正忙，请稍后再拨。', 'machine'],
  ['您的電話將轉接到語音信箱，嗶一聲後開始計費。', 'machine'],
  ['您好，您拨打的电话暂时无法接通，请稍后再拨。', 'machine'],
  ['Ha llamado al buzón de voz. Deje su mensaje después de la señal.', 'machine'],
  [
    'Sie sind verbunden mit der Mailbox von Anna. Bitte hinterlassen Sie eine Nachricht nach dem Signalton.',
    'machine',
  ],
  ['Bonjour, vous êtes bien sur la messagerie de Paul. Laissez-moi un message après le bip.', 'machine'],
  ['ただいま電話に出ることができません。発信音の後にお名前とご用件をお話しください。', 'machine'],
  // Apple
  ['Hi, if you record your name and reason for calling, I’ll see if this person is available.', 'screening'],
  ['请留下你的姓名和来电原因，我会帮你确认此人是否方便接听。', 'screening'],
  ['請留下你的姓名和來電原因，我會幫你確認此人是否方便接聽。', 'screening'],
  ['Si grabas tu nombre y el motivo de tu llamada, veré si esta persona está disponible.', 'screening'],
  [
    'Bitte nenne deinen Namen und den Grund deines Anrufs. Ich schaue, ob diese Person verfügbar ist.',
    'screening',
  ],
  [
    'Enregistrez votre nom et la raison de votre appel, je vérifie si cette personne est disponible.',
    'screening',
  ],
  ['お名前と用件をお聞かせください。電話に出られるか確認します。', 'screening'],
  // Google
  [
    'The person you’re calling is using a screening service from Google, and will get a copy of this conversation. Go ahead and say your name and why you’re calling.',
    'screening',
  ],
  [
    'Hi, I’m Call Assist by Google, recording this call for the person you’re trying to reach. Before I try to connect you, can I ask what you’re calling about?',
    'screening',
  ],
  ['Please state your name after the tone and Google Voice will try to connect you.', 'screening'],
  // Samsung and carriers
  ['This is Bixby. I’m answering this call for the owner of this phone.', 'screening'],
  ['The person you are calling has caller ID screening. Please state your name.', 'screening'],
  ['您好，我是机主的智能语音助理，请问您有什么事？', 'screening'],
  // menus and queues
  ['Thank you for calling Acme. For sales, press 1. To leave a message, press 2.', 'menu'],
  ['You have reached Acme. How can we help? For English, press one.', 'menu'],
  ['Please enter your extension followed by the pound key.', 'menu'],
  ['If you know your party’s extension, you may dial it at any time.', 'menu'],
  ['All of our agents are currently busy. Please hold.', 'menu'],
  ['國語服務請按1，台語服務請按2', 'menu'],
  ['Para ventas, marque uno.', 'menu'],
  ['Für den Vertrieb drücken Sie die Eins.', 'menu'],
  ['Pour le service commercial, tapez 1.', 'menu'],
  ['ご予約の方は1を押してください。', 'menu'],
  // people
  ['Thank you for calling Smith and Sons, this is Anna speaking, how can I help you?', 'human'],
  ['She is not available at the moment, can I take a message?', 'human'],
  ['You’ve reached Smith and Sons, Anna speaking.', 'human'],
  ['Guten Tag, Praxis Doktor Müller, was kann ich für Sie tun?', 'human'],
  ['Buenos días, talleres García, ¿en qué puedo ayudarle?', 'human'],
  ['Cabinet du docteur Petit bonjour, que puis-je faire pour vous ?', 'human'],
  ['您好，這裡是大同診所，請問有什麼可以幫您的嗎', 'human'],
  ['お電話ありがとうございます、田中商店でございます', 'human'],
  ['Sorry, who is this, and why do you have my number?', 'human'],
  ['Hello', undefined],
  ['Yes, this is Ann.', undefined],
  ['I left a message yesterday', undefined],
])('%j is a greeting of: %s', (text, kind) => expect(greetingKindOf(text)).toBe(kind));

test.each([
  'Sorry, I’m not available right now, I’m driving.',
  'I’m unable to talk right now, I’m in a meeting.',
  'I can’t talk now, I’ll call you back when I’m home.',
  'Mister Smith is not available today.',
  'She can’t come to the phone, she is asleep.',
  'I got your voicemail this morning.',
  'Yes, is this about the mailbox repair?',
  'I was waiting for your call about my voicemail system.',
  'I can leave a message for her, if you want.',
  'He is on the other line.',
  'Herr Müller ist gerade nicht erreichbar.',
  'Ich rufe Sie später zurück.',
  'Monsieur Petit n’est pas disponible.',
  'Je vous rappellerai ce soir.',
  'El señor García no está disponible.',
  'No puedo hablar ahora.',
  '我现在不方便接电话',
  '他現在不在，你晚一點再打',
  '主人はただいま留守にしております。',
])('A person who answers, or answers for another, is no machine: %j', (text) =>
  expect([undefined, 'human']).toContain(greetingKindOf(text)),
);

test('Blanks between characters and missing accents change nothing', () => {
  expect(greetingKindOf('您 的 电话 将 转接到 语音 信箱')).toBe('machine');
  expect(greetingKindOf('despues de la senal')).toBe('machine');
});
