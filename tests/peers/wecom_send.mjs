// node wecom_send.mjs BASE_URL CORP_ID SECRET AGENT_ID KEY_FILE CERTIFICATE_FILE: Tencent's client sends texts, uploads
// a file, sends and downloads it. It knows no other address than the platform's, so a proxy leads it to BASE_URL.
import { readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import { plugin, report } from "./wecom_official.mjs";

const [baseUrl, corpId, corpSecret, agentId, keyFile, certificateFile] = process.argv.slice(2);
const certificate = { key: readFileSync(keyFile), cert: readFileSync(certificateFile) };
const listening = (server) => new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server.address().port)));

const platform = https.createServer(certificate, (request, response) => {
  const onward = http.request(new URL(request.url, baseUrl), { method: request.method, headers: request.headers });
  onward.on("response", (answer) => answer.pipe(response.writeHead(answer.statusCode, answer.headers)));
  request.pipe(onward);
});
const platformPort = await listening(platform);
const proxy = http.createServer().on("connect", (request, socket) => {
  const onward = net.connect(platformPort, "127.0.0.1", () => {
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    onward.pipe(socket).pipe(onward);
  });
});
const egressProxyUrl = `http://127.0.0.1:${await listening(proxy)}`;

const { downloadMedia, sendMedia, sendText, uploadMedia } = await plugin("agent/api-client.js");
const agent = { accountId: "d", corpId, corpSecret, agentId: Number(agentId), network: { egressProxyUrl } };
const failure = (promise) => promise.then(() => "", (error) => error.message);

await Promise.all(["ZhangSan", "LiSi"].map((toUser) => sendText({ agent, toUser, text: "你好😀" })));
const outsider = await failure(sendText({ agent, toUser: "ZhangSan|Outsider", text: "to two" }));
const nobody = await failure(sendText({ agent, toUser: "Outsider", text: "to nobody" }));
const file = Buffer.from("0123456789");
const mediaId = await uploadMedia({ agent, type: "file", buffer: file, filename: "报告.txt" });
await sendMedia({ agent, toUser: "ZhangSan", mediaId, mediaType: "file" });
const back = await downloadMedia({ agent, mediaId, maxBytes: 1_000 });
report({ outsider, nobody, mediaId, same: back.buffer.equals(file), filename: back.filename });
