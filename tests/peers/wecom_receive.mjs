// node wecom_receive.mjs PORT CORP_ID AGENT_ID TOKEN AES_KEY: Tencent's receiver on that port, until a line is typed.
// Reports what it logged.
import http from "node:http";
import { plugin, report, untilTold } from "./wecom_official.mjs";

const [port, corpId, agentId, token, encodingAESKey] = process.argv.slice(2);
const { createWecomAgentWebhookHandler, registerAgentWebhookTarget } = await plugin("agent/webhook.js");
const log = [];
const errors = [];

registerAgentWebhookTarget({
  path: "/plugins/wecom/agent",
  agent: { accountId: "default", token, encodingAESKey, corpId, agentId: Number(agentId), corpSecret: "", config: {} },
  config: { channels: { wecom: {} } },
  runtime: { log: (line) => log.push(String(line)), error: (line) => errors.push(String(line)) },
});
const handle = createWecomAgentWebhookHandler({});
http
  .createServer(async (request, response) => {
    if (!(await handle(request, response))) response.writeHead(404).end();
  })
  .listen(Number(port), "127.0.0.1");
await untilTold();
report({ log, errors });
