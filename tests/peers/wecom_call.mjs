// node wecom_call.mjs URL CORP_ID AGENT_ID TOKEN AES_KEY: calls a webhook with Tencent's own crypto. Reports status and
// text of each answer.
import { report, wecomCrypto } from "./wecom_official.mjs";

const [url, corpId, agentId, token, aesKey] = process.argv.slice(2);
const { encrypt, getSignature } = wecomCrypto();
const now = Math.floor(Date.now() / 1000);
const bodyOf = (encrypted) =>
  `<xml><ToUserName><![CDATA[${corpId}]]></ToUserName><AgentID><![CDATA[${agentId}]]></AgentID>` +
  `<Encrypt><![CDATA[${encrypted}]]></Encrypt></xml>`;
const common = (msgType, rest) =>
  `<xml><ToUserName><![CDATA[${corpId}]]></ToUserName><FromUserName><![CDATA[ZhangSan]]></FromUserName>` +
  `<CreateTime>${now}</CreateTime><MsgType><![CDATA[${msgType}]]></MsgType>${rest}<AgentID>${agentId}</AgentID></xml>`;
const text = (id, content) => common("text", `<Content><![CDATA[${content}]]></Content><MsgId>${id}</MsgId>`);

async function asked(method, encrypted, query = {}, body = undefined) {
  const timestamp = String(query.timestamp ?? now);
  const nonce = String(Math.random()).slice(2, 12);
  const msg_signature = query.msg_signature ?? getSignature(token, timestamp, nonce, encrypted);
  const echostr = method === "GET" ? { echostr: encrypted } : {};
  const parameters = new URLSearchParams({ msg_signature, timestamp, nonce, ...echostr });
  const answer = await fetch(`${url}?${parameters}`, { method, body, headers: body && { "content-type": "text/xml" } });
  return [answer.status, await answer.text()];
}

function posted(plain, query = {}, receiver = corpId) {
  const encrypted = encrypt(aesKey, plain, receiver);
  return asked("POST", encrypted, query, bodyOf(encrypted));
}

report({
  check: await asked("GET", encrypt(aesKey, "1616140317555161061", corpId)),
  text: await posted(text("7459035031717794886", "你好😀")),
  again: await posted(text("7459035031717794886", "你好😀")),
  lengths: await Promise.all(Array.from({ length: 32 }, (_, length) => posted(text(100 + length, "x".repeat(length + 1))))),
  event: await posted(common("event", "<Event><![CDATA[enter_agent]]></Event><EventKey><![CDATA[]]></EventKey>")),
  forged: await posted(text("1", "forged"), { msg_signature: "0".repeat(40) }),
  foreign: await posted(text("2", "for another corp"), {}, "wwOTHER"),
  stale: await posted(text("3", "of long ago"), { timestamp: 1409659813 }),
});
