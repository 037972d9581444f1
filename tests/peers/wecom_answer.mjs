// node wecom_answer.mjs PORT TOKEN AES_KEY: a small app on @wecom/crypto, until a line is typed. It passes the URL check
// and answers each message with a passive reply. Reports what it decrypted.
import http from "node:http";
import { report, untilTold, wecomCrypto } from "./wecom_official.mjs";

const [port, token, key] = process.argv.slice(2);
const { decrypt, encrypt, getSignature } = wecomCrypto();
const heard = [];
const field = (xml, name) => (xml.match(new RegExp(`<${name}>(?:<!\\[CDATA\\[)?(.*?)(?:\\]\\]>)?</${name}>`, "s")) ?? [])[1];

function reply(message, corpId) {
  const text = `<xml><ToUserName><![CDATA[${field(message, "FromUserName")}]]></ToUserName><FromUserName><![CDATA[${corpId}]]></FromUserName><CreateTime>1</CreateTime><MsgType><![CDATA[text]]></MsgType><Content><![CDATA[echo: ${field(message, "Content")}]]></Content></xml>`;
  const [timestamp, nonce, encrypted] = ["1409659813", "1372623149", encrypt(key, text, corpId)];
  const signature = getSignature(token, timestamp, nonce, encrypted);
  return `<xml><Encrypt><![CDATA[${encrypted}]]></Encrypt><MsgSignature><![CDATA[${signature}]]></MsgSignature><TimeStamp>${timestamp}</TimeStamp><Nonce><![CDATA[${nonce}]]></Nonce></xml>`;
}

async function serve(request, response) {
  let body = "";
  for await (const piece of request) body += piece;
  const query = new URL(request.url, "http://localhost").searchParams;
  const encrypted = query.get("echostr") ?? field(body, "Encrypt");
  const signature = getSignature(token, query.get("timestamp"), query.get("nonce"), encrypted);
  if (signature !== query.get("msg_signature")) return response.writeHead(403).end();
  const { message, id } = decrypt(key, encrypted);
  if (request.method === "GET") return response.end(message);
  heard.push({ message, id });
  return response.end(reply(message, id));
}

http.createServer(serve).listen(Number(port), "127.0.0.1");
await untilTold();
report(heard);
